package jsmf

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Reorder returns the model with its topics in another order: topic t of the result is topic
// order[t] of m. order must hold each number from 0 to K − 1 once; anything else is an error. Names
// go with the topics, and the state of the rectification is kept. O(NK).
func (m *Model) Reorder(order []int) (*Model, error) {
	if len(order) != m.k {
		return nil, errorf("reorder: %d numbers for %d topics", len(order), m.k)
	}
	if err := distinct(order, m.k); err != nil {
		return nil, errorf("reorder: %w", err)
	}
	return m.reordered(order), nil
}

// distinct checks that the numbers of topics are different ones below n.
func distinct(numbers []int, n int) error {
	seen := make([]bool, n)
	for t, k := range numbers {
		if k < 0 || k >= n || seen[k] {
			return fmt.Errorf("number %d, that of topic %d, is not in [0, %d), or is there twice", k, t, n)
		}
		seen[k] = true
	}
	return nil
}

func (m *Model) reordered(order []int) *Model {
	to := make([]int, m.k)
	for t, k := range order {
		to[k] = t
	}
	return m.regrouped(merging{first: order, to: to})
}

// merging says how topics are renumbered and become fewer.
type merging struct {
	first  []int     // by new number: the topic that stays
	to     []int     // by old number: the new one; −1: it is dropped
	weight []float64 // by old number: its part in the topic it is part of; nil: none are merged
}

// plan numbers the topics that stay, each topic t being part of into[t], −1 for none, and weighs them.
func (m *Model) plan(into []int) merging {
	p := merging{to: slices.Repeat([]int{-1}, m.k)}
	for t, first := range into {
		if t == first {
			p.to[t] = len(p.first)
			p.first = append(p.first, t)
		}
	}
	for t, first := range into {
		if first >= 0 {
			p.to[t] = p.to[first]
		}
	}
	return m.weighed(p)
}

// weighed weighs topics that are merged by their shares: those that are not negative, or equally if
// none is positive.
func (m *Model) weighed(p merging) merging {
	p.weight = make([]float64, m.k)
	shares := m.TopicShares()
	sums, members := make([]float64, len(p.first)), make([]float64, len(p.first))
	for t, l := range p.to {
		if l < 0 {
			continue
		}
		if shares[t] > 0 {
			sums[l] += shares[t]
		}
		members[l]++
	}
	for t, l := range p.to {
		switch {
		case l < 0:
		case sums[l] == 0:
			p.weight[t] = 1 / members[l]
		case shares[t] > 0:
			p.weight[t] = shares[t] / sums[l]
		}
	}
	return p
}

// columns returns a matrix of a column for each old topic with one for each new topic: the sum of
// its parts with their weights, nil for 1 each.
func (p merging) columns(a, weight []float64) []float64 {
	if a == nil {
		return nil
	}
	k, left := len(p.to), len(p.first)
	out := make([]float64, len(a)/k*left)
	for row := range len(a) / k {
		sums := out[row*left : (row+1)*left]
		for t, x := range a[row*k : (row+1)*k] {
			if weight != nil {
				x *= weight[t]
			}
			if l := p.to[t]; l >= 0 {
				sums[l] += x
			}
		}
	}
	return out
}

// parts returns by new number of how many topics each is made.
func (p merging) parts() []int {
	out := make([]int, len(p.first))
	for _, l := range p.to {
		if l >= 0 {
			out[l]++
		}
	}
	return out
}

// those returns the new numbers of those of some topics that stay, ascending.
func (p merging) those(topics []int) (out []int) {
	for _, t := range topics {
		if t >= 0 && t < len(p.to) && slices.Contains(p.first, t) {
			out = append(out, p.to[t])
		}
	}
	slices.Sort(out)
	return out
}

// both does the same for rows and columns.
func (p merging) both(a []float64) []float64 {
	if a == nil {
		return nil
	}
	left := len(p.first)
	out := make([]float64, left*left)
	for i, x := range p.columns(a, nil) { // a row for each old topic
		if l := p.to[i/left]; l >= 0 {
			out[l*left+i%left] += x
		}
	}
	return out
}

