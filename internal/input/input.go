// Package input finds the documents behind what models are fitted to and measured against. Package
// jsmf and those below it open documents by it, so that all see the same ones, under the same names
// and in the same order.
package input

import (
	"context"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/sums"
)

// Input is a jsmf.Input.
type Input interface{ Info() corpus.Info }

// Source returns the documents behind an input as they are read here, with the names that the input
// gives their words. It is an error if there are none, or if they are on other machines.
func Source(ctx context.Context, in Input) (corpus.Source, error) {
	info := in.Info()
	if info.Source == nil {
		return nil, fmt.Errorf("a %T is no co-occurrence matrix and holds no documents", in)
	}
	if e, ok := info.Source.(*corpus.Encoded); ok && (info.Vocabulary == nil || slices.Equal(info.Vocabulary, e.Info().Vocabulary)) {
		return e, nil // which need not be encoded again
	}
	remote := Elsewhere(in)
	if !remote {
		desc, err := info.Source.Describe(ctx)
		if err != nil {
			return nil, err
		}
		remote = desc.Remote
	}
	switch {
	case remote:
		return nil, fmt.Errorf("the documents of a %T are on other machines; bring some of them here by corpus.EncodeFile, or into memory by corpus.Read", in)
	case info.Vocabulary == nil:
		return info.Source, nil
	}
	return named{info.Source, info.Vocabulary}, nil
}

// Elsewhere reports whether the documents behind an input are added up where they are.
func Elsewhere(in Input) bool {
	_, ok := sums.Of(in.Info().Source)
	return ok
}

// named gives the words of a source names.
type named struct {
	corpus.Source
	names []string
}

func (s named) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	desc.Vocabulary = s.names
	return desc, err
}

// Encoded returns the documents behind an input encoded, in one read if they are not.
func Encoded(ctx context.Context, in Input) (*corpus.Encoded, error) {
	src, err := Source(ctx, in)
	if err != nil {
		return nil, err
	}
	return corpus.Encode(ctx, src)
}

// Ordered are documents in the order in which they are drawn again: those in memory by their ids
// (bag.ByID), others as they are read.
type Ordered struct {
	Corpus  *corpus.Corpus  // those in memory; nil: they are not
	Encoded *corpus.Encoded // the others; nil: they are in memory
	Order   []int           // of those in memory, the numbers that they had; nil: the same
}

// Order opens the documents behind an input, and reads those that are not in memory.
func Order(ctx context.Context, in Input) (*Ordered, error) {
	d := &Ordered{Corpus: in.Info().Corpus}
	var err error
	if d.Corpus == nil {
		d.Encoded, err = Encoded(ctx, in)
		return d, err
	}
	if d.Order = bag.ByID(d.Corpus.NumDocs(), d.Corpus.ID); d.Order != nil {
		d.Corpus, err = d.Corpus.Select(d.Order, nil)
	}
	return d, err
}

// Input returns the documents as an input that need not be read again.
func (d *Ordered) Input() Input {
	if d.Corpus != nil {
		return d.Corpus
	}
	return d.Encoded
}

// In puts numbers of the documents as given, one for each, in the order of d.
func (d *Ordered) In(x []float64) []float64 {
	if d.Order == nil {
		return x
	}
	out := make([]float64, len(x))
	for i, m := range d.Order {
		out[i] = x[m]
	}
	return out
}
