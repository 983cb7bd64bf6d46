package refine

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// certain is how many standard deviations below its mean the number of documents that
	// use a word in a topic is taken.
	certain = 2
	// shortest is how many distinct words documents need on average for reading words
	// that differ from the most probable ones.
	shortest = 8
)

// finish scores the final state and fills in the result.
func (f *fitter) finish(ctx context.Context, res *Result) error {
	res.B = mat.NewDense(f.n, f.k, nil)
	err := f.words(ctx, f.workers, func(i int) {
		row := res.B.RawRowView(i)
		for t, v := range linalg.Row(f.sums, i) {
			row[t] = (v + f.Beta) / f.totals[t]
		}
	})
	if err != nil {
		return err
	}
	f.prepare()
	f.step.Form, f.step.NoLikelihood = estep.Plain, true
	reading := f.info.Nonzeros >= shortest*int64(f.seen.docs)
	f.keep, f.scale = 0, 1 // the sums are those of reading from here on
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
	res.A, res.Alpha, res.From = a, slices.Repeat([]float64{f.Alpha}, f.k), f.origin
	if res.Breve, err = f.breve(ctx, res); err != nil {
		return err
	}
	res.Reading = res.B
	if reading {
		res.Reading, err = f.reading(ctx)
	}
	return err
}

// breve returns p(topic | word), N×K, by Bayes' rule from B and the topic shares A·1.
func (f *fitter) breve(ctx context.Context, res *Result) (*mat.Dense, error) {
	breve, shares := mat.NewDense(f.n, f.k, nil), make([]float64, f.k)
	for t := range shares {
		for _, v := range res.A.RawRowView(t) {
			shares[t] += v
		}
	}
	err := f.words(ctx, f.workers, func(i int) {
		vec.Posterior(breve.RawRowView(i), res.B.RawRowView(i), shares)
	})
	return breve, err
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
		w.load(d, false)
		theta := linalg.Row(w.theta, d)
		if len(w.doc.words) == 0 {
			clear(theta)
			continue
		}
		n := f.state.row(nd, d)
		total := f.weights(w.T, n)
		loglik, err := w.Score(f.rows, w.doc.words, w.doc.counts)
		if err != nil {
			return w.fail(d, err)
		}
		f.rated(w, loglik, total, sum)
		for k, v := range n {
			theta[k] = (float64(v) + f.Alpha) / math.Sqrt(total*(total+1))
		}
		if !reading {
			continue
		}
		for i := range w.doc.counts {
			w.doc.counts[i] = 1
		}
		if _, err := w.Step(&read, w.doc.words, w.doc.counts); err != nil {
			return w.fail(d, err)
		}
	}
	return f.moments(ctx, w, a)
}

// reading makes the reading weights of Result of f.sums, which hold how many documents use
// each word in each topic.
func (f *fitter) reading(ctx context.Context) (*mat.Dense, error) {
	out, scale := mat.NewDense(f.n, f.k, f.sums.Data), make([]float64, f.k)
	shares, all := make([]float64, f.k), 0.0
	err := f.words(ctx, 1, func(i int) { floats.Add(shares, out.RawRowView(i)) })
	if err != nil {
		return nil, err
	}
	for _, v := range shares {
		all += v
	}
	docs := float64(f.seen.docs)
	err = f.words(ctx, 1, func(i int) {
		row := out.RawRowView(i)
		word := floats.Sum(row)
		if word == 0 { // it is in no document
			return
		}
		idf := math.Log(docs / float64(f.info.DocFrequencies[i]))
		for t, v := range row {
			lift := v / word * all / shares[t]
			row[t] = 0
			if v > certain*certain && lift > 1 {
				row[t] = (v - certain*math.Sqrt(v)) * math.Log(lift) * idf
				scale[t] += row[t]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for t, v := range scale {
		if v > 0 {
			scale[t] = 1 / v
		}
	}
	return out, f.words(ctx, f.workers, func(i int) { floats.Mul(out.RawRowView(i), scale) })
}

// moments adds E[θθᵀ] = (s·θθᵀ + diag θ)/(s+1) of the documents of a block to a, with s
// the document's tokens and Σα, and θ·√(s/(s+1)) in w.theta, zero where there are no tokens.
func (f *fitter) moments(ctx context.Context, w *worker, a *mat.Dense) error {
	for d := range w.theta.Rows {
		theta := linalg.Row(w.theta, d)
		// Σθ = √(s/(s+1)), so that θ/(s+1) is a fraction of it.
		sum := floats.Sum(theta)
		if sum == 0 {
			continue
		}
		rest := max(1-sum*sum, 0) // 1/(s+1); s is a sum in float32, and may be too small
		for k, v := range theta {
			a.Set(k, k, a.At(k, k)+v/sum*rest)
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
