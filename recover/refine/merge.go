package refine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/sums"
)

const (
	mergeFirst = 6      // passes before the first merge
	mergeEach  = 2      // passes between merges
	mergeTried = 5      // pairs are tried for each merge
	mergePairs = 100000 // pairs of a document and a word that a sample has, about
)

// mergesAfter tells whether topics are merged after pass t of end, counted from 0.
func (s *topics) mergesAfter(t, end int) bool {
	if len(s.alive) == s.want {
		return false
	}
	done := t + 1
	return done >= mergeFirst && (done-mergeFirst)%mergeEach == 0 || done == end
}

// merged is a pair of columns whose topics may become one, and what that costs.
type merged struct {
	sums.Pair
	cost float64
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
		if len(chosen) < n && !used[p.Into] && !used[p.From] {
			chosen = append(chosen, p)
			used[p.Into], used[p.From] = true, true
		}
	}
	return chosen
}

// similar returns the n pairs of topics that seem the cheapest to merge: by
// (1 − Σ_w √(B_wi·B_wj))·T_i·T_j/(T_i + T_j), with T_i the tokens of topic i and its prior,
// as in f.totals.
func (x *topics) similar(ctx context.Context, n int) ([]merged, error) {
	k := len(x.alive)
	roots, gram, sum := linalg.NewGeneral(rowsAtOnce, k), linalg.NewGeneral(k, k), make([]float64, k*k)
	for lo := 0; lo < x.n; lo += rowsAtOnce {
		roots.Rows = min(rowsAtOnce, x.n-lo)
		for i := range roots.Rows {
			row, to := x.rows.Row(lo+i), linalg.Row(roots, i)
			for t, c := range x.alive {
				to[t] = math.Sqrt(float64(row[c]))
			}
		}
		if err := linalg.Gram(ctx, roots, gram, x.workers); err != nil {
			return nil, err
		}
		floats.Add(sum, gram.Data)
	}
	pairs := make([]merged, 0, k*(k-1)/2)
	for j, b := range x.alive {
		for i, a := range x.alive[:j] {
			s, t := x.totals[a], x.totals[b]
			pairs = append(pairs, merged{sums.Pair{Into: a, From: b}, (1 - sum[i*k+j]) * s * t / (s + t)})
		}
	}
	slices.SortStableFunc(pairs, byCost)
	return pairs[:min(n, len(pairs))], nil
}

// bare returns the pairs without their costs.
func bare(pairs []merged) []sums.Pair {
	out := make([]sums.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = p.Pair
	}
	return out
}

// sample returns of how many documents one is in the sample that finds the costs of pairs.
func sample(nonzeros int64) int64 { return max(1, nonzeros/mergePairs) }

// join adds up the tokens of each of the pairs.
func (s *topics) join(ctx context.Context, pairs []merged) error {
	for _, p := range pairs {
		i, j := slices.Index(s.alive, p.Into), slices.Index(s.alive, p.From)
		if s.totals[p.From] > s.totals[p.Into] {
			s.origin[i] = s.origin[j]
		}
		s.alive, s.origin = slices.Delete(s.alive, j, j+1), slices.Delete(s.origin, j, j+1)
	}
	return s.words(ctx, s.workers, func(i int) {
		row := linalg.Row(s.sums, i)
		for _, p := range pairs {
			row[p.Into] += row[p.From]
			row[p.From] = 0
		}
	})
}

// compact drops the columns of the topics that are gone. What is held by word keeps its memory;
// the rows are those of no topics until learn makes them.
func (s *topics) compact(ctx context.Context) error {
	sums := s.sums
	s.k = len(s.alive)
	s.sums = general(s.sums.Data, s.n, s.k)
	err := s.words(ctx, 1, func(i int) { // in order, so that no number is overwritten before it is read
		columns(linalg.Row(s.sums, i), linalg.Row(sums, i), s.alive)
	})
	if err != nil {
		return err
	}
	s.totals = s.totals[:s.k]
	s.rows.Reset(s.k)
	for t := range s.alive {
		s.alive[t] = t
	}
	return nil
}

// losses sets the costs of the pairs to the log-likelihood that a sample of the documents
// loses if the two topics become one (sums.Losses).
func (f *fitter) losses(ctx context.Context, pairs []merged) error {
	costs := make([][]float64, f.slots)
	for i := range costs {
		costs[i] = make([]float64, len(pairs))
	}
	for i := range pairs {
		pairs[i].cost = 0
	}
	every, both := sample(f.info.Nonzeros), bare(pairs)
	f.prepare()
	return f.sweep(ctx, func(w *worker, slot int) error {
		nd, err := f.state.get(&w.rows, w.block.First, w.block.Docs(), false)
		if err != nil {
			return err
		}
		for d := range w.block.Docs() {
			if key := f.keys[w.block.First+d]; holdout.Sampled(key, every) {
				f.load(w, d, f.watches(key))
				w.Weigh(f.state.row(nd, d), f.alphas)
				w.losses.Add(costs[slot], both, f.totals, w.T, f.rows, w.doc.Visible.Words, w.doc.Visible.Counts)
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

// join makes one topic of each of the pairs, here and in the documents.
func (f *fitter) join(ctx context.Context, pairs []merged) error {
	if err := f.topics.join(ctx, pairs); err != nil {
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
				n[p.Into] += n[p.From]
				n[p.From] = 0
			}
		}
		return f.state.put(&w.rows, w.block.First, nd)
	}, nil)
}

// compact drops the columns of the topics that are gone, here and of the documents, and makes
// the topics from the sums.
func (f *fitter) compact(ctx context.Context) error {
	if err := f.compactState(ctx); err != nil {
		return err
	}
	if err := f.topics.compact(ctx); err != nil {
		return err
	}
	for _, p := range f.parts {
		p.Reset(f.k)
	}
	padded := estep.Padded(f.k)
	f.alphas, f.step.Floor, f.step.Totals = f.alphas[:padded], f.step.Floor[:padded], f.step.Totals[:padded]
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
