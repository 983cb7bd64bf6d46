package rectify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// This file scans YYᵀ for the negative entries that go into E.

// scanRows is how many rows of YYᵀ are scanned at a time.
const scanRows = 64

// sampled: one chunk of rows in so many is scanned first, to tell how many entries
// there will be.
const sampled = 16

// scanner scans for negative entries, and keeps the memory of one scan for the next
// of the same size. The zero value is ready.
type scanner struct {
	upper   []upperRows
	scratch []linalg.Hits
	packed  *linalg.Packed
	spare   linalg.CSR // an E that is not needed any more
}

// hits returns room for as many chunks.
func (sc *scanner) hits(count int) []linalg.Hits {
	if len(sc.scratch) < count {
		sc.scratch = make([]linalg.Hits, count)
	}
	return sc.scratch[:count]
}

// negativePart returns E = max(−(YYᵀ + r), 0), both triangles, and the sum of its
// entries. It scans the upper triangle, N²K operations, and mirrors it. If a sixteenth
// of the rows lets expect more than most entries in all (0: no limit), it stops and
// returns the number as a *tooDense.
func (sc *scanner) negativePart(ctx context.Context, y blas64.General, r float64, most int64, workers int) (linalg.CSR, float64, error) {
	n := y.Rows
	sc.packed = linalg.Repack(sc.packed, y)
	packed := sc.packed
	if sc.upper == nil {
		sc.upper = make([]upperRows, run.Count(n, scanRows))
	}
	workers = run.Workers(workers, len(sc.upper))
	upper, scratch := sc.upper, sc.hits(workers)
	sums := make([]float64, len(upper))
	scan := func(w, c int) error {
		lo, hi := c*scanRows, min(n, (c+1)*scanRows)
		h := &scratch[w]
		h.Reset()
		packed.ScanBelow(lo, hi, -r, h)
		u := &upper[c]
		u.end, u.cols = append(u.end[:0], h.RowEnd...), append(u.cols[:0], h.Cols...)
		u.vals = vec.Resize(u.vals, len(h.Vals))
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
	err := run.Chunks(ctx, first, 1, workers, func(w, c, _, _ int) error { return scan(w, c*sampled) })
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
		return scan(w, i+i/(sampled-1)+1) // the others, in order
	})
	if err != nil {
		return linalg.CSR{}, 0, err
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	e, err := mirror(ctx, n, upper, sc.spare, workers)
	sc.spare = linalg.CSR{}
	return e, total, err
}

// tooDense says that E would have more entries than are allowed.
type tooDense struct{ entries int64 }

func (e *tooDense) Error() string { return fmt.Sprintf("about %d negative entries", e.entries) }

// upperRows are consecutive rows of the upper triangle of a sparse matrix.
type upperRows struct {
	end  []int // of each row
	cols []int32
	vals []float64
}

// mirror makes both triangles of the rows of an upper triangle, given in chunks of
// scanRows rows. It takes over the memory of reuse.
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
	e.Cols, e.Vals = vec.Resize(reuse.Cols, e.RowPtr[n]), vec.Resize(reuse.Vals, e.RowPtr[n])
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

// scanWave is how many chunks of scanRows rows are scanned before their entries
// are copied to E: enough for as many workers, few enough to take little memory.
const scanWave = 8

// negativeRows returns the given rows, ascending, of E = max(−YYᵀ, 0), and ΣE with
// the columns of the same words mirrored. It takes over the memory of reuse.
func (sc *scanner) negativeRows(ctx context.Context, y blas64.General, rows []int, reuse linalg.CSR, workers int) (linalg.CSR, float64, error) {
	n := y.Rows
	inside := make([]bool, n)
	for _, i := range rows {
		inside[i] = true
	}
	sc.packed = linalg.Repack(sc.packed, y)
	packed := sc.packed
	out := linalg.CSR{RowPtr: make([]int, 1, len(rows)+1), Cols: reuse.Cols[:0], Vals: reuse.Vals[:0]}
	hits := sc.hits(scanWave)
	sums := make([]float64, run.Count(len(rows), scanRows))
	const wave = scanWave * scanRows
	for from := 0; from < len(rows); from += wave {
		part := rows[from:min(from+wave, len(rows))]
		err := run.Chunks(ctx, len(part), scanRows, workers, func(_, c, lo, hi int) error {
			h := &hits[c]
			h.Reset()
			packed.ScanBelowRows(part[lo:hi], 0, h)
			s := 0.0
			for t, j := range h.Cols {
				v := -h.Vals[t]
				h.Vals[t] = v
				if inside[j] {
					s += v
				} else {
					s += 2 * v
				}
			}
			sums[from/scanRows+c] = s
			return nil
		})
		if err != nil {
			return linalg.CSR{}, 0, err
		}
		chunks := hits[:run.Count(len(part), scanRows)]
		need := len(out.Cols)
		for c := range chunks {
			need += len(chunks[c].Cols)
		}
		if need > cap(out.Cols) || need > cap(out.Vals) {
			// What the rows so far let expect of all.
			want := int(1.05 * float64(need) / float64(from+len(part)) * float64(len(rows)))
			out.Cols, out.Vals = grown(out.Cols, max(want, need)), grown(out.Vals, max(want, need))
		}
		for c := range chunks {
			h := &chunks[c]
			for _, end := range h.RowEnd {
				out.RowPtr = append(out.RowPtr, len(out.Cols)+end)
			}
			out.Cols, out.Vals = append(out.Cols, h.Cols...), append(out.Vals, h.Vals...)
		}
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return out, total, nil
}

// grown returns s with the given capacity.
func grown[T any](s []T, size int) []T {
	return append(make([]T, 0, size), s...)
}
