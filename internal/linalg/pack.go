package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Packed is a copy of the rows of an N×K matrix Y as the register tiles read them: panels of
// 8 rows, the last filled up with zero rows, each stored column by column.
type Packed struct {
	kr     *kernels
	n      int
	panels int // ⌈n/8⌉
	size   int // elements of one panel
	data   []float64
}

// Pack copies y (N×K, any stride). It costs one pass over y and 8·K·N bytes.
func Pack(y blas64.General) *Packed { return Repack(nil, y) }

// Repack is Pack, but reuses the memory of old, which may be nil.
func Repack(old *Packed, y blas64.General) *Packed { return best().repack(old, y) }

func (kr *kernels) repack(old *Packed, y blas64.General) *Packed {
	check("y", y)
	if y.Rows > math.MaxInt32 {
		panic(fmt.Sprintf("linalg: y has %d rows, more than a column number can tell", y.Rows))
	}
	p := &Packed{kr: kr, n: y.Rows, panels: (y.Rows + panel - 1) / panel}
	depth := max(1, y.Cols) // no columns: one column of zeros has the same products
	p.size = depth * panel
	if need := p.panels * p.size; old != nil && cap(old.data) >= need {
		p.data = old.data[:need]
		if y.Cols == 0 {
			clear(p.data)
		}
	} else {
		p.data = Aligned[float64](need)
	}
	if y.Cols > 0 {
		packRows(p.data, y.Data, y.Stride, y.Rows, y.Cols)
	}
	return p
}

// packRows writes the rows of an n×k matrix as panels of 8 rows, k×8 each, and
// zeros for the rows that the last panel lacks.
func packRows(dst, src []float64, stride, n, k int) {
	for i := 0; i < n; i += panel {
		d := dst[:k*panel]
		dst = dst[k*panel:]
		s := src[i*stride:]
		if i+panel > n {
			clear(d)
			for r := range n - i {
				for l, v := range s[r*stride:][:k] {
					d[l*panel+r] = v
				}
			}
			return
		}
		r0, r1, r2, r3 := s[:k], s[stride:][:k], s[2*stride:][:k], s[3*stride:][:k]
		r4, r5, r6, r7 := s[4*stride:][:k], s[5*stride:][:k], s[6*stride:][:k], s[7*stride:][:k]
		for l := range k {
			*(*[panel]float64)(d[l*panel:]) = [panel]float64{r0[l], r1[l], r2[l], r3[l], r4[l], r5[l], r6[l], r7[l]}
		}
	}
}

func packColsGeneric(dst, src []float64, stride, k, n int) {
	size := k * panel
	whole := n / panel
	for l := range k {
		s := src[l*stride:][:n]
		o := l * panel
		for range whole {
			*(*[panel]float64)(dst[o:]) = *(*[panel]float64)(s)
			s = s[panel:]
			o += size
		}
		if len(s) > 0 {
			d := dst[o:][:panel]
			clear(d[copy(d, s):])
		}
	}
}

// check panics unless m is a well-formed matrix; name is used in the message.
func check(name string, m blas64.General) {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		panic(fmt.Sprintf("linalg: %s has negative size %d×%d", name, m.Rows, m.Cols))
	case m.Stride < max(1, m.Cols):
		panic(fmt.Sprintf("linalg: %s is %d×%d with stride %d", name, m.Rows, m.Cols, m.Stride))
	case m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols:
		panic(fmt.Sprintf("linalg: %s is %d×%d with stride %d but holds %d numbers", name, m.Rows, m.Cols, m.Stride, len(m.Data)))
	}
}

func checkShape(name string, m blas64.General, rows, cols int) {
	check(name, m)
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("linalg: %s is %d×%d, want %d×%d", name, m.Rows, m.Cols, rows, cols))
	}
}
