// Package realtext tests what is said of the topics of real text, and of text with topics of each kind planted. Its
// fits take as long as all other tests of package jsmf, which go test gives ten minutes.
package realtext

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

var ctx = context.Background()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fit(t *testing.T, p jsmf.Pipeline, in jsmf.Input) *jsmf.Model {
	t.Helper()
	m, err := p.Fit(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// realCorpus returns the first documents of a corpus; 0: all.
func realCorpus(t *testing.T, name string, docs int) *corpus.Corpus {
	t.Helper()
	in := corpus.UCI{
		Docword: corpus.File{Name: testutil.Data(t, name, "docword."+name+".txt.gz")}, Vocab: corpus.File{Name: testutil.Data(t, name, "vocab."+name+".txt")},
	}
	about, err := in.Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := corpus.Builder{Vocabulary: about.Vocabulary}
	for d, err := range in.Docs(ctx) {
		if err == nil {
			err = b.Add(d)
		}
		if err != nil {
			t.Fatal(err)
		}
		if docs--; docs == 0 {
			break // before the rest is read
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The topics of real text are sound, except a few, and those whose words are taken from
// one topic each are weak.
func TestVerdictsOfMixedWords(t *testing.T) {
	testutil.NotWithRace(t)
	for _, name := range []string{"bbc", "kos"} {
		c := realCorpus(t, name, 0)
		p := jsmf.New(20)
		m := fit(t, p, c)
		r, err := p.Evaluate(ctx, m, c)
		if err != nil {
			t.Fatal(err)
		}
		sound := 0
		for _, v := range r.Verdicts {
			if v.Quality == metrics.Sound || v.Quality == metrics.Background {
				sound++
			}
		}
		f := metrics.Factors{
			B: mat.DenseCopyOf(m.Topics()), WordTopics: mat.DenseCopyOf(m.WordTopics()), A: m.Correlations(),
			Reading: mat.NewDense(m.N(), m.K(), nil),
		}
		var words []int
		for k := range m.K() {
			for rank := range 10 {
				w := m.TopWords((k+rank)%m.K(), 10)[rank].Index
				f.Reading.Set(w, k, float64(10-rank))
				words = append(words, w)
			}
		}
		slices.Sort(words)
		if f.Pairs, err = cooc.CountPairs(ctx, c, slices.Compact(words)); err != nil {
			t.Fatal(err)
		}
		mixed, err := metrics.Verdicts(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		weak := 0
		for _, v := range mixed {
			if v.Quality == metrics.Weak {
				weak++
			}
		}
		if sound < 17 || weak < 19 { // kos has two lists that repeat a text, and one topic of two subjects
			t.Errorf("%s: %d of 20 topics are sound or background, and %d of 20 mixed ones are weak", name, sound, weak)
		}
	}
}

// Eight articles of bbc that share words of their own make a topic that rests on few
// documents.
func TestVerdictsOfFewDocuments(t *testing.T) {
	testutil.NotWithRace(t)
	c := realCorpus(t, "bbc", 0)
	rng := rand.New(rand.NewPCG(1, 1))
	var b corpus.Builder
	for d := range c.NumDocs() {
		words := make(map[string]int)
		ids, counts := c.Doc(d)
		for i, w := range ids {
			words[c.Word(int(w))] = int(counts[i])
		}
		if d%(c.NumDocs()/8) == 0 && d < 8*(c.NumDocs()/8) {
			for range 300 {
				words[fmt.Sprintf("planted%d", rng.IntN(40))]++
			}
		}
		if err := b.AddCounts("", "", words); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(50)
	m := fit(t, p, c)
	r, err := p.Evaluate(ctx, m, c)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := m.Index("planted0")
	if !ok {
		t.Fatal("no planted words")
	}
	breve := mat.DenseCopyOf(m.WordTopics()).RawRowView(at)
	if k := slices.Index(breve, slices.Max(breve)); r.Verdicts[k].Quality != metrics.FewDocuments {
		t.Errorf("the planted topic is %v: %+v", r.Verdicts[k], r.Verdicts[k])
	}
}
