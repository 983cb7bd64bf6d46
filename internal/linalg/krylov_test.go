package linalg

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/testutil"
)

func gaussian(rng *rand.Rand, n, p int) blas64.General {
	x := NewGeneral(n, p)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	return x
}

// checkPairs asks that x be orthonormal to 1e-12 and theta its Rayleigh
// quotients to 1e-12·‖A‖, and returns the true residuals of the k first.
func checkPairs(t *testing.T, a blas64.General, b *Block, k int) []float64 {
	t.Helper()
	n, p := b.X.Rows, b.X.Cols
	size := 0.0
	for _, v := range a.Data {
		size += v * v
	}
	size = math.Sqrt(size)
	w, g := NewGeneral(n, p), NewGeneral(p, p)
	if err := Gemm(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b.X, 0, w, 1); err != nil {
		t.Fatal(err)
	}
	if err := Gemm(context.Background(), blas.Trans, blas.NoTrans, 1, b.X, b.X, 0, g, 1); err != nil {
		t.Fatal(err)
	}
	for i := range p {
		for j := range p {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(g.Data[i*p+j]-want) > 1e-12 {
				t.Fatalf("vectors %d and %d have the product %g", i, j, g.Data[i*p+j])
			}
		}
	}
	out := make([]float64, k)
	for j := range p {
		rq, r2 := 0.0, 0.0
		for i := range n {
			rq += b.X.Data[i*p+j] * w.Data[i*p+j]
			d := w.Data[i*p+j] - b.Theta[j]*b.X.Data[i*p+j]
			r2 += d * d
		}
		if math.Abs(rq-b.Theta[j]) > 1e-12*size {
			t.Errorf("Ritz value %d is %.17g, its vector's quotient %.17g", j, b.Theta[j], rq)
		}
		if j < k {
			out[j] = math.Sqrt(r2)
		}
	}
	return out
}

// Against the full decomposition: Ritz values lie below the eigenvalues, grow
// with the passes, and where the space is the whole one are the eigenvalues.
// The residual reported is the true one, to rounding.
func TestKrylov(t *testing.T) { eachKernel(t, testKrylov) }

func testKrylov(t *testing.T, _ *kernels) {
	ctx := context.Background()
	const n, k, p = 60, 5, 12
	rng := rand.New(rand.NewPCG(3, 1))
	for name, values := range spectra(rng, n) {
		t.Run(name, func(t *testing.T) {
			a := symmetric(rng, values)
			size := 0.0
			for _, v := range a.Data {
				size += v * v
			}
			size = math.Sqrt(size)
			exact, _, err := symEig(a)
			if err != nil {
				t.Fatal(err)
			}
			x := gaussian(rng, n, p)
			var before []float64
			for passes := 1; passes <= 8; passes++ {
				start := blas64.General{Rows: n, Cols: p, Stride: p, Data: append([]float64{}, x.Data...)}
				b, st, err := Krylov(ctx, dense(a), start, k, p, passes, 1)
				if err != nil {
					t.Fatal(err)
				}
				res := checkPairs(t, a, b, k)
				worst := 0.0
				for j := range k {
					if b.Theta[j] > exact[j]+1e-12*size {
						t.Errorf("pass %d: Ritz value %d is %g, above the eigenvalue %g", passes, j, b.Theta[j], exact[j])
					}
					if before != nil && b.Theta[j] < before[j]-1e-12*size {
						t.Errorf("pass %d: Ritz value %d fell from %g to %g", passes, j, before[j], b.Theta[j])
					}
					worst = max(worst, res[j])
				}
				// What counts as nothing is 1e-12·‖A‖ long, and 1e-5 of
				// columns that are short themselves.
				if math.Abs(worst-st.Residual) > 1e-11*size+1e-6*worst {
					t.Errorf("pass %d: residual %g reported, is %g", passes, st.Residual, worst)
				}
				before = append([]float64{}, b.Theta[:k]...)
				if st.Converged != (st.Restarts < passes || passes*p >= n) && name != "zero" && name != "rank=7" {
					t.Errorf("pass %d of %d: converged is %v", st.Restarts, passes, st.Converged)
				}
				if passes*p >= n {
					for j := range k {
						if math.Abs(b.Theta[j]-exact[j]) > 1e-11*size {
							t.Errorf("eigenvalue %d is %g, want %g", j, b.Theta[j], exact[j])
						}
					}
				}
			}
		})
	}
}

