package effects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/errs"
)

// design is what the terms of a study make of metadata: the M×P matrix X of a linear model,
// and the numbers to be read off its coefficients. Column 0 is the constant 1. X has full
// column rank.
type design struct {
	docs []int // those that count, by number in the metadata
	cols int   // P

	// X by rows, without zeros: those of row i are ptr[i]:ptr[i+1].
	ptr []int
	at  []int32
	x   []float64

	weights []float64      // of the documents that count; their sum is 1
	mean    []float64      // the mean row of X with these weights
	inverse blas64.General // T, upper triangular: (XᵀWX)⁻¹ = T·Tᵀ
	terms   []termDesign   // in the order of the study
	unit    []int          // of each document that counts, the number of its cluster; without clusters, of its own
	units   int            // how many there are
}

// termDesign is what is asked of one term. If β are the coefficients, of P rows, cᵀβ is the
// answer for each vector c.
type termDesign struct {
	TermEffects             // without numbers
	predict     [][]float64 // of each point; nil if the documents do not tell
	slope       []float64   // of Numbers, unless the documents do not tell; otherwise nil
	in          int         // the number of the design that predict and slope are of
}

// row returns the places in row i of X that are not 0, and their values.
func (d *design) row(i int) (at []int32, x []float64) {
	return d.at[d.ptr[i]:d.ptr[i+1]], d.x[d.ptr[i]:d.ptr[i+1]]
}

