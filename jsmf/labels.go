package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/vec"
)

// SeedsOf returns the seeds of a topic for each label of documents, in the order of the labels, for [Pipeline.Seeds]:
// it has the name of the label and the n words (0: 5) of highest χ² of those that its documents have more often than
// other documents with labels. Documents are read into memory. labels returns those of a document: one, several, or none where they are not known; nil
// takes corpus.Document.Label, "" being none. Words of a single document are left out. Errors: fewer than two labels,
// no words of one, those of the source and of ctx.
func SeedsOf(ctx context.Context, docs corpus.Source, labels func(corpus.Document) []string, n int) (_ []Seed, err error) {
	defer while("seeds of labels", &err)
	c, err := corpus.Read(ctx, docs)
	if err != nil {
		return nil, err
	}
	given, names, err := labelled(ctx, c.Source(), labels)
	if err != nil {
		return nil, err
	}
	vocab, all, known := c.Vocabulary(), make([]float64, len(c.Vocabulary())), 0.
	with, of := mat.NewDense(len(names), len(vocab), nil), make([]float64, len(names)) // documents
	for d, list := range given {
		if len(list) == 0 {
			continue
		}
		known++
		words, _ := c.Doc(d)
		for _, w := range words {
			all[w]++
		}
		for _, l := range list {
			of[l]++
			for _, w := range words {
				with.Set(l, int(w), with.At(l, int(w))+1)
			}
		}
	}
	out := make([]Seed, len(names))
	for l, name := range names {
		score := make([]float64, len(vocab))
		for w, df := range all {
			if more := with.At(l, w) - df*of[l]/known; df > 1 && more > 0 {
				score[w] = more * more / (df * (1 - df/known)) // χ², but for what the label has alone
			}
		}
		for _, w := range vec.Top(len(vocab), cmp.Or(n, 5), func(w int) float64 { return score[w] }) {
			if score[w] > 0 {
				out[l].Words = append(out[l].Words, vocab[w])
			}
		}
		if out[l].Name = name; out[l].Words == nil {
			return nil, fmt.Errorf("documents with the label %.40q have no word more often than others do", name)
		}
	}
	return out, nil
}

// labelled returns the labels of documents, by number, and their names, in order.
func labelled(ctx context.Context, docs corpus.Source, labels func(corpus.Document) []string) (of [][]int, names []string, err error) {
	if labels == nil {
		labels = func(d corpus.Document) []string {
			if d.Label == "" {
				return nil
			}
			return []string{d.Label}
		}
	}
	var given [][]string
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			return nil, nil, err
		}
		given = append(given, slices.Compact(slices.Sorted(slices.Values(labels(d)))))
	}
	names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(given...))))
	if len(names) < 2 {
		return nil, nil, fmt.Errorf("%d labels %.40q; want two or more", len(names), names)
	}
	of = make([][]int, len(given))
	for d, list := range given {
		for _, name := range list {
			l, _ := slices.BinarySearch(names, name)
			of[d] = append(of[d], l)
		}
	}
	return of, names, nil
}

// Labels tells the labels of documents from their topics and words, as learned from documents that have some. It is
// immutable.
type Labels struct {
	// Names are the L labels, in order.
	Names []string
	// Given is L×K: p(label | topic), the part of the topic's tokens that are in documents with the label, of those in
	// documents with labels that topics explain. A column of documents with one label each sums to 1, or is 0.
	Given *mat.Dense

	model  *Model
	weight *mat.Dense // L×(K+N+1)
}

// Labels learns the labels of documents: labels returns those of one, as for [SeedsOf]. For each label it is a linear
// classifier by the squared hinge loss (Hsieh and others, A dual coordinate descent method for large-scale linear SVM,
// 2008) of the square roots of a document's topic proportions and of its words by tf-idf. Of more documents, or other
// labels, it is learned anew in seconds; the model stays. O(L·(nnz + M·K)) a step, 30 steps, and Transform. Errors: fewer
// than two labels, and those of Transform.
func (m *Model) Labels(ctx context.Context, docs corpus.Source, labels func(corpus.Document) []string) (_ *Labels, err error) {
	x, err := m.features(ctx, docs)
	if err != nil {
		return nil, err
	}
	defer while("labels", &err)
	of, names, err := labelled(ctx, docs, labels)
	if err != nil {
		return nil, err
	}
	if len(of) != len(x.IDs) {
		return nil, fmt.Errorf("%w: %d documents instead of %d", corpus.ErrSourceChanged, len(of), len(x.IDs))
	}
	out := &Labels{Names: names, Given: mat.NewDense(len(names), m.k, nil), model: m, weight: mat.NewDense(len(names), m.k+m.n+1, nil)}
	all := make([]float64, m.k)
	var known []int
	for d, list := range of {
		if len(list) == 0 {
			continue
		}
		known = append(known, d)
		if !x.Explained(d) {
			continue
		}
		row := x.W.RawRowView(d)
		vec.AddScaled(all, x.Docs[d].Tokens, row)
		for _, l := range list {
			vec.AddScaled(out.Given.RawRowView(l), x.Docs[d].Tokens, row)
		}
	}
	for l, name := range names {
		row := out.Given.RawRowView(l)
		for k, n := range all {
			if n > 0 {
				row[k] /= n
			}
		}
		if err := x.learn(ctx, out.weight.RawRowView(l), known, func(d int) bool { return slices.Contains(of[d], l) }); err != nil {
			return nil, fmt.Errorf("%.40q: %w", name, err)
		}
	}
	return out, nil
}

