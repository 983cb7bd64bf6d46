package refine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// The last passes have a prior that knows which topics go together (package logisticnormal). A pass
// moves each document's logits by a step and shares out its tokens, by quarters or halves (move.go),
// and then makes the prior of what all documents say.

const (
	// By default at most maxCorrelated passes are made, and at least minCorrelated. They end when hidden
	// tokens gain too little as the mean of correlatedGain passes: one gain is as even as the next,
	// and with too many passes the topics fit to few documents.
	maxCorrelated, minCorrelated, correlatedGain = 16, 4, 2
	// By default there are none for more than mostCorrelated topics or families, whose covariance costs
	// K² for each block of documents, nor for documents of fewer than shortestCorrelated tokens on average:
	// these say next to nothing about which topics go together, and take several times as long; nor for
	// more than mostCorrelated topics of fewer than fewDocs documents each, which get worse.
	mostCorrelated, shortestCorrelated, fewDocs = 200, 10, 10
	// relaxedPrior is how much farther the covariance moves than to what the documents say, as a
	// share of the way there, except in the first of these passes.
	relaxedPrior = 1
	// Of more than ofTopics topics that were split the prior is one of families, the topics of the
	// start. It costs by the topics that documents have. At K = 150 the other takes up to twice as long
	// for the whole fit; at K = 100 up to 1.4 times, and predicts hidden words by up to 0.03 better.
	ofTopics = 128
)

// correlatedPasses returns how many passes are made under a logistic-normal prior at most, where n
// are asked for.
func (s *topics) correlatedPasses(n int) int {
	switch {
	case n != 0:
		return max(n, 0)
	case s.want < 2 || s.seen.tokens < shortestCorrelated*int64(s.seen.docs):
		return 0
	case s.want > mostCorrelated && (!s.byFamily() || s.roots() > mostCorrelated || s.seen.docs < fewDocs*s.want):
		return 0
	}
	return maxCorrelated
}

// byFamily reports whether the prior is one of families of topics.
func (s *topics) byFamily() bool {
	if s.given != nil {
		return s.givenFamily != nil
	}
	return s.want > ofTopics && (s.groups != nil || s.want > s.k)
}

// logits are the moments of η about the prior's mean, of all documents or of some.
type logits struct {
	weight         float64 // of the documents
	observed, full float64 // information of the tokens of some
	mean           []float64
	second         blas64.General
}

func newLogits(k int) logits {
	return logits{mean: make([]float64, k), second: linalg.NewGeneral(k, k)}
}

// add adds other moments and empties them.
func (m *logits) add(x *logits) {
	m.weight += x.weight
	m.observed += x.observed
	m.full += x.full
	floats.Add(m.mean, x.mean)
	floats.Add(m.second.Data, x.second.Data)
	x.clear()
}

func (m *logits) clear() {
	m.weight, m.observed, m.full = 0, 0, 0
	clear(m.mean)
	clear(m.second.Data)
}

// correlate makes the passes under the logistic-normal prior: limit, or if gains may end them, at most that.
func (s *topics) correlate(ctx context.Context, docs documents, res *Result, limit int, ends bool, opt Options) error {
	if s.normal, s.family = s.given, s.givenFamily; s.normal == nil {
		shares := s.totals
		if s.byFamily() {
			s.family = make([]int, s.k)
			columns := s.families()
			shares = make([]float64, len(columns))
			for g, of := range columns {
				for _, t := range of {
					s.family[t] = g
					shares[g] += s.totals[t]
				}
			}
		}
		all := vec.Sum(shares)
		shares = slices.Clone(shares)
		floats.Scale(1/all, shares)
		s.normal = logisticnormal.New(shares)
	}
	before := res.Passes
	for end := limit; res.Correlated < end; {
		t := res.Correlated
		score, m, err := docs.correlated(ctx, t, t >= end-closingPasses)
		if err == nil {
			floats.Scale(1/m.weight, m.mean)
			floats.Scale(1/m.weight, m.second.Data)
			far := 0.0
			if t > 0 {
				far = relaxedPrior
			}
			s.normal.Inform(m.observed, m.full)
			err = s.normal.Learn(m.mean, mat.NewDense(s.normal.K(), s.normal.K(), m.second.Data), far)
		}
		if err != nil {
			return fmt.Errorf("refine: pass %d: %w", res.Passes+1, err)
		}
		res.Passes++
		res.Correlated++
		res.History = append(res.History, score)
		if n := res.Correlated; ends && n >= minCorrelated && n+closingPasses < end && grows(res.History[before:], correlatedGain, heldOut) < s.gain { // never with NaN
			end, res.Early = n+closingPasses, true
		}
		if opt.Progress != nil {
			opt.Progress(res.Passes, before+end, score.LogLik)
		}
	}
	res.Prior = &recovery.LogisticNormal{Mean: s.normal.Mean, Covariance: s.normal.Covariance(), Families: s.family, Information: s.normal.Share()}
	return nil
}

