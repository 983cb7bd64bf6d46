package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/jsmf"
)

// cosines returns the cosine of every column of a with every column of b over
// the rows that both have: row i of a is row at[i] of b. A column that has
// nothing in these rows has the cosine 0 with all.
func cosines(a, b *mat.Dense, at []int) *mat.Dense {
	_, ka := a.Dims()
	_, kb := b.Dims()
	dot := mat.NewDense(ka, kb, nil)
	na, nb := make([]float64, ka), make([]float64, kb)
	for i, j := range at {
		x, y := a.RawRowView(i), b.RawRowView(j)
		for k, v := range x {
			na[k] += v * v
			row := dot.RawRowView(k)
			for l, w := range y {
				row[l] += v * w
			}
		}
		for l, w := range y {
			nb[l] += w * w
		}
	}
	for k := range ka {
		row := dot.RawRowView(k)
		for l := range row {
			if n := math.Sqrt(na[k] * nb[l]); n > 0 {
				row[l] /= n
			}
		}
	}
	return dot
}

// places returns the cli.Number in m of each word of base. Both list their words
// by score, so that the word numbers of base come first in m, in the same
// order, but for words whose documents were all too short for the smaller
// vocabulary, and which base therefore lacks.
func places(base, m *jsmf.Model) ([]int, error) {
	at := make([]int, base.N())
	for i := range at {
		j, ok := m.Index(base.Word(i))
		if !ok || i > 0 && j <= at[i-1] {
			return nil, fmt.Errorf("the vocabularies are not nested: %q of the base is missing or out of order", base.Word(i))
		}
		at[i] = j
	}
	return at, nil
}

// compare lists the topics of m, in the order of the topics of base that they
// match. at are the places of base's words in m; base may be m itself.
func compare(base, m *jsmf.Model, at []int, top int) ([]topic, error) {
	words := func(m *jsmf.Model, k int) []string {
		var out []string
		for _, w := range m.TopWords(k, top) {
			out = append(out, w.Word)
		}
		return out
	}
	anchors := m.AnchorWords()
	topics := make([]topic, m.K())
	if base == m {
		for k := range topics {
			topics[k] = topic{Topic: k, Anchor: anchors[k], Words: words(m, k)}
		}
		return topics, nil
	}
	inBase := make([]bool, m.N())
	for _, j := range at {
		inBase[j] = true
	}
	b := mat.DenseCopyOf(m.Topics())
	cos := cosines(mat.DenseCopyOf(base.Topics()), b, at)
	col, err := assign.Best(cos)
	if err != nil {
		return nil, err
	}
	for k, l := range col {
		before, now := words(base, k), words(m, l)
		topics[k] = topic{l, anchors[l], now, &Change{
			BaseTopic: k, BaseAnchor: base.AnchorWords()[k], Cosine: cos.At(k, l),
			Gained: without(now, before), Lost: without(before, now), New: newWords(m, b, l, inBase, top),
		}}
	}
	return topics, nil
}

// without returns what of a is not in b, in its order.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// newWords returns the n most probable words of topic k that the base
// vocabulary lacks; fewer where the topic holds fewer.
func newWords(m *jsmf.Model, b *mat.Dense, k int, inBase []bool, n int) []string {
	var idx []int
	for i, old := range inBase {
		if !old && b.At(i, k) > 0 {
			idx = append(idx, i)
		}
	}
	slices.SortStableFunc(idx, func(i, j int) int { return cmp.Compare(b.At(j, k), b.At(i, k)) })
	out := []string{}
	for _, i := range idx[:min(n, len(idx))] {
		out = append(out, m.Word(i))
	}
	return out
}
