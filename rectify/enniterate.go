package rectify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// ennIterate is an iterate YYᵀ + r·eeᵀ + E of ENN, where E is not zero in the rows and
// columns of some words I only. E is kept in two halves: the rows I, as they were
// scanned, and the mirror images of their entries in the other rows.
type ennIterate struct {
	y       blas64.General
	r       float64
	rows    []int      // I, ascending; nil: all words
	own     linalg.CSR // the rows of I, or of all words
	rest    linalg.CSR // n rows, those of I empty; empty where I is all words
	epsilon float64    // the largest ‖y_i‖² outside of I
}

// nnz counts the entries of E.
func (it *ennIterate) nnz() int { return len(it.own.Cols) + len(it.rest.Cols) }

// mul computes dst = (YYᵀ + r·eeᵀ + E)·x. inside has room for |I| rows of x.
func (it *ennIterate) mul(ctx context.Context, dst, x blas64.General, inside []float64, workers int) error {
	m := linalg.LowRankSparse{Y: it.y, R: it.r, E: it.own}
	if it.rows == nil {
		return m.Mul(ctx, dst, x, workers)
	}
	m.E = it.rest
	if err := m.Mul(ctx, dst, x, workers); err != nil {
		return err
	}
	if len(it.own.Cols) == 0 {
		return ctx.Err()
	}
	t := blas64.General{Rows: len(it.rows), Cols: x.Cols, Stride: max(x.Cols, 1), Data: inside}
	if err := it.own.Mul(ctx, x, t, false, workers); err != nil {
		return err
	}
	for s, i := range it.rows {
		row := linalg.Row(dst, i)
		for j, v := range linalg.Row(t, s) {
			row[j] += v
		}
	}
	return nil
}

// mirror fills in the half of E outside of the rows of I. The memory of reuse
// is taken over.
func (it *ennIterate) mirror(ctx context.Context, reuse linalg.CSR, workers int) error {
	it.rest = linalg.CSR{}
	if it.rows == nil {
		return nil
	}
	n := it.y.Rows
	inside := make([]bool, n)
	for _, i := range it.rows {
		inside[i] = true
	}
	// Each chunk of rows takes its entries from the columns of all rows of I,
	// which come in ascending order; once to count and once to fill.
	const target = 1024
	each := func(lo, hi int, f func(i int, j int32, v float64)) {
		for s, i := range it.rows {
			cols, vals := it.own.Row(s)
			t, _ := slices.BinarySearch(cols, int32(lo))
			for ; t < len(cols) && int(cols[t]) < hi; t++ {
				if j := cols[t]; !inside[j] {
					f(i, j, vals[t])
				}
			}
		}
	}
	ptr := make([]int, n+1)
	err := run.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		each(lo, hi, func(_ int, j int32, _ float64) { ptr[j+1]++ })
		return nil
	})
	if err != nil {
		return err
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	cols, vals := vec.Resize(reuse.Cols, ptr[n]), vec.Resize(reuse.Vals, ptr[n])
	err = run.Chunks(ctx, n, target, workers, func(_, _, lo, hi int) error {
		at := slices.Clone(ptr[lo:hi])
		each(lo, hi, func(i int, j int32, v float64) {
			k := &at[int(j)-lo]
			cols[*k], vals[*k] = int32(i), v
			*k++
		})
		return nil
	})
	it.rest = linalg.CSR{RowPtr: ptr, Cols: cols, Vals: vals}
	return err
}

// correctionChange returns ‖E_1 − E_0‖_F from the own rows of both.
func correctionChange(ctx context.Context, l0, l1 *ennIterate, workers int) (float64, error) {
	n := l1.y.Rows
	p0, p1 := l0.places(), l1.places()
	both := func(j int32) bool { return p0[j] >= 0 && p1[j] >= 0 }
	const size = 64
	sums := make([]float64, run.Count(n, size))
	err := run.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
		s := 0.0
		add := func(i int, j int32, d float64) {
			if int(j) == i {
				s += d * d
			} else {
				s += 2 * d * d
			}
		}
		for i := lo; i < hi; i++ {
			switch {
			case both(int32(i)):
				// Pairs of two such words are met twice: take the first.
				ac, av := l0.own.Row(int(p0[i]))
				bc, bv := l1.own.Row(int(p1[i]))
				for a, b := 0, 0; a < len(ac) || b < len(bc); {
					var j int32
					var d float64
					switch {
					case b == len(bc) || a < len(ac) && ac[a] < bc[b]:
						j, d = ac[a], av[a]
						a++
					case a == len(ac) || bc[b] < ac[a]:
						j, d = bc[b], bv[b]
						b++
					default:
						j, d = ac[a], bv[b]-av[a]
						a++
						b++
					}
					if int(j) >= i || !both(j) {
						add(i, j, d)
					}
				}
			case p1[i] >= 0: // in the new I only
				cols, vals := l1.own.Row(int(p1[i]))
				for t, j := range cols {
					switch {
					case both(j) || p1[j] >= 0 && int(j) < i:
						// counted with j
					case p0[j] >= 0:
						add(i, j, vals[t]-l0.entry(int(p0[j]), i))
					default:
						add(i, j, vals[t])
					}
				}
			case p0[i] >= 0: // in the old I only
				cols, vals := l0.own.Row(int(p0[i]))
				for t, j := range cols {
					switch {
					case both(j) || p0[j] >= 0 && int(j) < i:
					case p1[j] >= 0 && l1.entry(int(p1[j]), i) != 0:
					default:
						add(i, j, vals[t])
					}
				}
			}
		}
		sums[c] = s
		return nil
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return math.Sqrt(total), err
}

// places returns the number of each word's row in own, -1 where it has none.
func (it *ennIterate) places() []int32 {
	p := make([]int32, it.y.Rows)
	for i := range p {
		p[i] = int32(i)
		if it.rows != nil {
			p[i] = -1
		}
	}
	for s, i := range it.rows {
		p[i] = int32(s)
	}
	return p
}

// entry returns the entry of own in row s and column j.
func (it *ennIterate) entry(s, j int) float64 {
	cols, vals := it.own.Row(s)
	if t, ok := slices.BinarySearch(cols, int32(j)); ok {
		return vals[t]
	}
	return 0
}
