package jsmf_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// functionWords are pronouns, articles, prepositions, conjunctions, auxiliaries and the like.
const functionWords = `i me my myself mine we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom whose this that these those am is are was were be been
being have has had having do does did doing done a an the and but if or because as until while of at by for with about against between
among into through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very can will just should now could
would may might must shall cannot ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't
shouldn't can't couldn't mustn't let's that's who's what's here's there's also although though however yet ever never every either
neither else upon whether without within rather quite since per via along across toward towards despite unless whereas thus hence
therefore`

// Film reviews without a stop list: most of the probable words are function words, and none of the
// reading words is. 179 of 200 probable words were measured with 20 topics.
func TestNoStopList(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("takes some seconds")
	}
	all, err := corpus.ReadUCI(ctx, testutil.Data(t, "imdb-large", "docword.imdb-large.txt.gz"), testutil.Data(t, "imdb-large", "vocab.imdb-large.txt"))
	if err != nil {
		t.Fatal(err)
	}
	some := make([]int, 5000)
	for i := range some {
		some[i] = 20 * i
	}
	c, err := all.Select(some, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 20, Words: math.MaxInt32}); err != nil {
		t.Fatal(err)
	}
	const k = 20
	m, err := jsmf.New(k).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	probable, left := countFunctionWords(t, m)
	t.Logf("%v\nfunction words: %d of the probable words, of the reading words %d: %v", m, probable, len(left), left)
	if 2*probable < 10*k || len(left) > 0 {
		t.Errorf("%d of the probable words and %d of the reading words are function words: %v", probable, len(left), left)
	}
}

// wordsBy returns the n words of m with the largest scores.
func wordsBy(m *jsmf.Model, n int, score func(i int) float64) []int {
	words := make([]int, m.N())
	for i := range words {
		words[i] = i
	}
	slices.SortStableFunc(words, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	return words[:n]
}

// countFunctionWords counts function words among the 10 most probable words of each topic, and lists
// those among its 8 first reading words.
func countFunctionWords(t *testing.T, m *jsmf.Model) (probable int, reading []string) {
	t.Helper()
	function := make(map[string]bool)
	for _, w := range strings.Fields(functionWords) {
		function[w] = true
	}
	for _, x := range m.Summary(10) {
		for _, w := range wordsBy(m, 10, func(i int) float64 { return m.Topics().At(i, x.Number) }) {
			if function[m.Word(w)] {
				probable++
			}
		}
		for _, w := range x.Words[:min(8, len(x.Words))] {
			if function[w.Word] {
				reading = append(reading, w.Word)
			}
		}
	}
	return probable, reading
}
