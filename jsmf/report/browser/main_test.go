package browser

import (
	"context"
	"errors"
	"log"
	"os"
	"testing"

	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

var shared context.Context // of one browser for all tests; nil where there is none

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(profile)
	ctx, stop, err := visit.Launch(profile)
	if errors.Is(err, visit.ErrNone) {
		return m.Run()
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	defer func() {
		if err := stop(); err != nil {
			log.Print(err)
			code = 1
		}
	}()
	shared = ctx
	return m.Run()
}

// tab opens a tab of the browser, as if it were the first.
func tab(t *testing.T) context.Context {
	t.Helper()
	if shared == nil {
		t.Skip(visit.ErrNone)
	}
	return visit.Tab(t, shared)
}
