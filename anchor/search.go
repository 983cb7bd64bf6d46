package anchor

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// tie is the relative difference of squared norms below which rows count as
// equally far, and tieFirst the difference relative to the first norm, for the
// late pivots whose squared norms are what rounding left of larger ones. Words
// of page templates have the same row up to rounding; which of them is taken
// must not depend on how a product was summed.
const (
	tie      = 1e-9
	tieFirst = 4e-15
)

// admit says which words may become anchors.
type admit struct {
	minDocs    int
	fraction   float64
	allowFewer bool
}

func (a admit) bad() bool { return a.minDocs < 0 || !(a.fraction >= 0 && a.fraction <= 1) }

func (a admit) describe() []string {
	var opts []string
	if a.minDocs > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%d", a.minDocs))
	}
	if a.fraction > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%g%%", 100*a.fraction))
	}
	return opts
}

func badTol(tol float64) bool { return !(tol >= 0 && tol < 1) }

func withOptions(name string, opts []string) string {
	if opts == nil {
		return name
	}
	return name + "(" + strings.Join(opts, ", ") + ")"
}

// search is a search for anchors under way: what all finders check and keep.
type search struct {
	rows    cooc.Rows
	n, d, k int
	opt     Options
	admit   admit
	u       []float64 // ‖c̄_i‖², and then what the method makes of it
	open    []bool    // the words that may be chosen
	largest float64   // of u among the open words, at first
	given   []int     // the anchors of opt.Partial
	res     *Result
}

// begin checks the input and finds the candidates.
func begin(ctx context.Context, name string, rows cooc.Rows, k int, a admit, opt Options) (*search, error) {
	n, d := rows.Dims()
	if k < 1 || k > n {
		return nil, fmt.Errorf("anchor: K = %d is not in [1, %d], the number of words", k, n)
	}
	// 7 % of 100 documents are 7, not the 8 that 0.07·100 rounds up to.
	least := max(a.minDocs, int(math.Ceil(a.fraction*float64(opt.Docs)*(1-1e-12))))
	if a.minDocs > 0 || a.fraction > 0 {
		if len(opt.DocFrequencies) != n {
			return nil, fmt.Errorf("anchor: %s: candidates are to occur in at least %d documents, but the document frequencies of %d words are known, of %d", name, least, len(opt.DocFrequencies), n)
		}
		if a.fraction > 0 && opt.Docs <= 0 {
			return nil, fmt.Errorf("anchor: %s: candidates are to occur in %g of the documents, but their number is not known", name, a.fraction)
		}
	}
	if !(opt.PreferTol >= 0 && opt.PreferTol < 1) {
		return nil, fmt.Errorf("anchor: PreferTol is %g, not in [0, 1)", opt.PreferTol)
	}
	for _, w := range opt.Prefer {
		if w < 0 || w >= n {
			return nil, fmt.Errorf("anchor: the preferred word %d is not in [0, %d)", w, n)
		}
	}
	norms, err := rows.Norms2(ctx, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	s := &search{rows: rows, n: n, d: d, k: k, opt: opt, admit: a, u: make([]float64, n), open: make([]bool, n), res: &Result{}}
	for i, v := range norms {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("anchor: the row of word %d has the squared norm %g", i, v)
		}
		s.u[i] = v
		if v > 0 && (least == 0 || opt.DocFrequencies[i] >= least) {
			s.open[i] = true
			s.res.Candidates++
		}
	}
	if err := s.checkPartial(); err != nil {
		return nil, err
	}
	if s.res.Candidates < k && !a.allowFewer || s.res.Candidates == 0 {
		return nil, &CandidateError{Candidates: s.res.Candidates, K: k, MinDocs: least}
	}
	for i, ok := range s.open {
		if ok {
			s.largest = max(s.largest, s.u[i])
		}
	}
	return s, nil
}

// checkPartial checks the given anchors, and admits them whatever their
// frequency; who gives them knows why.
func (s *search) checkPartial() error {
	p := s.opt.Partial
	if p == nil {
		return nil
	}
	if len(p.Anchors) > s.k {
		return fmt.Errorf("anchor: %d anchors are given for %d topics", len(p.Anchors), s.k)
	}
	if p.Points != nil && len(p.Points) != len(p.Anchors) {
		return fmt.Errorf("anchor: %d points are given for %d anchors", len(p.Points), len(p.Anchors))
	}
	shut := func(w int) {
		if s.open[w] {
			s.open[w] = false
			s.res.Candidates--
		}
	}
	for _, w := range p.Exclude {
		if w < 0 || w >= s.n {
			return fmt.Errorf("anchor: the excluded word %d is not in [0, %d)", w, s.n)
		}
		shut(w)
	}
	seen := make(map[int]int, len(p.Anchors))
	for g, w := range p.Anchors {
		bad := func(format string, args ...any) error { return &PartialError{g, w, fmt.Sprintf(format, args...)} }
		if w < 0 || w >= s.n {
			return bad("not in [0, %d)", s.n)
		}
		if h, ok := seen[w]; ok {
			return bad("is given anchor %d too", h)
		}
		seen[w] = g
		point := s.point(g)
		switch {
		case point == nil && !(s.u[w] > 0):
			return bad("has no co-occurrence row")
		case point != nil && len(point) != s.d:
			return bad("its point has %d coordinates, the rows have %d", len(point), s.d)
		}
		size := 0.0
		for j, v := range point {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return bad("coordinate %d of its point is %g", j, v)
			}
			size += v * v
		}
		if point != nil && !(size > 0) {
			return bad("its point is zero")
		}
		shut(w)
	}
	s.given = p.Anchors
	s.res.Candidates += len(p.Anchors)
	return nil
}

