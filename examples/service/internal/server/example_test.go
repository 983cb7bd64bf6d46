package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/examples/service/internal/server"
	"github.com/jsmf-go/spectral/examples/service/internal/store"
)

// The service is an http.Handler around a store.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "service")
	check(err)
	defer os.RemoveAll(dir)
	st, err := store.Open(ctx, dir, store.Options{})
	check(err)
	s, err := server.Open(ctx, st, server.Config{Topics: 5})
	check(err)

	r := httptest.NewRequest("POST", "/v1/documents", strings.NewReader("{\"id\":\"a\",\"text\":\"anchors and topics\"}\n{\"id\":\"b\",\"words\":[\"topics\"]}\n"))
	r.Header.Set("Content-Type", "application/x-ndjson")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	fmt.Print(w.Code, " ", w.Body)

	r = httptest.NewRequest("POST", "/v1/documents", strings.NewReader("{\"id\":\"c\",\"text\":\"more\"}\n{\"id\":\"d\",\"words\":[\"x\"],\"counts\":[0]}\n"))
	r.Header.Set("Content-Type", "application/x-ndjson")
	w = httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	fmt.Print(w.Code, " ", w.Body)
	check(s.Close())
	// Output:
	// 200 {"stored":2}
	// 400 {"title":"Bad Request","status":400,"detail":"the count is 0; want at least 1","line":2,"field":"counts[0]"}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
