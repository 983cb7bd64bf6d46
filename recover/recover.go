// Package recovery learns the topics and their correlations once the anchor
// words are known. (Its folder is called recover; a package of that name would
// hide the builtin.)
//
// Every row of C̄ is nearly a convex combination of the anchors' rows, and its
// coefficients are B̆_kn = p(topic k | word n). They solve one simplex-constrained
// least-squares problem a word (package scls). Bayes' rule turns them into the
// topics B_nk = p(word n | topic k), and the co-occurrence of the anchors
// themselves gives the correlations A_kl = p(topics k and l) of two words of a
// document (lee-2020 §3, steps 3 and 4).
//
// # Which method
//
//   - SCLS: least squares, exact in its zero value. Use it.
//   - RecoverL2: the same as arora-2013 has it, by exponentiated gradient and
//     with A from the pseudo-inverse of B.
//   - RecoverKL: the Kullback–Leibler divergence in place of the squares
//     (arora-2013, Algorithm 3). It needs the rows themselves and N times the
//     work of a sweep of RecoverL2.
//   - Inverse: the method of 2012, which inverts the anchors' block of C and
//     looks at no other row. To see what the others are good for.
//
// Finish says how SCLS and RecoverKL come to A, and what is done to A and B in
// the end. FitAlpha fits a Dirichlet prior to A.
//
// Package refine improves both by passes over the documents.
package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/recover/scls"
)

// Recoverer is a way to recover topics and correlations from anchors.
type Recoverer interface {
	// Recover returns the model of the rows with the given anchors. The result
	// is the same to the bit for any opt.Workers.
	Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every method takes beside its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Points are rows that stand in for those of the anchors, where an anchor is
	// more than one word (anchor.Tandem): nil, or one for each topic, of length d
	// and nil where it is the anchor's own row. Recoverers that heed them say so
	// (PointRecoverer); the others refuse them.
	Points [][]float64
	// Progress, if not nil, is called with the number of words done, from one
	// goroutine at a time.
	Progress func(done, total int)
}

// PointRecoverer is what a Recoverer implements that can take the rows of
// anchors from Options.Points.
type PointRecoverer interface {
	Recoverer
	// TakesPoints tells whether it does with its settings.
	TakesPoints() bool
}

// Result is a recovered model.
type Result struct {
	// Breve is N×K: row n holds p(topic | word n) and sums to 1. It is the
	// transpose of the papers' B̆. Rows of words that never occur are zero.
	Breve *mat.Dense
	// B is N×K: column k holds p(word | topic k) and sums to 1.
	B *mat.Dense
	// A is K×K and symmetric: A_kl is the probability that two words of a
	// document come from topics k and l. Unless Finish says otherwise it is
	// neither clipped nor renormalised: how far its sum is from 1 measures how
	// well the model fits (metrics.Report.Legality).
	A *mat.Dense
	// Residuals holds ‖c̄_n − Σ_k B̆_kn c̄_{s_k}‖₂ for every word, against the
	// matrix that was factorised; 0 for anchors and words that never occur. They
	// come from ‖c̄_n‖² by subtraction, so that residuals below 1e-7·‖c̄_n‖ are
	// rounding.
	Residuals []float64
	// Divergence is, for RecoverKL, the mean over all N words of the
	// Kullback–Leibler divergence of c̄_n from the mixture of the anchors' rows,
	// in nats, and Unreached the mean over the words solved for of the mass of
	// c̄_n on words that no anchor co-occurs with, which no mixture explains and
	// the divergence leaves out. 0 for other methods.
	Divergence, Unreached float64
	// Finishing says how A was computed.
	Finishing Finishing
	// Marginals are the c_n that Bayes' rule was applied with, length N: those of
	// the rows, after cooc.AnchorRows were told the anchors. They belong to the
	// rows and must not be written to.
	Marginals []float64
	// Objective is the mean over all N words of ½·Residuals².
	Objective float64
	// Words is how many problems were solved: N less the anchors and the words
	// that never occur.
	Words int
	// MeanIterations and MaxIterations are over those words.
	MeanIterations float64
	MaxIterations  int
	// MaxGap is the largest primal-dual gap: no objective is farther than
	// this above its minimum.
	MaxGap float64
	// Limited is how many words hit the solver's iteration limit, Stalled how
	// many stopped short of its rule because rounding let nothing more be gained.
	Limited, Stalled int
}

// AnchorError says that an anchor cannot carry its topic.
type AnchorError struct {
	Topic, Word int
	Reason      string
}

func (e *AnchorError) Error() string {
	return fmt.Sprintf("recovery: anchor of topic %d, word %d: %s", e.Topic, e.Word, e.Reason)
}

// SCLS recovers B̆ by simplex-constrained least squares, B by Bayes' rule and A
// by the diagonal recovery A = D⁻¹C_SSD⁻¹, D = diag(B_S) (lee-2020, Algorithms
// 4 and 5), or as Finish says. The anchors themselves get the unit vectors and
// are not solved for.
//
// Where opt.Points stands in for the row of an anchor, there is no word that
// occurs in this topic only: the anchor is solved for like any other word, and A,
// as a whole, comes from all of C, by PseudoInverse in place of Diagonal. Rows
// that are a low-rank picture (cooc.AnchorRows) cannot be had with points.
//
// Cost: one product of C̄ with K vectors, and the solver's. Memory: 8·d·K bytes
// and 40·N·K beside. The zero value solves exactly, by scls.ActiveSet.
type SCLS struct {
	// Solver solves the least-squares problems; nil means scls.ActiveSet{}.
	Solver scls.Solver

	// Finish says how A is computed and what is done in the end.
	Finish Finish
}

