package jsmf_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// replicates are those of a bootstrap, all at once.
func replicates(t *testing.T, o jsmf.Bootstrap, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input) (out []*jsmf.Replicate) {
	t.Helper()
	for r, err := range o.Replicates(ctx, p, m, in) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// withIDs gives the documents ids, and values of a column "author": three documents each, the
// last one without.
func withIDs(t *testing.T, c *corpus.Corpus) *corpus.Corpus {
	t.Helper()
	ids, values := make([]string, c.NumDocs()), make([][]corpus.Value, c.NumDocs())
	for m := range ids {
		ids[m] = fmt.Sprintf("doc%d", m*7919%10007)
		if values[m] = []corpus.Value{corpus.CategoryOf(fmt.Sprintf("a%d", m/3))}; m == len(ids)-1 {
			values[m] = nil
		}
	}
	named, err := corpus.FromCSR(c.Counts(), c.Vocabulary(), ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "author", Kind: corpus.Category}}, values)
	if err == nil {
		named, err = named.WithMetadata(meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// The same bits for any number of goroutines and replicates and any order of the documents,
// whose weights go with them. Warm and cold replicates of a number have the same weights.
func TestBootstrapSameBits(t *testing.T) {
	c := withIDs(t, draw(t, themes(200, 4), corpus.SymmetricDirichlet(4, 0.2), 300))
	p := jsmf.New(4).Words(100)
	m := fit(t, p, c)
	o := jsmf.Bootstrap{Warm: 3, Cold: 2, Drawn: 2, Seed: 5}
	if testutil.Race { // the results are compared without it
		replicates(t, o, p.Workers(3), m, c)
		return
	}
	want := replicates(t, o, p.Workers(1), m, c)
	order := make([]int, c.NumDocs())
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	back, err := c.Select(order, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]*corpus.Corpus{"as they are": c, "in another order": back} {
		got := replicates(t, o, p.Workers(3), m, in)
		if len(got) != 7 {
			t.Fatalf("%d replicates", len(got))
		}
		for i, r := range got {
			if in == back {
				slices.Reverse(r.Weights)
			}
			if r.Number != []int{0, 1, 2, 0, 1, 0, 1}[i] || r.Cold != (i == 3 || i == 4) || (r.Drawn != nil) != (i > 4) || !slices.Equal(r.Weights, want[i].Weights) || !slices.Equal(r.Distance, want[i].Distance) ||
				!mat.Equal(r.Model.Topics(), want[i].Model.Topics()) || !mat.Equal(r.Model.Correlations(), want[i].Model.Correlations()) {
				t.Errorf("documents %s: replicate %d differs", name, i)
			}
		}
	}
	if !slices.Equal(want[0].Weights, want[3].Weights) || slices.Equal(want[0].Weights, want[1].Weights) {
		t.Error("weights do not go with the number of the replicate")
	}
	more := replicates(t, jsmf.Bootstrap{Warm: 1, Cold: -1, Drawn: -1, Seed: 5}, p, m, c)
	if len(more) != 1 || !slices.Equal(more[0].Weights, want[0].Weights) || !mat.Equal(more[0].Model.Topics(), want[0].Model.Topics()) {
		t.Error("fewer replicates are others")
	}
}

// Weights have the mean and the variance of Exp(1), multiply those that documents have, and
// are one for all documents of a cluster.
func TestBootstrapWeights(t *testing.T) {
	testutil.NotWithRace(t)
	c := withIDs(t, draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.2), 400))
	p := jsmf.New(3).Words(60)
	m := fit(t, p, c)
	sum, squares, n := 0.0, 0.0, 0.0
	for _, r := range replicates(t, jsmf.Bootstrap{Warm: 10, Cold: -1, Drawn: -1}, p, m, c) {
		for _, w := range r.Weights {
			sum, squares, n = sum+w, squares+w*w, n+1
		}
	}
	// The standard errors of 4000 draws are 0.016 and 0.07.
	if mean := sum / n; math.Abs(mean-1) > 0.06 || math.Abs(squares/n-2) > 0.3 {
		t.Errorf("mean %v, second moment %v", mean, squares/n)
	}
	one := jsmf.Bootstrap{Warm: 1, Cold: -1, Drawn: -1}
	plain := replicates(t, one, p, m, c)[0].Weights
	own := make([]float64, len(plain))
	for d := range own {
		own[d] = float64(d % 3)
	}
	weighted, err := c.WithWeights(own)
	if err != nil {
		t.Fatal(err)
	}
	for d, w := range replicates(t, one, p, m, weighted)[0].Weights {
		if w != plain[d]*own[d] {
			t.Fatalf("document %d has the weight %v, want %v times %v", d, w, plain[d], own[d])
		}
	}
	one.Cluster = "author"
	w := replicates(t, one, p, m, c)[0].Weights
	for d := range len(w) - 1 {
		if (w[d] == w[d+1]) != (d%3 != 2) || d == 0 && w[d] == plain[d] {
			t.Fatalf("documents %d and %d have the weights %v and %v", d, d+1, w[d], w[d+1])
		}
	}
	if last := len(w) - 1; w[last] != plain[last] {
		t.Errorf("a document without a value has the weight %v, want its own, %v", w[last], plain[last])
	}
}

