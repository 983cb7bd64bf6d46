package anchorfree_test

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// No setting makes a method panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	c, err := cooc.NewDense(testutil.NewPlanted(30, 4, 0.3, 1).C)
	if err != nil {
		t.Fatal(err)
	}
	with := func(ctx context.Context, l anchorfree.Learner, opt anchorfree.Options) error {
		_, err := l.Learn(ctx, c, 4, opt)
		return err
	}
	testutil.Extremes(t, anchorfree.LP{}, func(ctx context.Context, l anchorfree.LP) error { return with(ctx, l, anchorfree.Options{}) })
	testutil.Extremes(t, anchorfree.PDS{}, func(ctx context.Context, l anchorfree.PDS) error { return with(ctx, l, anchorfree.Options{}) })
	testutil.Extremes(t, anchorfree.Options{}, func(ctx context.Context, opt anchorfree.Options) error {
		return with(ctx, anchorfree.LP{}, opt)
	})
}
