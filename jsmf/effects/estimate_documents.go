package effects

import (
	"context"
	"errors"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/jsmf"
)

// documents are those of a study, over the words of the model: those in memory in the order
// of their ids, others as they are read.
type documents struct {
	given   *input.Ordered
	encoded *corpus.Encoded
	to      []int32 // for each word, its number in the model, −1 for none
	meta    *corpus.Metadata
	own     []float64 // weights; 0 for documents without a word that the model knows
	length  []float64 // tokens that the model knows
	k       int       // topics of the model
}

// readDocuments reads the documents behind an input.
func readDocuments(ctx context.Context, m *jsmf.Model, in jsmf.Input) (*documents, error) {
	d := &documents{k: m.K()}
	var err error
	if d.given, err = input.Order(ctx, in); err != nil {
		return nil, err
	}
	if d.encoded, err = input.Encoded(ctx, d.given.Input()); err != nil {
		return nil, err
	}
	if d.meta = d.encoded.Metadata(); d.meta == nil {
		return nil, errors.New("the documents have no columns of metadata")
	}
	if err := d.count(ctx, m); err != nil {
		return nil, err
	}
	if d.own = slices.Clone(d.encoded.Weights()); d.own == nil {
		d.own = slices.Repeat([]float64{1}, len(d.length))
	}
	for i, n := range d.length {
		if n == 0 {
			d.own[i] = 0
		}
	}
	return d, nil
}

// redrawn returns documents drawn in place of those of d, over the words of m.
func (d *documents) redrawn(ctx context.Context, m *jsmf.Model, c *corpus.Corpus) (*documents, error) {
	out := *d
	var err error
	if out.encoded, err = input.Encoded(ctx, c); err != nil {
		return nil, err
	}
	return &out, out.count(ctx, m)
}

// count sets the numbers of the words in m and the lengths of the documents.
func (d *documents) count(ctx context.Context, m *jsmf.Model) error {
	words := d.encoded.Info().Vocabulary
	d.to = make([]int32, len(words))
	for i, w := range words {
		d.to[i] = bag.Unknown
		if at, ok := m.Index(w); ok {
			d.to[i] = int32(at)
		}
	}
	d.length = make([]float64, d.encoded.Info().Documents)
	err := d.each(ctx, func(_, _ int, b *corpus.Block) error {
		for i := range b.Docs() {
			words, counts := b.Doc(i)
			for j, w := range words {
				if d.to[w] >= 0 {
					d.length[b.First+i] += float64(counts[j])
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(d.length, func(n float64) bool { return n > 0 }) {
		return errors.New("no word of the documents is one of the model")
	}
	return nil
}

// maxParts is in how many parts the documents are read at once at most.
const maxParts = 16

// parts returns the number of parts.
func (d *documents) parts() int { return parallel.Count(d.encoded.Blocks(), d.perPart()) }

// perPart returns the number of blocks in a part.
func (d *documents) perPart() int { return (d.encoded.Blocks() + maxParts - 1) / maxParts }

// each calls f for each block, those of a part in order.
func (d *documents) each(ctx context.Context, f func(worker, part int, b *corpus.Block) error) error {
	blocks := d.encoded.Blocks()
	if blocks == 0 {
		return errors.New("no documents")
	}
	held := make([]corpus.Block, parallel.Workers(0, d.parts()))
	return parallel.Chunks(ctx, blocks, d.perPart(), 0, func(worker, part, lo, hi int) error {
		b := &held[worker]
		for i := lo; i < hi; i++ {
			if err := d.encoded.Block(i, b); err != nil {
				return err
			}
			if err := f(worker, part, b); err != nil {
				return err
			}
		}
		return nil
	})
}
