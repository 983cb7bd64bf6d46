package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
)

// documents are what a fit under New begins with: all documents with a word, over all
// words that occur in them.
type documents struct {
	src     corpus.Source // by numbers of these words
	info    corpus.Info   // of them
	unigram []float64     // p(word): the mean over documents of its share in each
	hidden  int64         // tokens that passes would not see at first
}

// maxNames is the largest number of documents left out whose names are kept.
const maxNames = 1000

// readDocuments counts the documents behind an input, in one read.
func readDocuments(ctx context.Context, in Input) (*documents, error) {
	info := in.Info()
	if info.Source == nil {
		return nil, noDocuments(in)
	}
	vocab := info.Vocabulary
	if num, ok := info.Source.(corpus.Numbered); ok && vocab == nil {
		var err error
		if vocab, err = num.Vocabulary(ctx); err != nil {
			return nil, err
		}
	}
	if len(vocab) == 0 {
		return nil, fmt.Errorf("the documents behind a %T: %w", in, corpus.ErrEmptyVocabulary)
	}
	d := &documents{src: info.Source, unigram: make([]float64, len(vocab))}
	d.info = corpus.Info{Form: info.Form, Vocabulary: vocab, DocFrequencies: make([]int, len(vocab)), Corpus: info.Corpus, DroppedDocuments: info.DroppedDocuments, DroppedWords: info.DroppedWords}
	if err := d.count(ctx); err != nil {
		return nil, err
	}
	if err := d.dropUnused(); err != nil {
		return nil, err
	}
	d.info.Source = d.src
	return d, nil
}

// count reads the documents and fills in what there is to count.
func (d *documents) count(ctx context.Context) error {
	var weights []float64
	if w, ok := d.src.(bag.Weighted); ok {
		weights = w.Weights()
	}
	words := bag.Words{Size: len(d.unigram), Names: d.info.Vocabulary}
	var b bag.Counter
	var empty []string
	read, total := 0, 0.0
	for doc, err := range d.src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if read++; weights != nil && read > len(weights) {
			return fmt.Errorf("%w: more than the %d that have weights", corpus.ErrSourceChanged, len(weights))
		}
		if err = b.Read(&words, bag.Document(doc), read); err == nil {
			err = b.Sorted()
		}
		if err != nil {
			return err
		}
		tokens := b.Tokens()
		if tokens == 0 {
			empty = append(empty, cmp.Or(doc.ID, strconv.Itoa(read)))
			continue
		}
		if holdout.Watches(bag.Key(doc.ID, read)) {
			d.hidden += holdout.Hidden(tokens)
		}
		d.info.Documents++
		d.info.Tokens += tokens
		d.info.Nonzeros += int64(len(b.Words))
		weight := 1.0
		if weights != nil {
			weight = weights[read-1]
		}
		total += weight
		for i, w := range b.Words {
			d.info.DocFrequencies[w]++
			d.unigram[w] += weight * float64(b.Counts[i]) / float64(tokens)
		}
	}
	if !(total > 0) {
		return fmt.Errorf("%w (%d documents)", cooc.ErrNoDocuments, read)
	}
	for w := range d.unigram {
		d.unigram[w] /= total
	}
	if len(empty) > 0 {
		gone := corpus.Dropped{Reason: "without words", Count: len(empty), Names: empty}
		if len(empty) > maxNames {
			gone.Names = nil
		}
		d.info.DroppedDocuments = append(slices.Clone(d.info.DroppedDocuments), gone)
	}
	return nil
}

// dropUnused leaves out the words that occur in no document.
func (d *documents) dropUnused() error {
	df := d.info.DocFrequencies
	if !slices.Contains(df, 0) {
		return nil
	}
	to := make([]int32, len(df))
	var words []int
	var vocab, gone []string
	for w, m := range df {
		if m == 0 {
			to[w] = bag.Unknown
			gone = append(gone, d.info.Vocabulary[w])
			continue
		}
		n := len(words)
		to[w] = int32(n)
		words, vocab = append(words, w), append(vocab, d.info.Vocabulary[w])
		df[n], d.unigram[n] = m, d.unigram[w]
	}
	if c := d.info.Corpus; c != nil { // a copy is faster to read again and again
		c, err := c.Select(nil, words)
		if err != nil {
			return err
		}
		d.info.Corpus, d.src = c, c.Source()
	} else {
		d.src = &renumbered{src: d.src, to: to, vocab: vocab}
	}
	n := len(words)
	d.unigram, d.info.DocFrequencies, d.info.Vocabulary = d.unigram[:n], df[:n], vocab
	d.info.DroppedWords = append(slices.Clone(d.info.DroppedWords), corpus.Dropped{Reason: "in no document", Count: len(gone), Names: gone})
	return nil
}

// start returns the co-occurrence matrix of the n best words, and their numbers, ascending.
// With visible it does not count the tokens that passes do not see at first.
func (d *documents) start(ctx context.Context, n int, visible bool, workers int) (cooc.Matrix, []int, error) {
	words, idf := d.best(n)
	if len(words) == 0 {
		return nil, nil, fmt.Errorf("%w: every word is in every one of the %d documents, so that tf-idf leaves no weight", cooc.ErrNoDocuments, d.info.Documents)
	}
	src := d.src
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
	named, err := cooc.WithInfo(c, info)
	if err != nil {
		return nil, nil, err
	}
	return named.(cooc.Matrix), words, nil
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

// renumbered is a source without some of its words.
type renumbered struct {
	src   corpus.Source
	to    []int32 // the new number of each word
	vocab []string
}

func (r *renumbered) Vocabulary(context.Context) ([]string, error) { return slices.Clone(r.vocab), nil }

// Weights are those of the source, if it has any.
func (r *renumbered) Weights() []float64 {
	if w, ok := r.src.(bag.Weighted); ok {
		return w.Weights()
	}
	return nil
}

// Docs yields the documents of the source, which hold no other words than when they were
// counted.
func (r *renumbered) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		var words []int32
		number := 0
		for d, err := range r.src.Docs(ctx) {
			number++
			words = words[:0]
			for i, w := range d.Words {
				if i < len(d.Counts) && d.Counts[i] == 0 {
					words = append(words, 0) // does not occur, whatever it is
					continue
				}
				if uint(w) >= uint(len(r.to)) || r.to[w] < 0 {
					yield(corpus.Document{}, fmt.Errorf("document %s: %w", cmp.Or(d.ID, strconv.Itoa(number)), corpus.ErrSourceChanged))
					return
				}
				words = append(words, r.to[w])
			}
			d.Words = words
			if !yield(d, err) {
				return
			}
		}
	}
}
