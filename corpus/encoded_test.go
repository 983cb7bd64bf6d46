package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// listed is a source of the given documents.
type listed []corpus.Document

func (s listed) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range s {
			if err := ctx.Err(); err != nil {
				yield(corpus.Document{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// numberedList has a vocabulary of n words.
type numberedList struct {
	listed
	n int
}

func (s numberedList) Vocabulary(context.Context) ([]string, error) {
	v := make([]string, s.n)
	for i := range v {
		v[i] = fmt.Sprint("word", i)
	}
	return v, nil
}

// randomDocs are documents with words below n, most of them short, some empty, and some
// with ids, labels and large counts.
func randomDocs(rng *rand.Rand, docs, n int) listed {
	var s listed
	for m := range docs {
		var d corpus.Document
		if m%3 > 0 {
			d.ID = fmt.Sprint("id", m)
		}
		if m%5 == 0 {
			d.Label = strings.Repeat("x", m%7)
		}
		for range rng.IntN(12) {
			d.Words = append(d.Words, int32(rng.IntN(n)))
			x := rng.Int32N(3)
			switch rng.IntN(40) {
			case 0:
				x = rng.Int32N(1000)
			case 1:
				x = rng.Int32N(math.MaxInt32 / 12)
			}
			d.Counts = append(d.Counts, x)
		}
		s = append(s, d)
	}
	return s
}

// encodings returns a source encoded in all ways.
func encodings(t testing.TB, src corpus.Source) map[string]*corpus.Encoded {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	out := map[string]*corpus.Encoded{}
	keep := func(name string, e *corpus.Encoded, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		out[name] = e
	}
	e, err := corpus.Encode(ctx, src)
	keep("memory", e, err)
	f, err := corpus.EncodeFile(ctx, src, filepath.Join(dir, "a.jenc"))
	keep("file", f, err)
	g, err := corpus.EncodeFile(ctx, e, filepath.Join(dir, "b.gz")) // the name means nothing
	keep("file from memory", g, err)
	h, err := corpus.Encode(ctx, struct{ corpus.Numbered }{f})
	keep("memory from file", h, err)
	a, err := os.ReadFile(filepath.Join(dir, "a.jenc"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "b.gz")); err != nil || string(a) != string(b) {
		t.Fatalf("the files of the source and of its encoded form differ: %v", err)
	}
	if again, err := corpus.Encode(ctx, e); again != e || err != nil {
		t.Fatalf("an Encoded was encoded again: %v", err)
	}
	return out
}

// lines has a line for each document, with its words by name.
func lines(t testing.TB, src corpus.Source) string {
	t.Helper()
	ctx := context.Background()
	var vocab []string
	if n, ok := src.(corpus.Numbered); ok {
		var err error
		if vocab, err = n.Vocabulary(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	for d, err := range src.Docs(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		sum := map[string]int{}
		for i := range max(len(d.Words), len(d.Tokens)) {
			x, w := 1, ""
			if d.Counts != nil {
				x = int(d.Counts[i])
			}
			if len(d.Words) > 0 {
				w = vocab[d.Words[i]]
			} else {
				w = d.Tokens[i]
			}
			if x > 0 {
				sum[w] += x
			}
		}
		fmt.Fprintf(&out, "%q %q %v\n", d.ID, d.Label, sum)
	}
	return out.String()
}

func TestEncodedRoundTrip(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	many := randomDocs(rng, 5000, 300)
	long := listed{{}, {ID: "long"}, {ID: "after", Words: []int32{7}}}
	for w := range int32(40_000) {
		long[1].Words = append(long[1].Words, w)
	}
	var tokens listed
	for m := range 200 {
		d := corpus.Document{Tokens: strings.Fields("the sea the ship"[:rng.IntN(17)])}
		if m == 50 {
			d = corpus.Document{ID: "counts", Label: "b", Tokens: []string{"sea", "20", "9", "none", "sea"}, Counts: []int32{1, math.MaxInt32, 2, 0, 4}}
		}
		tokens = append(tokens, d)
	}
	c, err := corpus.Read(ctx, numberedList{many, 300})
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, c.NumDocs())
	for i := range weights {
		weights[i] = rng.Float64()
	}
	weighted, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	triples := corpus.Triples{In: str("b 1 3\nb 20 1\na x 2\nb 1 3\nc 3 9\n"), Count: corpus.Whole}
	grouped := triples
	grouped.In, grouped.Grouped = str("b 1 3\nb 20 1\nb 1 3\na x 2\nc 3 9\n"), true
	for name, src := range map[string]corpus.Source{
		"uci":      corpus.UCI{Docword: str("4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4\n"), Vocab: vocabOf("a", "b", "c")},
		"ldac":     corpus.LDAC{Data: str("2 0:1 5:3\n0\n3 5:1 5:1 2:2147483647\n")},
		"csv":      corpus.CSV{In: str("id,text\nx,the sea and the ship\ny,\nz,a sea of wind\n"), Text: "text", ID: "id"},
		"jsonl":    corpus.JSONL{In: str(`{"text": "the ship and the sea"}` + "\n" + `{"text": "wind and sea"}` + "\n")},
		"triples":  triples,
		"grouped":  grouped,
		"corpus":   c.Source(),
		"weights":  weighted.Source(),
		"tokens":   tokens,
		"numbers":  numberedList{many, 300},
		"long":     numberedList{long, 40_000},
		"one":      numberedList{listed{{Words: []int32{70_000}}}, 70_001},
		"empty":    numberedList{listed{{}, {ID: "a"}, {}}, 2},
		"no words": listed{{}, {Label: "a"}},
		"nothing":  listed{},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := corpus.Read(ctx, src)
			for how, e := range encodings(t, src) {
				if got, want := lines(t, e), lines(t, src); got != want {
					t.Fatalf("%s:\n%s\nwant\n%s", how, got, want)
				}
				if how == "memory from file" {
					continue // that source had no weights and was not known to be of tokens
				}
				got, err := corpus.Read(ctx, e)
				if wantErr != nil {
					if errors.Is(wantErr, corpus.ErrNoDocuments) != errors.Is(err, corpus.ErrNoDocuments) || err == nil {
						t.Fatalf("%s: %v, want %v", how, err, wantErr)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				valid(t, got)
				if g, w := dump(got), dump(want); g != w {
					t.Fatalf("%s:\n%s\nwant\n%s", how, g, w)
				}
				if !slices.Equal(got.Weights(), want.Weights()) {
					t.Fatalf("%s: weights %v", how, got.Weights())
				}
				info, wi := e.Info(), want.Info()
				df := map[string]int{}
				for i, w := range wi.Vocabulary {
					df[w] += wi.DocFrequencies[i]
				}
				for i, w := range info.Vocabulary {
					df[w] -= info.DocFrequencies[i]
				}
				for w, n := range df {
					if n != 0 {
						t.Fatalf("%s: document frequency of %q is off by %d", how, w, n)
					}
				}
				if info.Documents != wi.Documents || info.Tokens != wi.Tokens || info.Nonzeros != wi.Nonzeros || info.Source != corpus.Source(e) || info.Form != "encoded" || len(info.Vocabulary) != len(wi.Vocabulary) {
					t.Fatalf("%s: %+v", how, info)
				}
			}
		})
	}
}

// Blocks are what the documents make them, and agree with their BlockInfo and with Docs.
func TestEncodedBlocks(t *testing.T) {
	docs := make(listed, 5000)
	docs = append(docs, randomDocs(rand.New(rand.NewPCG(3, 4)), 6000, 70_000)...)
	for _, n := range []int{corpus.BlockNonzeros, corpus.BlockNonzeros + 1, 1} {
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
			tokens := int64(0)
			for _, x := range b.Counts {
				tokens += int64(x)
			}
			if got, want := e.BlockInfo(i), (corpus.BlockInfo{First: next, Documents: b.Docs(), Nonzeros: len(b.Words), Tokens: tokens}); got != want || b.First != next {
				t.Fatalf("%s: block %d: %+v, want %+v", how, i, got, want)
			}
			if b.Docs() == 0 || b.Docs() > corpus.BlockDocs || len(b.Words) > corpus.BlockNonzeros && b.Docs() > 1 {
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
