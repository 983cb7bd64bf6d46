package jsmf_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// Of documents that are drawn from topics, those of the fit or others, at most one in a hundred is said to be
// explained by none. Of words that are drawn evenly from the vocabulary nine in ten are found, and so is each document
// of hardly any known word.
func TestExplained(t *testing.T) {
	testutil.NotWithRace(t)
	const n, tokens = 300, 50
	p := testutil.NewPlanted(n, 10, 0.3, 7)
	rng := rand.New(rand.NewPCG(1, 2))
	even := make([]map[int]int, 500)
	for d := range even {
		even[d] = map[int]int{}
		for range tokens {
			even[d][rng.IntN(n)]++
		}
	}
	for _, docs := range []int{100, 3000} {
		fitted := countsCorpus(t, n, p.Documents(slices.Repeat([]int{tokens}, docs), 8))
		m := fit(t, jsmf.New(10).Refine(refine.Passes{N: 10}), fitted)
		unexplained := func(src corpus.Source) (part float64) {
			out, err := m.Transform(ctx, src)
			if err != nil {
				t.Fatal(err)
			}
			for d := range out.IDs {
				if !out.Explained(d) {
					part += 1 / float64(len(out.IDs))
				}
			}
			return part
		}
		if x := unexplained(fitted.Source()); x > 0.01 {
			t.Errorf("%d documents: %.3f of them are not explained", docs, x)
		}
		if x := unexplained(countsCorpus(t, n, p.Documents(slices.Repeat([]int{tokens}, 1000), 9)).Source()); x > 0.01 {
			t.Errorf("%d documents: %.3f of new ones are not explained", docs, x)
		}
		if x := unexplained(countsCorpus(t, n, even).Source()); x < 0.9 {
			t.Errorf("%d documents: %.3f of even words are not explained", docs, x)
		}
		few := "dort die Wörter gibt es hier alle noch nicht " + m.Word(0)
		if x := unexplained(m.Texts("no such word", few+" auch")); x != 1 {
			t.Errorf("%d documents: %.3f of those of unknown words are not explained", docs, x)
		}
	}
}
