// Package held holds the documents of the service, which come and go: with windows, decay, a
// vocabulary that grows by a rule, and a checksummed file.
package held

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// ErrFull: a document would exceed Options.MaxBytes.
var ErrFull = errors.New("more than the limit")

// Accumulator holds documents that come and go, for models that are fitted again and again.
// Snapshot gives the documents held at one moment, as a corpus, which depends on these
// documents and the options alone, to the bit: not on the order in which documents arrived, or
// on documents removed before.
//
// A document has an id, by which it can be removed, and a time: the caller's clock or
// sequence number (AddAt), or one more than the newest (Add). Documents are ordered by
// time, then id. Windows and decay go by the time. The vocabulary gains and loses words as
// documents come and go (Options.MinDocs).
//
// Memory: 8 bytes for each distinct word of a document, some 180 for each document, 32 for
// each of its values in columns, some 100 for each different word, and the strings. Add
// takes time proportional to the words of the document. Remove, and Add for a document that
// is not the newest, also move at most 8 bytes for each document.
//
// The zero value is an accumulator with default options. It is safe for concurrent use.
type Accumulator struct {
	mu sync.Mutex
	accumulated
}

// accumulated is what an Accumulator holds.
type accumulated struct {
	o    Options
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

// New returns an empty accumulator. The slices of o are copied. The error names
// every setting out of range.
func New(o Options) (*Accumulator, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	a := new(Accumulator)
	a.o = o
	a.o.Vocabulary, a.o.StopWords, a.o.Columns = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords), slices.Clone(o.Columns)
	a.ready()
	return a, nil
}

