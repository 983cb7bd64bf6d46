package corpus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/internal/bag"
)

// UCI reads the bag-of-words format of the UCI repository: a docword file with three header
// lines, the numbers of documents D, of words W and of entries NNZ, then NNZ lines "document
// word count", counted from 1; and a vocabulary file with one word a line.
//
// The header must agree with the content: the vocabulary has W words, every number is in range,
// and there are exactly NNZ entries ([ErrTruncated] if there are fewer). Counts are from 1 to
// [MaxCount]; lines of the same document and word are added up. Documents without a line are
// empty. As a guard against damaged headers, D (and W without a vocabulary file) may exceed 64
// times the number of entries by at most 65,536.
//
// Read takes the lines in any order. It needs 8 bytes of memory an entry. Lines that are not
// in the order of the documents are read twice, and need 12 bytes more meanwhile.
type UCI struct {
	// Docword is the file of counts.
	Docword File

	// Vocab is the file of words, whose surrounding space is cut off. Without
	// it the words are called by their numbers, "1" to W.
	Vocab File

	// IDs and Labels are optional files with one line a document.
	IDs, Labels File

	// NoHeader says that Docword is a part of a larger file, without a header. It needs Vocab,
	// and goes with neither IDs, Labels nor Ungrouped. A document has its number as its id,
	// and those without a line are left out.
	NoHeader bool

	// RepeatedWords makes each place of a repeated word in the vocabulary a word of its own.
	// By default repeated words are an error.
	RepeatedWords bool

	// Ungrouped lets Docs read files whose lines are not in ascending order of the documents,
	// by holding all lines in memory. Otherwise Docs streams, and such a line is an error that
	// wraps ErrUngrouped. Read needs this hint only for a File that can be read once.
	Ungrouped bool
}

// ReadUCI reads a corpus in UCI format from files, plain or gzipped; vocabPath "" means none.
func ReadUCI(ctx context.Context, docwordPath, vocabPath string) (*Corpus, error) {
	s := UCI{Docword: File{Name: docwordPath}}
	if vocabPath != "" {
		s.Vocab = File{Name: vocabPath}
	}
	return Read(ctx, s)
}

// Describe implements Source. It reads the vocabulary file, or without one the docword
// file, to check its header.
func (s UCI) Describe(ctx context.Context) (Description, error) {
	var words []string
	var err error
	if s.Vocab.given() {
		words, err = s.Vocab.vocabulary(ctx, s.RepeatedWords)
	} else {
		words, err = s.read(ctx, func(Document, error) bool { return true })
	}
	return Description{Vocabulary: orEmpty(words)}, err
}

// Docs implements Source. Document.Words are ascending.
func (s UCI) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, func(ctx context.Context, yield func(Document, error) bool) error {
		_, err := s.read(ctx, yield)
		return err
	})
}

// load collects the documents in one pass, or in two if lines are not grouped by document.
func (s UCI) load(ctx context.Context) (*Corpus, error) {
	c, err := s.collect(ctx)
	if !s.NoHeader && !s.Ungrouped && (errors.Is(err, ErrUngrouped) || errors.Is(err, errHeader)) {
		s.Ungrouped = true
		if again, e := s.collect(ctx); !errors.Is(e, errReadOnce) {
			return again, e
		}
	}
	return c, err
}

func (s UCI) collect(ctx context.Context) (*Corpus, error) {
	r := rows{indptr: []int{0}}
	var ids, labels []string
	vocab, err := s.read(ctx, func(d Document, _ error) bool {
		r.words, r.counts = append(r.words, d.Words...), append(r.counts, d.Counts...)
		ids, labels = addString(ids, len(r.indptr), d.ID), addString(labels, len(r.indptr), d.Label)
		r.indptr = append(r.indptr, len(r.words))
		return true
	})
	m := len(r.indptr) - 1
	switch {
	case err != nil:
		return nil, err
	case m == 0:
		return nil, s.Docword.at(0, ErrNoDocuments)
	case len(vocab) == 0:
		return nil, s.Docword.at(0, ErrEmptyVocabulary)
	}
	return newCorpus(vocab, about{ids: padStrings(ids, m), labels: padStrings(labels, m)}, r.indptr, r.words, r.counts), nil
}

type uciHeader struct {
	docs, words int32
	entries     int64
}

// entry is a line, with numbers from 0.
type entry struct{ doc, word, count int32 }