// newDesigns makes the design of terms that Study.Validate has passed, and if they are several also
// that of each alone. Documents of weight 0 and those without a value in a column of the terms are left
// out. Those with the same value in the column cluster, if it has a name, are one unit.
func newDesigns(ctx context.Context, terms []Term, meta *corpus.Metadata, weights []float64, cluster string) ([]*design, error) {
	all := &builder{terms: terms}
	if err := all.read(meta, weights, cluster); err != nil {
		return nil, err
	}
	list := []*builder{all}
	for i, t := range terms {
		if len(terms) == 1 {
			break
		}
		alone := &builder{terms: terms[i : i+1]}
		alone.docs, alone.weights, alone.unit, alone.units = all.docs, all.weights, all.unit, all.units
		for _, p := range t.parts {
			alone.columns = append(alone.columns, all.columns[all.column(p)])
		}
		list = append(list, alone)
	}
	var out []*design
	for _, b := range list {
		d, err := b.make(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// make makes the design of what was read.
func (b *builder) make(ctx context.Context) (*design, error) {
	if err := b.layout(); err != nil {
		return nil, err
	}
	if err := b.fill(ctx); err != nil {
		return nil, err
	}
	if err := b.rank(ctx); err != nil {
		return nil, err
	}
	return b.finish(ctx)
}

// untold is the error that a term of a study cannot be told.
type untold struct {
	term        int
	why, advice string
}

func (u *untold) Error() string { return "effects: " + u.why + u.advice }

// maxColumns is the largest number of columns of X.
const maxColumns = 5000

// builder makes a design. Until finish, X has columns that follow from others.
type builder struct {
	design
	terms   []Term
	columns []*column // of all terms, each once
	blocks  []block

	follows map[int][]follow // columns that follow from others
	factor  [][]float64      // of the others: L, by rows, XᵀWX = LLᵀ
}

// block is columns of X that belong together: those of one column of metadata, or the
// products of those of two.
type block struct {
	name  string
	of    []int // one or two of builder.columns
	begin int   // its first column of X
	end   int
	// pairs are the columns of X of products that occur, by the places in both columns.
	pairs map[[2]int32]int32
}

// read collects the columns and finds the documents that count.
func (b *builder) read(meta *corpus.Metadata, weights []float64, cluster string) error {
	if len(meta.Columns()) == 0 {
		return errors.New("effects: the documents have no metadata")
	}
	var lacks []int // of each column, the documents without a value
	var raws []raw
	for i, t := range b.terms {
		for _, p := range t.parts {
			if b.column(p) >= 0 {
				continue
			}
			r, err := p.read(meta)
			if err != nil {
				return errs.Errorf("effects", "term %d, %v: %w", i+1, t, err)
			}
			b.columns, raws = append(b.columns, &column{part: p}), append(raws, r)
			lacks = append(lacks, 0)
		}
	}
	for m, w := range weights {
		counts := w > 0
		for i, r := range raws {
			if w > 0 && !r.known[m] {
				lacks[i]++
				counts = false
			}
		}
		if counts {
			b.docs, b.weights = append(b.docs, m), append(b.weights, w)
		}
	}
	if len(b.docs) == 0 {
		var list []string
		for i, n := range lacks {
			list = append(list, fmt.Sprintf("%d lack %q", n, b.columns[i].column))
		}
		return fmt.Errorf("effects: no document has words of the model and values in all columns of the terms: of %d, %s", len(weights), strings.Join(list, ", "))
	}
	floats.Scale(1/floats.Sum(b.weights), b.weights)
	for i, c := range b.columns {
		var err error
		if b.columns[i], err = newColumn(c.part, raws[i], b.docs); err != nil {
			return &untold{term: b.last(c.part), why: fmt.Sprintf("column %q: %v", c.part.column, err)}
		}
	}
	b.unit, b.units = clusters(meta, cluster, b.docs)
	return nil
}

// clusters numbers the values that documents have in a column, and counts them. A document without
// one is a cluster of its own, and so is each without a column.
func clusters(meta *corpus.Metadata, column string, docs []int) (of []int, count int) {
	at := slices.IndexFunc(meta.Columns(), func(c corpus.Column) bool { return c.Name == column })
	number := map[corpus.Value]int{}
	for _, m := range docs {
		n := count
		if v := (corpus.Value{}); at >= 0 && meta.Value(m, at) != v {
			v = meta.Value(m, at)
			if old, ok := number[v]; ok {
				n = old
			}
			number[v] = n
		}
		of, count = append(of, n), max(count, n+1)
	}
	return of, count
}

// last returns the number of the last term that has all of these parts.
func (b *builder) last(parts ...part) int {
	for i := len(b.terms) - 1; i > 0; i-- {
		if !slices.ContainsFunc(parts, func(p part) bool { return !slices.Contains(b.terms[i].parts, p) }) {
			return i
		}
	}
	return 0
}

// column returns the place of a part among the columns, −1 if it has none yet.
func (b *builder) column(p part) int {
	return slices.IndexFunc(b.columns, func(c *column) bool { return c.part == p })
}

// layout sets the blocks: those of single columns first, then the products.
func (b *builder) layout() error {
	next := 1
	for i, c := range b.columns {
		b.blocks = append(b.blocks, block{name: c.part.column, of: []int{i}, begin: next, end: next + c.size})
		next += c.size
	}
	singles := next
	for _, t := range b.terms {
		if len(t.parts) < 2 {
			continue
		}
		of := []int{b.column(t.parts[0]), b.column(t.parts[1])}
		if b.product(of[0], of[1]) != nil {
			continue // the same with its parts swapped
		}
		if n := len(b.columns[of[0]].points) * len(b.columns[of[1]].points); n > maxPoints {
			return fmt.Errorf("effects: term %q has %d pairs of points; at most %d", t.String(), n, maxPoints)
		}
		k := block{name: t.String(), of: of, begin: next, pairs: map[[2]int32]int32{}}
		one, two := b.columns[of[0]], b.columns[of[1]]
		for m := range b.docs {
			p, _ := one.row(m)
			q, _ := two.row(m)
			for _, i := range p {
				for _, j := range q {
					if _, ok := k.pairs[[2]int32{i, j}]; !ok {
						k.pairs[[2]int32{i, j}] = int32(next)
						next++
					}
				}
			}
		}
		k.end = next
		b.blocks = append(b.blocks, k)
	}
	if b.cols = next; next > maxColumns {
		return fmt.Errorf("effects: the terms have %d levels, bins and pairs of them together; at most %d", next, maxColumns)
	}
	if n := len(b.docs); n <= singles {
		return fmt.Errorf("effects: %d documents do not tell the effects of terms with %d levels and bins together", n, singles)
	}
	return nil
}

// product returns the block of the products of two columns, nil if there is none.
func (b *builder) product(i, j int) *block {
	for at := range b.blocks {
		if of := b.blocks[at].of; len(of) == 2 && (of[0] == i && of[1] == j || of[0] == j && of[1] == i) {
			return &b.blocks[at]
		}
	}
	return nil
}

// fill sets X and its mean row.
func (b *builder) fill(ctx context.Context) error {
	b.ptr, b.mean = make([]int, 1, len(b.docs)+1), make([]float64, b.cols)
	for m, w := range b.weights {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.at, b.x = append(b.at, 0), append(b.x, 1)
		for _, k := range b.blocks {
			p, x := b.columns[k.of[0]].row(m)
			if len(k.of) == 1 {
				for i, v := range x {
					b.at, b.x = append(b.at, int32(k.begin)+p[i]), append(b.x, v)
				}
				continue
			}
			q, y := b.columns[k.of[1]].row(m)
			for i, v := range x {
				for j, u := range y {
					b.at, b.x = append(b.at, k.pairs[[2]int32{p[i], q[j]}]), append(b.x, v*u)
				}
			}
		}
		b.ptr = append(b.ptr, len(b.at))
		places, values := b.row(m)
		for i, c := range places {
			b.mean[c] += w * values[i]
		}
	}
	return nil
}
