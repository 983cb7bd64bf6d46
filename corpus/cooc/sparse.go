package cooc

import (
	"context"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// notFinite and notSymmetric name the entry of a matrix that cannot be used.
func notFinite(i, j int, v float64) error {
	return fmt.Errorf("cooc: entry (%d, %d) of the matrix is %g, %w", i, j, v, ErrNotFinite)
}

func notSymmetric(i, j int, v, opposite float64) error {
	return fmt.Errorf("cooc: matrix is %w: entry (%d, %d) is %g, entry (%d, %d) is %g", ErrNotSymmetric, i, j, v, j, i, opposite)
}

// Sparse is a symmetric sparse N×N matrix. Both triangles are stored, 12 bytes for
// each nonzero. It is immutable and safe for concurrent use.
type Sparse struct {
	n   int
	csr linalg.CSR
}

// NewSparse returns the symmetric sparse matrix of n compressed rows: row i has the
// columns cols[rowPtr[i]:rowPtr[i+1]], strictly ascending, and the values at the same
// places of vals. The slices are taken over, not copied. The matrix must be finite
// and exactly symmetric, stored zeros included; the error names the first entry by
// rows that is not ([ErrNotFinite], [ErrNotSymmetric]). O(nnz log n) time.
func NewSparse(n int, rowPtr []int, cols []int32, vals []float64) (*Sparse, error) {
	if n < 0 || len(rowPtr) != n+1 || rowPtr[0] != 0 || rowPtr[n] != len(cols) || len(cols) != len(vals) {
		return nil, fmt.Errorf("cooc: sparse matrix of %d rows with %d row starts, %d columns, %d values", n, len(rowPtr), len(cols), len(vals))
	}
	for i := range n {
		if rowPtr[i] > rowPtr[i+1] || rowPtr[i+1] > len(cols) {
			return nil, fmt.Errorf("cooc: sparse matrix: row %d starts at %d and ends at %d", i, rowPtr[i], rowPtr[i+1])
		}
		last := int32(-1)
		for k := rowPtr[i]; k < rowPtr[i+1]; k++ {
			j := cols[k]
			if j <= last || int(j) >= n {
				return nil, fmt.Errorf("cooc: sparse matrix: row %d has column %d after %d, of %d columns", i, j, last, n)
			}
			if !vec.Finite(vals[k]) {
				return nil, notFinite(i, int(j), vals[k])
			}
			last = j
		}
	}
	s := &Sparse{n: n, csr: linalg.CSR{RowPtr: rowPtr, Cols: cols, Vals: vals}}
	for i := range n {
		cols, vals := s.Row(i)
		for k, j := range cols {
			oc, ov := s.Row(int(j))
			p, ok := slices.BinarySearch(oc, int32(i))
			switch {
			case !ok && vals[k] == 0:
				return nil, fmt.Errorf("cooc: sparse matrix: the zero entry (%d, %d) is stored, but not its mirror: %w", i, j, ErrNotSymmetric)
			case !ok:
				return nil, notSymmetric(i, int(j), vals[k], 0)
			case ov[p] != vals[k]:
				return nil, notSymmetric(i, int(j), vals[k], ov[p])
			}
		}
	}
	return s, nil
}

// Dim returns N.
func (s *Sparse) Dim() int { return s.n }

// NNZ returns the number of stored entries, both triangles counted.
func (s *Sparse) NNZ() int { return len(s.csr.Cols) }

// Row returns the columns and values of row i. They must not be written to.
func (s *Sparse) Row(i int) (cols []int32, vals []float64) { return s.csr.Row(i) }

// Inner returns ⟨S, C⟩ = Σ_ij S_ij C_ij. It takes a row of C for each row of S that is
// not empty, and for [Moments] one pass over the documents instead. workers bounds the
// goroutines (0: GOMAXPROCS) and changes no bit.
func (s *Sparse) Inner(ctx context.Context, c Matrix, workers int) (float64, error) {
	n := c.Dim()
	if s.n != n {
		return 0, fmt.Errorf("cooc: inner product of a %d×%d and a %d×%d matrix", n, n, s.n, s.n)
	}
	if m, ok := c.(*Moments); ok {
		return m.inner(ctx, &s.csr, workers)
	}
	const size = 64
	sums := make([]float64, parallel.Count(n, size))
	err := parallel.Chunks(ctx, n, size, workers, func(_, k, lo, hi int) error {
		row := make([]float64, n)
		for i := lo; i < hi; i++ {
			cols, vals := s.Row(i)
			if len(cols) == 0 {
				continue
			}
			c.RowTo(row, i)
			for t, j := range cols {
				sums[k] += float64(vals[t] * row[j])
			}
		}
		return nil
	})
	return vec.Sum(sums), err
}