// Over corpora drawn from known topics, intervals of 90 % hold the shares that topics have
// under the prior they were drawn by. Documents are long, topics far apart and shares equal,
// so that the prior of the passes, which draws shares together, does not matter. 60 intervals
// miss 6 on average, and more than 14 with a probability of 0.1 % if they are independent;
// intervals of half the width miss 25.
func TestBootstrapCovers(t *testing.T) {
	testutil.NotWithRace(t)
	const k = 3
	missed := 0
	for seed := range uint64(5) {
		c, _, err := corpus.Generator{Topics: themes(90, k), Prior: corpus.SymmetricDirichlet(k, 1.0/k), Docs: 150, Lengths: []int{300}, Seed: seed}.Generate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p := jsmf.New(k).Words(90)
		u, err := jsmf.Bootstrap{Warm: 40, Cold: -1, Drawn: -1, Level: 0.9}.Run(ctx, p, fit(t, p, c), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range u.Topics {
			if x.Share.Low > 1.0/k || x.Share.High < 1.0/k {
				missed++
			}
		}
	}
	if missed > 5 {
		t.Errorf("%d of 15 intervals miss the share", missed)
	}
}

// Topics that were planted are stable, and none falls into two or becomes one with another.
func TestBootstrapStable(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(240, 6), corpus.SymmetricDirichlet(6, 0.1), 600)
	p := jsmf.New(6).Words(240)
	m := fit(t, p, c)
	u, err := jsmf.Bootstrap{Warm: 4, Cold: 4}.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range u.Topics {
		if x.Stability != 1 || x.Kept != 1 || x.Split != 0 || x.Merges != nil || len(x.Words) != 10 || !(x.Share.Low < x.Share.High) {
			t.Errorf("topic %d: %+v", i, x)
		}
	}
	if len(u.Pairs) != 15 || u.Warm != 4 || u.Cold != 4 || u.Level != 0.95 {
		t.Errorf("%d pairs, %d warm and %d cold replicates, level %v", len(u.Pairs), u.Warm, u.Cold, u.Level)
	}
}

