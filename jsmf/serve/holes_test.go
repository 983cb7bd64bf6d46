package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// blocked is a client that takes nothing of its answer.
type blocked struct {
	*httptest.ResponseRecorder
	entered, gate chan struct{}
}

func (b *blocked) Write(p []byte) (int, error) {
	b.entered <- struct{}{}
	<-b.gate
	return len(p), nil
}

// Clients that are slow to take the report do not keep others from inferring.
func TestSlowReport(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Inferring: 1, Wait: 10 * time.Millisecond}})
	b := &blocked{httptest.NewRecorder(), make(chan struct{}, 100), make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ServeHTTP(b, httptest.NewRequest("GET", "/v1/report", nil))
	}()
	<-b.entered
	want(t, s, "POST", "/v1/infer", typeJSON, `{"text":"a"}`, 200)
	close(b.gate)
	<-done
}

// A client that stops taking a long answer is cut off after the stall, not only
// after the time of a request.
func TestSlowReader(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Stall: 500 * time.Millisecond, Request: time.Hour}})
	m := *s.current.Load()
	m.topics = bytes.Repeat([]byte("x"), 32<<20)
	s.current.Store(&m)
	c := dial(t, listen(t, s))
	if err := c.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /v1/topics HTTP/1.1\r\nHost: x\r\n\r\n")
	until(func() bool { return len(s.requests) > 0 })
	settled(s)
}

// deadlines notes how long each write may take.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// One that takes a long answer slowly has the stall for each piece, until the end of
// the request's time.
func TestDeadlines(t *testing.T) {
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	long := make([]byte, 5*piece-1)
	for _, end := range []time.Duration{time.Hour, time.Second} {
		d.set = nil
		begun := time.Now()
		a := &answer{ResponseWriter: d, rc: http.NewResponseController(d), stall: time.Minute, most: end}
		if n, err := a.Write(long); n != len(long) || err != nil {
			t.Fatal(n, err)
		}
		if len(d.set) != 5 {
			t.Errorf("%d deadlines of 5 pieces", len(d.set))
		}
		for i, at := range d.set {
			if at.Before(begun.Add(min(a.stall, end))) || at.After(a.end) || i > 0 && at.Before(d.set[i-1]) {
				t.Errorf("deadlines %v, begun at %v", d.set, begun)
			}
		}
	}
}

// A body that comes in drops, though not too slowly, has the time of a request and no more.
func TestDrip(t *testing.T) {
	limits := Limits{Stall: 10 * time.Second, Rate: 1, Request: 45 * time.Second}
	inMemory(t, Settings{Limits: limits}, func(s *Service, l *pipes) {
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
		refit(t, s)
		for _, path := range []string{"/v1/infer", "/v1/documents", "/v1/explain", "/v1/similar"} {
			begun := time.Now()
			head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100000\r\n\r\n", path, typeJSON)
			line := <-drip(l, "10.0.0.1:1", head, time.Second/4)
			if took := time.Since(begun); !strings.Contains(line, " 408 ") || took < limits.Request || took > limits.Request+time.Second {
				t.Errorf("%s: %q after %v", path, line, took)
			}
		}
	})
}

// A stream that never ends is ended, with a last line that says so, also to a client that
// takes it late.
func TestEndless(t *testing.T) {
	limits := Limits{Request: 400 * time.Millisecond, Stall: 10 * time.Second}
	for _, pause := range []time.Duration{0, limits.Stall / 2, limits.Stall - time.Second} {
		t.Run(fmt.Sprintf("%v before the end is taken", pause), func(t *testing.T) {
			inMemory(t, Settings{Limits: limits}, func(s *Service, l *pipes) {
				want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
				refit(t, s)
				begun := time.Now()
				c := l.dial("10.0.0.1:1")
				defer c.Close()
				go func() {
					fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", typeNDJSON)
					doc := "{\"text\":\"topicaworda\"}\n"
					for {
						if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(doc), doc); err != nil {
							return
						}
						time.Sleep(time.Millisecond) // of the bubble's clock
					}
				}()
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				last, n := "", 0
				sc := bufio.NewScanner(resp.Body)
				for ; sc.Scan(); n++ {
					last = sc.Text()
					if left := limits.Request - time.Since(begun); pause > 0 && left < limits.Request/4 {
						time.Sleep(left + pause)
						pause = 0
					}
				}
				if n < 2 || sc.Err() != nil || !strings.HasPrefix(last, `{"problem":`) || !strings.Contains(last, "took too long") && !strings.Contains(last, "did not come in time") {
					t.Errorf("%d lines, then %v, the last one %.300s; want a last line with a problem", n, sc.Err(), last)
				}
			})
		})
	}
}

