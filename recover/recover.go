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
// Passes then improves both, if asked to, by going back to the documents.
package recovery

import (
	"context"
	"errors"
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
	// Progress, if not nil, is called with the number of words done, from one
	// goroutine at a time.
	Progress func(done, total int)
}

// Result is a recovered model.
type Result struct {
	// Breve is N×K: row n holds p(topic | word n) and sums to 1. It is the
	// transpose of the papers' B̆. Rows of words that never occur are zero.
	Breve *mat.Dense
	// B is N×K: column k holds p(word | topic k) and sums to 1.
	B *mat.Dense
	// A is K×K and symmetric: A_kl is the probability that two words of a
	// document come from topics k and l. It is neither clipped nor
	// renormalised: how far its sum is from 1 measures how well the model
	// fits (metrics.Legality).
	A *mat.Dense
	// Residuals holds ‖c̄_n − Σ_k B̆_kn c̄_{s_k}‖₂ for every word, against the
	// matrix that was factorised; 0 for anchors and words that never occur. They
	// come from ‖c̄_n‖² by subtraction, so that residuals below 1e-7·‖c̄_n‖ are
	// rounding.
	Residuals []float64
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
// 4 and 5). The anchors themselves get the unit vectors and are not solved for.
//
// Cost: one product of C̄ with K vectors, and the solver's. Memory: 8·d·K bytes
// and 40·N·K beside. The zero value solves exactly, by scls.ActiveSet.
type SCLS struct {
	// Solver solves the least-squares problems; nil means scls.ActiveSet{}.
	Solver scls.Solver
}

// Solver returns SCLS with the given solver.
func Solver(s scls.Solver) SCLS { return SCLS{Solver: s} }

func (s SCLS) solver() scls.Solver {
	if s.Solver == nil {
		return scls.ActiveSet{}
	}
	return s.Solver
}

func (s SCLS) String() string { return s.solver().String() }

// Validate reports settings of the solver that are out of range. Solvers look
// at their settings before anything else, so it has them solve no problem.
func (s SCLS) Validate() error {
	g := mat.NewSymDense(1, []float64{1})
	_, err := s.solver().Solve(context.Background(), g, new(mat.Dense), new(mat.Dense), scls.Options{Workers: 1})
	var bad *scls.SettingError
	if errors.As(err, &bad) {
		return fmt.Errorf("recovery: %w", err)
	}
	return nil
}

// Recover implements Recoverer. Errors: anchors out of range, named twice or
// without a probability (*AnchorError), the solver's, ctx's.
func (s SCLS) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	n, d := rows.Dims()
	k := len(anchors)
	c := rows.Marginals()
	if k == 0 || k > n {
		return nil, fmt.Errorf("recovery: %d anchors for %d words", k, n)
	}
	topic := make([]int, n) // 1 + the topic whose anchor the word is
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

	// F = C̄·C̄_Sᵀ, and G = C̄_S·C̄_Sᵀ are its rows S.
	u := mat.NewDense(d, k, nil)
	err = run.Chunks(ctx, k, 8, opt.Workers, func(_, _, lo, hi int) error {
		row := make([]float64, d)
		for t := lo; t < hi; t++ {
			rows.RowTo(row, anchors[t])
			u.SetCol(t, row)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	f := mat.NewDense(n, k, nil)
	if err := rows.MulTo(ctx, f, u, opt.Workers); err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	u = nil
	g := mat.NewSymDense(k, nil)
	for a, w := range anchors {
		for b := a; b < k; b++ {
			g.SetSym(a, b, 0.5*(f.At(w, b)+f.At(anchors[b], a)))
		}
	}

	// The words to solve for are packed together.
	var free []int
	for i := range n {
		if topic[i] == 0 && c[i] > 0 {
			free = append(free, i)
		}
	}
	res := &Result{Breve: mat.NewDense(n, k, nil), Residuals: make([]float64, n), Words: len(free), Marginals: c}
	for t, w := range anchors {
		res.Breve.Set(w, t, 1)
	}
	if len(free) > 0 {
		ff, y := mat.NewDense(len(free), k, nil), mat.NewDense(len(free), k, nil)
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
			half := max(0.5*norms[w]+sol.Objective[i], 0)
			res.Residuals[w] = math.Sqrt(2 * half)
			res.Objective += half
			res.MeanIterations += float64(sol.Iterations[i])
			res.MaxIterations = max(res.MaxIterations, sol.Iterations[i])
			res.MaxGap = max(res.MaxGap, sol.KKTGap[i])
			switch sol.Status[i] {
			case scls.IterationLimit:
				res.Limited++
			case scls.Stalled:
				res.Stalled++
			}
		}
		res.MeanIterations /= float64(len(free))
		res.Objective /= float64(n)
	}

	if res.B, err = bayes(res.Breve, c); err != nil {
		return nil, err
	}
	if res.A, err = diagonalA(rows, res.B, anchors); err != nil {
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
