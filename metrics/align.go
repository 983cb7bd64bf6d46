package metrics

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Alignment says which topic of one model is which of another.
type Alignment struct {
	// Matches holds the pairs of topics, in the order of those of the first
	// model, as many as the smaller model has topics.
	Matches []Match
	// OnlyA and OnlyB are the topics without a partner, ascending; one of them is
	// nil, or both.
	OnlyA, OnlyB []int
	// Shared is the number of words that both vocabularies have.
	Shared int
}

// Match is a pair of topics, A of the first model and B of the second.
type Match struct {
	A, B int
	// L1 is Σ_n |p(n | A) − p(n | B)| over the words of either model, in [0, 2];
	// a word that a model lacks has probability 0 there. Half of it is the total
	// variation distance.
	L1 float64
	// Cosine is that of the two vectors of probabilities, in [0, 1]; NaN where a
	// topic is empty.
	Cosine float64
	// Overlap counts the top words that both have, among the Top first of each.
	Overlap int
}

// AlignOptions say what Align compares.
type AlignOptions struct {
	// WordsA and WordsB are the vocabularies, N_A and N_B different words. Both
	// nil: the rows of the two matrices are the same words.
	WordsA, WordsB []string
	// Top is the length of the lists of top words; 0: DefaultTopN.
	Top int
	// Workers bounds the goroutines; 0: GOMAXPROCS. It changes no bit.
	Workers int
}

// Align finds the assignment of the topics of a (N_A×K_A) to those of b
// (N_B×K_B) with the least sum of ℓ₁ distances between their distributions of
// words. Where the vocabularies differ, words are matched by their strings. With
// unequal numbers of topics all of the smaller model find a partner and the
// others are left. A permutation of the topics of a model is found exactly.
//
// O(N·K_A·K_B) for the distances, and Assign. Errors: matrices that are no topics,
// vocabularies of the wrong length or with a word twice, ctx's.
func Align(ctx context.Context, a, b *mat.Dense, o AlignOptions) (*Alignment, error) {
	ta, err := checkTopicsOf("B of the first model", a)
	if err != nil {
		return nil, err
	}
	tb, err := checkTopicsOf("B of the second model", b)
	if err != nil {
		return nil, err
	}
	top := o.Top
	if top == 0 {
		top = DefaultTopN
	}
	if err := checkTopN(top); err != nil {
		return nil, err
	}
	at, err := sameWords(ta.n, tb.n, o.WordsA, o.WordsB) // the row of b of each row of a
	if err != nil {
		return nil, err
	}
	out := &Alignment{}
	// Topics as rows. A word of one model only adds its probability.
	pa, pb := mat.DenseCopyOf(a.T()), mat.DenseCopyOf(b.T())
	ea, eb := mat.NewDense(ta.k, ta.n, nil), mat.NewDense(tb.k, ta.n, nil) // in the order of a's words
	restA, restB := make([]float64, ta.k), make([]float64, tb.k)
	for i, j := range at {
		if j < 0 {
			for k := range ta.k {
				restA[k] += pa.At(k, i)
			}
			continue
		}
		out.Shared++
		for k := range ta.k {
			ea.Set(k, i, pa.At(k, i))
		}
		for k := range tb.k {
			eb.Set(k, i, pb.At(k, j))
			pb.Set(k, j, -1) // done
		}
	}
	for k := range tb.k {
		for _, v := range pb.RawRowView(k) {
			if v >= 0 {
				restB[k] += v
			}
		}
	}
	l1 := mat.NewDense(ta.k, tb.k, nil)
	err = run.Chunks(ctx, ta.k*tb.k, 8, o.Workers, func(_, _, lo, hi int) error {
		for q := lo; q < hi; q++ {
			k, l := q/tb.k, q%tb.k
			l1.Set(k, l, floats.Distance(ea.RawRowView(k), eb.RawRowView(l), 1)+restA[k]+restB[l])
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("metrics: align: %w", err)
	}
	gain := mat.NewDense(ta.k, tb.k, nil)
	gain.Scale(-1, l1)
	of, err := assignAny(gain)
	if err != nil {
		return nil, err
	}
	sizes := func(b *mat.Dense, k int) []float64 {
		s := make([]float64, k)
		r, _ := b.Dims()
		for i := range r {
			for j, v := range b.RawRowView(i) {
				s[j] += v * v
			}
		}
		return s
	}
	na, nb := sizes(a, ta.k), sizes(b, tb.k)
	taken := make([]bool, tb.k)
	for k, l := range of {
		if l < 0 {
			out.OnlyA = append(out.OnlyA, k)
			continue
		}
		taken[l] = true
		m := Match{A: k, B: l, L1: l1.At(k, l), Cosine: math.NaN()}
		if na[k] > 0 && nb[l] > 0 {
			m.Cosine = min(floats.Dot(ea.RawRowView(k), eb.RawRowView(l))/math.Sqrt(na[k]*nb[l]), 1)
		}
		if !ta.empty[k] && !tb.empty[l] {
			in := make(map[int]bool, top)
			for _, w := range TopWords(b, l, top) {
				in[w] = b.At(w, l) > 0
			}
			for _, w := range TopWords(a, k, top) {
				if at[w] >= 0 && a.At(w, k) > 0 && in[at[w]] {
					m.Overlap++
				}
			}
		}
		out.Matches = append(out.Matches, m)
	}
	for l, t := range taken {
		if !t {
			out.OnlyB = append(out.OnlyB, l)
		}
	}
	return out, nil
}

// checkTopicsOf is checkTopics with another name for B in errors.
func checkTopicsOf(what string, b *mat.Dense) (*topics, error) {
	t, err := checkTopics(b)
	switch e := err.(type) {
	case *ShapeError:
		e.What = what
	case *ValueError:
		e.What = what
	}
	return t, err
}

// sameWords returns the number in b of each word of a, −1 where b lacks it.
func sameWords(na, nb int, a, b []string) ([]int, error) {
	at := make([]int, na)
	if a == nil && b == nil {
		if na != nb {
			return nil, fmt.Errorf("metrics: align: models of %d and %d words need their vocabularies to be compared", na, nb)
		}
		for i := range at {
			at[i] = i
		}
		return at, nil
	}
	if len(a) != na || len(b) != nb {
		return nil, fmt.Errorf("metrics: align: vocabularies of %d and %d words for models of %d and %d", len(a), len(b), na, nb)
	}
	number := make(map[string]int, nb)
	for j, w := range b {
		if i, ok := number[w]; ok {
			return nil, fmt.Errorf("metrics: align: words %d and %d of the second vocabulary are both %q", i, j, w)
		}
		number[w] = j
	}
	seen := make(map[string]int, na)
	for i, w := range a {
		if j, ok := seen[w]; ok {
			return nil, fmt.Errorf("metrics: align: words %d and %d of the first vocabulary are both %q", j, i, w)
		}
		seen[w] = i
		at[i] = -1
		if j, ok := number[w]; ok {
			at[i] = j
		}
	}
	return at, nil
}

// L1 returns the mean ℓ₁ distance of the matches with the spread, one value a
// match.
func (a *Alignment) L1() Stat {
	values := make([]float64, len(a.Matches))
	for i, m := range a.Matches {
		values[i] = m.L1
	}
	return NewStat(values)
}

// Partner returns for each topic of the first model the topic of the
// second, −1 for one without.
func (a *Alignment) Partner() []int {
	of := make([]int, len(a.Matches)+len(a.OnlyA))
	for i := range of {
		of[i] = -1
	}
	for _, m := range a.Matches {
		of[m.A] = m.B
	}
	return of
}
