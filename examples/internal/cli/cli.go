// Package cli is the frame of the example programs: Ctrl-C, and what their
// exit statuses mean.
package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/jsmf-go/spectral/internal/console"
)

// Main calls run with the command line and a context that Ctrl-C cancels, and
// exits with the status that it returns. A second Ctrl-C ends the program at
// once.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run parses the command line of a program and does its work. It returns the exit
// status: that of Status, 0 where parse was asked for -help, and 2 where it has
// refused the command line and said why.
func Run[O any](program string, args []string, stderr io.Writer, parse func(args []string, stderr io.Writer) (O, error), work func(O) error) int {
	stderr, _ = console.Lines(stderr) // whole lines only
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	return Status(program, stderr, work(o))
}

// Buffered does work that writes text for people to a buffer before w, whose lines are broken
// at the width of console.Width. What was written before an error is shown, too.
func Buffered(w io.Writer, work func(out *bufio.Writer) error) error {
	lines, flush := console.Lines(w)
	out := bufio.NewWriter(lines)
	return errors.Join(work(out), out.Flush(), flush())
}

// Wrong collects what is wrong with a command line.
type Wrong []string

// If adds a message if cond holds.
func (w *Wrong) If(cond bool, format string, args ...any) {
	if cond {
		*w = append(*w, fmt.Sprintf(format, args...))
	}
}

// Err writes all messages to stderr and returns them as an error, nil if there are none.
func (w Wrong) Err(program string, stderr io.Writer) error {
	if len(w) == 0 {
		return nil
	}
	for _, s := range w {
		fmt.Fprintf(stderr, "%s: %s\n", program, s)
	}
	fmt.Fprintf(stderr, "%s: -help lists the flags\n", program)
	return errors.New(strings.Join(w, "; "))
}

// Status returns the exit status for the outcome of a program, and names an
// error on stderr: 0 for none, 130 when interrupted, 1 for any other.
func Status(program string, stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", program)
		return 130
	}
	fmt.Fprintf(stderr, "%s: %v\n", program, err)
	return 1
}
