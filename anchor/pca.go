package anchor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// principalComponents returns the scores of the given rows of C̄ on their first p
// principal components, the columns of (C̄ − 1·mean)·V with V the leading right singular
// vectors, and how many there are: fewer than p if the rows span fewer dimensions, of
// singular values above 1e-7 of the first. The entry of largest size of a column is
// positive.
//
// V are eigenvectors of the d×d matrix of the centred rows, by Lanczos; the
// scores are exact to the rounding of the rows, not of its square.
func principalComponents(ctx context.Context, rows cooc.Rows, words []int, p, workers int) (scores *mat.Dense, found int, err error) {
	_, d := rows.Dims()
	p = min(p, d)
	c := newCentred(rows, words, workers)
	op := func(ctx context.Context, dst, x blas64.General) error {
		y, err := c.mul(ctx, asDense(x))
		if err != nil {
			return err
		}
		return c.mulTrans(ctx, asDense(dst), y)
	}
	theta, v, st, err := linalg.Lanczos(ctx, d, op, linalg.LanczosOptions{Pairs: p, Tol: 1e-9, MaxRestarts: 60, Block: 8, Workers: workers})
	if err != nil {
		return nil, 0, fmt.Errorf("anchor: principal components: %w", err)
	}
	basis := mat.NewDense(d, p, nil)
	for j := range p {
		for i, x := range linalg.Row(v, j) {
			basis.Set(i, j, x)
		}
	}
	y, err := c.mul(ctx, basis)
	if err != nil {
		return nil, 0, fmt.Errorf("anchor: %w", err)
	}
	norms2, err := rows.Norms2(ctx, workers)
	if err != nil {
		return nil, 0, fmt.Errorf("anchor: %w", err)
	}
	total := 0.0
	for _, i := range words {
		total += norms2[i]
	}
	// Rows that differ by rounding only have no components at all.
	floor := 1e-12 * math.Sqrt(total)
	for ; found < p; found++ {
		s := 0.0
		for i := range c.used {
			s += float64(y.At(i, found) * y.At(i, found))
		}
		if s = math.Sqrt(s); s <= floor {
			break
		}
		if found == 0 {
			floor = max(floor, rankTol*s)
		}
	}
	switch {
	case found == 0:
		return nil, 0, nil
	// Where there are fewer dimensions than p the last pairs are rounding.
	case !st.Converged && st.Residual > 1e-13*theta[0]:
		return nil, 0, fmt.Errorf("anchor: the %d first principal components were not found in %d restarts: the residual is %.2g of the first", p, st.Restarts, st.Residual/theta[0])
	}
	return signed(y, words, found), found, nil
}

// signed returns the given rows of the first k columns, each with the sign that makes
// its entry of largest size positive.
func signed(y *mat.Dense, words []int, k int) *mat.Dense {
	scores := mat.NewDense(len(words), k, nil)
	for j := range k {
		largest, sign := 0.0, 1.0
		for t, i := range words {
			v := y.At(i, j)
			scores.Set(t, j, v)
			if math.Abs(v) > largest*(1+1e-9) {
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		if sign < 0 {
			for t := range words {
				scores.Set(t, j, -scores.At(t, j))
			}
		}
	}
	return scores
}

// centred are the rows of some words less their mean; those of the others are zero.
type centred struct {
	rows    cooc.Rows
	words   []int
	used    []bool
	workers int
	held    blas64.General // all rows, where they are not explicit
}

func newCentred(rows cooc.Rows, words []int, workers int) *centred {
	n, _ := rows.Dims()
	c := &centred{rows: rows, words: words, used: make([]bool, n), workers: workers}
	for _, i := range words {
		c.used[i] = true
	}
	return c
}

// mul returns the product with x.
func (c *centred) mul(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	_, q := x.Dims()
	y := mat.NewDense(len(c.used), q, nil)
	if err := c.rows.MulTo(ctx, y, x, c.workers); err != nil {
		return nil, err
	}
	mean := make([]float64, q)
	for _, i := range c.words {
		floats.Add(mean, y.RawRowView(i))
	}
	for j := range mean {
		mean[j] /= float64(len(c.words))
	}
	return y, parallel.Chunks(ctx, len(c.used), 1024, c.workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if c.used[i] {
				floats.Sub(y.RawRowView(i), mean)
			} else {
				clear(y.RawRowView(i))
			}
		}
		return nil
	})
}

// mulTrans computes dst = C̄ᵀ·y and overwrites y. Explicit rows are those of a
// symmetric C divided by their sums c, so that C̄ᵀy = C·diag(c)⁻¹y, or those of C
// itself. Others have few coordinates and are held.
func (c *centred) mulTrans(ctx context.Context, dst, y *mat.Dense) error {
	if c.rows.Explicit() {
		if _, own := c.rows.(unnormalised); !own {
			for i, v := range c.rows.Marginals() {
				s := 0.0
				if v != 0 {
					s = 1 / v
				}
				floats.Scale(s, y.RawRowView(i))
			}
		}
		return c.rows.Matrix().MulTo(ctx, dst, y, c.workers)
	}
	if c.held.Data == nil {
		n, d := c.rows.Dims()
		c.held = linalg.NewGeneral(n, d)
		for i := range n {
			c.rows.RowTo(linalg.Row(c.held, i), i)
		}
	}
	return linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, c.held, y.RawMatrix(), 0, dst.RawMatrix(), c.workers)
}

// asDense returns g as a matrix in the same memory.
func asDense(g blas64.General) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(g)
	return &m
}
