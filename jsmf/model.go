package jsmf

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/modelfile"
	"github.com/jsmf-go/spectral/internal/stems"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
)

// Model is a fitted topic model: K topics over N words, and the correlations between topics. It is
// immutable and safe for concurrent use. Slices that its methods return belong to the caller.
//
// Words are numbered 0…N−1. Topics are numbered 0…K−1 in the order in which their anchors were
// found, the most distinct first, by decreasing share if they were learned without anchors, or so
// that topics of a group of Tree are neighbours. A model that
// follows another ([Pipeline.From]) keeps the numbers of that one; Reorder changes them.
//
// Methods panic on a topic outside [0, K) or a word outside [0, N), as indexing a slice does.
//
// A model takes 8·N·K bytes and its vocabulary; another 8·N·K if it has a Reading, the same if it was
// not refined ([Pipeline.Refine]) or topics were dropped ([Edits]), and its [Additions].
type Model struct {
	n, k       int
	vocab      []string  // nil: words are named by their numbers
	topics     []float64 // B, N×K
	wordTopics []float64 // transpose of B̆, N×K; nil: by Bayes' rule from B and the row sums of A
	reading    []float64 // weights of the words by which people recognise a topic, N×K; nil: none
	corr       []float64 // A, K×K
	anchors    []int     // nil: learned without anchors
	groups     [][]int   // words combined into an anchor; nil: every anchor is a single word
	marginals  []float64
	stats      Stats
	prov       Provenance
	dual       []float64                // Λ/M of PADD; nil: not learned
	alpha      []float64                // Dirichlet parameters; nil: not learned
	logits     *recovery.LogisticNormal // nil: not learned; never written to
	tree       *recovery.Tree           // nil: the topics were not split; never written to
	stems      *stems.Index             // of the vocabulary, by the Stemmer of the tokenizer; nil without one
	background []bool                   // nil: no topic is background
	all        *Model                   // with the topics that were dropped, which come last; nil: none was
	add        Additions                // without Names where all are ""

	index func() map[string]int
	best  func() [][]int // the first words of each topic, by number; nil: TopWords looks for them
	names func() []string
	bayes func() bayes // where wordTopics is nil
}

// newModel checks the parts of m, which the caller gives away, and makes m ready for use. Of small
// lists it makes copies, for a stage of the caller's own may keep what it returned. Its errors name
// the part and the place but not the package. O(NK).
func newModel(m *Model) (*Model, error) {
	if m.k < 2 || m.k > m.n {
		return nil, fmt.Errorf("topics: K = %d is not in [2, N = %d]", m.k, m.n)
	}
	m.anchors, m.marginals, m.alpha = slices.Clone(m.anchors), slices.Clone(m.marginals), slices.Clone(m.alpha)
	m.stats, m.prov = m.stats.clone(), m.prov.clone()
	m.ready()
	symmetrise(m.corr, m.k)
	symmetrise(m.dual, m.k)
	if m.followsBayes() {
		m.wordTopics = nil
	}
	if err := modelfile.Check(m.sections()); err != nil {
		return nil, err
	}
	return m, nil
}

// ready makes a model with all its parts ready for use. Lists that say nothing become nil.
func (m *Model) ready() *Model {
	m.groups, m.tree, m.add.Names = cloneGroups(m.groups), cloneTree(m.tree), cloneNames(m.add.Names)
	if m.background = slices.Clone(m.background); !slices.Contains(m.background, true) {
		m.background = nil
	}
	m.prov.FormatVersion = modelfile.Version
	if m.all != nil {
		m.all.vocab = m.vocab
		m.all.ready()
	}
	m.index = sync.OnceValue(func() map[string]int {
		index := make(map[string]int, len(m.vocab))
		for i, w := range slices.Backward(m.vocab) { // the first of two that are the same stays
			index[w] = i
		}
		return index
	})
	m.derive()
	return m
}

