package refine

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

func TestThinnest(t *testing.T) {
	for _, x := range []struct {
		tokens       int64
		docs, k, out int
	}{
		{3_200_000, 100_000, 50, 0},
		{4_194_303, 100_000, 50, 0},
		{4_194_304, 100_000, 50, 1},
		{4_194_304, 7_999, 50, 0},
		{1 << 40, 7_999, 400, 0},
		{1 << 40, 16_000, 400, 1},
		{23_000_000, 99_000, 125, 3},
		{23_000_000, 99_000, 200, 3},
		{23_000_000, 99_000, 1250, 1},
		{23_000_000, 99_000, 5000, 0},
		{1 << 50, 1 << 40, 50, 28},
	} {
		if got := (&census{tokens: x.tokens, docs: x.docs}).thinnest(x.k); got != x.out {
			t.Errorf("%d topics of %d tokens in %d documents: one of 2^%d, want 2^%d", x.k, x.tokens, x.docs, got, x.out)
		}
	}
}

// Topics that are split by half of the documents predict about as well as those that
// are split by all: where documents keep some topics and where they keep all, with and without a prior that
// knows correlations. All documents have their tokens by topic in the end, and three workers with files give
// the bits of one.
func TestThin(t *testing.T) {
	testutil.NotWithRace(t)
	const each = 8
	p := testutil.NewPlantedTree(4, each, 5)
	for name, x := range map[string]struct {
		s      Passes
		length int
	}{
		"some topics":             {Passes{N: 12, Correlated: -1}, 60},
		"some topics, correlated": {Passes{N: 12, Correlated: 6}, 60},
		"all topics":              {Passes{N: 12, Correlated: -1}, 9},
	} {
		c, _ := correlatedDocs(t, p, each, 1600, x.length)
		docs, err := encoded(t.Context(), c.Source(), p.N)
		if err != nil {
			t.Fatal(err)
		}
		run := func(thin, workers int, folder string) *Result {
			t.Helper()
			s := x.s.withDefaults()
			s.Scratch = folder
			opt := Options{K: p.K, Workers: workers}
			f, err := s.begin(t.Context(), docs, Start{B: Families(p, each)}, opt)
			if err != nil {
				t.Fatal(err)
			}
			f.thinnest = func(k int) int { return thin }
			r, err := f.fit(t.Context(), f, s.N, s.Correlated, opt)
			if err != nil {
				t.Fatal(err)
			}
			if f.thin != 0 || f.have != 0 {
				t.Errorf("%s: one document of 2^%d was read, and one of 2^%d has tokens by topic", name, f.thin, f.have)
			}
			if folder == "" {
				for d, n := range f.counts(t) {
					if sum := sumOf(n); math.Abs(float64(sum)-float64(x.length)) > 1e-3 {
						t.Fatalf("%s: document %d has %v tokens of %d", name, d, sum, x.length)
					}
				}
			}
			if err := errors.Join(f.state.close(), f.logits.close()); err != nil {
				t.Fatal(err)
			}
			return r
		}
		whole, thin := run(0, 1, ""), run(1, 1, "")
		w, h := whole.History[whole.Passes].LogLik, thin.History[thin.Passes].LogLik
		t.Logf("%s: log-likelihood %.4f after %d passes, %.4f after %d", name, w, whole.Passes, h, thin.Passes)
		if h < w-0.015 { // of 1.5 nats that the topics tell
			t.Errorf("%s: log-likelihood %.4f of a token, %.4f where all passes read all documents", name, h, w)
		}
		if again := run(1, 3, t.TempDir()); !mat.Equal(again.B, thin.B) || !mat.Equal(again.A, thin.A) || !mat.Equal(again.Reading, thin.Reading) {
			t.Errorf("%s: three workers with files differ from one", name)
		}
	}
}
