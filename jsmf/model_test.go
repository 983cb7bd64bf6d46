package jsmf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/modelfile"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// modelParts is what tests make models of.
type modelParts struct {
	Vocabulary                       []string
	Topics, WordTopics, Correlations *mat.Dense
	Anchors                          []int
	AnchorGroups                     [][]int
	Marginals                        []float64
	Stats                            Stats
	Provenance                       Provenance
	Alpha                            []float64
	Reading                          *mat.Dense
	Background                       []bool
	Names                            []string
	Tree                             *recovery.Tree
}

// unchecked returns the Model of p as it is before newModel.
func unchecked(t *testing.T, p modelParts) *Model {
	t.Helper()
	m, err := p.unchecked()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (p modelParts) unchecked() (*Model, error) {
	m := &Model{vocab: p.Vocabulary, anchors: p.Anchors, groups: p.AnchorGroups, marginals: p.Marginals, stats: p.Stats, prov: p.Provenance}
	if err := m.setRefined(&refine.Result{B: p.Topics, A: p.Correlations, Alpha: p.Alpha, Reading: p.Reading, Tree: p.Tree}); err != nil {
		return nil, err
	}
	if err := m.setFactors(p.Topics, p.WordTopics, p.Correlations); err != nil {
		return nil, err
	}
	m.background, m.add.Names = p.Background, p.Names
	return m, nil
}

func (p modelParts) model() (*Model, error) {
	m, err := p.unchecked()
	if err != nil {
		return nil, err
	}
	return newModel(m)
}

// tinyParts is a model of 5 words and 2 topics whose numbers are all exact in
// binary: the content of the golden file.
func tinyParts() modelParts {
	return modelParts{
		Vocabulary: []string{"apple", "börse", "cider", "dividend", ""},
		Topics: mat.NewDense(5, 2, []float64{
			0.5, 0,
			0, 0.25,
			0.25, 0,
			0, 0.25,
			0.25, 0.5,
		}),
		WordTopics: mat.NewDense(5, 2, []float64{
			1, 0,
			0, 1,
			1, 0,
			0, 1,
			0.25, 0.75,
		}),
		Correlations: mat.NewDense(2, 2, []float64{0.5, 0.125, 0.125, 0.25}),
		Anchors:      []int{0, 3},
		Marginals:    []float64{0.25, 0.125, 0.125, 0.125, 0.375},
		Stats: Stats{
			Corpus: CorpusStats{Documents: 7, Words: 5, Tokens: 41, NNZ: 19,
				DroppedDocuments: []corpus.Dropped{{Reason: "fewer than 2 tokens", Count: 2, Names: []string{"a.txt", "b.txt"}}},
				DroppedWords:     []corpus.Dropped{{Reason: "never occurs", Count: 1, Names: []string{"zebra"}}}},
			Cooc: CoocStats{Form: "moments", N: 5, NNZ: 19},
			Rectify: rectify.Stats{Method: "AP", Iterations: 2, Status: "limit", Changes: []float64{0.5, 0.0625},
				Eigenvalues: []float64{0.375, 0.125}, Nonzeros: []int{4, 3}, Shift: -0.0009765625, Products: 44},
			Anchors: anchor.Stats{Method: "QR", Requested: 2, K: 2, Candidates: 5, Norms: []float64{0.75, 0.625}},
			Recover: recovery.Stats{Method: "active set", Words: 3, Objective: 0.03125, MeanIterations: 1.5, MaxIterations: 2,
				MaxGap: 1e-17, MeanResidual: 0.25, MaxResidual: 0.5, Converged: 3},
			Sum:      1,
			Warnings: []string{"1 word never occurs"},
		},
		Provenance: Provenance{Version: "v0.1.0", FormatVersion: 3, Go: "go1.25.0", OS: "linux", Arch: "amd64", Arithmetic: "1",
			Seed: math.MaxUint64, Stages: []string{"AP(T=15)", "QR", "active set"}},
	}
}

// refinedParts makes p those of a model that was refined from what it was.
func refinedParts(p *modelParts) {
	n, k := p.Topics.Dims()
	p.Reading = mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			p.Reading.Set(i, (t+1)%k, p.Topics.At(i, t)) // not the order of the topics
		}
	}
	for i := range n {
		for t := range k {
			p.Topics.Set(i, t, 0.5*p.Topics.At(i, t)+0.5/float64(n))
		}
	}
	p.Correlations.Scale(0.5, p.Correlations)
	p.Alpha = make([]float64, k)
	for t := range p.Alpha {
		p.Alpha[t] = 1 / float64(t+3)
	}
	p.Background, p.Names = make([]bool, k), make([]string, k)
	p.Background[k-1], p.Names[0] = true, "größe, \"1\""
	p.Stats.Refine = refine.Stats{Method: "passes", Passes: 1, History: []refine.Score{{LogLik: -7.5}, {LogLik: -7.25}}}
	p.Provenance.Stages = append(slices.Clone(p.Provenance.Stages), "passes")
}

