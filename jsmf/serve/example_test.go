package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/jsmf/serve"
)

// A service is mounted below a path of a server that does other things, too.
func Example() {
	dir, err := os.MkdirTemp("", "topics")
	check(err)
	defer os.RemoveAll(dir)
	topics, err := serve.Open(context.Background(), dir, serve.Settings{Topics: 5})
	check(err)
	defer topics.Close() // after the server has ended
	mux := http.NewServeMux()
	mux.Handle("/topics/", http.StripPrefix("/topics", topics))

	server := httptest.NewServer(mux)
	defer server.Close()
	post := func(documents string) {
		answer, err := http.Post(server.URL+"/topics/v1/documents", "application/x-ndjson", strings.NewReader(documents))
		check(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		check(err)
		fmt.Print(answer.StatusCode, " ", string(body))
	}
	post("{\"id\":\"a\",\"text\":\"anchors and topics\"}\n{\"id\":\"b\",\"words\":[\"topics\"]}\n")
	post("{\"id\":\"c\",\"text\":\"more\"}\n{\"id\":\"d\",\"words\":[\"x\"],\"counts\":[0]}\n")
	// Output:
	// 200 {"stored":2}
	// 400 {"title":"Bad Request","status":400,"detail":"the count is 0; want at least 1","line":2,"field":"counts[0]"}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
