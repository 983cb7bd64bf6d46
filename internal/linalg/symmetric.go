package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
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
	vectors, err := EigenInPlace(z, values)
	return values, vectors, err
}

// EigenInPlace is Eigen in the memory of a, which then has the eigenvectors as columns. It returns
// the eigenvalues in values, of length n. The entries must be finite.
func EigenInPlace(a *mat.SymDense, values []float64) (*mat.Dense, error) {
	raw := a.RawSymmetric()
	full := blas64.General{Rows: raw.N, Cols: raw.N, Stride: raw.Stride, Data: raw.Data}
	if !eigen(full, values, true) {
		return nil, errNoEigen
	}
	for i := range full.Rows {
		for j := range i {
			x, y := &full.Data[i*full.Stride+j], &full.Data[j*full.Stride+i]
			*x, *y = *y, *x
		}
	}
	return mat.NewDense(raw.N, raw.N, raw.Data), nil
}

// symEig returns the eigenvalues of a symmetric n×n matrix in descending order and
// the eigenvectors as columns in the same order. It reads the upper triangle.
func symEig(a blas64.General) ([]float64, blas64.General, error) {
	z, theta := mat.NewSymDense(a.Rows, slices.Clone(a.Data)), make([]float64, a.Rows)
	vectors, err := EigenInPlace(z, theta)
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
func Eigenvalues(a mat.Symmetric) ([]float64, error) {
	if _, err := largestEntry(a); err != nil {
		return nil, err
	}
	n := a.SymmetricDim()
	z, values := NewGeneral(n, n), make([]float64, n)
	for i := range n {
		for j := i; j < n; j++ {
			z.Data[i*z.Stride+j] = a.At(i, j)
		}
	}
	if !eigen(z, values, false) {
		return nil, errNoEigen
	}
	return values, nil
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

// eigen sets d to the eigenvalues, in ascending order, of the symmetric matrix whose upper triangle a
// holds, and the rows of a, with vectors, to the eigenvectors: Householder's tridiagonal form, and the implicit
// QL method (Golub and Van Loan, Matrix Computations, §8.3). It reports whether they were found.
func eigen(a blas64.General, d []float64, vectors bool) bool {
	n, largest := a.Rows, 0.0
	for i := range n {
		for _, v := range Row(a, i)[i:] {
			largest = max(largest, math.Abs(v))
		}
	}
	// Entries of the order of 1, of which squares neither overflow nor vanish.
	_, exp := math.Frexp(largest)
	half, rest := math.Ldexp(1, -exp/2), math.Ldexp(1, -exp+exp/2)
	for i := range n {
		for j := i; j < n; j++ {
			a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j] * half * rest
		}
	}
	e := make([]float64, n+1)
	tridiagonal(a, d, e, vectors)
	if !vectors {
		a = NewGeneral(n, 0)
	}
	if !ql(d, e[1:], a) {
		return false
	}
	order := vec.Order(n, func(i int) float64 { return -d[i] })
	sorted, rows := make([]float64, n), NewGeneral(n, a.Cols)
	for to, from := range order {
		sorted[to] = math.Ldexp(d[from], exp)
		copy(Row(rows, to), Row(a, from))
	}
	copy(d, sorted)
	for i := range n {
		copy(Row(a, i), Row(rows, i))
	}
	return true
}

// tridiagonal reduces the symmetric matrix of which a holds the lower triangle: d is the diagonal, and e[i]
// is next to d[i] and d[i−1]. With vectors a becomes Qᵀ, of A = QTQᵀ.
func tridiagonal(a blas64.General, d, e []float64, vectors bool) {
	n := a.Rows
	beta, p := make([]float64, n), make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		d[i] = Row(a, i)[i]
		if i == 0 {
			break
		}
		// A reflection I − β·vvᵀ takes the row left of the diagonal to a multiple of its last unit vector.
		v := Row(a, i)[:i]
		e[i] = v[i-1]
		if vec.Dot(v[:i-1], v[:i-1]) == 0 {
			continue
		}
		e[i] = -math.Copysign(vec.Norm(v), v[i-1])
		v[i-1] -= e[i]
		b := 2 / vec.Dot(v, v)
		beta[i] = b
		p := p[:i]
		clear(p)
		for j, x := range v {
			row := Row(a, j)[:j+1]
			s := float64(row[j] * x)
			to, v := p[:j], v[:j]
			for l, y := range row[:j] {
				s += float64(y * v[l])
				to[l] += float64(y * x)
			}
			p[j] += s
		}
		for j := range p {
			p[j] *= b
		}
		vec.AddScaled(p, -b/2*vec.Dot(p, v), v)
		for j, x := range v {
			row, y := Row(a, j)[:j+1], p[j]
			v, p := v[:len(row)], p[:len(row)]
			for l := range row {
				row[l] -= float64(x*p[l]) + float64(y*v[l])
			}
		}
	}
	if !vectors {
		return
	}
	// Qᵀ = H_1·H_2·…, built up from its upper left corner, below which a holds the vectors v.
	for i := range n {
		v := Row(a, i)[:i]
		for j := range i {
			row := Row(a, j)
			if beta[i] != 0 {
				vec.AddScaled(row[:i], -beta[i]*vec.Dot(row[:i], v), v)
			}
			row[i] = 0
		}
		clear(v)
		Row(a, i)[i] = 1
	}
}

