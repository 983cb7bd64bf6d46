package jsmf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// styled draws documents of some words. Half of these are about one of ten subjects, half are English
// function words, of which each subject has ten of its own, as stories have "she" and manuals "if".
func styled(t *testing.T, docs, words int) *corpus.Corpus {
	t.Helper()
	rng, list := rand.New(rand.NewPCG(5, 6)), stopwords.English()
	var b corpus.Builder
	for d := range docs {
		var said []string
		for range words {
			switch rng.IntN(4) {
			case 0, 1:
				said = append(said, fmt.Sprintf("subject%dword%d", d%10, rng.IntN(40)))
			case 2:
				said = append(said, list[10*(d%10)+rng.IntN(10)])
			default:
				said = append(said, list[100+rng.IntN(100)])
			}
		}
		if err := b.AddText(fmt.Sprint(d), "", strings.Join(said, " ")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Function words stay in the topics. The start does without them, and no topic is read or named by one:
// in long documents and in short ones, of few topics and of many that are split, by Passes and by Batch.
func TestFunctionWords(t *testing.T) {
	testutil.NotWithRace(t)
	list := stopwords.English()
	for name, x := range map[string]struct {
		p           Pipeline
		docs, words int
	}{
		"long":  {New(10), 600, 60},
		"short": {New(10), 4000, 6},
		"split": {New(90), 2000, 60},
		"batch": {New(10).Refine(refine.Batch{}), 600, 60},
	} {
		t.Run(name, func(t *testing.T) {
			c := styled(t, x.docs, x.words)
			d, err := readDocuments(t.Context(), c, 1)
			if err != nil {
				t.Fatal(err)
			}
			start, _ := d.best(1000, 20)
			if slices.ContainsFunc(start, func(w int) bool { return slices.Contains(list, d.info.Vocabulary[w]) }) {
				t.Error("the start has function words")
			}
			if all, _ := d.best(1000, len(d.unigram)); len(all) <= len(start) {
				t.Errorf("%d words, with function words where there are too few others %d", len(start), len(all))
			}
			m, err := x.p.Fit(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			held := 0.0
			for k := range m.K() {
				for _, w := range m.TopWords(k, 8) {
					if slices.Contains(list, w.Word) {
						t.Errorf("topic %d is read by %q", k, w.Word)
					}
				}
				for _, w := range list {
					if i, ok := m.Index(w); ok {
						held += m.Topics().At(i, k) / float64(m.K())
					}
					if slices.Contains(strings.Split(m.Name(k), nameSeparator), w) {
						t.Errorf("topic %d is named %q", k, m.Name(k))
					}
				}
			}
			if held < 0.3 {
				t.Errorf("function words are %.2f of the topics' words, want about half", held)
			}
		})
	}
}
