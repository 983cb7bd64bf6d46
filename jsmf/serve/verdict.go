package serve

import (
	"context"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	measures "github.com/jsmf-go/spectral/metrics"
)

// judged returns the model with the verdicts on its topics, which its file keeps.
func judged(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, docs *corpus.Corpus) (*jsmf.Model, error) {
	v, err := p.Verdicts(ctx, m, docs)
	if err != nil {
		return nil, err
	}
	return m.With(jsmf.Additions{Verdicts: v})
}

// verdictAnswer is what a topic is worth to a reader; null is what is not defined.
type verdictAnswer struct {
	Quality     string   `json:"quality"`
	Why         string   `json:"why"` // quality, and the reason
	NPMI        *float64 `json:"npmi"`
	Exclusivity *float64 `json:"exclusivity"`
	Documents   *float64 `json:"documents"`
	Twin        *int     `json:"twin"`
	Cosine      float64  `json:"cosine"`
}

func verdictOf(v *measures.Verdict) *verdictAnswer {
	if v == nil {
		return nil
	}
	a := &verdictAnswer{v.Quality.String(), v.String(), finite(v.NPMI), finite(v.Exclusivity), finite(v.Documents), nil, v.Cosine}
	if twin := v.Twin; twin >= 0 {
		a.Twin = &twin
	}
	return a
}
