package cli_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

// parse is what programs have: a flag, and what is wrong with it.
func parse(args []string, stderr io.Writer) (n int, err error) {
	f := flag.NewFlagSet("p", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&n, "n", 1, "a number")
	if err := f.Parse(args); err != nil {
		return n, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(n < 1, "-n %d: want at least 1", n)
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	return n, wrong.Err("p", stderr)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   string
		err    error
		status int
		stderr string // all of it, or after … its end
	}{
		{"-n 3", nil, 0, ""},
		{"-n 3", errors.New("no luck"), 1, "p: no luck\n"},
		{"-n 3", fmt.Errorf("step 2: %w", context.Canceled), 130, "p: interrupted\n"},
		{"-n 0 x", nil, 2, "p: -n 0: want at least 1\np: unexpected argument \"x\"\np: -help lists the flags\n"},
		{"-help", nil, 0, "…a number (default 1)\n"},
		{"-m", nil, 2, "…a number (default 1)\n"},
	} {
		var stderr strings.Builder
		worked := 0
		status := cli.Run("p", strings.Fields(c.args), &stderr, parse, func(n int) error {
			worked = n
			return c.err
		})
		end, cut := strings.CutPrefix(c.stderr, "…")
		if got := stderr.String(); status != c.status || !strings.HasSuffix(got, end) || !cut && got != end {
			t.Errorf("%s, %v: status %d, %q; want %d, %q", c.args, c.err, status, got, c.status, c.stderr)
		}
		if want := c.args == "-n 3"; (worked == 3) != want {
			t.Errorf("%s: worked with %d", c.args, worked)
		}
	}
}

// Text for people fits the width of COLUMNS, errors too, and what comes before an error is
// shown.
func TestBuffered(t *testing.T) {
	t.Setenv("COLUMNS", "20")
	var out, errs strings.Builder
	err := errors.New("a reason of many words")
	status := cli.Run("p", nil, &errs, parse, func(int) error {
		return cli.Buffered(&out, func(w *bufio.Writer) error {
			w.WriteString(" 1  a  words in the last column\n")
			return err
		})
	})
	if want := " 1  a  words in the\n       last column\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if want := "p: a reason of many\n   words\n"; status != 1 || errs.String() != want {
		t.Errorf("status %d, %q; want 1, %q", status, errs.String(), want)
	}
}
