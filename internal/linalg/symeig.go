package linalg

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/jsmf-go/spectral/internal/parallel"
)

// symEig returns the eigenvalues of a symmetric n×n matrix in descending order and
// the eigenvectors as columns in the same order. It reads the upper triangle.
//
// It reduces a to a tridiagonal matrix (gonum's Dsytrd) and diagonalises that by
// the implicit QL algorithm (Dubrulle, Martin and Wilkinson 1968), in about 9n³
// operations. The rotations are recorded first and then applied to eight rows of the
// vectors at a time, which stay in the first-level cache and can go to different cores.
// gonum's EigenSym is slower, as it applies each sweep to all vectors.
func symEig(ctx context.Context, a blas64.General, workers int) ([]float64, blas64.General, error) {
	n := a.Rows
	z, q := NewGeneral(n, n), NewGeneral(n, n)
	for i := range n {
		copy(Row(z, i)[i:], Row(a, i)[i:])
	}
	var impl lapack.Implementation
	d, e, tau := make([]float64, n), make([]float64, n), make([]float64, max(n-1, 1))
	length := []float64{0}
	impl.Dsytrd(blas.Upper, n, nil, z.Stride, nil, nil, nil, length, -1)
	need := int(length[0])
	impl.Dorgtr(blas.Upper, n, nil, z.Stride, nil, length, -1)
	work := make([]float64, max(need, int(length[0])))
	impl.Dsytrd(blas.Upper, n, z.Data, z.Stride, d, e[:n-1], tau[:n-1], work, len(work))
	impl.Dorgtr(blas.Upper, n, z.Data, z.Stride, tau[:n-1], work, len(work))
	turns, ok := tridiagonalQL(d, e)
	if !ok {
		return nil, blas64.General{}, fmt.Errorf("linalg: the eigenvalues of a %d×%d matrix were not found", n, n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[j], d[i]) })
	theta := make([]float64, n)
	for to, from := range order {
		theta[to] = d[from]
	}
	err := parallel.Chunks(ctx, n, panel, workers, func(_, _, lo, hi int) error {
		rows := make([][panel]float64, n)
		for r := range hi - lo {
			for j, v := range Row(z, lo+r) {
				rows[j][r] = v
			}
		}
		turn(rows, turns)
		for r := range hi - lo {
			row := Row(q, lo+r)
			for to, from := range order {
				row[to] = rows[from][r]
			}
		}
		return nil
	})
	return theta, q, err
}

// rotation is a plane rotation of the vectors j and j+1.
type rotation struct {
	j    int
	c, s float64
}

// turn applies rotations, in their order, to eight rows of the vectors.
func turn(z [][panel]float64, turns []rotation) {
	for t := range turns {
		c, s := turns[t].c, turns[t].s
		x, y := &z[turns[t].j], &z[turns[t].j+1]
		for r := range panel {
			a, b := x[r], y[r]
			x[r], y[r] = c*a-s*b, s*a+c*b
		}
	}
}

// tridiagonalQL diagonalises the symmetric tridiagonal matrix with diagonal d and
// off-diagonal e, whose last of n numbers is not used. d is overwritten by the
// eigenvalues, e is destroyed. It returns the rotations that make the vectors, and false if
// an eigenvalue took too many sweeps.
func tridiagonalQL(d, e []float64) (turns []rotation, ok bool) {
	n := len(d)
	turns = make([]rotation, 0, n*n)
	e[n-1] = 0
	for l := range n {
		for sweep := 0; ; sweep++ {
			m := l
			for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			if sweep == 60 {
				return turns, false
			}
			// Wilkinson's shift, from the block at l.
			g := (d[l+1] - d[l]) / (2 * e[l])
			r := math.Hypot(g, 1)
			g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
			s, c, p := 1.0, 1.0, 0.0
			split := false
			for i := m - 1; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				r = math.Hypot(f, g)
				e[i+1] = r
				if r == 0 { // the matrix falls apart here
					d[i+1] -= p
					e[m] = 0
					split = true
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = (d[i]-g)*s + 2*c*b
				p = s * r
				d[i+1] = g + p
				g = c*r - b
				turns = append(turns, rotation{i, c, s})
			}
			if split {
				continue
			}
			d[l] -= p
			e[l] = g
			e[m] = 0
		}
	}
	return turns, true
}
