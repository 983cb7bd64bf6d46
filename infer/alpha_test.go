package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

// dirichletDocs draws documents with compositions of Dirichlet(α).
func dirichletDocs(words, m, n int, alpha []float64, seed uint64) *planted {
	p := newPlanted(words, len(alpha), 1, 1, seed)
	p.docs, p.w = &docList{n: words}, mat.NewDense(m, len(alpha), nil)
	rng := rand.New(rand.NewPCG(seed, 8))
	for d := range m {
		w := p.w.RawRowView(d)
		for k, a := range alpha {
			w[k] = distuv.Gamma{Alpha: a, Beta: 1, Src: rng}.Rand()
		}
		vec.Normalise(w)
		counts := map[int]int{}
		for range n {
			u, k := rng.Float64(), 0
			for u -= w[k]; u > 0 && k < len(w)-1; u -= w[k] {
				k++
			}
			v, i := rng.Float64(), 0
			for v -= p.B.At(i, k); v > 0 && i < words-1; v -= p.B.At(i, k) {
				i++
			}
			counts[i]++
		}
		p.docs.add(counts)
	}
	p.A.Mul(p.w.T(), p.w)
	return p
}

// From documents of a Dirichlet distribution the sum of its parameters comes back
// to within a factor of 1.5 (the prediction is flat around it), also from A whose
// moments are far off, with the same bits for any number of workers.
func TestLearnAlpha(t *testing.T) {
	sums := []float64{1, 8}
	if testing.Short() || testutil.Race {
		sums = sums[1:]
	}
	for _, want := range sums {
		alpha := []float64{0.1 * want, 0.4 * want, 0.2 * want, 0.3 * want}
		p := dirichletDocs(60, 600, 60, alpha, 3)
		for _, factor := range []float64{20, 1} {
			if factor == 1 && testutil.Race {
				continue
			}
			t.Run(fmt.Sprintf("α₀ = %v from %v", want, factor*want), func(t *testing.T) {
				tp := p.Topics
				tp.Alpha = make([]float64, 4)
				for k := range alpha {
					tp.Alpha[k] = alpha[k] * factor
				}
				l, err := learnAlpha(ctx, tp, p.docs, alphaDocs, Options{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				sum := vec.Sum(l.alpha)
				if r := sum / want; r < 1/1.5 || r > 1.5 || l.observed.NumDocs() != 600 || l.prediction < l.startPrediction {
					t.Errorf("%v, predicts by %v, before by %v", l.alpha, l.prediction, l.startPrediction)
				}
				for k := range alpha {
					if math.Abs(l.alpha[k]/sum-alpha[k]/want) > 1e-12 {
						t.Errorf("proportions of %v, want those of %v", l.alpha, alpha)
					}
				}
				many, err := LearnAlpha(ctx, tp, p.docs, Options{Workers: 3})
				if err != nil || !slices.Equal(many, l.alpha) {
					t.Errorf("three workers: %v, %v", many, err)
				}
			})
		}
		if testutil.Race {
			continue
		}
		few, err := learnAlpha(ctx, p.Topics, p.docs, 100, Options{})
		if err != nil || few.observed.NumDocs() != 100 {
			t.Errorf("%+v, %v", few, err)
		}
	}
}

// The halves of a document are its known tokens, and differ by one at most.
func TestHalves(t *testing.T) {
	p := newPlanted(40, 3, 25, 31, 2)
	p.docs.add(map[int]int{3: 1}) // cannot be halved
	p.docs.add(nil)
	c, err := check(p.Topics)
	if err != nil {
		t.Fatal(err)
	}
	o, h, err := halves(ctx, c, p.docs, 100)
	if err != nil || o.NumDocs() != 25 || h.NumDocs() != 25 {
		t.Fatal(o, h, err)
	}
	for d := range 25 {
		all := map[int32]int32{}
		var sums [2]int32
		for i, part := range []*plainDocs{o, h} {
			ids, counts := part.Doc(d)
			for j, id := range ids {
				all[id] += counts[j]
				sums[i] += counts[j]
			}
		}
		if sums != [2]int32{15, 16} {
			t.Errorf("document %d: halves of %v", d, sums)
		}
		ids, counts := p.docs.Doc(d)
		for j, id := range ids {
			if all[id] != counts[j] {
				t.Errorf("document %d, word %d: %d of %d tokens", d, id, all[id], counts[j])
			}
		}
	}
}

func TestLearnAlphaErrors(t *testing.T) {
	p := newPlanted(40, 3, 5, 31, 2)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := LearnAlpha(done, p.Topics, p.docs, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	for _, c := range []struct {
		tp   Topics
		docs Documents
		want string
	}{
		{Topics{}, p.docs, "B is nil"},
		{Topics{B: p.B}, p.docs, "needs one of them"},
		{p.Topics, nil, "no documents"},
		{p.Topics, &docList{n: 3}, "over 3 words"},
		{p.Topics, &docList{n: 40}, "no document holds two words"},
		{p.Topics, &docList{n: 40, ids: [][]int32{{90}}, counts: [][]int32{{1}}}, "infer: learn α: document 0: word 90"},
	} {
		if _, err := LearnAlpha(ctx, c.tp, c.docs, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
