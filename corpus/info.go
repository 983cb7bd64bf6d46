package corpus

import (
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Info is what is known about the origin of documents, or of a matrix made from them.
// The zero value says that nothing is known. Its slices must not be written to.
type Info struct {
	// Form names what the Info belongs to: "corpus", "encoded" (also a matrix counted from an
	// Encoded), "moments", "moments (tf-idf)", "dense", "low-rank + sparse" and the like for
	// the matrices of package cooc, "topics" for the correlations of topics.
	Form string

	// Documents counts the documents and Tokens their tokens. Nonzeros counts the pairs of a
	// document and a word in it, or the stored entries of a matrix not made from documents.
	// 0: not known.
	Documents int
	Tokens    int64
	Nonzeros  int64

	// Vocabulary holds the N words by number; nil: they have no names.
	Vocabulary []string

	// DocFrequencies holds for each of the N words the number of documents that have it;
	// nil: not known.
	DocFrequencies []int

	// Corpus holds the documents, if they are in memory, and Source yields them, if they can be
	// read again, with the same numbers of words.
	Corpus *Corpus
	Source Source

	// Text says how the words were made of text; nil: not known, or they were not text.
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

// Info returns what is known about the corpus; the zero Info for nil. The first call counts
// DocFrequencies in O(nnz) time.
func (c *Corpus) Info() Info {
	if c == nil {
		return Info{}
	}
	return Info{
		Form: "corpus", Documents: c.NumDocs(), Tokens: c.tokens, Nonzeros: int64(len(c.words)),
		Vocabulary: c.vocab, DocFrequencies: c.df(), Corpus: c, Source: c.Source(), Text: c.text,
		DroppedDocuments: c.dropped,
	}
}

// WithText returns the corpus with another Info.Text; nil: not known. The documents are
// shared. Readers and [Builder.AddText] set it themselves.
func (c *Corpus) WithText(s *text.Setting) *Corpus {
	out := *c
	out.text = s
	return &out
}

// WithWeights returns the corpus with weights of its documents in a fit, one for each, finite
// and not negative; nil: 1 each. The documents are shared, w is copied. Select, Split,
// SplitTokens, Bootstrap and Reindex keep the weights.
func (c *Corpus) WithWeights(w []float64) (*Corpus, error) {
	if err := checkWeights(w, c.NumDocs()); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	out := *c
	out.weights = slices.Clone(w)
	return &out, nil
}

// checkWeights returns an error if w is neither nil nor the weights of docs documents.
func checkWeights(w []float64, docs int) error {
	_, _, err := bag.Relative(w, docs)
	return err
}

// WithMetadata returns the corpus with the values of its documents, in their order; nil: none.
// Documents and values are shared. Select, Split, SplitTokens, Bootstrap, Reindex and Curate
// keep the values.
func (c *Corpus) WithMetadata(t *Metadata) (*Corpus, error) {
	if t != nil && t.docs != c.NumDocs() {
		return nil, fmt.Errorf("corpus: metadata of %d documents for %d documents", t.docs, c.NumDocs())
	}
	out := *c
	out.meta = t
	return &out, nil
}

// Weights returns the weights of the documents; nil: 1 each. They must not be written to.
func (c *Corpus) Weights() []float64 { return c.weights }
