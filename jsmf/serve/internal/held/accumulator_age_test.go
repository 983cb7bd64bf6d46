package held_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

// Documents that were made older are held and weighted as if they had been added with
// these times; snapshots taken before stay as they are.
func TestAccumulatorBackdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	docs := tokenDocs(rng, 60, 20)
	for _, o := range []held.Options{{MinDocs: 1}, {MinDocs: 1, HalfLife: 9}, {MinDocs: 1, MaxAge: 70, HalfLife: 9}, {MinDocs: 1, Window: 40}} {
		for _, by := range []int64{0, 1, 25, 1000} {
			t.Run(fmt.Sprintf("%+v by %d", o, by), func(t *testing.T) {
				a := accumulate(t, o, docs)
				early := a.Snapshot()
				n, err := a.Backdate(30, by)
				if err != nil {
					t.Fatal(err)
				}
				moved := append([]tokenDoc{}, docs...)
				for i := range moved[:30] {
					moved[i].at -= by
				}
				b := accumulate(t, o, moved)
				sameHeld(t, "backdated", a, b)
				before := accumulate(t, o, docs).Stats()
				if a.Stats() != b.Stats() || n != before.Docs-a.Stats().Docs {
					t.Errorf("%d documents left, %+v; added so: %+v", n, a.Stats(), b.Stats())
				}
				if early.Docs() != before.Docs {
					t.Errorf("the snapshot has %d documents", early.Docs())
				}
				for _, d := range docs {
					if a.Has(d.id) != a.Remove(d.id) {
						t.Errorf("document %s cannot be removed", d.id)
					}
				}
				if st := a.Stats(); st.Docs != 0 || st.Words != 0 {
					t.Errorf("%+v is left", st)
				}
			})
		}
	}
	a := accumulate(t, held.Options{MinDocs: 1}, docs)
	was := a.Stats()
	for _, by := range []int64{-1, math.MaxInt64} {
		if _, err := a.Backdate(math.MaxInt64, by); by < 0 && err == nil || by > 0 && err != nil {
			t.Errorf("by %d: %v", by, err)
		}
	}
	if _, err := a.Backdate(math.MaxInt64, math.MaxInt64); err == nil {
		t.Error("older than there are times")
	}
	if was.Newest-math.MaxInt64 != a.Stats().Newest {
		t.Errorf("the newest document is of %d", a.Stats().Newest)
	}
}
