package refine

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// dense yields documents that hold each of n words, with one count a document.
type dense struct {
	n      int
	counts []int32
}

func (dense) Describe(context.Context) (corpus.Description, error) { return corpus.Description{}, nil }

func (s dense) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		d := corpus.Document{Words: make([]int32, s.n), Counts: make([]int32, s.n)}
		for w := range d.Words {
			d.Words[w] = int32(w)
		}
		for _, x := range s.counts {
			for w := range d.Counts {
				d.Counts[w] = x
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Every block is in one part, in order, and parts have about as many nonzeros.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = corpus.MaxBlockNonzeros / 2 // two documents a block
	for _, x := range []struct{ docs, parts int }{{0, 1}, {1, 1}, {1, 8}, {5, 2}, {60, 8}, {300, 4}, {61, 1}, {9, 100}} {
		counts := make([]int32, x.docs)
		for i := range counts {
			counts[i] = 1 + rng.Int32N(100)
		}
		e, err := corpus.Encode(context.Background(), byNumber{dense{n, counts}, n})
		if err != nil {
			t.Fatal(err)
		}
		cuts := cuts(e, x.parts)
		if len(cuts) != x.parts+1 || cuts[0] != 0 || cuts[x.parts] != e.Blocks() {
			t.Fatalf("%+v: %d blocks are cut at %v", x, e.Blocks(), cuts)
		}
		for p := range x.parts {
			if had := cuts[p+1] - cuts[p]; had < 0 || had > e.Blocks()/x.parts+1 {
				t.Errorf("%+v: part %d has %d of %d blocks", x, p, had, e.Blocks())
			}
		}
	}
}

// What passes see of a held-out document is what holdout.Split leaves visible, and with the
// hidden tokens it is the document.
func TestLoadHides(t *testing.T) {
	p := testutil.NewPlanted(200, 4, 0.2, 1)
	src := planted(t, p, 800, 30).Source()
	e, err := corpus.Encode(t.Context(), byNumber{src, p.N})
	if err != nil {
		t.Fatal(err)
	}
	f, heldOut := stripes{topics: &topics{seen: &census{hides: true}}}, 0
	w := worker{Document: docstep.NewDocument(p.K)}
	for i := range e.Blocks() {
		if err := e.Block(i, &w.block); err != nil {
			t.Fatal(err)
		}
		for d := range w.block.Docs() {
			key := w.block.Key(d)
			f.load(&w, d, f.holdsOut(key))
			words, all := w.block.Doc(d)
			visible, hidden := make(map[int32]float32), make(map[int32]float32)
			holdout.Split(all, func(i int, seen, unseen int64) {
				if !holdout.HeldOut(key) {
					seen, unseen = seen+unseen, 0
				}
				if seen > 0 {
					visible[words[i]] = float32(seen)
				}
				if unseen > 0 {
					hidden[words[i]] = float32(unseen)
				}
			})
			for what, x := range map[string]struct {
				got  docstep.Tokens
				want map[int32]float32
			}{"visible": {w.Visible, visible}, "hidden": {w.Hidden, hidden}} {
				if len(x.got.Words) != len(x.want) {
					t.Fatalf("document %#x: %d words are %s, want %d", key, len(x.got.Words), what, len(x.want))
				}
				for i, word := range x.got.Words {
					if x.got.Counts[i] != x.want[word] {
						t.Fatalf("document %#x: %v tokens of word %d are %s, want %v", key, x.got.Counts[i], word, what, x.want[word])
					}
				}
			}
			if len(w.Hidden.Words) > 0 {
				heldOut++
			}
			had := slices.Clone(w.Visible.Words)
			if f.load(&w, d, false); len(w.Hidden.Words) > 0 || !slices.Equal(w.Visible.Words, words) {
				t.Fatalf("document %#x: %v of %v, after %v", key, w.Visible.Words, words, had)
			}
		}
	}
	if heldOut < 20 || heldOut > 80 {
		t.Errorf("%d of 800 documents are held out", heldOut)
	}
}

// A document is in the halves, and in samples, as often as not, whatever else is chosen.
func TestChosen(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 40000
	var first, third, both, heldOut, all int
	for range n {
		key := rng.Uint64()
		h, s, w := holdout.Half(key) == 0, holdout.Sampled(key, 3), holdout.HeldOut(key)
		count := func(c *int, is bool) {
			if is {
				*c++
			}
		}
		count(&first, h)
		count(&third, s)
		count(&both, h && s)
		count(&heldOut, w)
		count(&all, h && s && w)
		if !holdout.Sampled(key, 1) {
			t.Fatal("a sample of all leaves one out")
		}
	}
	for name, x := range map[string][2]int{"half": {first, n / 2}, "sampled": {third, n / 3}, "both": {both, n / 6}, "held out": {heldOut, n / 20}, "all": {all, n / 120}} {
		if most := n / 80; x[0] < x[1]-most || x[0] > x[1]+most || 2*x[0] < x[1] { // five deviations
			t.Errorf("%s: %d of %d documents, want %d", name, x[0], n, x[1])
		}
	}
}
