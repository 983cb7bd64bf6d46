package jsmf_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// towers plants two levels: supertopics over topics, in the part of words, and
// topics over words, both separable.
func towers() (lower, upper *testutil.Planted, c *mat.Dense) {
	upper = testutil.NewPlanted(12, 4, 0.3, 5)
	lower = testutil.NewPlanted(150, 12, 0, 6)
	c = new(mat.Dense)
	// upper.C has the rank 4 only; so does C.
	c.Product(lower.B, upper.C, lower.B.T())
	for i := range 150 {
		for j := range i {
			c.Set(i, j, c.At(j, i))
		}
	}
	return lower, upper, c
}

// A model of the lower level whose correlations were planted too gives the upper
// level back. C is of the rank of the upper level, so that no method finds the
// lower one in it: its anchors are given.
func TestHierarchyPlanted(t *testing.T) {
	lower, upper, c := towers()
	p := jsmf.Published(12).Rectify(rectify.None{}).Anchors(chosenAnchors{lower.Anchors}).Recover(planted12{lower, upper})
	m, err := p.Fit(ctx, matrixOf(t, c))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.None{}} {
		h, err := jsmf.Levels{K: []int{4}}.Run(ctx, jsmf.Published(0).Rectify(r), m)
		if err != nil {
			t.Fatal(err)
		}
		if h.Levels() != 2 || h.K(0) != 12 || h.K(1) != 4 || h.Model(0) != m {
			t.Fatalf("%d levels", h.Levels())
		}
		up := h.Model(1)
		errB, errA, err := upper.Errors(up.Anchors(), mat.DenseCopyOf(up.Topics()), mat.DenseCopyOf(up.Correlations()))
		if err != nil || errB > 1e-8 || errA > 1e-8 {
			t.Errorf("%v: B is off by %.2g, A by %.2g, %v", r, errB, errA, err)
		}
		checkHierarchy(t, h)
	}
}

// chosenAnchors finds the anchors it was given.
type chosenAnchors struct{ words []int }

func (c chosenAnchors) String() string { return "chosen anchors" }
func (c chosenAnchors) Find(context.Context, cooc.Rows, int, anchor.Options) (*anchor.Result, error) {
	return &anchor.Result{Anchors: c.words, Stats: anchor.Stats{Candidates: len(c.words)}}, nil
}

// planted12 returns the planted model.
type planted12 struct{ lower, upper *testutil.Planted }

func (p planted12) String() string { return "planted" }
func (p planted12) Recover(_ context.Context, rows cooc.Rows, _ []int, _ recovery.Options) (*recovery.Result, error) {
	n, _ := rows.Dims()
	return &recovery.Result{WordTopics: p.lower.WordTopics(), B: p.lower.B, A: p.upper.C, Residuals: make([]float64, n), Marginals: rows.Marginals()}, nil
}

// checkHierarchy checks what holds of any: words are the product of the levels,
// the weights sum to one, and the edges are the levels' own numbers.
func checkHierarchy(t *testing.T, h *jsmf.Hierarchy) {
	t.Helper()
	want := mat.DenseCopyOf(h.Model(0).Topics())
	for level := range h.Levels() {
		if level > 0 {
			var b mat.Dense
			b.Mul(want, h.Model(level).Topics())
			want = &b
			if h.Model(level).N() != h.K(level-1) {
				t.Errorf("level %d has %d words above %d topics", level, h.Model(level).N(), h.K(level-1))
			}
		}
		b := mat.DenseCopyOf(h.Topics(level))
		if !mat.EqualApprox(b, want, 1e-12) || !mat.Equal(b, h.Topics(level)) {
			t.Errorf("level %d: the topics are not the product of the levels", level)
		}
		for k := range h.K(level) {
			if s := mat.Sum(b.ColView(k)); math.Abs(s-1) > 1e-9 {
				t.Errorf("level %d, topic %d: its words sum to %g", level, k, s)
			}
			top := h.TopWords(level, k, 5)
			best, last := 0.0, math.Inf(1)
			for i := range h.Model(0).N() {
				best = max(best, b.At(i, k))
			}
			for _, w := range top {
				if w.Prob != b.At(w.Index, k) || w.Word != h.Model(0).Word(w.Index) || w.Prob > last {
					t.Errorf("level %d, topic %d: %v", level, k, top)
				}
				last = w.Prob
			}
			if len(top) != 5 || top[0].Prob != best {
				t.Errorf("level %d, topic %d: top words %v, the best has %g", level, k, top, best)
			}
		}
		if level == 0 {
			continue
		}
		weights, shares := make([]float64, h.K(level)), make([]float64, h.K(level-1))
		edges := h.Edges(level, 0)
		if len(edges) != len(weights)*len(shares) {
			t.Errorf("level %d: %d edges", level, len(edges))
		}
		for i, e := range edges {
			weights[e.Parent] += e.Weight
			shares[e.Child] += e.Share
			if i > 0 && (edges[i-1].Parent > e.Parent || edges[i-1].Parent == e.Parent && edges[i-1].Weight < e.Weight) {
				t.Errorf("level %d: edge %d is out of order", level, i)
			}
		}
		for _, s := range append(weights, shares...) {
			if math.Abs(s-1) > 1e-9 {
				t.Errorf("level %d: weights sum to %g", level, s)
			}
		}
		parents := map[int]bool{}
		for _, e := range h.Edges(level, 1/float64(h.K(level))) {
			parents[e.Child] = true
		}
		if len(parents) != h.K(level-1) {
			t.Errorf("level %d: %d of %d topics have a parent", level, len(parents), h.K(level-1))
		}
	}
}

