package corpus_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// The vocabulary and its order, and the numbers of documents and tokens, must
// be exactly those of the reference.
func TestCurateGolden(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	check := func(t *testing.T, c *corpus.Corpus, o corpus.Curation, dict []string, docs int, df []int, nnz int, tokens int64) {
		t.Helper()
		got, rep, err := corpus.Curate(c, o)
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Vocabulary(); !slices.Equal(v, dict) {
			for i := range min(len(v), len(dict)) {
				if v[i] != dict[i] {
					t.Errorf("word %d is %q, want %q", i, v[i], dict[i])
					break
				}
			}
			t.Fatalf("the vocabulary differs; it has %d words, want %d", len(v), len(dict))
		}
		if got.NumDocs() != docs {
			t.Errorf("%d documents, want %d", got.NumDocs(), docs)
		}
		if d1 := got.DocFrequencies(); !slices.Equal(d1[:len(df)], df) {
			t.Errorf("document frequencies %v, want %v", d1[:len(df)], df)
		}
		if nnz > 0 && (got.NNZ() != nnz || got.Tokens() != tokens) {
			t.Errorf("%d pairs and %d tokens, want %d and %d", got.NNZ(), got.Tokens(), nnz, tokens)
		}
		if rep.Before != size(c) || rep.After != size(got) {
			t.Errorf("the report says %v → %v, the corpora %v → %v", rep.Before, rep.After, size(c), size(got))
		}
		t.Logf("\n%s", rep)
	}
	type facts struct {
		N      int   `json:"N"`
		Docs   int   `json:"docs_after_min_objects"`
		NNZ    int   `json:"bows_rows"`
		Tokens int64 `json:"tokens"`
		D1     []int `json:"D1_first20"`
	}
	t.Run("corpus=tiny", func(t *testing.T) {
		var g struct {
			N    int
			Dict []string
			D1   []int
			Docs int     `json:"docs_used"`
			Bows [][]int `json:"bows"` // document, word, count, before the limit of 5 tokens
		}
		testutil.JSON(t, &g, "tiny", "golden.json.gz")
		c, err := corpus.ReadUCI(ctx, testutil.Path("tiny", "docword.tiny.txt"), testutil.Path("tiny", "vocab.tiny.txt"))
		if err != nil {
			t.Fatal(err)
		}
		tokens, docs := int64(0), map[int]bool{}
		for _, b := range g.Bows {
			tokens += int64(b[2])
			docs[b[0]] = true
		}
		o := corpus.Curation{StopWords: testutil.Lines(t, "tiny", "tiny.stops"), Words: g.N}
		check(t, c, o, g.Dict, len(docs), nil, len(g.Bows), tokens)
		o.MinTokens = 5
		check(t, c, o, g.Dict, g.Docs, g.D1, 0, 0)
	})
	t.Run("corpus=synth", func(t *testing.T) {
		var g facts
		testutil.JSON(t, &g, "synth", "corpus.json")
		c, err := corpus.ReadUCI(ctx, testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"))
		if err != nil {
			t.Fatal(err)
		}
		o := corpus.Curation{StopWords: testutil.Lines(t, "synth", "synth.stops"), Words: g.N}
		check(t, c, o, testutil.Lines(t, "synth", "dict.txt"), g.Docs, nil, g.NNZ, g.Tokens)
		// D1 was counted where C was built, from documents of 5 tokens or more.
		o.MinTokens = 5
		got, _, err := corpus.Curate(c, o)
		if err != nil {
			t.Fatal(err)
		}
		if d1 := got.DocFrequencies()[:len(g.D1)]; !slices.Equal(d1, g.D1) {
			t.Errorf("document frequencies %v, want %v", d1, g.D1)
		}
	})
	t.Run("corpus=kos", func(t *testing.T) {
		dw, v := testutil.Data(t, "kos", "docword.kos.txt.gz"), testutil.Data(t, "kos", "vocab.kos.txt")
		var g facts
		testutil.JSON(t, &g, "kos1000", "corpus.json")
		c, err := corpus.ReadUCI(ctx, dw, v)
		if err != nil {
			t.Fatal(err)
		}
		check(t, c, corpus.Curation{Words: g.N}, testutil.Lines(t, "kos1000", "dict.txt"), g.Docs, g.D1, g.NNZ, g.Tokens)
	})
}
