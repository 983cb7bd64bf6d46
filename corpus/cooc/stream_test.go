package cooc_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func newStream(t testing.TB, src corpus.Source, o cooc.Options) *cooc.Stream {
	t.Helper()
	s, err := cooc.NewStream(ctx, src, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The documents need three chunks. The sums are taken in another order than
// those of Moments: 1e-13 of the largest number.
func TestStreamEqualsMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	docs := 20000
	if testing.Short() {
		docs = 9000
	}
	c := countsCorpus(t, 150, randomDocs(rng, docs, 150, 4))
	for _, least := range []int{0, 1, 30} {
		m := newMoments(t, c, cooc.Options{MinTokens: least})
		s := newStream(t, c.Source(), cooc.Options{MinTokens: least})
		si, mi := s.Info(), m.Info()
		if si.Documents != mi.Documents || si.Nonzeros != mi.Nonzeros || si.Tokens != mi.Tokens || !slices.Equal(si.DocFrequencies, mi.DocFrequencies) {
			t.Fatalf("%d documents, %d nonzeros, %d tokens; want %d, %d, %d", si.Documents, si.Nonzeros, si.Tokens, mi.Documents, mi.Nonzeros, mi.Tokens)
		}
		all := si.Documents
		for i, x := range si.DroppedDocuments {
			if all += x.Count; x.Reason != mi.DroppedDocuments[i].Reason {
				t.Errorf("dropped for %q, want %q", x.Reason, mi.DroppedDocuments[i].Reason)
			}
		}
		if all != c.NumDocs() || !slices.Equal(si.Vocabulary, c.Vocabulary()) {
			t.Fatalf("%d documents with those left out, of %d", all, c.NumDocs())
		}
		x, a, b := normal(rng, 150, 13), mat.NewDense(150, 13, nil), mat.NewDense(150, 13, nil)
		before := s.Passes()
		if err := errors.Join(m.MulTo(ctx, a, x, 0), s.MulTo(ctx, b, x, 0)); err != nil {
			t.Fatal(err)
		}
		if s.Passes() != before+1 {
			t.Errorf("a product took %d passes", s.Passes()-before)
		}
		largest := mat.Norm(a, math.Inf(1))
		a.Sub(a, b)
		near(t, "product", mat.Norm(a, math.Inf(1)), 0, 1e-13*largest)
		for i, v := range m.Marginals() {
			near(t, "marginal", s.Marginals()[i], v, 1e-13*slices.Max(m.Marginals()))
		}
	}
}

func TestStreamEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	c := countsCorpus(t, 40, randomDocs(rng, 200, 40, 2))
	s := newStream(t, c.Source(), cooc.Options{})
	sameMatrix(t, entries(t, s), newMoments(t, c, cooc.Options{}), 1e-13)
}

func TestStreamSameBitsForAnyWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	c := countsCorpus(t, 60, randomDocs(rng, 9000, 60, 0))
	x := normal(rng, 60, 9)
	var want []float64
	for _, workers := range []int{1, 2, 5} {
		s := newStream(t, c.Source(), cooc.Options{})
		y := mat.NewDense(60, 9, nil)
		if err := s.MulTo(ctx, y, x, workers); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = y.RawMatrix().Data
		}
		sameBits(t, fmt.Sprintf("the product with %d workers", workers), y.RawMatrix().Data, want)
	}
}

