package browser

import (
	"context"
	"os"
	"testing"

	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

var shared context.Context // of one browser for all tests

func TestMain(m *testing.M) { os.Exit(visit.Main(m, &shared)) }

// tab opens a tab of the browser, as if it were the first.
func tab(t *testing.T) context.Context {
	t.Helper()
	return visit.Tab(t, shared)
}
