package jsmf_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
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

// reader is Passes with reading weights by the formula of refine.Result.Reading, where
// Passes do not have them.
type reader struct{ refine.Passes }

func (r reader) Refine(ctx context.Context, docs corpus.Source, start refine.Start, opt refine.Options) (*refine.Result, error) {
	x, err := r.Passes.Refine(ctx, docs, start, opt)
	if err != nil || x.Reading != nil {
		return x, err
	}
	n, k := x.B.Dims()
	df, all := make([]float64, n), 0.0
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		all++
		for _, w := range d.Words {
			df[w]++
		}
	}
	x.Reading = mat.NewDense(n, k, nil)
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		theta, phi := make([]float64, k), make([]float64, k)
		floats.AddConst(1/float64(k), theta)
		responsibilities := func(w int32) []float64 {
			for t, b := range x.B.RawRowView(int(w)) {
				phi[t] = theta[t] * b
			}
			floats.Scale(1/floats.Sum(phi), phi)
			return phi
		}
		for range 20 {
			next := append([]float64(nil), x.Alpha...)
			for i, w := range d.Words {
				floats.AddScaled(next, float64(d.Counts[i]), responsibilities(w))
			}
			theta = next
		}
		mass, length := make([]float64, len(d.Words)), 0.0
		for i, w := range d.Words {
			idf := 1 + math.Log((1+all)/(1+df[w]))
			mass[i] = math.Sqrt(float64(d.Counts[i])) * idf * idf
			length = math.Hypot(length, mass[i])
		}
		for i, w := range d.Words {
			floats.AddScaled(x.Reading.RawRowView(int(w)), mass[i]/length, responsibilities(w))
		}
	}
	for t := range k {
		column := mat.Col(nil, t, x.Reading)
		floats.Scale(1/floats.Sum(column), column)
		x.Reading.SetCol(t, column)
	}
	return x, nil
}

// Film reviews without a stop list: most of the probable words are function words, and few
// of the reading words of topics that are not background. What is left stands in topics of
// its own, such as "her, she, woman, husband". The bound is twice what was measured: 9 of
// 160 reading words, 174 of 200 probable ones.
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
	counts, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	const k = 20
	passes := refine.Passes{N: 30, Temperature: 1, Alpha: 2.5 / k, FixedAlpha: true, Beta: 0.02, Method: refine.CVB0Document}
	m, err := jsmf.Published(k).Rectify(rectify.AP{Iterations: 5}).Refine(reader{passes}).Fit(ctx, counts)
	if err != nil {
		t.Fatal(err)
	}
	function := make(map[string]bool)
	for _, w := range strings.Fields(functionWords) {
		function[w] = true
	}
	plain, err := m.Labels(metrics.ByProbability{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	probable, reading, background := 0, 0, 0
	var left []string
	for _, x := range m.Summary(10) {
		for _, w := range plain[x.Number] {
			if function[w.Word] {
				probable++
			}
		}
		if x.Background {
			background++
			continue
		}
		for _, w := range x.Words {
			if function[w.Word] {
				reading++
				left = append(left, w.Word)
			}
		}
	}
	t.Logf("%v\nfunction words: %d of the probable words, of the reading words %d: %v", m, probable, reading, left)
	if background < 1 || background > k/5 {
		t.Errorf("%d of %d topics are background", background, k)
	}
	if probable < 150 || reading > 18 {
		t.Errorf("%d of the probable words and %d of the reading words are function words: %v", probable, reading, left)
	}
}
