package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Matching says which topic of one model is which of another. Each list has an
// entry for each topic of the first model.
type Matching struct {
	// Of holds the topic of the second model, −1 for a topic without a partner. All topics
	// of the smaller model are matched.
	Of []int
	// Distances is K_A×K_B: the distance of L1 for each pair of topics.
	Distances *mat.Dense
	// L1 is Σ_n |p(n | topic) − p(n | partner)| over the words of either model, in
	// [0, 2]: twice the total variation distance. A word that a model lacks has
	// probability 0 there. NaN without a partner.
	L1      Stat
	Overlap []int // how many words are top words of both
}

// MatchOptions are the settings of Match. The zero value compares models of the
// same words in the same order.
type MatchOptions struct {
	// WordsA and WordsB are the vocabularies of the two models, all words of each
	// different. nil for both: row n is the same word in both.
	WordsA, WordsB []string
	Top            int // top words of a topic for Overlap; 0: 20
	Workers        int // goroutines; 0: GOMAXPROCS. The result does not depend on it
}

// Match assigns the topics of a (N_A×K_A) to those of b (N_B×K_B), one to one, so that the
// sum of their ℓ₁ distances is least. Words are matched by their strings where vocabularies
// are given. O(N·K_A·K_B + K³), less where most probabilities of a topic are one. Errors:
// matrices that are not topics, vocabularies of the wrong length or with a word twice, ctx's.
func Match(ctx context.Context, a, b *mat.Dense, o MatchOptions) (*Matching, error) {
	ta, err := checkTopicsOf("B of the first model", a)
	if err != nil {
		return nil, err
	}
	tb, err := checkTopicsOf("B of the second model", b)
	if err != nil {
		return nil, err
	}
	top, err := topN(o.Top)
	if err != nil {
		return nil, err
	}
	at, err := sameWords(ta.n, tb.n, o.WordsA, o.WordsB)
	if err != nil {
		return nil, err
	}
	rowsA, rowsB := onUnion(ta, tb, at)
	l1, err := distances(ctx, rowsA, rowsB, o.Workers)
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	gain := mat.NewDense(ta.k, tb.k, nil)
	gain.Scale(-1, l1)
	of, err := assign.Best(gain)
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	out := &Matching{Of: of, Distances: l1, Overlap: make([]int, ta.k)}
	dist := slices.Repeat([]float64{math.NaN()}, ta.k)
	topA, topB := topWords(ta.b, top), topWords(tb.b, top)
	for k, l := range of {
		if l >= 0 {
			dist[k] = vec.Taxicab(rowsA.RawRowView(k), rowsB.RawRowView(l))
			out.Overlap[k] = overlap(ta, tb, at, k, l, topA[k], topB[l])
		}
	}
	out.L1 = NewStat(dist)
	return out, nil
}

// onUnion returns the topics of two models as rows over the words of either: those of the
// first model, and then those that only the second has. at is that of sameWords.
func onUnion(ta, tb *topics, at []int) (a, b *mat.Dense) {
	common := 0
	place := slices.Repeat([]int{-1}, tb.n) // of each word of the second
	for i, j := range at {
		if j >= 0 {
			place[j] = i
			common++
		}
	}
	size := ta.n + tb.n - common
	a, b = mat.NewDense(ta.k, size, nil), mat.NewDense(tb.k, size, nil)
	for i := range ta.n {
		a.SetCol(i, ta.b.RawRowView(i))
	}
	next := ta.n
	for j, i := range place {
		if i < 0 {
			i = next
			next++
		}
		b.SetCol(i, tb.b.RawRowView(j))
	}
	return a, b
}

// overlap counts the words that are among the first of topic k of a and of topic l of
// b. Words of probability 0 are none.
func overlap(ta, tb *topics, at []int, k, l int, topA, topB []int) int {
	in := map[int]bool{}
	for _, w := range topB {
		in[w] = tb.b.At(w, l) > 0
	}
	n := 0
	for _, w := range topA {
		if at[w] >= 0 && ta.b.At(w, k) > 0 && in[at[w]] {
			n++
		}
	}
	return n
}

// sameWords returns the number in b of each word of a, −1 where b lacks it.
func sameWords(na, nb int, a, b []string) ([]int, error) {
	at := make([]int, na)
	if a == nil && b == nil {
		if na != nb {
			return nil, fmt.Errorf("metrics: match: models of %d and %d words need their vocabularies to be compared", na, nb)
		}
		for i := range at {
			at[i] = i
		}
		return at, nil
	}
	if len(a) != na || len(b) != nb {
		return nil, fmt.Errorf("metrics: match: vocabularies of %d and %d words for models of %d and %d", len(a), len(b), na, nb)
	}
	if _, err := numbers("first", a); err != nil {
		return nil, err
	}
	number, err := numbers("second", b)
	if err != nil {
		return nil, err
	}
	for i, w := range a {
		at[i] = -1
		if j, ok := number[w]; ok {
			at[i] = j
		}
	}
	return at, nil
}

