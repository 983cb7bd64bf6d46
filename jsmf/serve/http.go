package serve

import (
	"context"
	"embed"
	"encoding/json"
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
)

// route is a path of the interface, in the form of http.ServeMux, and what it
// does by method.
type route struct {
	path    string
	methods map[string]handler
	free    bool // is not counted against the limit of requests, so that a busy service can be monitored
}

// handler answers a request, or returns why it does not.
type handler func(s *Service, w http.ResponseWriter, r *http.Request) *problem

// routes returns all routes.
func routes() []route {
	get := func(h handler) map[string]handler { return map[string]handler{http.MethodGet: h} }
	post := func(h handler) map[string]handler { return map[string]handler{http.MethodPost: h} }
	return []route{
		{path: "/v1/infer", methods: post((*Service).infer)},
		{path: "/v1/explain", methods: post((*Service).explain)},
		{path: "/v1/similar", methods: post((*Service).similar)},
		{path: "/v1/topics", methods: get((*Service).topics)},
		{path: "/v1/topics/{topic}", methods: get((*Service).topic)},
		{path: "/v1/topics/{topic}/documents", methods: get((*Service).documentsOf)},
		{path: "/v1/correlations", methods: get((*Service).correlations)},
		{path: "/v1/effects", methods: get((*Service).effectsList)},
		{path: "/v1/effects/{column}", methods: get((*Service).columnEffects)},
		{path: "/v1/report", methods: get((*Service).report)},
		{path: "/v1/documents", methods: map[string]handler{http.MethodGet: (*Service).countDocuments, http.MethodPost: (*Service).postDocuments}},
		{path: "/v1/documents/{id}", methods: map[string]handler{http.MethodGet: (*Service).getDocument, http.MethodDelete: (*Service).deleteDocument}},
		{path: "/v1/documents/{id}/similar", methods: get((*Service).similarTo)},
		{path: "/v1/list", methods: get((*Service).list)},
		{path: "/v1/refit", methods: map[string]handler{http.MethodGet: (*Service).getRefit, http.MethodPost: (*Service).postRefit}},
		{path: "/{$}", methods: get(file("web/index.html", "text/html; charset=utf-8"))},
		{path: "/app.js", methods: get(file("web/app.js", "text/javascript; charset=utf-8"))},
		{path: "/style.css", methods: get(file("web/style.css", "text/css; charset=utf-8"))},
		{path: "/api", methods: get((*Service).api)},
		{path: "/openapi.json", methods: get(file("openapi.json", "application/json"))},
		{path: "/healthz", methods: get((*Service).health), free: true},
		{path: "/readyz", methods: get((*Service).ready), free: true},
		{path: "/metrics", methods: get((*Service).metricsPage), free: true},
	}
}

// assets are the routes of the page to try the service, which the page of the interface leaves out.
var assets = []string{"/{$}", "/app.js", "/style.css"}

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

