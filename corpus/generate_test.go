package corpus_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func generate(t testing.TB, g corpus.Generator) (*corpus.Corpus, *mat.Dense) {
	t.Helper()
	c, w, err := g.Generate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// The first and second moments of many documents are those of the model, within
// five standard errors: E[h/n] = B·E[w], and the share of pairs of tokens
// E[hhᵀ − diag h]/(n(n−1)) = B·E[wwᵀ]·Bᵀ.
func TestGenerateMoments(t *testing.T) {
	testutil.NotWithRace(t)
	const docs, length = 40000, 12
	b := mat.NewDense(5, 3, []float64{
		0.5, 0, 0,
		0, 0.6, 0,
		0, 0, 0.7,
		0.3, 0.4, 0,
		0.2, 0, 0.3,
	})
	for name, prior := range map[string]corpus.TopicPrior{
		"SS":     nil,
		"sparse": corpus.Dirichlet{Alpha: []float64{0.01, 0.03, 0.002}},
	} {
		c, w := generate(t, corpus.Generator{Topics: b, Prior: prior, Docs: docs, Lengths: []int{length}, Seed: 4})
		if c.NumDocs() != docs || c.NumWords() != 5 || c.Tokens() != docs*length {
			t.Fatalf("%s: %d documents, %d words, %d tokens", name, c.NumDocs(), c.NumWords(), c.Tokens())
		}
		// Given W the documents are multinomial, so the moments of this W count.
		var a, want, mean mat.Dense
		a.Mul(w.T(), w)
		want.Product(b, &a, b.T())
		ones := mat.NewDense(docs, 1, nil)
		for m := range docs {
			ones.Set(m, 0, 1)
		}
		mean.Product(b, w.T(), ones)
		pairs, shares := mat.NewDense(5, 5, nil), make([]float64, 5)
		for m := range docs {
			words, counts := c.Doc(m)
			for i, v := range words {
				if i > 0 && words[i-1] >= v || counts[i] < 1 {
					t.Fatalf("%s: document %d: words %v, counts %v", name, m, words, counts)
				}
				shares[v] += float64(counts[i]) / length
				for j, u := range words {
					x := float64(counts[i]) * float64(counts[j])
					if i == j {
						x -= float64(counts[i])
					}
					pairs.Set(int(v), int(u), pairs.At(int(v), int(u))+x/(length*(length-1)))
				}
			}
		}
		for i := range 5 {
			// A document's share of a word has a variance of at most p/n, its
			// share of pairs of at most p.
			if d := (shares[i] - mean.At(i, 0)) / docs; math.Abs(d) > 5*math.Sqrt(mean.At(i, 0)/docs/(docs*length)) {
				t.Errorf("%s: p(word %d) is off by %.2g", name, i, d)
			}
			for j := range 5 {
				p := want.At(i, j) / docs
				if d := pairs.At(i, j)/docs - p; math.Abs(d) > 5*math.Sqrt(p/docs) {
					t.Errorf("%s: p(words %d, %d) is off by %.2g from %.2g", name, i, j, d, p)
				}
			}
		}
	}
}

// Compositions have the moments of their prior.
func TestPriors(t *testing.T) {
	const draws = 60000
	rng := rand.New(rand.NewPCG(1, 2))
	alpha := []float64{0.02, 0.5, 3}
	sample, err := corpus.Dirichlet{Alpha: alpha}.Sampler(3)
	if err != nil {
		t.Fatal(err)
	}
	a0 := 3.52
	w, second := make([]float64, 3), mat.NewDense(3, 3, nil)
	for range draws {
		sample(w, rng)
		if s := w[0] + w[1] + w[2]; math.Abs(s-1) > 1e-12 {
			t.Fatalf("%v sums to %g", w, s)
		}
		for i, x := range w {
			for j, y := range w {
				second.Set(i, j, second.At(i, j)+x*y/draws)
			}
		}
	}
	for i := range 3 {
		for j := range 3 {
			want := alpha[i] * alpha[j]
			if i == j {
				want += alpha[i]
			}
			want /= a0 * (a0 + 1)
			// wᵢwⱼ is in [0, 1]: its variance is at most its mean.
			if d := second.At(i, j) - want; math.Abs(d) > 5*math.Sqrt(want/draws) {
				t.Errorf("Dirichlet: moment %d,%d is off by %.2g from %.2g", i, j, d, want)
			}
		}
	}
}

func TestGenerateSame(t *testing.T) {
	m := testutil.NewPlanted(60, 4, 0, 3)
	g := corpus.Generator{Topics: m.B, Lengths: []int{0, 1, 7, 30}, Docs: 300, Seed: 9, Workers: 1}
	want, w := generate(t, g)
	for _, workers := range []int{0, 2, 5, math.MaxInt} {
		g.Workers = workers
		c, v := generate(t, g)
		if dump(c) != dump(want) || !mat.Equal(v, w) {
			t.Errorf("%d workers draw other documents", workers)
		}
	}
	// More documents begin with the same ones.
	g.Docs = 400
	more, _ := generate(t, g)
	first := make([]int, 300)
	for i := range first {
		first[i] = i
	}
	if more, err := more.Select(first, nil); err != nil || dump(more) != dump(want) {
		t.Errorf("400 documents begin with others than 300, %v", err)
	}
	g.Docs, g.Seed = 300, 10
	if c, _ := generate(t, g); dump(c) == dump(want) {
		t.Error("the seed does not decide")
	}
	seen := map[int64]int{}
	for d := range want.NumDocs() {
		seen[want.DocLen(d)]++
	}
	for _, l := range g.Lengths {
		if n := seen[int64(l)]; n < 40 || n > 120 { // 75 ± 6 sd
			t.Errorf("%d of 300 documents have %d tokens", n, l)
		}
	}

	// Lengths as given, words of probability 0 and topics of share 0 never.
	b := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 1, 0, 0})
	c, v := generate(t, corpus.Generator{Topics: b, Prior: fixed{1, 0}, Lengths: []int{3, 0, 5}, Vocabulary: []string{"a", "b", "c", "d"}})
	if c.NumDocs() != 3 || c.DocLen(0) != 3 || c.DocLen(1) != 0 || c.DocLen(2) != 5 || c.Word(1) != "b" || c.WordCounts()[1] != 8 || v.At(2, 0) != 1 {
		t.Errorf("%s", dump(c))
	}
}

