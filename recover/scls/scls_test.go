package scls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// summary condenses a Result.
type summary struct {
	Converged, IterationLimit, Stalled int
	MeanIterations, MaxGap             float64
	MaxIterations                      int
}

func summarise(r *Result) summary {
	var s summary
	for i, st := range r.Status {
		switch st {
		case Converged:
			s.Converged++
		case IterationLimit:
			s.IterationLimit++
		case Stalled:
			s.Stalled++
		}
		s.MeanIterations += float64(r.Iterations[i]) / float64(len(r.Status))
		s.MaxIterations = max(s.MaxIterations, r.Iterations[i])
		s.MaxGap = max(s.MaxGap, r.KKTGap[i])
	}
	return s
}

var solvers = []Solver{ActiveSet{}, ADMM{}, PaperADMM(), ExpGrad{}, PaperExpGrad()}

// All solvers stay in the simplex, report the objective and the gap of what
// they return, and the gap bounds the distance to the exact optimum.
func TestGapBoundsExcess(t *testing.T) {
	for _, kind := range kinds {
		rng := rand.New(rand.NewPCG(5, 5))
		g, f := randomProblem(rng, kind, 9, 30)
		_, exact := mustSolve(t, ActiveSet{}, g, f, Options{})
		for _, s := range solvers {
			t.Run(fmt.Sprintf("kind=%s/solver=%v", kind, s), func(t *testing.T) {
				y, r := mustSolve(t, s, g, f, Options{})
				for i := range 30 {
					fi, yi := f.RawRowView(i), y.RawRowView(i)
					tol := 1e-13 * scaleOf(g, fi) // rounding of sums of 9² terms
					checkSimplex(t, yi, fmt.Sprint("problem ", i))
					if d := r.Objective[i] - objective(g, fi, yi); math.Abs(d) > tol {
						t.Errorf("problem %d: objective off by %g", i, d)
					}
					excess := r.Objective[i] - exact.Objective[i]
					if excess < -tol || excess > r.KKTGap[i]+tol {
						t.Errorf("problem %d: excess %g, gap %g", i, excess, r.KKTGap[i])
					}
				}
			})
		}
	}
}

// With tight tolerances all solvers find the same point where it is unique.
// ExpGrad's entries are as exact as the root of its gap, 1e-10.
func TestSolversAgree(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(6, 6))
	g, f := randomProblem(rng, "tall", 7, 60)
	want, _ := mustSolve(t, ActiveSet{}, g, f, Options{})
	for _, c := range []struct {
		s   Solver
		tol float64
	}{
		{ADMM{Tol: 1e-13, MaxIterations: 5000}, 1e-10},
		{ADMM{Gamma: 0.1, Lambda: 1, Tol: 1e-13, MaxIterations: 5000}, 1e-10},
		{ExpGrad{Tol: 1e-10, MaxIterations: 100000}, 1e-5},
		{ExpGrad{Step: 0.005, Tol: 1e-10, MaxIterations: 100000}, 1e-5},
	} {
		y, r := mustSolve(t, c.s, g, f, Options{})
		if d := maxDiff(y, want); d > c.tol {
			t.Errorf("%v: entries differ by %g; %v", c.s, d, summarise(r))
		}
		if m := summarise(r); m.Converged != 60 {
			t.Errorf("%v: %v", c.s, m)
		}
	}
}

func TestPermutationEquivariance(t *testing.T) {
	const k, n = 12, 90
	rng := rand.New(rand.NewPCG(7, 7))
	g, f := randomProblem(rng, "tall", k, n)
	cols, rows := rng.Perm(k), rng.Perm(n)
	pg, pf := mat.NewSymDense(k, nil), mat.NewDense(n, k, nil)
	for a := range k {
		for b := a; b < k; b++ {
			pg.SetSym(a, b, g.At(cols[a], cols[b]))
		}
		for i := range n {
			pf.Set(i, a, f.At(rows[i], cols[a]))
		}
	}
	// Iterative solvers may end one sweep apart where rounding differs.
	for s, tol := range map[Solver]float64{ActiveSet{}: 1e-12, ADMM{}: 1e-6, PaperADMM(): 1e-5, ExpGrad{}: 1e-4} {
		y, _ := mustSolve(t, s, g, f, Options{})
		py, _ := mustSolve(t, s, pg, pf, Options{})
		for i := range n {
			for a := range k {
				if d := math.Abs(py.At(i, a) - y.At(rows[i], cols[a])); d > tol {
					t.Fatalf("%v: problem %d entry %d differs by %g", s, i, a, d)
				}
			}
		}
	}
}