func mustModel(t testing.TB, p modelParts) *Model {
	t.Helper()
	m, err := p.model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// randomParts is a model of n words and k topics in which only the first k
// words are anchors; A is the mean of wwᵀ over the columns of the returned w.
func randomParts(n, k int, seed uint64) (modelParts, *mat.Dense) {
	rng := rand.New(rand.NewPCG(seed, 1))
	simplex := func(x []float64) {
		s := 0.0
		for i := range x {
			x[i] = -math.Log(1 - rng.Float64())
			s += x[i]
		}
		for i := range x {
			x[i] /= s
		}
	}
	p := modelParts{
		Topics: mat.NewDense(n, k, nil), WordTopics: mat.NewDense(n, k, nil), Correlations: mat.NewDense(k, k, nil),
		Marginals: make([]float64, n), Anchors: make([]int, k), Vocabulary: make([]string, n),
		Provenance: newProvenance(seed, []string{"random"}, nil),
	}
	col := make([]float64, n)
	for j := range k {
		simplex(col)
		p.Topics.SetCol(j, col)
		p.Anchors[j] = j
	}
	for i := range n {
		simplex(p.WordTopics.RawRowView(i))
		p.Vocabulary[i] = fmt.Sprintf("word%d", i)
	}
	simplex(p.Marginals)
	const docs = 200
	w := mat.NewDense(docs, k, nil)
	for d := range docs {
		simplex(w.RawRowView(d))
	}
	p.Correlations.Mul(w.T(), w)
	p.Correlations.Scale(1.0/docs, p.Correlations)
	return p, w
}

func TestModelContents(t *testing.T) {
	p := tinyParts()
	m := mustModel(t, tinyParts())
	if m.N() != 5 || m.K() != 2 {
		t.Fatalf("N, K = %d, %d", m.N(), m.K())
	}
	for _, c := range []struct {
		name string
		view mat.Matrix
		want *mat.Dense
	}{
		{"Topics", m.Topics(), p.Topics},
		{"WordTopics", m.WordTopics(), p.WordTopics},
		{"Correlations", m.Correlations(), p.Correlations},
	} {
		if !mat.Equal(c.view, c.want) || !mat.Equal(c.view.T(), c.want.T()) {
			t.Errorf("%s: view is %v", c.name, mat.Formatted(c.view))
		}
		r, k := c.want.Dims()
		mat.DenseCopyOf(c.view).Set(0, 0, 99) // a copy: this must not reach the model
		if c.view.At(0, 0) == 99 {
			t.Errorf("%s: a copy shares memory with the model", c.name)
		}
		for _, ij := range [][2]int{{-1, 0}, {r, 0}, {0, -1}, {0, k}} {
			mustPanic(t, fmt.Sprintf("%s.At%v", c.name, ij), func() { c.view.At(ij[0], ij[1]) })
		}
		switch c.view.(type) {
		case mat.RawMatrixer, mat.Mutable, mat.RawRowViewer:
			t.Errorf("%s: the view can be written through", c.name)
		}
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"Anchors", m.Anchors(), p.Anchors},
		{"AnchorWords", AnchorWords(m), []string{"apple", "dividend"}},
		{"Marginals", m.Marginals(), p.Marginals},
		{"Vocabulary", m.Vocabulary(), p.Vocabulary},
		{"Stats", m.Stats(), p.Stats},
		{"Provenance", m.Provenance(), p.Provenance},
		{"TopicShares", m.TopicShares(), []float64{0.625, 0.375}},
		{"String", m.String(), `2 topics over 5 words from 7 documents
topic   share  name              further words
    0   62.5%  apple · cider     ""
    1   37.5%  börse · dividend  ""`},
		{"Word", m.Word(4), ""},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	for i, w := range p.Vocabulary {
		if got, ok := m.Index(w); got != i || !ok {
			t.Errorf("Index(%q) = %d, %v", w, got, ok)
		}
	}
	if _, ok := m.Index("zebra"); ok {
		t.Error("Index finds a word that is not there")
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// What getters return is the caller's own.
func TestModelIsImmutable(t *testing.T) {
	p, _ := randomParts(20, 3, 1)
	p.Stats = tinyParts().Stats
	p.Stats.Anchors.Norms = []float64{3, 2, 1}
	p.AnchorGroups = [][]int{{0, 9}, nil, nil}
	m := mustModel(t, p)
	before := encoded(t, m)
	m.Anchors()[0] = 7
	m.AnchorGroups()[0][1] = 7
	m.AnchorGroups()[1] = []int{1}
	AnchorWords(m)[0] = "x"
	m.Marginals()[0] = 7
	m.Vocabulary()[0] = "x"
	m.TopicShares()[0] = 7
	m.TopWords(0, 20)[0] = WordProb{}
	m.CorrelatedPairs(-1)[0] = TopicPair{}
	m.Provenance().Stages[0] = "x"
	scramble(reflect.ValueOf(m.Stats()))
	p.Stats.Warnings[0] = "x" // statistics are copied on the way in, too
	p.Provenance.Stages[0] = "x"
	p.Anchors[0], p.Marginals[0], p.AnchorGroups[0][1] = 7, 7, 7
	if !slices.Equal(encoded(t, m), before) {
		t.Error("the model has changed")
	}
}

// scramble overwrites every element of every slice below v.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
			v.Index(i).SetZero()
		}
	}
}

