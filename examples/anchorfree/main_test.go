package main

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// invoke runs the program and returns what it printed, failing on any other
// exit status than want.
func invoke(t *testing.T, ctx context.Context, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(ctx, args, &out, &errs); got != want {
		t.Fatalf("%q: exit status %d, want %d\n%s", args, got, want, errs.String())
	}
	return out.String(), errs.String()
}

// percentages returns the first block of a table, by method.
func percentages(t *testing.T, out string) map[string][]float64 {
	t.Helper()
	_, block, ok := strings.Cut(out, "found, %")
	if !ok {
		t.Fatalf("no percentages in\n%s", out)
	}
	block, _, _ = strings.Cut(block, "mean time")
	rows := make(map[string][]float64)
	for s := range strings.Lines(block) {
		f := strings.Fields(s)
		var row []float64
		for len(f) > 0 {
			v, err := strconv.ParseFloat(f[len(f)-1], 64)
			if err != nil {
				break
			}
			row, f = append([]float64{v}, row...), f[:len(f)-1]
		}
		if len(f) > 0 && row != nil {
			rows[strings.Join(f, " ")] = row
		}
	}
	return rows
}

// A few trials on fewer words show what the paper's tables do: anchors are found
// where there are any, and the others always.
func TestTables(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	trials := "3"
	if testing.Short() {
		trials = "1"
	}
	args := []string{"-words", "400", "-trials", trials, "-topics", "4,12", "-quiet"}
	for _, c := range []struct {
		table   string
		anchors []float64
	}{
		{"2", []float64{100, 0}}, // 400·2⁻⁴ anchors a topic to be expected, and 400·2⁻¹²
		{"3", []float64{100, 100}},
	} {
		out, errs := invoke(t, context.Background(), 0, append(args, "-tables", c.table)...)
		if errs != "" {
			t.Errorf("-quiet wrote %q", errs)
		}
		rows := percentages(t, out)
		if len(rows) != len(methods()) {
			t.Fatalf("table %s has %d rows, want %d:\n%s", c.table, len(rows), len(methods()), out)
		}
		for _, m := range methods() {
			want := c.anchors
			if strings.HasPrefix(m.name, "AnchorFree") {
				want = []float64{100, 100}
			}
			if got := rows[m.name]; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
				t.Errorf("table %s, %s: %v, want %v", c.table, m.name, got, want)
			}
		}
		if strings.Contains(out, "ended in an error") {
			t.Errorf("table %s:\n%s", c.table, out)
		}
	}
}

// A method that ends in an error is counted, named and no reason to stop.
func TestFailures(t *testing.T) {
	tired := method{"Tired", func(context.Context, cooc.Matrix, int, int) (b, a *mat.Dense, err error) {
		return nil, nil, errors.New("too tired")
	}}
	var out, progress bytes.Buffer
	o := options{words: 60, trials: 2, topics: []int{3}}
	if err := table(context.Background(), o, append([]method{tired}, methods()...), 2, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Tired, K = 3: 2 of 2 trials ended in an error, the first: too tired") {
		t.Errorf("a failing method:\n%s", out.String())
	}
	if got := percentages(t, out.String()); got["Tired"][0] != 0 || got["AnchorFree-LP"][0] != 100 {
		t.Errorf("percentages %v", got)
	}
	if !strings.Contains(progress.String(), "table 2: K = 3: 2 trials") {
		t.Errorf("progress: %q", progress.String())
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-topics", "5,x"}, []string{`"x" is not a number`}},
		{[]string{"-topics", "1,2000"}, []string{"-topics 1", "-topics 2000"}},
		{[]string{"-tables", "1"}, []string{"-tables 1"}},
		{[]string{"-trials", "0", "-workers", "-1"}, []string{"-trials 0", "-workers -1"}},
		{[]string{"more"}, []string{`unexpected argument "more"`}},
		{[]string{"-nonsense"}, []string{"-nonsense"}},
	} {
		out, errs := invoke(t, context.Background(), 2, c.args...)
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%q: %q does not say %q", c.args, errs, want)
			}
		}
		if out != "" {
			t.Errorf("%q: standard output holds %q", c.args, out)
		}
	}
	if _, errs := invoke(t, context.Background(), 0, "-help"); !strings.Contains(errs, "-trials") {
		t.Error("-help does not list the flags")
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out, errs := invoke(t, ctx, 130, "-words", "50", "-topics", "3", "-trials", "1"); out != "" || !strings.Contains(errs, "interrupted") {
		t.Errorf("printed %q and %q", out, errs)
	}
}