// Powers of two scale out without rounding.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, kind := range kinds {
		g, f := randomProblem(rng, kind, 8, 40)
		want, _ := mustSolve(t, ActiveSet{}, g, f, Options{})
		for _, e := range []int{-400, -30, 17, 300} {
			c := math.Ldexp(1, e)
			var sg mat.SymDense
			sg.ScaleSym(c, g)
			var sf mat.Dense
			sf.Scale(c, f)
			y, r := mustSolve(t, ActiveSet{}, &sg, &sf, Options{})
			if !mat.Equal(y, want) {
				t.Errorf("%s: solutions change with the scale 2^%d by %g; %v", kind, e, maxDiff(y, want), summarise(r))
			}
		}
	}
}

// An f beyond all proportion leaves the nearest vertex, and nothing overflows.
func TestExtremeF(t *testing.T) {
	for _, c := range []float64{1e-300, 1, 1e200} {
		g := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 3})
		g.ScaleSym(c, g)
		f := mat.NewDense(2, 3, []float64{1, 5, 2, -3, -2, 4})
		f.Scale(1e300, f)
		y, r := mustSolve(t, ActiveSet{}, g, f, Options{})
		for i, want := range []int{1, 2} {
			if y.At(i, want) != 1 || r.Status[i] != Converged || math.IsNaN(r.Objective[i]) {
				t.Errorf("scale %g: problem %d: %v, %v, objective %g", c, i, y.RawRowView(i), r.Status[i], r.Objective[i])
			}
		}
	}
}

func TestSameBits(t *testing.T) {
	const k, n = 13, 3*chunkSize + 3
	rng := rand.New(rand.NewPCG(9, 9))
	g, f := randomProblem(rng, "random", k, n)
	start := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			start.Set(i, j, rng.NormFloat64())
		}
		simplex.Project(start.RawRowView(i), start.RawRowView(i))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	many := []int{1, 3, 0, math.MaxInt}
	if testutil.Race { // results are compared without it
		many = []int{3}
	}
	for _, s := range []Solver{ActiveSet{}, ADMM{}, ADMM{Lambda: 1.2, MaxIterations: 20}, ExpGrad{Tol: 1e-3}, ExpGrad{Step: 0.01, MaxIterations: 30}} {
		for _, warm := range []bool{false, true} {
			var first *mat.Dense
			var res *Result
			for _, procs := range []int{1, 4} {
				runtime.GOMAXPROCS(procs)
				for _, workers := range many {
					y := mat.DenseCopyOf(start)
					r, err := s.Solve(context.Background(), g, f, y, Options{Workers: workers, Warm: warm})
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first, res = y, r
						continue
					}
					if !slices.Equal(y.RawMatrix().Data, first.RawMatrix().Data) ||
						!slices.Equal(r.Objective, res.Objective) || !slices.Equal(r.KKTGap, res.KKTGap) ||
						!slices.Equal(r.Iterations, res.Iterations) || !slices.Equal(r.Status, res.Status) {
						t.Errorf("%v, warm %v: other bits from %d workers on %d processors", s, warm, workers, procs)
					}
				}
			}
		}
	}
}

