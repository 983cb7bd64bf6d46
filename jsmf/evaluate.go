package jsmf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/metrics"
)

// Evaluate measures a model by package metrics against the unrectified co-occurrence
// matrix of in, normally what it was fitted to. A model without anchors has no Recovery
// and no Basis measures.
//
// Documents are counted as by Published; if p counts the best words only, as New does,
// documents of two to four tokens count, too, and those of a *cooc.Stream are the ones that
// it uses. They must hold the words of the model, by name (by number, if the model has no
// vocabulary and the documents have as many words); their other words are left out.
// Documents that are not in memory, such as those of a *corpus.Encoded or a *cooc.Stream,
// are read into memory (corpus.Read), in some 64 bytes for each pair of a document and a
// word with the counts; a *MemoryLimitError says that this is more than MemoryLimit. Those
// on other machines are an error.
//
// A co-occurrence matrix must have rows (cooc.Matrix) or documents (Info().Source). One
// with rows must have the words of the model in their order. Coherence needs documents
// (Info().Corpus).
func (p Pipeline) Evaluate(ctx context.Context, m *Model, in Input) (*metrics.Report, error) {
	if m == nil || missing(in) {
		return nil, errors.New("jsmf: evaluate: no model, or nothing to measure it against")
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c, err := p.measured(ctx, m, in)
	if err != nil {
		return nil, errorf("evaluate: %w", err)
	}
	r, err := p.evaluate(ctx, m, c, nil)
	if err != nil {
		return nil, errorf("evaluate: %w", err)
	}
	return r, nil
}

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
	var o cooc.Options
	if _, used := in.(cooc.Operator); used || !p.allWords {
		o.MinTokens = 2
	}
	return p.moments(ctx, docs, o)
}

// inMemory returns the documents of an input, which it reads if they are not in memory.
func (p Pipeline) inMemory(ctx context.Context, in Input) (*corpus.Corpus, error) {
	info := in.Info()
	if info.Corpus != nil {
		return info.Corpus, nil
	}
	if info.Source == nil {
		if _, ok := in.(cooc.Operator); ok {
			return nil, fmt.Errorf("measures need rows of the matrix or documents, and a %T has neither", in)
		}
		return nil, noDocuments(in)
	}
	if _, ok := elsewhere(info.Source); ok {
		return nil, fmt.Errorf("the documents of a %T are on other machines; measure against some of them in memory", in)
	}
	if err := p.affordableDocs(info); err != nil {
		return nil, err
	}
	docs, err := corpus.Read(ctx, named(info.Source, info.Vocabulary))
	if err != nil {
		return nil, err
	}
	if weights := bag.Weights(info.Source); weights != nil {
		return docs.WithWeights(weights)
	}
	return docs, nil
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

// evaluate measures m against c; pairs are those of its top words, nil if they are not
// counted yet.
func (p Pipeline) evaluate(ctx context.Context, m *Model, c cooc.Matrix, pairs *cooc.Pairs) (*metrics.Report, error) {
	b := m.denseTopics()
	in := metrics.Factors{C: c, Breve: mat.NewDense(m.n, m.k, m.wordTopics), B: b, A: m.Correlations(), Anchors: m.Anchors(), Workers: p.workers,
		Reading: m.readingWeights(), Background: m.Background()}
	if docs := c.Info().Corpus; pairs == nil && docs != nil {
		var err error
		if pairs, err = cooc.CountPairs(ctx, docs, m.measuredWords()); err != nil {
			return nil, err
		}
	}
	if pairs != nil {
		in.Pairs = pairs
	}
	return metrics.Evaluate(ctx, in)
}

// measuredWords returns the words, ascending, of which measures count pairs.
func (m *Model) measuredWords() []int {
	words := append(metrics.TopUnion(m.denseTopics(), 0), metrics.TopUnion(m.readingWeights(), verdictWords)...)
	slices.Sort(words)
	return slices.Compact(words)
}

// readingWeights returns the N×K weights by which TopWords ranks. They may share the memory
// of the model.
func (m *Model) readingWeights() *mat.Dense {
	if m.reading == nil {
		return m.denseTopics()
	}
	out := mat.NewDense(m.n, m.k, m.reading)
	for k := range m.k {
		if ranks := m.ranks(k); &ranks[0] != &m.reading[0] { // none of the topic
			out = mat.DenseCopyOf(out)
			for i := range m.n {
				out.Set(i, k, ranks[i*m.k+k])
			}
		}
	}
	return out
}
