package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// themes returns k topics over n words. Half of a topic's mass is on a tenth of the words
// that common words are, as Zipf has it, the other half on its own share of the rest.
func themes(n, k int) *mat.Dense {
	b := mat.NewDense(n, k, nil)
	common := n / 10
	own := (n - common) / k
	for t := range k {
		zipf, mass := 0.0, 0.0
		for i := range common {
			zipf += 1 / float64(i+1)
		}
		for i := range own {
			mass += 1 / float64(i+5)
		}
		for i := range common {
			b.Set(i, t, 0.5/float64(i+1)/zipf)
		}
		for i := range own {
			b.Set(common+t*own+i, t, 0.5/float64(i+5)/mass)
		}
	}
	return b
}

// draw draws documents of 10 to 90 tokens.
func draw(t testing.TB, b *mat.Dense, prior corpus.TopicPrior, docs int) *corpus.Corpus {
	t.Helper()
	var lengths []int
	for l := 10; l <= 90; l += 10 {
		lengths = append(lengths, l)
	}
	c, _, err := corpus.Generator{Topics: b, Prior: prior, Lengths: lengths, Docs: docs, Seed: 41}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// logisticNormal is a prior of topic proportions with this covariance of their logarithms.
type logisticNormal struct{ cov mat.Symmetric }

func (p logisticNormal) Sampler(k int) (func([]float64, *rand.Rand), error) {
	values, vec, err := linalg.Eigen(p.cov)
	z := make([]float64, k)
	return func(w []float64, rng *rand.Rand) {
		for t := range z {
			z[t] = rng.NormFloat64()
		}
		for t := range w {
			v := 0.0
			for j, x := range z {
				v += vec.At(t, j) * math.Sqrt(max(values[j], 0)) * x
			}
			w[t] = v
		}
		top := slices.Max(w)
		for t, v := range w {
			w[t] = math.Exp(v - top)
		}
		floats.Scale(1/floats.Sum(w), w)
	}, err
}

// The default finds the topics that the documents were drawn from, with words that are not
// in the co-occurrence matrix, and the pairs of topics that go together.
func TestNewRecovers(t *testing.T) {
	testutil.NotWithRace(t)
	const n, k = 700, 7
	b := themes(n, k)
	// Topics 0 and 1 go together, and 4 and 5.
	cov := mat.NewSymDense(k, nil)
	for i := range k {
		cov.SetSym(i, i, 3)
	}
	cov.SetSym(0, 1, 2.5)
	cov.SetSym(4, 5, 2.5)
	for name, prior := range map[string]corpus.TopicPrior{
		"Dirichlet":       corpus.SymmetricDirichlet(k, 0.2),
		"logistic normal": logisticNormal{cov},
	} {
		c := draw(t, b, prior, 3000)
		m := fit(t, jsmf.New(k).Words(250), c)
		if st := m.Stats(); st.Cooc.N != 250 || m.N() != st.Corpus.Words || m.N() < 600 || st.Refine.Docs != 3000 || st.Refine.HeldOut < 100 || scored(st.Refine) < 8 || len(st.Refine.LogLik()) != st.Refine.Passes+1 {
			t.Errorf("%s: %d of %d words, %+v, %+v", name, st.Cooc.N, m.N(), st.Corpus, st.Refine)
		}
		of := make([]int, k) // the true topic of each
		taken := map[int]bool{}
		for s := range k {
			least := math.Inf(1)
			for u := range k {
				d := 0.0
				for i := range m.N() {
					w, err := wordNumber(m.Word(i))
					if err != nil {
						t.Fatal(err)
					}
					d += math.Abs(m.Topics().At(i, s)-b.At(w, u)) / 2
				}
				if d < least {
					least, of[s] = d, u
				}
			}
			// 3000 documents of 50 tokens leave some 20,000 for a topic of 160 words.
			if least > 0.15 || taken[of[s]] {
				t.Errorf("%s: topic %d is %.2f from %d, taken %v", name, s, least, of[s], taken)
			}
			taken[of[s]] = true
		}
		if name == "Dirichlet" {
			continue
		}
		pairs := m.CorrelatedPairs(2)
		if len(pairs) != 2 {
			t.Fatalf("%s: pairs %v", name, pairs)
		}
		for _, pair := range pairs {
			x, y := min(of[pair.K], of[pair.L]), max(of[pair.K], of[pair.L])
			if !(x == 0 && y == 1 || x == 4 && y == 5) {
				t.Errorf("%s: topics %d and %d go together most", name, x, y)
			}
		}
	}
}

// wordNumber returns the number of a word of corpus.Generator.
func wordNumber(w string) (i int, err error) {
	_, err = fmt.Sscanf(w, "w%d", &i)
	return i, err
}

// readAgain is an Input that only reads documents, again and again.
type readAgain struct{ corpus.Source }

func (r readAgain) Info() corpus.Info { return corpus.Info{Source: r.Source} }

// unnamed is an Input that names the words its source only numbers.
type unnamed struct {
	corpus.Source
	vocab []string
}

func (u unnamed) Info() corpus.Info {
	return corpus.Info{Source: struct{ corpus.Source }{u.Source}, Vocabulary: u.vocab}
}

// untidy is a corpus with a document without words and one of a single word, and with a
// word that is in none.
func untidy(t testing.TB) *corpus.Corpus {
	t.Helper()
	_, docs := planted(60, 4, 300)
	for _, d := range docs {
		delete(d, 17)
	}
	return countsCorpus(t, 60, append(docs, map[int]int{}, map[int]int{3: 1}))
}

// The same model from documents in any form and with any number of workers, with all of
// their words and all documents that have one.
func TestNewInputs(t *testing.T) {
	testutil.NotWithRace(t)
	c := untidy(t)
	p := jsmf.New(4).Words(40)
	m := fit(t, p.Workers(1), c)
	want := encoded(t, m)
	st := m.Stats()
	if st.Corpus.Documents != 301 || st.Corpus.Words != 59 || st.Cooc.N != 40 || st.Cooc.Form != "dense (tf-idf)" || st.Refine.Docs != 301 {
		t.Errorf("%+v", st)
	}
	if d := st.Corpus.DroppedDocuments; len(d) != 1 || !slices.Equal(d[0].Names, []string{"301"}) && d[0].Count != 1 {
		t.Errorf("documents left out: %+v", d)
	}
	if w := st.Corpus.DroppedWords; len(w) != 1 || !slices.Equal(w[0].Names, []string{"w17"}) || len(st.Warnings) != 2 {
		t.Errorf("words left out: %+v; %q", w, st.Warnings)
	}
	if stages := m.Provenance().Stages; len(stages) != 4 || !strings.HasPrefix(stages[0], "AP(") || !strings.HasPrefix(stages[3], "Passes(") {
		t.Errorf("stages %q", stages)
	}
	for i := range m.N() {
		for k := range m.K() {
			if !(m.Topics().At(i, k) > 0) {
				t.Fatalf("word %d is not in topic %d", i, k)
			}
		}
	}
	inMemory, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := cooc.FromEncoded(ctx, inMemory, cooc.Options{MinTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	file, err := corpus.EncodeFile(ctx, c.Source(), filepath.Join(t.TempDir(), "docs.jenc"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, in := range map[string]jsmf.Input{
		"source": readAgain{c.Source()}, "corpus": c, "encoded": inMemory, "encoded in a file": file,
		"source without names": unnamed{c.Source(), c.Vocabulary()}, "matrix without rows": operator,
	} {
		for _, workers := range []int{1, 3} {
			got := fit(t, p.Workers(workers), in)
			if same := bytes.Equal(encoded(t, got), want); same != (name != "matrix without rows") {
				t.Errorf("%s, %d workers: the same bytes: %t", name, workers, same)
			}
			if got.N() != 59 {
				t.Errorf("%s: %d words", name, got.N())
			}
		}
	}
	// Weights count in the matrix and in the passes.
	w := make([]float64, c.NumDocs())
	for i := range w {
		w[i] = float64(1 + i%2)
	}
	weighted, err := c.WithWeights(w)
	if err != nil {
		t.Fatal(err)
	}
	got := fit(t, p, weighted)
	if got.Stats().Sum == m.Stats().Sum || slices.Equal(got.Marginals(), m.Marginals()) || slices.Equal(got.Stats().Refine.LogLik(), m.Stats().Refine.LogLik()) || slices.ContainsFunc(got.Stats().Warnings, func(s string) bool { return strings.Contains(s, "weights") }) {
		t.Errorf("weights: %q", got.Stats().Warnings)
	}
}

// A matrix is the start as it is; without documents there can be no passes.
func TestNewMatrix(t *testing.T) {
	_, docs := planted(60, 4, 300)
	c := countsCorpus(t, 60, docs)
	p := jsmf.New(4)
	moments := counted(t, c, cooc.Options{Weighting: cooc.TFIDF})
	m := fit(t, p, moments)
	if st := m.Stats(); st.Cooc.Form != "moments (tf-idf)" || st.Cooc.N != 60 || st.Refine.Passes == 0 {
		t.Errorf("%+v", st.Cooc)
	}
	all := mat.NewDense(60, 60, nil)
	for i := range 60 {
		moments.RowTo(all.RawRowView(i), i)
	}
	bare := matrixOf(t, all)
	if _, err := p.Fit(ctx, bare); err == nil || !strings.Contains(err.Error(), "needs documents, and there are none behind this matrix (dense): fit it with Refine(nil) or by Published") {
		t.Error(err)
	}
	alone := fit(t, p.Refine(nil), bare)
	if !mat.EqualApprox(alone.Topics(), fit(t, p.Refine(nil), moments).Topics(), 1e-3) {
		t.Error("the spectral model of the same matrix is another one")
	}
}

// Without passes the words outside the matrix are in no topic, and are still known.
func TestNewWithoutPasses(t *testing.T) {
	c := untidy(t)
	m := fit(t, jsmf.New(4).Words(40).Refine(nil), c)
	in, known := 0, 0
	for i := range m.N() {
		sum := 0.0
		for k := range m.K() {
			sum += m.Topics().At(i, k)
		}
		if sum > 0 {
			in++
		}
		if m.Marginals()[i] > 0 {
			known++
		}
	}
	if m.N() != 59 || in != 40 || known != 59 || m.Stats().Refine.Method != "" {
		t.Errorf("%d of %d words are in topics, %d occur", in, m.N(), known)
	}
	again, err := jsmf.ReadModel(bytes.NewReader(encoded(t, m)))
	if err != nil || !bytes.Equal(encoded(t, again), encoded(t, m)) {
		t.Errorf("saved: %v", err)
	}
	for _, x := range []struct {
		p    jsmf.Pipeline
		want string
	}{
		{jsmf.New(4).Words(-1), "Words(-1)"},
		{jsmf.New(9).Words(8), "9 topics of 8 words"},
		{jsmf.New(60), "60 topics of 59 words"},
	} {
		if _, err := x.p.Fit(ctx, c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %s", err, x.want)
		}
	}
	for name, docs := range map[string][]map[int]int{"no words": {{}, {}}, "words of all documents": {{0: 1, 1: 1}, {0: 2, 1: 3}}} {
		if _, err := jsmf.New(2).Fit(ctx, countsCorpus(t, 2, docs)); !errors.Is(err, cooc.ErrNoDocuments) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong with documents is an error that names the place, and so is the end of ctx.
func TestNewFails(t *testing.T) {
	c := untidy(t)
	p := jsmf.New(4).Words(40)
	if _, err := p.Fit(ctx, unnamed{c.Source(), c.Vocabulary()[:30]}); err == nil || !strings.HasPrefix(err.Error(), "jsmf: ") || !strings.Contains(err.Error(), "document 1") {
		t.Error(err)
	}
	for _, at := range []jsmf.Stage{jsmf.StageCooc, jsmf.StageRefine} {
		stopped, cancel := context.WithCancel(ctx)
		_, err := p.Record(func(e jsmf.Event) {
			if e.Stage == at {
				cancel()
			}
		}).Fit(stopped, c)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", at, err)
		}
	}
	e, err := p.Estimate(sizes(c))
	if err != nil {
		t.Fatal(err)
	}
	var le *jsmf.MemoryLimitError
	if _, err := p.MemoryLimit(e.Bytes-1).Fit(ctx, c); !errors.As(err, &le) {
		t.Error(err)
	}
	if _, err := p.MemoryLimit(e.Bytes).Fit(ctx, c); err != nil {
		t.Error(err)
	}
}

// A refit keeps the numbers of topics, though some of the best words change.
func TestNewRefit(t *testing.T) {
	if testutil.Race {
		t.Skip("slow")
	}
	c := draw(t, themes(700, 7), corpus.SymmetricDirichlet(7, 0.2), 2000)
	p := jsmf.New(7).Words(250).Rectify(rectify.AP{Iterations: 5})
	prev := fit(t, p, c)
	var kept []int
	rng := rand.New(rand.NewPCG(1, 2))
	for m := range c.NumDocs() {
		if rng.IntN(50) > 0 {
			kept = append(kept, m)
		}
	}
	part, err := c.Select(kept, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := fit(t, p.From(prev), part)
	st := next.Stats().Refit
	if len(st.New)+len(st.Vanished) > 0 || largestOf(st.Drift) > 0.1 || prev.N() < next.N() {
		t.Errorf("%+v; %d words, then %d", st, prev.N(), next.N())
	}
}

// What is made of a default fit: topics of topics, samples of the documents, and topics
// without anchors.
func TestNewGoesOn(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(300, 6), corpus.SymmetricDirichlet(6, 0.2), 800)
	p := jsmf.New(6).Words(200)
	m := fit(t, p, c)
	h, err := jsmf.Levels{K: []int{3}}.Run(ctx, p.K(0), m)
	if err != nil || h.K(1) != 3 || h.Model(0) != m {
		t.Errorf("%v, %v", h, err)
	}
	u, err := jsmf.Bootstrap{Warm: 2, Cold: 2}.Run(ctx, p, m, c)
	if err != nil || slices.ContainsFunc(u.Topics, func(x jsmf.TopicUncertainty) bool { return x.Stability < 1 }) {
		t.Errorf("%+v, %v", u, err)
	}
	free := fit(t, p.AnchorFree(anchorfree.LP{}), c)
	if free.Anchors() != nil || free.Stats().Refine.Passes == 0 || free.N() != m.N() {
		t.Errorf("without anchors: %v, %d words", free.Anchors(), free.N())
	}
}

// A topic that stands for nothing of its own is named in a warning: here the refiner makes
// two topics of one.
func TestWarnsOfTwins(t *testing.T) {
	_, docs := planted(60, 4, 300)
	m := fit(t, jsmf.Published(4).Refine(twin{}), countsCorpus(t, 60, docs))
	want := fmt.Sprintf("fewer topics would do: topic 3 (%s) is of the same subject as 0 (cosine 1.00)", m.Name(3))
	if w := m.Stats().Warnings; !slices.Contains(w, want) {
		t.Errorf("%q, want %q", w, want)
	}
}

// twin replaces the words of the last topic by those of the first.
type twin struct{ refine.Passes }

func (p twin) Refine(ctx context.Context, docs corpus.Source, start refine.Start, opt refine.Options) (*refine.Result, error) {
	r, err := p.Passes.Refine(ctx, docs, start, opt)
	if err != nil {
		return nil, err
	}
	n, k := r.B.Dims()
	for i := range n {
		r.B.Set(i, k-1, r.B.At(i, 0))
		r.Reading.Set(i, k-1, r.Reading.At(i, 0))
	}
	for i := range k { // the share of the twin is the smaller one
		for j := range k {
			if i == k-1 || j == k-1 {
				r.A.Set(i, j, r.A.At(i, j)/4)
			}
		}
	}
	r.A.Scale(1/mat.Sum(r.A), r.A)
	return r, nil
}

// The start of whatever is refined has not seen the tokens that passes hide.
func TestStartSeesNoHiddenToken(t *testing.T) {
	testutil.NotWithRace(t)
	c := textLike(t, 1500, 300, 120)         // some 4500 hidden tokens
	start := func(r refine.Refiner) string { // the eigenvalues of its matrix
		return fmt.Sprint(fit(t, jsmf.New(4).Extra(0).Refine(r), c).Stats().Rectify.Eigenvalues)
	}
	all, visible := start(nil), start(refine.Passes{N: 1})
	if all == visible {
		t.Error("the start of passes has seen the hidden tokens")
	}
	for name, r := range map[string]refine.Refiner{"passes that hide nothing": refine.Passes{N: 1, Gain: -1}, "one of the caller's": twin{refine.Passes{N: 1}}} {
		if got := start(r); got != visible {
			t.Errorf("%s: eigenvalues %s, want those without the hidden tokens %s", name, got, visible)
		}
	}
}

// scored returns how many entries of the history have a score of hidden tokens.
func scored(s refine.Stats) (n int) {
	for _, h := range s.History {
		if !math.IsNaN(h.HeldOut) {
			n++
		}
	}
	return n
}
