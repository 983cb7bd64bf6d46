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

// Quarters are quarters of halves and of samples, and of the documents that are held out: of 10,000
// each 2500, with a deviation of 43, and of 2000 each 500, with one of 19.
func TestQuarter(t *testing.T) {
	var all, sampled, heldOut [4]int
	samples, held := 0, 0
	for i := 0; all[0]+all[1]+all[2]+all[3] < 10000 || samples < 2000 || held < 2000; i++ {
		key := bag.Key(fmt.Sprint("document ", i), 0)
		q := Quarter(key)
		if q%2 != Half(key) {
			t.Fatalf("quarter %d of half %d", q, Half(key))
		}
		if i < 10000 {
			all[q]++
		}
		if Sampled(key, 8) && samples < 2000 {
			sampled[q]++
			samples++
		}
		if HeldOut(key) && held < 2000 {
			heldOut[q]++
			held++
		}
	}
	for q := range 4 {
		if math.Abs(float64(all[q]-2500)) > 200 || math.Abs(float64(sampled[q]-500)) > 90 || math.Abs(float64(heldOut[q]-500)) > 90 {
			t.Errorf("quarter %d has %d of 10000 documents, %d of 2000 sampled and %d of 2000 held out", q, all[q], sampled[q], heldOut[q])
		}
	}
}

// A sample of one document in 2^thin is a part of one that is less thin, and hides as many documents.
func TestThinned(t *testing.T) {
	var in, heldOut [5]int
	const docs = 64000
	for i := range docs {
		key := bag.Key(fmt.Sprint("document ", i), 0)
		for thin := range in {
			if !Thinned(key, thin) {
				if thin < 4 && Thinned(key, thin+1) {
					t.Fatalf("%x is in a sample of 2^%d documents alone", key, thin+1)
				}
				continue
			}
			in[thin]++
			if HeldOut(key) {
				heldOut[thin]++
			}
		}
	}
	for thin, n := range in { // within four deviations
		if want := float64(int(docs) >> thin); math.Abs(float64(n)-want) > 4*math.Sqrt(want) || thin == 0 && n != docs {
			t.Errorf("%d documents are in a sample of one in 2^%d, want about %v", n, thin, want)
		}
		if want := float64(n) / oneOf; math.Abs(float64(heldOut[thin])-want) > 4*math.Sqrt(want) {
			t.Errorf("%d of %d documents have hidden tokens, want about %v", heldOut[thin], n, want)
		}
	}
}
