package sums

import (
	"context"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/vec"
)

// momentNNZ is the number of nonzeros after which a chunk is added up: some 10 MB.
const momentNNZ = 1 << 18

// Adder implements Plan.
func (m *Moment) Adder() Adder {
	n := len(m.words)
	a := &momentAdder{Moment: m, rank: make([]int32, m.all), idf: make([]float64, n), first: make([]int, n+1)}
	for w := range a.rank {
		a.rank[w] = bag.Unknown
	}
	for i, at := range m.order {
		a.rank[m.words[at]], a.idf[i] = int32(i), m.idf[at]
	}
	return a
}

// momentAdder gathers documents until it has a chunk, so that all that is added to a row
// of the sum is added at once.
type momentAdder struct {
	*Moment
	rank []int32   // of each word of the documents; Unknown if it is not one of the n
	idf  []float64 // by rank

	// The nonzeros of a chunk by document: rank of the word, value and document, and the
	// place after the last nonzero of each document.
	ranks []int32
	vals  []float64
	docs  []int32
	ends  []int32

	// The same with the nonzeros of each document by rank, and the places of each rank,
	// those of rank i from first[i] to first[i+1].
	sortedRanks []int32
	sortedVals  []float64
	first       []int
	places      []place
	next        []int32 // by document: where its next nonzero goes
	left        []int   // stripes that are not added up
}

// place is where a nonzero stands, and where those of its document end.
type place struct{ at, end int32 }

// Add implements Adder.
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
		a.gather(words, counts, weight, a.visible && holdout.Watches(b.Key(d)))
	}
	return nil
}

// gather adds a document to the chunk.
func (a *momentAdder) gather(words, counts []int32, weight float64, watched bool) {
	lo, length := len(a.vals), 0.0
	add := func(i int, count int64) {
		if r := a.rank[words[i]]; r >= 0 && count > 0 {
			v := float64(count) * a.idf[r]
			a.ranks, a.vals = append(a.ranks, r), append(a.vals, v)
			length += float64(v * v) // without the fused operation of some CPUs
		}
	}
	if watched {
		holdout.Split(counts, func(i int, visible, _ int64) { add(i, visible) })
	} else {
		for i, x := range counts {
			add(i, int64(x))
		}
	}
	if len(a.vals)-lo < 2 {
		a.ranks, a.vals = a.ranks[:lo], a.vals[:lo]
		return
	}
	if length > 0 {
		scale := math.Sqrt(weight / length)
		for i := range a.vals[lo:] {
			a.vals[lo+i] *= scale
		}
	}
	for range a.vals[lo:] {
		a.docs = append(a.docs, int32(len(a.ends)))
	}
	a.ends = append(a.ends, int32(len(a.vals)))
}

// Flush implements Adder. It adds the chunk to the sum, stripe by stripe.
func (a *momentAdder) Flush(ctx context.Context, sum []int64) error {
	if len(a.ends) == 0 {
		return nil
	}
	a.sort()
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
	a.ranks, a.vals, a.docs, a.ends = a.ranks[:0], a.vals[:0], a.docs[:0], a.ends[:0]
	return nil
}

// sort sorts the nonzeros of each document by rank, and lists the places of each rank.
func (a *momentAdder) sort() {
	a.places = vec.Resize(a.places, len(a.ranks))
	a.sortedRanks, a.sortedVals = vec.Resize(a.sortedRanks, len(a.ranks)), vec.Resize(a.sortedVals, len(a.ranks))
	clear(a.first)
	for _, r := range a.ranks {
		a.first[r]++
	}
	next := 0
	for r, m := range a.first {
		a.first[r] = next
		next += m
	}
	for k, r := range a.ranks {
		a.places[a.first[r]].at = int32(k)
		a.first[r]++
	}
	copy(a.first[1:], a.first) // each is now the end of its rank
	a.first[0] = 0
	a.next = append(append(a.next[:0], 0), a.ends...)
	for r := range a.words {
		for t := a.first[r]; t < a.first[r+1]; t++ {
			k := a.places[t].at
			d := a.docs[k]
			to := a.next[d]
			a.next[d]++
			a.sortedRanks[to], a.sortedVals[to], a.places[t] = int32(r), a.vals[k], place{to, a.ends[d]}
		}
	}
}

// add adds the chunk to the rows of a stripe, which is locked, and unlocks it.
func (a *momentAdder) add(sum []int64, stripe int) {
	defer a.stripe[stripe].Unlock()
	lo := stripe * stripeRows
	for i := lo; i < min(lo+stripeRows, len(a.words)); i++ {
		row, scale := a.row(sum, i), a.scale(i)
		for _, p := range a.places[a.first[i]:a.first[i+1]] {
			vals := a.sortedVals[p.at:p.end]
			addProducts(row, a.sortedRanks[p.at:p.end], vals, vals[0]*scale, magic)
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