// Requests that are no requests of this service are answered by it, or by package
// http, and change nothing.
func TestOddRequests(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Stall: 300 * time.Millisecond}}) // for one that has no end
	addr := listen(t, s)
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 30<<10) + "\r\n\r\n":                            "431",
		"GET /" + strings.Repeat("x", 30<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n":                                   "431",
		"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 10<<10) + "\r\n":                            "431",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00":                                   "40",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n":                                                                  "40",
		"GET * HTTP/1.1\r\nHost: x\r\n\r\n":                                                                      "40",
		"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n":                                                               "40",
		"GET / HTTP/1.1\r\n\r\n":                                                                                 "400",
		"GET /v1/documents/%2e%2e HTTP/1.1\r\nHost: x\r\n\r\n":                                                   "404",
		"GET /v1/documents/%2e%2e%2fLOCK HTTP/1.1\r\nHost: x\r\n\r\n":                                            "404",
		"GET /../LOCK HTTP/1.1\r\nHost: x\r\n\r\n":                                                               "404",
		"GET /v1/documents/%00 HTTP/1.1\r\nHost: x\r\n\r\n":                                                      "404",
		"GET /v1/documents/%ff HTTP/1.1\r\nHost: x\r\n\r\n":                                                      "404",
		"GET /v1/topics/0%00 HTTP/1.1\r\nHost: x\r\n\r\n":                                                        "404",
		"POST /v1/refit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                      "415",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03":                                                           "400",
		"POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": "4",
		"POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello":              "400",
	} {
		c := dial(t, addr)
		if _, err := io.WriteString(c, request); err != nil {
			t.Logf("%.40q: %v", request, err) // it may have heard enough
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) && !strings.HasPrefix(line, "HTTP/1.0 "+want) {
			t.Errorf("%.60q: %q, %v; want %s", request, line, err, want)
		}
		c.Close()
	}
	settled(s)
	if st := s.refitStatus(); st.Model.Version != 1 {
		t.Errorf("%+v", st)
	}
}

// idlers counts the connections that wait for a request.
func (c *connections) idlers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle.Len()
}

