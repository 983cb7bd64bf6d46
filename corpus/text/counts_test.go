package text

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestForgetting counts pairs and words where there is no room for all: no count is too
// high, and none is too low by more than the table says.
func TestForgetting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pairs, words := newPairTable(500), new(wordTable)
	truePairs, trueWords := map[pair]int64{}, map[string]int64{}
	var missed int64
	for range 200_000 {
		x, y := int32(rng.ExpFloat64()*40), int32(1000+rng.ExpFloat64()*40)
		p, w := pairKey(x, uint8(x%3), y), fmt.Sprint(x, y)
		truePairs[p]++
		pairs.add(p)
		if len(words.list) >= 500 {
			missed += words.forget()
		}
		words.list[words.add(w)].n++
		trueWords[w]++
		if a, b, c := p.parts(); a != x || b != uint8(x%3) || c != y {
			t.Fatalf("pair %d %d %d comes back as %d %d %d", x, x%3, y, a, b, c)
		}
	}
	if len(truePairs) < 5000 || pairs.missed == 0 || missed == 0 || len(pairs.count) > 500 || len(words.list) > 500 {
		t.Fatalf("%d pairs of %d and %d words are held, %d and %d missed", len(pairs.count), len(truePairs), len(words.list), pairs.missed, missed)
	}
	for p, n := range truePairs {
		if got := pairs.count[p]; got > n || got < n-pairs.missed {
			t.Fatalf("pair %x was counted %d times instead of %d, with %d missed", p, got, n, pairs.missed)
		}
	}
	for w, n := range trueWords {
		got := int64(0)
		if id := words.find(w); id >= 0 {
			got = words.list[id].n
		}
		if got > n || got < n-missed {
			t.Fatalf("word %q was counted %d times instead of %d, with %d missed", w, got, n, missed)
		}
	}
}
