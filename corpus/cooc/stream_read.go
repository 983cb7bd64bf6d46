package cooc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// read makes one pass and calls f for every document that is used, with its distinct
// Words in the order of their first appearance. The slices are reused.
func (s *Stream) read(ctx context.Context, f func(doc corpus.Document, length int64) error) error {
	first := s.passes.Add(1) == 1
	if first {
		s.skipped = 0
	}
	least := s.opts.minTokens()
	var d bag.Counter
	number := 0
	for doc, err := range s.src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		number++
		err = d.Read(s.words, bag.Document{ID: doc.ID, Tokens: doc.Tokens, Words: doc.Words, Counts: doc.Counts}, number)
		if err == nil {
			err = d.Distinct(s.n)
		}
		if err != nil {
			return fmt.Errorf("cooc: %w", err)
		}
		length := d.Tokens()
		if length < least || len(d.Words) < s.opts.MinDistinct {
			if first {
				s.skipped++
			}
			continue
		}
		doc.Tokens, doc.Words, doc.Counts = nil, d.Words, d.Counts
		if err := f(doc, length); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// streamWords returns the numbering of the words of a source by a vocabulary, which
// is the source's own if vocab is nil, and a copy of that vocabulary.
func streamWords(ctx context.Context, src corpus.Source, vocab []string) (*bag.Words, []string, error) {
	w := new(bag.Words)
	num, numbered := src.(corpus.Numbered)
	if numbered {
		own, err := num.Vocabulary(ctx)
		if err != nil {
			return nil, nil, err
		}
		w.Size, w.Names = len(own), own
	}
	switch {
	case vocab == nil && !numbered:
		return nil, nil, errors.New("cooc: stream: the source yields tokens, not numbers of words: a Vocabulary is needed")
	case vocab == nil && len(w.Names) == 0 || vocab != nil && len(vocab) == 0:
		return nil, nil, fmt.Errorf("cooc: stream: %w", corpus.ErrEmptyVocabulary)
	case vocab == nil:
		return w, slices.Clone(w.Names), nil
	}
	index, err := bag.Index(vocab)
	if err != nil {
		return nil, nil, fmt.Errorf("cooc: stream: %w", err)
	}
	if !numbered {
		w.Token = func(t string) (int32, error) {
			if i, ok := index[t]; ok {
				return i, nil
			}
			return bag.Unknown, nil
		}
		return w, slices.Clone(vocab), nil
	}
	w.To = bag.Match(w.Names, vocab)
	taken := make([]bool, len(vocab))
	for i, j := range w.To {
		if j >= 0 && taken[j] {
			return nil, nil, fmt.Errorf("cooc: stream: the word %q, which is in the Vocabulary, stands twice in that of the source", w.Names[i])
		}
		if j >= 0 {
			taken[j] = true
		}
	}
	return w, slices.Clone(vocab), nil
}
