package find

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// planted returns a refined model of documents drawn from a planted one, and their topics.
// The last document has no word.
func planted(t testing.TB) (*corpus.Corpus, *jsmf.Model, *jsmf.Compositions) {
	t.Helper()
	const docs, words = 400, 120
	rng := rand.New(rand.NewPCG(3, 4))
	lengths := make([]int, docs)
	for i := range lengths {
		lengths[i] = 5 + rng.IntN(60)
	}
	var b corpus.Builder
	for i, counts := range testutil.NewPlanted(words, 5, 0.3, 7).Documents(lengths, 8) {
		named := make(map[string]int, len(counts))
		for w, c := range counts {
			named["w"+strconv.Itoa(w)] = c
		}
		if err := b.AddCounts("d"+strconv.Itoa(i), "", named); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.AddCounts("empty", "", nil); err != nil {
		t.Fatal(err)
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.New(5).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	docsOf, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	return c, m, docsOf
}

// affinity is 1 − H² from the definition of the Hellinger distance.
func affinity(p, q []float64) float64 {
	sp, sq, h := 0.0, 0.0, 0.0
	for i := range p {
		sp, sq = sp+p[i], sq+q[i]
	}
	for i := range p {
		d := math.Sqrt(p[i]/sp) - math.Sqrt(q[i]/sq)
		h += d * d / 2
	}
	return 1 - h
}
