package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/serve"
	"github.com/jsmf-go/spectral/jsmf/serve/prom"
)

// served is what the command line says to spectral serve alone.
type served struct {
	addr, data, model string
	public, verbose   bool
	grace             time.Duration
	settings          serve.Settings
}

func (o *options) serveFlags(f *flag.FlagSet) {
	s := &o.served
	c, l := &s.settings, &s.settings.Limits
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "listen on this `host:port`; port 0 takes a free one")
	f.BoolVar(&s.public, "public", false, "allow an -addr beyond this machine; there is no TLS and no password")
	f.StringVar(&s.data, "data", "", "keep documents and models in this `folder`, which is made if it is missing (required)")
	f.StringVar(&s.model, "model", "", "begin with the model of this `file`, if the folder has none")
	f.BoolVar(&s.verbose, "v", false, "log every request")
	f.DurationVar(&s.grace, "grace", 20*time.Second, "`time` for requests in progress when the service stops")
	f.IntVar(&o.topics, "k", 20, "the number of topics")
	f.StringVar(&o.stop, "stop", "en", "words to leave out: a `file` with one a line, or languages, as en,de")
	f.StringVar(&o.time, "time", "", "`columns` with dates or times, with commas between; columns stay from one start to the next")
	f.StringVar(&o.class, "class", "", "`columns` with classes, such as the author, with commas between")
	f.StringVar(&o.number, "number", "", "`columns` with numbers, with commas between")
	f.IntVar(&c.MaxWords, "max-words", 5000, "most `words` of the vocabulary")
	f.IntVar(&c.MinDocs, "min-docs", 5, "`documents` that must have a word before it is in the vocabulary")
	f.IntVar(&c.Window, "window", 0, "learn from this number of the last `documents` only; 0: from all")
	f.DurationVar(&c.MaxAge, "max-age", 0, "learn only from documents that were stored less than this `time` before the newest; 0: from all")
	f.DurationVar(&c.HalfLife, "half-life", 0, "a document that was stored this `time` before the newest counts half; 0: all count the same")
	f.BoolVar(&c.TrustClock, "trust-clock", false, "count the time for -max-age and -half-life that passed, as the clock says, while the service did not run")
	f.IntVar(&c.Workers, "workers", 0, "`goroutines` of a refit, at most 256; 0: half of the processors")
	f.IntVar(&c.KeepModels, "keep", 5, "`models` that stay on the disk")
	f.Int64Var(&l.Document, "max-document", 1<<20, "most `bytes` of a document, to infer or to keep")
	f.Int64Var(&l.Stream, "max-stream", 256<<20, "most `bytes` of a stream to infer")
	f.Int64Var(&l.Upload, "max-upload", 32<<20, "most `bytes` of documents that are stored at once")
	f.IntVar(&l.Documents, "max-documents", 10_000, "most `documents` that are stored at once")
	f.Int64Var(&l.Work, "max-work", 512<<20, "most `bytes` of memory for requests in progress, in addition to documents and model; at least\n512 times -max-document")
	f.Int64Var(&l.Memory, "max-memory", 4<<30, "most `bytes` of memory for documents that are kept")
	f.Int64Var(&l.Fit, "max-fit", 4<<30, "most `bytes` of memory for a refit, which beyond that does not begin")
	f.DurationVar(&l.Effects, "max-effects", 10*time.Minute, "most `time` after a refit or a start to measure how topics depend on columns")
	f.IntVar(&l.Requests, "max-requests", 256, "most `requests` in progress")
	f.IntVar(&l.PerClient, "max-per-client", 0, "most `requests` in progress of one address, which may also have half of the memory for bodies;\n0: half of -max-requests")
	f.StringVar(&c.ClientHeader, "client-header", "", "the `header` to which the proxy in front appends the client's address, such as X-Forwarded-For:\nthe last address in it counts. Only where clients cannot pass the proxy by (default the address of the connection)")
	f.IntVar(&l.Connections, "max-connections", 1024, "most `connections`, beyond which the one that is idle longest is closed")
	f.DurationVar(&l.Request, "timeout", time.Minute, "most `time` of a request")
	f.Int64Var(&l.Rate, "min-rate", 128, "least `bytes` a second of a body, over each -stall of waiting for it")
	f.DurationVar(&l.Stall, "stall", 10*time.Second, "most `time` to wait for a client's next bytes")
	o.more = func() error { return errors.Join(positive(f), o.checkServe()) }
}

