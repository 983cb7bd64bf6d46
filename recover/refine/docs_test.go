package refine

import (
	"context"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// dense yields documents that hold each of n words, with one count a document.
type dense struct {
	n      int
	counts []int32
}

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

// Every block is in one part of one round, in order. Parts have about as many nonzeros,
// and no round has more tokens than it may, but for its last block.
func TestRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = corpus.BlockNonzeros / 2 // two documents a block
	for _, x := range []struct{ docs, parts, most int }{{0, 1, 1}, {1, 8, 1}, {5, 2, 1}, {60, 8, 1}, {300, 4, 100}, {61, 1, 1000}} {
		counts := make([]int32, x.docs)
		for i := range counts {
			counts[i] = 1 + rng.Int32N(int32(x.most))
		}
		e, err := corpus.Encode(context.Background(), byNumber{dense{n, counts}, n})
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, cuts := range rounds(e, x.parts) {
			if len(cuts) != x.parts+1 || cuts[0] != next {
				t.Fatalf("%+v: a round of %v after block %d", x, cuts, next)
			}
			tokens, blocks := int64(0), cuts[x.parts]-cuts[0]
			for p := range x.parts {
				if had := cuts[p+1] - cuts[p]; had < 0 || had > blocks/x.parts+1 {
					t.Errorf("%+v: part %d has %d of %d blocks", x, p, had, blocks)
				}
			}
			for i := cuts[0]; i < cuts[x.parts]-1; i++ {
				tokens += e.BlockInfo(i).Tokens
			}
			if limit := int64(mostTokens * x.parts); blocks == 0 || tokens >= limit || cuts[x.parts] < e.Blocks() && tokens+e.BlockInfo(cuts[x.parts]-1).Tokens < limit {
				t.Errorf("%+v: %d blocks with %d tokens in a round", x, blocks, tokens)
			}
			next = cuts[x.parts]
		}
		if next != e.Blocks() {
			t.Errorf("%+v: the rounds end at block %d of %d", x, next, e.Blocks())
		}
	}
}
