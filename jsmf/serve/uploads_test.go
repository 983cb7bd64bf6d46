package serve

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// Of many uploads that come at once as many are let in as can end in time, whatever the
// speed of the service, and those that have not been let in after a while would be late.
func TestUploads(t *testing.T) {
	const size, request, wait = 31e6, time.Minute, 2 * time.Second
	for _, c := range []struct {
		speed float64 // bytes a second of all together
		slow  int     // clients that send nearly nothing, and were there before
		least int     // that are let in
		most  int     // that can be stored in time, and kept
		kept  float64 // bytes of memory by byte
	}{
		{speed: 5e6, least: 3, most: 9},
		{speed: 5e6, slow: 20, least: 3, most: 9},
		{speed: 15e6, least: 9, most: 29},
		{speed: 200e6, least: 30, most: 30},
		{speed: 1.1e6, least: 1, most: 2}, // the first two are let in whatever the speed
		{speed: 15e6, least: 9, most: 29, kept: 0.05},
		{speed: 15e6, least: 4, most: 5, kept: 0.4},
		{speed: 15e6, least: 1, most: 1, kept: 1.2},
		{speed: 15e6, slow: 20, least: 1, most: 1, kept: 1.2},
	} {
		t.Run(fmt.Sprintf("%.0f MB per second, %d slow, %v kept", c.speed/1e6, c.slow, c.kept), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bodies := newPool(128e6)
				u := newUploads(bodies, request)
				u.free = 2
				begun := time.Now()
				var slow []*large
				for range c.slow {
					b := u.enter("slow", size)
					if b == nil {
						t.Fatal("one that waits for its client keeps another out")
					}
					b.wait()
					slow = append(slow, b)
					time.Sleep(time.Second)
				}
				start := time.Now()
				var in []*large
				const step = 10 * time.Millisecond
				for now := start; len(in) > 0 || now == start; now = time.Now() {
					for range 30 {
						if now.Sub(start) <= wait && len(in) < 30 {
							if b := u.enter("a", size); b != nil {
								in = append(in, b)
							}
						}
					}
					if now.Sub(start) == wait && (len(in) < c.least || len(in) > c.most) {
						t.Errorf("%d uploads were let in, want %d to %d", len(in), c.least, c.most)
					}
					time.Sleep(step)
					n := len(u.of) - len(slow)
					for b := range u.of {
						if b.since.IsZero() {
							b.wait()
							came := int(c.speed * step.Seconds() / float64(n))
							b.come(came)
							b.keep(int64(c.kept * float64(came)))
							if ok, _ := bodies.take("a", int64(c.kept*float64(came))); !ok {
								t.Fatal("there is no memory for an upload that was let in")
							}
						}
					}
					for _, b := range in {
						if _, there := u.of[b]; there && b.got+int64(b.last) >= size {
							b.leave()
							bodies.free("a", b.kept)
							if took := time.Since(b.begun); took > request {
								t.Errorf("one took %v", took)
							}
						}
					}
					if len(u.of) == len(slow) {
						break
					}
				}
				for _, b := range slow {
					b.leave()
				}
				if len(u.of) != 0 {
					t.Errorf("%d are left after %v", len(u.of), time.Since(begun))
				}
			})
		})
	}
}

// bulk begins to send an upload of many bytes at full speed, all of it before it reads, and
// returns the answer.
func bulk(l *pipes, from string) (answer chan *http.Response) {
	c := l.dial(from)
	answer = make(chan *http.Response, 1)
	line := fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", from, strings.Repeat("a word ", 1000))
	const lines = 4000
	sent := make(chan bool)
	go func() {
		defer close(sent)
		fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n", post, lines*len(line))
		for range lines {
			if _, err := io.WriteString(c, line); err != nil {
				answer <- nil
				return
			}
		}
	}()
	go func() {
		defer c.Close()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			answer <- nil
			return
		}
		<-sent
		answer <- resp
	}()
	return answer
}

// An upload for which there is no time is refused soon, and one that was let in and is late
// all the same is told so, and not that its body was slow: both with an answer, to a client
// that sends all that it has. Small uploads need no leave.
func TestLateUploads(t *testing.T) {
	inMemory(t, Settings{Limits: Limits{Inferring: 1}}, func(s *Service, l *pipes) {
		s.uploads.free = 2
		s.work <- struct{}{} // nothing gets on
		begun := time.Now()
		var in []chan *http.Response
		for i := range 2 {
			in = append(in, bulk(l, fmt.Sprintf("10.0.1.%d:1", i)))
			synctest.Wait()
		}
		for i := range 5 {
			resp := <-bulk(l, fmt.Sprintf("10.0.2.%d:1", i))
			if resp == nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "5" {
				t.Fatalf("an upload too many: %+v, want 503 with Retry-After", resp)
			}
			if took := time.Since(begun); took > s.cfg.Limits.Wait {
				t.Errorf("refused after %v, want it within %v", took, s.cfg.Limits.Wait)
			}
			begun = time.Now()
		}
		for _, answer := range in {
			resp := <-answer
			if resp == nil {
				t.Fatal("no answer to an upload that is late")
			}
			b, err := io.ReadAll(io.LimitReader(resp.Body, resp.ContentLength))
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || strings.Contains(string(b), "in time") || err != nil {
				t.Errorf("%d %s, %v; want 503", resp.StatusCode, b, err)
			}
		}
		<-s.work
		if status := upload(t, l, "10.0.3.1:1", "small"); status != 200 {
			t.Errorf("later: %d", status)
		}
		if resp := <-bulk(l, "10.0.4.1:1"); resp == nil || resp.StatusCode != 200 {
			t.Errorf("%+v; want 200", resp)
		}
	})
}

// At the end of its time a request is told that it took too long, not that its body was slow,
// unless it was.
func TestLateBody(t *testing.T) {
	for _, c := range []struct {
		idle   time.Duration // before each read, that the service waits for the client
		busy   time.Duration // and takes after it
		status int
	}{{0, time.Second, 503}, {time.Second, time.Second, 503}, {time.Second, 0, 408}, {9 * time.Second, time.Second, 408}} {
		t.Run(fmt.Sprintf("%v waiting, %v working", c.idle, c.busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deadline := time.Now().Add(time.Minute)
				in := &patient{rc: http.NewResponseController(httptest.NewRecorder()), stall: 10 * time.Second, deadline: deadline}
				in.r = iotest.OneByteReader(readerFunc(func(b []byte) (int, error) {
					time.Sleep(c.idle)
					if !time.Now().Before(deadline) {
						return 0, os.ErrDeadlineExceeded
					}
					return len(b), nil
				}))
				var err error
				n := 0
				for ; err == nil; n++ {
					_, err = in.Read(make([]byte, 10))
					time.Sleep(c.busy)
				}
				p := readProblem(err, 1000)
				if p.Status != c.status || (p.retry > 0) != (c.status == 503) || c.status == 503 && !strings.Contains(p.Detail, fmt.Sprintf("took too long: %d bytes", n-1)) {
					t.Errorf("%v; want %d", p, c.status)
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
