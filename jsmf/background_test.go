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
	ctx := context.Background()
	for _, c := range []struct {
		share  float64
		topics int
		want   int
	}{{0.5, 11, 1}, {0, 10, 0}} {
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
		m, err := p.Refine(refine.Passes{N: 30, Temperature: 1, Alpha: 0.1, FixedAlpha: true, Beta: 0.02, Method: refine.CVB0Document}).Fit(ctx, counts)
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
				t.Errorf("share %g: topic %d of %d function words among 10: background %v", c.share, k, words, background)
			}
		}
		if found != c.want {
			t.Errorf("share %g: %d topics are background, want %d", c.share, found, c.want)
		}
		if slices.Contains(m.Spectral().Background(), true) || slices.Contains(plain.Background(), true) {
			t.Error("a model that was not refined has background topics")
		}
	}
}

// The rule by hand: words of all documents and words of one in ten.
func TestBackgroundTopics(t *testing.T) {
	const k, docs = 10, 1000
	df := []int{docs, docs / 10}
	spread := []float64{0.5, 0.6, 0.7, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.9}
	b, a := mat.NewDense(2, k, nil), mat.NewDense(k, k, nil)
	for j := range k {
		common := 0.1
		if j < 4 {
			common = 0.95
		}
		b.SetCol(j, []float64{common, 1 - common})
		a.Set(j, j, 0.01/spread[j]) // of a share of 0.1, as the row sum is
		a.Set(j, (j+1)%k, 0.1-a.At(j, j))
	}
	// Topics 0, 1 and 2 have the words and the spread, and a fifth of the topics may be
	// background. Topic 3 has the words alone, topic 9 the spread.
	if got, want := backgroundTopics(b, a, df, docs), []bool{false, true, true, false, false, false, false, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("background %v, want %v", got, want)
	}
	if got := backgroundTopics(mat.DenseCopyOf(b.Slice(0, 2, 2, 6)), mat.DenseCopyOf(a.Slice(2, 6, 2, 6)), df, docs); got != nil {
		t.Errorf("background %v of 4 topics, want none", got)
	}

	// The reading weights of words that are mostly in background topics go elsewhere.
	p := modelParts{Topics: b, Correlations: a, WordTopics: mat.NewDense(2, k, nil), Reading: mat.NewDense(2, k, nil)}
	for j := range k {
		p.Reading.SetCol(j, []float64{0.25, 0.75})
		p.WordTopics.Set(1, j, 0.1)
	}
	p.Reading.SetCol(9, []float64{1, 0})
	p.WordTopics.SetRow(0, []float64{0.2, 0.3, 0.3, 0.2, 0, 0, 0, 0, 0, 0})
	before := mat.DenseCopyOf(p.Reading)
	given := p.Reading
	p.markBackground(corpus.Info{Documents: docs, DocFrequencies: df})
	for j := range k {
		want := []float64{0, 1}
		switch j {
		case 1, 2:
			want = []float64{0.25, 0.75}
		case 9:
			want = []float64{0, 0}
		}
		if got := mat.Col(nil, j, p.Reading); !slices.Equal(got, want) {
			t.Errorf("reading weights of topic %d: %v, want %v", j, got, want)
		}
	}
	if !mat.Equal(given, before) {
		t.Error("the refiner's matrix was written to")
	}
	p.Background = nil
	if p.markBackground(corpus.Info{}); p.Background != nil {
		t.Error("background topics without document frequencies")
	}
}
