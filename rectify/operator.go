package rectify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// This file holds what the methods share that keep their iterates as
// YYᵀ + r·eeᵀ + E: the eigenproblems, each started from the vectors of the one
// before, the lookup of negative entries, and the change between iterates.

// guard is how many vectors beyond K the warm-started block holds.
const guard = 10

// maxSteps bounds the warm-started steps before Lanczos takes over.
const maxSteps = 12

// maxRestarts bounds the restarts of Lanczos.
const maxRestarts = 300

// eigenpairs solves the eigenproblems of a sequence of operators that change
// little from one to the next.
type eigenpairs struct {
	n, k, p  int
	tol      float64
	workers  int
	block    *linalg.Block // p pairs, of which k are to tolerance
	products int
	cold     int
	shared   *Shared // of the first operator; nil: nothing is shared
}

func newEigenpairs(n, k int, tol float64, workers int) *eigenpairs {
	return &eigenpairs{n: n, k: k, p: min(n, (k+guard+7)/8*8), tol: tol, workers: workers}
}

// eigenpairsOf is newEigenpairs for a sequence that begins with c itself, which
// opt.Shared may know.
func eigenpairsOf(c cooc.Matrix, k int, tol float64, opt Options) *eigenpairs {
	s := newEigenpairs(c.Dim(), k, tol, opt.Workers)
	if opt.Shared != nil && same(opt.Shared.c, c) {
		s.shared = opt.Shared
	}
	return s
}

// next finds the k algebraically largest eigenpairs of op, from those of the
// operator before where there was one. t is the iteration, for errors.
func (s *eigenpairs) next(ctx context.Context, t int, op linalg.Op) error {
	shared := s.shared
	s.shared = nil // the next operator is another
	if s.block != nil {
		st, err := s.block.Refine(ctx, s.k, op, s.tol, maxSteps, s.workers)
		if err != nil {
			return err
		}
		s.products += st.Products
		if st.Converged {
			return nil
		}
	}
	o := linalg.LanczosOptions{Pairs: s.p, Need: s.k, Tol: s.tol, MaxRestarts: maxRestarts, Block: 8, Workers: s.workers}
	if shared != nil {
		o.Start = &shared.first
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, s.n, op, o)
	if err != nil {
		return err
	}
	if shared != nil && st.Converged && s.k > len(shared.spectrum) {
		shared.spectrum = slices.Clone(theta[:s.k])
	}
	s.products += st.Products
	s.cold++
	if !st.Converged {
		return &EigenError{K: s.k, Iteration: t, Residual: st.Residual, Tol: s.tol * theta[s.k-1]}
	}
	s.block = &linalg.Block{X: transpose(vecs), Theta: theta}
	return nil
}

// theta returns the k largest eigenvalues, descending.
func (s *eigenpairs) theta() []float64 { return s.block.Theta[:s.k] }

// y returns U·diag(√λ⁺), N×K', without the columns of eigenvalues λ ≤ 0.
func (s *eigenpairs) y() blas64.General { return scaled(s.block.X, s.theta(), nil) }

// yIn is y in the memory of a y that is not needed any more.
func (s *eigenpairs) yIn(reuse blas64.General) blas64.General {
	return scaled(s.block.X, s.theta(), reuse.Data)
}

// EigenError says that the eigenpairs of an iterate were not found to the
// tolerance.
type EigenError struct {
	K, Iteration  int
	Residual, Tol float64
}

func (e *EigenError) Error() string {
	return fmt.Sprintf("the %d largest eigenpairs did not converge in iteration %d: residual %.3g, want %.3g", e.K, e.Iteration, e.Residual, e.Tol)
}

// scaled returns Y = U·diag(√λ⁺) of the first columns of x, those with λ ≤ 0
// left out. The memory of reuse is taken over.
func scaled(x blas64.General, theta, reuse []float64) blas64.General {
	k := 0
	for k < len(theta) && theta[k] > 0 {
		k++
	}
	y := blas64.General{Rows: x.Rows, Cols: k, Stride: max(k, 1), Data: sized(reuse, x.Rows*k)}
	root := make([]float64, k)
	for j := range root {
		root[j] = math.Sqrt(theta[j])
	}
	for i := range x.Rows {
		row := linalg.Row(y, i)
		for j, v := range linalg.Row(x, i)[:k] {
			row[j] = root[j] * v
		}
	}
	return y
}

