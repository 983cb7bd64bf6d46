// Package otelmetrics gives the metrics of the service to OpenTelemetry, by its API alone.
// An SDK, which sends them somewhere, is the operator's choice:
//
//	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(…))
//	registration, err := otelmetrics.Register(provider.Meter("topics"), service.Metrics())
package otelmetrics

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Register has a Meter observe what g gathers, whenever it collects, until Unregister is
// called on what is returned.
//
// Names, help and labels are those of g: counters become observable counters, all else
// observable gauges. OpenTelemetry has no observable histograms: a histogram becomes the
// observable counters _count, _sum and _bucket, the last with an attribute le, and a summary
// _count, _sum, and a gauge with an attribute quantile. A family that g does not have yet
// at the call is not observed.
func Register(meter metric.Meter, g prometheus.Gatherer) (metric.Registration, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, fmt.Errorf("otelmetrics: %w", err)
	}
	b := bridge{g: g, of: make(map[string]metric.Float64Observable)}
	for _, f := range families {
		if err := b.add(meter, f); err != nil {
			return nil, fmt.Errorf("otelmetrics: %s: %w", f.GetName(), err)
		}
	}
	var all []metric.Observable
	for _, in := range b.of {
		all = append(all, in)
	}
	r, err := meter.RegisterCallback(b.observe, all...)
	if err != nil {
		return nil, fmt.Errorf("otelmetrics: %w", err)
	}
	return r, nil
}

// bridge observes what a Gatherer has.
type bridge struct {
	g  prometheus.Gatherer
	of map[string]metric.Float64Observable // instruments, by name
}

// add makes the instruments of a family.
func (b *bridge) add(meter metric.Meter, f *dto.MetricFamily) error {
	name, help := f.GetName(), f.GetHelp()
	var errs []error
	counter := func(name string) {
		in, err := meter.Float64ObservableCounter(name, metric.WithDescription(help))
		b.of[name] = in
		errs = append(errs, err)
	}
	gauge := func(name string) {
		in, err := meter.Float64ObservableGauge(name, metric.WithDescription(help))
		b.of[name] = in
		errs = append(errs, err)
	}
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		counter(name)
	case dto.MetricType_HISTOGRAM:
		counter(name + "_count")
		counter(name + "_sum")
		counter(name + "_bucket")
	case dto.MetricType_SUMMARY:
		counter(name + "_count")
		counter(name + "_sum")
		gauge(name)
	default:
		gauge(name)
	}
	return errors.Join(errs...)
}

// observe is called at each collection.
func (b *bridge) observe(_ context.Context, o metric.Observer) error {
	families, err := b.g.Gather()
	for _, f := range families { // what could be gathered
		for _, m := range f.GetMetric() {
			b.one(o, f.GetName(), f.GetType(), m)
		}
	}
	if err != nil {
		return fmt.Errorf("otelmetrics: %w", err)
	}
	return nil
}

func (b *bridge) one(o metric.Observer, name string, kind dto.MetricType, m *dto.Metric) {
	var labels []attribute.KeyValue
	for _, l := range m.GetLabel() {
		labels = append(labels, attribute.String(l.GetName(), l.GetValue()))
	}
	set := func(name string, x float64, more ...attribute.KeyValue) {
		if in, ok := b.of[name]; ok {
			o.ObserveFloat64(in, x, metric.WithAttributes(append(more, labels...)...))
		}
	}
	switch kind {
	case dto.MetricType_COUNTER:
		set(name, m.GetCounter().GetValue())
	case dto.MetricType_GAUGE:
		set(name, m.GetGauge().GetValue())
	case dto.MetricType_HISTOGRAM:
		h := m.GetHistogram()
		set(name+"_count", float64(h.GetSampleCount()))
		set(name+"_sum", h.GetSampleSum())
		for _, part := range h.GetBucket() {
			set(name+"_bucket", float64(part.GetCumulativeCount()), attribute.String("le", number(part.GetUpperBound())))
		}
	case dto.MetricType_SUMMARY:
		s := m.GetSummary()
		set(name+"_count", float64(s.GetSampleCount()))
		set(name+"_sum", s.GetSampleSum())
		for _, q := range s.GetQuantile() {
			set(name, q.GetValue(), attribute.String("quantile", number(q.GetQuantile())))
		}
	default:
		set(name, m.GetUntyped().GetValue())
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
