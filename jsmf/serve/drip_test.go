package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

// piped is a connection in memory from an address.
type piped struct {
	net.Conn
	from string
}

func (p piped) RemoteAddr() net.Addr { return pipedAddr(p.from) }

type pipedAddr string

func (pipedAddr) Network() string  { return "pipe" }
func (a pipedAddr) String() string { return string(a) }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return pipedAddr("pipes") }

func (p *pipes) dial(from string) net.Conn {
	client, server := net.Pipe()
	p.conns <- piped{server, from}
	return client
}

// inMemory runs f with a service that listens in memory and the clock of the bubble.
func inMemory(t *testing.T, cfg Settings, f func(*Service, *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir(), cfg)
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, stop := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, l, time.Second) }()
		f(s, l)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if s.bodies.taken != 0 || len(s.bodies.of) != 0 || len(s.clients.of) != 0 {
			t.Errorf("left: %d bytes, %v, %v", s.bodies.taken, s.bodies.of, s.clients.of)
		}
		closed(t, s)
		time.Sleep(time.Minute) // of the bubble's clock: clients see that it is over
	})
}

const post = "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"

// drip begins a request with head, and sends a byte of its body every so often until the
// service ends it. It returns the first line of the answer.
func drip(l *pipes, from, head string, every time.Duration) (status chan string) {
	c := l.dial(from)
	status = make(chan string, 1)
	go func() {
		defer c.Close()
		line, _ := bufio.NewReader(c).ReadString('\n')
		status <- line
	}()
	go func() {
		io.WriteString(c, head)
		for {
			if _, err := io.WriteString(c, " "); err != nil {
				return
			}
			time.Sleep(every) // of the bubble's clock
		}
	}()
	return status
}

