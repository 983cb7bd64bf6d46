package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
)

// soak loads a service that runs in a process of its own and checks what it
// answers.
type soak struct {
	duration, refit      time.Duration
	scale                time.Duration
	clients, procs       int
	topics, docs, tokens int
	inferOnly            bool
	command              func(args ...string) *exec.Cmd // the service
	dir, base            string
	pool                 []string // documents to infer
	one                  []string // each as JSON
	expected             map[string]*expectation
	mu                   sync.Mutex // guards expected and messages
	messages             []string
	failures, answers    atomic.Int64
	counts               []map[string]*latencies // of each client, by route
	samples              []sample
	refits               int
}

// expectation is what a model must answer for the documents of the pool, made
// from its file when it first answers.
type expectation struct {
	once         sync.Once
	err          error
	compositions []string // in JSON
}

func runSoak(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &soak{command: func(args ...string) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return exec.Command(self, args...)
	}}
	err := s.parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	return cli.Status("service soak", stderr, s.run(ctx, stdout))
}

func (s *soak) parse(args []string, stderr io.Writer) error {
	f := flag.NewFlagSet("service soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&s.duration, "duration", 10*time.Minute, "how `long`")
	f.DurationVar(&s.refit, "refit", time.Minute, "`time` from a refit to the next")
	f.IntVar(&s.clients, "clients", 32, "`clients`, each of which sends the next request when it has the answer to the one before")
	f.IntVar(&s.procs, "procs", 0, "GOMAXPROCS of the service; 0: as it is")
	f.IntVar(&s.topics, "k", 20, "`topics`")
	f.IntVar(&s.docs, "docs", 2000, "`documents` to begin with")
	f.IntVar(&s.tokens, "tokens", 100, "`tokens` of a document")
	f.DurationVar(&s.scale, "scale", 20*time.Second, "then compare one core with two, so `long` each; 0: do not")
	f.BoolVar(&s.inferOnly, "infer", false, "infer only: no other requests, no refits")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	for _, v := range []struct {
		name string
		bad  bool
	}{{"duration", s.duration <= 0}, {"refit", s.refit <= 0}, {"scale", s.scale < 0}, {"clients", s.clients < 1}, {"procs", s.procs < 0}, {"k", s.topics < 2}, {"docs", s.docs < 100}, {"tokens", s.tokens < 5}} {
		if v.bad {
			err = errors.Join(err, fmt.Errorf("-%s is too small", v.name))
		}
	}
	if f.NArg() > 0 {
		err = errors.Join(err, fmt.Errorf("unexpected argument %q", f.Arg(0)))
	}
	if err != nil {
		fmt.Fprintf(stderr, "service soak: %v\n", err)
	}
	return err
}

// document draws a document of one to three topics, each with words of its own
// and some that are common.
func (s *soak) document(rng *rand.Rand) string {
	mine := make([]int, 1+rng.IntN(3))
	for i := range mine {
		mine[i] = rng.IntN(s.topics)
	}
	words := make([]string, s.tokens)
	for i := range words {
		rank := int(3 * math.Expm1(5*rng.Float64())) // a long tail: up to 440
		if rng.IntN(5) == 0 {
			words[i] = fmt.Sprintf("common%d", rank)
		} else {
			words[i] = fmt.Sprintf("topic%dword%d", mine[rng.IntN(len(mine))], rank)
		}
		words[i] = strings.Map(func(r rune) rune { // letters only, as in texts
			if r >= '0' && r <= '9' {
				return 'a' + r - '0'
			}
			return r
		}, words[i])
	}
	return strings.Join(words, " ")
}

func (s *soak) run(ctx context.Context, stdout io.Writer) (err error) {
	if s.dir, err = os.MkdirTemp("", "service-soak-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	rng := rand.New(rand.NewPCG(1, 1))
	s.expected = make(map[string]*expectation)
	for range 200 {
		d := s.document(rng)
		s.pool = append(s.pool, d)
		s.one = append(s.one, fmt.Sprintf("{\"text\":%q}\n", d))
	}
	p, err := s.launch(s.procs, "-data", filepath.Join(s.dir, "data"), "-k", fmt.Sprint(s.topics), "-keep", "1000")
	if err != nil {
		return err
	}
	defer p.kill() // where something goes wrong
	s.base = p.base
	if err := s.load(ctx, rng); err != nil {
		return err
	}
	begun := time.Now()
	s.work(ctx)
	took := time.Since(begun)
	end, err := sampleOf(p.base)
	if err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if i := strings.Index(p.log.String(), "level=ERROR"); i >= 0 {
		s.failed("the service logged an error: %.300s", p.log.String()[i:])
	}
	if err := s.report(stdout, took, end); err != nil {
		return err
	}
	if s.scale > 0 && ctx.Err() == nil {
		return s.compareCores(ctx, stdout)
	}
	return nil
}

// process is a service in a process of its own.
type process struct {
	cmd   *exec.Cmd
	base  string
	log   bytes.Buffer
	ended bool
}

// launch starts a service and waits until it listens; procs is its GOMAXPROCS, 0:
// as it is.
func (s *soak) launch(procs int, args ...string) (*process, error) {
	p := &process{cmd: s.command(append(args, "-addr", "127.0.0.1:0")...)}
	if procs > 0 {
		p.cmd.Env = append(p.cmd.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	sc := bufio.NewScanner(out)
	if !sc.Scan() {
		p.kill()
		return nil, fmt.Errorf("the service did not start:\n%s", p.log.String())
	}
	p.base = strings.TrimPrefix(sc.Text(), "listening on ")
	return p, nil
}

// kill ends a process that has not been stopped.
func (p *process) kill() {
	if !p.ended {
		p.ended = true
		_ = p.cmd.Process.Kill() // it may have ended by itself
		_ = p.cmd.Wait()
	}
}

// stop ends a process as service managers do, where there is a way.
func (p *process) stop() error {
	if runtime.GOOS == "windows" {
		p.kill()
		return nil
	}
	p.ended = true
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the service did not end well: %w\n%s", err, p.log.String())
	}
	return nil
}

// load stores the first documents and makes the first model.
func (s *soak) load(ctx context.Context, rng *rand.Rand) error {
	c := newClient(s, rng)
	defer c.close()
	for first := 0; first < s.docs; first += 500 {
		var b strings.Builder
		for i := first; i < min(first+500, s.docs); i++ {
			fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q}\n", i, s.document(rng))
		}
		if _, err := c.send(ctx, "POST", "/v1/documents", "/v1/documents", typeNDJSON, b.String(), 200); err != nil {
			return err
		}
	}
	if !s.learn(ctx, c) {
		return fmt.Errorf("no first model: %s", strings.Join(s.messages, "; "))
	}
	return nil
}

// learn has the service refit and waits for the end.
func (s *soak) learn(ctx context.Context, c *client) bool {
	if _, err := c.send(ctx, "POST", "/v1/refit", "/v1/refit", "", "", 202); err != nil {
		s.failed("%v", err)
		return false
	}
	for ctx.Err() == nil {
		b, err := c.send(ctx, "GET", "/v1/refit", "/v1/refit", "", "", 200)
		if err != nil {
			s.failed("%v", err)
			return false
		}
		var st struct{ State, Error string }
		if err := json.Unmarshal(b, &st); err != nil || st.State != "running" {
			if st.State != "done" {
				s.failed("refit %s: %s %v", st.State, st.Error, err)
				return false
			}
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// work runs all clients for the duration.
func (s *soak) work(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, s.duration)
	defer stop()
	var wg sync.WaitGroup
	s.counts = make([]map[string]*latencies, s.clients)
	for i := range s.clients {
		wg.Go(func() {
			c := newClient(s, rand.New(rand.NewPCG(2, uint64(i))))
			defer c.close()
			c.name = i
			for ctx.Err() == nil {
				c.step(ctx)
			}
			s.counts[i] = c.took
		})
	}
	if !s.inferOnly {
		wg.Go(func() {
			c := newClient(s, nil)
			defer c.close()
			t := time.NewTicker(s.refit)
			defer t.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-t.C:
				}
				s.refits++
				s.learn(context.WithoutCancel(ctx), c) // one that has begun is seen to its end
			}
		})
	}
	wg.Go(func() {
		t := time.NewTicker(max(s.duration/600, 100*time.Millisecond))
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			x, err := sampleOf(s.base)
			if err != nil {
				s.failed("%v", err)
				continue
			}
			s.samples = append(s.samples, x)
		}
	})
	wg.Wait()
}

func (s *soak) failed(format string, args ...any) {
	s.failures.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.messages) < 10 {
		s.messages = append(s.messages, fmt.Sprintf(format, args...))
	}
}

