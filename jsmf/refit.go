package jsmf

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
)

// From makes Fit a refit, which keeps the numbers of the topics of prev, a model of nearly the same
// documents. nil, the default, fits without a previous model.
//
// Finders that take preferences ([anchor.QR], SPA and Projected) keep an anchor of prev unless
// another word is farther by more than a tenth. If ΣA is then off by more than a tenth, the anchors
// found without prev are used if they fit better.
//
// Topics are matched with those of prev by Align and numbered accordingly. A name that the user gave
// a topic ([Additions].Names) stays, unless the topic is in Stats.Refit.New. Words are matched by
// name, or by number if neither model has a vocabulary; if only one has, or the numbers of words
// differ, Fit returns an error. Stats.Refit has the drift of each topic and the words that came and
// went. The model is not bit for bit that of a fit without prev.
//
// What a person has decided stays without being asked for again: names; the seeds of prev, unless Seeds has
// others; and words that were hidden, stopped or kept out of a topic (Edits), if the documents have them. Where prev
// has names or seeds, or topics that were merged, split or dropped or that words are kept out of, passes (Refine)
// begin with its topics, none of which is merged with another. K is then the number of topics of prev, or what it
// was before they were edited, which is the same here; or more. Less is an error. Seeds that prev does not have add
// topics.
func (p Pipeline) From(prev *Model) Pipeline { p.from = prev; return p }

// anchorHysteresis is by how much farther a word must be to replace an anchor of the previous
// model.
const anchorHysteresis = 0.1

// maxMisfit is the misfit of A above which anchors that were kept are compared with those found
// without the previous model.
const maxMisfit = 0.1

// noFit is the misfit of A above which a model does not fit: a factor of 2.
const noFit = math.Ln2

// misfit returns |ln ΣA|.
func misfit(sum float64) float64 {
	if sum > 0 {
		return math.Abs(arith.Log(sum))
	}
	return math.Inf(1)
}

// before returns the word of the previous model for each word of the problem, −1 for none; nil if
// there is no previous model. If a word is repeated, its first row is matched with the first row
// there, and so on, so that equal vocabularies match row by row.
func (p Pipeline) before(pr *problem) ([]int, error) {
	prev := p.from
	if prev == nil {
		return nil, nil
	}
	rows := make([]int, pr.n)
	for i := range rows {
		rows[i] = i
	}
	names := pr.info.Vocabulary
	switch {
	case names == nil && prev.vocab == nil && pr.n == prev.n:
		return rows, nil
	case names == nil || prev.vocab == nil:
		return nil, fmt.Errorf("From: %d words cannot be matched with the %d of the previous model: not both have names", pr.n, prev.n)
	}
	at, err := bag.Index(bag.Unique(prev.vocab))
	if err != nil {
		return nil, fmt.Errorf("From: %w", err)
	}
	for i, w := range bag.Unique(names) {
		rows[i] = -1
		if j, ok := at[w]; ok {
			rows[i] = int(j)
		}
	}
	return rows, nil
}

// prefer returns the rows of the anchors of the previous model, in the order of its topics.
func (r *run) prefer() (anchors []int) {
	prev := r.ask.from
	if prev == nil || prev.groups != nil {
		return nil
	}
	for _, w := range prev.anchors {
		for i := range r.pr.c.Dim() {
			if r.before[r.pr.word(i)] == w {
				anchors = append(anchors, i)
				break
			}
		}
	}
	return anchors
}

// carries reports whether passes begin with the topics of the previous model.
func (p Pipeline) carries() bool {
	if p.refiner == nil || p.from == nil {
		return false
	}
	s := &p.from.stats
	return p.parts != nil || s.Edited.Topics || s.Edited.Excluded != nil || s.Seeds != nil || p.from.add.Names != nil
}

// asked returns the seeds of topics, but for those that are divided.
func (m *Model) asked(parts map[int]int) (seeds []Seed) {
	seen := map[int]bool{}
	for _, s := range m.stats.Seeds {
		if _, ok := parts[s.Topic]; ok || seen[s.Topic] || s.Asked.Words == nil { // those of a topic that another was merged into stay
			continue
		}
		seen[s.Topic] = true
		s.Asked.Name = cmp.Or(m.userName(s.Topic), s.Asked.Name)
		seeds = append(seeds, s.Asked)
	}
	return seeds
}

