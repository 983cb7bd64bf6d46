package refine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	mergeFirst = 6      // passes before the first merge
	mergeEach  = 2      // passes between merges
	mergeTried = 5      // pairs are tried for each merge
	mergePairs = 100000 // pairs of a document and a word that a sample has, about
)

// mergesAfter tells whether topics are merged after pass t of end, counted from 0.
func (f *fitter) mergesAfter(t, end int) bool {
	if len(f.alive) == f.want {
		return false
	}
	done := t + 1
	return done >= mergeFirst && (done-mergeFirst)%mergeEach == 0 || done == end
}

// merged is a pair of columns whose topics may become one, and what that costs.
type merged struct {
	into, from int // into < from
	cost       float64
}

func byCost(a, b merged) int { return cmp.Compare(a.cost, b.cost) }

// merge merges half of the topics that are too many, or all if it is the last time.
// A topic is merged once at a time.
func (f *fitter) merge(ctx context.Context, last bool) error {
	for {
		left := len(f.alive) - f.want
		pairs, err := f.similar(ctx, mergeTried*left)
		if err != nil {
			return err
		}
		if err := f.losses(ctx, pairs); err != nil {
			return err
		}
		chosen := cheapest(pairs, (left+1)/2)
		if err := f.join(ctx, chosen); err != nil {
			return err
		}
		if len(f.alive) == f.want {
			return f.compact(ctx)
		}
		if err := f.learn(ctx); err != nil || !last {
			return err
		}
	}
}

// cheapest returns the n cheapest pairs that have no topic in common.
func cheapest(pairs []merged, n int) (chosen []merged) {
	slices.SortStableFunc(pairs, byCost)
	used := map[int]bool{}
	for _, p := range pairs {
		if len(chosen) < n && !used[p.into] && !used[p.from] {
			chosen = append(chosen, p)
			used[p.into], used[p.from] = true, true
		}
	}
	return chosen
}

// similar returns the n pairs of topics that seem the cheapest to merge: by
// (1 − Σ_w √(B_wi·B_wj))·T_i·T_j/(T_i + T_j), with T_i the tokens of topic i and its prior,
// as in f.totals.
func (f *fitter) similar(ctx context.Context, n int) ([]merged, error) {
	k := len(f.alive)
	roots, gram, sum := linalg.NewGeneral(rowsAtOnce, k), linalg.NewGeneral(k, k), make([]float64, k*k)
	for lo := 0; lo < f.n; lo += rowsAtOnce {
		roots.Rows = min(rowsAtOnce, f.n-lo)
		for i := range roots.Rows {
			row, to := f.rows.Row(lo+i), linalg.Row(roots, i)
			for t, c := range f.alive {
				to[t] = math.Sqrt(float64(row[c]))
			}
		}
		if err := linalg.Gram(ctx, roots, gram, f.workers); err != nil {
			return nil, err
		}
		floats.Add(sum, gram.Data)
	}
	pairs := make([]merged, 0, k*(k-1)/2)
	for j, b := range f.alive {
		for i, a := range f.alive[:j] {
			s, t := f.totals[a], f.totals[b]
			pairs = append(pairs, merged{a, b, (1 - sum[i*k+j]) * s * t / (s + t)})
		}
	}
	slices.SortStableFunc(pairs, byCost)
	return pairs[:min(n, len(pairs))], nil
}

