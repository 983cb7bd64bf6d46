package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
)

// inferNames are the values of -infer, in the order in which they are listed.
var inferNames = []string{"map", "em", "padd", "ls", "spi", "tli", "gibbs"}

const inferHelp = `map (CVB0 steps under a Dirichlet prior), em (plain steps), gibbs (sampling, 200 + 1000
sweeps), whose prior is that of -refine or else what fits A; padd (prior-aware dual
decomposition, learned from the documents of the fit), ls (least squares), spi (simple probabilistic inverse),
tli (thresholded linear inverse)`

// inference returns the method of the name, nil if there is none.
func inference(name string, seed uint64) infer.Method {
	switch name {
	case "map":
		return infer.MAP{}
	case "em":
		return infer.MAP{EM: true}
	case "padd":
		return infer.PADD{}
	case "ls":
		return infer.LeastSquares{}
	case "spi":
		return infer.SPI{}
	case "tli":
		return infer.TLI{}
	case "gibbs":
		return infer.Gibbs{Seed: seed}
	}
	return nil
}

// checkInfer reports what is wrong with the flags of inference.
func (o options) checkInfer(bad func(cond bool, format string, args ...any)) {
	if o.inferName == "" {
		bad(o.inferDocword != "" || o.thetaNPY != "", "-infer-docword and -theta-npy have no use without -infer")
		return
	}
	bad(!slices.Contains(inferNames, o.inferName), "-infer %q: want %s", o.inferName, strings.Join(inferNames, ", "))
	bad(o.inferDocword == "" || o.thetaNPY == "", "-infer needs -infer-docword and -theta-npy")
}

// inferred is what -json says of the documents of -infer-docword.
type inferred struct {
	Method     string  `json:"method"` // with its settings
	Documents  int     `json:"documents"`
	Unknown    int64   `json:"unknown_tokens"`     // of words that the model lacks
	NoTokens   int     `json:"without_known_word"` // documents; they get the mean proportions
	AllZero    int     `json:"all_zero"`           // documents, of tli
	Residual   float64 `json:"residual,omitempty"` // ‖A − WWᵀ/M‖_F of the documents padd learned from
	LearnState string  `json:"learn_status,omitempty"`
	AlphaSum   float64 `json:"alpha_sum,omitempty"` // α₀ of the prior of map, em and gibbs
}

// inferDocs infers the topic proportions of the documents of -infer-docword. The model that
// is returned holds what was learned for it.
func inferDocs(ctx context.Context, o options, in *input, m *jsmf.Model, rec func(jsmf.Event), s *float64) (*jsmf.Model, *jsmf.Compositions, *inferred, error) {
	out, c := new(inferred), (*jsmf.Compositions)(nil)
	err := stage(rec, "infer", s, func() (string, error) {
		method := inference(o.inferName, o.seed)
		opt := infer.Options{Workers: o.workers}
		var err error
		switch x := method.(type) {
		case infer.PADD:
			var l *infer.Learned
			if m, l, err = m.LearnDual(ctx, in.corpus, x, opt); err != nil {
				return "", err
			}
			out.Residual, out.LearnState = l.Residual, l.Status.String()
		case infer.MAP, infer.Gibbs:
			alpha := m.Alpha()
			if alpha == nil { // refined topics come with a prior; others have what fits A
				if alpha, err = recovery.FitAlpha(m.Correlations()); err != nil {
					return "", err
				}
			}
			out.AlphaSum = floats.Sum(alpha)
		}
		if c, err = m.TransformBy(ctx, o.corpus.Source(o.inferDocword), method, opt); err != nil {
			return "", err
		}
		out.Method, out.Documents = c.Method, len(c.Docs)
		for i, d := range c.Docs {
			out.Unknown += c.Unknown[i] + int64(d.Unknown)
			switch d.Status {
			case infer.NoTokens:
				out.NoTokens++
			case infer.AllZero:
				out.AllZero++
			}
		}
		return fmt.Sprintf("%d documents, %d unknown tokens, %s", out.Documents, out.Unknown, out.Method), nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return m, c, out, nil
}
