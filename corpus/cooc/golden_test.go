package cooc_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// longEnough leaves out the documents that do not enter C; the reference
// counts pairs in the others.
func longEnough(t testing.TB, c *corpus.Corpus) *corpus.Corpus {
	t.Helper()
	var docs []int
	for m := range c.NumDocs() {
		if c.DocLen(m) >= 5 {
			docs = append(docs, m)
		}
	}
	s, err := c.Select(docs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func all(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

func countPairs(t testing.TB, c *corpus.Corpus, words []int) *cooc.Pairs {
	t.Helper()
	p, err := cooc.CountPairs(ctx, c, words)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Entries of C are sums of at most a few thousand terms of one sign: they agree
// with the reference to 1e-13 of the largest, counts exactly.
func TestGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	c := golden.Corpus(t, "tiny")
	m := newMoments(t, c, cooc.Options{})
	if m.Dim() != g.N || m.Info().Documents != g.DocsUsed {
		t.Fatalf("N = %d, %d documents; want %d, %d", m.Dim(), m.Info().Documents, g.N, g.DocsUsed)
	}
	if !slices.Equal(c.Vocabulary(), g.Dict) {
		t.Fatalf("vocabulary %v, want %v", c.Vocabulary(), g.Dict)
	}
	p := countPairs(t, longEnough(t, c), all(g.N))
	row := make([]float64, g.N)
	largest := 0.0
	for _, r := range g.C {
		largest = max(largest, slices.Max(r))
	}
	for i := range g.N {
		m.RowTo(row, i)
		sum := 0.0
		for j, v := range row {
			near(t, "C", v, g.C[i][j], 1e-13*largest)
			sum += g.C[i][j]
			if p.At(i, j) != g.D2[i][j] {
				t.Errorf("D2[%d,%d] = %d, want %d", i, j, p.At(i, j), g.D2[i][j])
			}
		}
		near(t, "c", m.Marginals()[i], sum, 1e-13*slices.Max(m.Marginals()))
		if p.D1(i) != g.D1[i] || m.Info().DocFrequencies[i] != g.D1[i] {
			t.Errorf("D1[%d] = %d and %d, want %d", i, p.D1(i), m.Info().DocFrequencies[i], g.D1[i])
		}
	}
}

type corpusGolden struct {
	N         int
	Docs      int `json:"docs_after_min_objects"`
	Tokens    int64
	SumC      float64     `json:"sumC"`
	FroC      float64     `json:"froC"`
	TraceC    float64     `json:"traceC"`
	MaxC      float64     `json:"maxC"`
	NNZC      int         `json:"nnzC"`
	RowSum    []float64   `json:"rowsum_first10"`
	Block     [][]float64 `json:"C_6x6"`
	D1        []int       `json:"D1_first20"`
	D2        [][]int     `json:"D2_6x6"`
	SumD1     int         `json:"sumD1"`
	SumD2     float64     `json:"sumD2"`
	Eig       []float64   `json:"top10_eigs"`
	DictFirst []string    `json:"dict_first30"`
}

func TestGoldenCorpora(t *testing.T) {
	testutil.NotWithRace(t)
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			c := golden.Corpus(t, name)
			var g corpusGolden
			testutil.JSON(t, &g, name, "corpus.json")
			m := newMoments(t, c, cooc.Options{})
			if m.Dim() != g.N || c.NumDocs() != g.Docs {
				t.Fatalf("N = %d, %d documents; want %d, %d", m.Dim(), c.NumDocs(), g.N, g.Docs)
			}
			if !slices.Equal(c.Vocabulary()[:30], g.DictFirst) {
				t.Errorf("vocabulary begins %v, want %v", c.Vocabulary()[:30], g.DictFirst)
			}
			used := longEnough(t, c)
			if c.Tokens() != g.Tokens {
				t.Errorf("%d tokens, want %d", c.Tokens(), g.Tokens)
			}
			d := golden.Dense(t, m)
			sum, fro, trace, largest, nnz := 0.0, 0.0, 0.0, 0.0, 0
			for i := range g.N {
				trace += d.At(i, i)
				for j := range g.N {
					v := d.At(i, j)
					sum += v
					fro += v * v
					largest = max(largest, v)
					if v != 0 {
						nnz++
					}
				}
			}
			near(t, "sum", sum, g.SumC, 1e-13)
			near(t, "Frobenius norm", math.Sqrt(fro), g.FroC, 1e-13*g.FroC)
			near(t, "trace", trace, g.TraceC, 1e-13*g.TraceC)
			near(t, "max", largest, g.MaxC, 1e-13*g.MaxC)
			if nnz != g.NNZC {
				t.Errorf("%d entries are not zero, want %d", nnz, g.NNZC)
			}
			for i, v := range g.RowSum {
				near(t, "row sum", m.Marginals()[i], v, 1e-13*v)
			}
			p := countPairs(t, used, all(g.N))
			for i := range 6 {
				for j := range 6 {
					near(t, "C", d.At(i, j), g.Block[i][j], 1e-13*g.MaxC)
					if p.At(i, j) != g.D2[i][j] {
						t.Errorf("D2[%d,%d] = %d, want %d", i, j, p.At(i, j), g.D2[i][j])
					}
				}
			}
			sum1, sum2 := 0, 0
			for i := range g.N {
				sum1 += p.D1(i)
				if i < len(g.D1) && p.D1(i) != g.D1[i] {
					t.Errorf("D1[%d] = %d, want %d", i, p.D1(i), g.D1[i])
				}
				for j := range g.N {
					sum2 += p.At(i, j)
				}
			}
			if sum1 != g.SumD1 || sum2 != int(g.SumD2) {
				t.Errorf("ΣD1 = %d, ΣD2 = %d; want %d, %.0f", sum1, sum2, g.SumD1, g.SumD2)
			}
			if testing.Short() || g.N > 600 {
				return // a full eigendecomposition takes seconds there
			}
			var eig mat.EigenSym
			if !eig.Factorize(d.Matrix(), false) {
				t.Fatal("no eigenvalues")
			}
			ev := eig.Values(nil)
			for i, v := range g.Eig {
				near(t, "eigenvalue", ev[g.N-1-i], v, 1e-12*g.Eig[0])
			}
		})
	}
}