// read yields the documents and returns the vocabulary.
func (s UCI) read(ctx context.Context, yield func(Document, error) bool) ([]string, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	var vocab []string // nil: no file
	if s.Vocab.given() {
		v, err := s.Vocab.vocabulary(ctx, s.RepeatedWords)
		if err != nil {
			return nil, err
		}
		vocab = orEmpty(v)
	}
	l, err := s.Docword.lines(ctx)
	if err != nil {
		return nil, err
	}
	defer l.close()
	h, err := s.header(l, vocab)
	if err != nil {
		return nil, err
	}
	out := uciDocs{s: s, vocab: vocab, rows: rows{indptr: []int{0}}, yield: yield}
	if out.ids, err = s.IDs.side(ctx, "id", int(h.docs)); err == nil {
		err = checkIDs(out.ids, s.IDs.Name)
	}
	if err == nil {
		out.labels, err = s.Labels.side(ctx, "label", int(h.docs))
	}
	if err != nil {
		return nil, err
	}
	var all []entry // where lines are in any order
	add := out.entry
	if s.Ungrouped {
		add = func(e entry) error { all = append(all, e); return nil }
	}
	if err := s.entries(ctx, l, h, vocab, add); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.doc, b.doc) })
	out.seen = int64(len(all))
	for i, e := range all {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, s.Docword.at(0, ctx.Err())
		}
		if err := out.entry(e); err != nil {
			return nil, err
		}
	}
	if vocab == nil {
		vocab = numbers(int(h.words), 1)
	}
	return vocab, out.upTo(h.docs)
}

// uciDocs puts documents together.
type uciDocs struct {
	s                  UCI
	vocab, ids, labels []string
	rows               // of the document in hand
	doc                int32
	seen               int64 // entries
	yield              func(Document, error) bool
}

func (u *uciDocs) entry(e entry) error {
	u.seen++
	if e.doc != u.doc {
		switch {
		case e.doc < u.doc:
			return fmt.Errorf("document %d after document %d: %w; set UCI.Ungrouped", e.doc+1, u.doc+1, ErrUngrouped)
		case !u.s.NoHeader && tooMany(int64(e.doc-u.doc), u.seen):
			return fmt.Errorf("document %d after document %d: %w", e.doc+1, u.doc+1, errHeader)
		}
		if err := u.upTo(e.doc); err != nil {
			return err
		}
	}
	u.add(e.word, e.count)
	return nil
}

// upTo yields the document in hand, and empty ones before document m.
func (u *uciDocs) upTo(m int32) error {
	for ; u.doc < m; u.doc++ {
		if u.s.NoHeader && len(u.words) == 0 { // empty, or of another part
			u.doc = m
			return nil
		}
		n, w, sum := bag.Merge(u.words, u.counts, &u.pairs)
		if w >= 0 {
			return u.s.Docword.at(0, bag.CountError(nameOf(u.ids, int(u.doc)), wordName(u.vocab, w, 1), sum))
		}
		d := Document{Words: u.words[:n], Counts: u.counts[:n]}
		if u.s.NoHeader {
			d.ID = strconv.Itoa(int(u.doc) + 1)
		}
		if u.ids != nil {
			d.ID, d.Place = u.ids[u.doc], Place{u.s.IDs.Name, int(u.doc) + 1}
		}
		if u.labels != nil {
			d.Label = u.labels[u.doc]
		}
		if !u.yield(d, nil) {
			return errStop
		}
		u.words, u.counts = u.words[:0], u.counts[:0]
	}
	return nil
}

// validate checks what NoHeader asks for.
func (s UCI) validate() error {
	if !s.NoHeader {
		return nil
	}
	switch {
	case !s.Vocab.given():
		return s.Docword.at(0, errors.New("a file without a header needs a vocabulary file"))
	case s.IDs.given() || s.Labels.given():
		return s.Docword.at(0, errors.New("a file without a header may have no files of ids and labels"))
	case s.Ungrouped:
		return s.Docword.at(0, errors.New("a file without a header cannot be read Ungrouped"))
	}
	return nil
}

