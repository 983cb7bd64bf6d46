package metrics

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a measure panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	p := testutil.NewPlanted(30, 4, 0.3, 1)
	testutil.Extremes(t, MatchOptions{}, func(ctx context.Context, o MatchOptions) error {
		_, err := Match(ctx, p.B, p.B, o)
		return err
	})
	m, err := cooc.NewDense(p.C)
	if err != nil {
		t.Fatal(err)
	}
	f := Factors{C: m, B: p.B, WordTopics: p.WordTopics(), A: p.A, Anchors: slices.Clone(p.Anchors), Pairs: allPairs{30}}
	testutil.Extremes(t, f, func(ctx context.Context, f Factors) error { _, err := Evaluate(ctx, f); return err })
	type args struct {
		N     int
		Entry float64
	}
	testutil.Extremes(t, args{5, .5}, func(_ context.Context, a args) error {
		TopUnion(p.B, a.N)
		Evaluate(context.Background(), Factors{B: p.B, Pairs: allPairs{30}, TopN: a.N})
		NewStat([]float64{a.Entry, 1})
		b := mat.DenseCopyOf(p.B)
		b.Set(0, 0, a.Entry)
		_, err := TopLists(b, a.N)
		return err
	})
}

// allPairs are counts of n words that are all in every one of two documents.
type allPairs struct{ n int }

func (p allPairs) Has(i int) bool                                 { return i < p.n }
func (allPairs) At(int, int) int                                  { return 2 }
func (allPairs) D1(int) int                                       { return 2 }
func (allPairs) Docs() int                                        { return 2 }
func (allPairs) Association(i, j int) (times, deviations float64) { return 1, 0 }
