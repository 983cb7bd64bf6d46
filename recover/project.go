package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/simplex"
)

// projection is the outcome of projectCorrelations.
type projection struct {
	A *mat.Dense // K×K
	// Distance is ‖A − a‖_F from the matrix that was projected.
	Distance float64
	// Iterations counts the pairs of projections. Limited reports that they
	// ended at their limit, so that A is in all the sets but may not be the
	// nearest matrix.
	Iterations int
	Limited    bool
	// Shift is the multiple of the identity that was added at the end, before
	// A was divided by its sum again, so that no eigenvalue is negative.
	Shift float64
}

const (
	projectTol        = 1e-10
	projectIterations = 2000
)

// projectCorrelations returns the matrix nearest to a (K×K, symmetric, finite) as
// Finish.Project describes it. It alternates the projections onto the two convex
// sets, the cone of semidefinite matrices and the simplex of the K² entries, until
// the two points differ by less than 1e-10, at most 2000 times. A multiple of the
// identity then makes up for the remaining negative eigenvalues.
func projectCorrelations(ctx context.Context, a mat.Matrix) (*projection, error) {
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, err
	}
	in := symmetric(a)
	x, y := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	x.CopySym(in)
	var pc, qc, t mat.SymDense // the corrections of the two sets; scratch
	pc.ReuseAsSym(k)
	qc.ReuseAsSym(k)
	t.ReuseAsSym(k)
	flat := make([]float64, k*k)
	p := &projection{Limited: true}
	for p.Iterations < projectIterations {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		p.Iterations++
		t.AddSym(x, &pc)
		if err := semidefinite(y, &t); err != nil {
			return nil, err
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
			p.Limited = false
			break
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(x, false) {
		return nil, errEigen
	}
	if low := eig.Values(nil)[0]; low < 0 {
		p.Shift = -low
		for i := range k {
			x.SetSym(i, i, x.At(i, i)-low)
		}
		x.ScaleSym(1/(1-float64(k)*low), x)
	}
	p.A = mat.DenseCopyOf(x)
	subtract(&t, x, in)
	p.Distance = mat.Norm(&t, 2)
	return p, nil
}

var errEigen = errors.New("recovery: the eigenvalues of A did not converge")

// semidefinite sets dst to the positive semidefinite matrix nearest to a.
func semidefinite(dst, a *mat.SymDense) error {
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		return errEigen
	}
	k := a.SymmetricDim()
	var v mat.Dense
	eig.VectorsTo(&v)
	for t, l := range eig.Values(nil) {
		s := math.Sqrt(max(l, 0))
		for i := range k {
			v.Set(i, t, v.At(i, t)*s)
		}
	}
	dst.SymOuterK(1, &v)
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
