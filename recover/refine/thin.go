package refine

import (
	"context"
	"slices"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Topics that will be split need not all documents of many tokens: Passes reads one of 2^thin documents
// until the last ones have been split.
const (
	// enoughTokens in all and enoughEach of a topic are in the documents that are read, of which there
	// are enoughDocs, and enoughDocsEach for each topic.
	enoughTokens, enoughEach   = 2 << 20, 8000
	enoughDocs, enoughDocsEach = 4000, 20
	// noDocuments is for stripes.have.
	noDocuments = 64
)

// thinnest returns how thin the documents may be for k topics.
func (c *census) thinnest(k int) (thin int) {
	for c.tokens>>(thin+1) >= int64(max(enoughTokens, enoughEach*k)) && c.docs>>(thin+1) >= max(enoughDocs, enoughDocsEach*k) {
		thin++
	}
	return thin
}

// descent says of which topics the tokens of others become those of a document.
type descent struct {
	below  [][]int   // of each: the topics, ascending
	shares []float64 // of each topic, of those that are below the same
}

// enter finds the tokens by topic of the documents that are read next, and were not before, where
// documents keep some topics alone: first by group of the finest level, and then of the topics below the
// groups that they have.
func (f *stripes) enter(ctx context.Context) error {
	if f.thin >= f.have || f.state.some == nil {
		return nil
	}
	groups := f.groups[len(f.groups)-1]
	all := make([]int, slices.Max(groups)+1)
	by, sums := &descent{make([][]int, len(all)), make([]float64, f.k)}, make([]float64, len(all))
	for _, t := range f.alive {
		sums[groups[t]] += max(f.totals[t], 1)
	}
	for _, t := range f.alive {
		g := groups[t]
		all[g], by.below[g], by.shares[t] = g, append(by.below[g], t), max(f.totals[t], 1)/sums[g]
	}
	rows := estep.NewRows(f.n, len(all))
	err := f.words(ctx, f.workers, func(i int) {
		row, to := f.rows.Row(i), rows.Row(i)
		for _, t := range f.alive {
			to[groups[t]] += float32(float32(by.shares[t]) * row[t])
		}
	})
	if err != nil {
		return err
	}
	f.prepare(false)
	rule := docstep.NewRule(rows, float32(f.alphaOf(len(all))), all, f.unigram)
	var docs [maxSlots]*docstep.Document // with groups for topics
	var ns, wholes [maxSlots][]float32
	return f.restate(ctx, f.k, 0, func(w *worker, slot, d int) ([]float32, error) {
		key, whole := w.block.Key(d), &wholes[slot]
		if f.has(key) {
			return w.rows.whole(d, whole), nil
		}
		if *whole = vec.Resize(*whole, f.rows.Stride); f.first != nil {
			clear((*whole)[copy(*whole, f.first[(w.block.First+d)*f.k:][:f.k]):])
			return *whole, nil
		}
		if !holdout.Thinned(key, f.thin) {
			return nil, nil
		}
		if docs[slot] == nil {
			docs[slot], ns[slot] = docstep.NewDocument(len(all)), make([]float32, len(all))
		}
		f.load(w, d, f.holdsOut(key))
		x, n := docs[slot], ns[slot]
		x.Visible, x.Times = w.Visible, w.Times
		clear(n)
		if err := x.Fold(&rule, n, splitFold); err != nil {
			return nil, err
		}
		return *whole, w.descend(&f.rule, n, by, f.leastOfBlock()/2, *whole)
	})
}

// descend finds the tokens of a document by topic, padded, in to: of those of others, to be found among the
// topics below them. Where least is not below 0 these are of few blocks: of those that the document may have,
// after some steps the ones with so many tokens.
func (w *worker) descend(r *docstep.Rule, from []float32, by *descent, least float32, to []float32) error {
	clear(to)
	blocks := w.below[:0]
	held := min(leastHeld, slices.Max(from)) // by one topic in any case
	for t, below := range by.below {
		v := from[t]
		if least >= 0 && v < held || v == 0 {
			continue
		}
		for _, c := range below {
			to[c] = v * float32(by.shares[c])
			if b := uint16(c / estep.BlockSize); len(blocks) == 0 || blocks[len(blocks)-1] != b {
				blocks = append(blocks, b)
			}
		}
	}
	w.below = blocks
	if len(blocks) == 0 || len(w.Visible.Words) == 0 {
		return nil
	}
	if least < 0 {
		w.Use(nil)
		return w.Fold(r, to[:r.Topics.K], splitFold)
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	n := estep.Pick(w.tokens[:0], to, blocks)
	w.tokens = n
	if err := w.Fold(w.Within(r, blocks), n, splitFirst); err != nil {
		return err
	}
	clear(to)
	n, blocks = enough(n, blocks, least)
	if err := w.Fold(w.Within(r, blocks), n, splitFold-splitFirst); err != nil {
		return err
	}
	estep.Spread(to, n, blocks)
	return nil
}
