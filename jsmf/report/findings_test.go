package report

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
	"github.com/jsmf-go/spectral/metrics"
)

// planted is a fit to documents of five topics of words of their own, with the options of a page about them.
type planted struct {
	m     *jsmf.Model
	o     Options
	truth *mat.Dense // the proportions of topics in the documents
}

// plant draws documents of the years 2000 to 2005 and of the classes left, right and rare, which two documents
// have. By strength, topic 0 rises and topic 1 falls over the years, topic 2 is more common on the
// left, and topics 3 and 4 come together.
func plant(t *testing.T, docs int, strength float64, seed uint64) planted {
	t.Helper()
	ctx := context.Background()
	const k, own = 5, 16
	b := mat.NewDense(k*own, k, nil)
	var vocabulary []string
	for i := range k * own {
		vocabulary = append(vocabulary, sample.Words(i))
		for j := range k {
			b.Set(i, j, 0.03/(k*own))
		}
		b.Set(i, i/own, 0.97/own+0.03/(k*own))
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	w := mat.NewDense(docs, k, nil)
	var values [][]corpus.Value
	for d := range docs {
		year, side := rng.IntN(6), "left"
		if rng.IntN(2) == 0 {
			side = "right"
		}
		if d%(docs/2) == 1 {
			side = "rare"
		}
		both := 3 * strength * rng.NormFloat64()
		row, sum := w.RawRowView(d), 0.0
		for j := range row {
			x := 1.2 * rng.NormFloat64()
			switch {
			case j == 0:
				x += strength * (float64(year) - 2.5) / 2
			case j == 1:
				x -= strength * (float64(year) - 2.5) / 2
			case j == 2 && side == "left":
				x += strength
			case j > 2:
				x += both
			}
			row[j] = math.Exp(x)
			sum += row[j]
		}
		for j := range row {
			row[j] /= sum
		}
		at := time.Date(2000+year, time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)
		values = append(values, []corpus.Value{corpus.TimeOf(at), corpus.CategoryOf(side)})
	}
	c, _, err := corpus.Generator{Topics: b, Proportions: w, Docs: docs, Lengths: []int{40, 60}, Vocabulary: vocabulary, Seed: seed}.Generate(ctx)
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	fail(err)
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "date", Kind: corpus.Time}, {Name: "side", Kind: corpus.Category}}, values)
	fail(err)
	c, err = c.WithMetadata(meta)
	fail(err)
	p := jsmf.New(k).Words(c.NumWords())
	m, err := p.Fit(ctx, c)
	fail(err)
	r, err := p.Evaluate(ctx, m, c)
	fail(err)
	boot := jsmf.Bootstrap{Warm: 20, Cold: 4, Drawn: 3}
	study, err := (effects.Study{Terms: []effects.Term{effects.Time("date", effects.Year), effects.Category("side")}, Bootstrap: boot}).Begin(ctx, m, c)
	fail(err)
	u, err := boot.Run(ctx, p, m, c, study.Add)
	fail(err)
	m, err = m.With(jsmf.Additions{Uncertainty: u})
	fail(err)
	docTopics, err := m.Transform(ctx, c.Source())
	fail(err)
	return planted{m, Options{Metrics: r, Effects: study.Effects(), Documents: docTopics}, w}
}

// found returns the findings of a model by their places.
func found(t *testing.T, m *jsmf.Model, o Options) map[string]Finding {
	t.Helper()
	list, err := Findings(m, o)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Finding{}
	for _, x := range list {
		if _, twice := out[x.Place]; twice {
			t.Errorf("two findings at %s", x.Place)
		}
		for _, c := range x.Curves {
			if len(c.Values) != len(x.Labels) {
				t.Errorf("%s: %d values for %d labels", x.Text, len(c.Values), len(x.Labels))
			}
		}
		out[x.Place] = x
	}
	return out
}

var (
	named  = regexp.MustCompile(`“[^”]*”`)
	figure = regexp.MustCompile(`[−+]?\d+(\.\d+)?`)
)

// same reports an error if the numbers in a finding are others.
func same(t *testing.T, x Finding, want ...float64) {
	t.Helper()
	var got []float64
	for _, s := range figure.FindAllString(strings.ReplaceAll(named.ReplaceAllString(x.Text, ""), "\u202f", ""), -1) {
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 0.0501 }) {
		t.Errorf("%s: %s\nwant the numbers %.3f", x.Place, x.Text, want)
	}
}

