package beam

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestSettings: settings that no runner can honour are errors, before anything runs.
func TestSettings(t *testing.T) {
	for _, test := range []struct {
		name  string
		r     Runner
		flags map[string]string
		want  string
	}{
		{"shares", Runner{Shares: -1}, nil, "-1 shares"},
		{"timeout", Runner{Timeout: -time.Second}, nil, "timeout of -1s"},
		{"tries", Runner{Tries: -2}, nil, "-2 tries"},
		{"runner", Runner{Name: "abacus"}, nil, `runner "abacus"`},
		{"flag", Runner{}, map[string]string{"runner": "direct"}, `runner "direct"`},
		{"endpoint", Runner{Name: "flink"}, nil, "--endpoint"},
		{"environment", Runner{}, map[string]string{"environment_type": "MOON"}, `"MOON"`},
		{"command", Runner{}, map[string]string{"environment_type": "process"}, "--environment_config"},
		{"async", Runner{}, map[string]string{"async": "true"}, "--async"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.flags {
				setFlag(t, name, value)
			}
			if err := test.r.check(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	if err := (Runner{}).check(); err != nil {
		t.Error(err)
	}
}

// TestFolder: folders that a listing would misread, or whose scheme is unknown, are errors.
func TestFolder(t *testing.T) {
	for folder, want := range map[string]string{
		"":            "state folder",
		"/tmp/a*b":    "state folder",
		"nowhere://a": `"nowhere" not registered`,
	} {
		if _, err := openState(t.Context(), folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", folder, err, want)
		}
	}
}

// TestGoroutines: a job leaves no goroutine behind that is in this package. (Beam's harness
// can leave two, which wait for each other, where a worker is stopped in a bundle.)
func TestGoroutines(t *testing.T) {
	all := generate(100)
	plan, _ := testPlan(t, all)
	st := openedState(t, t.TempDir())
	pieces := testPieces(t, st.folder, all, 4)
	if _, err := st.sum(t.Context(), Runner{Shares: 2}, "all", pieces, plan); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	buf := make([]byte, 1<<20)
	for {
		left := ""
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(stack, "jsmf/beam") && !strings.Contains(stack, "testing.") {
				left += stack + "\n"
			}
		}
		if left == "" {
			return
		}
		if ctx.Err() != nil { // what ends needs a moment
			t.Fatal(left)
		}
		runtime.Gosched()
	}
}
