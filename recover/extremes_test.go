package recovery_test

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
)

// No setting makes a method panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	m, a := spoiled(t, 30, 4, 1)
	rows := rowsOf(t, dense(t, a))
	with := func(ctx context.Context, r recovery.Recoverer, opt recovery.Options) error {
		_, err := r.Recover(ctx, rows, m.Anchors, opt)
		return err
	}
	f := func(ctx context.Context, r recovery.Recoverer) error { return with(ctx, r, recovery.Options{}) }
	testutil.Extremes(t, recovery.Finish{}, func(ctx context.Context, s recovery.Finish) error { return f(ctx, recovery.SCLS{Finish: s}) })
	testutil.Extremes(t, recovery.Inverse{}, func(ctx context.Context, s recovery.Inverse) error { return f(ctx, s) })
	testutil.Extremes(t, recovery.KL{}, func(ctx context.Context, s recovery.KL) error { return f(ctx, s) })
	testutil.Extremes(t, scls.ADMM{}, func(ctx context.Context, s scls.ADMM) error { return f(ctx, recovery.SCLS{Solver: s}) })
	testutil.Extremes(t, scls.ActiveSet{}, func(ctx context.Context, s scls.ActiveSet) error { return f(ctx, recovery.SCLS{Solver: s}) })
	testutil.Extremes(t, scls.ExpGrad{}, func(ctx context.Context, s scls.ExpGrad) error { return f(ctx, recovery.SCLS{Solver: s}) })
	testutil.Extremes(t, scls.PaperExpGrad(), func(ctx context.Context, s scls.ExpGrad) error { return f(ctx, recovery.SCLS{Solver: s}) })
	testutil.Extremes(t, recovery.Options{}, func(ctx context.Context, opt recovery.Options) error { return with(ctx, recovery.SCLS{}, opt) })
}
