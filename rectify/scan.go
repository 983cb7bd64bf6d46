package rectify

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// scanRows is how many rows of YYᵀ are scanned at a time.
	scanRows = 64
	// One chunk of rows in `sampled` is scanned first, to estimate the number of entries.
	sampled = 16
	// scanWave is how many chunks of rows I are scanned before their entries are copied
	// to E: enough to keep all goroutines busy, few enough to take little memory.
	scanWave = 8
)

// scanner scans YYᵀ for the negative entries that go into E, and keeps the memory of one
// scan for the next of the same size. The zero value is ready.
type scanner struct {
	upper   []linalg.CSR // the upper triangle, by chunks of rows
	rows    linalg.CSR   // the rows of negativeRows
	scratch []linalg.Hits
	packed  *linalg.Packed
	spare   linalg.CSR // an old E
}

// hits returns room for that number of chunks.
func (sc *scanner) hits(count int) []linalg.Hits {
	if len(sc.scratch) < count {
		sc.scratch = make([]linalg.Hits, count)
	}
	return sc.scratch[:count]
}

// negativePart returns E = max(−(YYᵀ + r), 0), both triangles, and the sum of its
// entries. It scans the upper triangle, N²K operations, and mirrors it. If a sixteenth
// of the rows suggests more than limit entries in all (0: no limit), it stops with a
// *tooDense.
func (sc *scanner) negativePart(ctx context.Context, y blas64.General, r float64, limit int64, workers int) (linalg.CSR, float64, error) {
	n := y.Rows
	sc.packed = linalg.Repack(sc.packed, y)
	packed := sc.packed
	if sc.upper == nil {
		sc.upper = make([]linalg.CSR, parallel.Count(n, scanRows))
	}
	workers = parallel.Workers(workers, len(sc.upper))
	upper, scratch := sc.upper, sc.hits(workers)
	sums := make([]float64, len(upper))
	scan := func(w, c int) error {
		lo, hi := c*scanRows, min(n, (c+1)*scanRows)
		h := &scratch[w]
		h.Reset()
		packed.ScanBelow(lo, hi, -r, h)
		u := &upper[c]
		u.RowPtr = append(append(u.RowPtr[:0], 0), h.RowEnd...)
		u.Cols, u.Vals = append(u.Cols[:0], h.Cols...), vec.Resize(u.Vals, len(h.Vals))
		at := 0
		for i := lo; i < hi; i++ {
			for ; at < h.RowEnd[i-lo]; at++ {
				v := -(h.Vals[at] + r)
				u.Vals[at] = v
				if int(u.Cols[at]) == i {
					sums[c] += v
				} else {
					sums[c] += float64(2 * v)
				}
			}
		}
		return nil
	}
	first := parallel.Count(len(upper), sampled)
	err := parallel.Chunks(ctx, first, 1, workers, func(w, c, _, _ int) error { return scan(w, c*sampled) })
	if err != nil {
		return linalg.CSR{}, 0, err
	}
	if limit > 0 {
		found, area := 0.0, 0.0
		for c := 0; c < len(upper); c += sampled {
			found += float64(len(upper[c].Cols))
			for i := c * scanRows; i < min(n, (c+1)*scanRows); i++ {
				area += float64(n - i)
			}
		}
		if expect := found / area * float64(n) * float64(n); expect > float64(limit) {
			return linalg.CSR{}, 0, &tooDense{entries: int64(expect)}
		}
	}
	err = parallel.Chunks(ctx, len(upper)-first, 1, workers, func(w, i, _, _ int) error {
		return scan(w, i+i/(sampled-1)+1) // the others, in order
	})
	if err != nil {
		return linalg.CSR{}, 0, err
	}
	e, err := mirror(ctx, n, upper, sc.spare, workers)
	sc.spare = linalg.CSR{}
	return e, vec.Sum(sums), err
}

// tooDense says that E would have more entries than allowed, and about how many.
type tooDense struct{ entries int64 }

func (e *tooDense) Error() string { return fmt.Sprintf("about %d negative entries", e.entries) }

// mirror makes both triangles of the rows of an upper triangle, given in chunks of
// scanRows rows. It takes over the memory of reuse.
func mirror(ctx context.Context, n int, chunks []linalg.CSR, reuse linalg.CSR, workers int) (linalg.CSR, error) {
	upper := func(i int) ([]int32, []float64) { return chunks[i/scanRows].Row(i % scanRows) }
	return transposed(ctx, n, n, func(i int) (int, []int32, []float64) {
		cols, vals := upper(i)
		if len(cols) > 0 && int(cols[0]) == i {
			cols, vals = cols[1:], vals[1:]
		}
		return i, cols, vals
	}, nil, upper, reuse, workers)
}