// logits returns the prior of the new topics. Families of which topics are merged become one.
func (p merging) logits(of *recovery.LogisticNormal) *recovery.LogisticNormal {
	switch {
	case of == nil:
		return nil
	case of.Families == nil && p.weight != nil:
		return ofSums(of, p.to, len(p.first))
	case of.Families == nil:
		return chosen(of, p.first)
	}
	to := make([]int, len(of.Mean)) // by old family: a new one, at first an old one
	for f := range to {
		to[f] = f
	}
	for t, f := range of.Families {
		if p.to[t] < 0 {
			continue
		}
		old, into := to[f], to[of.Families[p.first[p.to[t]]]]
		for g, v := range to {
			if v == old {
				to[g] = into
			}
		}
	}
	number, families := make([]int, len(to)), make([]int, len(p.first)) // number is that of a family, and 1
	left := 0
	for l, t := range p.first {
		f := to[of.Families[t]]
		if number[f] == 0 {
			left++
			number[f] = left
		}
		families[l] = number[f] - 1
	}
	for f, v := range to {
		to[f] = number[v] - 1
	}
	out := of
	if left < len(to) {
		out = ofSums(of, to, left)
	} else {
		order := make([]int, left)
		for f, g := range to {
			order[g] = f
		}
		out = chosen(of, order)
	}
	if left < len(families) { // otherwise each topic is a family, in order
		out.Families = families
	}
	return out
}

// chosen returns the prior of logits in another order, to the bit.
func chosen(of *recovery.LogisticNormal, order []int) *recovery.LogisticNormal {
	cov := mat.NewSymDense(len(order), nil)
	for i, k := range order {
		for j := range i + 1 {
			cov.SetSym(i, j, of.Covariance.At(k, order[j]))
		}
	}
	return &recovery.LogisticNormal{Information: of.Information, Mean: permuted(of.Mean, order), Covariance: cov}
}

// ofSums returns the prior of sums of proportions: of those of which to is the same, and not −1. The sum of two
// is not log-normal: it gets the mean and covariance of logits with which the expectations of the
// sums and of their products are as they were (Fenton, The sum of log-normal probability
// distributions, 1960).
func ofSums(of *recovery.LogisticNormal, to []int, left int) *recovery.LogisticNormal {
	// The logarithms of E[Σ e^η] of each sum, and of E[Σ e^η Σ e^η] of each two.
	mean, second := make([][]float64, left), make([][]float64, left*left)
	for i, l := range to {
		if l < 0 {
			continue
		}
		at := of.Mean[i] + float64(of.Covariance.At(i, i)/2)
		mean[l] = append(mean[l], at)
		for j, r := range to {
			if r < 0 {
				continue
			}
			both := at + of.Mean[j] + float64(of.Covariance.At(j, j)/2) + of.Covariance.At(i, j)
			second[l*left+r] = append(second[l*left+r], both)
		}
	}
	out := &recovery.LogisticNormal{Information: of.Information, Mean: make([]float64, left), Covariance: mat.NewSymDense(left, nil)}
	for i := range left {
		for j := range i + 1 {
			out.Covariance.SetSym(i, j, arith.LogSumExp(second[i*left+j])-arith.LogSumExp(mean[i])-arith.LogSumExp(mean[j]))
		}
		out.Mean[i] = arith.LogSumExp(mean[i]) - float64(out.Covariance.At(i, i)/2)
	}
	return out
}

// regrouped returns the model with its topics renumbered and merged.
func (m *Model) regrouped(p merging) *Model {
	out := *m
	out.k = len(p.first)
	out.topics, out.wordTopics, out.reading = p.columns(m.topics, p.weight), p.columns(m.wordTopics, nil), p.columns(m.reading, p.weight)
	out.corr, out.dual, out.alpha = p.both(m.corr), p.both(m.dual), p.columns(m.alpha, nil)
	out.logits, out.tree = p.logits(m.logits), p.tree(m.tree)
	out.anchors, out.groups = permuted(m.anchors, p.first), permuted(m.groups, p.first)
	out.background = permuted(m.background, p.first)
	for t, l := range p.to {
		if m.background != nil && l >= 0 {
			out.background[l] = out.background[l] && m.background[t]
		}
	}
	out.add.Names = cloneNames(permuted(m.add.Names, p.first))
	out.all = m.hide(p)
	out.derive()
	if m.add.Documents != nil {
		out.add.Documents = m.add.Documents.clone()
		if n := len(m.add.Documents.IDs); n > 0 {
			out.add.Documents.W = mat.NewDense(n, out.k, p.columns(packed(m.add.Documents.W), nil))
		}
	}
	out.stats = m.stats.clone()
	if s := &out.stats.Anchors; len(s.Norms) == m.k {
		s.Norms = permuted(s.Norms, p.first)
	}
	if s := &out.stats.Refit; len(s.Drift) == m.k {
		s.Drift = permuted(s.Drift, p.first)
		if len(s.Moves) == m.k {
			s.Moves = permuted(s.Moves, p.first)
		}
		s.New, s.Moved = p.those(s.New), p.those(s.Moved)
	}
	parts := p.parts()
	out.stats.Edited.Excluded = slices.DeleteFunc(out.stats.Edited.Excluded, func(x Exclusion) bool {
		l := p.to[x.Topic]
		return l < 0 || parts[l] > 1
	})
	for i, x := range out.stats.Edited.Excluded {
		out.stats.Edited.Excluded[i].Topic = p.to[x.Topic]
	}
	out.stats.Seeds = slices.DeleteFunc(out.stats.Seeds, func(s SeedStats) bool { return p.to[s.Topic] < 0 })
	for i := range out.stats.Seeds {
		out.stats.Seeds[i].Topic = p.to[out.stats.Seeds[i].Topic]
	}
	if p.weight != nil {
		out.mergedFrom(m, p)
		return &out
	}
	out.add.Uncertainty = m.add.Uncertainty.renumbered(p, &out)
	out.add.Verdicts = permuted(m.add.Verdicts, p.first)
	for t, v := range out.add.Verdicts {
		if v.Twin >= 0 {
			out.add.Verdicts[t].Twin = p.to[v.Twin]
		}
	}
	return &out
}

