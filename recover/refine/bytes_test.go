package refine_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// A refinement allocates no more than Bytes in a few passes, and so holds no more at a
// time: later passes use the same memory. The sizes make each part of the bound the largest
// once: words, documents, topics, nonzeros, and hardly anything.
func TestPassesBytes(t *testing.T) {
	testutil.NotWithRace(t)
	for _, x := range []struct{ n, k, docs, length int }{{4000, 8, 60, 50}, {200, 20, 3000, 12}, {300, 120, 100, 80}, {500, 10, 1000, 150}, {20, 3, 2, 5}} {
		p := testutil.NewPlanted(x.n, x.k, 0.3, 1)
		c := drawn(t, p, x.docs, x.length, 2)
		encoded, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []refine.Refiner{
			refine.Passes{N: 1, Correlated: -1}, refine.Passes{N: 2, Correlated: 1}, refine.Passes{N: 3, Correlated: 5},
			refine.Passes{N: 2, Correlated: 1, Scratch: t.TempDir()}, refine.Passes{N: 7, Correlated: 1}, refine.Batch{N: 1, Correlated: 1}, refine.Batch{N: 1, Correlated: -1},
		} {
			for _, want := range []int{0, x.k - 1} { // one merge; others make the same again
				docs := c.Source()
				if i%2 == 1 {
					docs = encoded
				}
				opt := refine.Options{K: want, Workers: 2}
				took := testutil.Allocated(t, func() { fitTo(t, s, docs, refine.Start{B: p.B}, opt) })
				bound := refine.Bytes(s, x.docs, x.n, int64(c.NNZ()), x.k)
				name := fmt.Sprintf("%+v, %v, K = %d", x, s, want)
				t.Logf("%s: %.2f MB of %.2f", name, float64(took)/1e6, float64(bound)/1e6)
				if took > bound {
					t.Errorf("%s: %d bytes were allocated, more than the bound %d", name, took, bound)
				}
			}
		}
	}
}

// Bounds grow with all sizes, do not overflow, and are less with a file.
func TestPassesBytesGrow(t *testing.T) {
	p := refine.Passes{}
	bytes := func(docs, words int, nonzeros int64, k int) int64 { return refine.Bytes(p, docs, words, nonzeros, k) }
	b := bytes(3000, 5000, 500_000, 50)
	for _, more := range []int64{bytes(4000, 5000, 500_000, 50), bytes(3000, 6000, 500_000, 50), bytes(3000, 5000, 600_000, 50), bytes(3000, 5000, 500_000, 60)} {
		if more <= b {
			t.Errorf("%d bytes, and %d for more", b, more)
		}
	}
	if in, file := bytes(1e6, 5000, 1e8, 50), refine.Bytes(refine.Passes{Scratch: "."}, 1e6, 5000, 1e8, 50); in-file < 3e8 {
		t.Errorf("%d bytes, %d with a file", in, file)
	}
	if b := bytes(1<<31, 1<<31, 1<<62, 1000); b < 1<<50 || b > 1<<61 {
		t.Errorf("%d bytes", b)
	}
}

// The start is not written to.
func TestPassesStart(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.3, 1)
	b, a := mat.DenseCopyOf(p.B), mat.DenseCopyOf(p.A)
	fitTo(t, refine.Passes{N: 7}, drawn(t, p, 50, 20, 2).Source(), refine.Start{B: b, A: a}, refine.Options{K: 3})
	if !mat.Equal(b, p.B) || !mat.Equal(a, p.A) {
		t.Error("the start was written to")
	}
}