// correlated implements documents: by quarters or halves, unless it is the first or a closing one.
func (f *stripes) correlated(ctx context.Context, t int, closing bool) (Score, logits, error) {
	if t == 0 {
		if err := f.beginLogits(ctx); err != nil {
			return Score{}, logits{}, err
		}
	}
	sum, parts := &f.ofLogits[0], f.ofLogits[1:]
	sum.clear()
	n := 2
	switch {
	case t == 0 || closing:
		n = 1
	case f.seen.tokens >= manyTokens:
		n = 4
	}
	score, err := f.read(ctx, n, true, func(w *worker, slot int, in func(uint64) bool, x *tally) error {
		return f.correlatedBlock(ctx, t, in, closing, w, slot, x, &parts[slot])
	}, func(n int) {
		for i := range parts[:n] {
			sum.add(&parts[i])
		}
	})
	return score, *sum, err
}

// beginLogits makes documents ready for the first of these passes.
func (f *stripes) beginLogits(ctx context.Context) (err error) {
	for len(f.ofLogits) < f.slots+1 {
		f.ofLogits = append(f.ofLogits, newLogits(f.normal.K()))
	}
	switch {
	case f.family != nil:
		if err = f.enter(ctx); err != nil {
			return err
		}
		f.logits, err = openState(f.info.Documents, f.normal.K(), 0, f.scratch)
	case f.state.some != nil:
		all := make([][]float32, maxSlots)
		err = f.restate(ctx, f.k, allTopics, func(w *worker, slot, d int) ([]float32, error) { return w.rows.whole(d, &all[slot])[:f.k], nil })
		f.work = nil // documents of which use some columns
	}
	return err
}

// ofPrior returns the space of a goroutine for documents under the prior.
func (f *stripes) ofPrior(w *worker) *logisticnormal.Document {
	if w.normal == nil {
		w.normal = logisticnormal.NewDocument(f.normal)
	}
	return w.normal
}

// informs returns of how many documents the information of one is found.
func informs(docs int) int64 { return max(1, int64(docs/1000)) }

// correlatedBlock makes a step of the documents of a block. The state of a document is its
// tokens by topic before the first of these passes, and its logits after; with families it is both.
func (f *stripes) correlatedBlock(ctx context.Context, t int, in func(uint64) bool, closing bool, w *worker, slot int, sum *tally, m *logits) error {
	counted := t > 0 || f.given == nil || f.state.some != nil // the documents have their tokens by topic
	if err := f.getLogits(w, !counted, t == 0); err != nil {
		return err
	}
	to, x := docstep.Sums{Rows: f.parts[slot]}, f.ofPrior(w)
	w.theta = general(w.theta.Data, 2*w.block.Docs(), f.normal.K())
	rows := 0 // of theta
	steps := 1
	if t == 0 {
		steps = logisticnormal.Beginning
	}
	for d := range w.block.Docs() {
		key := w.block.Key(d)
		if !in(key) {
			continue
		}
		f.load(w, d, !closing && f.holdsOut(key))
		if len(w.Visible.Words) == 0 {
			continue
		}
		if f.family != nil {
			w.rows.drop(d, f.leastOfBlock())
		}
		n, blocks := w.rows.doc(d)
		eta, rule := n, w.Within(&f.rule, blocks)
		if !counted && f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:])
		} else if !counted {
			if err := w.Fold(rule, n, foldIn); err != nil {
				return w.fail(d, err)
			}
		}
		if f.family == nil {
			n = nil
		} else {
			eta, _ = w.logits.doc(d)
		}
		if t == 0 {
			if f.family != nil {
				rule.Families.Count(eta, n)
			}
			f.normal.Begin(eta, float64(w.Visible.Sum))
		}
		scored := w.Hidden.Sum > 0 || f.seen.docs < manyDocs || holdout.Sampled(key, scoredOf)
		if holdout.Sampled(key, informs(f.seen.docs)) {
			if err := w.Information(rule, x, eta, n, &m.observed, &m.full); err != nil {
				return w.fail(d, err)
			}
		}
		visible, hidden, err := w.Correlate(rule, x, eta, n, steps, logisticnormal.Key(key, t), to, scored)
		if err != nil {
			return w.fail(d, err)
		}
		if scored {
			sum.loglik += visible
			sum.tokens += float64(float64(w.Visible.Sum) * w.Times)
		}
		sum.hidden += hidden
		sum.hiddenTokens += float64(float64(w.Hidden.Sum) * w.Times)
		m.weight += w.Times
		mean, noise := linalg.Row(w.theta, rows), linalg.Row(w.theta, rows+1)
		rows += 2
		root := math.Sqrt(w.Times)
		for k, v := range eta {
			v := float64(v) - f.normal.Mean[k]
			m.mean[k] += float64(v * w.Times)
			mean[k], noise[k] = v*root, x.Noise[k]*root
		}
	}
	if err := w.addSquares(ctx, linalg.Rows(w.theta, 0, rows), m.second.Data); err != nil {
		return err
	}
	return f.putLogits(w)
}

// getLogits gets the state of the documents of a block, with families both states.
func (f *stripes) getLogits(w *worker, fresh, first bool) error {
	err := f.state.get(&w.rows, w.number, &w.block, fresh)
	if err == nil && f.family != nil {
		err = f.logits.get(&w.logits, w.number, &w.block, first)
	}
	return err
}

// putLogits puts what getLogits got.
func (f *stripes) putLogits(w *worker) error {
	err := f.state.put(&w.rows, w.number, &w.block, false)
	if err == nil && f.family != nil {
		err = f.logits.put(&w.logits, w.number, &w.block, false)
	}
	return err
}