// upload stores a document, and returns the status.
func upload(t *testing.T, l *pipes, from, id string) int {
	t.Helper()
	c := l.dial(from)
	defer c.Close()
	body := fmt.Sprintf(`{"id":%q,"text":"a word"}`, id)
	go fmt.Fprintf(c, "%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", post, len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

// Clients that send in drops keep no one from storing documents, at the same address
// or at others, and are sent away after a while.
func TestDripping(t *testing.T) {
	inMemory(t, Settings{}, func(s *Service, l *pipes) {
		begun := time.Now()
		var drips []chan string
		for range 16 {
			drips = append(drips, drip(l, "10.0.0.1:1", post+"Content-Length: 30000000\r\n\r\n", time.Second))
		}
		for i := range 3 {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, from := range []string{"10.0.0.1:2", "10.0.0.2:1", "[2001:db8::1]:1"} {
				before := time.Now()
				if status := upload(t, l, from, fmt.Sprint(from, i)); status != 200 || time.Since(before) > 0 {
					t.Errorf("from %s: status %d after %v", from, status, time.Since(before))
				}
			}
		}
		if n := len(s.requests); n != 16 {
			t.Errorf("%d requests in progress, want the 16", n)
		}
		for _, d := range drips {
			if line, took := <-d, time.Since(begun); !strings.Contains(line, " 408 ") || took > 2*s.cfg.Limits.Stall {
				t.Errorf("%q after %v", line, took)
			}
		}
	})
}

// One that sends slowly, but enough, is heard to the end.
func TestSlowUpload(t *testing.T) {
	inMemory(t, Settings{}, func(s *Service, l *pipes) {
		body := fmt.Sprintf("{\"id\":\"a\",\"text\":\"a word\"}%*s", 6000, "")
		c := l.dial("10.0.0.1:1")
		defer c.Close()
		go func() {
			fmt.Fprintf(c, "%sConnection: close\r\nContent-Length: %d\r\n\r\n", post, len(body))
			for b := []byte(body); len(b) > 0; time.Sleep(time.Second) {
				n := min(150, len(b))
				if _, err := c.Write(b[:n]); err != nil {
					return
				}
				b = b[n:]
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	})
}

// However many connections one address has, others get requests, and it does when its
// own have been sent away.
func TestShare(t *testing.T) {
	inMemory(t, Settings{Limits: Limits{Requests: 20}}, func(s *Service, l *pipes) {
		var drips []chan string
		for range 30 {
			drips = append(drips, drip(l, "10.0.0.1:1", post+"Content-Length: 30000000\r\n\r\n", time.Second))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(s.requests); n != 10 {
			t.Errorf("%d requests of one address, want 10", n)
		}
		if a, b := upload(t, l, "10.0.0.1:2", "a"), upload(t, l, "10.0.0.2:1", "b"); a != 429 || b != 200 {
			t.Errorf("from the same address %d, want 429; from another %d, want 200", a, b)
		}
		time.Sleep(2 * s.cfg.Limits.Stall)
		if a := upload(t, l, "10.0.0.1:2", "a"); a != 200 {
			t.Errorf("later: %d", a)
		}
		for _, d := range drips {
			<-d
		}
	})
}

// Half of the memory for bodies is the most that one address has.
func TestShareOfMemory(t *testing.T) {
	p := newPool(100)
	for _, c := range []struct {
		client string
		n      int64
		want   bool
	}{{"a", 40, true}, {"a", 20, false}, {"a", 10, true}, {"a", 1, false}, {"b", 30, true}, {"c", 30, false}, {"c", 20, true}} {
		if ok, _ := p.take(c.client, c.n); ok != c.want {
			t.Errorf("%d for %s: %v", c.n, c.client, ok)
		}
	}
	p.free("a", 50)
	if ok, _ := p.take("b", 21); ok {
		t.Error("b has more than half")
	}
}

// Which address counts.
func TestClient(t *testing.T) {
	for _, c := range []struct {
		header string
		values []string
		from   string
		want   string
	}{
		{"", []string{"1.2.3.4"}, "10.0.0.1:5", "10.0.0.1"},
		{"X-Forwarded-For", nil, "10.0.0.1:5", "10.0.0.1"},
		{"X-Forwarded-For", []string{"1.2.3.4"}, "10.0.0.1:5", "1.2.3.4"},
		{"x-forwarded-for", []string{"9.9.9.9, 1.2.3.4"}, "10.0.0.1:5", "1.2.3.4"},
		{"X-Forwarded-For", []string{"9.9.9.9", "8.8.8.8,1.2.3.4 "}, "10.0.0.1:5", "1.2.3.4"},
		{"X-Forwarded-For", []string{"1.2.3.4, unknown"}, "10.0.0.1:5", "10.0.0.1"},
		{"X-Forwarded-For", []string{"1.2.3.4,"}, "10.0.0.1:5", "10.0.0.1"},
		{"X-Forwarded-For", []string{"1.2.3.4:80"}, "10.0.0.1:5", "1.2.3.4"},
		{"X-Real-IP", []string{"[2001:db8:1:2:3::4]:80"}, "10.0.0.1:5", "2001:db8:1:2::/64"},
		{"X-Real-IP", []string{"2001:db8:1:2:5::6"}, "10.0.0.1:5", "2001:db8:1:2::/64"},
		{"", nil, "[::ffff:1.2.3.4]:5", "1.2.3.4"},
		{"", nil, "[fe80::1%eth0]:5", "fe80::/64"},
		{"", nil, "@", ""},
	} {
		s := &Service{cfg: Settings{ClientHeader: c.header}}
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.from
		for _, v := range c.values {
			r.Header.Add("X-Forwarded-For", v)
			r.Header.Add("X-Real-IP", v)
		}
		if got := s.client(r); got != c.want {
			t.Errorf("%s %q from %s: %q, want %q", c.header, c.values, c.from, got, c.want)
		}
	}
}

// A client that sends all before it reads gets its answer, on a real connection and
// in memory, where a write waits until it is read.
func TestSendFirst(t *testing.T) {
	request := func(size int) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n", strings.Replace(post, typeNDJSON, "text/csv", 1), size)
	}
	send := func(c net.Conn, size int) (string, error) {
		defer c.Close()
		if _, err := io.WriteString(c, request(size)+strings.Repeat("x", size)); err != nil {
			return "", err
		}
		return bufio.NewReader(c).ReadString('\n')
	}
	t.Run("real", func(t *testing.T) {
		s := open(t, t.TempDir(), Settings{})
		t.Cleanup(func() { closed(t, s) })
		addr := listen(t, s)
		if line, err := send(dial(t, addr), drainBytes-1<<20); !strings.Contains(line, " 415 ") {
			t.Errorf("%q, %v", line, err)
		}
	})
	inMemory(t, Settings{}, func(s *Service, l *pipes) {
		// The answer comes first where each write waits for a reader.
		c := l.dial("10.0.0.1:1")
		io.WriteString(c, request(drainBytes))
		if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 415 ") {
			t.Errorf("%q, %v", line, err)
		}
		// A client that sends no more is not waited for long.
		begun := time.Now()
		io.Copy(io.Discard, c)
		if took := time.Since(begun); took < s.cfg.Limits.Stall || took > s.cfg.Limits.Stall+time.Second {
			t.Errorf("closed after %v", took)
		}
		c.Close()
		// One that sends for ever is cut off.
		c = l.dial("10.0.0.1:1")
		io.WriteString(c, request(1<<40))
		go io.Copy(io.Discard, c)
		sent := 0
		for b := make([]byte, 1<<20); ; sent += len(b) {
			if _, err := c.Write(b); err != nil {
				break
			}
		}
		if sent > drainBytes+2<<20 {
			t.Errorf("%d bytes were taken", sent)
		}
		c.Close()
	})
}

// Refused requests of which the rest does not come keep nobody out, however many there are:
// their connections are closed for others, the oldest first.
func TestRefusedConnections(t *testing.T) {
	inMemory(t, Settings{Limits: Limits{Connections: 4, Requests: 2}}, func(s *Service, l *pipes) {
		var held []net.Conn
		for range 4 {
			c := l.dial("10.0.0.1:1")
			defer c.Close()
			held = append(held, c)
			fmt.Fprintf(c, "%sContent-Length: 1000000\r\n\r\n", strings.Replace(post, typeNDJSON, "text/csv", 1))
			if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 415 ") {
				t.Fatalf("%q, %v", line, err)
			}
			go io.Copy(io.Discard, c)
			synctest.Wait()
		}
		if n := s.conns.count(); n != 4 {
			t.Fatalf("%d connections are held, want 4", n)
		}
		begun := time.Now()
		for i := range 3 {
			if status := upload(t, l, "10.0.0.2:1", fmt.Sprint("a", i)); status != 200 {
				t.Errorf("upload %d: %d", i, status)
			}
			synctest.Wait()
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("uploads waited for %v", took)
		}
		// It is the first that was closed.
		time.Sleep(time.Second) // of the bubble's clock: and the answer was left a while to be read
		if _, err := io.WriteString(held[0], "x"); err == nil {
			t.Error("the oldest is still open")
		}
		if _, err := io.WriteString(held[3], "x"); err != nil {
			t.Errorf("the newest is closed: %v", err)
		}
	})
}
