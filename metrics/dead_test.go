package metrics_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/metrics"
)

// Topic 1 is a copy of 0 and 3 nearly one of 2, with smaller shares; 5 has no share that is
// a number.
func TestDeadTopics(t *testing.T) {
	ctx := context.Background()
	b := mat.NewDense(6, 6, []float64{
		0.7, 0.7, 0, 0, 0, 0,
		0.3, 0.3, 0, 0, 0, 0,
		0, 0, 0.8, 0.75, 0, 0,
		0, 0, 0.2, 0.25, 0, 0,
		0, 0, 0, 0, 1, 0,
		0, 0, 0, 0, 0, 1,
	})
	got, err := metrics.DeadTopics(ctx, b, []float64{0.3, 0.1, 0.25, 0.05, 0.3, math.NaN()}, 1)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	// With shares .25 and .05 of .3, the words of topics 2 and 3 have p(w) = (.238, .062): BᵀDB less 1.
	p := []float64{0.25*0.8 + 0.05*0.75, 0.25*0.2 + 0.05*0.25}
	inner := func(x, y []float64) float64 { return x[0]*y[0]/p[0] + x[1]*y[1]/p[1] - 1 }
	two, three := []float64{0.8, 0.2}, []float64{0.75, 0.25}
	near := inner(two, three) / math.Sqrt(inner(two, two)*inner(three, three))
	for i, want := range []metrics.DeadTopic{{1, 0, 0.1, 1}, {3, 2, 0.05, near}, {5, -1, 0, 0}} {
		if d := got[i]; d.Topic != want.Topic || d.Twin != want.Twin || d.Share != want.Share || math.Abs(d.Cosine-want.Cosine) > 1e-14 {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
	// Of equal shares the later one goes, and a share of exactly 1/(20K) is enough.
	got, err = metrics.DeadTopics(ctx, mat.NewDense(2, 2, []float64{1, 1, 0, 0}), []float64{0.025, 0.025}, 1)
	if err != nil || len(got) != 1 || got[0].Topic != 1 || got[0].Twin != 0 {
		t.Error(got, err)
	}
	if got, err = metrics.DeadTopics(ctx, mat.NewDense(2, 2, []float64{1, 0, 0, 1}), []float64{0.975, 0.0249}, 1); err != nil || len(got) != 1 || got[0].Topic != 1 || got[0].Twin != -1 {
		t.Error(got, err)
	}
	if _, err := metrics.DeadTopics(ctx, b, []float64{1}, 1); err == nil || !strings.Contains(err.Error(), "1 shares of 6 topics") {
		t.Error(err)
	}
	if _, err := metrics.DeadTopics(ctx, mat.NewDense(1, 2, []float64{1, -1}), []float64{1, 1}, 1); err == nil {
		t.Error("no error for a negative probability")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := metrics.DeadTopics(gone, b, make([]float64, 6), 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
