package otelmetrics_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/jsmf-go/spectral/examples/service/internal/otelmetrics"
	"github.com/jsmf-go/spectral/examples/service/internal/server"
	"github.com/jsmf-go/spectral/examples/service/internal/store"
)

// meter keeps what is registered with it.
type meter struct {
	noop.Meter
	names    map[metric.Observable]string
	kinds    map[string]string // counter or gauge, and the description
	callback metric.Callback
	allowed  []metric.Observable
	fail     error
}

type counter struct {
	noop.Float64ObservableCounter
	name string
}

type gauge struct {
	noop.Float64ObservableGauge
	name string
}

func (m *meter) Float64ObservableCounter(name string, opt ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	in := &counter{name: name}
	m.names[in], m.kinds[name] = name, "counter: "+metric.NewFloat64ObservableCounterConfig(opt...).Description()
	return in, m.fail
}

func (m *meter) Float64ObservableGauge(name string, opt ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	in := &gauge{name: name}
	m.names[in], m.kinds[name] = name, "gauge: "+metric.NewFloat64ObservableGaugeConfig(opt...).Description()
	return in, nil
}

func (m *meter) RegisterCallback(f metric.Callback, of ...metric.Observable) (metric.Registration, error) {
	m.callback, m.allowed = f, of
	return noop.Registration{}, nil
}

// observer writes down what is observed, in the form of Prometheus.
type observer struct {
	noop.Observer
	m   *meter
	got map[string]float64
	t   *testing.T
}

func (o *observer) ObserveFloat64(in metric.Float64Observable, x float64, opt ...metric.ObserveOption) {
	if !slices.Contains(o.m.allowed, metric.Observable(in)) {
		o.t.Errorf("%s was not registered", o.m.names[in])
	}
	set := metric.NewObserveConfig(opt).Attributes()
	var labels []string
	for _, l := range set.ToSlice() {
		labels = append(labels, fmt.Sprintf("%s=%q", l.Key, l.Value.AsString()))
	}
	slices.Sort(labels)
	name := o.m.names[in] + "{" + strings.Join(labels, ",") + "}"
	if _, ok := o.got[name]; ok {
		o.t.Errorf("%s is observed twice", name)
	}
	o.got[name] = x
}

func newMeter() *meter {
	return &meter{names: map[metric.Observable]string{}, kinds: map[string]string{}}
}

// collect collects once.
func (m *meter) collect(t *testing.T) (map[string]float64, error) {
	o := &observer{m: m, got: map[string]float64{}, t: t}
	err := m.callback(context.Background(), o)
	return o.got, err
}

// What a Meter of OpenTelemetry observes of a service, before and after it was used, is
// what Prometheus reads.
func TestService(t *testing.T) {
	ctx := context.Background()
	st, err := store.Open(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(ctx, st, server.Config{Topics: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := newMeter()
	if _, err := otelmetrics.Register(m, s.Metrics()); err != nil {
		t.Fatal(err)
	}
	h := s.Handler()
	for range 3 {
		r := httptest.NewRequest("POST", "/v1/documents", strings.NewReader(`{"id":"a","text":"x"}`))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/no/such/path", nil))
		got, err := m.collect(t)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		want := parse(t, w.Body.String())
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("observed are\n%q, want\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		for name, x := range want {
			own := strings.HasPrefix(name, "topics_") && !strings.Contains(name, "/metrics") && !strings.HasPrefix(name, "topics_requests_in_progress")
			if own && got[name] != x { // others change by themselves
				t.Errorf("%s is %v, want %v", name, got[name], x)
			}
		}
	}
	got, err := m.collect(t)
	if err != nil {
		t.Fatal(err)
	}
	if n := got[`topics_requests_total{method="POST",route="/v1/documents",status="200"}`]; n != 3 || got["topics_documents{}"] != 1 {
		t.Errorf("%v requests, %v documents", n, got["topics_documents{}"])
	}
	for name, kind := range map[string]string{
		"topics_documents":                "gauge: Documents kept.",
		"topics_requests_total":           "counter: Requests answered.",
		"topics_request_seconds_bucket":   "counter: Time from the header of a request to the end of its answer.",
		"go_gc_duration_seconds":          "gauge: ",
		"go_gc_duration_seconds_count":    "counter: ",
		"topics_documents_inferred_total": "counter: Documents whose topics were inferred.",
	} {
		if !strings.HasPrefix(m.kinds[name], kind) {
			t.Errorf("%s is %q, want %q", name, m.kinds[name], kind)
		}
	}
}

// parse reads the text form of Prometheus.
func parse(t *testing.T, text string) map[string]float64 {
	out := map[string]float64{}
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		line := sc.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		x, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		name, labels, _ := strings.Cut(strings.TrimSuffix(line[:i], "}"), "{")
		var list []string
		if labels != "" {
			list = strings.Split(labels, ",")
		}
		slices.Sort(list)
		if strings.Contains(labels, `le="+Inf"`) { // as _count
			continue
		}
		out[name+"{"+strings.Join(list, ",")+"}"] = x
	}
	return out
}

// Errors of the Meter and of what is gathered are told; what could be gathered is observed.
func TestErrors(t *testing.T) {
	reg := prometheus.NewRegistry()
	good := prometheus.NewCounter(prometheus.CounterOpts{Name: "good"})
	good.Add(2)
	reg.MustRegister(good)
	m := newMeter()
	m.fail = errors.New("no counters here")
	if _, err := otelmetrics.Register(m, reg); !errors.Is(err, m.fail) || !strings.Contains(err.Error(), "otelmetrics: good: ") {
		t.Errorf("%v", err)
	}
	m.fail = nil
	if _, err := otelmetrics.Register(m, reg); err != nil {
		t.Fatal(err)
	}
	broken := prometheus.NewDesc("broken", "", nil, nil)
	reg.MustRegister(failing{broken})
	if got, err := m.collect(t); err == nil || !strings.Contains(err.Error(), "out of order") || got["good{}"] != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := otelmetrics.Register(m, reg); err == nil {
		t.Error("it registers what cannot be gathered")
	}
}

// failing is a Collector whose metric is an error.
type failing struct{ desc *prometheus.Desc }

func (f failing) Describe(c chan<- *prometheus.Desc) { c <- f.desc }
func (f failing) Collect(c chan<- prometheus.Metric) {
	c <- prometheus.NewInvalidMetric(f.desc, errors.New("out of order"))
}