// setNames takes names of the user, "" for none.
func (m *Model) setNames(names []string) {
	m.add.Names, m.names = cloneNames(names), sync.OnceValue(m.makeNames)
}

// derive leaves what follows from the parts of the model to be made when it is first asked for.
func (m *Model) derive() {
	m.best, m.names, m.bayes = sync.OnceValue(m.makeBest), sync.OnceValue(m.makeNames), sync.OnceValue(m.makeBayes)
}

// setFactors sets B, B̆ᵀ and A, which have the sizes of the model; nil for B̆ says that it follows by
// Bayes' rule. It does not copy what lies row after row.
func (m *Model) setFactors(b, breve, a *mat.Dense) error {
	m.n, m.k = b.Dims()
	m.wordTopics = nil
	if breve != nil {
		if r, c := breve.Dims(); r != m.n || c != m.k {
			return fmt.Errorf("word_topics: is %d×%d, want N×K = %d×%d", r, c, m.n, m.k)
		}
		m.wordTopics = packed(breve)
	}
	if r, c := a.Dims(); r != m.k || c != m.k {
		return fmt.Errorf("correlations: is %d×%d, want K×K = %d×%d", r, c, m.k, m.k)
	}
	m.topics, m.corr = packed(b), packed(a)
	return nil
}

// setRefined takes over what passes over documents found.
func (m *Model) setRefined(x *refine.Result) error {
	if err := m.setFactors(x.B, nil, x.A); err != nil {
		return err
	}
	if x.Prior != nil {
		if err := x.Prior.Validate(m.k); err != nil {
			return fmt.Errorf("logits: %w", err)
		}
	}
	m.alpha, m.reading, m.logits, m.tree = x.Alpha, nil, x.Prior, cmp.Or(x.Tree, m.tree)
	if x.Reading == nil {
		return nil
	}
	if r, c := x.Reading.Dims(); r != m.n || c != m.k {
		return fmt.Errorf("reading: is %d×%d, want N×K = %d×%d", r, c, m.n, m.k)
	}
	m.reading = packed(x.Reading)
	if &m.reading[0] == &m.topics[0] {
		m.reading = slices.Clone(m.reading) // of which words are taken (markBackground)
	}
	return nil
}

// packed returns the rows of d one after the other, without a copy where they lie so already.
func packed(d *mat.Dense) []float64 {
	if raw := d.RawMatrix(); raw.Stride != raw.Cols {
		d = mat.DenseCopyOf(d)
	}
	return slices.Clip(d.RawMatrix().Data)
}

// cloneGroups copies the groups of anchors. Groups without words become nil, as those of single
// words are, and so does the whole where all are.
func cloneGroups(groups [][]int) [][]int {
	if !slices.ContainsFunc(groups, func(g []int) bool { return len(g) > 0 }) {
		return nil
	}
	out := make([][]int, len(groups))
	for j, g := range groups {
		if len(g) > 0 {
			out[j] = slices.Clone(g)
		}
	}
	return out
}

// N returns the number of words.
func (m *Model) N() int { return m.n }

// K returns the number of topics.
func (m *Model) K() int { return m.k }

// Anchors returns the number of the anchor word of each topic, or nil for a model that was learned
// without anchors ([Pipeline.AnchorFree]) or whose topics were split from few (Tree).
func (m *Model) Anchors() []int { return slices.Clone(m.anchors) }

// AnchorGroups returns for each topic the words that were combined into its anchor
// ([anchor.Tandem]), of which the word in Anchors is one, or nil for a topic whose anchor is a
// single word. It returns nil if all are.
func (m *Model) AnchorGroups() [][]int { return cloneGroups(m.groups) }

// Marginals returns c, the N row sums of the matrix that was factorised. They are p(word) up to a
// factor. Rectifiers whose result may have negative entries may leave tiny negative values. Where
// that matrix had the best words only ([Pipeline.Words]), they are p(word) of all: the mean of its
// shares of the documents.
func (m *Model) Marginals() []float64 { return slices.Clone(m.marginals) }

