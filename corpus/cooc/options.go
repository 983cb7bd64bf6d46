package cooc

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jsmf-go/spectral/corpus"
)

// defaultMinTokens is the length below which documents are left out of C, as
// in the papers' experiments (lee-2018 §2.4).
const defaultMinTokens = 5

// ErrNoDocuments is returned where no document is long enough to hold a pair
// of words.
var ErrNoDocuments = errors.New("no document is long enough to count word pairs in")

// Options sets how C is estimated. The zero value is the papers' setting.
type Options struct {
	// Weighting says which second moment of the documents stands for C.
	// Default: Unbiased.
	Weighting Weighting
	// MinTokens leaves out documents with fewer tokens. 0 means 5, as in the
	// papers; 1 is the same as 2, for a single token holds no pair. Negative
	// values are an error.
	MinTokens int
	// DropUnused leaves out the words that occur in none of the documents that
	// are used, whose rows would be empty. The others keep their order.
	DropUnused bool
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

func (o Options) minTokens() int64 {
	if o.MinTokens == 0 {
		return defaultMinTokens
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

// short is the reason for which documents are left out as too short.
func (o Options) short() string {
	return "fewer than " + strconv.FormatInt(o.minTokens(), 10) + " tokens"
}

const unused = "in no document that is left"

// maxNames is how many documents are listed that were left out; of a corpus of
// very many short ones the names would fill the model file.
const maxNames = 1000

func dropped(reason string, names []string) corpus.Dropped {
	d := corpus.Dropped{Reason: reason, Count: len(names)}
	if len(names) <= maxNames {
		d.Names = names
	}
	return d
}

// used returns the documents of c that are long enough and have a weight, with
// the words that the options keep, and what was left out.
func (o Options) used(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, corpus.Info, error) {
	var info corpus.Info
	least, weights := o.minTokens(), c.Weights()
	var docs, words []int
	var short, light, gone []string
	seen := make([]bool, c.NumWords())
	for m := range c.NumDocs() {
		if m%4096 == 0 && ctx.Err() != nil {
			return nil, info, ctx.Err()
		}
		if c.DocLen(m) < least {
			short = append(short, c.ID(m))
			continue
		}
		if weights != nil && weights[m] == 0 {
			light = append(light, c.ID(m))
			continue
		}
		docs = append(docs, m)
		in, _ := c.Doc(m)
		for _, w := range in {
			seen[w] = true
		}
	}
	if len(docs) == 0 {
		if len(light) > 0 && len(short) == 0 {
			return nil, info, fmt.Errorf("cooc: %w (all %d documents have the weight 0)", ErrNoDocuments, c.NumDocs())
		}
		return nil, info, fmt.Errorf("cooc: %w (%d documents, at least %d tokens asked for)", ErrNoDocuments, c.NumDocs(), least)
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
	if len(short) > 0 {
		info.DroppedDocuments = append(info.DroppedDocuments, dropped(o.short(), short))
	}
	if len(light) > 0 {
		info.DroppedDocuments = append(info.DroppedDocuments, dropped("of weight 0", light))
	}
	if len(gone) > 0 { // words are all listed
		info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return in, info, nil
}