// The table fits on a screen whatever the model, and shows what the words are
// made of without letting them break the lines.
func TestStringFitsOnAScreen(t *testing.T) {
	for _, k := range []int{2, 20, 21, 120} {
		p, _ := randomParts(300, k, uint64(k))
		for i := range p.Vocabulary {
			p.Vocabulary[i] = fmt.Sprintf("wörd\n%d\x1b%s", i, strings.Repeat("ß", i%40))
		}
		p.Background = make([]bool, k)
		p.Background[1] = true
		m := mustModel(t, p)
		lines := strings.Split(m.String(), "\n")
		if more := fmt.Sprintf("… and %d more", k-20); (k > 20) != slices.Contains(lines, more) {
			t.Errorf("K = %d: is %q there?\n%v", k, more, m)
		}
		if k <= 20 && strings.Count(m.String(), "(background)") != 1 {
			t.Errorf("K = %d: background is not shown once\n%v", k, m)
		}
		if len(lines) > 24 || !strings.HasPrefix(lines[0], fmt.Sprintf("%d topics over 300 words", k)) {
			t.Errorf("K = %d: %d lines\n%v", k, len(lines), m)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 100 || strings.ContainsRune(l, '\x1b') {
				t.Errorf("K = %d: %q", k, l)
			}
		}
	}
	// Every K of a sweep, every error and the reason as long as can be.
	s := &Sweep{}
	for k := range 60 {
		x := SweepPoint{K: k, Behind: 10, Error: 10, Back: float64(k), Why: strings.Repeat("bécause ", k)}
		if k%10 == 0 {
			s.K, s.Why = k, strings.Repeat("bécause ", 10*k)
			x.Err = errors.New(strings.Repeat("fäiled ", k))
		}
		s.Points = append(s.Points, x)
		lines := strings.Split(s.String(), "\n")
		if len(lines) > 24 || len(lines) < min(k, 16) {
			t.Errorf("sweep of %d: %d lines", k+1, len(lines))
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 100 {
				t.Errorf("sweep of %d: %q", k+1, l)
			}
		}
	}
}

