package estep

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// lanes is how many numbers the widest vector holds. Rows are padded to that.
const lanes = 16

// Padded returns the length of a row of k numbers with its padding.
func Padded(k int) int { return roundUp(k, lanes) }

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// Rows is an N×K matrix of float32. Rows begin at cache lines and are padded with zeros.
type Rows struct {
	N, K, Stride int
	Data         []float32
}

// NewRows returns an n×k matrix of zeros.
func NewRows(n, k int) *Rows {
	s := Padded(k)
	return &Rows{N: n, K: k, Stride: s, Data: linalg.Aligned[float32](n * s)}
}

// Reset makes r an N×k matrix of zeros in the same memory; k is at most what it began
// with.
func (r *Rows) Reset(k int) {
	r.K, r.Stride = k, Padded(k)
	r.Data = r.Data[:r.N*r.Stride]
	clear(r.Data)
}

// Row returns row i without its padding.
func (r *Rows) Row(i int) []float32 { return r.Data[i*r.Stride:][:r.K:r.K] }

// Take makes r the given rows and columns of b, in memory that it grows as needed. The
// columns are ascending.
func (r *Rows) Take(b *Rows, rows, columns []int32) {
	r.N, r.K, r.Stride = len(rows), len(columns), Padded(len(columns))
	size := r.N * r.Stride
	if cap(r.Data) < size {
		r.Data = linalg.Aligned[float32](size + size/4)
	}
	r.Data = r.Data[:size]
	for i, w := range rows {
		choose(r.Data[i*r.Stride:][:r.Stride], b.Data[int(w)*b.Stride:], columns)
	}
}

// Narrow leaves the given columns of r, which are ascending.
func (r *Rows) Narrow(columns []int32) {
	r.Data = Narrow(r.Data, r.N, columns)
	r.K, r.Stride = len(columns), Padded(len(columns))
}

// Narrow leaves of x, which has n rows, the given columns, which are ascending, and pads them.
func Narrow(x []float32, n int, columns []int32) []float32 {
	if n == 0 {
		return x
	}
	from, to := len(x)/n, Padded(len(columns))
	for i := range n {
		choose(x[i*to:][:to], x[i*from:], columns)
	}
	return x[:n*to]
}

// choose sets the numbers of to to those in the given columns of from, and the rest to zero. The
// two may overlap where to does not begin after from.
func choose(to, from []float32, columns []int32) {
	for ; len(columns) >= 8; columns = columns[8:] {
		c, x := (*[8]int32)(columns), (*[8]float32)(to)
		x[0], x[1], x[2], x[3] = from[c[0]], from[c[1]], from[c[2]], from[c[3]]
		x[4], x[5], x[6], x[7] = from[c[4]], from[c[5]], from[c[6]], from[c[7]]
		to = to[8:]
	}
	for i, k := range columns {
		to[i] = from[k]
	}
	clear(to[len(columns):])
}

// Drain multiplies rows [lo, hi) by keep, adds those of the parts times scale, in the order of
// the parts, and sets the parts to zero.
func (r *Rows) Drain(keep, scale float64, parts []*Rows, lo, hi int) {
	for i := lo; i < hi; i++ {
		row := r.Row(i)
		to := blas32.Vector{N: len(row), Inc: 1, Data: row}
		if keep == 0 {
			clear(row)
		} else if keep != 1 {
			blas32.Scal(float32(keep), to)
		}
		for _, p := range parts {
			from := to
			from.Data = p.Row(i)
			blas32.Axpy(float32(scale), from, to)
			clear(from.Data)
		}
	}
}