const typeNDJSON = "application/x-ndjson"

// client sends one request after the other.
type client struct {
	s    *soak
	name int
	http *http.Client
	rng  *rand.Rand
	took map[string]*latencies
	ids  []string // of documents of its own, the oldest first
	next int
}

func newClient(s *soak, rng *rand.Rand) *client {
	return &client{s: s, rng: rng, took: make(map[string]*latencies), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// send sends a request and returns the answer, whose status must be want.
func (c *client) send(ctx context.Context, method, route, path, contentType, body string, want int) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	begun := time.Now()
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	name := method + " " + route
	if contentType == typeNDJSON && route == "/v1/infer" {
		name += " ×20"
	}
	if c.took[name] == nil {
		c.took[name] = new(latencies)
	}
	c.took[name].add(time.Since(begun))
	if resp.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, b)
	}
	return b, nil
}

// step sends a request, of a kind by chance.
func (c *client) step(ctx context.Context) {
	// A request that has begun is finished, so that the end is no error.
	ctx = context.WithoutCancel(ctx)
	get := func(route, path string) {
		if _, err := c.send(ctx, "GET", route, path, "", "", 200); err != nil {
			c.s.failed("%v", err)
		}
	}
	kind := c.rng.IntN(100)
	if c.s.inferOnly {
		kind %= 80
	}
	switch {
	case kind < 70:
		d := c.rng.IntN(len(c.s.pool))
		b, err := c.send(ctx, "POST", "/v1/infer", "/v1/infer", "application/json", c.s.one[d], 200)
		if err != nil {
			c.s.failed("%v", err)
			return
		}
		c.s.verify(b, d, 0, "")
	case kind < 80:
		first := c.rng.IntN(len(c.s.pool) - 20)
		b, err := c.send(ctx, "POST", "/v1/infer", "/v1/infer", typeNDJSON, strings.Join(c.s.one[first:first+20], ""), 200)
		if err != nil {
			c.s.failed("%v", err)
			return
		}
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		if len(lines) != 20 {
			c.s.failed("%d answers for 20 documents: %.200s", len(lines), b)
			return
		}
		model := ""
		for i, line := range lines {
			model = c.s.verify(line, first+i, i+1, model)
		}
	case kind < 84:
		get("/v1/topics", "/v1/topics")
	case kind < 87:
		get("/v1/topics/{topic}", fmt.Sprintf("/v1/topics/%d", c.rng.IntN(c.s.topics)))
	case kind < 89:
		get("/v1/correlations", "/v1/correlations")
	case kind < 90:
		get("/v1/report", "/v1/report")
	case kind < 91:
		get("/metrics", "/metrics")
	case kind < 93:
		get("/readyz", "/readyz")
	case kind < 95:
		get("/v1/documents", "/v1/documents")
	case len(c.ids) < 20: // stores
		var b strings.Builder
		var ids []string
		for range 5 {
			id := fmt.Sprintf("c%d-%d", c.name, c.next)
			c.next++
			ids = append(ids, id)
			fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q}\n", id, c.s.document(c.rng))
		}
		switch _, err := c.send(ctx, "POST", "/v1/documents", "/v1/documents", typeNDJSON, b.String(), 200); {
		case err != nil && strings.Contains(err.Error(), "429 "): // asked to come again later; nothing is stored
			c.next -= 5
		case err != nil:
			c.s.failed("%v", err)
		default:
			c.ids = append(c.ids, ids...)
		}
	default: // deletes what it stored first
		if _, err := c.send(ctx, "DELETE", "/v1/documents/{id}", "/v1/documents/"+c.ids[0], "", "", 200); err != nil {
			c.s.failed("%v", err)
		}
		c.ids = c.ids[1:]
	}
}

