package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/splitmix"
)

// resampled are the documents of a bootstrap.
type resampled struct {
	*input.Ordered
	words   *corpus.Encoded // over the words of the model; nil without warm and drawn replicates
	lengths []int           // of words' documents, in tokens; nil without drawn replicates
	keys    []uint64        // of the documents as given, one for those of a cluster
	own     []float64       // their own weights; nil: 1 each
}

// read reads the documents behind an input.
func (o Bootstrap) read(ctx context.Context, m *Model, in Input) (d resampled, err error) {
	if d.Ordered, err = input.Order(ctx, in); err != nil {
		return d, err
	}
	var meta *corpus.Metadata
	if given := in.Info().Corpus; given != nil {
		meta, d.own = given.Metadata(), given.Weights()
		for m := range given.NumDocs() {
			d.keys = append(d.keys, bag.Key(given.ID(m), m+1))
		}
	} else {
		meta, d.own = d.Encoded.Metadata(), d.Encoded.Weights()
		var b corpus.Block
		for i := range d.Encoded.Blocks() {
			if err := cmp.Or(ctx.Err(), d.Encoded.Block(i, &b)); err != nil {
				return d, err
			}
			for m := range b.Docs() {
				d.keys = append(d.keys, b.Key(m))
			}
		}
	}
	if o.Cluster != "" {
		if err := d.cluster(meta, o.Cluster); err != nil {
			return d, err
		}
	}
	if o.Warm > 0 || o.Drawn > 0 {
		if err := d.encode(ctx, m); err != nil {
			return d, err
		}
	}
	if o.Drawn > 0 {
		err = d.measure(ctx)
	}
	return d, err
}

// measure sets the lengths of the documents.
func (d *resampled) measure(ctx context.Context) error {
	var b corpus.Block
	for i := range d.words.Blocks() {
		if err := cmp.Or(ctx.Err(), d.words.Block(i, &b)); err != nil {
			return err
		}
		for m := range b.Docs() {
			length := 0
			_, counts := b.Doc(m)
			for _, n := range counts {
				length += int(n)
			}
			d.lengths = append(d.lengths, length)
		}
	}
	return nil
}

// cluster gives the documents with one value in a column one key.
func (d *resampled) cluster(meta *corpus.Metadata, column string) error {
	var names []string
	for _, c := range meta.Columns() {
		names = append(names, c.Name)
	}
	at := slices.Index(names, column)
	if at < 0 {
		return fmt.Errorf("there is no column %q to weigh documents by; the columns are %q", column, names)
	}
	for m := range d.keys {
		if v := meta.Value(m, at); v != (corpus.Value{}) {
			d.keys[m] = bag.Key(column+"\x00"+v.String(), 0)
		}
	}
	return nil
}

// encode encodes the documents over the words of the model.
func (d *resampled) encode(ctx context.Context, m *Model) (err error) {
	if d.Corpus != nil {
		c, unknown, err := d.Corpus.Reindex(m.vocab)
		if err != nil {
			return err
		}
		if unknown == d.Corpus.Tokens() {
			return errors.New("no word of the documents is one of the model")
		}
		d.words, err = corpus.Encode(ctx, c.Source())
		return err
	}
	d.words = d.Encoded
	if !slices.Equal(d.words.Info().Vocabulary, m.vocab) {
		d.words = d.Encoded.DropUnused()
	}
	if !slices.Equal(d.words.Info().Vocabulary, m.vocab) {
		return errors.New("the documents have other words than the model; it must be one of the same documents, or these in memory (corpus.Read)")
	}
	return nil
}

// weights draws the weights of a replicate.
func (d *resampled) weights(seed uint64, replicate int) []float64 {
	w := make([]float64, len(d.keys))
	for m, key := range d.keys {
		w[m] = exponential(seed, replicate, key)
		if d.own != nil {
			w[m] *= d.own[m]
		}
	}
	return w
}

// exponential draws the weight of a document with a key from Exp(1).
func exponential(seed uint64, replicate int, key uint64) float64 {
	bits := splitmix.Step(splitmix.Step(splitmix.Step(seed)+uint64(replicate)) ^ key)
	return -math.Log((float64(bits>>11) + 0.5) / (1 << 53)) // of a number in (0, 1), never 0 or 1
}

// weighted returns the documents with these weights as the input of a fit.
func (d *resampled) weighted(w []float64) (Input, error) {
	if d.Corpus != nil {
		return d.Corpus.WithWeights(d.In(w))
	}
	return d.Encoded.WithWeights(w)
}

// repeated returns with what probability tokens of documents must repeat an earlier one, so that
// documents drawn as those of c, of which none does, have as few pairs of a document and a word as are
// given: corpus.Generator.Repeat. A word that c has n times among the L tokens of a document stays out
// with the probability (1 − n/L)·pⁿ, since the first token is new and each of the others with 1 − p.
func repeated(c *corpus.Corpus, pairs int64) float64 {
	once, first := map[int32]float64{}, map[int32]float64{} // by n: words, and Σ n/L
	for m := range c.NumDocs() {
		_, counts := c.Doc(m)
		length := float64(c.DocLen(m))
		for _, n := range counts {
			once[n]++
			first[n] += float64(n) / length
		}
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		p, left := (lo+hi)/2, float64(c.NNZ())
		for _, n := range slices.Sorted(maps.Keys(once)) {
			left -= (once[n] - first[n]) * math.Pow(p, float64(n))
		}
		if left > float64(pairs) {
			lo = p
		} else {
			hi = p
		}
	}
	return lo
}
