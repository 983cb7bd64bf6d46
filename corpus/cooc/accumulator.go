package cooc

import (
	"cmp"
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

// DefaultMinDocs is in how many documents a new word must stand before an
// Accumulator takes it into the vocabulary.
const DefaultMinDocs = 5

// AccumulatorOptions says what an Accumulator holds, and how its vocabulary
// grows. The zero value holds every document for ever and takes every word of
// five documents.
type AccumulatorOptions struct {
	// Vocabulary are words that are always in the vocabulary, first and in this
	// order, such as those of a curated corpus. nil: none.
	Vocabulary []string

	// StopWords are never taken. None may be in Vocabulary.
	StopWords []string

	// MinDocs is the rule of growth: a word that is not in Vocabulary is in the
	// vocabulary as long as at least so many of the documents held have it. Until
	// then it waits, with its counts, and comes in with all documents that hold
	// it. 0 means 5; negative: never, other words than those of Vocabulary are
	// left out and counted (AccumulatorStats.Unknown).
	MinDocs int

	// MaxWords bounds the vocabulary, Vocabulary included. Where more words
	// fulfil the rule those in most documents are taken, of equal ones those that
	// come first by their bytes. 0: no bound.
	MaxWords int

	// Window > 0 is a sliding window: only the last so many documents are held.
	Window int

	// MaxAge > 0 is a sliding window by time: only documents younger than MaxAge
	// are held, the age being the newest document's time less their own. In the
	// units of AddAt.
	MaxAge int64

	// HalfLife > 0 is exponential decay: a document of age t weighs
	// 2^(−t/HalfLife). In the units of AddAt. 0: all weigh 1.
	HalfLife float64

	// MaxBytes > 0 bounds the memory, as AccumulatorStats.Bytes counts it: a
	// document that would exceed it is refused with a *LimitError.
	MaxBytes int64
}

func (o AccumulatorOptions) minDocs() int {
	if o.MinDocs == 0 {
		return DefaultMinDocs
	}
	return o.MinDocs
}

func (o AccumulatorOptions) validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("cooc: accumulator: "+format, args...))
		}
	}
	bad(o.MinDocs < 0 && len(o.Vocabulary) == 0, "MinDocs is %d, and there is no Vocabulary: no word would ever be taken", o.MinDocs)
	bad(o.MaxWords < 0, "MaxWords is %d", o.MaxWords)
	bad(o.MaxWords > 0 && len(o.Vocabulary) > o.MaxWords, "a Vocabulary of %d words exceeds MaxWords %d", len(o.Vocabulary), o.MaxWords)
	bad(o.Window < 0, "Window is %d", o.Window)
	bad(o.MaxAge < 0, "MaxAge is %d", o.MaxAge)
	bad(!(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 0), "HalfLife is %g; want a positive number, or 0 for none", o.HalfLife)
	bad(o.MaxBytes < 0, "MaxBytes is %d", o.MaxBytes)
	seen := make(map[string]bool, len(o.Vocabulary))
	for i, w := range o.Vocabulary {
		bad(w == "" || !utf8.ValidString(w), "word %d of the Vocabulary, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the word %q stands twice in the Vocabulary", w)
		seen[w] = true
	}
	for i, w := range o.StopWords {
		bad(w == "" || !utf8.ValidString(w), "stop word %d, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the stop word %q is in the Vocabulary", w)
	}
	return errors.Join(errs...)
}

// Accumulator holds documents that come and go, and gives the corpus or the
// moments of those that it holds at any time: for models that are fitted anew as
// documents arrive. What it gives depends on the documents held and the options
// alone, not on the order in which they came, on the parts in which they were
// added or merged, or on others that have been removed: it is the same to the
// bit, as nothing is ever added up and subtracted again.
//
// A document has an id, by which it can be removed, and a time: the caller's own
// clock or sequence number (AddAt), or one more than the newest (Add). Documents
// are in the order of their times, equal ones in that of their ids. The time is
// what sliding windows and decay go by.
//
// The vocabulary is a function of the documents held too: see
// AccumulatorOptions.MinDocs. It can lose words again, where documents are
// removed or slide out of the window.
//
// Memory: 8 bytes for each word of a document, some 160 for each document, some
// 100 for each different word, and the bytes of ids and words; see
// AccumulatorStats.Bytes. Time: Add O(words of the document), but for the order of
// documents that come late; Remove the same and a move of at most 8 bytes a
// document.
//
// The zero value is an accumulator of the defaults. It is safe for concurrent
// use: Snapshot takes a short time, whatever is then made of it, and Add goes on
// meanwhile.
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

// heldDoc is a document that is held. It never changes.
type heldDoc struct {
	id   string
	at   int64
	data []int32 // words, ascending, then their counts
}

func (d *heldDoc) pairs() (words, counts []int32) {
	n := len(d.data) / 2
	return d.data[:n], d.data[n:]
}

func (d *heldDoc) compare(at int64, id string) int {
	return cmp.Or(cmp.Compare(d.at, at), strings.Compare(d.id, id))
}

