package estep

import (
	"unsafe"

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
		if keep == 0 {
			clear(row)
		} else if keep != 1 {
			blas32.Scal(float32(keep), blas32.Vector{N: len(row), Inc: 1, Data: row})
		}
		for _, p := range parts {
			from := p.Row(i)
			addScaled(row, float32(scale), from)
			clear(from)
		}
	}
}

// BlockSize is how many columns a block has: as many as rows are padded to, a cache line.
const BlockSize = lanes

// Use restricts the steps and scores that follow to some of the columns of B: block i has
// columns BlockSize·i to BlockSize·(i+1)−1, or up to the last. The blocks are ascending,
// at least one; nil are all, as at first. T and N get the length BlockSize·len(blocks), or
// that of a row, and T is set to zero. The numbers by topic of a Step and the out of its
// Each have the same order: a result is that for a B of these columns alone, and so are
// its bits. The other columns of the sums are left alone. Use comes before Keep.
func (w *Worker) Use(blocks []uint16) {
	n := w.stride
	w.offsets = w.offsets[:0]
	for i, j := range blocks {
		if int(j) >= n/BlockSize || i > 0 && j <= blocks[i-1] {
			panic("estep: blocks are not ascending or too high")
		}
		w.offsets = append(w.offsets, 4*BlockSize*int32(j))
	}
	if blocks != nil {
		if len(blocks) == 0 {
			panic("estep: no blocks")
		}
		if len(w.columns) < 2*block*n {
			w.columns = linalg.Aligned[float32](2 * block * n)
		}
		n = BlockSize * len(blocks)
	}
	w.T, w.N, w.part = w.T[:n], w.N[:n], w.part[:n]
	clear(w.T)
}

// Pick appends the numbers of blocks of columns, out of those of all columns.
func Pick[T any](to, all []T, blocks []uint16) []T {
	for _, b := range blocks {
		to = append(to, all[BlockSize*int(b):][:BlockSize]...)
	}
	return to
}

// Spread puts what Pick returned back.
func Spread(all, some []float32, blocks []uint16) {
	for i, b := range blocks {
		copy(all[BlockSize*int(b):][:BlockSize], some[BlockSize*i:])
	}
}

// Column returns of which column number i is of those that Pick returned.
func Column(blocks []uint16, i int) int {
	if blocks == nil {
		return i
	}
	return BlockSize*int(blocks[i/BlockSize]) + i%BlockSize
}

// Narrow makes w a Worker for some of its topics, which are ascending. It leaves their
// weights in T and what the next step of LeaveLast leaves out. The B of the steps that follow
// has their columns alone, as Rows.Narrow leaves them. Reset undoes it.
func (w *Worker) Narrow(topics []int32) {
	if len(w.offsets) > 0 {
		panic("estep: Narrow after Use")
	}
	n := Padded(len(topics))
	if m := len(w.sums); m*len(w.T) == len(w.kept) {
		wide := roundUp(len(topics), w.kr.lanes)
		for i := range m {
			lo := i / block * block
			choose(w.kept[lo*n+(i-lo)*wide:][:wide], w.kept[lo*len(w.T)+(i-lo)*w.wide:], topics)
		}
		w.kept, w.wide = w.kept[:m*n], wide
	}
	w.T = Narrow(w.T, 1, topics)
	w.N, w.part, w.stride = w.N[:n], w.part[:n], n
}

// Reset makes w a Worker for k topics, at most as many as it began with. T is set to zero.
func (w *Worker) Reset(k int) {
	n := Padded(k)
	w.T, w.N, w.part, w.stride, w.offsets = w.T[:n], w.N[:n], w.part[:n], n, w.offsets[:0]
	clear(w.T)
}

// move are the arguments of gather and scatter, which copy blocks of columns of rows of a
// matrix to and from the rows of a smaller one. Gather fetches the blocks of the next words
// ahead.
type move struct {
	words, next *int32   // n
	rows        *float32 // stride bytes apart
	part        *float32 // rows, one block after the other
	offsets     *int32   // blocks: their first bytes in a row
	n, blocks   int
	stride      int
}

// runColumns runs the kernel for words[i:i+w.args.n] on the columns in use. It sets the
// matrices and the words of w.args, of which the rest is set.
func (w *Worker) runColumns(s *Step, words []int32, i int) {
	a, m := &w.args, &w.move
	n := a.n
	now := words[i : i+n]
	// Where a word comes twice, its last row is the one that both add to, and that is
	// copied back last.
	for j := range now {
		w.slots[j] = int32(j)
	}
	if s.Sums != nil && !ascending(now) {
		for j := range now {
			for l := j + 1; l < n; l++ {
				if now[l] == now[j] {
					w.slots[j] = int32(l)
				}
			}
		}
	}
	*m = move{words: &now[0], next: &words[min(i+block, len(words)-n)], rows: &s.B.Data[0], part: &w.columns[0],
		offsets: &w.offsets[0], n: n, blocks: len(w.offsets), stride: 4 * s.B.Stride}
	w.kr.gather(m)
	a.b, a.words, a.next = m.part, &w.slots[0], &w.slots[0]
	if s.Sums == nil {
		w.kr.run(a)
		return
	}
	m.rows, m.part = &s.Sums.Data[0], &w.columns[block*len(w.T)]
	w.kr.gather(m)
	a.sums = m.part
	w.kr.run(a)
	w.kr.scatter(m)
}

func ascending(words []int32) bool {
	for i := 1; i < len(words); i++ {
		if words[i] <= words[i-1] {
			return false
		}
	}
	return true
}

func gather(m *move) { m.each(func(row, part []float32) { copy(part, row) }) }

func scatter(m *move) { m.each(func(row, part []float32) { copy(row, part) }) }

// each calls f for each block.
func (m *move) each(f func(row, part []float32)) {
	part := unsafe.Slice(m.part, BlockSize*m.blocks*m.n)
	for _, w := range unsafe.Slice(m.words, m.n) {
		row := unsafe.Add(unsafe.Pointer(m.rows), m.stride*int(w))
		for _, o := range unsafe.Slice(m.offsets, m.blocks) {
			f(unsafe.Slice((*float32)(unsafe.Add(row, o)), BlockSize), part[:BlockSize])
			part = part[BlockSize:]
		}
	}
}
