package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Wrong documents, each with the status and what the answer must name.
func TestWrongDocuments(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Document: 1000, Tokens: 50}})
	m := s.current.Load().model
	for _, c := range []struct {
		body   string
		status int
		field  string
		detail string
	}{
		{`{`, 400, "", "no JSON"},
		{``, 400, "", "no JSON"},
		{`[]`, 400, "", "a JSON object"},
		{`"text"`, 400, "", "a JSON object"},
		{`null`, 400, "", "null"},
		{`{"text":null}`, 400, "", "null"},
		{`{"ids":[0,null]}`, 400, "", "null"},
		{`{"year":Infinity}`, 400, "year", "no such field"},
		{`{"text":Infinity}`, 400, "", "no JSON: invalid character 'I'"},
		{`{"ids":[0,nan]}`, 400, "", "no JSON: invalid character 'a'"},
		{`{}`, 400, "", "none of text, words and ids"},
		{`{"text":"a"} x`, 400, "", "after the end"},
		{`{"text":"a"}{"text":"b"}`, 400, "", "after the end"},
		{`{"text":"a","text":"b"}`, 400, "text", "twice"},
		{`{"Text":"a"}`, 400, "Text", "no such field"},
		{`{"text":"a","labels":[]}`, 400, "labels", "no such field"},
		{`{"text":["a"]}`, 400, "text", "a JSON array"},
		{`{"text":7}`, 400, "text", "a JSON number"},
		{`{"text":"a","words":["b"]}`, 400, "words", "has text too"},
		{`{"text":"a","counts":[1]}`, 400, "counts", "not with text"},
		{`{"words":["a"],"counts":[1,2]}`, 400, "counts", "2 counts for 1 words"},
		{`{"words":["a",""]}`, 400, "words[1]", "empty"},
		{`{"words":null}`, 400, "", "null"},
		{`{"words":["a"],"counts":null}`, 400, "", "null"},
		{`{"words":["a"],"counts":[0]}`, 400, "counts[0]", "at least 1"},
		{`{"words":["a"],"counts":[1.5]}`, 400, "counts", "number 1.5"},
		{`{"words":["a"],"counts":[99999999999]}`, 400, "counts", "99999999999"},
		{`{"ids":[0,-1]}`, 400, "ids[1]", "negative"},
		{fmt.Sprintf(`{"ids":[%d]}`, m.N()), 400, "ids[0]", "there is no word"},
		{`{"words":["a"],"counts":[51]}`, 413, "words", "51 tokens"},
		{`{"text":"` + strings.Repeat("word ", 51) + `"}`, 413, "text", "51 tokens"},
		{`{"text":"` + strings.Repeat("x", 1000) + `"}`, 413, "", "1000 bytes"},
		{"{\"text\":\"\xff\"}", 400, "", "byte 9 is not UTF-8"},
		{"{\"text\":\"ab\xed\xa0\x80\"}", 400, "", "byte 11 is not UTF-8"},
		{`{"text":"\ud800"}`, 400, "", "surrogate"},
		{`{"text":"\\ud800 \udc00"}`, 400, "", "surrogate"},
		{`{"text":"\ud83d\ude00 \\ud800"}`, 200, "", ""},
		{`{"words":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}`, 400, "", "nested deeper"},
		{strings.Repeat("[", 1000), 400, "", "nested deeper"},
		{strings.Repeat(`{"a":`, 180), 400, "", "nested deeper"},
		{`{"text":"[[[[[[[["}`, 200, "", ""},
		{`{"id":"\n","text":"a"}`, 400, "id", "control"},
	} {
		out := want(t, s, "POST", "/v1/infer", typeJSON, c.body, c.status)
		if c.status == 200 {
			continue
		}
		if p := decode[problem](t, out); p.Status != c.status || p.Field != c.field || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%.60s: %s; want field %q and %q", c.body, out, c.field, c.detail)
		}
		// In a stream the line is named too.
		if c.body == "" {
			continue
		}
		p := decode[problem](t, want(t, s, "POST", "/v1/documents", typeNDJSON, "\n\n"+strings.Replace(c.body, "{", `{"id":"a",`, 1), max(c.status, 400)))
		if p.Line != 3 {
			t.Errorf("%.60s: %+v does not name line 3", c.body, p)
		}
	}
	if n := s.held.Stats().Docs; n != 200 {
		t.Errorf("%d documents, want the 200 there were", n)
	}
}

