// Package serve is a service of topics over HTTP: it infers the topics of documents, keeps
// documents to learn from, fits new models to them in the background, and switches to each while
// it answers.
//
// Open returns a Service, which is an http.Handler to mount into a server, also below a path
// (http.StripPrefix). Service.Serve is a server of its own, with limits on connections as well.
// /api describes the interface, and /openapi.json does so for programs.
//
// A request is answered by exactly one model, the one that served when its handler began, and the
// answer names it. Documents are acknowledged once they are on the disk. There is no TLS and no
// password: whoever mounts the handler sees to both.
package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf"
)

// Settings say how the service learns and what clients may ask for. The zero value
// holds the defaults.
type Settings struct {
	Topics    int      // K of a refit, at least 2; 0: 20
	MaxWords  int      // most words of the vocabulary; 0: 5000
	MinDocs   int      // documents that must have a word before it is in the vocabulary; 0: 5
	StopWords []string // words that are left out; nil: the English list of package corpus
	Workers   int      // goroutines of a refit, at most 256; 0: half of GOMAXPROCS, at least 1

	// Columns are what may be known of a document besides its words: Values of documents
	// that are stored. Names have at most 64 bytes; there are at most 64. Columns that the
	// documents of the store have already stay, named here or not, and may not be named
	// with another kind.
	Columns []corpus.Column

	// Which of the documents stay to be learned from, by the order and the time in
	// which they were stored. Others go, durably, when new ones come: the age of a
	// document is the time the service has run from its storing to that of the newest
	// one, so that nothing goes while nothing comes. These may change between one start and the next: narrower
	// windows let documents go at the start, wider ones bring none back.
	Window   int           // only the last Window documents; 0: all
	MaxAge   time.Duration // only those less old than this, at least a microsecond; 0: all
	HalfLife time.Duration // a document this old counts half in a refit, one twice as old a quarter, and so on; 0: all count the same

	// TrustClock counts at the start the time for MaxAge and HalfLife that the wall clock
	// says has passed and the service has not seen pass: it was stopped, or somebody had
	// set the clock. Otherwise this time counts for nothing.
	TrustClock bool

	Limits Limits

	// MemoryLimit is called with the bytes that the process should take for the documents and
	// the model held, a refit that runs, and requests, whenever that number has changed. It may
	// be debug.SetMemoryLimit. nil: not called.
	MemoryLimit func(bytes int64)

	// Hosts are the names by which clients may call the service (the Host header
	// without the port). nil: any. On a loopback address it should be the names of
	// loopback, so that no page of another site can reach it by a name of its own
	// that resolves to 127.0.0.1.
	Hosts []string

	// ClientHeader names a header that a proxy sets, such as X-Forwarded-For: the last
	// address in it is the client's, as the proxy next to the service has appended it.
	// Clients may have written all addresses before it themselves. "": the client's
	// address is that of the connection. Name one only where no client can pass the
	// proxy by: others could write what they like.
	ClientHeader string

	// KeepModels is how many of the newest models stay on the disk; 0: 5.
	KeepModels int

	// Log gets models, refits and failures, and at Debug every request; nil: nothing is logged.
	Log *slog.Logger

	Meter       Meter        // makes the instruments that count what happens; nil: nothing is counted
	MetricsPage http.Handler // answers at /metrics; nil: there is no such page

	// For tests.
	clock     clock          // by which times are told; nil: that of the machine
	bootstrap jsmf.Bootstrap // of the study of columns; the zero value: that of effects.Study
}

// Limits bounds what a client may ask for. In each 0 means the default, and
// negative values are errors.
type Limits struct {
	Document    int64         // bytes of one document, to infer or to keep, and of one line of a stream; 0: 1 MiB
	Stream      int64         // bytes of a stream of documents to infer; 0: 256 MiB
	Upload      int64         // bytes of a part of the corpus, at most 128 MiB; 0: 32 MiB
	Documents   int           // documents of a part of the corpus; 0: 10,000
	Tokens      int64         // tokens of a document; 0: 1,000,000
	Memory      int64         // bytes of the documents that are kept, as held.Stats counts them, beyond which no upload is taken; 0: 4 GiB
	Fit         int64         // bytes that a refit may take, as jsmf estimates them; beyond it fails before it begins; 0: 4 GiB
	Effects     time.Duration // to measure, after a refit and after a start, how topics depend on all columns; 0: 10 minutes
	Requests    int           // requests in progress; 0: 256
	Work        int64         // bytes of memory for all requests in progress, at least 512 times Document; 0: 512 MiB
	PerClient   int           // requests in progress of one client, which may also have half of the memory for bodies; 0: half of Requests
	Connections int           // of clients, beyond which the one that is idle longest is closed; 0: 1024
	Inferring   int           // documents inferred at the same time; 0: twice GOMAXPROCS
	Wait        time.Duration // to be one of those, before 503; 0: 2 s
	Stall       time.Duration // for the next bytes from or to a client; 0: 10 s
	Rate        int64         // least bytes a second of a body, over each Stall of waiting for it; 0: 128
	Request     time.Duration // for a request as a whole; 0: 60 s
}

