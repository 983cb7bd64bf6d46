package jsmf

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// seeded draws documents of 60 tokens from ten topics: each document has a topic for two thirds of its tokens
// and another one for the others, the first rare documents the last topic, which no other has. It returns the
// documents, the topics, and the most frequent words of each.
func seeded(t *testing.T, docs, rare int) (*corpus.Corpus, *mat.Dense, [][]string) {
	const n, k = 2000, 10
	b := zipfTopics(n, k, 0.02)
	w, lengths := mat.NewDense(docs, k, nil), make([]int, docs)
	for d := range docs {
		lengths[d] = 60
		first := d % (k - 1)
		if d < rare {
			first = k - 1
		}
		w.Set(d, (d/(k-1))%(k-1), 1./3)
		w.Set(d, first, w.At(d, first)+2./3)
	}
	c, _, err := corpus.Generator{Topics: b, Proportions: w, Lengths: lengths, Seed: 5}.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	best := make([][]string, k)
	for t := range k {
		share := make([]float64, n) // p(topic | word)
		for i := range n {
			share[i] = b.At(i, t)
			if share[i] < 0.5*mat.Sum(b.Slice(i, i+1, 0, k)) {
				share[i] = 0
			}
		}
		for range 12 {
			i := floats.MaxIdx(share)
			best[t], share[i] = append(best[t], fmt.Sprintf("w%d", i)), 0
		}
	}
	return c, b, best
}

// similarity is the sum over words of the lesser probability of a topic of a model and a planted one.
func similarity(m *Model, k int, b *mat.Dense, t int) (sum float64) {
	for i := range m.N() {
		var w int
		fmt.Sscanf(m.Word(i), "w%d", &w)
		sum += min(m.topics[i*m.k+k], b.At(w, t))
	}
	return sum
}

// Seeded topics are the first ones, have their names and, among their reading words, their seeds; a topic
// that 20 documents of 4,000 have is found by its seeds alone. The same model comes from any number of workers.
func TestSeeds(t *testing.T) {
	testutil.NotWithRace(t)
	c, b, best := seeded(t, 4000, 20)
	seeds := []Seed{{Name: "third", Words: best[2][2:6]}, {Name: "rare", Words: best[9][:5]}}
	for _, k := range []int{10, 14} {
		m, err := New(k).Seeds(seeds...).Workers(1).Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for s, planted := range []int{2, 9} {
			if got := similarity(m, s, b, planted); got < 0.7 {
				t.Errorf("K = %d: topic %d has %.3f in common with the planted one", k, s, got)
			}
			st := m.Stats().Seeds[s]
			if m.Name(s) != seeds[s].Name || st.Topic != s || st.Doubt != "" {
				t.Errorf("K = %d: topic %d is %q: %+v", k, s, m.Name(s), st)
			}
			var top []string
			for _, w := range m.TopWords(s, 15) {
				top = append(top, w.Word)
			}
			held := 0.
			for i, w := range st.Words {
				at, _ := m.Index(w)
				if held += m.Topics().At(at, s); st.Kept[i] != m.WordTopics().At(at, s) || !slices.Contains(top, w) {
					t.Errorf("K = %d: seed %q of topic %d is not among its words %q, or of p(topic | word) = %v and not %v", k, w, s, top, m.WordTopics().At(at, s), st.Kept[i])
				}
			}
			if st.Held != held {
				t.Errorf("K = %d: the seeds hold %v of topic %d and not %v", k, st.Held, s, held)
			}
		}
		if w := strings.Join(m.Stats().Warnings, "\n"); strings.Contains(w, "seeds") {
			t.Errorf("K = %d: %s", k, w)
		}
		many, err := New(k).Seeds(seeds...).Workers(5).Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, m), encoded(t, many)) {
			t.Errorf("K = %d: another model with five workers", k)
		}
		turned, err := m.Reorder(append([]int{1, 0}, rangeOf(2, k)...))
		if err != nil {
			t.Fatal(err)
		}
		if st := turned.Stats().Seeds; st[0].Topic != 1 || st[1].Topic != 0 || turned.Name(0) != "rare" {
			t.Errorf("K = %d: after a change of order %+v", k, st)
		}
		again, err := New(k).Seeds(seeds...).From(turned).Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if again.Name(0) != "rare" || again.Name(1) != "third" || again.Stats().Seeds[0].Topic != 1 {
			t.Errorf("K = %d: a refit calls its topics %q", k, again.Names()[:2])
		}
	}
}

// So are 20 of 10,000 documents, of which a lesser default strength loses the subject, and no others.
func TestRareSeeds(t *testing.T) {
	testutil.NotWithRace(t)
	c, b, best := seeded(t, 10000, 20)
	m, err := New(14).Seeds(Seed{Name: "rare", Words: best[9][:5]}).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := similarity(m, 0, b, 9); got < 0.7 || m.Name(0) != "rare" {
		t.Errorf("the topic %q has %.3f in common with the planted one: %+v", m.Name(0), got, m.Stats().Seeds)
	}
}

