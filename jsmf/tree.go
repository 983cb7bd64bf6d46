package jsmf

import (
	"cmp"
	"fmt"
	"slices"

	recovery "github.com/jsmf-go/spectral/recover"
)

// Tree returns which topics were split from which, nil for a model whose topics were found at once,
// as few topics are. The groups of a level are numbered as the topics of [Model.Cut], which has
// their names, words, shares and correlations. The result is a copy.
func (m *Model) Tree() *recovery.Tree { return cloneTree(m.tree) }

// Cut returns the model whose topics are the groups of a level of Tree, 0 being the coarsest: every
// cut through the tree is a list of topics. The level after the last is m itself, and so is level 0
// of a model without a tree; other levels panic.
//
// A group has the sum of its topics' shares, of their proportions in documents (Documents), of
// p(topic | word), of their rows and columns in Correlations, and of their α. Its probabilities of
// words and its Reading are the means of theirs, weighted by share; it has no anchor. It is background if all of its topics are. The Tree of the cut has the
// levels above. What is known of single topics only (verdicts, names by the user, what LearnDual has
// learned, the state for a refit) is left out. O(N·K), and the memory of a model of so many topics.
func (m *Model) Cut(level int) *Model {
	levels := 0
	if m.tree != nil {
		levels = len(m.tree.Groups)
	}
	switch {
	case level < 0 || level > levels:
		panic(fmt.Sprintf("jsmf: level %d is not in [0, %d]", level, levels))
	case level == levels:
		return m
	}
	of, shares := *m, m.TopicShares()
	of.add.Names, of.tree = nil, nil
	if level > 0 {
		of.tree = &recovery.Tree{Groups: m.tree.Groups[:level]}
	}
	p := merging{to: m.tree.Groups[level]}
	for _, topics := range m.tree.Members(level) {
		p.first = append(p.first, slices.MaxFunc(topics, func(a, b int) int { return cmp.Compare(shares[a], shares[b]) }))
	}
	out := of.regrouped(m.weighed(p))
	out.prov = m.prov.clone()
	out.prov.Stages = append(out.prov.Stages, fmt.Sprintf("cut of the tree: %d groups of %d topics", out.k, m.k))
	return out
}

// families returns the group of each topic on the finest level: topics of one are told apart by
// their names.
func (m *Model) families() []int {
	if m.tree == nil {
		return make([]int, m.k)
	}
	return m.tree.Groups[len(m.tree.Groups)-1]
}

// checkTree checks the tree.
func (m *Model) checkTree() error {
	if m.tree == nil {
		return nil
	}
	return m.tree.Validate(m.k)
}

// tree returns the tree of the new topics, each in the groups of the topic that stays. Groups
// without topics are gone, and the numbers of the others close up.
func (p merging) tree(of *recovery.Tree) *recovery.Tree {
	if of == nil {
		return nil
	}
	out := new(recovery.Tree)
	for _, groups := range of.Groups {
		now := permuted(groups, p.first)
		there := slices.Clone(now)
		slices.Sort(there)
		there = slices.Compact(there)
		for t, g := range now {
			now[t], _ = slices.BinarySearch(there, g)
		}
		out.Groups = append(out.Groups, now)
	}
	return out
}

// cloneTree copies a tree.
func cloneTree(t *recovery.Tree) *recovery.Tree {
	if t == nil {
		return nil
	}
	out := new(recovery.Tree)
	for _, groups := range t.Groups {
		out.Groups = append(out.Groups, slices.Clone(groups))
	}
	return out
}
