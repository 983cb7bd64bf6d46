package report

import (
	"context"
	"io"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a page, a table or a map panic, or take memory without end.
func TestExtremes(t *testing.T) {
	m := model(t, 40, 4)
	options := Options{Documents: compositions(4, 3), Hierarchy: hierarchy(t, m, 2), Times: []Time{{"reading", 1}}}
	testutil.Extremes(t, options, func(_ context.Context, o Options) error { return Write(io.Discard, m, o) })
	testutil.Extremes(t, struct{ N int }{8}, func(_ context.Context, a struct{ N int }) error { return WriteTopicsCSV(io.Discard, m, a.N) })
}
