package jsmf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/modelfile"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/spread"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/metrics"
)

// doubted returns an uncertainty of k topics whose numbers are all different.
func doubted(m *Model) *Uncertainty {
	u := &Uncertainty{Warm: 7, Cold: 5, Drawn: 3, Level: 0.9, Found: 0.8, Repeat: 0.1, Topics: make([]TopicUncertainty, m.k)}
	number := 0.0
	interval := func() Interval {
		number++
		return Interval{number / 1000, number/1000 - 0.01, number/1000 + 0.01, number / 1e6}
	}
	for t := range u.Topics {
		u.Topics[t] = TopicUncertainty{
			Share: interval(), Stability: float64(t) / 20, Kept: float64(t) / 25, Changed: float64(t) / 40, Split: float64(t) / 30,
			Parts:  []string{fmt.Sprint("one ", t), fmt.Sprint("two ", t)},
			Merges: []Merge{{(t + 1) % m.k, 0.4}, {(t + 2) % m.k, 0.2}}[:min(2, m.k-1)],
			Words:  []WordUncertainty{{m.Word(t), t, interval()}, {m.Word(t + 1), t + 1, interval()}},
		}
	}
	of := m.families()
	for i := range m.k {
		for j := i + 1; j < m.k; j++ {
			if of[i] == of[j] {
				u.Pairs = append(u.Pairs, PairUncertainty{i, j, interval()})
			}
		}
	}
	return u
}

// pairOf returns the correlation of two topics.
func pairOf(u *Uncertainty, i, j int) Interval {
	at, _ := u.pair(i, j)
	return u.Pairs[at].Correlation
}

// judged returns verdicts of k topics, all different.
func judged(k int) []metrics.Verdict {
	out := make([]metrics.Verdict, k)
	for t := range out {
		out[t] = metrics.Verdict{Quality: metrics.Quality(t % 5), Share: float64(t), NPMI: math.NaN(), Exclusivity: 0.5, Documents: 30, Twin: t - 1, Cosine: 0.25}
	}
	return out
}

