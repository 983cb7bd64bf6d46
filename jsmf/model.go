package jsmf

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/stems"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// Model is a fitted topic model: K topics over N words, and the correlations
// between topics. It is immutable and safe for concurrent use. Slices that its
// methods return belong to the caller.
//
// Words are numbered 0…N−1. Topics are numbered 0…K−1 in the order in which
// their anchors were found, the most distinct first, or by decreasing share in
// a model without anchors. A model that follows another (Pipeline.From) keeps
// the numbers of that one; Reorder changes them.
//
// Methods panic on a topic outside [0, K) or a word outside [0, N), as indexing
// a slice does.
//
// A model takes 16·N·K bytes and its vocabulary; another 8·N·K if it has a
// Reading, what WithDocuments and WithUncertainty gave it, and 16·N·(K + 10 to 17) with the K
// of the start (Pipeline.Extra) if it was made with Pipeline.Resumable.
type Model struct {
	n, k       int
	vocab      []string  // nil: words are named by their numbers
	topics     []float64 // B, N×K
	wordTopics []float64 // transpose of B̆, N×K
	reading    []float64 // weights of the words by which people recognise a topic, N×K; nil: none
	corr       []float64 // A, K×K
	anchors    []int     // nil: learned without anchors
	groups     [][]int   // words combined into an anchor; nil: every anchor is a single word
	marginals  []float64
	stats      Stats
	prov       Provenance
	dual       []float64         // Λ/M of PADD; nil: not learned
	alpha      []float64         // Dirichlet parameters; nil: not learned
	text       *text.Setting     // of the documents' text; nil: not known
	tokenizer  text.Tokenizer    // by WithTokenizer, or nil
	stems      *stems.Index      // of the vocabulary, by the Stemmer of the tokenizer; nil without one
	state      *rectify.State    // of the rectification, for a refit; nil: not kept
	background []bool            // nil: no topic is background
	given      []string          // names of the user, "" for none; nil: none at all
	docs       *Compositions     // by WithDocuments, or nil
	unsure     *Uncertainty      // by WithUncertainty, or nil
	verdicts   []metrics.Verdict // by WithVerdicts, or nil

	index func() map[string]int
	names func() []string
}

// modelParts is what a Model is made of. newModel takes ownership of the
// vocabulary and the matrices, and copies the rest.
type modelParts struct {
	Vocabulary   []string   // N words, or nil
	Topics       *mat.Dense // B, N×K; each column sums to 1
	WordTopics   *mat.Dense // B̆ᵀ, N×K; each row sums to 1 (or is 0, for a word with c_n ≤ 0)
	Correlations *mat.Dense // A, K×K, symmetric
	Anchors      []int      // K word numbers, or nil
	AnchorGroups [][]int    // K lists of word numbers, nil for a topic with an anchor of one word; or nil
	Marginals    []float64  // c, N
	Stats        Stats
	Provenance   Provenance
	Dual         *mat.Dense        // Λ/M, K×K, symmetric; or nil
	Alpha        []float64         // Dirichlet parameters, K; or nil
	Text         *text.Setting     // or nil
	State        *rectify.State    // of the rectification, N rows, or nil
	Reading      *mat.Dense        // N×K; each column sums to 1, or is 0; or nil
	Background   []bool            // K, or nil
	Names        []string          // K names of the user, "" for none; or nil
	Documents    *Compositions     // or nil
	Uncertainty  *Uncertainty      // or nil
	Verdicts     []metrics.Verdict // K, or nil
}