// ql makes diagonal the tridiagonal matrix with diagonal d, and e[i] next to d[i] and d[i+1], and turns the rows of z alike.
// Entries are of the order of 1 at most.
func ql(d, e []float64, z blas64.General) bool {
	const most = 60 // steps for one number; two or three are usual
	n := len(d)
	for l := range n {
		for step := 0; ; step++ {
			m := l
			for ; m < n-1; m++ {
				if size := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= max(0x1p-53*size, 1e-150) {
					break
				}
			}
			if m == l {
				break
			}
			if step == most {
				return false
			}
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Sqrt(float64(g*g)+1), g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(s*e[i]), float64(c*e[i])
				r := math.Sqrt(float64(f*f) + float64(g*g))
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + float64(2*c*b)
				p = float64(s * r)
				d[i+1] = g + p
				g = float64(c*r) - b
				rotate(Row(z, i), Row(z, i+1), c, s)
			}
			if i < l {
				d[l] -= p
				e[l] = g
			}
			e[m] = 0
		}
	}
	return true
}

// rotate sets x and y to c·x − s·y and s·x + c·y.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for k, v := range x {
		w := y[k]
		x[k], y[k] = float64(c*v)-float64(s*w), float64(s*v)+float64(c*w)
	}
}

// SVD returns the singular values of an n×n matrix in descending order, and the orthogonal matrices U and V of
// A = UΣVᵀ as rows, by one-sided Jacobi rotations (Demmel and Veselić 1992), which find small values
// to their own size where A is triangular or scaled.
func SVD(a blas64.General) (sigma []float64, u, v blas64.General) {
	n := a.Rows
	w := NewGeneral(n, n) // (AV)ᵀ
	vt := NewGeneral(n, n)
	for i := range n {
		vt.Data[i*n+i] = 1
		for j := range n {
			w.Data[j*n+i] = a.Data[i*a.Stride+j]
		}
	}
	const most = 40 // sweeps; six to ten are usual
	rounding := 1e-15 * math.Sqrt(float64(n))
	for sweep, turned := 0, true; turned && sweep < most; sweep++ {
		turned = false
		for i := range n {
			for j := i + 1; j < n; j++ {
				x, y := Row(w, i), Row(w, j)
				xx, xy, yy := 0.0, 0.0, 0.0
				for k, a := range x {
					b := y[k]
					xx += float64(a * a)
					xy += float64(a * b)
					yy += float64(b * b)
				}
				if !(math.Abs(xy) > rounding*math.Sqrt(xx)*math.Sqrt(yy)) {
					continue
				}
				turned = true
				zeta := (yy - xx) / (2 * xy)
				t := math.Copysign(1/(math.Abs(zeta)+math.Sqrt(1+float64(zeta*zeta))), zeta)
				c := 1 / math.Sqrt(1+float64(t*t))
				rotate(x, y, c, c*t)
				rotate(Row(vt, i), Row(vt, j), c, c*t)
			}
		}
	}
	lengths := make([]float64, n)
	for i := range lengths {
		lengths[i] = vec.Norm(Row(w, i))
	}
	order := vec.Order(n, func(i int) float64 { return lengths[i] })
	u, v = NewGeneral(n, n), NewGeneral(n, n)
	for to, from := range order {
		sigma = append(sigma, lengths[from])
		copy(Row(v, to), Row(vt, from))
		copy(Row(u, to), Row(w, from))
	}
	complete(u, 1e-14*sigma[0])
	return sigma, u, v
}

// complete makes the rows of u, which are orthogonal, orthonormal. Those that are no longer than floor are
// replaced.
func complete(u blas64.General, floor float64) {
	n, unit := u.Rows, 0
	for i := range n {
		row := Row(u, i)
		length := vec.Norm(row)
		for least := floor; !(length > least); {
			clear(row)
			row[unit] = 1
			unit++
			for range 2 {
				for j := range i {
					vec.AddScaled(row, -vec.Dot(row, Row(u, j)), Row(u, j))
				}
			}
			length, least = vec.Norm(row), 1/math.Sqrt(float64(2*n))
		}
		for k := range row {
			row[k] /= length
		}
	}
}

// Triangle returns the R of A = QR, n×n, of an m×n matrix given as the rows of its transpose, which it overwrites
// (Householder). The squares of its entries must neither overflow nor vanish.
func Triangle(at blas64.General) blas64.General {
	n, m := at.Rows, at.Cols
	r := NewGeneral(n, n)
	for j := range n {
		for i := range min(j, m) {
			r.Data[i*n+j] = at.Data[j*at.Stride+i]
		}
		if j >= m {
			continue
		}
		v := Row(at, j)[j:]
		length := math.Copysign(vec.Norm(v), -v[0])
		r.Data[j*n+j] = length
		if length == 0 {
			continue
		}
		v[0] -= length
		beta := 2 / vec.Dot(v, v)
		for l := j + 1; l < n; l++ {
			row := Row(at, l)[j:]
			vec.AddScaled(row, -beta*vec.Dot(row, v), v)
		}
	}
	return r
}
