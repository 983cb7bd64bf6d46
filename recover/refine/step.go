package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

// phase is what a pass does with the documents beside f.step.
type phase struct {
	first, alphas bool
	exponent      float64 // 1/T
}

// worker has the scratch space of a goroutine.
type worker struct {
	*estep.Worker
	vals []float64 // K
}

// documents computes new topic counts nd of the documents of a chunk, and adds
// their tokens by word and topic to f.parts.
func (f *fitter) documents(ctx context.Context, c *passChunk, nd []float32, p phase, sum *tally) error {
	b, k, parts := &f.buf, f.k, len(f.parts)
	b.scores = vec.Resize(b.scores, scoresPerDoc*c.docs())
	b.minka = general(b.minka.Data, parts, k+1)
	clear(b.minka.Data)
	workers := f.scratch(parts)
	err := run.Chunks(ctx, parts, 1, workers, func(worker, part, _, _ int) error {
		w := &b.work[worker]
		learn := f.step
		learn.Sums = f.parts[part]
		lo, hi := c.cut(part, parts)
		for d := lo; d < hi; d++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := f.state.row(nd, d)
			if err := f.document(c, d, n, p, w, &learn); err != nil {
				return fmt.Errorf("document %d: %w", c.first+d+1, err)
			}
			if p.alphas && !c.held[d] {
				f.minka(n, linalg.Row(b.minka, part))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.addScores(c, sum)
	if p.alphas {
		for i := range parts {
			row := linalg.Row(b.minka, i)
			floats.Add(sum.num, row[:k])
			sum.den += row[k]
		}
	}
	return nil
}

// document scores document d with its topic counts n and computes new ones.
func (f *fitter) document(c *passChunk, d int, n []float32, p phase, w *worker, learn *estep.Step) error {
	words, counts := c.doc.doc(d)
	still := *learn
	still.Sums = nil
	if p.first {
		clear(n)
		fold := estep.Step{Form: estep.Plain, B: f.rows, NoLikelihood: true}
		for range f.FoldIn {
			f.weights(w.T, n)
			if _, err := w.Step(&fold, words, counts); err != nil {
				return err
			}
			copy(n, w.N)
		}
	}
	total := f.weights(w.T, n)
	if c.held[d] || p.exponent != 1 {
		if err := f.rate(c, d, w, total); err != nil {
			return err
		}
	}
	if p.exponent != 1 {
		for k, v := range w.T[:f.k] {
			w.T[k] = float32(math.Pow(float64(v)/total, p.exponent))
		}
	}
	if c.held[d] {
		learn = &still
	}
	loglik, err := w.Step(learn, words, counts)
	if err != nil {
		return err
	}
	if !c.held[d] && p.exponent == 1 {
		f.rated(c, d, w.T, loglik, total)
	}
	copy(n, w.N)
	return nil
}

// scratch makes scratch space for the goroutines of run.Chunks and returns their
// number.
func (f *fitter) scratch(chunks int) int {
	workers := run.Workers(f.workers, chunks)
	for len(f.buf.work) < workers {
		f.buf.work = append(f.buf.work, worker{estep.NewWorker(f.k), make([]float64, f.k)})
	}
	return workers
}

// general returns an r×c matrix in the memory of data, if that is large enough.
// Its content is undefined.
func general(data []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: vec.Resize(data, r*c)}
}

// mean sets θ to the mean of the Dirichlet distribution with parameters n + α.
func (f *fitter) mean(theta []float64, n []float32) {
	s := 0.0
	for k, v := range n {
		theta[k] = float64(v) + f.alpha[k]
		s += theta[k]
	}
	floats.Scale(1/s, theta)
}

// weights sets t to n + α and returns its sum.
func (f *fitter) weights(t, n []float32) float64 {
	sum := f.alphaSum
	prior := f.step.Prior[:len(n)]
	for k, v := range n {
		t[k] = v + prior[k]
		sum += float64(v)
	}
	return sum
}

// rate scores document d with the weights w.T, whose sum is total.
func (f *fitter) rate(c *passChunk, d int, w *worker, total float64) error {
	m := &c.doc
	if c.held[d] {
		m = &c.hidden
	}
	words, counts := m.doc(d)
	loglik, err := w.Score(f.rows, words, counts)
	f.rated(c, d, w.T, loglik, total)
	return err
}

// rated notes the log-likelihood of document d with the weights t, whose sum is total.
func (f *fitter) rated(c *passChunk, d int, t []float32, loglik, total float64) {
	s := f.buf.scores[scoresPerDoc*d:][:scoresPerDoc]
	clear(s)
	m := &c.doc
	if c.held[d] {
		m = &c.hidden
	}
	words, counts := m.doc(d)
	tokens := 0.0
	for _, x := range counts {
		tokens += float64(x)
	}
	loglik -= tokens * math.Log(total)
	if c.held[d] {
		s[2], s[3] = loglik, tokens
		return
	}
	s[0] = loglik
	if f.Method == MAPEM && len(words) > 0 {
		for k, a := range f.alpha {
			s[1] += a * math.Log(float64(t[k])/total)
		}
	}
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

// minka adds a document's terms of the fixed point α_k ← α_k·num_k/den (Minka
// 2000, eq. 55) to sums, K+1 numbers. The counts are expectations of whole numbers:
// a count v is taken as a mixture of the two whole numbers beside it, so that its term
// is linear between theirs. The concave ψ(v+α) − ψ(α) would count the small fractions
// of tokens that every topic has in every document as uses of the topic, and make α
// several times too large.
func (f *fitter) minka(n []float32, sums []float64) {
	tokens := 0.0
	for k, v := range n {
		sums[k] += rising(float64(v), f.alpha[k])
		tokens += float64(v)
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

// transpose sets byWord: for each word its nonzeros, with 1. Held-out documents are
// left out.
func (f *fitter) transpose(c *passChunk) {
	b := &f.buf
	t := &b.byWord
	t.RowPtr, b.at = vec.Resize(t.RowPtr, f.n+1), vec.Resize(b.at, f.n)
	clear(t.RowPtr)
	for d, held := range c.held {
		if !held {
			words, _ := c.doc.doc(d)
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
		for i := c.doc.ptr[d]; i < c.doc.ptr[d+1]; i++ {
			at := &b.at[c.doc.words[i]]
			t.Cols[*at], t.Vals[*at] = int32(i), 1
			*at++
		}
	}
}
