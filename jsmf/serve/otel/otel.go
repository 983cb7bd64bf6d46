// Package otel gives the metrics of a service of topics to OpenTelemetry, by its API alone. An SDK,
// which sends them somewhere, is the operator's choice:
//
//	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)) // go.opentelemetry.io/otel/sdk/metric
//	s, err := serve.Open(ctx, dir, serve.Settings{Meter: otel.Meter{Meter: provider.Meter("topics")}})
package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Meter is a serve.Meter whose instruments are made by Meter. Labels become attributes.
type Meter struct{ Meter metric.Meter }

func (m Meter) Counter(name, help string, labels ...string) (func(n float64, values ...string), error) {
	c, err := m.Meter.Float64Counter(name, metric.WithDescription(help))
	return func(n float64, values ...string) { c.Add(context.Background(), n, attributes(labels, values)) }, err
}

func (m Meter) Histogram(name, help string, bounds []float64, labels ...string) (func(x float64, values ...string), error) {
	h, err := m.Meter.Float64Histogram(name, metric.WithDescription(help), metric.WithExplicitBucketBoundaries(bounds...))
	return func(x float64, values ...string) { h.Record(context.Background(), x, attributes(labels, values)) }, err
}

func (m Meter) Gauge(name, help string, labels []string, read func(set func(x float64, values ...string))) error {
	observe := func(_ context.Context, o metric.Float64Observer) error {
		read(func(x float64, values ...string) { o.Observe(x, attributes(labels, values)) })
		return nil
	}
	_, err := m.Meter.Float64ObservableGauge(name, metric.WithDescription(help), metric.WithFloat64Callback(observe))
	return err
}

// attributes pairs labels with their values.
func attributes(labels, values []string) metric.MeasurementOption {
	pairs := make([]attribute.KeyValue, len(labels))
	for i, l := range labels {
		pairs[i] = attribute.String(l, values[i])
	}
	return metric.WithAttributes(pairs...)
}
