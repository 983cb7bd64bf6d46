package corpus_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// slowCurate is the rule written down word by word on sets of strings.
func slowCurate(c *corpus.Corpus, o corpus.Curation) (vocab []string, docs [][]string) {
	for m := range c.NumDocs() {
		docs = append(docs, words(c, m))
	}
	keepOnly := func(ok func(w string) bool) {
		for m, d := range docs {
			var out []string
			for _, w := range d {
				if ok(w) {
					out = append(out, w)
				}
			}
			docs[m] = out
		}
	}
	keepOnly(func(w string) bool { return !slices.Contains(o.StopWords, w) })
	M := 0
	tf, df := map[string]int{}, map[string]int{}
	for _, d := range docs {
		if len(d) > 0 {
			M++
		}
		seen := map[string]bool{}
		for _, w := range d {
			tf[w]++
			seen[w] = true
		}
		for w := range seen {
			df[w]++
		}
	}
	score := func(w string) float64 {
		switch o.Score {
		case corpus.TFIDFHalf:
			return float64(tf[w]) * math.Log(math.Floor(float64(M)/float64(df[w])))
		case corpus.TFIDF:
			return float64(tf[w]) * math.Log(float64(M)/float64(df[w]))
		}
		return float64(tf[w])
	}
	var cand []string
	for _, w := range c.Vocabulary() {
		share := float64(df[w]) / float64(M)
		if df[w] == 0 || o.MinDocs > 0 && df[w] < o.MinDocs || o.MaxDocs > 0 && df[w] > o.MaxDocs ||
			o.MinDocShare > 0 && share < o.MinDocShare || o.MaxDocShare > 0 && share > o.MaxDocShare || int64(tf[w]) < o.MinCount {
			continue
		}
		if o.Words == 0 && score(w) <= 0 {
			continue
		}
		cand = append(cand, w)
	}
	sort.SliceStable(cand, func(i, j int) bool { return score(cand[i]) > score(cand[j]) })
	if o.Words > 0 && len(cand) > o.Words {
		cand = cand[:o.Words]
	}
	keepOnly(func(w string) bool { return slices.Contains(cand, w) })
	least := o.MinDistinct
	if least == 0 {
		least = 3
	}
	var kept [][]string
	left := map[string]bool{}
	for _, d := range docs {
		if len(slices.Compact(slices.Clone(d))) >= least && int64(len(d)) >= o.MinTokens { // d is sorted by word
			kept = append(kept, d)
			for _, w := range d {
				left[w] = true
			}
		}
	}
	for _, w := range cand {
		if left[w] {
			vocab = append(vocab, w)
		}
	}
	return vocab, kept
}

func TestCurateAgainstSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	empty := 0
	for trial := range 400 {
		c := random(rng, 1+rng.IntN(40), 1+rng.IntN(40), rng.Float64())
		if c.Tokens() == 0 {
			continue
		}
		o := corpus.Curation{Score: corpus.Score(rng.IntN(3)), MinDistinct: rng.IntN(5) - 1, MinTokens: int64(rng.IntN(8))}
		if rng.IntN(2) == 0 {
			o.Words = 1 + rng.IntN(30)
		}
		if rng.IntN(2) == 0 {
			o.StopWords = []string{"wad", "waf", "wag", "nowhere", "wag"}
		}
		if rng.IntN(3) == 0 {
			o.MinDocs, o.MaxDocs = 2, 2+rng.IntN(20)
		}
		if rng.IntN(3) == 0 {
			o.MinDocShare, o.MaxDocShare = 0.1, 0.1+float64(rng.IntN(9))/10
		}
		if rng.IntN(3) == 0 {
			o.MinCount = int64(rng.IntN(20))
		}
		vocab, docs := slowCurate(c, o)
		got, rep, err := corpus.Curate(c, o)
		if rep == nil {
			t.Fatalf("trial %d: no report: %v", trial, err)
		}
		if err != nil {
			if len(vocab) > 0 && len(docs) > 0 || !errors.Is(err, corpus.ErrEmptyVocabulary) && !errors.Is(err, corpus.ErrNoDocuments) {
				t.Fatalf("trial %d: %v, the slow way keeps %d words and %d documents", trial, err, len(vocab), len(docs))
			}
			empty++
			continue
		}
		valid(t, got)
		if !slices.Equal(got.Vocabulary(), vocab) {
			t.Fatalf("trial %d, %+v: vocabulary\n%q, want\n%q", trial, o, got.Vocabulary(), vocab)
		}
		if got.NumDocs() != len(docs) {
			t.Fatalf("trial %d: %d documents, want %d", trial, got.NumDocs(), len(docs))
		}
		for m, d := range docs {
			a := words(got, m)
			slices.Sort(a)
			slices.Sort(d)
			if !slices.Equal(a, d) {
				t.Fatalf("trial %d: document %s is %q, want %q", trial, got.ID(m), a, d)
			}
		}
		if rep.Before != size(c) || rep.After != size(got) {
			t.Fatalf("trial %d: the report says %v → %v, the corpora %v → %v", trial, rep.Before, rep.After, size(c), size(got))
		}
	}
	if empty > 150 {
		t.Errorf("%d of the trials left nothing; they test too little", empty)
	}
}

