package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
)

func invoke(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	status := run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

// The reference is reached: at eight passes all anchors are those of ENN and the
// measures do not depend on the seed to the limit that is stated.
func TestTable(t *testing.T) {
	status, out, errs := invoke(clitest.Synth("-n", "600", "-k", "5", "-seeds", "3", "-passes", "8")...)
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, errs)
	}
	rows := map[string][]string{}
	last := ""
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "±":
			rows["± "+last] = f[2:]
		default:
			rows[f[0]], last = f[1:], f[0]
		}
	}
	for _, name := range []string{"AP", "ENN", "1", "8"} {
		if want := map[string]int{"AP": 10, "ENN": 10}[name]; len(rows[name]) != want && len(rows[name]) != 12 {
			t.Errorf("row %s: %q", name, rows[name])
		}
	}
	if r := rows["8"]; len(r) == 12 && r[10] != "5" {
		t.Errorf("%s of 5 anchors at eight passes", r[10])
	}
	for i, s := range rows["± 8"] {
		if !strings.HasPrefix(s, "0.0") {
			t.Errorf("measure %d spreads by %s %%", i, s)
		}
	}
	if !strings.Contains(out, "At the default of 8 passes the largest standard deviation is 0.0") {
		t.Errorf("no verdict in\n%s", out)
	}
}

func TestUsage(t *testing.T) {
	if status, _, _ := invoke("-help"); status != 0 {
		t.Errorf("-help: exit status %d", status)
	}
	status, _, errs := invoke("-k", "1", "-seeds", "1", "-passes", "0", "x")
	if status != 2 {
		t.Errorf("exit status %d, want 2", status)
	}
	for _, s := range []string{"-docword", "-vocab", "-k 1", "-seeds 1", "-passes 0", `"x"`} {
		if !strings.Contains(errs, s) {
			t.Errorf("%q is not complained about in\n%s", s, errs)
		}
	}
	if status, _, errs := invoke("-docword", "nowhere.txt", "-vocab", "nowhere.voc"); status != 1 || !strings.Contains(errs, "nowhere") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}