// Warm starts, good and bad, end where cold ones do.
func TestWarm(t *testing.T) {
	testutil.NotWithRace(t)
	const k, n = 8, 40
	rng := rand.New(rand.NewPCG(10, 10))
	for _, c := range []struct {
		s   Solver
		tol float64
	}{
		{ActiveSet{}, 1e-12},
		{ADMM{Tol: 1e-12, MaxIterations: 10000}, 1e-8},
		{ExpGrad{Tol: 1e-8, MaxIterations: 100000}, 1e-3},
	} {
		for _, kind := range []string{"tall", "inhull", "scales"} {
			if kind == "scales" && c.tol > 1e-12 {
				continue // too ill-conditioned for the entries of the others
			}
			g, f := randomProblem(rng, kind, k, n)
			cold, rc := mustSolve(t, c.s, g, f, Options{})
			for _, start := range []string{"optimum", "random", "vertex", "centre"} {
				y := mat.DenseCopyOf(cold)
				for i := range n {
					row := y.RawRowView(i)
					switch start {
					case "random":
						for j := range row {
							row[j] = rng.NormFloat64()
						}
						simplex.Project(row, row)
					case "vertex":
						clear(row)
						row[rng.IntN(k)] = 1
					case "centre":
						for j := range row {
							row[j] = 1.0 / k
						}
					}
				}
				r, err := c.s.Solve(context.Background(), g, f, y, Options{Warm: true})
				if err != nil {
					t.Fatal(err)
				}
				tol := c.tol
				if kind == "scales" {
					tol = 1e-4 // entries of a tiny point are ill-determined; the objective is not
				}
				if d := maxDiff(y, cold); d > tol {
					t.Errorf("%v, %s from %s: entries differ by %g", c.s, kind, start, d)
				}
				for i := range n {
					if d := math.Abs(r.Objective[i] - rc.Objective[i]); d > max(1e-13*scaleOf(g, f.RawRowView(i)), r.KKTGap[i]+rc.KKTGap[i]) {
						t.Errorf("%v, %s from %s: problem %d: objectives differ by %g", c.s, kind, start, i, d)
					}
				}
				if (c.s == ActiveSet{}) && start == "optimum" && kind != "scales" && summarise(r).MaxIterations != 1 {
					t.Errorf("%s: %d solves from the right support", kind, summarise(r).MaxIterations)
				}
			}
		}
	}
}

// A stride beyond K, as of a column block of a larger matrix, is respected.
func TestStride(t *testing.T) {
	const k, n = 6, 70
	g, f := randomProblem(rand.New(rand.NewPCG(11, 11)), "random", k, n)
	for _, s := range solvers {
		want, _ := mustSolve(t, s, g, f, Options{})
		bigF, bigY := mat.NewDense(n, k+5, nil), mat.NewDense(n, k+3, nil)
		for i := range n {
			for j := range k + 3 {
				bigY.Set(i, j, -7)
			}
		}
		bigF.Slice(0, n, 2, 2+k).(*mat.Dense).Copy(f)
		y := bigY.Slice(0, n, 1, 1+k).(*mat.Dense)
		if _, err := s.Solve(context.Background(), g, bigF.Slice(0, n, 2, 2+k).(*mat.Dense), y, Options{}); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(y, want) {
			t.Errorf("%v: other solution with a stride", s)
		}
		for i := range n {
			if bigY.At(i, 0) != -7 || bigY.At(i, k+1) != -7 || bigY.At(i, k+2) != -7 {
				t.Fatalf("%v: wrote outside y in row %d", s, i)
			}
		}
	}
}

func TestTrivialSizes(t *testing.T) {
	for _, s := range solvers {
		y, r := mustSolve(t, s, mat.NewSymDense(1, []float64{3}), mat.NewDense(2, 1, []float64{5, -1}), Options{})
		for i, want := range []float64{-3.5, 2.5} {
			if y.At(i, 0) != 1 || r.Objective[i] != want || r.KKTGap[i] != 0 || r.Status[i] != Converged {
				t.Errorf("%v: K = 1: y %v, objective %g, gap %g", s, y.At(i, 0), r.Objective[i], r.KKTGap[i])
			}
		}
		r, err := s.Solve(context.Background(), mat.NewSymDense(2, []float64{1, 0, 0, 1}), new(mat.Dense), new(mat.Dense), Options{})
		if err != nil || len(r.Status) != 0 {
			t.Errorf("%v: no problem: %v, %v", s, r, err)
		}
	}
}

