package refine

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// What the stripes of documents are read for: passes, the costs and the merging of topics, and
// the last read.

// tally adds up what a pass learns about the documents.
type tally struct {
	tokens, loglik, hidden, hiddenTokens float64
}

// merge adds up what other tallies have, in order, and empties them.
func (t *tally) merge(others []tally) {
	for _, o := range others {
		t.tokens += o.tokens
		t.loglik += o.loglik
		t.hidden += o.hidden
		t.hiddenTokens += o.hiddenTokens
	}
	clear(others)
}

// score is that of the state before a pass. HeldOut is NaN without hidden tokens.
func (t *tally) score() Score {
	return Score{LogLik: t.loglik / t.tokens, HeldOut: t.hidden / t.hiddenTokens}
}

// phase is what a sweep of a pass does with the documents besides stripes.rule.
type phase struct {
	first, closing bool
	half           int // 0 or 1; -1 is all documents
}

// pass implements documents: by halves, unless it is the first or a closing one, or topics are
// merged after it.
func (f *stripes) pass(ctx context.Context, t int, closing, merge bool) (Score, error) {
	return f.read(ctx, t == 0 || closing || merge, t > 0, func(w *worker, slot, half int, sum *tally) error {
		return f.block(phase{first: t == 0, closing: closing, half: half}, w, slot, sum)
	}, func(int) {})
}

// read makes the topics anew from all documents at once, or else from each half of them. block adds
// up those of a block that are in a half, and merge merges what it has added up in the first n slots
// besides the parts and the tally.
func (f *stripes) read(ctx context.Context, whole, leave bool, block func(w *worker, slot, half int, sum *tally) error, merge func(n int)) (Score, error) {
	halves := []int{0, 1}
	if whole {
		halves = []int{-1}
	}
	var all tally
	slots := make([]tally, f.slots)
	for _, h := range halves {
		if h >= 0 && f.seen.halves[h] == 0 {
			continue
		}
		f.prepare(leave)
		f.keep, f.scale = f.blend(h)
		err := f.sweep(ctx, func(w *worker, slot int) error {
			sum := slots[slot] // a copy: adding to neighbouring slots would share cache lines
			if err := block(w, slot, h, &sum); err != nil {
				return err
			}
			slots[slot] = sum
			return nil
		}, func(n int) error {
			all.merge(slots[:n])
			merge(n)
			return f.drain(ctx, n)
		})
		if err == nil {
			err = f.learn(ctx)
		}
		if err != nil {
			return Score{}, err
		}
	}
	return all.score(), nil
}

// block computes new topic counts of the documents in w.block, and adds their tokens
// by word and topic to those of a slot.
func (f *stripes) block(p phase, w *worker, slot int, sum *tally) error {
	nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), p.first)
	if err != nil {
		return err
	}
	to := docstep.Sums{Rows: f.parts[slot]}
	for d := range w.block.Docs() {
		key := w.block.Key(d)
		if p.half >= 0 && holdout.Half(key) != p.half {
			continue
		}
		f.load(w, d, !p.closing && f.holdsOut(key))
		n := f.state.row(nd, d)
		if p.first && f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:])
		} else if p.first {
			err = w.Fold(&f.rule, n, foldIn)
		}
		if err == nil {
			scored := w.Hidden.Sum > 0 || p.half < 0 || f.seen.docs < manyDocs || holdout.Sampled(key, scoredOf)
			err = f.document(n, w, to, scored, sum)
		}
		if err != nil {
			return w.fail(d, err)
		}
	}
	return f.state.put(&w.rows, w.block.First, nd)
}

// document computes new topic counts n of the document in w, and adds its tokens by word and
// topic to the sums.
func (f *stripes) document(n []float32, w *worker, to docstep.Sums, scored bool, sum *tally) error {
	total := f.rule.Prior.Weigh(w.T, n)
	visible, hidden, err := w.Learn(&f.rule, to, total, scored)
	if err != nil {
		return err
	}
	if scored {
		sum.loglik += visible
		sum.tokens += float64(w.Visible.Sum) * w.Times
	}
	sum.hidden += hidden
	sum.hiddenTokens += float64(w.Hidden.Sum) * w.Times
	w.Counted(n)
	return nil
}

// candidates implements documents: a sample of the documents is read for the costs.
func (f *stripes) candidates(ctx context.Context, n int) ([]merged, error) {
	pairs, err := f.similar(ctx, n)
	if err != nil {
		return nil, err
	}
	return pairs, f.price(ctx, pairs)
}

// price sets the costs of the pairs to the log-likelihood that a sample of the documents
// loses if the two topics become one (docstep.Document.Compare).
func (f *stripes) price(ctx context.Context, pairs []merged) error {
	costs := make([][]float64, f.slots)
	for i := range costs {
		costs[i] = make([]float64, len(pairs))
	}
	for i := range pairs {
		pairs[i].cost = 0
	}
	every, both := sample(f.info.Nonzeros), bare(pairs)
	f.prepare(false)
	return f.sweep(ctx, func(w *worker, slot int) error {
		nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
		if err != nil {
			return err
		}
		for d := range w.block.Docs() {
			if key := w.block.Key(d); holdout.Sampled(key, every) {
				f.load(w, d, f.holdsOut(key))
				f.rule.Prior.Weigh(w.T, f.state.row(nd, d))
				w.Compare(costs[slot], &f.rule, both, f.totals)
			}
		}
		return nil
	}, func(n int) error {
		for _, c := range costs[:n] {
			for i, v := range c {
				pairs[i].cost += v
			}
			clear(c)
		}
		return nil
	})
}

