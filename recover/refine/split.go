package refine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Many topics are found as a tree: each of few topics is divided (divide.go), in one level or two.
// The children of a topic are neighbouring columns, so that the topics of a document are in few blocks
// of columns. Passes then keep, of each document, the blocks that it has tokens of.
const (
	// splitPasses are made of the topics of a level before they are split.
	splitPasses = 10
	// Topics are split in two levels where more than widest are asked for, for each that there is.
	widest = 20
	// A topic gets topics in proportion to its tokens to the power of splitPower.
	splitPower = 0.8
	// What cannot be divided gives its topics to others, in splitRounds at most.
	splitRounds = 4
	// fromParent is the share of its parent in a topic at first.
	fromParent = 0.1
	// leastHeld tokens of a topic are the least with which a document gets its children.
	leastHeld = 0.3
	// splitFold steps of EM find the tokens of the children at first, after splitFirst of them in the
	// blocks with half of what a document keeps one for.
	splitFirst, splitFold = 2, 5
	// A document keeps a block of topics with a token for each blockTopics of all topics, at most
	// mostOfBlock.
	blockTopics, mostOfBlock = 100, 2
	// Documents of fewer than sparseWords distinct words on average keep all of up to denseTopics
	// topics: of so few tokens a block soon has none, and none comes back.
	sparseWords, denseTopics = 10, 300
)

// levels returns the numbers of topics that those of the start are split into, one after the other.
func (s *topics) levels(most int) []int {
	switch {
	case most <= s.k:
		return nil
	case most <= widest*s.k:
		return []int{most}
	}
	return []int{int(math.Round(math.Sqrt(float64(s.k) * float64(most)))), most}
}

// surplus returns how many topics there are before the first ones are merged.
func (s *topics) surplus() int {
	if s.want <= s.k {
		return s.k
	}
	return s.want + (s.want-s.seeded)/4
}

// split implements documents.
func (f *stripes) split(ctx context.Context, k int) error {
	pass := &sums.Pass{Task: sums.Compare, Topics: f.rows, Words: f.seen.allWords, Docs: int64(f.seen.all.Docs)}
	children, err := f.divided(ctx, k, pass, func(p *sums.Parts) ([]int64, error) { return f.sum(ctx, p) })
	if err != nil {
		return err
	}
	old := f.k
	by, err := f.grow(ctx, children)
	if err != nil {
		return err
	}
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	f.work = nil
	f.prepare(false)
	all, blocks, least := make([][2][]float32, maxSlots), float32(allTopics), float32(allTopics)
	if f.sparse() {
		blocks, least = 0, f.leastOfBlock()/2
	}
	return f.restate(ctx, f.k, blocks, func(w *worker, slot, d int) ([]float32, error) {
		if !f.has(w.block.Key(d)) {
			return nil, nil
		}
		from, to := w.rows.whole(d, &all[slot][0])[:old], &all[slot][1]
		*to = vec.Resize(*to, f.rows.Stride)
		f.load(w, d, f.holdsOut(w.block.Key(d)))
		return *to, w.descend(&f.rule, from, by, least, *to)
	})
}

// sum adds up the parts that topics have of the documents.
func (f *stripes) sum(ctx context.Context, p *sums.Parts) ([]int64, error) {
	sum, adders := make([]int64, p.Len()), make([]*sums.PartsAdder, f.slots)
	for i := range adders {
		adders[i] = p.PartsAdder()
	}
	f.prepare(false)
	err := f.visit(ctx, false, func(w *worker, slot, d int) error {
		key := w.block.Key(d)
		if f.load(w, d, f.holdsOut(key)); !f.has(key) || len(w.Visible.Words) == 0 {
			return nil
		}
		n, blocks := w.rows.doc(d)
		return adders[slot].Document(ctx, w.Document, w.Within(&f.rule, blocks), n, w.Times, sum)
	}, nil)
	for _, a := range adders {
		err = cmp.Or(err, a.Flush(ctx, sum))
	}
	return sum, err
}

// leastOfBlock returns the tokens with which a document keeps a block of topics.
func (s *topics) leastOfBlock() float32 { return min(float32(s.want)/blockTopics, mostOfBlock) }

// sparse reports whether documents keep some topics alone once topics were split.
func (s *topics) sparse() bool {
	return s.want > denseTopics || s.seen.nonzeros >= sparseWords*int64(s.seen.docs)
}

// leastTokens returns how many tokens of a topic a document has that is of its part.
func (s *topics) leastTokens() float64 {
	return min(dividedTokens, float64(s.seen.tokens)/float64(s.seen.docs)/4)
}

// SplitError says that topics cannot be split into as many as were asked for.
type SplitError struct{ Want, Start, Have int }

func (e *SplitError) Error() string {
	return fmt.Sprintf("%d topics cannot be made of the %d that there are, but %d: the documents do not tell more apart", e.Want, e.Start, e.Have)
}