func TestModelWithoutVocabulary(t *testing.T) {
	p, _ := randomParts(12, 3, 2)
	p.Vocabulary = nil
	m := mustModel(t, p)
	if m.Vocabulary() != nil {
		t.Error("there is a vocabulary")
	}
	if got := AnchorWords(m); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("AnchorWords = %q", got)
	}
	if got := m.Word(11); got != "11" {
		t.Errorf("Word(11) = %q", got)
	}
	for w, want := range map[string]int{"0": 0, "11": 11} {
		if i, ok := m.Index(w); i != want || !ok {
			t.Errorf("Index(%q) = %d, %v", w, i, ok)
		}
	}
	for _, w := range []string{"12", "-1", "+1", "01", "", "x", "1 "} {
		if i, ok := m.Index(w); ok {
			t.Errorf("Index(%q) = %d", w, i)
		}
	}
	mustPanic(t, "Word(12)", func() { m.Word(12) })
	mustPanic(t, "Word(-1)", func() { m.Word(-1) })
	if got := m.String(); !strings.HasPrefix(got, "3 topics over 12 words\ntopic ") {
		t.Errorf("String = %q", got)
	}
}

func TestIndexOfRepeatedWord(t *testing.T) {
	p := tinyParts()
	p.Vocabulary = []string{"a", "b", "a", "b", "c"}
	m := mustModel(t, p)
	for w, want := range map[string]int{"a": 0, "b": 1, "c": 4} {
		if i, ok := m.Index(w); i != want || !ok {
			t.Errorf("Index(%q) = %d, %v, want %d", w, i, ok, want)
		}
	}
}

// Rows of a matrix that is a window of a larger one need not be next to each
// other.
func TestModelFromStridedMatrices(t *testing.T) {
	p, q := tinyParts(), tinyParts()
	for _, d := range []**mat.Dense{&q.Topics, &q.WordTopics, &q.Correlations} {
		r, c := (*d).Dims()
		big := mat.NewDense(r+3, c+4, nil)
		big.Apply(func(i, j int, _ float64) float64 { return -77 }, big)
		window := big.Slice(2, r+2, 1, c+1).(*mat.Dense)
		window.Copy(*d)
		*d = window
	}
	if !slices.Equal(encoded(t, mustModel(t, p)), encoded(t, mustModel(t, q))) {
		t.Error("models differ")
	}
}

// The fast selection against sorting everything, with many ties.
func TestTopWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 40, 400} {
		p, _ := randomParts(n, 3, uint64(n))
		if n > 5 { // at most seven different values in a topic
			for j := range 3 {
				s := 0.0
				for i := range n {
					p.Topics.Set(i, j, float64(1+rng.IntN(7)))
					s += p.Topics.At(i, j)
				}
				for i := range n {
					p.Topics.Set(i, j, p.Topics.At(i, j)/s)
				}
			}
		}
		m := mustModel(t, p)
		for k := range 3 {
			all := make([]WordProb, n)
			for i := range all {
				all[i] = WordProb{i, p.Vocabulary[i], p.Topics.At(i, k), p.Topics.At(i, k)}
			}
			slices.SortFunc(all, func(a, b WordProb) int {
				switch {
				case a.Prob > b.Prob:
					return -1
				case a.Prob < b.Prob:
					return 1
				}
				return a.Index - b.Index
			})
			for _, top := range []int{-1, 0, 1, 2, 3, 10, 20, 25, 26, n - 1, n, n + 1, math.MaxInt} {
				if got, want := m.TopWords(k, top), all[:max(0, min(top, n))]; !slices.Equal(got, want) {
					t.Fatalf("N=%d: TopWords(%d, %d) = %v, want %v", n, k, top, got, want)
				}
			}
		}
		mustPanic(t, "TopWords(3, …)", func() { m.TopWords(3, 1) })
		mustPanic(t, "TopWords(-1, …)", func() { m.TopWords(-1, 1) })
	}
}