// maxUpload bounds Limits.Upload: six times as many bytes, as escapes in the log
// may take, are less than a frame of it can have.
const maxUpload = 128 << 20

// maxWorkers bounds Settings.Workers: each takes memory of its own.
const maxWorkers = 256

// Validate returns an error that names every setting that cannot be.
func (c Settings) Validate() error {
	_, err := c.withDefaults()
	return err
}

func (c Settings) withDefaults() (Settings, error) {
	var errs []error
	l := &c.Limits
	defaultTo(&errs, "Topics", &c.Topics, 20)
	defaultTo(&errs, "MaxWords", &c.MaxWords, 5000)
	defaultTo(&errs, "MinDocs", &c.MinDocs, 5)
	defaultTo(&errs, "KeepModels", &c.KeepModels, 5)
	defaultTo(&errs, "Workers", &c.Workers, max(1, runtime.GOMAXPROCS(0)/2))
	defaultTo(&errs, "Limits.Document", &l.Document, 1<<20)
	defaultTo(&errs, "Limits.Stream", &l.Stream, 256<<20)
	defaultTo(&errs, "Limits.Upload", &l.Upload, 32<<20)
	defaultTo(&errs, "Limits.Documents", &l.Documents, 10_000)
	defaultTo(&errs, "Limits.Tokens", &l.Tokens, 1_000_000)
	defaultTo(&errs, "Limits.Memory", &l.Memory, 4<<30)
	defaultTo(&errs, "Limits.Fit", &l.Fit, 4<<30)
	defaultTo(&errs, "Limits.Effects", &l.Effects, 10*time.Minute)
	defaultTo(&errs, "Limits.Requests", &l.Requests, 256)
	defaultTo(&errs, "Limits.PerClient", &l.PerClient, max(1, l.Requests/2))
	defaultTo(&errs, "Limits.Rate", &l.Rate, 128)
	defaultTo(&errs, "Limits.Work", &l.Work, 512<<20)
	defaultTo(&errs, "Limits.Connections", &l.Connections, 1024)
	defaultTo(&errs, "Limits.Inferring", &l.Inferring, 2*runtime.GOMAXPROCS(0))
	defaultTo(&errs, "Limits.Wait", &l.Wait, 2*time.Second)
	defaultTo(&errs, "Limits.Stall", &l.Stall, 10*time.Second)
	defaultTo(&errs, "Limits.Request", &l.Request, time.Minute)
	if c.Topics == 1 {
		errs = append(errs, errors.New("serve: Topics is 1; want at least 2"))
	}
	if c.MaxWords > 0 && c.MaxWords < c.Topics {
		errs = append(errs, fmt.Errorf("serve: MaxWords %d is less than Topics %d", c.MaxWords, c.Topics))
	}
	if c.Workers > maxWorkers {
		errs = append(errs, fmt.Errorf("serve: Workers is %d; want at most %d", c.Workers, maxWorkers))
	}
	if l.Upload > maxUpload {
		errs = append(errs, fmt.Errorf("serve: Limits.Upload is %d; want at most %d", l.Upload, maxUpload))
	}
	if l.Work/512 < l.Document {
		errs = append(errs, fmt.Errorf("serve: Limits.Work is %d; want at least %d, 512 times Limits.Document", l.Work, 512*l.Document))
	}
	if c.Window < 0 || c.MaxAge < 0 || c.HalfLife < 0 {
		errs = append(errs, fmt.Errorf("serve: Window is %d, MaxAge %v, HalfLife %v; none may be negative", c.Window, c.MaxAge, c.HalfLife))
	}
	if c.MaxAge > 0 && c.MaxAge < time.Microsecond {
		errs = append(errs, fmt.Errorf("serve: MaxAge is %v; want at least 1µs", c.MaxAge))
	}
	if err := checkColumns(c.Columns); err != nil {
		errs = append(errs, err)
	}
	if c.StopWords == nil {
		c.StopWords = stopwords.English()
	}
	if c.clock == nil {
		c.clock = machineClock()
	}
	if c.Meter == nil {
		c.Meter = unmetered{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(errs...)
}

func defaultTo[T int | int64 | time.Duration](errs *[]error, name string, v *T, def T) {
	switch {
	case *v < 0:
		*errs = append(*errs, fmt.Errorf("serve: %s is %v; it must not be negative", name, *v))
	case *v == 0:
		*v = def
	}
}
