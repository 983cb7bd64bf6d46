package holdout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Every second token is hidden, counted one by one in the order of the words.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		counts := make([]int32, rng.IntN(8))
		total, wantHidden := int64(0), int64(0)
		for i := range counts {
			counts[i] = rng.Int32N(6) // zeros too
		}
		next := 0
		Split(counts, func(i int, visible, hidden int64) {
			if i != next {
				t.Fatalf("%v: word %d after %d others", counts, i, next)
			}
			next++
			want := int64(0)
			for range counts[i] {
				if total++; total%2 == 0 {
					want++
				}
			}
			wantHidden += want
			if hidden != want || visible+hidden != int64(counts[i]) {
				t.Errorf("%v: %d tokens of word %d are visible, %d hidden, want %d", counts, visible, i, hidden, want)
			}
		})
		if next != len(counts) || Hidden(total) != wantHidden {
			t.Errorf("%v: %d words; %d tokens are hidden, Hidden says %d", counts, next, wantHidden, Hidden(total))
		}
	}
	// Counts whose sum no int32 holds.
	sum := int64(0)
	Split([]int32{math.MaxInt32, math.MaxInt32, math.MaxInt32}, func(_ int, _, hidden int64) { sum += hidden })
	if want := Hidden(3 * math.MaxInt32); sum != want {
		t.Errorf("%d tokens are hidden, want %d", sum, want)
	}
}

// One document in twenty has hidden tokens: of 20,000 some 1000, with a deviation of 31.
func TestHeldOut(t *testing.T) {
	heldOut := 0
	for i := range 20000 {
		if HeldOut(bag.Key(fmt.Sprint("document ", i), 0)) {
			heldOut++
		}
	}
	if heldOut < 850 || heldOut > 1150 {
		t.Errorf("%d documents of 20000 have hidden tokens", heldOut)
	}
	if Enough(1999) || !Enough(2000) {
		t.Error("the border of Enough is not 2000")
	}
}
