package refine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/linalg"
)

const (
	mergeFirst = 6      // passes before the first merge
	mergeEach  = 2      // passes between merges
	mergeLeast = 32     // of so many topics, one more is merged at a time at least
	mergeTried = 5      // pairs are tried for each merge
	mergePairs = 100000 // pairs of a document and a word that a sample has, about
	splitPairs = 2000   // and for each topic, once topics were split

)

// mergesAfter reports whether topics are merged after pass t of end, counted from 0.
func (s *topics) mergesAfter(t, end int) bool {
	if len(s.alive) == s.want {
		return false
	}
	done := t + 1
	return done >= mergeFirst && (done-mergeFirst)%mergeEach == 0 || done == end
}

// merged is a pair of columns whose topics may become one, and what that costs.
type merged struct {
	docstep.Pair
	cost float64
}

func byCost(a, b merged) int { return cmp.Compare(a.cost, b.cost) }

// merge merges half of the surplus topics, or all if it is the last time. A topic is merged
// once at a time.
func (s *topics) merge(ctx context.Context, docs documents, last bool) error {
	for {
		surplus := len(s.alive) - s.want
		pairs, err := docs.candidates(ctx, mergeTried*surplus)
		if err != nil {
			return fmt.Errorf("merging topics: %w", err)
		}
		chosen := cheapest(pairs, max((surplus+1)/2, min(surplus, s.want/mergeLeast)))
		if err := s.join(ctx, chosen); err != nil {
			return err
		}
		done := len(s.alive) == s.want
		if err := docs.joined(ctx, chosen, done); err != nil {
			return fmt.Errorf("merging topics: %w", err)
		}
		if err := s.learn(ctx); err != nil || done || !last {
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
// as in f.totals. Of topics that were split from few, those of one of them alone, unless fewer
// than these few are wanted.
func (x *topics) similar(ctx context.Context, n int) ([]merged, error) {
	families := [][]int{x.alive}
	if x.groups != nil {
		if f := x.families(); len(f) <= x.want {
			families = f
		}
	}
	var pairs []merged
	for _, columns := range families {
		k := len(columns)
		roots, gram, sum := linalg.NewGeneral(rowsAtOnce, k), linalg.NewGeneral(k, k), make([]float64, k*k)
		for lo := 0; lo < x.n; lo += rowsAtOnce {
			roots.Rows = min(rowsAtOnce, x.n-lo)
			for i := range roots.Rows {
				row, to := x.rows.Row(lo+i), linalg.Row(roots, i)
				for t, c := range columns {
					to[t] = math.Sqrt(float64(row[c]))
				}
			}
			if err := linalg.Gram(ctx, roots, gram, x.workers); err != nil {
				return nil, err
			}
			floats.Add(sum, gram.Data)
		}
		for j, b := range columns {
			for i, a := range columns[:j] {
				if b < x.seeded {
					continue
				}
				s, t := x.totals[a], x.totals[b]
				pairs = append(pairs, merged{docstep.Pair{Into: a, From: b}, (1 - sum[i*k+j]) * s * t / (s + t)})
			}
		}
	}
	slices.SortStableFunc(pairs, byCost)
	return pairs[:min(n, len(pairs))], nil
}

// bare returns the pairs without their costs.
func bare(pairs []merged) []docstep.Pair {
	out := make([]docstep.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = p.Pair
	}
	return out
}

// sample returns n if the sample that finds the costs of pairs has one document in n.
func (s *topics) sample() int64 {
	pairs := mergePairs
	if s.groups != nil { // a document has few topics, and few documents have one
		pairs = max(pairs, splitPairs*s.k)
	}
	return max(1, s.info.Nonzeros/int64(pairs))
}

// join adds up the tokens of each of the pairs.
func (s *topics) join(ctx context.Context, pairs []merged) error {
	for _, p := range pairs {
		i, j := slices.Index(s.alive, p.Into), slices.Index(s.alive, p.From)
		if p.Into >= s.seeded && s.totals[p.From] > s.totals[p.Into] {
			s.origin[i] = s.origin[j]
		}
		s.alive, s.origin = slices.Delete(s.alive, j, j+1), slices.Delete(s.origin, j, j+1)
	}
	return s.words(ctx, s.workers, func(i int) {
		row := s.sums.Row(i)
		for _, p := range pairs {
			row[p.Into] += row[p.From]
			row[p.From] = 0
		}
	})
}

// compact drops the columns of the topics that are gone. What is held by word keeps its memory;
// the rows are not valid until learn makes them.
func (s *topics) compact() {
	left := make([]int32, len(s.alive))
	for t, c := range s.alive {
		left[t] = int32(c)
	}
	s.k = len(left)
	s.sums.Narrow(left)
	for _, g := range s.groups {
		columns(g, g, s.alive)
	}
	s.totals = s.totals[:s.k]
	s.rows.Reset(s.k)
	for t := range s.alive {
		s.alive[t] = t
	}
}

// columns sets to to the numbers of from in those columns, which ascend. The two may begin at
// the same place.
func columns[T any](to, from []T, which []int) {
	for t, c := range which {
		to[t] = from[c]
	}
}
