package metrics

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
)

func randomTopics(n, k int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 11))
	b := mat.NewDense(n, k, nil)
	for j := range k {
		s := 0.0
		for i := range n {
			v := math.Exp(2 * rng.NormFloat64())
			if rng.IntN(3) == 0 {
				v = 0
			}
			b.Set(i, j, v)
			s += v
		}
		for i := range n {
			b.Set(i, j, b.At(i, j)/s)
		}
	}
	return b
}

func wordsOf(n int) []string {
	w := make([]string, n)
	for i := range w {
		w[i] = fmt.Sprintf("w%d", i)
	}
	return w
}

// A model with its topics and words in another order is recovered exactly, bit
// for bit the same with any number of workers, and topics that one of the models
// lacks are left.
func TestMatchPermuted(t *testing.T) {
	ctx := context.Background()
	const n, k = 200, 12
	b := randomTopics(n, k, 1)
	rng := rand.New(rand.NewPCG(2, 2))
	topics, words := rng.Perm(k), rng.Perm(n)
	p := mat.NewDense(n, k, nil)
	vocab, shuffled := wordsOf(n), make([]string, n)
	for i, to := range words {
		shuffled[to] = vocab[i]
		for j, l := range topics {
			p.Set(to, l, b.At(i, j))
		}
	}
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			a, err := Match(ctx, b, p, MatchOptions{WordsA: vocab, WordsB: shuffled, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Of, topics) {
				t.Fatalf("%v, want %v", a.Of, topics)
			}
			for j := range k {
				if d := a.Distances.RawRowView(j); len(d) != k || d[topics[j]] != 0 || slices.Min(d) < 0 || slices.Max(d) > 2 {
					t.Errorf("topic %d: distances %v", j, d)
				}
				if a.L1.Values[j] != 0 || a.Overlap[j] != 20 {
					t.Errorf("topic %d: %v, %d words", j, a.L1.Values[j], a.Overlap[j])
				}
			}
			if a.L1.Mean != 0 || len(a.L1.Values) != k {
				t.Errorf("mean distance %+v", a.L1)
			}
		})
	}
	// Fewer topics on one side, then on the other.
	few := mat.DenseCopyOf(p.Slice(0, n, 0, 9))
	a, err := Match(ctx, b, few, MatchOptions{WordsA: vocab, WordsB: shuffled})
	if err != nil || a.L1.Undefined != 3 || a.L1.Mean != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for j, l := range topics {
		if got := a.Of[j]; l < 9 && got != l || l >= 9 && got != -1 {
			t.Errorf("topic %d is matched with %d, want %d", j, got, l)
		}
	}
	if a, err = Match(ctx, few, b, MatchOptions{WordsA: shuffled, WordsB: vocab}); err != nil || len(a.Of) != 9 || slices.Contains(a.Of, -1) {
		t.Errorf("%+v, %v", a, err)
	}
}

// Vocabularies that overlap: by hand.
func TestMatchVocabularies(t *testing.T) {
	a := mat.NewDense(3, 2, []float64{
		.5, 0,
		.5, .25,
		0, .75,
	})
	b := mat.NewDense(3, 2, []float64{
		1, .25,
		0, .5,
		0, .25,
	})
	x, err := Match(context.Background(), a, b, MatchOptions{WordsA: []string{"p", "q", "r"}, WordsB: []string{"r", "q", "new"}, Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Of, []int{1, 0}) {
		t.Fatalf("%+v", x)
	}
	// p .5, q 0, r .25, new .25; q .25 and r .25.
	near(t, "ℓ₁ of the first", x.L1.Values[0], 1, 1e-15)
	near(t, "ℓ₁ of the second", x.L1.Values[1], 0.5, 1e-15)
	// {p, q} and {q, r or new by index}; {r, q} and {r}: q has probability 0.
	if x.Overlap[0] != 1 || x.Overlap[1] != 1 {
		t.Errorf("overlaps %d and %d", x.Overlap[0], x.Overlap[1])
	}
}

func TestMatchErrors(t *testing.T) {
	ctx := context.Background()
	b := randomTopics(30, 3, 1)
	bad := mat.DenseCopyOf(b)
	bad.Set(2, 1, math.Inf(1))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Match(gone, b, b, MatchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	twice := wordsOf(30)
	twice[7] = twice[4]
	for what, f := range map[string]func() error{
		"B of the second model[2, 1]": func() error { _, err := Match(ctx, b, bad, MatchOptions{}); return err },
		"B of the first model is 0×0": func() error { _, err := Match(ctx, nil, b, MatchOptions{}); return err },
		"need their vocabularies":     func() error { _, err := Match(ctx, b, randomTopics(29, 3, 1), MatchOptions{}); return err },
		"vocabularies of 30 and 0":    func() error { _, err := Match(ctx, b, b, MatchOptions{WordsA: wordsOf(30)}); return err },
		"4 and 7 of the second":       func() error { _, err := Match(ctx, b, b, MatchOptions{WordsA: wordsOf(30), WordsB: twice}); return err },
		"4 and 7 of the first":        func() error { _, err := Match(ctx, b, b, MatchOptions{WordsB: wordsOf(30), WordsA: twice}); return err },
		"lists of -1":                 func() error { _, err := Match(ctx, b, b, MatchOptions{Top: -1}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
