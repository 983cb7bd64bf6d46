package cooc_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/vec"
)

// tf-idf against DDᵀ/Σ written out.
func TestTFIDFDefinition(t *testing.T) {
	const words, least = 40, 4
	docs := randomDocs(rand.New(rand.NewPCG(21, 22)), 60, words, 3)
	for m := range docs { // word 0 is in every document
		docs[m][0] += 1 + m%3
	}
	c := countsCorpus(t, words, docs)
	m, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, MinTokens: least})
	if err != nil {
		t.Fatal(err)
	}
	used, df := 0, make([]float64, words)
	for _, d := range docs {
		if length(d) >= least {
			used++
			for i := range d {
				df[i]++
			}
		}
	}
	if m.Info().Documents != used || used == len(docs) {
		t.Errorf("%d documents used, want %d", m.Info().Documents, used)
	}
	want, sum := mat.NewDense(words, words, nil), 0.0
	for _, d := range docs {
		if length(d) < least {
			continue
		}
		v, norm := make([]float64, words), 0.0
		for i, n := range d {
			v[i] = float64(n) * math.Log(float64(used)/df[i])
			norm += v[i] * v[i]
		}
		for i := range v {
			if norm > 0 {
				v[i] /= math.Sqrt(norm)
			}
		}
		for i := range v {
			for j := range v {
				want.Set(i, j, want.At(i, j)+v[i]*v[j])
				sum += v[i] * v[j]
			}
		}
	}
	want.Scale(1/sum, want)

	marg, norms := m.Marginals(), must(m.RowNorms2(ctx, 2))
	for i, n := range m.Info().DocFrequencies {
		if float64(n) != df[i] {
			t.Errorf("word %d in %d documents, want %g", i, n, df[i])
		}
	}
	row, total := make([]float64, words), 0.0
	x := mat.NewDense(words, 3, nil)
	for i := range words {
		x.SetRow(i, []float64{1, float64(i%7) - 3, math.Sin(float64(i))})
	}
	var wantX mat.Dense
	wantX.Mul(want, x)
	gotX := mat.NewDense(words, 3, nil)
	if err := m.MulTo(ctx, gotX, x, 2); err != nil {
		t.Fatal(err)
	}
	// Sums of some dozens of numbers below 1.
	const tol = 1e-14
	for i := range words {
		m.RowTo(row, i)
		c, q := 0.0, 0.0
		for j, v := range row {
			if math.Abs(v-want.At(i, j)) > tol {
				t.Errorf("entry (%d, %d) is %g, want %g", i, j, v, want.At(i, j))
			}
			c += want.At(i, j)
			q += want.At(i, j) * want.At(i, j)
		}
		total += marg[i]
		if math.Abs(marg[i]-c) > tol || math.Abs(norms[i]-q) > tol {
			t.Errorf("row %d sums to %g and has the squared norm %g, want %g and %g", i, marg[i], norms[i], c, q)
		}
		for j := range 3 {
			if math.Abs(gotX.At(i, j)-wantX.At(i, j)) > 10*tol {
				t.Errorf("product (%d, %d) is %g, want %g", i, j, gotX.At(i, j), wantX.At(i, j))
			}
		}
	}
	if math.Abs(total-1) > 1e-13 {
		t.Errorf("the entries sum to %g", total)
	}
	if marg[0] != 0 {
		t.Errorf("the word of all documents has the marginal %g", marg[0])
	}

	// The submatrix of some words is that of the array.
	idx := []int{1, 2, 5, 6, 30}
	sub, err := cooc.Submatrix(m, idx)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]float64, len(idx))
	for a, i := range idx {
		sub.RowTo(part, a)
		s := 0.0
		for b, j := range idx {
			s += want.At(i, j)
			if math.Abs(part[b]-want.At(i, j)) > tol {
				t.Errorf("entry (%d, %d) of the submatrix is %g, want %g", a, b, part[b], want.At(i, j))
			}
		}
		if math.Abs(sub.Marginals()[a]-s) > tol {
			t.Errorf("row %d of the submatrix sums to %g, want %g", a, sub.Marginals()[a], s)
		}
	}
}