// Bytes a document, a word of a document and a different word are counted as. Maps and
// slices grow by doubling, of which half is counted.
const (
	docBytes  = 160
	pairBytes = 8
	wordBytes = 100
)

func (d *heldDoc) bytes() int64 { return docBytes + int64(len(d.id)) + 4*int64(len(d.data)) }

// NewAccumulator makes an empty accumulator. The slices of o are copied. The
// error names every setting that is out of range.
func NewAccumulator(o AccumulatorOptions) (*Accumulator, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	a := &Accumulator{o: o}
	a.o.Vocabulary, a.o.StopWords = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords)
	a.ready()
	return a, nil
}

// ready makes a zero Accumulator usable.
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

// DuplicateError says that a document with this id is held already.
type DuplicateError struct{ ID string }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("cooc: accumulator: a document %q is held already; remove it first", e.ID)
}

// LimitError says that a document would exceed AccumulatorOptions.MaxBytes.
type LimitError struct {
	ID           string
	Bytes, Limit int64 // with the document, and what it may be at most
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("cooc: accumulator: document %q would bring the memory to %d bytes, more than the limit of %d: remove documents, or use a window", e.ID, e.Bytes, e.Limit)
}

// Add adds a document at the time after the newest one: see AddAt.
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

// AddAt adds a document of the given time: its Tokens, with or without Counts, or
// the numbers of its words in AccumulatorOptions.Vocabulary. Its label is not
// kept. Strings and slices are copied. A document without words is held too. One
// that is too old for the window is not, nor is that an error:
// AccumulatorStats.Evicted counts it.
//
// Nothing is added where AddAt returns an error: no id, a *DuplicateError, a
// *LimitError, a count that is negative or too large, a number outside the
// Vocabulary, a token that is empty or not UTF-8.
func (a *Accumulator) AddAt(doc corpus.Document, at int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	return a.add(doc, at)
}

// AddSource adds the documents of a source, one after the other, as Add does;
// those without an id are called by their number, counted from 1. It returns
// how many were added; those before an error have been.
func (a *Accumulator) AddSource(ctx context.Context, src corpus.Source) (added int, err error) {
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
		if err := a.Add(doc); err != nil {
			return added, err
		}
		added++
	}
	return added, ctx.Err()
}

func (a *Accumulator) add(doc corpus.Document, at int64) error {
	if doc.ID == "" {
		return errors.New("cooc: accumulator: a document has no ID, by which it could be removed")
	}
	if a.byID[doc.ID] != nil {
		return &DuplicateError{strings.Clone(doc.ID)}
	}
	c := &a.counter
	fresh, err := a.count(doc)
	if err != nil {
		return fmt.Errorf("cooc: accumulator: %w", err)
	}

	// What the windows will let go.
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
	d := &heldDoc{id: strings.Clone(doc.ID), at: at, data: slices.Concat(c.Words, c.Counts)}
	total := a.bytes - freed + d.bytes()
	for _, w := range fresh {
		total += wordBytes + int64(len(w))
	}
	if a.o.MaxBytes > 0 && total > a.o.MaxBytes {
		return &LimitError{d.id, total, a.o.MaxBytes}
	}
	a.unknown += c.Unknown

	// The new words get numbers that are free.
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

// count counts the words of a document in a.counter, ascending. It returns the
// words that are new; in the counter they have the numbers after the last one.
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
	if err := a.counter.Read(&words, bag.Document(doc), 0); err != nil {
		return nil, err
	}
	return fresh, a.counter.Sorted()
}

// evict lets the first document go.
func (a *Accumulator) evict() {
	a.forget(a.docs[0])
	a.docs[0], a.docs = nil, a.docs[1:]
	a.evicted++
}

// hold puts a document in its place.
func (a *Accumulator) hold(d *heldDoc) {
	words, counts := d.pairs()
	for i, w := range words {
		a.df[w]++
		a.tokens += int64(counts[i])
	}
	a.nnz += len(words)
	a.bytes += d.bytes()
	a.byID[d.id] = d
	if n := len(a.docs); n == 0 || a.docs[n-1].compare(d.at, d.id) < 0 {
		a.docs = append(a.docs, d)
		return
	}
	a.docs = slices.Insert(a.docs, a.place(d), d)
}

// place returns the place of the first document that does not come before d.
func (a *Accumulator) place(d *heldDoc) int {
	i, _ := slices.BinarySearchFunc(a.docs, d, func(x, d *heldDoc) int { return x.compare(d.at, d.id) })
	return i
}

// forget takes back what hold did, but for the place. Words that no document has
// any more lose their numbers, but for those of the fixed Vocabulary.
func (a *Accumulator) forget(d *heldDoc) {
	words, counts := d.pairs()
	for i, w := range words {
		a.df[w]--
		a.tokens -= int64(counts[i])
		if a.df[w] == 0 && int(w) >= len(a.o.Vocabulary) {
			a.bytes -= wordBytes + int64(len(a.words[w]))
			delete(a.index, a.words[w])
			a.words[w] = ""
			a.free = append(a.free, w)
		}
	}
	a.nnz -= len(words)
	a.bytes -= d.bytes()
	delete(a.byID, d.id)
}

