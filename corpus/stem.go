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

// Stem merges the words of src that have one stem: it reads the documents once, to count words,
// and shows the most frequent word of a stem, ties by bytes. Of a phrase each word is stemmed by
// itself. The vocabulary is sorted as Read sorts it. Memory: the vocabulary of src and its index.
//
// [Read], [Encode], [EncodeFile] and the Builder call it if the [text.Setting] of the documents
// names a Stemmer. Stem is for documents in memory, and for tokens that are not from text. A
// model fitted to the result finds also forms of words that no document of the fit has, once it
// is given the Stemmer (jsmf.Model.With).
//
// Errors: those of src and ctx; words without names; words that another Stemmer has merged.
func Stem(ctx context.Context, src Source, s text.Stemmer) (Source, error) {
	desc, err := src.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return stem(ctx, src, desc, s)
}

// stem is Stem for a source of this description.
func stem(ctx context.Context, src Source, desc Description, s text.Stemmer) (*stemmed, error) {
	set, err := mergedBy(desc.Text, s)
	if err != nil {
		return nil, err
	}
	out := &stemmed{Source: src, desc: desc}
	words, frequency, err := out.count(ctx)
	if err != nil {
		return nil, err
	}
	out.merge(s, words, frequency)
	out.desc.Vocabulary, out.desc.Unsorted, out.desc.Text, out.desc.Stemmer = out.vocab, false, set, nil
	return out, nil
}

// mergedBy returns the setting of a text, nil if it is not known, whose words a Stemmer merges.
func mergedBy(before *text.Setting, s text.Stemmer) (*text.Setting, error) {
	var set text.Setting
	if before != nil {
		set = *before
	}
	if by := set.Stemmer; by != "" && by != s.Name() {
		return nil, fmt.Errorf("corpus: stem: the words are merged by the stemmer %q, and cannot be by %q as well", by, s.Name())
	}
	set.Stemmer = s.Name()
	return &set, nil
}

// stemmed is a source whose words are merged.
type stemmed struct {
	Source
	desc   Description
	vocab  []string
	to     []int32   // the number in vocab of each word of the Source
	words  bag.Words // of the Source
	tokens Builder   // numbers them, if the Source has tokens
}

// count returns the words of the source and how often each occurs.
func (s *stemmed) count(ctx context.Context) (words []string, frequency []int64, err error) {
	s.words = bag.Words{Token: s.tokens.number}
	if words = s.desc.Vocabulary; words != nil {
		if i := slices.Index(words, ""); i >= 0 {
			return nil, nil, fmt.Errorf("corpus: stem: word %d has no name", i)
		}
		s.words = bag.Words{Size: len(words), Names: words}
		frequency = make([]int64, len(words))
	}
	var c bag.Counter
	docs := 0
	for d, err := range s.Source.Docs(ctx) {
		docs++
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			if err = c.Read(&s.words, d.words(), docs); err != nil {
				err = d.at(err)
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

// Describe implements Source.
func (s *stemmed) Describe(context.Context) (Description, error) { return s.desc, nil }

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
		for d, err := range s.Source.Docs(ctx) {
			number++
			if err == nil {
				if err = c.Read(&from, d.words(), number); err != nil {
					err = d.at(err)
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
	set, err := mergedBy(c.text, by)
	if err != nil {
		return nil, err
	}
	var s stemmed
	s.merge(by, c.vocab, c.WordCounts())
	out, _, err := c.pick(nil, s.vocab, s.to)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	out.text = set
	return out, nil
}
