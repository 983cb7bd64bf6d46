package metrics

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/internal/run"
)

// Matching says which topic of one model is which of another. Each list has an
// entry for each topic of the first model.
type Matching struct {
	// Of holds the topic of the second model, −1 for a topic without a partner.
	// As many topics are matched as the smaller model has.
	Of []int
	// Distances is K_A×K_B: the distance of L1 for each pair of topics.
	Distances *mat.Dense
	// L1 is Σ_n |p(n | topic) − p(n | partner)| over the words of either model, in
	// [0, 2]: twice the total variation distance. A word that a model lacks has
	// probability 0 there. NaN without a partner.
	L1 Stat
	// Cosine is that of the two vectors of probabilities, in [0, 1]. NaN without a
	// partner and where a topic is empty.
	Cosine Stat
	// Overlap counts the words that are top words of both.
	Overlap []int
	// CommonWords is the number of words that both vocabularies have.
	CommonWords int
}

// MatchOptions are the settings of Match. The zero value compares models of the
// same words in the same order.
type MatchOptions struct {
	// WordsA and WordsB are the vocabularies of the two models, all words of each
	// different. nil for both: row n is the same word in both.
	WordsA, WordsB []string
	// Top is the number of top words of a topic for Overlap; 0: 20.
	Top int
	// Workers bounds the goroutines; 0: GOMAXPROCS. The result does not depend on
	// it.
	Workers int
}

// Match assigns the topics of a (N_A×K_A) to those of b (N_B×K_B), one to one, so
// that the sum of their ℓ₁ distances is least. Words are matched by their strings
// where vocabularies are given. If the numbers of topics differ, all topics of the
// smaller model have a partner. A permutation of topics is found exactly.
//
// O(N·K_A·K_B + K³). Errors: matrices that are not topics, vocabularies of the
// wrong length or with a word twice, ctx's.
func Match(ctx context.Context, a, b *mat.Dense, o MatchOptions) (*Matching, error) {
	ta, err := checkTopicsOf("B of the first model", a)
	if err != nil {
		return nil, err
	}
	tb, err := checkTopicsOf("B of the second model", b)
	if err != nil {
		return nil, err
	}
	top, err := topN(o.Top)
	if err != nil {
		return nil, err
	}
	at, err := sameWords(ta.n, tb.n, o.WordsA, o.WordsB)
	if err != nil {
		return nil, err
	}
	p := pairUp(ta, tb, at)
	l1 := mat.NewDense(ta.k, tb.k, nil)
	err = run.Chunks(ctx, ta.k*tb.k, 8, o.Workers, func(_, _, lo, hi int) error {
		for q := lo; q < hi; q++ {
			k, l := q/tb.k, q%tb.k
			l1.Set(k, l, floats.Distance(p.a.RawRowView(k), p.b.RawRowView(l), 1)+p.restA[k]+p.restB[l])
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	gain := mat.NewDense(ta.k, tb.k, nil)
	gain.Scale(-1, l1)
	of, err := assign.Best(gain)
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	na, nb := squares(ta), squares(tb)
	out := &Matching{Of: of, Distances: l1, Overlap: make([]int, ta.k)}
	for _, j := range at {
		if j >= 0 {
			out.CommonWords++
		}
	}
	dist, cosine := make([]float64, ta.k), make([]float64, ta.k)
	for k, l := range of {
		dist[k], cosine[k] = math.NaN(), math.NaN()
		if l < 0 {
			continue
		}
		dist[k] = l1.At(k, l)
		if na[k] > 0 && nb[l] > 0 {
			cosine[k] = min(floats.Dot(p.a.RawRowView(k), p.b.RawRowView(l))/math.Sqrt(na[k]*nb[l]), 1)
		}
		out.Overlap[k] = overlap(ta, tb, at, k, l, top)
	}
	out.L1, out.Cosine = NewStat(dist), NewStat(cosine)
	return out, nil
}

// pairing holds two models on the words of the first: topics as rows, and for
// each topic the probability of the words that the other model lacks.
type pairing struct {
	a, b         *mat.Dense
	restA, restB []float64
}

func pairUp(ta, tb *topics, at []int) *pairing {
	pa, pb := mat.DenseCopyOf(ta.b.T()), mat.DenseCopyOf(tb.b.T())
	p := &pairing{mat.NewDense(ta.k, ta.n, nil), mat.NewDense(tb.k, ta.n, nil), make([]float64, ta.k), make([]float64, tb.k)}
	for i, j := range at {
		if j < 0 {
			for k := range ta.k {
				p.restA[k] += pa.At(k, i)
			}
			continue
		}
		for k := range ta.k {
			p.a.Set(k, i, pa.At(k, i))
		}
		for k := range tb.k {
			p.b.Set(k, i, pb.At(k, j))
			pb.Set(k, j, -1) // done
		}
	}
	for k := range tb.k {
		for _, v := range pb.RawRowView(k) {
			if v >= 0 {
				p.restB[k] += v
			}
		}
	}
	return p
}

// squares returns the sum of the squares of each topic.
func squares(t *topics) []float64 {
	s := make([]float64, t.k)
	for i := range t.n {
		for j, v := range t.b.RawRowView(i) {
			s[j] += v * v
		}
	}
	return s
}

// overlap counts the words among the first top of topic k of a and of topic l of
// b. Words of probability 0 are none.
func overlap(ta, tb *topics, at []int, k, l, top int) int {
	in := make(map[int]bool, top)
	for _, w := range topWords(tb.b, l, top) {
		in[w] = tb.b.At(w, l) > 0
	}
	n := 0
	for _, w := range topWords(ta.b, k, top) {
		if at[w] >= 0 && ta.b.At(w, k) > 0 && in[at[w]] {
			n++
		}
	}
	return n
}

// sameWords returns the number in b of each word of a, −1 where b lacks it.
func sameWords(na, nb int, a, b []string) ([]int, error) {
	at := make([]int, na)
	if a == nil && b == nil {
		if na != nb {
			return nil, fmt.Errorf("metrics: match: models of %d and %d words need their vocabularies to be compared", na, nb)
		}
		for i := range at {
			at[i] = i
		}
		return at, nil
	}
	if len(a) != na || len(b) != nb {
		return nil, fmt.Errorf("metrics: match: vocabularies of %d and %d words for models of %d and %d", len(a), len(b), na, nb)
	}
	number := make(map[string]int, nb)
	for j, w := range b {
		if i, ok := number[w]; ok {
			return nil, fmt.Errorf("metrics: match: words %d and %d of the second vocabulary are both %q", i, j, w)
		}
		number[w] = j
	}
	seen := make(map[string]int, na)
	for i, w := range a {
		if j, ok := seen[w]; ok {
			return nil, fmt.Errorf("metrics: match: words %d and %d of the first vocabulary are both %q", j, i, w)
		}
		seen[w] = i
		at[i] = -1
		if j, ok := number[w]; ok {
			at[i] = j
		}
	}
	return at, nil
}
