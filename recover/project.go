package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
)

const (
	projectTol        = 1e-10
	projectIterations = 2000
)

// projectCorrelations returns the matrix nearest to a (K×K, symmetric, finite) as
// Finish.Project describes it. It alternates the projections onto the two convex sets, the
// cone of semidefinite matrices and the simplex of the K² entries, until the two points
// differ by less than 1e-10. If that takes more than 2000 projections, limited is true, and
// the result is in both sets but may not be the nearest. A multiple of the identity makes up
// for the negative eigenvalues that remain.
func projectCorrelations(ctx context.Context, a mat.Matrix) (_ *mat.Dense, limited bool, err error) {
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, false, err
	}
	x, y := symmetric(a), mat.NewSymDense(k, nil)
	var pc, qc, t mat.SymDense // the corrections of the two sets; scratch
	pc.ReuseAsSym(k)
	qc.ReuseAsSym(k)
	t.ReuseAsSym(k)
	flat := make([]float64, k*k)
	limited = true
	for range projectIterations {
		if err := ctx.Err(); err != nil {
			return nil, false, fmt.Errorf("recovery: %w", err)
		}
		t.AddSym(x, &pc)
		if err := semidefinite(y, &t); err != nil {
			return nil, false, err
		}
		subtract(&pc, &t, y)
		t.AddSym(y, &qc)
		for i := range k {
			for j := range k {
				flat[i*k+j] = t.At(i, j)
			}
		}
		simplex.Project(flat, flat)
		change, gap := 0.0, 0.0
		for i := range k {
			for j := range k {
				v := flat[i*k+j]
				change += (v - x.At(i, j)) * (v - x.At(i, j))
				gap += (v - y.At(i, j)) * (v - y.At(i, j))
				if j >= i {
					x.SetSym(i, j, v)
				}
			}
		}
		subtract(&qc, &t, x)
		if max(change, gap) < projectTol*projectTol {
			limited = false
			break
		}
	}
	values, err := linalg.Eigenvalues(x)
	if err != nil {
		return nil, false, fmt.Errorf("recovery: the projection of A: %w", err)
	}
	if low := values[0]; low < 0 {
		for i := range k {
			x.SetSym(i, i, x.At(i, i)-low)
		}
		x.ScaleSym(1/(1-float64(k)*low), x)
	}
	return mat.DenseCopyOf(x), limited, nil
}

// semidefinite sets dst to the positive semidefinite matrix nearest to a.
func semidefinite(dst, a *mat.SymDense) error {
	values, v, err := linalg.Eigen(a)
	if err != nil {
		return fmt.Errorf("recovery: the projection of A: %w", err)
	}
	k := a.SymmetricDim()
	for t, l := range values {
		s := math.Sqrt(max(l, 0))
		for i := range k {
			v.Set(i, t, v.At(i, t)*s)
		}
	}
	dst.SymOuterK(1, v)
	return nil
}

// subtract sets dst = a − b.
func subtract(dst, a, b *mat.SymDense) {
	for i := range a.SymmetricDim() {
		for j := i; j < a.SymmetricDim(); j++ {
			dst.SetSym(i, j, a.At(i, j)-b.At(i, j))
		}
	}
}

// checkCorrelations checks that a is a symmetric K×K matrix of numbers.
func checkCorrelations(a mat.Matrix) (k int, err error) {
	k, c := a.Dims()
	if k != c || k == 0 {
		return 0, fmt.Errorf("recovery: A is %d×%d, want square and not empty", k, c)
	}
	largest := 0.0
	for i := range k {
		for j := range k {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("recovery: A[%d,%d] = %g", i, j, v)
			}
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range k {
		for j := range i {
			if v, w := a.At(i, j), a.At(j, i); math.Abs(v-w) > 1e-6*largest {
				return 0, fmt.Errorf("recovery: A is not symmetric: A[%d,%d] = %g, A[%d,%d] = %g", i, j, v, j, i, w)
			}
		}
	}
	return k, nil
}
