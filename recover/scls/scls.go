package scls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/simplex"
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
	// The result is the same to the bit for any Options.Workers and GOMAXPROCS. A
	// problem that hits the limit of iterations is no error: its Status says so,
	// and y holds the point reached.
	//
	// Errors, found before any work is done: matrices of other shapes, entries that
	// are not finite, a G that is not positive semidefinite, bad starting points,
	// and those of Validate. After an error of ctx, y is partly written.
	Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error)

	// Validate reports a setting out of range.
	Validate() error

	// String returns the name and the settings, for records of provenance.
	String() string
}

// Options are what every solver takes. The zero value is ready for use.
type Options struct {
	// Workers is the number of goroutines; 0 or less means GOMAXPROCS. It has
	// no influence on the result.
	Workers int

	// Warm means that y holds starting points on entry: y ≥ 0 and Σy = 1 to
	// 1e-6. The solvers reach the same optimum, faster if the points are close
	// to it.
	Warm bool

	// Progress, if not nil, is called with the number of problems done, from one
	// goroutine at a time.
	Progress func(done, total int)
}

// Status tells how the work on one problem ended.
type Status uint8

const (
	// Converged: the solver's own stopping rule was met.
	Converged Status = iota
	// IterationLimit: the limit of iterations came first.
	IterationLimit
	// Stalled: rounding allows no further progress although the stopping rule is
	// not met; the KKT gap tells how far off the point is.
	Stalled
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

// Result holds one entry per problem in each of its slices.
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

// settingError reports a field of a solver outside its range.
func settingError(solver, field string, value float64, want string) error {
	return fmt.Errorf("scls: %s: %s = %g, must be %s", solver, field, value, want)
}

// problem is the checked input.
type problem struct {
	*simplex.Matrix
	k, n int
	f, y rows
	warm bool
	fmax float64 // the largest absolute entry of f
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
	case f == nil:
		return nil, errors.New("scls: f is nil")
	case y == nil:
		return nil, errors.New("scls: y is nil")
	}
	m, err := simplex.Check(g)
	if err != nil {
		return nil, fmt.Errorf("scls: %w", err)
	}
	k := m.K
	n, fc := f.Dims()
	yn, yc := y.Dims()
	switch {
	case fc != k && n != 0:
		return nil, fmt.Errorf("scls: f is %d×%d, must be %d×%d", n, fc, n, k)
	case yn != n || (yc != k && n != 0):
		return nil, fmt.Errorf("scls: y is %d×%d, must be %d×%d", yn, yc, n, k)
	}
	if n > 0 && &f.RawMatrix().Data[0] == &y.RawMatrix().Data[0] {
		return nil, errors.New("scls: f and y share memory")
	}
	p := &problem{Matrix: m, k: k, n: n, f: asRows(f, k), y: asRows(y, k), warm: opt.Warm}
	for i := range n {
		for j, v := range p.f.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("scls: f of problem %d, entry %d, is not finite: %g", i, j, v)
			}
			p.fmax = max(p.fmax, math.Abs(v))
		}
		if opt.Warm {
			if err := simplex.CheckStart(p.y.row(i)); err != nil {
				return nil, fmt.Errorf("scls: y of problem %d%w", i, err)
			}
		}
	}
	return p, nil
}

// chunkSize is the number of problems a goroutine takes at a time. It must
// not depend on the number of workers.
const chunkSize = 64

// solveChunks runs f over all chunks and reports progress. f gets the worker's
// number for its scratch space.
func (p *problem) solveChunks(ctx context.Context, opt Options, f func(worker, lo, hi int) error) error {
	var (
		mu   sync.Mutex
		done int
	)
	err := run.Chunks(ctx, p.n, chunkSize, opt.Workers, func(worker, _, lo, hi int) error {
		if err := f(worker, lo, hi); err != nil {
			return err
		}
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
