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
	// foldAll steps of EM find of which topics a document has tokens at all.
	foldAll = 3
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
	return s.want + s.want/4
}

// split implements documents.
func (f *stripes) split(ctx context.Context, k int) error {
	pass := &sums.Pass{Task: sums.Compare, Topics: f.rows, Words: f.seen.allWords, Docs: int64(f.seen.all.Docs)}
	children, err := f.divided(ctx, k, pass, func(p *sums.Parts) ([]int64, error) { return f.sum(ctx, p) })
	if err != nil {
		return err
	}
	old := f.k
	first, shares, err := f.grow(ctx, children)
	if err != nil {
		return err
	}
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	f.work = nil
	f.prepare(false)
	all, some, least := make([][2][]float32, maxSlots), f.sparse(), float32(allTopics)
	if some {
		least = 0
	}
	return f.restate(ctx, f.k, least, func(w *worker, slot, d int) ([]float32, error) {
		from, to := w.rows.whole(d, &all[slot][0])[:old], &all[slot][1]
		*to = vec.Resize(*to, f.rows.Stride)
		clear(*to)
		var blocks []uint16
		held := min(leastHeld, slices.Max(from)) // by one topic in any case
		for t, v := range from {
			if some && v < held || v == 0 {
				continue
			}
			for c := first[t]; c < first[t+1]; c++ {
				(*to)[c] = v * float32(shares[c])
				if b := uint16(c / estep.BlockSize); len(blocks) == 0 || blocks[len(blocks)-1] != b {
					blocks = append(blocks, b)
				}
			}
		}
		f.load(w, d, f.holdsOut(w.block.Key(d)))
		if len(blocks) == 0 || len(w.Visible.Words) == 0 {
			return *to, nil
		}
		if !some {
			w.Use(nil)
			return *to, w.FoldFrom(&f.rule, (*to)[:f.k], splitFold)
		}
		n := estep.Pick(nil, *to, blocks)
		if err := w.FoldFrom(w.Within(&f.rule, blocks), n, splitFirst); err != nil {
			return nil, err
		}
		clear(*to)
		n, blocks = enough(n, blocks, f.leastOfBlock()/2)
		if err := w.FoldFrom(w.Within(&f.rule, blocks), n, splitFold-splitFirst); err != nil {
			return nil, err
		}
		estep.Spread(*to, n, blocks)
		return *to, nil
	})
}

// foldSome finds the tokens by topic of documents that keep some topics alone: by steps of EM with
// all topics, and then with the blocks that got tokens.
func (f *stripes) foldSome(ctx context.Context) error {
	f.prepare(false)
	all := make([][]float32, maxSlots)
	err := f.restate(ctx, f.k, f.leastOfBlock(), func(w *worker, slot, d int) ([]float32, error) {
		n := vec.Resize(all[slot], f.rows.Stride)
		all[slot] = n
		clear(n)
		f.load(w, d, f.holdsOut(w.block.Key(d)))
		if f.first != nil {
			copy(n, f.first[(w.block.First+d)*f.k:][:f.k])
		} else if err := w.Fold(&f.rule, n[:f.k], foldAll); err != nil {
			return nil, err
		}
		return n, nil
	})
	if err != nil || f.first != nil {
		return err
	}
	return f.sweep(ctx, func(w *worker, _ int) error {
		if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			n, blocks := w.rows.doc(d)
			f.load(w, d, f.holdsOut(w.block.Key(d)))
			if err := w.FoldFrom(w.Within(&f.rule, blocks), n, foldIn-foldAll); err != nil {
				return w.fail(d, err)
			}
		}
		return f.state.put(&w.rows, &w.block, false)
	}, nil)
}

// sum adds up the parts that topics have of the documents.
func (f *stripes) sum(ctx context.Context, p *sums.Parts) ([]int64, error) {
	sum, adders := make([]int64, p.Len()), make([]*sums.PartsAdder, f.slots)
	for i := range adders {
		adders[i] = p.PartsAdder()
	}
	f.prepare(false)
	err := f.sweep(ctx, func(w *worker, slot int) error {
		if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			f.load(w, d, f.holdsOut(w.block.Key(d)))
			if len(w.Visible.Words) == 0 {
				continue
			}
			n, blocks := w.rows.doc(d)
			if err := adders[slot].Document(ctx, w.Document, w.Within(&f.rule, blocks), n, w.Times, sum); err != nil {
				return w.fail(d, err)
			}
		}
		return nil
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
				return nil, fmt.Errorf("%d topics cannot be made of the %d that there are, but %d: the documents do not tell more apart", s.want, len(out), have)
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
			q := v / sum * float64(free)
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

// grow replaces the topics by their children. It returns the first child of each, and of each child its
// share of the parent.
func (s *topics) grow(ctx context.Context, children [][]child) (first []int, shares []float64, err error) {
	first = make([]int, s.k+1)
	for t, c := range children {
		first[t+1] = first[t] + max(1, len(c))
		if len(c) == 0 {
			shares = append(shares, 1)
		}
		sum := 0.0
		for _, c := range c {
			sum += c.share
		}
		for _, c := range c {
			shares = append(shares, c.share/sum)
		}
	}
	old := s.rows
	k := first[s.k]
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
	err = s.words(ctx, s.workers, func(i int) {
		from, to := old.Row(i), s.rows.Row(i)
		for t, v := range from {
			for c := first[t]; c < first[t+1]; c++ {
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
				to[first[t]+j] = float32(fromParent*float64(v) + (1-fromParent)*mass[t]*c.b[at])
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	s.groups = append(s.groups, make([]int, k))
	for l, g := range s.groups {
		of := make([]int, k)
		for t := range old.K {
			for c := first[t]; c < first[t+1]; c++ {
				if of[c] = t; l < len(s.groups)-1 {
					of[c] = g[t]
				}
			}
		}
		s.groups[l] = of
	}
	s.k, s.alpha = k, s.alphaOf(min(k, s.want))
	s.number()
	return first, shares, nil
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
