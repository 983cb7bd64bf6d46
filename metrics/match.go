package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
)

// Matching says which topic of one model is which of another. Each list has an
// entry for each topic of the first model.
type Matching struct {
	// Of holds the topic of the second model, −1 for a topic without a partner. All topics
	// of the smaller model are matched.
	Of []int
	// Distances is K_A×K_B: the distance of L1 for each pair of topics.
	Distances *mat.Dense
	// L1 is Σ_n |p(n | topic) − p(n | partner)| over the words of either model, in
	// [0, 2]: twice the total variation distance. A word that a model lacks has
	// probability 0 there. NaN without a partner.
	L1 Stat
	// Cosine is that of the two vectors of probabilities, in [0, 1]. NaN without a
	// partner and where a topic is empty.
	Cosine      Stat
	Overlap     []int // how many words are top words of both
	CommonWords int   // how many words both vocabularies have
}

// MatchOptions are the settings of Match. The zero value compares models of the
// same words in the same order.
type MatchOptions struct {
	// WordsA and WordsB are the vocabularies of the two models, all words of each
	// different. nil for both: row n is the same word in both.
	WordsA, WordsB []string
	Top            int // top words of a topic for Overlap; 0: 20
	Workers        int // goroutines; 0: GOMAXPROCS. The result does not depend on it
}

// Match assigns the topics of a (N_A×K_A) to those of b (N_B×K_B), one to one, so that the
// sum of their ℓ₁ distances is least. Words are matched by their strings where vocabularies
// are given. O(N·K_A·K_B + K³), less where most probabilities of a topic are one. Errors:
// matrices that are not topics, vocabularies of the wrong length or with a word twice, ctx's.
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
	rowsA, rowsB, common := onUnion(ta, tb, at)
	l1, err := distances(ctx, rowsA, rowsB, o.Workers)
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	gain := mat.NewDense(ta.k, tb.k, nil)
	gain.Scale(-1, l1)
	of, err := assign.Best(gain)
	if err != nil {
		return nil, fmt.Errorf("metrics: match: %w", err)
	}
	out := &Matching{Of: of, Distances: l1, Overlap: make([]int, ta.k), CommonWords: common}
	dist, cosine := make([]float64, ta.k), make([]float64, ta.k)
	for k, l := range of {
		dist[k], cosine[k] = math.NaN(), math.NaN()
		if l < 0 {
			continue
		}
		x, y := rowsA.RawRowView(k), rowsB.RawRowView(l)
		dist[k] = floats.Distance(x, y, 1)
		if !ta.empty[k] && !tb.empty[l] {
			cosine[k] = min(floats.Dot(x, y)/math.Sqrt(floats.Dot(x, x)*floats.Dot(y, y)), 1)
		}
		out.Overlap[k] = overlap(ta, tb, at, k, l, top)
	}
	out.L1, out.Cosine = NewStat(dist), NewStat(cosine)
	return out, nil
}

// onUnion returns the topics of two models as rows over the words of either: those of the
// first model, and then those that only the second has. at is that of sameWords, and common
// the number of words in both.
func onUnion(ta, tb *topics, at []int) (a, b *mat.Dense, common int) {
	place := slices.Repeat([]int{-1}, tb.n) // of each word of the second
	for i, j := range at {
		if j >= 0 {
			place[j] = i
			common++
		}
	}
	size := ta.n + tb.n - common
	a, b = mat.NewDense(ta.k, size, nil), mat.NewDense(tb.k, size, nil)
	for i := range ta.n {
		a.SetCol(i, ta.b.RawRowView(i))
	}
	next := ta.n
	for j, i := range place {
		if i < 0 {
			i = next
			next++
		}
		b.SetCol(i, tb.b.RawRowView(j))
	}
	return a, b, common
}

// overlap counts the words among the first top of topic k of a and of topic l of
// b. Words of probability 0 are none.
func overlap(ta, tb *topics, at []int, k, l, top int) int {
	in := map[int]bool{}
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
	if _, err := numbers("first", a); err != nil {
		return nil, err
	}
	number, err := numbers("second", b)
	if err != nil {
		return nil, err
	}
	for i, w := range a {
		at[i] = -1
		if j, ok := number[w]; ok {
			at[i] = j
		}
	}
	return at, nil
}

// numbers returns the number of each word of a vocabulary.
func numbers(which string, words []string) (map[string]int, error) {
	at := make(map[string]int, len(words))
	for i, w := range words {
		if j, ok := at[w]; ok {
			return nil, fmt.Errorf("metrics: match: words %d and %d of the %s vocabulary are both %q", j, i, which, w)
		}
		at[w] = i
	}
	return at, nil
}
