package estep

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Products are tᵀb of each word by the definition, to a share of 1e-6, and leave T alone. In some
// blocks of columns they have the bits of those with these columns alone.
func TestProducts(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(51, 52))
		for _, k := range []int{1, 7, 16, 33, 100} {
			w := newWorker(k, kr)
			for _, words := range []int{0, 1, 15, 17, 2*piece + 3} {
				p := newProblem(rnd, 2*piece+5, k, words, Plain, false)
				w.Use(nil)
				copy(w.T, p.t)
				got := make([]float32, words)
				if err := w.Products(p.B, p.words, p.counts, got); err != nil {
					t.Fatal(err)
				}
				for i, id := range p.words {
					want := 0.0
					for j, b := range p.B.Row(int(id)) {
						want += float64(p.t[j]) * float64(b)
					}
					if !(math.Abs(float64(got[i])-want) <= 1e-6*want) {
						t.Errorf("K=%d: word %d of %d has %v, want %v", k, i, words, got[i], want)
					}
				}
				if !slices.Equal(w.T, p.t) {
					t.Errorf("K=%d, %d words: T has changed", k, words)
				}
				blocks := blocksOf(rnd, k, 1+rnd.IntN(Padded(k)/BlockSize), words%2 == 0)
				q := p.columns(blocks)
				own := newWorker(q.B.K, kr)
				w.Use(blocks)
				copy(w.T, q.t)
				copy(own.T, q.t)
				some, want := make([]float32, words), make([]float32, words)
				if err := errors.Join(w.Products(p.B, p.words, p.counts, some), own.Products(q.B, p.words, p.counts, want)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(some, want) {
					t.Errorf("K=%d, %d words: %v in blocks %v, want %v", k, words, some, blocks, want)
				}
			}
		}
		p := newProblem(rnd, 9, 5, 9, Plain, false)
		for i := range p.counts {
			p.counts[i] = 1
		}
		clear(p.B.Row(int(p.words[3])))
		w := newWorker(5, kr)
		copy(w.T, p.t)
		if err := w.Products(p.B, p.words, p.counts, make([]float32, 9)); !errors.Is(err, ErrImpossible) {
			t.Errorf("a word without probability: %v", err)
		}
	})
}