// joined implements documents. Columns of topics that are gone are dropped when all are.
func (f *stripes) joined(ctx context.Context, pairs []merged, done bool) error {
	old := f.state
	if done {
		var state docState
		if err := state.open(f.info.Documents, len(f.alive), f.scratch); err != nil {
			return err
		}
		f.state = state // which is closed whatever happens
	}
	err := f.sweep(ctx, func(w *worker, _ int) error {
		first, docs := w.block.First, w.block.Docs()
		nd, err := old.get(&w.rows, first, docs, false)
		if err != nil {
			return err
		}
		for d := range docs {
			n := old.row(nd, d)
			for _, p := range pairs {
				n[p.Into] += n[p.From]
				n[p.From] = 0
			}
		}
		if !done {
			return f.state.put(&w.rows, first, nd)
		}
		var to rowBuffer
		out, err := f.state.get(&to, first, docs, true)
		if err != nil {
			return err
		}
		for d := range docs {
			columns(f.state.row(out, d), old.row(nd, d), f.alive)
		}
		return f.state.put(&to, first, out)
	}, nil)
	if !done {
		return err
	}
	if err := errors.Join(err, old.close()); err != nil {
		return err
	}
	for _, p := range f.parts {
		p.Reset(len(f.alive))
	}
	f.work = nil
	return f.compact(ctx)
}

// last implements documents.
func (f *stripes) last(ctx context.Context, res *Result) (Score, error) {
	f.prepare(f.normal != nil)
	f.keep, f.scale = f.blend(-1)
	var all tally
	slots := make([]tally, f.slots)
	a, second := mat.NewDense(f.k, f.k, nil), make([]*mat.Dense, f.slots)
	for i := range second {
		second[i] = mat.NewDense(f.k, f.k, nil)
	}
	err := f.sweep(ctx, func(w *worker, slot int) error {
		if f.normal != nil {
			return f.correlatedFinal(ctx, w, slot, &slots[slot], second[slot])
		}
		return f.final(ctx, w, slot, &slots[slot], second[slot])
	}, func(n int) error {
		all.merge(slots[:n])
		for _, x := range second[:n] {
			a.Add(a, x)
			x.Zero()
		}
		return f.drain(ctx, n)
	})
	res.A, res.Counts = a, f.state.mem
	return all.score(), err
}

// final scores the documents of a block and adds up their moments and, for reading words, how
// often words are in documents with each topic.
func (f *stripes) final(ctx context.Context, w *worker, slot int, sum *tally, a *mat.Dense) error {
	nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
	if err != nil {
		return err
	}
	var to *docstep.Sums
	if f.reads() {
		to = &docstep.Sums{Rows: f.parts[slot]}
	}
	w.theta = general(w.theta.Data, w.block.Docs(), f.k)
	for d := range w.block.Docs() {
		f.load(w, d, false)
		theta := linalg.Row(w.theta, d)
		if len(w.Visible.Words) == 0 {
			clear(theta)
			continue
		}
		n := f.state.row(nd, d)
		total := f.rule.Prior.Weigh(w.T, n)
		loglik, err := w.Finish(&f.rule, to, total)
		if err != nil {
			return w.fail(d, err)
		}
		sum.loglik += loglik
		sum.tokens += float64(w.Visible.Sum) * w.Times
		for k, v := range n {
			theta[k] = (float64(v) + f.alpha) / math.Sqrt(total*(total+1))
		}
	}
	return f.moments(ctx, w, a)
}

// moments adds E[θθᵀ] = (s·θθᵀ + diag θ)/(s+1) of the documents of a block, times their
// weights, to a, with s the document's tokens and Σα, and θ·√(s/(s+1)) in w.theta, zero where
// there are no tokens.
func (f *stripes) moments(ctx context.Context, w *worker, a *mat.Dense) error {
	for d := range w.theta.Rows {
		theta := linalg.Row(w.theta, d)
		// Σθ = √(s/(s+1)), so that θ/(s+1) is a fraction of it.
		sum := floats.Sum(theta)
		if sum == 0 {
			continue
		}
		rest := max(1-sum*sum, 0) // 1/(s+1); s is a sum in float32, and may be too small
		weight := f.seen.share(w.block.First + d)
		for k, v := range theta {
			a.Set(k, k, a.At(k, k)+v/sum*rest*weight)
		}
		if weight != 1 {
			floats.Scale(math.Sqrt(weight), theta)
		}
	}
	return w.addSquares(ctx, w.theta, a.RawMatrix().Data)
}

// addSquares adds XᵀX, K×K, to sum.
func (w *worker) addSquares(ctx context.Context, x blas64.General, sum []float64) error {
	w.gram = general(w.gram.Data, x.Cols, x.Cols)
	if err := linalg.Gram(ctx, x, w.gram, 1); err != nil {
		return err
	}
	floats.Add(sum, w.gram.Data)
	return nil
}
