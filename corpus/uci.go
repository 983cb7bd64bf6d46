package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/jsmf-go/spectral/internal/bag"
)

// UCI reads the bag-of-words format of the UCI repository: a docword file with
// three header lines, the numbers of documents D, of words W and of entries NNZ,
// then NNZ lines "document word count", counted from 1; and a vocabulary file
// with one word a line.
//
// The header must agree with the content: the vocabulary has W words, every
// number is in range, and there are exactly NNZ entries (ErrTruncated if there
// are fewer). Counts are from 1 to MaxCount; several lines of the same document
// and word are added up. Documents without a line are empty. As a guard against
// damaged headers, D (and W without a vocabulary file) may exceed 64 times the
// number of entries by at most 65,536.
//
// Read takes the lines in any order, in one pass. It needs 8 bytes of memory an
// entry, and 4 more while it reads lines that are not in the order of the
// documents.
type UCI struct {
	// Docword is the file of counts.
	Docword File

	// Vocab is the file of words, whose surrounding space is cut off. Without
	// it the words are called by their numbers, "1" to W.
	Vocab File

	// IDs and Labels are optional files with one line a document.
	IDs, Labels File

	// NoHeader says that Docword has no header, as a part of a larger file. It needs
	// Vocab, and goes with neither IDs, Labels nor Ungrouped. A document has its number
	// as its id, and those without a line are left out.
	NoHeader bool

	// RepeatedWords accepts a vocabulary with a word several times; each place is a
	// word of its own. By default that is an error.
	RepeatedWords bool

	// Ungrouped lets Docs read files whose lines are not in ascending order of
	// the documents, by holding the corpus in memory. Otherwise Docs streams, and
	// such a line is an error that wraps ErrUngrouped. Read needs no such hint.
	Ungrouped bool
}

var _ Numbered = UCI{}

// ReadUCI reads a corpus in UCI format from files, plain or gzipped. An empty
// vocabPath means that there is no vocabulary file.
func ReadUCI(ctx context.Context, docwordPath, vocabPath string) (*Corpus, error) {
	s := UCI{Docword: File{Name: docwordPath}}
	if vocabPath != "" {
		s.Vocab = File{Name: vocabPath}
	}
	return Read(ctx, s)
}

// Vocabulary returns the words. Without a vocabulary file it reads the docword
// file, to check its header.
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
			if s.NoHeader && len(r.words) == 0 { // empty, or of another part
				cur = m
				return nil
			}
			n, w, sum := bag.Merge(r.words, r.counts, &r.pairs)
			if w >= 0 {
				return s.Docword.at(0, bag.CountError(nameOf(ids, int(cur)), wordName(vocab, w, 1), sum))
			}
			d := Document{Words: r.words[:n], Counts: r.counts[:n]}
			if ids != nil {
				d.ID, d.place = ids[cur], place{file: s.IDs.Name, line: int(cur) + 1}
			}
			if labels != nil {
				d.Label = labels[cur]
			}
			if s.NoHeader {
				d.ID = strconv.Itoa(int(cur) + 1)
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
			case !s.NoHeader && tooMany(int64(doc-cur), seen):
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
	if s.NoHeader {
		if s.Ungrouped { // it would come back here
			return nil, s.validate()
		}
		return collect(ctx, s)
	}
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
	return newCorpus(vocab, about{ids: ids, labels: labels}, t.indptr, t.words, t.counts), nil
}

type uciHeader struct {
	docs, words int32
	entries     int64
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
			hint := ""
			if bytes.ContainsRune(b, ':') {
				hint = "; it may be in the form of LDA-C, which corpus.LDAC reads"
			}
			return uciHeader{}, l.fail(fmt.Errorf("%q is not a number of %s%s", clip(b), what, hint))
		}
		head[i] = n
	}
	if vocab != nil && int64(len(vocab)) != head[1] {
		return uciHeader{}, s.Docword.at(2, fmt.Errorf("the header says %d words, but %s has %d", head[1], s.Vocab.Name, len(vocab)))
	}
	return uciHeader{int32(head[0]), int32(head[1]), head[2]}, nil
}

// scan reads the docword file: begin is called with the header, then entry for
// every line, with numbers from 0. vocab is nil where there is none.
func (s UCI) scan(ctx context.Context, vocab []string, begin func(uciHeader) error, entry func(doc, word, count int32) error) error {
	if err := s.validate(); err != nil {
		return err
	}
	l, err := s.Docword.lines()
	if err != nil {
		return err
	}
	defer l.close()
	h, err := s.header(l, vocab)
	if err != nil {
		return err
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
