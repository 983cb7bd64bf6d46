package jsmf_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// without returns c without the documents whose number is rest modulo every.
func without(t testing.TB, c *corpus.Corpus, every, rest int) *corpus.Corpus {
	t.Helper()
	var keep []int
	for m := range c.NumDocs() {
		if m%every != rest {
			keep = append(keep, m)
		}
	}
	out, err := c.Select(keep, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// some returns the first documents of synth and the first words: for tests that
// need documents of topics, but not many.
func some(t testing.TB, docs, words int) *corpus.Corpus {
	t.Helper()
	c, err := golden.Corpus(t, "synth").Select(seq(0, docs), seq(0, words))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func largestOf(xs []float64) float64 {
	top := 0.0
	for _, x := range xs {
		top = max(top, x)
	}
	return top
}

// A refit to the same documents gives the same topics, anchors and numbering; one
// after a hundredth more of them has the measures of a fit from nothing.
func TestRefit(t *testing.T) {
	ctx := context.Background()
	c := golden.Corpus(t, "synth")
	part := without(t, c, 100, 3)
	methods := []rectify.Rectifier{rectify.AP{}, rectify.ENN{}, rectify.LR{}}
	if testing.Short() {
		methods = methods[:1]
	}
	for _, r := range methods {
		p := jsmf.Published(10).Rectify(r)
		cold := fit(t, p, c)
		if !slices.Equal(cold.Stats().Refit.Drift, nil) {
			t.Fatalf("%v: %+v", r, cold.Stats().Refit)
		}
		again := fit(t, p.From(cold), c)
		st := again.Stats().Refit
		if len(st.Drift) != 10 || largestOf(st.Drift) > 1e-6 || st.New != nil || st.Vanished != nil || st.Joined != nil || st.Left != nil {
			t.Errorf("%v: the same documents: %+v", r, st)
		}
		if !slices.Equal(again.Anchors(), cold.Anchors()) {
			t.Errorf("%v: the same documents: other anchors", r)
		}

		prev := fit(t, p, part)
		next := fit(t, p.From(prev), c)
		st = next.Stats().Refit
		measure := func(m *jsmf.Model) (recovery, approximation float64) {
			t.Helper()
			rep, err := p.Evaluate(ctx, m, c)
			if err != nil {
				t.Fatal(err)
			}
			return rep.Recovery.Mean, rep.Approximation
		}
		wr, wa := measure(next)
		cr, ca := measure(cold)
		t.Logf("%v: recovery %.5f (cold %.5f), approximation %.4g (cold %.4g), drift up to %.2g", r, wr, cr, wa, ca, largestOf(st.Drift))
		if wr > 1.01*cr || wa > 1.01*ca {
			t.Errorf("%v: recovery %g, cold %g; approximation %g, cold %g", r, wr, cr, wa, ca)
		}
		// Each topic is the previous one of its number.
		if largestOf(st.Drift) > 0.2 {
			t.Errorf("%v: drift %v", r, st.Drift)
		}
	}
}

// A vocabulary in which a word stands twice is matched row by row, where rows
// come or go as well.
func TestRefitRepeatedWords(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	named := some(t, 1500, 300)
	vocab := named.Vocabulary()
	vocab[7], vocab[200] = vocab[3], vocab[3]
	c, err := corpus.FromCSR(named.Counts(), vocab, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(8)
	var file bytes.Buffer
	if _, err := fit(t, p, c).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.ReadModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	again := fit(t, p.From(m), c)
	want := fit(t, p.From(fit(t, p, named)), named)
	if st := again.Stats().Refit; largestOf(st.Drift) > 1e-6 || st.Joined != nil || st.Left != nil {
		t.Errorf("the same documents: %+v", st)
	}
	if !mat.Equal(mat.DenseCopyOf(again.Topics()), mat.DenseCopyOf(want.Topics())) || !slices.Equal(again.Anchors(), want.Anchors()) {
		t.Error("not the topics of the same documents with different words")
	}
	comp, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := fit(t, p, named).Transform(ctx, named.Source())
	if err != nil || !mat.Equal(comp.W, plain.W) {
		t.Errorf("the compositions are not those of the same documents with different words: %v", err)
	}
	fewer, err := c.Select(nil, seq(0, 299))
	if err != nil {
		t.Fatal(err)
	}
	if st := fit(t, p.From(m), fewer).Stats().Refit; largestOf(st.Drift) > 0.1 {
		t.Errorf("a word less: %+v", st)
	}
}

// Many small refits end where a cold fit does.
func TestRefitChain(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("21 fits")
	}
	ctx := context.Background()
	c := golden.Corpus(t, "synth")
	first := func(n int) *corpus.Corpus {
		t.Helper()
		d, err := c.Select(seq(0, n), nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	p := jsmf.Published(10).Rectify(rectify.AP{})
	n := c.NumDocs()
	from := n * 8 / 10
	begun := fit(t, p, first(from))
	m := begun
	for i := range 20 {
		m = fit(t, p.From(m), first(from+(n-from)*(i+1)/20))
	}
	whole, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := p.Fit(ctx, whole)
	if err != nil {
		t.Fatal(err)
	}
	rm, err := p.Evaluate(ctx, m, whole)
	if err != nil {
		t.Fatal(err)
	}
	rc, err := p.Evaluate(ctx, cold, whole)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("recovery %.5f, cold %.5f; approximation %.4g, cold %.4g", rm.Recovery.Mean, rc.Recovery.Mean, rm.Approximation, rc.Approximation)
	if rm.Recovery.Mean > 1.01*rc.Recovery.Mean || rm.Approximation > 1.01*rc.Approximation {
		t.Error("the chain is worse than a cold fit by more than 1 %")
	}
	// Topic 7 is still topic 7.
	al, err := jsmf.Align(t.Context(), begun, m, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k, l := range al.Next {
		if l != k {
			t.Errorf("topic %d of the first model is %d of the last", k, l)
		}
	}
}

// Something new gets a topic, as in a fit from nothing.
func TestRefitSomethingNew(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(31, 32))
	b := corpus.Builder{}
	for w := range 200 {
		b.Vocabulary = append(b.Vocabulary, fmt.Sprintf("w%03d", w))
	}
	// Six topics of 30 words, with an overlap; the seventh comes later. The words
	// of all are there from the start.
	doc := func(topic int) []int32 {
		ids := make([]int32, 60)
		for i := range ids {
			switch {
			case rng.Float64() < 0.1:
				ids[i] = int32(rng.IntN(200))
			default:
				ids[i] = int32((topic*28 + rng.IntN(30)) % 200)
			}
		}
		return ids
	}
	add := func(count int, topic func(m int) int) {
		for m := range count {
			if err := b.Add(corpus.Document{Words: doc(topic(m))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var docs [][]int32
	keep := func(c *corpus.Corpus) {
		docs = nil
		for m := range c.NumDocs() {
			w, n := c.Doc(m)
			var all []int32
			for i, x := range w {
				for range n[i] {
					all = append(all, x)
				}
			}
			docs = append(docs, all)
		}
	}
	add(600, func(m int) int { return m % 6 })
	old, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.Published(7).Rectify(rectify.AP{})
	m := fit(t, p, old)
	for range 6 {
		keep(old)
		for _, d := range docs {
			if err := b.Add(corpus.Document{Words: d}); err != nil {
				t.Fatal(err)
			}
		}
		add(25, func(int) int { return 6 })
		if old, err = b.Corpus(); err != nil {
			t.Fatal(err)
		}
		m = fit(t, p.From(m), old)
	}
	fresh := fit(t, p, old)
	// The seventh topic's words, 168 to 197, have a topic of their own in both.
	for name, m := range map[string]*jsmf.Model{"refit": m, "cold": fresh} {
		best := 0.0
		for k := range m.K() {
			share := 0.0
			for w := 170; w < 196; w++ {
				share += m.Topics().At(w, k)
			}
			best = max(best, share)
		}
		if best < 0.6 {
			t.Errorf("%s: the new topic has at most %.2g of its words in one topic", name, best)
		}
	}
}

// Words are matched by their strings, and topics keep the numbers of the model
// before, whatever these are.
func TestRefitMatches(t *testing.T) {
	testutil.NotWithRace(t)
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(10).Rectify(rectify.AP{})
	prev := fit(t, p, c)
	straight := fit(t, p.From(prev), c)

	order := []int{3, 9, 0, 1, 8, 2, 7, 4, 6, 5}
	turned, err := prev.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	followed := fit(t, p.From(turned), c)
	want, err := straight.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, followed), encoded(t, want)) {
		t.Error("a refit from the reordered model is not the reordered refit")
	}

	// The words in another order, some gone, some new.
	rng := rand.New(rand.NewPCG(41, 42))
	words := rng.Perm(c.NumWords())
	shuffled, err := c.Select(nil, words)
	if err != nil {
		t.Fatal(err)
	}
	m := fit(t, p.From(prev), shuffled)
	for i, w := range words {
		for k := range m.K() {
			// Sums in another order, through the eigenvectors and the solver.
			if a, b := m.Topics().At(i, k), straight.Topics().At(w, k); math.Abs(a-b) > 1e-6 {
				t.Fatalf("p(%q | %d) is %g, with the words in order %g", m.Word(i), k, a, b)
			}
		}
	}
	rare := c.NumWords() - 30
	fewer, err := c.Select(nil, seq(0, rare))
	if err != nil {
		t.Fatal(err)
	}
	small := fit(t, p, fewer)
	grown := fit(t, p.From(small), c)
	st := grown.Stats().Refit
	if len(st.Joined) != 30 || st.Joined[0] != c.Word(rare) || st.Left != nil || largestOf(st.Drift) > 0.6 {
		t.Errorf("30 words more: %+v", st)
	}
	back := fit(t, p.From(prev), fewer).Stats().Refit
	if len(back.Left) != 30 || back.Joined != nil {
		t.Errorf("30 words fewer: %+v", back)
	}
}

func seq(lo, hi int) []int {
	var out []int
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

// Without names words are matched by number, where there are as many.
func TestRefitByNumber(t *testing.T) {
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(8).Rectify(rectify.ENN{Iterations: 3})
	d, err := cooc.NewMoments(t.Context(), c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	bare := named(t, d, nil)
	unnamed, err := p.Fit(t.Context(), bare)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.From(unnamed).Fit(t.Context(), bare)
	if err != nil || largestOf(again.Stats().Refit.Drift) > 1e-6 {
		t.Errorf("by number: %v", err)
	}
	if _, err := p.From(unnamed).Fit(t.Context(), d); err == nil {
		t.Error("words with names were matched with words without")
	}
}

func TestReorder(t *testing.T) {
	ctx := context.Background()
	c := golden.Corpus(t, "synth")
	m, err := jsmf.Published(6).Rectify(rectify.ENN{}).Refine(refine.Passes{N: 2}).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.With(jsmf.Additions{Names: []string{"zero", "", "two", "", "", ""}}); err != nil {
		t.Fatal(err)
	}
	order := []int{4, 0, 5, 1, 3, 2}
	got, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	for t2, k := range order {
		if got.Name(t2) != m.Name(k) || !slices.Equal(got.TopWords(t2, 5), m.TopWords(k, 5)) {
			t.Errorf("topic %d: name %q and words %v, want those of %d: %q and %v", t2, got.Name(t2), got.TopWords(t2, 5), k, m.Name(k), m.TopWords(k, 5))
		}
	}
	check := func(what string, tol float64, a, b mat.Matrix, rows, cols []int) {
		t.Helper()
		n, k := a.Dims()
		for i := range n {
			for j := range k {
				r, s := i, j
				if rows != nil {
					r = rows[i]
				}
				if cols != nil {
					s = cols[j]
				}
				if math.Abs(a.At(i, j)-b.At(r, s)) > tol {
					t.Fatalf("%s[%d,%d] = %g, want %g", what, i, j, a.At(i, j), b.At(r, s))
				}
			}
		}
	}
	check("B", 0, got.Topics(), m.Topics(), nil, order)
	check("B̆", 1e-15, got.WordTopics(), m.WordTopics(), nil, order)
	check("A", 0, got.Correlations(), m.Correlations(), order, order)
	check("reading", 0, got.Reading(), m.Reading(), nil, order)
	for t2, k := range order {
		if got.Anchors()[t2] != m.Anchors()[k] || got.Stats().Anchors.Norms[t2] != m.Stats().Anchors.Norms[k] {
			t.Errorf("anchor %d is not that of topic %d", t2, k)
		}
		if got.Alpha()[t2] != m.Alpha()[k] || got.TopicShares()[t2] != m.TopicShares()[k] && math.Abs(got.TopicShares()[t2]-m.TopicShares()[k]) > 1e-15 {
			t.Errorf("alpha or share %d is not that of topic %d", t2, k)
		}
	}
	// Back again: the same bytes.
	inverse := make([]int, len(order))
	for t2, k := range order {
		inverse[k] = t2
	}
	back, err := got.Reorder(inverse)
	if err != nil || !bytes.Equal(encoded(t, back), encoded(t, m)) {
		t.Errorf("there and back again is another model (%v)", err)
	}
	// Through a file.
	path := filepath.Join(t.TempDir(), "model.jsmf")
	if err := got.Save(path); err != nil {
		t.Fatal(err)
	}
	read, err := jsmf.LoadModel(path)
	if err != nil || !bytes.Equal(encoded(t, read), encoded(t, got)) {
		t.Errorf("read again: another model (%v)", err)
	}
	for _, bad := range [][]int{nil, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 6}, {0, 1, 2, 3, 4, 4}, {-1, 1, 2, 3, 4, 5}} {
		if _, err := m.Reorder(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// A refit from a model that was saved is that from the model itself.
func TestRefitFromFile(t *testing.T) {
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(8).Rectify(rectify.ENN{})
	prev := fit(t, p, without(t, c, 50, 1))
	read, err := jsmf.ReadModel(bytes.NewReader(encoded(t, prev)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, fit(t, p.From(prev), c)), encoded(t, fit(t, p.From(read), c))) {
		t.Error("another model from the file")
	}
}

func TestAlign(t *testing.T) {
	c := golden.Corpus(t, "synth")
	five, eight := fit(t, jsmf.Published(5), c), fit(t, jsmf.Published(8), c)
	more, err := jsmf.Align(t.Context(), five, eight, 0)
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := jsmf.Align(t.Context(), eight, five, 0)
	if err != nil {
		t.Fatal(err)
	}
	unmatched := 0
	for l, k := range more.Prev {
		if k < 0 {
			unmatched++
			if !math.IsNaN(more.Drift[l]) || !slices.Contains(more.New, l) {
				t.Errorf("topic %d follows none, with drift %g", l, more.Drift[l])
			}
		} else if more.Next[k] != l || fewer.Next[l] != k {
			t.Errorf("topics %d and %d: %v, %v, %v", k, l, more.Next, more.Prev, fewer.Next)
		}
	}
	if unmatched != 3 || len(fewer.Vanished) < 3 {
		t.Errorf("%d unmatched; %+v", unmatched, fewer)
	}
	// Drift by its definition.
	for l, k := range more.Prev {
		if k < 0 {
			continue
		}
		sum := 0.0
		for i := range c.NumWords() {
			sum += math.Abs(five.Topics().At(i, k) - eight.Topics().At(i, l))
		}
		near(t, "drift", more.Drift[l], sum/2, 1e-12)
	}
	for _, al := range []*jsmf.Alignment{more, fewer} {
		order := al.Order()
		slices.Sort(order)
		if !slices.Equal(order, seq(0, len(al.Prev))) {
			t.Errorf("order %v", al.Order())
		}
	}
	if _, err := jsmf.Align(t.Context(), nil, five, 0); err == nil {
		t.Error("no model was taken")
	}
}

// Fifty refits of a collection that grows from fifty short documents to thousands: the
// words that were good anchors of the first do not stay for ever, so that A is a
// distribution as well as that of a fit from nothing, or to a tenth.
func TestRefitGrowth(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(1, 1))
	var all corpus.Builder
	misfit := func(m *jsmf.Model) float64 { return math.Abs(math.Log(mat.Sum(m.Correlations()))) }
	p := jsmf.Published(3)
	var prev *jsmf.Model
	for r := range 50 {
		for d := range 50 {
			topics := [2]int{rng.IntN(3), rng.IntN(3)}
			doc := corpus.Document{ID: fmt.Sprintf("%d-%d", r, d)}
			for range 15 {
				doc.Tokens = append(doc.Tokens, fmt.Sprintf("t%d-%02d", topics[rng.IntN(2)], min(int(3*rng.ExpFloat64()), 25)))
			}
			if err := all.Add(doc); err != nil {
				t.Fatal(err)
			}
		}
		d, err := all.Corpus()
		if err == nil {
			d, _, err = corpus.Curate(d, corpus.Curation{MinDocs: 2, MinDistinct: -1})
		}
		if err != nil {
			t.Fatal(err)
		}
		m, fresh := fit(t, p.From(prev), d), fit(t, p, d)
		if most := max(0.1, misfit(fresh)+1e-9); misfit(m) > most {
			t.Errorf("refit %d: A is off by %g, want at most %g", r, misfit(m), most)
		}
		prev = m
	}
}

// Where the weights of documents decay, moments are weighted, and those without weight are named.
func TestFitDecay(t *testing.T) {
	c := golden.Corpus(t, "synth")
	w := make([]float64, c.NumDocs())
	for i := range w {
		w[i] = math.Exp2(-float64(len(w)-1-i) / 2) // of the first documents nothing is left
	}
	d, err := c.WithWeights(w)
	if err != nil {
		t.Fatal(err)
	}
	st := fit(t, jsmf.Published(6).Rectify(rectify.ENN{Iterations: 3}), d).Stats()
	if len(st.Corpus.DroppedDocuments) == 0 || st.Corpus.DroppedDocuments[len(st.Corpus.DroppedDocuments)-1].Reason != "of weight 0" {
		t.Errorf("documents left out: %+v", st.Corpus.DroppedDocuments)
	}
}
