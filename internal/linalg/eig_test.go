package linalg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

// symmetric returns a random symmetric matrix with the given eigenvalues.
func symmetric(rng *rand.Rand, values []float64) blas64.General {
	n := len(values)
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, t, a mat.Dense
	qr.QTo(&q)
	t.Mul(&q, mat.NewDiagDense(n, values))
	a.Mul(&t, q.T())
	raw := a.RawMatrix()
	symmetrise(raw)
	return raw
}

func dense(a blas64.General) Op {
	return func(ctx context.Context, dst, x blas64.General) error {
		return Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, x, 0, dst, 1)
	}
}

// spectra are shapes of spectra that iterative solvers find hard or easy.
func spectra(rng *rand.Rand, n int) map[string][]float64 {
	m := map[string][]float64{}
	geometric, random, lowRank, double, negative, step := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		geometric[i] = math.Pow(0.9, float64(i))
		random[i] = rng.NormFloat64()
		if i < 7 {
			lowRank[i] = float64(7 - i)
		}
		double[i] = float64(n - i/4)
		negative[i] = -1 - float64(i)
		step[i] = 1e-3 * rng.Float64()
		if i < 10 {
			step[i] = 1 + float64(i)/10
		}
	}
	m["geometric"], m["random"], m["rank=7"], m["fourfold"], m["negative"], m["gap"] = geometric, random, lowRank, double, negative, step
	m["zero"] = make([]float64, n)
	return m
}

func TestLanczosAgainstFullDecomposition(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 30, 200, 400} {
		sets := spectra(rng, n)
		names := make([]string, 0, len(sets))
		for name := range sets {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			values := sets[name]
			if n > 200 && name != "gap" && name != "rank=7" && name != "geometric" {
				continue
			}
			a := symmetric(rng, values)
			slices.SortFunc(values, func(x, y float64) int {
				if x > y {
					return -1
				}
				return 1
			})
			largest := math.Max(math.Abs(values[0]), math.Abs(values[n-1]))
			for _, k := range []int{1, 4, min(n, 12)} {
				if k > n {
					continue
				}
				for _, block := range []int{1, 8} {
					theta, v, st, err := Lanczos(context.Background(), n, dense(a), LanczosOptions{Pairs: k, Tol: 1e-10, MaxRestarts: 500, Block: block})
					if err != nil {
						t.Fatalf("n=%d %s k=%d block=%d: %v", n, name, k, block, err)
					}
					if !st.Converged {
						t.Errorf("n=%d %s k=%d block=%d: residual %g after %d restarts", n, name, k, block, st.Residual, st.Restarts)
						continue
					}
					for i := range k {
						// Residuals of 1e-10·λ_k bound the eigenvalues' errors.
						if math.Abs(theta[i]-values[i]) > 1e-9*largest+1e-300 {
							t.Errorf("n=%d %s k=%d block=%d: λ_%d = %g, want %g", n, name, k, block, i, theta[i], values[i])
						}
						for j := range i + 1 {
							want := 0.0
							if i == j {
								want = 1
							}
							if d := vec.Dot(Row(v, i), Row(v, j)); math.Abs(d-want) > 1e-12 {
								t.Errorf("n=%d %s: vectors %d and %d have the product %g", n, name, i, j, d)
							}
						}
						// The residual itself, computed plainly.
						x := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: Row(v, i)}
						y := NewGeneral(n, 1)
						if err := dense(a)(context.Background(), y, x); err != nil {
							t.Fatal(err)
						}
						vec.AddScaled(y.Data, -theta[i], x.Data)
						if r := vec.Norm(y.Data); r > 2e-10*math.Max(math.Abs(theta[k-1]), 1e-4*largest)+1e-300 {
							t.Errorf("n=%d %s k=%d block=%d: residual of pair %d is %g (λ_k = %g)", n, name, k, block, i, r, theta[k-1])
						}
					}
				}
			}
		}
	}
}

func TestBlockRefine(t *testing.T) { eachKernel(t, testBlockRefine) }