// Intervals are the model's numbers with what five replicates spread about each other, by the
// 97.5th percentile of Student's distribution with four degrees of freedom. 1e-5: its digits.
func TestUncertaintyIntervals(t *testing.T) {
	testutil.NotWithRace(t)
	const k, student = 3, 2.776445
	c := draw(t, themes(60, k), corpus.SymmetricDirichlet(k, 0.2), 200)
	p := jsmf.New(k).Words(60)
	m := fit(t, p, c)
	o := jsmf.Bootstrap{Warm: 5, Cold: 2, Drawn: -1, Words: 1}
	u, err := o.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	again := replicates(t, o, p, m, c)
	interval := func(value float64, of func(m *jsmf.Model) float64) jsmf.Interval {
		var all []float64
		for _, r := range again {
			if !r.Cold {
				all = append(all, of(r.Model))
			}
		}
		mean, squares := floats.Sum(all)/5, 0.0
		for _, x := range all {
			squares += (x - mean) * (x - mean)
		}
		half := student * math.Sqrt(squares/4)
		return jsmf.Interval{Value: value, Low: value - half, High: value + half}
	}
	near := func(what string, got, want jsmf.Interval) {
		if got.Value != want.Value || math.Abs(got.Low/want.Low-1) > 1e-5 || math.Abs(got.High/want.High-1) > 1e-5 {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	for i, x := range u.Topics {
		var warm, cold float64
		for _, r := range again {
			if r.Cold {
				cold = max(cold, r.Distance[i]/2)
			} else {
				warm = max(warm, r.Distance[i]/2)
			}
		}
		if x.Moves != warm || x.MovesAnew != cold { // of so few, 95 % are all
			t.Errorf("topic %d moves by %v and %v, want %v and %v", i, x.Moves, x.MovesAnew, warm, cold)
		}
		near("share", x.Share, interval(m.TopicShares()[i], func(m *jsmf.Model) float64 { return m.TopicShares()[i] }))
		w := x.Words[0].Index
		near("word", x.Words[0].Prob, interval(m.Topics().At(w, i), func(m *jsmf.Model) float64 { return m.Topics().At(w, i) }))
	}
	correlation := func(m *jsmf.Model) float64 {
		all := m.CorrelatedPairs(-1)
		return all[slices.IndexFunc(all, func(x jsmf.TopicPair) bool { return x.K == 1 && x.L == 2 })].Correlation
	}
	near("correlation", u.Pairs[2].Correlation, interval(correlation(m), correlation))
}

// What is measured can be saved as JSON, numbers that JSON lacks among it.
func TestUncertaintyJSON(t *testing.T) {
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.2), 200)
	p := jsmf.New(3).Words(60)
	u, err := jsmf.Bootstrap{Warm: 3, Cold: -1, Drawn: -1, Words: 2}.Run(ctx, p, fit(t, p, c), c)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(u.Topics[0].Stability) {
		t.Errorf("a stability of %v without cold replicates", u.Topics[0].Stability)
	}
	b, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	var back jsmf.Uncertainty
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	x, y := back.Topics[2].Words[1], u.Topics[2].Words[1]
	x.Prob.Bias, y.Prob.Bias = 0, 0 // NaN, which is not equal to itself
	if err != nil || string(again) != string(b) || x != y {
		t.Errorf("%s, %v, want %s", again, err, b)
	}
}

// A bootstrap can be left and cancelled, and reports what is done.
func TestBootstrapEnds(t *testing.T) {
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.2), 200)
	p := jsmf.New(3).Words(60)
	m := fit(t, p, c)
	done, total := 0, 0
	var ends []string
	p = p.Record(func(e jsmf.Event) {
		switch {
		case e.Stage == jsmf.StageBootstrap && e.Kind == jsmf.EventProgress:
			done, total = e.Done, e.Total
		case e.Kind == jsmf.EventEnd:
			ends = append(ends, e.Message)
		}
	})
	for range (jsmf.Bootstrap{Warm: 6, Cold: 2}).Replicates(ctx, p, m, c) {
		break
	}
	if done != 1 || total != 6 {
		t.Errorf("%d of %d replicates", done, total)
	}
	replicates(t, jsmf.Bootstrap{Warm: 6, Cold: 2, Drawn: 1}, p, m, c)
	if done != 1 || total != 1 || !slices.Equal(ends, []string{"1 warm replicates", "6 warm replicates", "2 cold replicates", "1 drawn replicates"}) {
		t.Errorf("%d of %d replicates; %q", done, total, ends)
	}
	gone, cancel := context.WithCancel(ctx)
	n := 0
	for r, err := range (jsmf.Bootstrap{Warm: 50, Cold: -1}).Replicates(gone, p.Workers(1), m, c) {
		if n++; n == 2 {
			cancel()
		}
		if (r == nil) != (err != nil) || n > 2 && err == nil {
			t.Errorf("replicate %d: %v", n, err)
		}
	}
	cancel()
	if n != 3 {
		t.Errorf("%d replicates and errors", n)
	}
}

