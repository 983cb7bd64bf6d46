package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Defaults of AP.
const (
	DefaultIterations = 15
	DefaultEigenTol   = 1e-5
)

// AP is alternating projection (lee-2020, Algorithm 1). An iteration projects
// on the positive semidefinite matrices of rank K (the K algebraically largest
// eigenpairs, negative values clipped), on the matrices of sum 1 (a number
// added to every entry), and on the non-negative ones (negative entries set to
// zero); at the end the matrix is divided by its sum.
//
// After the first projection the iterate is exactly YYᵀ + r·eeᵀ + E with a
// sparse E, and only that form is kept. An iteration costs N²K operations for
// the lookup of negative entries and 3 or 4 products of the operator with
// K + 10 vectors; the memory is 8·N·K bytes for each of a few blocks and 12
// for each of the nnz(E) lifted entries (1–20 % of N² on texts, more with more
// topics, and up to half where nearly all words are rare, as in baskets), two
// iterations' worth. The eigenproblems after the first start from the
// vectors of the one before.
//
// The zero value is the default: 15 iterations, as many as the papers found to
// be worth it.
type AP struct {
	// Iterations is the number of iterations T ≥ 1; 0 means 15. The papers
	// used 150 at first; after 15 to 20 the results hardly move.
	Iterations int

	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol. 0: off.
	Tol float64

	// EigenTol is how far an eigenpair may be off: the residual ‖Cu − λu‖ of
	// each of the K pairs is at most EigenTol·λ_K. 0 means 1e-5, which leaves
	// the anchors of real corpora as they are under exact eigenpairs. Smaller
	// values cost products; 1e-13 is about the least that doubles allow.
	EigenTol float64

	// Dense iterates on an explicit N×N array and solves each eigenproblem
	// from nothing, to EigenTol or 1e-10 where that is 0. 16·N² bytes, and
	// 2N² operations for each of about 2K+20 products an iteration. The
	// result agrees with the default form; it is there to check it.
	Dense bool

	// MemoryLimit bounds the bytes that are taken; beyond, the answer is a
	// *MemoryError. 0 means DefaultMemoryLimit, 4 GiB. The default form needs
	// most for the corrections E, some 48 bytes for each entry; how many there
	// are is known in the first iteration. Texts have few, baskets
	// and listeners, with words that are nearly all rare, up to half of N². The
	// limit of Dense is reached at N = 16,384.
	MemoryLimit int64
}

func (a AP) limit() int64 {
	if a.MemoryLimit == 0 {
		return DefaultMemoryLimit
	}
	return a.MemoryLimit
}

// perEntry is how many bytes are allocated for each entry of E: 27 for two
// corrections, 7 for the rows they are made of, and as much of a third and of
// other rows as there are where the second iteration lifts more than the first.
const perEntry = 48

// apBytes estimates the memory of the exact form: some eight blocks of N×(K+10)
// doubles, and the corrections.
func apBytes(n, k int, entries int64) int64 { return 64*int64(n)*int64(k+guard) + perEntry*entries }

// mostEntries is how many entries E may have within a limit of bytes, at least 1.
func mostEntries(n, k int, limit int64) int64 {
	return max(1, (limit-apBytes(n, k, 0))/perEntry)
}

// refused turns a *tooDense into the *MemoryError of a method.
func refused(err error, method string, n, k int, limit int64) error {
	if d := (*tooDense)(nil); errors.As(err, &d) {
		return &MemoryError{Method: method, N: n, Bytes: apBytes(n, k, d.entries), Limit: limit, Alternative: "LR{} or ENN{}"}
	}
	return err
}

func (a AP) String() string {
	var s strings.Builder
	s.WriteString("AP(iterations=")
	fmt.Fprint(&s, a.iterations())
	if a.Tol > 0 {
		fmt.Fprintf(&s, ", tol=%g", a.Tol)
	}
	fmt.Fprintf(&s, ", eigentol=%g", a.eigenTol())
	if a.Dense {
		s.WriteString(", dense")
	}
	return s.String() + ")"
}

func (a AP) iterations() int {
	if a.Iterations == 0 {
		return DefaultIterations
	}
	return a.Iterations
}

func (a AP) eigenTol() float64 {
	switch {
	case a.EigenTol != 0:
		return a.EigenTol
	case a.Dense:
		return 1e-10
	}
	return DefaultEigenTol
}

// Validate reports settings out of range.
func (a AP) Validate() error {
	if a.Iterations < 0 {
		return fmt.Errorf("rectify: AP: %d iterations", a.Iterations)
	}
	if a.MemoryLimit < 0 {
		return fmt.Errorf("rectify: AP: a memory limit of %d bytes", a.MemoryLimit)
	}
	if !(a.Tol >= 0) || !(a.EigenTol >= 0) || a.EigenTol > 0.1 {
		return fmt.Errorf("rectify: AP: tolerances %g and %g; want ≥ 0, the eigenpairs' at most 0.1", a.Tol, a.EigenTol)
	}
	return nil
}

