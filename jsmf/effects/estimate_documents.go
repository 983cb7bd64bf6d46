package effects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/splitmix"
	"github.com/jsmf-go/spectral/jsmf"
)

// documents are those of a study, over the words of the model: those in memory in the order
// of their ids, others as they are read.
type documents struct {
	in      jsmf.Input // for the replicates: the documents in this order
	encoded *corpus.Encoded
	to      []int32 // for each word, its number in the model, −1 for none
	meta    *corpus.Metadata
	own     []float64 // weights; 0 for documents without a word that the model knows
	length  []float64 // tokens that the model knows

	// With Study.Documents.
	k     int
	theta []float32 // M×K, the mean of each document's Dirichlet distribution; nil without
	alpha float64   // Σα
	seed  uint64
}

// readDocuments reads the documents behind an input.
func readDocuments(ctx context.Context, m *jsmf.Model, in jsmf.Input) (*documents, error) {
	info := in.Info()
	d := &documents{in: in, k: m.K()}
	src := info.Source
	if c := info.Corpus; c != nil {
		if order := bag.ByID(c.NumDocs(), c.ID); order != nil {
			var err error
			if c, err = c.Select(order, nil); err != nil {
				return nil, err
			}
		}
		d.in, src = c, c.Source()
	}
	if src == nil {
		return nil, fmt.Errorf("a %T holds no documents", in)
	}
	var err error
	if d.encoded, err = corpus.Encode(ctx, src); err != nil {
		return nil, err
	}
	words := d.encoded.Info().Vocabulary
	if info.Corpus == nil {
		if info.Vocabulary != nil {
			words = info.Vocabulary
		}
		if slices.Equal(words, d.encoded.Info().Vocabulary) {
			d.in = d.encoded // which need not be read again
		}
	}
	d.to = make([]int32, len(words))
	for i, w := range words {
		d.to[i] = bag.Unknown
		if at, ok := m.Index(w); ok {
			d.to[i] = int32(at)
		}
	}
	if d.meta = d.encoded.Metadata(); d.meta == nil {
		return nil, errors.New("the documents have no columns of metadata")
	}
	return d, d.count(ctx)
}

// count sets the lengths and the weights of the documents.
func (d *documents) count(ctx context.Context) error {
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
	if d.own = slices.Clone(d.encoded.Weights()); d.own == nil {
		d.own = slices.Repeat([]float64{1}, len(d.length))
	}
	known := false
	for i, n := range d.length {
		if n == 0 {
			d.own[i] = 0
		}
		known = known || n > 0
	}
	if !known {
		return errors.New("no word of the documents is one of the model")
	}
	return nil
}

// mostParts is in how many parts the documents are read at once at most.
const mostParts = 16

// parts returns the number of parts.
func (d *documents) parts() int { return run.Count(d.encoded.Blocks(), d.perPart()) }

// perPart returns the number of blocks in a part.
func (d *documents) perPart() int { return (d.encoded.Blocks() + mostParts - 1) / mostParts }

// each calls f for each block, those of a part in order.
func (d *documents) each(ctx context.Context, f func(worker, part int, b *corpus.Block) error) error {
	blocks := d.encoded.Blocks()
	if blocks == 0 {
		return errors.New("no documents")
	}
	held := make([]corpus.Block, run.Workers(0, d.parts()))
	return run.Chunks(ctx, blocks, d.perPart(), 0, func(worker, part, lo, hi int) error {
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

// infer finds the means of the documents' Dirichlet distributions.
func (d *documents) infer(ctx context.Context, m *jsmf.Model, seed uint64) error {
	by, err := m.Inferer(ctx, infer.MAP{}, infer.Options{})
	if err != nil {
		return err
	}
	for _, a := range m.Alpha() {
		d.alpha += a
	}
	d.seed, d.theta = seed, make([]float32, len(d.length)*d.k)
	return d.each(ctx, func(_, _ int, b *corpus.Block) error {
		theta := make([]float64, d.k)
		var ids, counts []int32
		for i := range b.Docs() {
			if d.length[b.First+i] == 0 {
				continue
			}
			words, n := b.Doc(i)
			ids, counts = ids[:0], counts[:0]
			for j, w := range words {
				if d.to[w] >= 0 {
					ids, counts = append(ids, d.to[w]), append(counts, n[j])
				}
			}
			if _, err := by.InferTo(theta, ids, counts); err != nil {
				return fmt.Errorf("document %d: %w", b.First+i+1, err)
			}
			for k, v := range theta {
				d.theta[(b.First+i)*d.k+k] = float32(v)
			}
		}
		return nil
	})
}

// draw adds to theta a draw from the Dirichlet distribution of a document, less its mean.
func (d *documents) draw(theta []float64, doc int, key uint64, replicate int) {
	mean := d.theta[doc*d.k:][:d.k]
	rng := rand.NewPCG(splitmix.Step(splitmix.Step(d.seed)+uint64(replicate)), key)
	sum, drawn := 0.0, make([]float64, d.k)
	for k, v := range mean {
		drawn[k] = distuv.Gamma{Alpha: float64(v) * (d.length[doc] + d.alpha), Beta: 1, Src: rng}.Rand()
		sum += drawn[k]
	}
	for k, v := range drawn {
		theta[k] += v/sum - float64(mean[k])
	}
}
