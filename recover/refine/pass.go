package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// passBlock is how many documents a goroutine takes at a time outside of passes.
const passBlock = 32

// chunkBuffers are reused from one chunk of documents to the next.
type chunkBuffers struct {
	chunk  passChunk
	byWord linalg.CSR
	at     []int
	theta  blas64.General // of the documents of the chunk
	resp   blas64.General // by nonzero: the responsibilities times the count
	scores []float64      // a document: ln p of its tokens, prior, hidden ln p, hidden tokens
	minka  blas64.General // by part: the sums of Minka's fixed point
	work   []worker
}

const scoresPerDoc = 4

// tally adds up what a pass learns about the documents.
type tally struct {
	loglik, prior, hidden, hiddenTokens float64
	num                                 []float64 // of Minka's fixed point, see minka
	den                                 float64
}

// pass makes pass number t, counted from 0.
func (f *fitter) pass(ctx context.Context, t int) error {
	temp := f.temperature(t)
	p := phase{first: t == 0, alphas: f.Method != MAPEM && !f.FixedAlpha && t > 0 && temp == 1, exponent: 1 / temp}
	f.step.Form, f.step.B = estep.LeaveEverywhere, f.rows
	switch {
	case f.Method == MAPEM || t == 0 || temp > 1:
		f.step.Form = estep.Plain
	case f.Method == CVB0Document:
		f.step.Form = estep.LeaveDocument
	}
	if temp > 1 {
		f.step.B = f.powers
	}
	if err := f.prepare(ctx, p.exponent); err != nil {
		return err
	}
	clear(f.sums.Data)
	sum := tally{num: make([]float64, f.k)}
	err := f.chunks(ctx, passNNZ, func(c *passChunk) error {
		nd, err := f.state.get(c.first, c.docs(), t == 0)
		if err != nil {
			return err
		}
		if err := f.documents(ctx, c, nd, p, &sum); err != nil {
			return err
		}
		if f.undrained += c.tokens; f.undrained > float64(mostTokens*len(f.parts)) {
			if err := f.drain(ctx); err != nil {
				return err
			}
		}
		return f.state.put(c.first, nd)
	})
	if err != nil {
		return err
	}
	if err := f.drain(ctx); err != nil {
		return err
	}
	f.note(&sum)
	if err := f.update(ctx); err != nil {
		return err
	}
	if p.alphas {
		f.alphaSum = 0
		for k, a := range f.alpha {
			f.alpha[k] = max(a*sum.num[k]/sum.den, leastAlpha)
			f.alphaSum += f.alpha[k]
		}
	}
	return nil
}

// note sets the score of the state before the pass.
func (f *fitter) note(s *tally) {
	tokens := f.weight
	f.score = Score{LogLik: s.loglik / tokens, Objective: math.NaN(), HeldOut: math.NaN(), AlphaSum: f.alphaSum}
	if f.Method == MAPEM {
		prior := 0.0
		for _, v := range f.b.Data {
			prior += math.Log(v)
		}
		f.score.Objective = (s.loglik + s.prior + f.Beta*prior) / tokens
	}
	if s.hiddenTokens > 0 {
		f.score.HeldOut = s.hidden / s.hiddenTokens
	}
}

// finish scores the final state and returns A.
func (f *fitter) finish(ctx context.Context) (*mat.Dense, error) {
	var sum tally
	a, part := mat.NewDense(f.k, f.k, nil), linalg.NewGeneral(f.k, f.k)
	if err := f.prepare(ctx, 1); err != nil {
		return nil, err
	}
	err := f.chunks(ctx, passNNZ, func(c *passChunk) error {
		nd, err := f.state.get(c.first, c.docs(), false)
		if err != nil {
			return err
		}
		f.buf.scores = vec.Resize(f.buf.scores, scoresPerDoc*c.docs())
		f.buf.theta = general(f.buf.theta.Data, c.docs(), f.k)
		workers := f.scratch(run.Count(c.docs(), passBlock))
		err = run.Chunks(ctx, c.docs(), passBlock, workers, func(worker, _, lo, hi int) error {
			w := &f.buf.work[worker]
			for d := lo; d < hi; d++ {
				n := f.state.row(nd, d)
				f.mean(linalg.Row(f.buf.theta, d), n)
				if err := f.rate(c, d, w, f.weights(w.T, n)); err != nil {
					return fmt.Errorf("document %d: %w", c.first+d+1, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		f.addScores(c, &sum)
		// E[θθᵀ] = (s·θθᵀ + diag θ)/(s+1) with s the document's tokens and Σα.
		for d := range c.docs() {
			theta := linalg.Row(f.buf.theta, d)
			if c.held[d] || c.doc.ptr[d] == c.doc.ptr[d+1] {
				clear(theta)
				continue
			}
			s := f.alphaSum
			for _, v := range f.state.row(nd, d) {
				s += float64(v)
			}
			for k, v := range theta {
				a.Set(k, k, a.At(k, k)+v/(s+1))
			}
			floats.Scale(math.Sqrt(s/(s+1)), theta)
		}
		if err := linalg.Gram(ctx, f.buf.theta, part, f.workers); err != nil {
			return err
		}
		for i := range f.k {
			floats.Add(a.RawRowView(i), linalg.Row(part, i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.note(&sum)
	a.Scale(1/mat.Sum(a), a)
	return a, nil
}
