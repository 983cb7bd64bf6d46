package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// problem is an error as clients see it (RFC 9457).
type problem struct {
	Title  string `json:"title"` // the text of the status
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Line   int    `json:"line,omitempty"`  // of a stream, counted from 1
	Field  string `json:"field,omitempty"` // of a document, as "counts[3]"

	retry int   // seconds after which it may go better; 0: nothing is said
	cause error // for the log, never for clients
}

func (p *problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

func (p *problem) Unwrap() error { return p.cause }

func fail(status int, format string, args ...any) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// inField says which field of a document is wrong.
func inField(field, format string, args ...any) *problem {
	p := fail(http.StatusBadRequest, format, args...)
	p.Field = field
	return p
}

// internal is an error whose details the client does not see.
func internal(err error) *problem {
	p := fail(http.StatusInternalServerError, "the service failed; its log says why")
	p.cause = err
	return p
}

// busy asks the client to come again.
func busy(status int, format string, args ...any) *problem {
	p := fail(status, format, args...)
	p.retry = 1
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Encoding")
	if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
		h.Set("Connection", "close") // nobody wants the rest of the body
	}
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retry))
	}
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(p.Status)
	w.Write(append(b, '\n'))
}
