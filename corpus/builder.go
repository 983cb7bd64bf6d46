package corpus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Builder makes a corpus from documents in hand. The zero value is ready to
// use; it is not safe for concurrent use.
//
// An Add method that returns an error has added nothing.
type Builder struct {
	// Vocabulary fixes the words and their order: tokens that are not in it
	// are left out and counted by Unknown. nil: the vocabulary is every token
	// that is added, sorted as Read does. It must be set before the first Add
	// and not changed after. The corpus keeps the slice.
	Vocabulary []string

	// Tokenizer splits the text given to AddText. nil means text.WordTokenizer{}.
	Tokenizer text.Tokenizer

	rows    rows
	ids     []string
	labels  []string
	index   map[string]int32
	words   []string // discovered, in the order of appearance
	unknown int64
	buf     []string
}

// Add adds a document. Numbers of words are allowed with a fixed Vocabulary
// only. The strings and slices of d are copied.
func (b *Builder) Add(d Document) error {
	if len(d.Words) > 0 && len(d.Tokens) > 0 {
		return b.fail(d.ID, errors.New("both Tokens and Words are given"))
	}
	n := max(len(d.Words), len(d.Tokens))
	if d.Counts != nil && len(d.Counts) != n {
		return b.fail(d.ID, fmt.Errorf("%d counts for %d words", len(d.Counts), n))
	}
	if len(d.Words) > 0 && b.Vocabulary == nil {
		return b.fail(d.ID, errors.New("words are given by number, but there is no Vocabulary"))
	}
	if b.rows.indptr == nil {
		b.rows.indptr = []int{0}
	}
	for i := range n {
		if d.Counts != nil && d.Counts[i] < 0 {
			return b.fail("", &CountError{Doc: b.name(d.ID), Word: b.wordOf(d, i), Count: float64(d.Counts[i])})
		}
	}
	known := len(b.words)
	unknown := b.unknown
	for i := range n {
		c := int32(1)
		if d.Counts != nil {
			c = d.Counts[i]
		}
		if c == 0 {
			continue
		}
		var w int32
		var err error
		if len(d.Tokens) > 0 {
			w, err = b.number(d.Tokens[i])
		} else if w = d.Words[i]; w < 0 || int(w) >= len(b.Vocabulary) {
			err = &RangeError{"word", int64(w), 0, int64(len(b.Vocabulary)) - 1}
		}
		if err != nil {
			b.revert(known, unknown)
			return b.fail(d.ID, err)
		}
		if w < 0 {
			b.unknown += int64(c)
			continue
		}
		b.rows.add(w, c)
	}
	if w, sum := b.rows.end(); w >= 0 {
		word := b.wordAt(w)
		b.revert(known, unknown)
		return b.fail("", &CountError{Doc: b.name(d.ID), Word: word, Count: sum})
	}
	m := len(b.rows.indptr) - 1
	b.ids = addString(b.ids, m, d.ID)
	b.labels = addString(b.labels, m, d.Label)
	return nil
}

// AddTokens adds a document given as its tokens in any order, one string for
// each occurrence.
func (b *Builder) AddTokens(id, label string, tokens []string) error {
	return b.Add(Document{ID: id, Label: label, Tokens: tokens})
}

// AddText adds a document given as running text, split by b.Tokenizer.
func (b *Builder) AddText(id, label, text string) error {
	b.buf = orDefault(b.Tokenizer).Tokenize(b.buf[:0], text)
	err := b.AddTokens(id, label, b.buf)
	clear(b.buf) // do not keep the text alive
	return err
}

// AddCounts adds a document given as its words and how often each occurs.
// Counts of 0 are ignored.
func (b *Builder) AddCounts(id, label string, counts map[string]int) error {
	d := Document{ID: id, Label: label, Counts: make([]int32, 0, len(counts))}
	for w := range counts {
		d.Tokens = append(d.Tokens, w)
	}
	slices.Sort(d.Tokens) // so that an error does not depend on the map's order
	for _, w := range d.Tokens {
		if n := counts[w]; n < 0 || n > MaxCount {
			return b.fail("", &CountError{Doc: b.name(id), Word: w, Count: float64(n)})
		}
		d.Counts = append(d.Counts, int32(counts[w]))
	}
	return b.Add(d)
}