// point is what stands in for the row of the t-th anchor, or nil.
func (s *search) point(t int) []float64 {
	if p := s.opt.Partial; p != nil && t < len(p.Points) {
		return p.Points[t]
	}
	return nil
}

// rowTo writes the row of the t-th anchor, word w.
func (s *search) rowTo(dst []float64, t, w int) {
	if p := s.point(t); p != nil {
		copy(dst, p)
		return
	}
	s.rows.RowTo(dst, w)
}

// best returns the lowest of the open words that have the largest value, but
// for ties; −1 where there is none or no value is positive.
func best(v []float64, open []bool, largest float64) int {
	top := 0.0
	for i, ok := range open {
		if ok {
			top = max(top, v[i])
		}
	}
	if top == 0 {
		return -1
	}
	bar := top - max(tie*top, tieFirst*largest)
	for i, ok := range open {
		if ok && v[i] >= bar {
			return i
		}
	}
	return -1
}

// preferred returns the farthest of the open words that are preferred, the first
// of equal ones, where it is nearly as far as w; else w.
func (s *search) preferred(w int) int {
	if w < 0 {
		return w
	}
	least := (1 - s.opt.PreferTol) * (1 - s.opt.PreferTol) * s.u[w]
	at := -1
	for _, i := range s.opt.Prefer {
		if s.open[i] && s.u[i] >= least && (at < 0 || s.u[i] > s.u[at]) {
			at = i
		}
	}
	if at < 0 {
		return w
	}
	return at
}

// take adds an anchor to the result.
func (s *search) take(w int, norm float64) {
	s.res.Anchors, s.res.Norms = append(s.res.Anchors, w), append(s.res.Norms, norm)
	s.open[w] = false
	if s.opt.Progress != nil {
		s.opt.Progress(len(s.res.Anchors), s.k, norm)
	}
}

// pursuit is pivoted QR of the rows: an orthonormal basis of the anchors.
type pursuit struct {
	*search
	basis *mat.Dense // K×d; the rows are the q_k
	coef  *mat.Dense // K×K: the rows of the anchors are coef·basis; nil if not kept
	x     *mat.Dense // d×1, a new direction
	p     *mat.Dense // N×1, C̄x
}

// pursue finds the anchors by pivoted QR, and cleans up where asked to.
func (s *search) pursue(ctx context.Context, tol float64, cleanUp bool) (*Result, error) {
	if tol == 0 {
		tol = DefaultRankTol
	}
	p := &pursuit{search: s, basis: mat.NewDense(s.k, s.d, nil), x: mat.NewDense(s.d, 1, nil), p: mat.NewDense(s.n, 1, nil)}
	if cleanUp {
		p.coef = mat.NewDense(s.k, s.k, nil)
	}
	for len(s.res.Anchors) < s.k {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		t := len(s.res.Anchors)
		w, r := -1, 0.0
		if t < len(s.given) {
			w = s.given[t]
		} else {
			w = s.preferred(best(s.u, s.open, s.largest))
		}
		if w >= 0 {
			s.rowTo(p.x.RawMatrix().Data, t, w)
			r = p.orthogonalise(t, t)
		}
		scale := r // of the first anchor; a given one may be short
		if t > 0 {
			scale = s.res.Norms[0]
		}
		if len(s.given) > 0 {
			scale = max(scale, math.Sqrt(s.largest))
		}
		if w < 0 || r <= tol*scale || r == 0 {
			if t < len(s.given) {
				return nil, &PartialError{t, w, fmt.Sprintf("its row is in the span of those given before (%.3g from it, rows are up to %.3g long)", r, scale)}
			}
			if s.admit.allowFewer && t > 0 {
				break
			}
			return nil, &RankError{Rank: t, K: s.k, Norm: r, First: scale}
		}
		if err := p.extend(ctx, t, r); err != nil {
			return nil, err
		}
		for i, v := range p.p.RawMatrix().Data {
			s.u[i] = max(s.u[i]-v*v, 0)
		}
		s.take(w, r)
	}
	if cleanUp {
		if err := p.cleanUp(ctx); err != nil {
			return nil, err
		}
	}
	return s.res, nil
}

// orthogonalise takes from x, the row of anchor t, its parts along the first m
// basis vectors and returns the length of what is left.
func (p *pursuit) orthogonalise(t, m int) float64 {
	w := p.x.RawMatrix()
	if m > 0 {
		q := p.basis.Slice(0, m, 0, p.d).(*mat.Dense).RawMatrix()
		h := linalg.NewGeneral(m, 1)
		// On one core: a product takes less than waking another, and no time in
		// which a context would matter, which is the only error there is.
		ctx := context.Background()
		for pass := 0; pass < 2; pass++ {
			_ = linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, q, w, 0, h, 1)
			_ = linalg.Gemm(ctx, blas.Trans, blas.NoTrans, -1, q, h, 1, w, 1)
			if p.coef != nil {
				for l, v := range h.Data {
					p.coef.Set(t, l, p.coef.At(t, l)+v)
				}
			}
		}
	}
	r := vec.Norm(w.Data)
	if p.coef != nil {
		p.coef.Set(t, m, r)
	}
	return r
}

// extend makes x/r the basis vector l and p its product with C̄.
func (p *pursuit) extend(ctx context.Context, l int, r float64) error {
	w, b := p.x.RawMatrix().Data, p.basis.RawRowView(l)
	for j, v := range w {
		w[j] = v / r
		b[j] = w[j]
	}
	return p.mul(ctx)
}

func (p *pursuit) mul(ctx context.Context) error {
	if err := p.rows.MulTo(ctx, p.p, p.x, p.opt.Workers); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	return nil
}
