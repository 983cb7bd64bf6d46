package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// renew computes inverse and multipliers anew, and the sides of those whose
// multipliers have changed sign by more than rounding.
func (s *Solver) renew(c []float64, scale float64) error {
	if err := s.invert(); err != nil {
		return err
	}
	s.multipliers(c)
	s.sides(sideTol * scale)
	return nil
}

// multipliers computes those of all nonbasic variables.
func (s *Solver) multipliers(c []float64) {
	s.rowMultipliers(c)
	if len(s.cols) == s.p {
		return
	}
	d := s.D[:s.p]
	copy(d, c)
	for _, r := range s.rows {
		blas64.Axpy(-s.D[s.p+r], vector(linalg.Row(s.G, r)), vector(d))
	}
	for _, v := range s.cols {
		d[v] = 0
	}
}

// rowMultipliers computes those of the rows of the kernel.
func (s *Solver) rowMultipliers(c []float64) {
	pi := s.kernelRow[:len(s.rows)]
	clear(pi)
	for l, v := range s.cols {
		blas64.Axpy(c[v], vector(s.inv.row(l)), vector(pi))
	}
	clear(s.D[s.p:])
	for i, r := range s.rows {
		s.D[s.p+r] = pi[i]
	}
}

// sides takes every nonbasic variable at the bound that its multiplier asks for.
func (s *Solver) sides(tol float64) {
	for v, d := range s.D {
		switch {
		case d > tol:
			s.high[v] = true
		case d < -tol:
			s.high[v] = false
		}
	}
}

// values computes X and Gx from the nonbasic variables.
func (s *Solver) values(ctx context.Context) error {
	mixed := len(s.cols) < s.p
	if mixed {
		for v := range s.X {
			if s.X[v] = 0; s.place[v] < 0 {
				s.X[v] = s.at(v)
			}
		}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.G, column(s.X), 0, s.r, 1); err != nil {
			return err
		}
	}
	h := s.h[:len(s.rows)]
	for i, r := range s.rows {
		if h[i] = s.at(s.p + r); mixed {
			h[i] -= s.r.Data[r]
		}
	}
	for l, v := range s.cols {
		s.X[v] = blas64.Dot(vector(s.inv.row(l)), vector(h))
	}
	if !mixed {
		return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.G, column(s.X), 0, s.r, 1)
	}
	for r := range s.q {
		g := linalg.Row(s.G, r)
		for _, v := range s.cols {
			s.r.Data[r] += float64(g[v] * s.X[v])
		}
	}
	return nil
}

// exchange brings out to its bound and enter into the basis.
func (s *Solver) exchange(out, enter int, below bool, c []float64) {
	step := s.D[enter] / s.alpha[enter]
	if len(s.cols) < s.p {
		blas64.Axpy(-step, vector(s.alpha[:s.p]), vector(s.D[:s.p]))
	}
	switch rho := s.kernelRow[:len(s.rows)]; {
	case out >= s.p && enter >= s.p:
		i := s.place[enter]
		s.inv.replaceRow(i, rho)
		s.rows[i] = out - s.p
		s.place[out], s.place[enter] = i, -1
	case out < s.p && enter < s.p:
		l := s.place[out]
		s.inv.replaceColumn(l, s.kernelCol[:len(s.cols)])
		s.cols[l] = enter
		s.place[out], s.place[enter] = -1, l
	case out >= s.p:
		s.inv.grow(rho, s.kernelCol[:len(s.cols)], s.alpha[enter])
		s.place[out], s.place[enter] = len(s.rows), len(s.cols)
		s.rows, s.cols = append(s.rows, out-s.p), append(s.cols, enter)
	default:
		i, l := s.place[enter], s.place[out]
		s.inv.shrink(l, i)
		s.rows, s.cols = slices.Delete(s.rows, i, i+1), slices.Delete(s.cols, l, l+1)
		s.place[out], s.place[enter] = -1, -1
		for i, r := range s.rows {
			s.place[s.p+r] = i
		}
		for l, v := range s.cols {
			s.place[v] = l
		}
	}
	s.high[out] = !below
	if enter < s.p {
		s.D[enter] = 0
	}
	if out < s.p {
		s.D[out] = step
	}
	s.rowMultipliers(c)
}

// direction sets dx, dr and kernelCol to how x, Gx and the basic variables of x move
// with the entering variable.
func (s *Solver) direction(ctx context.Context, enter int) error {
	t := s.kernelCol[:len(s.cols)]
	clear(s.dx)
	if enter < s.p {
		s.dx[enter] = 1
		h := s.h[:len(s.rows)]
		for i, r := range s.rows {
			h[i] = -s.G.Data[r*s.G.Stride+enter]
		}
		for l := range t {
			t[l] = blas64.Dot(vector(s.inv.row(l)), vector(h))
		}
	} else {
		for l := range t {
			t[l] = s.inv.row(l)[s.place[enter]]
		}
	}
	for l, v := range s.cols {
		s.dx[v] = t[l]
	}
	if len(s.cols) == s.p {
		return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.G, column(s.dx), 0, s.dr, 1)
	}
	for r := range s.q {
		g := linalg.Row(s.G, r)
		d := 0.0
		if enter < s.p {
			d = g[enter]
		}
		for l, v := range s.cols {
			d += float64(g[v] * t[l])
		}
		s.dr.Data[r] = d
	}
	return nil
}

// advance moves the basic variables until the leaving one is at its bound.
func (s *Solver) advance(out, enter int, below bool) {
	lo, hi := s.bounds(out)
	x := 0.0
	if out < s.p {
		x = s.X[out]
	} else {
		x = s.r.Data[out-s.p]
	}
	t := hi - x
	if below {
		t = lo - x
	}
	t /= s.alpha[enter]
	blas64.Axpy(t, vector(s.dx), vector(s.X))
	blas64.Axpy(t, vector(s.dr.Data), vector(s.r.Data))
}

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
