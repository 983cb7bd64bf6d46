package corpus

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

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

	// Text says how the tokens are made of text; nil: not known. The corpus of a Snapshot keeps
	// it (Info.Text). It must not name a Stemmer: Stem merges the words of a Snapshot.
	Text *text.Setting

	// Columns are the columns of Document.Values, the metadata of a Snapshot's corpus.
	Columns []Column

	// MinDocs is the number of documents held that must have a word for it to join the
	// vocabulary; 0 means 5. Other words are held, too. If MinDocs is negative only Vocabulary
	// counts, and tokens of other words are left out (AccumulatorStats.Unknown).
	MinDocs int

	// MaxWords bounds the vocabulary, with the words of Vocabulary. Words in more
	// documents are preferred, then those that come first by their bytes. 0: no bound.
	MaxWords int

	// Window is the number of documents held, the last ones. 0: all.
	Window int

	// MaxAge is a sliding window in time: documents of this age or older are not held. The age
	// is the newest document's time minus the document's own, in the units of AddAt. 0: all.
	MaxAge int64

	// HalfLife makes the weight of a document of age t 2^(−t/HalfLife). 0: all weigh 1.
	HalfLife float64

	// MaxBytes bounds AccumulatorStats.Bytes: a document that would exceed it is an error
	// (ErrFull). 0: no bound.
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
			errs = append(errs, fmt.Errorf("corpus: accumulator: "+format, args...))
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
		bad(o.Text.Stemmer != "", "Text names the stemmer %q, but words of documents that come and go are not merged: leave it out, and merge those of a Snapshot by Stem", o.Text.Stemmer)
	}
	if err := checkColumns(o.Columns); err != nil {
		errs = append(errs, fmt.Errorf("corpus: accumulator: Columns: %w", err))
	}
	seen := make(map[string]bool, len(o.Vocabulary))
	for i, w := range o.Vocabulary {
		bad(w == "" || !utf8.ValidString(w), "word %d of the Vocabulary, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the word %q is in the Vocabulary twice", w)
		seen[w] = true
	}
	for i, w := range o.StopWords {
		bad(w == "" || !utf8.ValidString(w), "stop word %d, %q, is empty or not UTF-8", i, w)
		bad(seen[w], "the stop word %q is in the Vocabulary", w)
	}
	return errors.Join(errs...)
}
