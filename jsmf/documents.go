package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

// documents are what a fit under New begins with: all documents, over all words that occur in them.
type documents struct {
	src     sums.Documents
	encoded *corpus.Encoded // the documents of src; nil if they are elsewhere
	info    corpus.Info     // of them, except those without words
	weights []float64       // of the documents, of which the largest is 1; nil: 1 each
	unigram []float64       // p(word): the mean over documents of its share in each
	hidden  int64           // tokens that passes would not see at first
	// function says of each word whether it is a function word of the documents' languages; nil: none is found.
	function []bool
	said     []string // warnings about them
}

// readDocuments encodes the documents behind an input, in one read, and counts them. Documents that
// are elsewhere are counted there.
func readDocuments(ctx context.Context, in Input, workers int) (*documents, error) {
	info := in.Info()
	if src, ok := sums.Of(info.Source); ok {
		d := &documents{src: src, info: src.Info()}
		if d.info.Source = src; len(d.info.DocFrequencies) == 0 {
			return nil, emptyVocabulary(in)
		}
		return d, d.count(ctx)
	}
	src, err := input.Encoded(ctx, in)
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
	d.info.Form, d.info.Text, d.info.DroppedWords = info.Form, info.Text, info.DroppedWords
	if d.info.DroppedDocuments == nil { // the source does not say
		d.info.DroppedDocuments = info.DroppedDocuments
	}
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

// count fills in what the documents do not say.
func (d *documents) count(ctx context.Context) error {
	desc, err := d.src.Describe(ctx)
	if err != nil {
		return err
	}
	if d.weights, _, err = bag.Relative(desc.Weights, d.info.Documents); err != nil {
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
	_, d.function = stopwords.Detect(d.info.Vocabulary, d.unigram)
	if !(vec.Sum(d.unigram) > 0) {
		return fmt.Errorf("%w (%d documents)", cooc.ErrNoDocuments, read)
	}
	return d.leaveEmpty(ctx, read-counts.Docs)
}

// leaveEmpty counts n documents without words as left out.
func (d *documents) leaveEmpty(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	empty, read := corpus.Dropped{Reason: "without words", Count: n}, 0
	if d.encoded != nil {
		empty.Count = 0
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

// start returns the co-occurrence matrix of the n best words, and their numbers, ascending: without
// function words, if there are least others. With visible it does not count the tokens that passes do
// not see at first.
func (d *documents) start(ctx context.Context, n, least int, visible bool) (cooc.Matrix, []int, error) {
	words, idf := d.best(n, least)
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
	info.Vocabulary, info.DocFrequencies = permuted(d.info.Vocabulary, words), permuted(d.info.DocFrequencies, words)
	told, err := cooc.WithInfo(c, info)
	if err != nil {
		return nil, nil, err
	}
	return told.(cooc.Matrix), words, nil
}

// best returns the numbers of the n best words, ascending, and ln(M/df) of every word. A word of
// all documents has no tf-idf and is never among them, and a function word is not if there are least
// others.
func (d *documents) best(n, least int) (words []int, idf []float64) {
	idf, score := make([]float64, len(d.unigram)), make([]float64, len(d.unigram))
	for w, df := range d.info.DocFrequencies {
		idf[w] = arith.Log(float64(d.info.Documents) / float64(df))
		score[w] = d.unigram[w] * arith.Log(float64(d.info.Documents/df))
		if df < d.info.Documents {
			words = append(words, w)
		}
	}
	if d.function != nil {
		content := slices.DeleteFunc(slices.Clone(words), func(w int) bool { return d.function[w] })
		if len(content) >= least {
			words = content
		}
	}
	slices.SortFunc(words, func(v, w int) int {
		return cmp.Or(cmp.Compare(score[w], score[v]), cmp.Compare(d.unigram[w]*idf[w], d.unigram[v]*idf[v]), cmp.Compare(v, w))
	})
	words = words[:min(n, len(words))]
	slices.Sort(words)
	return words, idf
}
