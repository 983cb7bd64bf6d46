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
func TestAlignPermuted(t *testing.T) {
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
		a, err := Align(ctx, b, p, AlignOptions{WordsA: vocab, WordsB: shuffled, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Partner(), topics) || a.OnlyA != nil || a.OnlyB != nil || a.Shared != n {
			t.Fatalf("%v, want %v", a.Partner(), topics)
		}
		for _, m := range a.Matches {
			if m.L1 != 0 || m.Overlap != DefaultTopN || !(m.Cosine >= 1-1e-14) {
				t.Errorf("%+v of the same topic", m)
			}
		}
		if s := a.L1(); s.Mean != 0 || len(s.Values) != k {
			t.Errorf("mean distance %+v", s)
		}
	}
	// Fewer topics on one side, then on the other.
	few := mat.DenseCopyOf(p.Slice(0, n, 0, 9))
	a, err := Align(ctx, b, few, AlignOptions{WordsA: vocab, WordsB: shuffled})
	if err != nil || len(a.Matches) != 9 || len(a.OnlyA) != 3 || a.OnlyB != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	for j, l := range topics {
		if got := a.Partner()[j]; l < 9 && got != l || l >= 9 && (got != -1 || !slices.Contains(a.OnlyA, j)) {
			t.Errorf("topic %d is matched with %d, want %d", j, got, l)
		}
	}
	if a, err = Align(ctx, few, b, AlignOptions{WordsA: shuffled, WordsB: vocab}); err != nil || len(a.Matches) != 9 || len(a.OnlyB) != 3 || a.OnlyA != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// Vocabularies that overlap: by hand.
func TestAlignVocabularies(t *testing.T) {
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
	x, err := Align(context.Background(), a, b, AlignOptions{WordsA: []string{"p", "q", "r"}, WordsB: []string{"r", "q", "new"}, Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	if x.Shared != 2 || !slices.Equal(x.Partner(), []int{1, 0}) {
		t.Fatalf("%+v", x)
	}
	// p .5, q 0, r .25, new .25; q .25 and r .25.
	near(t, "ℓ₁ of the first", x.Matches[0].L1, 1, 1e-15)
	near(t, "ℓ₁ of the second", x.Matches[1].L1, 0.5, 1e-15)
	near(t, "cosine of the first", x.Matches[0].Cosine, .25/math.Sqrt(.5*.375), 1e-15)
	near(t, "cosine of the second", x.Matches[1].Cosine, .75/math.Sqrt(.625), 1e-15)
	// {p, q} and {q, r or new by index}; {r, q} and {r}: q has probability 0.
	if x.Matches[0].Overlap != 1 || x.Matches[1].Overlap != 1 {
		t.Errorf("overlaps %d and %d", x.Matches[0].Overlap, x.Matches[1].Overlap)
	}
}

func TestAlignErrors(t *testing.T) {
	ctx := context.Background()
	b := randomTopics(30, 3, 1)
	bad := mat.DenseCopyOf(b)
	bad.Set(2, 1, math.Inf(1))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Align(gone, b, b, AlignOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	twice := wordsOf(30)
	twice[7] = twice[4]
	for what, f := range map[string]func() error{
		"B of the second model[2, 1]": func() error { _, err := Align(ctx, b, bad, AlignOptions{}); return err },
		"B of the first model is 0×0": func() error { _, err := Align(ctx, nil, b, AlignOptions{}); return err },
		"need their vocabularies":     func() error { _, err := Align(ctx, b, randomTopics(29, 3, 1), AlignOptions{}); return err },
		"vocabularies of 30 and 0":    func() error { _, err := Align(ctx, b, b, AlignOptions{WordsA: wordsOf(30)}); return err },
		"4 and 7 of the second":       func() error { _, err := Align(ctx, b, b, AlignOptions{WordsA: wordsOf(30), WordsB: twice}); return err },
		"4 and 7 of the first":        func() error { _, err := Align(ctx, b, b, AlignOptions{WordsB: wordsOf(30), WordsA: twice}); return err },
		"at least 1":                  func() error { _, err := Align(ctx, b, b, AlignOptions{Top: -1}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