// userName returns the name that the user gave a topic; "": none.
func (m *Model) userName(t int) string {
	if m.add.Names == nil {
		return ""
	}
	return m.add.Names[t]
}

// carried returns the topics of the previous model over the words of the documents, one after the other, and last those
// that were dropped.
func (r *run) carried() ([][]float64, error) {
	prev := r.ask.from
	all := cmp.Or(prev.all, prev)
	out := make([][]float64, all.k)
	for t := range out {
		out[t] = make([]float64, r.pr.n)
		sum := 0.
		for i, w := range r.before {
			if w >= 0 {
				out[t][i] = all.topics[w*all.k+t]
				sum += out[t][i]
			}
		}
		if sum == 0 {
			return nil, fmt.Errorf("From: the documents have no word of topic %d (%s)", t, all.Name(t))
		}
		floats.Scale(1/sum, out[t])
	}
	return out, nil
}

// carry makes passes that begin with the topics of the previous model, and with those of free for more. It
// sets r.as. The first topics are those of seeds.
func (r *run) carry(ctx context.Context, free *mat.Dense) (*refine.Result, error) {
	prev, parts := r.ask.from, r.ask.parts
	more := r.ask.k - prev.k
	switch {
	case r.ask.k == prev.stats.Anchors.Requested:
		more = 0
	case more < 0:
		return nil, fmt.Errorf("From: %d topics, and the previous model has %d; merge or drop some by Edits", r.ask.k, prev.k)
	}
	topics, err := r.carried()
	if err != nil {
		return nil, err
	}
	var columns [][]float64
	var o refine.Options
	added := 0 // topics of seeds that the previous model does not have
	for i, s := range r.ask.seeds {
		t := slices.IndexFunc(prev.stats.Seeds, func(x SeedStats) bool { return slices.Equal(x.Asked.Words, s.Words) })
		if t >= 0 {
			t = prev.stats.Seeds[t].Topic
		}
		if t >= 0 && !slices.Contains(r.as, t) {
			r.as, columns = append(r.as, t), append(columns, topics[t])
		} else {
			r.as, columns = append(r.as, -1), append(columns, mat.Col(nil, i, r.seeds.b))
			added++
		}
		o.Seeds = append(o.Seeds, r.seeds.words[i])
	}
	for t, column := range topics {
		if !slices.Contains(r.as, t) {
			r.as, columns = append(r.as, t), append(columns, column)
		}
	}
	of := slices.Clone(r.as) // the topic that each is, or is a part of
	keepOut := func() {      // of the topics that o.Seeds are of
		o.Without = make([][]int, len(o.Seeds))
		for _, x := range prev.stats.Edited.Excluded {
			if i := slices.Index(r.as[:len(o.Seeds)], x.Topic); i >= 0 {
				for w, b := range r.before {
					if b >= 0 && slices.Contains(x.Words, prev.Word(b)) {
						o.Without[i] = append(o.Without[i], w)
					}
				}
			}
		}
	}
	o.Seeds = append(o.Seeds, make([][]refine.Seed, len(columns)-len(o.Seeds))...)
	keepOut()
	o.K = len(columns) + max(0, more-added)
	begin := beside(columns)
	if o.K > len(columns) {
		begin = withFree(begin, free, o.K)
		of = append(of, slices.Repeat([]int{-1}, o.K-len(columns))...)
		r.as = slices.Clone(of)
	}
	var x *refine.Result
	for _, t := range slices.Sorted(maps.Keys(parts)) {
		n, last := parts[t], len(columns)-1
		if !input.Elsewhere(r.pr) {
			split := SplitStats{Topic: t, Name: prev.Name(t), Parts: n}
			if err := split.judge(ctx, r, topics); err != nil {
				return nil, err
			}
			if r.st.Edited.Splits = append(r.st.Edited.Splits, split); !split.BorneOut() {
				r.warn("%v", split)
			}
		}
		i := slices.Index(r.as, t)
		columns, r.as, of = toEnd(columns, i), toEnd(r.as, i), toEnd(of, i)
		o.K, o.Seeds = last+n, o.Seeds[:last]
		keepOut()
		if x, err = r.pass(ctx, beside(columns), nil, o); err != nil {
			return nil, fmt.Errorf("splitting topic %d (%s) into %d: %w", t, prev.Name(t), n, err)
		}
		largest := last
		for c := last + 1; c < o.K; c++ {
			if linalg.Sum(x.A.RowView(c)) > linalg.Sum(x.A.RowView(largest)) {
				largest = c
			}
		}
		r.as, of, columns = append(r.as[:last], slices.Repeat([]int{-1}, n)...), append(of[:last], slices.Repeat([]int{t}, n)...), columns[:0]
		r.as[largest] = t
		for c := range o.K {
			columns = append(columns, mat.Col(nil, c, x.B))
		}
		o.Seeds = append(o.Seeds, make([][]refine.Seed, n)...)
	}
	if x == nil {
		if x, err = r.pass(ctx, begin, nil, o); err != nil {
			return nil, err
		}
	}
	x.From, x.Tree = nil, nil
	if !slices.Contains(of, -1) {
		x.Tree = merging{first: of}.tree(cmp.Or(prev.all, prev).tree)
	}
	return x, nil
}

