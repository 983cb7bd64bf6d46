package cooc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Accumulator holds documents that come and go, for models that are fitted again as
// documents arrive. Snapshot gives the documents held at one moment, as a corpus. The
// corpus depends on these documents and the options alone, to the bit: not on the
// order in which documents arrived, on merges, or on documents removed before.
//
// A document has an id, by which it can be removed, and a time: the caller's clock or
// sequence number (AddAt), or one more than the newest (Add). Documents are ordered by
// time, then id. Sliding windows and decay go by the time.
//
// The vocabulary grows as documents arrive (AccumulatorOptions.MinDocs), and loses
// words when documents are removed or leave the window.
//
// Memory: 8 bytes for each distinct word of a document, some 180 for each document, 32 for
// each of its values in columns, some 100 for each different word, and the strings. Add
// takes time proportional to the words of the document. Remove, and Add for a document that
// is not the newest, also move at most 8 bytes for each document.
//
// The zero value is an accumulator with default options. It is safe for concurrent
// use. Documents can be added while a snapshot is used.
type Accumulator struct {
	mu   sync.Mutex
	o    AccumulatorOptions
	stop map[string]bool

	index map[string]int32 // the words held or in o.Vocabulary
	words []string
	df    []int32 // documents held that have the word
	free  []int32 // numbers without a word

	docs []*heldDoc // by time, then id
	byID map[string]*heldDoc

	tokens, unknown, evicted, bytes int64
	nnz                             int
	counter                         bag.Counter
	pairs                           []uint64
}

// NewAccumulator returns an empty accumulator. The slices of o are copied. The error
// names every setting that is out of range.
func NewAccumulator(o AccumulatorOptions) (*Accumulator, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	a := &Accumulator{o: o}
	a.o.Vocabulary, a.o.StopWords, a.o.Columns = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords), slices.Clone(o.Columns)
	a.ready()
	return a, nil
}

// ready initialises a zero Accumulator.
func (a *Accumulator) ready() {
	if a.index != nil {
		return
	}
	a.index, a.byID = map[string]int32{}, map[string]*heldDoc{}
	a.stop = make(map[string]bool, len(a.o.StopWords))
	for _, w := range a.o.StopWords {
		a.stop[w] = true
	}
	for _, w := range a.o.Vocabulary {
		a.newWord(w)
	}
}

// newWord gives a word a number.
func (a *Accumulator) newWord(w string) int32 {
	a.bytes += wordBytes + int64(len(w))
	if n := len(a.free); n > 0 {
		i := a.free[n-1]
		a.free = a.free[:n-1]
		a.index[w], a.words[i], a.df[i] = i, w, 0
		return i
	}
	i := int32(len(a.words))
	a.index[w], a.words, a.df = i, append(a.words, w), append(a.df, 0)
	return i
}

func duplicate(id string) error {
	return fmt.Errorf("cooc: accumulator: a document %q %w; remove it first", id, ErrDuplicate)
}

func full(id string, bytes, limit int64) error {
	return fmt.Errorf("cooc: accumulator: document %q would bring the memory to %d bytes, %w of %d: remove documents, or use a window", id, bytes, ErrFull, limit)
}

// Add adds a document with a time of one more than the newest. See AddAt.
func (a *Accumulator) Add(doc corpus.Document) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	at := int64(0)
	if n := len(a.docs); n > 0 {
		if at = a.docs[n-1].at; at == math.MaxInt64 {
			return fmt.Errorf("cooc: accumulator: document %q: there is no time after the newest document's, %d", doc.ID, at)
		}
		at++
	}
	return a.add(doc, at)
}

// AddAt adds a document of the given time. Words are numbers in
// AccumulatorOptions.Vocabulary. The label is not kept; strings and slices are copied.
// A document without words is held too. A document too old for the window is not held,
// and counted in AccumulatorStats.Evicted.
//
// Errors, after which nothing has been added: no id, an id that is held already
// (ErrDuplicate), more memory than MaxBytes (ErrFull), Values that do not fit the Columns, a
// count that is negative or too large, a number outside the Vocabulary, a token that is
// empty or not UTF-8.
func (a *Accumulator) AddAt(doc corpus.Document, at int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	return a.add(doc, at)
}