// A is made as the mean of wwᵀ over documents here, so the correlation must be
// Pearson's of the proportions themselves, however A is scaled. Both lose
// about three digits in differences of numbers near 1/K²: 1e-12 is safe.
func TestCorrelatedPairs(t *testing.T) {
	const k = 6
	p, w := randomParts(30, k, 5)
	docs, _ := w.Dims()
	mean := make([]float64, k)
	for j := range k {
		mean[j] = mat.Sum(w.ColView(j)) / float64(docs)
	}
	cov := func(i, j int) float64 {
		s := 0.0
		for d := range docs {
			s += (w.At(d, i) - mean[i]) * (w.At(d, j) - mean[j])
		}
		return s / float64(docs)
	}
	for _, scale := range []float64{1, 0.37} {
		t.Run(fmt.Sprint("scale ", scale), func(t *testing.T) {
			q := p
			q.Correlations = mat.DenseCopyOf(p.Correlations)
			q.Correlations.Scale(scale, q.Correlations)
			m := mustModel(t, q)
			for j, a := range m.TopicShares() {
				if math.Abs(a-mean[j]) > 1e-14 {
					t.Errorf("share of topic %d is %v, want %v", j, a, mean[j])
				}
			}
			all := m.CorrelatedPairs(-1)
			if len(all) != k*(k-1)/2 {
				t.Fatalf("%d pairs", len(all))
			}
			seen := map[[2]int]bool{}
			for i, pr := range all {
				if pr.K >= pr.L || seen[[2]int{pr.K, pr.L}] {
					t.Errorf("pair %d is %d, %d", i, pr.K, pr.L)
				}
				seen[[2]int{pr.K, pr.L}] = true
				want := cov(pr.K, pr.L) / math.Sqrt(cov(pr.K, pr.K)*cov(pr.L, pr.L))
				if math.Abs(pr.Correlation-want) > 1e-12 {
					t.Errorf("correlation of %d and %d is %v, want %v", pr.K, pr.L, pr.Correlation, want)
				}
				joint := p.Correlations.At(pr.K, pr.L)
				if math.Abs(pr.Joint-joint) > 1e-15 || math.Abs(pr.Lift-joint/(mean[pr.K]*mean[pr.L])) > 1e-12 {
					t.Errorf("joint %v, lift %v; want joint %v", pr.Joint, pr.Lift, joint)
				}
				if i > 0 && pr.Correlation > all[i-1].Correlation {
					t.Errorf("pair %d is out of order", i)
				}
			}
			for _, n := range []int{0, 1, 4, 15, 16} {
				if got := m.CorrelatedPairs(n); !slices.Equal(got, all[:min(n, len(all))]) {
					t.Errorf("CorrelatedPairs(%d) = %v", n, got)
				}
			}
		})
	}
}

// Any positive semi-definite A gives correlations in [−1, 1]; rounding is
// divided by a variance that is some hundredth of A_kk at least here. One of
// rank 1 has no variance at all.
func TestCorrelationsAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for round := range 60 {
		const k = 5
		p, _ := randomParts(10, k, 6)
		rank := 1 + round%k
		half := mat.NewDense(k, rank, nil)
		half.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, half)
		p.Correlations = mat.NewDense(k, k, nil)
		p.Correlations.Mul(half, half.T())
		for _, pr := range mustModel(t, p).CorrelatedPairs(-1) {
			if rank == 1 && !math.IsNaN(pr.Correlation) || rank > 1 && !(math.Abs(pr.Correlation) <= 1+1e-9) {
				t.Fatalf("rank %d: correlation of topics %d and %d is %v", rank, pr.K, pr.L, pr.Correlation)
			}
		}
	}
}

func TestCorrelationsOfAnIllegalA(t *testing.T) {
	p, _ := randomParts(10, 3, 7)
	p.Correlations = mat.NewDense(3, 3, []float64{ // topic 2 has the share 0.4, but A_22 < 0.16
		0.2, 0, 0.1,
		0, 0.2, 0.2,
		0.1, 0.2, 0.1})
	// A scaled to sum 1; pairs (0,2) and (1,2) have no correlation and come last.
	m := mustModel(t, p)
	got := m.CorrelatedPairs(-1)
	if got[0].K != 0 || got[0].L != 1 || math.IsNaN(got[0].Correlation) ||
		got[1].L != 2 || got[1].K != 0 || !math.IsNaN(got[1].Correlation) || got[2].K != 1 || !math.IsNaN(got[2].Correlation) {
		t.Errorf("pairs are %+v", got)
	}

	p.Correlations = mat.NewDense(3, 3, nil)
	m = mustModel(t, p)
	for _, a := range m.TopicShares() {
		if !math.IsNaN(a) {
			t.Errorf("A = 0 has the share %v", a)
		}
	}
	if got := m.CorrelatedPairs(1); len(got) != 1 || !math.IsNaN(got[0].Correlation) || !math.IsNaN(got[0].Joint) {
		t.Errorf("A = 0 has the pair %+v", got)
	}
}

func TestNewModelRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	sized := func(n, k int) func(p *modelParts) {
		return func(p *modelParts) {
			p.Topics, p.WordTopics, p.Correlations = new(mat.Dense), new(mat.Dense), new(mat.Dense)
			if n > 0 {
				p.Topics, p.WordTopics, p.Correlations = mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), mat.NewDense(k, k, nil)
			}
		}
	}
	for _, c := range []struct {
		name, field, want string
		spoil             func(p *modelParts)
	}{
		{"empty topics", "topics", "K = 0", sized(0, 0)},
		{"K = 1", "topics", "K = 1 is not in [2, N = 5]", sized(5, 1)},
		{"K > N", "topics", "K = 2 is not in [2, N = 1]", sized(1, 2)},
		{"word topics transposed", "word_topics", "2×5, want N×K = 5×2", func(p *modelParts) { p.WordTopics = mat.NewDense(2, 5, nil) }},
		{"A too large", "correlations", "3×3", func(p *modelParts) { p.Correlations = mat.NewDense(3, 3, nil) }},
		{"vocabulary short", "vocabulary", "has 4 words, want 5", func(p *modelParts) { p.Vocabulary = p.Vocabulary[:4] }},
		{"vocabulary empty", "vocabulary", "0 words", func(p *modelParts) { p.Vocabulary = []string{} }},
		{"marginals short", "marginals", "4 values", func(p *modelParts) { p.Marginals = p.Marginals[:4] }},
		{"no marginals", "marginals", "is missing", func(p *modelParts) { p.Marginals = nil }},
		{"marginal NaN", "marginals", `word 1 ("börse") has NaN`, func(p *modelParts) { p.Marginals[1] = nan }},
		{"marginal Inf", "marginals", "-Inf", func(p *modelParts) { p.Marginals[1] = -inf }},
		{"B negative", "topics", `p(word 2 ("cider") | topic 1) = -0.25`, func(p *modelParts) { p.Topics.Set(2, 1, -0.25) }},
		{"B NaN", "topics", "= NaN", func(p *modelParts) { p.Topics.Set(2, 1, nan) }},
		{"B Inf", "topics", "= +Inf", func(p *modelParts) { p.Topics.Set(2, 1, inf) }},
		{"B sum", "topics", "topic 0) sums to 1.00000001", func(p *modelParts) { p.Topics.Set(2, 0, 0.25+1e-8) }},
		{"B̆ negative", "word_topics", `p(topic 0 | word 0 ("apple")) = -1`, func(p *modelParts) { p.WordTopics.Set(0, 0, -1) }},
		{"B̆ NaN", "word_topics", "= NaN", func(p *modelParts) { p.WordTopics.Set(0, 0, nan) }},
		{"B̆ Inf", "word_topics", "= +Inf", func(p *modelParts) { p.WordTopics.Set(0, 0, inf) }},
		{"B̆ sum", "word_topics", `word 0 ("apple")) sums to 0.5`, func(p *modelParts) { p.WordTopics.Set(0, 0, 0.5) }},
		{"B̆ zero row", "word_topics", "sums to 0", func(p *modelParts) { p.WordTopics.Set(0, 0, 0) }},
		{"A NaN", "correlations", "A[1,0] = NaN", func(p *modelParts) { p.Correlations.Set(1, 0, nan) }},
		{"A Inf", "correlations", "A[1,1] = +Inf", func(p *modelParts) { p.Correlations.Set(1, 1, inf) }},
		{"A asymmetric", "correlations", "A[1,0] = 0.126 but A[0,1] = 0.125", func(p *modelParts) { p.Correlations.Set(1, 0, 0.126) }},
		{"empty anchors", "anchors", "0 anchors", func(p *modelParts) { p.Anchors = []int{} }},
		{"norms without anchors", "stats", "2 norms of 0 anchors", func(p *modelParts) { p.Anchors = nil }},
		{"anchors short", "anchors", "1 anchors, want 2", func(p *modelParts) { p.Anchors = p.Anchors[:1] }},
		{"anchor negative", "anchors", "word -1 of topic 1", func(p *modelParts) { p.Anchors[1] = -1 }},
		{"anchor too large", "anchors", "word 5 of topic 0", func(p *modelParts) { p.Anchors[0] = 5 }},
		{"anchor twice", "anchors", `word 3 ("dividend") is the anchor of topics 0 and 1`, func(p *modelParts) { p.Anchors[0] = 3 }},
		{"groups short", "anchor_groups", "has 1 groups, want 2", func(p *modelParts) { p.AnchorGroups = [][]int{{0, 1}} }},
		{"group negative", "anchor_groups", "word -1 of topic 1", func(p *modelParts) { p.AnchorGroups = [][]int{nil, {3, -1}} }},
		{"norms short", "stats", "1 norms of 2 anchors", func(p *modelParts) { p.Stats.Anchors.Norms = []float64{1} }},
		{"norm negative", "stats", "the norm of anchor 1 is -1", func(p *modelParts) { p.Stats.Anchors.Norms = []float64{1, -1} }},
		{"norm NaN", "stats", "the norm of anchor 0 is NaN", func(p *modelParts) { p.Stats.Anchors.Norms = []float64{nan, 1} }},
		{"α short", "alpha", "1 values, want 2", func(p *modelParts) { p.Alpha = []float64{1} }},
		{"α zero", "alpha", "of topic 1 is 0", func(p *modelParts) { p.Alpha = []float64{1, 0} }},
		{"α NaN", "alpha", "of topic 0 is NaN", func(p *modelParts) { p.Alpha = []float64{nan, 1} }},
		{"reading transposed", "reading", "2×5, want N×K = 5×2", func(p *modelParts) { p.Reading = mat.NewDense(2, 5, nil) }},
		{"reading negative", "reading", `the weight of word 2 ("cider") in topic 1 is -0.25`, func(p *modelParts) { refinedParts(p); p.Reading.Set(2, 1, -0.25) }},
		{"reading NaN", "reading", "is NaN", func(p *modelParts) { refinedParts(p); p.Reading.Set(2, 1, nan) }},
		{"reading Inf", "reading", "is +Inf", func(p *modelParts) { refinedParts(p); p.Reading.Set(2, 1, inf) }},
		{"reading sum", "reading", "weights of topic 0 sum to 2", func(p *modelParts) { refinedParts(p); p.Reading.Scale(2, p.Reading) }},
		{"background short", "background", "1 flags, want 2", func(p *modelParts) { p.Background = []bool{true} }},
		{"names short", "names", "has 1 names, want 2", func(p *modelParts) { p.Names = []string{"a"} }},
		{"names twice", "names", `"a" is that of topics 0 and 1`, func(p *modelParts) { p.Names = []string{"a", "a"} }},
		{"names with control characters", "names", "control", func(p *modelParts) { p.Names = []string{"", "a\nb"} }},
		{"names in no UTF-8", "names", "UTF-8", func(p *modelParts) { p.Names = []string{"\xff", ""} }},
		{"names with space", "names", "space", func(p *modelParts) { p.Names = []string{"a ", ""} }},
	} {
		p := tinyParts()
		c.spoil(&p)
		m, err := p.model()
		if m != nil || err == nil || !strings.HasPrefix(err.Error(), c.field+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want one of %q with %q", c.name, err, c.field, c.want)
		}
	}
}

