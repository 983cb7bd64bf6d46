package refine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	recovery "github.com/jsmf-go/spectral/recover"
)

const (
	flatAlpha    = 0.1     // the first α of each topic if A has none
	leastAlpha   = 1e-3    // keeps the prior of a topic that hardly any document has proper
	mostAnnealed = 24      // passes; more gain nothing
	mostParts    = 8       // of a chunk, for as many goroutines
	mostTokens   = 1 << 20 // of a part before it is drained: float32 still holds a hundredth of a token
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

	alpha     []float64
	alphaSum  float64
	b         blas64.General // N×K, the topics
	totals    []float64      // K, after the first pass: β·N + the tokens of each topic
	sums      blas64.General // N×K, the tokens by word and topic that a pass adds up
	state     docState
	rows      *estep.Rows   // N×K, b
	powers    *estep.Rows   // N×K, B to the power 1/T; nil without annealed passes
	step      estep.Step    // of the pass, without the sums
	parts     []*estep.Rows // what the parts of the chunks add up until it is drained into sums
	undrained float64       // the tokens there
	score     Score
	buf       chunkBuffers
}

// begin counts the documents and makes the first α and B.
func (f *fitter) begin(ctx context.Context, start Start) error {
	words := make([]float64, f.n)
	err := f.read(ctx, func(held bool, ws, xs []int32) error {
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
	padded := estep.Padded(f.k)
	f.step = estep.Step{Prior: make([]float32, padded), Totals: make([]float32, padded), Beta: float32(f.Beta)}
	f.totals = make([]float64, f.k)
	f.rows = estep.NewRows(f.n, f.k)
	if f.temperature(0) > 1 {
		f.powers = estep.NewRows(f.n, f.k)
	}
	f.parts = make([]*estep.Rows, partCount(f.seen.nnz, f.n))
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	return nil
}

// partCount returns how many parts chunks are cut into, a power of two, so that as
// many goroutines are busy to the end. Each part costs 4·N·K bytes.
func partCount(nnz int64, n int) int {
	parts := 1
	for parts < mostParts && int64(parts)*8*int64(n) < nnz {
		parts *= 2
	}
	return parts
}

// prepare sets what a pass needs as float32 numbers: B, its power, α and the totals.
func (f *fitter) prepare(ctx context.Context, exponent float64) error {
	for k := range f.step.Totals {
		f.step.Totals[k] = 1
	}
	for k, a := range f.alpha {
		f.step.Prior[k], f.step.Totals[k] = float32(a), float32(f.totals[k])
	}
	return run.Chunks(ctx, f.n, 256, f.workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			b, to := linalg.Row(f.b, i), f.rows.Row(i)
			for k, v := range b {
				to[k] = float32(v)
			}
			if exponent != 1 {
				to = f.powers.Row(i)
				for k, v := range b {
					to[k] = float32(math.Pow(v, exponent))
				}
			}
		}
		return nil
	})
}

// drain moves what the parts hold to sums.
func (f *fitter) drain(ctx context.Context) error {
	f.undrained = 0
	return run.Chunks(ctx, f.n, 256, f.workers, func(_, _, lo, hi int) error {
		estep.Drain(f.sums.Data, f.sums.Stride, f.parts, lo, hi)
		return nil
	})
}

// damped returns what a count is taken for.
func (f *fitter) damped(x int32) float64 {
	if f.Damping == 1 {
		return float64(x)
	}
	return math.Pow(float64(x), f.Damping)
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

// update makes the topics from the sums of a pass.
func (f *fitter) update(ctx context.Context) error {
	const rows = 256 // at a time
	totals := linalg.NewGeneral(run.Count(f.n, rows), f.k)
	err := run.Chunks(ctx, f.n, rows, f.workers, func(_, chunk, lo, hi int) error {
		total := linalg.Row(totals, chunk)
		for i := lo; i < hi; i++ {
			row := linalg.Row(f.b, i)
			for t, v := range linalg.Row(f.sums, i) {
				row[t] = v + f.Beta
				total[t] += row[t]
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	clear(f.totals)
	for i := range totals.Rows {
		floats.Add(f.totals, linalg.Row(totals, i))
	}
	for t, v := range f.totals {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
	}
	return run.Chunks(ctx, f.n, rows, f.workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			for t, row := 0, linalg.Row(f.b, i); t < f.k; t++ {
				row[t] /= f.totals[t]
			}
		}
		return nil
	})
}
