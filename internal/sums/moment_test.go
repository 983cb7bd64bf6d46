package sums

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
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
		if visible && holdout.Watches(bag.Key(d.ID, m+1)) {
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
