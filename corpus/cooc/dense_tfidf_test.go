package cooc_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// The array is the second moment of the chosen words written out, documents weigh what
// they should, and the bits do not depend on the workers. The documents are more than one
// chunk.
func TestDenseTFIDF(t *testing.T) {
	const words = 300
	rng := rand.New(rand.NewPCG(31, 32))
	docs := randomDocs(rng, 200, words, 3)
	for range 1200 { // of many words
		d := map[int]int{}
		for w := range words - 3 {
			if rng.IntN(4) > 0 {
				d[w] = 1 + rng.IntN(5)
			}
		}
		docs = append(docs, d)
	}
	c := countsCorpus(t, words, docs)
	if c.NNZ() < 1<<18 {
		t.Fatalf("%d nonzeros are one chunk", c.NNZ())
	}
	weights := make([]float64, len(docs))
	for m := range weights {
		weights[m] = float64(m % 4)
	}
	weighted, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	idf := c.IDF()
	var some []int
	for w := 0; w < words; w += 2 {
		some = append(some, w)
	}
	for name, c := range map[string]*corpus.Corpus{"plain": c, "weighted": weighted} {
		want, total, used := mat.NewDense(len(some), len(some), nil), 0.0, 0
		for m, d := range docs {
			v, distinct := make([]float64, len(some)), 0
			for i, w := range some {
				v[i] = float64(d[w]) * idf[w]
				if d[w] > 0 {
					distinct++
				}
			}
			weight := 1.0
			if c.Weights() != nil {
				weight = weights[m]
			}
			if distinct < 2 || weight == 0 {
				continue
			}
			used++
			scale := weight / (mat.Norm(mat.NewVecDense(len(v), v), 2) * mat.Norm(mat.NewVecDense(len(v), v), 2))
			for i := range v {
				for j := range v {
					want.Set(i, j, want.At(i, j)+scale*v[i]*v[j])
					total += scale * v[i] * v[j]
				}
			}
		}
		want.Scale(1/total, want)
		got, err := cooc.NewDenseTFIDF(ctx, c.Source(), idf, some, 1)
		if err != nil {
			t.Fatal(err)
		}
		if in := got.Info(); in.Documents != used || in.Form != "dense (tf-idf)" {
			t.Errorf("%s: %+v, want %d documents", name, in, used)
		}
		// Sums of some 1400 terms of one sign err by 1e-13 of the sum at most.
		if !mat.EqualApprox(got.Matrix(), want, 1e-15) || !(mat.Max(want) > 1e-4) {
			t.Errorf("%s: another matrix", name)
		}
		more, err := cooc.NewDenseTFIDF(ctx, c.Source(), idf, some, 3)
		if err != nil || !mat.Equal(got.Matrix(), more.Matrix()) {
			t.Errorf("%s: other bits with three workers, %v", name, err)
		}
		if err := cooc.Check(ctx, got, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// With all words it is the tf-idf of Moments.
	all := make([]int, words)
	for w := range all {
		all[w] = w
	}
	var long []map[int]int // as Moments count documents before they compute idf
	for _, d := range docs {
		if len(d) > 1 {
			long = append(long, d)
		}
	}
	c = countsCorpus(t, words, long)
	m := newMoments(t, c, cooc.Options{Weighting: cooc.TFIDF, MinTokens: 2})
	d, err := cooc.NewDenseTFIDF(ctx, c.Source(), c.IDF(), all, 2)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, words)
	for i := range words {
		m.RowTo(row, i)
		for j, v := range row {
			if math.Abs(d.At(i, j)-v) > 1e-15 {
				t.Fatalf("entry %d, %d is %g, of Moments %g", i, j, d.At(i, j), v)
			}
		}
	}
}

func TestDenseTFIDFErrors(t *testing.T) {
	c := countsCorpus(t, 3, []map[int]int{{0: 1, 1: 2}, {1: 1, 2: 1}, {0: 4}})
	idf := []float64{1, 1, 1}
	for _, x := range []struct {
		idf   []float64
		words []int
		want  string
	}{
		{idf, []int{1, 0}, "word 0 at place 1"},
		{idf, []int{0, 3}, "word 3 at place 1; want words ascending in [0, 3)"},
		{idf, nil, "vocabulary"},
		{idf, []int{0, 2}, "none has two of the 2 words"},
		{make([]float64, 3), []int{0, 1}, "none of the 2 words has a weight"},
		{idf[:2], []int{0, 1}, "document 2: word 2 is not in [0, 1]"},
	} {
		_, err := cooc.NewDenseTFIDF(ctx, c.Source(), x.idf, x.words, 1)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v of %v: %v, want %s", x.words, x.idf, err, x.want)
		}
		if none := slices.Contains([]string{"none has two of the 2 words", "none of the 2 words has a weight"}, x.want); none != errors.Is(err, cooc.ErrNoDocuments) {
			t.Errorf("%v", err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := cooc.NewDenseTFIDF(done, c.Source(), idf, []int{0, 1}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
