package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// ENN is epsilon non-negative rectification (dong-2019, §4.4.1, Algorithm 3):
// alternating projection that looks for negative entries only in the rows and columns
// of the words with the longest y_i, and returns YYᵀ alone. From the K largest
// eigenpairs of C, as Y = U·√Λ⁺, each iteration makes
//
//	E_ij = max(−(YYᵀ)_ij, 0) where i or j is in I, 0 elsewhere,
//	r    = (1 − ‖Yᵀe‖² − ΣE)/N²,
//	Y    ← the K largest eigenpairs of YYᵀ + E + r·eeᵀ.
//
// No entry outside of the rows and columns I is below −ε, where ε = max ‖y_i‖² over
// the words not in I. The result, a [*cooc.LowRankSparse], has rank K. Its smallest
// entries are slightly negative, and its sum is 1 up to the change of the last
// iteration (Violations).
//
// On few and short documents, such as a few thousand titles, the first anchors are words
// of one or two of them, and the models of [AP] and ENN differ, in A above all. Anchors in
// 1 % of the documents (anchor.QR.MinDocFraction) give the same model by both.
//
// An iteration costs 2·N·|I|·K operations for the scan and 2 or 3 products with
// K + 10 vectors, each of 4·N·K + 2·nnz(E) operations a vector: it grows with N, not
// with N². Memory: a few blocks of 8·N·(K + 10) bytes, and some 50 for each entry of
// E in the rows I.
//
// The zero value goes on until E converges, with |I| = 10K + 1000. The setting of the
// paper is Iterations: 50.
type ENN struct {
	// Iterations is the number of iterations; 0 means until E converges, at most 50.
	Iterations int
	// Tol > 0 stops before Iterations once ‖E_t − E_{t−1}‖_F ≤ Tol·(Σ λ²)^½ over the K
	// largest eigenpairs of C. 0 means no tolerance if Iterations is set, and otherwise
	// 5e-5, but not before the tenth iteration.
	Tol float64
	// Rows is the number |I| of rows to scan, those of largest ‖y_i‖² in each iteration; ties
	// go to the lower word number. 0 means min(N, 10K + 1000), or all if Epsilon is set.
	Rows int
	// Epsilon > 0 scans the rows of the words with ‖y_i‖² > Epsilon instead, at most
	// Rows of them if that is set. The mean entry of C is 1/N².
	Epsilon float64
	// EigenTol bounds the residuals of eigenpairs as for AP; 0 means 1e-5.
	EigenTol float64
}

// minIterations come before the default tolerance counts, because stop words make up
// most of ‖C‖_F and hide what moves.
const minIterations = 10

func (e ENN) settings() settings {
	s := settings{name: "ENN", iterations: cmp.Or(e.Iterations, 50), tol: e.Tol, eigenTol: cmp.Or(e.EigenTol, 1e-5)}
	if e.Tol == 0 && e.Iterations == 0 {
		s.tol = 5e-5
	}
	return s
}

func (e ENN) String() string {
	var more []string
	if e.Epsilon > 0 {
		more = append(more, fmt.Sprintf("epsilon=%g", e.Epsilon))
	}
	switch {
	case e.Rows > 0:
		more = append(more, fmt.Sprintf("rows=%d", e.Rows))
	case e.Epsilon == 0:
		more = append(more, "rows=10K+1000")
	}
	s := e.settings()
	return s.string(append(more, s.eigen())...)
}

// Validate reports settings out of range.
func (e ENN) Validate() error {
	if e.Rows < 0 {
		return fmt.Errorf("rectify: ENN: scan of %d rows", e.Rows)
	}
	if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 0) {
		return fmt.Errorf("rectify: ENN: Epsilon is %g, want ≥ 0", e.Epsilon)
	}
	return e.settings().validate()
}

// Rectify implements Rectifier. Changes holds ‖Y_tY_tᵀ − Y_{t−1}Y_{t−1}ᵀ‖_F, and
// CorrectionChanges what Tol is compared with. Errors: settings or k out of range,
// eigenpairs that do not converge, a matrix with numbers that are not finite or without a
// positive eigenvalue, ctx's.
func (e ENN) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, e, &ennMethod{ENN: e})
}

// bytes: half of the entries in the rows scanned may be in E.
func (e ENN) bytes(n, k int, opt Options) int64 {
	return whole(eigenBytes(n, k) + float64(31*float64(n)*float64(e.rows(n, k))))
}

// rows returns the bound on |I|.
func (e ENN) rows(n, k int) int {
	switch {
	case e.Rows > 0:
		return min(n, e.Rows)
	case e.Epsilon > 0:
		return n
	}
	return min(n, 10*k+1000)
}