// Every form of OffDiagonal against one loop over the documents and the pairs of
// different words. Document 0 has one word only, and word 39 is in no other, so
// that its row is exactly empty.
func TestOffDiagonal(t *testing.T) {
	const words = 40
	docs := randomDocs(rand.New(rand.NewPCG(23, 1)), 300, words, 1)
	docs[0] = map[int]int{words - 1: 7}
	c := countsCorpus(t, words, docs)
	a, sum := naive(words, docs, 5), 0.0
	for i := range words {
		a.Set(i, i, 0)
		sum += mat.Sum(a.RowView(i))
	}
	a.Scale(1/sum, a)
	want := must(cooc.NewDense(a))
	opts := cooc.Options{Weighting: cooc.OffDiagonal}
	m, s := newMoments(t, c, opts), newEncoded(t, c, opts)
	sameMatrix(t, m, want, 1e-13)
	sameMatrix(t, entries(t, m), want, 1e-13)
	sameMatrix(t, entries(t, s), want, 1e-13)
	if m.Marginals()[words-1] != 0 || s.Marginals()[words-1] != 0 {
		t.Errorf("a word without others has the marginals %g and %g", m.Marginals()[words-1], s.Marginals()[words-1])
	}
	row := make([]float64, words)
	for i := range words {
		if m.RowTo(row, i); row[i] != 0 {
			t.Errorf("entry (%d, %d) is %g", i, i, row[i])
		}
	}
	if f, g := m.Info().Form, s.Info().Form; f != "moments (off-diagonal)" || g != "encoded (off-diagonal)" {
		t.Errorf("the forms are %q and %q", f, g)
	}

	idx := []int{0, 3, 4, 17, 39}
	sameMatrix(t, must(cooc.Submatrix(m, idx)), must(cooc.Submatrix(want, idx)), 1e-13)
	e := randomSparse(t, rand.New(rand.NewPCG(24, 1)), words)
	near(t, "inner product", must(e.Inner(ctx, m, 2)), must(e.Inner(ctx, want, 2)), 1e-14)

	// A document of weight 2 is two documents.
	w := make([]float64, len(docs))
	twice := docs
	for d := range w {
		w[d] = 1 + float64(d%2)
		if d%2 == 1 {
			twice = append(twice, docs[d])
		}
	}
	sameMatrix(t, newMoments(t, must(c.WithWeights(w)), opts), newMoments(t, countsCorpus(t, words, twice), opts), 1e-13)

	alone := countsCorpus(t, 2, []map[int]int{{0: 7}, {1: 9}})
	_, errM := cooc.NewMoments(ctx, alone, opts)
	_, errE := cooc.FromEncoded(ctx, encode(t, alone), opts)
	for _, err := range []error{errM, errE} {
		if !errors.Is(err, cooc.ErrNoDocuments) || !strings.Contains(err.Error(), "none of the 2 documents has two different words") {
			t.Errorf("no pair of different words: %v", err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func length(d map[int]int) (n int) {
	for _, v := range d {
		n += v
	}
	return n
}

func TestWeightedUnbiased(t *testing.T) {
	c := countsCorpus(t, 12, randomDocs(rand.New(rand.NewPCG(3, 3)), 20, 12, 0))
	a := newMoments(t, c, cooc.Options{})
	b := must(cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.Unbiased}))
	x, y := make([]float64, 12), make([]float64, 12)
	for i := range x {
		a.RowTo(x, i)
		b.RowTo(y, i)
		for j := range x {
			if x[j] != y[j] {
				t.Fatalf("entry (%d, %d) is %g, NewMoments gives %g", i, j, y[j], x[j])
			}
		}
	}
}

func TestWeightedBad(t *testing.T) {
	c := countsCorpus(t, 3, []map[int]int{{0: 2, 1: 1, 2: 3}, {0: 3, 1: 1, 2: 2}})
	for _, w := range []cooc.Weighting{-1, cooc.TFIDF + 1} {
		if _, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: w}); err == nil {
			t.Errorf("%v: no error", w)
		}
	}
	if _, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("all words in all documents: %v, want ErrNoDocuments", err)
	}
	if _, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, MinTokens: 7}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("no document long enough: %v, want ErrNoDocuments", err)
	}
	if _, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, MinTokens: -1}); err == nil {
		t.Error("MinTokens -1: no error")
	}
}

