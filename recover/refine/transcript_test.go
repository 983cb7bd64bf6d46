package refine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

func compare(t *testing.T, name string, got *mat.Dense, want [][]float64, tol float64) {
	t.Helper()
	for i, row := range want {
		for j, v := range row {
			if !(math.Abs(got.At(i, j)-v) <= tol) {
				t.Errorf("%s at %d, %d is %.10g, want %.10g (tolerance %.2g)", name, i, j, got.At(i, j), v, tol)
				return
			}
		}
	}
}

// rounding is that of float32, in which tokens are shared out: 6e-8 of numbers below 1,
// three times. It does not grow with passes, for all sums are of one sign.
const rounding = 2e-7

// weighted returns the corpus with weights of all sizes for its documents; 0 for some.
func weighted(t *testing.T, c *corpus.Corpus) *corpus.Corpus {
	t.Helper()
	w := make([]float64, c.NumDocs())
	for d := range w {
		w[d] = 3 * -math.Log((float64(d*7919%101)+0.5)/101)
		if d%9 == 5 {
			w[d] = 0
		}
	}
	c, err := c.WithWeights(w)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Passes equal their transcription up to rounding: for documents some of which are
// held out, with weights and without, and for so short ones that none is, and reading weights
// are the topics.
func TestPassesTranscript(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(60, 5, 0.3, 1)
	for _, length := range []int{1000, 9, -1000} {
		c := drawn(t, p, 200, max(length, -length), 2)
		if length < 0 {
			length = -length
			c = weighted(t, c)
		}
		for i := range 6 {
			s := refine.Passes{N: 1 + i, Alpha: 0.2, Beta: 0.07, Correlated: -1}
			name := fmt.Sprintf("%v, %d tokens a document: ", s, length)
			got := fit(t, s, c.Source(), refine.Start{B: p.B}, 0)
			want := newTranscript(t, s, c, p.B)
			for i := range s.N {
				want.pass(i == 0, i >= s.N-2)
			}
			h, tokens, hidden := refine.Score{}, 0.0, 0.0
			for d := range want.x {
				want.score(&h, &tokens, &hidden, d, true)
			}
			want.note(h, tokens, hidden)
			if len(got.History) != s.N+1 || got.Passes != s.N || got.Early || (got.HeldOut > 0) != (length == 1000) {
				t.Fatalf("%s%d passes, %d scores, early %v, %d held out", name, got.Passes, len(got.History), got.Early, got.HeldOut)
			}
			for i, h := range want.history {
				g := got.History[i]
				near(t, name+"log-likelihood", g.LogLik, h.LogLik, rounding)
				if math.IsNaN(h.HeldOut) != math.IsNaN(g.HeldOut) {
					t.Errorf("%sheld-out likelihood %v of pass %d, want %v", name, g.HeldOut, i+1, h.HeldOut)
				} else if !math.IsNaN(h.HeldOut) {
					near(t, name+"held-out likelihood", g.HeldOut, h.HeldOut, rounding)
				}
			}
			compare(t, name+"B", got.B, want.b, rounding)
			compare(t, name+"A", got.A, want.moments(), rounding)
			for k, v := range want.alone() {
				near(t, name+"alone", got.Alone[k], v, rounding)
			}
			compare(t, name+"reading", got.Reading, want.reading(), rounding)
			if !slices.Equal(got.Alpha, want.alpha) {
				t.Errorf("%sα = %v", name, got.Alpha)
			}
			if t.Failed() {
				return
			}
		}
	}
}
