package anchor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

// tinyRows are the rows of a small corpus, rectified for k topics.
func tinyRows(t testing.TB, documents []string, k int) cooc.Rows {
	t.Helper()
	var b corpus.Builder
	for _, d := range documents {
		if err := b.AddTokens("", "", strings.Fields(d)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := rectify.AP{}.Rectify(ctx, m, k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rowsOf(t, res.C)
}

// Small corpora have rows of low rank with many zeros, on which a simplex method
// may go round in circles; it ends, with anchors or with an error.
func TestLPTiny(t *testing.T) {
	corpora := [][]string{{"e i j l n", "b e j n p", "b c l m o", "c e f j o", "d e f g n", "a c g j o"}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 14 {
		var documents []string
		for range 8 {
			var words []string
			for _, w := range rng.Perm(16)[:6] {
				words = append(words, string(rune('a'+w)))
			}
			documents = append(documents, strings.Join(words, " "))
		}
		corpora = append(corpora, documents)
	}
	for i, documents := range corpora {
		for _, k := range []int{2, 3} {
			res, err := anchor.LP{}.Find(ctx, tinyRows(t, documents, k), k, anchor.Options{})
			var cover *anchor.RankError
			switch {
			case err == nil && len(res.Anchors) == k:
			case errors.As(err, &cover):
			default:
				t.Errorf("corpus %d, K = %d: %v", i, k, err)
			}
		}
	}
}

// cancelled is a context that ends after it has been asked some times.
type cancelled struct {
	context.Context
	left int
}

func (c *cancelled) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A program that has begun is interrupted.
func TestLPCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a := mat.NewDense(12, 12, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rng.Float64()
	}
	whole := &cancelled{Context: ctx, left: 1e9}
	if _, err := (anchor.LP{}).Find(whole, points{a}, 3, anchor.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	asked := 1e9 - whole.left
	if asked < 4*12 {
		t.Errorf("asked %d times in 12 programs: not once a step", asked)
	}
	for _, left := range []int{asked / 4, asked / 2, asked - 3} {
		_, err := anchor.LP{}.Find(&cancelled{Context: ctx, left: left}, points{a}, 3, anchor.Options{Workers: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at the %d-th of %d questions: %v", left, asked, err)
		}
	}
}