func TestNewModelAccepts(t *testing.T) {
	for name, change := range map[string]func(p *modelParts){
		"columns of B within 1e-9":           func(p *modelParts) { p.Topics.Set(2, 0, 0.25+5e-10) },
		"rows of B̆ within 1e-9":             func(p *modelParts) { p.WordTopics.Set(0, 0, 1-5e-10) },
		"negative A":                         func(p *modelParts) { p.Correlations.Set(0, 1, -0.1); p.Correlations.Set(1, 0, -0.1) },
		"A of any sum":                       func(p *modelParts) { p.Correlations.Scale(-3, p.Correlations) },
		"A symmetric to 1e-7":                func(p *modelParts) { p.Correlations.Set(0, 1, 0.125+1e-8) },
		"tiny negative marginals":            func(p *modelParts) { p.Marginals[2] = -1e-18 },
		"no row of B̆ for a word without c":  func(p *modelParts) { p.WordTopics.Set(2, 0, 0); p.Marginals[2] = 0 },
		"no row of B̆ for a word with c < 0": func(p *modelParts) { p.WordTopics.Set(2, 0, 0); p.Marginals[2] = -1e-18 },
		"statistics that are no numbers":     func(p *modelParts) { p.Stats.Rectify.Shift = math.NaN() },
	} {
		p := tinyParts()
		change(&p)
		t.Run(name, func(t *testing.T) {
			if _, err := ReadModel(bytes.NewReader(encoded(t, mustModel(t, p)))); err != nil {
				t.Errorf("written and read: %v", err)
			}
		})
	}
}