// AddSource adds the documents of a source as Add does, and returns their number. A
// document without an id gets its number as one, from 1. A source whose text was split by
// another setting than AccumulatorOptions.Text is an error; an accumulator without documents
// and without a Text takes that of the source. Values are taken from the columns of the source
// that have the names and kinds of AccumulatorOptions.Columns; without any, and without
// documents, the accumulator takes the columns of the source, with all names of categories
// allowed. An error leaves the documents before it added.
func (a *Accumulator) AddSource(ctx context.Context, src corpus.Source) (added int, err error) {
	if err := a.takeText(src); err != nil {
		return 0, err
	}
	from, err := a.takeColumns(src)
	if err != nil {
		return 0, err
	}
	var values []corpus.Value
	var names []string
	if n, ok := src.(corpus.Numbered); ok {
		if names, err = n.Vocabulary(ctx); err != nil {
			return 0, err
		}
	}
	var tokens []string
	for doc, err := range src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return added, err
		}
		if doc.ID == "" {
			doc.ID = strconv.Itoa(added + 1)
		}
		if len(doc.Words) > 0 { // numbers in the vocabulary of the source
			tokens = tokens[:0]
			for _, w := range doc.Words {
				if w < 0 || int(w) >= len(names) {
					return added, fmt.Errorf("cooc: accumulator: document %s: %w", doc.ID, bag.RangeError("word", int64(w), 0, int64(len(names))-1))
				}
				tokens = append(tokens, names[w])
			}
			doc.Tokens, doc.Words = tokens, nil
		}
		if len(doc.Values) > 0 && from != nil {
			values = values[:0]
			for _, i := range from {
				v := corpus.Value{}
				if i >= 0 && i < len(doc.Values) {
					v = doc.Values[i]
				}
				values = append(values, v)
			}
			doc.Values = values
		}
		if err := a.Add(doc); err != nil {
			return added, err
		}
		added++
	}
	return added, ctx.Err()
}

// takeText compares the text setting of a source with that of the accumulator.
func (a *Accumulator) takeText(src corpus.Source) error {
	from, ok := src.(corpus.FromText)
	if !ok || from.TextSetting() == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	set := from.TextSetting()
	switch {
	case a.o.Text == nil && len(a.docs) == 0:
		a.o.Text = set
	case a.o.Text != nil && !a.o.Text.Equal(*set):
		return fmt.Errorf("cooc: accumulator: the text of the documents was split by the setting %v, that of the documents held by %v", set, a.o.Text)
	}
	return nil
}

func (a *Accumulator) add(doc corpus.Document, at int64) error {
	if doc.ID == "" {
		return errors.New("cooc: accumulator: a document has no ID, by which it could be removed")
	}
	if a.byID[doc.ID] != nil {
		return duplicate(doc.ID)
	}
	c := &a.counter
	err := a.checkValues(doc.Values)
	var fresh []string
	if err == nil {
		fresh, err = a.count(doc)
	} else {
		err = fmt.Errorf("document %s: %w", doc.ID, err)
	}
	if err != nil {
		return fmt.Errorf("cooc: accumulator: %w", err)
	}

	// The documents that will leave the windows.
	newest := at
	if m := len(a.docs); m > 0 {
		newest = max(newest, a.docs[m-1].at)
	}
	old := func(t int64) bool { return a.o.MaxAge > 0 && uint64(newest)-uint64(t) >= uint64(a.o.MaxAge) }
	gone, freed := 0, int64(0)
	for gone < len(a.docs) && (a.o.Window > 0 && len(a.docs)+1-gone > a.o.Window && a.docs[gone].compare(at, doc.ID) < 0 || old(a.docs[gone].at)) {
		freed += a.docs[gone].bytes()
		gone++
	}
	if old(at) || a.o.Window > 0 && len(a.docs)+1-gone > a.o.Window {
		a.evicted++ // it would be the first to go
		return nil
	}
	d := &heldDoc{id: strings.Clone(doc.ID), at: at, data: slices.Concat(c.Words, c.Counts), values: ownValues(doc.Values)}
	total := a.bytes - freed + d.bytes()
	for _, w := range fresh {
		total += wordBytes + int64(len(w))
	}
	if a.o.MaxBytes > 0 && total > a.o.MaxBytes {
		return full(d.id, total, a.o.MaxBytes)
	}
	a.unknown += c.Unknown

	// New words get free numbers.
	base := len(a.words)
	taken := make([]int32, len(fresh))
	for i, w := range fresh {
		taken[i] = a.newWord(w)
	}
	words, counts := d.pairs()
	for i, w := range words {
		if int(w) >= base {
			words[i] = taken[int(w)-base]
		}
	}
	bag.Merge(words, counts, &a.pairs) // distinct words: sorts only
	a.hold(d)                          // before words go that it has too
	for range gone {
		a.evict()
	}
	return nil
}

