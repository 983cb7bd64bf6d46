package refine_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// drawn makes a corpus of documents of a planted model. Lengths vary, and one
// in fifty is empty.
func drawn(t testing.TB, p *testutil.Planted, docs, length int, seed uint64) *corpus.Corpus {
	t.Helper()
	lengths := make([]int, docs)
	for m := range lengths {
		if m%50 != 7 {
			lengths[m] = length/2 + m%length
		}
	}
	b := corpus.Builder{Vocabulary: make([]string, p.N)}
	for i := range b.Vocabulary {
		b.Vocabulary[i] = fmt.Sprintf("w%04d", i)
	}
	for m, counts := range p.Documents(lengths, seed) {
		d := corpus.Document{ID: fmt.Sprint("document ", m)}
		for w := range p.N {
			if x := counts[w]; x > 0 {
				d.Words, d.Counts = append(d.Words, int32(w)), append(d.Counts, int32(x))
			}
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var ctx = context.Background()

func near(t testing.TB, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g (differ by %.2g, tolerance %.2g)", name, got, want, math.Abs(got-want), tol)
	}
}

func fit(t testing.TB, p refine.Refiner, docs corpus.Source, start refine.Start, workers int) *refine.Result {
	t.Helper()
	return fitTo(t, p, docs, start, refine.Options{Workers: workers})
}

func fitTo(t testing.TB, p refine.Refiner, docs corpus.Source, start refine.Start, opt refine.Options) *refine.Result {
	t.Helper()
	r, err := p.Refine(ctx, docs, start, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sameRefined(t *testing.T, name string, a, b *refine.Result) {
	t.Helper()
	for part, x := range map[string][2]*mat.Dense{"B": {a.B, b.B}, "A": {a.A, b.A}, "Reading": {a.Reading, b.Reading}} {
		if !slices.Equal(x[0].RawMatrix().Data, x[1].RawMatrix().Data) {
			t.Errorf("%s: %s differs", name, part)
		}
	}
	if !slices.Equal(a.Alpha, b.Alpha) || !slices.Equal(a.From, b.From) {
		t.Errorf("%s: α or From differs", name)
	}
	if fmt.Sprint(a.History) != fmt.Sprint(b.History) || a.Docs != b.Docs || a.HeldOut != b.HeldOut || a.Tokens != b.Tokens || a.Early != b.Early {
		t.Errorf("%s: the history differs", name)
	}
}