// Connections without a request cannot keep others out, nor use up the files that
// the service may open; those that are at a request stay.
func TestIdleConnections(t *testing.T) {
	const most = 20
	s := start(t, Settings{Limits: Limits{Connections: most, Stall: time.Hour, Request: time.Hour}})
	addr := listen(t, s)
	busy := dial(t, addr)
	body := `{"text":"topicaworda"}`
	fmt.Fprintf(busy, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", typeJSON, len(body))
	until(func() bool { return len(s.requests) > 0 })
	used := dial(t, addr) // between two requests
	fmt.Fprintf(used, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(used), nil); err != nil {
		t.Fatal(err)
	}
	var idle []net.Conn
	for range 5 * most {
		idle = append(idle, dial(t, addr))
	}
	for i, c := range append([]net.Conn{used}, idle[:4*most]...) { // the oldest ones
		if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("connection %d is still open: %v", i, err)
		}
	}
	resp, err := http.Get("http://" + addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	io.WriteString(busy, body)
	if resp, err := http.ReadResponse(bufio.NewReader(busy), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("a request in progress: %v", err)
	}
	if n := s.conns.count(); n > most {
		t.Errorf("%d connections, more than %d", n, most)
	}
	// Neither can those that send a part of a header.
	var all []net.Conn
	for range 2 * most {
		c := dial(t, addr)
		fmt.Fprint(c, "GET ")
		all = append(all, c)
	}
	if resp, err = http.Get("http://" + addr + "/healthz"); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	// Where all are at a request, it is the new one that goes. Those that were may not
	// be idle yet, though they have their answers.
	until(func() bool { return s.conns.idlers() == s.conns.count() })
	for range most {
		c := dial(t, addr)
		fmt.Fprintf(c, "POST /v1/infer HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 10\r\n\r\n{", typeJSON)
		all = append(all, c)
	}
	until(func() bool { return len(s.requests) == most })
	c := dial(t, addr)
	if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("a connection too many is still open: %v", err)
	}
	if n := s.conns.count(); n != most || len(s.requests) != most {
		t.Errorf("%d connections, %d requests, want %d", n, len(s.requests), most)
	}
	for _, c := range all {
		c.Close()
	}
	settled(s)
}

// A refit that is cancelled in the middle of its work leaves all as it was.
func TestCancelFit(t *testing.T) {
	s := start(t, Settings{})
	state, done := "", 1
	for state == "" || state == refitDone { // it may be done before it is seen to run
		want(t, s, "POST", "/v1/refit", "", "", 202)
		for stop := false; !stop; {
			s.mu.Lock()
			if stop = s.refit.Stage != "" || s.refit.State != refitRunning; stop {
				s.end()
			}
			s.mu.Unlock()
		}
		s.wg.Wait()
		s.ctx, s.end = context.WithCancel(context.Background())
		if state = s.refitStatus().State; state == refitDone {
			done++
		}
	}
	if v := s.current.Load().name.Version; state != refitCancelled || v != done {
		t.Errorf("%s, model %d, want %d", state, v, done)
	}
	refit(t, s)
	if v := s.current.Load().name.Version; v != done+1 {
		t.Errorf("model %d, want %d", v, done+1)
	}
}

// A model of another rectification than that of the service's refits is taken as
// it is, and its topics keep their numbers.
func TestOtherRectifier(t *testing.T) {
	s := start(t, Settings{})
	c, err := s.held.Snapshot().Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.New(5).Rectify(rectify.ENN{}).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), Settings{})
	defer closed(t, other)
	if ok, err := other.Import(context.Background(), m); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	want(t, other, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, other)
	second := other.current.Load()
	for k, x := range other.refitStatus().Drift {
		before, now := m.TopWords(k, 1)[0].Word, second.labels[k][0]
		if x == nil || *x > 0.2 || planted(now) != planted(before) {
			t.Errorf("topic %d of %s, drift %v, was one of %s", k, now, x, before)
		}
	}
	if len(second.drift) != 5 {
		t.Errorf("%+v", other.refitStatus())
	}
}

// Models without their documents, as after the log was put back from an older
// copy: the model serves, the documents are those of the log, and the next model
// has a number of its own.
func TestModelNewerThanLog(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	s := open(t, dir, Settings{})
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	closed(t, s)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Settings{})
	refit(t, s)
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(50, 2), 500), 200)
	refit(t, s)
	closed(t, s)
	if err := os.CopyFS(filepath.Join(copied, "models"), os.DirFS(filepath.Join(dir, "models"))); err != nil {
		t.Fatal(err)
	}
	s = open(t, copied, Settings{})
	defer closed(t, s)
	if st, v := s.held.Stats(), s.current.Load().name.Version; st.Docs != 200 || v != 2 {
		t.Errorf("%d documents, model %d", st.Docs, v)
	}
	refit(t, s)
	if v := s.current.Load().name.Version; v != 3 {
		t.Errorf("the next model is %d, want 3", v)
	}
}
