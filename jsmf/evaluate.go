package jsmf

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
)

// Evaluate measures a model by package metrics against the unrectified co-occurrence
// matrix of in, normally what it was fitted to. A model without anchors has no Recovery
// and no Basis measures.
//
// A corpus is counted as by Published; if p counts the best words only, as New does,
// documents of two to four tokens count, too. It must hold the words of the model, by name
// (by number, if the model has no vocabulary and the corpus has as many words); its other
// words are left out. Documents that are not in memory cannot be measured against. A
// co-occurrence matrix must have rows (cooc.Matrix) and the words of the model in their
// order. Coherence needs documents (Info().Corpus).
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
	if op, ok := in.(cooc.Operator); ok {
		c, ok := op.(cooc.Matrix)
		if !ok {
			return nil, fmt.Errorf("measures need rows of the matrix, which a %T does not have", op)
		}
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
	docs := in.Info().Corpus
	if docs != nil {
		var err error
		if docs, err = withWordsOf(m, docs); err != nil {
			return nil, err
		}
		in = docs
	}
	var o cooc.Options
	if !p.allWords {
		o.MinTokens = 2
	}
	return p.moments(ctx, in, o)
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
	in := metrics.Factors{C: c, Breve: mat.NewDense(m.n, m.k, m.wordTopics), B: b, A: m.Correlations(), Anchors: m.Anchors(), Workers: p.workers}
	if docs := c.Info().Corpus; pairs == nil && docs != nil {
		var err error
		if pairs, err = cooc.CountPairs(ctx, docs, metrics.TopUnion(b, 0)); err != nil {
			return nil, err
		}
	}
	if pairs != nil {
		in.Pairs = pairs
	}
	return metrics.Evaluate(ctx, in)
}
