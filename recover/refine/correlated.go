package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	recovery "github.com/jsmf-go/spectral/recover"
)

// The last passes have a prior that knows which topics go together (package logisticnormal).
// A pass moves each document's logits by one step, shares out its tokens, and then makes the
// topics and the prior of what all documents say.

const (
	// relaxedCorrelated is how much farther topics and covariance move than to what the documents
	// say, as a share of the way there, but for the first of these passes.
	relaxedCorrelated = 0.5
	// Where these passes follow, those under the Dirichlet prior may be fewer: at least
	// fewestBefore, and settlingBefore after topics were merged, and until they gain less than
	// earlyGain times prior.gain.
	fewestBefore, settlingBefore, earlyGain = 12, 8, 2
)

// logits are the moments of η about the prior's mean.
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
	x.weight, x.observed, x.full = 0, 0, 0
	clear(x.mean)
	clear(x.second.Data)
}

// correlate makes the passes under the logistic-normal prior.
func (s *topics) correlate(ctx context.Context, docs documents, res *Result, passes int, opt Options) error {
	if s.normal = s.given; s.normal == nil {
		shares := make([]float64, s.k)
		floats.AddScaled(shares, 1/floats.Sum(s.totals), s.totals)
		s.normal = logisticnormal.New(shares)
	}
	total := res.Passes + passes
	for t := range passes {
		score, m, err := docs.correlated(ctx, t)
		if err == nil {
			floats.Scale(1/m.weight, m.mean)
			floats.Scale(1/m.weight, m.second.Data)
			far := 0.0
			if t > 0 {
				far = relaxedCorrelated
			}
			s.normal.Inform(m.observed, m.full)
			err = s.normal.Learn(m.mean, mat.NewDense(s.k, s.k, m.second.Data), far)
		}
		if err != nil {
			return fmt.Errorf("refine: pass %d: %w", res.Passes+1, err)
		}
		res.Passes++
		res.Correlated++
		res.History = append(res.History, score)
		if opt.Progress != nil {
			opt.Progress(res.Passes, total, score.LogLik)
		}
	}
	res.Prior = &recovery.LogisticNormal{Mean: s.normal.Mean, Covariance: s.normal.Covariance(), Information: s.normal.Share()}
	return nil
}

// correlated makes pass t, counted from 0, of all documents under the logistic-normal prior.
func (f *stripes) correlated(ctx context.Context, t int) (Score, logits, error) {
	var all tally
	slots, sum := make([]tally, f.slots), newLogits(f.k)
	parts := make([]logits, f.slots)
	for i := range parts {
		parts[i] = newLogits(f.k)
	}
	f.forget()
	f.prepare(false)
	f.keep, f.scale = f.blend(-1)
	if t > 0 {
		f.keep, f.scale = -relaxedCorrelated, f.scale*(1+relaxedCorrelated)
	}
	err := f.sweep(ctx, func(w *worker, slot int) error {
		x := slots[slot]
		if err := f.correlatedBlock(ctx, t, w, slot, &x, &parts[slot]); err != nil {
			return err
		}
		slots[slot] = x
		return nil
	}, func(n int) error {
		all.merge(slots[:n])
		for i := range parts[:n] {
			sum.add(&parts[i])
		}
		return f.drain(ctx, n)
	})
	if err == nil && t > 0 {
		err = f.words(ctx, f.workers, func(i int) {
			row := linalg.Row(f.sums, i)
			for k, v := range row {
				row[k] = max(v, 0)
			}
		})
	}
	if err == nil {
		err = f.learn(ctx)
	}
	return all.score(), sum, err
}

