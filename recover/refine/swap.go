package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// How a topic is cut in two.
const (
	cutPowers = 3   // steps of the power method
	cutMeans  = 2   // steps of 2-means after that
	cutTokens = 2.0 // documents with fewer tokens of the topic do not count in the first
	cutLeast  = 0.1 // the share of a topic that a part must have to be a topic
)

// swapAfter returns the pass after which topics are swapped: three quarters of
// the annealed ones, so that the rest can settle the new topics. 0 means never.
func (f *fitter) swapAfter() int {
	if f.Swaps == 0 {
		return 0
	}
	return 3 * f.annealed() / 4
}

// swapper looks for topics to merge and to split. All topics are cut in the same
// reads of the documents. With x_dwk = n_dw φ_dwk, the tokens of topic k, and m_dk
// their number in document d, the rows √x_d − c√m_d, c = Σ_d √(m_d x_d) / Σ_d m_d, are
// the differences of the documents' parts of the topic from its centre, on the
// scale of Hellinger's distance. Their first principal direction cuts the
// documents in two, and 2-means by likelihood improves the cut.
type swapper struct {
	*fitter
	total  blas64.General // N×K: Σ_d x_dwk
	centre blas64.General // N×K: c, a column for each topic
	dir    blas64.General // N×K: the direction, later the log-ratio of the two parts
	inner  []float64      // K: cᵀdir
	weight []float64      // K: Σ_d m_dk
	far    []float64      // K: the most tokens of a topic in one document
	long   [][]wordTokens // those tokens
}

type wordTokens struct {
	word   int32
	tokens float64
}

// stage is a step of a read. doc turns the tokens x of a document, K for each of
// its words, into what is added to dst; size are their sums by topic, work is K
// numbers. after is called when a chunk is done, with the topic counts nd of its
// documents.
type stage struct {
	doc   func(words []int32, x, size, work []float64)
	dst   blas64.General
	after func(c *passChunk, nd []float32) error
}

// swap merges and splits topics as Passes.Swaps describes, and returns how often.
func (f *fitter) swap(ctx context.Context) (int, error) {
	s := &swapper{fitter: f, total: linalg.NewGeneral(f.n, f.k), centre: linalg.NewGeneral(f.n, f.k), dir: linalg.NewGeneral(f.n, f.k),
		inner: make([]float64, f.k), weight: make([]float64, f.k), far: make([]float64, f.k), long: make([][]wordTokens, f.k)}
	if err := s.cut(ctx); err != nil {
		return 0, err
	}
	gains, merges, err := s.weigh(ctx)
	if err != nil {
		return 0, err
	}
	swaps := chooseSwaps(merges, gains, f.Swaps)
	if len(swaps) == 0 {
		return 0, nil
	}
	// The documents' parts are those of the last sums.
	side := linalg.NewGeneral(0, f.k)
	err = s.read(ctx, stage{
		doc: s.likelier,
		after: func(c *passChunk, nd []float32) error {
			side = general(side.Data, c.docs(), f.k)
			clear(side.Data)
			for d := range c.docs() {
				for i := c.doc.ptr[d]; i < c.doc.ptr[d+1]; i++ {
					floats.Add(linalg.Row(side, d), linalg.Row(f.buf.resp, i))
				}
				n, in := f.state.row(nd, d), linalg.Row(side, d)
				for _, p := range swaps {
					n[p.into] += n[p.from]
					n[p.from] = 0
					if !(in[p.split] > 0) {
						n[p.from], n[p.split] = n[p.split], 0
					}
				}
			}
			return f.state.put(c.first, nd)
		},
	})
	if err != nil {
		return 0, err
	}
	for i := range f.n {
		part, row := linalg.Row(f.sums, i), linalg.Row(s.total, i)
		for _, p := range swaps {
			row[p.into] += row[p.from]
			row[p.from] = max(row[p.split]-part[p.split], 0)
			row[p.split] = part[p.split]
		}
		copy(part, row)
	}
	for _, p := range swaps {
		f.alpha[p.into] += f.alpha[p.from]
		f.alpha[p.split] /= 2
		f.alpha[p.from] = f.alpha[p.split]
	}
	return len(swaps), f.update(ctx)
}

