package corpus_test

import (
	"bytes"
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
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// listed is a source of the given documents.
type listed []corpus.Document

func (listed) Describe(context.Context) (corpus.Description, error) { return corpus.Description{}, nil }

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
	corpus.Source
	n int
}

func (s numberedList) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	desc.Vocabulary = make([]string, s.n)
	for i := range desc.Vocabulary {
		desc.Vocabulary[i] = fmt.Sprint("word", i)
	}
	return desc, err
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
	h, err := corpus.Encode(ctx, struct{ corpus.Source }{f})
	keep("memory from file", h, err)
	a, err := os.ReadFile(filepath.Join(dir, "a.jenc"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "b.gz")); err != nil || string(a) != string(b) {
		t.Fatalf("the files of the source and of its encoded form differ: %v", err)
	}
	held, err := corpus.EncodedFromBytes("bytes", a)
	keep("bytes", held, err)
	var to bytes.Buffer
	info, err := corpus.EncodeTo(ctx, src, &to)
	if err != nil || to.String() != string(a) {
		t.Fatalf("EncodeTo does not write what EncodeFile writes: %v", err)
	}
	if want := f.Info(); info.Source != nil || info.Documents != want.Documents || info.Tokens != want.Tokens || info.Nonzeros != want.Nonzeros ||
		!slices.Equal(info.Vocabulary, want.Vocabulary) || !slices.Equal(info.DocFrequencies, want.DocFrequencies) {
		t.Fatalf("EncodeTo tells %+v of %+v", info, want)
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
	desc, err := src.Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	vocab := desc.Vocabulary
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
	testutil.NotWithRace(t)
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
	triples := corpus.Triples{In: str("b,1,3\nb,20,1\na,x,2\nb,1,3\nc,3,9\n"), NoHeader: true, Rating: "#3"}
	for name, src := range map[string]corpus.Source{
		"uci":      corpus.UCI{Docword: str("4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4\n"), Vocab: vocabOf("a", "b", "c")},
		"csv":      corpus.CSV{In: str("id,text\nx,the sea and the ship\ny,\nz,a sea of wind\n"), Text: "text", ID: "id"},
		"jsonl":    corpus.JSONL{In: str(`{"text": "the ship and the sea"}` + "\n" + `{"text": "wind and sea"}` + "\n")},
		"triples":  triples,
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
			wantLines, wantDump := lines(t, src), ""
			if wantErr == nil {
				wantDump = dump(want)
			}
			for how, e := range encodings(t, src) {
				if got := lines(t, e); got != wantLines {
					t.Fatalf("%s:\n%s\nwant\n%s", how, got, wantLines)
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
				if g := dump(got); g != wantDump {
					t.Fatalf("%s:\n%s\nwant\n%s", how, g, wantDump)
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

// repeated yields a document many times.
type repeated struct {
	corpus.Document
	times int
}

func (repeated) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{}, nil
}

func (s repeated) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for range s.times {
			if !yield(s.Document, nil) {
				return
			}
		}
	}
}

// A file is written and read in little memory, however long it is.
func TestEncodeFileMemory(t *testing.T) {
	const words, docs = 4000, 1000
	d := corpus.Document{Words: make([]int32, words)}
	for w := range d.Words {
		d.Words[w] = int32(w)
	}
	path := filepath.Join(t.TempDir(), "long.jenc")
	tokens := int64(0)
	took := testutil.Allocated(t, func() {
		e, err := corpus.EncodeFile(context.Background(), numberedList{repeated{d, docs}, words}, path)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		var b corpus.Block
		for i := range e.Blocks() {
			if err := e.Block(i, &b); err != nil {
				t.Fatal(err)
			}
			for _, x := range b.Counts {
				tokens += int64(x)
			}
		}
	})
	// The file has 4 MB and a Corpus would have 32. Strings of the vocabulary and buffers
	// of a block take less than one.
	if tokens != words*docs || took > 2<<20 {
		t.Errorf("%d tokens, %d bytes were allocated", tokens, took)
	}
}

// Without the words that are in no document, the same documents, however they are read.
func TestEncodedDropUnused(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	docs := randomDocs(rand.New(rand.NewPCG(3, 4)), 3000, 60)
	for _, d := range docs {
		for i := range d.Words {
			d.Words[i] *= 2 // no odd words
		}
	}
	for name, e := range encodings(t, numberedList{docs, 130}) {
		part := e.DropUnused()
		info := part.Info()
		if info.Source != corpus.Source(part) || len(info.Vocabulary) > 60 || slices.Contains(info.DocFrequencies, 0) || info.Nonzeros != e.Info().Nonzeros || info.Documents != 3000 {
			t.Errorf("%s: %d words, %d documents", name, len(info.Vocabulary), info.Documents)
		}
		if lines(t, part) != lines(t, e) {
			t.Errorf("%s: other documents", name)
		}
		if part.DropUnused() != part {
			t.Errorf("%s: words were left out twice", name)
		}
		again, err := corpus.EncodeFile(ctx, part, filepath.Join(t.TempDir(), "part.jenc"))
		if err != nil {
			t.Fatal(err)
		}
		if lines(t, again) != lines(t, e) || !slices.Equal(again.Info().DocFrequencies, info.DocFrequencies) {
			t.Errorf("%s: other documents in a file of their own", name)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		c, err := corpus.Read(ctx, part)
		if err != nil || c.NumWords() != len(info.Vocabulary) || c.NNZ() != int(info.Nonzeros) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}
