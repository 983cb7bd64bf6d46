// Package golden gives tests the reference results and the corpora they were
// computed from.
package golden

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// Row is one row of a golden.jsonl: what the reference program got for one
// corpus, K and rectifier.
type Row struct {
	Corpus      string
	N, K        int
	Rectifier   string
	ValuesIters []int     `json:"values_iters"`
	Values1     []float64 `json:"values1"` // changes at those iterations
	Rect        struct {
		Fro, Sum, Trace, Min, Max float64
		Block                     [][]float64
		DiagFirst10               []float64 `json:"diag_first10"`
		RowsumMin                 float64   `json:"rowsum_min"`
		RowsumFirst10             []float64 `json:"rowsum_first10"`
		DMin                      float64   `json:"d_min"` // row sums of YYᵀ
		DFirst10                  []float64 `json:"d_first10"`
		XYDiff                    float64   `json:"XYdiff"`   // PALM: ‖X − Y‖
		XYResid                   float64   `json:"XY_resid"` // PALM: ‖C − XYᵀ‖
	}
	S0    []int
	DiagR []float64
	// Of the low-rank anchor word algorithm: how many entries were clipped, and
	// the least row sum after that.
	LawNNZ  int     `json:"law_nnzE"`
	LawMinD float64 `json:"law_mind_after"`
	Opt     []struct {
		Optimizer       string
		ObjMean         float64            `json:"obj_mean"`
		BFro            float64            `json:"B_fro"`
		BRowsFirst3     [][]float64        `json:"B_rows_first3"`
		BColnorms       []float64          `json:"B_colnorms"`
		BtildeFro       float64            `json:"Btilde_fro"`
		BtildeFirst3    [][]float64        `json:"Btilde_cols_first3"`
		BSDiag          []float64          `json:"BS_diag"`
		ADiag           []float64          `json:"A_diag"`
		ASum            float64            `json:"A_sum"`
		ARow1           []float64          `json:"A_row1"`
		AFro            float64            `json:"A_fro"`
		TopWords        []string           `json:"top_words_first10topics"`
		Alpha0Line      float64            `json:"alpha0_linesearch"`
		MetricsOriginal map[string]float64 `json:"metrics_vs_original"`
	}
}

// Rows returns the rows of testdata/name/golden.jsonl.gz.
func Rows(t testing.TB, name string) []Row {
	return testutil.JSONLines[Row](t, name, "golden.jsonl.gz")
}

// Corpus returns the curated corpus that the golden values of the given name
// were computed from: tiny, synth, or kos1000, which needs the real corpora.
func Corpus(t testing.TB, name string) *corpus.Corpus {
	t.Helper()
	path := testutil.Path
	switch name {
	case "tiny":
		return Curated(t, path(name, "docword.tiny.txt"), path(name, "vocab.tiny.txt"), path(name, "tiny.stops"), 25)
	case "synth":
		return Curated(t, path(name, "docword.synth.txt.gz"), path(name, "vocab.synth.txt"), path(name, "synth.stops"), 600)
	case "kos1000":
		return Curated(t, testutil.Data(t, "kos", "docword.kos.txt.gz"), testutil.Data(t, "kos", "vocab.kos.txt"), "", 1000)
	}
	t.Fatalf("no golden corpus %q", name)
	return nil
}

// Curated reads a corpus and keeps its best words by the papers' rules. Each corpus
// is read once and shared: it is immutable.
func Curated(t testing.TB, docword, vocab, stops string, words int) *corpus.Corpus {
	t.Helper()
	key := fmt.Sprintf("%q %q %q %d", docword, vocab, stops, words)
	if c, ok := curated.Load(key); ok {
		return c.(*corpus.Corpus)
	}
	raw, err := corpus.ReadUCI(context.Background(), docword, vocab)
	if err != nil {
		t.Fatal(err)
	}
	cur := corpus.Curation{Words: words, MinDistinct: 3}
	if stops != "" {
		b, err := os.ReadFile(stops)
		if err != nil {
			t.Fatal(err)
		}
		cur.StopWords = strings.Fields(string(b))
	}
	c, _, err := corpus.Curate(raw, cur)
	if err != nil {
		t.Fatal(err)
	}
	curated.Store(key, c)
	return c
}

// curated holds what Curated has read, *corpus.Corpus by files and settings.
var curated sync.Map

// Tiny is the part of tiny/golden.json.gz that holds the corpus and the
// fully rectified results.
type Tiny struct {
	N, K      int
	Dict      []string
	C         [][]float64
	D1        []int
	D2        [][]int
	DocsUsed  int         `json:"docs_used"`
	AP15      [][]float64 `json:"AP15_values"`
	FullBase  Full        `json:"full_Baseline"`
	FullAP15  Full        `json:"full_AP15"`
	FullAP150 Full        `json:"full_AP150"`
	DR15      [][]float64 `json:"DR15_values"`
	FullDR15  Full        `json:"full_DR15"`
	FullDC30  Full        `json:"full_DC30"`
	Low       struct {
		PALM, ENN, EigY LowRank
	}
}

// Full is one rectifier's results on tiny.
type Full struct {
	CRect     [][]float64 `json:"C_rect"`
	S0        []int
	DiagR     []float64
	ActiveSet Solved `json:"activeSet"`
	ADMM      Solved `json:"admmDR"`
	ExpGrad   Solved `json:"expGrad"`
}

// LowRank is one compressing rectifier's results on tiny; D are the row sums of YYᵀ, E
// is the last correction.
type LowRank struct {
	Y, YYt    [][]float64
	Values    [][]float64
	E         [][]float64
	D         []float64
	ActiveSet SolvedLow `json:"activeSet"`
}

// SolvedLow is what the low-rank anchor word algorithm makes of a LowRank.
type SolvedLow struct {
	Solved
	S0      []int
	DiagR   []float64
	ELaw    [][]float64 `json:"E_law"`
	RowSums []float64   `json:"rowsums"`
}

// Solved is one solver's results on tiny; Btilde is K×N.
type Solved struct {
	B, Btilde, A    [][]float64
	APinv           [][]float64        `json:"A_pinv"`
	AOptimize       [][]float64        `json:"A_optimize"` // by multiplicative updates
	AlphaLineSearch []float64          `json:"alpha_linesearch"`
	AlphaLoss       float64            `json:"alpha_loss"` // half of it, at the minimum by gradient
	Metrics         map[string]float64 `json:"metrics_vs_original"`
}

// ReadTiny returns the golden values of tiny.
func ReadTiny(t testing.TB) *Tiny {
	t.Helper()
	var g Tiny
	testutil.JSON(t, &g, "tiny", "golden.json.gz")
	return &g
}

// Dense returns a matrix as an explicit array, from the upper halves of its rows.
func Dense(t testing.TB, c cooc.Matrix) *cooc.Dense {
	t.Helper()
	n := c.Dim()
	a := mat.NewSymDense(n, nil)
	row := make([]float64, n)
	for i := range n {
		c.RowTo(row, i)
		for j := i; j < n; j++ {
			a.SetSym(i, j, row[j])
		}
	}
	d, err := cooc.NewDense(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
