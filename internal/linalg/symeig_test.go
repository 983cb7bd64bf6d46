package linalg

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The eigenvalues are gonum's, and the vectors orthonormal ones that give the
// matrix back, to some ulps of its norm times its size; multiple eigenvalues,
// blocks and zeros included.
func TestSymEig(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	random := func(n int) blas64.General {
		a := NewGeneral(n, n)
		for i := range n {
			for j := range i + 1 {
				v := rng.NormFloat64()
				a.Data[i*n+j], a.Data[j*n+i] = v, v
			}
		}
		return a
	}
	cases := map[string]blas64.General{"n=1": random(1), "n=2": random(2), "n=7": random(7), "n=64": random(64), "n=131": random(131), "zero": NewGeneral(20, 20)}
	for name, values := range spectra(rng, 50) {
		cases[name] = symmetric(rng, values)
	}
	blocks := NewGeneral(24, 24)
	for i := range 12 { // a path of zeros between twelve equal blocks
		copy(blocks.Data[2*i*24+2*i:], []float64{2, 1})
		copy(blocks.Data[(2*i+1)*24+2*i:], []float64{1, 2})
	}
	cases["blocks"] = blocks
	graded := random(30)
	for i := range 30 {
		for j := range 30 {
			graded.Data[i*30+j] *= math.Pow(10, -float64(i+j)/3)
		}
	}
	cases["graded"] = graded
	for name, a := range cases {
		t.Run(name, func(t *testing.T) {
			n := a.Rows
			kept := slices.Clone(a.Data)
			theta, q, err := symEig(a)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Data, kept) {
				t.Error("the matrix was changed")
			}
			size := mat.Norm(mat.NewDense(n, n, kept), 2)
			tol := 1e-14 * float64(n) * max(size, 1e-300)
			var e mat.EigenSym
			if !e.Factorize(mat.NewSymDense(n, kept), false) {
				t.Fatal("gonum found no eigenvalues")
			}
			want := e.Values(nil)
			slices.Reverse(want)
			for i := range theta {
				if !(math.Abs(theta[i]-want[i]) <= tol) {
					t.Errorf("eigenvalue %d is %g, want %g", i, theta[i], want[i])
				}
			}
			if !slices.IsSortedFunc(theta, func(a, b float64) int { return cmp.Compare(b, a) }) {
				t.Errorf("not descending: %v", theta)
			}
			back, gram := 0.0, 0.0
			for i := range n {
				for j := range n {
					s, g := 0.0, 0.0
					for l := range n {
						s += q.Data[i*n+l] * theta[l] * q.Data[j*n+l]
						g += q.Data[l*n+i] * q.Data[l*n+j]
					}
					if i == j {
						g--
					}
					back, gram = max(back, math.Abs(s-a.Data[i*n+j])), max(gram, math.Abs(g))
				}
			}
			if !(back <= tol) || !(gram <= 1e-14*float64(n)) {
				t.Errorf("QΛQᵀ is off by %g (norm %g), QᵀQ by %g", back, size, gram)
			}
		})
	}
}
