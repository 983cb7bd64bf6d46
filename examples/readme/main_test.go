package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// block returns the content of the first fenced block of README.md that begins
// with the given line of opening marks after the heading.
func block(t *testing.T, readme, heading, open string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readme, "\n"+heading+"\n")
	if ok {
		_, rest, ok = strings.Cut(rest, "\n"+open+"\n")
	}
	text, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("README.md has no block %s below %q", open, heading)
	}
	return text
}

// README.md shows this program and what it prints.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.ReplaceAll(string(b), "\r\n", "\n")
	b, err = os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	source := strings.ReplaceAll(string(b), "\r\n", "\n")
	source = source[strings.Index(source, "package main"):] // less the comment
	if got := block(t, readme, "## A program", "```go"); got != source {
		t.Errorf("README.md shows another program than main.go:\n%s", got)
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, args := os.Stdout, os.Args
	defer func() { os.Stdout, os.Args = stdout, args }()
	os.Stdout = w
	os.Args = []string{"readme", testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"), testutil.Path("synth", "synth.stops")}
	main() // prints less than a pipe holds
	w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := block(t, readme, "## A program", "```text"); string(out) != want {
		t.Errorf("the program prints\n%s\nREADME.md says\n%s", out, want)
	}
}