// cut cuts every topic in two. f.sums receives the tokens of one part, and dir the
// log-ratio that decides between the parts.
func (s *swapper) cut(ctx context.Context) error {
	k := s.k
	err := s.read(ctx,
		stage{dst: s.total, after: s.longest},
		stage{dst: s.centre, doc: func(_ []int32, x, size, _ []float64) {
			for ; len(x) > 0; x = x[k:] {
				for t, m := range size {
					if m >= cutTokens {
						x[t] = math.Sqrt(x[t] * m)
					} else {
						x[t] = 0
					}
				}
			}
		}})
	if err != nil {
		return err
	}
	for i := range s.n {
		for t, row := 0, linalg.Row(s.centre, i); t < k; t++ {
			if s.weight[t] > 0 {
				row[t] /= s.weight[t]
			}
			s.dir.Data[i*s.dir.Stride+t] = -row[t]
		}
	}
	// The power method begins with the document that has most of the topic.
	for t, doc := range s.long {
		for _, w := range doc {
			s.dir.Data[int(w.word)*s.dir.Stride+t] += math.Sqrt(w.tokens / s.far[t])
		}
	}
	for range cutPowers {
		s.direct()
		clear(s.sums.Data)
		if err := s.read(ctx, stage{dst: s.sums, doc: func(words []int32, x, size, work []float64) {
			s.along(words, x, size, work)
			for ; len(x) > 0; x = x[k:] {
				for t, v := range work {
					if v != 0 {
						x[t] = math.Sqrt(x[t]) * v
					} else {
						x[t] = 0
					}
				}
			}
		}}); err != nil {
			return err
		}
		copy(s.dir.Data, s.sums.Data)
	}
	s.direct()
	clear(s.sums.Data)
	err = s.read(ctx, stage{dst: s.sums, doc: func(words []int32, x, size, work []float64) {
		s.along(words, x, size, work)
		keep(x, work)
	}})
	for range cutMeans {
		if err != nil {
			return err
		}
		s.ratio()
		clear(s.sums.Data)
		err = s.read(ctx, stage{dst: s.sums, doc: s.likelier})
	}
	return err
}

