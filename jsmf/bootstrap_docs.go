package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/splitmix"
)

// resampled are the documents of a bootstrap.
type resampled struct {
	corpus  *corpus.Corpus  // in memory; nil: they are not
	encoded *corpus.Encoded // over the words of the model; nil without warm replicates
	source  *corpus.Encoded // over all words; nil if they are in memory
	order   []int           // that of encoded and corpus, by ids; nil: as given
	keys    []uint64        // of the documents as given, one for those of a cluster
	own     []float64       // their own weights; nil: 1 each
}

// read reads the documents behind an input.
func (o Bootstrap) read(ctx context.Context, m *Model, in Input) (resampled, error) {
	info := in.Info()
	var d resampled
	if d.corpus = info.Corpus; d.corpus == nil {
		if info.Source == nil {
			return d, noDocuments(in)
		}
		if _, ok := elsewhere(info.Source); ok {
			return d, fmt.Errorf("the documents of a %T are on other machines", in)
		}
		var err error
		if d.source, err = corpus.Encode(ctx, named(info.Source, info.Vocabulary)); err != nil {
			return d, err
		}
		d.own = d.source.Weights()
	} else {
		d.own = d.corpus.Weights()
	}
	if err := d.key(ctx, o.Cluster); err != nil {
		return d, err
	}
	if d.corpus != nil {
		if err := d.sort(); err != nil {
			return d, err
		}
	}
	if o.Warm <= 0 {
		return d, nil
	}
	return d, d.encode(ctx, m)
}

// key sets the keys of the documents.
func (d *resampled) key(ctx context.Context, cluster string) error {
	meta := (*corpus.Metadata)(nil)
	if d.corpus != nil {
		meta = d.corpus.Metadata()
		for m := range d.corpus.NumDocs() {
			d.keys = append(d.keys, bag.Key(d.corpus.ID(m), m+1))
		}
	} else {
		meta = d.source.Metadata()
		var b corpus.Block
		for i := range d.source.Blocks() {
			if err := cmp.Or(ctx.Err(), d.source.Block(i, &b)); err != nil {
				return err
			}
			for m := range b.Docs() {
				d.keys = append(d.keys, b.Key(m))
			}
		}
	}
	if cluster == "" {
		return nil
	}
	columns := meta.Columns()
	at := slices.IndexFunc(columns, func(c corpus.Column) bool { return c.Name == cluster })
	if at < 0 {
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		return fmt.Errorf("there is no column %q to weigh documents by; the columns are %q", cluster, names)
	}
	for m := range d.keys {
		if v := meta.Value(m, at); v != (corpus.Value{}) {
			d.keys[m] = bag.Key(cluster+"\x00"+v.String(), 0)
		}
	}
	return nil
}

// sort puts the documents in the order of their ids (bag.ByID).
func (d *resampled) sort() error {
	order := bag.ByID(d.corpus.NumDocs(), d.corpus.ID)
	if order == nil {
		return nil
	}
	c, err := d.corpus.Select(order, nil)
	if err != nil {
		return err
	}
	d.corpus, d.order = c, order
	return nil
}

// encode encodes the documents over the words of the model.
func (d *resampled) encode(ctx context.Context, m *Model) (err error) {
	if d.corpus != nil {
		c, unknown, err := d.corpus.Reindex(m.vocab)
		if err != nil {
			return err
		}
		if unknown == d.corpus.Tokens() {
			return errors.New("no word of the documents is one of the model")
		}
		d.encoded, err = corpus.Encode(ctx, c.Source())
		return err
	}
	d.encoded = d.source
	if !slices.Equal(d.encoded.Info().Vocabulary, m.vocab) {
		d.encoded = d.source.DropUnused()
	}
	if !slices.Equal(d.encoded.Info().Vocabulary, m.vocab) {
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

// sorted returns the weights in the order of the documents that are read.
func (d *resampled) sorted(w []float64) []float64 {
	if d.order == nil {
		return w
	}
	return permuted(w, d.order)
}

// weighted returns the documents with these weights as the input of a fit.
func (d *resampled) weighted(w []float64) (Input, error) {
	w = d.sorted(w)
	if d.corpus != nil {
		return d.corpus.WithWeights(w)
	}
	return d.source.WithWeights(w)
}
