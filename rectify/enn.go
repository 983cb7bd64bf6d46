package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Defaults of ENN.
const (
	// DefaultENNIterations is the most iterations made where no number is set.
	DefaultENNIterations = 50
	// DefaultENNTol is the tolerance then.
	DefaultENNTol = 5e-5
)

// leastIterations are made before the default tolerance counts: where stop words
// are kept they make up ‖C‖_F and hide all that moves.
const leastIterations = 10

// ENN is epsilon non-negative rectification (dong-2019, §4.4.1, Algorithm 3):
// alternating projection that looks for negative entries only in the rows and
// columns of the words with the longest y_i, and returns YYᵀ alone. From
// the K largest eigenpairs of C, as Y = U·√Λ⁺, each iteration makes
//
//	E_ij = max(−(YYᵀ)_ij, 0) where i or j is in I, 0 elsewhere,
//	r    = (1 − ‖Yᵀe‖² − ΣE)/N²,
//	Y    ← the K largest eigenpairs of YYᵀ + E + r·eeᵀ.
//
// Entries outside of I are at least −ε, ε = max ‖y_i‖² over the words not in
// I, so that YYᵀ + E ≥ −ε everywhere. The result is of rank K, its smallest
// entries are slightly negative and its sum is 1 up to the last step's change:
// Result says how far off. cooc.NewRows makes the low-rank picture of it in
// which anchors and topics are found in O(N·K²).
//
// Cost of an iteration: N·|I|·K operations for the lookup and 2 or 3 products
// with K + 10 vectors, 4·N·K + 2·nnz(E) operations a vector. Memory: a few
// blocks of 8·N·(K + 10) bytes and 12 for each nonzero of E, which is counted
// twice where only one of i and j is in I. The cost of an iteration thus grows
// with N, not with N².
//
// The zero value goes on until E converges, |I| = 10K + 1000. The paper's setting
// is Iterations: 50.
type ENN struct {
	// Iterations is the number of iterations T ≥ 1 that follow the first
	// eigenproblem, T + 1 eigenproblems in all; 0 means until E converges, and
	// 50 at most.
	Iterations int

	// Tol > 0 stops before Iterations once ‖E_t − E_{t−1}‖_F ≤ Tol·‖C‖_F.
	// ‖C‖_F is taken over the K largest eigenpairs, (Σ λ²)^½, which the others
	// hardly change. 0 means off where Iterations is set, and else 5e-5, but not
	// before the tenth iteration. With that the measures of the model are within
	// 3 % of those after 15 iterations of AP; more iterations move both alike.
	Tol float64

	// Rows is the number |I| of rows that are looked up, those of largest
	// ‖y_i‖², chosen anew in each iteration; ties go to the lower word number.
	// 0 means min(N, 10K + 1000) or, with Epsilon, no bound; N or more is all.
	Rows int

	// Epsilon > 0 takes the words with ‖y_i‖² > Epsilon instead, and of these
	// at most Rows where that is set. The mean entry of C is 1/N².
	Epsilon float64

	// ShiftFirst takes AP's order, r = (1 − ‖Yᵀe‖²)/N² and then
	// E_ij = max(−(YYᵀ)_ij − r, 0). With it, all rows in I and Sparse, ENN with T
	// iterations is AP with T + 1.
	ShiftFirst bool

	// Sparse returns YYᵀ + r·eeᵀ + E, of sum 1, instead of YYᵀ.
	Sparse bool

	// Measure fills in Result.Violations, which takes a lookup of all N²/2
	// entries, N²·K/2 multiply-adds. Where N ≤ 4·|I| it is always filled in.
	Measure bool

	// EigenTol is how far an eigenpair may be off: the residual ‖Cu − λu‖ of
	// each of the K pairs is at most EigenTol·λ_K. 0 means 1e-5.
	EigenTol float64
}

func (e ENN) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "ENN(iterations=%d", e.iterations())
	if e.tol() > 0 {
		fmt.Fprintf(&s, ", tol=%g", e.tol())
	}
	if e.Epsilon > 0 {
		fmt.Fprintf(&s, ", epsilon=%g", e.Epsilon)
	}
	switch {
	case e.Rows > 0:
		fmt.Fprintf(&s, ", rows=%d", e.Rows)
	case e.Epsilon == 0:
		s.WriteString(", rows=10K+1000")
	}
	if e.ShiftFirst {
		s.WriteString(", shift first")
	}
	if e.Sparse {
		s.WriteString(", sparse")
	}
	fmt.Fprintf(&s, ", eigentol=%g)", e.eigenTol())
	return s.String()
}