// showing returns the model with some of its topics dropped.
func (m *Model) showing(shown func(t int) bool) *Model {
	into := make([]int, m.k)
	for t := range into {
		if into[t] = t; !shown(t) {
			into[t] = -1
		}
	}
	if !slices.Contains(into, -1) {
		return m
	}
	return m.regrouped(m.plan(into))
}

// hide returns the topics that p leaves, with those that it drops and those that were dropped before; nil: there are none.
func (m *Model) hide(p merging) *Model {
	all := cmp.Or(m.all, m)
	p.first, p.to, p.weight = slices.Clone(p.first), slices.Clone(p.to), slices.Clone(p.weight)
	left := len(p.first)
	for t := range all.k {
		if t >= m.k {
			p.to = append(p.to, -1)
		}
		if p.to[t] < 0 {
			p.to[t], p.first = len(p.first), append(p.first, t)
		}
	}
	if len(p.first) == left {
		return nil
	}
	if p.weight != nil {
		p.weight = append(p.weight, make([]float64, all.k-m.k)...)
		for _, t := range p.first[left:] {
			p.weight[t] = 1
		}
	}
	bare := &Model{n: m.n, k: all.k, vocab: m.vocab, topics: all.topics, wordTopics: all.wordTopics, corr: all.corr, marginals: m.marginals, alpha: all.alpha, logits: all.logits, tree: all.tree}
	return bare.ready().regrouped(p)
}

// mergedFrom finishes m, some topics of which are several of another model: what is not known of
// such topics is left out.
func (m *Model) mergedFrom(of *Model, p merging) {
	m.dual, m.add.Verdicts, m.add.Uncertainty = nil, nil, nil
	symmetrise(m.corr, m.k) // the two sides are added up in different orders
	if slices.Contains(p.to, -1) {
		m.withoutDropped(of)
	} else {
		m.add.Uncertainty = of.add.Uncertainty.renumbered(p, m)
	}
	if !slices.Contains(m.background, true) {
		m.background = nil
	}
	m.reading = scaled(m.reading, m.k) // topics without reading weights do not count
}

// withoutDropped makes what m has of another model, of which some topics were dropped, add up to what it did there.
func (m *Model) withoutDropped(of *Model) {
	floats.Scale(vec.Sum(of.corr)/vec.Sum(m.corr), m.corr)
	rows := func(a []float64) {
		for i := range len(a) / m.k {
			if row := a[i*m.k:][:m.k]; vec.Sum(row) > 0 {
				floats.Scale(1/vec.Sum(row), row)
			}
		}
	}
	rows(m.wordTopics)
	if c := m.add.Documents; c != nil && len(c.IDs) > 0 {
		for d := range c.IDs {
			left, doc := vec.Sum(c.W.RawRowView(d)), &c.Docs[d]
			if left == 0 {
				doc.Status = infer.AllZero
			} else if left < 0.1 {
				doc.Status = infer.NoTopic
			}
			unknown := float64(doc.Tokens * max(0, 1-left))
			doc.Tokens, doc.Unknown = doc.Tokens-unknown, doc.Unknown+unknown
		}
		rows(c.W.RawMatrix().Data)
	}
}

// ascending returns the order that sorts x.
func ascending(x []int) []int {
	return vec.Order(len(x), func(i int) float64 { return -float64(x[i]) })
}

// permuted returns a with entry order[t] at index t; nil for nil.
func permuted[T any](a []T, order []int) []T {
	if a == nil {
		return nil
	}
	b := make([]T, len(order))
	for t, k := range order {
		b[t] = a[k]
	}
	return b
}