// numbers returns the number of each word of a vocabulary.
func numbers(which string, words []string) (map[string]int, error) {
	at := make(map[string]int, len(words))
	for i, w := range words {
		if j, ok := at[w]; ok {
			return nil, fmt.Errorf("metrics: match: words %d and %d of the %s vocabulary are both %q", j, i, which, w)
		}
		at[w] = i
	}
	return at, nil
}

// distances returns the ℓ₁ distances of the rows of a to those of b, both over the same words. Where
// most numbers of a row are one, as those of the words that a topic does not have, it compares the
// others, with rounding errors of some 1e-15.
func distances(ctx context.Context, a, b *mat.Dense, workers int) (*mat.Dense, error) {
	ka, n := a.Dims()
	kb, _ := b.Dims()
	out := mat.NewDense(ka, kb, nil)
	rows, cols := sparseRows(a), sparseRows(b)
	meet := columnsOf(cols, n)
	one := func(k, l int) float64 { return vec.Taxicab(a.RawRowView(k), b.RawRowView(l)) }
	if 4*meet.pairs(rows) < ka*kb*n {
		one = func(k, l int) float64 {
			x, y := &rows[k], &cols[l]
			return float64(float64(n-len(x.at)-len(y.at))*math.Abs(x.base-y.base)) + x.away(y.base) + y.away(x.base)
		}
	} else {
		meet.start = nil
	}
	return out, parallel.Chunks(ctx, ka, 1, workers, func(_, _, lo, hi int) error {
		for k := lo; k < hi; k++ {
			row := out.RawRowView(k)
			for l := range row {
				row[l] = one(k, l)
			}
			if meet.start != nil {
				meet.add(row, &rows[k])
			}
		}
		return nil
	})
}

// sparseRow is a row of which most numbers are one.
type sparseRow struct {
	base   float64
	at     []int     // where the others are
	values []float64 // they
	sorted []float64 // in ascending order
	sums   []float64 // of the first of sorted, len(at)+1
}

func sparseRows(a *mat.Dense) []sparseRow {
	k, _ := a.Dims()
	out := make([]sparseRow, k)
	for t := range out {
		row := a.RawRowView(t)
		x := sparseRow{base: majority(row)}
		for i, v := range row {
			if v != x.base {
				x.at, x.values = append(x.at, i), append(x.values, v)
			}
		}
		x.sorted = slices.Sorted(slices.Values(x.values))
		x.sums = make([]float64, len(x.at)+1)
		for i, v := range x.sorted {
			x.sums[i+1] = x.sums[i] + v
		}
		out[t] = x
	}
	return out
}

// majority returns the number that more than half of x are, or any of x if none is so frequent
// (Boyer and Moore 1981).
func majority(x []float64) (most float64) {
	lead := 0
	for _, v := range x {
		switch {
		case lead == 0:
			most, lead = v, 1
		case v == most:
			lead++
		default:
			lead--
		}
	}
	return most
}

// away returns the sum of |v − y| over the numbers v of the row that are not its base.
func (x *sparseRow) away(y float64) float64 {
	r, _ := slices.BinarySearch(x.sorted, y)
	n := len(x.sorted)
	return (float64(float64(r)*y) - x.sums[r]) + (x.sums[n] - x.sums[r] - float64(float64(n-r)*y))
}

// columns holds for each word the rows in which it has another number than the base.
type columns struct {
	base   []float64 // of each row
	start  []int     // n+1
	row    []int32
	values []float64
}

func columnsOf(rows []sparseRow, n int) columns {
	c := columns{start: make([]int, n+1)}
	for _, x := range rows {
		c.base = append(c.base, x.base)
		for _, i := range x.at {
			c.start[i+1]++
		}
	}
	for i := range n {
		c.start[i+1] += c.start[i]
	}
	c.row, c.values = make([]int32, c.start[n]), make([]float64, c.start[n])
	next := slices.Clone(c.start)
	for t, x := range rows {
		for j, i := range x.at {
			c.row[next[i]], c.values[next[i]] = int32(t), x.values[j]
			next[i]++
		}
	}
	return c
}

// pairs returns how many numbers of rows meet one of c.
func (c columns) pairs(rows []sparseRow) (sum int) {
	for _, x := range rows {
		for _, i := range x.at {
			sum += c.start[i+1] - c.start[i]
		}
	}
	return sum
}

// add corrects the distances of x to the rows for the words at which neither has its base, which
// were counted as if either had.
func (c columns) add(to []float64, x *sparseRow) {
	for j, i := range x.at {
		v := x.values[j]
		lo, hi := c.start[i], c.start[i+1]
		values := c.values[lo:hi]
		for j, l := range c.row[lo:hi] {
			w, y := values[j], c.base[l]
			to[l] += math.Abs(v-w) - math.Abs(v-y) - math.Abs(x.base-w) + math.Abs(x.base-y)
		}
	}
	for l, d := range to {
		to[l] = max(d, 0)
	}
}
