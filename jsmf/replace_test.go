package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// spoilt returns C = BABᵀ of three topics, and B. Word k is an anchor of topic k, and
// word 3 a rare one of topic 0, whose co-occurrence with itself is too large by a
// tenth of its probability. So it is farther out than word 0, and as an anchor
// gives A_00 = C_33/B_30², which is some .3²·p₃/10/p₃².
func spoilt(t *testing.T) (c *cooc.Dense, b *mat.Dense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const n, k = 40, 3
	b = mat.NewDense(n, k, nil)
	for l := range k {
		b.Set(l, l, 0.1)
		if l == 0 {
			b.Set(3, l, 1e-4)
		}
		rest := 1 - b.At(l, l) - b.At(3, l)
		sum := 0.0
		for w := 4; w < n; w++ {
			b.Set(w, l, rng.ExpFloat64())
			sum += b.At(w, l)
		}
		for w := 4; w < n; w++ {
			b.Set(w, l, b.At(w, l)*rest/sum)
		}
	}
	a := mat.NewDense(k, k, []float64{0.2, 0.06, 0.04, 0.06, 0.25, 0.04, 0.04, 0.04, 0.27})
	var x mat.Dense
	x.Product(b, a, b.T())
	p3 := mat.Sum(x.RowView(3))
	x.Set(3, 3, x.At(3, 3)+0.1*p3)
	x.Scale(1/mat.Sum(&x), &x)
	c, err := cooc.NewDense(&x)
	if err != nil {
		t.Fatal(err)
	}
	return c, b
}

// A word with which the model does not fit is given up, and the planted model comes
// back; where anchors are not to be replaced, or cannot be, a warning says that it
// does not fit.
func TestReplaceAnchors(t *testing.T) {
	ctx := context.Background()
	c, planted := spoilt(t)
	var in Input = c
	p := Published(3).Rectify(rectify.None{})
	fit := func(p Pipeline) *Model {
		t.Helper()
		m, err := p.Fit(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	words := make([]string, 40)
	for w := range words {
		words[w] = fmt.Sprint("w", w)
	}

	m := fit(p)
	st := m.Stats()
	if !slices.Equal(st.Anchors.Replaced, []string{"3"}) || len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], `in place of 1 (Stats.Anchors.Replaced), such as "3"`) {
		t.Fatalf("replaced %v; %v", st.Anchors.Replaced, st.Warnings)
	}
	var err error
	if in, err = cooc.WithInfo(c, corpus.Info{Vocabulary: words}); err != nil {
		t.Fatal(err)
	}
	if got := fit(p).Stats().Anchors.Replaced; !slices.Equal(got, []string{"w3"}) {
		t.Errorf("by name: %v", got)
	}
	// Words that are all in all documents, as topics of topics are, are not rare.
	everywhere := make([]int, 40)
	for w := range everywhere {
		everywhere[w] = 100
	}
	if in, err = cooc.WithInfo(c, corpus.Info{Documents: 100, DocFrequencies: everywhere}); err != nil {
		t.Fatal(err)
	}
	if got := fit(p).Stats().Anchors.Replaced; !slices.Equal(got, []string{"3"}) {
		t.Errorf("in all documents: %v", got)
	}
	in = c
	if got := slices.Sorted(slices.Values(m.Anchors())); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("anchors %v", got)
	}
	// What was added is 1e-5 of all, and moves B by no more than some of it.
	topics := mat.DenseCopyOf(m.Topics())
	for k, w := range m.Anchors() {
		for i := range words {
			if x := topics.At(i, k); math.Abs(x-planted.At(i, w)) > 1e-4 {
				t.Errorf("p(%d | topic of %d) is %g, and %g was planted", i, w, x, planted.At(i, w))
			}
		}
	}
	if sum := mat.Sum(m.Correlations()); math.Abs(sum-1) > 1e-3 {
		t.Errorf("ΣA = %g", sum)
	}

	for _, x := range []struct {
		name string
		p    Pipeline
	}{
		{"never", p.ReplaceAnchors(0)},
		{"anchors of the user's", p.Anchors(anchor.Fixed{Words: []string{"3", "1", "2"}})},
		{"a finder that takes no word out", p.Anchors(whole{})},
	} {
		m := fit(x.p)
		st := m.Stats()
		if sum := mat.Sum(m.Correlations()); sum < 2 || !slices.Contains(m.Anchors(), 3) || st.Anchors.Replaced != nil {
			t.Errorf("%s: ΣA %g, anchors %v, replaced %v", x.name, sum, m.Anchors(), st.Anchors.Replaced)
		}
		if len(st.Warnings) != 2 || !strings.Contains(st.Warnings[0], "does not fit") || !strings.Contains(st.Warnings[1], "fewer topics would do") {
			t.Errorf("%s: %v", x.name, st.Warnings)
		}
	}
	if err := New(3).ReplaceAnchors(-1).Validate(nil); err == nil || !strings.Contains(err.Error(), "ReplaceAnchors(-1)") {
		t.Errorf("%v", err)
	}
}

// whole takes no notice of words that are excluded.
type whole struct{ anchor.QR }

func (w whole) Find(ctx context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	opt.Exclude = nil
	return w.QR.Find(ctx, rows, k, opt)
}
