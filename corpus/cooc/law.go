package cooc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// law holds the rows of [LowRankSparse.LAW].
type law struct {
	m       *LowRankSparse
	y       blas64.General // N×K', with a column √r
	vs, vi  blas64.General // K'×d: VΣ and VΣ⁻¹ of R = UΣVᵀ
	x       blas64.General // N×d
	d       []float64
	norms2  []float64
	clipped []int // rows and columns with clipped entries, ascending
	entries int   // how many entries were clipped
}

// LAW returns the rows of C̄ = diag(d)⁻¹C, C = YYᵀ + r·eeᵀ with r ≥ 0, in K dimensions,
// as the low-rank anchor word algorithm uses them (dong-2019, §4.5, Algorithm 5). m must
// have a Y, no E, r ≥ 0, and a row sum of at least 1e-140. With Y = QR and the row sums
// d = Y(Yᵀe), the rows of X = diag(d)⁻¹YRᵀ (N×K) have the inner products of those of
// C̄ = XQᵀ. Anchors and topics found in X are therefore those of C̄, for O(N·K²)
// operations in place of O(N²·K). An r > 0 counts as one more column √r of Y.
//
// C should have no negative entries, but ENN leaves some slightly below zero. The row
// sums of rare words may then be negative or far too small. No row of C is longer than
// its sum if C ≥ 0, so rows with ‖c_i‖ > d_i are wrong. LAW clips the negative entries of
// these rows and columns to zero, and WithAnchors clips those of the anchors. With
// E = max(−C, 0) there, the row sums and BlockTo are those of C + E, and X gains
// diag(d)⁻¹EQ, the projection of E on the space of C. E is not stored.
//
// The rows that LAW clips are no candidates for anchors (Repaired). Divided by a sum near
// zero they are long and would be chosen first, and A_kk = C_ss/p(s | k)² of such an
// anchor s is far too large. Matrix returns C without clipping.
//
// Time: O(N·K²), and O(N·K) for each row with clipped entries; WithAnchors takes as
// long. Memory: 8·N·K bytes, and three times that meanwhile.
func (m *LowRankSparse) LAW(ctx context.Context, workers int) (Rows, error) {
	if m.op.Y.Cols == 0 || m.e.NNZ() > 0 || m.op.R < 0 {
		return nil, fmt.Errorf("cooc: low-rank rows of a matrix with K = %d, %d sparse entries and r = %g; want K ≥ 1, none and r ≥ 0",
			m.op.Y.Cols, m.e.NNZ(), m.op.R)
	}
	largest, err := largestSum(m.c)
	if err != nil {
		return nil, err
	}
	l := &law{m: m, y: m.op.Y}
	if m.op.R > 0 {
		n, k, s := m.Dim(), m.op.Y.Cols, math.Sqrt(m.op.R)
		l.y = linalg.NewGeneral(n, k+1)
		for i := range n {
			row := linalg.Row(l.y, i)
			copy(row, linalg.Row(m.op.Y, i))
			row[k] = s
		}
	}
	if err := l.factor(ctx, workers); err != nil {
		return nil, err
	}
	if err := l.coordinates(ctx, nil, workers); err != nil {
		return nil, err
	}
	var wrong []int
	for i, v := range m.c {
		length := math.Sqrt(l.norms2[i]) // x is not divided by the sums yet
		if length > emptyRow*largest && length > v*(1+1e-9) {
			wrong = append(wrong, i)
		}
	}
	if err := l.normalise(ctx, wrong, workers); err != nil {
		return nil, err
	}
	return l, nil
}

// factor finds R of Y = QR and its singular vectors. Singular values that are
// rounding are left out.
func (l *law) factor(ctx context.Context, workers int) error {
	n, k := l.y.Rows, l.y.Cols
	size := max(1024, 4*k)
	largest := 0.0
	for i := range n {
		for _, v := range linalg.Row(l.y, i) {
			largest = max(largest, math.Abs(v))
		}
	}
	_, exp := math.Frexp(largest)
	parts := make([]blas64.General, parallel.Count(n, size))
	err := parallel.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		parts[c] = triangle(-exp, linalg.Rows(l.y, lo, hi))
		return nil
	})
	if err != nil {
		return err
	}
	r := parts[0]
	for _, p := range parts[1:] {
		r = triangle(0, r, p)
	}
	sigma, _, v := linalg.SVD(r)
	for j := range sigma {
		sigma[j] = math.Ldexp(sigma[j], exp)
	}
	d := 0
	for d < k && sigma[d] > emptyRow*sigma[0] {
		d++
	}
	if d == 0 {
		return fmt.Errorf("cooc: Y is zero")
	}
	l.vs, l.vi = linalg.NewGeneral(k, d), linalg.NewGeneral(k, d)
	for i := range k {
		for j := range d {
			l.vs.Data[i*d+j], l.vi.Data[i*d+j] = v.Data[j*k+i]*sigma[j], v.Data[j*k+i]/sigma[j]
		}
	}
	return nil
}

// triangle returns the R of QR for the rows of all parts, times 2^exp.
func triangle(exp int, parts ...blas64.General) blas64.General {
	rows, k := 0, parts[0].Cols
	for _, p := range parts {
		rows += p.Rows
	}
	at := linalg.NewGeneral(k, rows)
	i := 0
	for _, p := range parts {
		for r := range p.Rows {
			for j, v := range linalg.Row(p, r) {
				at.Data[j*rows+i] = math.Ldexp(v, exp)
			}
			i++
		}
	}
	return linalg.Triangle(at)
}