// Scores returns for each document, in order, how much speaks for each label, M×L: above 0 where the document seems to
// have it. Where a document has one label it is that of the largest score. Errors are those of Transform.
func (l *Labels) Scores(ctx context.Context, docs corpus.Source) (*mat.Dense, error) {
	x, err := l.model.features(ctx, docs)
	if err != nil {
		return nil, err
	}
	out := new(mat.Dense)
	if len(x.IDs) > 0 {
		out = mat.NewDense(len(x.IDs), len(l.Names), nil)
	}
	for d := range x.IDs {
		for i := range l.Names {
			out.Set(d, i, x.dot(l.weight.RawRowView(i), d))
		}
	}
	return out, nil
}

// features are what labels are told by: of each document the square roots of its topic proportions, its words by
// tf-idf, scaled to the length 1, and 1.
type features struct {
	*Compositions
	words heldDocs
	value []float64 // of words
}

func (m *Model) features(ctx context.Context, docs corpus.Source) (*features, error) {
	c, err := m.Transform(ctx, docs)
	if err != nil {
		return nil, err
	}
	desc, err := docs.Describe(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	words, err := m.words(desc.Vocabulary)
	if err != nil {
		return nil, wrap(err)
	}
	x := &features{Compositions: c, words: heldDocs{n: m.n}}
	for d, err := range docs.Docs(ctx) {
		if err == nil {
			_, err = x.words.add(words, d, x.words.NumDocs()+1)
		}
		if err != nil {
			return nil, wrap(err)
		}
	}
	if x.words.NumDocs() != len(c.IDs) {
		return nil, errorf("%w: %d documents instead of %d", corpus.ErrSourceChanged, x.words.NumDocs(), len(c.IDs))
	}
	x.value = make([]float64, len(x.words.ids))
	for d, at := range x.words.ptr {
		ids, counts := x.words.Doc(d)
		value := x.value[at-len(ids) : at]
		for i, w := range ids {
			if p := m.marginals[w]; p > 0 && p < 1 {
				value[i] = -(1 + arith.Log(float64(counts[i]))) * arith.Log(p)
			}
		}
		if norm := floats.Norm(value, 2); norm > 0 {
			floats.Scale(1/norm, value)
		}
	}
	return x, nil
}

// each calls f with the features of a document that are not 0, and their places.
func (x *features) each(d int, f func(place int, value float64)) {
	_, k := x.W.Dims()
	if x.Explained(d) {
		for t, v := range x.W.RawRowView(d) {
			f(t, math.Sqrt(v))
		}
	}
	ids, _ := x.words.Doc(d)
	for i, w := range ids {
		f(k+int(w), x.value[x.words.ptr[d]-len(ids)+i])
	}
	f(k+x.words.n, 1)
}

func (x *features) dot(weight []float64, d int) (sum float64) {
	x.each(d, func(at int, v float64) { sum += float64(weight[at] * v) })
	return sum
}

// learn sets weight to what tells the documents that have a label among some.
func (x *features) learn(ctx context.Context, weight []float64, docs []int, has func(d int) bool) error {
	const steps, cost = 30, 1.
	alpha, squares := make([]float64, len(docs)), make([]float64, len(docs))
	for i, d := range docs {
		x.each(d, func(_ int, v float64) { squares[i] += float64(v * v) })
	}
	for range steps {
		for i, d := range docs {
			y := -1.
			if has(d) {
				y = 1
			}
			slope := float64(y*x.dot(weight, d)) - 1 + float64(alpha[i]/(2*cost))
			next := max(0, alpha[i]-slope/(squares[i]+1/(2*cost)))
			step := y * (next - alpha[i])
			if alpha[i] = next; step != 0 {
				x.each(d, func(at int, v float64) { weight[at] += float64(step * v) })
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
