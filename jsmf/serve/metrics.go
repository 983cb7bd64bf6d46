package serve

import (
	"errors"
	"strconv"
	"sync/atomic"
)

// Meter makes the instruments by which a service is watched. Packages prom and otel have one each.
// Open calls the methods; what they return is called later, from many goroutines.
type Meter interface {
	// Counter returns what adds n to the count of these values of the labels.
	Counter(name, help string, labels ...string) (add func(n float64, values ...string), err error)

	// Histogram returns what counts x in the first bucket whose upper bound is at least x. The
	// bounds ascend.
	Histogram(name, help string, bounds []float64, labels ...string) (observe func(x float64, values ...string), err error)

	// Gauge has read called at each reading; read calls set for each combination of the values of
	// the labels.
	Gauge(name, help string, labels []string, read func(set func(x float64, values ...string))) error
}

// metrics are what a service counts.
type metrics struct {
	requests     func(n float64, values ...string) // by route, method and status
	seconds      func(x float64, values ...string) // by route
	inferred     func(n float64, values ...string)
	stored       func(n float64, values ...string)
	deleted      func(n float64, values ...string)
	evicted      func(n float64, values ...string)
	commits      func(n float64, values ...string)
	refits       func(n float64, values ...string) // by outcome
	refitSeconds func(x float64, values ...string)
	swaps        func(n float64, values ...string)
	progress     atomic.Int64
}

// measure makes the instruments of the service.
func (s *Service) measure(meter Meter) error {
	var errs []error
	counter := func(name, help string, labels ...string) func(float64, ...string) {
		add, err := meter.Counter("topics_"+name, help, labels...)
		errs = append(errs, err)
		return add
	}
	histogram := func(name, help string, least float64, labels ...string) func(float64, ...string) {
		bounds := make([]float64, 20)
		for i := range bounds {
			bounds[i] = least * float64(int(1)<<i)
		}
		observe, err := meter.Histogram("topics_"+name, help, bounds, labels...)
		errs = append(errs, err)
		return observe
	}
	gauge := func(name, help string, value func() float64) {
		errs = append(errs, meter.Gauge("topics_"+name, help, nil, func(set func(float64, ...string)) { set(value()) }))
	}
	m := &s.metrics
	m.requests = counter("requests_total", "Requests answered.", "route", "method", "status")
	m.seconds = histogram("request_seconds", "Time from the header of a request to the end of its answer.", 0.0001, "route")
	m.inferred = counter("documents_inferred_total", "Documents whose topics were inferred.")
	m.stored = counter("documents_stored_total", "Documents acknowledged as stored.")
	m.deleted = counter("documents_deleted_total", "Documents acknowledged as deleted.")
	m.evicted = counter("documents_evicted_total", "Documents that the window has let go.")
	m.commits = counter("log_commits_total", "Writes to the log, each of which serves all uploads and deletions that waited for it.")
	m.refits = counter("refits_total", "Refits ended, by outcome.", "outcome")
	m.refitSeconds = histogram("refit_seconds", "Time of a refit.", 0.01)
	m.swaps = counter("model_swaps_total", "Models that have begun to serve.")
	gauge("requests_in_progress", "Requests being answered.", func() float64 { return float64(m.progress.Load()) })
	gauge("model_version", "Version of the model that serves, 0 for none.", func() float64 { return float64(s.modelName().Version) })
	errs = append(errs, meter.Gauge("topics_model_info", "1 for the model that serves; 0 while there is none.", []string{"version", "checksum"}, func(set func(float64, ...string)) {
		name := s.modelName()
		set(float64(min(name.Version, 1)), strconv.Itoa(name.Version), name.Checksum)
	}))
	gauge("documents", "Documents kept.", func() float64 { return float64(s.held.Stats().Docs) })
	gauge("documents_bytes", "Memory of the documents kept, estimated.", func() float64 { return float64(s.held.Stats().Bytes) })
	gauge("clock_uncounted_seconds", "Time that the clock says has passed and that the ages of documents do not count.", func() float64 { return lasting(s.ages.uncounted()).Seconds() })
	gauge("connections", "Connections of clients, where Serve answers.", func() float64 { return float64(s.conns.count()) })
	gauge("log_bytes", "Size of the log on disk.", func() float64 { n, _ := s.store.LogSize(); return float64(n) })
	gauge("log_segments", "Files of the log.", func() float64 { _, n := s.store.LogSize(); return float64(n) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, rt := range routes() { // all there will be, so that nothing is missing before it first happens
		for method := range rt.methods {
			m.requests(0, rt.path, method, "200")
		}
	}
	m.evicted(float64(s.held.Stats().Evicted)) // also of those that it has let go before
	for _, outcome := range []string{refitDone, refitFailed, refitCancelled} {
		m.refits(0, outcome)
	}
	return nil
}

// modelName returns the name of the model that serves, the zero value for none.
func (s *Service) modelName() (name modelName) {
	if m := s.current.Load(); m != nil {
		name = m.name
	}
	return name
}

// unmetered is a Meter whose instruments do nothing.
type unmetered struct{}

func (unmetered) Counter(string, string, ...string) (func(float64, ...string), error) {
	return func(float64, ...string) {}, nil
}

func (unmetered) Histogram(string, string, []float64, ...string) (func(float64, ...string), error) {
	return func(float64, ...string) {}, nil
}

func (unmetered) Gauge(string, string, []string, func(func(float64, ...string))) error { return nil }
