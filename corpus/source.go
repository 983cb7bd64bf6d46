package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Document is a document as a Source yields it. It holds either tokens or numbers
// of words, with or without counts.
type Document struct {
	ID    string // "": the document is called by its number, from 1
	Label string // "": none

	// Values are those of the Columns of a Described source, one for each, or nil if all
	// are missing.
	Values []Value

	// Tokens are the words as strings.
	Tokens []string

	// Words are numbers in the vocabulary of a Numbered source.
	Words []int32

	// Counts says how often each of Tokens or Words occurs, from 0 to MaxCount;
	// nil: once each. Counts of a word that stands there several times are added
	// up.
	Counts []int32

	place place
}

// words returns the words, to be counted.
func (d *Document) words() bag.Document {
	return bag.Document{ID: d.ID, Tokens: d.Tokens, Words: d.Words, Counts: d.Counts}
}

// fail adds to an error where the document stands; its number counts from 1.
func (d *Document) fail(number int, err error) error {
	if d.place.file != "" {
		return &FileError{File: d.place.file, Line: d.place.line, Err: err}
	}
	return fmt.Errorf("corpus: document %s: %w", cmp.Or(d.ID, strconv.Itoa(number)), err)
}

// Source is a collection of documents that can be read any number of times
// without holding it in memory. All readers of this package are Sources; they
// hold no open file between passes.
type Source interface {
	// Docs yields the documents in order. It opens its files when the loop begins
	// and closes them when the loop ends or is left. The first error is yielded
	// with a zero Document and ends the sequence, as does the end of ctx, which is
	// checked every few thousand lines.
	//
	// The slices of a Document are valid until the next iteration.
	//
	// A Source that wraps another hides what that says of itself, unless it has the methods
	// of Numbered, Described and FromText too.
	Docs(ctx context.Context) iter.Seq2[Document, error]
}

// ErrSourceChanged means that a Source yielded other documents in a later pass than
// in the first.
var ErrSourceChanged = errors.New("the documents are not those of the first pass")

// Numbered is a Source whose documents hold numbers of words instead of tokens.
// Every function that takes a Source asks whether it is one.
type Numbered interface {
	Source

	// Vocabulary returns the words in a new slice. It opens the files that it
	// needs and closes them.
	Vocabulary(ctx context.Context) ([]string, error)
}

// FromText is a Source whose tokens come from text, or from a Source that says so. Every
// function that takes a Source asks whether it is one.
type FromText interface {
	Source

	// TextSetting says how the text is split into words; nil where that is not known.
	TextSetting() *text.Setting

	// Stemmer returns the Stemmer by which the words are still to be merged (see Stem);
	// nil for none, and where they are merged already.
	Stemmer() text.Stemmer
}

// textOf returns how the words of a source were made of text, nil where it does not say.
func textOf(src Source) *text.Setting {
	if t, ok := src.(FromText); ok {
		return t.TextSetting()
	}
	return nil
}

// Source returns the corpus as a Source, which is Described. The slices of its Documents
// must not be written to; all but Values stay valid. Documents have no weights;
// cooc.NewStream refuses the Source of a corpus that has some (WithWeights).
func (c *Corpus) Source() Numbered { return inMemory{c} }

type inMemory struct{ c *Corpus }

var (
	_ bag.Weighted = inMemory{}
	_ Described    = inMemory{}
)

func (s inMemory) Columns() []Column { return s.c.meta.Columns() }

// TextSetting implements FromText.
func (s inMemory) TextSetting() *text.Setting { return s.c.text }

// Stemmer implements FromText: the words are merged.
func (s inMemory) Stemmer() text.Stemmer { return nil }

func (s inMemory) Weights() []float64 { return s.c.weights }

func (s inMemory) load(context.Context) (*Corpus, error) { return s.c, nil }

func (s inMemory) Vocabulary(context.Context) ([]string, error) { return s.c.Vocabulary(), nil }

func (s inMemory) Docs(ctx context.Context) iter.Seq2[Document, error] {
	c := s.c
	return func(yield func(Document, error) bool) {
		var values []Value
		for m := range c.NumDocs() {
			if err := ctx.Err(); err != nil {
				yield(Document{}, fmt.Errorf("corpus: document %s: %w", c.ID(m), err))
				return
			}
			d := Document{Label: c.Label(m)}
			if c.ids != nil {
				d.ID = c.ids[m]
			}
			d.Words, d.Counts = c.Doc(m)
			values = c.meta.values(values[:0], m)
			d.Values, d.place.repeat = values, c.repeats
			if !yield(d, nil) {
				return
			}
		}
	}
}

// loader is a source of this package that can read a whole Corpus faster, or in one
// pass, or without the limits of streaming.
type loader interface {
	load(ctx context.Context) (*Corpus, error)
}

// Read collects the documents of a source. Documents without words are kept, and
// counts of a word that a document holds several times are added up. Columns of a
// Described source become the corpus's Metadata. Two documents with one id are an error
// that wraps ErrRepeatedID.
//
// The words of a Numbered source keep their order. Otherwise the vocabulary is all
// tokens, sorted: whole numbers by value, then the other words by their bytes. It
// does not depend on the order of the documents. Words of one stem are merged, as Stem
// does it, if the setting of a FromText source names a Stemmer.
//
// Memory grows with what is in the file, not with what its header says. Finding ids that
// come twice takes some 50 bytes for each, until all are read.
func Read(ctx context.Context, src Source) (*Corpus, error) {
	if l, ok := src.(loader); ok {
		return l.load(ctx)
	}
	return collect(ctx, src)
}

func collect(ctx context.Context, src Source) (*Corpus, error) {
	b := Builder{Columns: columnsOf(src), text: textOf(src)}
	if n, ok := src.(Numbered); ok {
		v, err := n.Vocabulary(ctx)
		if err != nil {
			return nil, err
		}
		if len(v) == 0 {
			return nil, fmt.Errorf("corpus: %w", ErrEmptyVocabulary)
		}
		b.Vocabulary = v
	}
	for d, err := range src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.Add(d)
		}
		if err != nil {
			return nil, err
		}
	}
	c, err := b.Corpus()
	if by := stemmer(src); by != nil && err == nil {
		return c.stem(by)
	}
	return c, err
}
