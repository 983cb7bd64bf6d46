package scls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Solver minimises ½ yᵀGy − fᵀy over the simplex for a block of vectors f.
// [ActiveSet], [ADMM] and [ExpGrad] implement it; the zero value of each has
// good defaults. Solvers hold settings only: they are safe for concurrent use.
type Solver interface {
	// Solve solves n problems with a common matrix. g is G, K×K and positive
	// semidefinite; row i of f (n×K) is the f of problem i; row i of y (n×K)
	// receives its solution, which is in the simplex: y ≥ 0 and Σy = 1 to
	// rounding. f and y must not share memory. n = 0 is given by empty
	// matrices (new(mat.Dense)) and is no error.
	//
	// Each problem is solved on its own, so y and the result are the same bits
	// for any Options.Workers and GOMAXPROCS. A problem that hits the limit of
	// iterations is no error: its Status says so, and y holds the point reached.
	//
	// Errors: *ShapeError, *ValueError, *NotPSDError (all about the input,
	// found before any work is done), *SettingError, and the error of ctx,
	// after which y is partly written and no result is returned.
	Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error)

	// String returns the name and the settings, for records of provenance.
	String() string
}

// Options are what every solver takes. The zero value is ready for use.
type Options struct {
	// Workers is the number of goroutines; 0 or less means GOMAXPROCS. It has
	// no influence on the result.
	Workers int

	// Warm tells that y holds starting points on entry: y ≥ 0 and Σy = 1 to
	// 1e-6. The solvers reach the same optimum as from a cold start, faster
	// where the points are close to it.
	Warm bool

	// Progress, if not nil, is told how many of the problems are done. It is
	// called from one goroutine at a time, with growing values of done.
	Progress func(done, total int)
}

// Status tells how the work on one problem ended.
type Status uint8

const (
	// Converged: the solver's own stopping rule was met.
	Converged Status = iota
	// IterationLimit: the limit of iterations came first.
	IterationLimit
	// Stalled: rounding lets no further progress be made although the
	// stopping rule is not met; the KKT gap tells how far off the point is.
	Stalled

	numStatus
)

func (s Status) String() string {
	switch s {
	case Converged:
		return "converged"
	case IterationLimit:
		return "iteration limit"
	case Stalled:
		return "stalled"
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Result holds one entry a problem in each of its slices.
type Result struct {
	// Objective is ½ yᵀGy − fᵀy. With G = UᵀU and f = Uᵀv, adding ½‖v‖² gives
	// ½‖Uy − v‖².
	Objective []float64

	// Iterations counts what the solver counts: equality-constrained solves
	// for ActiveSet (1 where the start has the right support), sweeps for ADMM
	// and ExpGrad (0 for ExpGrad where the start is good enough).
	Iterations []int

	// KKTGap is the primal-dual gap Σ_k y_k(∇_k − min ∇), where ∇ = Gy − f
	// (arora-2013, Appendix D.2). It is at least the difference between the
	// objective and its minimum, and zero only at the minimum.
	KKTGap []float64

	// Status tells how each problem ended.
	Status []Status
}

func newResult(n int) *Result {
	return &Result{
		Objective:  make([]float64, n),
		Iterations: make([]int, n),
		KKTGap:     make([]float64, n),
		Status:     make([]Status, n),
	}
}

// Summary condenses a Result.
type Summary struct {
	Problems       int
	MeanObjective  float64
	MeanIterations float64
	MaxIterations  int
	MeanGap        float64
	MaxGap         float64
	MaxGapProblem  int // the lowest problem with the largest gap; −1 where there is none

	// How many problems ended in each way; the three sum to Problems.
	Converged, IterationLimit, Stalled int
}

// Summary condenses the result; O(n). Of no problem, every mean is 0.
func (r *Result) Summary() Summary {
	s := Summary{Problems: len(r.Status), MaxGapProblem: -1}
	var count [numStatus]int
	for i := range r.Status {
		count[r.Status[i]]++
		s.MeanObjective += r.Objective[i]
		s.MeanIterations += float64(r.Iterations[i])
		s.MaxIterations = max(s.MaxIterations, r.Iterations[i])
		s.MeanGap += r.KKTGap[i]
		if s.MaxGapProblem < 0 || r.KKTGap[i] > s.MaxGap {
			s.MaxGap, s.MaxGapProblem = r.KKTGap[i], i
		}
	}
	if s.Problems > 0 {
		n := float64(s.Problems)
		s.MeanObjective /= n
		s.MeanIterations /= n
		s.MeanGap /= n
	}
	s.Converged, s.IterationLimit, s.Stalled = count[Converged], count[IterationLimit], count[Stalled]
	return s
}

func (s Summary) String() string {
	return fmt.Sprintf("%d problems: %d converged, %d at the iteration limit, %d stalled; %.1f iterations on average; largest KKT gap %.2g",
		s.Problems, s.Converged, s.IterationLimit, s.Stalled, s.MeanIterations, s.MaxGap)
}

// ShapeError reports a matrix of the wrong size.
type ShapeError struct {
	Name               string // "f" or "y"
	Rows, Cols         int    // its size
	WantRows, WantCols int    // what it should be
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("scls: %s is %d×%d, must be %d×%d", e.Name, e.Rows, e.Cols, e.WantRows, e.WantCols)
}

// ValueError reports an entry of the input that cannot be used.
type ValueError struct {
	Name     string // "G", "f" or "y"
	Row, Col int    // Row is the problem, for f and y; Col is −1 where the whole row is meant
	Value    float64
	Reason   string
}

func (e *ValueError) Error() string {
	row := "row"
	if e.Name != "G" {
		row = "problem"
	}
	if e.Col < 0 {
		return fmt.Sprintf("scls: %s of %s %d %s: %g", e.Name, row, e.Row, e.Reason, e.Value)
	}
	return fmt.Sprintf("scls: %s of %s %d, entry %d, %s: %g", e.Name, row, e.Row, e.Col, e.Reason, e.Value)
}

// NotPSDError reports a matrix G with an eigenvalue below −Shift, which is
// more than rounding explains.
type NotPSDError struct {
	Shift float64 // G + Shift·I is not positive definite
	Trace float64 // of G, for the scale
}

func (e *NotPSDError) Error() string {
	return fmt.Sprintf("scls: G is not positive semidefinite: it has an eigenvalue below %.3g (its trace is %.3g)", -e.Shift, e.Trace)
}

// SettingError reports a field of a solver outside its range.
type SettingError struct {
	Solver, Field string
	Value         float64
	Range         string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("scls: %s: %s = %g, must be %s", e.Solver, e.Field, e.Value, e.Range)
}

// psdShift times the trace is how negative an eigenvalue of G may be.
const psdShift = 1e-10

// problem is the checked input.
type problem struct {
	k, n int
	g    []float64 // K×K, row-major, a copy
	f, y rows
	warm bool

	trace float64 // of G
	fmax  float64 // the largest absolute entry of f
}

// rows gives the rows of a dense matrix without the checks of At.
type rows struct {
	data   []float64
	stride int
	k      int
}

func (r rows) row(i int) []float64 {
	o := i * r.stride
	return r.data[o : o+r.k : o+r.k]
}

func asRows(m *mat.Dense, k int) rows {
	r := m.RawMatrix()
	return rows{r.Data, r.Stride, k}
}

// check validates the input of Solve and copies G. O(K³ + nK).
func check(g mat.Symmetric, f, y *mat.Dense, opt Options) (*problem, error) {
	switch {
	case g == nil || g.SymmetricDim() == 0:
		return nil, errors.New("scls: G is nil or empty")
	case f == nil:
		return nil, errors.New("scls: f is nil")
	case y == nil:
		return nil, errors.New("scls: y is nil")
	}
	k := g.SymmetricDim()
	n, fc := f.Dims()
	yn, yc := y.Dims()
	switch {
	case fc != k && n != 0:
		return nil, &ShapeError{"f", n, fc, n, k}
	case yn != n || (yc != k && n != 0):
		return nil, &ShapeError{"y", yn, yc, n, k}
	}
	if n > 0 && &f.RawMatrix().Data[0] == &y.RawMatrix().Data[0] {
		return nil, errors.New("scls: f and y share memory")
	}
	p := &problem{k: k, n: n, g: make([]float64, k*k), f: asRows(f, k), y: asRows(y, k), warm: opt.Warm}
	trace := 0.0
	for i := range k {
		for j := range k {
			v := g.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &ValueError{"G", i, j, v, "is not finite"}
			}
			p.g[i*k+j] = v
		}
		d := p.g[i*k+i]
		if d < 0 {
			return nil, &ValueError{"G", i, i, d, "is a negative diagonal entry"}
		}
		trace += d
		if math.IsInf(trace, 0) {
			return nil, &ValueError{"G", i, i, d, "is too large for the trace to be finite"}
		}
	}
	p.trace = trace
	if err := checkPSD(p.g, k, trace); err != nil {
		return nil, err
	}
	for i := range n {
		for j, v := range p.f.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &ValueError{"f", i, j, v, "is not finite"}
			}
			p.fmax = max(p.fmax, math.Abs(v))
		}
		if !opt.Warm {
			continue
		}
		sum := 0.0
		for j, v := range p.y.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < -1e-6 {
				return nil, &ValueError{"y", i, j, v, "is no starting value (must be ≥ 0)"}
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-6 {
			return nil, &ValueError{"y", i, -1, sum, "is no starting point (must sum to 1)"}
		}
	}
	return p, nil
}

