// Package cli is the frame of the example programs: Ctrl-C, and what their
// exit statuses mean.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main calls run with the command line and a context that Ctrl-C cancels, and
// exits with the status that it returns. A second Ctrl-C ends the program at
// once.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
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
