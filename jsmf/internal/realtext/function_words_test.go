package realtext

import (
	"cmp"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
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
	c, _, err := corpus.Curate(realCorpus(t, "imdb-large", 1500), corpus.Curation{MinDocs: 20, Words: math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{20, 50, 100} {
		m, err := jsmf.New(k).Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		probable, left := countFunctionWords(m, functionWords)
		t.Logf("%d topics: %d of the probable words are function words, of the reading words %d: %v", m.K(), probable, len(left), left)
		if k == 20 && probable < 100 || len(left) > 0 {
			t.Errorf("%d topics: %d of the probable words and %d of the reading words are function words: %v", m.K(), probable, len(left), left)
		}
	}
}

// functionWordsOf are some of other languages, by the names of their folders.
var functionWordsOf = map[string]string{
	"de": `der die das den dem des ein eine einer eines einem einen und oder aber wenn als wie dass ist sind war wird werden wurde wurden kann können
muss soll nicht kein keine auch nur noch mit von für auf aus bei nach zu zum zur im in an am um durch über unter vor es er sie wir ihr ihre sein
seine diese dieser dieses diesem jede jeder jedes alle hat haben`,
	"fr": `le la les un une des du de et ou mais si comme que qui quoi dont est sont était sera être été ne pas plus aussi avec pour sur dans par
sans sous entre vers au aux ce cet cette ces il elle ils elles nous vous leur leurs son sa ses on se en y lui peut doit fait tout tous toute`,
	"es": `el la los las un una unos unas y o pero si como que es son era será ser ha no más también con para por sobre en de del al sin entre hasta
desde se su sus lo le les este esta estos estas ese esa cada todo todos puede cuando`,
	"ru": `и в во не на он она они с со как а то все но за по к у из от для до же бы или если при это этот эта эти его их так только уже чтобы что
который которая которые которое быть был будет может где когда над под без`,
}

// No reading word of manual pages in other languages is a function word of theirs. The pages have English in them, of
// which this is not asked, and marks of roff.
func TestFunctionWordsOfManuals(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("takes some seconds")
	}
	testutil.Data(t) // by JSMF_DATA, as what takes long
	marks := regexp.MustCompile(`(?m)^[.'].*$|\\f\(..|\\f\[.*?\]|\\f.|\\[&/,^|]`)
	for language, list := range functionWordsOf {
		paths, err := filepath.Glob(filepath.Join("/usr/share/man", language, "man*", "*.gz"))
		if err != nil || len(paths) < 50 {
			t.Logf("%s: %d manual pages on this machine, so they are left out", language, len(paths))
			continue
		}
		var b corpus.Builder
		for _, path := range paths {
			if err := b.AddText("", "", marks.ReplaceAllString(gunzipped(t, path), "")); err != nil {
				t.Fatal(err)
			}
		}
		c, err := b.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		if c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 3}); err != nil {
			t.Fatal(err)
		}
		m, err := jsmf.New(20).Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		probable, left := countFunctionWords(m, list)
		t.Logf("%s: %d of the probable words are function words, of the reading words %d: %v", language, probable, len(left), left)
		if len(left) > 0 {
			t.Errorf("%s: reading words that are function words: %v", language, left)
		}
	}
}

// Nor is one of 10,000 change notes of a line each.
func TestFunctionWordsOfChangeNotes(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("takes some seconds")
	}
	testutil.Data(t) // by JSMF_DATA, as what takes long
	paths, err := filepath.Glob("/usr/share/doc/*/changelog.Debian.gz")
	if err != nil {
		t.Fatal(err)
	}
	notes := make(map[string]bool)
	var b corpus.Builder
	for _, path := range paths {
		for _, x := range regexp.MustCompile(`(?m)^ +\* (.*)$`).FindAllStringSubmatch(gunzipped(t, path), -1) {
			if len(notes) < 10000 && !notes[x[1]] {
				notes[x[1]] = true
				if err := b.AddText("", "", x[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(notes) < 10000 {
		t.Skipf("skipped: %d change notes on this machine", len(notes))
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 3}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{20, 50} {
		m, err := jsmf.New(k).Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		probable, left := countFunctionWords(m, functionWords)
		t.Logf("%d topics: %d of the probable words are function words, of the reading words %d: %v", m.K(), probable, len(left), left)
		if len(left) > 0 {
			t.Errorf("%d topics: reading words that are function words: %v", m.K(), left)
		}
	}
}

func gunzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
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
func countFunctionWords(m *jsmf.Model, list string) (probable int, reading []string) {
	function := make(map[string]bool)
	for _, w := range strings.Fields(list) {
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
