package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	alphaDocs   = 1000 // documents that LearnAlpha takes at most
	alphaSmooth = 0.01 // share of the unigram distribution in predictions
	alphaSteps  = 4    // refinements of a bracket
	alphaLeast  = 0.1  // of α₀
	alphaMost   = 1e4
)

// LearnAlpha learns the parameters α of the Dirichlet prior of topic proportions
// from documents: the proportions of α are those of t.Alpha, or of the topic shares
// of t.A, and the sum α₀ is the one that predicts best. Each document is halved at
// random, MAP infers its topic proportions from one half, and the α₀ in
// [0.1, 10⁴] is sought under which the other halves are most probable. At most 1000
// documents are used, evenly spread over the collection.
//
// The α that methods otherwise take from A (recovery.FitAlpha) needs no documents, but
// is only as good as A. Do not learn α from the documents that topics were refined on,
// since they fit those better than others: keep the α of the refinement.
//
// The search brackets α₀ by doubling and refines it by golden sections in its
// logarithm, some ten trials in all; each trial infers half of every document. The
// result is the same bits for any opt.Workers. Errors: *TopicsError, documents that
// InferTo refuses, no document with two known words, and ctx's.
func LearnAlpha(ctx context.Context, t Topics, docs Documents, opt Options) ([]float64, error) {
	s, err := learnAlpha(ctx, t, docs, alphaDocs, opt)
	if err != nil {
		return nil, fmt.Errorf("infer: learn α: %w", err)
	}
	return s.alpha, nil
}

// alphaSearch is the search of LearnAlpha for ln α₀.
type alphaSearch struct {
	c              *checked
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

func learnAlpha(ctx context.Context, t Topics, docs Documents, most int, opt Options) (*alphaSearch, error) {
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	alpha, err := c.alpha()
	if err != nil {
		return nil, err
	}
	s := &alphaSearch{c: c, rows: foldRows(c.B), share: slices.Clone(alpha), start: vec.Sum(alpha), opt: opt, prediction: math.Inf(-1)}
	vec.Normalise(s.share)
	if s.observed, s.held, err = halves(c, docs, most); err != nil {
		return nil, err
	}
	u := make([]float64, c.n)
	for i := range u {
		for k, v := range c.B.RawRowView(i) {
			u[i] += c.mean[k] * v
		}
	}
	if s.smooth, err = smooth(c.B, u, alphaSmooth); err != nil {
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
	settings, err := MAP{}.fill()
	if err != nil {
		return 0, err
	}
	p := newInferer("", s.c, newMapEM(settings, s.rows, alpha))
	h, err := completion(ctx, p, s.smooth, s.observed, s.held, Options{Workers: s.opt.Workers})
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
	const step = math.Ln2
	lowest, highest := math.Log(alphaLeast), math.Log(alphaMost)
	x := min(max(math.Log(s.start), lowest), highest)
	fx, err := s.try(ctx, x)
	if err != nil {
		return err
	}
	s.startPrediction = fx
	lo, hi := x-step, x+step
	fhi, err := s.try(ctx, min(hi, highest))
	if err != nil {
		return err
	}
	if fhi > fx {
		for fhi > fx && hi < highest {
			lo, x, fx, hi = x, hi, fhi, hi+step
			if fhi, err = s.try(ctx, min(hi, highest)); err != nil {
				return err
			}
		}
	} else {
		flo, err := s.try(ctx, max(lo, lowest))
		if err != nil {
			return err
		}
		for flo > fx && lo > lowest {
			hi, x, fx, lo = x, lo, flo, lo-step
			if flo, err = s.try(ctx, max(lo, lowest)); err != nil {
				return err
			}
		}
	}
	lo, hi = max(lo, lowest), min(hi, highest)
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

// halves divides the tokens of up to most documents in two at random, alike for the
// same document. Words in no topic are left out.
func halves(c *checked, docs Documents, most int) (observed, held *plainDocs, err error) {
	if err := checkDocuments(docs, c.n); err != nil {
		return nil, nil, err
	}
	m := docs.NumDocs()
	observed, held = &plainDocs{n: c.n}, &plainDocs{n: c.n}
	p := newInferer("", c, projection{c.rows()})
	w, f := &work{}, make([]float64, c.k)
	var pcg rand.PCG
	for i := range min(m, most) {
		at := int(int64(i) * int64(m) / int64(min(m, most)))
		ids, counts := docs.Doc(at)
		d, err := p.infer(f, w, ids, counts) // checks, and leaves the known words in w
		if err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", at, err)
		}
		if d.Tokens < 2 {
			continue
		}
		w.doc.seed(&pcg, 0)
		left := d.Tokens
		want := math.Floor(left / 2) // to draw of the tokens left, each set of as many alike
		for j, id := range w.doc.ids {
			x, a := int32(w.doc.x[j]), int32(0)
			for range x {
				if uniform(&pcg)*left < want {
					a++
					want--
				}
				left--
			}
			observed.push(id, a)
			held.push(id, x-a)
		}
		observed.end()
		held.end()
	}
	if observed.NumDocs() == 0 {
		return nil, nil, errors.New("no document holds two words that the topics know")
	}
	return observed, held, nil
}

// plainDocs holds documents one after the other.
type plainDocs struct {
	n           int
	ptr         []int // where each ends
	ids, counts []int32
}

func (d *plainDocs) NumDocs() int  { return len(d.ptr) }
func (d *plainDocs) NumWords() int { return d.n }

func (d *plainDocs) Doc(m int) (words, counts []int32) {
	lo := 0
	if m > 0 {
		lo = d.ptr[m-1]
	}
	return d.ids[lo:d.ptr[m]], d.counts[lo:d.ptr[m]]
}

func (d *plainDocs) push(id, count int32) {
	if count > 0 {
		d.ids, d.counts = append(d.ids, id), append(d.counts, count)
	}
}

func (d *plainDocs) end() { d.ptr = append(d.ptr, len(d.ids)) }
