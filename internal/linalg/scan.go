package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// scanRows is how many rows are searched together: their panels fit in the first-level cache
// together with those of the columns, which are read from memory once for all of them.
const scanRows = 4 * panel

// Hits collects the entries that a scan finds, row after row. The caller may read and
// cut its slices between scans. The zero value is ready to use.
type Hits struct {
	// RowEnd[t] is the end in Cols and Vals of the t-th row scanned; it
	// begins where row t−1 ends.
	RowEnd []int
	Cols   []int32
	Vals   []float64

	st stage
}

// Reset forgets the entries and keeps the memory.
func (h *Hits) Reset() {
	h.RowEnd, h.Cols, h.Vals = h.RowEnd[:0], h.Cols[:0], h.Vals[:0]
}

// Row returns the columns, ascending, and the values found in the t-th row scanned.
func (h *Hits) Row(t int) (cols []int32, vals []float64) {
	lo := 0
	if t > 0 {
		lo = h.RowEnd[t-1]
	}
	hi := h.RowEnd[t]
	return h.Cols[lo:hi:hi], h.Vals[lo:hi:hi]
}

// stage holds the entries of the rows being scanned, each row in a region of stride
// elements.
type stage struct {
	stride int
	cnt    [scanRows]int
	cols   []int32
	vals   []float64
}

// prepare makes room for n entries a row. A tile may write up to 8 elements past
// the end of a row.
func (st *stage) prepare(n int) {
	st.stride = roundUp(n, panel) + tileCols
	if need := st.stride * scanRows; len(st.cols) < need {
		st.cols, st.vals = make([]int32, need), make([]float64, need)
	}
	st.cnt = [scanRows]int{}
}

func (st *stage) push(row, col int, v float64) {
	o := row*st.stride + st.cnt[row]
	st.cols[o], st.vals[o] = int32(col), v
	st.cnt[row]++
}

// flush appends rows [lo, hi) of the stage to h and empties all of them.
func (h *Hits) flush(lo, hi int) {
	st := &h.st
	for r := lo; r < hi; r++ {
		o := r * st.stride
		h.Cols = append(h.Cols, st.cols[o:o+st.cnt[r]]...)
		h.Vals = append(h.Vals, st.vals[o:o+st.cnt[r]]...)
		h.RowEnd = append(h.RowEnd, len(h.Cols))
	}
	st.cnt = [scanRows]int{}
}

// ScanBelow finds the entries (YYᵀ)_ij < threshold of rows i0 ≤ i < i1 and columns
// j ≥ i, that is, of the upper triangle with its diagonal. It appends to out one
// row for each i, with the columns in ascending order. NaN is never below.
//
// A value is Σ_k y_ik·y_jk, summed in the order of k, with the same bits for (i, j)
// and (j, i) and for any i0 and i1, for which multiples of 32 are best. The cost is
// about (i1−i0)·(N−i0)·K multiply-adds. Concurrent calls need an out each.
func (p *Packed) ScanBelow(i0, i1 int, threshold float64, out *Hits) {
	if i0 < 0 || i1 < i0 || i1 > p.n {
		panic(fmt.Sprintf("linalg: scan of rows [%d, %d) of %d", i0, i1, p.n))
	}
	if i0 == i1 {
		return
	}
	out.st.prepare(p.n)
	for i := i0 / panel * panel; i < i1; i += scanRows {
		top := min(i+scanRows, i1)
		p.scan(p.data[i/panel*p.size:], (top-i+panel-1)/panel, i/panel, threshold, &out.st)
		out.flush(max(0, i0-i), top-i)
	}
}

// ScanBelowRows finds the entries (YYᵀ)_ij < threshold of the given rows i, in any
// order, and all columns j. It appends to out one row for each. The values have
// the same bits as those of ScanBelow.
func (p *Packed) ScanBelowRows(rows []int, threshold float64, out *Hits) {
	for t, i := range rows {
		if i < 0 || i >= p.n {
			panic(fmt.Sprintf("linalg: rows[%d] = %d of %d", t, i, p.n))
		}
	}
	if len(rows) == 0 {
		return
	}
	out.st.prepare(p.n)
	buf := borrow(scanRows / panel * p.size)
	defer giveBack(buf)
	for len(rows) > 0 {
		part := rows[:min(scanRows, len(rows))]
		rows = rows[len(part):]
		panels := (len(part) + panel - 1) / panel
		a := (*buf)[:panels*p.size]
		clear(a[(panels-1)*p.size:])
		for t, i := range part {
			dst := a[t/panel*p.size+t%panel:]
			src := p.data[i/panel*p.size+i%panel:]
			for l := 0; l < p.size; l += panel {
				dst[l] = src[l]
			}
		}
		p.scan(a, panels, -1, threshold, &out.st)
		out.flush(0, len(part))
	}
}

// scan searches the given row panels. If first ≥ 0, they are the panels of Y from
// that number on, and only columns j ≥ i count.
func (p *Packed) scan(a []float64, panels, first int, thr float64, st *stage) {
	k := p.size / panel
	buf := borrow(tileSize)
	defer giveBack(buf)
	tmp := *buf
	for jp := max(0, first); jp < p.panels; jp += 3 {
		nb := min(3, p.panels-jp)
		col0 := jp * panel
		cols := min(nb*panel, p.n-col0)
		b := p.data[jp*p.size:]
		for q := range panels {
			row0 := q * panel
			skip := 0 // columns j < i at the left of the tile's first row
			if first >= 0 {
				skip = (first+q)*panel - col0
				if skip >= nb*panel {
					continue
				}
			}
			aq := a[q*p.size:]
			if cols == tileCols && (first < 0 || skip < 0) {
				p.kr.scan(k, aq, b, thr, col0, st, row0)
				continue
			}
			p.kr.tile(k, aq, 1, panel, b, p.size, nb, panel, tmp, tileCols, 1, 0)
			for r := range panel {
				from := 0
				if first >= 0 {
					from = max(0, skip+r)
				}
				for j := from; j < cols; j++ {
					if v := tmp[r*tileCols+j]; v < thr {
						st.push(row0+r, col0+j, v)
					}
				}
			}
		}
	}
}

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