// verify checks that an answer for document d is, to the last digit, that of the
// model it names, and that this is the one given, unless that is "". It returns
// the model.
func (s *soak) verify(b []byte, d, line int, model string) string {
	var a struct {
		Model struct {
			Version  int
			Checksum string
		}
		Line        int
		Composition json.RawMessage
	}
	if err := json.Unmarshal(b, &a); err != nil {
		s.failed("%v in %.200s", err, b)
		return model
	}
	s.answers.Add(1)
	if a.Line != line {
		s.failed("the answer for line %d is for line %d", line, a.Line)
	}
	name := fmt.Sprintf("%08d-%s", a.Model.Version, a.Model.Checksum)
	if model != "" && name != model {
		s.failed("the answers of a stream are of models %s and %s", model, name)
	}
	s.mu.Lock()
	e := s.expected[name]
	if e == nil {
		e = new(expectation)
		s.expected[name] = e
	}
	s.mu.Unlock()
	e.once.Do(func() { e.compositions, e.err = s.expect(name) })
	switch {
	case e.err != nil:
		s.failed("model %s: %v", name, e.err)
	case string(a.Composition) != e.compositions[d]:
		s.failed("model %s, document %d: %.100s instead of %.100s", name, d, a.Composition, e.compositions[d])
	}
	return name
}

// expect computes what a model must answer, from its file.
func (s *soak) expect(name string) ([]string, error) {
	m, err := jsmf.LoadModel(filepath.Join(s.dir, "data", "models", name+".jsmf"))
	if err != nil {
		return nil, err
	}
	p, err := m.Inferer(context.Background(), nil, infer.Options{})
	if err != nil {
		return nil, err
	}
	w := make([]float64, m.K())
	var out []string
	for _, text := range s.pool {
		ids, counts, _ := m.Words(text)
		if _, err := p.InferTo(w, ids, counts); err != nil {
			return nil, err
		}
		b, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		out = append(out, string(b))
	}
	return out, nil
}

