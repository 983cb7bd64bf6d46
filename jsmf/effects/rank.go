package effects

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// follow is a summand of a column of X that follows from others.
type follow struct {
	col    int
	factor float64
}

// newInformation is the share of a column's mean square that must not follow from the columns
// before it.
const newInformation = 1e-10

// rank finds the columns of X that follow from those before them. Products may follow from the columns
// they are made of: those of levels and bins that do not meet in any document. Whatever else follows is an
// error that names the columns of metadata that say the same.
func (b *builder) rank(ctx context.Context) error {
	if err := b.independent(ctx); err != nil {
		return err
	}
	for at, k := range b.blocks {
		var others []string
		far := ""
		for c := k.begin; c < k.end; c++ {
			list, ok := b.follows[c]
			if ok && len(k.of) == 1 {
				far = fmt.Sprintf("column %q: its numbers are too unevenly spread", k.name)
			}
			for i, other := range b.blocks[:at] {
				says := func(f follow) bool { return f.col >= other.begin && f.col < other.end && math.Abs(f.factor) > 1e-6 }
				if name := fmt.Sprintf("%q", other.name); !slices.Contains(k.of, i) && !slices.Contains(others, name) && slices.ContainsFunc(list, says) {
					others = append(others, name)
				}
			}
		}
		var parts []part
		for _, c := range k.of {
			parts = append(parts, b.columns[c].part)
		}
		switch {
		case others != nil:
			return &untold{b.last(parts...), fmt.Sprintf("the documents that count do not tell term %q from %s", k.name, strings.Join(others, " and ")), ": leave one of them out"}
		case far != "":
			return &untold{b.last(parts...), far, ": take their logarithms"}
		}
	}
	return nil
}

// independent sets follows and factor by Cholesky's factorisation of XᵀWX, in which a column without
// a remainder is passed over. The first column is not 0.
func (b *builder) independent(ctx context.Context) error {
	b.follows = map[int][]follow{}
	rows := make([][]float64, b.cols) // of the factor, over the columns kept so far
	var kept []int
	for j, g := range b.gram() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := make([]float64, len(kept), len(kept)+1)
		rest := g[j]
		for k, i := range kept {
			r[k] = (g[i] - floats.Dot(r[:k], rows[i][:k])) / rows[i][k]
			rest -= r[k] * r[k]
		}
		if rest > newInformation*g[j] {
			rows[j] = append(r, math.Sqrt(rest))
			kept, b.factor = append(kept, j), append(b.factor, rows[j])
			continue
		}
		// The factors solve Lᵀf = r.
		list := make([]follow, 0, len(kept))
		for k := len(kept) - 1; k >= 0; k-- {
			i := kept[k]
			f := r[k] / rows[i][k]
			floats.AddScaled(r[:k], -f, rows[i][:k])
			if math.Abs(f) > roundoff/1000 {
				list = append(list, follow{i, f})
			}
		}
		b.follows[j] = list
	}
	return nil
}

// invert returns T, for which (LLᵀ)⁻¹ = T·Tᵀ. O(P³).
func invert(ctx context.Context, factor [][]float64) (blas64.General, error) {
	p := len(factor)
	t := linalg.NewGeneral(p, p)
	return t, parallel.Chunks(ctx, p, 8, 0, func(_, _, lo, hi int) error {
		for j := lo; j < hi; j++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			z := linalg.Row(t, j) // row j is column j of L⁻¹
			z[j] = 1 / factor[j][j]
			for i := j + 1; i < p; i++ {
				z[i] = -floats.Dot(factor[i][j:i], z[j:i]) / factor[i][i]
			}
		}
		return nil
	})
}

// gram returns the lower half of XᵀWX.
func (b *builder) gram() [][]float64 {
	g := make([][]float64, b.cols)
	for c := range g {
		g[c] = make([]float64, c+1)
	}
	for m, w := range b.weights {
		at, x := b.row(m)
		for i, p := range at {
			for j, q := range at {
				if q <= p {
					g[p][q] += w * x[i] * x[j]
				}
			}
		}
	}
	return g
}
