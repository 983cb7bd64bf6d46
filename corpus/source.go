package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Document is a document as a Source yields it. It holds either tokens or numbers
// of words, with or without counts.
type Document struct {
	ID    string // "": the document is called by its number, from 1
	Label string // "": none

	// Values are those of the columns of the source (Description.Columns), one for each, or
	// nil if all are missing.
	Values []Value

	// Tokens are the words as strings.
	Tokens []string

	// Words are numbers in the vocabulary of the source (Description.Vocabulary).
	Words []int32

	// Counts says how often each of Tokens or Words occurs, from 0 to MaxCount;
	// nil: once each. Counts of equal words are added up.
	Counts []int32

	// Place is where the document is, for errors about it.
	Place Place

	left *leftOut // what the pass that it comes from could not read; nil: nothing
}

// Place is a line of a file. The zero value is a place that is not known.
type Place struct {
	File string // "": not known
	Line int    // counted from 1; 0: the file as a whole
}

func (p Place) at(err error) error { return &FileError{File: p.File, Line: p.Line, Err: err} }

// words returns the words, to be counted.
func (d *Document) words() bag.Document {
	return bag.Document{ID: d.ID, Tokens: d.Tokens, Words: d.Words, Counts: d.Counts}
}

// at adds the place of the document to an error that names it.
func (d *Document) at(err error) error {
	if d.Place.File != "" {
		return d.Place.at(err)
	}
	return fmt.Errorf("corpus: %w", err)
}

// fail adds the document, whose number counts from 1, and its place to an error.
func (d *Document) fail(number int, err error) error {
	if d.Place.File == "" {
		err = fmt.Errorf("document %s: %w", cmp.Or(d.ID, strconv.Itoa(number)), err)
	}
	return d.at(err)
}

// Source is a collection of documents that can be read any number of times without holding it
// in memory. All readers of this package are Sources. They hold no open file between passes.
//
// A Source that wraps another embeds it and changes one of the methods. What the other
// knows of its documents then comes through:
//
//	type upper struct{ corpus.Source }
//
//	func (u upper) Describe(ctx context.Context) (corpus.Description, error) {
//		d, err := u.Source.Describe(ctx)
//		d.Columns = slices.Clone(d.Columns)
//		…
//		return d, err
//	}
type Source interface {
	// Describe says what is known of the documents before they are read. It may open
	// files, which it closes.
	Describe(ctx context.Context) (Description, error)

	// Docs yields the documents in order. It opens its files when the loop begins and closes
	// them when the loop ends. The first error is yielded with a zero Document and ends the
	// sequence, as does the end of ctx, which is checked every few thousand lines. The slices
	// of a Document are valid until the next iteration.
	Docs(ctx context.Context) iter.Seq2[Document, error]
}

// Description is what a Source knows of its documents before they are read. The zero value
// describes documents of tokens of which nothing is known. Its slices must not be written to.
type Description struct {
	// Documents is their number; 0: not known. It is for showing progress, and need not be
	// right.
	Documents int

	// Vocabulary holds the words by number: documents have numbers of these (Document.Words)
	// and no tokens. nil: they have tokens. Words without names are "".
	Vocabulary []string

	// Unsorted says that words are numbered in the order in which they came. Read sorts them.
	Unsorted bool

	// Columns are the columns of Document.Values; nil: none.
	Columns []Column

	// Text says how the words were made of text; nil: not known.
	Text *text.Setting

	// Stemmer is what the words are still to be merged by (see Stem); nil: none. Read, Encode
	// and EncodeFile merge them.
	Stemmer text.Stemmer

	// Weights are the weights of the documents in a fit, one for each, finite and not
	// negative; nil: 1 each.
	Weights []float64

	// Copies says that documents may have the ids of others, as copies of them do. Otherwise an id
	// that comes twice is an error.
	Copies bool

	// DroppedDocuments says what was left out before, and why.
	DroppedDocuments []Dropped

	// Remote says that the documents are on other machines, where package jsmf/beam adds them
	// up. Docs then brings them here one by one.
	Remote bool
}

// errStop says that the caller has left the loop.
var errStop = errors.New("stop")

// documents returns what stream yields, and then its error, unless that is errStop.
func documents(ctx context.Context, stream func(context.Context, func(Document, error) bool) error) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if err := stream(ctx, yield); err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

// Source returns the corpus as a Source. The slices of its Documents must not be written
// to; all but Values stay valid.
func (c *Corpus) Source() Source { return inMemory{c} }

type inMemory struct{ c *Corpus }

// Describe implements Source.
func (s inMemory) Describe(context.Context) (Description, error) {
	c := s.c
	return Description{
		Documents: c.NumDocs(), Vocabulary: c.vocab, Columns: c.meta.Columns(), Text: c.text, Weights: c.weights, Copies: c.repeats,
		DroppedDocuments: c.dropped,
	}, nil
}

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
			d.Values = values
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Read collects the documents of a source, with its columns as Metadata, its weights and its
// text setting. Documents without words are kept. Two documents with one id are an error that
// wraps [ErrRepeatedID].
//
// The words of a source with a Vocabulary keep their order. Otherwise the vocabulary is all
// tokens, sorted: whole numbers by value, then the other words by their bytes. Words of one
// stem are merged, as by Stem, if the source names a Stemmer.
//
// Memory grows with what is in a file, not with what its header says. Finding ids that come
// twice takes some 50 bytes for each, until all are read.
func Read(ctx context.Context, src Source) (*Corpus, error) {
	switch s := src.(type) {
	case inMemory:
		return s.c, nil
	case UCI: // takes lines in any order
		return s.load(ctx)
	}
	return collect(ctx, src)
}

func collect(ctx context.Context, src Source) (*Corpus, error) {
	desc, err := src.Describe(ctx)
	if err != nil {
		return nil, err
	}
	b := Builder{Vocabulary: slices.Clone(desc.Vocabulary), Columns: desc.Columns, text: desc.Text, dropped: desc.DroppedDocuments}
	b.seen.copies = desc.Copies
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
	if err == nil && desc.Stemmer != nil {
		c, err = c.stem(desc.Stemmer)
	}
	if err != nil {
		return nil, err
	}
	if desc.Unsorted {
		c = c.sorted()
	}
	c.repeats = desc.Copies
	return c.WithWeights(desc.Weights)
}

// FromSeq returns a Source of the documents of a sequence. desc says what is known of them,
// nothing for documents of tokens without metadata. Every pass goes through seq from its
// beginning. A later pass that yields another number of documents than the first ends with
// [ErrSourceChanged]: Encode a sequence that can be gone through only once.
func FromSeq(seq iter.Seq2[Document, error], desc Description) Source {
	return &sequence{seq: seq, desc: desc}
}

type sequence struct {
	seq  iter.Seq2[Document, error]
	desc Description
	docs atomic.Int64 // 1 + the number of documents of a whole pass; 0: not known
}

func (s *sequence) Describe(context.Context) (Description, error) { return s.desc, nil }

func (s *sequence) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		n := int64(1)
		for d, err := range s.seq {
			if err == nil && ctx.Err() != nil {
				err = fmt.Errorf("corpus: document %d: %w", n, ctx.Err())
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
			n++
		}
		if !s.docs.CompareAndSwap(0, n) && s.docs.Load() != n {
			yield(Document{}, fmt.Errorf("corpus: sequence: %w: %d documents, before %d", ErrSourceChanged, n-1, s.docs.Load()-1))
		}
	}
}
