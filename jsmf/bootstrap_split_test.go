package jsmf_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// kin are six topics of 40 words each: two by themselves, and two pairs, of which the topics
// have half of their words in common.
func kin() *mat.Dense {
	b := mat.NewDense(240, 6, nil)
	put := func(topic, from, n int, mass float64) {
		sum := 0.0
		for i := range n {
			sum += 1 / float64(i+5)
		}
		for i := range n {
			b.Set(from+i, topic, mass/sum/float64(i+5))
		}
	}
	put(0, 0, 40, 1)
	put(1, 40, 40, 1)
	for pair := range 2 {
		from := 80 + 80*pair
		for i := range 2 {
			put(2+2*pair+i, from, 20, 0.5)
			put(2+2*pair+i, from+20+20*i, 20, 0.5)
		}
	}
	return b
}

// Of six planted topics five are asked for. Both pairs are alike, so that the weights of the
// documents decide which of them is one topic: the model has one pair as one topic, and in
// some cold replicates it falls into two, and the other two topics become one. The topics
// without kin come back in all.
func TestBootstrapSplits(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, err := corpus.Generator{Topics: kin(), Prior: corpus.SymmetricDirichlet(6, 0.1), Lengths: []int{60}, Docs: 600, Seed: 3}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(5).Words(240)
	m := fit(t, p, c)
	u, err := jsmf.Bootstrap{Warm: -1, Cold: 10, Drawn: -1}.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	shares := m.TopicShares()
	whole := slices.Index(shares, slices.Max(shares))
	var halves []int
	for k, x := range u.Topics {
		switch {
		case x.Merges != nil:
			halves = append(halves, k)
			fallthrough
		case k == whole:
			continue
		case x.Stability != 1 || x.Split != 0 || x.Parts != nil:
			t.Errorf("topic %d, which has no kin: %+v", k, x)
		}
	}
	// The words that only one topic of the pair has name one part, and not the other.
	own := [2]string{"w100", "w120"}
	if m.TopWords(whole, 1)[0].Index >= 160 {
		own = [2]string{"w180", "w200"}
	}
	parts := slices.Clone(u.Topics[whole].Parts)
	if slices.Sort(parts); len(parts) != 2 || !strings.Contains(parts[0], own[0]) || !strings.Contains(parts[1], own[1]) {
		t.Errorf("topic %d falls into %q", whole, parts)
	}
	if len(halves) != 2 || shares[whole] < 0.25 {
		t.Fatalf("topics %v become one; shares %v", halves, shares)
	}
	a, b, split := u.Topics[halves[0]], u.Topics[halves[1]], u.Topics[whole].Split
	if want := []jsmf.Merge{{Topic: halves[1], Share: split}}; !slices.Equal(a.Merges, want) || len(b.Merges) != 1 || b.Merges[0].Topic != halves[0] {
		t.Errorf("topic %d falls into two in %v of the replicates, and %d and %d are one: %v, %v", whole, split, halves[0], halves[1], a.Merges, b.Merges)
	}
	// A fair coin misses the bounds in 2 % of the cases.
	if split < 0.15 || split > 0.85 || math.Abs(a.Stability+b.Stability+split-2) > 1e-12 || u.Topics[whole].Stability != 1 {
		t.Errorf("split %v, stabilities %v, %v and %v", split, a.Stability, b.Stability, u.Topics[whole].Stability)
	}
}

// A model with merged topics has warm replicates, in which they stay one.
func TestBootstrapOfMerged(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, kin(), corpus.SymmetricDirichlet(6, 0.1), 300)
	p := jsmf.New(6).Words(240)
	m := fit(t, p, c)
	pair := slices.MaxFunc(m.CorrelatedPairs(-1), func(a, b jsmf.TopicPair) int {
		return cmp.Compare(overlap(m, a.K, a.L), overlap(m, b.K, b.L))
	})
	edited, err := m.Edit(jsmf.Edits{Model: m.Fingerprint(), Merge: [][]int{{pair.K, pair.L}}})
	if err != nil {
		t.Fatal(err)
	}
	u, err := jsmf.Bootstrap{Warm: 10, Cold: -1}.Run(ctx, p, edited, c)
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range u.Topics {
		if x.Kept != 1 || !(x.Share.Low < x.Share.Value && x.Share.Value < x.Share.High) || x.Share.High-x.Share.Low > 0.2 {
			t.Errorf("topic %d: %+v", k, x)
		}
	}
	if _, err := (jsmf.Bootstrap{Warm: -1}).Run(ctx, p, edited, c); err == nil || !strings.Contains(err.Error(), "6 topics, and the model has 5") {
		t.Errorf("cold replicates: %v", err)
	}
}

// overlap returns the probability that topics k and l have on the same words.
func overlap(m *jsmf.Model, k, l int) (sum float64) {
	for i := range m.N() {
		sum += min(m.Topics().At(i, k), m.Topics().At(i, l))
	}
	return sum
}

// Where topics are far apart, cold replicates find the same ones, and shares and correlations
// spread over warm replicates as over cold ones, to a tenth at the median, and each to a quarter:
// the spread of 40 replicates errs by 11 %. The probabilities of words spread somewhat less over
// warm ones, whose few passes begin with those of the model: by a median of 10 % there.
func TestBootstrapWarmIsCold(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, err := corpus.Generator{Topics: themes(240, 6), Prior: corpus.SymmetricDirichlet(6, 0.1), Lengths: []int{60}, Docs: 300, Seed: 1}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(6).Words(240)
	m := fit(t, p, c)
	measure := func(o jsmf.Bootstrap) *jsmf.Uncertainty {
		u, err := o.Run(ctx, p, m, c)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	warm, cold := measure(jsmf.Bootstrap{Warm: 40, Cold: -1, Drawn: -1}), measure(jsmf.Bootstrap{Warm: -1, Cold: 40, Drawn: -1})
	ratio := func(a, b jsmf.Interval) float64 { return (a.High - a.Low) / (b.High - b.Low) }
	var words, others []float64
	for k, x := range warm.Topics {
		y := cold.Topics[k]
		r := ratio(x.Share, y.Share)
		if others = append(others, r); math.Abs(r-1) > 0.25 {
			t.Errorf("topic %d: the share spreads %.3f times as far", k, r)
		}
		for i, w := range x.Words {
			words = append(words, ratio(w.Prob, y.Words[i].Prob))
		}
	}
	for i, x := range warm.Pairs {
		r := ratio(x.Correlation, cold.Pairs[i].Correlation)
		if others = append(others, r); math.Abs(r-1) > 0.25 {
			t.Errorf("topics %d and %d: the correlation spreads %.3f times as far", x.K, x.L, r)
		}
	}
	if slices.Sort(others); math.Abs(others[len(others)/2]-1) > 0.1 {
		t.Errorf("shares and correlations spread %.3f times as far at the median", others[len(others)/2])
	}
	if slices.Sort(words); words[len(words)/2] < 0.8 || words[len(words)/2] > 1.1 {
		t.Errorf("the probability of a word spreads %.3f times as far at the median", words[len(words)/2])
	}
}