// transposed returns the transpose, n×n, of count sparse rows, with more entries at the end
// of each row i, those of last(i). row(s) returns the number of a row, which ascends with s,
// and its entries; those in the columns of skip are left out. It takes over the memory of
// reuse.
func transposed(ctx context.Context, n, count int, row func(s int) (int, []int32, []float64), skip []bool,
	last func(i int) ([]int32, []float64), reuse linalg.CSR, workers int) (linalg.CSR, error) {
	// Each chunk of target rows takes its entries from all rows; once to count and once
	// to fill.
	const target = 512
	first := func(cols []int32, lo, hi int) int { // the first column in [lo, hi), if there is one
		if len(cols) == 0 || int(cols[0]) >= hi {
			return len(cols)
		}
		t, _ := slices.BinarySearch(cols, int32(lo))
		return t
	}
	e := linalg.CSR{RowPtr: make([]int, n+1)}
	err := parallel.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		for s := range count {
			_, cols, _ := row(s)
			for t := first(cols, lo, hi); t < len(cols) && int(cols[t]) < hi; t++ {
				if j := cols[t]; skip == nil || !skip[j] {
					e.RowPtr[j+1]++
				}
			}
		}
		return nil
	})
	if err != nil {
		return linalg.CSR{}, err
	}
	for i := range n {
		cols, _ := last(i)
		e.RowPtr[i+1] += e.RowPtr[i] + len(cols)
	}
	e.Cols, e.Vals = vec.Resize(reuse.Cols, e.RowPtr[n]), vec.Resize(reuse.Vals, e.RowPtr[n])
	err = parallel.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		at := slices.Clone(e.RowPtr[lo:hi])
		for s := range count {
			i, cols, vals := row(s)
			for t := first(cols, lo, hi); t < len(cols) && int(cols[t]) < hi; t++ {
				if j := cols[t]; skip == nil || !skip[j] {
					k := &at[int(j)-lo]
					e.Cols[*k], e.Vals[*k] = int32(i), vals[t]
					*k++
				}
			}
		}
		for i := lo; i < hi; i++ {
			cols, vals := last(i)
			copy(e.Cols[at[i-lo]:], cols)
			copy(e.Vals[at[i-lo]:], vals)
		}
		return nil
	})
	return e, err
}

// negativeRows returns the part of E = max(−YYᵀ, 0) in the given rows, ascending, and in the
// columns of the same numbers, and the sum of its entries.
func (sc *scanner) negativeRows(ctx context.Context, y blas64.General, rows []int, workers int) (linalg.CSR, float64, error) {
	n := y.Rows
	inside, place := make([]bool, n), make([]int32, n)
	for s, i := range rows {
		inside[i], place[i] = true, int32(s)
	}
	sc.packed = linalg.Repack(sc.packed, y)
	packed := sc.packed
	out := linalg.CSR{RowPtr: make([]int, 1, len(rows)+1), Cols: sc.rows.Cols[:0], Vals: sc.rows.Vals[:0]}
	hits := sc.hits(scanWave)
	sums := make([]float64, parallel.Count(len(rows), scanRows))
	const wave = scanWave * scanRows
	for from := 0; from < len(rows); from += wave {
		part := rows[from:min(from+wave, len(rows))]
		err := parallel.Chunks(ctx, len(part), scanRows, workers, func(_, c, lo, hi int) error {
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
					s += float64(2 * v)
				}
			}
			sums[from/scanRows+c] = s
			return nil
		})
		if err != nil {
			return linalg.CSR{}, 0, err
		}
		chunks := hits[:parallel.Count(len(part), scanRows)]
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
	sc.rows = out
	e, err := transposed(ctx, n, len(rows), func(s int) (int, []int32, []float64) {
		cols, vals := out.Row(s)
		return rows[s], cols, vals
	}, inside, func(i int) ([]int32, []float64) {
		if !inside[i] {
			return nil, nil
		}
		return out.Row(int(place[i]))
	}, sc.spare, workers)
	sc.spare = linalg.CSR{}
	return e, vec.Sum(sums), err
}

// grown returns s with the given capacity.
func grown[T any](s []T, size int) []T {
	return append(make([]T, 0, size), s...)
}