func TestWrongRequests(t *testing.T) {
	s := start(t, Settings{})
	s.cfg.Hosts, s.cfg.Limits.Upload, s.cfg.Limits.Documents = []string{"localhost"}, 5000, 3
	for _, c := range []struct {
		method, path, contentType, body string
		status                          int
		header                          []string
	}{
		{"POST", "/v1/infer", "", `{"text":"a"}`, 415, nil},
		{"POST", "/v1/infer", "text/plain", `{"text":"a"}`, 415, nil},
		{"POST", "/v1/infer", "application/json; charset=latin1", `{"text":"a"}`, 415, nil},
		{"POST", "/v1/infer", typeJSON, `{"text":"a"}`, 415, []string{"Content-Encoding", "br"}},
		{"POST", "/v1/infer", typeJSON, `{"text":"a"}`, 400, []string{"Content-Encoding", "gzip"}},
		{"POST", "/v1/infer", typeJSON, zipped(t, `{"text":"a"}`)[:20], 400, []string{"Content-Encoding", "gzip"}},
		{"POST", "/v1/infer", typeJSON, zipped(t, `{"text":"a"}`) + "x", 400, []string{"Content-Encoding", "gzip"}},
		{"POST", "/v1/documents", "text/csv", `a`, 415, nil},
		{"POST", "/v1/documents", typeNDJSON, ndjson(texts(4, 1), 1000), 413, nil},
		{"POST", "/v1/documents", typeNDJSON, ndjson([]string{strings.Repeat("x ", 3000)}, 1000), 413, nil},
		{"GET", "/v1/infer", "", "", 405, nil},
		{"PUT", "/v1/documents/x", typeJSON, "{}", 405, nil},
		{"BREW", "/", "", "", 405, nil},
		{"GET", "/v1/", "", "", 404, nil},
		{"GET", "/v1/models/../../etc/passwd", "", "", 404, nil},
		{"GET", "//v1/topics", "", "", 404, nil},
		{"GET", "/v1/topics/", "", "", 404, nil},
		{"GET", "/v1/topics/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "", "", 404, nil},
		{"DELETE", "/v1/documents/..%2f..%2fLOCK", "", "", 404, nil},
		{"GET", "/web/index.html", "", "", 404, nil},
		{"GET", "/v1/topics", "", "", 421, []string{"Host", "evil.example"}},
		{"POST", "/v1/refit", "", "", 403, []string{"Origin", "https://evil.example"}},
		{"DELETE", "/v1/documents/d1", "", "", 403, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		r := call(t, s, c.method, c.path, c.contentType, c.body, append([]string{"Host", "localhost:8080"}, c.header...)...)
		if r.Code != c.status {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.path, r.Code, c.status, r.Body)
			continue
		}
		if p := decode[problem](t, r.Body.String()); p.Status != c.status || p.Detail == "" {
			t.Errorf("%s %s: %s", c.method, c.path, r.Body)
		}
		if c.status == 405 && r.Header().Get("Allow") == "" {
			t.Errorf("%s %s: Allow is missing", c.method, c.path)
		}
	}
	for _, path := range []string{"/", "/app.js", "/style.css", "/api", "/openapi.json", "/healthz", "/readyz", "/metrics", "/v1/documents", "/v1/topics", "/v1/topics/1", "/v1/correlations", "/v1/report", "/v1/refit"} {
		want(t, s, "GET", path, "", "", 200, "Host", "localhost")
		if w := call(t, s, "GET", path, "", "", "Host", "LOCALHOST:1"); w.Body.Len() == 0 {
			t.Errorf("%s is empty", path)
		}
	}
}

// What is in use is told apart from what is wrong: 503 and 429, with a time to
// come again.
func TestBusy(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Requests: 2, Inferring: 1, Wait: 10 * time.Millisecond}})
	s.work <- struct{}{}
	w := call(t, s, "POST", "/v1/infer", typeJSON, `{"text":"a"}`)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("no turn: %d %s", w.Code, w.Body)
	}
	<-s.work
	s.bodies.take("others", s.bodies.most/2)
	s.bodies.take("more", s.bodies.most/2)
	w = call(t, s, "POST", "/v1/documents", typeJSON, `{"id":"x","text":"a"}`)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("no memory for bodies: %d %s", w.Code, w.Body)
	}
	s.bodies.free("others", s.bodies.most/2)
	s.bodies.free("more", s.bodies.most/2)
	s.requests <- struct{}{}
	s.requests <- struct{}{}
	w = call(t, s, "GET", "/v1/topics", "", "")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("three requests: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		want(t, s, "GET", path, "", "", 200)
	}
	<-s.requests
	<-s.requests
	want(t, s, "GET", "/v1/topics", "", "", 200)
}

