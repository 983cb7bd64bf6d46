package sums

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// slowMoment is the second moment written out.
func slowMoment(l list, idf []float64, words []int, visible bool) (c *mat.Dense, used int) {
	c, total := mat.NewDense(len(words), len(words), nil), 0.0
	for m, d := range l.docs {
		v, distinct := make([]float64, len(words)), 0
		add := func(w int32, x int64) {
			if i, ok := slices.BinarySearch(words, int(w)); ok && x > 0 {
				v[i] = float64(x) * idf[w]
				distinct++
			}
		}
		if visible && holdout.HeldOut(bag.Key(d.ID, m+1)) {
			holdout.Split(d.Counts, func(i int, x, _ int64) { add(d.Words[i], x) })
		} else {
			for i, w := range d.Words {
				add(w, int64(d.Counts[i]))
			}
		}
		weight := 1.0
		if l.w != nil {
			weight = l.w[m]
		}
		if distinct < 2 || weight == 0 {
			continue
		}
		used++
		scale := weight / math.Pow(mat.Norm(mat.NewVecDense(len(v), v), 2), 2)
		for i, x := range v {
			row := c.RawRowView(i)
			for j, y := range v {
				row[j] += scale * x * y
				total += scale * x * y
			}
		}
	}
	c.Scale(1/total, c)
	return c, used
}

// The matrix is the second moment of the chosen words written out, and the bits are the
// same for any number of workers. The documents are more than one chunk.
func TestMoment(t *testing.T) {
	testutil.NotWithRace(t)
	l := random(4500, 400)
	e := l.encode(t)
	if e.Info().Nonzeros/2 < momentNNZ { // half of the words are used
		t.Fatalf("%d nonzeros are one chunk", e.Info().Nonzeros)
	}
	weighted := l
	for m := range l.docs {
		weighted.w = append(weighted.w, float64(m%4)/3)
	}
	idf, words := best(e)
	for name, x := range map[string]struct {
		list
		visible bool
	}{"plain": {l, false}, "visible": {l, true}, "weighted": {weighted, true}} {
		want, used := slowMoment(x.list, idf, words, x.visible)
		p, err := NewMoment(e.Info().DocFrequencies, idf, words, x.visible, x.w)
		if err != nil {
			t.Fatal(err)
		}
		sum := sumOf(t, NewLocal(e, 1), p)
		got, info, err := p.Matrix(sum)
		if err != nil {
			t.Fatal(err)
		}
		if info.Documents != used || info.Form != "dense (tf-idf)" {
			t.Errorf("%s: %+v, want %d documents", name, info, used)
		}
		for i := range words {
			for j := range words {
				if a, b := got.At(i, j), want.At(i, j); !(math.Abs(a-b) <= 1e-9*b) {
					t.Fatalf("%s: entry %d, %d is %g, want %g", name, i, j, a, b)
				}
			}
		}
		for _, workers := range []int{2, 8} {
			if !slices.Equal(sum, sumOf(t, NewLocal(e, workers), p)) {
				t.Errorf("%s: other bits with %d workers", name, workers)
			}
		}
	}
}

