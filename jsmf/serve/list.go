package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

// documentAnswer is a document that is kept. Its text is not given out.
type documentAnswer struct {
	ID     string          `json:"id"`
	Values json.RawMessage `json:"values,omitempty"`
}

func (s *Service) document(d held.Document) (documentAnswer, error) {
	values, err := encodeValues(s.columns, d.Values)
	return documentAnswer{d.ID, values}, err
}

// getDocument reports whether a document is kept, and its values.
func (s *Service) getDocument(w http.ResponseWriter, r *http.Request) *problem {
	id := r.PathValue("id")
	d, ok := s.held.Document(id)
	if !ok {
		return noDocument(id)
	}
	a, err := s.document(d)
	if err != nil {
		return internal(err)
	}
	return sendJSON(w, http.StatusOK, a)
}

// list answers with the documents that are kept, page by page, in the order in which they
// were stored.
func (s *Service) list(w http.ResponseWriter, r *http.Request) *problem {
	q, p := s.parseQuery(r, true)
	if p != nil {
		return p
	}
	held, p := s.hold(r.Context(), s.client(r), listBytes)
	if p != nil {
		return p
	}
	defer held.free()
	end, p := s.turn(r.Context(), readBytes, s.cfg.Limits.Wait)
	if p != nil {
		return p
	}
	out := struct {
		Documents []documentAnswer `json:"documents"`
		Next      string           `json:"next,omitempty"`
	}{Documents: []documentAnswer{}}
	p = func() *problem {
		defer end()
		for at := q.from; ; {
			page := s.held.DocumentsAfter(at, "", listPage)
			for _, d := range page {
				if at = d.At + 1; !q.filter.keeps(d.Values) {
					continue
				}
				if len(out.Documents) == q.n {
					out.Next = strconv.FormatInt(d.At, 10)
					return nil
				}
				a, err := s.document(d)
				if err != nil {
					return internal(err)
				}
				out.Documents = append(out.Documents, a)
			}
			if len(page) < listPage {
				return nil
			}
			if r.Context().Err() != nil {
				return late(r.Context())
			}
		}
	}()
	if p != nil {
		return p
	}
	return sendJSON(w, http.StatusOK, out)
}

// listPage is how many documents are looked at without a look at the clock.
const listPage = 1000

// parseFrom reads where a page begins: at a time, of which no two documents have the same.
func parseFrom(s string) (int64, *problem) {
	at, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, inField("from", "%s: want what next says of the page before", quote(s))
	}
	return at, nil
}
