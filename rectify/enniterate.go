package rectify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// ennIterate is an iterate YYᵀ + r·eeᵀ + E of ENN, with E zero outside of the rows and
// columns of some words I. E is kept in two halves: the rows I, as they were scanned,
// and the mirror images of their entries in the other rows.
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
		floats.Add(linalg.Row(dst, i), linalg.Row(t, s))
	}
	return nil
}

// mirror fills in the half of E outside of the rows I. It takes over the memory of reuse.
func (it *ennIterate) mirror(ctx context.Context, reuse linalg.CSR, workers int) (err error) {
	it.rest = linalg.CSR{}
	if it.rows == nil {
		return nil
	}
	inside := make([]bool, it.y.Rows)
	for _, i := range it.rows {
		inside[i] = true
	}
	it.rest, err = transposed(ctx, len(inside), len(it.rows), func(s int) (int, []int32, []float64) {
		cols, vals := it.own.Row(s)
		return it.rows[s], cols, vals
	}, inside, func(int) ([]int32, []float64) { return nil, nil }, reuse, workers)
	return err
}

// correctionChange returns ‖E_1 − E_0‖_F from the own rows of both.
func correctionChange(ctx context.Context, l0, l1 *ennIterate, workers int) (float64, error) {
	n := l1.y.Rows
	p0, p1 := l0.places(), l1.places()
	both := func(j int32) bool { return p0[j] >= 0 && p1[j] >= 0 }
	const size = 64
	sums := make([]float64, parallel.Count(n, size))
	err := parallel.Chunks(ctx, n, size, workers, func(_, c, lo, hi int) error {
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
				union(ac, av, bc, bv, func(j int, a, b float64) {
					if j >= i || !both(int32(j)) {
						add(i, int32(j), b-a)
					}
				})
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
	return math.Sqrt(vec.Sum(sums)), err
}

// places returns the number of each word's row in own, −1 for none.
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