// With all words it is the tf-idf of cooc.Moments, to a relative 1e-9.
func TestMomentAgainstMoments(t *testing.T) {
	l := random(2000, 150)
	for m := range l.docs { // Moments leave out documents before they compute idf
		if len(l.docs[m].Words) < 2 {
			l.docs[m].Words, l.docs[m].Counts = []int32{3, 4}, []int32{1, 1}
		}
	}
	e := l.encode(t)
	c, err := corpus.Read(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	againstMoments(t, e, c, 1e-9)
}

// againstMoments compares the moment of all words with that of cooc, entry by entry.
func againstMoments(t *testing.T, e *corpus.Encoded, c *corpus.Corpus, tol float64) {
	t.Helper()
	var words []int
	for w := range c.NumWords() {
		words = append(words, w)
	}
	want, err := cooc.NewMoments(t.Context(), c, cooc.Options{Weighting: cooc.TFIDF, MinTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewMoment(e.Info().DocFrequencies, c.IDF(), words, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := p.Matrix(sumOf(t, NewLocal(e, 2), p))
	if err != nil {
		t.Fatal(err)
	}
	if err := cooc.Check(t.Context(), got, 1); err != nil {
		t.Error(err)
	}
	row := make([]float64, len(words))
	for i := range words {
		want.RowTo(row, i)
		for j, v := range row {
			if x := got.At(i, j); !(math.Abs(x-v) <= tol*v) {
				t.Fatalf("entry %d, %d is %g, of Moments %g", i, j, x, v)
			}
		}
	}
}

// Goroutines share one sum: however many there are, the memory is that of one upper
// triangle and of a chunk each.
func TestMomentMemory(t *testing.T) {
	const n, workers = 1500, 4
	l := random(100, n)
	e := l.encode(t)
	idf := make([]float64, n)
	words := make([]int, n)
	for w := range words {
		idf[w], words[w] = 1, w
	}
	p, err := NewMoment(e.Info().DocFrequencies, idf, words, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	took := testutil.Allocated(t, func() { sumOf(t, NewLocal(e, workers), p) })
	// 8 bytes for each entry; a chunk has 20 bytes a nonzero, and up to four times as many
	// while its slices grow; and tables by word.
	most := int64(8*p.Len()) + 5*20*e.Info().Nonzeros + workers*(40*n+1<<18)
	if took > most || most > 2*8*int64(p.Len()) {
		t.Errorf("%d bytes were allocated for a sum of %d; want at most %d", took, 8*p.Len(), most)
	}
}

func TestMomentErrors(t *testing.T) {
	df, idf := []int{2, 1, 1}, []float64{1, 1, 1}
	for _, x := range []struct {
		df    []int
		idf   []float64
		words []int
		w     []float64
		want  string
	}{
		{df, idf, []int{1, 0}, nil, "word 0 at place 1"},
		{df, idf, []int{0, 3}, nil, "word 3 at place 1; want words ascending in [0, 3)"},
		{df, idf, nil, nil, "vocabulary"},
		{df, idf[:2], []int{0}, nil, "document frequencies of 3 words and idf of 2"},
		{df, []float64{1, math.Inf(1), 1}, []int{1}, nil, "word 1 is in 1 documents and has the idf +Inf"},
		{[]int{-1, 1, 1}, idf, []int{0}, nil, "word 0 is in -1 documents"},
		{df, idf, []int{0}, []float64{2}, "document 1 has the weight 2"},
	} {
		_, err := NewMoment(x.df, x.idf, x.words, false, x.w)
		wantError(t, err, x.want)
	}
	e := list{n: 3, docs: []corpus.Document{{Words: []int32{0, 1}}, {ID: "x", Words: []int32{0, 2}}}}.encode(t)
	for _, x := range []struct {
		idf   []float64
		words []int
		w     []float64
		want  string
	}{
		{idf, []int{1, 2}, nil, "none has two of the 2 words"},
		{[]float64{0, 0, 0}, []int{0, 1}, nil, "none of the 2 words has a weight"},
		{idf, []int{0, 1}, []float64{0, 0}, "none has two of the 2 words"},
		{idf, []int{0, 1}, []float64{1}, "more than the 1 that have weights"},
		{idf[:2], []int{0, 1}, nil, "document x: word 2 is not in [0, 1]"},
	} {
		p, err := NewMoment(df[:len(x.idf)], x.idf, x.words, false, x.w)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := NewLocal(e, 1).Sum(t.Context(), p)
		if err == nil {
			if _, _, err = p.Matrix(sum); !errors.Is(err, cooc.ErrNoDocuments) {
				t.Errorf("%v, want ErrNoDocuments: %s", err, x.want)
			}
		}
		wantError(t, err, x.want)
	}
	p, err := NewMoment(df, idf, []int{0, 1}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.Matrix(make([]int64, 3))
	wantError(t, err, "a sum of 3 numbers; want 4")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, workers := range []int{1, 2} {
		if _, err := NewLocal(e, workers).Sum(done, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers, cancelled: %v", workers, err)
		}
	}
}
