package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// golden is one solver's result in the reference values of the tiny corpus.
type golden struct {
	B, Btilde, A   [][]float64
	S0             []int
	VsOriginal     map[string]float64 `json:"metrics_vs_original"`
	VsRectified    map[string]float64 `json:"metrics_vs_rectified"`
	name           string
	original, rect *cooc.Dense // rect nil: not given
	counts         *counts

	// The reference files print probabilities below some 1e-17 as 0. ADMM run
	// on the anchors too leaves such residues, and with them the order of words
	// that the file shows as tied at 0, and which words count as in a topic.
	residues bool
}

func (g *golden) input(c cooc.Matrix, pairs PairCounts) Factors {
	return Factors{C: c, B: matrix(g.B), WordTopics: mat.DenseCopyOf(matrix(g.Btilde).T()), A: matrix(g.A), Anchors: g.S0, Pairs: pairs}
}

// counts are document frequencies in plain arrays.
type counts struct {
	association func(i, j int) (times, deviations float64) // nil: that of documents of like lengths

	d1   []int
	d2   [][]int
	docs int
}

func (c *counts) Has(i int) bool  { return i < len(c.d1) }
func (c *counts) At(i, j int) int { return c.d2[i][j] }
func (c *counts) D1(i int) int    { return c.d1[i] }
func (c *counts) Docs() int       { return c.docs }

func matrix(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

func denseC(t testing.TB, a mat.Matrix) *cooc.Dense {
	t.Helper()
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tiny(t testing.TB) []golden {
	t.Helper()
	var all map[string]json.RawMessage
	testutil.JSON(t, &all, "tiny", "golden.json.gz")
	into := func(raw json.RawMessage, v any) {
		t.Helper()
		if err := json.Unmarshal(raw, v); err != nil {
			t.Fatal(err)
		}
	}
	var c [][]float64
	n := &counts{}
	into(all["C"], &c)
	into(all["D1"], &n.d1)
	into(all["D2"], &n.d2)
	into(all["docs_used"], &n.docs)
	original := denseC(t, matrix(c))
	var out []golden
	add := func(name string, m map[string]json.RawMessage, s0 []int, rect *cooc.Dense) {
		for _, solver := range []string{"activeSet", "admmDR", "expGrad"} {
			g := golden{S0: s0}
			into(m[solver], &g)
			g.name, g.original, g.rect, g.counts = name+"/"+solver, original, rect, n
			g.residues = rect == nil && solver == "admmDR"
			out = append(out, g)
		}
	}
	for _, r := range []string{"Baseline", "AP15", "AP150", "DR15", "DC30"} {
		var m map[string]json.RawMessage
		into(all["full_"+r], &m)
		var s0 []int
		var cr [][]float64
		into(m["S0"], &s0)
		into(m["C_rect"], &cr)
		add(r, m, s0, denseC(t, matrix(cr)))
	}
	var low map[string]map[string]json.RawMessage
	into(all["low"], &low)
	for _, r := range []string{"ENN", "PALM", "EigY"} {
		add("low."+r, low[r], nil, nil)
	}
	return out
}

// TestGolden compares every measure with the reference values. The tolerance is
// 1e-12, relative to the value or 1: they are sums of some hundred terms
// (rounding 1e-14), and the reference prints 16 digits.
func TestGolden(t *testing.T) {
	const tol = 1e-12
	for _, g := range tiny(t) {
		for _, ref := range []struct {
			name string
			c    *cooc.Dense
			want map[string]float64
		}{{"original", g.original, g.VsOriginal}, {"rectified", g.rect, g.VsRectified}} {
			if ref.c == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", g.name, ref.name), func(t *testing.T) {
				r, err := Evaluate(context.Background(), g.input(ref.c, g.counts))
				if err != nil {
					t.Fatal(err)
				}
				seen := 0
				check := func(name string, got float64) {
					t.Helper()
					want, ok := ref.want[name]
					if !ok {
						t.Errorf("no reference value %s", name)
					}
					seen++
					if g.residues && slices.Contains([]string{"Validity", "Dissimilarity", "Coherence", "BasisQuality"}, strings.TrimSuffix(name, "_std")) {
						return
					}
					if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
						t.Errorf("%s = %.17g, reference %.17g", name, got, want)
					}
				}
				stat := func(name string, s Stat) {
					t.Helper()
					check(name, s.Mean)
					check(name+"_std", s.Std)
					if s.Undefined > 0 {
						t.Errorf("%s: %d values undefined", name, s.Undefined)
					}
				}
				stat("Recovery", r.Recovery)
				check("Legality", r.Legality)
				check("Validity", r.Validity)
				check("Approximation", r.Approximation)
				stat("Dominancy", r.Dominancy)
				check("mean_diagA", r.DominancyDiag.Mean)
				stat("Entropy", r.Entropy)
				stat("Sparsity", r.Sparsity)
				stat("Specificity", r.Specificity)
				stat("Dissimilarity", r.Dissimilarity)
				stat("Coherence", r.Coherence)
				stat("BasisRank", r.BasisRank)
				stat("SoftBasisRank", r.SoftBasisRank)
				stat("BasisQuality", r.BasisQuality)
				if want := 14 + 10; seen != want {
					t.Errorf("%d values compared, want %d", seen, want)
				}
			})
		}
	}
}

