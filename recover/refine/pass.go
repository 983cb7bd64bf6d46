package refine

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// freshShare is how much of the topics comes from the half of the documents that
	// was read last.
	freshShare = 0.75
	// closingPasses take all documents at once, the hidden tokens among them.
	closingPasses = 2
	// In a pass by halves one of scoredOf documents is scored, if there are manyDocs or
	// more: logarithms take a sixth of the time of a pass.
	scoredOf, manyDocs = 8, 1000
)

// worker has the scratch space of a goroutine.
type worker struct {
	*estep.Worker
	block       corpus.Block
	doc         holdout.Document
	rows        rowBuffer
	theta, gram blas64.General
	losses      sums.Losses
	weight      float64 // of doc
}

// scratch makes scratch space for the goroutines of run.Chunks and returns their
// number.
func (f *fitter) scratch(chunks int) int {
	workers := run.Workers(f.workers, chunks)
	for len(f.work) < workers {
		f.work = append(f.work, worker{Worker: estep.NewWorker(f.k)})
	}
	return workers
}

// general returns an r×c matrix in the memory of data, if that is large enough.
// Its content is undefined.
func general(data []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: vec.Resize(data, r*c)}
}

// tally adds up what a pass learns about the documents.
type tally struct {
	tokens, loglik, prior, hidden, hiddenTokens float64
}

// merge adds up what other tallies have, in order, and empties them.
func (t *tally) merge(others []tally) {
	for _, o := range others {
		t.tokens += o.tokens
		t.loglik += o.loglik
		t.prior += o.prior
		t.hidden += o.hidden
		t.hiddenTokens += o.hiddenTokens
	}
	clear(others)
}

// phase is what a sweep of a pass does with the documents beside f.step.
type phase struct {
	first, closing bool
	half           int // 0 or 1; -1 is all documents
}

// pass makes pass number t, counted from 0, on all documents at once if whole is set.
func (f *fitter) pass(ctx context.Context, t int, whole, closing bool) error {
	f.step.Form = estep.Plain
	if t > 0 {
		f.step.Form = [...]estep.Form{CVB0Document: estep.LeaveDocument, CVB0: estep.LeaveEverywhere, MAPEM: estep.Plain}[f.Method]
	}
	halves := []int{0, 1}
	if whole || t == 0 || f.Method == MAPEM {
		halves = []int{-1}
	}
	var all tally
	prior, err := f.priorDensity(ctx)
	if err != nil {
		return err
	}
	slots := make([]tally, f.slots)
	for _, h := range halves {
		f.prepare()
		f.keep, f.scale = 0, f.unit
		if h >= 0 {
			if f.seen.halves[h] == 0 {
				continue
			}
			f.keep, f.scale = 1-freshShare, freshShare*f.seen.learned()/f.seen.halves[h]*f.unit
		}
		p := phase{first: t == 0, closing: closing, half: h}
		err := f.sweep(ctx, func(w *worker, slot int) error {
			sum := slots[slot] // a copy: adding to neighbouring slots would share cache lines
			if err := f.documents(p, w, slot, &sum); err != nil {
				return err
			}
			slots[slot] = sum
			return nil
		}, func(n int) error {
			all.merge(slots[:n])
			return f.drain(ctx, n)
		})
		if err == nil {
			err = f.learn(ctx)
		}
		if err != nil {
			return err
		}
	}
	f.note(&all, prior)
	return nil
}

// documents computes new topic counts of the documents in w.block, and adds their tokens
// by word and topic to those of a slot.
func (f *fitter) documents(p phase, w *worker, slot int, sum *tally) error {
	nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), p.first)
	if err != nil {
		return err
	}
	learn := f.step
	learn.Sums = f.parts[slot]
	watched, quiet := learn, learn
	watched.Form = estep.Plain
	quiet.NoLikelihood = true
	for d := range w.block.Docs() {
		key := f.keys[w.block.First+d]
		if p.half >= 0 && half(key) != p.half {
			continue
		}
		f.load(w, d, !p.closing && f.watches(key))
		n := f.state.row(nd, d)
		if p.first && f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:])
		}
		step := &learn
		switch {
		case w.doc.Hidden.Sum > 0:
			step = &watched
		case p.half >= 0 && f.seen.docs >= manyDocs && !holdout.Sampled(key, scoredOf):
			step = &quiet
		}
		if err := f.document(n, p, w, step, sum); err != nil {
			return w.fail(d, err)
		}
	}
	return f.state.put(&w.rows, w.block.First, nd)
}

// document scores the document in w.doc with its topic counts n and computes new ones.
func (f *fitter) document(n []float32, p phase, w *worker, learn *estep.Step, sum *tally) error {
	if p.first && f.first == nil {
		clear(n)
		fold := estep.Step{Form: estep.Plain, B: f.rows, NoLikelihood: true}
		for range foldIn {
			w.Weigh(n, f.alphas)
			if _, err := w.Step(&fold, w.doc.Visible.Words, w.doc.Visible.Counts); err != nil {
				return err
			}
			w.counted(n)
		}
	}
	total := w.Weigh(n, f.alphas)
	if w.doc.Hidden.Sum > 0 {
		loglik, err := w.ScoreMixed(f.rows, f.unigram, float32(smoothing/(1-smoothing)*total), w.doc.Hidden.Words, w.doc.Hidden.Counts)
		if err != nil {
			return err
		}
		tokens := float64(w.doc.Hidden.Sum) * w.weight
		sum.hidden += loglik - tokens*math.Log(total/(1-smoothing))
		sum.hiddenTokens += tokens
	}
	loglik, err := w.Step(learn, w.doc.Visible.Words, w.doc.Visible.Counts)
	if err != nil {
		return err
	}
	if !learn.NoLikelihood {
		f.rated(w, loglik, total, sum)
	}
	w.counted(n)
	return nil
}

// rated notes the log-likelihood of the document in w.doc with the weights w.T, whose sum
// is total.
func (f *fitter) rated(w *worker, loglik, total float64, sum *tally) {
	tokens := float64(w.doc.Visible.Sum) * w.weight
	sum.tokens += tokens
	sum.loglik += loglik - tokens*math.Log(total)
	if f.Method == MAPEM && tokens > 0 {
		for _, k := range f.alive {
			sum.prior += w.weight * f.alpha * math.Log(float64(w.T[k])/total)
		}
	}
}

// priorDensity returns the log-density of the topics that the objective of
// MAPEM has, without its constant.
func (f *fitter) priorDensity(ctx context.Context) (float64, error) {
	if f.Method != MAPEM {
		return math.NaN(), nil
	}
	sum := 0.0
	err := f.words(ctx, 1, func(i int) {
		row := f.rows.Row(i)
		for _, k := range f.alive {
			sum += math.Log(float64(row[k]))
		}
	})
	return f.beta * sum, err
}

// note sets the score of the state before a pass.
func (f *fitter) note(s *tally, prior float64) {
	f.score = Score{LogLik: s.loglik / s.tokens, Objective: (s.loglik + s.prior + prior/f.unit) / s.tokens, HeldOut: math.NaN()}
	if s.hiddenTokens > 0 {
		f.score.HeldOut = s.hidden / s.hiddenTokens
	}
}
