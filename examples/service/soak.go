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
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

// soak loads a service that runs in a process of its own and checks what it
// answers.
type soak struct {
	duration, refit      time.Duration
	scale                time.Duration
	clients, procs       int
	topics, docs, tokens int
	inferOnly, find      bool
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
	explained    []string // likewise, as explanations have them
}

func runSoak(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &soak{command: func(args ...string) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return exec.Command(self, args...)
	}}
	parse := func(args []string, stderr io.Writer) (*soak, error) { return s, s.parse(args, stderr) }
	return cli.Run("service soak", args, stderr, parse, func(s *soak) error { return s.run(ctx, stdout) })
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
	f.BoolVar(&s.find, "find", true, "ask for documents, explanations and effects too, of documents that have values in columns")
	if err := f.Parse(args); err != nil {
		return err
	}
	var wrong cli.Wrong
	for _, v := range []struct {
		name string
		bad  bool
	}{{"duration", s.duration <= 0}, {"refit", s.refit <= 0}, {"scale", s.scale < 0}, {"clients", s.clients < 1}, {"procs", s.procs < 0}, {"k", s.topics < 2}, {"docs", s.docs < 100}, {"tokens", s.tokens < 5}} {
		wrong.If(v.bad, "-%s is too small", v.name)
	}
	wrong.If(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	return wrong.Err("service soak", stderr)
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
	args := []string{"-data", filepath.Join(s.dir, "data"), "-k", fmt.Sprint(s.topics), "-keep", "1000"}
	if s.find = s.find && !s.inferOnly; s.find {
		args = append(args, "-column", "group=category", "-column", "n=number")
	}
	p, err := s.launch(s.procs, args...)
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
			fmt.Fprintf(&b, "{\"id\":\"d%d\",%s\"text\":%q}\n", i, s.values(i), s.document(rng))
		}
		if _, err := c.send(ctx, "POST", "/v1/documents", "/v1/documents", typeNDJSON, b.String(), 200); err != nil {
			return err
		}
	}
	if !s.learn(ctx, c) {
		return fmt.Errorf("no first model: %s", strings.Join(s.messages, "; "))
	}
	c.infer(ctx, 0)
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

// minSteps is how many requests each client sends at least, however slow the machine is.
const minSteps = 30

// work runs all clients for the duration. Longer than that only if a client has sent fewer
// than minSteps requests, or if there was no refit.
func (s *soak) work(all context.Context) {
	ctx, stop := context.WithTimeout(all, s.duration)
	defer stop()
	var wg sync.WaitGroup
	s.counts = make([]map[string]*latencies, s.clients)
	for i := range s.clients {
		wg.Go(func() {
			c := newClient(s, rand.New(rand.NewPCG(2, uint64(i))))
			defer c.close()
			c.name = i
			for n := 0; ctx.Err() == nil || n < minSteps && all.Err() == nil; n++ {
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
				case <-t.C:
				}
				if all.Err() != nil || ctx.Err() != nil && s.refits > 0 {
					return
				}
				s.refits++
				end := context.WithoutCancel(ctx) // one that has begun is seen to its end, and its model answers
				if s.learn(end, c) {
					c.infer(end, 0)
				}
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
