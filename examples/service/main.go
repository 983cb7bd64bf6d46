// Service infers the topics of documents over HTTP, keeps documents that are sent
// to it, and fits new models to them while it serves. README.md has a tour.
//
//	go run . -data DIR                      # serve on 127.0.0.1:8080
//	go run . soak -duration 10m             # load a service of its own and check every answer
//
// It listens on loopback only, unless -public is given: it has neither TLS nor
// passwords and belongs behind a proxy that has both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/service/internal/server"
	"github.com/jsmf-go/spectral/examples/service/internal/store"
	"github.com/jsmf-go/spectral/jsmf"
)

func main() {
	cli.Main(func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM) // as service managers end a service
		defer stop()
		return run(ctx, args, stdout, stderr)
	})
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "soak" {
		return runSoak(ctx, args[1:], stdout, stderr)
	}
	return cli.Run("service", args, stderr, parseFlags, func(o options) error { return serve(ctx, o, stdout, stderr) })
}

type options struct {
	addr, data, model, stop string
	public, verbose         bool
	grace                   time.Duration
	config                  server.Config
	store                   store.Options
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("service", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "listen on this `host:port`; port 0 takes a free one")
	f.BoolVar(&o.public, "public", false, "allow an -addr beyond this machine")
	f.StringVar(&o.data, "data", "", "keep documents and models in this `folder` (required)")
	f.StringVar(&o.model, "model", "", "begin with the model of this `file`, if the folder has none")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`; none: an English list")
	f.BoolVar(&o.verbose, "v", false, "log every request")
	f.DurationVar(&o.grace, "grace", 20*time.Second, "`time` for requests in progress when the service stops")
	c, l := &o.config, &o.config.Limits
	f.IntVar(&c.Topics, "k", 20, "`topics` of a refit")
	f.IntVar(&c.MaxWords, "words", 5000, "most `words` of the vocabulary")
	f.IntVar(&c.MinDocs, "min-docs", 5, "`documents` that must have a word before it is in the vocabulary")
	f.Func("column", "what may be known of documents besides their words, `name=kind`, where the kind is number, time or category; once for each column. Columns stay from one start to the next", func(s string) error {
		return addColumn(&c.Columns, s)
	})
	f.IntVar(&c.Window, "window", 0, "learn from this number of the last `documents` only; 0: from all")
	f.DurationVar(&c.MaxAge, "max-age", 0, "learn from documents only that were stored less than this `time` before the newest; 0: from all")
	f.DurationVar(&c.HalfLife, "half-life", 0, "a document that was stored this `time` before the newest counts half; 0: all count the same")
	f.BoolVar(&c.TrustClock, "trust-clock", false, "count the time for -max-age and -half-life that passed, as the clock says, while the service did not run")
	f.IntVar(&c.Workers, "workers", 0, "`goroutines` of a refit, at most 256; 0: half of the processors")
	f.IntVar(&o.store.KeepModels, "keep", 5, "`models` that stay on disk")
	f.Int64Var(&l.Document, "max-document", 1<<20, "most `bytes` of a document, to infer or to keep")
	f.Int64Var(&l.Stream, "max-stream", 256<<20, "most `bytes` of a stream to infer")
	f.Int64Var(&l.Upload, "max-upload", 32<<20, "most `bytes` of a part of the corpus")
	f.IntVar(&l.Documents, "max-documents", 10_000, "most `documents` of a part of the corpus")
	f.Int64Var(&l.Work, "max-work", 512<<20, "most `bytes` of memory for requests in progress, in addition to documents and model; at least 512 times -max-document")
	f.Int64Var(&l.Memory, "max-memory", 4<<30, "most `bytes` of memory for documents that are kept")
	f.Int64Var(&l.Fit, "max-fit", 4<<30, "most `bytes` of memory for a refit, which beyond that does not begin")
	f.DurationVar(&l.Effects, "max-effects", 10*time.Minute, "most `time` after a refit or a start to measure how topics depend on columns, which others are left out of")
	f.IntVar(&l.Requests, "max-requests", 256, "most `requests` in progress")
	f.IntVar(&l.PerClient, "max-per-client", 0, "most `requests` in progress of one address, which may also have half of the memory for bodies; 0: half of -max-requests")
	f.StringVar(&c.ClientHeader, "client-header", "", "the `header` that the proxy in front appends the client's address to, such as X-Forwarded-For: the last address in it counts. Only where clients cannot pass the proxy by; none: the address of the connection counts")
	f.IntVar(&l.Connections, "max-connections", 1024, "most `connections`, beyond which the one that is idle longest is closed")
	f.DurationVar(&l.Request, "timeout", time.Minute, "most `time` of a request")
	f.Int64Var(&l.Rate, "min-rate", 128, "least `bytes` a second of a body, over each -stall of waiting for it")
	f.DurationVar(&l.Stall, "stall", 10*time.Second, "most `time` to wait for a client's next bytes")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: service -data DIR [flags]\n       service soak [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.data == "", "-data is missing")
	f.VisitAll(func(f *flag.Flag) {
		zero := f.DefValue == "0" || f.DefValue == "0s" // means something
		v, ok := f.Value.(flag.Getter)
		if !ok {
			return
		}
		switch v := v.Get().(type) {
		case int:
			bad(v < 1 && !zero, "-%s %d: want at least 1", f.Name, v)
			bad(v < 0 && zero, "-%s %d: want 0 or more", f.Name, v)
		case int64:
			bad(v < 1, "-%s %d: want at least 1", f.Name, v)
		case time.Duration:
			bad(v <= 0 && !zero, "-%s %v: want more than 0", f.Name, v)
			bad(v < 0 && zero, "-%s %v: want 0 or more", f.Name, v)
		}
	})
	bad(c.Topics == 1, "-k 1: want at least 2")
	bad(c.Workers > server.MaxWorkers, "-workers %d: want at most %d", c.Workers, server.MaxWorkers)
	host, _, err := net.SplitHostPort(o.addr)
	bad(err != nil, "-addr %q: want host:port", o.addr)
	if err == nil {
		if loopback(host) {
			c.Hosts = []string{"localhost", "127.0.0.1", "::1", host}
		} else {
			bad(!o.public, "-addr %s can be reached from other machines: say -public too if that is meant", o.addr)
		}
	}
	return o, wrong.Err("service", stderr)
}

// addColumn adds the column that a flag names.
func addColumn(columns *[]corpus.Column, s string) error {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return errors.New("want name=kind")
	}
	for _, kind := range []corpus.Kind{corpus.Number, corpus.Time, corpus.Category} {
		if s[i+1:] == kind.String() {
			*columns = append(*columns, corpus.Column{Name: s[:i], Kind: kind})
			return nil
		}
	}
	return fmt.Errorf("the kind is %q; want number, time or category", s[i+1:])
}

// loopback reports whether a host is this machine and no name service can make it
// another.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func serve(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	o.config.Log, o.store.Log = log, log
	o.config.MemoryLimit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
	if o.stop != "" {
		words, err := corpus.ReadStopWords(ctx, corpus.File{Name: o.stop})
		if err != nil {
			return err
		}
		o.config.StopWords = words
	}
	st, err := store.Open(ctx, o.data, o.store)
	if err != nil {
		return err
	}
	s, err := server.Open(ctx, st, o.config)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.model != "" {
		m, err := jsmf.LoadModel(o.model)
		if err != nil {
			return err
		}
		taken, err := s.Import(ctx, m)
		if err != nil {
			return err
		}
		if !taken {
			log.Warn("-model is not used: the folder has models of its own", "file", o.model)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !o.public { // localhost need not be loopback
		return errors.Join(fmt.Errorf("%s can be reached from other machines: say -public too if that is meant", l.Addr()), l.Close())
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	log.Info("listening", "address", l.Addr().String(), "pid", os.Getpid())
	return s.Serve(ctx, l, o.grace)
}
