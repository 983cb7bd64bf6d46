package refine

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// finish scores the final state and fills in the result.
func (f *fitter) finish(ctx context.Context, res *Result) error {
	var err error
	if res.B, err = f.probabilities(ctx); err != nil {
		return err
	}
	f.prepare()
	f.step.Form, f.step.NoLikelihood = estep.Plain, true
	reading := longEnough(f.seen.nonzeros, f.seen.docs)
	f.keep, f.scale = 0, f.unit // the sums are those of reading from here on
	var all tally
	slots := make([]tally, f.slots)
	a, second := mat.NewDense(f.k, f.k, nil), make([]*mat.Dense, f.slots)
	for i := range second {
		second[i] = mat.NewDense(f.k, f.k, nil)
	}
	err = f.sweep(ctx, func(w *worker, slot int) error {
		return f.final(ctx, w, slot, reading, &slots[slot], second[slot])
	}, func(n int) error {
		all.merge(slots[:n])
		for _, x := range second[:n] {
			a.Add(a, x)
			x.Zero()
		}
		return f.drain(ctx, n)
	})
	if err != nil {
		return err
	}
	prior, err := f.priorDensity(ctx)
	if err != nil {
		return err
	}
	f.note(&all, prior)
	a.Scale(1/mat.Sum(a), a)
	res.History = append(res.History, f.score)
	res.A, res.Counts = a, f.state.mem
	return f.describe(ctx, res, reading, f.seen.weight, f.seen.df)
}

// final scores the documents of a block and adds up their moments and, with reading, how
// often words are in documents with each topic.
func (f *fitter) final(ctx context.Context, w *worker, slot int, reading bool, sum *tally, a *mat.Dense) error {
	nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
	if err != nil {
		return err
	}
	read := f.step
	read.Sums = f.parts[slot]
	w.theta = general(w.theta.Data, w.block.Docs(), f.k)
	for d := range w.block.Docs() {
		f.load(w, d, false)
		theta := linalg.Row(w.theta, d)
		if len(w.doc.Visible.Words) == 0 {
			clear(theta)
			continue
		}
		n := f.state.row(nd, d)
		total := w.Weigh(n, f.alphas)
		loglik, err := w.Score(f.rows, w.doc.Visible.Words, w.doc.Visible.Counts)
		if err != nil {
			return w.fail(d, err)
		}
		f.rated(w, loglik, total, sum)
		for k, v := range n {
			theta[k] = (float64(v) + f.alpha) / math.Sqrt(total*(total+1))
		}
		if !reading {
			continue
		}
		for i := range w.doc.Visible.Counts {
			w.doc.Visible.Counts[i] = float32(w.weight)
		}
		if _, err := w.Step(&read, w.doc.Visible.Words, w.doc.Visible.Counts); err != nil {
			return w.fail(d, err)
		}
	}
	return f.moments(ctx, w, a)
}

// moments adds E[θθᵀ] = (s·θθᵀ + diag θ)/(s+1) of the documents of a block, times their
// weights, to a, with s the document's tokens and Σα, and θ·√(s/(s+1)) in w.theta, zero where
// there are no tokens.
func (f *fitter) moments(ctx context.Context, w *worker, a *mat.Dense) error {
	for d := range w.theta.Rows {
		theta := linalg.Row(w.theta, d)
		// Σθ = √(s/(s+1)), so that θ/(s+1) is a fraction of it.
		sum := floats.Sum(theta)
		if sum == 0 {
			continue
		}
		rest := max(1-sum*sum, 0) // 1/(s+1); s is a sum in float32, and may be too small
		weight := f.weight(w.block.First + d)
		for k, v := range theta {
			a.Set(k, k, a.At(k, k)+v/sum*rest*weight)
		}
		if weight != 1 {
			floats.Scale(math.Sqrt(weight), theta)
		}
	}
	w.gram = general(w.gram.Data, f.k, f.k)
	if err := linalg.Gram(ctx, w.theta, w.gram, 1); err != nil {
		return err
	}
	for i := range f.k {
		floats.Add(a.RawRowView(i), linalg.Row(w.gram, i))
	}
	return nil
}
