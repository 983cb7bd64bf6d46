package main

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// The methods of inference, and what they are compared with.
const (
	random       = "Random" // uniform over the simplex
	truthItself  = "truth"  // the true compositions
	spi          = "SPI"
	spiExact     = "SPI of Bw" // of the exact word probabilities of the true compositions
	tli          = "TLI"
	plainSquares = "LeastSquares"
	padd         = "PADD"
	paddOther    = "PADD, other A"
	paddStopped  = "PADD, stopped" // at paddTol·‖A‖ from A
	likelihood   = "Likelihood"    // the most probable document, whatever the prior
	mapCVB       = "MAP"
	meanField    = "Variational"
)

// paddTol is about how far the sampled compositions of FR are from A, as a part of it.
const paddTol = 0.3

// answer returns compositions of the documents of a part, a row a document.
type answer func(ctx context.Context, p part) (*mat.Dense, error)

// ready is a method that takes documents, with the seconds that preparing it took, or
// why it cannot be prepared.
type ready struct {
	answer  answer
	seconds float64
	err     error
}

// prepare prepares a method of the library.
func (l *lab) prepare(ctx context.Context, m infer.Method, t infer.Topics) ready {
	begun, opt := cpuSeconds(), infer.Options{Workers: l.workers}
	inf, err := m.Prepare(ctx, t, opt)
	return ready{func(ctx context.Context, p part) (*mat.Dense, error) {
		b, err := inf.Infer(ctx, p.docs, opt)
		if err != nil {
			return nil, err
		}
		return b.W, nil
	}, cpuSeconds() - begun, err}
}

// preparePADD lets PADD learn before it infers.
func (l *lab) preparePADD(ctx context.Context, m infer.PADD, x *trial) ready {
	begun := cpuSeconds()
	learned, err := m.Learn(ctx, x.topics, x.learn, infer.Options{Workers: l.workers})
	if err != nil {
		return ready{err: err}
	}
	t := x.topics
	t.Dual = learned.Dual
	r := l.prepare(ctx, m, t)
	r.seconds = cpuSeconds() - begun
	return r
}

// prepareLikelihood prepares the compositions that make a document the most probable.
// MAP with EM adds α to them, which is next to nothing here.
func (l *lab) prepareLikelihood(ctx context.Context, t infer.Topics) ready {
	_, k := t.B.Dims()
	t.Alpha = filled(k, 1e-6)
	return l.prepare(ctx, infer.MAP{EM: true, Steps: 500}, t)
}

// prepareMeanField is prepare for variational, with the prior that MAP and Gibbs have.
func (l *lab) prepareMeanField(x *trial) ready {
	alpha := x.topics.Alpha
	if alpha == nil {
		var err error
		if alpha, err = recovery.FitAlpha(x.topics.A); err != nil {
			return ready{err: err}
		}
	}
	return ready{answer: func(ctx context.Context, p part) (*mat.Dense, error) {
		return variational(ctx, x.topics.B, alpha, p.docs, l.workers)
	}}
}

// guess draws compositions from the uniform distribution over the simplex.
func (l *lab) guess() ready {
	rng := rand.New(rand.NewPCG(l.seed, 0x5eed))
	return ready{answer: func(_ context.Context, p part) (*mat.Dense, error) {
		m, k := p.truth.Dims()
		w := mat.NewDense(m, k, nil)
		for i := range m {
			row := w.RawRowView(i)
			for t := range row {
				row[t] = rng.ExpFloat64()
			}
			vec.Normalise(row)
		}
		return w, nil
	}}
}

// prepareExact prepares SPI for the exact word probabilities Bw in place of documents:
// the limit of long ones.
func (l *lab) prepareExact(ctx context.Context, t infer.Topics) ready {
	inf, err := infer.SPI{}.Prepare(ctx, t, infer.Options{Workers: l.workers})
	return ready{answer: func(ctx context.Context, p part) (*mat.Dense, error) {
		n, k := t.B.Dims()
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(i)
		}
		m, _ := p.truth.Dims()
		w, words := mat.NewDense(m, k, nil), mat.NewVecDense(n, nil)
		for i := range m {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			words.MulVec(t.B, p.truth.RowView(i))
			if _, err := inf.InferWeightsTo(w.RawRowView(i), ids, words.RawVector().Data); err != nil {
				return nil, err
			}
		}
		return w, nil
	}, err: err}
}

// inferAll infers the compositions of the documents of a trial by all methods; linear
// is TLI. What a method cannot do is in its row.
func (l *lab) inferAll(ctx context.Context, x *trial, linear ready) ([]row, error) {
	library := func(m infer.Method) func() ready {
		return func() ready { return l.prepare(ctx, m, x.topics) }
	}
	learning := func(m infer.PADD) func() ready {
		return func() ready { return l.preparePADD(ctx, m, x) }
	}
	methods := []struct {
		name  string
		ready func() ready
		leave bool
	}{
		{random, l.guess, false},
		{truthItself, func() ready {
			return ready{answer: func(_ context.Context, p part) (*mat.Dense, error) { return p.truth, nil }}
		}, false},
		{spi, library(infer.SPI{}), false},
		{spiExact, func() ready { return l.prepareExact(ctx, x.topics) }, !x.drawn},
		{tli, func() ready { return linear }, false},
		{plainSquares, library(infer.LeastSquares{}), false},
		{padd, learning(infer.PADD{}), false},
		{paddOther, learning(infer.PADD{Prior: x.otherA}), false},
		{paddStopped, learning(infer.PADD{Tol: paddTol}), x.drawn},
		{likelihood, func() ready { return l.prepareLikelihood(ctx, x.topics) }, false},
		{mapCVB, library(infer.MAP{}), false},
		{meanField, func() ready { return l.prepareMeanField(x) }, false},
		{gibbs, library(x.gibbs), x.gibbs.Sweeps == 0},
	}
	var rows []row
	for _, m := range methods {
		if m.leave {
			continue
		}
		r := m.ready()
		for _, p := range x.parts {
			begun := cpuSeconds()
			out := make(row)
			var w *mat.Dense
			err := r.err
			if err == nil {
				w, err = r.answer(ctx, p)
			}
			each := (cpuSeconds() - begun) / float64(p.docs.NumDocs())
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				out.set("error", err.Error()).set("documents", p.docs.NumDocs()).set("part", p.name)
			} else {
				out = inferenceRow(x, p, w)
				out.set("seconds_prepare", r.seconds).set("seconds_document", each)
			}
			rows = append(rows, out.set("method", m.name))
		}
	}
	return rows, nil
}