// Three levels of a corpus; the model below stays as it was; workers change no
// bit; bounds on the anchors' document frequencies do not hold for topics.
func TestHierarchy(t *testing.T) {
	c := golden.Corpus(t, "synth")
	p := jsmf.Published(10).Rectify(rectify.AP{Iterations: 4}).Anchors(anchor.QR{MinDocs: 20})
	m := fit(t, p, c)
	before := encoded(t, m)
	h, err := jsmf.Levels{K: []int{5, 3}}.Run(ctx, p.K(0), m)
	if err != nil {
		t.Fatal(err)
	}
	if string(encoded(t, m)) != string(before) {
		t.Error("the model changed")
	}
	if h.Levels() != 3 || h.K(1) != 5 || h.K(2) != 3 {
		t.Fatalf("%d levels, %d, %d", h.Levels(), h.K(1), h.K(2))
	}
	checkHierarchy(t, h)
	if w := jsmf.AnchorWords(h.Model(1))[0]; !strings.HasPrefix(w, fmt.Sprintf("%d:", h.Model(1).Anchors()[0])) {
		t.Errorf("anchor %q", w)
	}
	one, err := jsmf.Levels{K: []int{5, 3}}.Run(ctx, p.Workers(1).K(0), m)
	if err != nil || !mat.Equal(mat.DenseCopyOf(one.Topics(2)), mat.DenseCopyOf(h.Topics(2))) {
		t.Errorf("one worker makes another hierarchy, %v", err)
	}
	for _, sizes := range [][]int{nil, {10}, {11}, {5, 5}, {1}, {5, 1}, {0}} {
		if _, err := (jsmf.Levels{K: sizes}).Run(ctx, p.K(0), m); err == nil || strings.Count(err.Error(), "jsmf: ") != 1 {
			t.Errorf("sizes %v: %v", sizes, err)
		}
	}
	if _, err := (jsmf.Levels{K: []int{3}}).Run(ctx, p.K(0), nil); err == nil {
		t.Error("no model: no error")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (jsmf.Levels{K: []int{3}}).Run(cancelled, p.K(0), m); !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "jsmf: ") != 1 {
		t.Errorf("cancelled: %v", err)
	}
	// More supertopics than the correlations have dimensions.
	lower, upper, lc := towers()
	low, err := jsmf.Published(12).Rectify(rectify.None{}).Anchors(chosenAnchors{lower.Anchors}).Recover(planted12{lower, upper}).Fit(ctx, matrixOf(t, lc))
	if err != nil {
		t.Fatal(err)
	}
	var rank *anchor.RankError
	if _, err := (jsmf.Levels{K: []int{6}}).Run(ctx, jsmf.Published(0).Rectify(rectify.None{}), low); !errors.As(err, &rank) || rank.Rank != 4 || !strings.Contains(err.Error(), "6 topics") {
		t.Errorf("6 of 4 dimensions: %v", err)
	}
}

// On nips17 the supertopics of 25→5 are distinct: of the 20 words of each at
// least half are in no other, as many as in the direct fit's within a fifth.
func TestHierarchyNips(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: some seconds of computing")
	}
	path := testutil.Data(t, "nips17", "docword.nips17.txt.gz")
	raw, err := corpus.ReadUCI(ctx, path, testutil.Data(t, "nips17", "vocab.nips17.txt"))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := corpus.Curate(raw, corpus.Curation{Words: 2000, StopWords: stopwords.English()})
	if err != nil {
		t.Fatal(err)
	}
	m := fit(t, jsmf.Published(25), c)
	h, err := jsmf.Levels{K: []int{5}}.Run(ctx, jsmf.Published(0), m)
	if err != nil {
		t.Fatal(err)
	}
	checkHierarchy(t, h)
	direct := fit(t, jsmf.Published(5), c)
	up, err := metrics.Evaluate(ctx, metrics.Factors{B: mat.DenseCopyOf(h.Topics(1))})
	if err != nil {
		t.Fatal(err)
	}
	one, err := metrics.Evaluate(ctx, metrics.Factors{B: mat.DenseCopyOf(direct.Topics())})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("of 20 words in one topic only: %.1f by 25→5, %.1f by 5", up.Dissimilarity.Mean, one.Dissimilarity.Mean)
	for k := range 5 {
		t.Logf("%v   |   %v", names(h.TopWords(1, k, 7)), names(direct.TopWords(k, 7)))
	}
	if up.Dissimilarity.Mean < 10 || up.Dissimilarity.Mean < one.Dissimilarity.Mean-4 {
		t.Errorf("of 20 words %.1f are in one topic only, %.1f of the direct fit's", up.Dissimilarity.Mean, one.Dissimilarity.Mean)
	}
}

func names(top []jsmf.WordProb) (out []string) {
	for _, w := range top {
		out = append(out, w.Word)
	}
	return out
}

// Six topics of a corpus, and three topics of these.
func ExampleLevels() {
	planted := testutil.NewPlanted(200, 6, 0.9, 8)
	c, _, err := corpus.Generator{Topics: planted.B, Prior: corpus.SymmetricDirichlet(6, 0.1), Docs: 2000, Lengths: []int{100}, Seed: 1}.Generate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	m, err := jsmf.Published(6).Fit(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	h, err := jsmf.Levels{K: []int{3}}.Run(ctx, jsmf.Published(0), m)
	if err != nil {
		log.Fatal(err)
	}
	for level := range h.Levels() {
		fmt.Println("level", level, "has", h.K(level), "topics")
	}
	rows, cols := h.Topics(1).Dims()
	fmt.Printf("p(word | supertopic) is %d×%d, with %d edges to the topics below\n", rows, cols, len(h.Edges(1, 0)))
	// Output:
	// level 0 has 6 topics
	// level 1 has 3 topics
	// p(word | supertopic) is 200×3, with 18 edges to the topics below
}
