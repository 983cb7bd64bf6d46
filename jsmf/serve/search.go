package serve

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"github.com/jsmf-go/spectral/jsmf/find"
)

const (
	someDocuments = 10  // in an answer that lists documents, unless it is said how many
	maxDocuments  = 100 // of such an answer

	// The memory of such an answer until it is sent. Memory for the values of each document is
	// reserved when it is stored.
	listBytes = 1 << 20
)

// foundAnswer is a document that was found.
type foundAnswer struct {
	documentAnswer
	Score float64 `json:"score"` // by which it was
}

// query is what follows the path in an address.
type query struct {
	n      int // documents that are wanted
	filter filter
	from   int64 // the time of the first document of the page
}

// parseQuery reads the query of a request for documents; paged reports whether it can be for
// another page than the first.
func (s *Service) parseQuery(r *http.Request, paged bool) (q query, p *problem) {
	q.n, q.from = someDocuments, math.MinInt64
	values, p := queryValues(r)
	if p != nil {
		return q, p
	}
	for name, v := range values {
		if column, ok := strings.CutPrefix(name, "values."); ok {
			c, p := parseCondition(s.columns, column, v)
			if p != nil {
				return q, p
			}
			q.filter = append(q.filter, c)
			continue
		}
		if len(v) != 1 {
			return q, inField(shorten(name), "the parameter is given %d times", len(v))
		}
		switch {
		case name == "n":
			var err error
			if q.n, err = strconv.Atoi(v[0]); err != nil || q.n < 1 || q.n > maxDocuments {
				return q, inField("n", "%s: want a number from 1 to %d", quote(v[0]), maxDocuments)
			}
		case name == "from" && paged:
			if q.from, p = parseFrom(v[0]); p != nil {
				return q, p
			}
		default:
			return q, inField(shorten(name), "there is no such parameter")
		}
	}
	return q, nil
}

func queryValues(r *http.Request) (url.Values, *problem) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "the query of the address cannot be read")
	}
	return values, nil
}

// indexed returns the index of a model, or why there is none.
func (m *served) indexed() (*index, *problem) {
	switch {
	case m.index != nil:
		return m.index, nil
	case m.noIndex != nil:
		return nil, m.noIndex
	}
	return nil, busy(http.StatusServiceUnavailable, "the documents that are kept are still being read for this model")
}

// search looks for n documents of an index among those of the rows to keep.
type search func(docs *find.Documents, n int, keep func(row int) bool) ([]find.Match, error)

// best searches an index for documents that are still kept. The caller has its turn.
func (s *Service) best(x *index, q query, look search) ([]foundAnswer, *problem) {
	out := make([]foundAnswer, 0, q.n)
	if x.docs == nil {
		return out, nil
	}
	still := func(row int) (held.Document, bool) {
		d, ok := s.held.Document(x.ids[row])
		return d, ok && d.At == x.at[row]
	}
	// Nearly all are still kept: only if one that was found is not, all are asked for.
	for _, ask := range []bool{false, true} {
		found, err := look(x.docs, q.n, func(row int) bool {
			if !q.filter.keeps(x.values[row]) {
				return false
			}
			if !ask {
				return true
			}
			_, ok := still(row)
			return ok
		})
		if err != nil {
			return nil, internal(err)
		}
		out = out[:0]
		for _, m := range found {
			d, ok := still(m.Index)
			if !ok {
				continue
			}
			a, err := s.document(d)
			if err != nil {
				return nil, internal(err)
			}
			out = append(out, foundAnswer{a, m.Score})
		}
		if len(out) == len(found) {
			break
		}
	}
	return out, nil
}

// documentsAnswer lists the documents that were found.
type documentsAnswer struct {
	Model     modelName     `json:"model"`
	ID        string        `json:"id,omitempty"`    // of the document that they are similar to
	Topic     *int          `json:"topic,omitempty"` // or the topic that they are of
	Name      string        `json:"name,omitempty"`  // of the topic
	Status    string        `json:"status,omitempty"`
	Tokens    *float64      `json:"tokens,omitempty"`
	Unknown   *float64      `json:"unknown,omitempty"`
	Documents []foundAnswer `json:"documents"`
}

// searched answers a request for documents. about says in the answer what was asked for,
// and how to look for it.
func (s *Service) searched(w http.ResponseWriter, r *http.Request, about func(m *served, x *index, out *documentsAnswer) (search, *problem)) *problem {
	q, p := s.parseQuery(r, false)
	if p != nil {
		return p
	}
	m, p := s.model(w)
	if p != nil {
		return p
	}
	x, p := m.indexed()
	if p != nil {
		return p
	}
	held, p := s.hold(r.Context(), s.client(r), listBytes)
	if p != nil {
		return p
	}
	defer held.free()
	out := &documentsAnswer{Model: m.name}
	look, p := about(m, x, out)
	if p != nil {
		return p
	}
	end, p := s.turn(r.Context(), readBytes, s.cfg.Limits.Wait)
	if p != nil {
		return p
	}
	out.Documents, p = s.best(x, q, look)
	end()
	if p != nil {
		return p
	}
	return sendJSON(w, http.StatusOK, out)
}

// similarTo answers which documents are like one that is kept.
func (s *Service) similarTo(w http.ResponseWriter, r *http.Request) *problem {
	return s.searched(w, r, func(m *served, x *index, out *documentsAnswer) (search, *problem) {
		id := r.PathValue("id")
		d, ok := s.held.Document(id)
		if !ok {
			return nil, noDocument(id)
		}
		row, ok := x.row(d)
		switch {
		case !ok:
			return nil, fail(http.StatusConflict, "the document %s was stored after those that model %d was compared with; a refit takes it in", quote(id), m.name.Version)
		case !x.known[row]:
			return nil, fail(http.StatusConflict, "model %d knows no word of the document %s", m.name.Version, quote(id))
		}
		out.ID = id
		return func(docs *find.Documents, n int, keep func(int) bool) ([]find.Match, error) {
			return docs.SimilarDocuments(id, n, keep)
		}, nil
	})
}

// documentsOf answers which documents have the largest shares of a topic.
func (s *Service) documentsOf(w http.ResponseWriter, r *http.Request) *problem {
	return s.searched(w, r, func(m *served, x *index, out *documentsAnswer) (search, *problem) {
		k, p := m.number(r.PathValue("topic"))
		if p != nil {
			return nil, p
		}
		out.Topic, out.Name = &k, m.names[k]
		return func(docs *find.Documents, n int, keep func(int) bool) ([]find.Match, error) {
			return docs.TopDocuments(k, n, keep)
		}, nil
	})
}

// similar answers which documents are like one that is sent.
func (s *Service) similar(w http.ResponseWriter, r *http.Request) *problem {
	q, p := s.parseQuery(r, false)
	if p != nil {
		return p
	}
	return s.withDocument(w, r, func(m *served, d document, held *hold) (any, *problem) {
		x, p := m.indexed()
		if p != nil {
			return nil, p
		}
		if p := held.take(listBytes); p != nil {
			return nil, p
		}
		a, p := m.infer(d, s.cfg.Limits)
		if p != nil {
			return nil, p
		}
		out := &documentsAnswer{Model: m.name, ID: a.ID, Status: a.Status, Tokens: &a.Tokens, Unknown: &a.Unknown, Documents: []foundAnswer{}}
		if a.Tokens > 0 {
			out.Documents, p = s.best(x, q, func(docs *find.Documents, n int, keep func(int) bool) ([]find.Match, error) {
				return docs.SimilarTo(a.Composition, n, keep)
			})
		}
		return out, p
	})
}