// beside returns the matrix of these columns.
func beside(columns [][]float64) *mat.Dense {
	return mat.DenseCopyOf(mat.NewDense(len(columns), len(columns[0]), slices.Concat(columns...)).T())
}

// toEnd moves an entry to the end.
func toEnd[T any](list []T, i int) []T {
	x := list[i]
	return append(slices.Delete(list, i, i+1), x)
}

// follow returns the model with its topics numbered, and named by the user, as those of the
// previous model, without the words that were hidden there, and fills in Stats.Refit. as has for each topic
// that of the previous model which it follows, −1 for none; nil: it is matched.
func (m *Model) follow(ctx context.Context, prev *Model, as []int, workers int) (*Model, error) {
	if as != nil {
		dropped := func(t int) bool { return t >= prev.k }
		m, as = m.showing(func(l int) bool { return !dropped(as[l]) }), slices.DeleteFunc(slices.Clone(as), dropped)
	}
	al, err := align(ctx, prev, m, as, workers)
	if err != nil {
		return nil, errorf("the previous model: %w", err)
	}
	order := al.Order()
	out := m.reordered(order)
	out.nameAs(prev, al, order)
	s := &out.stats.Refit
	s.Drift = permuted(al.Drift, order)
	for t, l := range order {
		if slices.Contains(al.New, l) {
			s.New = append(s.New, t)
		}
	}
	s.Vanished = al.Vanished
	if u := prev.add.Uncertainty; u != nil {
		s.Moves = make([]float64, m.k)
		for t, l := range order {
			if k := al.Prev[l]; k >= 0 {
				if s.Moves[t] = u.Topics[k].MovesAnew; as != nil {
					s.Moves[t] = u.Topics[k].Moves
				}
			}
			if s.Moves[t] > 0 && s.Drift[t] > s.Moves[t] && !slices.Contains(s.New, t) {
				s.Moved = append(s.Moved, t)
			}
		}
		if !slices.ContainsFunc(s.Moves, func(v float64) bool { return v > 0 }) {
			s.Moves = nil
		}
	}
	if m.vocab != nil && prev.vocab != nil {
		s.Joined, s.Left = m.wordsNotIn(prev), prev.wordsNotIn(m)
	}
	kept := prev.stats.clone().Edited
	there := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(w string) bool {
			_, ok := m.Index(w)
			return !ok
		})
	}
	out.stats.Edited.Topics = kept.Topics
	words := EditStats{Hidden: there(kept.Hidden), Stopped: there(kept.Stopped)}
	for _, x := range kept.Excluded {
		if t := slices.Index(order, al.Next[x.Topic]); t >= 0 && !slices.Contains(s.New, t) {
			words.Excluded = append(words.Excluded, Exclusion{t, there(x.Words)})
		}
	}
	if err := out.without(words); err != nil {
		return nil, err
	}
	out.stats.Edited.Hidden, out.stats.Edited.Stopped = kept.Hidden, kept.Stopped
	out.stats.Edited.Splits = append(kept.Splits, out.stats.Edited.Splits...)
	return out, nil
}