// Solver returns SCLS with the given solver.
func Solver(s scls.Solver) SCLS { return SCLS{Solver: s} }

// RecoverL2 returns the method of that name of arora-2013: SCLS solved by
// exponentiated gradient with a line search (Appendix D.2), and A = B†CB†ᵀ.
func RecoverL2() SCLS {
	return SCLS{Solver: scls.ExpGrad{}, Finish: Finish{Correlations: PseudoInverse}}
}

func (s SCLS) solver() scls.Solver {
	if s.Solver == nil {
		return scls.ActiveSet{}
	}
	return s.Solver
}

func (s SCLS) String() string { return s.solver().String() + s.Finish.suffix() }

// Validate reports settings of the solver and of Finish that are out of range.
func (s SCLS) Validate() error {
	if err := s.solver().Validate(); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	return s.Finish.Validate()
}

// TakesPoints implements PointRecoverer.
func (s SCLS) TakesPoints() bool { return true }

// Recover implements Recoverer. Errors: anchors out of range, named twice or
// without a probability (*AnchorError), points that do not fit, the solver's,
// those of Finish, ctx's.
func (s SCLS) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Finish.Validate(); err != nil {
		return nil, err
	}
	p, err := begin(ctx, rows, anchors, opt)
	if err != nil {
		return nil, err
	}
	f, g, err := p.products(ctx)
	if err != nil {
		return nil, err
	}
	// The words to solve for are packed together.
	free := p.free()
	res := p.result(len(free))
	if len(free) > 0 {
		ff, y := mat.NewDense(len(free), p.k, nil), mat.NewDense(len(free), p.k, nil)
		for i, w := range free {
			ff.SetRow(i, f.RawRowView(w))
		}
		f = nil
		sol, err := s.solver().Solve(ctx, g, ff, y, scls.Options{Workers: opt.Workers, Progress: opt.Progress})
		if err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		for i, w := range free {
			res.Breve.SetRow(w, y.RawRowView(i))
			p.residual(res, w, sol.Objective[i])
		}
		res.count(sol.Iterations, sol.KKTGap, sol.Status)
	}
	return p.finish(ctx, res, s.Finish)
}

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

// begin checks the anchors and tells them to rows that want to know.
func begin(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*problem, error) {
	n, d := rows.Dims()
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
	if a, ok := rows.(cooc.AnchorRows); ok {
		var err error
		if rows, err = a.WithAnchors(ctx, anchors, opt.Workers); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		n, d = rows.Dims()
		c = rows.Marginals()
	}
	norms, err := rows.Norms2(ctx, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	for i, v := range c {
		// Its square, or 1/v, is not a number that counts.
		if q := norms[i]; v > 0 && (math.IsInf(1/v, 1) || math.IsNaN(q) || math.IsInf(q, 1) || q == 0 && v < 1e-140) {
			return nil, fmt.Errorf("recovery: the row of word %d sums to %g, too small to normalise: divide the matrix by its sum", i, v)
		}
	}
	return &problem{rows: rows, anchors: anchors, topic: topic, points: points, n: n, d: d, k: k, c: c, norms: norms, workers: opt.Workers}, nil
}

// anchorRows returns the rows of the anchors, d×K, one a column.
func (p *problem) anchorRows(ctx context.Context) (*mat.Dense, error) {
	u := mat.NewDense(p.d, p.k, nil)
	err := run.Chunks(ctx, p.k, 8, p.workers, func(_, _, lo, hi int) error {
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
		g.SymOuterK(1, u.T())
		return f, g, nil
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

// result returns a Result in which the anchors have their unit vectors.
func (p *problem) result(words int) *Result {
	res := &Result{Breve: mat.NewDense(p.n, p.k, nil), Residuals: make([]float64, p.n), Words: words, Marginals: p.c}
	for t, w := range p.anchors {
		if p.topic[w] == t+1 {
			res.Breve.Set(w, t, 1)
		}
	}
	return res
}

// residual notes that of word w, given ½yᵀGy − fᵀy.
func (p *problem) residual(res *Result, w int, objective float64) {
	half := max(0.5*p.norms[w]+objective, 0)
	res.Residuals[w] = math.Sqrt(2 * half)
	res.Objective += half // the mean is taken in finish
}

// count notes how the solver did.
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
}

// finish computes B and A from B̆.
func (p *problem) finish(ctx context.Context, res *Result, f Finish) (*Result, error) {
	res.Objective /= float64(p.n)
	var err error
	if res.B, err = bayes(res.Breve, p.c); err != nil {
		return nil, err
	}
	if err = f.apply(ctx, p, res); err != nil {
		return nil, err
	}
	return res, ctx.Err()
}

// bayes returns B_nk = B̆_kn c_n / Σ_m B̆_km c_m.
func bayes(breve *mat.Dense, c []float64) (*mat.Dense, error) {
	n, k := breve.Dims()
	b := mat.NewDense(n, k, nil)
	sum := make([]float64, k)
	for i := range n {
		row, out := breve.RawRowView(i), b.RawRowView(i)
		for t, v := range row {
			out[t] = v * c[i]
			sum[t] += out[t]
		}
	}
	for t, s := range sum {
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("recovery: topic %d has the total probability %g", t, s)
		}
	}
	for i := range n {
		for t := range sum {
			b.RawRowView(i)[t] /= sum[t]
		}
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
