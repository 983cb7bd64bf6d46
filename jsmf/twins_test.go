package jsmf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/metrics"
)

// zipfTopics makes topics over n words whose frequencies follow Zipf's law. Each has words of its own, and
// a part of its probability is on all words alike.
func zipfTopics(n, k int, common float64) *mat.Dense {
	b, own := mat.NewDense(n, k, nil), make([]float64, k)
	of, all := rand.New(rand.NewPCG(1, 7)).Perm(n), 0.0
	for i, at := range of {
		own[at%k] += 1 / float64(i+1)
		all += 1 / float64(i+1)
	}
	for i, at := range of {
		for t := range k {
			v := common / float64(i+1) / all
			if at%k == t {
				v += (1 - common) / float64(i+1) / own[t]
			}
			b.Set(i, t, v)
		}
	}
	return b
}

// Where as many topics are fitted as were planted, none is a twin, whether they have most of their words to
// themselves or not. Where twice as many are, nine of ten that repeat a larger one are, and no other.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("three fits of 240,000 tokens: skipped by -short")
	}
	testutil.NotWithRace(t)
	const planted = 10
	for _, x := range []struct {
		common float64
		k      int
	}{{0.1, planted}, {0.6, planted}, {0.1, 2 * planted}} {
		b := zipfTopics(3000, planted, x.common)
		lengths := make([]int, 3000)
		for i := range lengths {
			lengths[i] = 80
		}
		c, _, err := corpus.Generator{Topics: b, Lengths: lengths, Seed: 3}.Generate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(x.k).Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := New(x.k).Verdicts(t.Context(), m, c)
		if err != nil {
			t.Fatal(err)
		}
		larger := make([]float64, planted) // the largest share of a topic that is this planted one
		of, shares := make([]int, x.k), m.TopicShares()
		for k := range x.k {
			nearest := math.Inf(1)
			for g := range planted {
				distance := 0.0
				for w := range m.N() {
					var i int
					if _, err := fmt.Sscanf(m.Word(w), "w%d", &i); err != nil {
						t.Fatal(err)
					}
					distance += math.Abs(m.Topics().At(w, k) - b.At(i, g))
				}
				if distance < nearest {
					nearest, of[k] = distance, g
				}
			}
			larger[of[k]] = max(larger[of[k]], shares[k])
		}
		repeats, found, wrong := 0, 0, 0
		for k, v := range verdicts {
			twin := v.Quality == metrics.Twin
			switch repeated := shares[k] < larger[of[k]]; {
			case repeated && twin && of[v.Twin] == of[k]:
				repeats, found = repeats+1, found+1
			case repeated:
				repeats++
			case twin:
				wrong++
			}
		}
		if wrong > 0 || 10*found < 9*repeats || repeats != x.k-planted {
			t.Errorf("%d topics of %d with %.1f in common: %d of %d twins found, and %d more", x.k, planted, x.common, found, repeats, wrong)
		}
	}
}
