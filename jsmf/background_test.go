package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// withFunctionWords draws documents of 80 words. Each has one or two of some subjects of 40
// words, and a share of function words, which are the same 30 in all documents.
func withFunctionWords(t *testing.T, subjects int, share float64) *corpus.Corpus {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	zipf := func(n int) int { return int(math.Exp(rng.Float64()*math.Log(float64(n+1)))) - 1 }
	var b corpus.Builder
	for d := range 1500 {
		mine := []int{rng.IntN(subjects), rng.IntN(subjects)}
		of := share * (0.5 + rng.Float64()) // style differs
		var words []string
		for range 80 {
			if rng.Float64() < of {
				words = append(words, fmt.Sprintf("the%d", zipf(30)))
			} else {
				words = append(words, fmt.Sprintf("s%dw%d", mine[rng.IntN(2)], zipf(40)))
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

// The topic that gathers the function words is background, and no other is.
func TestBackground(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	for _, c := range []struct {
		share  float64
		topics int
		want   int
	}{{0.5, 11, 1}, {0, 10, 0}} {
		t.Run(fmt.Sprint("share ", c.share), func(t *testing.T) {
			docs := withFunctionWords(t, 10, c.share)
			counts, err := cooc.NewMoments(ctx, docs, cooc.Options{DropUnused: true, Weighting: cooc.TFIDF})
			if err != nil {
				t.Fatal(err)
			}
			p := Published(c.topics)
			plain, err := p.Fit(ctx, counts)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Refine(refine.Passes{}).Fit(ctx, counts)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for k, background := range m.Background() {
				words := 0
				for _, w := range m.TopWords(k, 10) {
					if strings.HasPrefix(w.Word, "the") {
						words++
					}
				}
				if background {
					found++
				}
				if background != (words > 5) {
					t.Errorf("topic %d of %d function words among 10: background %v", k, words, background)
				}
			}
			if found != c.want {
				t.Errorf("%d topics are background, want %d", found, c.want)
			}
			if slices.Contains(plain.Background(), true) {
				t.Error("a model that was not refined has background topics")
			}
		})
	}
}

// The rule by hand: words of all documents and words of one in ten. Topic 0 has the words and the
// spread and fills next to no documents, 1 does not have the spread, 5 fills documents, 6 does, too, but is in
// all of them, and 9 does not have the words.
func TestBackgroundTopics(t *testing.T) {
	const k, docs = 10, 1000
	df := []int{docs, docs / 10}
	spread := []float64{0.4, 0.2, 0.2, 0.2, 0.2, 0.45, 0.9, 0.2, 0.2, 0.4}
	common := []float64{0.95, 0.96, 0.1, 0.1, 0.1, 0.98, 0.98, 0.1, 0.1, 0.1}
	alone := []float64{0.09, 0.09, 0.3, 0.3, 0.3, 0.11, 0.3, 0.3, 0.3, 0}
	weights, a := mat.NewDense(2, k, nil), mat.NewDense(k, k, nil)
	for j := range k {
		weights.SetCol(j, []float64{common[j], 1 - common[j]})
		a.Set(j, j, 0.01/spread[j]) // of a share of 0.1, as the row sum is
		a.Set(j, (j+1)%k, 0.1-a.At(j, j))
	}
	background := func(alone []float64) string {
		var at []int
		for j, is := range backgroundTopics(weights, a, df, docs, alone) {
			if is {
				at = append(at, j)
			}
		}
		return fmt.Sprint(at)
	}
	if got := background(alone); got != "[0 6]" {
		t.Errorf("background %s, want [0 6]", got)
	}
	// Where documents are mixtures throughout, what fills few of them says little.
	if got := background([]float64{0.09, 0.09, 0.1, 0.1, 0.1, 0.11, 0.1, 0.1, 0.1, 0}); got != "[6]" {
		t.Errorf("background %s, want [6]", got)
	}
	if got := background(nil); got != "[]" {
		t.Errorf("background %s without what fills documents, want none", got)
	}
	if got := backgroundTopics(mat.NewDense(2, k, nil), a, df, docs, alone); got != nil {
		t.Errorf("background %v of topics without words, want none", got)
	}
}

// What background topics do to the reading weights of the others.
func TestBackgroundTakesWords(t *testing.T) {
	const k, docs = 10, 1000
	columns := func(p *Model, background, other []float64) {
		t.Helper()
		for j := range k {
			want := other
			if j == 0 {
				want = background
			}
			if got := mat.Col(nil, j, p.Reading()); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
				t.Errorf("reading weights of topic %d: %v, want %v", j, got, want)
			}
		}
	}
	// Word 0 is in all documents, words 1 and 2 in some. Topic 0 has most of word 0.
	parts := func() modelParts {
		p := modelParts{Topics: mat.NewDense(3, k, nil), Correlations: mat.NewDense(k, k, nil), WordTopics: mat.NewDense(3, k, nil), Reading: mat.NewDense(3, k, nil)}
		for j := range k {
			p.Topics.SetCol(j, []float64{0.2, 0.4, 0.4})
			p.Reading.SetCol(j, []float64{0.2, 0.4, 0.4})
			p.Correlations.Set(j, j, 0.1)
			p.WordTopics.SetCol(j, []float64{0.4 / 9, 0.1, 0.1})
		}
		p.Correlations.Set(0, 0, 0.02) // spread over five times as many documents
		p.Correlations.Set(0, 1, 0.08)
		p.WordTopics.Set(0, 0, 0.6)
		p.Reading.SetCol(0, []float64{0.8, 0.1, 0.1})
		return p
	}
	alone := []float64{0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3}
	info := func(df ...int) corpus.Info { return corpus.Info{Documents: docs, DocFrequencies: df} }

	p := parts()
	for i := 1; i < 3; i++ { // words that tell their topic: there are no function words
		p.WordTopics.SetRow(i, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	}
	before := mat.DenseCopyOf(p.Reading)
	m := unchecked(t, p)
	m.markBackground(info(docs, docs/10, docs/10), alone)
	if m.background == nil || !m.background[0] || slices.Contains(m.background[1:], true) {
		t.Errorf("background %v, want topic 0", m.background)
	}
	columns(m, []float64{0.8, 0.1, 0.1}, []float64{0, 0.5, 0.5})

	m = unchecked(t, parts())
	if m.markBackground(corpus.Info{}, alone); m.background != nil || !mat.Equal(m.Reading(), before) {
		t.Error("background topics without document frequencies")
	}
}
