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
)

// documents are what a fit under New begins with: all documents, encoded, over all words
// that occur in them.
type documents struct {
	src     *corpus.Encoded
	info    corpus.Info // of them, but for those without words
	unigram []float64   // p(word): the mean over documents of its share in each
	hidden  int64       // tokens that passes would not see at first
	said    []string    // warnings about them
}

// readDocuments encodes the documents behind an input, in one read, and counts them.
func readDocuments(ctx context.Context, in Input) (*documents, error) {
	info := in.Info()
	if info.Source == nil {
		return nil, noDocuments(in)
	}
	src, err := corpus.Encode(ctx, named(info.Source, info.Vocabulary))
	if err != nil {
		return nil, err
	}
	all := src.Info()
	if len(all.Vocabulary) == 0 {
		return nil, fmt.Errorf("the documents behind a %T: %w", in, corpus.ErrEmptyVocabulary)
	}
	d := &documents{src: src.DropUnused()}
	d.info = d.src.Info()
	d.info.Form, d.info.Text, d.info.DroppedDocuments, d.info.DroppedWords = info.Form, info.Text, info.DroppedDocuments, info.DroppedWords
	if d.src != src {
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
	seen, err := corpus.Inspect(ctx, d.src)
	if err != nil {
		return nil, err
	}
	d.said = seen.Warnings
	return d, nil
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

// count fills in what the encoded documents do not say.
func (d *documents) count(ctx context.Context) error {
	weights := d.src.Weights()
	d.unigram = make([]float64, len(d.info.Vocabulary))
	empty := corpus.Dropped{Reason: "without words"}
	read, total := 0, 0.0
	for doc, err := range d.src.Docs(ctx) {
		if err != nil {
			return err
		}
		read++
		tokens := int64(0)
		for _, x := range doc.Counts {
			tokens += int64(x)
		}
		if tokens == 0 {
			bag.Leave(&empty.Count, &empty.Names, cmp.Or(doc.ID, strconv.Itoa(read)))
			continue
		}
		if holdout.Watches(bag.Key(doc.ID, read)) {
			d.hidden += holdout.Hidden(tokens)
		}
		weight := 1.0
		if weights != nil {
			weight = weights[read-1]
		}
		total += weight
		for i, w := range doc.Words {
			d.unigram[w] += weight * float64(doc.Counts[i]) / float64(tokens)
		}
	}
	if !(total > 0) {
		return fmt.Errorf("%w (%d documents)", cooc.ErrNoDocuments, read)
	}
	for w := range d.unigram {
		d.unigram[w] /= total
	}
	if empty.Count > 0 {
		d.info.Documents -= empty.Count
		d.info.DroppedDocuments = append(slices.Clone(d.info.DroppedDocuments), empty)
	}
	return nil
}

// start returns the co-occurrence matrix of the n best words, and their numbers, ascending.
// With visible it does not count the tokens that passes do not see at first.
func (d *documents) start(ctx context.Context, n int, visible bool, workers int) (cooc.Matrix, []int, error) {
	words, idf := d.best(n)
	if len(words) == 0 {
		return nil, nil, fmt.Errorf("%w: every word is in every one of the %d documents, so that tf-idf leaves no weight", cooc.ErrNoDocuments, d.info.Documents)
	}
	src := corpus.Source(d.src)
	if visible && holdout.Enough(d.hidden) {
		src = holdout.Visible{Source: src, N: len(idf)}
	}
	c, err := cooc.NewDenseTFIDF(ctx, src, idf, words, workers)
	if err != nil {
		return nil, nil, err
	}
	info := c.Info()
	info.Documents = d.info.Documents
	for _, w := range words {
		info.Vocabulary = append(info.Vocabulary, d.info.Vocabulary[w])
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