// Remove removes the document with this id and tells whether it was held. All
// is then as if it had never been added.
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

// SetWindow changes AccumulatorOptions.Window, MaxAge and HalfLife, and returns how
// many documents the new windows let go at once. Wider ones bring none of those
// back that have gone. What is held afterwards depends on what was held, on the
// three numbers and on what is added later. Where it returns an error, a setting
// that is out of range, nothing has changed. O(documents that go).
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

// slide lets the documents go that are outside the windows, and returns how many.
func (a *Accumulator) slide() int {
	n := len(a.docs)
	for len(a.docs) > 0 && (a.o.Window > 0 && len(a.docs) > a.o.Window ||
		a.o.MaxAge > 0 && uint64(a.docs[len(a.docs)-1].at)-uint64(a.docs[0].at) >= uint64(a.o.MaxAge)) {
		a.evict()
	}
	return n - len(a.docs)
}

// Has tells whether a document is held.
func (a *Accumulator) Has(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id] != nil
}

// Merge adds the documents of another accumulator, made with the same options (but
// for MaxBytes), with the times they have there; the other stays as it is. Where
// it returns an error nothing has been added: options that differ, an id that
// both hold (*DuplicateError), too much memory (*LimitError).
func (a *Accumulator) Merge(other *Accumulator) error {
	if a == other {
		return errors.New("cooc: accumulator: merged with itself")
	}
	s := other.Snapshot() // not both locked at a time
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	if what := a.o.differs(s.o); what != "" {
		return fmt.Errorf("cooc: accumulator: %s differs: parts are merged only if they were made with the same options", what)
	}
	bytes := a.bytes
	taken := make([]int32, len(s.words)) // 1 + the number here
	for i, w := range s.words {
		if s.df[i] > 0 {
			if id, ok := a.index[w]; ok {
				taken[i] = id + 1
			} else {
				bytes += wordBytes + int64(len(w))
			}
		}
	}
	for _, d := range s.docs {
		if a.byID[d.id] != nil {
			return &DuplicateError{d.id}
		}
		if bytes += d.bytes(); a.o.MaxBytes > 0 && bytes > a.o.MaxBytes {
			return &LimitError{d.id, bytes, a.o.MaxBytes}
		}
	}
	all := make([]*heldDoc, 0, len(a.docs)+len(s.docs))
	own := a.docs
	a.docs = nil
	for _, d := range s.docs {
		n := &heldDoc{id: d.id, at: d.at, data: slices.Clone(d.data)}
		words, counts := n.pairs()
		for i, w := range words {
			if taken[w] == 0 {
				taken[w] = a.newWord(s.words[w]) + 1
			}
			words[i] = taken[w] - 1
		}
		bag.Merge(words, counts, &a.pairs) // distinct words: sorts only
		a.hold(n)                          // they are in their order
	}
	for i, j := 0, 0; i < len(own) || j < len(a.docs); {
		if j == len(a.docs) || i < len(own) && own[i].compare(a.docs[j].at, a.docs[j].id) < 0 {
			all = append(all, own[i])
			i++
		} else {
			all = append(all, a.docs[j])
			j++
		}
	}
	a.docs = all
	a.unknown += s.unknown
	a.evicted += s.evicted
	a.slide()
	return nil
}

// differs names an option in which o and p differ, "" where there is none.
func (o AccumulatorOptions) differs(p AccumulatorOptions) string {
	switch {
	case !slices.Equal(o.Vocabulary, p.Vocabulary):
		return "Vocabulary"
	case !slices.Equal(o.StopWords, p.StopWords):
		return "StopWords"
	case o.minDocs() != p.minDocs():
		return "MinDocs"
	case o.MaxWords != p.MaxWords:
		return "MaxWords"
	case o.Window != p.Window:
		return "Window"
	case o.MaxAge != p.MaxAge:
		return "MaxAge"
	case o.HalfLife != p.HalfLife:
		return "HalfLife"
	}
	return ""
}

// AccumulatorStats says what an Accumulator holds.
type AccumulatorStats struct {
	Docs    int   // documents held
	NNZ     int   // pairs of a document and a word in it, words that wait included
	Tokens  int64 // of these documents, likewise
	Words   int   // different words, those that wait and all of Vocabulary included; Snapshot.Vocabulary tells which are in
	Unknown int64 // tokens left out so far because MinDocs < 0 and Vocabulary lacks them
	Evicted int64 // documents that windows have let go so far
	Newest  int64 // the time of the newest document, 0 if there is none
	Bytes   int64 // of memory, estimated as the doc of Accumulator says
}

// Stats returns what is held. O(1).
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

// Options returns the options, with copies of the slices.
func (a *Accumulator) Options() AccumulatorOptions {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.o
	o.Vocabulary, o.StopWords = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords)
	return o
}
