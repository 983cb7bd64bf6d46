package rivals

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// Topics are found, the same each time, and no entry of W or of H can be changed to a better one.
func TestNMF(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0, 1)
	p.B.Apply(func(_, _ int, v float64) float64 { return v * v }, p.B) // topics that share less
	normaliseColumns(p.B)
	c, w := draw(t, p, corpus.SymmetricDirichlet(4, 0.3), 800, 60)
	o := NMF{K: 4, Iterations: 2000, Tolerance: 1e-9, Seed: 1}
	m, err := o.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	// Weights are tf-idf, which moves topics.
	if b, a := distance(t, m, p.B, topicPairs(w)); b > 0.4 || a > 0.1 {
		t.Errorf("topics are %.3f off, their pairs %.3f", b, a)
	}
	for d := range c.NumDocs() {
		if s := floats.Sum(m.W.RawRowView(d)); math.Abs(s-1) > 1e-12 || floats.Min(m.W.RawRowView(d)) < 0 {
			t.Fatalf("document %d has proportions with the sum %g", d, s)
		}
	}
	again, err := o.Fit(t.Context(), c)
	if err != nil || !mat.Equal(m.B, again.B) || !mat.Equal(m.W, again.W) {
		t.Errorf("two fits differ (%v)", err)
	}

	x := TFIDF(c)
	v, h, err := o.start(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	dense := x.Dense()
	loss := func() float64 {
		var rest mat.Dense
		rest.Mul(v, h.T())
		rest.Sub(&rest, dense)
		return math.Pow(mat.Norm(&rest, 2), 2)
	}
	last := loss()
	for range 200 {
		descend(v, h, x.times(h))
		descend(h, v, x.transposed(v))
		now := loss()
		if now > last+1e-9 {
			t.Fatalf("the loss rises from %.12g to %.12g", last, now)
		}
		last = now
	}
	for _, f := range []*mat.Dense{v, h} {
		for i := 0; i < 60; i += 7 {
			for k := range 4 {
				at := f.At(i, k)
				for _, step := range []float64{-1e-3, 1e-3} {
					f.Set(i, k, max(at+step, 0))
					if now := loss(); now < last-1e-6 {
						t.Errorf("entry %d, %d is better by %g with %+g", i, k, last-now, step)
					}
				}
				f.Set(i, k, at)
			}
		}
	}
	// The first vectors are the first singular ones.
	var svd mat.SVD
	if !svd.Factorize(dense, mat.SVDThin) {
		t.Fatal("no singular vectors")
	}
	v, h, err = o.start(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mat.Norm(v.ColView(0), 2)*mat.Norm(h.ColView(0), 2), svd.Values(nil)[0]; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("the first singular value is %g, want %g", got, want)
	}
}