// ServeHTTP answers a request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// newHandler returns what answers all requests.
func (s *Service) newHandler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		mux.Handle(rt.path, s.wrap(rt))
	}
	other := s.wrap(route{path: "other", methods: map[string]handler{"": func(_ *Service, _ http.ResponseWriter, r *http.Request) *problem {
		return fail(http.StatusNotFound, "there is no %s", quote(r.URL.Path))
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

// answer is a ResponseWriter that remembers the status it was given.
type answer struct {
	http.ResponseWriter
	status   int
	panicked bool

	rc    *http.ResponseController
	stall time.Duration // to wait for the client to take a piece
	most  time.Duration // and for all of it: that of a stream ends a stall after its request at least
	end   time.Time     // when that is over, from the first piece on
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write waits up to the stall for the client to take each piece: a slow client gets
// a long answer, and one that takes nothing does not hold the request for longer.
func (a *answer) Write(b []byte) (n int, err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.end.IsZero() {
		a.end = time.Now().Add(a.most)
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
		s.metrics.progress.Add(1)
		defer s.metrics.progress.Add(-1)
		p := s.handle(rt, cross, a, r)
		cut := a.panicked && a.status != 0 // an answer that had begun must not look whole
		switch {
		case p == nil || cut:
		case a.status != 0: // a stream that was ended
			linger(w)
		default:
			_ = a.rc.EnableFullDuplex() // or package http reads some of the body first
			p.write(a)
			if !s.drain(a, r) {
				linger(w)
			}
		}
		took := time.Since(begun)
		method := r.Method
		if _, ok := rt.methods[method]; !ok && method != http.MethodHead {
			method = "other" // clients cannot make new labels
		}
		s.metrics.requests(1, rt.path, method, strconv.Itoa(a.status))
		s.metrics.seconds(took.Seconds(), rt.path)
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

// drain takes what is still to come of a request that was refused, after the answer.
// If the connection were closed with bytes unread, a client that sends all before it reads
// would see a reset instead of the answer. It reports whether all came, within limits of bytes
// and time.
func (s *Service) drain(a *answer, r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody || a.rc.Flush() != nil {
		return true
	}
	if a.rc.SetReadDeadline(time.Now().Add(s.cfg.Limits.Stall)) != nil {
		return true // there is no connection
	}
	s.conns.refused(r.Context())
	if _, err := io.CopyN(io.Discard, r.Body, drainBytes); err != io.EOF {
		return false
	}
	_ = a.rc.SetReadDeadline(time.Time{}) // as patient does
	return true
}

// linger makes the server wait a little before it closes a connection on which the client is
// still sending: the end of the answer would be lost otherwise. Package http does the same for
// bodies that are too large.
func linger(w http.ResponseWriter) {
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

const drainBytes = 64 << 20

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
	w.rc, w.stall, w.most = http.NewResponseController(w.ResponseWriter), lim.Stall, lim.Request+lim.Stall

	if s.cfg.Hosts != nil && !slices.Contains(s.cfg.Hosts, hostName(r.Host)) {
		return fail(http.StatusMisdirectedRequest, "this service is not called %s", quote(r.Host))
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
			return fail(http.StatusMethodNotAllowed, "%s takes %s", strings.TrimSuffix(rt.path, "{$}"), strings.Join(allow, ", "))
		}
	}
	if !rt.free {
		from := s.client(r)
		if !s.clients.enter(from) {
			return busy(http.StatusTooManyRequests, "%d requests of this client are being answered, the most one may have", s.cfg.Limits.PerClient)
		}
		defer s.clients.leave(from)
		select {
		case s.requests <- struct{}{}:
			defer func() { <-s.requests }()
		default:
			if s.stopping.Load() {
				return stopping()
			}
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

// health says that the process lives, and which model serves, if there is one.
func (s *Service) health(w http.ResponseWriter, r *http.Request) *problem {
	var name *modelName
	if m := s.current.Load(); m != nil {
		name = &m.name
	}
	var uncounted float64
	if s.cfg.MaxAge > 0 || s.cfg.HalfLife > 0 {
		uncounted = lasting(s.ages.uncounted()).Seconds()
	}
	return sendJSON(w, http.StatusOK, struct {
		Status    string     `json:"status"`
		Model     *modelName `json:"model,omitempty"`
		Uncounted float64    `json:"clock_uncounted_seconds,omitempty"`
	}{"ok", name, uncounted})
}

func (s *Service) ready(w http.ResponseWriter, r *http.Request) *problem {
	if s.stopping.Load() {
		return stopping()
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

func (s *Service) metricsPage(w http.ResponseWriter, r *http.Request) *problem {
	if s.cfg.MetricsPage == nil {
		return fail(http.StatusNotFound, "this service has no page of metrics")
	}
	s.cfg.MetricsPage.ServeHTTP(w, r)
	return nil
}

func stopping() *problem { return busy(http.StatusServiceUnavailable, "the service is stopping") }