// of returns the interval of a finding's curve at a label.
func (x Finding) of(t *testing.T, curve int, label string) jsmf.Interval {
	t.Helper()
	i := slices.Index(x.Labels, label)
	if i < 0 || curve >= len(x.Curves) {
		t.Fatalf("%s: there is no curve %d with %s", x.Text, curve, label)
	}
	return x.Curves[curve].Values[i]
}

// Every number is that of the replicates and the study, which hold what the documents were drawn with: by
// their years and classes. What was planted is found.
func TestFindingsPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	p := plant(t, 1000, 1, 1)
	all := found(t, p.m, p.o)
	u, meta := p.m.Additions().Uncertainty, p.o.Documents.Metadata
	// topic returns the topic of a planted one.
	topic := func(planted int) int {
		return slices.IndexFunc(p.m.Summary(1), func(x jsmf.Topic) bool { return x.Words[0].Index/16 == planted })
	}
	// mean is the share of a planted topic in the documents of a class or year.
	mean := func(planted int, in func(value string) bool) float64 {
		sum, n := 0.0, 0.0
		for d := range p.o.Documents.IDs {
			if in(meta.Value(d, 0).String()[:4]) || in(meta.Value(d, 1).String()) {
				sum, n = sum+p.truth.At(d, planted), n+1
			}
		}
		return sum / n
	}
	holds := func(x jsmf.Interval, truth float64) {
		t.Helper()
		if !(x.Low-0.01 < truth && truth < x.High+0.01) {
			t.Errorf("%+v does not hold %v", x, truth)
		}
	}
	everywhere := func(string) bool { return true }
	is := func(want string) func(string) bool { return func(s string) bool { return s == want } }
	x := all["#topics"]
	want := []float64{1000, 5}
	for _, name := range x.Labels[:3] {
		k := slices.Index(p.m.Names(), name)
		s := u.Topics[k].Share
		if x.of(t, 0, name) != s {
			t.Errorf("the share of %s is %+v, want %+v", name, x.of(t, 0, name), s)
		}
		want = append(want, 100*s.Value, 100*s.Low, 100*s.High)
		holds(s, mean(p.m.Summary(1)[k].Words[0].Index/16, everywhere))
	}
	same(t, x, want...)

	x = all["#time"]
	want = []float64{2000, 2005}
	for curve, planted := range []int{0, 1} {
		k := topic(planted)
		if x.Curves[curve].Name != p.m.Name(k) {
			t.Errorf("%s, want %s", x.Text, p.m.Name(k))
		}
		for _, year := range []string{"2000", "2005"} {
			v := x.of(t, curve, year)
			want = append(want, 100*v.Value, 100*v.Low, 100*v.High)
			holds(v, mean(planted, is(year)))
		}
	}
	same(t, x, append(want, 5, 1, 1)...)

	x = all["#effects"]
	k := topic(2)
	if !strings.HasPrefix(x.Text, "Where side is left, “"+p.m.Name(k)+"” has") {
		t.Error(x.Text)
	}
	v := x.of(t, 0, "left")
	side := slices.IndexFunc(p.o.Effects.Terms, func(t effects.TermEffects) bool { return t.Name == "side" && t.AdjustedFor == nil })
	by := p.o.Effects.Terms[side]
	left := slices.IndexFunc(by.Points, func(p effects.Point) bool { return p.Label == "left" })
	d := by.Differences[left][k]
	certain := 0
	for i, point := range by.Points {
		for k := range 5 {
			// 20 replicates and 10 numbers: the quantiles of Student's distribution are 3.174 and 2.093.
			y := by.Differences[i][k]
			low, high := y.Value-3.1737/2.0930*(y.Value-y.Low), y.Value+3.1737/2.0930*(y.High-y.Value)
			if point.Documents >= 10 && (low > 0 || high < 0) {
				certain++
			}
		}
	}
	same(t, x, 100*v.Value, 100*v.Low, 100*v.High, 100*d.Value, 100*d.Low, 100*d.High, float64(certain), 10)
	holds(v, mean(2, is("left")))
	holds(d, mean(2, is("left"))-mean(2, everywhere))

	x = all["#correlations"]
	a, b := min(topic(3), topic(4)), max(topic(3), topic(4))
	if !strings.HasPrefix(x.Text, "“"+p.m.Name(a)+"” and “"+p.m.Name(b)+"” go together") {
		t.Error(x.Text)
	}
	pair := u.Pairs[slices.IndexFunc(u.Pairs, func(x jsmf.PairUncertainty) bool { return x.K == a && x.L == b })].Correlation
	holds(pair, stat.Correlation(mat.Col(nil, 3, p.truth), mat.Col(nil, 4, p.truth), nil))
	same(t, x, pair.Value, pair.Low, pair.High, 10, 1)
	same(t, all["#quality"], 5, 4)
	if len(all) != 5 {
		t.Errorf("%d findings: %v", len(all), all)
	}
}

