package refine

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
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

// pass implements documents: by halves, unless it is the first or a closing one, or topics are
// merged after it.
func (f *stripes) pass(ctx context.Context, t turn) (Score, error) {
	if t.first && f.state.some != nil {
		if err := f.foldSome(ctx); err != nil {
			return Score{}, err
		}
		t.first = false
	}
	f.far = f.groups != nil && !t.first && !t.begins && !t.closing
	parts := 2
	if t.whole() {
		parts = 1
	}
	return f.read(ctx, parts, !t.first, func(w *worker, slot int, in func(uint64) bool, sum *tally) error {
		return f.block(t, in, w, slot, sum)
	}, func(int) {})
}

// read makes the topics anew from each of 1, 2 or 4 parts of the documents. block adds up those of a
// block that are in the part, by their keys, and merge merges what it has added up in the first n slots
// besides the sums and the tally.
func (f *stripes) read(ctx context.Context, parts int, leave bool, block func(w *worker, slot int, in func(uint64) bool, sum *tally) error, merge func(n int)) (Score, error) {
	var all tally
	slots := make([]tally, f.slots)
	for part := range parts {
		if parts > 1 && f.seen.halves[part%2] == 0 {
			continue
		}
		in := func(key uint64) bool { return holdout.Quarter(key)%parts == part }
		f.prepare(leave)
		f.keep, f.scale = f.blend(part, parts)
		err := f.sweep(ctx, func(w *worker, slot int) error {
			sum := slots[slot] // a copy: adding to neighbouring slots would share cache lines
			if err := block(w, slot, in, &sum); err != nil {
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

// block computes new topic counts of the documents in w.block that are in a part, and adds their tokens
// by word and topic to those of a slot.
func (f *stripes) block(p turn, in func(uint64) bool, w *worker, slot int, sum *tally) error {
	err := f.state.get(&w.rows, w.number, &w.block, p.first)
	if err != nil {
		return err
	}
	to := docstep.Sums{Rows: f.parts[slot]}
	for d := range w.block.Docs() {
		key := w.block.Key(d)
		if !in(key) {
			continue
		}
		f.load(w, d, !p.closing && f.holdsOut(key))
		w.rows.drop(d, f.leastOfBlock())
		n, blocks := w.rows.doc(d)
		rule := w.Within(&f.rule, blocks)
		if p.first && f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:])
		} else if p.first {
			err = w.Fold(rule, n, foldIn)
		}
		if err == nil {
			scored := w.Hidden.Sum > 0 || p.whole() || f.seen.docs < manyDocs || holdout.Sampled(key, scoredOf)
			err = f.document(rule, n, w, to, scored, sum)
		}
		if err != nil {
			return w.fail(d, err)
		}
	}
	return f.state.put(&w.rows, &w.block, false)
}

// document computes new topic counts n of the document in w, and adds its tokens by word and
// topic to the sums.
func (f *stripes) document(rule *docstep.Rule, n []float32, w *worker, to docstep.Sums, scored bool, sum *tally) error {
	total := rule.Prior.Weigh(w.T, n)
	visible, hidden, err := w.Learn(rule, to, total, scored)
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
	if f.far {
		w.Relax(rule, n, float32(total))
	}
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
	every, both := f.sample(), bare(pairs)
	f.prepare(false)
	return f.sweep(ctx, func(w *worker, slot int) error {
		if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			if key := w.block.Key(d); holdout.Sampled(key, every) {
				f.load(w, d, f.holdsOut(key))
				n, blocks := w.rows.doc(d)
				rule := w.Within(&f.rule, blocks)
				rule.Prior.Weigh(w.T, n)
				if err := w.Compare(costs[slot], rule, both, f.totals); err != nil {
					return w.fail(d, err)
				}
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
	if !done && f.state.some == nil {
		return f.sweep(ctx, func(w *worker, _ int) error {
			if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
				return err
			}
			for d := range w.block.Docs() {
				n, _ := w.rows.doc(d)
				join(n, pairs)
			}
			return f.state.put(&w.rows, &w.block, false)
		}, nil)
	}
	k, alive := f.k, f.alive
	if done {
		k = len(alive)
	}
	all, least := make([][]float32, maxSlots), float32(allTopics)
	if !done && f.state.some != nil || done && f.few() {
		least = 0
	}
	err := f.restate(ctx, k, least, func(w *worker, slot, d int) ([]float32, error) {
		n := w.rows.whole(d, &all[slot])
		join(n, pairs)
		if done {
			columns(n, n, alive)
			clear(n[k:])
		}
		return n, nil
	})
	if err != nil || !done {
		return err
	}
	for _, p := range f.parts {
		p.Reset(k)
	}
	f.work = nil
	f.compact()
	return nil
}

// few reports whether documents have so few of the blocks of topics that sparse passes, whose cost
// for each block is half as much again, are the faster.
func (f *stripes) few() bool {
	d, have, all := 0, 0.0, 0.0
	for i := range f.state.some {
		for _, n := range f.state.some[i].left {
			share := f.seen.share(d)
			have += share * float64(n)
			all += share * float64(estep.Padded(f.k)/estep.BlockSize)
			d++
		}
	}
	return 3*have < 2*all
}

// join adds up the tokens of each of the pairs.
func join(n []float32, pairs []merged) {
	for _, p := range pairs {
		n[p.Into] += n[p.From]
		n[p.From] = 0
	}
}

// allTopics is for restate: documents keep them all.
const allTopics = -1

// restate replaces the state by k numbers for each document or, if least is not below 0, by those of
// the blocks of topics with more tokens than that.
// of returns all numbers of document d of w.block, whose old ones are in w.rows; it may be longer.
func (f *stripes) restate(ctx context.Context, k int, least float32, of func(w *worker, slot, d int) ([]float32, error)) error {
	old, blocks := f.state, 0
	if least >= 0 {
		blocks = f.docs.Blocks()
	}
	state, err := openState(f.info.Documents, k, blocks, f.scratch)
	if err != nil {
		return err
	}
	f.state = state // which is closed whatever happens
	err = f.sweep(ctx, func(w *worker, slot int) error {
		var to rows
		if err := errors.Join(old.get(&w.rows, w.number, &w.block, false), state.get(&to, w.number, &w.block, true)); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			n, err := of(w, slot, d)
			if err != nil {
				return w.fail(d, err)
			}
			if least >= 0 {
				to.add(n[:estep.Padded(k)], least)
			} else {
				copy(to.vals[d*k:][:k], n)
			}
		}
		return state.put(&to, &w.block, true)
	}, nil)
	f.state.size = state.size
	return errors.Join(err, old.close())
}

// last implements documents.
func (f *stripes) last(ctx context.Context, res *Result) (Score, error) {
	f.prepare(f.normal != nil)
	f.keep, f.scale = f.blend(0, 1)
	var all tally
	slots := make([]tally, f.slots)
	sum, second := newMoments(f.k), make([]moments, f.slots)
	for i := range second {
		second[i] = newMoments(f.k)
	}
	err := f.sweep(ctx, func(w *worker, slot int) error {
		if f.normal != nil {
			return f.correlatedFinal(ctx, w, slot, &slots[slot], second[slot].square)
		}
		return f.final(ctx, w, slot, &slots[slot], &second[slot])
	}, func(n int) error {
		all.merge(slots[:n])
		for i := range second[:n] {
			sum.add(&second[i])
		}
		return f.drain(ctx, n)
	})
	res.A, res.Counts = sum.matrix(f.alpha), f.state.mem
	return all.score(), err
}

// final scores the documents of a block and adds up their moments and, for reading words, how
// often words are in documents with each topic.
func (f *stripes) final(ctx context.Context, w *worker, slot int, sum *tally, m *moments) error {
	if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
		return err
	}
	var to *docstep.Sums
	if f.reads() {
		to = &docstep.Sums{Rows: f.parts[slot]}
	}
	some := f.state.some != nil
	if !some {
		w.theta = general(w.theta.Data, w.block.Docs(), f.k)
		clear(w.theta.Data)
	}
	for d := range w.block.Docs() {
		f.load(w, d, false)
		if len(w.Visible.Words) == 0 {
			continue
		}
		n, blocks := w.rows.doc(d)
		rule := w.Within(&f.rule, blocks)
		total := rule.Prior.Weigh(w.T, n)
		loglik, err := w.Finish(rule, to, total)
		if err != nil {
			return w.fail(d, err)
		}
		sum.loglik += loglik
		sum.tokens += float64(w.Visible.Sum) * w.Times
		if some {
			m.document(n, blocks, f.alpha, f.seen.share(w.block.First+d))
			continue
		}
		theta := linalg.Row(w.theta, d)
		for k, v := range n {
			theta[k] = (float64(v) + f.alpha) / math.Sqrt(total*(total+1))
		}
	}
	if some {
		return nil
	}
	return f.moments(ctx, w, m.square)
}

// moments are what the documents' E[θθᵀ] is made of, where documents have n tokens by topic: with a
// weight c of each, the sums of c·nnᵀ, c·n and c. Where documents have all topics, the first alone,
// with (n + α) for n and what is added on the diagonal.
type moments struct {
	square *mat.Dense // K×K
	linear []float64  // K
	all    float64
}

func newMoments(k int) moments {
	return moments{square: mat.NewDense(k, k, nil), linear: make([]float64, k)}
}

// add adds other moments and empties them.
func (m *moments) add(o *moments) {
	m.square.Add(m.square, o.square)
	floats.Add(m.linear, o.linear)
	m.all += o.all
	o.square.Zero()
	clear(o.linear)
	o.all = 0
}

// document adds a document with tokens by topic in some blocks of topics.
func (m *moments) document(n []float32, blocks []uint16, alpha, weight float64) {
	k := len(m.linear)
	total := alpha * float64(k)
	x := make([]float64, len(n))
	for i, v := range n {
		x[i] = float64(v)
		total += x[i]
	}
	c := weight / (total * (total + 1))
	m.all += c
	for i, v := range x {
		if v == 0 {
			continue
		}
		t := estep.Column(blocks, i)
		m.linear[t] += c * v
		row, first := m.square.RawRowView(t), i/estep.BlockSize
		for j, b := range blocks[first:] { // what is below the diagonal follows in the end
			lo := int(b) * estep.BlockSize
			to := row[lo:min(lo+estep.BlockSize, k)]
			floats.AddScaled(to, c*v, x[(first+j)*estep.BlockSize:][:len(to)])
		}
	}
}

// matrix returns the sum of c·((n + α)(n + α)ᵀ + diag(n + α)), symmetric to the bit, and changes m.
func (m *moments) matrix(alpha float64) *mat.Dense {
	if m.all == 0 {
		return m.square
	}
	for i, v := range m.linear {
		row := m.square.RawRowView(i)
		for j := range i {
			row[j] = m.square.At(j, i)
		}
		for j, u := range m.linear[i:] {
			row[i+j] += alpha * (v + u + alpha*m.all)
		}
		row[i] += v + alpha*m.all
	}
	return m.square
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