// ennMethod is ENN in the loop.
type ennMethod struct {
	ENN
	cur   ennIterate
	scan  scanner
	moved moves
	spare blas64.General // an old Y
}

// ennIterate is an iterate YYᵀ + r·eeᵀ + E of ENN.
type ennIterate struct {
	linalg.LowRankSparse
	scanned int     // |I|
	epsilon float64 // the largest ‖y_i‖² outside of I
}

func (e *ennMethod) begin(ctx context.Context, l *loop) error {
	if err := l.next(ctx, 0); err != nil {
		return err
	}
	if e.Tol == 0 {
		l.least = minIterations
	}
	return e.first(ctx, l)
}

// first makes the E and r of the first eigenpairs.
func (e *ennMethod) first(ctx context.Context, l *loop) (err error) {
	if v := l.theta()[0]; !(v > 0) {
		return fmt.Errorf("the largest eigenvalue is %.6g: there is nothing to keep", v)
	}
	l.tol *= vec.Norm(l.theta())
	e.cur, err = e.correct(ctx, l)
	l.multiplyBy(&e.cur.LowRankSparse)
	return err
}

func (e *ennMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	if err := l.next(ctx, t); err != nil {
		return step{}, err
	}
	if v := l.theta()[0]; !(v > 0) {
		return step{}, fmt.Errorf("the largest eigenvalue is %.6g in iteration %d", v, t)
	}
	next, err := e.correct(ctx, l)
	if err != nil {
		return step{}, err
	}
	change, err := e.moved.lowRank(ctx, e.cur.Y, next.Y, 0, l.opt.Workers)
	if err != nil {
		return step{}, err
	}
	moved, err := overEntries(ctx, &e.cur.E, &next.E, l.opt.Workers, func(_, _ int, a, b float64) float64 { return (b - a) * (b - a) })
	if err != nil {
		return step{}, err
	}
	compared := math.Sqrt(vec.Sum(moved))
	e.spare, e.scan.spare = e.cur.Y, e.cur.E
	e.cur = next
	l.res.CorrectionChanges = append(l.res.CorrectionChanges, compared)
	return step{change: math.Sqrt(max(change, 0)), compared: compared, zeroed: len(next.E.Cols)}, nil
}

// correct makes the E and r of the eigenpairs.
func (e *ennMethod) correct(ctx context.Context, l *loop) (m ennIterate, err error) {
	y := l.y(e.spare)
	n := y.Rows
	rows, epsilon := longest(y, e.rows(n, l.k), e.Epsilon)
	m.Y, m.scanned, m.epsilon = y, len(rows), epsilon
	var sumE float64
	if rows == nil {
		m.scanned = n
		m.E, sumE, err = e.scan.negativePart(ctx, y, 0, 0, l.opt.Workers)
	} else {
		m.E, sumE, err = e.scan.negativeRows(ctx, y, rows, l.opt.Workers)
	}
	m.R = (1 - sumOf(y) - sumE) / (float64(n) * float64(n))
	return m, err
}

// longest returns the words to scan, ascending, and the largest ‖y_i‖² among the
// others; nil and 0 where all words are scanned.
func longest(y blas64.General, limit int, epsilon float64) ([]int, float64) {
	n := y.Rows
	norms := make([]float64, n)
	idx := make([]int, 0, n)
	for i := range n {
		norms[i] = vec.Dot(linalg.Row(y, i), linalg.Row(y, i))
		if epsilon == 0 || norms[i] > epsilon {
			idx = append(idx, i)
		}
	}
	if len(idx) > limit {
		slices.SortStableFunc(idx, func(a, b int) int { return cmp.Compare(norms[b], norms[a]) })
		idx = idx[:limit]
		slices.Sort(idx)
	}
	if len(idx) == n {
		return nil, 0
	}
	largest, at := 0.0, 0
	for i, v := range norms {
		if at < len(idx) && idx[at] == i {
			at++
		} else {
			largest = max(largest, v)
		}
	}
	return idx, largest
}

func (e *ennMethod) finish(_ context.Context, l *loop) error {
	l.res.Shift, l.res.Scanned, l.res.Epsilon = e.cur.R, e.cur.scanned, e.cur.epsilon
	y := e.cur.Y
	e.cur, e.scan, e.moved, e.spare, l.op = ennIterate{}, scanner{}, moves{}, blas64.General{}, nil
	return l.lowRank(y)
}

// lowRank makes YYᵀ the result.
func (l *loop) lowRank(y blas64.General) error {
	c, err := lowRankSparse(&linalg.LowRankSparse{Y: y})
	if err != nil {
		return err
	}
	l.res.setLowRank(c)
	l.res.Violations = &Violations{SumError: vec.Sum(c.Marginals()) - 1}
	return nil
}
