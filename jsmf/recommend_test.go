package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/recover/refine"
)

// randomBallot has scores of documents of different lengths.
func randomBallot(ks, docs int) (ballot, []uint64) {
	rng := rand.New(rand.NewPCG(5, 6))
	b := ballot{words: make([]float64, docs)}
	keys := make([]uint64, docs)
	for d := range docs {
		b.words[d], keys[d] = float64(rng.IntN(30)), rng.Uint64()
	}
	for range ks {
		logs := make([]float64, docs)
		for d, n := range b.words {
			logs[d] = -n * (6 + 0.3*rng.NormFloat64())
		}
		b.logs = append(b.logs, logs)
	}
	return b, keys
}

// The standard error of a difference is that of a ratio of means whose documents are
// paired: on whole weights it is what the repeated documents give, and it agrees with the
// deviation of the difference over documents drawn with replacement.
func TestDifference(t *testing.T) {
	b, _ := randomBallot(2, 400)
	ones := slices.Repeat([]float64{1}, 400)
	mean, err := b.difference(0, 1, ones)
	sums, words := 0.0, 0.0
	for d, n := range b.words {
		sums += b.logs[0][d] - b.logs[1][d]
		words += n
	}
	slow, n := 0.0, float64(len(b.words))
	for d, w := range b.words {
		// The influence of document d on the ratio.
		x := (b.logs[0][d] - b.logs[1][d] - sums/words*w) / (words / n)
		slow += x * x
	}
	slow = math.Sqrt(slow / (n - 1) / n)
	if math.Abs(mean-sums/words) > 1e-12 || math.Abs(err-slow) > 1e-12 {
		t.Errorf("%g ± %g, want %g ± %g", mean, err, sums/words, slow)
	}
	if m, e := b.difference(1, 0, ones); m != -mean || math.Abs(e-err) > 1e-15 {
		t.Errorf("the other way: %g ± %g", m, e)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const draws = 2000
	first, second := 0.0, 0.0
	for range draws {
		w := make([]float64, len(b.words))
		for range w {
			w[rng.IntN(len(w))]++
		}
		x, _ := b.difference(0, 1, w)
		first, second = first+x/draws, second+x*x/draws
	}
	// The deviation of 2000 draws is known to 1.6 %.
	if got := math.Sqrt(second - first*first); math.Abs(got/err-1) > 0.08 {
		t.Errorf("the difference deviates by %g, and the standard error is %g", got, err)
	}
	twice, once := ballot{}, slices.Repeat([]float64{2}, 400)
	twice.words = append(slices.Clone(b.words), b.words...)
	for _, l := range b.logs {
		twice.logs = append(twice.logs, append(slices.Clone(l), l...))
	}
	m1, e1 := twice.difference(0, 1, slices.Repeat([]float64{1}, 800))
	m2, e2 := b.difference(0, 1, once)
	if math.Abs(m1-m2) > 1e-12 || math.Abs(e1-e2) > 1e-12 {
		t.Errorf("documents twice: %g ± %g, with weights %g ± %g", m1, e1, m2, e2)
	}
}

// The rule takes the first K within one standard error, and the sentence says so.
func TestRecommend(t *testing.T) {
	// Documents of one word each; differences with the best of mean m and deviation 1,
	// thus a standard error of 1/20.
	const docs = 400
	means := []float64{-1, -0.08, -0.04, 0, -0.2}
	b, keys := ballot{words: slices.Repeat([]float64{1}, docs)}, make([]uint64, docs)
	for i, m := range means {
		logs := make([]float64, docs)
		for d := range logs {
			keys[d] = uint64(d)*0x9e3779b97f4a7c15 + 1
			logs[d] = -5
			if i != 3 {
				logs[d] += m + float64(2*(d%2)-1)
			}
		}
		b.logs = append(b.logs, logs)
	}
	ks := []int{5, 7, 10, 14, 20}
	r, scores := b.recommend(ks, keys, "")
	if r.K != 10 || r.Best != 14 || r.Low != 10 || r.High != 14 || r.Documents != docs || r.Words != docs {
		t.Errorf("%+v", r)
	}
	if want := fmt.Sprintf("K = 10 (10 to 14 are as likely; chosen in %.0f %% of resamples)", 100*r.Chosen); r.String() != want {
		t.Errorf("%v, want %v", r, want)
	}
	if !strings.Contains(r.Why, "most likely with 14 topics: ln p is −5.0000 a word; 10 is the fewest within one standard error, lower by 0.0400 ± 0.0501.") {
		t.Errorf("%q", r.Why)
	}
	sum := 0.0
	why := []string{"less likely: too few", "less likely: too few", "recommended: as likely as 14", "most likely; 10 is as likely", "less likely: too many"}
	for i, s := range scores {
		if s.Why != why[i] || s.AsLikely != (i == 2 || i == 3) {
			t.Errorf("K = %d: %+v, want %q", ks[i], s, why[i])
		}
		sum += s.Chosen
		if math.Abs(s.PerWord-means[i]+5) > 1e-9 || math.Abs(s.Behind+means[i]) > 1e-9 {
			t.Errorf("K = %d: %+v", ks[i], s)
		}
	}
	if math.Abs(sum-1) > 1e-9 || scores[2].Chosen != r.Chosen || r.Chosen < 0.1 || r.Chosen > 0.9 {
		t.Errorf("shares %v", scores)
	}
	ends, _ := ballot{logs: b.logs[3:4], words: b.words}.recommend(ks[:1], keys, "")
	if ends.K != 5 || ends.Chosen < 1-1e-9 || !strings.Contains(ends.String(), "no other is as likely") || !strings.Contains(ends.Why, "no other number") {
		t.Errorf("%v: %s", ends, ends.Why)
	}
	// A number between two that are as likely is not called too many.
	dip := ballot{logs: [][]float64{b.logs[3], b.logs[0], b.logs[2]}, words: b.words}
	if r, scores := dip.recommend(ks[:3], keys, ""); r.K != 5 || r.Low != 5 || r.High != 10 || scores[1].Why != "a little less likely" || scores[2].Why != "as likely as 5" {
		t.Errorf("%v: %+v", r, scores)
	}
	if ends, _ = (ballot{logs: b.logs[:4], words: b.words}).recommend(ks[:4], keys, " So it ends."); !strings.Contains(ends.Why, "more may do better. So it ends.") {
		t.Errorf("%v: %s", ends, ends.Why)
	}
}

// Resamples are the same again, and in any order of the documents.
func TestResample(t *testing.T) {
	b, keys := randomBallot(4, 150)
	want := b.resample(keys)
	order := rand.New(rand.NewPCG(2, 2)).Perm(len(keys))
	p, moved := ballot{logs: make([][]float64, 4)}, make([]uint64, 0, len(keys))
	for _, d := range order {
		moved, p.words = append(moved, keys[d]), append(p.words, b.words[d])
		for i := range p.logs {
			p.logs[i] = append(p.logs[i], b.logs[i][d])
		}
	}
	if got := p.resample(moved); !slices.Equal(got, want) || !slices.Equal(b.resample(keys), want) {
		t.Errorf("shares %v, then %v", want, got)
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

// The same documents are held out in any order, a third of them, and each is cut in halves
// that have no word in common.
func TestHold(t *testing.T) {
	ctx := context.Background()
	order := rand.New(rand.NewPCG(9, 9)).Perm(300)
	ids := func(h *held) []string {
		var out []string
		for d := range h.docs.NumDocs() {
			out = append(out, h.docs.ID(d))
		}
		slices.Sort(out)
		return out
	}
	p := New(4).Refine(refine.Passes{N: 2})
	h, err := p.hold(ctx, numbered(t, order))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(order)
	other, err := p.hold(ctx, numbered(t, order))
	if err != nil || !slices.Equal(ids(h), ids(other)) {
		t.Errorf("other documents are held out; %v", err)
	}
	if n := len(ids(h)); n < 70 || n > 130 || h.train.info.Documents != 300-n {
		t.Errorf("%d documents held out, %d not", n, h.train.info.Documents)
	}
	logs, err := h.score(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	words := h.words()
	for d, v := range logs {
		seen, counts := h.seen.Doc(d)
		hidden, once := h.hidden.Doc(d)
		all, n := h.docs.Doc(d)
		tokens := int32(0)
		for i := range counts {
			tokens += counts[i]
		}
		if slices.ContainsFunc(hidden, func(w int32) bool { return slices.Contains(seen, w) }) || len(seen)+len(hidden) != len(all) || len(hidden) != len(all)/2 || words[d] != float64(len(hidden)) {
			t.Errorf("document %d: %v and %v of %v", d, seen, hidden, all)
		}
		if slices.ContainsFunc(once, func(x int32) bool { return x != 1 }) || tokens <= int32(len(seen)) && len(n) < 15 {
			t.Errorf("document %d: counts %v and %v", d, counts, once)
		}
		if !(v < 0) || math.IsInf(v, 0) {
			t.Errorf("document %d: ln p is %g", d, v)
		}
	}
	if again, err := h.score(ctx, p.Workers(1)); err != nil || !slices.Equal(again, logs) {
		t.Errorf("one worker: other scores; %v", err)
	}
	if _, err := p.hold(ctx, numbered(t, order[:30])); err == nil || !strings.Contains(err.Error(), "of 30 documents would be held out") {
		t.Errorf("too few documents: %v", err)
	}
}
