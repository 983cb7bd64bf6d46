package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestServeUsage(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"want -data FOLDER":                 {},
		"unexpected argument":               {"-data", dir, "x"},
		"-k 1: want at least 2":             {"-data", dir, "-k", "1"},
		"-max-words -3: want more than 0":   {"-data", dir, "-max-words", "-3"},
		"-workers -1: want 0 or more":       {"-data", dir, "-workers", "-1"},
		"Workers is 257; want at most 256":  {"-data", dir, "-workers", "257"},
		"-window -1: want 0 or more":        {"-data", dir, "-window", "-1"},
		"-max-age -1s: want 0 or more":      {"-data", dir, "-max-age", "-1s"},
		"-half-life -1h0m0s: want 0 or":     {"-data", dir, "-half-life", "-1h"},
		"-half-life: parse error":           {"-data", dir, "-half-life", "7"},
		"-max-work 0: want more than 0":     {"-data", dir, "-max-work", "0"},
		"-min-rate 0: want more than 0":     {"-data", dir, "-min-rate", "0"},
		"-max-per-client -1: want 0 or":     {"-data", dir, "-max-per-client", "-1"},
		"-stall 0s: want more than 0":       {"-data", dir, "-stall", "0s"},
		"another column has this name":      {"-data", dir, "-number", "year", "-class", "of,year"},
		"-addr \"8080\"":                    {"-data", dir, "-addr", "8080"},
		"-addr :8080 can be reached":        {"-data", dir, "-addr", ":8080"},
		"-addr 0.0.0.0:80 can be reached":   {"-data", dir, "-addr", "0.0.0.0:80"},
		"-addr [::]:80 can be reached":      {"-data", dir, "-addr", "[::]:80"},
		"-addr example.org:80 can be reach": {"-data", dir, "-addr", "example.org:80"},
		"flag provided but not defined: -n": {"-nonsense"},
	} {
		if _, errs := invoke(t, 2, append([]string{"serve"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
	for want, args := range map[string][]string{
		"no-such":               {"-model", dir + "/no-such"},
		"none of the languages": {"-stop", "en,xx"},
	} {
		if _, errs := invoke(t, 1, append([]string{"serve", "-data", dir, "-addr", "127.0.0.1:0"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
	parsed := func(args ...string) *options {
		t.Helper()
		for _, c := range commands() {
			if c.name == "serve" {
				o, err := c.parse(append([]string{"-data", dir}, args...), io.Discard)
				if err != nil {
					t.Fatalf("%q: %v", args, err)
				}
				return o
			}
		}
		panic("no serve")
	}
	for _, addr := range []string{"127.0.0.1:80", "127.1.2.3:0", "[::1]:80", "localhost:80"} {
		if parsed("-addr", addr).served.settings.Hosts == nil {
			t.Errorf("%s answers to any name", addr)
		}
	}
	if parsed("-addr", ":80", "-public").served.settings.Hosts != nil {
		t.Error("-public answers to the names of loopback only")
	}
	if got := fmt.Sprint(parsed("-number", "year,pages", "-class", "a=b", "-time", "day").served.settings.Columns); got != "[{day time  []} {a=b category  []} {year number  []} {pages number  []}]" {
		t.Errorf("the columns are %s", got)
	}
}

// The lines of the README work, in their order.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"curl", "sh", "gzip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s to try the README with", tool)
		}
	}
	readme, err := os.ReadFile("../../serve/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(readme), "```sh\n")
	block, _, ok2 := strings.Cut(block, "```")
	if !ok || !ok2 {
		t.Fatal("the README has no block of commands")
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 3))
	var docs strings.Builder
	for i := range 200 {
		words := make([]string, 40)
		for w := range words {
			words[w] = groups[(i+rng.IntN(2))%4][rng.IntN(36)]
		}
		fmt.Fprintf(&docs, "{\"id\":\"a%d\",\"text\":%q}\n", i, strings.Join(words, " "))
	}
	if err := os.WriteFile(filepath.Join(dir, "docs.ndjson"), []byte(docs.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"serve", "-data", filepath.Join(dir, "data"), "-addr", "127.0.0.1:0", "-k", "4", "-number", "year"}, streams{out: in, err: io.Discard})
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	sh := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(strings.ReplaceAll(command, "http://127.0.0.1:8080", base), "curl ", "curl --fail-with-body "))
		cmd.Dir = dir
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, b)
		}
		return string(b)
	}
	n := 0
	for _, command := range strings.Split(block, "\n") {
		if command == "" || strings.HasPrefix(command, "#") {
			continue
		}
		n++
		b := sh(command)
		switch {
		case strings.Contains(command, "POST") && !strings.Contains(b, `"state":"running"`),
			strings.Contains(command, "@docs.ndjson") && strings.HasSuffix(command, "documents") && b != "{\"stored\":200}\n",
			strings.HasSuffix(command, "infer") && strings.Contains(command, "docs") && strings.Count(b, "\n") != 200:
			t.Errorf("%s: %.500s", command, b)
		}
		for strings.Contains(command, "/v1/refit") && strings.Contains(b, `"running"`) {
			b = sh("curl -s http://127.0.0.1:8080/v1/refit")
		}
	}
	if page, err := os.ReadFile(filepath.Join(dir, "report.html")); n < 12 || err != nil || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("%d commands; the report: %v", n, err)
	}
	stop()
	if got := <-status; got != 0 {
		t.Errorf("exit status %d", got)
	}
}
