package lp

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// kernel is the inverse of the kernel: its rows belong to the basic variables of
// x, its columns to the nonbasic rows.
type kernel struct {
	n, stride int
	data      []float64
}

func (k *kernel) row(l int) []float64 { return k.data[l*k.stride : l*k.stride+k.n] }

// invert computes the inverse from the basis.
func (s *Solver) invert() error {
	n := len(s.rows)
	if n != len(s.cols) {
		return fmt.Errorf("a basis of %d rows and %d columns", n, len(s.cols))
	}
	if s.inv.data == nil {
		s.inv.data = make([]float64, s.inv.stride*s.inv.stride)
	}
	s.inv.n = n
	if n == 0 {
		return nil
	}
	t := mat.NewDense(n, n, nil)
	for i, r := range s.rows {
		for l, v := range s.cols {
			t.Set(i, l, linalg.Row(s.G, r)[v])
		}
	}
	var inv mat.Dense
	err := inv.Inverse(t)
	var cond mat.Condition
	if errors.As(err, &cond) && !math.IsInf(float64(cond), 0) {
		err = nil // close to singular, but good enough for a direction
	}
	if err != nil {
		return fmt.Errorf("the rows of the basis depend on each other: %w", err)
	}
	for l := range n {
		copy(s.inv.row(l), inv.RawRowView(l))
	}
	return nil
}

// replaceRow puts another row in place of row i of the kernel; rho is that row
// times the inverse.
func (k *kernel) replaceRow(i int, rho []float64) {
	for l := range k.n {
		row := k.row(l)
		col := row[i] / rho[i]
		blas64.Axpy(-col, vector(rho), vector(row))
		row[i] = col
	}
}

// replaceColumn puts another column in place of column l of the kernel; move is
// less the inverse times that column.
func (k *kernel) replaceColumn(l int, move []float64) {
	pivot := k.row(l)
	blas64.Scal(-1/move[l], vector(pivot))
	for m, v := range move {
		if m != l {
			blas64.Axpy(v, vector(pivot), vector(k.row(m)))
		}
	}
}

// grow adds a row and a column to the kernel: rho is the row times the inverse,
// move less the inverse times the column, and corner what they leave of the new
// corner.
func (k *kernel) grow(rho, move []float64, corner float64) {
	n := k.n
	for l := range n {
		blas64.Axpy(-move[l]/corner, vector(rho), vector(k.row(l)))
	}
	k.n++
	for l := range n {
		k.row(l)[n] = move[l] / corner
	}
	last := k.row(n)
	for i, v := range rho {
		last[i] = -v / corner
	}
	last[n] = 1 / corner
}

// shrink takes row i and column l out of the kernel.
func (k *kernel) shrink(l, i int) {
	pivot := k.row(l)
	for m := range k.n {
		if m != l {
			row := k.row(m)
			blas64.Axpy(-row[i]/pivot[i], vector(pivot), vector(row))
			copy(row[i:], row[i+1:])
		}
	}
	for m := l; m+1 < k.n; m++ {
		copy(k.row(m), k.row(m+1))
	}
	k.n--
}
