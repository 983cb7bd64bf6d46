package sums

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/vec"
)

// momentNNZ is the number of nonzeros after which a chunk is added up: some 5 MB.
const momentNNZ = 1 << 18

func (m *Moment) Adder() Adder {
	a := m.adder()
	a.rank = slices.Repeat([]int32{bag.Unknown}, m.all)
	for i, at := range m.order {
		a.rank[m.words[at]] = int32(i)
	}
	return a
}

// adder returns one without the ranks of words.
func (m *Moment) adder() *momentAdder {
	n := len(m.words)
	a := &momentAdder{Moment: m, idf: make([]float64, n), value: make([]float64, n), set: make([]uint64, (n+63)/64), first: make([]int, n+1)}
	for i, at := range m.order {
		a.idf[i] = m.idf[at]
	}
	return a
}

// momentAdder gathers documents until it has a chunk, so that all that is added to a row
// of the sum is added at once.
type momentAdder struct {
	*Moment
	rank []int32   // of each word of the documents; Unknown if it is not one of the n
	idf  []float64 // by rank

	// A document: the value of each rank, a bit for those that it has, how many these are, and the sum
	// of squares.
	value    []float64
	set      []uint64
	distinct int
	length   float64

	// The nonzeros of a chunk by document, those of each by rank, and the place after the
	// last nonzero of each document.
	ranks []int32
	vals  []float64
	ends  []int32

	// The places of each rank, those of rank i from first[i] to first[i+1].
	first  []int
	places []place
	left   []int // stripes that are not added up
}

// place is where a nonzero stands, and where those of its document end.
type place struct{ at, end int32 }

func (a *momentAdder) Add(ctx context.Context, b *corpus.Block, sum []int64) error {
	for d := range b.Docs() {
		words, counts := b.Doc(d)
		if len(words) == 0 {
			continue
		}
		if err := checkWords(b, d, a.all); err != nil {
			return err
		}
		weight, err := a.weights.of(b, d)
		if err != nil {
			return err
		}
		if weight == 0 {
			continue
		}
		if len(a.vals)+len(words) > momentNNZ {
			if err := a.Flush(ctx, sum); err != nil {
				return err
			}
		}
		a.gather(words, counts, weight, a.visible && holdout.HeldOut(b.Key(d)))
	}
	return nil
}

// gather adds a document to the chunk.
func (a *momentAdder) gather(words, counts []int32, weight float64, heldOut bool) {
	add := func(i int, count int64) {
		if r := a.rank[words[i]]; r >= 0 && count > 0 {
			a.put(r, float64(count))
		}
	}
	if heldOut {
		holdout.Split(counts, func(i int, visible, _ int64) { add(i, visible) })
	} else {
		for i, x := range counts {
			add(i, int64(x))
		}
	}
	a.done(weight)
}

// put adds to the document a word that it has so often.
func (a *momentAdder) put(rank int32, count float64) {
	v := count * a.idf[rank]
	a.value[rank] = v
	a.set[rank/64] |= 1 << (rank % 64)
	a.length += float64(v * v) // without the fused operation of some CPUs
	a.distinct++
}

// done adds the document to the chunk, unless it has fewer than two words.
func (a *momentAdder) done(weight float64) {
	distinct, length := a.distinct, a.length
	if a.distinct, a.length = 0, 0; distinct < 2 {
		clear(a.set)
		return
	}
	scale := 0.0
	if length > 0 {
		scale = math.Sqrt(weight / length)
	}
	for i, set := range a.set {
		for ; set != 0; set &= set - 1 {
			r := 64*i + bits.TrailingZeros64(set)
			a.ranks, a.vals = append(a.ranks, int32(r)), append(a.vals, a.value[r]*scale)
		}
		a.set[i] = 0
	}
	a.ends = append(a.ends, int32(len(a.vals)))
}

// Flush adds the chunk to the sum, stripe by stripe.
func (a *momentAdder) Flush(ctx context.Context, sum []int64) error {
	if len(a.ends) == 0 {
		return nil
	}
	a.index()
	last := len(a.stripe) - 1
	a.left = a.left[:0]
	for s := range last {
		a.left = append(a.left, s)
	}
	for len(a.left) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A stripe that no other adder is at, if there is one.
		at := slices.IndexFunc(a.left, func(s int) bool { return a.stripe[s].TryLock() })
		if at < 0 {
			at = 0
			a.stripe[a.left[0]].Lock()
		}
		a.add(sum, a.left[at])
		a.left = slices.Delete(a.left, at, at+1)
	}
	a.stripe[last].Lock()
	sum[len(sum)-1] += int64(len(a.ends))
	a.stripe[last].Unlock()
	a.ranks, a.vals, a.ends = a.ranks[:0], a.vals[:0], a.ends[:0]
	return nil
}

// index lists the places of each rank.
func (a *momentAdder) index() {
	a.places = vec.Resize(a.places, len(a.ranks))
	clear(a.first)
	for _, r := range a.ranks {
		a.first[r]++
	}
	next := 0
	for r, m := range a.first {
		a.first[r] = next
		next += m
	}
	at := int32(0)
	for _, end := range a.ends {
		for ; at < end; at++ {
			r := a.ranks[at]
			a.places[a.first[r]] = place{at, end}
			a.first[r]++
		}
	}
	copy(a.first[1:], a.first) // each is now the end of its rank
	a.first[0] = 0
}

// add adds the chunk to the rows of a stripe, which is locked, and unlocks it.
func (a *momentAdder) add(sum []int64, stripe int) {
	defer a.stripe[stripe].Unlock()
	lo := stripe * stripeRows
	for i := lo; i < min(lo+stripeRows, len(a.words)); i++ {
		row, scale := a.row(sum, i), a.scale(i)
		for _, p := range a.places[a.first[i]:a.first[i+1]] {
			vals := a.vals[p.at:p.end]
			addProducts(row, a.ranks[p.at:p.end], vals, vals[0]*scale, magic)
		}
	}
}

// addProducts adds v times each number of vals, rounded as nearest does, to the entry of its
// rank. Products are from 0 to exact. As an argument, magic stays in a register, which
// makes the loop faster by a third.
//
//go:noinline
func addProducts(row []int64, ranks []int32, vals []float64, v, magic float64) {
	vals = vals[:len(ranks)]
	for t, j := range ranks {
		product := float64(v * vals[t]) // rounded by itself on any CPU
		row[j] += int64(product + magic - magic)
	}
}