// coordinates computes x = YVΣ, which has the inner products of the rows of C, with
// the negative entries of the rows and columns idx, ascending, clipped; also their
// sums d and the squared lengths of x.
func (l *law) coordinates(ctx context.Context, idx []int, workers int) error {
	n, dim := l.y.Rows, l.vs.Cols
	l.x, l.d, l.entries = linalg.NewGeneral(n, dim), slices.Clone(l.m.c), 0
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, l.y, l.vs, 0, l.x, workers); err != nil {
		return err
	}
	if len(idx) > 0 {
		if err := l.clip(ctx, idx, workers); err != nil {
			return err
		}
	}
	l.norms2 = make([]float64, n)
	return parallel.Chunks(ctx, n, 1024, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := linalg.Row(l.x, i)
			l.norms2[i] = vec.Dot(row, row)
		}
		return nil
	})
}

// clip adds EQ to x and Ee to d.
func (l *law) clip(ctx context.Context, idx []int, workers int) error {
	n, dim := l.y.Rows, l.vs.Cols
	q := linalg.NewGeneral(n, dim)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, l.y, l.vi, 0, q, workers); err != nil {
		return err
	}
	inside := make([]bool, n)
	for _, i := range idx {
		inside[i] = true
	}
	add := func(i, j int, v float64) { // entry (i, j) of E is v
		l.d[i] += v
		row := linalg.Row(l.x, i)
		for t, w := range linalg.Row(q, j) {
			row[t] += float64(v * w)
		}
	}
	packed := linalg.Pack(l.y)
	// A few rows at a time: all entries that wait are at most 16 M.
	const size = 64
	wave := min(max(1<<24/n/size, 1), 8) * size
	hits := make([]linalg.Hits, wave/size)
	for len(idx) > 0 {
		part := idx[:min(wave, len(idx))]
		idx = idx[len(part):]
		err := parallel.Chunks(ctx, len(part), size, workers, func(_, c, lo, hi int) error {
			h := &hits[c]
			h.Reset()
			packed.ScanBelowRows(part[lo:hi], 0, h)
			for t, i := range part[lo:hi] {
				cols, vals := h.Row(t)
				for k, j := range cols {
					add(i, int(j), -vals[k])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = parallel.Chunks(ctx, n, 1024, workers, func(_, _, lo, hi int) error {
			for s, i := range part {
				cols, vals := hits[s/size].Row(s % size)
				k, _ := slices.BinarySearch(cols, int32(lo))
				for ; k < len(cols) && int(cols[k]) < hi; k++ {
					if j := int(cols[k]); !inside[j] {
						add(j, i, -vals[k])
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for s := range part {
			cols, _ := hits[s/size].Row(s % size)
			for _, j := range cols {
				l.entries++
				if !inside[j] {
					l.entries++
				}
			}
		}
	}
	return nil
}

// normalise clips the negative entries of the rows and columns idx and divides the
// rows by their sums.
func (l *law) normalise(ctx context.Context, idx []int, workers int) error {
	l.clipped = idx
	if len(idx) > 0 {
		if err := l.coordinates(ctx, idx, workers); err != nil {
			return err
		}
	}
	largest := slices.Max(l.d)
	if err := checkScale(largest, l.d); err != nil {
		return err
	}
	for i, v := range l.d {
		s := 0.0
		if v > emptyRow*largest {
			s = 1 / v
		} else {
			l.d[i] = 0
		}
		floats.Scale(s, linalg.Row(l.x, i))
		l.norms2[i] *= s * s
	}
	return ctx.Err()
}

func (l *law) WithAnchors(ctx context.Context, anchors []int, workers int) (Rows, error) {
	for _, i := range anchors {
		if i < 0 || i >= l.m.Dim() {
			return nil, fmt.Errorf("cooc: anchor %d is not in [0, %d)", i, l.m.Dim())
		}
	}
	idx := slices.Concat(l.clipped, anchors)
	if len(idx) == 0 {
		return l, ctx.Err()
	}
	slices.Sort(idx)
	w := &law{m: l.m, y: l.y, vs: l.vs, vi: l.vi}
	if err := w.normalise(ctx, slices.Compact(idx), workers); err != nil {
		return nil, err
	}
	return w, nil
}

// Clipped returns the number of entries of C that were clipped.
func (l *law) Clipped() int { return l.entries }

func (l *law) Repaired() []int { return slices.Clone(l.clipped) }

func (l *law) Dims() (n, d int) { return l.x.Rows, l.x.Cols }

func (l *law) Matrix() Matrix { return l.m }

func (l *law) Explicit() bool { return false }

func (l *law) Norms2(ctx context.Context, _ int) ([]float64, error) { return l.norms2, ctx.Err() }

func (l *law) Marginals() []float64 { return l.d }

func (l *law) RowTo(dst []float64, i int) { copy(dst[:l.x.Cols], linalg.Row(l.x, i)) }

func (l *law) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("low-rank rows", l.x.Rows, l.x.Cols, dst, x); err != nil {
		return err
	}
	return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, l.x, x.RawMatrix(), 0, dst.RawMatrix(), workers)
}

func (l *law) BlockTo(dst *mat.Dense, idx []int) {
	for a, i := range idx {
		_, ci := slices.BinarySearch(l.clipped, i)
		for b, j := range idx {
			v := vec.Dot(linalg.Row(l.y, i), linalg.Row(l.y, j))
			if v < 0 {
				if _, cj := slices.BinarySearch(l.clipped, j); ci || cj {
					v = 0
				}
			}
			dst.Set(a, b, v)
		}
	}
}