// Documents that are kept may take so much memory and no more.
func TestMemory(t *testing.T) {
	s := open(t, t.TempDir(), Settings{Limits: Limits{Memory: 20_000}})
	defer closed(t, s)
	n := 0
	for ; n < 1000; n++ {
		w := call(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(10, uint64(n)), 10*n))
		if w.Code == 507 {
			break
		}
	}
	if got := s.held.Stats(); got.Docs != 10*n || n < 2 || n > 50 {
		t.Errorf("%+v after %d uploads", got, n)
	}
	want(t, s, "DELETE", "/v1/documents/d0", "", "", 200)
}

// listen runs a service on a connection of its own until the test ends.
func listen(t *testing.T, s *Service) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, 5*time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// settled waits until no request is in progress.
func settled(s *Service) {
	until(func() bool { return len(s.requests) == 0 })
}

// until waits for something that is to come about; go test's own limit ends what
// waits in vain.
func until(done func() bool) {
	for !done() {
		time.Sleep(time.Millisecond)
	}
}

// A client that sends a part of its request and then nothing is told, and holds
// nothing for long; one that goes away neither.
func TestStall(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Stall: 300 * time.Millisecond}})
	addr := listen(t, s)
	for _, path := range []string{"/v1/infer", "/v1/documents"} {
		for _, contentType := range []string{typeJSON, typeNDJSON} {
			c := dial(t, addr)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\n{\"text\":", path, contentType)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%s %s: %v", path, contentType, err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
				t.Errorf("%s %s: %s, closing %v", path, contentType, resp.Status, resp.Close)
			}

			c = dial(t, addr) // goes away
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\n{\"text\":", path, contentType)
			c.Close()
		}
	}
	// Headers that do not end.
	c := dial(t, addr)
	fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\n")
	if b, _ := io.ReadAll(c); len(b) > 0 && !strings.Contains(string(b), " 408 ") {
		t.Errorf("half a header: %s", b)
	}
	// One that sends documents but takes no answers.
	c = dial(t, addr)
	fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", typeNDJSON)
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	doc := []byte("{\"text\":\"\"}\n") // its answer is far larger
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", 100*len(doc), bytes.Repeat(doc, 100))
	for sent := 0; ; sent += len(chunk) {
		if _, err := c.Write(chunk); err != nil {
			break // the service has closed it
		}
		if sent > 100<<20 {
			t.Fatal("the service goes on without being heard")
		}
	}
	settled(s)
	want(t, s, "POST", "/v1/infer", typeJSON, `{"text":"a"}`, 200)
}

// zeros is an endless body that counts what is taken of it.
type zeros struct {
	left  int64
	taken atomic.Int64
}

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	clear(p[:n])
	z.left -= int64(n)
	z.taken.Add(int64(n))
	return n, nil
}

// A body of 1 GB is refused before it is read, or after the limit where its
// length is not known.
func TestHuge(t *testing.T) {
	const gigabyte = 1 << 30
	s := start(t, Settings{Limits: Limits{Document: 1 << 16, Upload: 1 << 20, Stream: 1 << 22}})
	addr := listen(t, s)
	for _, path := range []string{"/v1/infer", "/v1/documents"} {
		for _, contentType := range []string{typeJSON, typeNDJSON} {
			for _, known := range []bool{true, false} {
				z := &zeros{left: gigabyte}
				r, err := http.NewRequest("POST", "http://"+addr+path, z)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", contentType)
				if known {
					r.ContentLength = gigabyte
				}
				tr := &http.Transport{}
				resp, err := tr.RoundTrip(r)
				if err == nil { // the connection may break before the answer has been read
					if resp.StatusCode != http.StatusRequestEntityTooLarge {
						t.Errorf("%s %s: %s", path, contentType, resp.Status)
					}
					resp.Body.Close()
				} else if !known {
					t.Logf("%s %s: %v", path, contentType, err)
				}
				tr.CloseIdleConnections()
				// The service's limit, what it reads on to let the answer be seen, and
				// the buffers of both ends.
				if n := z.taken.Load(); n > drainBytes+16<<20 {
					t.Errorf("%s %s: %d bytes were taken", path, contentType, n)
				}
			}
		}
	}
	settled(s)

	// The answer itself can be seen, by a client that listens while it sends.
	c := dial(t, addr)
	fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", typeJSON, gigabyte)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s", resp.Status)
	}
}

