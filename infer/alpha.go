package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	alphaDocs   = 1000 // documents that LearnAlpha takes at most
	alphaSmooth = 0.01 // share of the unigram distribution in predictions
	alphaSteps  = 4    // refinements of a bracket
	minAlpha    = 0.1  // of α₀
	maxAlpha    = 1e4
)

// LearnAlpha learns the parameters α of the Dirichlet prior of topic proportions from
// documents: the proportions of α are those of t.Alpha, or of the topic shares of t.A, and the
// sum α₀ is the one in [0.1, 10⁴] that predicts best. At most 1000 documents are used, evenly
// spread over the collection. Each is halved at random, [MAP] infers its topic proportions from
// one half, and the other half is predicted.
//
// The α that methods otherwise take from A ([recovery.FitAlpha]) needs no documents, but
// is only as good as A. Do not learn α from the documents that topics were refined on,
// since they fit those better than others: keep the α of the refinement.
//
// The search takes some ten trials, each of which infers half of every document. The result is
// the same bits for any opt.Workers. Errors: [*TopicsError], documents that InferTo refuses, no
// document with two known words, and ctx's.
func LearnAlpha(ctx context.Context, t Topics, docs Documents, opt Options) ([]float64, error) {
	s, err := learnAlpha(ctx, t, docs, alphaDocs, opt)
	if err != nil {
		return nil, errs.Errorf("infer", "learn α: %w", err)
	}
	return s.alpha, nil
}

// alphaSearch is the search of LearnAlpha for ln α₀.
type alphaSearch struct {
	c              *checked
	by             MAP         // with its defaults
	rows           *estep.Rows // of B
	share          []float64   // α/α₀
	smooth         *mat.Dense
	observed, held *plainDocs
	opt            Options

	trials          int
	start           float64 // α₀ before learning, and the prediction with it
	startPrediction float64
	alpha           []float64 // of the best prediction
	prediction      float64   // mean ln p of a token held out
}

func learnAlpha(ctx context.Context, t Topics, docs Documents, maxDocs int, opt Options) (*alphaSearch, error) {
	c, alpha, err := checkPrior(t)
	if err != nil {
		return nil, err
	}
	by, err := MAP{}.fill()
	if err != nil {
		return nil, err
	}
	s := &alphaSearch{c: c, by: by, rows: foldRows(c.B), share: slices.Clone(alpha), start: vec.Sum(alpha), opt: opt, prediction: math.Inf(-1)}
	vec.Normalise(s.share)
	if s.observed, s.held, err = halves(ctx, c, docs, maxDocs); err != nil {
		return nil, err
	}
	u := make([]float64, c.n)
	for i := range u {
		for k, v := range c.B.RawRowView(i) {
			u[i] += c.mean[k] * v
		}
	}
	if s.smooth, err = Smooth(c.B, u, alphaSmooth); err != nil {
		return nil, err
	}
	return s, s.search(ctx)
}

// try predicts with α₀ = exp(x).
func (s *alphaSearch) try(ctx context.Context, x float64) (float64, error) {
	sum := math.Exp(x)
	alpha := slices.Clone(s.share)
	for k := range alpha {
		alpha[k] *= sum
	}
	p := newInferer("", s.c, newMapEM(s.by, s.rows, alpha))
	h, err := Completion(ctx, p, s.smooth, s.observed, s.held, Options{Workers: s.opt.Workers})
	if err != nil {
		return 0, err
	}
	s.trials++
	if s.opt.Progress != nil {
		s.opt.Progress(s.trials, max(s.trials, 10))
	}
	if h.PerToken > s.prediction {
		s.prediction, s.alpha = h.PerToken, alpha
	}
	return h.PerToken, nil
}

// search goes uphill from the start until it has passed the top, and then
// narrows the bracket.
func (s *alphaSearch) search(ctx context.Context) error {
	lowest, highest := math.Log(minAlpha), math.Log(maxAlpha)
	within := func(x float64) float64 { return min(max(x, lowest), highest) }
	x, step := within(math.Log(s.start)), math.Ln2
	fx, err := s.try(ctx, x)
	if err != nil {
		return err
	}
	s.startPrediction = fx
	last, next := x-step, x+step
	f, err := s.try(ctx, within(next))
	if err != nil {
		return err
	}
	if !(f > fx) {
		step, last, next = -step, next, last
		if f, err = s.try(ctx, within(next)); err != nil {
			return err
		}
	}
	for f > fx && lowest < next && next < highest {
		last, x, fx, next = x, next, f, next+step
		if f, err = s.try(ctx, within(next)); err != nil {
			return err
		}
	}
	lo, hi := within(min(last, next)), within(max(last, next))
	for range alphaSteps { // x lies between lo and hi
		const golden = 0.381966011250105
		y := x + golden*(hi-x)
		if x-lo > hi-x {
			y = x - golden*(x-lo)
		}
		fy, err := s.try(ctx, y)
		if err != nil {
			return err
		}
		switch {
		case fy > fx && y > x:
			lo, x, fx = x, y, fy
		case fy > fx:
			hi, x, fx = x, y, fy
		case y > x:
			hi = y
		default:
			lo = y
		}
	}
	return nil
}

// halves divides the tokens of at most maxDocs documents in two at random, in the same way for
// the same document. Words in no topic are left out.
func halves(ctx context.Context, c *checked, docs Documents, maxDocs int) (observed, held *plainDocs, err error) {
	if err := checkDocuments(docs, c.n); err != nil {
		return nil, nil, err
	}
	m := docs.NumDocs()
	observed, held = &plainDocs{n: c.n}, &plainDocs{n: c.n}
	p := newInferer("", c, projection{c.rows()})
	w, f := &work{}, make([]float64, c.k)
	var pcg rand.PCG
	used := min(m, maxDocs)
	for i := range used {
		at := int(int64(i) * int64(m) / int64(used))
		words, times := docs.Doc(at)
		d, err := p.infer(ctx, f, w, words, times) // checks, and leaves the known words in w
		if err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", at, err)
		}
		if d.Tokens < 2 {
			continue
		}
		w.doc.seed(&pcg, 0)
		left := d.Tokens
		want := math.Floor(left / 2) // to draw of the tokens left, every choice of them equally probable
		var ids, counts [2][]int32   // observed, held
		for j, id := range w.doc.ids {
			x, a := int32(w.doc.x[j]), int32(0)
			for range x {
				if uniform(&pcg)*left < want {
					a++
					want--
				}
				left--
			}
			for half, n := range []int32{a, x - a} {
				if n > 0 {
					ids[half], counts[half] = append(ids[half], id), append(counts[half], n)
				}
			}
		}
		observed.ids, observed.counts = append(observed.ids, ids[0]), append(observed.counts, counts[0])
		held.ids, held.counts = append(held.ids, ids[1]), append(held.counts, counts[1])
	}
	if observed.NumDocs() == 0 {
		return nil, nil, errors.New("no document holds two words that the topics know")
	}
	return observed, held, nil
}

// plainDocs are documents over n words.
type plainDocs struct {
	n           int
	ids, counts [][]int32 // of each document
}

func (d *plainDocs) NumDocs() int                      { return len(d.ids) }
func (d *plainDocs) NumWords() int                     { return d.n }
func (d *plainDocs) Doc(m int) (words, counts []int32) { return d.ids[m], d.counts[m] }
