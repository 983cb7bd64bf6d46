package tsne

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes Embed panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	x := clusters(40, 3, 2, 7)
	testutil.Extremes(t, Settings{Perplexity: 5, Iterations: 20}, func(ctx context.Context, s Settings) error {
		_, err := Embed(ctx, x, s)
		return err
	})
}