func TestIterationLimit(t *testing.T) {
	g, f := randomProblem(rand.New(rand.NewPCG(12, 12)), "tall", 20, 50)
	for _, s := range []Solver{ActiveSet{MaxIterations: 3}, ADMM{MaxIterations: 3}, ExpGrad{MaxIterations: 3}, ExpGrad{Step: 1e-3, MaxIterations: 3}} {
		y, r := mustSolve(t, s, g, f, Options{})
		m := summarise(r)
		if m.IterationLimit < 40 || m.Converged+m.IterationLimit != 50 {
			t.Errorf("%v: %v", s, m)
		}
		if _, exact := s.(ActiveSet); m.MaxIterations > 3 && !exact {
			t.Errorf("%v: %d iterations", s, m.MaxIterations)
		}
		for i := range 50 {
			checkSimplex(t, y.RawRowView(i), s.String())
			if r.Status[i] == IterationLimit && !(r.KKTGap[i] > 0) {
				t.Errorf("%v: problem %d: gap %g", s, i, r.KKTGap[i])
			}
		}
	}
}

func TestProgressAndCancellation(t *testing.T) {
	const n = 20*chunkSize + 1
	g, f := randomProblem(rand.New(rand.NewPCG(13, 13)), "random", 6, n)
	for _, s := range solvers {
		for _, workers := range []int{1, 3} {
			if testutil.Race && workers == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%v, %d workers", s, workers), func(t *testing.T) {
				last, calls := 0, 0
				mustSolve(t, s, g, f, Options{Workers: workers, Progress: func(done, total int) {
					if done <= last || total != n {
						t.Errorf("progress %d of %d after %d", done, total, last)
					}
					last = done
					calls++
				}})
				if last != n || calls != parallel.Count(n, chunkSize) {
					t.Errorf("%d calls, the last with %d", calls, last)
				}

				// Cancelled in the first report: every worker finishes at most the
				// chunk it is at and one more that it may have begun by then.
				ctx, cancel := context.WithCancelCause(context.Background())
				reports := 0
				r, err := s.Solve(ctx, g, f, mat.NewDense(n, 6, nil), Options{Workers: workers, Progress: func(int, int) {
					reports++
					cancel(nil)
				}})
				if !errors.Is(err, context.Canceled) || r != nil || !strings.HasPrefix(err.Error(), "scls: ") {
					t.Errorf("cancelled: %v, %v", r, err)
				}
				if workers == 1 && reports != 1 {
					t.Errorf("%d chunks were done", reports)
				}
				if reports > 2*workers {
					t.Errorf("%d chunks were done", reports)
				}
			})
		}
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	ok := func() *mat.Dense { return mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0.5, 0.5}) }
	with := func(i, j int, v float64) *mat.Dense { d := ok(); d.Set(i, j, v); return d }
	shared := ok()
	for _, c := range []struct {
		name string
		g    mat.Symmetric
		f, y *mat.Dense
		warm bool
		want string
	}{
		{"nil G", nil, ok(), ok(), false, "scls: the matrix G is nil or empty"},
		{"empty G", new(mat.SymDense), ok(), ok(), false, "scls: the matrix G is nil or empty"},
		{"nil f", eye, nil, ok(), false, "scls: f is nil"},
		{"nil y", eye, ok(), nil, false, "scls: y is nil"},
		{"f too wide", eye, mat.NewDense(3, 4, nil), ok(), false, "scls: f is 3×4, must be 3×2"},
		{"y too short", eye, ok(), mat.NewDense(2, 2, nil), false, "scls: y is 2×2, must be 3×2"},
		{"y too wide", eye, ok(), mat.NewDense(3, 3, nil), false, "scls: y is 3×3, must be 3×2"},
		{"shared", eye, shared, shared, false, "scls: f and y share memory"},
		{"NaN in G", mat.NewSymDense(2, []float64{1, nan, nan, 1}), ok(), ok(), false, "scls: the matrix G: row 0, entry 1, is not finite: NaN"},
		{"Inf in G", mat.NewSymDense(2, []float64{1, 0, 0, inf}), ok(), ok(), false, "scls: the matrix G: row 1, entry 1, is not finite: +Inf"},
		{"overflow", mat.NewSymDense(2, []float64{1e308, 0, 0, 1e308}), ok(), ok(), false, "too large"},
		{"negative diagonal", mat.NewSymDense(2, []float64{1, 0, 0, -2}), ok(), ok(), false, "scls: the matrix G: row 1, entry 1, is a negative diagonal entry: -2"},
		{"indefinite", mat.NewSymDense(2, []float64{1, 3, 3, 1}), ok(), ok(), false, "not positive semidefinite"},
		{"indefinite with zeros", mat.NewSymDense(2, []float64{0, 1, 1, 0}), ok(), ok(), false, "not positive semidefinite"},
		{"NaN in f", eye, with(2, 1, nan), ok(), false, "scls: f of problem 2, entry 1, is not finite: NaN"},
		{"Inf in f", eye, with(1, 0, -inf), ok(), false, "scls: f of problem 1, entry 0, is not finite: -Inf"},
		{"NaN start", eye, ok(), with(1, 1, nan), true, "y of problem 1, entry 1"},
		{"negative start", eye, ok(), with(0, 1, -0.1), true, "y of problem 0, entry 1"},
		{"start off the simplex", eye, ok(), with(2, 0, 0.7), true, "scls: y of problem 2 is no starting point (must sum to 1): 1.2"},
	} {
		for _, s := range solvers {
			_, err := s.Solve(context.Background(), c.g, c.f, c.y, Options{Warm: c.warm})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "scls") != 1 {
				t.Errorf("%s: %v: error %v, want %q", c.name, s, err, c.want)
			}
		}
	}

	// Garbage in y is no matter for a cold start.
	if _, err := (ActiveSet{}).Solve(context.Background(), eye, ok(), with(0, 0, nan), Options{}); err != nil {
		t.Error(err)
	}

	for _, s := range []Solver{
		ActiveSet{MaxIterations: -1},
		ADMM{Gamma: -1}, ADMM{Gamma: nan}, ADMM{Gamma: inf}, ADMM{Lambda: 2}, ADMM{Lambda: -0.5}, ADMM{Tol: nan}, ADMM{Tol: -1}, ADMM{MaxIterations: -1},
		ExpGrad{Step: -1}, ExpGrad{Step: inf}, ExpGrad{Tol: nan}, ExpGrad{MaxIterations: -1},
	} {
		_, err := s.Solve(context.Background(), eye, ok(), ok(), Options{})
		if err == nil || s.Validate() == nil || err.Error() != s.Validate().Error() || !strings.Contains(err.Error(), ", must be ") {
			t.Errorf("%v: error %v, from Validate %v", s, err, s.Validate())
		}
	}
}

