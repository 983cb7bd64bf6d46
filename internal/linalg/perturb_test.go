package linalg_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// A perturbation D whose part beyond X is zero is known whole by DX: the pairs
// are those that a dense solver finds.
func TestPerturbed(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		n, p, rank int
	}{{60, 7, 7}, {60, 7, 2}, {20, 15, 15}, {60, 7, 0}} {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(x.n), uint64(x.rank)))
			normal := func(r, c int) *mat.Dense {
				a := mat.NewDense(r, c, nil)
				for i := range r {
					for j := range c {
						a.Set(i, j, rng.NormFloat64())
					}
				}
				return a
			}
			var qr mat.QR
			qr.Factorize(normal(x.n, x.n))
			var q, basis mat.Dense
			qr.QTo(&q)
			basis.CloneFrom(q.Slice(0, x.n, 0, x.p))
			theta := make([]float64, x.p)
			for j := range theta {
				theta[j] = float64(x.p - j)
			}
			// D = XGXᵀ + FXᵀ + XFᵀ, F of the given rank.
			var whole, d, f, g mat.Dense
			g.Mul(normal(x.p, 1), normal(1, x.p))
			g.Add(&g, mat.DenseCopyOf(g.T()))
			whole.Product(&basis, mat.NewDiagDense(x.p, theta), basis.T())
			if x.rank > 0 {
				f.Mul(normal(x.n, x.rank), normal(x.rank, x.p))
				f.Scale(0.1, &f)
				d.Product(&basis, &g, basis.T())
				var h mat.Dense
				h.Mul(&f, basis.T())
				d.Add(&d, &h)
				d.Add(&d, mat.DenseCopyOf(h.T()))
			} else {
				d.CloneFrom(mat.NewDense(x.n, x.n, nil))
			}
			whole.Add(&whole, &d)
			var w mat.Dense
			w.Mul(&d, &basis)
			before := mat.DenseCopyOf(&basis)
			b, err := linalg.Perturbed(ctx, basis.RawMatrix(), theta, w.RawMatrix(), 2)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(before, &basis) {
				t.Error("the vectors were written to")
			}
			sym := mat.NewSymDense(x.n, nil)
			for i := range x.n {
				for j := i; j < x.n; j++ {
					sym.SetSym(i, j, whole.At(i, j))
				}
			}
			var eig mat.EigenSym
			if !eig.Factorize(sym, false) {
				t.Fatal("no eigenvalues")
			}
			values := eig.Values(nil)
			var got mat.Dense
			got.SetRawMatrix(b.X)
			var cx, gram mat.Dense
			cx.Mul(&whole, &got)
			gram.Mul(got.T(), &got)
			for j := range x.p {
				// The dense matrix and the two ways of rounding: 1e-11 of ‖A‖ ≈ 20.
				want := values[x.n-1-j]
				if b.Theta[j] > 1e-9 && math.Abs(b.Theta[j]-want) > 1e-10 {
					t.Errorf("eigenvalue %d is %g, want %g", j, b.Theta[j], want)
				}
				for i := range x.n {
					if math.Abs(cx.At(i, j)-b.Theta[j]*got.At(i, j)) > 1e-10 {
						t.Fatalf("vector %d is not one of eigenvalue %g", j, b.Theta[j])
					}
				}
				for l := range x.p {
					want := 0.0
					if l == j {
						want = 1
					}
					if math.Abs(gram.At(j, l)-want) > 1e-12 {
						t.Errorf("vectors %d and %d have the product %g", j, l, gram.At(j, l))
					}
				}
			}
			one, err := linalg.Perturbed(ctx, basis.RawMatrix(), theta, w.RawMatrix(), 1)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range one.X.Data {
				if v != b.X.Data[i] {
					t.Fatal("one worker gives other bits than two")
				}
			}
		})
	}
	if _, err := linalg.Perturbed(ctx, blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float64, 6)}, []float64{1}, blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float64, 6)}, 1); err == nil {
		t.Error("one value for two vectors was taken")
	}
}