func transpose(a blas64.General) blas64.General {
	t := linalg.NewGeneral(a.Cols, a.Rows)
	for i := range a.Rows {
		for j := range a.Cols {
			t.Data[j*t.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
	return t
}

// sumOf returns the sum of the entries of YYᵀ.
func sumOf(y blas64.General) float64 {
	s := 0.0
	for _, v := range linalg.ColumnSums(y) {
		s += v * v
	}
	return s
}

// scanRows is how many rows of YYᵀ are looked through at a time.
const scanRows = 64

// sampled chunks of rows, one in so many, are looked through first: they tell
// how many entries there will be.
const sampled = 16

// lookup holds the memory of one lookup of negative entries for the next one of
// the same size. The zero value is ready.
type lookup struct {
	upper   []upperRows
	scratch []linalg.Hits
	packed  *linalg.Packed
	spare   linalg.CSR // an E that is not needed any more
}

// hits returns room for as many chunks.
func (l *lookup) hits(count int) []linalg.Hits {
	if len(l.scratch) < count {
		l.scratch = make([]linalg.Hits, count)
	}
	return l.scratch[:count]
}

// negativePart returns E = max(−(YYᵀ + r), 0), both triangles, and the sum of
// its entries. The upper triangle is looked up, N²K operations, and mirrored.
// Where a sixteenth of the rows lets expect more than most entries in all (0:
// any number is fine) it stops there and returns how many as a *tooDense.
func (l *lookup) negativePart(ctx context.Context, y blas64.General, r float64, most int64, workers int) (linalg.CSR, float64, error) {
	n := y.Rows
	l.packed = linalg.Repack(l.packed, y)
	packed := l.packed
	if l.upper == nil {
		l.upper = make([]upperRows, run.Count(n, scanRows))
	}
	workers = run.Workers(workers, len(l.upper))
	upper, scratch := l.upper, l.hits(workers)
	sums := make([]float64, len(upper))
	look := func(w, c int) error {
		lo, hi := c*scanRows, min(n, (c+1)*scanRows)
		h := &scratch[w]
		h.Reset()
		packed.ScanBelow(lo, hi, -r, h)
		u := &upper[c]
		u.end, u.cols = append(u.end[:0], h.RowEnd...), append(u.cols[:0], h.Cols...)
		u.vals = roomy(u.vals, len(h.Vals))
		at := 0
		for i := lo; i < hi; i++ {
			for ; at < u.end[i-lo]; at++ {
				v := -(h.Vals[at] + r)
				u.vals[at] = v
				if int(u.cols[at]) == i {
					sums[c] += v
				} else {
					sums[c] += 2 * v
				}
			}
		}
		return nil
	}
	first := run.Count(len(upper), sampled)
	err := run.Chunks(ctx, first, 1, workers, func(w, c, _, _ int) error { return look(w, c*sampled) })
	if err != nil {
		return linalg.CSR{}, 0, err
	}
	if most > 0 {
		found, area := 0.0, 0.0
		for c := 0; c < len(upper); c += sampled {
			found += float64(len(upper[c].cols))
			for i := c * scanRows; i < min(n, (c+1)*scanRows); i++ {
				area += float64(n - i)
			}
		}
		if expect := found / area * float64(n) * float64(n); expect > float64(most) {
			return linalg.CSR{}, 0, &tooDense{entries: int64(expect)}
		}
	}
	err = run.Chunks(ctx, len(upper)-first, 1, workers, func(w, i, _, _ int) error {
		return look(w, i+i/(sampled-1)+1) // the others, in order
	})
	if err != nil {
		return linalg.CSR{}, 0, err
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	e, err := mirror(ctx, n, upper, l.spare, workers)
	l.spare = linalg.CSR{}
	return e, total, err
}

// tooDense says that E would have more entries than are allowed.
type tooDense struct{ entries int64 }

func (e *tooDense) Error() string { return fmt.Sprintf("about %d entries to lift", e.entries) }

// upperRows are consecutive rows of the upper triangle of a sparse matrix.
type upperRows struct {
	end  []int // of each row
	cols []int32
	vals []float64
}

// mirror makes both triangles of the rows of an upper triangle, given in
// chunks of scanRows rows. The memory of reuse is taken over.
func mirror(ctx context.Context, n int, chunks []upperRows, reuse linalg.CSR, workers int) (linalg.CSR, error) {
	upper := func(i int) ([]int32, []float64) {
		u, k := &chunks[i/scanRows], i%scanRows
		lo := 0
		if k > 0 {
			lo = u.end[k-1]
		}
		return u.cols[lo:u.end[k]], u.vals[lo:u.end[k]]
	}
	// Each chunk of target rows takes its entries from all rows above, in
	// ascending order, and then its own; once to count and once to fill.
	const target = 256
	lower := make([]int, n) // entries of row i left of the diagonal
	err := run.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		for i := range hi {
			cols, _ := upper(i)
			for a := lowerBound(cols, lo); a < len(cols) && int(cols[a]) < hi; a++ {
				if j := int(cols[a]); j != i {
					lower[j]++
				}
			}
		}
		return nil
	})
	if err != nil {
		return linalg.CSR{}, err
	}
	e := linalg.CSR{RowPtr: make([]int, n+1)}
	for i := range n {
		cols, _ := upper(i)
		e.RowPtr[i+1] = e.RowPtr[i] + lower[i] + len(cols)
	}
	e.Cols, e.Vals = roomy(reuse.Cols, e.RowPtr[n]), roomy(reuse.Vals, e.RowPtr[n])
	err = run.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		at := make([]int, hi-lo)
		for j := lo; j < hi; j++ {
			at[j-lo] = e.RowPtr[j]
		}
		for i := range hi {
			cols, vals := upper(i)
			for a := lowerBound(cols, lo); a < len(cols) && int(cols[a]) < hi; a++ {
				if j := int(cols[a]); j != i {
					e.Cols[at[j-lo]], e.Vals[at[j-lo]] = int32(i), vals[a]
					at[j-lo]++
				}
			}
		}
		for j := lo; j < hi; j++ {
			cols, vals := upper(j)
			copy(e.Cols[at[j-lo]:e.RowPtr[j+1]], cols)
			copy(e.Vals[at[j-lo]:e.RowPtr[j+1]], vals)
		}
		return nil
	})
	return e, err
}

