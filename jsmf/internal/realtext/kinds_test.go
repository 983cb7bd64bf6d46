package realtext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// kinds says how a corpus is drawn. Each document has one to three of the subjects, of 120 words each.
type kinds struct {
	subjects, docs, tokens int
	common                 float64 // share of the tokens that are from 40 words of all documents, more in some and less in others
	few                    int     // topics of 5 to 10 documents alone
	blocks                 int     // texts of 12 words that are at the end of every twelfth document
	small                  int     // subjects of a hundredth of the documents each, fewer topics are fitted
}

func (x kinds) draw(t *testing.T, seed uint64) *corpus.Corpus {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x1d5))
	zipf := func(n int) int { return int(math.Exp(rng.Float64()*math.Log(float64(n+1)))) - 1 }
	few := make(map[int]int) // the subject of a document by itself
	for s := range x.few {
		for range 5 + rng.IntN(6) {
			few[rng.IntN(x.docs)] = s
		}
	}
	var b corpus.Builder
	for d := range x.docs {
		mine := []int{rng.IntN(x.subjects), rng.IntN(x.subjects), rng.IntN(x.subjects)}[:1+rng.IntN(3)]
		small := rng.IntN(100)
		style := x.common * (0.5 + rng.Float64())
		var words []string
		for range x.tokens/2 + rng.IntN(x.tokens) {
			u := rng.Float64()
			own, isFew := few[d]
			switch {
			case u < style:
				words = append(words, fmt.Sprintf("commonw%d", zipf(40)))
			case isFew:
				words = append(words, fmt.Sprintf("rare%dw%d", own, zipf(120)))
			case small < x.small:
				words = append(words, fmt.Sprintf("small%dw%d", small, zipf(120)))
			default:
				words = append(words, fmt.Sprintf("subject%dw%d", mine[rng.IntN(len(mine))], zipf(120)))
			}
		}
		for s := range x.blocks {
			if rng.IntN(12) == 0 {
				for w := range 12 {
					words = append(words, fmt.Sprintf("block%dw%d", s, w))
				}
			}
		}
		if err := b.AddText(fmt.Sprint(d), "", strings.Join(words, " ")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kindOf is what three quarters or more of the words of a topic are, as "subject3"; "rare" where they are of several topics of
// few documents, which the topic rests on together; "" where there is no such.
func kindOf(words []jsmf.WordProb) string {
	count, most := make(map[string]int), ""
	for _, w := range words {
		kind, _, _ := strings.Cut(w.Word, "w")
		if count[kind]++; count[kind] > count[most] {
			most = kind
		}
	}
	if 4*count[most] < 3*len(words) {
		rare := slices.DeleteFunc(slices.Clone(words), func(w jsmf.WordProb) bool { return !strings.HasPrefix(w.Word, "rare") })
		if 4*len(rare) >= 3*len(words) {
			return "rare"
		}
		return ""
	}
	return most
}

// Topics of all kinds are called what they were planted as.
func TestKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short")
	}
	testutil.NotWithRace(t)
	want := map[string]metrics.Quality{"subject": metrics.Sound, "common": metrics.Background, "rare": metrics.FewDocuments, "block": metrics.Boilerplate, "small": metrics.Sound}
	right, planted, called := make(map[metrics.Quality]int), make(map[metrics.Quality]int), make(map[metrics.Quality]int)
	for i, x := range []struct {
		kinds
		k int
	}{
		{kinds{subjects: 14, docs: 2000, tokens: 80, common: 0.35, few: 2, blocks: 2}, 20},
		{kinds{subjects: 20, docs: 3000, tokens: 150, common: 0.25, few: 3, blocks: 1, small: 30}, 26},
		{kinds{subjects: 30, docs: 4000, tokens: 50, common: 0.4, few: 2, blocks: 3}, 36},
		{kinds{subjects: 10, docs: 1500, tokens: 300, common: 0, few: 2, blocks: 2}, 15},
		{kinds{subjects: 12, docs: 2500, tokens: 40, common: 0, few: 2, blocks: 2, small: 25}, 18},
		{kinds{subjects: 12, docs: 800, tokens: 25, common: 0.3, blocks: 1}, 14},
		{kinds{subjects: 30, docs: 4000, tokens: 12, common: 0.3}, 20}, // topics of one subject, and of two
	} {
		c := x.draw(t, uint64(200+i))
		p := jsmf.New(x.k)
		m := fit(t, p, c)
		verdicts, err := p.Verdicts(t.Context(), m, c)
		if err != nil {
			t.Fatal(err)
		}
		larger := make(map[string]int)
		shares := m.TopicShares()
		for k := range verdicts {
			kind := kindOf(m.TopWords(k, 10))
			if at, there := larger[kind]; !there || shares[k] > shares[at] {
				larger[kind] = k
			}
		}
		for k, v := range verdicts {
			kind := kindOf(m.TopWords(k, 10))
			is := want[strings.TrimRight(kind, "0123456789")]
			if kind == "" {
				is = metrics.Weak
			} else if larger[kind] != k && kind != "common" {
				is = metrics.Twin
			}
			planted[is]++
			called[v.Quality]++
			if v.Quality == is {
				right[is]++
			} else {
				var words []string
				for _, w := range m.TopWords(k, 10) {
					words = append(words, w.Word)
				}
				t.Logf("%d: topic %d, %s, is %v, called %v: joined %d together %.2f repeated %.2f docs %.0f excl %.2f share %.4f cos %.2f %v", i, k, kind, is, v.Quality, v.Joined, v.Together, v.Repeated, v.Documents, v.Exclusivity, v.Share, v.Cosine, words)
			}
		}
	}
	for _, q := range slices.Sorted(func(yield func(metrics.Quality) bool) {
		for q := range planted {
			if !yield(q) {
				return
			}
		}
	}) {
		t.Logf("%v: %d planted, %d called so, %d right", q, planted[q], called[q], right[q])
		if right[q]*10 < 9*planted[q] || right[q]*10 < 9*called[q] {
			t.Errorf("%v: %d planted, %d called so, %d right", q, planted[q], called[q], right[q])
		}
	}
}

