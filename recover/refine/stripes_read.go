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
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
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
	if err := f.enter(ctx); err != nil {
		return Score{}, err
	}
	if f.state.some != nil {
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
		in := func(key uint64) bool { return holdout.Quarter(key)%parts == part && holdout.Thinned(key, f.thin) }
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
	f.have = f.thin
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
		if fresh := f.state.some == nil && !f.has(key); fresh && f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:])
		} else if fresh {
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
	return f.state.put(&w.rows, w.number, &w.block, false)
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
		sum.tokens += float64(float64(w.Visible.Sum) * w.Times)
	}
	sum.hidden += hidden
	sum.hiddenTokens += float64(float64(w.Hidden.Sum) * w.Times)
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
	return f.visit(ctx, false, func(w *worker, slot, d int) error {
		key := w.block.Key(d)
		if !holdout.Sampled(key, every) {
			return nil
		}
		f.load(w, d, f.holdsOut(key))
		n, blocks := w.rows.doc(d)
		rule := w.Within(&f.rule, blocks)
		rule.Prior.Weigh(w.T, n)
		return w.Compare(costs[slot], rule, both, f.totals)
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
		return f.visit(ctx, true, func(w *worker, _, d int) error {
			n, _ := w.rows.doc(d)
			join(n, pairs)
			return nil
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
			have += float64(share * float64(n))
			all += float64(share * float64(estep.Padded(f.k)/estep.BlockSize))
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
// of returns all numbers of document d of w.block, whose old ones are in w.rows; it may be longer. nil:
// the document has none yet.
func (f *stripes) restate(ctx context.Context, k int, least float32, of func(w *worker, slot, d int) ([]float32, error)) error {
	old, blocks := f.state, 0
	if least >= 0 {
		blocks = f.docs.Blocks()
	}
	inPlace := blocks > 0 && old.some != nil // block by block, without a second state
	if !inPlace {
		var err error
		if f.state, err = openState(f.info.Documents, k, blocks, f.scratch); err != nil {
			return errors.Join(err, old.close())
		}
	}
	f.state.k = k
	state := &f.state
	err := f.sweep(ctx, func(w *worker, slot int) error {
		to := &w.next
		if err := errors.Join(old.get(&w.rows, w.number, &w.block, false), state.get(to, w.number, &w.block, true)); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			n, err := of(w, slot, d)
			if err != nil {
				return w.fail(d, err)
			}
			if least >= 0 {
				to.add(n[:min(cap(n), estep.Padded(k))], least)
			} else {
				copy(to.vals[d*k:][:k], n)
			}
		}
		return state.put(to, w.number, &w.block, true)
	}, nil)
	if !inPlace {
		err = errors.Join(err, old.close())
	}
	return err
}

// last implements documents.
func (f *stripes) last(ctx context.Context, res *Result) (Score, error) {
	f.prepare(f.normal != nil)
	f.keep, f.scale = f.blend(0, 1)
	var all tally
	slots := make([]tally, f.slots)
	sum, second := f.newMoments(), make([]moments, f.slots)
	for i := range second {
		second[i] = f.newMoments()
	}
	err := f.sweep(ctx, func(w *worker, slot int) error {
		return f.final(ctx, w, slot, &slots[slot], &second[slot])
	}, func(n int) error {
		all.merge(slots[:n])
		for i := range second[:n] {
			sum.add(&second[i])
		}
		return f.drain(ctx, n)
	})
	f.parts, f.work = nil, nil // room for what follows
	if res.A = sum.square; sum.some != nil {
		res.A = sum.some.Read(sum.sum)
	}
	res.Alone, res.Counts = sum.alone, f.state.mem
	return all.score(), err
}

// moments are sums of the documents' E[θθᵀ]: in sum where documents have some topics or topics are in
// families, and otherwise in square. alone has those of which a topic has more than half (Result.Alone,
// before it is divided).
type moments struct {
	alone  []float64
	square *mat.Dense
	some   *sums.ThetaAdder
	sum    []int64
}

func (f *stripes) newMoments() moments {
	if f.family == nil && f.state.some == nil {
		return moments{alone: make([]float64, f.k), square: mat.NewDense(f.k, f.k, nil)}
	}
	families := 1
	if f.family != nil {
		families = f.normal.K()
	}
	x := sums.NewThetas(f.k, f.family, families, f.alpha, int64(f.seen.all.Docs))
	return moments{alone: make([]float64, f.k), some: x.Adder(), sum: make([]int64, x.Len())}
}

// add adds other moments and empties them.
func (m *moments) add(o *moments) {
	floats.Add(m.alone, o.alone)
	clear(o.alone)
	if m.some == nil {
		m.square.Add(m.square, o.square)
		o.square.Zero()
		return
	}
	for i, v := range o.sum {
		m.sum[i] += v
	}
	clear(o.sum)
}

// final scores the documents of a block and adds up their moments and, for reading words, how
// often words are in documents with each topic. It leaves the documents' tokens by topic as their state.
func (f *stripes) final(ctx context.Context, w *worker, slot int, sum *tally, m *moments) error {
	if err := f.getLogits(w, false, false); err != nil {
		return err
	}
	var to *docstep.Sums
	if f.reads() {
		to = &docstep.Sums{Rows: f.parts[slot]}
	}
	share := [2][]float64{{1}, {0}} // of the families, where there is one
	var eta []float32
	switch {
	case f.normal != nil:
		eta = make([]float32, f.normal.K())
		w.theta = general(w.theta.Data, 2*w.block.Docs(), len(eta))
	case m.some == nil:
		w.theta = general(w.theta.Data, w.block.Docs(), f.k)
	}
	clear(w.theta.Data)
	for d := range w.block.Docs() {
		f.load(w, d, false)
		n, blocks := w.rows.doc(d)
		if len(w.Visible.Words) == 0 {
			clear(n)
			continue
		}
		rule := w.Within(&f.rule, blocks)
		var loglik float64
		var err error
		if f.normal == nil {
			total := rule.Prior.Weigh(w.T, n)
			loglik, err = w.Finish(rule, to, total)
			if m.some == nil {
				theta := linalg.Row(w.theta, d)
				for k, v := range n {
					theta[k] = (float64(v) + f.alpha) / math.Sqrt(total*(total+1))
				}
			}
		} else {
			if f.family == nil {
				copy(eta, n)
			} else {
				eta, _ = w.logits.doc(d)
			}
			share = [2][]float64{linalg.Row(w.theta, 2*d), linalg.Row(w.theta, 2*d+1)}
			loglik, err = w.FinishCorrelated(rule, f.ofPrior(w), eta, n, 1, logisticnormal.Key(w.block.Key(d), -1), to, share)
			if m.some == nil && w.Times != 1 {
				floats.Scale(math.Sqrt(w.Times), share[0])
				floats.Scale(math.Sqrt(w.Times), share[1])
			}
		}
		if err != nil {
			return w.fail(d, err)
		}
		sum.loglik += loglik
		sum.tokens += float64(float64(w.Visible.Sum) * w.Times)
		if i, part := docstep.Leading(n); part > 0 {
			m.alone[estep.Column(blocks, i)] += float64(w.Times * part)
		}
		if m.some != nil {
			m.some.Document(n, blocks, share, f.seen.share(w.block.First+d), m.sum)
		}
	}
	var err error
	switch {
	case m.some != nil:
	case f.normal != nil:
		err = w.addSquares(ctx, w.theta, m.square.RawMatrix().Data)
	default:
		err = f.moments(ctx, w, m.square)
	}
	return errors.Join(err, f.putLogits(w))
}

// moments adds E[θθᵀ] = (s·θθᵀ + diag θ)/(s+1) of the documents of a block, times their
// weights, to a, with s the document's tokens and Σα, and θ·√(s/(s+1)) in w.theta, zero where
// there are no tokens.
func (f *stripes) moments(ctx context.Context, w *worker, a *mat.Dense) error {
	for d := range w.theta.Rows {
		theta := linalg.Row(w.theta, d)
		// Σθ = √(s/(s+1)), so that θ/(s+1) is a fraction of it.
		sum := vec.Sum(theta)
		if sum == 0 {
			continue
		}
		rest := max(1-float64(sum*sum), 0) // 1/(s+1); s is a sum in float32, and may be too small
		weight := f.seen.share(w.block.First + d)
		for k, v := range theta {
			a.Set(k, k, a.At(k, k)+float64(v/sum*rest*weight))
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
