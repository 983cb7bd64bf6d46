package jsmf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/metrics"
)

// Evaluate measures a model by package metrics against the unrectified co-occurrence matrix of in,
// normally what it was fitted to. A model without anchors has no Recovery and no Basis measures.
//
// Documents are counted as by Published; if p counts the best words only, as New does, documents of
// two to four tokens count, too. Those of a matrix without rows are the ones that it uses. They
// must hold the words of the model, by name (by number, if the model has no vocabulary and the
// documents have as many words); their other words are left out. Documents that are not in memory,
// such as those of a [*corpus.Encoded], are read into memory ([corpus.Read]), in some 64 bytes for
// each pair of a document and a word with the counts; a [*MemoryLimitError] says that this is more
// than MemoryLimit. Those on other machines are an error.
//
// A co-occurrence matrix must have rows ([cooc.Matrix]) or documents (Info().Source). One with rows
// must have the words of the model in their order. Coherence needs documents (Info().Corpus).
func (p Pipeline) Evaluate(ctx context.Context, m *Model, in Input) (_ *metrics.Report, err error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	defer while("evaluate", &err)
	if m == nil || missing(in) {
		return nil, errors.New("no model, or nothing to measure it against")
	}
	c, err := p.measured(ctx, m, in)
	if err != nil {
		return nil, err
	}
	f := m.factors(p.workers)
	f.C, f.Anchors = c, m.Anchors()
	if docs := c.Info().Corpus; docs != nil {
		words := slices.Concat(metrics.TopUnion(f.B, 0), metrics.TopUnion(f.Reading, verdictWords))
		slices.Sort(words)
		f.Tokens = docs.WordCounts()
		if f.Pairs, err = cooc.CountPairs(ctx, docs, slices.Compact(words)); err != nil {
			return nil, err
		}
	}
	return metrics.Evaluate(ctx, f)
}

// Verdicts judges each topic of a model by documents, normally those of the fit: see
// [metrics.Verdicts]. They are those of Evaluate's report, for a small part of its cost.
// [Model.With] makes them part of the model. Documents count and are read as by Evaluate. Errors:
// those of Evaluate, and input without documents.
func (p Pipeline) Verdicts(ctx context.Context, m *Model, in Input) (_ []metrics.Verdict, err error) {
	defer while("verdicts", &err)
	if m == nil || missing(in) {
		return nil, errors.New("no model, or no documents to judge it by")
	}
	c, err := p.measured(ctx, m, in)
	if err != nil {
		return nil, err
	}
	docs := c.Info().Corpus
	if docs == nil {
		return nil, fmt.Errorf("a %T holds no documents to count pairs of words in", in)
	}
	return p.verdicts(ctx, m, docs)
}

// verdicts judges each topic by documents with the words of the model.
func (p Pipeline) verdicts(ctx context.Context, m *Model, docs *corpus.Corpus) (_ []metrics.Verdict, err error) {
	f := m.factors(p.workers)
	f.Tokens = docs.WordCounts()
	if f.Pairs, err = cooc.CountPairs(ctx, docs, metrics.TopUnion(f.Reading, verdictWords)); err != nil {
		return nil, err
	}
	return metrics.Verdicts(ctx, f)
}

// verdictWords is how many words of a topic metrics.Verdicts looks at.
const verdictWords = 10

// measured returns the matrix that m is measured against.
func (p Pipeline) measured(ctx context.Context, m *Model, in Input) (cooc.Matrix, error) {
	if c, ok := in.(cooc.Matrix); ok {
		info := c.Info()
		if m.N() != c.Dim() {
			return nil, fmt.Errorf("a model of %d words against a matrix of %d", m.N(), c.Dim())
		}
		if info.Vocabulary != nil && m.vocab != nil {
			for i, w := range info.Vocabulary {
				if m.Word(i) != w {
					return nil, fmt.Errorf("word %d is %q in the model and %q in the matrix", i, m.Word(i), w)
				}
			}
		}
		return c, nil
	}
	docs, err := p.inMemory(ctx, in)
	if err != nil {
		return nil, err
	}
	if docs, err = withWordsOf(m, docs); err != nil {
		return nil, err
	}
	o := cooc.Options{Workers: p.workers}
	if _, used := in.(cooc.Operator); used || !p.allWords {
		o.MinTokens = 2
	}
	return cooc.NewMoments(ctx, docs, o)
}

// inMemory returns the documents of an input, which it reads if they are not in memory.
func (p Pipeline) inMemory(ctx context.Context, in Input) (*corpus.Corpus, error) {
	info := in.Info()
	if info.Corpus != nil {
		return info.Corpus, nil
	}
	if _, ok := in.(cooc.Operator); ok && info.Source == nil {
		return nil, fmt.Errorf("measures need rows of the matrix or documents, and a %T has neither", in)
	}
	src, err := input.Source(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := p.affordableDocs(info); err != nil {
		return nil, err
	}
	return corpus.Read(ctx, src)
}

// withWordsOf returns the corpus with the words of the model, in their order.
func withWordsOf(m *Model, c *corpus.Corpus) (*corpus.Corpus, error) {
	words := make([]int, m.N())
	same := m.N() == c.NumWords()
	for i := range words {
		w, ok := i, same && (m.vocab == nil || m.Word(i) == c.Word(i))
		if !ok {
			w, ok = c.Index(m.Word(i))
		}
		if !ok {
			return nil, fmt.Errorf("the corpus lacks the model's word %q", m.Word(i))
		}
		words[i], same = w, same && w == i
	}
	if same {
		return c, nil
	}
	return c.Select(nil, words)
}

// factors returns what measures need of the model. They share its memory.
func (m *Model) factors(workers int) metrics.Factors {
	return metrics.Factors{
		B: m.denseTopics(), WordTopics: m.denseWordTopics(), A: m.Correlations(),
		Reading: m.readingWeights(), Background: m.Background(), Workers: workers,
	}
}

// readingWeights returns the N×K weights by which TopWords ranks. They may share the memory of the
// model.
func (m *Model) readingWeights() *mat.Dense {
	if m.reading == nil {
		return m.denseTopics()
	}
	out, own := mat.NewDense(m.n, m.k, m.reading), true // it is the model's
	for k := range m.k {
		if ranks := m.ranks(k); &ranks[0] != &m.reading[0] { // none of the topic
			if own {
				out, own = mat.DenseCopyOf(out), false
			}
			for i := range m.n {
				out.Set(i, k, ranks[i*m.k+k])
			}
		}
	}
	return out
}