// positive returns an error for each number that is negative, or 0 where 0 is not the default: to
// the service 0 is the default itself.
func positive(f *flag.FlagSet) error {
	var errs []error
	f.VisitAll(func(f *flag.Flag) {
		v, ok := f.Value.(flag.Getter)
		if !ok {
			return
		}
		sign := 1
		switch v := v.Get().(type) {
		case int:
			sign = cmp.Compare(v, 0)
		case int64:
			sign = cmp.Compare(v, 0)
		case time.Duration:
			sign = cmp.Compare(v, 0)
		}
		if zero := f.DefValue == "0" || f.DefValue == "0s"; sign < 0 && zero {
			errs = append(errs, fmt.Errorf("-%s %v: want 0 or more", f.Name, f.Value))
		} else if sign < 1 && !zero {
			errs = append(errs, fmt.Errorf("-%s %v: want more than 0", f.Name, f.Value))
		}
	})
	return errors.Join(errs...)
}

// checkServe makes the settings of the service.
func (o *options) checkServe() error {
	s := &o.served
	if s.data == "" {
		return errors.New("want -data FOLDER, to keep documents and models in")
	}
	s.settings.Topics = o.topics
	for _, of := range []struct {
		names string
		kind  corpus.Kind
	}{{o.time, corpus.Time}, {o.class, corpus.Category}, {o.number, corpus.Number}} {
		for name := range list(of.names) {
			s.settings.Columns = append(s.settings.Columns, corpus.Column{Name: name, Kind: of.kind})
		}
	}
	host, _, err := net.SplitHostPort(s.addr)
	switch {
	case err != nil:
		return fmt.Errorf("-addr %q: want host:port", s.addr)
	case loopback(host):
		s.settings.Hosts = []string{"localhost", "127.0.0.1", "::1", host}
	case !s.public:
		return beyond(s.addr)
	}
	return s.settings.Validate()
}

func beyond(addr string) error {
	return fmt.Errorf("-addr %s can be reached from other machines; give -public too if that is meant", addr)
}

// loopback reports whether a host is this machine and no name service can make it another.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// liveHeap is the memory that the last garbage collection has found in use.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// serveTopics is spectral serve: it answers until ctx ends.
func serveTopics(ctx context.Context, o *options, s streams) (err error) {
	c := o.served.settings
	level := slog.LevelInfo
	if o.served.verbose {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: level}))
	c.MemoryLimit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	c.Meter, c.MetricsPage = prom.Meter{Registerer: registry}, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	if c.StopWords, err = stopList(ctx, o); err != nil {
		return err
	}
	service, err := serve.Open(ctx, o.served.data, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if o.served.model != "" {
		m, err := jsmf.LoadModel(o.served.model)
		if err != nil {
			return err
		}
		taken, err := service.Import(ctx, m)
		if err != nil {
			return err
		}
		if !taken {
			c.Log.Warn("-model is not used: the folder has models of its own", "file", o.served.model)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.served.addr)
	if err != nil {
		return err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !o.served.public { // localhost need not be loopback
		return errors.Join(beyond(l.Addr().String()), l.Close())
	}
	fmt.Fprintf(s.out, "listening on http://%s\n", l.Addr())
	if err := s.flush(); err != nil {
		return errors.Join(err, l.Close())
	}
	c.Log.Info("listening", "address", l.Addr().String(), "pid", os.Getpid())
	return service.Serve(ctx, l, o.served.grace)
}