// Rectify implements Rectifier. Errors: settings or k out of range, eigenpairs
// that do not converge, a matrix with numbers that are not finite, ctx's.
func (a AP) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	var res *Result
	var err error
	if a.Dense {
		res, err = a.dense(ctx, c, k, opt)
	} else {
		res, err = a.exact(ctx, c, k, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("rectify: AP: %w", err)
	}
	return res, nil
}

func (a AP) exact(ctx context.Context, c0 cooc.Matrix, k int, opt Options) (*Result, error) {
	n, tol := c0.Dim(), a.eigenTol()
	res := &Result{}
	var (
		op   = operator(c0, opt.Workers)
		cur  linalg.LowRankSparse // C_t
		have bool
		sum  float64 // of C_t
	)
	pairs := eigenpairsOf(c0, k, tol, opt)
	ws, err := opt.warm(ctx, c0, k)
	if err != nil {
		return nil, err
	}
	pairs.products, res.Warm, res.Cold = ws.products, ws.block != nil, ws.cold
	if res.Warm {
		pairs.block = ws.block
	}
	var look lookup
	var moved moves
	var spare blas64.General // a Y that is not needed any more
	for t := 1; t <= a.iterations(); t++ {
		// PSD: the eigenpairs. A warm start begins with them.
		if t > 1 || !res.Warm {
			if err := pairs.next(ctx, t, op); err != nil {
				return nil, err
			}
		}
		theta := pairs.theta()
		y := pairs.yIn(spare)

		// NOR: r makes the sum of YYᵀ + r·eeᵀ one.
		r := (1 - sumOf(y)) / (float64(n) * float64(n))

		// NN: E lifts what is below zero.
		e, lifted, err := look.negativePart(ctx, y, r, mostEntries(n, k, opt.within(a.limit())), opt.Workers)
		if err != nil {
			return nil, refused(err, "AP", n, k, opt.within(a.limit()))
		}
		next := linalg.LowRankSparse{Y: y, R: r, E: e}
		var change float64
		if have {
			change, err = moved.changeOf(ctx, &cur, &next, opt.Workers)
		} else if res.Warm { // where the one before left off
			change, err = opt.firstChange(ctx, y, r)
		} else {
			change, err = firstChange(ctx, c0, &next, theta, opt.Workers)
		}
		if err != nil {
			return nil, err
		}
		look.spare, spare = cur.E, cur.Y
		cur, have, sum = next, true, 1+lifted
		op = func(ctx context.Context, dst, x blas64.General) error { return cur.Mul(ctx, dst, x, opt.Workers) }
		res.Iterations, res.Shift = t, r
		res.Changes = append(res.Changes, change)
		res.Nonzeros = append(res.Nonzeros, len(e.Cols))
		if opt.Progress != nil {
			opt.Progress(t, a.iterations(), change)
		}
		if a.Tol > 0 && change <= a.Tol {
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
	if err := opt.keep(ctx, c0, pairs.block, k, ws, res); err != nil {
		return nil, err
	}
	// Divide by the sum. The result owns its parts.
	s := 1 / sum
	for i := range cur.Y.Data {
		cur.Y.Data[i] *= math.Sqrt(s)
	}
	for i := range cur.E.Vals {
		cur.E.Vals[i] *= s
	}
	e, err := cooc.NewSparse(n, cur.E.RowPtr, cur.E.Cols, cur.E.Vals)
	if err != nil {
		return nil, err
	}
	var Y *mat.Dense
	if cur.Y.Cols > 0 {
		Y = new(mat.Dense)
		Y.SetRawMatrix(cur.Y)
	}
	cur.R *= s
	c, err := cooc.NewLowRankSparse(Y, cur.R, e)
	if err != nil {
		return nil, err
	}
	res.C = c
	res.Violations = &Violations{SumError: cooc.Sum(c) - 1}
	if res.Violations.RankResidual, err = beyondRank(ctx, &cur, cur.R, opt.Workers); err != nil {
		return nil, err
	}
	return res, nil
}

// firstChange returns ‖C_1 − C_0‖_F from ‖C_1‖² − 2⟨C_1, C_0⟩ + ‖C_0‖².
// theta are the Rayleigh quotients uᵀC_0u of the columns of Y.
func firstChange(ctx context.Context, c0 cooc.Matrix, c1 *linalg.LowRankSparse, theta []float64, workers int) (float64, error) {
	n := float64(c1.Y.Rows)
	// ⟨E, C_0⟩, by the form's own pass where it has one.
	var inner float64
	var err error
	if m, ok := c0.(*cooc.Moments); ok {
		var e *cooc.Sparse
		if e, err = cooc.NewSparse(c1.Y.Rows, c1.E.RowPtr, c1.E.Cols, c1.E.Vals); err == nil {
			inner, err = m.Inner(ctx, e, workers)
		}
	} else {
		inner, err = innerByRows(ctx, c0, &c1.E, workers)
	}
	if err != nil {
		return 0, err
	}
	norms, err := c0.RowNorms2(ctx, workers)
	if err != nil {
		return 0, err
	}
	s0 := 0.0
	for _, v := range norms {
		s0 += v
	}
	cross := c1.R*cooc.Sum(c0) + inner
	for _, v := range theta {
		cross += v * max(v, 0)
	}
	// ‖C_1‖²: where E is not zero C_1 is, so the squares of E go away.
	gram := linalg.NewGeneral(c1.Y.Cols, c1.Y.Cols)
	if err := linalg.Gram(ctx, c1.Y, gram, workers); err != nil {
		return 0, err
	}
	s1 := 2*c1.R*sumOf(c1.Y) + c1.R*c1.R*n*n
	for _, v := range gram.Data {
		s1 += v * v
	}
	for _, v := range c1.E.Vals {
		s1 -= v * v
	}
	return math.Sqrt(max(s1-2*cross+s0, 0)), nil
}

func innerByRows(ctx context.Context, c cooc.Matrix, e *linalg.CSR, workers int) (float64, error) {
	n := c.Dim()
	const size = 64
	sums := make([]float64, run.Count(n, size))
	err := run.Chunks(ctx, n, size, workers, func(_, k, lo, hi int) error {
		row := make([]float64, n)
		for i := lo; i < hi; i++ {
			cols, vals := e.Row(i)
			if len(cols) == 0 {
				continue
			}
			c.RowTo(row, i)
			for t, j := range cols {
				sums[k] += vals[t] * row[j]
			}
		}
		return nil
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total, err
}

// dense is AP on an explicit array.
func (a AP) dense(ctx context.Context, c0 cooc.Matrix, k int, opt Options) (*Result, error) {
	n, tol := c0.Dim(), a.eigenTol()
	if err := guardDense("AP{Dense: true}", n, 2, a.MemoryLimit, "AP{}, which gives the same without them"); err != nil {
		return nil, err
	}
	d, err := cooc.Densify(ctx, c0, opt.Workers)
	if err != nil {
		return nil, err
	}
	c := linalg.NewGeneral(n, n)
	for i := range n {
		d.RowTo(linalg.Row(c, i), i)
	}
	res := &Result{}
	op := func(ctx context.Context, dst, x blas64.General) error {
		return linalg.SymMul(ctx, c, x, dst, opt.Workers)
	}
	beyond := 0.0 // ‖C_t − YYᵀ‖²
	for t := 1; t <= a.iterations(); t++ {
		theta, vecs, st, err := linalg.Lanczos(ctx, n, op, linalg.LanczosOptions{Pairs: k, Tol: tol, MaxRestarts: maxRestarts, Workers: opt.Workers})
		if err != nil {
			return nil, err
		}
		if !st.Converged {
			return nil, &EigenError{K: k, Iteration: t, Residual: st.Residual, Tol: tol * theta[k-1]}
		}
		res.Products += st.Products
		res.ColdStarts++
		res.Eigenvalues = append(res.Eigenvalues[:0], theta...)
		y := scaled(transpose(vecs), theta, nil)
		r := (1 - sumOf(y)) / (float64(n) * float64(n))
		const size = 64
		count := run.Count(n, size)
		change, moved, lifted := make([]float64, count), make([]float64, count), make([]int, count)
		err = run.Chunks(ctx, n, size, opt.Workers, func(_, q, lo, hi int) error {
			rows := linalg.NewGeneral(hi-lo, n)
			yi := blas64.General{Rows: hi - lo, Cols: y.Cols, Stride: y.Stride, Data: y.Data[lo*y.Stride:]}
			if y.Cols > 0 {
				if err := linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, yi, y, 0, rows, 1); err != nil {
					return err
				}
			}
			for i := lo; i < hi; i++ {
				old := linalg.Row(c, i)
				for j, low := range linalg.Row(rows, i-lo) {
					v := low + r
					if v < 0 {
						v = 0
						lifted[q]++
					}
					x := v - old[j]
					change[q] += x * x
					moved[q] += (v - low) * (v - low)
					old[j] = v
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		s, nz := 0.0, 0
		beyond = 0
		for q := range change {
			s, nz, beyond = s+change[q], nz+lifted[q], beyond+moved[q]
		}
		res.Iterations, res.Shift = t, r
		res.Changes = append(res.Changes, math.Sqrt(s))
		res.Nonzeros = append(res.Nonzeros, nz)
		if opt.Progress != nil {
			opt.Progress(t, a.iterations(), math.Sqrt(s))
		}
		if a.Tol > 0 && math.Sqrt(s) <= a.Tol {
			res.Status = Converged
			break
		}
	}
	sum, whole := 0.0, 0.0
	for _, v := range c.Data {
		sum += v
		whole += v * v
	}
	for i := range c.Data {
		c.Data[i] /= sum
	}
	var m mat.Dense
	m.SetRawMatrix(c)
	out, err := cooc.NewDense(&m)
	if err != nil {
		return nil, err
	}
	res.C = out
	res.Violations = &Violations{SumError: cooc.Sum(out) - 1, RankResidual: math.Sqrt(beyond / whole)}
	return res, nil
}
