package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Hierarchy is topics of topics. Level 0 is a Model of words. Each level above is a Model whose
// words are the topics of the level below, fitted to their correlations (lee-2018 §3.4). A topic
// may belong to several topics above it: the levels form a directed acyclic graph with the weights
// p(topic below | topic above).
//
// A model whose topics were found by splitting fewer has a tree of its own, in which each topic has
// one place: see [Model.Tree]. A Hierarchy is fitted afterwards, to any model.
//
// A Hierarchy is immutable and safe for concurrent use. As with Model, a level or topic out of
// range panics.
type Hierarchy struct {
	levels  []*Model
	topics  [][]float64 // N×K_t, p(word | topic) of each level
	reading [][]float64 // N×K_t, the reading weights of each level; nil without those of level 0
}

// Levels fits levels of fewer and fewer topics above those of a model.
type Levels struct {
	// K are the numbers of topics of the levels: each at least 2 and less than the one before, the
	// first less than the model's.
	K []int
}

// Run makes the Hierarchy above m. The correlations A of a level, divided by their sum, are the
// co-occurrence matrix of the next, which is rectified and factorised by the stages of p. p need
// not be the Pipeline that fitted m, and must have K = 0: New(0). Its From and Refine do not
// apply. Every topic passes a finder's bounds on document frequencies.
//
// Errors: those of Validate, a Pipeline with a K, a number out of range, and those of Fit, such as
// [*anchor.RankError] if the correlations below have fewer dimensions than topics are asked for.
// The cost is small compared with that of m.
func (l Levels) Run(ctx context.Context, p Pipeline, m *Model) (*Hierarchy, error) {
	if err := p.unset("hierarchy"); err != nil {
		return nil, err
	}
	if m == nil || len(l.K) == 0 {
		return nil, errors.New("jsmf: hierarchy: no model or no sizes")
	}
	below := m.K()
	for _, k := range l.K {
		if k < 2 || k >= below {
			return nil, errorf("hierarchy: %d topics above %d; want at least 2, and fewer than below", k, below)
		}
		below = k
	}
	h := &Hierarchy{levels: []*Model{m}, topics: [][]float64{m.topics}}
	if m.reading != nil {
		h.reading = [][]float64{m.reading}
	}
	for _, k := range l.K {
		if err := h.add(ctx, p, k); err != nil {
			return nil, errorf("hierarchy, %d topics: %w", k, err)
		}
	}
	return h, nil
}

// add puts a level of k topics on top.
func (h *Hierarchy) add(ctx context.Context, p Pipeline, k int) error {
	last := h.levels[len(h.levels)-1]
	in, err := last.asInput()
	if err != nil {
		return err
	}
	p.k, p.from, p.refiner = k, nil, nil
	up, err := p.Fit(ctx, in)
	if err != nil {
		return err
	}
	if up.K() >= last.K() { // a finder of the caller
		return fmt.Errorf("%d came out", up.K())
	}
	h.levels = append(h.levels, up)
	n := h.levels[0].n
	for _, words := range []*[][]float64{&h.topics, &h.reading} { // of level 0 in topics
		if *words == nil {
			continue
		}
		below, above := (*words)[len(*words)-1], make([]float64, n*up.k)
		err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, general(below, n, last.k), general(up.topics, up.n, up.k),
			0, general(above, n, up.k), p.workers)
		if err != nil {
			return err
		}
		*words = append(*words, above)
	}
	return nil
}

// asInput returns the correlations of the topics, with sum 1, as those of words that are called by
// the topics' numbers and the first words of their names. Each is in all documents, so that bounds
// on document frequencies do not apply.
func (m *Model) asInput() (cooc.Operator, error) {
	a := mat.DenseCopyOf(m.Correlations())
	sum := linalg.Sum(a)
	if !(sum > 0) {
		return nil, fmt.Errorf("the correlations below sum to %.9g", sum)
	}
	a.Scale(1/sum, a)
	c, err := cooc.NewDense(a)
	if err != nil {
		return nil, err
	}
	info := corpus.Info{Form: "topics", Documents: math.MaxInt32}
	for t, name := range m.names() {
		first, _, _ := strings.Cut(name, nameSeparator)
		info.Vocabulary = append(info.Vocabulary, fmt.Sprintf("%d:%s", t, first))
		info.DocFrequencies = append(info.DocFrequencies, info.Documents)
	}
	return cooc.WithInfo(c, info)
}

// Levels returns the number of levels, with level 0.
func (h *Hierarchy) Levels() int { return len(h.levels) }

// K returns the number of topics of a level.
func (h *Hierarchy) K(level int) int { return h.levels[level].k }

// Model returns the Model of a level. Above level 0 its words are the topics of the level below,
// called by their numbers and the first words of their names ("3:neuron", on the next level
// "1:3:neuron").
func (h *Hierarchy) Model(level int) *Model { return h.levels[level] }

// Topics returns p(word | topic) for the topics of a level over the words of level 0, the N×K
// matrix B₀B₁…B_t. It is a read-only view.
func (h *Hierarchy) Topics(level int) mat.Matrix {
	return view{h.levels[0].n, h.levels[level].k, h.topics[level]}
}

// TopWords returns the n best words of level 0 in a topic of a level, like [Model.TopWords]. Above
// level 0 the reading weights of a topic are those of the topics below it, weighted by p(topic
// below | topic).
func (h *Hierarchy) TopWords(level, topic, n int) []WordProb {
	words := *h.levels[0] // its vocabulary, with the topics of the level
	words.k, words.topics, words.best = h.levels[level].k, h.topics[level], nil
	if h.reading != nil {
		words.reading = h.reading[level]
	}
	return words.TopWords(topic, n)
}

// Edge is an edge of the graph of topics.
type Edge struct {
	Parent int     `json:"parent"` // a topic of a level
	Child  int     `json:"child"`  // a topic of the level below
	Weight float64 `json:"weight"` // p(child | parent): sums to 1 over the children of a parent
	Share  float64 `json:"share"`  // p(parent | child): sums to 1 over the parents of a child
}

// Edges returns the edges between a level ≥ 1 and the level below whose weight or share is at least
// threshold, sorted by parent, then by falling weight, then by child. 0 gives all pairs.
func (h *Hierarchy) Edges(level int, threshold float64) []Edge {
	if level < 1 || level >= len(h.levels) {
		panic(fmt.Sprintf("jsmf: level %d is not in [1, %d)", level, len(h.levels)))
	}
	m, wordTopics := h.levels[level], h.levels[level].WordTopics()
	var edges []Edge
	for k := range m.k {
		for i := range m.n {
			e := Edge{k, i, m.topics[i*m.k+k], wordTopics.At(i, k)}
			if e.Weight >= threshold || e.Share >= threshold {
				edges = append(edges, e)
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(b.Weight, a.Weight))
	})
	return edges
}

// general returns a rows×cols matrix over data.
func general(data []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

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