// Choosing words while reading is choosing them before.
func TestStreamVocabulary(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	c := countsCorpus(t, 50, randomDocs(rng, 300, 50, 5))
	order := rng.Perm(50)[:30]
	sel, err := c.Select(nil, order)
	if err != nil {
		t.Fatal(err)
	}
	want := newMoments(t, sel, cooc.Options{})
	s := newStream(t, c.Source(), cooc.Options{Vocabulary: sel.Vocabulary()})
	sameMatrix(t, entries(t, s), want, 1e-13)

	// The same from tokens.
	var lines strings.Builder
	for m := range c.NumDocs() {
		var tokens []string
		words, counts := c.Doc(m)
		for i, w := range words {
			for range counts[i] {
				tokens = append(tokens, `"`+c.Word(int(w))+`"`)
			}
		}
		rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
		fmt.Fprintf(&lines, "{\"tokens\": [%s]}\n", strings.Join(tokens, ","))
	}
	text := corpus.JSONL{In: corpus.FileFromBytes("docs.jsonl", []byte(lines.String())), Text: "tokens"}
	sameMatrix(t, entries(t, newStream(t, text, cooc.Options{Vocabulary: sel.Vocabulary()})), want, 1e-13)

	// Without the words that no document of three distinct words holds.
	var docs, used []int
	for m := range sel.NumDocs() {
		if w, _ := sel.Doc(m); len(w) >= 12 {
			docs = append(docs, m)
		}
	}
	long, err := sel.Select(docs, nil)
	if err != nil {
		t.Fatal(err)
	}
	full := newMoments(t, long, cooc.Options{})
	for w, df := range full.Info().DocFrequencies {
		if df > 0 {
			used = append(used, w)
		}
	}
	if len(used) == 0 || len(used) == 30 {
		t.Fatalf("%d of 30 words used: the test shows nothing", len(used))
	}
	part, err := cooc.Submatrix(full, used)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []corpus.Source{c.Source(), text} {
		s := newStream(t, src, cooc.Options{Vocabulary: sel.Vocabulary(), MinDistinct: 12, DropUnused: true})
		sameMatrix(t, entries(t, s), part, 1e-13)
		for i, w := range s.Info().Vocabulary {
			if w != sel.Word(used[i]) {
				t.Fatalf("word %d is %q, want %q", i, w, sel.Word(used[i]))
			}
		}
	}
	whole := newStream(t, long.Source(), cooc.Options{DropUnused: true})
	sameMatrix(t, entries(t, whole), part, 1e-13)
}

// made yields m documents of words numbered at random, in slices used again.
type made struct {
	docs, words, length int
	broken              func(m int, d *corpus.Document) error // nil: none
	panics              int
}

func (s made) Vocabulary(context.Context) ([]string, error) {
	v := make([]string, s.words)
	for i := range v {
		v[i] = fmt.Sprint("w", i)
	}
	return v, nil
}

