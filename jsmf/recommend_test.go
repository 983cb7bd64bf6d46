package jsmf

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/recover/refine"
)

// randomTrial has scores of documents of different lengths, in thirds of different sizes.
func randomTrial(ks int) *trial {
	rng := rand.New(rand.NewPCG(5, 6))
	t := &trial{parts: [3][]int{make([]int, 100), make([]int, 170), make([]int, 130)}}
	for range 400 {
		t.words = append(t.words, float64(rng.IntN(30)))
	}
	for range ks {
		x := &try{}
		for _, n := range t.words {
			x.logs = append(x.logs, -n*(6+0.3*rng.NormFloat64()))
		}
		t.tries = append(t.tries, x)
	}
	return t
}

// The standard error of a difference is that of a ratio of means whose documents are paired, as slow
// sums and draws with replacement have it; or that over thirds, where these differ by more.
func TestAhead(t *testing.T) {
	x := randomTrial(2)
	a, b := x.tries[0].logs, x.tries[1].logs
	mean, err := x.ahead(a, b, everyThird)
	ratio := func(docs []int) float64 {
		sum, words := 0.0, 0.0
		for _, d := range docs {
			sum, words = sum+a[d]-b[d], words+x.words[d]
		}
		return sum / words
	}
	all := make([]int, 400)
	words := 0.0
	for d := range all {
		all[d] = d
		words += x.words[d]
	}
	slow := 0.0
	for d, n := range x.words { // the influence of a document on the ratio
		z := (a[d] - b[d] - ratio(all)*n) / (words / 400)
		slow += z * z
	}
	slow = math.Sqrt(slow / 399 / 400)
	thirds := []float64{ratio(all[:100]), ratio(all[100:270]), ratio(all[270:])}
	if spread := stat.StdDev(thirds, nil) / math.Sqrt(3); math.Abs(mean-ratio(all)) > 1e-12 || math.Abs(err-max(slow, spread)) > 1e-12 {
		t.Errorf("%g ± %g, want %g ± %g or %g", mean, err, ratio(all), slow, spread)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const draws = 2000
	first, second := 0.0, 0.0
	docs := make([]int, 400)
	for range draws {
		for i := range docs {
			docs[i] = rng.IntN(400)
		}
		z := ratio(docs)
		first, second = first+z/draws, second+z*z/draws
	}
	// The deviation of 2000 draws is known to 1.6 %.
	if got := math.Sqrt(second - first*first); math.Abs(got/slow-1) > 0.08 {
		t.Errorf("the difference deviates by %g, and its standard error is %g", got, slow)
	}
	for d := range a { // one third apart from the others
		if d >= 270 {
			a[d] += x.words[d]
		}
	}
	mean, err = x.ahead(a, b, everyThird)
	thirds[2]++
	if want := stat.StdDev(thirds, nil) / math.Sqrt(3); math.Abs(err-want) > 1e-12 || math.Abs(mean-ratio(all)) > 1e-12 {
		t.Errorf("with one third apart %g ± %g, want an error of %g", mean, err, want)
	}
	if _, two := x.ahead(a, b, twoThirds[0]); two > err/5 {
		t.Errorf("of the other two the error is %g", two)
	}
}

// made is a trial of numbers of topics whose scores a word are below or above −5 by so much, with
// deviations over documents that make errors of about .05, and of whose topics these shares come back.
func made(alone float64, of map[int][2]float64) *trial {
	const docs = 400
	t := &trial{parts: [3][]int{make([]int, 134), make([]int, 133), make([]int, 133)}, words: slices.Repeat([]float64{1}, docs), alone: slices.Repeat([]float64{-5 + alone}, docs)}
	for i, k := range slices.Sorted(maps.Keys(of)) {
		x := &try{K: k, models: make([]*found, 3), back: [3]float64{of[k][1], of[k][1], of[k][1]}}
		for d := range docs {
			x.logs = append(x.logs, -5+of[k][0]+float64(1-2*(d>>min(i, 3)&1))*float64(1-2*(i/4*d&1)))
		}
		t.tries = append(t.tries, x)
	}
	return t
}

// The rule: of the numbers whose topics come back those that predict as well as the best, and of
// these the one with most topics that come back more than not. The sentence says so.
func TestChoose(t *testing.T) {
	for name, x := range map[string]struct {
		alone   float64
		of      map[int][2]float64
		k, l, h int
		why     []string
	}{
		"planted": {-2, map[int][2]float64{5: {-.9, .9}, 7: {-.4, .9}, 10: {0, 1}, 14: {-.3, .7}, 20: {-.5, .5}}, 10, 9, 11,
			[]string{"K = 10 (9 to 11 cannot be told apart). Of 10 topics 10 are sound and come back when other documents are held out."}},
		"long lists": {-2, map[int][2]float64{5: {-.9, .9}, 7: {-.4, .9}, 10: {0, .8}, 14: {.8, .3}, 20: {1.5, .2}}, 10, 9, 11,
			[]string{"K = 10 (9 to 11 ", "Of 10 topics 8 are", " are predicted best with 20 topics, by 1.5000 ± ", ", but only 4 of these come back."}},
		"short texts": {-2, map[int][2]float64{5: {-.01, 1}, 10: {0, .9}, 20: {-.02, .8}, 40: {-.03, .55}}, 20, 5, 40,
			[]string{"K = 20 (5 to 40 cannot be told apart). Of 20 topics 16"}},
		"the end": {-2, map[int][2]float64{5: {-.9, .9}, 7: {-.4, .9}, 10: {0, .8}}, 10, 9, 10,
			[]string{"K = 10, the largest number tried: more may do better (9 to 10 "}},
		"hardly half": {-2, map[int][2]float64{5: {-.9, .9}, 10: {0, .8}, 20: {.9, .55}, 40: {1.5, .46}, 80: {1.5, .2}}, 20, 8, 56,
			[]string{"K = 20 (8 to 56 cannot be told apart). Of 20 topics 11 ", "but only 18 of these"}},
		"nothing comes back": {-2, map[int][2]float64{5: {-.9, .3}, 7: {0, .3}, 10: {-.9, .2}}, 7, 6, 8,
			[]string{"Of 7 topics 2 are sound and come back when other documents are held out: fewer than half, as with all numbers tried."}},
		"no topics": {.1, map[int][2]float64{5: {0, .4}, 7: {0, .3}}, 0, 0, 0,
			[]string{"No topics: words of documents held out are predicted no better than by the frequencies of words alone (by −0.1000 ± ", "and fewer than half of the topics come back with each number tried."}},
		"one number": {-2, map[int][2]float64{5: {0, .9}}, 5, 5, 5, []string{"K = 5, the only number tried. Of"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := made(x.alone, x.of)
			s := m.sweep(true)
			if s.K != x.k || s.Low != x.l || s.High != x.h || s.Documents != 400 || s.Words != 400 {
				t.Errorf("%d, %d to %d, want %d, %d to %d:\n%v", s.K, s.Low, s.High, x.k, x.l, x.h, s)
			}
			for _, part := range x.why {
				if !strings.Contains(s.Why, part) {
					t.Errorf("%q, want %q", s.Why, part)
				}
			}
			for i, p := range s.Points {
				if w := x.of[p.K]; math.Abs(p.PerWord+5-w[0]) > 0.02 || math.Abs(p.Back-w[1]*float64(p.K)) > 1e-9 || p.K != m.tries[i].K {
					t.Errorf("%+v, want %v", p, w)
				}
				if (p.Why == "recommended") != (p.K == x.k) || (p.Why == "cannot be told apart") != (p.K != x.k && p.K >= x.l && p.K <= x.h) {
					t.Errorf("K = %d: %q", p.K, p.Why)
				}
			}
		})
	}
	// Two of the thirds alone would choose another number.
	m := made(-2, map[int][2]float64{5: {-.9, .9}, 10: {0, .8}, 20: {.9, .2}})
	m.tries[2].back = [3]float64{.55, 0, 0}
	if s := m.sweep(true); s.K != 10 || s.Low != 8 || s.High != 20 {
		t.Errorf("\n%v", s)
	}
}

// A number that is out of the race is not tried on more thirds. Where numbers are given, that does not
// change the one to take, and in nine of ten cases what cannot be told apart from it not by more than half. Where
// Grid chooses them, the race takes a third of all models at most, and in nine of ten cases finds a number that
// all models cannot tell from theirs, and the other way round.
func TestRace(t *testing.T) {
	var ks []int
	for i := range 20 {
		ks = append(ks, int(math.Round(gridFrom*math.Pow(2, float64(i)/gridSteps))))
	}
	const seeds = 60
	models, ranges, apart := 0, 0, 0
	far := func(a, b int) bool { return 2*max(a, b) > 3*min(a, b) }
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 8))
		// Words are predicted better up to some number, and then better or worse. Topics come back, and
		// fewer beyond it.
		planted, slope, drop := 6*math.Pow(2, 3*rng.Float64()), 0.1*(rng.Float64()-0.7), 0.2+0.8*rng.Float64()
		full := made(-2, nil)
		for _, k := range ks {
			x := &try{K: k, models: make([]*found, 3)}
			off := math.Log(float64(k) / planted)
			for i := range x.back {
				x.back[i] = min(1, max(0, 0.9-drop*max(off, 0)+0.3*rng.NormFloat64()/math.Sqrt(float64(k))))
				for range full.parts[i] {
					x.logs = append(x.logs, -5+0.8*min(off, 0)+slope*max(off, 0)+0.3*rng.NormFloat64())
				}
			}
			full.tries = append(full.tries, x)
		}
		want := full.sweep(false)
		for _, given := range []bool{false, true} {
			race := made(-2, nil)
			for x := race.next(ks, given); x != nil; x = race.next(ks, given) {
				of, n := full.tries[slices.Index(ks, x.K)], len(x.models)+1
				x.models, x.logs, x.back = of.models[:n], of.logs[:endOf(full, n)], [3]float64{}
				for pair, m := range pairs {
					if m[1] < n {
						x.back[pair] = of.back[pair]
					}
				}
				if !given {
					models++
				}
			}
			got := race.sweep(given)
			switch {
			case given && got.K != want.K:
				t.Errorf("seed %d, %.1f planted: %d, and %d by all models", seed, planted, got.K, want.K)
			case given && (far(got.Low, want.Low) || far(got.High, want.High)):
				ranges++
			case want.K < got.Low || want.K > got.High || got.K < want.Low || got.K > want.High:
				apart++
			}
		}
	}
	if models > seeds*len(ks) || ranges > seeds/10 || apart > seeds/10 {
		t.Errorf("%d models of %d, %d other ranges, %d other numbers", models, 3*seeds*len(ks), ranges, apart)
	}
}

