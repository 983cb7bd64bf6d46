// Package prom gives the metrics of a service of topics to Prometheus:
//
//	registry := prometheus.NewRegistry()
//	s, err := serve.Open(ctx, dir, serve.Settings{
//		Meter:       prom.Meter{Registerer: registry},
//		MetricsPage: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
//	})
package prom

import "github.com/prometheus/client_golang/prometheus"

// Meter is a serve.Meter that registers its metrics with Registerer. Two services in one registry
// need labels of their own: prometheus.WrapRegistererWith.
type Meter struct{ Registerer prometheus.Registerer }

func (m Meter) Counter(name, help string, labels ...string) (func(n float64, values ...string), error) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	if len(labels) == 0 {
		c.WithLabelValues() // there from the start
	}
	return func(n float64, values ...string) { c.WithLabelValues(values...).Add(n) }, m.Registerer.Register(c)
}

func (m Meter) Histogram(name, help string, bounds []float64, labels ...string) (func(x float64, values ...string), error) {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}, labels)
	if len(labels) == 0 {
		h.WithLabelValues()
	}
	return func(x float64, values ...string) { h.WithLabelValues(values...).Observe(x) }, m.Registerer.Register(h)
}

func (m Meter) Gauge(name, help string, labels []string, read func(set func(x float64, values ...string))) error {
	return m.Registerer.Register(gauge{prometheus.NewDesc(name, help, labels, nil), read})
}

// gauge is a prometheus.Collector.
type gauge struct {
	desc *prometheus.Desc
	read func(set func(x float64, values ...string))
}

func (g gauge) Describe(to chan<- *prometheus.Desc) { to <- g.desc }

func (g gauge) Collect(to chan<- prometheus.Metric) {
	g.read(func(x float64, values ...string) {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, x, values...)
	})
}