func checkPSD(g []float64, k int, trace float64) error {
	shift := psdShift * trace
	a := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			v := g[i*k+j]
			if i == j {
				v += shift
				if v == 0 { // only where G = 0
					v = 1
				}
			}
			a.SetSym(i, j, v)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return &NotPSDError{Shift: shift, Trace: trace}
	}
	return nil
}

// chunkSize is the number of problems a goroutine takes at a time. It must
// not depend on the number of workers.
const chunkSize = 64

// solveChunks runs f over all chunks and reports progress. f gets the worker's
// number for its scratch space.
func (p *problem) solveChunks(ctx context.Context, opt Options, f func(worker, lo, hi int)) error {
	var (
		mu   sync.Mutex
		done int
	)
	err := run.Chunks(ctx, p.n, chunkSize, opt.Workers, func(worker, _, lo, hi int) error {
		f(worker, lo, hi)
		if opt.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done += hi - lo
			opt.Progress(done, p.n)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scls: %w", err)
	}
	return nil
}

// workers returns how many goroutines solveChunks starts, each with scratch space.
func (p *problem) workers(opt Options) int {
	return run.Workers(opt.Workers, run.Count(p.n, chunkSize))
}

// gradient sets dst = Gy − f over the nonzero entries of y. idx is scratch of
// length K.
func gradient(dst, g, f, y []float64, idx []int) {
	m := 0
	for i, v := range y {
		idx[m] = i
		if v != 0 {
			m++
		}
	}
	k := len(f)
	negate(dst, f)
	i := 0
	for ; i+3 < m; i += 4 {
		a, b, c, d := idx[i], idx[i+1], idx[i+2], idx[i+3]
		axpy4(dst, y[a], g[a*k:], y[b], g[b*k:], y[c], g[c*k:], y[d], g[d*k:])
	}
	for _, a := range idx[i:m] {
		axpy(dst, y[a], g[a*k:a*k+k])
	}
}

// gradientOn does the same for the y that has v in the coordinates idx.
func gradientOn(dst, g, f []float64, idx []int, v []float64) {
	k := len(f)
	negate(dst, f)
	v = v[:len(idx)]
	i := 0
	for ; i+3 < len(idx); i += 4 {
		a, b, c, d := idx[i], idx[i+1], idx[i+2], idx[i+3]
		axpy4(dst, v[i], g[a*k:], v[i+1], g[b*k:], v[i+2], g[c*k:], v[i+3], g[d*k:])
	}
	for ; i < len(idx); i++ {
		a := idx[i]
		axpy(dst, v[i], g[a*k:a*k+k])
	}
}

func negate(dst, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = -x[i]
	}
}

// axpy4 adds a·ra + b·rb + c·rc + d·rd to dst.
func axpy4(dst []float64, a float64, ra []float64, b float64, rb []float64, c float64, rc []float64, d float64, rd []float64) {
	ra, rb, rc, rd = ra[:len(dst)], rb[:len(dst)], rc[:len(dst)], rd[:len(dst)]
	for j := range dst {
		dst[j] += (a*ra[j] + b*rb[j]) + (c*rc[j] + d*rd[j])
	}
}

// axpy adds a·x to dst.
func axpy(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += a * x[i]
	}
}

// dot returns xᵀy, summed in two interleaved parts.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s, t float64
	i := 0
	for ; i+1 < len(x); i += 2 {
		s += x[i] * y[i]
		t += x[i+1] * y[i+1]
	}
	if i < len(x) {
		s += x[i] * y[i]
	}
	return s + t
}

// kkt returns objective and KKT gap of y, given ∇ = Gy − f.
func kkt(grad, f, y []float64) (objective, gap float64) {
	low := grad[0]
	for _, v := range grad[1:] {
		low = min(low, v)
	}
	for i, v := range y {
		if v != 0 {
			objective += v * (grad[i] - f[i])
			gap += v * (grad[i] - low)
		}
	}
	return objective / 2, gap
}

// normalise clips tiny negative entries and scales the sum to 1.
func normalise(y []float64) {
	sum := 0.0
	for i, v := range y {
		if v <= 0 {
			y[i] = 0
			continue
		}
		sum += v
	}
	for i := range y {
		y[i] /= sum
	}
}
