package rectify_test

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// No setting makes a method panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	m := moments(t, "tiny")
	with := func(opt rectify.Options) func(context.Context, rectify.Rectifier) error {
		return func(ctx context.Context, r rectify.Rectifier) error {
			_, err := r.Rectify(ctx, m, 4, opt)
			rectify.Bytes(r, 1000, 10, opt)
			return err
		}
	}
	f := with(rectify.Options{})
	testutil.Extremes(t, rectify.AP{}, func(ctx context.Context, r rectify.AP) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.Auto{}, func(ctx context.Context, r rectify.Auto) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.DC{}, func(ctx context.Context, r rectify.DC) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.DR{}, func(ctx context.Context, r rectify.DR) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.ENN{}, func(ctx context.Context, r rectify.ENN) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.LR{}, func(ctx context.Context, r rectify.LR) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.PALM{}, func(ctx context.Context, r rectify.PALM) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.TruncatedEig{}, func(ctx context.Context, r rectify.TruncatedEig) error { return f(ctx, r) })
	testutil.Extremes(t, rectify.Options{}, func(ctx context.Context, opt rectify.Options) error {
		for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.Auto{}, rectify.LR{}, rectify.DC{}} {
			if err := with(opt)(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}
