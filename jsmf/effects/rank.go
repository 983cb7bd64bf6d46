package effects

import (
	"cmp"
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

// finish asks for all points of all terms, and drops the columns of X that follow from
// others.
func (b *builder) finish(ctx context.Context) (*design, error) {
	kept := make([]int, 0, b.cols)
	to := slices.Repeat([]int32{-1}, b.cols)
	for c := range b.cols {
		if _, ok := b.follows[c]; !ok {
			to[c] = int32(len(kept))
			kept = append(kept, c)
		}
	}
	d := &b.design
	for _, t := range b.terms {
		made, given := b.points(t)
		for _, v := range given {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := b.vector(v)
			if c != nil {
				c = at(c, kept)
			}
			made.predict = append(made.predict, c)
		}
		if made.Kind == Numbers {
			if c := b.slope(b.column(t.parts[0])); b.estimable(c) {
				made.slope = at(c, kept)
			}
		}
		d.terms = append(d.terms, made)
	}
	d.mean = at(b.mean, kept)
	next := 0
	for m := range d.docs {
		places, x := d.row(m)
		d.ptr[m] = next
		for i, c := range places {
			if to[c] >= 0 {
				d.at[next], d.x[next] = to[c], x[i]
				next++
			}
		}
	}
	d.ptr[len(d.docs)], d.at, d.x, d.cols = next, d.at[:next], d.x[:next], len(kept)
	var err error
	d.inverse, err = invert(ctx, b.factor)
	return d, err
}

// points returns what is known of a term without its numbers, and for each of its points
// the values of its columns, by their places among the columns.
func (b *builder) points(t Term) (termDesign, []map[int][]float64) {
	i := b.column(t.parts[0])
	one := b.columns[i]
	out := termDesign{TermEffects: TermEffects{Name: t.String(), Columns: []string{one.column}, Kind: one.kind, Unit: one.unit}}
	var given []map[int][]float64
	if len(t.parts) == 1 {
		out.Points = slices.Clone(one.points)
		units := b.unitsAt(one, nil)
		for r, v := range one.values {
			given = append(given, map[int][]float64{i: v})
			out.Points[r].Units = units(r, 0)
		}
		return out, given
	}
	j := b.column(t.parts[1])
	two := b.columns[j]
	out.Columns, out.Kind, out.Unit = append(out.Columns, two.column), Interactions, cmp.Or(one.unit, two.unit)
	units := b.unitsAt(one, two)
	for r, p := range one.points {
		for s, q := range two.points {
			x := Point{
				Label: p.Label + " × " + q.Label, Labels: []string{p.Label, q.Label}, Levels: slices.Concat(p.Levels, q.Levels),
				Number: p.Number + q.Number, From: p.From, To: p.To, Incomplete: p.Incomplete || q.Incomplete,
				Units: units(r, s),
			}
			if two.kind == Times {
				x.From, x.To = q.From, q.To
			}
			out.Points = append(out.Points, x)
			given = append(given, map[int][]float64{i: one.values[r], j: two.values[s]})
		}
	}
	for m, r := range one.of {
		out.Points[r*len(two.points)+two.of[m]].Documents++
	}
	return out, given
}

// unitsAt counts the units at each pair of points of two columns, or at each of one if the other is nil.
// The points of a number share theirs.
func (b *builder) unitsAt(one, two *column) func(r, s int) int {
	at := func(c *column, i int) int {
		if c == nil || c.kind == Numbers {
			return 0
		}
		return i
	}
	seen, counts := map[[3]int]bool{}, map[[2]int]int{}
	for m, unit := range b.unit {
		key := [3]int{at(one, one.of[m]), 0, unit}
		if two != nil {
			key[1] = at(two, two.of[m])
		}
		if !seen[key] {
			seen[key] = true
			counts[[2]int(key[:2])]++
		}
	}
	return func(r, s int) int { return counts[[2]int{at(one, r), at(two, s)}] }
}

// vector returns the mean row of X if all documents had the given values in their columns,
// and nil if the documents do not determine it.
func (b *builder) vector(given map[int][]float64) []float64 {
	for _, v := range given {
		if v == nil {
			return nil
		}
	}
	c := slices.Clone(b.mean)
	for _, k := range b.blocks {
		x, fixed := given[k.of[0]]
		if len(k.of) == 1 {
			if fixed {
				copy(c[k.begin:k.end], x)
			}
			continue
		}
		y, also := given[k.of[1]]
		if !fixed && !also {
			continue
		}
		clear(c[k.begin:k.end])
		if !k.outer(c, b.orMean(x, k.of[0]), b.orMean(y, k.of[1])) {
			return nil
		}
	}
	if !b.estimable(c) {
		return nil
	}
	return c
}

// orMean returns x, or the mean of a column if x is nil.
func (b *builder) orMean(x []float64, column int) []float64 {
	if k := b.blocks[column]; x == nil {
		return b.mean[k.begin:k.end]
	}
	return x
}

// outer adds the products of x and y to the columns of the block, and reports whether it has
// all that are not 0.
func (k *block) outer(c, x, y []float64) bool {
	for i, v := range x {
		for j, u := range y {
			if v*u == 0 {
				continue
			}
			at, ok := k.pairs[[2]int32{int32(i), int32(j)}]
			if !ok {
				return false
			}
			c[at] += v * u
		}
	}
	return true
}

// roundoff is how far a vector may be from what follows from its other entries, relative to
// these.
const roundoff = 1e-9

// estimable reports whether the answer to c is the same for all coefficients that explain the
// documents equally well.
func (b *builder) estimable(c []float64) bool {
	for col, list := range b.follows {
		sum, size := 0.0, 1.0
		for _, f := range list {
			sum += f.factor * c[f.col]
			size += math.Abs(f.factor * c[f.col])
		}
		if math.Abs(c[col]-sum) > roundoff*size {
			return false
		}
	}
	return true
}

// slope returns the mean derivative of the rows of X by the number in a column.
func (b *builder) slope(column int) []float64 {
	c := make([]float64, b.cols)
	for _, k := range b.blocks {
		first := slices.Index(k.of, column)
		if first < 0 {
			continue
		}
		for m, w := range b.weights {
			dy := b.columns[column].slopes[m]
			if len(k.of) == 1 {
				floats.AddScaled(c[k.begin:k.end], w, dy)
				continue
			}
			p, x := b.columns[k.of[1-first]].row(m)
			for i, v := range x {
				for j, u := range dy {
					pair := [2]int32{int32(j), p[i]}
					if first == 1 {
						pair = [2]int32{p[i], int32(j)}
					}
					c[k.pairs[pair]] += w * v * u
				}
			}
		}
	}
	return c
}
