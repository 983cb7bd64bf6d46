package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/jsmf-go/spectral/internal/bag"
)

// LDAC reads the format of the LDA-C program: a document is a line
// "n word:count word:count …", where n is the number of pairs and words are
// numbered from 0. The line "0" is an empty document.
//
// Counts are from 1 to MaxCount; counts of a word that stands twice in a line are
// added up. Without a vocabulary file N is one more than the largest word number;
// as a guard against damaged files it may exceed 64 times the number of pairs by at
// most 65,536.
type LDAC struct {
	// Data is the file of documents.
	Data File

	// Vocab is the file of words, one a line. Without it the words are called by
	// their numbers, from "0".
	Vocab File

	// IDs and Labels are optional files with one line a document.
	IDs, Labels File

	// RepeatedWords accepts a vocabulary with a word several times; each place is a
	// word of its own. By default that is an error.
	RepeatedWords bool
}

var _ Numbered = LDAC{}

// ReadLDAC reads a corpus in LDA-C format from files, plain or gzipped. An empty
// vocabPath means that there is no vocabulary file.
func ReadLDAC(ctx context.Context, dataPath, vocabPath string) (*Corpus, error) {
	s := LDAC{Data: File{Name: dataPath}}
	if vocabPath != "" {
		s.Vocab = File{Name: vocabPath}
	}
	return Read(ctx, s)
}

// Vocabulary returns the words. Without a vocabulary file it reads the data to find
// the largest word number.
func (s LDAC) Vocabulary(ctx context.Context) ([]string, error) {
	if s.Vocab.given() {
		return s.Vocab.vocabulary(s.RepeatedWords)
	}
	r := &rows{indptr: []int{0}}
	_, n, err := s.scan(ctx, nil, r, func(int) error { r.undo(); return nil })
	if err != nil {
		return nil, err
	}
	return numbers(n, 0), nil
}

// Docs implements Source. Document.Words are ascending.
func (s LDAC) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if err := s.stream(ctx, yield); err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

func (s LDAC) stream(ctx context.Context, yield func(Document, error) bool) error {
	vocab, err := s.Vocab.optional(s.RepeatedWords)
	if err != nil {
		return err
	}
	ids, labels, err := sides(s.IDs, s.Labels)
	if err != nil {
		return err
	}
	r := &rows{indptr: []int{0}}
	docs, _, err := s.scan(ctx, vocab, r, func(m int) error {
		if !yield(Document{ID: ids.at(m), Label: labels.at(m), Words: r.words, Counts: r.counts, place: place{file: s.IDs.Name, line: m + 1}}, nil) {
			return errStop
		}
		r.undo()
		return nil
	})
	if err != nil {
		return err
	}
	// Only now is the number of documents known.
	if _, err = ids.all(docs); err == nil {
		_, err = labels.all(docs)
	}
	return err
}

func (s LDAC) load(ctx context.Context) (*Corpus, error) {
	vocab, err := s.Vocab.optional(s.RepeatedWords)
	if err != nil {
		return nil, err
	}
	idFile, labelFile, err := sides(s.IDs, s.Labels)
	if err != nil {
		return nil, err
	}
	r := &rows{indptr: []int{0}}
	docs, n, err := s.scan(ctx, vocab, r, func(int) error { r.end(); return nil })
	switch {
	case err != nil:
		return nil, err
	case docs == 0:
		return nil, s.Data.at(0, ErrNoDocuments)
	case n == 0:
		return nil, s.Data.at(0, ErrEmptyVocabulary)
	}
	if vocab == nil {
		vocab = numbers(n, 0)
	}
	ids, err := idFile.all(docs)
	if err != nil {
		return nil, err
	}
	labels, err := labelFile.all(docs)
	if err != nil {
		return nil, err
	}
	return newCorpus(vocab, about{ids: ids, labels: labels}, r.indptr, r.words, r.counts), nil
}

// scan calls doc for every document m when its pairs, merged, are the row in
// hand of r; doc must end or undo that row. It returns the numbers of documents
// and of words.
func (s LDAC) scan(ctx context.Context, vocab []string, r *rows, doc func(m int) error) (docs, n int, err error) {
	l, err := s.Data.lines()
	if err != nil {
		return 0, 0, err
	}
	defer l.close()
	limit := int64(math.MaxInt32)
	if vocab != nil {
		limit = int64(len(vocab))
	}
	top, seen, blank := int64(-1), int64(0), 0
	for {
		b, err := l.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = l.check(ctx)
		}
		if err != nil {
			return 0, 0, err
		}
		b = bytes.TrimSpace(b)
		if len(b) == 0 {
			if blank == 0 {
				blank = l.n
			}
			continue
		}
		if blank > 0 {
			return 0, 0, s.Data.at(blank, errors.New(`blank line; an empty document is written "0"`))
		}
		want, b, ok := field(b)
		if !ok || want < 0 {
			return 0, 0, l.fail(errors.New(`want "n word:count word:count …"`))
		}
		pairs, largest, err := ldacLine(b, vocab, limit, docs, r)
		switch {
		case err != nil:
			return 0, 0, l.fail(err)
		case pairs == 0 && want > 0 && l.n == 1:
			return 0, 0, l.fail(fmt.Errorf("the line begins with %d but has no pairs; it may be in UCI form, which corpus.UCI reads", want))
		case int64(pairs) < want:
			return 0, 0, l.fail(fmt.Errorf("%w: the line begins with %d but has %d pairs", ErrTruncated, want, pairs))
		case int64(pairs) > want:
			return 0, 0, l.fail(fmt.Errorf("the line begins with %d but has %d pairs", want, pairs))
		}
		lo := r.indptr[len(r.indptr)-1]
		k, w, sum := bag.Merge(r.words[lo:], r.counts[lo:], &r.pairs)
		if w >= 0 {
			return 0, 0, l.fail(bag.CountError(nameOf(nil, docs), wordName(vocab, w, 0), sum))
		}
		r.words, r.counts = r.words[:lo+k], r.counts[:lo+k]
		top, seen = max(top, largest), seen+int64(pairs)
		if err := doc(docs); err != nil {
			return 0, 0, err
		}
		docs++
	}
	if err := ctx.Err(); err != nil {
		return 0, 0, l.fail(err)
	}
	if vocab != nil {
		return docs, len(vocab), nil
	}
	if tooMany(top+1, seen) {
		return 0, 0, s.Data.at(0, fmt.Errorf("word number %d is too large for a file of %d pairs without a vocabulary", top, seen))
	}
	return docs, int(top + 1), nil
}

// ldacLine adds the pairs of a line, that of document m, to r. It returns how many there
// are, and the largest word.
func ldacLine(b []byte, vocab []string, limit int64, m int, r *rows) (pairs int, top int64, err error) {
	top = -1
	for ; len(b) > 0; pairs++ {
		word, k := parseInt(b)
		if k == 0 || k == len(b) || b[k] != ':' {
			return 0, 0, fmt.Errorf("want word:count at %q", clip(b))
		}
		count, rest, ok := field(b[k+1:])
		if !ok || b[k+1] == ' ' || b[k+1] == '\t' {
			return 0, 0, fmt.Errorf("want word:count at %q", clip(b))
		}
		b = rest
		if word < 0 || word >= limit {
			return 0, 0, bag.RangeError("word", word, 0, limit-1)
		}
		if count < 1 || count > MaxCount {
			return 0, 0, bag.CountError(nameOf(nil, m), wordName(vocab, int32(word), 0), float64(count))
		}
		r.add(int32(word), int32(count))
		top = max(top, word)
	}
	return pairs, top, nil
}
