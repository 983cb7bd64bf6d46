package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// power sets dst to x^e.
func power(dst, x []float64, e float64) {
	for i, v := range x {
		dst[i] = math.Pow(v, e)
	}
}

// step is what a pass does with the documents.
type step struct {
	first, plain, alphas bool
	power                float64         // 1/T
	factor               *blas64.General // B^(1/T) of a plain pass
}

// documents computes new topic counts nd of the documents of a chunk. It leaves in
// the buffers what the words need: θ and scale after a plain pass, else resp.
func (f *fitter) documents(ctx context.Context, c *passChunk, nd []float64, s step, sum *tally) error {
	b, k := &f.buf, f.k
	nnz, blocks := len(c.doc.Cols), run.Count(c.docs(), passBlock)
	b.scores = vec.Resize(b.scores, scoresPerDoc*c.docs())
	b.theta = general(b.theta.Data, c.docs(), k)
	b.scale = vec.Resize(b.scale, nnz)
	if !s.plain {
		b.resp = general(b.resp.Data, nnz, k)
	}
	if s.alphas {
		b.minka = general(b.minka.Data, blocks, k+1)
		clear(b.minka.Data)
	}
	workers := f.scratch(blocks)
	err := run.Chunks(ctx, c.docs(), passBlock, workers, func(worker, block, lo, hi int) error {
		w := b.work[worker]
		for d := lo; d < hi; d++ {
			from, to := c.doc.RowPtr[d], c.doc.RowPtr[d+1]
			words, counts := c.doc.Row(d)
			theta, n := linalg.Row(b.theta, d), nd[d*k:(d+1)*k]
			if s.first {
				clear(n)
				for range f.FoldIn {
					f.mean(theta, n)
					if err := plainStep(words, counts, theta, &f.b, n, b.scale[from:to]); err != nil {
						return fmt.Errorf("document %d: %w", c.first+d+1, err)
					}
				}
			}
			f.mean(theta, n)
			if err := f.rate(c, d, theta); err != nil {
				return err
			}
			if s.plain {
				if s.power != 1 {
					power(theta, theta, s.power)
				}
				if err := plainStep(words, counts, theta, s.factor, n, b.scale[from:to]); err != nil {
					return fmt.Errorf("document %d: %w", c.first+d+1, err)
				}
			} else {
				f.collapsedStep(words, counts, n, w, b.resp.Data[from*k:to*k])
			}
			if s.alphas && !c.held[d] {
				f.minka(n, linalg.Row(b.minka, block))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.addScores(c, sum)
	if s.alphas {
		for i := range blocks {
			row := linalg.Row(b.minka, i)
			floats.Add(sum.num, row[:k])
			sum.den += row[k]
		}
	}
	return nil
}

// scratch makes scratch space for the goroutines of run.Chunks and returns their
// number.
func (f *fitter) scratch(chunks int) int {
	workers := run.Workers(f.workers, chunks)
	for len(f.buf.work) < workers {
		f.buf.work = append(f.buf.work, make([]float64, 3*f.k))
	}
	return workers
}

// general returns an r×c matrix in the memory of data, if that is large enough.
// Its content is undefined.
func general(data []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: vec.Resize(data, r*c)}
}

// mean sets θ to the mean of the Dirichlet distribution with parameters n + α.
func (f *fitter) mean(theta, n []float64) {
	s := f.alphaSum + floats.Sum(n)
	for k, v := range n {
		theta[k] = (v + f.alpha[k]) / s
	}
}

// rate scores document d with its θ.
func (f *fitter) rate(c *passChunk, d int, theta []float64) error {
	s := f.buf.scores[scoresPerDoc*d:][:scoresPerDoc]
	clear(s)
	logs := func(m *linalg.CSR) (sum, tokens float64, err error) {
		words, counts := m.Row(d)
		for t, w := range words {
			z := floats.Dot(theta, linalg.Row(f.b, int(w)))
			if !(z > 0) {
				return 0, 0, fmt.Errorf("document %d: word %d has the probability %v", c.first+d+1, w, z)
			}
			sum += counts[t] * math.Log(z)
			tokens += counts[t]
		}
		return sum, tokens, nil
	}
	var err error
	if c.held[d] {
		s[2], s[3], err = logs(&c.hidden)
		return err
	}
	if s[0], _, err = logs(&c.doc); err != nil {
		return err
	}
	if f.Method == MAPEM && c.doc.RowPtr[d] < c.doc.RowPtr[d+1] {
		for k, v := range theta {
			s[1] += f.alpha[k] * math.Log(v)
		}
	}
	return nil
}

func (f *fitter) addScores(c *passChunk, sum *tally) {
	for d := range c.docs() {
		s := f.buf.scores[scoresPerDoc*d:]
		sum.loglik += s[0]
		sum.prior += s[1]
		sum.hidden += s[2]
		sum.hiddenTokens += s[3]
	}
}

// plainStep computes a document's counts from θ: n_k = Σ_w x_w θ_k B_wk / θᵀB_w.
// scale receives x_w / θᵀB_w. θ and B need not sum to 1.
func plainStep(words []int32, counts, theta []float64, b *blas64.General, n, scale []float64) error {
	clear(n)
	for t, w := range words {
		row := linalg.Row(*b, int(w))
		z := floats.Dot(theta, row)
		if !(z > 0) {
			return fmt.Errorf("word %d has the probability %v", w, z)
		}
		scale[t] = counts[t] / z
		floats.AddScaled(n, scale[t], row)
	}
	floats.Mul(n, theta)
	return nil
}

// collapsedStep computes new counts n of a document from the old ones. With
// P = n + α, Q = β + the word's tokens by topic and R the column sums of Q, the
// responsibilities of one token are first
//
//	g ∝ P Q / R, and with that token left out g' ∝ (P − g)(Q − g)/(R − g),
//
// where P − g is at least α and Q − g at least β. resp receives x_w·g'. work holds 3K
// numbers.
func (f *fitter) collapsedStep(words []int32, counts, n, work, resp []float64) {
	k := f.k
	p, g, next := work[:k], work[k:2*k], work[2*k:3*k]
	alpha, totals, beta := f.alpha[:k], f.totals[:k], f.Beta
	n = n[:k]
	clear(next)
	for i, v := range n {
		p[i] = (v + alpha[i])
	}
	for t, w := range words {
		b, q, out := linalg.Row(f.b, int(w))[:k], linalg.Row(f.counts, int(w))[:k], resp[t*k:][:k]
		z := 0.0
		for i, v := range p {
			v *= b[i]
			g[i] = v
			z += v
		}
		z = 1 / z
		sum := 0.0
		for i, v := range g {
			v *= z
			pi, qi := p[i]-v, q[i]-v
			if pi < alpha[i] {
				pi = alpha[i]
			}
			if qi < beta {
				qi = beta
			}
			v = pi * qi / (totals[i] - v)
			out[i] = v
			sum += v
		}
		sum = counts[t] / sum
		for i, v := range out {
			v *= sum
			out[i] = v
			next[i] += v
		}
	}
	copy(n, next)
}

// minka adds a document's terms of the fixed point α_k ← α_k·num_k/den (Minka
// 2000, eq. 55) to sums, K+1 numbers. The counts are expectations of whole numbers:
// a count v is taken as a mixture of the two whole numbers beside it, so that its term
// is linear between theirs. The concave ψ(v+α) − ψ(α) would count the small fractions
// of tokens that every topic has in every document as uses of the topic, and make α
// several times too large.
func (f *fitter) minka(n, sums []float64) {
	tokens := 0.0
	for k, v := range n {
		sums[k] += rising(v, f.alpha[k])
		tokens += v
	}
	sums[f.k] += rising(tokens, f.alphaSum)
}

// rising returns ψ(v+a) − ψ(a) = Σ_{i<v} 1/(a+i) for whole v, and is linear
// between.
func rising(v, a float64) float64 {
	const most = 64 // of the sum; Digamma, which is good to 1e-11, costs as much
	whole := math.Floor(v)
	s := (v - whole) / (a + whole)
	if whole > most {
		return s + mathext.Digamma(whole+a) - mathext.Digamma(a)
	}
	for i := range int(whole) {
		s += 1 / (a + float64(i))
	}
	return s
}

// transpose sets byWord: for each word the documents that contain it, with scale,
// or else its nonzeros, with 1. Held-out documents are left out.
func (f *fitter) transpose(c *passChunk, plain bool) {
	b := &f.buf
	t := &b.byWord
	t.RowPtr, b.at = vec.Resize(t.RowPtr, f.n+1), vec.Resize(b.at, f.n)
	clear(t.RowPtr)
	for d, held := range c.held {
		if !held {
			words, _ := c.doc.Row(d)
			for _, w := range words {
				t.RowPtr[w+1]++
			}
		}
	}
	for w := range f.n {
		t.RowPtr[w+1] += t.RowPtr[w]
	}
	copy(b.at, t.RowPtr)
	t.Cols, t.Vals = vec.Resize(t.Cols, t.RowPtr[f.n]), vec.Resize(t.Vals, t.RowPtr[f.n])
	for d, held := range c.held {
		if held {
			continue
		}
		for i := c.doc.RowPtr[d]; i < c.doc.RowPtr[d+1]; i++ {
			at := &b.at[c.doc.Cols[i]]
			if plain {
				t.Cols[*at], t.Vals[*at] = int32(d), b.scale[i]
			} else {
				t.Cols[*at], t.Vals[*at] = int32(i), 1
			}
			*at++
		}
	}
}