// roomy is sized with an eighth to spare: the next lookup may find a few more.
func roomy[T any](s []T, size int) []T {
	if cap(s) < size {
		return make([]T, size, size+size/8)
	}
	return s[:size]
}

// lowerBound returns the place of the first column ≥ j.
func lowerBound(cols []int32, j int) int {
	a, b := 0, len(cols)
	for a < b {
		if m := int(uint(a+b) >> 1); int(cols[m]) < j {
			a = m + 1
		} else {
			b = m
		}
	}
	return a
}

// changeOf returns ‖C_1 − C_0‖_F of two consecutive iterates without the
// cancellation that ‖C_1‖² − 2⟨C_1, C_0⟩ + ‖C_0‖² would suffer.
//
// With A = YYᵀ + r·eeᵀ, C differs from A only on the pattern of its E, where
// it is zero. Hence ‖C_1 − C_0‖² = ‖A_1 − A_0‖² + Σ over the entries of either
// pattern of (C_1 − C_0)² − (A_1 − A_0)². Turning Y_0 by the orthogonal Q that
// brings it nearest to Y_1 gives A_1 − A_0 = ½(ΔSᵀ + SΔᵀ) + δr·eeᵀ with
// Δ = Y_1 − Y_0Q small and S = Y_1 + Y_0Q.
func (m *moves) changeOf(ctx context.Context, c0, c1 *linalg.LowRankSparse, workers int) (float64, error) {
	n := c1.Y.Rows
	low, err := m.lowRank(ctx, c0.Y, c1.Y, c1.R-c0.R, workers)
	if err != nil {
		return 0, err
	}

	dot := func(y blas64.General, i, j int) float64 {
		s := 0.0
		b := linalg.Row(y, j)
		for t, v := range linalg.Row(y, i) {
			s += v * b[t]
		}
		return s
	}
	const size = 64
	sums := make([]float64, run.Count(n, size))
	err = run.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ac, av := c0.E.Row(i)
			bc, bv := c1.E.Row(i)
			a, b := 0, 0
			for a < len(ac) && int(ac[a]) < i {
				a++
			}
			for b < len(bc) && int(bc[b]) < i {
				b++
			}
			for a < len(ac) || b < len(bc) {
				var j int
				var t float64
				switch {
				case b == len(bc) || a < len(ac) && ac[a] < bc[b]: // only in E_0
					j = int(ac[a])
					a0, a1 := -av[a], dot(c1.Y, i, j)+c1.R
					t = a1*a1 - (a1-a0)*(a1-a0)
					a++
				case a == len(ac) || bc[b] < ac[a]: // only in E_1
					j = int(bc[b])
					a1, a0 := -bv[b], dot(c0.Y, i, j)+c0.R
					t = a0*a0 - (a1-a0)*(a1-a0)
					b++
				default:
					j = int(ac[a])
					x := bv[b] - av[a]
					t = -x * x
					a++
					b++
				}
				if j != i {
					t *= 2
				}
				sums[c] += t
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, s := range sums {
		low += s
	}
	return math.Sqrt(max(low, 0)), nil
}

// changeRows is how many rows moves.lowRank takes at a time, for memory alone.
const changeRows = 8192

// moves measures how far iterates move, and holds the memory of one measurement
// for the next. The zero value is ready.
type moves struct{ sum, diff []float64 }

// lowRankChange is moves.lowRank, once.
func lowRankChange(ctx context.Context, y0, y1 blas64.General, dr float64, workers int) (float64, error) {
	return new(moves).lowRank(ctx, y0, y1, dr, workers)
}

// lowRank returns ‖A_1 − A_0‖_F² of A = YYᵀ + r·eeᵀ, dr = r_1 − r_0, as changeOf
// explains.
func (m *moves) lowRank(ctx context.Context, y0, y1 blas64.General, dr float64, workers int) (float64, error) {
	n := y1.Rows
	k := max(y0.Cols, y1.Cols)
	pad := func(y blas64.General) blas64.General {
		if y.Cols == k {
			return y
		}
		z := linalg.NewGeneral(n, k)
		for i := range n {
			copy(linalg.Row(z, i), linalg.Row(y, i))
		}
		return z
	}
	y0, y1 = pad(y0), pad(y1)
	low := dr * dr * float64(n) * float64(n)
	if k == 0 {
		return low, nil
	}
	cross := linalg.NewGeneral(k, k)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, y0, y1, 0, cross, workers); err != nil {
		return 0, err
	}
	var svd mat.SVD
	var md, u, v, q mat.Dense
	md.SetRawMatrix(cross)
	if !svd.Factorize(&md, mat.SVDThin) {
		return 0, fmt.Errorf("the singular values of a %d×%d matrix were not found", k, k)
	}
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&u, v.T())
	m.sum, m.diff = sized(m.sum, min(n, changeRows)*k), sized(m.diff, min(n, changeRows)*k)
	var (
		s, d       = blas64.General{Cols: k, Stride: k, Data: m.sum}, blas64.General{Cols: k, Stride: k, Data: m.diff}
		dd, ss, sd = linalg.NewGeneral(k, k), linalg.NewGeneral(k, k), linalg.NewGeneral(k, k)
		ds, cs     = make([]float64, k), make([]float64, k)
	)
	for lo := 0; lo < n; lo += changeRows {
		rows := min(changeRows, n-lo)
		s.Rows, d.Rows = rows, rows
		old := blas64.General{Rows: rows, Cols: k, Stride: y0.Stride, Data: y0.Data[lo*y0.Stride:]}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, old, q.RawMatrix(), 0, d, workers); err != nil {
			return 0, err
		}
		err := run.Chunks(ctx, rows, 256, workers, func(_, _, from, to int) error {
			for i := from; i < to; i++ {
				sum, diff := linalg.Row(s, i), linalg.Row(d, i)
				for j, a := range linalg.Row(y1, lo+i) {
					b := diff[j]
					sum[j], diff[j] = a+b, a-b
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, g := range []struct{ a, b, to blas64.General }{{d, d, dd}, {s, s, ss}, {s, d, sd}} {
			if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, g.a, g.b, 1, g.to, workers); err != nil {
				return 0, err
			}
		}
		for j, v := range linalg.ColumnSums(d) {
			ds[j] += v
		}
		for j, v := range linalg.ColumnSums(s) {
			cs[j] += v
		}
	}
	for i := range k {
		for j := range k {
			low += 0.5 * (dd.Data[i*k+j]*ss.Data[i*k+j] + sd.Data[i*k+j]*sd.Data[j*k+i])
		}
	}
	// 2δr·eᵀ(A_1 − A_0)e of the low-rank parts = 2δr·(Δᵀe)·(Sᵀe).
	for j := range ds {
		low += 2 * dr * ds[j] * cs[j]
	}
	return low, nil
}