func TestString(t *testing.T) {
	for s, want := range map[Solver]string{
		ActiveSet{}:                 "ActiveSet",
		ActiveSet{MaxIterations: 9}: "ActiveSet(max=9)",
		ADMM{}:                      "ADMM(γ=spectrum, λ=1.9, tol=1e-06, max=1000)",
		PaperADMM():                 "ADMM(γ=3, λ=1.9, tol=1e-05, max=500, ‖Δy‖ only)",
		ExpGrad{}:                   "ExpGrad(line search, tol=1e-07, max=1000)",
		PaperExpGrad():              "ExpGrad(η=50, tol=5e-06, max=500)",
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Stalled.String() != "stalled" || Status(9).String() != "Status(9)" {
		t.Error(Stalled, Status(9))
	}
}

// A chunk of hard problems is not finished first where ctx ends within it.
func TestCancelWithinAChunk(t *testing.T) {
	const n, k, most = 30, 9, 10
	for _, s := range solvers {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			g, f := randomProblem(rand.New(rand.NewPCG(5, 5)), kinds[0], k, n)
			solve := func(ctx context.Context) error {
				_, err := s.Solve(ctx, g, f, mat.NewDense(n, k, nil), Options{Workers: 1})
				return err
			}
			all := testutil.EndingAfter(math.MaxInt)
			if err := solve(all); err != nil {
				t.Fatal(err)
			}
			if all.Looks() <= most {
				t.Errorf("%d looks at ctx in one chunk, want more than %d", all.Looks(), most)
			}
			ending := testutil.EndingAfter(most)
			if err := solve(ending); !errors.Is(err, context.Canceled) || ending.Looks() > most {
				t.Errorf("%v after %d looks at ctx, want its error after %d", err, ending.Looks(), most)
			}
		})
	}
}
