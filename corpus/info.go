package corpus

import (
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Info is what is known about the origin of documents, or of a matrix made from them.
// The zero value says that nothing is known. Its slices must not be written to.
type Info struct {
	// Form names what the Info belongs to: "corpus" for a Corpus, "encoded" for an
	// Encoded, "moments", "moments (tf-idf)" and so on, "stream", "dense", "dense (tf-idf)"
	// and "low-rank + sparse" for the forms of package cooc, "topics" for the correlations
	// of topics.
	Form string

	// Documents counts the documents and Tokens their tokens. Nonzeros counts the
	// pairs of a document and a word in it, or for matrices that were not made from
	// documents their entries that are stored. 0 where they are not known.
	Documents int
	Tokens    int64
	Nonzeros  int64

	// Vocabulary holds the N words by number; nil where they have no names.
	Vocabulary []string

	// DocFrequencies holds for each of the N words the number of documents in which
	// it occurs; nil where that is not known.
	DocFrequencies []int

	// Corpus holds the documents, if they are in memory, and Source yields them, if
	// they can be read again. Words have the same numbers there.
	Corpus *Corpus
	Source Source

	// Text says how the words were made of text; nil where that is not known, as for
	// documents that were not text.
	Text *text.Setting

	// DroppedDocuments and DroppedWords say what was left out, and why.
	DroppedDocuments, DroppedWords []Dropped
}

// Dropped are documents or words that were left out for one reason.
type Dropped struct {
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	Names  []string `json:"names"` // nil where there are too many to list
}

// Info returns what is known about the corpus; the zero Info for nil. The first call
// takes O(nnz) time, to count DocFrequencies.
func (c *Corpus) Info() Info {
	if c == nil {
		return Info{}
	}
	return Info{
		Form: "corpus", Documents: c.NumDocs(), Tokens: c.tokens, Nonzeros: int64(len(c.words)),
		Vocabulary: c.vocab, DocFrequencies: c.df(), Corpus: c, Source: c.Source(), Text: c.text,
	}
}

// WithText returns the corpus with what is known of how its words were made of text; nil:
// nothing. The documents are shared. Readers and Builder.AddText say it themselves.
func (c *Corpus) WithText(s *text.Setting) *Corpus {
	out := *c
	out.text = s
	return &out
}

// WithWeights returns the corpus with a weight for each document, finite and not
// negative, by which it counts in the co-occurrence matrix; nil: 1 each. The
// documents are shared, w is copied. Select, Split, SplitTokens, Bootstrap and
// Reindex keep the weights.
func (c *Corpus) WithWeights(w []float64) (*Corpus, error) {
	if w != nil && len(w) != c.NumDocs() {
		return nil, fmt.Errorf("corpus: %d weights for %d documents", len(w), c.NumDocs())
	}
	for m, x := range w {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("corpus: document %d (%s) has the weight %g; want a finite number that is not negative", m, c.ID(m), x)
		}
	}
	out := *c
	out.weights = slices.Clone(w)
	return &out, nil
}

// WithMetadata returns the corpus with the values of its documents, one row for each, in
// their order; nil: none. The documents and the values are shared. Select, Split,
// SplitTokens, Bootstrap, Reindex and Curate keep them.
func (c *Corpus) WithMetadata(t *Metadata) (*Corpus, error) {
	if t != nil && t.docs != c.NumDocs() {
		return nil, fmt.Errorf("corpus: metadata of %d documents for %d documents", t.docs, c.NumDocs())
	}
	out := *c
	out.meta = t
	return &out, nil
}

// Weights returns the weights of the documents; nil where all weigh 1. They
// must not be written to.
func (c *Corpus) Weights() []float64 { return c.weights }
