package report

import (
	"context"
	"io"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a page, a table or a map panic, or take memory without end.
func TestExtremes(t *testing.T) {
	m := model(t, 40, 4)
	options := Options{Documents: compositions(4, 3), Hierarchy: hierarchy(t, m, 2), Times: []Time{{"reading", 1}}}
	options.Maps = []*Map{{Method: "mine", Words: []int{0, 1}, Points: mat.NewDense(2, 2, []float64{0, 1, 1, 2})}}
	testutil.Extremes(t, options, func(_ context.Context, o Options) error { return Write(io.Discard, m, o) })
	type args struct {
		N    int
		TSNE tsne.Settings
	}
	testutil.Extremes(t, args{8, tsne.Settings{Dims: 2, Perplexity: 2, Iterations: 5}}, func(ctx context.Context, a args) error {
		WriteTopicsCSV(io.Discard, m, a.N)
		_, err := TSNE(ctx, m, a.N, a.TSNE)
		return err
	})
}
