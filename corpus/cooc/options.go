package cooc

import (
	"context"
	"fmt"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Options sets how C is estimated, for Moments and for a Stream alike. The zero value
// is the setting of the papers.
type Options struct {
	// Weighting says which second moment of the documents stands for C. Default:
	// Unbiased. A Stream has this and OffDiagonal only.
	Weighting Weighting
	// Vocabulary is the words to keep, in the order in which they are to be numbered,
	// without repetition. The other words are left out before documents are
	// measured. Words that the documents lack are allowed and have empty rows. nil
	// keeps all words; a Source of tokens needs a Vocabulary. The slice is copied.
	Vocabulary []string
	// MinTokens leaves out documents with fewer tokens. 0 means 5 (lee-2018 §2.4);
	// the least that counts is 2, as a single token holds no pair.
	MinTokens int
	// MinDistinct leaves out documents with fewer distinct words. 0: no limit.
	MinDistinct int
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
	if o.MinDistinct < 0 {
		return fmt.Errorf("cooc: MinDistinct is %d, want 0 or more", o.MinDistinct)
	}
	if o.Weighting < Unbiased || o.Weighting > TFIDF {
		return fmt.Errorf("cooc: %v: no such weighting", o.Weighting)
	}
	return nil
}

// short is the reason for which documents are left out as too short.
func (o Options) short() string {
	if o.MinDistinct > 0 {
		return fmt.Sprintf("fewer than %d tokens or %d distinct words", o.minTokens(), o.MinDistinct)
	}
	return fmt.Sprintf("fewer than %d tokens", o.minTokens())
}

// none is the error where all of the documents are too short.
func (o Options) none(docs int) error {
	distinct := ""
	if o.MinDistinct > 0 {
		distinct = fmt.Sprintf(" and %d distinct words", o.MinDistinct)
	}
	return fmt.Errorf("%w (%d documents, at least %d tokens%s asked for)", ErrNoDocuments, docs, o.minTokens(), distinct)
}

const unused = "in no document that is left"

// used returns the documents of c that are long enough and have a weight, with
// the words that the options keep, and what was left out.
func (o Options) used(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, corpus.Info, error) {
	var info corpus.Info
	if o.Vocabulary != nil {
		var err error
		if c, _, err = c.Reindex(o.Vocabulary); err != nil {
			return nil, info, fmt.Errorf("cooc: %w", err)
		}
	}
	least, weights := o.minTokens(), c.Weights()
	var docs, words []int
	short, light := corpus.Dropped{Reason: o.short()}, corpus.Dropped{Reason: "of weight 0"}
	var gone []string
	seen := make([]bool, c.NumWords())
	for m := range c.NumDocs() {
		if m%4096 == 0 && ctx.Err() != nil {
			return nil, info, ctx.Err()
		}
		in, _ := c.Doc(m)
		if c.DocLen(m) < least || len(in) < o.MinDistinct {
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
	if len(docs) == 0 {
		if light.Count > 0 && short.Count == 0 {
			return nil, info, fmt.Errorf("cooc: %w (all %d documents have the weight 0)", ErrNoDocuments, c.NumDocs())
		}
		return nil, info, fmt.Errorf("cooc: %w", o.none(c.NumDocs()))
	}
	if o.DropUnused {
		for w, ok := range seen {
			if ok {
				words = append(words, w)
			} else {
				gone = append(gone, c.Word(w))
			}
		}
	}
	if len(gone) == 0 {
		words = nil
	}
	in := c
	if len(docs) < c.NumDocs() || words != nil {
		var err error
		if in, err = c.Select(docs, words); err != nil {
			return nil, info, fmt.Errorf("cooc: %w", err)
		}
	}
	info = in.Info()
	for _, d := range []corpus.Dropped{short, light} {
		if d.Count > 0 {
			info.DroppedDocuments = append(info.DroppedDocuments, d)
		}
	}
	if len(gone) > 0 { // words are all listed
		info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return in, info, nil
}