func (e ENN) iterations() int {
	if e.Iterations == 0 {
		return DefaultENNIterations
	}
	return e.Iterations
}

func (e ENN) tol() float64 {
	if e.Tol == 0 && e.Iterations == 0 {
		return DefaultENNTol
	}
	return e.Tol
}

func (e ENN) eigenTol() float64 {
	if e.EigenTol == 0 {
		return DefaultEigenTol
	}
	return e.EigenTol
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

// Validate reports settings out of range.
func (e ENN) Validate() error {
	if e.Iterations < 0 {
		return fmt.Errorf("rectify: ENN: %d iterations", e.Iterations)
	}
	if e.Rows < 0 {
		return fmt.Errorf("rectify: ENN: lookup of %d rows", e.Rows)
	}
	if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 0) {
		return fmt.Errorf("rectify: ENN: Epsilon is %g, want ≥ 0", e.Epsilon)
	}
	if !(e.Tol >= 0) || !(e.EigenTol >= 0) || e.EigenTol > 0.1 {
		return fmt.Errorf("rectify: ENN: tolerances %g and %g; want ≥ 0, the eigenpairs' at most 0.1", e.Tol, e.EigenTol)
	}
	return nil
}

// Rectify implements Rectifier. Changes holds ‖Y_tY_tᵀ − Y_{t−1}Y_{t−1}ᵀ‖_F, and
// CorrectionChanges what Tol is compared with. Errors: settings or k out of
// range, eigenpairs that do not converge, a matrix with numbers that are not
// finite or without a positive eigenvalue, ctx's.
func (e ENN) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	ws, err := opt.warm(ctx, c, k)
	if err != nil {
		return nil, fmt.Errorf("rectify: ENN: %w", err)
	}
	start := ennStart{C: c, Warm: ws, Block: ws.block, Products: ws.products}
	if ws.block == nil {
		first := eigenpairsOf(c, k, e.eigenTol(), opt)
		if err := first.next(ctx, 0, operator(c, opt.Workers)); err != nil {
			return nil, fmt.Errorf("rectify: ENN: %w", err)
		}
		start.Block, start.Products, start.ColdStarts = first.block, ws.products+first.products, first.cold
		if e.Tol == 0 {
			start.Least = leastIterations
		}
	}
	res, err := ennFrom(ctx, e, start, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: ENN: %w", err)
	}
	return res, nil
}

// ennStart is what ENN starts from: the first eigenpairs.
type ennStart struct {
	// Block holds p ≥ K eigenpairs of C, the algebraically largest, in
	// descending order; orthonormal X (N×p). ENN takes it over. p = K + 10,
	// rounded up to a multiple of 8, makes the warm-started steps fast.
	Block *linalg.Block
	// Fro is ‖C‖_F, the unit of Tol; 0: that of the K first pairs.
	Fro float64
	// Least is how many iterations are made before Tol counts.
	Least int
	// Products and ColdStarts were spent on Block.
	Products, ColdStarts int
	// C is the matrix, and Warm whether Block is a warm start of it.
	C    cooc.Matrix
	Warm warmStart
}

