package corpus_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/corpus"
)

func TestBuilder(t *testing.T) {
	var b corpus.Builder
	for _, err := range []error{
		b.AddTokens("", "", []string{"pear", "apple", "pear"}),
		b.AddCounts("two", "l", map[string]int{"fig": 3, "pear": 1, "none": 0}),
		b.AddText("", "", "The fig, the APPLE's core 42."),
		b.Add(corpus.Document{}),
		b.Add(corpus.Document{Tokens: []string{"10", "9", "10"}, Counts: []int32{1, 2, 4}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, c)
	wantDump(t, c, "[\"9\" \"10\" \"apple\" \"core\" \"fig\" \"pear\" \"the\"]\n1 [] apple:1 pear:2\ntwo [l] fig:3 pear:1\n3 [] apple:1 core:1 fig:1 the:2\n4 []\n5 [] 9:2 10:5\n")
	if _, err := b.Corpus(); !errors.Is(err, corpus.ErrNoDocuments) {
		t.Errorf("the builder is not empty afterwards: %v", err)
	}

	b = corpus.Builder{Vocabulary: []string{"pear", "apple"}}
	if err := b.AddTokens("x", "", []string{"apple", "kiwi", "kiwi"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(corpus.Document{Words: []int32{1, 0, 1}, Counts: []int32{1, 0, 2}}); err != nil {
		t.Fatal(err)
	}
	if c, err = b.Corpus(); err != nil {
		t.Fatal(err)
	}
	wantDump(t, c, "[\"pear\" \"apple\"]\nx apple:1\n2 apple:3\n")
}

// An Add that fails leaves no trace.
func TestBuilderErrors(t *testing.T) {
	var b corpus.Builder
	fixed := corpus.Builder{Vocabulary: []string{"good", "bad"}}
	twice := corpus.Builder{Vocabulary: []string{"good", "good"}}
	if err := b.AddTokens("first", "", []string{"good"}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		err  error
		text string
	}{
		{b.Add(corpus.Document{Tokens: []string{"a"}, Words: []int32{1}}), "document 2: both Tokens and Words"},
		{b.Add(corpus.Document{ID: "d", Tokens: []string{"a"}, Counts: []int32{1, 2}}), "document d: 2 counts for 1 words"},
		{b.Add(corpus.Document{Words: []int32{0}}), "document 2: words are given by number, but there is no vocabulary"},
		{b.Add(corpus.Document{Tokens: []string{"new", "worse"}, Counts: []int32{1, -1}}), `count -1 of word "worse" in document 2`},
		{b.Add(corpus.Document{Tokens: []string{"new", "new"}, Counts: []int32{math.MaxInt32, 1}}), `count 2147483648 of word "new" in document 2`},
		{b.AddTokens("d", "", []string{"new", ""}), "document d: a token is the empty string"},
		{b.AddTokens("d", "", []string{"new", "\xff"}), `token "\xff": invalid UTF-8`},
		{b.AddCounts("d", "", map[string]int{"good": 1, "huge": math.MaxInt32 + 1}), `count 2147483648 of word "huge" in document d`},
		{b.AddCounts("d", "", map[string]int{"good": -1}), `count -1 of word "good" in document d`},
		{fixed.Add(corpus.Document{Words: []int32{0, 2}}), "document 1: word 2 is not in [0, 1]"},
		{fixed.Add(corpus.Document{Words: []int32{-1}}), "document 1: word -1 is not in [0, 1]"},
		{twice.AddTokens("", "", []string{"good"}), `words 0 and 1 of the vocabulary are both "good"`},
	} {
		if x.err == nil || !strings.Contains(x.err.Error(), x.text) || strings.Count(x.err.Error(), "corpus: ") != 1 {
			t.Errorf("%v, want %q", x.err, x.text)
		}
	}
	if err := b.AddTokens("last", "", []string{"fine"}); err != nil {
		t.Fatal(err)
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	wantDump(t, c, "[\"fine\" \"good\"]\nfirst good:1\nlast fine:1\n")
	if _, err := fixed.Corpus(); !errors.Is(err, corpus.ErrNoDocuments) {
		t.Error(err)
	}
	if err := b.AddTokens("", "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Corpus(); !errors.Is(err, corpus.ErrEmptyVocabulary) {
		t.Error(err)
	}
}

func TestFromCSR(t *testing.T) {
	// Unordered columns, a duplicate, a stored zero, an empty row.
	h := sparse.NewCSR(3, 3, []int{0, 4, 4, 5}, []int{2, 0, 2, 1, 1}, []float64{1, 2, 3, 0, 4})
	c, err := corpus.FromCSR(h, []string{"a", "b", "c"}, []string{"x", "", "z"}, []string{"l", "m", ""})
	if err != nil {
		t.Fatal(err)
	}
	valid(t, c)
	wantDump(t, c, "[\"a\" \"b\" \"c\"]\nx [l] a:2 c:4\n2 [m]\nz [] b:4\n")
	if c, err = corpus.FromCSR(h, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	wantDump(t, c, "[\"0\" \"1\" \"2\"]\n1 0:2 2:4\n2\n3 1:4\n")

	// There and back.
	rng := rand.New(rand.NewPCG(7, 8))
	r := random(rng, 30, 20, 0.3)
	again, err := corpus.FromCSR(r.Counts(), r.Vocabulary(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if dump(again) != dump(r) {
		t.Error("Counts and FromCSR are not inverse")
	}
}

func TestFromCSRBad(t *testing.T) {
	one := func(x float64) *sparse.CSR { return sparse.NewCSR(1, 2, []int{0, 1}, []int{1}, []float64{x}) }
	names := []string{"a", "b"}
	for _, x := range []struct {
		name             string
		h                *sparse.CSR
		vocab, ids, labs []string
		text             string
	}{
		{"nil", nil, names, nil, nil, "the matrix is nil"},
		{"short row pointers", sparse.NewCSR(2, 2, []int{0, 1}, []int{1}, []float64{1}), names, nil, nil, "2 row pointers for 2 rows, want 3"},
		{"falling row pointers", sparse.NewCSR(2, 2, []int{0, 2, 1}, []int{1, 0}, []float64{1, 1}), names, nil, nil, "row 1 are 2 and 1"},
		{"row pointers beyond", sparse.NewCSR(2, 2, []int{0, 9, 9}, []int{1}, []float64{1}), names, nil, nil, "row 0 are 0 and 9, of 1 entries"},
		{"row pointers too early", sparse.NewCSR(1, 2, []int{0, 1}, []int{1, 0}, []float64{1, 1}), names, nil, nil, "end with 1, of 2 entries"},
		{"first row pointer", sparse.NewCSR(1, 2, []int{1, 2}, []int{1, 0}, []float64{1, 1}), names, nil, nil, "begin with 1"},
		{"negative row pointer", sparse.NewCSR(1, 2, []int{-1, 1}, []int{1}, []float64{1}), names, nil, nil, "begin with -1"},
		{"values missing", sparse.NewCSR(1, 2, []int{0, 2}, []int{1, 0}, []float64{1}), names, nil, nil, "2 column indices for 1 values"},
		{"column too large", sparse.NewCSR(1, 2, []int{0, 1}, []int{2}, []float64{1}), names, nil, nil, "row 0: word 2 is not in [0, 1]"},
		{"column negative", sparse.NewCSR(1, 2, []int{0, 1}, []int{-1}, []float64{1}), names, nil, nil, "row 0: word -1"},
		{"NaN", one(math.NaN()), names, nil, nil, `row 0, column 1: count NaN of word "b" in document 1`},
		{"Inf", one(math.Inf(1)), names, nil, nil, "count +Inf"},
		{"negative", one(-1), names, []string{"doc"}, nil, `count -1 of word "b" in document doc`},
		{"fraction", one(0.5), names, nil, nil, "count 0.5"},
		{"overflow", one(math.MaxInt32 + 1), names, nil, nil, "count 2147483648"},
		{"sum overflows", sparse.NewCSR(1, 2, []int{0, 2}, []int{1, 1}, []float64{math.MaxInt32, 1}), names, nil, nil, "count 2147483648"},
		{"vocabulary", one(1), []string{"a"}, nil, nil, "1 words for 2 columns"},
		{"ids", one(1), names, names, nil, "2 ids for 1 rows"},
		{"labels", one(1), names, nil, names, "2 labels for 1 rows"},
		{"no rows", sparse.NewCSR(0, 2, []int{0}, nil, nil), names, nil, nil, "no documents"},
		{"no columns", sparse.NewCSR(1, 0, []int{0, 0}, nil, nil), nil, nil, nil, "empty vocabulary"},
	} {
		_, err := corpus.FromCSR(x.h, x.vocab, x.ids, x.labs)
		if err == nil || !strings.HasPrefix(err.Error(), "corpus: csr: ") || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%s: %v, want %q", x.name, err, x.text)
		}
	}
}

// random returns a corpus in which some documents are empty and some words
// never occur.
func random(rng *rand.Rand, M, N int, density float64) *corpus.Corpus {
	var ptr, ind []int
	var data []float64
	ptr = append(ptr, 0)
	for range M {
		p := density * 2 * rng.Float64()
		if rng.IntN(8) == 0 {
			p = 0
		}
		for w := range N {
			if rng.Float64() < p*2*float64(w%7)/6 {
				ind, data = append(ind, w), append(data, float64(1+rng.IntN(4)))
			}
		}
		ptr = append(ptr, len(ind))
	}
	vocab := make([]string, N)
	for i := range vocab {
		vocab[i] = "w" + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	c, err := corpus.FromCSR(sparse.NewCSR(M, N, ptr, ind, data), vocab, nil, nil)
	if err != nil {
		panic(err)
	}
	return c
}

func TestSelect(t *testing.T) {
	c, err := corpus.Read(context.Background(), corpus.UCI{Docword: str("3\n3\n4\n1 1 1\n1 3 2\n3 2 5\n3 3 1\n"), Vocab: vocabOf("0", "1", "2"), Labels: str("a\nb\nc\n")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Select([]int{2, 0}, []int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	valid(t, s)
	wantDump(t, s, "[\"2\" \"1\"]\n3 [c] 2:1 1:5\n1 [a] 2:2\n")
	for _, bad := range [][2][]int{{{3}, nil}, {{-1}, nil}, {{0, 0}, nil}, {nil, {3}}, {nil, {-1}}, {nil, {1, 1}}} {
		if _, err := c.Select(bad[0], bad[1]); err == nil || !strings.HasPrefix(err.Error(), "corpus: select: ") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if i, ok := s.Index("1"); i != 1 || !ok {
		t.Error("Index")
	}
	if _, ok := s.Index("0"); ok {
		t.Error("Index of a word that is gone")
	}
	if df, tf := c.DocFrequencies(), c.WordCounts(); df[2] != 2 || tf[2] != 3 {
		t.Error(df, tf)
	}
}

func TestReindex(t *testing.T) {
	c, err := corpus.Read(context.Background(), corpus.UCI{Docword: str("2\n4\n5\n1 1 1\n1 2 2\n1 3 3\n1 4 4\n2 4 1\n"), Vocab: vocabOf("a", "b", "a", "d"), RepeatedWords: true})
	if err != nil {
		t.Fatal(err)
	}
	got, unknown, err := c.Reindex([]string{"new", "b", "a"})
	if err != nil {
		t.Fatal(err)
	}
	valid(t, got)
	wantDump(t, got, "[\"new\" \"b\" \"a\"]\n1 b:2 a:4\n2\n")
	if unknown != 5 {
		t.Errorf("%d unknown tokens, want 5", unknown)
	}
	if _, _, err := c.Reindex(nil); !errors.Is(err, corpus.ErrEmptyVocabulary) {
		t.Error(err)
	}
	if _, _, err := c.Reindex([]string{"x", "x"}); err == nil || !strings.Contains(err.Error(), `words 0 and 1 of the vocabulary are both "x"`) {
		t.Error(err)
	}
}
