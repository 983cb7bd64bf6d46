package server

import (
	"context"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/service/internal/store"
)

// The limit of a document holds however it is sent, also for those to keep.
func TestDocumentLimit(t *testing.T) {
	s := open(t, t.TempDir(), Config{Limits: Limits{Document: 100}})
	defer closed(t, s)
	for _, n := range []int{80, 81} {
		body := `{"id":"a","text":"` + strings.Repeat("x", n) + `"}` // 20 bytes and so many
		status := 200
		if len(body) > 100 {
			status = 413
		}
		for _, contentType := range []string{typeJSON, typeNDJSON} {
			want(t, s, "POST", "/v1/documents", contentType, body, status)
			want(t, s, "POST", "/v1/documents", contentType, zipped(t, body), status, "Content-Encoding", "gzip")
		}
	}
	want(t, s, "GET", "/v1/documents/a", "", "", 200)
}

// A refit has at most so many goroutines.
func TestWorkers(t *testing.T) {
	ctx := context.Background()
	st, err := store.Open(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := Open(ctx, st, Config{Workers: MaxWorkers + 1}); err == nil || !strings.Contains(err.Error(), "Workers is 257; want at most 256") {
		t.Errorf("%v", err)
	}
}
