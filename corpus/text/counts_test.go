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
	pairs, words := newPairTable(500), newWordTable(0)
	truePairs, trueWords := map[pair]int64{}, map[string]int64{}
	var missed int64
	var batch []pair
	for range 200_000 {
		x, y := int32(rng.ExpFloat64()*40), int32(1000+rng.ExpFloat64()*40)
		p, w := pairKey(x, uint8(x%3), y), fmt.Sprint(x, y)
		if truePairs[p]++; len(batch) == 150 {
			pairs.addAll(batch)
			batch = batch[:0]
		}
		batch = append(batch, p)
		if len(words.list) >= 500 {
			missed += words.forget()
		}
		words.list[words.add(w)].n++
		trueWords[w]++
		if a, b, c := p.parts(); a != x || b != uint8(x%3) || c != y {
			t.Fatalf("pair %d %d %d comes back as %d %d %d", x, x%3, y, a, b, c)
		}
	}
	pairs.addAll(batch)
	if len(truePairs) < 5000 || pairs.missed == 0 || missed == 0 || pairs.used > 500 || len(words.list) > 500 {
		t.Fatalf("%d pairs of %d and %d words are held, %d and %d missed", pairs.used, len(truePairs), len(words.list), pairs.missed, missed)
	}
	for p, n := range truePairs {
		if got := pairs.slot(p).n; got > n || got < n-pairs.missed {
			t.Fatalf("pair %x was counted %d times instead of %d, with %d missed", p, got, n, pairs.missed)
		}
	}
	for w, n := range trueWords {
		got := int64(0)
		if id, _ := words.find(w); id >= 0 {
			got = words.list[id].n
		}
		if got > n || got < n-missed {
			t.Fatalf("word %q was counted %d times instead of %d, with %d missed", w, got, n, missed)
		}
	}
}

// TestWordTable finds words of 0 to 40 bytes that differ little from one another, one at a
// time and many at once.
func TestWordTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	table, number := newWordTable(0), map[string]int32{}
	var words []string
	for n := range 41 {
		for range 200 {
			b := make([]byte, n)
			for i := range b {
				b[i] = "\x00ab\xff"[rng.IntN(4)]
			}
			words = append(words, string(b))
		}
	}
	for i, w := range words {
		want, known := number[w]
		if id, _ := table.find(w); known && id != want || !known && id != -1 {
			t.Fatalf("word %q has number %d; want %d, known: %v", w, id, want, known)
		}
		if i%2 == 0 {
			number[w] = table.add(w)
		}
	}
	if len(table.list) != len(number) {
		t.Fatalf("%d words; want %d", len(table.list), len(number))
	}
	for i, id := range table.findAll(nil, words) {
		want, known := number[words[i]]
		if known && id != want || !known && id != -1 {
			t.Fatalf("word %q has number %d; want %d, known: %v", words[i], id, want, known)
		}
	}
}
