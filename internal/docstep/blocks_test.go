package docstep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/estep"
)

// blocked draws a rule of k columns, of which one in seven is no topic, and the rule of the columns in
// some blocks alone.
func blocked(rnd *rand.Rand, k int, blocks []uint16) (all, some Rule) {
	const words = 40
	topics, unigram := estep.NewRows(words, k), make([]float32, words)
	for i := range words {
		unigram[i] = 1.0 / words
		for c := range k {
			topics.Row(i)[c] = rnd.Float32() * rnd.Float32() / words
		}
	}
	var columns, own []int
	of := chosen(k, blocks)
	for c := range k {
		if c%7 != 2 {
			columns = append(columns, c)
			if i := slices.Index(of, int32(c)); i >= 0 {
				own = append(own, i)
			}
		}
	}
	part := new(estep.Rows)
	rows := make([]int32, words)
	for i := range rows {
		rows[i] = int32(i)
	}
	part.Take(topics, rows, of)
	return NewRule(topics, 0.1, columns, unigram), NewRule(part, 0.1, own, unigram)
}

// chosen returns the columns of k in the blocks.
func chosen(k int, blocks []uint16) (of []int32) {
	for _, b := range blocks {
		for c := int(b) * estep.BlockSize; c < min(k, (int(b)+1)*estep.BlockSize); c++ {
			of = append(of, int32(c))
		}
	}
	return of
}

// load sets documents to twelve words of 40.
func load(rnd *rand.Rand, times float64, heldOut bool, docs ...*Document) {
	var words, counts []int32
	for w := range int32(40) {
		if w%3 == 0 {
			words, counts = append(words, w), append(counts, 1+rnd.Int32N(4))
		}
	}
	for _, d := range docs {
		d.Load(words, counts, times, heldOut)
	}
}

// What a document does within blocks of columns has the bits of a rule with these columns alone:
// finding tokens by topic, learning, scores and shares.
func TestWithin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{16, 37, 80} {
		d := NewDocument(k) // for all documents, as in use
		for _, blocks := range [][]uint16{{0}, {1}, {2}, {0, 2}, {1, 4}, {0, 1, 2, 3, 4}} {
			if int(slices.Max(blocks)) >= estep.Padded(k)/estep.BlockSize {
				continue
			}
			for i := range 4 {
				name := fmt.Sprintf("K=%d, blocks %v, variant %d", k, blocks, i)
				r, own := blocked(rnd, k, blocks)
				r.Leave, own.Leave = i < 2, i < 2
				e := NewDocument(own.Topics.K)
				load(rnd, 1+float64(i%2)/2, i == 3, d, e)
				in := d.Within(&r, blocks)
				n, m := make([]float32, estep.BlockSize*len(blocks)), make([]float32, estep.BlockSize*len(blocks))
				n[0], m[0] = 3, 3
				sums, want := estep.NewRows(40, k), estep.NewRows(40, own.Topics.K)
				for range 3 {
					if err := errors.Join(d.Fold(in, n, 2), e.Fold(&own, m, 2)); err != nil {
						t.Fatal(err)
					}
					total, all := in.Prior.Weigh(d.T, n), own.Prior.Weigh(e.T, m)
					a, b, err := d.Learn(in, Sums{Rows: sums}, total, true)
					x, y, other := e.Learn(&own, Sums{Rows: want}, all, true)
					if err != nil || other != nil || total != all || a != x || b != y || (b != 0) != (i == 3) {
						t.Fatalf("%s: %v and %v of %v, want %v and %v of %v; %v, %v", name, a, b, total, x, y, all, err, other)
					}
					d.Counted(n)
					e.Counted(m)
					if !slices.Equal(n, m) {
						t.Fatalf("%s: tokens %v, want %v", name, n, m)
					}
				}
				part := new(estep.Rows)
				rows := make([]int32, 40)
				for w := range rows {
					rows[w] = int32(w)
				}
				part.Take(sums, rows, chosen(k, blocks))
				if !slices.Equal(part.Data, want.Data) {
					t.Errorf("%s: other tokens by word and topic", name)
				}
				parts(t, name, d, in, n, e, &own, m, chosen(k, blocks))
			}
		}
	}
}