// header reads the first three lines, if there are such.
func (s UCI) header(l *lines, vocab []string) (uciHeader, error) {
	if s.NoHeader {
		return uciHeader{math.MaxInt32, int32(len(vocab)), math.MaxInt64}, nil
	}
	var head [3]int64
	for i, what := range []string{"documents", "words", "entries"} {
		b, err := l.next()
		if err == io.EOF {
			l.n++
			return uciHeader{}, l.fail(fmt.Errorf("%w: the header line with the number of %s is missing", ErrTruncated, what))
		}
		if err != nil {
			return uciHeader{}, err
		}
		b = bytes.TrimSpace(b)
		n, k := parseInt(b)
		if k != len(b) || n < 0 || i < 2 && n > math.MaxInt32 {
			return uciHeader{}, l.fail(fmt.Errorf("%q is not a number of %s", clip(b), what))
		}
		head[i] = n
	}
	if vocab != nil && int64(len(vocab)) != head[1] {
		return uciHeader{}, s.Docword.at(2, fmt.Errorf("the header says %d words, but %s has %d", head[1], s.Vocab.Name, len(vocab)))
	}
	return uciHeader{int32(head[0]), int32(head[1]), head[2]}, nil
}

// entries calls add for every line after the header. vocab is nil where there is none.
func (s UCI) entries(ctx context.Context, l *lines, h uciHeader, vocab []string, add func(entry) error) error {
	var seen int64
	blank := 0 // line number of a blank line, which only others may follow
	for {
		b, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := l.check(ctx); err != nil {
			return err
		}
		doc, b, ok1 := field(b)
		word, b, ok2 := field(b)
		count, b, ok3 := field(b)
		if !ok1 || !ok2 || !ok3 || len(b) > 0 || blank > 0 {
			if !ok1 && len(b) == 0 { // nothing but space
				blank = l.n
				continue
			}
			if blank > 0 {
				l.n = blank
			}
			return l.fail(errors.New(`want three whole numbers "document word count"`))
		}
		switch {
		case doc < 1 || doc > int64(h.docs):
			return l.fail(bag.RangeError("document", doc, 1, int64(h.docs)))
		case word < 1 || word > int64(h.words):
			return l.fail(bag.RangeError("word", word, 1, int64(h.words)))
		case count < 1 || count > MaxCount:
			return l.fail(bag.CountError(nameOf(nil, int(doc-1)), wordName(vocab, int32(word-1), 1), float64(count)))
		}
		if seen++; seen > h.entries {
			return l.fail(fmt.Errorf("more entries than the %d of the header", h.entries))
		}
		if err := add(entry{int32(doc - 1), int32(word - 1), int32(count)}); err != nil {
			var fe *FileError
			if err == errStop || errors.As(err, &fe) {
				return err
			}
			return l.fail(err)
		}
	}
	if err := ctx.Err(); err != nil {
		return l.fail(err)
	}
	if s.NoHeader {
		return nil
	}
	if seen < h.entries {
		return l.fail(fmt.Errorf("%w: the header says %d entries, there are %d", ErrTruncated, h.entries, seen))
	}
	if tooMany(int64(h.docs), seen) || vocab == nil && tooMany(int64(h.words), seen) {
		return s.Docword.at(1, errHeader)
	}
	return nil
}

var errHeader = errors.New("the header promises far more documents or words than there are entries")

// tooMany reports whether a file has too few entries for n documents or words. It keeps a
// damaged header, or a single huge number, from taking all memory.
func tooMany(n, entries int64) bool { return n > 1<<16 && (n-1<<16)/64 > entries }

// field takes an integer off the front of a line, with the space around it. If there is none
// it returns false and what is left after the space.
func field(b []byte) (int64, []byte, bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	n, k := parseInt(b[i:])
	b = b[i+k:]
	if k == 0 {
		return 0, b, false
	}
	if len(b) > 0 && b[0] != ' ' && b[0] != '\t' {
		return 0, b, false
	}
	i = 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return n, b[i:], true
}

// parseInt reads a decimal integer with an optional minus sign from the front of b, of k bytes,
// 0 for none. Numbers of more than 18 digits come out as ±10¹⁸, beyond every limit here.
func parseInt(b []byte) (n int64, k int) {
	i := 0
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		i = 1
	}
	start := i
	for i < len(b) {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		if n < 1e17 {
			n = 10*n + int64(d)
		} else {
			n = 1e18
		}
		i++
	}
	if i == start {
		return 0, 0
	}
	if neg {
		n = -n
	}
	return n, i
}

// clip shortens what an error quotes.
func clip(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "…"
	}
	return string(b)
}

// nameOf returns what document m is called.
func nameOf(ids []string, m int) string {
	if ids != nil && ids[m] != "" {
		return ids[m]
	}
	return strconv.Itoa(m + 1)
}

// wordName returns what word w is called, in files that count from first.
func wordName(vocab []string, w int32, first int) string {
	if vocab != nil {
		return vocab[w]
	}
	return strconv.Itoa(int(w) + first)
}