// Unknown returns how many tokens have been left out because a fixed
// Vocabulary does not have them.
func (b *Builder) Unknown() int64 { return b.unknown }

// Corpus returns the documents added so far and empties the builder. The error
// wraps ErrNoDocuments or ErrEmptyVocabulary.
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
	c := newCorpus(vocab, padStrings(b.ids, m), padStrings(b.labels, m), b.rows.indptr, b.rows.words, b.rows.counts)
	*b = Builder{Vocabulary: b.Vocabulary, Tokenizer: b.Tokenizer}
	return c, nil
}

// number returns the number of a token, −1 for one that is not in a fixed
// vocabulary.
func (b *Builder) number(t string) (int32, error) {
	if b.index == nil {
		b.index = make(map[string]int32, len(b.Vocabulary))
		for i, w := range b.Vocabulary {
			if j, ok := b.index[w]; ok {
				b.index = nil
				return 0, fmt.Errorf("words %d and %d of the vocabulary are both %q", j, i, w)
			}
			b.index[w] = int32(i)
		}
	}
	if w, ok := b.index[t]; ok {
		return w, nil
	}
	if t == "" {
		return 0, errors.New("a token is the empty string")
	}
	if b.Vocabulary != nil {
		return -1, nil
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

// revert takes back a half-added document.
func (b *Builder) revert(known int, unknown int64) {
	b.rows.undo()
	for _, w := range b.words[known:] {
		delete(b.index, w)
	}
	b.words, b.unknown = b.words[:known], unknown
}

func (b *Builder) wordAt(w int32) string {
	if b.Vocabulary != nil {
		return b.Vocabulary[w]
	}
	return b.words[w]
}

func (b *Builder) wordOf(d Document, i int) string {
	if len(d.Tokens) > 0 {
		return d.Tokens[i]
	}
	if w := d.Words[i]; w >= 0 && int(w) < len(b.Vocabulary) {
		return b.Vocabulary[w]
	}
	return ""
}

// name returns what the document about to be added is called.
func (b *Builder) name(id string) string {
	if id != "" {
		return id
	}
	return strconv.Itoa(max(len(b.rows.indptr), 1))
}

func (b *Builder) fail(id string, err error) error {
	var c *CountError
	if errors.As(err, &c) {
		return fmt.Errorf("corpus: %w", err)
	}
	return fmt.Errorf("corpus: document %s: %w", b.name(id), err)
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

// undo forgets the document in hand.
func (r *rows) undo() {
	if r.indptr != nil {
		n := r.indptr[len(r.indptr)-1]
		r.words, r.counts = r.words[:n], r.counts[:n]
	}
}

// end finishes the document in hand: words ascending, duplicates merged. If a
// merged count exceeds MaxCount it returns the word and the sum, and the
// document is not finished; otherwise −1.
func (r *rows) end() (int32, float64) {
	lo := r.indptr[len(r.indptr)-1]
	n, w, sum := merge(r.words[lo:], r.counts[lo:], &r.pairs)
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
		merge(r.words[lo:hi], r.counts[lo:hi], &r.pairs) // distinct words: sorts only
	}
}

// merge sorts the words of a document and adds up duplicates, in place. It
// returns how many words are left, or the first word whose sum exceeds
// MaxCount, and the sum; else −1.
func merge(words, counts []int32, buf *[]uint64) (n int, word int32, sum float64) {
	ordered := true
	for i := 1; i < len(words); i++ {
		if words[i] <= words[i-1] {
			ordered = false
			break
		}
	}
	if ordered {
		return len(words), -1, 0
	}
	p := (*buf)[:0]
	for i, w := range words {
		p = append(p, uint64(uint32(w))<<32|uint64(uint32(counts[i])))
	}
	slices.Sort(p)
	*buf = p
	for i := 0; i < len(p); {
		w, total := int32(p[i]>>32), int64(0)
		for ; i < len(p) && int32(p[i]>>32) == w; i++ {
			total += int64(uint32(p[i]))
		}
		if total > MaxCount {
			return 0, w, float64(total)
		}
		words[n], counts[n] = w, int32(total)
		n++
	}
	return n, -1, 0
}

// FromCSR makes a corpus from an M×N matrix of counts, one row a document.
//
// vocab holds the N words (nil: they are called by their numbers from 0), ids
// and labels M strings each (nil: none). All are copied. Entries may be stored
// in any order; duplicates are added up and stored zeros left out. Everything
// is checked before it is used, as the sparse library checks nothing: shapes,
// indices, and that every count is an integer from 0 to MaxCount. O(nnz).
func FromCSR(h *sparse.CSR, vocab, ids, labels []string) (*Corpus, error) {
	if h == nil {
		return nil, errors.New("corpus: csr: the matrix is nil")
	}
	raw := h.RawMatrix()
	M, N := raw.I, raw.J
	switch {
	case M < 0 || N < 0:
		return nil, fmt.Errorf("corpus: csr: the shape is %d×%d", M, N)
	case N > math.MaxInt32:
		return nil, fmt.Errorf("corpus: csr: %d words are more than %d", N, math.MaxInt32)
	case len(raw.Indptr) != M+1:
		return nil, fmt.Errorf("corpus: csr: %d row pointers for %d rows, want %d", len(raw.Indptr), M, M+1)
	case len(raw.Ind) != len(raw.Data):
		return nil, fmt.Errorf("corpus: csr: %d column indices for %d values", len(raw.Ind), len(raw.Data))
	case vocab != nil && len(vocab) != N:
		return nil, fmt.Errorf("corpus: csr: %d words for %d columns", len(vocab), N)
	case ids != nil && len(ids) != M:
		return nil, fmt.Errorf("corpus: csr: %d ids for %d rows", len(ids), M)
	case labels != nil && len(labels) != M:
		return nil, fmt.Errorf("corpus: csr: %d labels for %d rows", len(labels), M)
	case M == 0:
		return nil, fmt.Errorf("corpus: csr: %w", ErrNoDocuments)
	case N == 0:
		return nil, fmt.Errorf("corpus: csr: %w", ErrEmptyVocabulary)
	case raw.Indptr[0] != 0:
		return nil, fmt.Errorf("corpus: csr: the row pointers begin with %d, want 0", raw.Indptr[0])
	}
	for m := range M {
		if lo, hi := raw.Indptr[m], raw.Indptr[m+1]; hi < lo || hi > len(raw.Ind) {
			return nil, fmt.Errorf("corpus: csr: the row pointers of row %d are %d and %d, of %d entries", m, lo, hi, len(raw.Ind))
		}
	}
	if n := raw.Indptr[M]; n != len(raw.Ind) {
		return nil, fmt.Errorf("corpus: csr: the row pointers end with %d, of %d entries", n, len(raw.Ind))
	}
	doc := func(m int) string {
		if ids != nil && ids[m] != "" {
			return ids[m]
		}
		return strconv.Itoa(m + 1)
	}
	word := func(w int) string {
		if vocab != nil {
			return vocab[w]
		}
		return strconv.Itoa(w)
	}
	r := rows{indptr: make([]int, 1, M+1), words: make([]int32, 0, len(raw.Ind)), counts: make([]int32, 0, len(raw.Ind))}
	for m := range M {
		for i := raw.Indptr[m]; i < raw.Indptr[m+1]; i++ {
			w, x := raw.Ind[i], raw.Data[i]
			if w < 0 || w >= N {
				return nil, fmt.Errorf("corpus: csr: row %d: %w", m, &RangeError{"word", int64(w), 0, int64(N) - 1})
			}
			if !(x >= 0 && x <= MaxCount) || x != math.Trunc(x) {
				return nil, fmt.Errorf("corpus: csr: row %d, column %d: %w", m, w, &CountError{doc(m), word(w), x})
			}
			if x > 0 {
				r.add(int32(w), int32(x))
			}
		}
		if w, sum := r.end(); w >= 0 {
			return nil, fmt.Errorf("corpus: csr: row %d, column %d: %w", m, w, &CountError{doc(m), word(int(w)), sum})
		}
	}
	if vocab == nil {
		vocab = numbers(N, 0)
	}
	return newCorpus(slices.Clone(vocab), slices.Clone(ids), slices.Clone(labels), r.indptr, r.words, r.counts), nil
}

// numbers returns the names of n words without a vocabulary.
func numbers(n, first int) []string {
	v := make([]string, n)
	for i := range v {
		v[i] = strconv.Itoa(i + first)
	}
	return v
}
