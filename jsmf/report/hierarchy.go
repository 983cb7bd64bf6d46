package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// node is a topic in the tree.
type node struct {
	Topic       int   // −1: of topics
	Largest     []int // topics by which a group is called
	Open        bool
	Name, Words string
	Share       cell
	Percent     float64 // of its parent
	Also        string
	Children    []node
}

// above returns for each level of h, and each topic of level 0, its group on that level: the
// topic with the largest share of its group on the level below.
func above(h *jsmf.Hierarchy) [][]int {
	out := make([][]int, h.Levels())
	for level := range out {
		for k := range h.K(0) {
			at := k
			if level > 0 {
				up := h.Model(level).WordTopics()
				at = vec.Order(h.K(level), func(l int) float64 { return up.At(out[level-1][k], l) })[0]
			}
			out[level] = append(out[level], at)
		}
	}
	return out
}

// tree fills in the hierarchy. Each topic is below the one with the largest share of it, and
// names others with a share of a quarter or more.
func (p *page) tree(h *jsmf.Hierarchy) {
	p.Levels = h.Levels()
	top := p.Levels - 1
	shares := make([][]float64, p.Levels)
	for t := range shares {
		shares[t] = h.Model(t).TopicShares()
	}
	ups := above(h)
	largest := vec.Order(h.K(0), func(k int) float64 { return shares[0][k] })
	// A group is called by the first words of its two largest topics.
	called := func(level, k int) (string, []int) {
		var best []int
		var words []string
		for _, t := range largest {
			if ups[level][t] == k && len(best) < 2 {
				first, _, _ := strings.Cut(p.names[t], " · ")
				best, words = append(best, t), append(words, first)
			}
		}
		switch {
		case level == 0:
			return p.names[k], nil
		case best == nil:
			return fmt.Sprintf("group %d", k), nil
		}
		return strings.Join(words, " · "), best
	}
	var build func(level, k int, weight float64, also string) node
	build = func(level, k int, weight float64, also string) node {
		name, best := called(level, k)
		n := node{Name: name, Largest: best, Topic: -1, Open: level == top || h.K(0) <= 40, Words: p.words(h.TopWords(level, k, 8)), Share: newCell(percent(shares[level][k]), shares[level][k]), Percent: 100 * weight, Also: also}
		if level == 0 {
			n.Topic = k
			return n
		}
		m := h.Model(level)
		up, down := m.WordTopics(), m.Topics()
		var mine []int
		for c := range m.N() {
			if vec.Order(m.K(), func(l int) float64 { return up.At(c, l) })[0] == k {
				mine = append(mine, c)
			}
		}
		slices.SortStableFunc(mine, func(a, b int) int { return cmp.Compare(down.At(b, k), down.At(a, k)) })
		for _, c := range mine {
			var others []string
			for _, l := range vec.Order(m.K(), func(l int) float64 { return up.At(c, l) }) {
				if l != k && up.At(c, l) >= 0.25 {
					other, _ := called(level, l)
					others = append(others, fmt.Sprintf("%s (%s)", other, percent(up.At(c, l))))
				}
			}
			n.Children = append(n.Children, build(level-1, c, down.At(c, k), strings.Join(others, ", ")))
		}
		return n
	}
	for _, k := range vec.Order(h.K(top), func(k int) float64 { return shares[top][k] }) {
		p.Tree = append(p.Tree, build(top, k, shares[top][k], ""))
	}
}