// latencies counts times in buckets that are 2 % wide.
type latencies struct {
	n       int
	largest time.Duration
	buckets [1200]int
}

func (l *latencies) add(d time.Duration) {
	l.n++
	l.largest = max(l.largest, d)
	i := 0
	if d > time.Microsecond {
		i = min(int(math.Log(float64(d)/float64(time.Microsecond))/math.Log(1.02)), len(l.buckets)-1)
	}
	l.buckets[i]++
}

func (l *latencies) merge(o *latencies) {
	l.n += o.n
	l.largest = max(l.largest, o.largest)
	for i, n := range o.buckets {
		l.buckets[i] += n
	}
}

// quantile returns a time that a part q of all do not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	left := int(math.Ceil(q * float64(l.n)))
	for i, n := range l.buckets {
		if left -= n; left <= 0 {
			return min(time.Duration(float64(time.Microsecond)*math.Pow(1.02, float64(i+1))), l.largest)
		}
	}
	return l.largest
}

// sample is what the service's metrics say at a time.
type sample struct{ goroutines, rss, live, cpu, log float64 }

func sampleOf(base string) (x sample, err error) {
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		return x, err
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		name, value, _ := strings.Cut(sc.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // a comment
		}
		switch name {
		case "go_goroutines":
			x.goroutines = v
		case "process_resident_memory_bytes":
			x.rss = v
		case "go_gc_heap_live_bytes":
			x.live = v
		case "process_cpu_seconds_total":
			x.cpu = v
		case "topics_log_bytes":
			x.log = v
		}
	}
	return x, sc.Err()
}

// growth compares the last quarter of the samples with the second, each by its
// quantile q: 1 is the largest, for what refits need too, and a small q is for
// what there is between them.
func growth(samples []sample, q float64, of func(sample) float64) (second, last, ratio float64) {
	n := len(samples) / 4
	quantile := func(part []sample) float64 {
		var v []float64
		for _, x := range part {
			v = append(v, of(x))
		}
		slices.Sort(v)
		return v[int(q*float64(len(v)-1))]
	}
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	second, last = quantile(samples[n:2*n]), quantile(samples[len(samples)-n:])
	return second, last, last / second
}

func (s *soak) report(w io.Writer, took time.Duration, end sample) error {
	all := make(map[string]*latencies)
	total := 0
	for _, counts := range s.counts {
		for name, l := range counts {
			if all[name] == nil {
				all[name] = new(latencies)
			}
			all[name].merge(l)
			total += l.n
		}
	}
	fmt.Fprintf(w, "%d clients for %.0f s: %d requests, %.0f a second; %d documents inferred, %.0f a second, each compared with its model\n",
		s.clients, took.Seconds(), total, float64(total)/took.Seconds(), s.answers.Load(), float64(s.answers.Load())/took.Seconds())
	fmt.Fprintf(w, "%d models answered; %d refits under load; CPU of the service %.0f s\n", len(s.expected), s.refits, end.cpu)
	fmt.Fprintf(w, "%-32s %10s %10s %10s %10s\n", "route", "requests", "p50 ms", "p99 ms", "max ms")
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	for _, name := range names {
		l := all[name]
		fmt.Fprintf(w, "%-32s %10d %10.2f %10.2f %10.2f\n", name, l.n, ms(l.quantile(0.5)), ms(l.quantile(0.99)), ms(l.largest))
	}
	fmt.Fprintf(w, "%-32s %10s %10s %10s\n", "", "2nd quarter", "last", "ratio")
	long := s.duration >= 2*time.Minute
	for _, g := range []struct {
		name    string
		unit, q float64
		of      func(sample) float64
		limit   float64 // of the ratio
	}{
		{"goroutines, least", 1, 0.05, func(x sample) float64 { return x.goroutines }, 1.1},
		{"resident memory, most, MB", 1e6, 1, func(x sample) float64 { return x.rss }, 1.15},
		{"live heap, least, MB", 1e6, 0.05, func(x sample) float64 { return x.live }, 1.15},
		{"log, most, MB", 1e6, 1, func(x sample) float64 { return x.log }, math.Inf(1)},
	} {
		second, last, ratio := growth(s.samples, g.q, g.of)
		fmt.Fprintf(w, "%-32s %10.1f %10.1f %10.3f\n", g.name, second/g.unit, last/g.unit, ratio)
		if long && ratio > g.limit {
			s.failed("%s grew by the factor %.2f", g.name, ratio)
		}
	}
	if n := s.failures.Load(); n > 0 {
		return fmt.Errorf("%d failures, the first: %s", n, strings.Join(s.messages, "\n"))
	}
	fmt.Fprintln(w, "no error")
	return nil
}
