package server

import (
	"regexp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the numbers of /metrics. Each Service has its own.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec // by route, method and status
	seconds      *prometheus.HistogramVec
	progress     prometheus.Gauge
	inferred     prometheus.Counter
	stored       prometheus.Counter
	deleted      prometheus.Counter
	commits      prometheus.Counter
	refits       *prometheus.CounterVec // by outcome
	refitSeconds prometheus.Histogram
	swaps        prometheus.Counter
	version      prometheus.Gauge
	model        *prometheus.GaugeVec
}

// liveHeap is the memory that the last garbage collection has found in use.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

func newMetrics(s *Service) *metrics {
	m := &metrics{
		registry:     prometheus.NewRegistry(),
		requests:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "topics_requests_total", Help: "Requests answered."}, []string{"route", "method", "status"}),
		seconds:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "topics_request_seconds", Help: "Time from the header of a request to the end of its answer.", Buckets: prometheus.ExponentialBuckets(0.0001, 2, 20)}, []string{"route"}),
		progress:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "topics_requests_in_progress", Help: "Requests being answered."}),
		inferred:     prometheus.NewCounter(prometheus.CounterOpts{Name: "topics_documents_inferred_total", Help: "Documents whose topics were inferred."}),
		stored:       prometheus.NewCounter(prometheus.CounterOpts{Name: "topics_documents_stored_total", Help: "Documents acknowledged as stored."}),
		deleted:      prometheus.NewCounter(prometheus.CounterOpts{Name: "topics_documents_deleted_total", Help: "Documents acknowledged as deleted."}),
		commits:      prometheus.NewCounter(prometheus.CounterOpts{Name: "topics_log_commits_total", Help: "Writes to the log, each of which serves all uploads and deletions that waited for it."}),
		refits:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "topics_refits_total", Help: "Refits ended, by outcome."}, []string{"outcome"}),
		refitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "topics_refit_seconds", Help: "Time of a refit.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 20)}),
		swaps:        prometheus.NewCounter(prometheus.CounterOpts{Name: "topics_model_swaps_total", Help: "Models that have begun to serve."}),
		version:      prometheus.NewGauge(prometheus.GaugeOpts{Name: "topics_model_version", Help: "Version of the model that serves, 0 for none."}),
		model:        prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "topics_model_info", Help: "1 for the model that serves; 0 while there is none."}, []string{"version", "checksum"}),
	}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	m.registry.MustRegister(
		m.requests, m.seconds, m.progress, m.inferred, m.stored, m.deleted, m.commits, m.refits, m.refitSeconds, m.swaps, m.version, m.model,
		gauge("topics_documents", "Documents kept.", func() float64 { return float64(s.held.Stats().Docs) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "topics_documents_evicted_total", Help: "Documents that the window has let go."}, func() float64 { return float64(s.held.Stats().Evicted) }),
		gauge("topics_documents_bytes", "Memory of the documents kept, estimated.", func() float64 { return float64(s.held.Stats().Bytes) }),
		gauge("topics_clock_uncounted_seconds", "Time that the clock says has passed and that the ages of documents do not count.", func() float64 { return lasting(s.ages.uncounted()).Seconds() }),
		gauge("topics_connections", "Connections of clients.", func() float64 { return float64(s.conns.count()) }),
		gauge("topics_log_bytes", "Size of the log on disk.", func() float64 { n, _ := s.store.LogSize(); return float64(n) }),
		gauge("topics_log_segments", "Files of the log.", func() float64 { _, n := s.store.LogSize(); return float64(n) }),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, rt := range routes() { // all there will be, so that nothing is missing before it first happens
		m.seconds.WithLabelValues(rt.path)
		for method := range rt.methods {
			m.requests.WithLabelValues(rt.path, method, "200")
		}
	}
	for _, outcome := range []string{refitDone, refitFailed, refitCancelled} {
		m.refits.WithLabelValues(outcome)
	}
	m.model.WithLabelValues("0", "")
	return m
}

// Metrics returns the numbers of /metrics.
func (s *Service) Metrics() prometheus.Gatherer { return s.metrics.registry }

func (m *metrics) swapped(s *served) {
	m.swaps.Inc()
	m.version.Set(float64(s.name.Version))
	m.model.Reset()
	m.model.WithLabelValues(strconv.Itoa(s.name.Version), s.name.Checksum).Set(1)
}