// losses sets the costs of the pairs to the log-likelihood that a sample of the documents
// loses if the two topics become one, their weights in documents added up. With
// B = (T_i·B_i + T_j·B_j)/(T_i + T_j) the probability p of a token changes by
//
//	(t_i + t_j)·B − t_i·B_i − t_j·B_j = (t_j·T_i − t_i·T_j)/(T_i + T_j) · (B_i − B_j).
func (f *fitter) losses(ctx context.Context, pairs []merged) error {
	costs := make([][]float64, f.slots)
	for i := range costs {
		costs[i] = make([]float64, len(pairs))
	}
	for i := range pairs {
		pairs[i].cost = 0
	}
	every := max(1, f.info.Nonzeros/mergePairs)
	f.prepare()
	return f.sweep(ctx, func(w *worker, slot int) error {
		nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
		if err != nil {
			return err
		}
		for d := range w.block.Docs() {
			if key := f.keys[w.block.First+d]; sampled(key, every) {
				w.load(d, f.watches(key))
				f.weights(w.T, f.state.row(nd, d))
				f.loss(w, pairs, costs[slot])
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

// loss adds what the document in w.doc loses to the costs of the pairs.
func (f *fitter) loss(w *worker, pairs []merged, costs []float64) {
	w.moved = vec.Resize(w.moved, len(pairs))
	for i, p := range pairs {
		a, b := f.totals[p.into], f.totals[p.from]
		w.moved[i] = float32((float64(w.T[p.from])*a - float64(w.T[p.into])*b) / (a + b))
	}
	for i, word := range w.doc.words {
		row := f.rows.Row(int(word))
		x, scale := w.doc.counts[i], 1/dot(w.T, row)
		for j, p := range pairs {
			y := w.moved[j] * (row[p.into] - row[p.from]) * scale
			if y < -0.06 || y > 0.06 { // below −1 by rounding alone
				costs[j] -= float64(x) * math.Log1p(max(float64(y), -1))
			} else { // to 1e-6 of y, which is small for nearly all pairs
				costs[j] -= float64(x * y * (1 - y*(1.0/2-y*(1.0/3-y*(1.0/4)))))
			}
		}
	}
}

// dot returns tᵀb; t may be longer.
func dot(t, b []float32) float32 {
	t = t[:len(b)]
	var sum [4]float32 // which do not wait for each other
	k := 0
	for ; k+4 <= len(b); k += 4 {
		t, b := t[k:k+4:k+4], b[k:k+4:k+4]
		sum[0] += t[0] * b[0]
		sum[1] += t[1] * b[1]
		sum[2] += t[2] * b[2]
		sum[3] += t[3] * b[3]
	}
	for ; k < len(b); k++ {
		sum[0] += t[k] * b[k]
	}
	return sum[0] + sum[1] + sum[2] + sum[3]
}

// join adds up the tokens of each of the pairs.
func (f *fitter) join(ctx context.Context, pairs []merged) error {
	for _, p := range pairs {
		i, j := slices.Index(f.alive, p.into), slices.Index(f.alive, p.from)
		if f.totals[p.from] > f.totals[p.into] {
			f.origin[i] = f.origin[j]
		}
		f.alive, f.origin = slices.Delete(f.alive, j, j+1), slices.Delete(f.origin, j, j+1)
	}
	err := f.words(ctx, f.workers, func(i int) {
		row := linalg.Row(f.sums, i)
		for _, p := range pairs {
			row[p.into] += row[p.from]
			row[p.from] = 0
		}
	})
	if err != nil {
		return err
	}
	return f.sweep(ctx, func(w *worker, _ int) error {
		nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
		if err != nil {
			return err
		}
		for d := range w.block.Docs() {
			n := f.state.row(nd, d)
			for _, p := range pairs {
				n[p.into] += n[p.from]
				n[p.from] = 0
			}
		}
		return f.state.put(&w.rows, w.block.First, nd)
	}, nil)
}

// compact drops the columns of the topics that are gone, and makes the topics from the
// sums. What is held by word keeps its memory.
func (f *fitter) compact(ctx context.Context) error {
	if err := f.compactState(ctx); err != nil {
		return err
	}
	sums := f.sums
	f.k = len(f.alive)
	f.sums = general(f.sums.Data, f.n, f.k)
	err := f.words(ctx, 1, func(i int) { // in order, so that no number is overwritten before it is read
		columns(linalg.Row(f.sums, i), linalg.Row(sums, i), f.alive)
	})
	if err != nil {
		return err
	}
	f.totals = f.totals[:f.k]
	f.rows.Reset(f.k)
	for _, p := range f.parts {
		p.Reset(f.k)
	}
	padded := estep.Padded(f.k)
	f.prior, f.step.Floor, f.step.Totals = f.prior[:padded], f.step.Floor[:padded], f.step.Totals[:padded]
	for t := range f.alive {
		f.alive[t] = t
	}
	f.work = nil
	return f.learn(ctx)
}

// columns sets to to the numbers of from in those columns, which ascend. The two may begin at
// the same place.
func columns[T any](to, from []T, which []int) {
	for t, c := range which {
		to[t] = from[c]
	}
}

// compactState drops the columns of the topics that are gone from the documents' counts.
func (f *fitter) compactState(ctx context.Context) error {
	var state docState
	if err := state.open(f.info.Documents, len(f.alive), f.Scratch); err != nil {
		return err
	}
	old := f.state
	f.state = state // which is closed whatever happens
	err := f.sweep(ctx, func(w *worker, _ int) error {
		var to rowBuffer
		first, docs := w.block.First, w.block.Docs()
		nd, err := old.get(&w.rows, first, docs, false)
		if err != nil {
			return err
		}
		out, err := f.state.get(&to, first, docs, true)
		if err != nil {
			return err
		}
		for d := range docs {
			columns(f.state.row(out, d), old.row(nd, d), f.alive)
		}
		return f.state.put(&to, first, out)
	}, nil)
	return errors.Join(err, old.close())
}
