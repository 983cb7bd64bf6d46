package server

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// route is a path of the interface, in the form of http.ServeMux, and what it
// does by method.
type route struct {
	path    string
	methods map[string]handler
	free    bool // is not counted against the limit of requests, so that a busy service can be watched
}

// handler answers a request, or returns why it does not.
type handler func(s *Service, w http.ResponseWriter, r *http.Request) *problem

// routes returns all there is.
func routes() []route {
	get := func(h handler) map[string]handler { return map[string]handler{http.MethodGet: h} }
	post := func(h handler) map[string]handler { return map[string]handler{http.MethodPost: h} }
	return []route{
		{path: "/{$}", methods: get(file("web/index.html", "text/html; charset=utf-8"))},
		{path: "/app.js", methods: get(file("web/app.js", "text/javascript; charset=utf-8"))},
		{path: "/style.css", methods: get(file("web/style.css", "text/css; charset=utf-8"))},
		{path: "/openapi.json", methods: get(file("openapi.json", "application/json"))},
		{path: "/healthz", methods: get((*Service).health), free: true},
		{path: "/readyz", methods: get((*Service).ready), free: true},
		{path: "/metrics", methods: get((*Service).prometheus), free: true},
		{path: "/v1/infer", methods: post((*Service).infer)},
		{path: "/v1/topics", methods: get((*Service).topics)},
		{path: "/v1/topics/{topic}", methods: get((*Service).topic)},
		{path: "/v1/correlations", methods: get((*Service).correlations)},
		{path: "/v1/report", methods: get((*Service).report)},
		{path: "/v1/documents", methods: map[string]handler{http.MethodGet: (*Service).countDocuments, http.MethodPost: (*Service).postDocuments}},
		{path: "/v1/documents/{id}", methods: map[string]handler{http.MethodGet: (*Service).getDocument, http.MethodDelete: (*Service).deleteDocument}},
		{path: "/v1/refit", methods: map[string]handler{http.MethodGet: (*Service).getRefit, http.MethodPost: (*Service).postRefit}},
	}
}

//go:embed openapi.json web
var files embed.FS

func file(name, contentType string) handler {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return func(_ *Service, w http.ResponseWriter, r *http.Request) *problem {
		w.Header().Set("Content-Type", contentType)
		w.Write(b)
		return nil
	}
}

// Handler returns the service as an http.Handler.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		mux.Handle(rt.path, s.wrap(rt))
	}
	other := s.wrap(route{path: "other", methods: map[string]handler{"": func(_ *Service, _ http.ResponseWriter, r *http.Request) *problem {
		return fail(http.StatusNotFound, "there is no %s", shorten(r.URL.Path))
	}}})
	mux.Handle("/", other)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.conns.request(r.Context())
		// ServeMux would redirect to another path, with an answer of its own.
		if p := r.URL.EscapedPath(); p != path.Clean(p) {
			other.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// answer is a ResponseWriter that knows what has been answered.
type answer struct {
	http.ResponseWriter
	status   int
	panicked bool

	rc    *http.ResponseController
	stall time.Duration // to wait for the client to take a piece
	end   time.Time     // and for all of it
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write waits for the client for each piece, so that one that is slow gets a long
// answer, and one that takes nothing holds a request for the stall only.
func (a *answer) Write(b []byte) (n int, err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for n < len(b) || n == 0 {
		t := time.Now().Add(a.stall)
		if a.end.Before(t) {
			t = a.end
		}
		_ = a.rc.SetWriteDeadline(t) // there is none without a connection
		k, err := a.ResponseWriter.Write(b[n:min(n+piece, len(b))])
		if n += k; err != nil || k == 0 {
			return n, err
		}
	}
	return n, nil
}

// piece is how much of an answer a client must take within the stall.
const piece = 64 << 10

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// wrap does what all routes have in common.
func (s *Service) wrap(rt route) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		a := &answer{ResponseWriter: w}
		s.metrics.progress.Inc()
		defer s.metrics.progress.Dec()
		p := s.handle(rt, cross, a, r)
		cut := a.panicked && a.status != 0 // an answer that had begun must not look whole
		if p != nil && a.status == 0 {
			p.write(a)
		}
		took := time.Since(begun)
		method := r.Method
		if _, ok := rt.methods[method]; !ok && method != http.MethodHead {
			method = "other" // clients cannot make new labels
		}
		s.metrics.requests.WithLabelValues(rt.path, method, strconv.Itoa(a.status)).Inc()
		s.metrics.seconds.WithLabelValues(rt.path).Observe(took.Seconds())
		level, attrs := slog.LevelDebug, []any{"route", rt.path, "method", method, "status", a.status, "took", took, "from", r.RemoteAddr}
		if p != nil {
			attrs = append(attrs, "detail", p.Detail)
			if p.cause != nil {
				attrs = append(attrs, "cause", p.cause)
				if p.Status >= 500 {
					level = slog.LevelError
				}
			}
		}
		s.cfg.Log.Log(r.Context(), level, "request", attrs...)
		if cut {
			panic(http.ErrAbortHandler)
		}
	})
}