// parts checks that the parts of the document are those of e, in the given columns, in order, and that
// they sum to the counts without the document's weight but for what is too little to count.
func parts(t *testing.T, name string, d *Document, r *Rule, n []float32, e *Document, own *Rule, m []float32, columns []int32) {
	t.Helper()
	type part struct {
		topic int
		Part
	}
	var got, want []part
	copied := func(k int, p *Part) part {
		return part{k, Part{slices.Clone(p.Words), slices.Clone(p.Counts), p.Tokens}}
	}
	err := errors.Join(
		d.Parts(r, n, func(k int, p *Part) { got = append(got, copied(k, p)) }),
		e.Parts(own, m, func(k int, p *Part) { want = append(want, copied(int(columns[k]), p)) }))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: parts %v, want %v", name, got, want)
	}
	for i, w := range d.Visible.Words {
		sum := 0.0
		for _, p := range got {
			if at := slices.Index(p.Words, w); at >= 0 {
				sum += float64(p.Counts[at])
			}
		}
		if x := float64(d.Visible.Counts[i]) / d.Times; !(sum <= x*(1+1e-5) && sum >= x*(1-1e-5)-LeastShared*float64(len(columns))) {
			t.Errorf("%s: the parts have %v of word %d, want %v", name, sum, w, x)
		}
	}
}

// All columns are the same as all blocks of them.
func TestWithinAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	r, _ := blocked(rnd, 37, []uint16{0, 1, 2})
	a, b := NewDocument(37), NewDocument(37)
	load(rnd, 1, false, a, b)
	x, y := make([]float32, 48), make([]float32, 48)
	if err := errors.Join(a.Fold(a.Within(&r, nil), x, 5), b.Fold(b.Within(&r, []uint16{0, 1, 2}), y, 5)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x, y) {
		t.Errorf("tokens %v and %v", x, y)
	}
}

// A pair costs the log-likelihood that is lost if its topics have one distribution, that of the tokens
// of both, and their weights in the document are added up: to 1e-5 of the tokens. Where a document has
// some blocks alone, pairs of which it has next to no tokens cost nothing, whichever columns are
// topics.
func TestCompare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	const k, alpha = 70, 0.1
	totals := make([]float64, k)
	for c := range totals {
		totals[c] = 10 + 100*rnd.Float64()
	}
	d := NewDocument(k)
	for _, blocks := range [][]uint16{nil, {0}, {1}, {0, 3}, {1, 2, 4}} {
		for _, gone := range []int{-1, 0, 16} { // a first column of a block, which is no topic
			of := blocks
			if of == nil {
				of = []uint16{0, 1, 2, 3, 4}
			}
			r, _ := blocked(rnd, k, of)
			if gone >= 0 {
				r.Prior[gone], r.Columns[gone] = 0, 0
			}
			load(rnd, 1, false, d)
			in := d.Within(&r, blocks)
			n := make([]float32, estep.BlockSize*len(of))
			for i := range n {
				if i%estep.BlockSize%3 != 0 && in.Prior[i] > 0 {
					n[i] = 4 * rnd.Float32() * rnd.Float32() * rnd.Float32()
				}
			}
			in.Prior.Weigh(d.T, n)
			weights := make([]float64, estep.Padded(k)) // of all columns
			for i, b := range of {
				for j, v := range d.T[i*estep.BlockSize:][:estep.BlockSize] {
					weights[int(b)*estep.BlockSize+j] = float64(v)
				}
			}
			var pairs []Pair
			for j := range k {
				for i := range j {
					if r.Prior[i] > 0 && r.Prior[j] > 0 {
						pairs = append(pairs, Pair{i, j})
					}
				}
			}
			costs := make([]float64, len(pairs))
			if err := d.Compare(costs, in, pairs, totals); err != nil {
				t.Fatal(err)
			}
			none, tokens := 0, 0.0
			for _, x := range d.Visible.Counts {
				tokens += float64(x)
			}
			for i, p := range pairs {
				want := 0.0
				if x := max(weights[p.Into], weights[p.From]); blocks == nil || x >= alpha+leastNear {
					want = lost(d, &r, weights, totals, p)
				} else {
					none++
					if costs[i] != 0 {
						t.Errorf("blocks %v, without %d: %v costs %v, with weights of %v at most", blocks, gone, p, costs[i], x)
					}
				}
				if !(math.Abs(costs[i]-want) <= 1e-5*tokens) {
					t.Errorf("blocks %v, without %d: %v costs %v, want %v", blocks, gone, p, costs[i], want)
				}
			}
			if blocks != nil && (none == 0 || none == len(pairs)) {
				t.Errorf("blocks %v: %d of %d pairs cost nothing", blocks, none, len(pairs))
			}
		}
	}
}

// lost is the log-likelihood that the document loses with the pair in one.
func lost(d *Document, r *Rule, weights, totals []float64, p Pair) (loss float64) {
	x, y := totals[p.Into], totals[p.From]
	for i, word := range d.Visible.Words {
		apart, one := 0.0, 0.0
		row := r.Topics.Row(int(word))
		for c, b := range row {
			apart += weights[c] * float64(b)
			if c != p.Into && c != p.From {
				one += weights[c] * float64(b)
			}
		}
		both := (x*float64(row[p.Into]) + y*float64(row[p.From])) / (x + y)
		one += (weights[p.Into] + weights[p.From]) * both
		loss += float64(d.Visible.Counts[i]) * math.Log(apart/one)
	}
	return loss
}
