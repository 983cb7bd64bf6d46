package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// AlphaSettings say how LearnAlpha works; the zero value has good defaults.
type AlphaSettings struct {
	// Docs bounds how many documents are used, evenly spread over the
	// collection; 0 means 1000.
	Docs int
}

// LearnedAlpha is what LearnAlpha found.
type LearnedAlpha struct {
	// Alpha are the K parameters, for Topics.Alpha, Sum is α₀ = Σα.
	Alpha []float64
	Sum   float64
	// PerToken is the mean logarithm of the probability of the halves predicted,
	// MatchedSum and MatchedPerToken are α₀ and the same before learning.
	PerToken, MatchedSum, MatchedPerToken float64
	// Documents is how many documents were used, those with at least two known
	// tokens; Trials how many α₀ were tried.
	Documents, Trials int
}

const (
	alphaSmooth = 0.01 // share of the unigram that predictions are mixed with
	alphaSteps  = 4    // refinements of a bracket
)

// LearnAlpha chooses the sum α₀ of the Dirichlet parameters by what predicts best:
// every document is halved at random, MAP infers the composition from one half, and the α₀ is sought under which the other halves are most probable. The
// proportions of α stay those of t's Alpha, or the topic shares of its A.
//
// The match of moments that methods fall back on (see Topics.Alpha) is quick, but
// on real documents, whose words come in bursts, its α₀ is too small: with the
// learned one MAP and Gibbs predict unseen words better. (Minka's fixed point for
// the likelihood of the inferred counts erred far on the other side.) Topics that
// refine.Passes refined on the same documents fit them better than others, so that the α₀
// learned is too small there: on UCI KOS, K = 50, ten passes, 1.0, which predicts unseen
// documents by −7.151 a token; keep the passes' own, 6.3 and −7.148.
//
// α₀ is bracketed by doubling and refined by golden sections in its logarithm,
// some ten trials in all; the result is the same bits for any opt.Workers. Errors:
// *TopicsError, *SettingError, *VocabularyError, those of InferTo, ctx's. Cost: a
// trial folds in up to Docs half documents.
func LearnAlpha(ctx context.Context, t Topics, docs Documents, s AlphaSettings, opt Options) (*LearnedAlpha, error) {
	if s.Docs < 0 {
		return nil, &SettingError{"LearnAlpha", "Docs", float64(s.Docs), "≥ 1, or 0 for 1000"}
	}
	if s.Docs == 0 {
		s.Docs = 1000
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	first, err := c.alpha("LearnAlpha")
	if err != nil {
		return nil, err
	}
	observed, held, err := halves(c, docs, s.Docs)
	if err != nil {
		return nil, err
	}
	out := &LearnedAlpha{Documents: observed.NumDocs()}
	for _, a := range first {
		out.MatchedSum += a
	}
	u := make([]float64, c.n)
	for i := range u {
		for k, v := range c.B.RawRowView(i) {
			u[i] += c.mean[k] * v
		}
	}
	smooth, err := Smooth(c.B, u, alphaSmooth)
	if err != nil {
		return nil, err
	}
	steps, err := MAP{}.fill()
	if err != nil {
		return nil, err
	}
	// best keeps the α₀ of the highest prediction.
	best := math.Inf(-1)
	try := func(logSum float64) (float64, error) {
		sum := math.Exp(logSum)
		alpha := make([]float64, c.k)
		for k, a := range first {
			alpha[k] = a / out.MatchedSum * sum
		}
		p := newInferer("", c, &mapEM{steps, c.rows, alpha, sum})
		h, err := Completion(ctx, p, smooth, observed, held, Options{Workers: opt.Workers})
		if err != nil {
			return 0, err
		}
		out.Trials++
		if opt.Progress != nil {
			opt.Progress(out.Trials, max(out.Trials, 10))
		}
		if h.PerToken > best {
			best = h.PerToken
			out.Alpha, out.Sum, out.PerToken = alpha, sum, h.PerToken
		}
		return h.PerToken, nil
	}
	lowest, highest := math.Log(alphaSumMin), math.Log(alphaSumMax)
	x := min(max(math.Log(out.MatchedSum), lowest), highest)
	fx, err := try(x)
	if err != nil {
		return nil, err
	}
	out.MatchedPerToken = fx
	// Downhill from x in one direction or the other.
	step := math.Ln2
	lo, hi := x-step, x+step
	fhi, err := try(min(hi, highest))
	if err != nil {
		return nil, err
	}
	if fhi > fx {
		for fhi > fx && hi < highest {
			lo, x, fx, hi = x, hi, fhi, hi+step
			if fhi, err = try(min(hi, highest)); err != nil {
				return nil, err
			}
		}
	} else {
		flo, err := try(max(lo, lowest))
		if err != nil {
			return nil, err
		}
		for flo > fx && lo > lowest {
			hi, x, fx, lo = x, lo, flo, lo-step
			if flo, err = try(max(lo, lowest)); err != nil {
				return nil, err
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
		fy, err := try(y)
		if err != nil {
			return nil, err
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
	return out, nil
}

// halves divides the tokens of up to most documents in two, at random, but the same
// for the same document. Words in no topic are left out.
func halves(c *checked, docs Documents, most int) (observed, held *plainDocs, err error) {
	if docs == nil {
		return nil, nil, errors.New("infer: LearnAlpha: no documents")
	}
	if n := docs.NumWords(); n != c.n {
		return nil, nil, &VocabularyError{n, c.n}
	}
	m := docs.NumDocs()
	observed, held = &plainDocs{n: c.n}, &plainDocs{n: c.n}
	p := newInferer("", c, projection{c.rows})
	w, f := &work{}, make([]float64, c.k)
	var pcg rand.PCG
	for i := range min(m, most) {
		at := int(int64(i) * int64(m) / int64(min(m, most)))
		ids, counts := docs.Doc(at)
		if counts != nil && len(counts) != len(ids) {
			return nil, nil, fmt.Errorf("document %d: %w", at, &LengthError{"counts", len(counts), len(ids)})
		}
		d, err := p.infer(f, w, ids, counts, nil) // checks, and leaves the known words in w
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
		return nil, nil, errors.New("infer: LearnAlpha: no document holds two words that the topics know")
	}
	return observed, held, nil
}

// plainDocs are documents one after the other.
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
