package prom

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/jsmf-go/spectral/jsmf/serve"
)

var _ serve.Meter = Meter{}

// Prometheus reads what a service counts, and the metrics of two in one registry are told apart by
// their labels.
func TestService(t *testing.T) {
	registry := prometheus.NewRegistry()
	for _, name := range []string{"a", "b"} {
		meter := Meter{prometheus.WrapRegistererWith(prometheus.Labels{"service": name}, registry)}
		s, err := serve.Open(t.Context(), t.TempDir(), serve.Settings{Meter: meter, MetricsPage: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		post := httptest.NewRequest("POST", "/v1/documents", strings.NewReader(`{"id":"a","text":"x"}`))
		post.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(httptest.NewRecorder(), post)
		if _, err := serve.Open(t.Context(), t.TempDir(), serve.Settings{Meter: meter}); err == nil {
			t.Error("two services have the same metrics")
		}
		page := httptest.NewRecorder()
		s.ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		for _, want := range []string{
			"topics_documents_stored_total{service=\"" + name + "\"} 1\n",
			"topics_documents{service=\"" + name + "\"} 1\n",
			"topics_requests_total{method=\"POST\",route=\"/v1/documents\",service=\"" + name + "\",status=\"200\"} 1\n",
			"topics_model_info{checksum=\"\",service=\"" + name + "\",version=\"0\"} 0\n",
			"topics_request_seconds_bucket{route=\"/v1/documents\",service=\"" + name + "\",le=\"+Inf\"} 1\n",
			"# TYPE topics_refit_seconds histogram\n",
		} {
			if !strings.Contains(page.Body.String(), want) {
				t.Errorf("%q is not in\n%s", want, page.Body)
			}
		}
	}
}