// endOf returns how many documents the first n thirds have.
func endOf(t *trial, n int) (end int) {
	for _, p := range t.parts[:n] {
		end += len(p)
	}
	return end
}

// A topic comes back if it shares half of its weights with its match.
func TestComeBack(t *testing.T) {
	a := &found{[][]weighted{{{0, 1}}, {{1, .6}, {2, .4}}, {{2, .2}, {3, .8}}}, []bool{true, true, true}}
	b := &found{[][]weighted{{{0, .9}, {9, .1}}, {{1, .6}, {9, .4}}, {{3, .4}, {9, .6}}}, []bool{true, false, true}}
	// a–a shares .9; b–b .6, one of the two is sound; c, d shares .4.
	n, err := comeBack(context.Background(), a, b, 1)
	if err != nil || n != 1.5 {
		t.Errorf("%g come back, want 1.5; %v", n, err)
	}
}

// numbered returns documents with ids in the given order.
func numbered(t *testing.T, order []int) *corpus.Corpus {
	t.Helper()
	var b corpus.Builder
	for _, d := range order {
		rng := rand.New(rand.NewPCG(uint64(d), 3))
		counts := make(map[string]int)
		for range 30 {
			counts[fmt.Sprintf("w%02d", (d%4)*15+rng.IntN(15))]++
		}
		counts["of"] = 3
		if err := b.AddCounts(fmt.Sprint("document ", d), "", counts); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each document is in the same third in any order, and is cut in halves that have no word in common.
func TestThirds(t *testing.T) {
	ctx := context.Background()
	order := rand.New(rand.NewPCG(9, 9)).Perm(300)
	ids := func(x *trial, third int) (out []string) {
		for _, d := range x.parts[third] {
			out = append(out, x.docs.ID(d))
		}
		slices.Sort(out)
		return out
	}
	p := New(4).Refine(refine.Passes{N: 2})
	x, err := p.thirds(ctx, numbered(t, order))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(order)
	other, err := p.thirds(ctx, numbered(t, order))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range 3 {
		if n := len(x.parts[i]); !slices.Equal(ids(x, i), ids(other, i)) || n < 70 || n > 130 {
			t.Errorf("other documents are in the third %d, or %d of 300", i, n)
		}
		all = append(all, ids(x, i)...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 300 {
		t.Errorf("%d documents of 300", len(all))
	}
	of := &try{K: 4}
	for range 3 {
		if err := x.more(ctx, of); err != nil {
			t.Fatal(err)
		}
	}
	m, train, err := x.fit(ctx, 4, 1)
	if err != nil || train.NumDocs() != 300-len(x.parts[1]) {
		t.Fatalf("%d documents to fit to, %v", train.NumDocs(), err)
	}
	docs, err := x.docs.Select(x.parts[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, hidden, err := halve(ctx, m, docs)
	if err != nil {
		t.Fatal(err)
	}
	words, logs, alone := x.part(x.words, 1), x.part(of.logs, 1), x.part(x.alone, 1)
	for d := range docs.NumDocs() {
		shown, counts := seen.Doc(d)
		left, once := hidden.Doc(d)
		all, n := docs.Doc(d)
		tokens := int32(0)
		for _, c := range counts {
			tokens += c
		}
		if slices.ContainsFunc(left, func(w int32) bool { return slices.Contains(shown, w) }) || len(shown)+len(left) != len(all) || len(left) != len(all)/2 || words[d] != float64(len(left)) {
			t.Errorf("document %d: %v and %v of %v", d, left, shown, all)
		}
		if slices.ContainsFunc(once, func(c int32) bool { return c != 1 }) || tokens <= int32(len(shown)) && len(n) < 15 {
			t.Errorf("document %d: counts %v and %v", d, counts, once)
		}
		if !(logs[d] < 0) || math.IsInf(logs[d], 0) || !(alone[d] < 0) || math.IsInf(alone[d], 0) {
			t.Errorf("document %d: ln p is %g and %g", d, logs[d], alone[d])
		}
	}
	if ahead, err := x.ahead(of.logs, x.alone, everyThird); ahead < 20*err {
		t.Errorf("four planted topics are ahead of none by %g ± %g", ahead, err)
	}
}
