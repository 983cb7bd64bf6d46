package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

var ctx = context.Background()

// themes are topics over n words: each has 97 % of its probability on words of its own.
func themes(n, k int) *mat.Dense {
	b := mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			b.Set(i, t, 0.03/float64(n))
			if i*k/n == t {
				b.Set(i, t, 0.03/float64(n)+0.97*float64(k)/float64(n))
			}
		}
	}
	return b
}

// texts draws documents of two topics and more, with the columns "side", three levels of which
// one has words of the first topic alone, "size", a number, and "author", of four
// documents each. They have ids in an order of their own, and every second weighs 2.
func texts(t *testing.T, docs, tokens, k int) *corpus.Corpus {
	t.Helper()
	c, _, err := corpus.Generator{Topics: themes(20*k, k), Prior: corpus.SymmetricDirichlet(k, 0.3), Docs: docs, Lengths: []int{tokens, 2 * tokens}, Seed: 7}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var values [][]corpus.Value
	weights := make([]float64, docs)
	for m := range docs {
		ids = append(ids, fmt.Sprintf("text %d", m*7919%10007))
		own := 0.0 // tokens of words of the first topic
		words, counts := c.Doc(m)
		for i, w := range words {
			if w < 20 {
				own += float64(counts[i])
			}
		}
		side := "left"
		switch {
		case own == float64(c.DocLen(m)):
			side = "right"
		case m%3 == 0:
			side = "centre"
		}
		values = append(values, []corpus.Value{corpus.CategoryOf(side), corpus.NumberOf(math.Sqrt(float64(c.DocLen(m))) + float64(m%5)), corpus.CategoryOf(fmt.Sprint("author ", m/4))})
		weights[m] = float64(1 + m%2)
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "side", Kind: corpus.Category}, {Name: "size", Kind: corpus.Number}, {Name: "author", Kind: corpus.Category}}, values)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = corpus.FromCSR(c.Counts(), c.Vocabulary(), ids, nil); err == nil {
		if c, err = c.WithMetadata(meta); err == nil {
			c, err = c.WithWeights(weights)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fitted returns a pipeline and its model.
func fitted(t *testing.T, c *corpus.Corpus, k int) (jsmf.Pipeline, *jsmf.Model) {
	t.Helper()
	p := jsmf.New(k).Words(c.NumWords())
	m, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// study asks for all that there is to ask.
var study = Study{
	Terms:     []Term{Category("side"), Number("size")},
	Bootstrap: jsmf.Bootstrap{Warm: 5, Drawn: -1, Cluster: "author", Seed: 3, Level: 0.9},
}

// exact returns documents whose words are exactly as their proportions of the topics b say, with
// the columns "side" and "size", and the average of the proportions. at tells these.
func exact(t *testing.T, b *mat.Dense, at func(side int, size float64) []float64) (d *documents, share []float64) {
	t.Helper()
	build := corpus.Builder{
		Vocabulary: []string{"a", "b", "c", "d"},
		Columns:    []corpus.Column{{Name: "side", Kind: corpus.Category}, {Name: "size", Kind: corpus.Number}},
	}
	share = make([]float64, 3)
	const docs = 24
	for m := range docs {
		side, size := m%2, float64(m%3)
		counts, theta := map[string]int{}, at(side, size)
		floats.AddScaled(share, 1.0/docs, theta)
		for i, w := range build.Vocabulary {
			counts[w] = int(math.Round(64 * float64(1+m%4) * floats.Dot(b.RawRowView(i), theta)))
		}
		if err := build.AddCounts(fmt.Sprint(m), "", counts, corpus.CategoryOf(fmt.Sprint(side)), corpus.NumberOf(size)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := build.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	d = &documents{encoded: e, k: 3, to: []int32{0, 1, 2, 3}, meta: e.Metadata(), own: slices.Repeat([]float64{1}, docs), length: make([]float64, docs)}
	for m := range docs {
		_, counts := c.Doc(m)
		for _, n := range counts {
			d.length[m] += float64(n)
		}
	}
	return d, share
}

// Where the words of documents are exactly as their proportions say, these come out, and what
// they depend on.
func TestEstimateExact(t *testing.T) {
	b := mat.NewDense(4, 3, []float64{0.5, 0.25, 0, 0.25, 0.25, 0, 0.25, 0.25, 0.5, 0, 0.25, 0.5})
	at := func(side int, size float64) []float64 {
		x := []float64{0.25 + size/8, 0.5 - size/8, 0.25}
		if side == 1 {
			x[0], x[2] = x[0]-0.125, x[2]+0.125
		}
		return x
	}
	d, share := exact(t, b, at)
	terms := []Term{Category("side"), Spline("size", 1)}
	made, err := newDesigns(ctx, terms, d.meta, d.own, "")
	if err != nil {
		t.Fatal(err)
	}
	r := newRegression(d, made)
	quantities := []Quantity{{Topics: []int{0}}, {Topics: []int{1}}, {Topics: []int{2}}, {Topics: []int{0, 1}}}
	s := newSummary(made, 3, quantities)
	if err := r.of(ctx, b, share, d.own, original); err != nil {
		t.Fatal(err)
	}
	if err := s.estimate(ctx, r); err != nil {
		t.Fatal(err)
	}
	// Two replicates, in the second of which topic 2 has no match.
	for i, matched := range [][]bool{{true, true, true}, {true, true, false}} {
		if err := r.of(ctx, b, share, d.own, i); err != nil {
			t.Fatal(err)
		}
		if err := s.add(r, matched); err != nil {
			t.Fatal(err)
		}
	}
	got := s.effects(0.95)
	near := func(what string, x jsmf.Interval, want float64) {
		t.Helper()
		if !(math.Abs(x.Value-want) < 1e-12) {
			t.Errorf("%s is %v, want %v", what, x.Value, want)
		}
	}
	for k, v := range share {
		near(fmt.Sprint("share ", k), got.Shares[k], v)
		near(fmt.Sprint("slope ", k), got.Terms[2].Slopes[k], []float64{0.125, -0.125, 0}[k])
		for side := range 2 {
			want := at(side, 1)[k]
			near(fmt.Sprint("side ", side, ": prediction of ", k), got.Terms[0].Predictions[side][k], want)
			near(fmt.Sprint("side ", side, ": difference of ", k), got.Terms[0].Differences[side][k], want-v)
		}
	}
	near("the sum", got.Shares[3], share[0]+share[1])
	near("the sum at side 1", got.Terms[0].Predictions[1][3], at(1, 1)[0]+at(1, 1)[1])
	near("its slope", got.Terms[2].Slopes[3], 0)
	if !slices.Equal(got.Unmatched, []int{0, 0, 1, 0}) {
		t.Errorf("unmatched: %v", got.Unmatched)
	}
	if x := got.Shares[2]; !math.IsNaN(x.Low) || !math.IsNaN(x.High) {
		t.Errorf("one replicate gives the interval %v", x)
	}
	if x := got.Shares[1]; !(x.High-x.Low < 1e-12) {
		t.Errorf("replicates that do not differ give the interval %v", x)
	}
}

// The result is that of a program that writes everything down, with clusters of documents and without.
func TestEstimateObvious(t *testing.T) {
	testutil.NotWithRace(t)
	c := texts(t, 900, 30, 3)
	p, m := fitted(t, c, 3)
	for _, cluster := range []string{"author", ""} {
		s := study
		s.Bootstrap.Cluster = cluster
		got, err := s.Run(ctx, p, m, c)
		if err != nil {
			t.Fatal(err)
		}
		want := slowly(t, s, p, m, c)
		if got.Documents != 900 || got.Missing != 0 || got.Replicates != 5 || got.Level != 0.9 || len(got.Quantities) != 3 {
			t.Errorf("%d documents, %d missing, %d replicates, level %v, %d quantities", got.Documents, got.Missing, got.Replicates, got.Level, len(got.Quantities))
		}
		rows, bounded := got.Rows(), 0
		if len(rows) != len(want) {
			t.Fatalf("%d numbers, want %d", len(rows), len(want))
		}
		for i, r := range rows {
			w := want[i]
			if r.Measure == "share" || r.Measure == "prediction" {
				w.Low, w.High = max(w.Low, 0), min(w.High, 1)
				if r.Value == 0 || r.Value == 1 {
					bounded++
				}
			}
			if r.Measure == "difference" {
				share := got.Shares[i%3]
				w.Low, w.High = max(w.Low, -share.High), min(w.High, 1-share.Low)
			}
			// The slow program steps to the nearest mixture, to 1e-9.
			if math.Abs(r.Value-w.Value) > 1e-7 || math.Abs(r.Low-w.Low) > 1e-6 || math.Abs(r.High-w.High) > 1e-6 {
				t.Errorf("%+v, want %+v", r, w)
			}
			if math.IsNaN(r.Value) != r.Few || math.IsNaN(r.Low) != r.Few {
				t.Errorf("%+v, few %v", r, r.Few)
			}
		}
		if bounded == 0 {
			t.Error("no proportion is at its bound")
		}
	}
}

// The same bits for any number of goroutines and any order of the documents, and for documents
// that are not in memory if they are in the order of their ids. 9000 documents are in
// several blocks.
func TestEstimateSameBits(t *testing.T) {
	c := texts(t, 9000, 5, 3)
	p, m := fitted(t, c, 3)
	s := study
	s.Bootstrap.Warm = 2
	say := func(p jsmf.Pipeline, in jsmf.Input) string {
		t.Helper()
		e, err := s.Run(ctx, p, m, in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := say(p, c)
	if testutil.Race { // the results are compared without it
		return
	}
	if say(p.Workers(1), c) != want {
		t.Error("another number of goroutines, other bits")
	}
	order := make([]int, c.NumDocs())
	for i := range order {
		order[i] = (i*4001 + 5) % len(order)
	}
	turned, err := c.Select(order, nil)
	if err != nil {
		t.Fatal(err)
	}
	if say(p, turned) != want {
		t.Error("another order of documents, other bits")
	}
	// The replicates of a bootstrap, cold ones among them, serve the study.
	shared, err := s.Begin(ctx, m, turned)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Bootstrap
	o.Cold = 1
	read := 0
	count := func(context.Context, *jsmf.Replicate) error { read++; return nil }
	got, err := o.Run(ctx, p, m, turned, shared.Add, count)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(shared.Effects())
	if err != nil || string(b) != want {
		t.Errorf("replicates of a bootstrap, other bits: %v", err)
	}
	alone, err := o.Run(ctx, p, m, c)
	if err != nil {
		t.Fatal(err)
	}
	if read != 3 || jsonOf(t, got) != jsonOf(t, alone) {
		t.Errorf("%d replicates read, want 3, and the uncertainty of a bootstrap that is read by none", read)
	}
	stop := errors.New("enough")
	if _, err := o.Run(ctx, p, m, c, func(context.Context, *jsmf.Replicate) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a reader that fails: %v", err)
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := c.ID(a), c.ID(b)
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		return strings.Compare(x, y)
	})
	if turned, err = c.Select(order, nil); err != nil {
		t.Fatal(err)
	}
	e, err := corpus.Encode(ctx, turned.Source())
	if err != nil {
		t.Fatal(err)
	}
	if say(p, e) != want {
		t.Error("encoded documents, other bits")
	}
}

func jsonOf(t *testing.T, x any) string {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEstimateBad(t *testing.T) {
	c := texts(t, 60, 20, 3)
	p, m := fitted(t, c, 3)
	with := func(f func(s *Study)) error {
		s := study
		f(&s)
		_, err := s.Run(ctx, p, m, c)
		return err
	}
	plain, err := corpus.FromCSR(c.Counts(), c.Vocabulary(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := corpus.FromCSR(c.Counts(), make([]string, c.NumWords()), nil, nil)
	if err == nil {
		other, err = other.WithMetadata(c.Metadata())
	}
	if err != nil {
		t.Fatal(err)
	}
	counts, err := cooc.NewDense(mat.NewSymDense(2, []float64{0.5, 0.1, 0.1, 0.3}))
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		"no terms":                  func() error { return with(func(s *Study) { s.Terms = nil }) },
		`"colour"`:                  func() error { return with(func(s *Study) { s.Terms = []Term{Category("colour")} }) },
		"no model":                  func() error { _, err := study.Run(ctx, p, nil, c); return err },
		"no documents":              func() error { _, err := study.Run(ctx, p, m, nil); return err },
		"no columns of metadata":    func() error { _, err := study.Run(ctx, p, m, plain); return err },
		"is one of the model":       func() error { _, err := study.Run(ctx, p, m, other); return err },
		"holds no documents":        func() error { _, err := study.Run(ctx, p, m, counts); return err },
		`there is no column "club"`: func() error { return with(func(s *Study) { s.Bootstrap.Cluster = "club" }) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "effects: ") != 1 {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestEstimateCancelled(t *testing.T) {
	c := texts(t, 100, 20, 3)
	p, m := fitted(t, c, 3)
	gone, cancel := context.WithCancel(ctx)
	s := study
	s.Bootstrap.Warm = 1000
	_, err := s.Run(gone, p.Workers(1).Record(func(e jsmf.Event) {
		if e.Stage == jsmf.StageBootstrap && e.Kind == jsmf.EventProgress && e.Done == 2 {
			cancel()
		}
	}), m, c)
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err = s.Run(gone, p, m, c); err == nil {
		t.Error("cancelled before: no error")
	}
}