// wordsNotIn returns the words that another model does not have.
func (m *Model) wordsNotIn(other *Model) (words []string) {
	for _, w := range m.vocab {
		if _, ok := other.Index(w); !ok {
			words = append(words, w)
		}
	}
	return words
}

// newTopic is the total variation distance above which a topic follows no other.
const newTopic = 0.8

// Alignment matches the topics of two models.
type Alignment struct {
	// Next holds for each topic of the first model its match in the second, −1 for none, and Prev
	// for each topic of the second its match in the first. All topics of the model with fewer
	// topics are matched.
	Next, Prev []int

	// Drift holds for each topic of the second model the total variation distance to its match,
	// ½Σ_w |b_w − b'_w|, in [0, 1]; NaN if it has none.
	Drift []float64

	// New are the topics of the second model that follow none: those with a Prev of −1 or a Drift
	// above 0.8, that is, with less than a fifth of the probability on the same words. Vanished are
	// those of the first model that none follows.
	New, Vanished []int
}

// Align matches the topics of two models one to one so that the sum of their distances is least;
// see [metrics.Match]. Words are matched by name, or by number if the models have the same
// vocabulary, or none and as many words. A word that is in one model only has probability 0 in the
// other. workers bounds the goroutines (0: GOMAXPROCS); the result does not depend on it. O(N·K·K'
// + K³). Errors: no model, words that cannot be matched, ctx's.
func Align(ctx context.Context, prev, m *Model, workers int) (*Alignment, error) {
	return align(ctx, prev, m, nil, workers)
}

// align aligns as follow asks.
func align(ctx context.Context, prev, m *Model, as []int, workers int) (*Alignment, error) {
	found, err := match(ctx, prev, m, workers)
	if err != nil {
		return nil, errorf("align: %w", err)
	}
	if as != nil {
		for k := range found.Of {
			found.Of[k] = slices.Index(as, k)
		}
	}
	al := &Alignment{Next: found.Of, Prev: make([]int, m.k), Drift: make([]float64, m.k)}
	for l := range al.Prev {
		al.Prev[l], al.Drift[l] = -1, math.NaN()
	}
	for k, l := range found.Of {
		if l >= 0 {
			al.Prev[l], al.Drift[l] = k, min(found.Distances.At(k, l)/2, 1)
		}
	}
	for l, k := range al.Prev {
		if k < 0 || al.Drift[l] > newTopic {
			al.New = append(al.New, l)
		}
	}
	for k, l := range al.Next {
		if l < 0 || al.Drift[l] > newTopic {
			al.Vanished = append(al.Vanished, k)
		}
	}
	return al, nil
}

// match matches the topics of two models by metrics.Match.
func match(ctx context.Context, a, b *Model, workers int) (*metrics.Matching, error) {
	if a == nil || b == nil {
		return nil, fmt.Errorf("no model")
	}
	if (a.vocab == nil) != (b.vocab == nil) || a.vocab == nil && a.n != b.n {
		return nil, fmt.Errorf("models of %d and %d words, of which not both have names", a.n, b.n)
	}
	return matched(ctx, a.vocab, b.vocab, a.denseTopics(), b.denseTopics(), workers)
}

// matched matches the columns of two matrices over these words.
func matched(ctx context.Context, wordsA, wordsB []string, a, b *mat.Dense, workers int) (*metrics.Matching, error) {
	o := metrics.MatchOptions{Workers: workers}
	if !slices.Equal(wordsA, wordsB) {
		o.WordsA, o.WordsB = bag.Unique(wordsA), bag.Unique(wordsB)
	}
	return metrics.Match(ctx, a, b, o)
}

// Order returns the order with which [Model.Reorder] gives the topics of the second model the
// numbers of the first. Topics without a match come last. If the second model has fewer topics, the
// numbers close up.
func (a *Alignment) Order() []int {
	var order []int
	for _, l := range a.Next {
		if l >= 0 {
			order = append(order, l)
		}
	}
	for l, k := range a.Prev {
		if k < 0 {
			order = append(order, l)
		}
	}
	return order
}