// children divides topics, in proportion to weights, into k in all. divide finds the children of topic t,
// k at most.
func (s *topics) children(ctx context.Context, weights []float64, k int, divide func(t, k int) ([]child, error)) ([][]child, error) {
	out, asked := make([][]child, len(weights)), make([]int, len(weights))
	weights = slices.Clone(weights)
	for round := 1; ; round++ {
		share := apportion(k, weights)
		err := parallel.Chunks(ctx, len(share), 1, parallel.Workers(s.workers, min(len(share), maxSlots)), func(_, t, _, _ int) (err error) {
			if share[t] != asked[t] && share[t] > 1 {
				if out[t], err = divide(t, share[t]); err != nil {
					return fmt.Errorf("splitting topic %d: %w", t, err)
				}
			}
			if share[t] == 1 {
				out[t] = nil
			}
			asked[t] = share[t]
			return nil
		})
		if err != nil {
			return nil, err
		}
		have := 0
		for t, c := range out {
			n := max(1, len(c))
			have += n
			if n < asked[t] { // it gets no more
				weights[t] = -float64(n)
			}
		}
		if have == k || round == splitRounds {
			if k >= s.want && have < s.want {
				return nil, &SplitError{s.want, len(out), have}
			}
			return out, nil
		}
	}
}

// apportion shares out k by weights: at least one each, then by the largest remainders, the first of
// those alike. A weight below zero is minus the number that is given.
func apportion(k int, weights []float64) []int {
	out, sum, left := make([]int, len(weights)), 0.0, k
	for t, v := range weights {
		if v < 0 {
			out[t] = int(-v)
			left -= out[t]
		} else {
			sum += v
		}
	}
	type rest struct {
		t int
		v float64
	}
	var rests []rest
	free := left
	for t, v := range weights {
		if v >= 0 {
			q := float64(v / sum * float64(free))
			out[t] = max(1, int(q))
			left -= out[t]
			rests = append(rests, rest{t, q - float64(out[t])})
		}
	}
	if len(rests) == 0 {
		return out
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return cmp.Compare(b.v, a.v) })
	for i := 0; left > 0; i, left = (i+1)%len(rests), left-1 {
		out[rests[i].t]++
	}
	for ; left < 0; left++ { // those that got one for less than half of one
		most := rests[0].t
		for _, r := range rests {
			if n := out[r.t] - out[most]; n > 0 || n == 0 && weights[r.t] < weights[most] {
				most = r.t
			}
		}
		out[most]--
	}
	return out
}

// grow replaces the topics by their children.
func (s *topics) grow(ctx context.Context, children [][]child) (*descent, error) {
	by := &descent{below: make([][]int, s.k)}
	for t, c := range children {
		for range max(1, len(c)) {
			by.below[t] = append(by.below[t], len(by.shares)+len(by.below[t]))
		}
		if len(c) == 0 {
			by.shares = append(by.shares, 1)
		}
		sum := 0.0
		for _, c := range c {
			sum += c.share
		}
		for _, c := range c {
			by.shares = append(by.shares, c.share/sum)
		}
	}
	old := s.rows
	k := len(by.shares)
	s.rows, s.sums = estep.NewRows(s.n, k), estep.NewRows(s.n, k)
	// The parent's probability of the words of its children.
	mass := make([]float64, old.K)
	for t, c := range children {
		if len(c) > 0 {
			for _, w := range c[0].words {
				mass[t] += float64(old.Row(int(w))[t])
			}
		}
	}
	err := s.words(ctx, s.workers, func(i int) {
		from, to := old.Row(i), s.rows.Row(i)
		for t, v := range from {
			for _, c := range by.below[t] {
				to[c] = v
			}
			if len(children[t]) == 0 {
				continue
			}
			at, in := slices.BinarySearch(children[t][0].words, int32(i))
			if !in {
				continue
			}
			for j, c := range children[t] {
				to[by.below[t][j]] = float32(float64(fromParent*float64(v)) + float64((1-fromParent)*mass[t]*c.b[at]))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.groups = append(s.groups, make([]int, k))
	for l, g := range s.groups {
		of := make([]int, k)
		for t := range old.K {
			for _, c := range by.below[t] {
				if of[c] = t; l < len(s.groups)-1 {
					of[c] = g[t]
				}
			}
		}
		s.groups[l] = of
	}
	s.k, s.alpha = k, s.alphaOf(min(k, s.want))
	s.number()
	return by, nil
}

// roots returns how many families there are, or topics before they are split.
func (s *topics) roots() int {
	if s.groups == nil {
		return s.k
	}
	return slices.Max(s.groups[0]) + 1
}

// families returns the columns of each group of the coarsest level.
func (s *topics) families() (out [][]int) {
	at := map[int]int{}
	for _, c := range s.alive {
		g := s.groups[0][c]
		if _, seen := at[g]; !seen {
			at[g] = len(out)
			out = append(out, nil)
		}
		out[at[g]] = append(out[at[g]], c)
	}
	return out
}

// tree returns which topics were split from which; nil: none were.
func (s *topics) tree() *recovery.Tree {
	if s.groups == nil {
		return nil
	}
	out := &recovery.Tree{}
	for _, g := range s.groups {
		number, of := map[int]int{}, make([]int, len(s.alive))
		for i, c := range s.alive {
			n, seen := number[g[c]]
			if !seen {
				n = len(number)
				number[g[c]] = n
			}
			of[i] = n
		}
		out.Groups = append(out.Groups, of)
	}
	return out
}