// A matrix of low rank is exhausted by two passes: the image of the start
// block, and its own.
func TestKrylovStopsWhereThereIsNoMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	values := make([]float64, 200)
	for i := range 7 {
		values[i] = float64(7 - i)
	}
	a := symmetric(rng, values)
	b, st, err := Krylov(context.Background(), dense(a), gaussian(rng, 200, 10), 7, 10, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !st.Converged || st.Restarts != 2 {
		t.Errorf("%d passes, converged %v; want 2, true", st.Restarts, st.Converged)
	}
	for j := range 10 {
		if want := max(float64(7-j), 0); math.Abs(b.Theta[j]-want) > 1e-12*7 {
			t.Errorf("eigenvalue %d is %g, want %g", j, b.Theta[j], want)
		}
	}
}

// A projected problem of more than 256 dimensions is solved by Lanczos: the
// same Ritz pairs, to its tolerance.
func TestKrylovLargeProjection(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped under the race detector: long")
	}
	rng := rand.New(rand.NewPCG(5, 1))
	values := make([]float64, 500)
	for i := range values {
		values[i] = math.Pow(float64(i+1), -0.7)
	}
	a := symmetric(rng, values)
	b, st, err := Krylov(context.Background(), dense(a), gaussian(rng, 500, 60), 20, 40, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	res := checkPairs(t, a, b, 20)
	for j, r := range res {
		if math.Abs(b.Theta[j]-values[j]) > r*r+1e-10 {
			t.Errorf("eigenvalue %d is %.12g, want %.12g (residual %g)", j, b.Theta[j], values[j], r)
		}
		if r > st.Residual+1e-9 {
			t.Errorf("residual %g of pair %d exceeds %g", r, j, st.Residual)
		}
	}
}

func TestKrylovSameBitsForAnyWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const n, p = 1500, 24
	values := make([]float64, n)
	d := NewGeneral(n, 1)
	for i := range values {
		d.Data[i] = rng.Float64()
	}
	x := gaussian(rng, n, p)
	var want *Block
	for _, workers := range []int{1, 2, 5} {
		op := func(ctx context.Context, dst, x blas64.General) error {
			for i := range n {
				for j, v := range Row(x, i) {
					dst.Data[i*dst.Stride+j] = v * d.Data[i]
				}
			}
			return nil
		}
		start := blas64.General{Rows: n, Cols: p, Stride: p, Data: append([]float64{}, x.Data...)}
		b, _, err := Krylov(context.Background(), op, start, 10, 16, 4, workers)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b
			continue
		}
		for i, v := range b.X.Data {
			if math.Float64bits(v) != math.Float64bits(want.X.Data[i]) {
				t.Fatalf("number %d differs with %d workers", i, workers)
			}
		}
	}
}

func TestKrylovBadInput(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 1))
	a := symmetric(rng, []float64{1, 2, 3, 4, 5, 6})
	for _, c := range [][4]int{{0, 1, 3, 2}, {4, 4, 3, 2}, {2, 1, 3, 2}, {2, 2, 3, 0}} {
		if _, _, err := Krylov(ctx, dense(a), gaussian(rng, 6, c[2]), c[0], c[1], c[3], 1); err == nil {
			t.Errorf("no error for %v", c)
		}
	}
	bad := func(ctx context.Context, dst, x blas64.General) error { dst.Data[3] = math.NaN(); return nil }
	if _, _, err := Krylov(ctx, bad, gaussian(rng, 6, 3), 2, 2, 3, 1); !errors.Is(err, ErrNonFinite) {
		t.Errorf("NaN: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := Krylov(ended, dense(a), gaussian(rng, 6, 3), 2, 2, 3, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
