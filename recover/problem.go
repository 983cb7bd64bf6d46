package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/recover/scls"
)

// problem is what all methods begin with.
type problem struct {
	rows    cooc.Rows
	anchors []int
	topic   []int       // 1 + the topic whose anchor the word is
	points  [][]float64 // in place of rows of anchors; nil where there are none
	n, d, k int
	c       []float64 // marginals
	norms   []float64 // ‖c̄_i‖²
	workers int
}

// minSum and maxSum bound the sum of C, so that the squares of its entries
// neither vanish nor overflow.
const minSum, maxSum = 0x1p-400, 0x1p400

// begin checks the input and prepares the rows for the anchors.
func begin(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*problem, error) {
	n, _ := rows.Dims()
	k := len(anchors)
	c := rows.Marginals()
	if k == 0 || k > n {
		return nil, fmt.Errorf("recovery: %d anchors for %d words", k, n)
	}
	topic := make([]int, n)
	for t, w := range anchors {
		switch {
		case w < 0 || w >= n:
			return nil, &AnchorError{t, w, fmt.Sprintf("not in [0, %d)", n)}
		case topic[w] != 0:
			return nil, &AnchorError{t, w, fmt.Sprintf("already the anchor of topic %d", topic[w]-1)}
		case !(c[w] > 0):
			return nil, &AnchorError{t, w, fmt.Sprintf("has the probability %g", c[w])}
		}
		topic[w] = t + 1
	}
	points, err := checkPoints(rows, opt.Points, anchors)
	if err != nil {
		return nil, err
	}
	for t, p := range points {
		if p != nil {
			topic[anchors[t]] = 0 // not a word of its topic only
		}
	}
	if rows, err = rows.WithAnchors(ctx, anchors, opt.Workers); err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	_, d := rows.Dims()
	c = rows.Marginals()
	switch sum := vec.Sum(c); {
	case !(sum >= minSum):
		return nil, fmt.Errorf("recovery: the matrix sums to %.9g, too small to normalise: divide it by its sum", sum)
	case sum > maxSum:
		return nil, fmt.Errorf("recovery: the matrix sums to %.9g, too large to normalise: divide it by its sum", sum)
	}
	norms, err := rows.Norms2(ctx, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	return &problem{rows: rows, anchors: anchors, topic: topic, points: points, n: n, d: d, k: k, c: c, norms: norms, workers: opt.Workers}, nil
}

// anchorRows returns the rows of the anchors or their points as columns, d×K.
func (p *problem) anchorRows(ctx context.Context) (*mat.Dense, error) {
	u := mat.NewDense(p.d, p.k, nil)
	err := parallel.Chunks(ctx, p.k, 8, p.workers, func(_, _, lo, hi int) error {
		row := make([]float64, p.d)
		for t := lo; t < hi; t++ {
			if p.points != nil && p.points[t] != nil {
				u.SetCol(t, p.points[t])
				continue
			}
			p.rows.RowTo(row, p.anchors[t])
			u.SetCol(t, row)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	return u, nil
}

// products returns F = C̄·C̄_Sᵀ, N×K, and G = C̄_S·C̄_Sᵀ, which are its rows S.
func (p *problem) products(ctx context.Context) (f *mat.Dense, g *mat.SymDense, err error) {
	u, err := p.anchorRows(ctx)
	if err != nil {
		return nil, nil, err
	}
	f = mat.NewDense(p.n, p.k, nil)
	if err := p.rows.MulTo(ctx, f, u, p.workers); err != nil {
		return nil, nil, fmt.Errorf("recovery: %w", err)
	}
	g = mat.NewSymDense(p.k, nil)
	if p.points != nil {
		gram := mat.NewDense(p.k, p.k, nil)
		if err := linalg.Gram(ctx, u.RawMatrix(), gram.RawMatrix(), p.workers); err != nil {
			return nil, nil, fmt.Errorf("recovery: %w", err)
		}
		return f, mat.NewSymDense(p.k, gram.RawMatrix().Data), nil
	}
	for a, w := range p.anchors {
		for b := a; b < p.k; b++ {
			g.SetSym(a, b, 0.5*(f.At(w, b)+f.At(p.anchors[b], a)))
		}
	}
	return f, g, nil
}

// free returns the words to solve for: those that occur and are no anchors.
func (p *problem) free() []int {
	var free []int
	for i, c := range p.c {
		if p.topic[i] == 0 && c > 0 {
			free = append(free, i)
		}
	}
	return free
}

// result returns a Result with the unit vectors of the anchors.
func (p *problem) result(words int) *Result {
	res := &Result{WordTopics: mat.NewDense(p.n, p.k, nil), Residuals: make([]float64, p.n), Marginals: p.c, Stats: Stats{Words: words}}
	for t, w := range p.anchors {
		if p.topic[w] == t+1 {
			res.WordTopics.Set(w, t, 1)
		}
	}
	return res
}

// residual sets the residual of word w, given ½yᵀGy − fᵀy.
func (p *problem) residual(res *Result, w int, objective float64) {
	half := max(float64(0.5*p.norms[w])+objective, 0)
	res.Residuals[w] = math.Sqrt(2 * half)
	res.Objective += half // divided by N in average
}

// count sums up how the solver ended.
func (res *Result) count(iterations []int, gaps []float64, status []scls.Status) {
	for i, it := range iterations {
		res.MeanIterations += float64(it)
		res.MaxIterations = max(res.MaxIterations, it)
		res.MaxGap = max(res.MaxGap, gaps[i])
		switch status[i] {
		case scls.IterationLimit:
			res.Limited++
		case scls.Stalled:
			res.Stalled++
		}
	}
	res.MeanIterations /= float64(len(iterations))
	res.Converged = res.Words - res.Limited - res.Stalled
}

// average divides the objective by N, and sums up the residuals.
func (res *Result) average() {
	n := float64(len(res.Residuals))
	res.Objective /= n
	for _, v := range res.Residuals {
		res.MeanResidual += v / n
		res.MaxResidual = max(res.MaxResidual, v)
	}
}

// finish computes B and A from B̆.
func (p *problem) finish(ctx context.Context, res *Result, f Finish) (*Result, error) {
	res.average()
	var err error
	if res.B, err = bayes(res.WordTopics, p.c); err != nil {
		return nil, err
	}
	if err = f.apply(ctx, p, res); err != nil {
		return nil, err
	}
	return res, ctx.Err()
}

// bayes returns B_nk = B̆_kn c_n / Σ_m B̆_km c_m.
func bayes(wordTopics *mat.Dense, c []float64) (*mat.Dense, error) {
	n, k := wordTopics.Dims()
	b := mat.NewDense(n, k, nil)
	sum := make([]float64, k)
	for i := range n {
		row, out := wordTopics.RawRowView(i), b.RawRowView(i)
		for t, v := range row {
			out[t] = float64(v * c[i])
			sum[t] += out[t]
		}
	}
	for t, s := range sum {
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("recovery: topic %d has the total probability %g", t, s)
		}
	}
	for i := range n {
		floats.Div(b.RawRowView(i), sum)
	}
	return b, nil
}

// diagonalA returns D⁻¹C_SSD⁻¹, D = diag(B_S).
func diagonalA(rows cooc.Rows, b *mat.Dense, anchors []int) (*mat.Dense, error) {
	k := len(anchors)
	css := mat.NewDense(k, k, nil)
	rows.BlockTo(css, anchors)
	a := mat.NewDense(k, k, nil)
	for t, w := range anchors {
		for l := range t + 1 {
			v := 0.5 * (css.At(t, l) + css.At(l, t)) / (b.At(w, t) * b.At(anchors[l], l))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &AnchorError{t, w, fmt.Sprintf("gives the correlation %g with topic %d", v, l)}
			}
			a.Set(t, l, v)
			a.Set(l, t, v)
		}
	}
	return a, nil
}

// checkPoints returns the points, or nil if there are none.
func checkPoints(rows cooc.Rows, points [][]float64, anchors []int) ([][]float64, error) {
	_, d := rows.Dims()
	if points != nil && len(points) != len(anchors) {
		return nil, fmt.Errorf("recovery: %d points for %d anchors", len(points), len(anchors))
	}
	some := false
	for t, p := range points {
		if p == nil {
			continue
		}
		some = true
		if len(p) != d {
			return nil, &AnchorError{t, anchors[t], fmt.Sprintf("its point has %d coordinates, the rows have %d", len(p), d)}
		}
		for j, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &AnchorError{t, anchors[t], fmt.Sprintf("coordinate %d of its point is %g", j, v)}
			}
		}
	}
	if !some {
		return nil, nil
	}
	if !rows.Explicit() {
		return nil, fmt.Errorf("recovery: points are given for anchors, but low-rank rows do not have the entries of C̄")
	}
	return points, nil
}

// noPoints returns an error if there are points, for methods that cannot use them.
func noPoints(method string, opt Options) error {
	for t, p := range opt.Points {
		if p != nil {
			return fmt.Errorf("recovery: %s takes anchor words, but topic %d has a point in place of one; SCLS takes it", method, t)
		}
	}
	return nil
}
