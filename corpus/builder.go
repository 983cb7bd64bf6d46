package corpus

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/stems"
)

// Builder makes a corpus from documents in memory. The zero value is ready to
// use. It is not safe for concurrent use.
//
// A method that returns an error has added nothing.
type Builder struct {
	// Vocabulary fixes the words and their order; other tokens are left out. nil: the
	// vocabulary is every token added, in the order that Read describes. It must be set before
	// the first document is added and not be changed after; the corpus keeps the slice.
	Vocabulary []string

	// Tokenizer splits the text given to AddText. nil means text.Default(). If it has a
	// Stemmer, Corpus merges the words of all documents by it, as Stem does, or with a
	// Vocabulary each token counts as the word there that has its stem.
	Tokenizer text.Tokenizer

	// Columns are the columns of Document.Values. They must be set before the first
	// document is added and not be changed after.
	Columns []Column

	counter bag.Counter
	rows    rows
	ids     []string
	labels  []string
	seen    idSet
	meta    metadataBuilder
	text    *text.Setting // of the documents; nil: not known
	index   map[string]int32
	stems   *stems.Index // of the Vocabulary; nil without a Stemmer
	words   []string     // without Vocabulary: in the order in which they came
	left    *leftOut     // that of the documents
	dropped []Dropped    // what was left out before
	buf     []string
}

// Add adds a document. Words may be given by number only if there is a
// Vocabulary. The strings and slices of d are copied. Errors: an id that another document
// has ([ErrRepeatedID]); Values that do not fit the Columns; a count that is negative or too
// large, a number outside the Vocabulary, a token that is empty or not UTF-8.
func (b *Builder) Add(d Document) error {
	if b.rows.indptr == nil {
		if err := b.meta.begin(b.Columns); err != nil {
			return fmt.Errorf("corpus: %w", err)
		}
		b.rows.indptr = []int{0}
	}
	number := len(b.rows.indptr)
	if err := b.meta.check(d.Values); err != nil {
		return d.fail(number, err)
	}
	if err := b.seen.add(&d, number); err != nil {
		return err
	}
	known := len(b.words)
	words := bag.Words{Token: b.number, Size: len(b.Vocabulary), Names: b.Vocabulary, Name: b.word}
	err := b.counter.Read(&words, d.words(), number)
	if err == nil {
		err = b.counter.Sorted()
	}
	if err != nil {
		b.seen.remove(&d)
		for _, w := range b.words[known:] {
			delete(b.index, w)
		}
		b.words = b.words[:known]
		return d.at(err)
	}
	b.rows.words, b.rows.counts = append(b.rows.words, b.counter.Words...), append(b.rows.counts, b.counter.Counts...)
	b.rows.indptr = append(b.rows.indptr, len(b.rows.words))
	m := len(b.rows.indptr) - 1
	b.ids = addString(b.ids, m, d.ID)
	b.labels = addString(b.labels, m, d.Label)
	b.meta.add(d.Values)
	b.left = cmp.Or(d.left, b.left)
	return nil
}

// AddTokens adds a document given as its tokens in any order, one string for
// each occurrence, and its values in the Columns.
func (b *Builder) AddTokens(id, label string, tokens []string, values ...Value) error {
	return b.Add(Document{ID: id, Label: label, Values: values, Tokens: tokens})
}

// AddText adds a document given as running text, split by the Tokenizer, and its values
// in the Columns.
func (b *Builder) AddText(id, label, body string, values ...Value) error {
	b.buf = orDefault(b.Tokenizer).Tokenize(b.buf[:0], body)
	err := b.AddTokens(id, label, b.buf, values...)
	if err == nil && b.text == nil {
		b.text = settingOf(b.Tokenizer)
	}
	clear(b.buf) // do not keep the text alive
	return err
}

// AddCounts adds a document given as its words and how often each occurs, and its values
// in the Columns. Counts of 0 are ignored.
func (b *Builder) AddCounts(id, label string, counts map[string]int, values ...Value) error {
	d := Document{ID: id, Label: label, Values: values, Counts: make([]int32, 0, len(counts))}
	for w := range counts {
		d.Tokens = append(d.Tokens, w)
	}
	slices.Sort(d.Tokens) // so that an error does not depend on the map's order
	for _, w := range d.Tokens {
		n := counts[w]
		if n < 0 || n > MaxCount {
			if id == "" {
				id = strconv.Itoa(max(len(b.rows.indptr), 1))
			}
			return fmt.Errorf("corpus: %w", bag.CountError(id, w, float64(n)))
		}
		d.Counts = append(d.Counts, int32(n))
	}
	return b.Add(d)
}

// Corpus returns the documents added so far and empties the builder. The error
// wraps [ErrNoDocuments] or [ErrEmptyVocabulary].
func (b *Builder) Corpus() (*Corpus, error) {
	if len(b.rows.indptr) < 2 {
		return nil, fmt.Errorf("corpus: %w", ErrNoDocuments)
	}
	vocab := b.Vocabulary
	if vocab == nil {
		var to []int32
		vocab, to = sortNames(b.words)
		b.rows.renumber(to)
	}
	if len(vocab) == 0 {
		return nil, fmt.Errorf("corpus: %w", ErrEmptyVocabulary)
	}
	m := len(b.rows.indptr) - 1
	a := about{
		ids: padStrings(b.ids, m), labels: padStrings(b.labels, m), meta: b.meta.finish(), text: b.text,
		dropped: slices.Concat(b.dropped, b.left.dropped()),
	}
	c := newCorpus(vocab, a, b.rows.indptr, b.rows.words, b.rows.counts)
	by := b.stemmer()
	*b = Builder{Vocabulary: b.Vocabulary, Tokenizer: b.Tokenizer, Columns: b.Columns}
	if by != nil && b.Vocabulary == nil {
		return c.stem(by)
	}
	return c, nil
}

