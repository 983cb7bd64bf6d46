package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// steering is what a refit is asked for: topics by their words, and edits of the topics of the
// model that serves, which that refit and all later ones keep.
type steering struct {
	Seeds []jsmf.Seed `json:"seeds"`
	Edits *jsmf.Edits `json:"edits"`
}

// steeringOf reads the body of a request for a refit. Without a body nothing is asked for.
func (s *Service) steeringOf(w http.ResponseWriter, r *http.Request) (ask steering, p *problem) {
	if r.ContentLength == 0 {
		return ask, nil
	}
	t, p := mediaType(r)
	if p != nil {
		return ask, p
	}
	if t != typeJSON {
		return ask, fail(http.StatusUnsupportedMediaType, "the Content-Type %s: want %s", quote(t), typeJSON)
	}
	b, p := s.openBody(w, r, s.cfg.Limits.Document, true)
	if p != nil {
		return ask, p
	}
	defer b.close()
	all, p := b.readAll()
	if p != nil {
		return ask, p
	}
	if p := b.held.take(16 * int64(len(all))); p != nil {
		return ask, p
	}
	if _, p := checkJSON(all, s.cfg.Limits); p != nil {
		return ask, p
	}
	d := json.NewDecoder(bytes.NewReader(all))
	d.DisallowUnknownFields()
	if err := d.Decode(&ask); err != nil {
		return ask, fail(http.StatusBadRequest, "%s", shortenTo(err.Error(), 300))
	}
	if d.More() {
		return ask, fail(http.StatusBadRequest, "there is more than one JSON object")
	}
	if ask.Edits != nil {
		m, p := s.model(w)
		if p != nil {
			return ask, p
		}
		if ask.Edits.Model != m.print {
			return ask, fail(http.StatusConflict, "the edits are of model %s, and %q serves", quote(ask.Edits.Model), m.print)
		}
	}
	return ask, nil
}

// pipeline is what fits a model to docs: one whose topics are those of from, as they are edited.
func (s *Service) pipeline(ctx context.Context, from *served, docs *corpus.Corpus, ask steering) (p jsmf.Pipeline, err error) {
	p = jsmf.New(s.cfg.Topics).Workers(s.cfg.Workers).MemoryLimit(s.cfg.Limits.Fit).Record(s.follow)
	if from == nil {
		return p.Seeds(ask.Seeds...), nil
	}
	m := from.model
	if ask.Edits != nil {
		if m, err = p.Edit(ctx, m, docs, *ask.Edits); err != nil {
			return p, err
		}
	}
	return p.From(m).Seeds(ask.Seeds...), nil // topics keep their numbers
}