// count counts the words of a document in a.counter, ascending. It returns the new
// words, which have the numbers after the last one in the counter.
func (a *Accumulator) count(doc corpus.Document) (fresh []string, err error) {
	var number map[string]int32 // of the new words
	words := bag.Words{Size: len(a.o.Vocabulary), Names: a.o.Vocabulary}
	words.Token = func(t string) (int32, error) {
		if w, ok := a.index[t]; ok {
			return w, nil
		}
		if !utf8.ValidString(t) {
			return 0, fmt.Errorf("token %q: %w", t, corpus.ErrInvalidUTF8)
		}
		if a.stop[t] {
			return bag.Ignored, nil
		}
		if a.o.MinDocs < 0 {
			return bag.Unknown, nil
		}
		w, ok := number[t]
		if !ok {
			if number == nil {
				number = map[string]int32{}
			}
			if len(a.words)+len(fresh) == math.MaxInt32 {
				return 0, fmt.Errorf("more than %d different words", math.MaxInt32)
			}
			w = int32(len(a.words) + len(fresh))
			t = strings.Clone(t) // it may be a piece of a whole text
			number[t], fresh = w, append(fresh, t)
		}
		return w, nil
	}
	words.Name = func(w int32) string {
		if int(w) < len(a.words) {
			return a.words[w]
		}
		return fresh[int(w)-len(a.words)]
	}
	if err := a.counter.Read(&words, bag.Document{ID: doc.ID, Tokens: doc.Tokens, Words: doc.Words, Counts: doc.Counts}, 0); err != nil {
		return nil, err
	}
	return fresh, a.counter.Sorted()
}

// Remove removes the document with this id and reports whether it was held. The
// accumulator is then as if it had never been added.
func (a *Accumulator) Remove(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.byID[id]
	if d == nil {
		return false
	}
	i := a.place(d)
	a.forget(d)
	if i == 0 { // as a window does, without a move
		a.docs[0], a.docs = nil, a.docs[1:]
	} else {
		a.docs = slices.Delete(a.docs, i, i+1)
	}
	return true
}

// SetWindow changes AccumulatorOptions.Window, MaxAge and HalfLife, and returns the
// number of documents that left the windows. Wider windows do not bring documents
// back. A setting out of range is an error, and nothing has changed then.
func (a *Accumulator) SetWindow(window int, maxAge int64, halfLife float64) (evicted int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	o := a.o
	o.Window, o.MaxAge, o.HalfLife = window, maxAge, halfLife
	if err := o.validate(); err != nil {
		return 0, err
	}
	a.o = o
	return a.slide(), nil
}

// Has reports whether a document is held.
func (a *Accumulator) Has(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id] != nil
}

// AccumulatorStats says what an Accumulator holds.
type AccumulatorStats struct {
	Docs    int   // documents held
	NNZ     int   // pairs of a document and a word in it, whether in the vocabulary or not
	Tokens  int64 // tokens of these documents, likewise
	Words   int   // different words in them or in Vocabulary
	Unknown int64 // tokens left out so far because Vocabulary lacks them and MinDocs < 0
	Evicted int64 // documents that have left the windows so far
	Newest  int64 // the time of the newest document, 0 if there is none
	Bytes   int64 // estimate of the memory
}

// Stats returns the sizes of what is held, in O(1) time.
func (a *Accumulator) Stats() AccumulatorStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	st := AccumulatorStats{Docs: len(a.docs), NNZ: a.nnz, Tokens: a.tokens, Words: len(a.words) - len(a.free), Unknown: a.unknown, Evicted: a.evicted, Bytes: a.bytes}
	if n := len(a.docs); n > 0 {
		st.Newest = a.docs[n-1].at
	}
	return st
}

// Options returns a copy of the options.
func (a *Accumulator) Options() AccumulatorOptions {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.o
	o.Vocabulary, o.StopWords, o.Columns = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords), slices.Clone(o.Columns)
	return o
}