// fixed is a prior that always draws the same.
type fixed []float64

func (f fixed) Sampler(int) (func([]float64, *rand.Rand), error) {
	return func(w []float64, _ *rand.Rand) { copy(w, f) }, nil
}

func TestGenerateBad(t *testing.T) {
	b := mat.NewDense(3, 2, []float64{1, 0, 0, 0.5, 0, 0.5})
	ok := corpus.Generator{Topics: b, Lengths: []int{4}}
	for want, change := range map[string]func(*corpus.Generator){
		"no topics":      func(g *corpus.Generator) { g.Topics = nil },
		"no lengths":     func(g *corpus.Generator) { g.Lengths = nil },
		"-1 documents":   func(g *corpus.Generator) { g.Docs = -1 },
		"length 1 is -2": func(g *corpus.Generator) { g.Lengths = []int{3, -2} },
		"a vocabulary of 1 words for topics over 3":        func(g *corpus.Generator) { g.Vocabulary = []string{"a"} },
		"topic 1 gives word 2 the probability NaN":         func(g *corpus.Generator) { g.Topics = mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, math.NaN()}) },
		"topic 0 gives word 1 the probability -0.5":        func(g *corpus.Generator) { g.Topics = mat.NewDense(3, 2, []float64{1, 0, -0.5, 1, 0, 0}) },
		"topic 1 sums to 0.9":                              func(g *corpus.Generator) { g.Topics = mat.NewDense(3, 2, []float64{1, 0.9, 0, 0, 0, 0}) },
		"3 parameters for 2 topics":                        func(g *corpus.Generator) { g.Prior = corpus.SymmetricDirichlet(3, 1) },
		"parameter of topic 1 is 0":                        func(g *corpus.Generator) { g.Prior = corpus.Dirichlet{Alpha: []float64{1, 0}} },
		"document 0: topic proportions sum to 0.5, want 1": func(g *corpus.Generator) { g.Prior = fixed{0.5, 0} },
	} {
		g := ok
		change(&g)
		c, w, err := g.Generate(context.Background())
		if err == nil || c != nil || w != nil || !strings.HasPrefix(err.Error(), "corpus: generate: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ok.Generate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
