package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("SERVICE_TEST_DATA"); dir != "" {
		child(dir, os.Getenv("SERVICE_TEST_KILL_AT"))
		return
	}
	if os.Getenv("SERVICE_TEST_RUN") != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// text draws a document of some of k topics.
func text(rng *rand.Rand, k, words int) string {
	a, b := rng.IntN(k), rng.IntN(k)
	s := make([]string, words)
	for i := range s {
		t := a
		if rng.IntN(2) == 0 {
			t = b
		}
		s[i] = fmt.Sprintf("topic%cword%c", 'a'+t, 'a'+min(int(rng.ExpFloat64()*3), 25))
	}
	return strings.Join(s, " ")
}

// invoke runs the program and returns what it printed, failing on any other
// exit status than want.
func invoke(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, &out, &errs); got != want {
		t.Fatalf("%q: exit status %d, want %d\n%s", args, got, want, errs.String())
	}
	return out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"-data is missing":                  {},
		"unexpected argument":               {"-data", dir, "x"},
		"-k 1: want at least 2":             {"-data", dir, "-k", "1"},
		"-words -3: want at least 1":        {"-data", dir, "-words", "-3"},
		"-workers -1: want 0 or more":       {"-data", dir, "-workers", "-1"},
		"-workers 257: want at most 256":    {"-data", dir, "-workers", "257"},
		"-window -1: want 0 or more":        {"-data", dir, "-window", "-1"},
		"-max-age -1s: want 0 or more":      {"-data", dir, "-max-age", "-1s"},
		"-half-life -1h0m0s: want 0 or":     {"-data", dir, "-half-life", "-1h"},
		"-half-life: parse error":           {"-data", dir, "-half-life", "7"},
		"-max-work 0: want at least 1":      {"-data", dir, "-max-work", "0"},
		"-min-rate 0: want at least 1":      {"-data", dir, "-min-rate", "0"},
		"-max-per-client -1: want 0 or":     {"-data", dir, "-max-per-client", "-1"},
		"-stall 0s: want more than 0":       {"-data", dir, "-stall", "0s"},
		"want name=kind":                    {"-data", dir, "-column", "year"},
		"the kind is \"date\"; want number": {"-data", dir, "-column", "day=date"},
		"-addr \"8080\"":                    {"-data", dir, "-addr", "8080"},
		"-addr :8080 can be reached":        {"-data", dir, "-addr", ":8080"},
		"-addr 0.0.0.0:80 can be reached":   {"-data", dir, "-addr", "0.0.0.0:80"},
		"-addr [::]:80 can be reached":      {"-data", dir, "-addr", "[::]:80"},
		"-addr example.org:80 can be reach": {"-data", dir, "-addr", "example.org:80"},
		"flag provided but not defined: -n": {"-nonsense"},
	} {
		if _, errs := invoke(t, 2, args...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
	invoke(t, 0, "-help")
	for _, addr := range []string{"127.0.0.1:80", "127.1.2.3:0", "[::1]:80", "localhost:80"} {
		var errs bytes.Buffer
		if o, err := parseFlags([]string{"-data", dir, "-addr", addr}, &errs); err != nil || o.config.Hosts == nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	var errs bytes.Buffer
	if o, err := parseFlags([]string{"-data", dir, "-addr", ":80", "-public"}, &errs); err != nil || o.config.Hosts != nil {
		t.Errorf("-public: %v", err)
	}
	if o, err := parseFlags([]string{"-data", dir, "-column", "year=number", "-column", "a=b=category", "-column", "day=time"}, &errs); err != nil || fmt.Sprint(o.config.Columns) != "[{year number  []} {a=b category  []} {day time  []}]" {
		t.Errorf("-column: %v, %v", o.config.Columns, err)
	}
	if _, errs := invoke(t, 1, "-data", dir, "-addr", "127.0.0.1:0", "-model", dir+"/no-such"); !strings.Contains(errs, "no-such") {
		t.Errorf("a model that is not there: %s", errs)
	}
}

// The soak runs for two seconds, with a refit in each half.
func TestSoak(t *testing.T) {
	s := &soak{command: func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "SERVICE_TEST_RUN=1")
		return cmd
	}}
	if err := s.parse([]string{"-duration", "2s", "-refit", "700ms", "-clients", "4", "-k", "4", "-docs", "300", "-tokens", "30", "-scale", "400ms"}, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.run(context.Background(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "no error") || !strings.Contains(out.String(), "two cores to one: ×") || !strings.Contains(out.String(), "POST /v1/infer ×20") || !strings.Contains(out.String(), "POST /v1/explain") || !strings.Contains(out.String(), "/v1/documents/{id}/similar") || len(s.expected) < 2 || s.answers.Load() < 100 {
		t.Errorf("%d models, %d answers\n%s", len(s.expected), s.answers.Load(), out.String())
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
	t.Log("\n" + out.String())

	// It finds answers that are not those of the model.
	for name := range s.expected {
		s.dir, s.messages = t.TempDir(), nil
		s.failures.Store(0)
		version, sum, _ := strings.Cut(name, "-")
		s.verify(fmt.Appendf(nil, `{"model":{"version":%s,"checksum":%q},"composition":[1,0,0,0]}`, strings.TrimLeft(version, "0"), sum), 0, 0, "")
		s.verifyExplained(fmt.Appendf(nil, `{"model":{"version":%s,"checksum":%q},"composition":[1,0,0,0]}`, strings.TrimLeft(version, "0"), sum), 0)
		s.verifyEffects([]byte(`{"rows":[{"point":"a","measure":"prediction","value":0.5},{"point":"b","measure":"prediction","value":1}]}`))
		s.verifyEffects([]byte(`{"status":503,"detail":"later"}`))
		if n := s.failures.Load(); n != 3 || !strings.Contains(s.messages[0], "instead of") || !strings.Contains(s.messages[1], "explained") || !strings.Contains(s.messages[2], "add up to 0.5") {
			t.Errorf("three wrong answers: %d failures, %q", n, s.messages)
		}
	}
	if err := s.parse([]string{"-clients", "0", "-k", "1", "x"}, io.Discard); err == nil {
		t.Error("wrong flags are taken")
	}
}

// What the soak says of cores, and of who has used them.
func TestCores(t *testing.T) {
	one := &coreLoad{cores: 1, docs: 10_000, wall: 10, cpu: 10, client: 1}
	for _, c := range []struct {
		two  coreLoad
		cpus int
		want []string
	}{
		{coreLoad{cores: 2, docs: 19_000, wall: 10, cpu: 20, client: 2}, 4, []string{"×1.90 by the clock; ×1.90 by what"}},
		{coreLoad{cores: 2, docs: 16_000, wall: 10, cpu: 16, client: 4}, 2, []string{"×1.60 by the clock; ×2.00 by what", "the clients are the bottleneck on two cores: they take 0.40 of the machine's 2, the service gets 1.60"}},
		{coreLoad{cores: 2, docs: 10_000, wall: 10, cpu: 10, client: 1}, 2, []string{"used 1.00 of its two cores: the machine had other things to do"}},
		{coreLoad{cores: 2, docs: 10_000, wall: 10, cpu: 10, client: 1}, 1, []string{"the machine has one core"}},
		{coreLoad{cores: 2, docs: 10_000, wall: 10, cpu: 10, client: math.NaN()}, 2, []string{"used 1.00 of its two cores"}},
	} {
		var b strings.Builder
		printCores(&b, one, &c.two, c.cpus)
		for _, w := range c.want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%+v: %q is not in\n%s", c.two, w, b.String())
			}
		}
		if n := strings.Count(b.String(), "\n"); n < 4 || n > 5 {
			t.Errorf("%+v: %d lines", c.two, n)
		}
	}
}

// The lines of the README work, in their order.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"curl", "sh", "gzip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s to try the README with", tool)
		}
	}
	readme, err := os.ReadFile("README.md")
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
		fmt.Fprintf(&docs, "{\"id\":\"a%d\",\"text\":%q}\n", i, text(rng, 4, 40))
	}
	if err := os.WriteFile(filepath.Join(dir, "docs.ndjson"), []byte(docs.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"-data", filepath.Join(dir, "data"), "-addr", "127.0.0.1:0", "-k", "4"}, in, io.Discard)
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
