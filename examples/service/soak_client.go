package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/find"
)

const typeNDJSON = "application/x-ndjson"

// client sends one request after the other.
type client struct {
	s    *soak
	name int
	http *http.Client
	rng  *rand.Rand
	took map[string]*latencies
	ids  []string // of documents of its own, the oldest first
	next int
}

func newClient(s *soak, rng *rand.Rand) *client {
	return &client{s: s, rng: rng, took: make(map[string]*latencies), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// send sends a request and returns the answer, whose status must be one of want.
func (c *client) send(ctx context.Context, method, route, path, contentType, body string, want ...int) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	begun := time.Now()
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	name := method + " " + route
	if contentType == typeNDJSON && route == "/v1/infer" {
		name += " ×20"
	}
	if c.took[name] == nil {
		c.took[name] = new(latencies)
	}
	c.took[name].add(time.Since(begun))
	if !slices.Contains(want, resp.StatusCode) {
		return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, b)
	}
	return b, nil
}

// step sends a request, of a kind by chance.
func (c *client) step(ctx context.Context) {
	// A request that has begun is finished, so that the end is no error.
	ctx = context.WithoutCancel(ctx)
	get := func(route, path string) {
		if _, err := c.send(ctx, "GET", route, path, "", "", 200); err != nil {
			c.s.failed("%v", err)
		}
	}
	if c.s.find && c.rng.IntN(10) == 0 {
		c.ask(ctx)
		return
	}
	kind := c.rng.IntN(100)
	if c.s.inferOnly {
		kind %= 80
	}
	switch {
	case kind < 70:
		c.infer(ctx, c.rng.IntN(len(c.s.pool)))
	case kind < 80:
		first := c.rng.IntN(len(c.s.pool) - 20)
		b, err := c.send(ctx, "POST", "/v1/infer", "/v1/infer", typeNDJSON, strings.Join(c.s.one[first:first+20], ""), 200)
		if err != nil {
			c.s.failed("%v", err)
			return
		}
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		if len(lines) != 20 {
			c.s.failed("%d answers for 20 documents: %.200s", len(lines), b)
			return
		}
		model := ""
		for i, line := range lines {
			model = c.s.verify(line, first+i, i+1, model)
		}
	case kind < 84:
		get("/v1/topics", "/v1/topics")
	case kind < 87:
		get("/v1/topics/{topic}", fmt.Sprintf("/v1/topics/%d", c.rng.IntN(c.s.topics)))
	case kind < 89:
		get("/v1/correlations", "/v1/correlations")
	case kind < 90:
		get("/v1/report", "/v1/report")
	case kind < 91:
		get("/metrics", "/metrics")
	case kind < 93:
		get("/readyz", "/readyz")
	case kind < 95:
		get("/v1/documents", "/v1/documents")
	case len(c.ids) < 20: // stores
		var b strings.Builder
		var ids []string
		for range 5 {
			id := fmt.Sprintf("c%d-%d", c.name, c.next)
			c.next++
			ids = append(ids, id)
			fmt.Fprintf(&b, "{\"id\":%q,%s\"text\":%q}\n", id, c.s.values(c.next), c.s.document(c.rng))
		}
		switch _, err := c.send(ctx, "POST", "/v1/documents", "/v1/documents", typeNDJSON, b.String(), 200); {
		case err != nil && strings.Contains(err.Error(), "429 "): // asked to come again later; nothing is stored
			c.next -= 5
		case err != nil:
			c.s.failed("%v", err)
		default:
			c.ids = append(c.ids, ids...)
		}
	default: // deletes what it stored first
		if _, err := c.send(ctx, "DELETE", "/v1/documents/{id}", "/v1/documents/"+c.ids[0], "", "", 200); err != nil {
			c.s.failed("%v", err)
		}
		c.ids = c.ids[1:]
	}
}

// infer asks for the composition of document d.
func (c *client) infer(ctx context.Context, d int) {
	b, err := c.send(ctx, "POST", "/v1/infer", "/v1/infer", "application/json", c.s.one[d], 200)
	if err != nil {
		c.s.failed("%v", err)
		return
	}
	c.s.verify(b, d, 0, "")
}

// verify checks that an answer for document d is, to the last digit, that of the
// model it names, and that this is the one given, unless that is "". It returns
// the model.
func (s *soak) verify(b []byte, d, line int, model string) string {
	var a struct {
		Model struct {
			Version  int
			Checksum string
		}
		Line        int
		Composition json.RawMessage
	}
	if err := json.Unmarshal(b, &a); err != nil {
		s.failed("%v in %.200s", err, b)
		return model
	}
	s.answers.Add(1)
	if a.Line != line {
		s.failed("the answer for line %d is for line %d", line, a.Line)
	}
	name := fmt.Sprintf("%08d-%s", a.Model.Version, a.Model.Checksum)
	if model != "" && name != model {
		s.failed("the answers of a stream are of models %s and %s", model, name)
	}
	switch e := s.expectation(name); {
	case e.err != nil:
		s.failed("model %s: %v", name, e.err)
	case string(a.Composition) != e.compositions[d]:
		s.failed("model %s, document %d: %.100s instead of %.100s", name, d, a.Composition, e.compositions[d])
	}
	return name
}

// expectation returns what a model must answer, which is computed when it first answers.
func (s *soak) expectation(name string) *expectation {
	s.mu.Lock()
	e := s.expected[name]
	if e == nil {
		e = new(expectation)
		s.expected[name] = e
	}
	s.mu.Unlock()
	e.once.Do(func() { e.err = s.expect(name, e) })
	return e
}

// expect computes what a model must answer, from its file.
func (s *soak) expect(name string, e *expectation) error {
	m, err := jsmf.LoadModel(filepath.Join(s.dir, "data", "models", name+".jsmf"))
	if err != nil {
		return err
	}
	p, err := m.Inferer(context.Background(), nil, infer.Options{})
	if err != nil {
		return err
	}
	words, err := find.NewWords(context.Background(), m)
	if err != nil {
		return err
	}
	w := make([]float64, m.K())
	for _, text := range s.pool {
		ids, counts, unknown, err := m.CountWords(text)
		if err != nil {
			return err
		}
		if _, err := p.InferTo(w, ids, counts); err != nil {
			return err
		}
		b, err := json.Marshal(w)
		if err != nil {
			return err
		}
		e.compositions = append(e.compositions, string(b))
		x, err := words.ExplainCounts(ids, counts, unknown)
		if err != nil {
			return err
		}
		if b, err = json.Marshal(x.Proportions); err != nil {
			return err
		}
		e.explained = append(e.explained, string(b))
	}
	return nil
}
