// Package scls solves simplex-constrained least-squares problems in blocks.
//
// A word's row v of the co-occurrence matrix is nearly a convex combination of
// the rows of the K anchor words, the columns of U. Its coefficients y solve
//
//	minimise ½‖Uy − v‖²  over the simplex {y : y ≥ 0, Σy = 1}.
//
// Since ½‖Uy − v‖² = ½ yᵀGy − fᵀy + ½‖v‖², the solvers need only the K×K matrix G = UᵀU,
// common to all words, and f = Uᵀv of each word.
//
// # Which solver
//
//   - [ActiveSet] is exact to rounding and the fastest. Use it.
//   - [ADMM] is the method of lee-2018 and lee-2020. With γ from the spectrum of
//     G it comes close to the optimum; with the papers' γ = 3 ([PaperADMM]) most
//     words of real data reach the limit of 500 sweeps, a few per cent above it.
//   - [ExpGrad] is the method of arora-2013, with a line search. With the fixed
//     step of later programs ([PaperExpGrad]) it may not converge if G is large.
//
// # How good is a solution
//
// Let ∇ = Gy − f be the gradient. y is optimal exactly if ∇_k ≥ ∇ᵀy for all k. The gap
// ∇ᵀy − min ∇ is at least the distance of the objective from its minimum, for any y
// of the simplex. Every solver returns it for every problem: see [Result].
//
// # Singular G
//
// With two equal anchors, or K above the rank of U, G is singular. The optimal objective and
// Uy stay unique, y does not; every solver returns one optimal y.
package scls

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// Solver minimises ½ yᵀGy − fᵀy over the simplex for a block of vectors f.
// [ActiveSet], [ADMM] and [ExpGrad] implement it; the zero value of each has
// good defaults. Solvers hold settings only: they are safe for concurrent use.
type Solver interface {
	// Solve solves n problems with a common matrix. g is G, K×K and positive
	// semidefinite; row i of f (n×K) is the f of problem i; row i of y (n×K)
	// receives its solution, which is in the simplex: y ≥ 0 and Σy = 1 to
	// rounding. f and y must not share memory. They may be empty.
	//
	// The result is the same to the bit for any Options.Workers and GOMAXPROCS. A
	// problem that hits the limit of iterations is no error: its Status says so,
	// and y holds the point reached.
	//
	// Errors: matrices of other shapes, entries that are not finite, a G that is not
	// positive semidefinite, bad starting points, those of Validate; ctx's, after which y is
	// partly written.
	Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error)

	// Validate reports a setting out of range.
	Validate() error

	// String returns the name and the settings, for records of provenance.
	String() string
}

// Options are what every solver takes. The zero value is ready for use.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Warm means that y holds starting points: y ≥ 0 and Σy = 1 to 1e-6. The solvers reach
	// the same optimum, faster if the points are close to it.
	Warm bool
	// Progress, if not nil, is called with the number of problems done, from one
	// goroutine at a time.
	Progress func(done, total int)
}

// Status says how the work on one problem ended.
type Status uint8

const (
	// Converged: the solver's own stopping rule was met.
	Converged Status = iota
	// IterationLimit: the limit of iterations came first.
	IterationLimit
	// Stalled: rounding allows no further progress before the stopping rule is met; the
	// KKT gap bounds what is missing.
	Stalled
)

func (s Status) String() string {
	if s > Stalled {
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
	return [...]string{"converged", "iteration limit", "stalled"}[s]
}

// Result holds one entry per problem in each of its slices.
type Result struct {
	// Objective is ½ yᵀGy − fᵀy. With G = UᵀU and f = Uᵀv, adding ½‖v‖² gives
	// ½‖Uy − v‖².
	Objective []float64
	// Iterations counts equality-constrained solves for ActiveSet (1 if the start has the
	// right support), and sweeps for ADMM and ExpGrad (0 if ExpGrad's start is good enough).
	Iterations []int
	// KKTGap is the primal-dual gap Σ_k y_k(∇_k − min ∇), ∇ = Gy − f (arora-2013, Appendix
	// D.2): at least the distance of the objective from its minimum, and zero only there.
	KKTGap []float64
	// Status says how each problem ended.
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
	f, y *mat.Dense
	warm bool
	fmax float64 // the largest absolute entry of f
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
	p := &problem{Matrix: m, k: k, n: n, f: f, y: y, warm: opt.Warm}
	for i := range n {
		for j, v := range p.f.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("scls: f of problem %d, entry %d, is not finite: %g", i, j, v)
			}
			p.fmax = max(p.fmax, math.Abs(v))
		}
		if opt.Warm {
			if err := simplex.CheckStart(p.y.RawRowView(i)); err != nil {
				return nil, fmt.Errorf("scls: y of problem %d%w", i, err)
			}
		}
	}
	return p, nil
}

// chunkSize is the number of problems a goroutine takes at a time. It must not depend on
// the number of workers.
const chunkSize = 64

// solve runs do over all chunks and reports progress. Each goroutine has scratch space of its
// own.
func solve[S any](ctx context.Context, p *problem, opt Options, scratch func() *S, do func(s *S, lo, hi int) error) error {
	all := make([]*S, parallel.Workers(opt.Workers, parallel.Count(p.n, chunkSize)))
	err := parallel.Progress(ctx, p.n, chunkSize, len(all), opt.Progress, func(worker, lo, hi int) error {
		if all[worker] == nil {
			all[worker] = scratch()
		}
		return do(all[worker], lo, hi)
	})
	if err != nil {
		return fmt.Errorf("scls: %w", err)
	}
	return nil
}

// mul sets c = a·b for the first m rows of a and c (m×K, rows without gaps), and K×K b, on
// the calling goroutine, one of many already. It takes microseconds and no caller's context.
func mul(c, a, b []float64, m, k int) {
	// The only error is that of a context that ends.
	_ = linalg.Gemm(context.Background(), blas.NoTrans, blas.NoTrans, 1,
		blas64.General{Rows: m, Cols: k, Stride: k, Data: a},
		blas64.General{Rows: k, Cols: k, Stride: k, Data: b},
		0,
		blas64.General{Rows: m, Cols: k, Stride: k, Data: c}, 1)
}
