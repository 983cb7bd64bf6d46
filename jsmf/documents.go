package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

// documents are what a fit under New begins with: all documents, over all words that occur
// in them.
type documents struct {
	src     sums.Documents
	encoded *corpus.Encoded // the documents of src; nil if they are elsewhere
	info    corpus.Info     // of them, but for those without words
	weights []float64       // of the documents, of which the largest is 1; nil: 1 each
	unigram []float64       // p(word): the mean over documents of its share in each
	hidden  int64           // tokens that passes would not see at first
	said    []string        // warnings about them
}

// elsewhere returns the documents of a source that adds them up where they are, instead of
// handing them out.
func elsewhere(src corpus.Source) (sums.Documents, bool) {
	d, ok := src.(sums.Documents)
	return d, ok
}

// readDocuments encodes the documents behind an input, in one read, and counts them.
// Documents that are elsewhere are counted there.
func readDocuments(ctx context.Context, in Input, workers int) (*documents, error) {
	info := in.Info()
	if src, ok := elsewhere(info.Source); ok {
		d := &documents{src: src, info: src.Info()}
		if d.info.Source = src; len(d.info.DocFrequencies) == 0 {
			return nil, emptyVocabulary(in)
		}
		return d, d.count(ctx)
	}
	src, err := corpus.Encode(ctx, named(info.Source, info.Vocabulary))
	if err != nil {
		return nil, err
	}
	all := src.Info()
	if len(all.Vocabulary) == 0 {
		return nil, emptyVocabulary(in)
	}
	d := &documents{encoded: src.DropUnused()}
	d.src = sums.NewLocal(d.encoded, workers)
	d.info = d.encoded.Info()
	d.info.Form, d.info.Text, d.info.DroppedDocuments, d.info.DroppedWords = info.Form, info.Text, info.DroppedDocuments, info.DroppedWords
	if d.encoded != src {
		gone := corpus.Dropped{Reason: "in no document"}
		for w, df := range all.DocFrequencies {
			if df == 0 {
				gone.Names = append(gone.Names, all.Vocabulary[w])
			}
		}
		gone.Count = len(gone.Names)
		d.info.DroppedWords = append(slices.Clone(d.info.DroppedWords), gone)
	}
	if err := d.count(ctx); err != nil {
		return nil, err
	}
	seen, err := corpus.Inspect(ctx, d.encoded)
	if err != nil {
		return nil, err
	}
	d.said = seen.Warnings
	return d, nil
}

func emptyVocabulary(in Input) error {
	return fmt.Errorf("the documents behind a %T: %w", in, corpus.ErrEmptyVocabulary)
}

// named returns the source with the given names of its words, unless there are none or it
// is encoded.
func named(src corpus.Source, names []string) corpus.Source {
	if _, ok := src.(*corpus.Encoded); ok || names == nil {
		return src
	}
	return withNames{src, names}
}

type withNames struct {
	corpus.Source
	names []string
}

func (s withNames) Vocabulary(context.Context) ([]string, error) { return s.names, nil }

// Columns are those of the source, if it has any.
func (s withNames) Columns() []corpus.Column { return columnsOf(s.Source) }

// columnsOf returns the columns of a source, nil if it has none.
func columnsOf(src corpus.Source) []corpus.Column {
	if d, ok := src.(corpus.Described); ok {
		return d.Columns()
	}
	return nil
}

// TextSetting is that of the source, if it has one.
func (s withNames) TextSetting() *text.Setting {
	if t, ok := s.Source.(corpus.FromText); ok {
		return t.TextSetting()
	}
	return nil
}

// Stemmer is that of the source, if it has one.
func (s withNames) Stemmer() text.Stemmer {
	if t, ok := s.Source.(corpus.FromText); ok {
		return t.Stemmer()
	}
	return nil
}

// Weights are those of the source, if it has any.
func (s withNames) Weights() []float64 { return bag.Weights(s.Source) }

