package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/beam"
	"github.com/jsmf-go/spectral/jsmf/beam/internal/testnet"
)

func TestMain(m *testing.M) {
	if code, ok := testnet.Enter(); ok {
		os.Exit(code)
	}
	beam.Init()
	os.Exit(m.Run())
}

// texts writes shards of sentences about three subjects.
func texts(t *testing.T, folder string) {
	t.Helper()
	subjects := []string{"sea ship sail wind harbour wave anchor", "bread oven flour salt butter yeast crust", "piano violin song choir opera drum tune"}
	rng := rand.New(rand.NewPCG(3, 4))
	for shard := range 4 {
		var b strings.Builder
		for i := range 60 {
			words := append(strings.Fields(subjects[rng.IntN(3)]), "and", "with")
			fmt.Fprintf(&b, `{"id": "%d-%d", "text": "`, shard, i)
			for range 12 {
				b.WriteString(words[int(float64(len(words))*rng.Float64()*rng.Float64())] + " ")
			}
			b.WriteString("\"}\n")
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("news-%d.jsonl", shard)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// From texts to a model and topics, and once more, which finds all done.
func TestProgram(t *testing.T) {
	folder := t.TempDir()
	texts(t, folder)
	in := func(name string) string { return filepath.Join(folder, name) }
	var stdout, stderr bytes.Buffer
	program := func(args string) int {
		stdout.Reset()
		stderr.Reset()
		return run(context.Background(), strings.Fields(args), &stdout, &stderr)
	}
	fit := fmt.Sprintf("fit -k 3 -state %s -model %s %s", in("state"), in("a.jsmf"), in("news-*.jsonl"))
	if status := program(fit); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	if n := strings.Count(stdout.String(), "\n"); n != 3 {
		t.Errorf("%d topics:\n%s", n, &stdout)
	}
	for _, stage := range []string{"encode", "number", "refine"} {
		if !strings.Contains(stderr.String(), stage) {
			t.Errorf("no progress of %s:\n%s", stage, &stderr)
		}
	}
	m, err := jsmf.LoadModel(in("a.jsmf"))
	if err != nil || m.K() != 3 {
		t.Fatal(m, err)
	}
	topics := stdout.String()
	first, err := os.ReadFile(in("a.jsmf"))
	if err != nil {
		t.Fatal(err)
	}
	if status := program(fit + " -quiet"); status != 2 || !strings.Contains(stderr.String(), "flags stand before the shards") {
		t.Errorf("status %d: %s", status, &stderr)
	}
	if status := program(strings.Replace(fit, "fit", "fit -quiet", 1)); status != 0 || stderr.Len() > 0 || stdout.String() != topics {
		t.Errorf("again: status %d: %s%s", status, &stderr, &stdout)
	}
	if again, err := os.ReadFile(in("a.jsmf")); err != nil || !bytes.Equal(again, first) {
		t.Errorf("another model: %v", err)
	}

	status := program(fmt.Sprintf("transform -quiet -model %s -state %s -out %s %s", in("a.jsmf"), in("state"), in("topics"), in("news-*.jsonl")))
	if status != 0 || stderr.Len() > 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	files := strings.Fields(stdout.String())
	if len(files) != 4 || files[3] != in("topics/news-3.jsonl.topics.jsonl") {
		t.Errorf("files %q", files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil || strings.Count(string(b), "\n") != 60 || !strings.HasPrefix(string(b), `{"id":"0-0","topics":[`) {
		t.Errorf("%.100s: %v", b, err)
	}
}

// What is wrong is said, with the right status.
func TestStatus(t *testing.T) {
	folder := t.TempDir()
	texts(t, folder)
	state := filepath.Join(folder, "state")
	for args, want := range map[string]struct {
		status int
		says   string
	}{
		"":                   {2, "Usage:"},
		"help":               {0, "Usage:"},
		"-help":              {0, "Usage:"},
		"frobnicate":         {2, "Usage:"},
		"fit -help":          {0, "--endpoint"},
		"transform -help":    {0, "-out folder"},
		"fit":                {2, "-k 0: want at least 2 topics\njsmf-beam: -model is missing\njsmf-beam: -state is missing\njsmf-beam: no shards"},
		"transform -model m": {2, "-out is missing"},
		"fit -frobnicate":    {2, "frobnicate"},
		"fit -k x":           {2, "invalid value"},
		"fit -k 3 -model m -state " + state + " " + folder + "/none.jsonl":                   {1, "none.jsonl"},
		"fit -k 3 -model m -format csv -state " + state + " " + folder + "/news-0.jsonl":     {1, `"csv"`},
		"fit -k 3 -model m -text body -state " + state + " " + folder + "/news-0.jsonl":      {1, folder + "/news-0.jsonl:1"},
		"fit -k 3 -model m -runner nowhere -state " + state + " " + folder + "/news-0.jsonl": {1, `"nowhere"`},
	} {
		var stdout, stderr bytes.Buffer
		status := run(context.Background(), strings.Fields(args), &stdout, &stderr)
		if err := flag.Set("runner", ""); err != nil { // Beam's flags hold for the process
			t.Fatal(err)
		}
		if status != want.status || !strings.Contains(stderr.String(), want.says) {
			t.Errorf("%s: status %d, want %d:\n%s", args, status, want.status, &stderr)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	args := strings.Fields("fit -k 3 -runner prism -model m -state " + state + " " + folder + "/news-0.jsonl")
	if status := run(ctx, args, &stdout, &stderr); status != 130 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("status %d: %s", status, &stderr)
	}
}
