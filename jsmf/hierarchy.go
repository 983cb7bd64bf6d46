package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Hierarchy is topics of topics. Level 0 holds those of the Model it was made
// of; each level above is a Model whose words are the topics of the level below,
// fitted to their correlations (lee-2018 §3.4). A topic may belong to several
// above it, so that the levels form a directed acyclic graph, whose weights are
// p(topic below | topic above).
//
// It is immutable and safe for concurrent use. As with Model, a level or topic
// that does not exist is a mistake of the program, and panics.
type Hierarchy struct {
	levels []*Model
	topics [][]float64 // N×K_t, p(word | topic) of each level
}

// Hierarchy fits levels of fewer and fewer topics above those of m: the
// correlations A of a level, divided by their sum, are to the next what the
// co-occurrence matrix is to the first, and are rectified and factorised with
// the stages of p. sizes are the numbers of topics, each at least 2 and less than
// the one before, the first less than m's: New(25).Fit and Hierarchy(ctx, m, 5)
// make 25→5.
//
// p need not be what m was fitted with; its number of topics, MinTokens and
// Weighting do not matter here, and bounds of a finder on document frequencies hold
// for every topic. p's Recorder hears of the stages of a level as of those of a fit.
//
// Errors: those of Validate, *TopicsError where a size does not fit, and those of
// Fit with the size of the level, among them *anchor.RankError where the
// correlations below have fewer dimensions than topics are asked for, and the
// row of A that sums to less than zero. Cost: next to nothing beside a fit.
func (p Pipeline) Hierarchy(ctx context.Context, m *Model, sizes ...int) (*Hierarchy, error) {
	if m == nil || len(sizes) == 0 {
		return nil, errors.New("jsmf: hierarchy: no model or no sizes")
	}
	below := m.K()
	for _, k := range sizes {
		if k < 2 || k >= below {
			return nil, errorf("hierarchy: %d topics above %d; want at least 2, and fewer than below", k, below)
		}
		below = k
	}
	h := &Hierarchy{levels: []*Model{m}, topics: [][]float64{m.topics}}
	for _, k := range sizes {
		last := h.levels[len(h.levels)-1]
		a := mat.DenseCopyOf(last.Correlations())
		sum := mat.Sum(a)
		if !(sum > 0) {
			return nil, errorf("hierarchy, %d topics: the correlations below sum to %g", k, sum)
		}
		a.Scale(1/sum, a)
		c, err := cooc.NewDense(a)
		if err != nil {
			return nil, errorf("hierarchy, %d topics: %w", k, err)
		}
		names := make([]string, last.K())
		for t, w := range last.AnchorWords() {
			names[t] = fmt.Sprintf("%d:%s", t, w)
		}
		p.k = k
		p.from, p.resumable = nil, false // a level follows no model
		// Every topic is in as many documents as there are: bounds on document
		// frequencies have no meaning here.
		info := corpus.Info{Form: "topics", Documents: math.MaxInt32, Vocabulary: names, DocFrequencies: make([]int, len(names))}
		for i := range names {
			info.DocFrequencies[i] = info.Documents
		}
		named, err := cooc.WithInfo(c, info)
		if err != nil {
			return nil, errorf("hierarchy, %d topics: %w", k, err)
		}
		up, err := p.Fit(ctx, named)
		if err != nil {
			return nil, errorf("hierarchy, %d topics: %w", k, err)
		}
		if up.K() >= last.K() { // a finder of the caller's own
			return nil, errorf("hierarchy, %d topics: %d came out", k, up.K())
		}
		words := make([]float64, m.n*up.k)
		err = linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, general(h.topics[len(h.topics)-1], m.n, last.k), general(up.topics, up.n, up.k), 0, general(words, m.n, up.k), p.workers)
		if err != nil {
			return nil, wrap(err)
		}
		h.levels, h.topics = append(h.levels, up), append(h.topics, words)
	}
	return h, nil
}

// Levels returns how many levels there are, that of the Model included.
func (h *Hierarchy) Levels() int { return len(h.levels) }

// K returns the number of topics of a level.
func (h *Hierarchy) K(level int) int { return h.levels[level].k }

// Model returns the Model of a level. That of level 0 has words as its words;
// those above have the topics of the level below, called by their number and
// their anchor's name ("3:neuron"; "1:3:neuron" on the next), and all that a
// Model has: TopWords are the prominent topics of a topic, Correlations those
// among the topics of the level.
func (h *Hierarchy) Model(level int) *Model { return h.levels[level] }

// Topics returns the N×K matrix of p(word | topic) of the topics of a level,
// B₁B₂…B_t: the words of a topic are those of its topics below, in their
// proportions. It is a read-only view.
func (h *Hierarchy) Topics(level int) mat.Matrix {
	return view{h.levels[0].n, h.levels[level].k, h.topics[level]}
}

// TopWords returns the n most probable words of a topic of a level, as
// Model.TopWords does for level 0.
func (h *Hierarchy) TopWords(level, topic, n int) []WordProb {
	words := *h.levels[0] // its words with the topics of the level
	words.k, words.topics = h.levels[level].k, h.topics[level]
	return words.TopWords(topic, n)
}

// Edge is an edge of the graph of topics.
type Edge struct {
	Parent int     `json:"parent"` // a topic of a level
	Child  int     `json:"child"`  // a topic of the level below
	Weight float64 `json:"weight"` // p(child | parent): sums to 1 over the children of a parent
	Share  float64 `json:"share"`  // p(parent | child): sums to 1 over the parents of a child
}

// Edges returns the edges between a level ≥ 1 and the one below of a weight or a
// share of at least least: by parent, then by falling weight, then by child. With
// least 0 that is all K_t·K_{t−1} pairs, with ½ each child has at least one parent
// where one has most of it.
func (h *Hierarchy) Edges(level int, least float64) []Edge {
	if level < 1 || level >= len(h.levels) {
		panic(fmt.Sprintf("jsmf: level %d is not in [1, %d)", level, len(h.levels)))
	}
	m := h.levels[level]
	var edges []Edge
	for k := range m.k {
		for i := range m.n {
			e := Edge{k, i, m.topics[i*m.k+k], m.wordTopics[i*m.k+k]}
			if e.Weight >= least || e.Share >= least {
				edges = append(edges, e)
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(b.Weight, a.Weight))
	})
	return edges
}

// general is a matrix of rows without gaps.
func general(data []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}