// count fills in what the documents do not say.
func (d *documents) count(ctx context.Context) error {
	var err error
	if d.weights, _, err = bag.Relative(d.src, d.info.Documents); err != nil {
		return err
	}
	plan, err := sums.NewCensus(d.info.DocFrequencies, d.weights)
	if err != nil {
		return err
	}
	sum, err := d.src.Sum(ctx, plan)
	if err != nil {
		return err
	}
	counts, err := plan.Counts(sum)
	if err != nil {
		return err
	}
	read := d.info.Documents
	if counts.Docs > read || counts.Tokens != d.info.Tokens {
		return fmt.Errorf("%w: %d documents with %d tokens instead of %d with %d", corpus.ErrSourceChanged, counts.Docs, counts.Tokens, read, d.info.Tokens)
	}
	d.unigram, d.hidden = counts.Shares, counts.Hidden
	if !(vec.Sum(d.unigram) > 0) {
		return fmt.Errorf("%w (%d documents)", cooc.ErrNoDocuments, read)
	}
	return d.leaveEmpty(ctx, read-counts.Docs)
}

// leaveEmpty counts so many documents without words as left out.
func (d *documents) leaveEmpty(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	empty := corpus.Dropped{Reason: "without words", Count: n}
	if d.encoded != nil {
		empty.Count = 0
		read := 0
		for doc, err := range d.encoded.Docs(ctx) {
			if err != nil {
				return err
			}
			if read++; len(doc.Words) == 0 {
				bag.Leave(&empty.Count, &empty.Names, cmp.Or(doc.ID, strconv.Itoa(read)))
			}
		}
	}
	d.info.Documents -= n
	d.info.DroppedDocuments = append(slices.Clone(d.info.DroppedDocuments), empty)
	return nil
}

// start returns the co-occurrence matrix of the n best words, and their numbers, ascending.
// With visible it does not count the tokens that passes do not see at first.
func (d *documents) start(ctx context.Context, n int, visible bool) (cooc.Matrix, []int, error) {
	words, idf := d.best(n)
	if len(words) == 0 {
		return nil, nil, fmt.Errorf("%w: every word is in every one of the %d documents, so that tf-idf leaves no weight", cooc.ErrNoDocuments, d.info.Documents)
	}
	plan, err := sums.NewMoment(d.info.DocFrequencies, idf, words, visible && holdout.Enough(d.hidden), d.weights)
	if err != nil {
		return nil, nil, err
	}
	sum, err := d.src.Sum(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	c, info, err := plan.Matrix(sum)
	if err != nil {
		return nil, nil, err
	}
	info.Documents = d.info.Documents
	for _, w := range words {
		if d.info.Vocabulary != nil {
			info.Vocabulary = append(info.Vocabulary, d.info.Vocabulary[w])
		}
		info.DocFrequencies = append(info.DocFrequencies, d.info.DocFrequencies[w])
	}
	told, err := cooc.WithInfo(c, info)
	if err != nil {
		return nil, nil, err
	}
	return told.(cooc.Matrix), words, nil
}

// best returns the numbers of the n best words, ascending, and ln(M/df) of every word. A
// word of all documents has no tf-idf and is never among them.
func (d *documents) best(n int) (words []int, idf []float64) {
	idf, score := make([]float64, len(d.unigram)), make([]float64, len(d.unigram))
	for w, df := range d.info.DocFrequencies {
		idf[w] = math.Log(float64(d.info.Documents) / float64(df))
		score[w] = d.unigram[w] * math.Log(float64(d.info.Documents/df))
		if df < d.info.Documents {
			words = append(words, w)
		}
	}
	slices.SortFunc(words, func(v, w int) int {
		return cmp.Or(cmp.Compare(score[w], score[v]), cmp.Compare(d.unigram[w]*idf[w], d.unigram[v]*idf[v]), cmp.Compare(v, w))
	})
	words = words[:min(n, len(words))]
	slices.Sort(words)
	return words, idf
}