func TestVersionIn(t *testing.T) {
	own := func(v string) debug.Module { return debug.Module{Path: modulePath, Version: v} }
	dep := func(v string, r *debug.Module) []*debug.Module {
		return []*debug.Module{{Path: "example.com/x", Version: "v9.9.9"}, {Path: modulePath, Version: v, Replace: r}}
	}
	other := debug.Module{Path: "example.com/app", Version: "v3.0.0"}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: own("(devel)")}, "(devel)"},
		{debug.BuildInfo{Main: own("")}, "(devel)"},
		{debug.BuildInfo{Main: own("v1.2.3")}, "v1.2.3"},
		{debug.BuildInfo{Main: other, Deps: dep("v1.4.0", nil)}, "v1.4.0"},
		{debug.BuildInfo{Main: other, Deps: dep("v1.4.0", &debug.Module{Path: "../checkout"})}, "(devel)"},
		{debug.BuildInfo{Main: other, Deps: dep("v1.4.0", &debug.Module{Path: "example.com/fork", Version: "v1.5.0"})}, "v1.5.0"},
		{debug.BuildInfo{Main: other}, "unknown"},
	} {
		if got := versionIn(&c.info); got != c.want {
			t.Errorf("%+v: %q, want %q", c.info, got, c.want)
		}
	}
	if p := newProvenance(3, []string{"a"}, nil); p.Version == "" || p.Go == "" || p.OS == "" || p.Arch == "" ||
		p.Arithmetic != arith.Version || p.Seed != 3 || p.FormatVersion != modelfile.Version || !slices.Equal(p.Stages, []string{"a"}) {
		t.Errorf("provenance is %+v", p)
	}
}

// Every getter from many goroutines at once; the race detector looks on.
func TestModelConcurrently(t *testing.T) {
	p, _ := randomParts(60, 4, 9)
	p.Stats = tinyParts().Stats
	p.Stats.Anchors.Norms = nil
	m, alone := mustModel(t, p), mustModel(t, p)
	all := func(m *Model) string {
		i, ok := m.Index("word17")
		return fmt.Sprint(m.N(), m.K(), m, mat.Formatted(m.Topics()), mat.Formatted(m.WordTopics()), mat.Formatted(m.Correlations()),
			m.Anchors(), AnchorWords(m), m.Marginals(), m.TopWords(2, 3), m.TopWords(2, 60), m.TopicShares(),
			m.Vocabulary(), m.Word(3), i, ok, m.CorrelatedPairs(3), m.Stats(), m.Provenance(), string(encoded(t, m)))
	}
	want := all(alone)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 3 {
				if got := all(m); got != want {
					t.Errorf("differs:\n%s\nwant\n%s", got, want)
				}
			}
		}()
	}
	wg.Wait()
}

func BenchmarkTopWords(b *testing.B) {
	p, _ := randomParts(20000, 50, 1)
	m := mustModel(b, p)
	for _, n := range []int{10, 1000, 20000} {
		b.Run(fmt.Sprintf("N=20000/top=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.TopWords(7, n)
			}
		})
	}
}
