package cooc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// AccumulatorOptions says what an Accumulator holds and how its vocabulary grows.
// The zero value holds every document; words of five documents or more are in the
// vocabulary.
type AccumulatorOptions struct {
	// Vocabulary holds words that are always in the vocabulary, first and in this
	// order, such as those of a curated corpus. nil: none.
	Vocabulary []string

	// StopWords are never in the vocabulary. None may be in Vocabulary.
	StopWords []string

	// Text says how the tokens of the documents are made of text; nil: not known. The
	// corpus of a Snapshot says so too (corpus.Info.Text). It must not name a Stemmer:
	// corpus.Stem merges the words of a Snapshot.
	Text *text.Setting

	// Columns are the columns of corpus.Document.Values, which the corpus of a Snapshot has
	// as its metadata.
	Columns []corpus.Column

	// MinDocs is the number of documents held that a word must be in to join the
	// vocabulary. The counts of other words are kept until they do. 0 means 5. If it
	// is negative the vocabulary is Vocabulary, and tokens of other words are only
	// counted (AccumulatorStats.Unknown).
	MinDocs int

	// MaxWords bounds the vocabulary, with the words of Vocabulary. Words in more
	// documents are preferred, then those that come first by their bytes. 0: no bound.
	MaxWords int

	// Window > 0 is a sliding window: only the last Window documents are held.
	Window int

	// MaxAge > 0 is a sliding window in time: only documents younger than MaxAge
	// are held. The age of a document is the newest document's time minus its own,
	// in the units of AddAt.
	MaxAge int64

	// HalfLife > 0 is exponential decay: a document of age t has the weight
	// 2^(−t/HalfLife). 0: all have the weight 1.
	HalfLife float64

	// MaxBytes > 0 bounds AccumulatorStats.Bytes. A document that would exceed it is
	// refused (ErrFull).
	MaxBytes int64
}

func (o AccumulatorOptions) minDocs() int {
	if o.MinDocs == 0 {
		return 5
	}
	return o.MinDocs
}

func (o AccumulatorOptions) validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("cooc: accumulator: "+format, args...))
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
		bad(o.Text.Stemmer != "", "Text names the stemmer %q, but words of documents that come and go are not merged: leave it out, and merge those of a Snapshot by corpus.Stem", o.Text.Stemmer)
	}
	if _, err := corpus.NewMetadata(o.Columns, nil); err != nil {
		errs = append(errs, fmt.Errorf("cooc: accumulator: Columns: %w", err))
	}
	seen := make(map[string]bool, len(o.Vocabulary))
	for i, w := range o.Vocabulary {
		bad(w == "" || !utf8.ValidString(w), "word %d of the Vocabulary, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the word %q stands twice in the Vocabulary", w)
		seen[w] = true
	}
	for i, w := range o.StopWords {
		bad(w == "" || !utf8.ValidString(w), "stop word %d, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the stop word %q is in the Vocabulary", w)
	}
	return errors.Join(errs...)
}

func sameText(a, b *text.Setting) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

func sameColumn(a, b corpus.Column) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Unit == b.Unit && (a.Levels == nil) == (b.Levels == nil) && slices.Equal(a.Levels, b.Levels)
}

// differs names an option in which o and p differ, "" where there is none.
func (o AccumulatorOptions) differs(p AccumulatorOptions) string {
	switch {
	case !slices.Equal(o.Vocabulary, p.Vocabulary):
		return "Vocabulary"
	case !slices.Equal(o.StopWords, p.StopWords):
		return "StopWords"
	case !sameText(o.Text, p.Text):
		return "Text"
	case !slices.EqualFunc(o.Columns, p.Columns, sameColumn):
		return "Columns"
	case o.minDocs() != p.minDocs():
		return "MinDocs"
	case o.MaxWords != p.MaxWords:
		return "MaxWords"
	case o.Window != p.Window:
		return "Window"
	case o.MaxAge != p.MaxAge:
		return "MaxAge"
	case o.HalfLife != p.HalfLife:
		return "HalfLife"
	}
	return ""
}