func (s made) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		rng := rand.New(rand.NewPCG(1, 1))
		d := corpus.Document{Words: make([]int32, s.length)}
		for m := range s.docs {
			for i := range d.Words {
				d.Words[i] = int32(rng.IntN(s.words))
			}
			if s.panics > 0 && m == s.panics {
				panic("a broken source")
			}
			var err error
			if s.broken != nil {
				err = s.broken(m, &d)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// What a pass allocates in all, and so what it holds, does not grow with the
// number of documents beyond one chunk.
func TestStreamMemoryDoesNotGrowWithDocuments(t *testing.T) {
	allocated := func(docs int) int64 {
		s := newStream(t, made{docs: docs, words: 500, length: 8}, cooc.Options{})
		x, y := mat.NewDense(500, 20, nil), mat.NewDense(500, 20, nil)
		return testutil.Allocated(func() {
			if err := s.MulTo(ctx, y, x, 2); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocated(25_000), allocated(200_000)
	// 22 more chunks: what the loops over chunks take for themselves, some kB each.
	// The documents alone would be 17 MB more.
	t.Logf("%d bytes for 25,000 documents, %d for 200,000", few, many)
	if many > few+1<<20 {
		t.Errorf("%d bytes for 25,000 documents, %d for 200,000", few, many)
	}
}

// The errors of a source come through with file and line, in the first pass
// and in later ones.
func TestStreamErrors(t *testing.T) {
	const good = "3\n4\n6\n1 1 3\n1 2 3\n2 3 4\n2 4 2\n3 1 5\n3 4 2\n"
	var file *corpus.FileError
	bad := corpus.UCI{Docword: corpus.FileFromBytes("docs.txt", []byte(strings.Replace(good, "2 4 2", "2 5 2", 1)))}
	if _, err := cooc.NewStream(ctx, bad, cooc.Options{}); !errors.As(err, &file) || file.File != "docs.txt" || file.Line != 7 {
		t.Errorf("bad line: %v", err)
	}
	boom := errors.New("boom")
	failing := false
	src := made{docs: 100, words: 10, length: 8, broken: func(m int, _ *corpus.Document) error {
		if m == 50 && failing {
			return &corpus.FileError{File: "later.txt", Line: 51, Err: boom}
		}
		return nil
	}}
	s := newStream(t, src, cooc.Options{})
	failing = true
	x, y := mat.NewDense(10, 2, nil), mat.NewDense(10, 2, nil)
	for _, workers := range []int{1, 2} {
		if err := s.MulTo(ctx, y, x, workers); !errors.Is(err, boom) || !errors.As(err, &file) || file.Line != 51 {
			t.Errorf("later pass: %v", err)
		}
	}
	if err := s.MulTo(ctx, mat.NewDense(9, 2, nil), x, 1); err == nil {
		t.Error("no error for a product of wrong size")
	}

	more := 0
	s = newStream(t, made{docs: 100, words: 10, length: 8, broken: func(m int, d *corpus.Document) error {
		if m == 7 && more > 0 {
			d.Words = append(d.Words, 1)
		}
		return nil
	}}, cooc.Options{})
	more = 1
	if err := s.MulTo(ctx, y, x, 2); !errors.Is(err, corpus.ErrSourceChanged) {
		t.Errorf("changed source: %v", err)
	}

	change := func(f func(d *corpus.Document)) corpus.Source {
		return made{docs: 100, words: 10, length: 8, broken: func(m int, d *corpus.Document) error {
			if m == 6 {
				f(d)
			} else {
				*d = corpus.Document{Words: d.Words}
			}
			return nil
		}}
	}
	for _, c := range []struct {
		name, want string
		src        corpus.Source
		o          cooc.Options
	}{
		{"word", "document 7: word 10 is not in [0, 9]", change(func(d *corpus.Document) { d.Words[2] = 10 }), cooc.Options{}},
		{"negative", "document x", change(func(d *corpus.Document) { d.Words[2], d.ID = -1, "x" }), cooc.Options{}},
		{"count", "in document 7", change(func(d *corpus.Document) { d.Counts = []int32{1, 1, 1, -3, 1, 1, 1, 1} }), cooc.Options{}},
		{"counts", "document 7: 2 counts for 8 words", change(func(d *corpus.Document) { d.Counts = []int32{1, 1} }), cooc.Options{}},
		{"sum", "in document 7", change(func(d *corpus.Document) {
			d.Words = []int32{1, 1, 2, 3, 4, 5, 6, 7}
			d.Counts = []int32{math.MaxInt32, math.MaxInt32, 1, 1, 1, 1, 1, 1}
		}), cooc.Options{}},
		{"tokens", "document 7", change(func(d *corpus.Document) { d.Words, d.Tokens = nil, []string{"w1"} }), cooc.Options{}},
		{"twice", `"a"`, made{docs: 9, words: 10, length: 8}, cooc.Options{Vocabulary: []string{"a", "b", "a"}}},
		{"empty", "empty vocabulary", made{docs: 9, words: 10, length: 8}, cooc.Options{Vocabulary: []string{}}},
		{"no words", "too short|long enough", made{docs: 9, words: 10, length: 8}, cooc.Options{Vocabulary: []string{"a"}}},
		{"MinTokens", "MinTokens is -1", made{docs: 9, words: 10, length: 8}, cooc.Options{MinTokens: -1}},
		{"MinDistinct", "MinDistinct is -1", made{docs: 9, words: 10, length: 8}, cooc.Options{MinDistinct: -1}},
		{"no vocabulary", "Vocabulary", corpus.JSONL{In: corpus.FileFromBytes("x", nil), Text: "t"}, cooc.Options{}},
	} {
		_, err := cooc.NewStream(ctx, c.src, c.o)
		if err == nil || !slices.ContainsFunc(strings.Split(c.want, "|"), func(s string) bool { return strings.Contains(err.Error(), s) }) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := cooc.NewStream(ctx, made{docs: 9, words: 10, length: 3}, cooc.Options{}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("short documents: %v", err)
	}
}

// Leaving in the middle of a pass leaves no goroutine behind: goleak looks
// when all tests are done.
func TestStreamIsLeft(t *testing.T) {
	end := -1
	var cancel context.CancelFunc
	s := newStream(t, made{docs: 30_000, words: 40, length: 6, broken: func(m int, _ *corpus.Document) error {
		if m == end {
			cancel()
		}
		return nil
	}}, cooc.Options{})
	x, y := mat.NewDense(40, 3, nil), mat.NewDense(40, 3, nil)
	for _, workers := range []int{1, 3} {
		for _, end = range []int{0, 5, 9000, 29_000} {
			var c context.Context
			c, cancel = context.WithCancel(ctx)
			err := s.MulTo(c, y, x, workers)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers, %d looks: %v", workers, end, err)
			}
		}
	}
	end = -1
	src := &made{docs: 20_000, words: 40, length: 6}
	s = newStream(t, src, cooc.Options{})
	src.panics = 15_000
	for _, workers := range []int{1, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic of the source was lost")
				}
			}()
			_ = s.MulTo(ctx, y, x, workers)
		}()
	}
}

func TestStreamGolden(t *testing.T) {
	c := golden.Corpus(t, "synth")
	m := newMoments(t, c, cooc.Options{})
	s := newStream(t, c.Source(), cooc.Options{})
	rng := rand.New(rand.NewPCG(45, 1))
	n := c.NumWords()
	x, a, b := normal(rng, n, 30), mat.NewDense(n, 30, nil), mat.NewDense(n, 30, nil)
	if err := errors.Join(m.MulTo(ctx, a, x, 0), s.MulTo(ctx, b, x, 0)); err != nil {
		t.Fatal(err)
	}
	largest := mat.Max(a)
	a.Sub(a, b)
	near(t, "product", mat.Norm(a, math.Inf(1)), 0, 1e-13*30*largest)
}

// A Stream would count each document once, so it refuses those with weights.
func TestStreamWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	c := countsCorpus(t, 20, randomDocs(rng, 30, 20, 0))
	w := make([]float64, c.NumDocs())
	for m := range w {
		w[m] = 1 / float64(m+1)
	}
	weighted, err := c.WithWeights(w)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]corpus.Source{"Source": weighted.Source(), "Info": weighted.Info().Source} {
		if _, err := cooc.NewStream(ctx, src, cooc.Options{}); err == nil || !strings.Contains(err.Error(), "weights") {
			t.Errorf("%s: %v", name, err)
		}
	}
	without, err := weighted.WithWeights(nil)
	if err != nil {
		t.Fatal(err)
	}
	newStream(t, without.Source(), cooc.Options{})
}

