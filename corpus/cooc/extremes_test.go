package cooc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes counting panic, go on after ctx, take memory without end, or return what is
// no number.
func TestExtremes(t *testing.T) {
	c := countsCorpus(t, 12, randomDocs(rand.New(rand.NewPCG(1, 2)), 60, 12, 1))
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	testutil.Extremes(t, cooc.Options{}, func(ctx context.Context, o cooc.Options) error {
		m, err := cooc.NewMoments(ctx, c, o)
		if err != nil {
			return err
		}
		for _, v := range m.Marginals() {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				panic(fmt.Sprintf("a marginal is %g and there is no error", v))
			}
		}
		return cooc.Check(ctx, m, o.Workers)
	})
	testutil.Extremes(t, cooc.Options{}, func(ctx context.Context, o cooc.Options) error {
		_, err := cooc.FromEncoded(ctx, e, o)
		return err
	})
	type args struct {
		Word, Workers int
		R, Value      float64
	}
	testutil.Extremes(t, args{1, 1, 1, 1}, func(ctx context.Context, s args) error {
		if _, err := cooc.CountPairs(ctx, c, []int{s.Word}); err != nil {
			return err
		}
		m, err := cooc.NewMoments(ctx, c, cooc.Options{Workers: s.Workers})
		if err != nil {
			return err
		}
		if _, err := cooc.Submatrix(m, []int{s.Word}); err != nil {
			return err
		}
		sparse, err := cooc.NewSparse(2, []int{0, 1, 2}, []int32{0, 1}, []float64{s.Value, 1})
		if err != nil {
			return err
		}
		d, err := cooc.NewDense(mat.NewDense(2, 2, []float64{s.Value, 0, 0, 1}))
		if err != nil {
			return err
		}
		l, err := cooc.NewLowRankSparse(mat.NewDense(2, 1, []float64{s.Value, 1}), s.R, sparse)
		if err != nil {
			return err
		}
		if _, err := l.LAW(ctx, s.Workers); err != nil {
			return err
		}
		if _, err := sparse.Inner(ctx, d, s.Workers); err != nil {
			return err
		}
		return cooc.Check(ctx, d, s.Workers)
	})
}
