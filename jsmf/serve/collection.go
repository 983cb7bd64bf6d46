package serve

import (
	"net/http"
	"time"
)

// postDocuments stores a part of the corpus: all of its documents, or none.
func (s *Service) postDocuments(w http.ResponseWriter, r *http.Request) *problem {
	t, p := mediaType(r)
	if p != nil {
		return p
	}
	if t != typeNDJSON && t != typeJSON {
		return fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s or %s", quote(t), typeNDJSON, typeJSON)
	}
	lim := s.cfg.Limits
	limit := lim.Upload
	if t == typeJSON {
		limit = min(lim.Document, lim.Upload)
	}
	b, p := s.openBody(w, r, limit, t == typeJSON)
	if p != nil {
		return p
	}
	defer b.close()
	deadline, _ := r.Context().Deadline()
	var docs []incoming
	take := func(raw []byte) *problem {
		end, p := s.turn(r.Context(), readCost(raw), time.Until(deadline))
		if p != nil {
			return p
		}
		defer end()
		if len(docs) >= lim.Documents {
			return fail(http.StatusRequestEntityTooLarge, "more than %d documents", lim.Documents)
		}
		d, p := readIncoming(raw, s.columns, lim)
		if p != nil {
			return p
		}
		docs = append(docs, d)
		if b.client.upload != nil {
			b.client.upload.keep(d.bytes())
		}
		return b.held.take(d.bytes())
	}
	if t == typeJSON {
		all, p := b.readAll()
		if p != nil {
			return p
		}
		if p := take(all); p != nil {
			return p
		}
	} else {
		size := b.size
		switch {
		case size >= 0:
		case r.ContentLength >= 0: // gzipped text
			size = min(8*r.ContentLength, limit)
		default:
			size = limit
		}
		if size > lim.Document {
			if b.client.upload, p = s.admit(r.Context(), s.client(r), size); p != nil {
				return p
			}
			defer b.client.upload.leave()
		}
		in := b.lines(min(lim.Document, lim.Upload))
		for {
			line, p := in.next()
			if p != nil {
				return p
			}
			if line == nil {
				break
			}
			if p := take(line); p != nil {
				return in.at(p)
			}
		}
	}
	stored, there, p := s.add(docs)
	if p != nil {
		return p
	}
	s.metrics.stored(float64(stored))
	return sendJSON(w, http.StatusOK, struct {
		Stored int      `json:"stored"`
		There  []string `json:"already_there,omitempty"`
	}{stored, there})
}

// columnAnswer is what may be known of documents.
type columnAnswer struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

func (s *Service) countDocuments(w http.ResponseWriter, r *http.Request) *problem {
	st := s.held.Stats()
	var columns []columnAnswer
	for _, c := range s.columns {
		columns = append(columns, columnAnswer{c.Name, c.Kind.String()})
	}
	size, segments := s.store.LogSize()
	return sendJSON(w, http.StatusOK, struct {
		Documents int   `json:"documents"`
		Words     int   `json:"words"`
		Tokens    int64 `json:"tokens"`
		Bytes     int64 `json:"bytes"`
		LogBytes  int64 `json:"log_bytes"`
		Segments  int   `json:"log_segments"`

		Columns []columnAnswer `json:"columns,omitempty"`

		// Where there is a window.
		Window   int     `json:"window,omitempty"`
		MaxAge   float64 `json:"max_age_seconds,omitempty"`
		HalfLife float64 `json:"half_life_seconds,omitempty"`
		Evicted  int64   `json:"evicted,omitempty"`
	}{st.Docs, st.Words, st.Tokens, st.Bytes, size, segments, columns, s.cfg.Window, s.cfg.MaxAge.Seconds(), s.cfg.HalfLife.Seconds(), st.Evicted})
}

func noDocument(id string) *problem {
	return fail(http.StatusNotFound, "there is no document %s", quote(id))
}

func (s *Service) deleteDocument(w http.ResponseWriter, r *http.Request) *problem {
	id := r.PathValue("id")
	if p := s.remove(id); p != nil {
		return p
	}
	s.metrics.deleted(1)
	return sendJSON(w, http.StatusOK, struct {
		Deleted string `json:"deleted"`
	}{id})
}

func (s *Service) getRefit(w http.ResponseWriter, r *http.Request) *problem {
	return sendJSON(w, http.StatusOK, s.refitStatus())
}

func (s *Service) postRefit(w http.ResponseWriter, r *http.Request) *problem {
	ask, p := s.steeringOf(w, r)
	if p != nil {
		return p
	}
	st, p := s.startRefit(ask)
	if p != nil {
		return p
	}
	w.Header().Set("Location", "refit")
	return sendJSON(w, http.StatusAccepted, st)
}
