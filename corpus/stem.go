package corpus

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/stems"
)

// Stem merges the words of src that have one stem. It reads the documents once, to count
// words: each distinct word is stemmed once, and those of one stem become one word, shown
// as the most frequent of them, ties by bytes. Of a phrase each word is stemmed by itself.
// The vocabulary is sorted as Read sorts it. Memory: the vocabulary of src and its index.
//
// Read, Encode, EncodeFile, the Builder and cooc.NewStream merge words by themselves where
// the text.Setting of the documents names a Stemmer. Stem is for documents in memory, for
// tokens that are not from text, and for a Stemmer of one's own.
//
// A model that is fitted to the result finds all forms of its words, also those that no
// document of the fit has, once it is given the Stemmer (jsmf.Model.WithTokenizer).
//
// Errors: those of src and ctx; words without names; words that another Stemmer has merged.
func Stem(ctx context.Context, src Source, s text.Stemmer) (Numbered, error) {
	out := &stemmed{src: src, text: &text.Setting{}}
	if from, ok := src.(FromText); ok {
		if t := from.TextSetting(); t != nil {
			*out.text = *t
		}
	}
	if before := out.text.Stemmer; before != "" && before != s.Name() {
		return nil, fmt.Errorf("corpus: stem: the words are merged by the stemmer %q, and cannot be by %q as well", before, s.Name())
	}
	out.text.Stemmer = s.Name()
	words, frequency, err := out.count(ctx)
	if err != nil {
		return nil, err
	}
	out.merge(s, words, frequency)
	return out, nil
}

// stemmer returns the Stemmer by which the words of src are still to be merged, or nil.
func stemmer(src Source) text.Stemmer {
	if from, ok := src.(FromText); ok {
		return from.Stemmer()
	}
	return nil
}

// stemmed is a source whose words are merged.
type stemmed struct {
	src    Source
	text   *text.Setting
	vocab  []string
	to     []int32   // the number in vocab of each word of src
	words  bag.Words // of src
	tokens Builder   // numbers them, if src is not Numbered
}

var (
	_ FromText     = (*stemmed)(nil)
	_ Described    = (*stemmed)(nil)
	_ bag.Weighted = (*stemmed)(nil)
)

// count returns the words of the source and how often each occurs.
func (s *stemmed) count(ctx context.Context) (words []string, frequency []int64, err error) {
	s.words = bag.Words{Token: s.tokens.number}
	if n, ok := s.src.(Numbered); ok {
		if words, err = n.Vocabulary(ctx); err != nil {
			return nil, nil, err
		}
		if i := slices.Index(words, ""); i >= 0 {
			return nil, nil, fmt.Errorf("corpus: stem: word %d has no name", i)
		}
		s.words = bag.Words{Size: len(words), Names: words}
		frequency = make([]int64, len(words))
	}
	var c bag.Counter
	docs := 0
	for d, err := range s.src.Docs(ctx) {
		docs++
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			if err = c.Read(&s.words, d.words(), docs); err != nil {
				err = fmt.Errorf("corpus: %w", err)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		for len(frequency) < len(s.tokens.words) {
			frequency = append(frequency, 0)
		}
		for i, w := range c.Words {
			frequency[w] += int64(c.Counts[i])
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if words == nil {
		words = s.tokens.words
	}
	return words, frequency, nil
}

func (s *stemmed) merge(by text.Stemmer, words []string, frequency []int64) {
	shown, to := stems.Merge(by, words, frequency)
	vocab, order := sortNames(shown)
	for i, n := range to {
		to[i] = order[n]
	}
	s.vocab, s.to = vocab, to
}

// TextSetting implements FromText.
func (s *stemmed) TextSetting() *text.Setting { return s.text }

// Stemmer implements FromText.
func (s *stemmed) Stemmer() text.Stemmer { return nil }

// Vocabulary implements Numbered.
func (s *stemmed) Vocabulary(context.Context) ([]string, error) { return slices.Clone(s.vocab), nil }

// Columns implements Described.
func (s *stemmed) Columns() []Column { return columnsOf(s.src) }

// Weights are those of the documents of the source.
func (s *stemmed) Weights() []float64 { return bag.Weights(s.src) }

// Docs implements Source.
func (s *stemmed) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		from := s.words
		from.To = s.to
		if from.Token != nil {
			from.Token = s.known
		}
		var c bag.Counter
		number := 0
		for d, err := range s.src.Docs(ctx) {
			number++
			if err == nil {
				if err = c.Read(&from, d.words(), number); err != nil {
					err = fmt.Errorf("corpus: %w", err)
				}
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			d.Tokens, d.Words, d.Counts = nil, c.Words, c.Counts
			if !yield(d, nil) {
				return
			}
		}
	}
}

// known returns the number of a token of the first pass.
func (s *stemmed) known(token string) (int32, error) {
	if w, ok := s.tokens.index[token]; ok {
		return w, nil
	}
	return 0, fmt.Errorf("%w: the word %q is new", ErrSourceChanged, token)
}

// stem returns the corpus with its words merged by a Stemmer.
func (c *Corpus) stem(by text.Stemmer) (*Corpus, error) {
	var s stemmed
	s.merge(by, c.vocab, c.WordCounts())
	r := rows{indptr: make([]int, 1, len(c.indptr))}
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		for i, w := range words {
			r.add(s.to[w], counts[i])
		}
		if w, sum := r.end(); w >= 0 {
			return nil, fmt.Errorf("corpus: %w", bag.CountError(c.ID(m), s.vocab[w], sum))
		}
	}
	return newCorpus(s.vocab, c.about, r.indptr, r.words, r.counts), nil
}