// forget drops the goroutines' space for documents under the prior that was.
func (f *stripes) forget() {
	for i := range f.work {
		f.work[i].normal = nil
	}
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
// tokens by topic before the first of these passes, and its logits after.
func (f *stripes) correlatedBlock(ctx context.Context, t int, w *worker, slot int, sum *tally, m *logits) error {
	counted := t > 0 || f.given == nil // the documents have their tokens by topic
	state, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), !counted)
	if err != nil {
		return err
	}
	to, x := docstep.Sums{Rows: f.parts[slot]}, f.ofPrior(w)
	w.theta = general(w.theta.Data, 2*w.block.Docs(), f.k)
	clear(w.theta.Data)
	steps := 1
	if t == 0 {
		steps = logisticnormal.Beginning
	}
	for d := range w.block.Docs() {
		f.load(w, d, false)
		if len(w.Visible.Words) == 0 {
			continue
		}
		key, eta := w.block.Key(d), f.state.row(state, d)
		if !counted && f.first != nil {
			copy(eta, f.first[(w.block.First+d)*f.k:])
		} else if !counted {
			if err := w.Fold(&f.rule, eta, foldIn); err != nil {
				return w.fail(d, err)
			}
		}
		if t == 0 {
			f.normal.Begin(eta, float64(w.Visible.Sum))
		}
		scored := f.seen.docs < manyDocs || holdout.Sampled(key, scoredOf)
		if holdout.Sampled(key, informs(f.seen.docs)) {
			if err := w.Information(&f.rule, x, eta, &m.observed, &m.full); err != nil {
				return w.fail(d, err)
			}
		}
		loglik, err := w.Correlate(&f.rule, x, eta, steps, logisticnormal.Key(key, t), to, scored)
		if err != nil {
			return w.fail(d, err)
		}
		if scored {
			sum.loglik += loglik
			sum.tokens += float64(w.Visible.Sum) * w.Times
		}
		m.weight += w.Times
		mean, noise := linalg.Row(w.theta, 2*d), linalg.Row(w.theta, 2*d+1)
		root := math.Sqrt(w.Times)
		for k, v := range eta {
			v := float64(v) - f.normal.Mean[k]
			m.mean[k] += v * w.Times
			mean[k], noise[k] = v*root, x.Noise[k]*root
		}
	}
	w.gram = general(w.gram.Data, f.k, f.k)
	if err := linalg.Gram(ctx, w.theta, w.gram, 1); err != nil {
		return err
	}
	floats.Add(m.second.Data, w.gram.Data)
	return f.state.put(&w.rows, w.block.First, state)
}

// correlatedFinal is final under the logistic-normal prior. It leaves the documents' tokens by
// topic as their state.
func (f *stripes) correlatedFinal(ctx context.Context, w *worker, slot int, sum *tally, a *mat.Dense) error {
	state, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
	if err != nil {
		return err
	}
	var to *docstep.Sums
	if f.reads() {
		to = &docstep.Sums{Rows: f.parts[slot]}
	}
	x, eta := f.ofPrior(w), make([]float32, f.k)
	w.theta = general(w.theta.Data, 2*w.block.Docs(), f.k)
	clear(w.theta.Data)
	for d := range w.block.Docs() {
		f.load(w, d, false)
		n := f.state.row(state, d)
		if len(w.Visible.Words) == 0 {
			clear(n)
			continue
		}
		copy(eta, n)
		theta := [2][]float64{linalg.Row(w.theta, 2*d), linalg.Row(w.theta, 2*d+1)}
		loglik, err := w.FinishCorrelated(&f.rule, x, eta, n, 1, logisticnormal.Key(w.block.Key(d), -1), to, theta)
		if err != nil {
			return w.fail(d, err)
		}
		sum.loglik += loglik
		sum.tokens += float64(w.Visible.Sum) * w.Times
		if w.Times != 1 {
			for _, row := range theta {
				floats.Scale(math.Sqrt(w.Times), row)
			}
		}
	}
	w.gram = general(w.gram.Data, f.k, f.k)
	if err := linalg.Gram(ctx, w.theta, w.gram, 1); err != nil {
		return err
	}
	for i := range f.k {
		floats.Add(a.RawRowView(i), linalg.Row(w.gram, i))
	}
	return f.state.put(&w.rows, w.block.First, state)
}
