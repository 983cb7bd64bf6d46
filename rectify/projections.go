package rectify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// validTol reports tolerances out of range.
func validTol(method string, tol, eigenTol float64) error {
	if !(tol >= 0) || math.IsInf(tol, 0) || !(eigenTol >= 0) || eigenTol > 0.1 {
		return fmt.Errorf("rectify: %s: tolerances %g and %g; want ≥ 0, the eigenpairs' at most 0.1", method, tol, eigenTol)
	}
	return nil
}

// frobenius2 returns ‖C‖_F².
func frobenius2(ctx context.Context, c cooc.Matrix, workers int) (float64, error) {
	norms, err := c.RowNorms2(ctx, workers)
	if err != nil {
		return 0, err
	}
	s := 0.0
	for _, v := range norms {
		s += v
	}
	return s, nil
}

// innerFactors returns ⟨C, ABᵀ⟩ = ⟨CB, A⟩ for N×K factors, and writes CB to cb.
func innerFactors(ctx context.Context, op linalg.Op, a, b, cb blas64.General) (float64, error) {
	if a.Cols == 0 {
		return 0, ctx.Err()
	}
	if err := op(ctx, cb, b); err != nil {
		return 0, err
	}
	return dotBlocks(a, cb), nil
}

// dotBlocks returns ⟨A, B⟩ of two arrays of one shape. It sums by rows.
func dotBlocks(a, b blas64.General) float64 {
	s := 0.0
	for i := range a.Rows {
		s += dot(linalg.Row(a, i), linalg.Row(b, i))
	}
	return s
}

// firstDistance returns ‖M − C‖_F of M = YYᵀ + E, r = 0, and a matrix from ‖M‖² −
// 2⟨M, C⟩ + ‖C‖²: one product of C with the columns of Y, its norms, and one
// pass over the rows of E.
func firstDistance(ctx context.Context, c cooc.Matrix, m *linalg.LowRankSparse, workers int) (float64, error) {
	cy := linalg.NewGeneral(m.Y.Rows, m.Y.Cols)
	inner, err := innerFactors(ctx, operator(c, workers), m.Y, m.Y, cy)
	if err != nil {
		return 0, err
	}
	var low float64
	if mom, ok := c.(*cooc.Moments); ok {
		var e *cooc.Sparse
		if e, err = cooc.NewSparse(m.Y.Rows, m.E.RowPtr, m.E.Cols, m.E.Vals); err == nil {
			low, err = mom.Inner(ctx, e, workers)
		}
	} else {
		low, err = innerByRows(ctx, c, &m.E, workers)
	}
	if err != nil {
		return 0, err
	}
	c2, err := frobenius2(ctx, c, workers)
	if err != nil {
		return 0, err
	}
	gram := linalg.NewGeneral(m.Y.Cols, m.Y.Cols)
	if err := linalg.Gram(ctx, m.Y, gram, workers); err != nil {
		return 0, err
	}
	m2 := 0.0
	for _, v := range gram.Data {
		m2 += v * v
	}
	for i := range m.Y.Rows {
		yi := row(m.Y, i)
		cols, vals := m.E.Row(i)
		for t, j := range cols {
			m2 += vals[t] * (2*dot(yi, row(m.Y, int(j))) + vals[t])
		}
	}
	return math.Sqrt(max(m2-2*(inner+low)+c2, 0)), nil
}

// distanceBetween returns ‖M_1 − M_0‖_F of two matrices M = YYᵀ + E, r = 0, of
// which the low-rank parts are close and the sparse ones small. O(N·K² +
// (nnz(E_0) + nnz(E_1))·K).
func distanceBetween(ctx context.Context, m0, m1 *linalg.LowRankSparse, workers int) (float64, error) {
	n := m1.Y.Rows
	total, err := lowRankChange(ctx, m0.Y, m1.Y, 0, workers)
	if err != nil {
		return 0, err
	}
	const size = 64
	sums := make([]float64, run.Count(n, size))
	err = run.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ac, av := from(&m0.E, i)
			bc, bv := from(&m1.E, i)
			union(ac, av, bc, bv, func(j int, a, b float64) {
				x := b - a
				low := dot(row(m1.Y, i), row(m1.Y, j)) - dot(row(m0.Y, i), row(m0.Y, j))
				t := x * (2*low + x)
				if j != i {
					t *= 2
				}
				sums[c] += t
			})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, v := range sums {
		total += v
	}
	return math.Sqrt(max(total, 0)), nil
}

// negativeEntries returns the least entry of YYᵀ + r·eeᵀ + E, or 0 if that is
// more, and the sum of the negative ones. N²K operations.
func negativeEntries(ctx context.Context, m *linalg.LowRankSparse, workers int) (least, sum float64, err error) {
	below, _, err := new(lookup).negativePart(ctx, m.Y, m.R, 0, workers)
	if err != nil {
		return 0, 0, err
	}
	n := m.Y.Rows
	const size = 64
	leasts, sums := make([]float64, run.Count(n, size)), make([]float64, run.Count(n, size))
	err = run.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ac, av := from(&below, i)
			bc, bv := from(&m.E, i)
			yi := row(m.Y, i)
			union(ac, av, bc, bv, func(j int, a, b float64) {
				v := b - a
				if a == 0 { // not among those below zero before E
					v = dot(yi, row(m.Y, j)) + m.R + b
				}
				if v >= 0 {
					return
				}
				leasts[c] = min(leasts[c], v)
				if j != i {
					v *= 2
				}
				sums[c] += v
			})
		}
		return nil
	})
	for c := range sums {
		least, sum = min(least, leasts[c]), sum+sums[c]
	}
	return least, sum, err
}

// from returns the entries of row i from the diagonal on.
func from(e *linalg.CSR, i int) ([]int32, []float64) {
	cols, vals := e.Row(i)
	k, _ := slices.BinarySearch(cols, int32(i))
	return cols[k:], vals[k:]
}

// union calls f for every column of either of two sparse rows, ascending, with
// the values there, 0 where one has none.
func union(ac []int32, av []float64, bc []int32, bv []float64, f func(j int, a, b float64)) {
	for len(ac) > 0 || len(bc) > 0 {
		switch {
		case len(bc) == 0 || len(ac) > 0 && ac[0] < bc[0]:
			f(int(ac[0]), av[0], 0)
			ac, av = ac[1:], av[1:]
		case len(ac) == 0 || bc[0] < ac[0]:
			f(int(bc[0]), 0, bv[0])
			bc, bv = bc[1:], bv[1:]
		default:
			f(int(ac[0]), av[0], bv[0])
			ac, av, bc, bv = ac[1:], av[1:], bc[1:], bv[1:]
		}
	}
}

// row returns row i of a, which may have no columns.
func row(a blas64.General, i int) []float64 {
	if a.Cols == 0 {
		return nil
	}
	return linalg.Row(a, i)
}

func dot(a, b []float64) float64 {
	s := 0.0
	b = b[:len(a)]
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