// Moments and a Stream with the same options are the same matrix of the same words
// and documents.
func TestStreamOptions(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	c := countsCorpus(t, 40, randomDocs(rng, 200, 40, 3))
	var vocab []string
	for w := 38; w > 2; w -= 2 { // another order; the last ones occur nowhere
		vocab = append(vocab, c.Word(w))
	}
	for _, o := range []cooc.Options{
		{Vocabulary: vocab},
		{MinDistinct: 6},
		{Vocabulary: vocab, MinDistinct: 4, MinTokens: 9},
		{Vocabulary: vocab, MinDistinct: 4, DropUnused: true},
	} {
		m, s := newMoments(t, c, o), newStream(t, c.Source(), o)
		sameMatrix(t, entries(t, s), entries(t, m), 1e-13)
		a, b := m.Info(), s.Info()
		if !slices.Equal(a.Vocabulary, b.Vocabulary) || !slices.Equal(a.DocFrequencies, b.DocFrequencies) ||
			a.Documents != b.Documents || a.Tokens != b.Tokens || a.Nonzeros != b.Nonzeros {
			t.Errorf("%+v: moments of %d documents, %d words; stream of %d, %d", o, a.Documents, len(a.Vocabulary), b.Documents, len(b.Vocabulary))
		}
		if len(a.DroppedDocuments) != 1 || len(b.DroppedDocuments) != 1 || a.DroppedDocuments[0].Reason != b.DroppedDocuments[0].Reason ||
			a.DroppedDocuments[0].Count != b.DroppedDocuments[0].Count {
			t.Errorf("%+v: %+v and %+v were left out", o, a.DroppedDocuments, b.DroppedDocuments)
		}
	}
	if _, err := cooc.NewMoments(ctx, c, cooc.Options{Vocabulary: []string{c.Word(1), c.Word(1)}}); err == nil || !strings.Contains(err.Error(), c.Word(1)) {
		t.Errorf("a word twice: %v", err)
	}
}

// plurals is a Stemmer that takes a last s off.
type plurals struct{}

func (plurals) Name() string            { return "plurals" }
func (plurals) Stem(word string) string { return strings.TrimSuffix(word, "s") }

// Words of one stem are one word of a stream from text, as of the corpus read from it.
func TestStreamStems(t *testing.T) {
	ctx := context.Background()
	tok, err := text.Setting{Stemmer: "plurals"}.Tokenizer(plurals{})
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.JSONL{Tokenizer: tok, In: corpus.FileFromBytes("nets", []byte(`{"text": "nets nets tea nets"}
{"text": "net teas cup"}
{"text": "cups tea"}`))}
	c, err := corpus.Read(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cooc.NewMoments(ctx, c, cooc.Options{MinTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := cooc.NewStream(ctx, src, cooc.Options{MinTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Info().Vocabulary; !slices.Equal(v, []string{"cup", "nets", "tea"}) {
		t.Errorf("words %q", v)
	}
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	got, wanted := mat.NewDense(3, 1, nil), mat.NewDense(3, 1, nil)
	if err := errors.Join(s.MulTo(ctx, got, x, 1), want.MulTo(ctx, wanted, x, 1)); err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got, wanted, 1e-14) { // sums of a few small fractions in another order
		t.Fatalf("the product is %v, want %v", got.RawMatrix().Data, wanted.RawMatrix().Data)
	}
}
