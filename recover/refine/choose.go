package refine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// evidence returns ln p of the tokens of a topic, a number for each word, as drawn
// from a distribution that has itself been drawn from Dirichlet(β).
func (s *swapper) evidence(tokens func(word int) float64) float64 {
	sum, total, none := 0.0, 0.0, lgamma(s.Beta)
	for i := range s.n {
		v := tokens(i)
		sum += lgamma(v+s.Beta) - none
		total += v
	}
	all := s.Beta * float64(s.n)
	return sum + lgamma(all) - lgamma(all+total)
}

// merge is a pair of topics and by how much the evidence falls if they are one.
type merge struct {
	into, from int // into < from
	cost       float64
}

// weigh returns by how much the evidence of each topic grows if it is split (−∞
// if a part is too small) and what merging costs, cheapest first, for the 2K
// nearest pairs by Hellinger's distance h, weighed as h²·m_k·m_l/(m_k+m_l).
func (s *swapper) weigh(ctx context.Context) (gains []float64, merges []merge, err error) {
	k := s.k
	root, alike := linalg.NewGeneral(s.n, k), linalg.NewGeneral(k, k)
	all, first := make([]float64, k), make([]float64, k)
	for i := range s.n {
		floats.Add(all, linalg.Row(s.total, i))
		floats.Add(first, linalg.Row(s.sums, i))
		for t, v := range linalg.Row(s.b, i) {
			linalg.Row(root, i)[t] = math.Sqrt(v)
		}
	}
	if err := linalg.Gram(ctx, root, alike, s.workers); err != nil {
		return nil, nil, err
	}
	own := make([]float64, k)
	gains = make([]float64, k)
	err = run.Chunks(ctx, k, 1, s.workers, func(_, _, t, _ int) error {
		own[t] = s.evidence(func(i int) float64 { return linalg.Row(s.total, i)[t] })
		if least := cutLeast * all[t]; !(first[t] > least && all[t]-first[t] > least) {
			gains[t] = math.Inf(-1)
			return nil
		}
		gains[t] = s.evidence(func(i int) float64 { return linalg.Row(s.sums, i)[t] }) +
			s.evidence(func(i int) float64 { return max(linalg.Row(s.total, i)[t]-linalg.Row(s.sums, i)[t], 0) }) - own[t]
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			h2 := 1 - linalg.Row(alike, i)[j]
			merges = append(merges, merge{i, j, h2 * all[i] * all[j] / (all[i] + all[j] + s.Beta)})
		}
	}
	sortMerges(merges)
	merges = merges[:min(len(merges), 2*k)]
	err = run.Chunks(ctx, len(merges), 1, s.workers, func(_, _, i, _ int) error {
		m := &merges[i]
		m.cost = own[m.into] + own[m.from] - s.evidence(func(w int) float64 {
			row := linalg.Row(s.total, w)
			return row[m.into] + row[m.from]
		})
		return nil
	})
	sortMerges(merges)
	return gains, merges, err
}

func sortMerges(merges []merge) {
	slices.SortFunc(merges, func(p, q merge) int {
		return cmp.Or(cmp.Compare(p.cost, q.cost), cmp.Compare(p.into, q.into), cmp.Compare(p.from, q.from))
	})
}

// topicSwap merges topic from into another; one part of topic split takes its
// number.
type topicSwap struct{ into, from, split int }

// chooseSwaps returns at most the given number of swaps: the cheapest merges first,
// each with the topic that gains most by a split, as long as that is more than the
// merge costs. A topic is in one swap only. merges ascend by cost.
func chooseSwaps(merges []merge, gains []float64, most int) []topicSwap {
	order := make([]int, len(gains))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gains[b], gains[a]) })
	used := make([]bool, len(gains))
	var swaps []topicSwap
	for _, m := range merges {
		if len(swaps) == most {
			break
		}
		if used[m.into] || used[m.from] {
			continue
		}
		at := slices.IndexFunc(order, func(t int) bool { return !used[t] && t != m.into && t != m.from })
		if at < 0 || !(gains[order[at]] > m.cost) {
			break
		}
		swaps = append(swaps, topicSwap{m.into, m.from, order[at]})
		used[m.into], used[m.from], used[order[at]] = true, true, true
	}
	return swaps
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
