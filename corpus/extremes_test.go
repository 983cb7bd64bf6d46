package corpus_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a reader or what is done to a corpus panic, go on after ctx, or take memory
// without end.
func TestExtremes(t *testing.T) {
	ctx := t.Context()
	p := testutil.NewPlanted(30, 4, 0.3, 1)
	c, _, err := corpus.Generator{Topics: p.B, Docs: 40, Lengths: []int{20}}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, src corpus.Source) error { _, err := corpus.Read(ctx, src); return err }
	testutil.Extremes(t, corpus.CSV{In: str("text\nred cars\n"), Text: "text"}, func(ctx context.Context, s corpus.CSV) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.CSV{In: str("text\nred cars\n"), Text: "text", NoQuotes: true}, func(ctx context.Context, s corpus.CSV) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.Dir{Path: "testdata"}, func(ctx context.Context, s corpus.Dir) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.JSONL{In: str(`{"text": "red cars"}`)}, func(ctx context.Context, s corpus.JSONL) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.Lines{In: str("red cars\n")}, func(ctx context.Context, s corpus.Lines) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.Triples{In: str("1,2,3\n"), NoHeader: true, Rating: "#3"}, func(ctx context.Context, s corpus.Triples) error { return read(ctx, s) })
	testutil.Extremes(t, corpus.UCI{Docword: str("1\n1\n1\n1 1 1\n"), Vocab: vocabOf("a")}, func(ctx context.Context, s corpus.UCI) error { return read(ctx, s) })
	testutil.Extremes(t, vocabOf("a"), func(ctx context.Context, f corpus.File) error { _, err := corpus.ReadStopWords(ctx, f); return err })
	testutil.Extremes(t, corpus.Curation{}, func(_ context.Context, s corpus.Curation) error { _, _, err := corpus.Curate(c, s); return err })
	testutil.Extremes(t, corpus.Generator{Topics: p.B, Docs: 1, Lengths: []int{1}}, func(ctx context.Context, s corpus.Generator) error {
		_, _, err := s.Generate(ctx)
		return err
	})
	testutil.Extremes(t, corpus.Generator{Topics: p.B, Lengths: []int{1}}, func(ctx context.Context, s corpus.Generator) error {
		_, _, err := s.Generate(ctx)
		return err
	})
	t.Run("a document without end", func(t *testing.T) {
		const most = 8
		ending := testutil.EndingAfter(most)
		_, _, err := corpus.Generator{Topics: p.B, Lengths: []int{corpus.MaxCount}}.Generate(ending)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of ctx, which ended within the document", err)
		}
		if n := ending.Looks(); n > most+3 {
			t.Errorf("%d looks at ctx after its end", n-most)
		}
	})
	type prior struct{ Alpha, Rating float64 }
	testutil.Extremes(t, prior{1, 1}, func(ctx context.Context, s prior) error {
		corpus.Stars(s.Rating)
		_, w, err := corpus.Generator{Topics: p.B, Docs: 3, Lengths: []int{5}, Prior: corpus.Dirichlet{Alpha: []float64{s.Alpha, 1, 1, 1}}}.Generate(ctx)
		if err == nil && math.IsNaN(mat.Sum(w)) {
			panic("a proportion is NaN and there is no error")
		}
		return err
	})
	type symmetric struct {
		K     int
		Alpha float64
	}
	testutil.Extremes(t, symmetric{4, 1}, func(_ context.Context, s symmetric) error {
		_, err := corpus.SymmetricDirichlet(s.K, s.Alpha).Sampler(4)
		return err
	})
	type split struct{ Share float64 }
	testutil.Extremes(t, split{.5}, func(_ context.Context, s split) error {
		c.Split(s.Share, 1)
		_, _, err := c.SplitTokens(s.Share, 1)
		return err
	})
	type selection struct{ Doc, Word int }
	testutil.Extremes(t, selection{}, func(_ context.Context, s selection) error {
		_, err := c.Select([]int{s.Doc}, []int{s.Word})
		return err
	})
	type weight struct{ Weight float64 }
	testutil.Extremes(t, weight{1}, func(ctx context.Context, s weight) error {
		w := make([]float64, c.NumDocs())
		w[0] = s.Weight
		e, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			return err
		}
		e.WithWeights(w)
		_, err = c.WithWeights(w)
		return err
	})
}

// The largest limits let everything through, and one below 0 is an error.
func TestSizeLimits(t *testing.T) {
	const words = "red cars\n"
	files := fstest.MapFS{"a": {Data: []byte(words)}}
	for name, read := range map[string]func(limit int) corpus.Source{
		"CSV": func(limit int) corpus.Source {
			f := str("text\n" + words)
			f.MaxLine = limit
			return corpus.CSV{In: f, Text: "text"}
		},
		"Dir":   func(limit int) corpus.Source { return corpus.Dir{FS: files, MaxBytes: limit} },
		"Lines": func(limit int) corpus.Source { f := str(words); f.MaxLine = limit; return corpus.Lines{In: f} },
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := corpus.Read(t.Context(), read(math.MaxInt)); err != nil || c.Tokens() != 2 {
				t.Errorf("with a limit of math.MaxInt: %v, %v, want two words", c, err)
			}
			if _, err := corpus.Read(t.Context(), read(-1)); err == nil || !strings.Contains(err.Error(), "limit of -1 bytes; want 0 for 67108864") {
				t.Errorf("with a limit of −1: error %v, want one that says so", err)
			}
		})
	}
}