// Alpha returns the K parameters of the Dirichlet prior of a document's topics, those of refinement
// ([Pipeline.Refine]), or nil if there was none; inference then takes [recovery.FitAlpha] of the
// correlations.
func (m *Model) Alpha() []float64 { return slices.Clone(m.alpha) }

// Logits returns the logistic-normal prior of a document's topics that the last passes over the
// documents learned ([refine.Passes].Correlated), or nil where there were none. [infer.MAP], and so
// [Model.Transform], takes it in place of Alpha; Gibbs sampling takes Alpha. Of more than 128 topics
// that were split it is one of families of topics, the groups of the coarsest level of Tree; within
// a family proportions have the Dirichlet prior with Alpha.
// Of merged topics it is the prior with the same expectations; families of which topics are merged
// become one. It must not be written to.
func (m *Model) Logits() *recovery.LogisticNormal { return m.logits }

// Stats returns what each stage of the fit did.
func (m *Model) Stats() Stats { return m.stats.clone() }

// Additions are what a model holds besides its fit: see [Model.With]. The file of the model keeps
// them, of a Tokenizer the setting.
type Additions struct {
	// Names are the user's names of the K topics, no two alike; "" gives a topic its automatic
	// name: see [Model.Names]. They go with their topics through Reorder, files and refits
	// ([Pipeline.From]). They must be UTF-8 without control characters or space at the ends.
	Names []string
	// Documents are the topic proportions of documents, such as those of the fit, with their ids,
	// labels and metadata. They take 8·K + 36 bytes a document in a file.
	Documents *Compositions
	// Uncertainty is what a [Bootstrap] found for the model.
	Uncertainty *Uncertainty
	// Verdicts judge the K topics: see [Pipeline.Verdicts] and [metrics.Report].
	Verdicts []metrics.Verdict
	// Tokenizer splits raw text. Its setting must be that of the fit (Provenance.Text), of which
	// Own and the names of the tools are a part. A model of which no setting is known takes any.
	Tokenizer text.Tokenizer
}

// With returns a copy of the model that also holds the fields of x that are not nil, which are
// copied. It is an error if one does not suit the model.
func (m *Model) With(x Additions) (*Model, error) {
	out := *m
	if x.Names != nil {
		if out.setNames(x.Names); len(x.Names) != m.k {
			return nil, errorf("names: are %d, want K = %d", len(x.Names), m.k)
		}
		if err := checkNames(out.add.Names); err != nil {
			return nil, errorf("names: %w", err)
		}
	}
	if x.Documents != nil {
		if err := x.Documents.Validate(m.k); err != nil {
			return nil, errorf("documents: %w", err)
		}
		out.add.Documents = x.Documents.clone()
	}
	if x.Uncertainty != nil {
		if err := x.Uncertainty.check(m.n, m.families()); err != nil {
			return nil, errorf("uncertainty: %w", err)
		}
		out.add.Uncertainty = x.Uncertainty.clone()
	}
	if x.Verdicts != nil {
		if err := checkVerdicts(x.Verdicts, m.k); err != nil {
			return nil, errorf("verdicts: %w", err)
		}
		out.add.Verdicts = slices.Clone(x.Verdicts)
	}
	if x.Tokenizer != nil {
		if err := out.split(x.Tokenizer); err != nil {
			return nil, wrap(err)
		}
	}
	return &out, nil
}

// Additions returns copies of what the model holds besides its fit, with the topics numbered as in
// the model.
func (m *Model) Additions() Additions {
	x := m.add
	x.Names, x.Verdicts = slices.Clone(x.Names), slices.Clone(x.Verdicts)
	x.Documents, x.Uncertainty = x.Documents.clone(), x.Uncertainty.clone()
	return x
}