func rangeOf(lo, hi int) (out []int) {
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

// Where topics are split, seeded ones are not.
func TestSeedsOfManyTopics(t *testing.T) {
	testutil.NotWithRace(t)
	c, b, best := seeded(t, 6000, 20)
	m, err := New(80).Extra(-1).Seeds(Seed{Words: best[9][:5]}, Seed{Words: best[4][:5]}).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	tree := m.Tree()
	if tree == nil {
		t.Fatal("no topic was split")
	}
	for s, planted := range []int{9, 4} {
		of := tree.Groups[0][s]
		for k, g := range tree.Groups[0] {
			if k != s && g == of {
				t.Errorf("topic %d is in the group of the seeded topic %d", k, s)
			}
		}
		if got := similarity(m, s, b, planted); got < 0.6 { // others share the subject
			t.Errorf("topic %d has %.3f in common with the planted one", s, got)
		}
	}
}

// Seeds that no subject has are said to be so, and cost the model less than .01 of log-likelihood a token.
func TestSeedsInDoubt(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 3000, 0)
	scattered := make([]string, 9) // a word of each topic
	for i := range scattered {
		scattered[i] = best[i][4+i%3]
	}
	plain, err := New(10).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(10).Seeds(Seed{Name: "fiction", Words: append(scattered, "w99999")}, Seed{Words: best[3][:4]}).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	st, warnings := m.Stats().Seeds, strings.Join(m.Stats().Warnings, "\n")
	if st[0].Doubt == "" || st[1].Doubt != "" || !strings.Contains(warnings, `"fiction"`) || !slices.Equal(st[0].Missing, []string{"w99999"}) || !strings.Contains(warnings, `"w99999" (near:`) {
		t.Errorf("%+v\n%s", st, warnings)
	}
	last := func(m *Model) float64 { h := m.Stats().Refine.History; return h[len(h)-1].LogLik }
	if lost := last(plain) - last(m); lost > 0.01 {
		t.Errorf("the seeds cost %.4f of log-likelihood a token", lost)
	}
}

// Bad seeds are errors that name them.
func TestSeedErrors(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 300, 0)
	for want, p := range map[string]Pipeline{
		`seeds of topic 0 ("x"): no words`: New(5).Seeds(Seed{Name: "x"}),
		`"a" is there twice`:               New(5).Seeds(Seed{Words: []string{"a", "a"}}),
		`weights [1] of 2 words`:           New(5).Seeds(Seed{Words: []string{"a", "b"}, Weights: []float64{1}}),
		`a strength of 2`:                  New(5).Seeds(Seed{Words: []string{"a"}, Strength: 2}),
		`seeds of 3 topics for K = 2`:      New(2).Seeds(Seed{Words: best[0]}, Seed{Words: best[1]}, Seed{Words: best[2]}),
		`"x" is that of topics 0 and 1`:    New(5).Seeds(Seed{Name: "x", Words: best[0]}, Seed{Name: "x", Words: best[1]}),
		`use New, or anchor.Tandem`:        Published(5).Seeds(Seed{Words: best[0]}),
		`seeds of topic 1 ("y"): not in the vocabulary: "none", "w9999" (`: New(5).Seeds(Seed{Words: best[0]}, Seed{Name: "y", Words: []string{"none", "w9999"}}),
	} {
		if _, err := p.Fit(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
}

// Phrases and words in capitals are found as the texts have them.
func TestSeedsAsWritten(t *testing.T) {
	set := text.Default().Setting()
	for w, want := range map[string]string{"Use After Free": "use_after_free", "SSL": "ssl", "naïve": "naïve"} {
		for _, set := range []*text.Setting{nil, &set} {
			if id, ok := finder(map[string]int32{want: 7}, set)(w); id != 7 || !ok {
				t.Errorf("%q is not found where %q is there", w, want)
			}
		}
	}
}

// A matrix that does not say in how many documents words are has the seeds of its documents.
func TestSeedsOfMatrix(t *testing.T) {
	testutil.NotWithRace(t)
	c, _, best := seeded(t, 900, 0)
	counts, err := cooc.NewMoments(t.Context(), c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Pipeline{New(5), Published(5).Refine(refine.Passes{})} {
		p = p.Seeds(Seed{Name: "fourth", Words: best[3][:4]})
		bare, err := cooc.WithInfo(counts, corpus.Info{Source: c.Source(), Vocabulary: c.Vocabulary()})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(t.Context(), bare)
		if err != nil {
			t.Fatal(err)
		}
		full, err := p.Fit(t.Context(), counts)
		if err != nil {
			t.Fatal(err)
		}
		got, want := m.Stats().Seeds[0], full.Stats().Seeds[0]
		if m.Name(0) != "fourth" || !slices.Equal(got.Words, want.Words) || !slices.Equal(got.Lift, want.Lift) {
			t.Errorf("topic 0 is %q: %+v, and where the matrix says more %+v", m.Name(0), got, want)
		}
		short, err := cooc.WithInfo(counts, corpus.Info{Source: corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
			yield(corpus.Document{ID: "far", Words: []int32{int32(c.NumWords())}}, nil)
		}, corpus.Description{Vocabulary: append(c.Vocabulary(), "one more")}), Vocabulary: c.Vocabulary()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Fit(t.Context(), short); err == nil {
			t.Error("a document with a word that the matrix lacks: no error")
		}
	}
}