// read runs the stages, one after another, on every chunk of the documents. The
// topic counts and the topics stay as they are.
func (s *swapper) read(ctx context.Context, stages ...stage) error {
	b, k := &s.buf, s.k
	return s.chunks(ctx, swapNNZ, func(c *passChunk) error {
		nd, err := s.state.get(c.first, c.docs(), false)
		if err != nil {
			return err
		}
		b.theta = general(b.theta.Data, c.docs(), k)
		b.resp = general(b.resp.Data, len(c.doc.words), k)
		each := func(do func(d int, words []int32, x, size, work []float64) error) error {
			workers := s.scratch(run.Count(c.docs(), passBlock))
			return run.Chunks(ctx, c.docs(), passBlock, workers, func(worker, _, lo, hi int) error {
				for d := lo; d < hi; d++ {
					words, _ := c.doc.doc(d)
					x := b.resp.Data[c.doc.ptr[d]*k : c.doc.ptr[d+1]*k]
					if err := do(d, words, x, linalg.Row(b.theta, d), b.work[worker].vals); err != nil {
						return err
					}
				}
				return nil
			})
		}
		err = each(func(d int, words []int32, x, size, theta []float64) error {
			s.mean(theta, s.state.row(nd, d))
			_, counts := c.doc.doc(d)
			clear(size)
			for i, w := range words {
				row := x[i*k:][:k]
				b := linalg.Row(s.b, int(w))
				z := floats.Dot(theta, b)
				if !(z > 0) {
					return fmt.Errorf("document %d: word %d has the probability %v", c.first+d+1, w, z)
				}
				z = float64(counts[i]) / z
				for t, v := range b {
					v *= theta[t] * z
					row[t] = v
					size[t] += v
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.transpose(c)
		for _, g := range stages {
			if g.doc != nil {
				err := each(func(_ int, words []int32, x, size, work []float64) error {
					g.doc(words, x, size, work)
					return nil
				})
				if err != nil {
					return err
				}
			}
			if g.dst.Data != nil {
				if err := b.byWord.Mul(ctx, b.resp, g.dst, true, s.workers); err != nil {
					return err
				}
			}
			if g.after != nil {
				if err := g.after(c, nd); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// longest keeps, for each topic, the tokens of the document with the most of them,
// and adds up the weights of the documents.
func (s *swapper) longest(c *passChunk, _ []float32) error {
	for d := range c.docs() {
		if c.held[d] {
			continue
		}
		for t, m := range linalg.Row(s.buf.theta, d) {
			if m < cutTokens {
				continue
			}
			s.weight[t] += m
			if m <= s.far[t] {
				continue
			}
			s.far[t], s.long[t] = m, s.long[t][:0]
			for i := c.doc.ptr[d]; i < c.doc.ptr[d+1]; i++ {
				s.long[t] = append(s.long[t], wordTokens{c.doc.words[i], linalg.Row(s.buf.resp, i)[t]})
			}
		}
	}
	return nil
}

// direct scales dir to the length 1 and sets inner.
func (s *swapper) direct() {
	square := make([]float64, s.k)
	for i := range s.n {
		for t, v := range linalg.Row(s.dir, i) {
			square[t] += v * v
		}
	}
	clear(s.inner)
	for i := range s.n {
		centre := linalg.Row(s.centre, i)
		for t, row := 0, linalg.Row(s.dir, i); t < s.k; t++ {
			if square[t] > 0 {
				row[t] /= math.Sqrt(square[t])
			}
			s.inner[t] += row[t] * centre[t]
		}
	}
}

// along sets at to the document's coordinate along dir, (√x − c√m)ᵀdir, for each
// topic; 0 if it has too few tokens of it.
func (s *swapper) along(words []int32, x, size, at []float64) {
	k := s.k
	clear(at)
	for i, w := range words {
		row, dir := x[i*k:][:k], linalg.Row(s.dir, int(w))[:k]
		for t, m := range size {
			if m >= cutTokens {
				at[t] += math.Sqrt(row[t]) * dir[t]
			}
		}
	}
	for t, m := range size {
		if m >= cutTokens {
			at[t] -= math.Sqrt(m) * s.inner[t]
		}
	}
}

// keep clears the tokens of the topics in whose second part the document is.
func keep(x, at []float64) {
	for ; len(x) > 0; x = x[len(at):] {
		for t, v := range at {
			if !(v > 0) {
				x[t] = 0
			}
		}
	}
}

// ratio sets dir to ln p(word | first part) − ln p(word | second part); f.sums holds
// the tokens of the first part.
func (s *swapper) ratio() {
	first, second := make([]float64, s.k), make([]float64, s.k)
	for i := range s.n {
		part := linalg.Row(s.sums, i)
		for t, v := range linalg.Row(s.total, i) {
			first[t] += part[t] + s.Beta
			second[t] += max(v-part[t], 0) + s.Beta
		}
	}
	for i := range s.n {
		part, dir := linalg.Row(s.sums, i), linalg.Row(s.dir, i)
		for t, v := range linalg.Row(s.total, i) {
			dir[t] = math.Log((part[t] + s.Beta) / (max(v-part[t], 0) + s.Beta) * (second[t] / first[t]))
		}
	}
}

// likelier keeps the tokens of the topics whose first part is the likelier source of
// the document's tokens.
func (s *swapper) likelier(words []int32, x, _, at []float64) {
	clear(at)
	for i, w := range words {
		row := x[i*s.k:][:s.k]
		for t, v := range linalg.Row(s.dir, int(w)) {
			at[t] += row[t] * v
		}
	}
	keep(x, at)
}
