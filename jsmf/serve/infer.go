package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

func (s *Service) infer(w http.ResponseWriter, r *http.Request) *problem {
	t, p := mediaType(r)
	if p != nil {
		return p
	}
	switch t {
	case typeNDJSON:
		return s.inferStream(w, r)
	case typeJSON:
	default:
		return fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s or %s", quote(t), typeJSON, typeNDJSON)
	}
	return s.withDocument(w, r, func(m *served, d document, _ *hold) (any, *problem) { return s.inferred(m, d) })
}

// inferred infers and counts it.
func (s *Service) inferred(m *served, d document) (*inferAnswer, *problem) {
	a, p := m.infer(d, s.cfg.Limits)
	if p == nil {
		s.metrics.inferred(1)
	}
	return a, p
}

// withDocument reads the one document of a request, waits for its turn and sends what answer
// makes of it. answer takes the memory that it needs until this is sent.
func (s *Service) withDocument(w http.ResponseWriter, r *http.Request, answer func(m *served, d document, held *hold) (any, *problem)) *problem {
	t, p := mediaType(r)
	if p != nil {
		return p
	}
	m, p := s.model(w)
	if p != nil {
		return p
	}
	if t != typeJSON {
		return fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s", quote(t), typeJSON)
	}
	lim := s.cfg.Limits
	b, p := s.openBody(w, r, lim.Document, true)
	if p != nil {
		return p
	}
	defer b.close()
	all, p := b.readAll()
	if p != nil {
		return p
	}
	var a any
	p = s.read(r.Context(), all, lim.Wait, func(d document) (p *problem) {
		a, p = answer(m, d, b.held)
		return p
	})
	if p != nil {
		return p
	}
	return sendJSON(w, http.StatusOK, a)
}

// read waits for its turn, and then reads a document for f.
func (s *Service) read(ctx context.Context, raw []byte, wait time.Duration, f func(d document) *problem) *problem {
	end, p := s.turn(ctx, readCost(raw), wait)
	if p != nil {
		return p
	}
	defer end()
	d, p := parseDocument(raw, s.columns, s.cfg.Limits)
	if p != nil {
		return p
	}
	return f(d)
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
func (s *Service) inferStream(w http.ResponseWriter, r *http.Request) *problem {
	m, p := s.model(w)
	if p != nil {
		return p
	}
	lim := s.cfg.Limits
	out := &stream{w: w, rc: http.NewResponseController(w)}
	// Answers are sent while documents are still to come. Without a connection,
	// in tests, there is nothing to enable.
	_ = out.rc.EnableFullDuplex()
	b, p := s.openBody(w, r, lim.Stream, false)
	if p != nil {
		return p
	}
	defer b.close()
	deadline, _ := r.Context().Deadline()
	in := b.lines(lim.Document)
	one := func() (done bool, p *problem) {
		line, p := in.next()
		if line == nil || p != nil {
			return true, p
		}
		var a *inferAnswer
		p = s.read(r.Context(), line, time.Until(deadline), func(d document) (p *problem) {
			a, p = s.inferred(m, d)
			return p
		})
		if p != nil {
			return true, in.at(p)
		}
		a.Line = in.n
		return false, out.line(a)
	}
	for {
		done, p := one()
		if p == nil && r.Context().Err() != nil {
			p = late(r.Context())
			p.Line = in.n
		}
		if p != nil && out.empty() {
			return p
		}
		if p != nil {
			if p := out.line(struct {
				Problem *problem `json:"problem"`
			}{p}); p != nil {
				return p
			}
			_ = out.send() // if the client has gone nobody is left to tell
			return p
		}
		// Send when the client seems to wait, or there is much to send.
		if done || in.r.Buffered() == 0 || out.buf.Len() > 32<<10 {
			if err := out.send(); err != nil {
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

// stream collects lines of an answer and sends them.
type stream struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	buf   bytes.Buffer
	begun bool
}

// empty reports whether nothing has been sent and nothing is collected.
func (o *stream) empty() bool { return !o.begun && o.buf.Len() == 0 }

// line adds a line.
func (o *stream) line(v any) *problem {
	enc, err := json.Marshal(v)
	if err != nil {
		return internal(err)
	}
	o.buf.Write(enc)
	o.buf.WriteByte('\n')
	return nil
}

// send sends what was collected.
func (o *stream) send() error {
	if !o.begun {
		o.w.Header().Set("Content-Type", typeNDJSON)
		o.begun = true
	}
	if _, err := o.w.Write(o.buf.Bytes()); err != nil {
		return err
	}
	o.buf.Reset()
	return o.rc.Flush()
}
