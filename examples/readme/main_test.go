package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/examples/readme/snippets"
	"github.com/jsmf-go/spectral/jsmf"
)

// block returns the content of the first fenced block of README.md that begins
// with the given line of opening marks after the heading.
func block(t *testing.T, heading, open string) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, "../../README.md"), "\n"+heading+"\n")
	if ok {
		_, rest, ok = strings.Cut(rest, "\n"+open+"\n")
	}
	content, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("README.md has no block %s below %q", open, heading)
	}
	return content
}

// opticks returns the path of the book, which comes with Go.
func opticks(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("skipped: go env GOROOT, where the book is: %v", err)
	}
	name := filepath.Join(strings.TrimSpace(string(out)), "src", "testdata", "Isaac.Newton-Opticks.txt")
	if _, err := os.Stat(name); err != nil {
		t.Skipf("skipped: this installation of Go lacks its test data: %v", err)
	}
	return name
}

// README.md shows this program.
func TestProgram(t *testing.T) {
	source := read(t, "main.go")
	source = source[strings.Index(source, "package main"):] // less the comment
	if got := block(t, "## Fit a model", "```go"); got != source {
		t.Errorf("README.md shows another program than main.go:\n%s", got)
	}
}

// README.md shows what the program prints.
func TestOutput(t *testing.T) {
	name := opticks(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, args := os.Stdout, os.Args
	defer func() { os.Stdout, os.Args = stdout, args }()
	os.Stdout, os.Args = w, []string{"readme", name}
	main() // prints less than a pipe holds
	w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := block(t, "## Fit a model", "```text"); string(out) != want {
		t.Errorf("the program prints\n%s\nREADME.md says\n%s", out, want)
	}
}

// README.md shows the topics of two new texts, with the model of the program.
func TestNewDocuments(t *testing.T) {
	const heading = "## Apply it and save it"
	var texts []string
	_, list, _ := strings.Cut(block(t, heading, "```go"), "m.Texts(")
	list, _, _ = strings.Cut(list, ")")
	for i, s := range strings.Split(list, `"`) {
		if i%2 == 1 {
			texts = append(texts, s)
		}
	}
	var b corpus.Builder
	for _, p := range strings.Split(read(t, opticks(t)), "\n\n") {
		if err := b.AddText("", "", strings.ReplaceAll(p, "_", "")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stopwords.English(), MinDocs: 10}); err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.New(8).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := m.Transform(context.Background(), m.Texts(texts...))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i := range docs.IDs {
		fmt.Fprintf(&got, "%.2f\n", docs.W.RawRowView(i))
	}
	if want := block(t, heading, "```text"); got.String() != want {
		t.Errorf("the texts %q have the topics\n%sREADME.md says\n%s", texts, &got, want)
	}
}

// The snippets of the guides that name packages of the root module pass go vet.
func TestSnippets(t *testing.T) { snippets.Vet(t, 16) }

// read returns a text file, its lines ended as on Unix.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}
