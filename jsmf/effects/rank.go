package effects

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// follow is a summand of a column of X that follows from others.
type follow struct {
	col    int
	factor float64
}

// newInformation is the share of a column's mean square that must not follow from the columns
// before it.
const newInformation = 1e-10

// rank finds the columns of X that follow from those before them. Among products some may:
// those of levels and bins that do not meet in any document. Others are an error.
func (b *builder) rank(ctx context.Context) error {
	all := make([]int, b.cols)
	for i := range all {
		all[i] = i
	}
	var err error
	if b.follows, err = b.independent(ctx, all); err != nil || len(b.follows) == 0 {
		return err
	}
	for at, k := range b.blocks {
		dropped := []int(nil)
		for c := k.begin; c < k.end; c++ {
			if b.follows[c] != nil {
				dropped = append(dropped, c)
			}
		}
		if len(dropped) == 0 {
			continue
		}
		if len(k.of) == 2 { // what would follow if it were alone
			one, two := &b.blocks[k.of[0]], &b.blocks[k.of[1]]
			alone, err := b.independent(ctx, slices.Concat([]int{0}, all[one.begin:one.end], all[two.begin:two.end], all[k.begin:k.end]))
			if err != nil {
				return err
			}
			if len(alone) == len(dropped) {
				continue
			}
		}
		return b.redundant(at, dropped)
	}
	return nil
}

// redundant names the columns of metadata that say what block at says too.
func (b *builder) redundant(at int, dropped []int) error {
	var others []string
	for i, k := range b.blocks[:at] {
		if len(b.blocks[at].of) == 2 && slices.Contains(b.blocks[at].of, i) {
			continue
		}
		for _, c := range dropped {
			if slices.ContainsFunc(b.follows[c], func(f follow) bool { return f.col >= k.begin && f.col < k.end && math.Abs(f.factor) > 1e-6 }) {
				others = append(others, fmt.Sprintf("%q", k.name))
				break
			}
		}
	}
	return fmt.Errorf("effects: the documents that count do not tell term %q from %s: leave one of them out", b.blocks[at].name, strings.Join(others, " and "))
}

// independent returns those of the given columns of X, the first of which is not 0, that
// follow from the ones before them, with what they are the sum of. It is Cholesky's
// factorisation of XᵀWX, in which a column without a remainder is passed over.
func (b *builder) independent(ctx context.Context, cols []int) (map[int][]follow, error) {
	gram := b.gram(cols)
	rows := make([][]float64, len(cols)) // of the factor, over the columns kept so far
	var kept []int
	follows := map[int][]follow{}
	for j, g := range gram {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := make([]float64, len(kept), len(kept)+1)
		rest := g[j]
		for k, i := range kept {
			r[k] = (g[i] - floats.Dot(r[:k], rows[i][:k])) / rows[i][k]
			rest -= r[k] * r[k]
		}
		if rest > newInformation*g[j] {
			rows[j] = append(r, math.Sqrt(rest))
			kept = append(kept, j)
			continue
		}
		// The factors solve Lᵀf = r.
		list := make([]follow, 0, len(kept))
		for k := len(kept) - 1; k >= 0; k-- {
			i := kept[k]
			f := r[k] / rows[i][k]
			floats.AddScaled(r[:k], -f, rows[i][:k])
			if math.Abs(f) > roundoff/1000 {
				list = append(list, follow{cols[i], f})
			}
		}
		follows[cols[j]] = list
	}
	return follows, nil
}

// gram returns the lower half of XᵀWX of some columns.
func (b *builder) gram(cols []int) [][]float64 {
	to := slices.Repeat([]int{-1}, b.cols)
	g := make([][]float64, len(cols))
	for i, c := range cols {
		to[c], g[i] = i, make([]float64, i+1)
	}
	for m, w := range b.weights {
		at, x := b.row(m)
		for i, p := range at {
			for j, q := range at {
				if r, s := to[p], to[q]; r >= 0 && s >= 0 && s <= r {
					g[r][s] += w * x[i] * x[j]
				}
			}
		}
	}
	return g
}