// Where nothing was planted, nothing is claimed of time, classes and pairs.
func TestFindingsNothing(t *testing.T) {
	testutil.NotWithRace(t)
	for seed := range uint64(3) {
		p := plant(t, 100, 0, seed)
		all := found(t, p.m, p.o)
		for place, want := range map[string]string{"#time": "Between 2000 and 2005 no rise or fall of a topic is certain.", "#effects": "No difference of a topic by side is certain.", "#correlations": "Of 10 pairs of sound topics none goes together for certain."} {
			if all[place].Text != want {
				t.Errorf("seed %d: %s", seed, all[place].Text)
			}
		}
	}
}

// Topics that are not sound or not stable are told of in the last sentence alone, and what the model
// knows nothing about in none.
func TestFindingsDoubt(t *testing.T) {
	m := model(t, 300, 6)
	all := found(t, m, Options{})
	if len(all) != 2 || all["#topics"].Text == "" || all["#quality"].Text != "Shares and correlations have no intervals: the fit was not repeated." {
		t.Errorf("%v", all)
	}
	quality := []metrics.Quality{metrics.Weak, metrics.Sound, metrics.Sound, metrics.Weak, metrics.Background, metrics.Sound}
	var verdicts []metrics.Verdict
	for _, q := range quality {
		verdicts = append(verdicts, metrics.Verdict{Quality: q, Twin: -1})
	}
	u := sample.Uncertainty(m)
	for k := range u.Topics {
		u.Topics[k].Stability = 1
	}
	u.Topics[2].Stability = 0.5
	u.Topics[5].Share.Low = math.NaN()
	m, err := m.With(jsmf.Additions{Uncertainty: u, Verdicts: verdicts})
	if err != nil {
		t.Fatal(err)
	}
	e := sample.Effects(m, 4)
	all = found(t, m, Options{Effects: e, Nouns: Nouns{Document: "letter", Documents: "letters"}})
	if x := all["#topics"]; strings.Contains(x.Text, "too little") {
		t.Errorf("the first sentence is broken up: %s", x.Text)
	}
	if x := all["#quality"]; x.Text != "Read with care: of 6 topics 3 are not sound (2 weak, 1 background), and 1 came back in fewer than three of four new fits. Too little is known for an interval of 1 of 6 shares." {
		t.Error(x.Text)
	}
	for _, x := range all {
		for k, name := range m.Names() {
			if k != 1 && k != 5 && strings.Contains(fmt.Sprint(x), name) {
				t.Errorf("%s: of topic %d", x.Text, k)
			}
		}
	}
	// A difference that turns around when it is adjusted is not told.
	i := slices.IndexFunc(e.Terms, func(t effects.TermEffects) bool { return t.Kind == effects.Categories })
	x := e.Terms[i]
	x.AdjustedFor, x.Differences = []string{"age"}, slices.Clone(x.Differences)
	for i, row := range x.Differences {
		x.Differences[i] = slices.Clone(row)
		for k := range row {
			x.Differences[i][k].Value *= -1
		}
	}
	e.Terms = slices.Insert(e.Terms, i+1, x)
	if x := found(t, m, Options{Effects: e})["#effects"]; x.Text != "No difference of a topic by party is certain." {
		t.Error(x.Text)
	}
	for k := range verdicts {
		verdicts[k].Quality = metrics.Weak
	}
	all = found(t, m, Options{Effects: e, Metrics: &metrics.Report{Verdicts: verdicts}})
	if len(all) != 2 || all["#topics"].Text != "None of 6 topics is sound and stable, so that nothing is said of single ones." {
		t.Errorf("%v", all)
	}
	if _, err := Findings(nil, Options{}); err == nil {
		t.Error("no model, no error")
	}
	if _, err := Findings(m, Options{TopWords: -1}); err == nil {
		t.Error("wrong options, no error")
	}
}
