package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	recovery "github.com/jsmf-go/spectral/recover"
)

const (
	flatAlpha    = 0.1  // the first α of each topic if A has none
	leastAlpha   = 1e-3 // keeps the prior of a topic that hardly any document has proper
	mostAnnealed = 24   // passes; more gain nothing
)

// fitter is the state of one refinement.
type fitter struct {
	Passes
	workers int
	src     corpus.Source
	n, k    int
	seen    census
	counted bool    // the first read is over
	weight  float64 // the sum of the damped counts that topics are learned from

	alpha    []float64
	alphaSum float64
	b        blas64.General // N×K, the topics
	powers   blas64.General // N×K, B to the power 1/T; no data without annealed passes
	counts   blas64.General // N×K, CVB0 after the first pass: β + tokens by word and topic
	totals   []float64      // K, the column sums of counts
	sums     blas64.General // N×K, what a pass adds up
	state    docState
	score    Score
	buf      chunkBuffers
}

// begin counts the documents and makes the first α and B.
func (f *fitter) begin(ctx context.Context, start Start) error {
	words := make([]float64, f.n)
	err := f.read(ctx, func(held bool, ws []int32, xs []float64) error {
		if !held {
			for t, w := range ws {
				x := f.damped(xs[t])
				words[w] += x
				f.weight += x
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.seen.tokens == 0 {
		return errors.New("the documents hold no tokens")
	}
	if err := f.state.open(f.seen.docs, f.k, f.Scratch); err != nil {
		return err
	}
	f.alpha = make([]float64, f.k)
	first := f.Alpha
	if first == 0 {
		first = flatAlpha
	}
	for t := range f.alpha {
		f.alpha[t] = first
	}
	if f.Alpha == 0 && start.A != nil {
		if a, err := recovery.FitAlpha(start.A); err == nil {
			for t, v := range a {
				f.alpha[t] = max(v, leastAlpha)
			}
		}
	}
	for _, v := range f.alpha {
		f.alphaSum += v
	}
	f.b, f.sums = linalg.NewGeneral(f.n, f.k), linalg.NewGeneral(f.n, f.k)
	for i := range f.n {
		row, from := linalg.Row(f.b, i), start.B.RawRowView(i)
		// A word of held-out documents alone needs a probability too.
		unigram := (words[i] + f.Beta) / (f.weight + f.Beta*float64(f.n))
		for t := range row {
			row[t] = (1-f.Smoothing)*from[t] + f.Smoothing*unigram
		}
	}
	if f.temperature(0) > 1 {
		f.powers = linalg.NewGeneral(f.n, f.k)
	}
	if f.Method == CVB0 && f.N > 1 {
		f.counts, f.totals = linalg.NewGeneral(f.n, f.k), make([]float64, f.k)
	}
	return nil
}

// damped returns what a count is taken for.
func (f *fitter) damped(x float64) float64 {
	if f.Damping == 1 {
		return x
	}
	return math.Pow(x, f.Damping)
}

// annealed returns how many passes may be annealed.
func (f *fitter) annealed() int { return min(4*f.N/5, mostAnnealed) }

// temperature returns T of pass t, counted from 0.
func (f *fitter) temperature(t int) float64 {
	n := f.annealed()
	if t >= n {
		return 1
	}
	return 1 + (f.Temperature-1)*(1-float64(t)/float64(n))
}

// update makes the topics from the sums of a pass. After a plain pass these lack
// the factor B, or its power in an annealed pass.
func (f *fitter) update(factor *blas64.General) error {
	totals := make([]float64, f.k)
	for i := range f.n {
		row, sum := linalg.Row(f.b, i), linalg.Row(f.sums, i)
		for t, v := range sum {
			if factor != nil {
				v *= factor.Data[i*factor.Stride+t]
			}
			row[t] = v + f.Beta
			totals[t] += row[t]
		}
	}
	for t, v := range totals {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
	}
	if f.totals != nil {
		copy(f.counts.Data, f.b.Data)
		copy(f.totals, totals)
	}
	for i := range f.n {
		for t, row := 0, linalg.Row(f.b, i); t < f.k; t++ {
			row[t] /= totals[t]
		}
	}
	return nil
}
