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

// Learning says what Learn looks for. The zero value is the default: lines of boilerplate,
// and phrases of two or three words.
//
// Two neighbouring words make a phrase if neither is a function word and they pass all
// limits below; so do two words with one function word between them, as in end of file,
// for the two say what the phrase is about. A phrase of two words and a neighbour make one
// of three by the same limits. Nothing but blanks, hyphens and one line break may stand
// between the words: what a comma, a full stop or a blank line divides was not meant as
// one. A word is no phrase with itself. Which words are function words is found in the
// documents: see Phrases.Function. Pairs of characters of scripts without blanks make none.
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
// tokenizer with the setting and the tools of t and these. Its Setting holds them. docs
// reads the documents, split by the tokenizer that it is given; package corpus has Learn for
// its readers. Phrases and boilerplate that t has are found anew, unless they are not
// looked for.
//
// The documents are read once for boilerplate and three times for phrases, in time that is
// linear in their size. Memory holds the different words, up to 262,144 lines, and up to
// some four million pairs of words in 130 MB. The same documents in the same order give the
// same result. Errors: settings out of range, a tokenizer made by Own, those of docs, ctx's.
func Learn(ctx context.Context, t Tokenizer, docs func(Tokenizer) iter.Seq2[[]string, error], o Learning) (Tokenizer, error) {
	limits, err := o.limits()
	if err != nil {
		return nil, err
	}
	given, ok := t.(*tokenizer)
	if !ok {
		return nil, fmt.Errorf("text: phrases cannot be learned for the tokenizer %q of your own; find them by FindPhrases and let it join them by Phrases.Join", t.Setting().Own)
	}
	learned := *given
	if !o.KeepBoilerplate {
		reader := *given
		reader.lines = true
		if learned.setting.Boilerplate, err = findBoilerplate(ctx, watched(docs, &reader)); err != nil {
			return nil, err
		}
	}
	if !o.KeepWords {
		limits.skip = given.pair
		reader := learned
		reader.setting.Phrases, reader.breaks = nil, true
		read := func() iter.Seq2[[]string, error] { return watched(docs, &reader) }
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

// watched returns the documents, with an error if no text of the first is split by t.
func watched(docs func(Tokenizer) iter.Seq2[[]string, error], t *tokenizer) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		w := &watch{Tokenizer: t}
		for tokens, err := range docs(w) {
			if err == nil && !w.used.Load() {
				err = errors.New("text: learn: the documents are not split by the tokenizer that was given to read them")
			}
			if !yield(tokens, err) || err != nil {
				return
			}
		}
	}
}

// watch is a Tokenizer that knows whether it was used.
type watch struct {
	Tokenizer
	used atomic.Bool
}

func (w *watch) Tokenize(dst []string, s string) []string {
	w.used.Store(true)
	return w.Tokenizer.Tokenize(dst, s)
}

// FindPhrases finds the phrases of documents that are sequences of words already, with
// Break where two words do not stand next to each other. docs reads them, three times in
// all. See Learn.
func FindPhrases(ctx context.Context, docs func() iter.Seq2[[]string, error], o Learning) (*Phrases, error) {
	limits, err := o.limits()
	if err != nil {
		return nil, err
	}
	return findPhrases(ctx, docs, limits)
}
