package refine_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// No setting makes passes panic, go on after ctx, take memory without end, or return what is
// no probability.
func TestExtremes(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(30, 4, 0.3, 1)
	docs := drawn(t, p, 60, 20, 5).Source()
	with := func(ctx context.Context, r refine.Refiner, opt refine.Options) error {
		m, err := r.Refine(ctx, docs, refine.Start{B: p.B}, opt)
		if err != nil {
			return err
		}
		for _, x := range [][]float64{m.B.RawMatrix().Data, m.A.RawMatrix().Data, m.Reading.RawMatrix().Data, m.Alpha} {
			for _, v := range x {
				if !(v >= 0) || math.IsInf(v, 1) {
					panic(fmt.Sprintf("the model has a %g and there is no error", v))
				}
			}
		}
		return nil
	}
	testutil.Extremes(t, refine.Passes{N: 5}, func(ctx context.Context, r refine.Passes) error { return with(ctx, r, refine.Options{}) })
	testutil.Extremes(t, refine.Batch{N: 5}, func(ctx context.Context, r refine.Batch) error { return with(ctx, r, refine.Options{}) })
	testutil.Extremes(t, refine.Options{}, func(ctx context.Context, opt refine.Options) error { return with(ctx, refine.Passes{N: 5}, opt) })
}
