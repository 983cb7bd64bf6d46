package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

func TestDocuments(t *testing.T) {
	ctx := context.Background()
	docword, vocab := testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt")
	c, err := corpus.ReadUCI(ctx, docword, vocab)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{StopWords: testutil.Lines(t, "synth", "synth.stops"), Words: 600}); err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(5).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "m.jsmf")
	if err := m.Save(model); err != nil {
		t.Fatal(err)
	}
	anchor := m.Word(m.Anchors()[2])

	out, _ := invoke(t, 0, "-model", model, "-docword", docword, "-vocab", vocab, "-topic", "2", "-n", "3")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "topic 2: ") || !strings.Contains(lines[1], "%  document ") {
		t.Errorf("documents of a topic:\n%s", out)
	}
	// The nearest document's largest topic is that topic.
	id := strings.TrimSuffix(strings.Fields(lines[1])[2], ",")
	out, _ = invoke(t, 0, "-model", model, "-docword", docword, "-vocab", vocab, "-doc", id, "-n", "2")
	lines = strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "document "+id+": ") || !strings.Contains(lines[1], "topic 2: ") {
		t.Errorf("topics of document %s:\n%s", id, out)
	}
	out, _ = invoke(t, 0, "-model", model, "-docword", docword, "-vocab", vocab, "-n", "1")
	if n := strings.Count(out, "\n"); n != 10 {
		t.Errorf("all topics take %d lines:\n%s", n, out)
	}
	text := strings.Repeat(anchor+" ", 9) + "xyzzy"
	out, _ = invoke(t, 0, "-model", model, "-text", text, "-n", "1")
	if !strings.Contains(out, "9 known words, 1 unknown") || !strings.Contains(out, "topic 2: ") {
		t.Errorf("a text of anchors:\n%s", out)
	}
	if out, _ = invoke(t, 0, "-model", model, "-text", "xyzzy"); !strings.Contains(out, "no topic explains it") {
		t.Errorf("an unknown text:\n%s", out)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ = invoke(t, 0, "-model", model, "-dir", dir, "-topic", "2"); !strings.Contains(out, "document a.txt, 9 known words") {
		t.Errorf("a folder:\n%s", out)
	}
	for want, args := range map[string][]string{
		"topic 9":                    {"-model", model, "-text", "x", "-topic", "9"},
		"there is no document \"q\"": {"-model", model, "-dir", dir, "-doc", "q"},
		"no-such":                    {"-model", filepath.Join(dir, "no-such"), "-text", "x"},
	} {
		status := 1
		if strings.HasPrefix(want, "topic 9") {
			args, want = []string{"-model", model, "-dir", dir, "-topic", "9"}, "topic 9: the model has"
		}
		if _, errs := invoke(t, status, args...); !strings.Contains(errs, want) {
			t.Errorf("%q: %s", args, errs)
		}
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-model is missing":                {"-text", "x"},
		"want one of -docword":             {"-model", "m"},
		"-docword and -vocab go together":  {"-model", "m", "-docword", "d"},
		"-topic and -doc exclude":          {"-model", "m", "-dir", "d", "-topic", "1", "-doc", "x"},
		"have no use with -text":           {"-model", "m", "-text", "x", "-doc", "x"},
		"-topic -2":                        {"-model", "m", "-dir", "d", "-topic", "-2"},
		"-n 0":                             {"-model", "m", "-dir", "d", "-n", "0"},
		"unexpected argument":              {"-model", "m", "-dir", "d", "x"},
		"flag provided but not defined: -": {"-nonsense"},
	} {
		if _, errs := invoke(t, 2, args...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
	invoke(t, 0, "-help")
}