// Topics of documents whose words were dealt out anew are weak.
func TestNoiseIsWeak(t *testing.T) {
	testutil.NotWithRace(t)
	for name, c := range map[string]*corpus.Corpus{
		"100 documents":               kinds{subjects: 6, docs: 100, tokens: 60, common: 0.3}.draw(t, 1),
		"8,000 documents of 12 words": kinds{subjects: 20, docs: 8000, tokens: 12, common: 0.3}.draw(t, 2),
		"2,000 documents of 80 words": kinds{subjects: 14, docs: 2000, tokens: 80, common: 0.3}.draw(t, 3),
	} {
		var words []int32
		for m := range c.NumDocs() {
			ids, counts := c.Doc(m)
			for i, w := range ids {
				words = append(words, slices.Repeat([]int32{w}, int(counts[i]))...)
			}
		}
		rng := rand.New(rand.NewPCG(1, 1))
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		var b corpus.Builder
		for m := range c.NumDocs() {
			n := make(map[string]int)
			for _, w := range words[:c.DocLen(m)] {
				n[c.Word(int(w))]++
			}
			words = words[c.DocLen(m):]
			if err := b.AddCounts("", "", n); err != nil {
				t.Fatal(err)
			}
		}
		c, err := b.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		p := jsmf.New(10)
		verdicts, err := p.Verdicts(t.Context(), fit(t, p, c), c)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range verdicts {
			if v.Quality == metrics.Sound {
				t.Errorf("%s: topic %d of words at random is sound: %+v", name, k, v)
			}
		}
	}
}

// withPlanted adds to real documents 12 words that come together in every twentieth, and words of their own to eight. Documents keep
// tokens words at most, without stop words; 0: all.
func withPlanted(t *testing.T, real *corpus.Corpus, tokens int) *corpus.Corpus {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	stop := make(map[string]bool)
	for w := range strings.FieldsSeq(functionWords) {
		stop[w] = true
	}
	var b corpus.Builder
	for d := range real.NumDocs() {
		var words []string
		ids, counts := real.Doc(d)
		for i, w := range ids {
			if word := real.Word(int(w)); !stop[word] {
				words = append(words, slices.Repeat([]string{word}, int(counts[i]))...)
			}
		}
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		if tokens > 0 {
			words = words[:min(len(words), tokens)]
		}
		if d%100 == 7 && d < 800 {
			for i := range words {
				words[i] = fmt.Sprintf("rare0w%d", int(math.Exp(rng.Float64()*math.Log(60))))
			}
		}
		if rng.IntN(20) == 0 {
			for w := range 12 {
				words = append(words, fmt.Sprintf("block0w%d", w))
			}
		}
		n := make(map[string]int)
		for _, w := range words {
			n[w]++
		}
		if err := b.AddCounts("", "", n); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 3, Words: 6000}); err != nil {
		t.Fatal(err)
	}
	return c
}

// In papers and in reviews of 13 words, what was planted is found, and no other topic is called so.
func TestKindsInRealText(t *testing.T) {
	testutil.NotWithRace(t)
	for _, x := range []struct {
		name         string
		docs, tokens int
	}{{"nips17", 0, 0}, {"imdb-large", 10000, 13}} {
		c := withPlanted(t, realCorpus(t, x.name, x.docs), x.tokens)
		p := jsmf.New(100)
		m := fit(t, p, c)
		verdicts, err := p.Verdicts(t.Context(), m, c)
		if err != nil {
			t.Fatal(err)
		}
		called := make(map[metrics.Quality]int)
		for k, v := range verdicts {
			called[v.Quality]++
			kind := kindOf(m.TopWords(k, 10))
			is := map[string]metrics.Quality{"rare0": metrics.FewDocuments, "block0": metrics.Boilerplate}[kind]
			if planted := v.Quality == metrics.FewDocuments || v.Quality == metrics.Boilerplate; planted != (is != 0) || planted && is != v.Quality {
				t.Errorf("%s, %d topics: %v is called %v: %+v", x.name, m.K(), m.TopWords(k, 10), v, v)
			}
		}
		t.Logf("%s, %d topics: %v", x.name, m.K(), called)
	}
}
