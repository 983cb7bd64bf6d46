package corpus

import (
	"errors"
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

// WithWeights returns the corpus with weights of its documents in a fit, one for each, finite
// and not negative; nil: 1 each. The documents are shared, w is copied. Select, Split,
// SplitTokens and Reindex keep the weights.
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
// Documents and values are shared. Select, Split, SplitTokens, Reindex and Curate
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

// Errors to compare with errors.Is. Errors in a file are wrapped in a [*FileError].
var (
	// ErrTruncated: a file ends early.
	ErrTruncated = errors.New("file is truncated")

	// ErrDamaged: encoded documents are not as they were written.
	ErrDamaged = errors.New("damaged, or not a file of this kind")

	// ErrTooLong: a line, a CSV record or a text file is longer than File.MaxLine
	// or Dir.MaxBytes.
	ErrTooLong = errors.New("exceeds the size limit")

	// ErrInvalidUTF8: text is not valid in UTF-8, or in its encoding (see File.Encoding
	// and File.ReplaceInvalid).
	ErrInvalidUTF8 = errors.New("invalid UTF-8")

	// ErrUngrouped: a line belongs to an earlier document than the one before (see
	// UCI.Ungrouped).
	ErrUngrouped = errors.New("lines are not grouped by document")

	// ErrRepeatedWord: a vocabulary file has a word twice (see UCI.RepeatedWords).
	ErrRepeatedWord = errors.New("occurs twice in the vocabulary")

	// ErrKind: no reader takes files of this kind, such as a PDF. The message says what it is
	// and what to do.
	ErrKind = errors.New("the file is of another kind")

	// ErrRepeatedID: two documents have one id. The message says where both are.
	ErrRepeatedID = errors.New("comes twice")

	// ErrSourceChanged: a Source yielded other documents in a later pass than in the first.
	ErrSourceChanged = errors.New("the documents are not those of the first pass")

	// ErrNoDocuments: there is no document, or none is left.
	ErrNoDocuments = errors.New("no documents")

	// ErrEmptyVocabulary: there is no word, or none is left.
	ErrEmptyVocabulary = errors.New("empty vocabulary")
)

// FileError says where in a file an error is.
type FileError struct {
	File string // File.Name
	Line int    // counted from 1, header included; 0: the file as a whole
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("corpus: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("corpus: %s:%d: %v", e.File, e.Line, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }
