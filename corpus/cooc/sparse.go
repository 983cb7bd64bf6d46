package cooc

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/internal/linalg"
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
// rows that is not (ErrNotFinite, ErrNotSymmetric). O(nnz) time.
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
			if math.IsNaN(vals[k]) || math.IsInf(vals[k], 0) {
				return nil, notFinite(i, int(j), vals[k])
			}
			last = j
		}
	}
	s := &Sparse{n: n, csr: linalg.CSR{RowPtr: rowPtr, Cols: cols, Vals: vals}}
	// As rows ascend, the mirror of each entry in turn is the next one not yet
	// matched in its own row.
	at := slices.Clone(rowPtr[:n])
	for i := range n {
		for k := rowPtr[i]; k < rowPtr[i+1]; k++ {
			j := int(cols[k])
			if at[j] >= rowPtr[j+1] || int(cols[at[j]]) != i || vals[at[j]] != vals[k] {
				return nil, s.asymmetry()
			}
			at[j]++
		}
	}
	return s, nil
}

// asymmetry looks for the first entry without an equal one opposite.
func (s *Sparse) asymmetry() error {
	for i := range s.n {
		cols, vals := s.Row(i)
		for k, j := range cols {
			oc, ov := s.Row(int(j))
			p, ok := slices.BinarySearch(oc, int32(i))
			switch {
			case !ok && vals[k] == 0:
				return fmt.Errorf("cooc: sparse matrix: the zero entry (%d, %d) is stored, but not its mirror: %w", i, j, ErrNotSymmetric)
			case !ok:
				return notSymmetric(i, int(j), vals[k], 0)
			case ov[p] != vals[k]:
				return notSymmetric(i, int(j), vals[k], ov[p])
			}
		}
	}
	panic("cooc: a symmetric matrix was found not to be") // unreachable
}

// Dim returns N.
func (s *Sparse) Dim() int { return s.n }

// NNZ returns the number of stored entries, both triangles counted.
func (s *Sparse) NNZ() int { return len(s.csr.Cols) }

// Row returns the columns and values of row i. They must not be written to.
func (s *Sparse) Row(i int) (cols []int32, vals []float64) { return s.csr.Row(i) }

// FromCSR makes a Matrix of a sparse array. c must be square, finite and symmetric
// to 1e-9 of its largest entry; the error names the first entry that is not
// (ErrNotFinite, ErrNotSymmetric), or an index out of range. c is copied, and the
// mean of mirrored entries is taken. Entries stored twice are added up; those below
// the tolerance that have no mirrored one are dropped. O(nnz·log nnz) time.
func FromCSR(c *sparse.CSR) (*LowRankSparse, error) {
	raw := c.RawMatrix()
	n := raw.I
	if n != raw.J || n == 0 {
		return nil, fmt.Errorf("cooc: matrix is %d×%d, want square and not empty", raw.I, raw.J)
	}
	stored := min(len(raw.Ind), len(raw.Data))
	if len(raw.Indptr) != n+1 || stored < raw.Indptr[n] {
		return nil, fmt.Errorf("cooc: sparse matrix of %d rows with %d row starts, %d columns, %d values", n, len(raw.Indptr), len(raw.Ind), len(raw.Data))
	}
	type entry struct {
		j int32
		v float64
	}
	rows := make([][]entry, n)
	largest := 0.0
	for i := range n {
		if raw.Indptr[i] < 0 || raw.Indptr[i] > raw.Indptr[i+1] || raw.Indptr[i+1] > stored {
			return nil, fmt.Errorf("cooc: sparse matrix: row %d starts at %d and ends at %d", i, raw.Indptr[i], raw.Indptr[i+1])
		}
		var row []entry
		for k := raw.Indptr[i]; k < raw.Indptr[i+1]; k++ {
			j, v := raw.Ind[k], raw.Data[k]
			if j < 0 || j >= n {
				return nil, fmt.Errorf("cooc: sparse matrix: row %d has column %d, of %d columns", i, j, n)
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, notFinite(i, j, v)
			}
			row = append(row, entry{int32(j), v})
		}
		slices.SortStableFunc(row, func(a, b entry) int { return int(a.j) - int(b.j) })
		merged := row[:0]
		for _, e := range row {
			if len(merged) > 0 && merged[len(merged)-1].j == e.j {
				merged[len(merged)-1].v += e.v
			} else {
				merged = append(merged, e)
			}
		}
		for _, e := range merged {
			largest = max(largest, math.Abs(e.v))
		}
		rows[i] = merged
	}
	// Mirror what is there once, so that the pattern is symmetric.
	at := func(i, j int) float64 {
		k, ok := slices.BinarySearchFunc(rows[i], int32(j), func(e entry, t int32) int { return int(e.j) - int(t) })
		if !ok {
			return 0
		}
		return rows[i][k].v
	}
	rowPtr := make([]int, n+1)
	var cols []int32
	var vals []float64
	for i := range n {
		for _, e := range rows[i] {
			o := at(int(e.j), i)
			if math.Abs(e.v-o) > 1e-9*largest {
				return nil, notSymmetric(i, int(e.j), e.v, o)
			}
			if o == 0 || e.v == 0 {
				continue // below the tolerance: dropped on both sides
			}
			cols, vals = append(cols, e.j), append(vals, 0.5*e.v+0.5*o)
		}
		rowPtr[i+1] = len(cols)
	}
	e, err := NewSparse(n, rowPtr, cols, vals)
	if err != nil {
		return nil, err
	}
	return NewLowRankSparse(nil, 0, e)
}
