package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	implementation "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Eigen returns the eigenvalues of a symmetric n×n matrix in ascending order, and the
// eigenvectors as columns in the same order. A matrix with an entry that is not finite
// is an error. O(n³) time.
func Eigen(a mat.Symmetric) ([]float64, *mat.Dense, error) {
	if _, err := largestEntry(a); err != nil {
		return nil, nil, err
	}
	z, values := mat.NewSymDense(a.SymmetricDim(), nil), make([]float64, a.SymmetricDim())
	z.CopySym(a)
	vectors, _, err := EigenInPlace(z, values, nil)
	if err != nil {
		return nil, nil, err
	}
	return values, vectors, nil
}

// EigenInPlace is Eigen in the memory of a, which then has the eigenvectors as columns. It returns
// the eigenvalues in values, of length n, and needs work, which it makes longer where necessary. The
// entries must be finite.
func EigenInPlace(a *mat.SymDense, values []float64, work []float64) (*mat.Dense, []float64, error) {
	raw := a.RawSymmetric()
	size := []float64{0}
	lapack64.Syev(lapack.EVCompute, raw, values, size, -1)
	work = slices.Grow(work[:0], int(size[0]))[:int(size[0])]
	if !lapack64.Syev(lapack.EVCompute, raw, values, work, len(work)) {
		return nil, work, errNoEigen
	}
	return mat.NewDense(raw.N, raw.N, raw.Data), work, nil
}

// symEig returns the eigenvalues of a symmetric n×n matrix in descending order and
// the eigenvectors as columns in the same order. It reads the upper triangle.
func symEig(a blas64.General) ([]float64, blas64.General, error) {
	z, theta := mat.NewSymDense(a.Rows, slices.Clone(a.Data)), make([]float64, a.Rows)
	vectors, _, err := EigenInPlace(z, theta, nil)
	if err != nil {
		return nil, blas64.General{}, err
	}
	q := vectors.RawMatrix()
	for i := range q.Rows {
		slices.Reverse(Row(q, i))
	}
	slices.Reverse(theta)
	return theta, q, nil
}

// Eigenvalues returns what Eigen returns, without the vectors, and takes a fraction of
// the time.
//
// gonum's EigenSym panics here where a matrix falls into parts of which one is tiny:
// its Dsterf takes a wrong stride to scale a part whose entries are all below 1e-122.
// Such entries are set to 0 before, in a matrix that is scaled to far larger ones.
func Eigenvalues(a mat.Symmetric) ([]float64, error) {
	const least, most = 0x1p-330, 0x1p330 // of the largest entry; outside the matrix is scaled
	const negligible = 1e-121
	largest, err := largestEntry(a)
	if err != nil {
		return nil, err
	}
	exp := 0
	if largest != 0 && (largest < least || largest > most) {
		_, exp = math.Frexp(largest)
	}
	n := a.SymmetricDim()
	z := NewGeneral(n, n)
	for i := range n {
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] = math.Ldexp(a.At(i, j), -exp)
		}
	}
	var impl implementation.Implementation
	d, e, tau := make([]float64, n), make([]float64, n), make([]float64, n)
	size := []float64{0}
	impl.Dsytrd(blas.Upper, n, nil, z.Stride, nil, nil, nil, size, -1)
	work := make([]float64, int(size[0]))
	impl.Dsytrd(blas.Upper, n, z.Data, z.Stride, d, e[:n-1], tau[:n-1], work, len(work))
	for _, x := range [][]float64{d, e} {
		for i, v := range x {
			if math.Abs(v) < negligible {
				x[i] = 0
			}
		}
	}
	if !impl.Dsterf(n, d, e[:n-1]) {
		return nil, errNoEigen
	}
	for i, v := range d {
		d[i] = math.Ldexp(v, exp)
	}
	return d, nil
}

var errNoEigen = errors.New("its eigenvalues were not found")

// largestEntry returns the largest size of an entry.
func largestEntry(a mat.Symmetric) (float64, error) {
	largest := 0.0
	for i := range a.SymmetricDim() {
		for j := range i + 1 {
			v := math.Abs(a.At(i, j))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("its entry (%d, %d) is %g", i, j, a.At(i, j))
			}
			largest = max(largest, v)
		}
	}
	return largest, nil
}

// Op applies a symmetric operator to a block of vectors: dst = A·x, both n×p.
type Op func(ctx context.Context, dst, x blas64.General) error

// EigStats describes a computation of eigenpairs.
type EigStats struct {
	Products  int     // columns multiplied by the operator
	Restarts  int     // of Lanczos; steps of the block iteration; passes of Krylov
	Residual  float64 // the largest ‖Au − λu‖ of the pairs asked for
	Converged bool
}

// ErrNonFinite is returned if a result of the operator is NaN or infinite.
var ErrNonFinite = errors.New("linalg: the operator returned a number that is not finite")

// symmetrise replaces a by (a + aᵀ)/2.
func symmetrise(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			v := 0.5 * (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i])
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = v, v
		}
	}
}

func vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func norm(x []float64) float64 { return blas64.Nrm2(vec(x)) }

func scale(a float64, x []float64) { blas64.Scal(a, vec(x)) }