func TestBootstrapBad(t *testing.T) {
	_, docs := planted(40, 3, 60)
	c := countsCorpus(t, 40, docs)
	p := jsmf.Published(3).Rectify(rectify.TruncatedEig{})
	m := fit(t, p, c)
	for want, f := range map[string]func() error{
		"no model":        func() error { _, err := jsmf.Bootstrap{}.Run(ctx, p, nil, c); return err },
		"Level = 1":       func() error { _, err := jsmf.Bootstrap{Level: 1}.Run(ctx, p, m, c); return err },
		"Level = NaN":     func() error { _, err := jsmf.Bootstrap{Level: math.NaN()}.Run(ctx, p, m, c); return err },
		"Words = -1":      func() error { _, err := jsmf.Bootstrap{Words: -1}.Run(ctx, p, m, c); return err },
		"neither warm":    func() error { _, err := jsmf.Bootstrap{Warm: -1, Cold: -1}.Run(ctx, p, m, c); return err },
		"refined by":      func() error { _, err := jsmf.Bootstrap{}.Run(ctx, p, m, c); return err },
		`column "author"`: func() error { _, err := jsmf.Bootstrap{Warm: -1, Cluster: "author"}.Run(ctx, p, m, c); return err },
		"2 topics, and":   func() error { _, err := jsmf.Bootstrap{Warm: -1, Cold: 1}.Run(ctx, p.K(2), m, c); return err },
		"K = 1":           func() error { _, err := jsmf.Bootstrap{Warm: -1}.Run(ctx, p.K(1), m, c); return err },
		"no documents":    func() error { _, err := jsmf.Bootstrap{Warm: -1}.Run(ctx, p, m, identity(t, 9)); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if u, err := (jsmf.Bootstrap{Warm: -1, Cold: 3}).Run(ctx, p, m, c); err != nil || !(u.Topics[0].Share.Low < u.Topics[0].Share.High) {
		t.Errorf("the published method: %+v, %v", u, err)
	}
}

// Documents that are not in memory have the replicates of those that are, if these are in
// the order of their ids.
func TestBootstrapEncoded(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.2), 200)
	p := jsmf.New(3).Words(60)
	m := fit(t, p, c)
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	o := jsmf.Bootstrap{Warm: 2, Cold: 1}
	want := replicates(t, o, p, m, c)
	for i, r := range replicates(t, o, p, m, e) {
		if !slices.Equal(r.Weights, want[i].Weights) || !mat.Equal(r.Model.Topics(), want[i].Model.Topics()) {
			t.Errorf("replicate %d differs", i)
		}
	}
	for want, w := range map[string][]float64{"2 weights for 200": {1, 2}, "document 3 has the weight -1": append([]float64{1, 1, -1}, make([]float64, 197)...)} {
		if _, err := e.WithWeights(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// Drawn documents are as long as the given ones and have their metadata and weights. What is said of
// their fits goes into the intervals.
func TestBootstrapDrawn(t *testing.T) {
	testutil.NotWithRace(t)
	const k = 4
	c := draw(t, themes(200, k), corpus.SymmetricDirichlet(k, 0.2), 300)
	weights := make([]float64, c.NumDocs())
	for m := range weights {
		weights[m] = 1 + float64(m%2)
	}
	c, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(k).Words(100)
	m := fit(t, p, c)
	o := jsmf.Bootstrap{Warm: 5, Cold: -1, Drawn: 3, Seed: 6}
	n := 0
	u, err := o.Run(ctx, p, m, c, func(_ context.Context, r *jsmf.Replicate) error {
		if r.Drawn == nil {
			return nil
		}
		n++
		known, _, err := c.Reindex(m.Vocabulary())
		if err != nil {
			return err
		}
		if !slices.Equal(r.Drawn.Documents.Weights(), weights) {
			t.Error("drawn documents have other weights")
		}
		theta := r.Drawn.Proportions
		if rows, cols := theta.Dims(); rows != c.NumDocs() || cols != k {
			t.Fatalf("proportions are %d×%d", rows, cols)
		}
		for d := range c.NumDocs() {
			_, want := known.Doc(d)
			_, got := r.Drawn.Documents.Doc(d)
			sum := 0
			for _, v := range want {
				sum += int(v)
			}
			for _, v := range got {
				sum -= int(v)
			}
			if sum != 0 || math.Abs(floats.Sum(theta.RawRowView(d))-1) > 1e-9 {
				t.Fatalf("document %d: %d tokens are missing, proportions %v", d, sum, theta.RawRowView(d))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !(u.Repeat >= 0 && u.Repeat < 0.05) { // no document repeats tokens
		t.Errorf("%v of the tokens are repeated", u.Repeat)
	}
	if n != 3 || u.Drawn != 3 {
		t.Errorf("%d and %d drawn replicates, want 3", n, u.Drawn)
	}
	// 300 documents of separated topics: nearly all of a correlation is found.
	if u.Found < 0.7 || u.Found > 1.2 {
		t.Errorf("%v of the correlations are found", u.Found)
	}
	shares, pairs := m.TopicShares(), m.CorrelatedPairs(-1)
	for i, x := range u.Topics {
		if !(x.Changed > 0 && x.Changed < 0.4) || math.Abs(x.Share.Value+x.Share.Bias-shares[i]) > 1e-12 || !(x.Share.Low < x.Share.Value && x.Share.Value < x.Share.High) {
			t.Errorf("topic %d of share %v: %+v", i, shares[i], x)
		}
	}
	for _, x := range u.Pairs {
		at := slices.IndexFunc(pairs, func(p jsmf.TopicPair) bool { return p.K == x.K && p.L == x.L })
		if v := x.Correlation; math.Abs(v.Value+v.Bias-pairs[at].Correlation) > 1e-12 || !(v.Low < v.Value && v.Value < v.High) {
			t.Errorf("%+v, the model has %v", x, pairs[at].Correlation)
		}
	}
	o.Drawn = -1
	without, err := o.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if x := without.Topics[0]; !math.IsNaN(without.Found) || !math.IsNaN(x.Changed) || !math.IsNaN(x.Share.Bias) || x.Share.Value != shares[0] || x.Share.High-x.Share.Low >= u.Topics[0].Share.High-u.Topics[0].Share.Low {
		t.Errorf("without drawn replicates: %v of the correlations, %+v", without.Found, x)
	}
}

// Of a hundred documents of 15 tokens from topics with most words in common nothing can be said, and every
// number that is written says so. Of 8,000 documents of 20 tokens from topics of their own words all has
// intervals.
func TestBootstrapWithholds(t *testing.T) {
	testutil.NotWithRace(t)
	const k = 4
	near := themes(80, k)
	near.Apply(func(_, _ int, v float64) float64 { return 0.2*v + 0.8/80 }, near)
	write := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	for _, x := range []struct {
		docs, tokens int
		topics       *mat.Dense
		withheld     bool
	}{{100, 15, near, true}, {8000, 20, themes(80, k), false}} {
		c, _, err := corpus.Generator{Topics: x.topics, Prior: corpus.SymmetricDirichlet(k, 0.3), Docs: x.docs, Lengths: []int{x.tokens}}.Generate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p := jsmf.New(k).Words(80)
		u, err := jsmf.Bootstrap{Warm: 2, Cold: -1, Drawn: 2, Words: 1, Seed: 2}.Run(ctx, p, fit(t, p, c), c)
		if err != nil {
			t.Fatal(err)
		}
		var all []jsmf.Interval
		for _, topic := range u.Topics {
			all = append(all, topic.Share, topic.Words[0].Prob)
		}
		for _, pair := range u.Pairs {
			all = append(all, pair.Correlation)
		}
		for i, v := range all {
			said := v.Text(write, "")
			if v.Withheld() != x.withheld || strings.HasPrefix(said, write(v.Value)+" (too little is known") != x.withheld || math.IsNaN(v.Value) {
				t.Errorf("%d documents: number %d is %q", x.docs, i, said)
			}
		}
		if s := u.Recovery("letters"); !strings.HasPrefix(s, "In letters drawn from this model") || u.Repeat > 0.05 {
			t.Errorf("%d documents: %q, %v repeated", x.docs, s, u.Repeat)
		}
	}
}