// ennFrom runs ENN from given eigenpairs. e must be valid, 1 ≤ k ≤ N. Errors
// are without the package's name.
func ennFrom(ctx context.Context, e ENN, start ennStart, k int, opt Options) (*Result, error) {
	n := start.Block.X.Rows
	pairs := newEigenpairs(n, k, e.eigenTol(), opt.Workers)
	pairs.block, pairs.products, pairs.cold = start.Block, start.Products, start.ColdStarts
	fro := start.Fro
	if fro == 0 {
		for _, v := range pairs.theta() {
			fro += v * v
		}
		fro = math.Sqrt(fro)
	}
	if !(pairs.theta()[0] > 0) {
		return nil, fmt.Errorf("the largest eigenvalue is %g: there is nothing to keep", pairs.theta()[0])
	}
	res := &Result{Warm: start.Warm.block != nil, Cold: start.Warm.cold}
	var found lookup
	var moves moves
	var spare blas64.General // a Y that is not needed any more
	var inside []float64     // the products of the rows of I
	cur, err := e.look(ctx, &found, pairs.y(), k, linalg.CSR{}, opt.Workers)
	if err != nil {
		return nil, err
	}
	if err := cur.mirror(ctx, linalg.CSR{}, opt.Workers); err != nil {
		return nil, err
	}
	op := func(ctx context.Context, dst, x blas64.General) error {
		inside = sized(inside, len(cur.rows)*x.Cols)
		return cur.mul(ctx, dst, x, inside, opt.Workers)
	}
	for t := 1; t <= e.iterations(); t++ {
		if err := pairs.next(ctx, t, op); err != nil {
			return nil, err
		}
		if !(pairs.theta()[0] > 0) {
			return nil, fmt.Errorf("the largest eigenvalue is %g in iteration %d", pairs.theta()[0], t)
		}
		// Nothing multiplies by the old E any more. The new one takes its
		// memory over, one half before they are compared and one after.
		next, err := e.look(ctx, &found, pairs.yIn(spare), k, cur.rest, opt.Workers)
		if err != nil {
			return nil, err
		}
		change, err := moves.lowRank(ctx, cur.y, next.y, 0, opt.Workers)
		if err != nil {
			return nil, err
		}
		change = math.Sqrt(max(change, 0))
		moved, err := liftChange(ctx, cur, next, opt.Workers)
		if err != nil {
			return nil, err
		}
		if err := next.mirror(ctx, cur.own, opt.Workers); err != nil {
			return nil, err
		}
		spare = cur.y
		if cur.rows == nil && next.rows == nil {
			found.spare = cur.own
		}
		cur = next
		res.Iterations = t
		res.Changes = append(res.Changes, change)
		res.CorrectionChanges = append(res.CorrectionChanges, moved)
		res.Nonzeros = append(res.Nonzeros, cur.nnz())
		if opt.Progress != nil {
			opt.Progress(t, e.iterations(), change)
		}
		if e.tol() > 0 && t >= start.Least && moved <= e.tol()*fro {
			res.Status = Converged
			break
		}
		if opt.settled(res, change) {
			res.Status = Converged // as far as the start was
			break
		}
	}
	res.Eigenvalues = slices.Clone(pairs.theta())
	res.Products, res.ColdStarts = pairs.products, pairs.cold
	if err := opt.keep(ctx, start.C, pairs.block, k, start.Warm, res); err != nil {
		return nil, err
	}
	pairs.block = nil
	res.Shift, res.LookedUp, res.Epsilon = cur.r, len(cur.rows), cur.epsilon
	if cur.rows == nil {
		res.LookedUp = n
	}
	if err := e.finish(ctx, res, cur, opt.Workers); err != nil {
		return nil, err
	}
	return res, nil
}

// look makes the E and r of y, but for the mirrored half of E. reuse is memory
// that may be taken over.
func (e ENN) look(ctx context.Context, found *lookup, y blas64.General, k int, reuse linalg.CSR, workers int) (*lift, error) {
	n := y.Rows
	l := &lift{y: y}
	l.rows, l.epsilon = longest(y, e.rows(n, k), e.Epsilon)
	size, sum := float64(n)*float64(n), sumOf(y)
	at := 0.0 // what the entries are lifted from
	if e.ShiftFirst {
		l.r = (1 - sum) / size
		at = l.r
	}
	var err error
	if l.rows == nil {
		l.own, l.lifted, err = found.negativePart(ctx, y, at, 0, workers)
	} else {
		l.own, l.lifted, err = found.negativeRows(ctx, y, at, l.rows, reuse, workers)
	}
	if !e.ShiftFirst {
		l.r = (1 - sum - l.lifted) / size
	}
	return l, err
}