func (s *Service) handle(rt route, cross *http.CrossOriginProtection, w *answer, r *http.Request) (p *problem) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			w.panicked = true
			p = internal(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")

	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Limits.Request)
	defer cancel()
	r = r.WithContext(ctx)
	lim := s.cfg.Limits
	w.rc, w.stall, w.end = http.NewResponseController(w.ResponseWriter), lim.Stall, time.Now().Add(lim.Request+lim.Stall)

	if s.cfg.Hosts != nil && !slices.Contains(s.cfg.Hosts, hostName(r.Host)) {
		return fail(http.StatusMisdirectedRequest, "this service is not called %s", shorten(r.Host))
	}
	if err := cross.Check(r); err != nil {
		return fail(http.StatusForbidden, "the request comes from a page of another site")
	}
	method := r.Method
	if _, ok := rt.methods[method]; !ok && method == http.MethodHead {
		method = http.MethodGet
	}
	do, ok := rt.methods[method]
	if !ok {
		if do, ok = rt.methods[""]; !ok {
			allow := make([]string, 0, len(rt.methods)+1)
			for m := range rt.methods {
				allow = append(allow, m)
				if m == http.MethodGet {
					allow = append(allow, http.MethodHead)
				}
			}
			slices.Sort(allow)
			h.Set("Allow", strings.Join(allow, ", "))
			return fail(http.StatusMethodNotAllowed, "%s takes %s", rt.path, strings.Join(allow, ", "))
		}
	}
	if !rt.free {
		select {
		case s.requests <- struct{}{}:
			defer func() { <-s.requests }()
		default:
			return busy(http.StatusServiceUnavailable, "%d requests are being answered, the most there may be", cap(s.requests))
		}
	}
	return do(s, w, r)
}