// What is unsure goes with its topics.
func TestUncertaintyOfModel(t *testing.T) {
	m, _ := editable(t)
	u := doubted(m)
	with, err := m.With(Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	u.Topics[0].Words[0].Word = "changed"
	with.Additions().Uncertainty.Topics[0].Merges[0].Topic = 3
	if got := with.Additions().Uncertainty; !reflect.DeepEqual(got, doubted(m)) || m.Additions().Uncertainty != nil {
		t.Errorf("%+v", got)
	}
	order := []int{4, 0, 5, 1, 3, 2}
	moved, err := with.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	got, want := moved.Additions().Uncertainty, with.Additions().Uncertainty
	for l, k := range order {
		x, y := got.Topics[l], want.Topics[k]
		for _, v := range x.Merges {
			if !slices.Contains(y.Merges, Merge{order[v.Topic], v.Share}) {
				t.Errorf("topic %d merges with %+v, %d before with %+v", l, v, k, y.Merges)
			}
		}
		if x.Merges, y.Merges = nil, nil; !reflect.DeepEqual(x, y) {
			t.Errorf("topic %d: %+v, want %+v", l, x, y)
		}
		for s := range l {
			if x := pairOf(got, s, l); x != pairOf(want, order[s], k) {
				t.Errorf("pair %d, %d: %+v", s, l, x)
			}
		}
	}
	back, err := moved.Reorder(ascending(order))
	if err != nil || !reflect.DeepEqual(back.Additions().Uncertainty, want) {
		t.Errorf("back in their order: %+v, %v", back.Additions().Uncertainty, err)
	}
}

// Of a topic that was made of others nothing is known, and of the others what was.
func TestUncertaintyOfMerged(t *testing.T) {
	m, _ := editable(t)
	m, err := m.With(Additions{Uncertainty: doubted(m)})
	if err != nil {
		t.Fatal(err)
	}
	edited, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{3, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	u, old := edited.Additions().Uncertainty, m.Additions().Uncertainty
	first := []int{0, 2, 3, 4, 5}
	for l, k := range first {
		x := u.Topics[l]
		if k == 3 {
			if x.Share.Value != edited.TopicShares()[l] || !math.IsNaN(x.Share.Low) || !math.IsNaN(x.Stability) || x.Merges != nil || x.Parts != nil || len(x.Words) != 2 ||
				x.Words[0].Prob.Value != edited.Topics().At(x.Words[0].Index, l) || !math.IsNaN(x.Words[0].Prob.High) {
				t.Errorf("the merged topic: %+v", x)
			}
			continue
		}
		if x.Share != old.Topics[k].Share || x.Stability != old.Topics[k].Stability {
			t.Errorf("topic %d: %+v", l, x)
		}
	}
	// Topic 2 was one with 3 in 0.4 and with 4 in 0.2, topic 0 with 1 in 0.4 and with 2 in 0.2, topic 5 with 0 and 1.
	for l, want := range map[int][]Merge{1: {{2, 0.4}, {3, 0.2}}, 0: {{2, 0.4}, {1, 0.2}}, 4: {{0, 0.4}, {2, 0.2}}} {
		if got := u.Topics[l].Merges; !slices.Equal(got, want) {
			t.Errorf("topic %d is one with %v, want %v", l, got, want)
		}
	}
	for _, x := range u.Pairs {
		if x.K == 2 || x.L == 2 {
			if !math.IsNaN(x.Correlation.Low) || math.IsNaN(x.Correlation.Value) {
				t.Errorf("%+v", x)
			}
		} else if x.Correlation != pairOf(old, first[x.K], first[x.L]) {
			t.Errorf("%+v", x)
		}
	}
	if err := u.check(edited.n, edited.families()); err != nil {
		t.Error(err)
	}
}

// Verdicts are in the summary and in tables, and know their twins by any numbers.
func TestVerdictsOfModel(t *testing.T) {
	m, _ := editable(t)
	plain, err := json.Marshal(m.Summary(1)[1])
	if err != nil || strings.Contains(string(plain), "verdict") {
		t.Errorf("%s, %v", plain, err)
	}
	with, err := m.With(Additions{Verdicts: judged(6)})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := with.Reorder([]int{4, 0, 5, 1, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	if v := moved.Additions().Verdicts[4]; v.Quality != metrics.Twin || v.Twin != 5 || moved.Additions().Verdicts[1].Twin != -1 {
		t.Errorf("topic 3, now 4, is %v of 2, now 5", v)
	}
	topics := moved.Summary(1)
	if topics[4].Verdict.String() != "twin of topic 5" || with.Summary(1)[0].Verdict.Quality != metrics.Sound {
		t.Errorf("%v and %v", topics[4].Verdict, with.Summary(1)[0].Verdict)
	}
	if b, err := json.Marshal(topics[4]); err != nil || !strings.Contains(string(b), `"twin":5,"cosine":0.25,"together":0,"repeated":0},"words"`) {
		t.Errorf("%s, %v", b, err)
	}
	if s := with.String(); !strings.Contains(s, "(few documents: it rests on about 30)") || strings.Contains(s, "sound") || !strings.Contains(m.String(), "(background)") {
		t.Errorf("%s", s)
	}
	if edited, err := with.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{3, 1}}}); err != nil || edited.Additions().Verdicts != nil {
		t.Errorf("verdicts after merging: %v, %v", edited.Additions().Verdicts, err)
	}
	if same, err := with.With(Additions{}); err != nil || len(same.Additions().Verdicts) != 6 || m.Additions().Verdicts != nil {
		t.Errorf("%v, %v", same, err)
	}
}

// Uncertainty and verdicts survive the file to the bit, and content that makes none is
// refused.
func TestUncertaintyFile(t *testing.T) {
	m, _ := editable(t)
	m.dual = nil
	with, err := m.With(Additions{Uncertainty: doubted(m)})
	if err == nil {
		with.add.Uncertainty.Topics[2].Share.Low, with.add.Uncertainty.Topics[2].Stability = math.NaN(), math.NaN()
		with, err = with.With(Additions{Verdicts: judged(6)})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := encoded(t, with)
	back, err := ReadModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, back), file) || len(back.Additions().Uncertainty.Pairs) != 15 || back.Additions().Verdicts[3].Quality != metrics.Twin || !math.IsNaN(back.Additions().Verdicts[3].NPMI) {
		t.Errorf("%+v, %+v", back.Additions().Uncertainty, back.Additions().Verdicts)
	}
	tiny := mustModel(t, tinyParts())
	// The pairs come before the rest, and are those of the file's JSON unless there is a PAIR.
	f := tinyFile()
	f.sections = append(f.sections, testSection{tag: "PAIR", flags: 1, payload: floatBytes(0, 1, 0.5, math.NaN(), 1, 0)}, testSection{tag: "BOOT", payload: []byte(`{"level":0.5,"topics":[{},{}],"pairs":null}`)})
	back, err = ReadModel(bytes.NewReader(f.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if u := back.Additions().Uncertainty; u.Level != 0.5 || len(u.Pairs) != 1 || u.Pairs[0].L != 1 || u.Pairs[0].Correlation.High != 1 || !math.IsNaN(u.Pairs[0].Correlation.Low) {
		t.Errorf("%+v", u)
	}
	good, err := nanjson.Marshal(*doubted(tiny))
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := nanjson.Marshal(judged(2))
	if err != nil {
		t.Fatal(err)
	}
	change := func(b []byte, old, by string) []byte {
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%s is not in %s", old, b)
		}
		return bytes.Replace(b, []byte(old), []byte(by), 1)
	}
	for _, c := range []struct {
		want, tag string
		payload   []byte
	}{
		{"", "BOOT", good},
		{"", "VERD", verdicts},
		{"0 cold and 0 drawn replicates, level 0", "BOOT", []byte("{}")},
		{"level 1.9", "BOOT", change(good, `"level":0.9`, `"level":1.9`)},
		{"-5 cold", "BOOT", change(good, `"cold":5`, `"cold":-5`)},
		{"0 topics, want 2", "BOOT", change(good, `"topics":[{`, `"topics":[],"left":[{`)},
		{"a share of the replicates or words of topic 1 is 3", "BOOT", change(good, `"stability":0.05,`, `"stability":3,`)},
		{"topic 0 is one with topic 9", "BOOT", change(good, `{"topic":1,`, `{"topic":9,`)},
		{"word -1 of topic 0 is not in [0, 5)", "BOOT", change(good, `"index":0,`, `"index":-1,`)},
		{"pair 0 is of topics 0 and 0, want 0 and 1", "BOOT", change(good, `"k":0,"l":1,`, `"k":0,"l":0,`)},
		{"unexpected end", "BOOT", good[:len(good)-1]},
		{"low: json", "BOOT", change(good, `"low":-0.00`, `"low":"low","x":-0.00`)},
		{"has 8 numbers, want 6 for each pair", "PAIR", floatBytes(1, 2, 3, 4, 5, 6, 7, 8)},
		{"2 pairs, want 1", "BOOT", change(good, `"pairs":[`, `"pairs":[{"k":0,"l":1},`)},
		{"0 warm, 0 cold and 0 drawn", "BOOT", nil}, // pairs alone
		{"are 0, want K = 2", "VERD", []byte("[]")},
		{`a topic cannot be "fine"`, "VERD", change(verdicts, `"sound"`, `"fine"`)},
		{"verdicts: that of topic 1 is", "VERD", change(verdicts, `"twin":0,`, `"twin":1,`)},
		{"verdicts: that of topic 0 is", "VERD", change(verdicts, `"twin":-1,`, `"twin":2,`)},
		{"cannot unmarshal object", "VERD", []byte("{}")},
	} {
		f := tinyFile()
		if f.sections = append(f.sections, testSection{tag: c.tag, payload: c.payload}); c.payload == nil {
			f.sections[len(f.sections)-1] = testSection{tag: "PAIR", payload: floatBytes(0, 1, 1, 2, 3, 4)}
		}
		_, err := ReadModel(bytes.NewReader(f.bytes()))
		var fe *modelfile.Error
		if c.want == "" && err == nil {
			continue
		}
		if !errors.As(err, &fe) || !errors.Is(err, ErrInvalid) || fe.Section != c.tag || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	for want, u := range map[string]*Uncertainty{"0 topics": {Level: 0.5}, "level 0": {}} {
		if _, err := m.With(Additions{Uncertainty: u}); err == nil || !strings.HasPrefix(err.Error(), "jsmf: uncertainty: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := m.With(Additions{Verdicts: judged(5)}); err == nil || !strings.Contains(err.Error(), "jsmf: verdicts: are 5, want K = 6") {
		t.Errorf("five verdicts of six topics: %v", err)
	}
}

// The part of tokens that repeat others is found again: documents of 100 and of 7 words by Zipf's law, of which
// 30 % repeat an earlier one, and the same number of others. 0.01: five standard errors.
func TestRepeated(t *testing.T) {
	const n, docs, p = 2000, 2000, 0.3
	b := mat.NewDense(n, 1, nil)
	for i := range n {
		b.Set(i, 0, 1/float64(i+1))
	}
	b.Scale(1/mat.Sum(b), b)
	g := corpus.Generator{Topics: b, Prior: corpus.SymmetricDirichlet(1, 1), Lengths: slices.Repeat([]int{100, 7}, docs/2)}
	draw := func(seed uint64, repeat float64) *corpus.Corpus {
		g.Seed, g.Repeat = seed, repeat
		c, _, err := g.Generate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	plain := draw(1, 0)
	if got := repeated(plain, int64(draw(2, p).NNZ())); math.Abs(got-p) > 0.01 {
		t.Errorf("%v of the tokens, want %v", got, p)
	}
	if got := repeated(plain, int64(plain.NNZ())+100); got > 1e-9 {
		t.Errorf("%v of the tokens of documents with more words than are drawn", got)
	}
}

// Of a model with a tree, pairs are those within its groups, whatever becomes of the topics.
func TestUncertaintyOfFamilies(t *testing.T) {
	m := mustModel(t, splitParts())
	u := doubted(m)
	m, err := m.With(Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Pairs) != 6 { // 12 topics in groups of two
		t.Fatalf("%d pairs, want 6", len(u.Pairs))
	}
	back, err := ReadModel(bytes.NewReader(encoded(t, m)))
	if err != nil || !reflect.DeepEqual(back.Additions().Uncertainty, u) {
		t.Errorf("from a file: %+v, %v", back.Additions().Uncertainty, err)
	}
	order := []int{7, 3, 11, 0, 4, 8, 1, 10, 2, 9, 5, 6}
	moved, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	got := moved.Additions().Uncertainty
	if err := got.check(moved.n, moved.families()); err != nil {
		t.Error(err)
	}
	for _, x := range got.Pairs {
		if want := pairOf(u, order[x.K], order[x.L]); x.Correlation != want {
			t.Errorf("topics %d and %d: %+v, want %+v", x.K, x.L, x.Correlation, want)
		}
	}
	// The groups of a level that are made of several topics are not known.
	cut := m.Cut(1)
	if err := cut.Additions().Uncertainty.check(cut.n, cut.families()); err != nil {
		t.Error(err)
	}
	for _, x := range cut.Additions().Uncertainty.Pairs {
		if !x.Correlation.Withheld() || math.IsNaN(x.Correlation.Value) {
			t.Errorf("%+v", x)
		}
	}
	u.Pairs = append(u.Pairs, PairUncertainty{K: 10, L: 11})
	if _, err := m.With(Additions{Uncertainty: u}); err == nil || !strings.Contains(err.Error(), "7 pairs, want 6") {
		t.Error(err)
	}
}

// pairsOfLogits is a logistic-normal prior in which topics go in pairs.
type pairsOfLogits struct{}

func (pairsOfLogits) Sampler(int) (func([]float64, *rand.Rand), error) {
	return func(w []float64, rng *rand.Rand) {
		common := 0.0
		for i := range w {
			if i%2 == 0 {
				common = rng.NormFloat64()
			}
			w[i] = math.Exp(1.4 * (math.Sqrt(0.7)*common + math.Sqrt(0.3)*rng.NormFloat64()))
		}
		floats.Scale(1/floats.Sum(w), w)
	}, nil
}

// Correlations spread over warm replicates as far as over those that go on to the end, but for a tenth. The
// ratio of two spreads of the same 12 replicates over 28 pairs is known to a few percent.
func TestWarmSpread(t *testing.T) {
	if testing.Short() {
		t.Skip("40 passes of each replicate")
	}
	testutil.NotWithRace(t)
	const n, k, replicates, converged = 400, 8, 12, 40
	ctx := t.Context()
	b := mat.NewDense(n, k, nil)
	for i := range n {
		b.Set(i, i%k, 1/float64(i/k+1))
	}
	total := 0.0
	for _, v := range mat.Col(nil, 0, b) {
		total += v
	}
	b.Scale(1/total, b)
	docs, _, err := corpus.Generator{Topics: b, Prior: pairsOfLogits{}, Docs: 500, Lengths: []int{80}, Workers: 1}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := New(k).Words(n)
	m, err := p.Fit(ctx, docs)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Bootstrap{Warm: replicates, Cold: -1, Drawn: -1}.begin(ctx, p, m, docs)
	if err != nil {
		t.Fatal(err)
	}
	variance := func(passes int) (sum float64) {
		all := make([]spread.Spread, k*(k-1)/2)
		for r := range replicates {
			x, err := run.refit(ctx, r, passes)
			if err != nil {
				t.Fatal(err)
			}
			for i, pair := range x.Model.pairs() {
				all[i].Add(pair.Correlation)
			}
		}
		for i := range all {
			sum += all[i].Variance()
		}
		return sum
	}
	if ratio := math.Sqrt(variance(warmCorrelated) / variance(converged)); ratio < 0.9 || ratio > 1.1 {
		t.Errorf("correlations spread %v times as far as after %d passes", ratio, converged)
	}
}