// A small gzip stream that becomes 1 GB is given up at the limit.
func TestBomb(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Document: 1 << 21, Upload: 1 << 22, Stream: 1 << 22, Work: 1 << 30}})
	var part bytes.Buffer
	z := gzip.NewWriter(&part)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := strings.Repeat(part.String(), 1<<10) // parts of a gzip stream follow each other
	if len(bomb) > 1<<21 {
		t.Fatalf("the bomb itself has %d bytes", len(bomb))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, path := range []string{"/v1/infer", "/v1/documents"} {
		for _, contentType := range []string{typeJSON, typeNDJSON} {
			want(t, s, "POST", path, contentType, bomb, 413, "Content-Encoding", "gzip")
		}
	}
	runtime.ReadMemStats(&after)
	// A buffer that grows to the limit by a quarter each time: some 5 limits; four
	// times.
	if n := after.TotalAlloc - before.TotalAlloc; n > 160<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// A stop lets requests end, stops a refit, and leaves nothing behind.
func TestShutdown(t *testing.T) {
	s := open(t, t.TempDir(), Settings{})
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, 10*time.Second) }()
	c := dial(t, l.Addr().String())
	body := `{"text":"topicaworda"}`
	fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", typeJSON, len(body))
	until(func() bool { return len(s.requests) > 0 })
	stop()
	until(s.stopping.Load)
	want(t, s, "GET", "/readyz", "", "", 503)
	want(t, s, "POST", "/v1/refit", "", "", 503)
	io.WriteString(c, body)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || decode[inferAnswer](t, string(b)).Tokens != 1 {
		t.Errorf("a request in progress: %s %s, %v", resp.Status, b, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.DialTimeout("tcp", l.Addr().String(), time.Second); err == nil {
		t.Error("it still listens")
	}
	closed(t, s)
	late, p := readIncoming([]byte(`{"id":"late","text":"x"}`), nil, s.cfg.Limits)
	if p != nil {
		t.Fatal(p)
	}
	if _, _, p := s.add([]incoming{late}); p == nil || s.held.Has("late") {
		t.Errorf("a document was stored after the end: %v", p)
	}
}

// A refit that runs when the service stops is cancelled, and the model stays.
func TestCancelRefit(t *testing.T) {
	s := open(t, t.TempDir(), Settings{})
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	s.documents.Lock() // the refit waits
	want(t, s, "POST", "/v1/refit", "", "", 202)
	ctx, stop := context.WithCancel(context.Background())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Serve(ctx, l, time.Second); err != nil {
		t.Error(err)
	}
	s.documents.Unlock()
	closed(t, s)
	if st := s.refitStatus(); st.State != refitCancelled {
		t.Errorf("%+v", st)
	}
	if s.current.Load() != nil {
		t.Error("a model of a refit that was cancelled serves")
	}
}

// Requests that do not end within the grace are cut off.
func TestGrace(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Stall: time.Minute}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, 50*time.Millisecond) }()
	c := dial(t, l.Addr().String())
	fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\n{", typeJSON)
	until(func() bool { return len(s.requests) > 0 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("the connection is still there: %v", err)
	}
}

// A handler that panics is a 500, and if it had begun to answer, a broken
// connection; the service goes on.
func TestPanic(t *testing.T) {
	s := start(t, Settings{})
	for _, begun := range []bool{false, true} {
		h := s.wrap(route{path: "/x", methods: map[string]handler{"GET": func(_ *Service, w http.ResponseWriter, r *http.Request) *problem {
			if begun {
				w.Write([]byte("half"))
			}
			panic("a mistake")
		}}})
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if v := recover(); (v == http.ErrAbortHandler) != begun {
					t.Errorf("begun %v: it panics with %v", begun, v)
				}
			}()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
		}()
		if !begun && (w.Code != 500 || strings.Contains(w.Body.String(), "a mistake")) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	want(t, s, "GET", "/v1/topics", "", "", 200)
	if n := len(s.requests); n != 0 {
		t.Errorf("%d requests are still counted", n)
	}
}