// tinyCorpus is the curated tiny corpus, from the counts next to its goldens,
// without the documents too short for C: the reference counts pairs of words in
// the documents that C is made of.
func tinyCorpus(t testing.TB) *corpus.Corpus {
	t.Helper()
	var g struct {
		N    int
		Bows [][3]int // document, word (both from 1), count
	}
	testutil.JSON(t, &g, "tiny", "golden.json.gz")
	docs := 0
	for _, x := range g.Bows {
		docs = max(docs, x[0])
	}
	h := sparse.NewDOK(docs, g.N)
	for _, x := range g.Bows {
		h.Set(x[0]-1, x[1]-1, float64(x[2]))
	}
	c, err := corpus.FromCSR(h.ToCSR(), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var long []int
	for m := range c.NumDocs() {
		if c.DocLen(m) >= 5 {
			long = append(long, m)
		}
	}
	if c, err = c.Select(long, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFromDocuments measures one golden model with C and the pair counts made
// from the documents: as with the golden C and counts, to 1e-12 (the two C agree
// to 1e-16).
func TestFromDocuments(t *testing.T) {
	ctx := context.Background()
	docs := tinyCorpus(t)
	c, err := cooc.NewMoments(ctx, docs, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range tiny(t) {
		pairs, err := cooc.CountPairs(ctx, docs, TopUnion(matrix(g.B), 0))
		if err != nil {
			t.Fatal(err)
		}
		g.counts.association = pairs.Association // by the lengths, which the counts do not tell
		want, err := Evaluate(ctx, g.input(g.original, g.counts))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Evaluate(ctx, g.input(c, pairs))
		if err != nil {
			t.Fatal(err)
		}
		closeReports(t, g.name, got, want, 1e-12)
	}
}

// TestNPMIFromDocuments compares NPMI, on the tiny corpus, with the definition
// read off the documents pair by pair.
func TestNPMIFromDocuments(t *testing.T) {
	docs := tinyCorpus(t)
	holds := func(m, w int) bool {
		words, _ := docs.Doc(m)
		return slices.Contains(words, int32(w))
	}
	share := func(words ...int) float64 {
		n := 0
		for m := range docs.NumDocs() {
			in := true
			for _, w := range words {
				in = in && holds(m, w)
			}
			if in {
				n++
			}
		}
		return float64(n) / float64(docs.NumDocs())
	}
	g := tiny(t)[0]
	b := matrix(g.B)
	for _, n := range []int{2, 5, 20} {
		pairs, err := cooc.CountPairs(context.Background(), docs, TopUnion(b, n))
		if err != nil {
			t.Fatal(err)
		}
		got := evaluate(t, Factors{B: b, Pairs: pairs, TopN: n}).NPMI
		never := 0
		for k := range got.Values {
			top := topWords(b, n)[k]
			sum, count := 0.0, 0
			for i := range top {
				for j := range i {
					count++
					p := share(top[i], top[j])
					if p == 0 {
						sum--
						never++
						continue
					}
					sum += math.Log(p/(share(top[i])*share(top[j]))) / -math.Log(p)
				}
			}
			if want := sum / float64(count); math.Abs(got.Values[k]-want) > 1e-13 {
				t.Errorf("n=%d, topic %d: %v, want %v", n, k, got.Values[k], want)
			}
		}
		if n == 20 && never == 0 {
			t.Error("no pair that never meets: the case is not tested")
		}
	}
}

func (c *counts) Association(i, j int) (times, deviations float64) {
	if c.association != nil {
		return c.association(i, j)
	}
	return plainAssociation(c, i, j)
}

// plainAssociation is that of documents of like lengths.
func plainAssociation(p PairCounts, i, j int) (times, deviations float64) {
	docs := float64(p.Docs())
	x, y := float64(p.D1(i))/docs, float64(p.D1(j))/docs
	both := float64(p.At(i, j))
	return both / (docs * x * y), (both - docs*x*y) / math.Sqrt(docs*x*y*(1-x)*(1-y))
}