// newModel checks the parts and makes a model of them. Its errors, of type
// *partError, name the part and the place but not the package. O(NK).
func newModel(p modelParts) (*Model, error) {
	if p.Topics == nil || p.WordTopics == nil || p.Correlations == nil {
		return nil, invalid("model", "topics, word topics or correlations are missing")
	}
	n, k := p.Topics.Dims()
	if k < 2 || k > n {
		return nil, invalid("topics", "K = %d is not in [2, N = %d]", k, n)
	}
	if r, c := p.WordTopics.Dims(); r != n || c != k {
		return nil, invalid("word_topics", "is %d×%d, want N×K = %d×%d", r, c, n, k)
	}
	if r, c := p.Correlations.Dims(); r != k || c != k {
		return nil, invalid("correlations", "is %d×%d, want K×K = %d×%d", r, c, k, k)
	}
	m := &Model{
		n: n, k: k,
		vocab:  p.Vocabulary,
		topics: packed(p.Topics), wordTopics: packed(p.WordTopics), corr: packed(p.Correlations),
		// Copies: small, and a finder of the caller's own may keep what it returned.
		anchors: slices.Clone(p.Anchors), groups: cloneGroups(p.AnchorGroups), marginals: slices.Clone(p.Marginals),
		stats: p.Stats.clone(), prov: p.Provenance, alpha: slices.Clone(p.Alpha), state: p.State,
	}
	m.prov.Stages = slices.Clone(m.prov.Stages)
	if p.Dual != nil {
		if r, c := p.Dual.Dims(); r != k || c != k {
			return nil, invalid("dual", "is %d×%d, want K×K = %d×%d", r, c, k, k)
		}
		m.dual = packed(p.Dual)
	}
	if p.Reading != nil {
		if r, c := p.Reading.Dims(); r != n || c != k {
			return nil, invalid("reading", "is %d×%d, want N×K = %d×%d", r, c, n, k)
		}
		m.reading = packed(p.Reading)
	}
	if slices.Contains(p.Background, true) {
		m.background = slices.Clone(p.Background)
	}
	m.given = cloneNames(p.Names)
	m.docs, m.unsure, m.verdicts = p.Documents.clone(), p.Uncertainty.clone(), slices.Clone(p.Verdicts)
	if p.Text != nil {
		s := *p.Text
		m.text = &s
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.index = sync.OnceValue(func() map[string]int {
		idx := make(map[string]int, len(m.vocab))
		for i, w := range m.vocab {
			if _, ok := idx[w]; !ok {
				idx[w] = i
			}
		}
		return idx
	})
	m.names = sync.OnceValue(m.makeNames)
	return m, nil
}

// packed returns the rows of d one after the other, without a copy where they
// lie so already.
func packed(d *mat.Dense) []float64 {
	raw := d.RawMatrix()
	size := raw.Rows * raw.Cols
	if raw.Stride == raw.Cols {
		return raw.Data[:size:size]
	}
	out := make([]float64, 0, size)
	for i := range raw.Rows {
		out = append(out, raw.Data[i*raw.Stride:i*raw.Stride+raw.Cols]...)
	}
	return out
}

// cloneGroups copies the groups of anchors. Groups without words become nil,
// as those of single words are, and so does the whole where all are.
func cloneGroups(groups [][]int) [][]int {
	out := make([][]int, len(groups))
	some := false
	for j, g := range groups {
		if len(g) > 0 {
			out[j], some = slices.Clone(g), true
		}
	}
	if !some {
		return nil
	}
	return out
}

// N returns the number of words.
func (m *Model) N() int { return m.n }

// K returns the number of topics.
func (m *Model) K() int { return m.k }

// Anchors returns the number of the anchor word of each topic, or nil for a
// model that was learned without anchors (Pipeline.AnchorFree).
func (m *Model) Anchors() []int { return slices.Clone(m.anchors) }

// AnchorWords returns the anchor word of each topic, or nil for a model without
// anchors.
func (m *Model) AnchorWords() []string {
	if m.anchors == nil {
		return nil
	}
	out := make([]string, m.k)
	for j, s := range m.anchors {
		out[j] = m.Word(s)
	}
	return out
}

// AnchorGroups returns for each topic the words that were combined into its
// anchor (anchor.Tandem), of which the word in Anchors is one, or nil for a
// topic whose anchor is a single word. It returns nil if all are.
func (m *Model) AnchorGroups() [][]int { return cloneGroups(m.groups) }

// Marginals returns c, the N row sums of the matrix that was factorised. They
// are p(word) up to a factor. Rectifiers whose result may have negative entries
// may leave tiny negative values. Where that matrix had the best words only
// (Pipeline.Words), they are p(word) of all: the mean of its shares of the documents.
func (m *Model) Marginals() []float64 { return slices.Clone(m.marginals) }

// Alpha returns the K parameters of the Dirichlet prior of a document's topics,
// those of refinement (Pipeline.Refine) or as LearnAlpha found them, or nil if there was
// neither; inference then takes recovery.FitAlpha of the correlations.
func (m *Model) Alpha() []float64 { return slices.Clone(m.alpha) }

// Stats returns what each stage of the fit did.
func (m *Model) Stats() Stats { return m.stats.clone() }
