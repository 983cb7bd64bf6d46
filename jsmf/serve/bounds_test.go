package serve

import (
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The limit of a document holds however it is sent, also for those to keep.
func TestDocumentLimit(t *testing.T) {
	s := open(t, t.TempDir(), Settings{Limits: Limits{Document: 100}})
	defer closed(t, s)
	for _, n := range []int{80, 81} {
		body := `{"id":"a","text":"` + strings.Repeat("x", n) + `"}` // 20 bytes and n
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

// A refit has at most maxWorkers goroutines.
func TestWorkers(t *testing.T) {
	if _, err := Open(t.Context(), t.TempDir(), Settings{Workers: maxWorkers + 1}); err == nil || !strings.Contains(err.Error(), "Workers is 257; want at most 256") {
		t.Errorf("%v", err)
	}
}

// worst returns documents of about n bytes that take much memory to read.
func worst(n int) map[string]string {
	fill := func(before, unit, after string) string {
		return before + strings.Repeat(unit, (n-len(before)-len(after))/len(unit)) + after
	}
	different := func(before, format, after string) string {
		b := []byte(before)
		for i := 0; len(b) < n-len(after)-20; i++ {
			b = fmt.Appendf(b, format, i)
		}
		return strings.TrimSuffix(string(b), ",") + after
	}
	out := map[string]string{
		"one word":        fill(`{"id":"a","words":["a"`, `,"a"`, `]}`),
		"different words": different(`{"id":"a","words":[`, `"%x",`, `]}`),
		"counts":          fill(`{"id":"a","words":["a"],"counts":[1`, `,1`, `]}`),
		"numbers":         fill(`{"id":"a","ids":[0`, `,0`, `]}`),
		"different text":  different(`{"id":"a","text":"`, "k%x ", `"}`),
	}
	// As many values as a document may have, with long names.
	out["values"] = `{"id":"a","text":"","values":{` + strings.TrimSuffix(strings.Join(func() (v []string) {
		for _, c := range manyColumns(min(maxColumns, max(1, (n-40)/8))) {
			v = append(v, fmt.Sprintf("%q:\"\"", c.Name))
		}
		return v
	}(), ","), ",") + `}}`
	// A word of one letter, a long word, text without blanks, numerals, a ligature that
	// stands for four words, the same as an escape, with another after it, marks to put
	// in order, HTML, elision.
	for _, unit := range []string{"a ", "a", "é ", "中", "Ⅷ ", "㍱", "ﷺ", `\ufdfa`, "ﷺa ", "\u0301", "a\u0301", "<", "<b>a</b> ", "&amp; ", "l'a ", `\u0061 `, `\n`} {
		out[unit] = fill(`{"id":"a","text":"`, unit, `"}`)
	}
	return out
}

// What reading a document allocates, be it collected or not, is less than what is
// taken for it before.
func TestReadCost(t *testing.T) {
	s := start(t, Settings{})
	m, lim, wide := s.current.Load(), s.cfg.Limits, manyColumns(maxColumns)
	for _, n := range []int{100, 1 << 10, 100 << 10} {
		for name, doc := range worst(n) {
			for what, read := range map[string]func(){
				"infer": func() {
					if d, p := parseDocument([]byte(doc), wide, lim); p == nil {
						m.infer(d, lim)
					}
				},
				"keep": func() { readIncoming([]byte(doc), wide, lim) },
			} {
				read() // what is made once
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				read()
				runtime.ReadMemStats(&after)
				if got, most := int64(after.TotalAlloc-before.TotalAlloc), readCost([]byte(doc)); got > most || most > worstCost(int64(len(doc))) {
					t.Errorf("%s %.10q of %d bytes: %d were allocated, %d taken, at worst %d", what, name, len(doc), got, most, worstCost(int64(len(doc))))
				}
			}
		}
	}
}

// dripping is a request whose body the test sends.
func dripping(s *Service, path, contentType string, length int64, from string) (send *io.PipeWriter, answer chan *httptest.ResponseRecorder) {
	body, send := io.Pipe()
	r := httptest.NewRequest("POST", path, body)
	r.ContentLength = length
	r.RemoteAddr = from
	r.Header.Set("Content-Type", contentType)
	answer = make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body.Close() // as a connection is
		answer <- w
	}()
	return send, answer
}

// Bodies have their memory before they are read, wait for it, and are refused after
// that; what an upload keeps counts too, unpacked.
func TestBodyMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const document = 1000
		s := open(t, t.TempDir(), Settings{Limits: Limits{Document: document, Work: 4 * 3 * (bodyBytes + 3*document)}})
		defer closed(t, s)
		var sends []*io.PipeWriter
		var answers []chan *httptest.ResponseRecorder
		for i := range 5 {
			send, answer := dripping(s, "/v1/documents", typeJSON, document, fmt.Sprintf("10.0.0.%d:1", i))
			sends, answers = append(sends, send), append(answers, answer)
			synctest.Wait()
		}
		begun := time.Now()
		for _, answer := range answers[3:] {
			if w := <-answer; w.Code != 503 || w.Header().Get("Retry-After") == "" || time.Since(begun) != s.cfg.Limits.Wait {
				t.Errorf("a body too many: %d %s after %v", w.Code, w.Body, time.Since(begun))
			}
		}
		send, answer := dripping(s, "/v1/documents", typeJSON, document, "10.0.0.9:1")
		synctest.Wait()
		doc := func(i int) string {
			return fmt.Sprintf("%-*s", document, fmt.Sprintf(`{"id":"d%d","text":"a word"}`, i))
		}
		io.WriteString(sends[0], doc(0))
		sends[0].Close()
		go func() {
			io.WriteString(send, doc(9)) // which is read when one is done
			send.Close()
		}()
		for i, answer := range []chan *httptest.ResponseRecorder{answers[0], answer} {
			if w := <-answer; w.Code != 200 {
				t.Errorf("document %d: %d %s", i, w.Code, w.Body)
			}
		}
		for i := 1; i < 3; i++ {
			sends[i].CloseWithError(io.ErrUnexpectedEOF)
			<-answers[i]
		}
		many := ndjson(make([]string, 1000), 100) // small, with what is kept of each
		want(t, s, "POST", "/v1/documents", typeNDJSON, zipped(t, many), 413, "Content-Encoding", "gzip")
		if n := s.held.Stats().Docs; n != 2 {
			t.Errorf("%d documents, want 2", n)
		}
		if s.bodies.taken != 0 || !s.reading.TryAcquire(s.cfg.Limits.Work/2) {
			t.Errorf("not all memory has been given back: of bodies %d bytes", s.bodies.taken)
		}
	})
}

// A list with more elements than a document may have tokens is refused before it is
// read.
func TestLongList(t *testing.T) {
	lim := Limits{Tokens: 10}
	body := []byte(`{"words":["a"` + strings.Repeat(`,"a"`, 1<<20) + `]}`)
	var p *problem
	if n := testing.AllocsPerRun(10, func() { _, p = parseDocument(body, nil, lim) }); p == nil || p.Status != 413 || n > 10 {
		t.Errorf("%v after %v allocations", p, n)
	}
}

// The limit of memory follows documents, model and refits.
func TestMemoryLimit(t *testing.T) {
	var told []int64
	s := start(t, Settings{MemoryLimit: func(n int64) { told = append(told, n) }}) // one refit
	lim := s.cfg.Limits
	held := s.held.Stats().Bytes + s.current.Load().bytes()
	last := told[len(told)-1]
	if told[0] != lim.Work || slices.Max(told) < lim.Work+lim.Fit || last < held+lim.Work || last > held+lim.Work+16<<20 {
		t.Errorf("limits %d with %d bytes held", told, held)
	}
}
