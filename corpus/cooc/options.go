package cooc

import (
	"context"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Options sets how C is estimated, by [NewMoments] and [FromEncoded] alike. The zero value
// is the setting of the papers.
type Options struct {
	// Weighting says which second moment of the documents C is. Default: Unbiased.
	// FromEncoded takes this and OffDiagonal only.
	Weighting Weighting
	// MinTokens leaves out documents with fewer tokens. 0 means 5 (lee-2018 §2.4);
	// the least that counts is 2, as a single token holds no pair.
	MinTokens int
	// DropUnused leaves out the words of no document that is used, whose rows would
	// be empty. The others keep their order.
	DropUnused bool
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

func (o Options) minTokens() int64 {
	if o.MinTokens == 0 {
		return 5
	}
	return int64(max(o.MinTokens, 2))
}

func (o Options) validate() error {
	if o.MinTokens < 0 {
		return fmt.Errorf("cooc: MinTokens is %d, want 0 for the default, or more", o.MinTokens)
	}
	if o.Weighting < Unbiased || o.Weighting > TFIDF {
		return fmt.Errorf("cooc: %v: no such weighting", o.Weighting)
	}
	return nil
}

// reasons returns why documents were left out that are too short or have no weight. It is
// an error if none was used.
func (o Options) reasons(used int, short, light corpus.Dropped) ([]corpus.Dropped, error) {
	switch {
	case used == 0 && light.Count > 0 && short.Count == 0:
		return nil, fmt.Errorf("cooc: %w (all %d documents have the weight 0)", ErrNoDocuments, light.Count)
	case used == 0:
		return nil, fmt.Errorf("cooc: %w (%d documents, at least %d tokens asked for)",
			ErrNoDocuments, short.Count+light.Count, o.minTokens())
	}
	short.Reason, light.Reason = fmt.Sprintf("fewer than %d tokens", o.minTokens()), "of weight 0"
	return slices.DeleteFunc([]corpus.Dropped{short, light}, func(d corpus.Dropped) bool { return d.Count == 0 }), nil
}

const unused = "in no document that is left"

// used returns the documents of c that are long enough and have a weight, with the words
// that the options keep, and their Info.
func (o Options) used(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, corpus.Info, error) {
	weights := c.Weights()
	var docs []int
	var short, light corpus.Dropped
	seen := make([]bool, c.NumWords())
	for m := range c.NumDocs() {
		if m%4096 == 0 && ctx.Err() != nil {
			return nil, corpus.Info{}, ctx.Err()
		}
		in, _ := c.Doc(m)
		if c.DocLen(m) < o.minTokens() {
			bag.Leave(&short.Count, &short.Names, c.ID(m))
			continue
		}
		if weights != nil && weights[m] == 0 {
			bag.Leave(&light.Count, &light.Names, c.ID(m))
			continue
		}
		docs = append(docs, m)
		for _, w := range in {
			seen[w] = true
		}
	}
	reasons, err := o.reasons(len(docs), short, light)
	if err != nil {
		return nil, corpus.Info{}, err
	}
	var words []int // nil: all
	var gone []string
	if o.DropUnused && slices.Contains(seen, false) {
		for w, ok := range seen {
			if ok {
				words = append(words, w)
			} else {
				gone = append(gone, c.Word(w))
			}
		}
	}
	if len(docs) < c.NumDocs() || words != nil {
		if c, err = c.Select(docs, words); err != nil {
			return nil, corpus.Info{}, fmt.Errorf("cooc: %w", err)
		}
	}
	info := c.Info()
	info.DroppedDocuments = slices.Concat(info.DroppedDocuments, reasons)
	if len(gone) > 0 { // words are all listed
		info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return c, info, nil
}
