package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Parts that are tiny compared with the rest, or the whole, are no reason to panic, and the
// values are those that come with the vectors.
func TestEigenvalues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		n     int
		value func(i, j int) float64
	}{
		{"one", 1, func(_, _ int) float64 { return 3 }},
		{"zero", 4, func(_, _ int) float64 { return 0 }},
		{"random", 40, func(_, _ int) float64 { return rng.NormFloat64() }},
		{"tiny", 5, func(_, _ int) float64 { return 1e-300 * rng.Float64() }},
		{"denormal", 3, func(i, j int) float64 { return 5e-324 * float64(1+i+j) }},
		{"huge", 5, func(_, _ int) float64 { return 1e300 * rng.Float64() }},
		{"tiny part", 4, func(i, j int) float64 {
			if i < 2 && j < 2 {
				return 0.1 * float64(1+i+j)
			}
			return 1e-200 * float64(1+i*j)
		}},
		{"denormal part", 5, func(i, j int) float64 {
			if i > 3 && j > 3 {
				return 1
			}
			return 1.5e-323
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, largest := mat.NewSymDense(c.n, nil), 0.0
			for i := range c.n {
				for j := i; j < c.n; j++ {
					a.SetSym(i, j, c.value(i, j))
					largest = max(largest, math.Abs(a.At(i, j)))
				}
			}
			got, err := Eigenvalues(a)
			if err != nil {
				t.Fatal(err)
			}
			want, vectors, err := Eigen(a)
			if err != nil {
				t.Fatal(err)
			}
			if r, k := vectors.Dims(); r != c.n || k != c.n {
				t.Errorf("%d×%d eigenvectors, want %d×%d", r, k, c.n, c.n)
			}
			for i, v := range got {
				if !(math.Abs(v-want[i]) <= 1e-13*float64(c.n)*largest) {
					t.Errorf("eigenvalue %d is %g, want %g", i, v, want[i])
				}
			}
		})
	}
}

func TestEigenNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := mat.NewSymDense(3, nil)
		a.SetSym(1, 2, v)
		_, values := Eigenvalues(a)
		_, _, vectors := Eigen(a)
		for _, err := range []error{values, vectors} {
			if err == nil || !strings.HasPrefix(err.Error(), "its entry (2, 1) is ") {
				t.Errorf("an entry of %g: %v, want an error that names it", v, err)
			}
		}
	}
}

// EigenInPlace is Eigen, to rounding, and gives a matrix back that has the vectors.
func TestEigenInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a := mat.NewSymDense(23, nil)
	for i := range 23 {
		for j := range i + 1 {
			a.SetSym(i, j, rng.NormFloat64())
		}
	}
	want, _, err := Eigen(a)
	if err != nil {
		t.Fatal(err)
	}
	z, values := mat.NewSymDense(23, nil), make([]float64, 23)
	for range 2 { // the second time in the same memory
		z.CopySym(a)
		vectors, err := EigenInPlace(z, values)
		if err != nil {
			t.Fatal(err)
		}
		if !floats.EqualApprox(values, want, 1e-12) {
			t.Errorf("eigenvalues %v, want %v", values, want)
		}
		var left, right mat.Dense
		left.Mul(a, vectors)
		right.Mul(vectors, mat.NewDiagDense(23, values))
		if !mat.EqualApprox(&left, &right, 1e-12) {
			t.Error("the columns are no eigenvectors")
		}
	}
}

// The factors are orthogonal and give the matrix back, and small values are found to their own size; of a
// matrix that lacks ranks, too. R has the inner products of the columns.
func TestSVD(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct{ n, m, rank int }{{1, 1, 1}, {5, 9, 5}, {12, 7, 7}, {30, 100, 30}, {30, 100, 11}, {4, 9, 0}} {
		at := NewGeneral(c.n, c.m)
		x, y := randMat(rng, c.n, c.rank, 0), randMat(rng, c.rank, c.m, 0)
		if err := Gemm(t.Context(), blas.NoTrans, blas.NoTrans, 1, x, y, 0, at, 1); err != nil {
			t.Fatal(err)
		}
		a := mat.DenseCopyOf(mat.NewDense(c.n, c.m, slices.Clone(at.Data)).T())
		r := Triangle(at)
		full := mat.NewDense(c.n, c.n, r.Data)
		sigma, u, v := SVD(r)
		var gram, again, uu, vv, back mat.Dense
		gram.Mul(a.T(), a)
		again.Mul(full.T(), full)
		u2, v2 := mat.NewDense(c.n, c.n, u.Data), mat.NewDense(c.n, c.n, v.Data)
		uu.Mul(u2, u2.T())
		vv.Mul(v2, v2.T())
		back.Product(u2.T(), mat.NewDiagDense(c.n, sigma), v2)
		one := mat.NewDiagDense(c.n, slices.Repeat([]float64{1}, c.n))
		for name, pair := range map[string][2]mat.Matrix{"RᵀR": {&again, &gram}, "UUᵀ": {&uu, one}, "VVᵀ": {&vv, one}, "UΣVᵀ": {&back, full}} {
			if !mat.EqualApprox(pair[0], pair[1], 1e-10) {
				t.Errorf("%+v: %s is %v, want %v", c, name, mat.Formatted(pair[0]), mat.Formatted(pair[1]))
			}
		}
	}
}
