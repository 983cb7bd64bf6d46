package corpus

import (
	"bytes"
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

// UCI reads the bag-of-words form of the UCI repository: a docword file with
// three header lines, the numbers of documents D, of words W and of entries
// NNZ, then NNZ lines "document word count" counted from 1; and a vocabulary
// file with one word a line.
//
// The header is checked against the content: the vocabulary has W words, every
// number is in range, and there are NNZ entries, no fewer (ErrTruncated) and
// no more. Counts are from 1 to MaxCount. A pair of document and word that
// comes several times is added up. Documents without a line are empty
// documents. To guard against a damaged header, D (and W without a vocabulary
// file) may exceed 64 times the number of entries by 65,536 at most.
//
// Read takes the lines in any order, in one pass: 13.9 M entries take about
// two seconds, mostly for unpacking, and 8 bytes of memory an entry, 4 more
// while reading if they are not in the order of the documents.
type UCI struct {
	// Docword is the file of counts.
	Docword File

	// Vocab is the file of words, whose surrounding space is cut off. Without
	// it the words are called by their numbers, "1" to W.
	Vocab File

	// IDs and Labels are optional files with one line for each document.
	IDs, Labels File

	// RepeatedWords accepts a vocabulary in which a word stands twice: both
	// stay, as words of their own. By default that is an error.
	RepeatedWords bool

	// Ungrouped lets Docs read files whose lines are not in the ascending
	// order of the documents. It then holds the corpus in memory; otherwise
	// it streams, and such a line is an error that wraps ErrUngrouped. Read
	// needs no such hint.
	Ungrouped bool
}

var _ Numbered = UCI{}

// ReadUCI reads a corpus in UCI form from files, plain or gzipped. An empty
// vocabPath means that there is no vocabulary file.
func ReadUCI(ctx context.Context, docwordPath, vocabPath string) (*Corpus, error) {
	s := UCI{Docword: File{Name: docwordPath}}
	if vocabPath != "" {
		s.Vocab = File{Name: vocabPath}
	}
	return Read(ctx, s)
}

// Vocabulary returns the words. Without a vocabulary file it goes through the
// docword file to check that its header tells the truth.
func (s UCI) Vocabulary(ctx context.Context) ([]string, error) {
	if s.Vocab.given() {
		return s.Vocab.vocabulary(s.RepeatedWords)
	}
	var h uciHeader
	err := s.scan(ctx, nil, func(got uciHeader) error { h = got; return nil }, func(_, _, _ int32) error { return nil })
	if err != nil {
		return nil, err
	}
	return numbers(int(h.words), 1), nil
}

// Docs implements Source. Document.Words are ascending.
func (s UCI) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if s.Ungrouped {
			c, err := s.load(ctx)
			if err != nil {
				yield(Document{}, err)
				return
			}
			c.Source().Docs(ctx)(yield)
			return
		}
		if err := s.stream(ctx, yield); err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

// errStop says that the caller has left the loop.
var errStop = errors.New("stop")

func (s UCI) stream(ctx context.Context, yield func(Document, error) bool) error {
	vocab, err := s.Vocab.optional(s.RepeatedWords)
	if err != nil {
		return err
	}
	var (
		ids, labels []string
		h           uciHeader
		r           = rows{indptr: []int{0}}
		cur         int32 // the document in hand
		seen        int64
	)
	// flush yields the document in hand, and empty ones up to m, excluded.
	flush := func(m int32) error {
		for ; cur < m; cur++ {
			n, w, sum := bag.Merge(r.words, r.counts, &r.pairs)
			if w >= 0 {
				return s.Docword.at(0, bag.CountError(nameOf(ids, int(cur)), wordName(vocab, w, 1), sum))
			}
			d := Document{Words: r.words[:n], Counts: r.counts[:n]}
			if ids != nil {
				d.ID = ids[cur]
			}
			if labels != nil {
				d.Label = labels[cur]
			}
			if !yield(d, nil) {
				return errStop
			}
			r.undo()
		}
		return nil
	}
	idFile, labelFile, err := sides(s.IDs, s.Labels)
	if err != nil {
		return err
	}
	begin := func(got uciHeader) (err error) {
		h = got
		if ids, err = idFile.all(int(h.docs)); err == nil {
			labels, err = labelFile.all(int(h.docs))
		}
		return err
	}
	err = s.scan(ctx, vocab, begin, func(doc, word, count int32) error {
		seen++
		if doc != cur {
			switch {
			case doc < cur:
				return fmt.Errorf("document %d after document %d: %w", doc+1, cur+1, ErrUngrouped)
			case tooMany(int64(doc-cur), seen):
				return fmt.Errorf("document %d after document %d: %w", doc+1, cur+1, errHeader)
			}
			if err := flush(doc); err != nil {
				return err
			}
		}
		r.add(word, count)
		return nil
	})
	if err != nil {
		return err
	}
	return flush(h.docs)
}

// load reads the whole corpus in one pass.
func (s UCI) load(ctx context.Context) (*Corpus, error) {
	vocab, err := s.Vocab.optional(s.RepeatedWords)
	if err != nil {
		return nil, err
	}
	var h uciHeader
	var t table
	err = s.scan(ctx, vocab, func(got uciHeader) error { h, t.hint = got, got.entries; return nil }, t.put)
	if err != nil {
		return nil, err
	}
	switch {
	case h.docs == 0:
		return nil, s.Docword.at(0, ErrNoDocuments)
	case h.words == 0:
		return nil, s.Docword.at(0, ErrEmptyVocabulary)
	}
	idFile, labelFile, err := sides(s.IDs, s.Labels)
	if err != nil {
		return nil, err
	}
	ids, err := idFile.all(int(h.docs))
	if err != nil {
		return nil, err
	}
	labels, err := labelFile.all(int(h.docs))
	if err != nil {
		return nil, err
	}
	if m, w, sum := t.finish(int(h.docs)); m >= 0 {
		return nil, s.Docword.at(0, bag.CountError(nameOf(ids, m), wordName(vocab, w, 1), sum))
	}
	if vocab == nil {
		vocab = numbers(int(h.words), 1)
	}
	return newCorpus(vocab, ids, labels, t.indptr, t.words, t.counts), nil
}

type uciHeader struct {
	docs, words int32
	entries     int64
}

// scan goes through the docword file: begin is called with the header, then
// entry for every line, with numbers from 0. vocab is nil where there is none.
func (s UCI) scan(ctx context.Context, vocab []string, begin func(uciHeader) error, entry func(doc, word, count int32) error) error {
	l, err := s.Docword.lines()
	if err != nil {
		return err
	}
	defer l.close()
	var head [3]int64
	for i, what := range []string{"documents", "words", "entries"} {
		b, err := l.next()
		if err == io.EOF {
			l.n++
			return l.fail(fmt.Errorf("%w: the header line with the number of %s is missing", ErrTruncated, what))
		}
		if err != nil {
			return err
		}
		b = bytes.TrimSpace(b)
		n, k := parseInt(b)
		if k != len(b) || n < 0 || i < 2 && n > math.MaxInt32 {
			return l.fail(fmt.Errorf("%q is not a number of %s", clip(b), what))
		}
		head[i] = n
	}
	h := uciHeader{int32(head[0]), int32(head[1]), head[2]}
	if vocab != nil && len(vocab) != int(h.words) {
		return s.Docword.at(2, fmt.Errorf("the header says %d words, but %s has %d", h.words, s.Vocab.Name, len(vocab)))
	}
	if err := begin(h); err != nil {
		return err
	}
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
		if err := entry(int32(doc-1), int32(word-1), int32(count)); err != nil {
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
	if seen < h.entries {
		return l.fail(fmt.Errorf("%w: the header says %d entries, there are %d", ErrTruncated, h.entries, seen))
	}
	if tooMany(int64(h.docs), seen) || vocab == nil && tooMany(int64(h.words), seen) {
		return s.Docword.at(1, errHeader)
	}
	return nil
}

var errHeader = errors.New("the header promises far more documents or words than there are entries")

// tooMany tells whether n documents or words are too many to be believed of a
// file with so many entries. It keeps a damaged header, or a single huge
// number, from taking all memory.
func tooMany(n, entries int64) bool { return n > 1<<16 && (n-1<<16)/64 > entries }

// field takes an integer off the front of a line, with the space around it.
// Where there is none it returns false and what is left after the space.
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

// parseInt reads a decimal integer with an optional minus sign from the front
// of b and returns how many bytes it took, 0 where there is none. Numbers of
// more than 18 digits come out as ±10¹⁸, beyond every limit of this package.
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

// table collects entries in any order of the documents.
type table struct {
	rows
	doc  []int32 // nil as long as the entries are in order; else their documents
	hint int64   // how many entries to expect, not to be trusted
}

// put adds an entry. n ≥ 1. It never fails.
func (t *table) put(doc, word, n int32) error {
	if t.doc == nil {
		// Until finish, indptr holds where each document begins. A huge leap
		// is left to finish, which knows whether to believe it.
		if last := len(t.indptr) - 1; int(doc) >= last && int(doc)-last <= 1<<16 {
			for len(t.indptr) <= int(doc) {
				t.indptr = append(t.indptr, len(t.words))
			}
		} else {
			t.doc = make([]int32, 0, len(t.words)+len(t.words)/4+16)
			for m := range t.indptr {
				end := len(t.words)
				if m < last {
					end = t.indptr[m+1]
				}
				for range end - t.indptr[m] {
					t.doc = append(t.doc, int32(m))
				}
			}
		}
	}
	if t.doc != nil {
		t.doc = append(t.doc, doc)
	}
	if len(t.words) == cap(t.words) {
		// What has been read vouches for three times as much.
		n := max(1024, int(min(t.hint, 4*int64(len(t.words))))-len(t.words))
		t.words, t.counts = slices.Grow(t.words, n), slices.Grow(t.counts, n)
	}
	t.add(word, n)
	return nil
}

// finish makes proper rows of the given number of documents. If the sum of
// duplicates exceeds MaxCount it returns document, word and sum, else −1.
func (t *table) finish(docs int) (int, int32, float64) {
	if t.doc != nil { // counting sort, stable
		ptr := make([]int, docs+1)
		for _, d := range t.doc {
			ptr[d+1]++
		}
		for m := range docs {
			ptr[m+1] += ptr[m]
		}
		at := slices.Clone(ptr[:docs])
		words, counts := make([]int32, len(t.words)), make([]int32, len(t.words))
		for i, d := range t.doc {
			words[at[d]], counts[at[d]] = t.words[i], t.counts[i]
			at[d]++
		}
		t.indptr, t.words, t.counts, t.doc = ptr, words, counts, nil
	}
	for len(t.indptr) <= docs {
		t.indptr = append(t.indptr, len(t.words))
	}
	lo, out := 0, 0
	for m := range docs {
		hi := t.indptr[m+1]
		n, w, sum := bag.Merge(t.words[lo:hi], t.counts[lo:hi], &t.pairs)
		if w >= 0 {
			return m, w, sum
		}
		if out != lo {
			copy(t.words[out:], t.words[lo:lo+n])
			copy(t.counts[out:], t.counts[lo:lo+n])
		}
		lo, out = hi, out+n
		t.indptr[m+1] = out
	}
	t.words, t.counts = t.words[:out], t.counts[:out]
	return -1, 0, 0
}
