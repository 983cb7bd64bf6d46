package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// groups are the values of the documents' column "group".
const groups = 4

// values returns the values of document n, as a part of its JSON.
func (s *soak) values(n int) string {
	if !s.find {
		return ""
	}
	return fmt.Sprintf(`"values":{"group":"g%d","n":%d},`, n%groups, n)
}

// ask sends a request for documents, an explanation or effects, of a kind by chance.
func (c *client) ask(ctx context.Context) {
	d := c.rng.IntN(len(c.s.pool))
	switch c.rng.IntN(7) {
	case 0, 1:
		b, err := c.send(ctx, "POST", "/v1/explain", "/v1/explain", "application/json", c.s.one[d], 200)
		if err != nil {
			c.s.failed("%v", err)
			return
		}
		c.s.verifyExplained(b, d)
	case 2:
		c.found(ctx, "POST", "/v1/similar", "/v1/similar?n=20", c.s.one[d], "")
	case 3:
		c.found(ctx, "GET", "/v1/documents/{id}/similar", fmt.Sprintf("/v1/documents/d%d/similar?n=20", c.rng.IntN(c.s.docs)), "", "")
	case 4:
		group := fmt.Sprintf("g%d", c.rng.IntN(groups))
		c.found(ctx, "GET", "/v1/topics/{topic}/documents", fmt.Sprintf("/v1/topics/%d/documents?n=20&values.group=%s", c.rng.IntN(c.s.topics), group), "", group)
	case 5:
		group := fmt.Sprintf("g%d", c.rng.IntN(groups))
		c.found(ctx, "GET", "/v1/list", "/v1/list?n=20&values.group="+group, "", group)
	default:
		path := "/v1/effects/" + []string{"group", "n"}[c.rng.IntN(2)]
		b, err := c.send(ctx, "GET", "/v1/effects/{column}", path, "", "", 200, 503) // they may still be measured
		if err != nil {
			c.s.failed("%v", err)
			return
		}
		c.s.verifyEffects(b)
	}
}

// found asks for documents, of a group if one is given, and checks them and their order.
func (c *client) found(ctx context.Context, method, route, path, body, group string) {
	contentType := ""
	if body != "" {
		contentType = "application/json"
	}
	b, err := c.send(ctx, method, route, path, contentType, body, 200)
	if err != nil {
		c.s.failed("%v", err)
		return
	}
	var a struct {
		Documents []struct {
			ID     string
			Score  float64
			Values struct{ Group string }
		}
	}
	if err := json.Unmarshal(b, &a); err != nil || len(a.Documents) != 20 {
		c.s.failed("%s %s: %d documents, %v: %.200s", method, path, len(a.Documents), err, b)
		return
	}
	for i, d := range a.Documents {
		if d.ID == "" || d.Values.Group == "" || group != "" && d.Values.Group != group || d.Score < 0 || d.Score > 1 || i > 0 && d.Score > a.Documents[i-1].Score {
			c.s.failed("%s %s: document %d is %+v", method, path, i, d)
			return
		}
	}
}

// verifyExplained checks that an explanation of document d is that of the model it names.
func (s *soak) verifyExplained(b []byte, d int) {
	var a struct {
		Model struct {
			Version  int
			Checksum string
		}
		Composition json.RawMessage
	}
	if err := json.Unmarshal(b, &a); err != nil {
		s.failed("%v in %.200s", err, b)
		return
	}
	name := fmt.Sprintf("%08d-%s", a.Model.Version, a.Model.Checksum)
	switch e := s.expectation(name); {
	case e.err != nil:
		s.failed("model %s: %v", name, e.err)
	case string(a.Composition) != e.explained[d]:
		s.failed("model %s, document %d explained: %.100s instead of %.100s", name, d, a.Composition, e.explained[d])
	}
}

// verifyEffects checks that shares of topics add up, at each point, unless they are not
// known yet.
func (s *soak) verifyEffects(b []byte) {
	var a struct {
		Status int
		Rows   []struct {
			Point, Measure string
			Value          *float64
		}
	}
	if err := json.Unmarshal(b, &a); err != nil {
		s.failed("%v in %.200s", err, b)
		return
	}
	if a.Status != 0 { // a problem
		return
	}
	sums := map[string]float64{}
	for _, r := range a.Rows {
		if r.Measure == "prediction" && r.Value != nil {
			sums[r.Point] += *r.Value
		}
	}
	for point, sum := range sums {
		if math.Abs(sum-1) > 1e-6 {
			s.failed("the shares of all topics at %q add up to %v", point, sum)
		}
	}
	if len(sums) < 2 {
		s.failed("effects without points: %.200s", b)
	}
}