// longest returns the words that are looked up, ascending, and the largest
// ‖y_i‖² among the others; nil and 0 where all are.
func longest(y blas64.General, most int, epsilon float64) ([]int, float64) {
	n := y.Rows
	norms := make([]float64, n)
	idx := make([]int, 0, n)
	for i := range n {
		for _, v := range linalg.Row(y, i) {
			norms[i] += v * v
		}
		if epsilon == 0 || norms[i] > epsilon {
			idx = append(idx, i)
		}
	}
	if len(idx) > most {
		slices.SortStableFunc(idx, func(a, b int) int { return cmp.Compare(norms[b], norms[a]) })
		idx = idx[:most]
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

// measured is how many times |I| the words may be for the result to be measured
// unasked: at most the work of two iterations' lookups.
const measured = 4

// finish makes the matrix of the result and measures it.
func (e ENN) finish(ctx context.Context, res *Result, l *lift, workers int) error {
	n := l.y.Rows
	var sparse *cooc.Sparse
	r := 0.0
	if e.Sparse {
		full, err := l.csr(ctx, workers)
		if err != nil {
			return err
		}
		r = l.r
		if e.ShiftFirst { // the sum is 1 + ΣE
			s := 1 / (1 + l.lifted)
			r *= s
			for i := range l.y.Data {
				l.y.Data[i] *= math.Sqrt(s)
			}
			for i := range full.Vals {
				full.Vals[i] *= s
			}
		}
		l.own, l.rest = full, linalg.CSR{}
		if sparse, err = cooc.NewSparse(n, full.RowPtr, full.Cols, full.Vals); err != nil {
			return err
		}
	}
	var y mat.Dense
	y.SetRawMatrix(l.y)
	c, err := cooc.NewLowRankSparse(&y, r, sparse)
	if err != nil {
		return err
	}
	res.C = c
	if !e.Measure && n > measured*res.LookedUp { // LookedUp is 0 for TruncatedEig
		return nil
	}
	v := &Violations{SumError: cooc.Sum(c) - 1}
	var inside []bool
	at := 0.0 // E lifts YYᵀ to −at
	if e.ShiftFirst {
		at = r
	}
	if e.Sparse {
		inside = make([]bool, n)
		for i := range inside {
			inside[i] = l.rows == nil
		}
		for _, i := range l.rows {
			inside[i] = true
		}
	}
	if l.rows != nil || !e.Sparse || at != r { // else there are none
		if v.MinEntry, v.NegativeSum, err = negatives(ctx, l.y, r, at, inside, workers); err != nil {
			return err
		}
	}
	if e.Sparse {
		if v.RankResidual, err = beyondRank(ctx, &linalg.LowRankSparse{Y: l.y, R: r, E: l.own}, at, workers); err != nil {
			return err
		}
	}
	res.Violations = v
	return nil
}

// TruncatedEig keeps the K algebraically largest eigenpairs of C, the negative
// ones clipped: C* = U·Λ⁺·Uᵀ as YYᵀ, one projection and nothing else. It is where
// AP, ENN and PALM start from, and shows what the iterations of these are worth. The
// result has negative entries and its sum is not 1. Cost: one cold eigenproblem.
type TruncatedEig struct {
	// EigenTol bounds the residual ‖Cu − λu‖ of each of the K pairs by
	// EigenTol·λ_K. 0 means 1e-5.
	EigenTol float64
	// Measure fills in Result.Violations: N²·K/2 multiply-adds.
	Measure bool
}

func (e TruncatedEig) String() string {
	return fmt.Sprintf("TruncatedEig(eigentol=%g)", ENN{EigenTol: e.EigenTol}.eigenTol())
}

// Validate reports settings out of range.
func (e TruncatedEig) Validate() error {
	if !(e.EigenTol >= 0) || e.EigenTol > 0.1 {
		return fmt.Errorf("rectify: TruncatedEig: tolerance %g; want ≥ 0 and at most 0.1", e.EigenTol)
	}
	return nil
}

// Rectify implements Rectifier. Changes is empty. Errors are those of ENN.
func (e TruncatedEig) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	pairs := eigenpairsOf(c, k, ENN{EigenTol: e.EigenTol}.eigenTol(), opt)
	if err := pairs.next(ctx, 1, operator(c, opt.Workers)); err != nil {
		return nil, fmt.Errorf("rectify: TruncatedEig: %w", err)
	}
	if !(pairs.theta()[0] > 0) {
		return nil, fmt.Errorf("rectify: TruncatedEig: the largest eigenvalue is %g: there is nothing to keep", pairs.theta()[0])
	}
	res := &Result{Iterations: 1, Eigenvalues: slices.Clone(pairs.theta()), Products: pairs.products, ColdStarts: pairs.cold}
	if err := (ENN{Measure: e.Measure}).finish(ctx, res, &lift{y: pairs.y()}, opt.Workers); err != nil {
		return nil, fmt.Errorf("rectify: TruncatedEig: %w", err)
	}
	return res, nil
}
