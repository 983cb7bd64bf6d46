package estep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// A score with some of another distribution equals its definition, whatever the kernel and
// the weight of that distribution; a word needs only one of the two.
func TestScoreMixed(t *testing.T) {
	testutil.NotWithRace(t)
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(26, 27))
		for _, k := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 129} {
			w := newWorker(k, kr)
			for _, words := range []int{0, 1, 2, 15, 16, 17, 33, 2*piece + 3} {
				p := newProblem(rnd, 2*piece+5, k, words, Plain, false)
				copy(w.T, p.t)
				extra := make([]float32, p.B.N)
				for i := range extra {
					extra[i] = rnd.Float32() / float32(p.B.N)
				}
				if words > 2 {
					clear(p.B.Row(int(p.words[1])))
					extra[p.words[2]] = 0
				}
				for _, times := range []float32{0.01, 1, 300} {
					got, err := w.ScoreMixed(p.B, extra, times, p.words, p.counts)
					if err != nil {
						t.Fatal(err)
					}
					want, tokens := 0.0, 0.0
					for i, id := range p.words {
						z, x := float64(times)*float64(extra[id]), float64(p.counts[i])
						for j, b := range p.B.Row(int(id)) {
							z += float64(p.t[j]) * float64(b)
						}
						want += x * math.Log(z)
						tokens += x
					}
					if !(math.Abs(got-want) <= 1e-6*(1+tokens)) { // as in TestStep
						t.Errorf("K=%d, %d words, times %v: %v, want %v", k, words, times, got, want)
					}
				}
				if words > 2 {
					continue // a word has no probability without the extra
				}
				got, err := w.ScoreMixed(p.B, extra, 0, p.words, p.counts)
				if plain, e := w.Score(p.B, p.words, p.counts); err != nil || e != nil || got != plain {
					t.Errorf("K=%d, %d words: %v with none of the extra, %v without, %v, %v", k, words, got, plain, err, e)
				}
			}
		}
		p := newProblem(rnd, 9, 5, 9, Plain, false)
		for i := range p.counts {
			p.counts[i] = 1
		}
		clear(p.B.Row(int(p.words[4])))
		w := newWorker(5, kr)
		copy(w.T, p.t)
		if _, err := w.ScoreMixed(p.B, make([]float32, 9), 1, p.words, p.counts); !errors.Is(err, ErrImpossible) {
			t.Errorf("error %v for a word of neither distribution", err)
		}
	})
}

// The floor is what a topic keeps in a document where its one token is left out: with the
// smallest ones the others get the token, with large ones it counts like a prior.
func TestFloor(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		const k = 20
		for _, floor := range []float32{0, 1e-8, 0.01, 1, 50} {
			p := newProblem(rand.New(rand.NewPCG(28, 29)), 30, k, 20, LeaveDocument, true)
			for j := range k {
				p.Floor[j] = floor
				p.t[j] = 0.02
			}
			// One word, once, that topic 3 alone explains, and another topic hardly.
			p.words, p.counts = p.words[:1], []float32{1}
			row := p.B.Row(int(p.words[0]))
			for j := range row {
				row[j] = 1e-6
			}
			row[3], p.t[3], p.t[5] = 0.01, 1.02, 0.5
			p.check(t, fmt.Sprintf("floor %v", floor), newWorker(k, kr), 3e-6)
		}
	})
}

// Reset makes zeros of fewer columns, rows at cache lines, in the same memory.
func TestRowsReset(t *testing.T) {
	r := NewRows(7, 100)
	for i := range r.Data {
		r.Data[i] = 1
	}
	first := &r.Data[0]
	for _, k := range []int{100, 97, 64, 17, 16, 1} {
		for i := range r.Data {
			r.Data[i] = 1
		}
		r.Reset(k)
		if r.N != 7 || r.K != k || r.Stride != Padded(k) || len(r.Data) != 7*r.Stride || &r.Data[0] != first {
			t.Fatalf("%d×%d rows of %d, %d numbers", r.N, r.K, r.Stride, len(r.Data))
		}
		if slices.ContainsFunc(r.Data, func(v float32) bool { return v != 0 }) {
			t.Errorf("%d columns: not all are zero", k)
		}
	}
}
