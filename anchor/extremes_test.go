package anchor_test

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a finder panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	rows := rowsOf(t, dense(t, testutil.NewPlanted(30, 4, 0.3, 1).C))
	frequencies := make([]int, 30)
	for i := range frequencies {
		frequencies[i] = 5 + i
	}
	with := func(ctx context.Context, f anchor.Finder, opt anchor.Options) error {
		_, err := f.Find(ctx, rows, 4, opt)
		return err
	}
	f := func(ctx context.Context, f anchor.Finder) error {
		return with(ctx, f, anchor.Options{DocFrequencies: frequencies, Docs: 40})
	}
	embedding := &tsne.Settings{Dims: 2, Perplexity: 4, Iterations: 5}
	testutil.Extremes(t, anchor.Hull{Dims: 3}, func(ctx context.Context, s anchor.Hull) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.Hull{Dims: 2, TSNE: embedding}, func(ctx context.Context, s anchor.Hull) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.Projected{}, func(ctx context.Context, s anchor.Projected) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.Projected{Sparse: true}, func(ctx context.Context, s anchor.Projected) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.QR{CleanUp: true}, func(ctx context.Context, s anchor.QR) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.SNPA{}, func(ctx context.Context, s anchor.SNPA) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.SPA{}, func(ctx context.Context, s anchor.SPA) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.XRAY{}, func(ctx context.Context, s anchor.XRAY) error { return f(ctx, s) })
	testutil.Extremes(t, anchor.Options{Prefer: []int{3}}, func(ctx context.Context, opt anchor.Options) error {
		return with(ctx, anchor.QR{}, opt)
	})
}
