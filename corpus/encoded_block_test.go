package corpus_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// Blocks are what the documents make them, and agree with BlockNonzeros and with Docs.
func TestEncodedBlocks(t *testing.T) {
	docs := make(listed, 5000)
	docs = append(docs, randomDocs(rand.New(rand.NewPCG(3, 4)), 6000, 70_000)...)
	for _, n := range []int{corpus.MaxBlockNonzeros, corpus.MaxBlockNonzeros + 1, 1} {
		var d corpus.Document
		for w := range int32(n) {
			d.Words = append(d.Words, 4*w)
		}
		docs = append(docs, d)
	}
	for how, e := range encodings(t, numberedList{docs, 70_000}) {
		var b corpus.Block
		next, bytes := 0, int64(0)
		for i := range e.Blocks() {
			if err := e.Block(i, &b); err != nil {
				t.Fatal(err)
			}
			if b.First != next || e.BlockNonzeros(i) != len(b.Words) {
				t.Fatalf("%s: block %d begins with document %d, not %d, or has %d words, not %d", how, i, b.First, next, len(b.Words), e.BlockNonzeros(i))
			}
			if b.Docs() == 0 || b.Docs() > corpus.MaxBlockDocs || len(b.Words) > corpus.MaxBlockNonzeros && b.Docs() > 1 {
				t.Fatalf("%s: block %d has %d documents with %d words", how, i, b.Docs(), len(b.Words))
			}
			for d := range b.Docs() {
				if want := docs[next+d]; b.ID(d) != want.ID || b.Label(d) != want.Label {
					t.Fatalf("%s: document %d is %q, %q", how, next+d, b.ID(d), b.Label(d))
				}
			}
			next += b.Docs()
		}
		if bytes = e.Bytes(); next != len(docs) || bytes > 6*e.Info().Nonzeros+16*int64(next) || bytes < e.Info().Nonzeros {
			t.Fatalf("%s: %d documents in %d bytes", how, next, bytes)
		}
		for _, i := range []int{-1, e.Blocks()} {
			if err := e.Block(i, &b); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("block %d is not in", i)) {
				t.Fatalf("%s: %v", how, err)
			}
		}
	}
}

// The key of a document depends on its id alone, or on its number.
func TestBlockKey(t *testing.T) {
	keys := func(docs listed) (out []uint64) {
		e, err := corpus.Encode(context.Background(), numberedList{docs, 1})
		if err != nil {
			t.Fatal(err)
		}
		var b corpus.Block
		for i := range e.Blocks() {
			if err := e.Block(i, &b); err != nil {
				t.Fatal(err)
			}
			for d := range b.Docs() {
				out = append(out, b.Key(d))
			}
		}
		return out
	}
	const n = 10_000
	named := make(listed, n)
	for i := range named {
		named[i].ID = fmt.Sprint(n - i)
	}
	a, b := keys(make(listed, n)), keys(named)
	slices.Reverse(b)
	if !slices.Equal(a, b) {
		t.Fatal("the keys of numbers and of ids differ")
	}
	if a[0] != 0x4687cd939adeafdf {
		t.Errorf("the key of document 1 is %#x; it must not change from release to release", a[0])
	}
	// Each bit is set in half of them: within four standard deviations, 4·√n/2.
	for bit := range 64 {
		set := 0
		for _, k := range a {
			set += int(k >> bit & 1)
		}
		if set < n/2-200 || set > n/2+200 {
			t.Errorf("bit %d is set in %d of %d keys", bit, set, n)
		}
	}
	slices.Sort(a)
	if len(slices.Compact(a)) != n {
		t.Error("keys are equal")
	}
}

// Goroutines read blocks at once and get what one gets.
func TestEncodedConcurrent(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(5, 6)), 9000, 1000)
	for how, e := range encodings(t, numberedList{docs, 1000}) {
		want := make([]corpus.Block, e.Blocks())
		for i := range want {
			if err := e.Block(i, &want[i]); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				var b corpus.Block
				for j := range 3 * len(want) {
					i := (j*(g+1) + g) % len(want)
					if err := e.Block(i, &b); err != nil || !slices.Equal(b.Ptr, want[i].Ptr) || !slices.Equal(b.Words, want[i].Words) || !slices.Equal(b.Counts, want[i].Counts) {
						t.Errorf("%s: block %d: %v", how, i, err)
					}
				}
			})
		}
		wg.Wait()
	}
}