// lock locks an accumulator, which may be a zero one, and returns what unlocks it.
func (a *Accumulator) lock() *sync.Mutex {
	a.mu.Lock()
	a.ready()
	return &a.mu
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

// Add adds a document with a time of one more than the newest. See AddAt.
func (a *Accumulator) Add(doc corpus.Document) error {
	defer a.lock().Unlock()
	at := int64(0)
	if n := len(a.docs); n > 0 {
		if at = a.docs[n-1].At; at == math.MaxInt64 {
			return fmt.Errorf("held: document %q: there is no time after the newest document's, %d", doc.ID, at)
		}
		at++
	}
	return a.add(doc, at)
}

// AddAt adds a document of the given time. Words are numbers in Options.Vocabulary.
// The label is not kept; strings and slices are copied. A document without words is held, one
// too old for a window is not, and counted in Stats.Evicted.
//
// Errors, after which nothing has been added: no id, an id that is held already
// ([corpus.ErrRepeatedID]), more memory than MaxBytes ([ErrFull]), and those of [corpus.Builder.Add].
func (a *Accumulator) AddAt(doc corpus.Document, at int64) error {
	defer a.lock().Unlock()
	return a.add(doc, at)
}

// add is AddAt without the lock.
func (a *Accumulator) add(doc corpus.Document, at int64) error {
	fresh, err := a.take(doc)
	if err != nil {
		return fmt.Errorf("held: %w", err)
	}
	c := &a.counter
	d := &heldDoc{Document{strings.Clone(doc.ID), at, ownValues(doc.Values)}, slices.Concat(c.Words, c.Counts)}
	gone, held := a.leaving(d)
	if !held {
		a.evicted++
		return nil
	}
	total := a.bytes + d.bytes()
	for _, x := range a.docs[:gone] {
		total -= x.bytes()
	}
	for _, w := range fresh {
		total += wordBytes + int64(len(w))
	}
	if a.o.MaxBytes > 0 && total > a.o.MaxBytes {
		return fmt.Errorf("held: document %q would bring the memory to %d bytes, %w of %d: remove documents, or use a window", d.ID, total, ErrFull, a.o.MaxBytes)
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

// leaving returns how many documents leave the windows when d comes, and whether d itself is
// to be held: otherwise it would be the first to go.
func (a *Accumulator) leaving(d *heldDoc) (gone int, held bool) {
	newest := d.At
	if n := len(a.docs); n > 0 {
		newest = max(newest, a.docs[n-1].At)
	}
	old := func(t int64) bool { return a.o.MaxAge > 0 && uint64(newest)-uint64(t) >= uint64(a.o.MaxAge) }
	tooMany := func() bool { return a.o.Window > 0 && len(a.docs)+1-gone > a.o.Window }
	for gone < len(a.docs) && (tooMany() && a.docs[gone].compare(d.At, d.ID) < 0 || old(a.docs[gone].At)) {
		gone++
	}
	return gone, !old(d.At) && !tooMany()
}

// take checks a document and counts its words in a.counter, ascending. It returns the new
// words, which have the numbers after the last one there.
func (a *Accumulator) take(doc corpus.Document) (fresh []string, err error) {
	switch {
	case doc.ID == "":
		return nil, errors.New("a document has no ID, by which it could be removed")
	case a.byID[doc.ID] != nil:
		return nil, fmt.Errorf("document %q is held already, and %w; remove it first", doc.ID, corpus.ErrRepeatedID)
	case len(doc.Values) > 0 && len(doc.Values) != len(a.o.Columns):
		return nil, fmt.Errorf("document %s: %d values for %d columns", doc.ID, len(doc.Values), len(a.o.Columns))
	}
	for i, v := range doc.Values {
		if err := a.o.Columns[i].Check(v); err != nil {
			return nil, fmt.Errorf("document %s: %w", doc.ID, err)
		}
	}
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

// Remove removes the document with this id, as if it had never been added, and reports whether
// it was held.
func (a *Accumulator) Remove(id string) bool {
	defer a.lock().Unlock()
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

// SetWindow changes Options.Window, MaxAge and HalfLife, and returns the number of
// documents that left the windows. Wider windows bring none back. After an error, a setting out
// of range, nothing has changed.
func (a *Accumulator) SetWindow(window int, maxAge int64, halfLife float64) (evicted int, err error) {
	defer a.lock().Unlock()
	o := a.o
	o.Window, o.MaxAge, o.HalfLife = window, maxAge, halfLife
	if err := o.validate(); err != nil {
		return 0, err
	}
	a.o = o
	return a.slide(), nil
}

// Backdate subtracts by ≥ 0 from the times of the documents before a time: it is for time that
// has passed between them and later ones and that their times do not show. It returns the number
// of documents that left the windows. After an error, a time below the least int64, nothing has
// changed.
func (a *Accumulator) Backdate(before, by int64) (evicted int, err error) {
	defer a.lock().Unlock()
	if by < 0 {
		return 0, fmt.Errorf("held: documents cannot become older by %d", by)
	}
	if len(a.docs) > 0 && a.docs[0].At < math.MinInt64+by {
		return 0, fmt.Errorf("held: document %q: there is no time %d before %d", a.docs[0].ID, by, a.docs[0].At)
	}
	for i, d := range a.docs { // their order stays
		if d.At >= before {
			break
		}
		older := *d // snapshots hold d
		older.At -= by
		a.docs[i], a.byID[d.ID] = &older, &older
	}
	return a.slide(), nil
}

// Document returns the document with this id and whether it is held.
func (a *Accumulator) Document(id string) (_ Document, ok bool) {
	defer a.lock().Unlock()
	if d := a.byID[id]; d != nil {
		return d.Document, true
	}
	return Document{}, false
}

// DocumentsAfter returns the first n documents after the given time and id, in the order of
// times, then ids; fewer at the end. So all documents can be read page by page while others
// come and go. O(n + log documents) time.
func (a *Accumulator) DocumentsAfter(at int64, id string, n int) []Document {
	defer a.lock().Unlock()
	i, found := slices.BinarySearchFunc(a.docs, id, func(d *heldDoc, id string) int { return d.compare(at, id) })
	if found {
		i++
	}
	rest := a.docs[i:]
	out := make([]Document, 0, min(max(n, 0), len(rest)))
	for _, d := range rest[:cap(out)] {
		out = append(out, d.Document)
	}
	return out
}

// AddColumns adds columns to Options.Columns, in which the documents held have no
// values. After an error, one of [corpus.NewMetadata], nothing has changed.
func (a *Accumulator) AddColumns(columns ...corpus.Column) error {
	defer a.lock().Unlock()
	all := slices.Concat(a.o.Columns, columns)
	if _, err := corpus.NewMetadata(all, nil); err != nil {
		return fmt.Errorf("held: columns: %w", errors.Unwrap(err))
	}
	a.o.Columns = all
	for i, d := range a.docs {
		if d.Values == nil {
			continue
		}
		wider := *d // snapshots hold d
		wider.Values = make([]corpus.Value, len(all))
		copy(wider.Values, d.Values)
		a.bytes += wider.bytes() - d.bytes()
		a.docs[i], a.byID[d.ID] = &wider, &wider
	}
	return nil
}

// Has reports whether a document is held.
func (a *Accumulator) Has(id string) bool {
	defer a.lock().Unlock()
	return a.byID[id] != nil
}

// Stats says what an Accumulator holds.
type Stats struct {
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
func (a *Accumulator) Stats() Stats {
	defer a.lock().Unlock()
	st := Stats{Docs: len(a.docs), NNZ: a.nnz, Tokens: a.tokens, Words: len(a.words) - len(a.free), Unknown: a.unknown, Evicted: a.evicted, Bytes: a.bytes}
	if n := len(a.docs); n > 0 {
		st.Newest = a.docs[n-1].At
	}
	return st
}

// Options returns a copy of the options.
func (a *Accumulator) Options() Options {
	defer a.lock().Unlock()
	o := a.o
	o.Vocabulary, o.StopWords, o.Columns = slices.Clone(o.Vocabulary), slices.Clone(o.StopWords), slices.Clone(o.Columns)
	return o
}

// Document is a document that an Accumulator holds, without its words.
type Document struct {
	ID     string
	At     int64          // its time: see Accumulator.AddAt
	Values []corpus.Value // in Options.Columns; nil: all are missing. They must not be written to
}

// heldDoc is a document that is held. It never changes.
type heldDoc struct {
	Document
	data []int32 // words, ascending, then their counts
}

func (d *heldDoc) pairs() (words, counts []int32) {
	n := len(d.data) / 2
	return d.data[:n], d.data[n:]
}

func (d *heldDoc) compare(at int64, id string) int {
	return cmp.Or(cmp.Compare(d.At, at), strings.Compare(d.ID, id))
}

// The bytes that a document, a word in it, a different word and a value count for, with half of
// the room that maps and slices have to grow.
const (
	docBytes   = 184
	pairBytes  = 8
	wordBytes  = 100
	valueBytes = 32
)

func (d *heldDoc) bytes() int64 {
	n := docBytes + int64(len(d.ID)) + pairBytes/2*int64(len(d.data)) + valueBytes*int64(len(d.Values))
	for _, v := range d.Values {
		name, _ := v.Category()
		n += int64(len(name))
	}
	return n
}

// evict removes the first document.
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
	a.byID[d.ID] = d
	if n := len(a.docs); n == 0 || a.docs[n-1].compare(d.At, d.ID) < 0 {
		a.docs = append(a.docs, d)
		return
	}
	a.docs = slices.Insert(a.docs, a.place(d), d)
}

// place returns the place of the first document that does not come before d.
func (a *Accumulator) place(d *heldDoc) int {
	i, _ := slices.BinarySearchFunc(a.docs, d, func(x, d *heldDoc) int { return x.compare(d.At, d.ID) })
	return i
}

// forget undoes hold, except that it leaves d in a.docs. Words that no document has any more
// lose their numbers, except those of the Vocabulary.
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
	delete(a.byID, d.ID)
}

// slide removes the documents outside the windows and returns their number.
func (a *Accumulator) slide() int {
	n := len(a.docs)
	for len(a.docs) > 0 && (a.o.Window > 0 && len(a.docs) > a.o.Window ||
		a.o.MaxAge > 0 && uint64(a.docs[len(a.docs)-1].At)-uint64(a.docs[0].At) >= uint64(a.o.MaxAge)) {
		a.evict()
	}
	return n - len(a.docs)
}

// ownValues returns a copy of values, nil if all are missing.
func ownValues(values []corpus.Value) []corpus.Value {
	if !slices.ContainsFunc(values, func(v corpus.Value) bool { return v.Kind() != 0 }) {
		return nil
	}
	out := slices.Clone(values)
	for i, v := range out {
		if name, ok := v.Category(); ok {
			out[i] = corpus.CategoryOf(strings.Clone(name)) // it may be a piece of a whole text
		}
	}
	return out
}

// Options says what an Accumulator holds and how its vocabulary grows.
// The zero value holds every document; words of five documents or more are in the
// vocabulary.
type Options struct {
	// Vocabulary holds words that are always in the vocabulary, first and in this
	// order, such as those of a curated corpus. nil: none.
	Vocabulary []string

	// StopWords are never in the vocabulary. None may be in Vocabulary.
	StopWords []string

	// Text says how the tokens are made of text; nil: not known. The corpus of a Snapshot keeps
	// it (Info.Text). It must not name a Stemmer: Stem merges the words of a Snapshot.
	Text *text.Setting

	// Columns are the columns of Document.Values, the metadata of a Snapshot's corpus.
	Columns []corpus.Column

	// MinDocs is the number of documents held that must have a word for it to join the
	// vocabulary; 0 means 5. Other words are held, too. If MinDocs is negative only Vocabulary
	// counts, and tokens of other words are left out (Stats.Unknown).
	MinDocs int

	// MaxWords bounds the vocabulary, with the words of Vocabulary. Words in more
	// documents are preferred, then those that come first by their bytes. 0: no bound.
	MaxWords int

	// Window is the number of documents held, the last ones. 0: all.
	Window int

	// MaxAge is a sliding window in time: documents of this age or older are not held. The age
	// is the newest document's time minus the document's own, in the units of AddAt. 0: all.
	MaxAge int64

	// HalfLife makes the weight of a document of age t 2^(−t/HalfLife). 0: all weigh 1.
	HalfLife float64

	// MaxBytes bounds Stats.Bytes: a document that would exceed it is an error
	// (ErrFull). 0: no bound.
	MaxBytes int64
}

func (o Options) minDocs() int {
	if o.MinDocs == 0 {
		return 5
	}
	return o.MinDocs
}

func (o Options) validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("held: "+format, args...))
		}
	}
	bad(o.MinDocs < 0 && len(o.Vocabulary) == 0, "MinDocs is %d, and there is no Vocabulary: no word would ever be taken", o.MinDocs)
	bad(o.MaxWords < 0, "MaxWords is %d", o.MaxWords)
	bad(o.MaxWords > 0 && len(o.Vocabulary) > o.MaxWords, "a Vocabulary of %d words exceeds MaxWords %d", len(o.Vocabulary), o.MaxWords)
	bad(o.Window < 0, "Window is %d", o.Window)
	bad(o.MaxAge < 0, "MaxAge is %d", o.MaxAge)
	bad(!(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 0), "HalfLife is %g; want a positive number, or 0 for none", o.HalfLife)
	bad(o.MaxBytes < 0, "MaxBytes is %d", o.MaxBytes)
	if o.Text != nil {
		err := o.Text.Validate()
		bad(err != nil, "Text: %v", err)
		bad(o.Text.Stemmer != "", "Text names the stemmer %q, but words of documents that come and go are not merged: leave it out, and merge those of a Snapshot by Stem", o.Text.Stemmer)
	}
	if _, err := corpus.NewMetadata(o.Columns, nil); err != nil {
		errs = append(errs, fmt.Errorf("held: Columns: %w", errors.Unwrap(err)))
	}
	seen := make(map[string]bool, len(o.Vocabulary))
	for i, w := range o.Vocabulary {
		bad(w == "" || !utf8.ValidString(w), "word %d of the Vocabulary, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the word %q is in the Vocabulary twice", w)
		seen[w] = true
	}
	for i, w := range o.StopWords {
		bad(w == "" || !utf8.ValidString(w), "stop word %d, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the stop word %q is in the Vocabulary", w)
	}
	return errors.Join(errs...)
}
