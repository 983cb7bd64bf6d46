package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/corpus"
)

func TestSplit(t *testing.T) {
	c := random(rand.New(rand.NewPCG(13, 14)), 101, 20, 0.5)
	for _, share := range []float64{0.1, 0.5, 1e-9, 1 - 1e-9} {
		train, held, err := c.Split(share, 7)
		if err != nil {
			t.Fatal(err)
		}
		want := min(max(int(math.Round(share*101)), 1), 100)
		if held.NumDocs() != want || train.NumDocs() != 101-want {
			t.Fatalf("share %v: %d and %d documents", share, train.NumDocs(), held.NumDocs())
		}
		if train.NumWords() != 20 || held.NumWords() != 20 {
			t.Fatal("the vocabulary changed")
		}
		// Both parts in order, each document in exactly one of them, unchanged.
		i, j := 0, 0
		for m := range 101 {
			part, k := train, &i
			if j < held.NumDocs() && held.ID(j) == c.ID(m) {
				part, k = held, &j
			}
			if *k >= part.NumDocs() || part.ID(*k) != c.ID(m) || fmt.Sprint(words(part, *k)) != fmt.Sprint(words(c, m)) {
				t.Fatalf("document %s is missing or changed", c.ID(m))
			}
			*k++
		}
	}
	a, _, _ := c.Split(0.3, 1)
	b, _, _ := c.Split(0.3, 1)
	d, _, _ := c.Split(0.3, 2)
	if dump(a) != dump(b) || dump(a) == dump(d) {
		t.Error("the seed does not decide")
	}
	// These are the documents held out on every machine and by every version.
	small, err := c.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, h, err := small.Split(0.4, 42)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.ID(0) + " " + h.ID(1) + " " + h.ID(2) + " " + h.ID(3); got != goldenHeld {
		t.Errorf("held out: %s, want %s", got, goldenHeld)
	}
	for _, bad := range []float64{0, 1, -1, 2, math.NaN()} {
		if _, _, err := c.Split(bad, 1); err == nil {
			t.Errorf("share %v: no error", bad)
		}
		if _, _, err := c.SplitTokens(bad, 1); err == nil {
			t.Errorf("share %v: no error", bad)
		}
	}
	one, err := c.Select([]int{3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := one.Split(0.5, 1); err == nil {
		t.Error("one document was divided")
	}
}

const goldenHeld = "3 6 7 8"

func TestSplitTokens(t *testing.T) {
	c := random(rand.New(rand.NewPCG(15, 16)), 60, 20, 0.5)
	for _, share := range []float64{0.5, 0.2, 0.999} {
		t.Run(fmt.Sprint("share ", share), func(t *testing.T) {
			obs, held, err := c.SplitTokens(share, 3)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, obs)
			valid(t, held)
			sumO, sumH, sum := obs.Counts().ToDense(), held.Counts().ToDense(), c.Counts().ToDense()
			for m := range c.NumDocs() {
				n := c.DocLen(m)
				want := int64(math.Round(share * float64(n)))
				if n > 1 {
					want = min(max(want, 1), n-1)
				}
				if obs.DocLen(m) != want || held.DocLen(m) != n-want {
					t.Errorf("document %d of %d tokens: %d observed, want %d", m, n, obs.DocLen(m), want)
				}
				for w := range 20 {
					if sumO.At(m, w)+sumH.At(m, w) != sum.At(m, w) {
						t.Errorf("document %d, word %d: tokens were lost", m, w)
					}
				}
			}
			again, _, _ := c.SplitTokens(share, 3)
			other, _, _ := c.SplitTokens(share, 4)
			if dump(again) != dump(obs) || dump(other) == dump(obs) {
				t.Error("the seed does not decide")
			}
		})
	}
	// Every token is observed with the same probability: over 2000 documents of
	// one pattern the means of the four words are ½ of their counts within
	// five standard errors (hypergeometric).
	const M = 2000
	pattern := []float64{1, 2, 5, 8}
	var ptr, ind []int
	var data []float64
	for range M {
		ptr = append(ptr, len(ind))
		ind, data = append(ind, 0, 1, 2, 3), append(data, pattern...)
	}
	p, err := corpus.FromCSR(sparse.NewCSR(M, 4, append(ptr, len(ind)), ind, data), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	obs, _, err := p.SplitTokens(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for w, x := range obs.WordCounts() {
		k, n := pattern[w], 16.0
		se := math.Sqrt(8 * k / n * (1 - k/n) * (n - 8) / (n - 1) / M)
		if d := float64(x)/M - k/2; math.Abs(d) > 5*se {
			t.Errorf("word %d: mean %.4f, want %.4f ± %.4f", w, float64(x)/M, k/2, se)
		}
	}
}

func TestWriteUCI(t *testing.T) {
	ctx := context.Background()
	c := random(rand.New(rand.NewPCG(17, 18)), 50, 30, 0.4)
	dir := t.TempDir()
	for _, ext := range []string{"", ".gz"} {
		t.Run("docword.txt"+ext, func(t *testing.T) {
			dw, v := filepath.Join(dir, "docword.txt"+ext), filepath.Join(dir, "vocab.txt"+ext)
			if err := c.SaveUCI(ctx, dw, v); err != nil {
				t.Fatal(err)
			}
			got, err := corpus.ReadUCI(ctx, dw, v)
			if err != nil {
				t.Fatal(err)
			}
			if dump(got) != dump(c) {
				t.Error("what was written differs from what is read")
			}
		})
	}
	plain, err := os.ReadFile(filepath.Join(dir, "docword.txt"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(dir, "docword.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed[:2], []byte{0x1f, 0x8b}) || bytes.Equal(plain[:2], packed[:2]) {
		t.Error("the suffix does not decide about gzip")
	}
	if err := c.SaveUCI(ctx, filepath.Join(dir, "only.txt"), ""); err != nil {
		t.Fatal(err)
	}
	// A failure leaves the old file and nothing else.
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.SaveUCI(gone, filepath.Join(dir, "docword.txt"), filepath.Join(dir, "vocab.txt")); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
	if err := c.SaveUCI(ctx, filepath.Join(dir, "none", "docword.txt"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
	other := random(rand.New(rand.NewPCG(19, 20)), 50, 30, 0.4)
	noFolder := filepath.Join(dir, "none", "vocab.txt")
	if err := other.SaveUCI(ctx, filepath.Join(dir, "docword.txt"), noFolder); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "corpus: write "+noFolder+": ") {
		t.Errorf("without a folder for the vocabulary: %v", err)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "docword.txt")); err != nil || !bytes.Equal(again, plain) {
		t.Errorf("the old file is gone: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 5 {
		t.Errorf("%d files are left, want 5 (%v)", len(files), err)
	}
	for _, w := range []string{" a", "a\t", "a\nb", "\ufeffa"} {
		t.Run(fmt.Sprintf("word %q", w), func(t *testing.T) {
			var b corpus.Builder
			if err := b.AddTokens("", "", []string{w}); err != nil {
				t.Fatal(err)
			}
			c, err := b.Corpus()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.WriteUCI(ctx, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "does not fit in a line") {
				t.Errorf("with vocabulary: %v, want an error", err)
			}
			if err := c.WriteUCI(ctx, io.Discard, nil); err != nil {
				t.Errorf("without vocabulary: %v", err)
			}
		})
	}
	full := writerFunc(func([]byte) (int, error) { return 0, io.ErrShortWrite })
	if err := c.WriteUCI(ctx, full, nil); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := c.WriteUCI(ctx, io.Discard, full); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
