// Package clitest runs the example programs in tests.
package clitest

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// Program is the run function of a program.
type Program func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Invoke runs a program and returns what it printed. It fails on any other exit
// status than want.
func (p Program) Invoke(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	t.Setenv("COLUMNS", "") // lines as long as they are
	var out, errs bytes.Buffer
	if got := p(context.Background(), args, &out, &errs); got != want {
		t.Fatalf("%q: exit status %d, want %d\n%s", args, got, want, errs.String())
	}
	return out.String(), errs.String()
}

// Sabotage runs a program that does harm as soon as it shows progress, which is after it has
// checked its flags. It fails on any other exit status than 1.
func (p Program) Sabotage(t *testing.T, harm func(), args ...string) (stdout, stderr string) {
	t.Helper()
	var out bytes.Buffer
	errs := saboteur{harm: sync.OnceFunc(harm)}
	if got := p(context.Background(), args, &out, &errs); got != 1 {
		t.Fatalf("%q: exit status %d, want 1\n%s", args, got, errs.said.String())
	}
	return out.String(), errs.said.String()
}

// saboteur does harm when it is written to.
type saboteur struct {
	said bytes.Buffer
	harm func()
}

func (s *saboteur) Write(p []byte) (int, error) {
	s.harm()
	return s.said.Write(p)
}

// Synth returns the flags of the synthetic corpus of package testutil, with more
// flags after them.
func Synth(more ...string) []string {
	return append([]string{
		"-docword", testutil.Path("synth", "docword.synth.txt.gz"), "-vocab", testutil.Path("synth", "vocab.synth.txt"),
		"-stop", testutil.Path("synth", "synth.stops"),
	}, more...)
}