// The order of the documents changes neither the vocabulary nor its order, and
// a renumbered vocabulary gives the same words except for ties.
func TestCuratePermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	c := random(rng, 60, 40, 0.5)
	o := corpus.Curation{Words: 12}
	want, _, err := corpus.Curate(c, o)
	if err != nil {
		t.Fatal(err)
	}
	shuffled, err := c.Select(rng.Perm(60), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := corpus.Curate(shuffled, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Vocabulary(), want.Vocabulary()) {
		t.Errorf("%q, want %q", got.Vocabulary(), want.Vocabulary())
	}
	if size(got) != size(want) {
		t.Errorf("%v, want %v", size(got), size(want))
	}
}

// Hand-made cases of each rule.
func TestCurateRules(t *testing.T) {
	var b corpus.Builder
	for _, s := range []string{
		"the all all cat dog", "the all cat bird", "the all dog bird", "the rare rare rare rare", "the cat dog bird", "the", "",
	} {
		if err := b.AddTokens("", "", strings.Fields(s)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	// df: the 6, all, bird, cat and dog 3, rare 1. Without "the" 5 documents
	// hold a word, so all, bird, cat and dog, each in more than half, score 0.
	for _, x := range []struct {
		name string
		o    corpus.Curation
		want string
		docs int
	}{
		{"half of 6: 3 is not more than half", corpus.Curation{MinDistinct: 1}, "rare all bird cat dog", 5},
		{"half of 5: 3 is more than half", corpus.Curation{StopWords: []string{"the"}, MinDistinct: 1}, "rare", 1},
		{"words of score 0 fill up to N", corpus.Curation{StopWords: []string{"the"}, Words: 3, MinDistinct: 1}, "rare all bird", 5},
		{"plain idf", corpus.Curation{Score: corpus.TFIDF, StopWords: []string{"the"}, MinDistinct: -1}, "rare all bird cat dog", 7},
		{"plain idf with cut-offs", corpus.Curation{Score: corpus.TFIDF, MinDocShare: 0.5, MaxDocShare: 0.5, MinDistinct: -1}, "all bird cat dog", 7},
		{"count", corpus.Curation{Score: corpus.TF, MinDistinct: -1}, "the all rare bird cat dog", 7},
		{"minimum count", corpus.Curation{Score: corpus.TF, MinCount: 4, MinDistinct: -1}, "the all rare", 7},
		{"at least 2 documents", corpus.Curation{Score: corpus.TF, MinDocs: 2, MaxDocs: 3, MinDistinct: -1}, "all bird cat dog", 7},
		{"3 distinct by default", corpus.Curation{Score: corpus.TF}, "the all bird cat dog", 4},
		{"5 tokens", corpus.Curation{Score: corpus.TF, MinDistinct: 1, MinTokens: 5}, "the all rare cat dog", 2},
		{"documents only", corpus.Curation{KeepVocabulary: true}, "all bird cat dog rare the", 4},
	} {
		got, rep, err := corpus.Curate(c, x.o)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if v := strings.Join(got.Vocabulary(), " "); v != x.want || got.NumDocs() != x.docs {
			t.Errorf("%s: %q and %d documents, want %q and %d\n%s", x.name, v, got.NumDocs(), x.want, x.docs, rep)
		}
		if rep.After != size(got) {
			t.Errorf("%s: the report says %v, the corpus %v", x.name, rep.After, size(got))
		}
	}
	// 3 of 30 documents are not less than the share 0.1, nor more: the quotient
	// rounds as the literal does.
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = `{"text": ["common"]}`
		if i < 3 {
			lines[i] = `{"text": ["common", "some"]}`
		}
	}
	tenth := same(t, corpus.JSONL{In: str(strings.Join(lines, "\n"))})
	got, _, err := corpus.Curate(tenth, corpus.Curation{Score: corpus.TF, MinDocShare: 0.1, MaxDocShare: 0.1, MinDistinct: 1})
	if err != nil || got.Word(0) != "some" {
		t.Errorf("share at the border: %v", err)
	}
}

func TestCurateErrors(t *testing.T) {
	c := same(t, corpus.JSONL{In: str(`{"text": ["a", "b"]}` + "\n" + `{"text": ["a"]}`)})
	_, rep, err := corpus.Curate(c, corpus.Curation{Words: -1, MinDocs: 5, MaxDocs: 4, MinDocShare: math.NaN(), MaxDocShare: 1.5, MinCount: -1, MinTokens: -1, Score: 9, KeepVocabulary: true})
	if err == nil || rep != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"Words is -1", "MinDocs 5 exceeds MaxDocs 4", "MinDocShare NaN", "MaxDocShare 1.5", "MinCount is -1", "MinTokens is -1", "Score 9", "KeepVocabulary"} {
		if !strings.Contains(err.Error(), "corpus: curation: "+s) {
			t.Errorf("the error does not say %q:\n%v", s, err)
		}
	}
	_, rep, err = corpus.Curate(c, corpus.Curation{StopWords: []string{"a", "b"}})
	if !errors.Is(err, corpus.ErrEmptyVocabulary) || rep == nil || rep.After.Words != 0 || rep.After.Tokens != 0 {
		t.Errorf("%v\n%v", err, rep)
	}
	_, rep, err = corpus.Curate(c, corpus.Curation{Score: corpus.TF})
	if !errors.Is(err, corpus.ErrNoDocuments) || rep == nil || rep.After.Docs != 0 {
		t.Errorf("%v\n%v", err, rep)
	}
}
