package tsne

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// neighbour is one of the nearest of a point, with the squared distance from it
// or, later, the probability p_j|i.
type neighbour struct {
	v float64
	j int32
}

// nearer orders neighbours by distance, of equally far ones by number.
func nearer(a, b neighbour) int {
	return cmp.Or(cmp.Compare(a.v, b.v), cmp.Compare(a.j, b.j))
}

// neighbours returns the k nearest other points of every row of x, nearest
// first. Inner products choose some more than k, whose distances are then
// computed directly: those between close points are what inner products lose.
func neighbours(ctx context.Context, x *mat.Dense, k, workers int) ([][]neighbour, error) {
	const size, spare = 64, 8
	n, d := x.Dims()
	y := linalg.NewGeneral(n, d) // with the mean at the origin, for small inner products
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	norms2 := make([]float64, n)
	for i := range n {
		row := linalg.Row(y, i)
		for j, v := range x.RawRowView(i) {
			row[j] = v - mean[j]
			norms2[i] += row[j] * row[j]
		}
	}
	out := make([][]neighbour, n)
	workers = parallel.Workers(workers, parallel.Count(n, size))
	scratch := make([]blas64.General, workers)
	err := parallel.Chunks(ctx, n, size, workers, func(w, _, lo, hi int) error {
		if scratch[w].Data == nil {
			scratch[w] = linalg.NewGeneral(size, n)
		}
		g := scratch[w]
		g.Rows = hi - lo
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, linalg.Rows(y, lo, hi), y, 0, g, 1); err != nil {
			return err
		}
		keep := min(k+spare, n-1)
		for i := lo; i < hi; i++ {
			near, a := linalg.Row(g, i-lo), linalg.Row(y, i)
			for j, v := range near {
				near[j] = 2*v - norms2[j]
			}
			near[i] = math.NaN() // the last of all
			var h []neighbour
			for _, j := range vec.Top(n, keep, func(j int) float64 { return near[j] }) {
				s := 0.0
				for c, v := range linalg.Row(y, j) {
					s += (a[c] - v) * (a[c] - v)
				}
				h = append(h, neighbour{s, int32(j)})
			}
			slices.SortFunc(h, nearer)
			out[i] = h[:k]
		}
		return nil
	})
	return out, err
}

// affinity is the symmetric sparse matrix P by rows; its entries sum to 1.
type affinity struct {
	start []int
	cols  []int32
	vals  []float64
}

func (a *affinity) row(i int) ([]int32, []float64) {
	lo, hi := a.start[i], a.start[i+1]
	return a.cols[lo:hi], a.vals[lo:hi]
}

// affinities computes p_ij = (p_j|i + p_i|j)/2N from the nearest neighbours
// (lee-2018, eqs. 1.1 and 1.2; the p of others count as 0). It overwrites nb.
func affinities(ctx context.Context, nb [][]neighbour, perplexity float64, workers int) (*affinity, error) {
	n := len(nb)
	err := parallel.Chunks(ctx, n, chunk, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			for t, p := range conditional(nb[i], perplexity) {
				nb[i][t].v = p
			}
			slices.SortFunc(nb[i], func(a, b neighbour) int { return cmp.Compare(a.j, b.j) })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	back := make([][]neighbour, n) // the transpose, whose rows come out ascending
	for i, row := range nb {
		for _, c := range row {
			back[c.j] = append(back[c.j], neighbour{c.v, int32(i)})
		}
	}
	a := &affinity{start: make([]int, n+1)}
	for i, f := range nb {
		for b := back[i]; len(f) > 0 || len(b) > 0; {
			c := neighbour{0, math.MaxInt32}
			if len(f) > 0 {
				c.j = f[0].j
			}
			if len(b) > 0 {
				c.j = min(c.j, b[0].j)
			}
			if len(f) > 0 && f[0].j == c.j {
				c.v, f = f[0].v, f[1:]
			}
			if len(b) > 0 && b[0].j == c.j {
				c.v, b = c.v+b[0].v, b[1:]
			}
			if p := c.v / float64(2*n); p > 0 { // the quotient: it may underflow where c.v does not
				a.cols = append(a.cols, c.j)
				a.vals = append(a.vals, p)
			}
		}
		a.start[i+1] = len(a.cols)
	}
	return a, ctx.Err()
}

// conditional returns p_j|i for the neighbours of a point, nearest first: a
// Gaussian whose entropy is the logarithm of the perplexity. Where more
// neighbours than that are equally near, these share the probability.
func conditional(nb []neighbour, perplexity float64) []float64 {
	p := make([]float64, len(nb))
	nearest := nb[0].v
	mean := 0.0
	for _, c := range nb {
		mean += (c.v - nearest) / float64(len(nb))
	}
	beta := 1.0
	if mean > 0 {
		beta = 1 / mean
	}
	want := math.Log(perplexity)
	lo, hi := 0.0, math.Inf(1)
	for range 200 {
		sum, weighted := 0.0, 0.0
		for t, c := range nb {
			d := c.v - nearest
			p[t] = math.Exp(-beta * d)
			sum += p[t]
			weighted += beta * d * p[t]
		}
		for t := range p {
			p[t] /= sum
		}
		h := math.Log(sum) + weighted/sum
		if math.Abs(h-want) < 1e-10 || mean == 0 {
			break
		}
		if h > want { // too wide
			lo = beta
			if math.IsInf(hi, 1) {
				beta *= 2
			} else {
				beta = 0.5 * (lo + hi)
			}
		} else {
			hi = beta
			beta = 0.5 * (lo + hi)
		}
		if beta == lo || beta == hi || beta*mean > 1e100 {
			break
		}
	}
	return p
}
