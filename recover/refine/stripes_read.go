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
	sum, second := f.newMoments(), make([]moments, f.slots)
	for i := range second {
		second[i] = f.newMoments()
	}
	err := f.sweep(ctx, func(w *worker, slot int) error {
		if f.normal != nil {
			return f.correlatedFinal(ctx, w, slot, &slots[slot], &second[slot])
		}
		return f.final(ctx, w, slot, &slots[slot], &second[slot])
	}, func(n int) error {
		all.merge(slots[:n])
		for i := range second[:n] {
			sum.add(&second[i])
		}
		return f.drain(ctx, n)
	})
	res.A, res.Alone, res.Counts = sum.matrix(), sum.alone, f.state.mem
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
		m.leading(n, blocks, w.Times)
		if some {
			m.document(n, blocks, [2][]float64{{1}, {0}}, f.seen.share(w.block.First+d))
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

// moments are what the documents' E[θθᵀ] is made of, where documents have n tokens by topic and
// topics are in families: one under a Dirichlet prior. With s_f the tokens of family f and Σα of it,
// θ_k is φ_f·(n_k + α)/s_f in the mean, so that with c_fg = E[φ_f·φ_g]/(s_f·s_g), where
// E[φ_f²]/(s_f·(s_f+1)) is in place of c_ff, E[θθᵀ] is
//
//	c_fg·(n_k + α)(n_l + α), and c_ff·(n_k + α) more on the diagonal.
//
// Where documents have all topics and there are no families, E[θθᵀ] itself is in square.
type moments struct {
	alpha  float64
	of     []int      // the family of each topic
	prior  []float64  // of each family: Σα
	alone  []float64  // K: see Result.Alone, before it is divided
	square *mat.Dense // K×K, from the diagonal block on: of c_fg·n_k·n_l
	linear *mat.Dense // K×F: of c_fg·n_k, f being the family of k
	all    *mat.Dense // F×F: of c_fg

	// Of a document: its tokens by topic, s, by what c_ff is less than a sum of squares, and these
	// tokens times the roots of c.
	x, s, within []float64
	scaled       [2][]float64
	allBlocks    []uint16
}

func (s *topics) newMoments() moments {
	m := moments{alpha: s.alpha, of: s.family, prior: make([]float64, 1), alone: make([]float64, s.k), square: mat.NewDense(s.k, s.k, nil)}
	if m.of == nil {
		m.of = make([]int, s.k)
	} else {
		m.prior = make([]float64, s.normal.K())
	}
	for _, g := range m.of {
		m.prior[g] += s.alpha
	}
	m.linear, m.all = mat.NewDense(s.k, len(m.prior), nil), mat.NewDense(len(m.prior), len(m.prior), nil)
	m.s, m.within = make([]float64, len(m.prior)), make([]float64, len(m.prior))
	for i := range estep.Padded(s.k) / estep.BlockSize {
		m.allBlocks = append(m.allBlocks, uint16(i))
	}
	return m
}

// add adds other moments and empties them.
func (m *moments) add(o *moments) {
	for _, x := range [][2]*mat.Dense{{m.square, o.square}, {m.linear, o.linear}, {m.all, o.all}} {
		x[0].Add(x[0], x[1])
		x[1].Zero()
	}
	floats.Add(m.alone, o.alone)
	clear(o.alone)
}

// leading adds the share of the topic that has more than half of a document's tokens.
func (m *moments) leading(n []float32, blocks []uint16, weight float64) {
	if i, share := docstep.Leading(n); share > 0 {
		m.alone[estep.Column(blocks, i)] += weight * share
	}
}

// document adds a document with tokens by topic in some blocks of topics, nil for all. The sum of
// the squares of the rows of shares is E[φφᵀ].
func (m *moments) document(n []float32, blocks []uint16, shares [2][]float64, weight float64) {
	if blocks == nil {
		blocks = m.allBlocks
	}
	k := len(m.of)
	columns := estep.BlockSize * len(blocks)
	m.x = vec.Resize(m.x, columns)
	clear(m.x)
	copy(m.s, m.prior)
	for i, v := range n {
		if v > 0 {
			m.x[i] = float64(v)
			m.s[m.of[estep.Column(blocks, i)]] += m.x[i]
		}
	}
	// c as a sum of squares, less what is too much within a family.
	root, one := math.Sqrt(weight), len(m.s) == 1
	if one {
		root *= math.Sqrt(m.s[0] / (m.s[0] + 1))
	}
	for i, share := range shares {
		for g, v := range share {
			share[g] = v * root / m.s[g]
		}
		m.scaled[i] = vec.Resize(m.scaled[i], columns)
	}
	for f, s := range m.s {
		row := m.all.RawRowView(f)
		for g := range row {
			row[g] += shares[0][f]*shares[0][g] + shares[1][f]*shares[1][g]
		}
		m.within[f] = 0
		if !one {
			m.within[f] = (shares[0][f]*shares[0][f] + shares[1][f]*shares[1][f]) / (s + 1)
		}
		row[f] -= m.within[f]
	}
	for i, v := range m.x {
		for j, share := range shares {
			m.scaled[j][i] = 0
			if v > 0 {
				m.scaled[j][i] = v * share[m.of[estep.Column(blocks, i)]]
			}
		}
	}
	for i, v := range m.x {
		if v == 0 {
			continue
		}
		t := estep.Column(blocks, i)
		f := m.of[t]
		x, y := m.scaled[0][i], m.scaled[1][i]
		within := m.within[f]
		linear := m.linear.RawRowView(t)
		for g := range linear {
			linear[g] += x*shares[0][g] + y*shares[1][g]
		}
		linear[f] -= within * v
		row := m.square.RawRowView(t)
		for j := i / estep.BlockSize; j < len(blocks); j++ {
			lo := int(blocks[j]) * estep.BlockSize
			to := row[lo:min(lo+estep.BlockSize, k)]
			at := j * estep.BlockSize
			floats.AddScaled(to, x, m.scaled[0][at:][:len(to)])
			if y != 0 {
				floats.AddScaled(to, y, m.scaled[1][at:][:len(to)])
			}
			if within == 0 {
				continue
			}
			for l, g := range m.of[lo:][:len(to)] {
				if g == f {
					to[l] -= within * v * m.x[at+l]
				}
			}
		}
	}
}

// matrix returns the sum of E[θθᵀ], symmetric to the bit, and changes m.
func (m *moments) matrix() *mat.Dense {
	if mat.Sum(m.all) == 0 {
		return m.square
	}
	for i, f := range m.of {
		row := m.square.RawRowView(i)
		for j := range i {
			row[j] = m.square.At(j, i)
		}
		for j := i; j < len(row); j++ {
			g := m.of[j]
			row[j] += m.alpha * (m.linear.At(i, g) + m.linear.At(j, f) + m.alpha*m.all.At(f, g))
		}
		row[i] += m.linear.At(i, f) + m.alpha*m.all.At(f, f)
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