func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func sendJSON(w http.ResponseWriter, status int, v any) *problem {
	b, err := json.Marshal(v)
	if err != nil {
		return internal(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
	return nil
}

// model returns the model that answers a request, and names it in the header.
func (s *Service) model(w http.ResponseWriter) (*served, *problem) {
	m := s.current.Load()
	if m == nil {
		p := busy(http.StatusServiceUnavailable, "there is no model yet: POST documents to /v1/documents, then POST to /v1/refit")
		p.retry = 10
		return nil, p
	}
	w.Header().Set("Model-Version", strconv.Itoa(m.name.Version))
	w.Header().Set("Model-Checksum", m.name.Checksum)
	return m, nil
}

// health tells that the process lives, and the model that serves, if there is one.
func (s *Service) health(w http.ResponseWriter, r *http.Request) *problem {
	var name *modelName
	if m := s.current.Load(); m != nil {
		name = &m.name
	}
	return sendJSON(w, http.StatusOK, struct {
		Status string     `json:"status"`
		Model  *modelName `json:"model,omitempty"`
	}{"ok", name})
}

func (s *Service) ready(w http.ResponseWriter, r *http.Request) *problem {
	if s.stopping.Load() {
		return busy(http.StatusServiceUnavailable, "the service is stopping")
	}
	m, p := s.model(w)
	if p != nil {
		return p
	}
	log := "ok"
	if s.store.Broken() != nil {
		log = "takes no more documents" // answers go on
	}
	return sendJSON(w, http.StatusOK, struct {
		Model modelName `json:"model"`
		Log   string    `json:"log"`
	}{m.name, log})
}

func (s *Service) prometheus(w http.ResponseWriter, r *http.Request) *problem {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// prepared sends an answer that was made with the model.
func (s *Service) prepared(w http.ResponseWriter, pick func(*served) ([]byte, *problem)) *problem {
	m, p := s.model(w)
	if p != nil {
		return p
	}
	b, p := pick(m)
	if p != nil {
		return p
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(b)
	return nil
}

func (s *Service) topics(w http.ResponseWriter, r *http.Request) *problem {
	return s.prepared(w, func(m *served) ([]byte, *problem) { return m.topics, nil })
}

func (s *Service) correlations(w http.ResponseWriter, r *http.Request) *problem {
	return s.prepared(w, func(m *served) ([]byte, *problem) { return m.correlations, nil })
}

func (s *Service) topic(w http.ResponseWriter, r *http.Request) *problem {
	return s.prepared(w, func(m *served) ([]byte, *problem) {
		k, err := strconv.Atoi(r.PathValue("topic"))
		if err != nil || k < 0 || k >= len(m.topic) {
			return nil, fail(http.StatusNotFound, "there is no topic %s; model %d has the topics 0 to %d", shorten(r.PathValue("topic")), m.name.Version, len(m.topic)-1)
		}
		return m.topic[k], nil
	})
}

// report sends the page of package report, made at the first request for it.
func (s *Service) report(w http.ResponseWriter, r *http.Request) *problem {
	m, p := s.model(w)
	if p != nil {
		return p
	}
	select {
	case s.work <- struct{}{}:
	case <-r.Context().Done():
		return late(r.Context())
	}
	b, err := func() ([]byte, error) { // the client may take its time to take it
		defer func() { <-s.work }()
		return m.report()
	}()
	if err != nil {
		return internal(err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	// The page has its own policy, which names its script and style by their
	// hashes; both policies hold.
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Write(b)
	return nil
}

const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

func (s *Service) infer(w http.ResponseWriter, r *http.Request) *problem {
	t, p := mediaType(r)
	if p != nil {
		return p
	}
	m, p := s.model(w)
	if p != nil {
		return p
	}
	switch t {
	case typeJSON:
		return s.inferOne(m, w, r)
	case typeNDJSON:
		return s.inferStream(m, w, r)
	}
	return fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s or %s", shorten(t), typeJSON, typeNDJSON)
}

// inferOne answers for one document.
func (s *Service) inferOne(m *served, w http.ResponseWriter, r *http.Request) *problem {
	lim := s.cfg.Limits
	b, p := openBody(w, r, lim.Document, lim.Stall)
	if p != nil {
		return p
	}
	all, p := b.readAll()
	if p != nil {
		return p
	}
	d, p := parseDocument(all, lim)
	if p != nil {
		return p
	}
	a, p := s.inferred(r.Context(), m, d, lim.Wait)
	if p != nil {
		return p
	}
	return sendJSON(w, http.StatusOK, a)
}

// inferred waits for its turn and infers.
func (s *Service) inferred(ctx context.Context, m *served, d document, wait time.Duration) (*Answer, *problem) {
	select {
	case s.work <- struct{}{}:
	default:
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case s.work <- struct{}{}:
		case <-t.C:
			return nil, busy(http.StatusServiceUnavailable, "%d documents are being inferred, the most there may be", cap(s.work))
		case <-ctx.Done():
			return nil, late(ctx)
		}
	}
	defer func() { <-s.work }()
	a, p := m.infer(d, s.cfg.Limits)
	if p == nil {
		s.metrics.inferred.Inc()
	}
	return a, p
}

// late says that a request has taken too long, or that the client has gone. At the
// deadline a read from the connection ends too, and package http may then have
// cancelled ctx before its own deadline does.
func late(ctx context.Context) *problem {
	deadline, ok := ctx.Deadline()
	if ok && !time.Now().Before(deadline) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return busy(http.StatusServiceUnavailable, "the request took too long")
	}
	return fail(http.StatusBadRequest, "the client has gone")
}

// inferStream answers for documents as they come, one line for each. What goes
// wrong after the first lines have been sent becomes the last line.
func (s *Service) inferStream(m *served, w http.ResponseWriter, r *http.Request) *problem {
	lim := s.cfg.Limits
	rc := http.NewResponseController(w)
	// Answers are sent while documents are still to come. Without a connection,
	// in tests, there is nothing to enable.
	_ = rc.EnableFullDuplex()
	b, p := openBody(w, r, lim.Stream, lim.Stall)
	if p != nil {
		return p
	}
	var out bytes.Buffer
	begun := false
	deadline, _ := r.Context().Deadline()
	send := func() error {
		if !begun {
			w.Header().Set("Content-Type", typeNDJSON)
			begun = true
		}
		if _, err := w.Write(out.Bytes()); err != nil {
			return err
		}
		out.Reset()
		return rc.Flush()
	}
	in := b.lines(lim.Document)
	one := func() (done bool, p *problem) {
		line, p := in.next()
		if line == nil || p != nil {
			return true, p
		}
		d, p := parseDocument(line, lim)
		if p != nil {
			return true, in.at(p)
		}
		a, p := s.inferred(r.Context(), m, d, time.Until(deadline))
		if p != nil {
			return true, in.at(p)
		}
		a.Line = in.n
		enc, err := json.Marshal(a)
		if err != nil {
			return true, internal(err)
		}
		out.Write(enc)
		out.WriteByte('\n')
		return false, nil
	}
	for {
		done, p := one()
		if p == nil && r.Context().Err() != nil {
			p = late(r.Context())
			p.Line = in.n
		}
		if p != nil && !begun && out.Len() == 0 {
			return p
		}
		if p != nil {
			enc, err := json.Marshal(struct {
				Problem *problem `json:"problem"`
			}{p})
			if err != nil {
				return internal(err)
			}
			out.Write(enc)
			out.WriteByte('\n')
			_ = send() // if the client has gone nobody is left to tell
			linger(w)
			return p
		}
		// Send when the client seems to wait, or there is much to send.
		if done || in.r.Buffered() == 0 || out.Len() > 32<<10 {
			if err := send(); err != nil {
				p := fail(http.StatusBadRequest, "the client does not take the answers")
				p.cause = err
				return p
			}
		}
		if done {
			return nil
		}
	}
}

// linger has the server wait a little before it closes the connection, of which not
// all was read: the end of an answer would be lost where the client is still sending.
// That is what package http does for bodies that are too large.
func linger(w http.ResponseWriter) {
	if a, ok := w.(*answer); ok {
		w = a.ResponseWriter
	}
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// postDocuments stores a part of the corpus: all of its documents, or none.
func (s *Service) postDocuments(w http.ResponseWriter, r *http.Request) *problem {
	t, p := mediaType(r)
	if p != nil {
		return p
	}
	if t != typeNDJSON && t != typeJSON {
		return fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s or %s", shorten(t), typeNDJSON, typeJSON)
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return busy(http.StatusTooManyRequests, "%d uploads are in progress, the most there may be", cap(s.uploads))
	}
	lim := s.cfg.Limits
	b, p := openBody(w, r, lim.Upload, lim.Stall)
	if p != nil {
		return p
	}
	b.all, b.most = &s.uploading, lim.UploadBytes
	defer func() { s.uploading.Add(-b.counted) }()
	var docs []incoming
	take := func(line int, raw []byte) *problem {
		d, p := parseDocument(raw, lim)
		if p != nil {
			return p
		}
		switch {
		case d.id == "":
			return inField("id", "a document to keep needs an id")
		case d.kind == "ids":
			return inField("ids", "word numbers are those of one model; want text or words")
		case len(docs) >= lim.Documents:
			return fail(http.StatusRequestEntityTooLarge, "more than %d documents", lim.Documents)
		}
		words, counts, p := d.tokens(tokenizer, lim)
		if p != nil {
			return p
		}
		docs = append(docs, incoming{line, d.id, words, counts})
		return nil
	}
	if t == typeJSON {
		all, p := b.readAll()
		if p != nil {
			return p
		}
		if p := take(0, all); p != nil {
			return p
		}
	} else {
		in := b.lines(min(lim.Document, lim.Upload))
		for {
			line, p := in.next()
			if p != nil {
				return p
			}
			if line == nil {
				break
			}
			if p := take(in.n, line); p != nil {
				return in.at(p)
			}
		}
	}
	stored, there, p := s.add(docs)
	if p != nil {
		return p
	}
	s.metrics.stored.Add(float64(stored))
	return sendJSON(w, http.StatusOK, struct {
		Stored int      `json:"stored"`
		There  []string `json:"already_there,omitempty"`
	}{stored, there})
}

func (s *Service) countDocuments(w http.ResponseWriter, r *http.Request) *problem {
	st := s.held.Stats()
	size, segments := s.store.LogSize()
	return sendJSON(w, http.StatusOK, struct {
		Documents int   `json:"documents"`
		Words     int   `json:"words"`
		Tokens    int64 `json:"tokens"`
		Bytes     int64 `json:"bytes"`
		LogBytes  int64 `json:"log_bytes"`
		Segments  int   `json:"log_segments"`

		// Where there is a window.
		Window   int     `json:"window,omitempty"`
		MaxAge   float64 `json:"max_age_seconds,omitempty"`
		HalfLife float64 `json:"half_life_seconds,omitempty"`
		Evicted  int64   `json:"evicted,omitempty"`
	}{st.Docs, st.Words, st.Tokens, st.Bytes, size, segments, s.cfg.Window, s.cfg.MaxAge.Seconds(), s.cfg.HalfLife.Seconds(), st.Evicted})
}

// getDocument tells whether a document is kept. Its text is not given out.
func (s *Service) getDocument(w http.ResponseWriter, r *http.Request) *problem {
	id := r.PathValue("id")
	if !s.held.Has(id) {
		return noDocument(id)
	}
	return sendJSON(w, http.StatusOK, struct {
		ID string `json:"id"`
	}{id})
}

func noDocument(id string) *problem {
	return fail(http.StatusNotFound, "there is no document %q", shorten(id))
}

func (s *Service) deleteDocument(w http.ResponseWriter, r *http.Request) *problem {
	id := r.PathValue("id")
	if p := s.remove(id); p != nil {
		return p
	}
	s.metrics.deleted.Inc()
	return sendJSON(w, http.StatusOK, struct {
		Deleted string `json:"deleted"`
	}{id})
}

func (s *Service) getRefit(w http.ResponseWriter, r *http.Request) *problem {
	return sendJSON(w, http.StatusOK, s.refitStatus())
}

func (s *Service) postRefit(w http.ResponseWriter, r *http.Request) *problem {
	if r.ContentLength != 0 {
		return fail(http.StatusBadRequest, "a refit takes no body; its settings are the service's")
	}
	st, p := s.startRefit()
	if p != nil {
		return p
	}
	w.Header().Set("Location", "/v1/refit")
	return sendJSON(w, http.StatusAccepted, st)
}