func testBlockRefine(t *testing.T, _ *kernels) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(3, 4))
	ctx := context.Background()
	const n, k = 400, 10
	a := symmetric(rng, spectra(rng, n)["gap"])
	theta, v, _, err := Lanczos(ctx, n, dense(a), LanczosOptions{Pairs: 16, Need: k, Tol: 1e-12, MaxRestarts: 100})
	if err != nil {
		t.Fatal(err)
	}
	// The same matrix a little moved.
	b := NewGeneral(n, n)
	for i := range n {
		for j := range i + 1 {
			x := a.Data[i*n+j] + 1e-5*rng.NormFloat64()
			b.Data[i*n+j], b.Data[j*n+i] = x, x
		}
	}
	want, _, _, err := Lanczos(ctx, n, dense(b), LanczosOptions{Pairs: k, Tol: 1e-12, MaxRestarts: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, tol := range []float64{1e-4, 1e-8, 1e-11} {
		x := NewGeneral(n, 16)
		for i := range n {
			for j := range 16 {
				x.Data[i*16+j] = v.Data[j*n+i]
			}
		}
		blk := Block{X: x, Theta: theta}
		st, err := blk.Refine(ctx, k, dense(b), tol, 30, 0)
		if err != nil || !st.Converged {
			t.Fatalf("tol %g: %v, %+v", tol, err, st)
		}
		for i := range k {
			// An eigenvalue errs by the square of the residual over the gap.
			if math.Abs(blk.Theta[i]-want[i]) > tol {
				t.Errorf("tol %g: λ_%d = %.15g, want %.15g", tol, i, blk.Theta[i], want[i])
			}
		}
	}
}

func TestEigenpairsSameBitsForAnyWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ctx := context.Background()
	const n, k = 600, 9
	a := symmetric(rng, spectra(rng, n)["geometric"])
	workers := []int{1, 2, 5}
	if testutil.Race { // results are compared without it
		workers = []int{5}
	}
	for _, block := range []int{1, 8} {
		var first []float64
		for _, w := range workers {
			op := func(ctx context.Context, dst, x blas64.General) error {
				return Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, x, 0, dst, w)
			}
			theta, v, _, err := Lanczos(ctx, n, op, LanczosOptions{Pairs: 16, Need: k, Tol: 1e-9, MaxRestarts: 50, Block: block, Workers: w})
			if err != nil {
				t.Fatal(err)
			}
			x := NewGeneral(n, 16)
			for i := range n {
				for j := range 16 {
					x.Data[i*16+j] = v.Data[j*n+i]
				}
			}
			blk := Block{X: x}
			if _, err := blk.Refine(ctx, k, op, 1e-12, 4, w); err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(theta, v.Data, blk.Theta, blk.X.Data)
			if first == nil {
				first = got
			} else if !slices.Equal(first, got) {
				t.Errorf("block=%d: %d workers give other bits than one", block, w)
			}
		}
	}
}

// Kernels that round once give the same eigenpairs, to the bit.
func TestEigenpairsOfFusedKernels(t *testing.T) {
	ctx := context.Background()
	const n, k, p = 200, 5, 12
	rng := rand.New(rand.NewPCG(7, 8))
	a := symmetric(rng, spectra(rng, n)["geometric"])
	start := gaussian(rng, n, p)
	var first []float64
	eachKernel(t, func(t *testing.T, kr *kernels) {
		theta, v, _, err := Lanczos(ctx, n, dense(a), LanczosOptions{Pairs: k, Tol: 1e-9, MaxRestarts: 50, Block: 2})
		if err != nil {
			t.Fatal(err)
		}
		x := blas64.General{Rows: n, Cols: p, Stride: p, Data: slices.Clone(start.Data)}
		b, _, err := Krylov(ctx, dense(a), x, k, p, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Refine(ctx, k, dense(a), 1e-12, 4, 1); err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(theta, v.Data, b.Theta, b.X.Data)
		if first == nil {
			first = got
		} else if diff := diffBits(got, first); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEigenpairsBadInput(t *testing.T) {
	ctx := context.Background()
	nan := func(_ context.Context, dst, _ blas64.General) error {
		for i := range dst.Data {
			dst.Data[i] = math.NaN()
		}
		return nil
	}
	if _, _, _, err := Lanczos(ctx, 20, nan, LanczosOptions{Pairs: 3, Tol: 1e-8, MaxRestarts: 5}); err != ErrNonFinite {
		t.Errorf("Lanczos: %v", err)
	}
	x := NewGeneral(20, 4)
	for i := range 4 {
		x.Data[i*4+i] = 1
	}
	if _, err := (&Block{X: x}).Refine(ctx, 3, nan, 1e-8, 5, 1); err != ErrNonFinite {
		t.Errorf("Refine: %v", err)
	}
	fail := fmt.Errorf("stop")
	bad := func(context.Context, blas64.General, blas64.General) error { return fail }
	if _, _, _, err := Lanczos(ctx, 20, bad, LanczosOptions{Pairs: 3, Tol: 1e-8, MaxRestarts: 5}); err != fail {
		t.Errorf("Lanczos: %v", err)
	}
	for _, o := range []LanczosOptions{{Pairs: 0}, {Pairs: 21}, {Pairs: 3, Need: 4}} {
		if _, _, _, err := Lanczos(ctx, 20, bad, o); err == nil || err == fail {
			t.Errorf("%+v: %v", o, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, _, err := Lanczos(gone, 20, dense(NewGeneral(20, 20)), LanczosOptions{Pairs: 3, Tol: 1e-8, MaxRestarts: 5}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
