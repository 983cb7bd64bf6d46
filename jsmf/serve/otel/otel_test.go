package otel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/jsmf-go/spectral/jsmf/serve"
)

var _ serve.Meter = Meter{}

// meter writes down what its instruments are told.
type meter struct {
	noop.Meter
	said  []string
	reads []func() // of the gauges
	fail  error
}

func (m *meter) say(name string, x float64, attributes attribute.Set) {
	m.said = append(m.said, fmt.Sprint(name, " ", x, " ", attributes.Encoded(attribute.DefaultEncoder())))
}

type counter struct {
	noop.Float64Counter
	say func(n float64, attributes attribute.Set)
}

func (c counter) Add(_ context.Context, n float64, opt ...metric.AddOption) {
	set := metric.NewAddConfig(opt).Attributes()
	c.say(n, set)
}

type histogram struct {
	noop.Float64Histogram
	say func(x float64, attributes attribute.Set)
}

func (h histogram) Record(_ context.Context, x float64, opt ...metric.RecordOption) {
	set := metric.NewRecordConfig(opt).Attributes()
	h.say(x, set)
}

type observer struct {
	noop.Float64Observer
	say func(x float64, attributes attribute.Set)
}

func (o observer) Observe(x float64, opt ...metric.ObserveOption) {
	set := metric.NewObserveConfig(opt).Attributes()
	o.say(x, set)
}

func (m *meter) Float64Counter(name string, _ ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	return counter{say: func(x float64, set attribute.Set) { m.say(name, x, set) }}, m.fail
}

func (m *meter) Float64Histogram(name string, opt ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	name += fmt.Sprint(metric.NewFloat64HistogramConfig(opt...).ExplicitBucketBoundaries())
	return histogram{say: func(x float64, set attribute.Set) { m.say(name, x, set) }}, nil
}

func (m *meter) Float64ObservableGauge(name string, opt ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	for _, read := range metric.NewFloat64ObservableGaugeConfig(opt...).Callbacks() {
		m.reads = append(m.reads, func() {
			if err := read(context.Background(), observer{say: func(x float64, set attribute.Set) { m.say(name, x, set) }}); err != nil {
				panic(err)
			}
		})
	}
	return noop.Float64ObservableGauge{}, nil
}

// Every instrument gives OpenTelemetry its numbers with the labels as attributes.
func TestMeter(t *testing.T) {
	to := &meter{}
	m := Meter{to}
	add, err := m.Counter("requests", "…", "route", "status")
	if err != nil {
		t.Fatal(err)
	}
	add(2, "/v1/infer", "200")
	observe, err := m.Histogram("seconds", "…", []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	observe(1.5)
	if err := m.Gauge("model", "…", []string{"version"}, func(set func(float64, ...string)) { set(1, "7") }); err != nil {
		t.Fatal(err)
	}
	for _, read := range to.reads {
		read()
	}
	want := []string{"requests 2 route=/v1/infer,status=200", "seconds[1 2] 1.5 ", "model 1 version=7"}
	if !slices.Equal(to.said, want) {
		t.Errorf("said %q, want %q", to.said, want)
	}
}

// A service does not open where the instruments cannot be made.
func TestFail(t *testing.T) {
	failed := errors.New("no more instruments")
	if _, err := serve.Open(context.Background(), t.TempDir(), serve.Settings{Meter: Meter{&meter{fail: failed}}}); !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("%v", err)
	}
}
