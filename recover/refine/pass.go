package refine

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// passBlock is how many documents a goroutine takes at a time. Sums are formed by
// block and added in order.
const passBlock = 32

// chunkBuffers are reused from one chunk of documents to the next.
type chunkBuffers struct {
	chunk  passChunk
	byWord linalg.CSR
	at     []int
	theta  blas64.General // of the documents of the chunk
	scale  []float64      // by nonzero: its count over its probability
	resp   blas64.General // by nonzero: the responsibilities times the count
	scores []float64      // a document: ln p of its tokens, prior, hidden ln p, hidden tokens
	minka  blas64.General // by block: the sums of Minka's fixed point
	work   [][]float64    // by worker
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
	plain := f.Method == MAPEM || t == 0 || temp > 1
	alphas := f.Method == CVB0 && !f.FixedAlpha && t > 0 && temp == 1
	clear(f.sums.Data)
	factor := &f.b
	if temp > 1 {
		factor = &f.powers
		err := run.Chunks(ctx, f.n, 256, f.workers, func(_, _, lo, hi int) error {
			power(f.powers.Data[lo*f.k:hi*f.k], f.b.Data[lo*f.k:hi*f.k], 1/temp)
			return nil
		})
		if err != nil {
			return err
		}
	}
	sum := tally{num: make([]float64, f.k)}
	err := f.chunks(ctx, func(c *passChunk) error {
		nd, err := f.state.get(c.first, c.docs(), t == 0)
		if err != nil {
			return err
		}
		if err := f.documents(ctx, c, nd, step{first: t == 0, plain: plain, alphas: alphas, power: 1 / temp, factor: factor}, &sum); err != nil {
			return err
		}
		if err := f.state.put(c.first, nd); err != nil {
			return err
		}
		f.transpose(c, plain)
		x := f.buf.resp
		if plain {
			x = f.buf.theta
		}
		return f.buf.byWord.Mul(ctx, x, f.sums, true, f.workers)
	})
	if err != nil {
		return err
	}
	f.note(&sum)
	if !plain {
		factor = nil
	}
	if err := f.update(factor); err != nil {
		return err
	}
	if alphas {
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
	err := f.chunks(ctx, func(c *passChunk) error {
		nd, err := f.state.get(c.first, c.docs(), false)
		if err != nil {
			return err
		}
		f.buf.scores = vec.Resize(f.buf.scores, scoresPerDoc*c.docs())
		f.buf.theta = general(f.buf.theta.Data, c.docs(), f.k)
		err = run.Chunks(ctx, c.docs(), passBlock, f.workers, func(_, _, lo, hi int) error {
			for d := lo; d < hi; d++ {
				theta := linalg.Row(f.buf.theta, d)
				f.mean(theta, nd[d*f.k:(d+1)*f.k])
				if err := f.rate(c, d, theta); err != nil {
					return err
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
			if c.held[d] || c.doc.RowPtr[d] == c.doc.RowPtr[d+1] {
				clear(theta)
				continue
			}
			s := f.alphaSum + floats.Sum(nd[d*f.k:(d+1)*f.k])
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
