package corpus_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// Of words that are all as probable, a document that repeats tokens has as many different ones as its new
// tokens give. 0.4: five standard errors.
func TestGenerateRepeat(t *testing.T) {
	const n, length, docs, p = 1000, 50, 2000, 0.4
	topics := mat.NewDense(n, 1, slices.Repeat([]float64{1.0 / n}, n))
	g := corpus.Generator{Topics: topics, Prior: corpus.SymmetricDirichlet(1, 1), Lengths: []int{length}, Docs: docs, Repeat: p, Workers: 2}
	c, _ := generate(t, g)
	missed := (1 - 1.0/n) * math.Pow(1-(1-p)/n, length-1)
	if got, want := float64(c.NNZ())/docs, n*(1-missed); math.Abs(got-want) > 0.4 || c.Tokens() != length*docs {
		t.Errorf("%v different words and %d tokens, want %v and %d", got, c.Tokens(), want, length*docs)
	}
	for _, p := range []float64{-0.1, 1, math.NaN()} {
		g.Repeat = p
		if _, _, err := g.Generate(context.Background()); err == nil || !strings.Contains(err.Error(), "want a probability in [0, 1)") {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// Documents with given proportions have words of their topics alone, whatever the workers.
func TestGenerateGiven(t *testing.T) {
	given := mat.NewDense(300, 2, nil)
	for m := range 300 {
		given.Set(m, m%2, 1)
	}
	g := corpus.Generator{Topics: mat.NewDense(3, 2, []float64{1, 0, 0, 0.5, 0, 0.5}), Proportions: given, Lengths: []int{7}, Docs: 300, Workers: 3}
	c, w := generate(t, g)
	if !mat.Equal(w, given) {
		t.Error("other proportions than those given")
	}
	for m := range 300 {
		words, _ := c.Doc(m)
		for _, v := range words {
			if (v == 0) != (m%2 == 0) {
				t.Errorf("document %d of topic %d has word %d", m, m%2, v)
			}
		}
	}
	for want, bad := range map[string]mat.Matrix{
		"proportions are 300×3, want 300 documents × 2 topics": mat.NewDense(300, 3, nil),
		"document 0: topic proportions sum to 0, want 1":       mat.NewDense(300, 2, nil),
		"document 0: the proportion of topic 1 is -0.5":        mat.NewDense(300, 2, append([]float64{1.5, -0.5}, make([]float64, 598)...)),
	} {
		g.Proportions, g.Workers = bad, 1
		if _, _, err := g.Generate(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
