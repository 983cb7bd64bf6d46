package serve

import (
	"net/http"
	"strconv"
)

// made sends an answer that was made with the model.
func (s *Service) made(w http.ResponseWriter, pick func(*served) ([]byte, *problem)) *problem {
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
	return s.made(w, func(m *served) ([]byte, *problem) { return m.topics, nil })
}

func (s *Service) correlations(w http.ResponseWriter, r *http.Request) *problem {
	return s.made(w, func(m *served) ([]byte, *problem) { return m.correlations, nil })
}

func (s *Service) topic(w http.ResponseWriter, r *http.Request) *problem {
	return s.made(w, func(m *served) ([]byte, *problem) {
		k, p := m.number(r.PathValue("topic"))
		if p != nil {
			return nil, p
		}
		return m.topic[k], nil
	})
}

// number reads the number of a topic.
func (m *served) number(s string) (int, *problem) {
	k, err := strconv.Atoi(s)
	if err != nil || k < 0 || k >= len(m.topic) || strconv.Itoa(k) != s {
		return 0, fail(http.StatusNotFound, "there is no topic %s; model %d has the topics 0 to %d", quote(s), m.name.Version, len(m.topic)-1)
	}
	return k, nil
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