// stemmer returns the Stemmer of the Tokenizer, or nil.
func (b *Builder) stemmer() text.Stemmer { return orDefault(b.Tokenizer).Stemmer() }

// number returns the number of a token, bag.Unknown if a fixed Vocabulary lacks it.
func (b *Builder) number(t string) (int32, error) {
	if b.index == nil {
		index, err := bag.Index(b.Vocabulary)
		if err != nil {
			return 0, err
		}
		b.index = index
		if by := b.stemmer(); by != nil && b.Vocabulary != nil {
			b.stems = stems.NewIndex(by, b.Vocabulary)
		}
	}
	if w, ok := b.index[t]; ok {
		return w, nil
	}
	if b.stems != nil {
		if w, ok := b.stems.Find(t); ok {
			return w, nil
		}
	}
	if b.Vocabulary != nil {
		return bag.Unknown, nil
	}
	if !utf8.ValidString(t) {
		return 0, fmt.Errorf("token %q: %w", t, ErrInvalidUTF8)
	}
	if len(b.words) == math.MaxInt32 {
		return 0, fmt.Errorf("more than %d different words", math.MaxInt32)
	}
	t = strings.Clone(t) // t may be a piece of a whole document
	w := int32(len(b.words))
	b.index[t], b.words = w, append(b.words, t)
	return w, nil
}

func (b *Builder) word(w int32) string {
	if b.Vocabulary != nil {
		return b.Vocabulary[w]
	}
	return b.words[w]
}

// addString sets the string of document m (counted from 1) in a list that
// exists only once there is a string to keep.
func addString(list []string, m int, s string) []string {
	if s == "" {
		return list
	}
	return append(padStrings(orEmpty(list), m-1), strings.Clone(s))
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// padStrings fills a list that exists up to n strings.
func padStrings(list []string, n int) []string {
	if list == nil {
		return nil
	}
	for len(list) < n {
		list = append(list, "")
	}
	return list
}

// rows puts together the documents' words and counts, one document after the
// other.
type rows struct {
	indptr        []int
	words, counts []int32
	pairs         []uint64
}

// add appends a pair to the document in hand. n ≥ 1.
func (r *rows) add(w, n int32) { r.words, r.counts = append(r.words, w), append(r.counts, n) }

// end finishes the document in hand: words ascending, duplicates added up. If a
// sum exceeds MaxCount it returns the word and the sum, and the document is not
// finished; otherwise −1.
func (r *rows) end() (int32, float64) {
	lo := r.indptr[len(r.indptr)-1]
	n, w, sum := bag.Merge(r.words[lo:], r.counts[lo:], &r.pairs)
	if w >= 0 {
		return w, sum
	}
	r.words, r.counts = r.words[:lo+n], r.counts[:lo+n]
	r.indptr = append(r.indptr, lo+n)
	return -1, 0
}

// renumber gives word w the number to[w].
func (r *rows) renumber(to []int32) {
	for i, w := range r.words {
		r.words[i] = to[w]
	}
	for m := range len(r.indptr) - 1 {
		lo, hi := r.indptr[m], r.indptr[m+1]
		bag.Merge(r.words[lo:hi], r.counts[lo:hi], &r.pairs) // distinct words: sorts only
	}
}

// idSet finds ids that come twice. It holds 16 bytes of hash for each, some 50 with the room of a
// map to grow, not the ids: two ids are taken for one with a probability of 2⁻¹²⁸.
type idSet struct {
	seeds [2]maphash.Seed
	seen  map[[2]uint64]mark
	files []string

	copies bool // documents may have the ids of others (Description.Copies): none is looked at
}

// mark is a place, or the number of a document if file is 0.
type mark struct{ file, line uint32 }

// add adds the id of a document, whose number counts from 1. It is an error if another has it.
func (s *idSet) add(d *Document, number int) error {
	if d.ID == "" || s.copies {
		return nil
	}
	if s.seen == nil {
		s.seen, s.seeds = map[[2]uint64]mark{}, [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	key := s.key(d.ID)
	if first, ok := s.seen[key]; ok {
		where := fmt.Sprintf("document %d", first.line)
		if first.file > 0 {
			where = fmt.Sprintf("%s:%d", s.files[first.file-1], first.line)
		}
		err := fmt.Errorf("id %q %w, first at %s", d.ID, ErrRepeatedID, where)
		if d.Place.File != "" {
			return d.Place.at(err)
		}
		return fmt.Errorf("corpus: document %d: %w", number, err)
	}
	m := mark{line: uint32(number)}
	if d.Place.File != "" {
		if n := len(s.files); n == 0 || s.files[n-1] != d.Place.File {
			s.files = append(s.files, d.Place.File)
		}
		m = mark{uint32(len(s.files)), uint32(d.Place.Line)}
	}
	s.seen[key] = m
	return nil
}

// remove forgets the id of a document that was added.
func (s *idSet) remove(d *Document) {
	if d.ID != "" && !s.copies {
		delete(s.seen, s.key(d.ID))
	}
}

func (s *idSet) key(id string) [2]uint64 {
	return [2]uint64{maphash.String(s.seeds[0], id), maphash.String(s.seeds[1], id)}
}

// checkIDs returns an error if an id comes twice. file has one on each line; "": they are
// not from a file.
func checkIDs(ids []string, file string) error {
	var s idSet
	for m, id := range ids {
		d := Document{ID: id}
		if file != "" {
			d.Place = Place{file, m + 1}
		}
		if err := s.add(&d, m+1); err != nil {
			return err
		}
	}
	return nil
}
