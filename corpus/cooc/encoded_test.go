package cooc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func newEncoded(t testing.TB, c *corpus.Corpus, o cooc.Options) cooc.Operator {
	t.Helper()
	op, err := cooc.FromEncoded(ctx, encode(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func encode(t testing.TB, c *corpus.Corpus) *corpus.Encoded {
	t.Helper()
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// inFile returns the documents encoded in a file, and its path.
func inFile(t *testing.T, c *corpus.Corpus) (*corpus.Encoded, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docs.jenc")
	e, err := corpus.EncodeFile(ctx, c.Source(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, path
}

// Products, row sums and what is known of the documents are those of Moments with the
// same options: to 1e-12 of the largest, for the sums are taken in another order.
func TestFromEncodedIsMoments(t *testing.T) {
	testutil.NotWithRace(t)
	const words = 150
	rng := rand.New(rand.NewPCG(41, 1))
	docs := 20000
	if testing.Short() {
		docs = 9000
	}
	if testutil.Race {
		docs = 4000 // ten blocks
	}
	plain := countsCorpus(t, words, randomDocs(rng, docs, words, 4))
	weights := make([]float64, docs)
	for m := range weights {
		weights[m] = []float64{1, 0.25, 0, 1e-9, 1e6}[m%5]
	}
	weighted := must(plain.WithWeights(weights))
	huge := slices.Clone(weights)
	for m := range huge {
		huge[m] *= 1e302 // their sum overflows
	}
	file, _ := inFile(t, weighted)
	for _, x := range []struct {
		name string
		docs *corpus.Corpus
		e    *corpus.Encoded
	}{
		{"plain", plain, encode(t, plain)},
		{"weighted", weighted, encode(t, weighted)},
		{"huge weights", must(plain.WithWeights(huge)), must(encode(t, plain).WithWeights(huge))},
		{"weighted in a file", weighted, file},
		{"synth", golden.Corpus(t, "synth"), encode(t, golden.Corpus(t, "synth"))},
	} {
		for name, o := range map[string]cooc.Options{
			"default":                   {},
			"all used":                  {MinTokens: 2},
			"long":                      {MinTokens: 30},
			"off-diagonal":              {Weighting: cooc.OffDiagonal},
			"drop unused":               {MinTokens: 30, DropUnused: true},
			"off-diagonal, drop unused": {Weighting: cooc.OffDiagonal, MinTokens: 9, DropUnused: true},
		} {
			t.Run(x.name+"/"+name, func(t *testing.T) {
				m := newMoments(t, x.docs, o)
				op, err := cooc.FromEncoded(ctx, x.e, o)
				if err != nil {
					t.Fatal(err)
				}
				mi, oi := m.Info(), op.Info()
				if oi.Documents != mi.Documents || oi.Nonzeros != mi.Nonzeros || oi.Tokens != mi.Tokens {
					t.Fatalf("%d documents, %d nonzeros, %d tokens; want %d, %d, %d", oi.Documents, oi.Nonzeros, oi.Tokens, mi.Documents, mi.Nonzeros, mi.Tokens)
				}
				if !slices.Equal(oi.Vocabulary, mi.Vocabulary) || !slices.Equal(oi.DocFrequencies, mi.DocFrequencies) {
					t.Error("other words or document frequencies than those of Moments")
				}
				if got, want := fmt.Sprint(oi.DroppedDocuments, oi.DroppedWords), fmt.Sprint(mi.DroppedDocuments, mi.DroppedWords); got != want {
					t.Errorf("left out: %s, want %s", got, want)
				}
				n := m.Dim()
				x, a, b := normal(rng, n, 67), mat.NewDense(n, 67, nil), mat.NewDense(n, 67, nil)
				if err := errors.Join(m.MulTo(ctx, a, x, 0), op.MulTo(ctx, b, x, 0)); err != nil {
					t.Fatal(err)
				}
				largest := math.Max(mat.Max(a), -mat.Min(a))
				a.Sub(a, b)
				near(t, "largest difference of a product", math.Max(mat.Max(a), -mat.Min(a)), 0, 1e-12*largest)
				for i, v := range m.Marginals() {
					near(t, "row sum", op.Marginals()[i], v, 1e-12*slices.Max(m.Marginals()))
				}
			})
		}
	}
}

// The documents behind the operator are those that are used, with its words.
func TestFromEncodedSource(t *testing.T) {
	b := corpus.Builder{Columns: []corpus.Column{{Name: "n", Kind: corpus.Number}}}
	for i := range 8 {
		d := corpus.Document{ID: fmt.Sprint("d", i), Tokens: strings.Fields("tea cup tea net cup"), Values: []corpus.Value{corpus.NumberOf(float64(i))}}
		if i == 3 {
			d.Tokens = nil // too short
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c := must(b.Corpus())
	weights := []float64{1, 2, 3, 4, 5, 0, 7, 8}
	for _, x := range []struct {
		name string
		docs *corpus.Corpus
		ids  []string
		w    []float64
	}{
		{"plain", c, []string{"d0", "d1", "d2", "d4", "d5", "d6", "d7"}, nil},
		{"weighted", must(c.WithWeights(weights)), []string{"d0", "d1", "d2", "d4", "d6", "d7"}, []float64{1, 2, 3, 5, 7, 8}},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := cooc.Options{DropUnused: true}
			src := newEncoded(t, x.docs, o).Info().Source
			got := must(corpus.Read(ctx, src))
			var ids []string
			for m := range got.NumDocs() {
				ids = append(ids, got.ID(m))
				if v, ok := got.Metadata().Value(m, 0).Number(); !ok || fmt.Sprint("d", v) != got.ID(m) {
					t.Errorf("document %s has the value %v", got.ID(m), v)
				}
			}
			if !slices.Equal(ids, x.ids) {
				t.Errorf("documents %q, want %q", ids, x.ids)
			}
			if w := got.Weights(); !slices.Equal(w, x.w) {
				t.Errorf("weights %v, want %v", w, x.w)
			}
			want := newMoments(t, x.docs, o).Info().Corpus
			if !slices.Equal(got.Vocabulary(), want.Vocabulary()) || got.Tokens() != want.Tokens() {
				t.Errorf("%d tokens of %q, want %d of %q", got.Tokens(), got.Vocabulary(), want.Tokens(), want.Vocabulary())
			}
		})
	}
	e := encode(t, c)
	if src := must(cooc.FromEncoded(ctx, e, cooc.Options{MinTokens: 3})).Info().Source; src == corpus.Source(e) {
		t.Error("documents that are too short are in the source")
	}
	all := encode(t, golden.Corpus(t, "synth"))
	if src := must(cooc.FromEncoded(ctx, all, cooc.Options{MinTokens: 2})).Info().Source; src != corpus.Source(all) {
		t.Errorf("where everything is used the source is a %T, want the encoded documents", src)
	}
}

func TestFromEncodedSameBitsForAnyWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	c := countsCorpus(t, 60, randomDocs(rng, 9000, 60, 0))
	op := newEncoded(t, c, cooc.Options{})
	for _, p := range []int{1, 9, 100} {
		x := normal(rng, 60, p)
		var want []float64
		for _, workers := range []int{1, 2, 5} {
			y := mat.NewDense(60, p, nil)
			if err := op.MulTo(ctx, y, x, workers); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = y.RawMatrix().Data
			}
			sameBits(t, fmt.Sprintf("the product of %d vectors with %d workers", p, workers), y.RawMatrix().Data, want)
		}
	}
}

// What a product allocates, and so what it holds, does not grow with the number of
// documents beyond a chunk. Nor does what counting allocates.
func TestFromEncodedMemoryDoesNotGrowWithDocuments(t *testing.T) {
	testutil.NotWithRace(t)
	allocated := func(docs int) (count, product int64) {
		e, _ := inFile(t, countsCorpus(t, 500, randomDocs(rand.New(rand.NewPCG(44, 1)), docs, 500, 0)))
		var op cooc.Operator
		count = testutil.Allocated(t, func() { op = must(cooc.FromEncoded(ctx, e, cooc.Options{MinTokens: 2})) })
		x, y := mat.NewDense(500, 70, nil), mat.NewDense(500, 70, nil)
		product = testutil.Allocated(t, func() {
			if err := op.MulTo(ctx, y, x, 2); err != nil {
				t.Fatal(err)
			}
		})
		return count, product
	}
	fewCount, fewProduct := allocated(9000)
	manyCount, manyProduct := allocated(26000)
	t.Logf("9,000 documents: %d and %d bytes; 26,000: %d and %d", fewCount, fewProduct, manyCount, manyProduct)
	// What the loops over chunks take for themselves. The other 17,000 documents are
	// 3 MB as counts and 10 MB times X.
	const slack = 1 << 19
	if manyCount > fewCount+slack {
		t.Errorf("counting allocates %d bytes for 9,000 documents and %d for 26,000", fewCount, manyCount)
	}
	if manyProduct > fewProduct+slack {
		t.Errorf("a product allocates %d bytes for 9,000 documents and %d for 26,000", fewProduct, manyProduct)
	}
}

// A file that is changed while it is open is noticed by the next product.
func TestFromEncodedChanged(t *testing.T) {
	c := countsCorpus(t, 60, randomDocs(rand.New(rand.NewPCG(45, 1)), 5000, 60, 0))
	e, path := inFile(t, c)
	op := must(cooc.FromEncoded(ctx, e, cooc.Options{}))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, 5000); err != nil {
		t.Fatal(err)
	}
	if b[0] ^= 1; true {
		if _, err := f.WriteAt(b, 5000); err != nil {
			t.Fatal(err)
		}
	}
	x, y := mat.NewDense(60, 40, nil), mat.NewDense(60, 40, nil)
	for _, workers := range []int{1, 2} {
		var fe *corpus.FileError
		if err := op.MulTo(ctx, y, x, workers); !errors.Is(err, corpus.ErrDamaged) || !errors.As(err, &fe) || fe.File != path {
			t.Errorf("%d workers: %v, want a damaged block of %s", workers, err, path)
		}
	}
}

func TestFromEncodedCancelled(t *testing.T) {
	c := countsCorpus(t, 60, randomDocs(rand.New(rand.NewPCG(46, 1)), 9000, 60, 0))
	e := encode(t, c)
	if e.Blocks() < 3 {
		t.Fatalf("%d blocks: the test shows nothing", e.Blocks())
	}
	op := must(cooc.FromEncoded(ctx, e, cooc.Options{}))
	x, y := mat.NewDense(60, 40, nil), mat.NewDense(60, 40, nil)
	for limit := range 3 {
		if _, err := cooc.FromEncoded(newCountdown(limit), e, cooc.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("counting, cancelled at look %d: %v", limit, err)
		}
		for _, workers := range []int{1, 3} {
			if err := op.MulTo(newCountdown(limit), y, x, workers); !errors.Is(err, context.Canceled) {
				t.Errorf("a product with %d workers, cancelled at look %d: %v", workers, limit, err)
			}
		}
	}
}

func TestFromEncodedErrors(t *testing.T) {
	c := countsCorpus(t, 10, randomDocs(rand.New(rand.NewPCG(47, 1)), 9, 10, 0))
	none := must(encode(t, c).WithWeights(make([]float64, c.NumDocs())))
	for name, x := range map[string]struct {
		e    *corpus.Encoded
		o    cooc.Options
		is   error
		want string
	}{
		"weighting":           {e: encode(t, c), o: cooc.Options{Weighting: cooc.TFIDF}, want: "only documents in memory have others"},
		"no such weighting":   {e: encode(t, c), o: cooc.Options{Weighting: -1}, want: "no such weighting"},
		"MinTokens":           {e: encode(t, c), o: cooc.Options{MinTokens: -1}, want: "MinTokens is -1"},
		"short documents":     {e: encode(t, c), o: cooc.Options{MinTokens: 1 << 20}, is: cooc.ErrNoDocuments, want: "9 documents, at least 1048576 tokens"},
		"no weights":          {e: none, o: cooc.Options{MinTokens: 2}, is: cooc.ErrNoDocuments, want: "all 9 documents have the weight 0"},
		"no pairs of 2 words": {e: encode(t, countsCorpus(t, 1, []map[int]int{{0: 9}})), o: cooc.Options{Weighting: cooc.OffDiagonal}, is: cooc.ErrNoDocuments},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cooc.FromEncoded(ctx, x.e, x.o)
			if err == nil || x.is != nil && !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v, want %v %q", err, x.is, x.want)
			}
		})
	}
	op := newEncoded(t, c, cooc.Options{})
	if err := op.MulTo(ctx, mat.NewDense(9, 2, nil), mat.NewDense(10, 2, nil), 1); err == nil {
		t.Error("no error for a product of wrong size")
	}
}
