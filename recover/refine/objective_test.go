package refine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// objective is what EM never lowers: the log-likelihood of the tokens of all documents and the
// log-densities of the priors, without their constants.
func objective(t *testing.T, f *stripes) float64 {
	t.Helper()
	sum := 0.0
	for i := range f.n {
		for _, v := range f.rows.Row(i) {
			sum += f.beta * math.Log(float64(v))
		}
	}
	var w worker
	for at := range f.docs.Blocks() {
		if err := f.docs.Block(at, &w.block); err != nil {
			t.Fatal(err)
		}
		for d := range w.block.Docs() {
			words, counts := w.block.Doc(d)
			if len(words) == 0 {
				continue
			}
			theta := make([]float64, f.k)
			for k, n := range f.state.mem[(w.block.First+d)*f.k:][:f.k] {
				theta[k] = float64(n) + f.alpha
			}
			floats.Scale(1/floats.Sum(theta), theta)
			for _, v := range theta {
				sum += f.alpha * math.Log(v)
			}
			for i, word := range words {
				p := 0.0
				for k, v := range f.rows.Row(int(word)) {
					p += theta[k] * float64(v)
				}
				sum += float64(counts[i]) * math.Log(p)
			}
		}
	}
	return sum / float64(f.seen.tokens)
}

// What the theory says of EM: a pass that leaves no token out and takes all documents at once
// never lowers the objective, except by rounding.
func TestPlainPassesNeverLowerTheObjective(t *testing.T) {
	p := testutil.NewPlanted(120, 8, 0.5, 3)
	c := planted(t, p, 300, 40)
	for name, b := range map[string]*testutil.Planted{"from the truth": p, "from other topics": testutil.NewPlanted(120, 8, 0.5, 5)} {
		t.Run(name, func(t *testing.T) {
			f := begun(t, Passes{Alpha: 0.1, Gain: -1}, c, b.B, 8, 0)
			before, first, last := math.Inf(-1), 0.0, 0.0
			for i := range 60 {
				score, err := f.read(t.Context(), 1, false, func(w *worker, slot int, in func(uint64) bool, sum *tally) error {
					return f.block(turn{first: i == 0}, in, w, slot, sum)
				}, func(int) {})
				if err != nil {
					t.Fatal(err)
				}
				now := objective(t, f)
				if !(now-before >= -2e-7) {
					t.Errorf("pass %d changes the objective by %g, want no fall", i+1, now-before)
				}
				if before, last = now, score.LogLik; i == 0 {
					first = score.LogLik
				}
			}
			if !(last > first) {
				t.Errorf("log-likelihood %v after all passes, %v at first; want more", last, first)
			}
		})
	}
}
