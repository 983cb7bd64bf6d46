package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// maxDrawn is how many topics are drawn at most, on the map, in the network and the matrix of
// correlations. Where there are more, groups of topics are drawn in their place.
const maxDrawn = 250

// drawing is what is drawn of a model.
type drawing struct {
	m     *jsmf.Model // whose topics are drawn: the model itself, or one of groups of its topics
	of    []int       // the topic of m that each topic is, or is part of
	level int         // of the tree of the page, −1: m is the model itself
	made  bool        // the groups are not those of the model's tree
	names []string    // of the topics of m
	first int         // the number on the page of the first of them
}

// newDrawing returns the model itself if it has few topics, or else the finest cut of its tree that
// has few. Without such a cut it is groups around the largest topics.
func newDrawing(m *jsmf.Model) (*drawing, error) {
	d := &drawing{m: m, level: -1}
	if m.K() <= maxDrawn {
		for k := range m.K() {
			d.of = append(d.of, k)
		}
		return d, nil
	}
	if t := m.Tree(); t != nil {
		for level, of := range t.Groups {
			if slices.Max(of) < maxDrawn {
				d.level, d.of = level, of
			}
		}
	}
	if d.level >= 0 {
		d.m = m.Cut(d.level)
		return d, nil
	}
	d.level, d.made = 0, true
	var merge [][]int
	d.of, merge = around(m, maxDrawn)
	var err error
	d.m, err = m.Edit(jsmf.Edits{Model: m.Fingerprint(), Merge: merge})
	return d, err
}

// around returns a group for each of the n largest topics, with the others that correlate with it
// more than with the rest of the n: the group of each topic, and those of two topics and more, the
// large one first. O(K² log K).
func around(m *jsmf.Model, n int) (of []int, groups [][]int) {
	shares := m.TopicShares()
	large := vec.Order(m.K(), func(k int) float64 { return shares[k] })[:n]
	slices.Sort(large)
	of = slices.Repeat([]int{-1}, m.K())
	all := make([][]int, n)
	for g, k := range large {
		of[k], all[g] = g, []int{k}
	}
	in := func(k int) bool { _, ok := slices.BinarySearch(large, k); return ok }
	for _, x := range m.CorrelatedPairs(-1) { // the most correlated first
		for _, pair := range [][2]int{{x.K, x.L}, {x.L, x.K}} {
			if k, l := pair[0], pair[1]; of[k] < 0 && in(l) {
				of[k] = of[l]
				all[of[l]] = append(all[of[l]], k)
			}
		}
	}
	return of, slices.DeleteFunc(all, func(g []int) bool { return len(g) < 2 })
}

// treeData is the tree of the topics. On the page its groups are numbered after the topics, level
// by level.
type treeData struct {
	Levels []levelData `json:"levels"` // the coarsest first, without the topics
	Drawn  int         `json:"drawn"`  // the level that is drawn in place of the topics; −1: none
}

type levelData struct {
	Of     []int       `json:"of"` // the group of each topic
	Groups []groupData `json:"groups"`
}

type groupData struct {
	Name  string `json:"name"`
	Share number `json:"share"`
	Read  []int  `json:"read"` // as Model.TopWords has them
	partners
}

// partners are the topics, or groups of a level, that one correlates with most, and least: number,
// correlation, ….
type partners struct {
	With  []number `json:"with,omitempty"`
	Apart []number `json:"apart,omitempty"`
}

// allPartners returns those of the topics of m, which begin at the number first on the page.
func allPartners(m *jsmf.Model, first int) []partners {
	const with, apart = 4, 3
	out, pairs := make([]partners, m.K()), m.CorrelatedPairs(-1)
	add := func(list *[]number, l int, c float64, most int) {
		if len(*list) < 2*most {
			*list = append(*list, number(first+l), number(math.Round(1e3*c)/1e3))
		}
	}
	for _, x := range pairs {
		if c := x.Correlation; c > 0 {
			add(&out[x.K].With, x.L, c, with)
			add(&out[x.L].With, x.K, c, with)
		}
	}
	for _, x := range slices.Backward(pairs) {
		if c := x.Correlation; c < 0 {
			add(&out[x.K].Apart, x.L, c, apart)
			add(&out[x.L].Apart, x.K, c, apart)
		}
	}
	return out
}

// families returns the tree of the topics, nil for a model without one, and sets what is known of
// u as a level of it.
func (p *page) families(m *jsmf.Model, u *drawing, used *wordList, o *Options) *treeData {
	u.names = p.names
	var levels [][]int
	if t := m.Tree(); u.made {
		levels = [][]int{u.of}
	} else if t != nil {
		levels = t.Groups
	}
	if levels == nil {
		return nil
	}
	d, first := &treeData{Drawn: u.level}, m.K()
	for level, of := range levels {
		c := u.m
		if level != u.level {
			c = m.Cut(level)
		}
		names, shares, near := c.Names(), c.TopicShares(), allPartners(c, first)
		groups := make([]groupData, c.K())
		for g := range groups {
			names[g] = atMost(names[g], nameLength)
			groups[g] = groupData{Name: names[g], Share: number(shares[g]), Read: []int{}, partners: near[g]}
			for _, w := range c.TopWords(g, o.TopWords) {
				groups[g].Read = append(groups[g].Read, w.Index)
			}
			used.add(groups[g].Read)
		}
		if level == u.level {
			u.names, u.first = names, first
		}
		if level == 0 {
			for _, g := range vec.Order(c.K(), func(g int) float64 { return shares[g] }) {
				words := p.words(c.TopWords(g, 8))
				p.Families = append(p.Families, listed{Number: g, Name: names[g], Share: percent(shares[g]), Words: words})
			}
		}
		d.Levels = append(d.Levels, levelData{of, groups})
		first += c.K()
	}
	p.Made = u.made
	return d
}

// byGroup returns the places of groups for each of their topics.
func (u *drawing) byGroup(at [][2]float64) [][2]float64 {
	out := make([][2]float64, len(u.of))
	for k, g := range u.of {
		out[k] = at[g]
	}
	return out
}

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
