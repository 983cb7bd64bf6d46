package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"unicode/utf8"
)

// Learning says what Learn looks for. The zero value means lines of boilerplate, and phrases of
// two or three words.
//
// Two neighbouring words make a phrase if neither is a function word and they pass all limits
// below; so do two words with one function word between them, as in end of file. A phrase of two
// words and a neighbour make one of three by the same limits. Only blanks, hyphens and one line
// break may be between the words. A word is no phrase with itself. Function words are found in
// the documents: see Phrases.Function. Pairs of characters of scripts without blanks make none.
type Learning struct {
	KeepBoilerplate bool // does not look for boilerplate
	KeepWords       bool // does not look for phrases

	MaxWords int     // words of a phrase, 2 or 3; 0: 3
	MinCount int64   // least number of occurrences of a phrase; 0: 10
	MinG2    float64 // least G²; 0: 28.4, which independent words reach once in ten million times
	MinNPMI  float64 // least NPMI, in (0, 1]; 0: 0.4
}

func (o Learning) limits() (limits, error) {
	if o.MaxWords != 0 && o.MaxWords != 2 && o.MaxWords != 3 {
		return limits{}, fmt.Errorf("text: phrases of up to %d words; want 2 or 3, or 0 for 3", o.MaxWords)
	}
	if o.MinCount < 0 || !(o.MinG2 >= 0) || math.IsInf(o.MinG2, 1) || !(o.MinNPMI >= 0 && o.MinNPMI <= 1) {
		return limits{}, fmt.Errorf("text: limits of phrases out of range: count %d, G² %v, NPMI %v", o.MinCount, o.MinG2, o.MinNPMI)
	}
	return limits{cmp.Or(o.MaxWords, 3), cmp.Or(o.MinCount, 10), cmp.Or(o.MinG2, 28.4), cmp.Or(o.MinNPMI, 0.4), nil}, nil
}

// Learn finds the boilerplate and the phrases of a collection of documents, and returns a
// tokenizer with the setting and the tools of t and these. docs reads the documents, split by
// the tokenizer that it is given; corpus.LearnPhrases is Learn for readers. Phrases and
// boilerplate that t has are found anew, unless Learn does not look for them.
//
// The documents are read once for boilerplate and three times for phrases. Time is linear in
// their size. Memory holds the different words, up to 262,144 lines, and up to some four million
// pairs of words in 150 MB. The same documents in the same order give the same result. Errors:
// settings out of range, a tokenizer made by Own, those of docs, ctx's.
func Learn(ctx context.Context, t Tokenizer, docs func(Tokenizer) iter.Seq2[[]string, error], o Learning) (Tokenizer, error) {
	limits, err := o.limits()
	if err != nil {
		return nil, err
	}
	given, ok := t.(*tokenizer)
	if !ok {
		return nil, fmt.Errorf("text: phrases cannot be learned for the tokenizer %q of your own", t.Setting().Own)
	}
	learned := *given
	if !o.KeepBoilerplate {
		reader := *given
		reader.lines = true
		if learned.setting.Boilerplate, err = findBoilerplate(ctx, splitBy(&reader, docs)); err != nil {
			return nil, err
		}
	}
	if !o.KeepWords {
		limits.skip = given.pair
		reader := learned
		reader.setting.Phrases, reader.breaks = nil, true
		read := func() iter.Seq2[[]string, error] { return splitBy(&reader, docs) }
		if learned.setting.Phrases, err = findPhrases(ctx, read, limits); err != nil {
			return nil, err
		}
		learned.breaks = true
	}
	return &learned, nil
}

// pair reports whether a word is a pair of characters that no Segmenter made: such pairs
// overlap, and their phrases would say nothing.
func (t *tokenizer) pair(word string) bool {
	if Unsegmented(word) == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(word)
	return t.runOf(string(r), noRun) < len(unbroken)
}

// splitBy returns the documents, with an error if no text of the first is split by t.
func splitBy(t *tokenizer, docs func(Tokenizer) iter.Seq2[[]string, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		noting := &notingUse{Tokenizer: t}
		for tokens, err := range docs(noting) {
			if err == nil && !noting.used.Load() {
				err = errors.New("text: learn: the documents are not split by the tokenizer that was given to read them")
			}
			if !yield(tokens, err) || err != nil {
				return
			}
		}
	}
}

// notingUse is a Tokenizer that knows whether it was used.
type notingUse struct {
	Tokenizer
	used atomic.Bool
}

func (n *notingUse) Tokenize(dst []string, s string) []string {
	n.used.Store(true)
	return n.Tokenizer.Tokenize(dst, s)
}