// With weights C is the weighted mean of the documents' own moments, here by the
// definition.
func TestMomentsOfWeights(t *testing.T) {
	c := countsCorpus(t, 30, randomDocs(rand.New(rand.NewPCG(7, 8)), 80, 30, 0))
	docs := c.NumDocs()
	weights := make([]float64, docs)
	for d := range weights {
		weights[d] = math.Pow(0.5, float64(docs-1-d)/10)
	}
	m := newMoments(t, must(c.WithWeights(weights)), cooc.Options{})
	want, total := mat.NewDense(c.NumWords(), c.NumWords(), nil), 0.0
	for d, w := range weights {
		n := float64(c.DocLen(d))
		if n < 5 {
			continue
		}
		total += w
		words, counts := c.Doc(d)
		for i, v := range words {
			for j, u := range words {
				x := float64(counts[i]) * float64(counts[j])
				if i == j {
					x -= float64(counts[i])
				}
				want.Set(int(v), int(u), want.At(int(v), int(u))+w*x/(n*(n-1)))
			}
		}
	}
	want.Scale(1/total, want)
	row := make([]float64, m.Dim())
	for i := range row {
		m.RowTo(row, i)
		for j, v := range row {
			near(t, fmt.Sprintf("C[%d,%d]", i, j), v, want.At(i, j), 1e-14) // of terms of about 1
		}
	}
	near(t, "sum", vec.Sum(m.Marginals()), 1, 1e-12)
}

// Weights of 1 change no bit; those of 0 are as documents left out; a common factor,
// however large, does not count.
func TestMomentsOfEqualWeights(t *testing.T) {
	c := countsCorpus(t, 30, randomDocs(rand.New(rand.NewPCG(9, 8)), 80, 30, 0))
	docs := c.NumDocs()
	ones, some, huge := make([]float64, docs), make([]float64, docs), make([]float64, docs)
	var keep []int
	for d := range docs {
		ones[d], some[d], huge[d] = 1, float64(d%2), 1e308
		if d%2 == 1 {
			keep = append(keep, d)
		}
	}
	odd := must(c.Select(keep, nil))
	for _, w := range []cooc.Weighting{cooc.Unbiased, cooc.OffDiagonal, cooc.TFIDF} {
		t.Run(w.String(), func(t *testing.T) {
			of := func(c *corpus.Corpus, weights []float64) *cooc.Moments {
				return newMoments(t, must(c.WithWeights(weights)), cooc.Options{Weighting: w})
			}
			sameMatrix(t, of(c, ones), of(c, nil), 0)
			sameMatrix(t, of(c, some), of(odd, nil), 0)
			sameMatrix(t, of(c, huge), of(c, nil), 1e-15)
		})
	}
	for _, bad := range [][]float64{ones[1:], {math.NaN()}, append([]float64{-1}, ones[1:]...), append([]float64{math.Inf(1)}, ones[1:]...)} {
		if _, err := c.WithWeights(bad); err == nil {
			t.Errorf("weights %v… were taken", bad[0])
		}
	}
	light := must(c.WithWeights(make([]float64, docs)))
	if _, err := cooc.NewMoments(ctx, light, cooc.Options{}); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("weights of 0: %v", err)
	}
}
