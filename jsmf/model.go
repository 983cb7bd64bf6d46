package jsmf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/rectify"
)

// Tolerances of what a Model checks when it is made or read, and computes.
const (
	// simplexTol bounds |Σ − 1| for the columns of B and the rows of B̆. Both
	// are sums of at most some 1e5 rounded terms, which err by 1e-11 at worst.
	simplexTol = 1e-9
	// symmetryTol bounds |A_kl − A_lk| / max|A|: pseudo-inverse recoveries of
	// A are symmetric only up to the conditioning of B.
	symmetryTol = 1e-6
	// varianceTol is the part of A_kk that A_kk − a_k² must keep to be more
	// than rounding.
	varianceTol = 1e-12
)

// Model is a fitted topic model: K topics over N words, and how they
// correlate. It is immutable and safe for concurrent use.
//
// Words are numbered 0…N−1, topics 0…K−1 in the order in which their anchors
// were found, so that the most distinct topics come first; without anchors by
// falling share. A model that follows another (Pipeline.From) has its topics
// numbered as there, and Reorder numbers them anew.
//
// Arguments that are out of range (a topic k outside [0, K), a word outside
// [0, N), a destination of the wrong shape) are mistakes of the program: the
// methods panic on them as indexing a slice does.
//
// Memory: 16·N·K bytes and the vocabulary; 16·N·K more if it was refined, and
// 16·N·(K + 10 to 17) if it is Resumable.
type Model struct {
	n, k       int
	vocab      []string // nil: words are called by their number
	topics     []float64
	wordTopics []float64
	corr       []float64
	anchors    []int     // nil: learnt without anchors
	facets     [][]int   // nil: every anchor is a single word
	norms      []float64 // nil: the finder gives none
	marginals  []float64
	stats      Stats
	prov       Provenance
	dual       []float64           // Λ/M of PADD; nil: not learned
	alpha      []float64           // Dirichlet parameters; nil: not learned
	tokenizer  *text.WordTokenizer // nil: not recorded
	spectral   *Model              // before it was refined; nil: it was not
	state      *rectify.State      // of the rectification, for a refit; nil: not kept

	index func() map[string]int
}

// Provenance tells where a model comes from: with it, the same input and the
// same type of CPU, the fit can be repeated to the last bit; one that followed
// another model (Pipeline.From) with that model too.
type Provenance struct {
	Version       string   `json:"version"`        // of this library; "(devel)" in a checkout, "unknown" without build information
	FormatVersion int      `json:"format_version"` // of the file a model was read from, or else of the file it would be written to
	Go            string   `json:"go"`             // release of Go, as runtime.Version
	OS            string   `json:"os"`             // as runtime.GOOS
	Arch          string   `json:"arch"`           // as runtime.GOARCH
	Kernel        string   `json:"kernel"`         // the matrix-product kernel chosen at run time
	Seed          uint64   `json:"seed"`
	Stages        []string `json:"stages"` // one description a stage, in their order, with all its settings
}

const modulePath = "github.com/jsmf-go/spectral"

// newProvenance fills in what the running program knows of itself.
func newProvenance(kernel string, seed uint64, stages []string) Provenance {
	return Provenance{
		Version: moduleVersion(), FormatVersion: formatVersion,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: kernel, Seed: seed, Stages: slices.Clone(stages),
	}
}

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	version := func(m *debug.Module) string {
		if m.Version == "" {
			return "(devel)" // a replacement by a folder has none
		}
		return m.Version
	}
	if info.Main.Path == modulePath {
		return version(&info.Main)
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			if m.Replace != nil {
				m = m.Replace
			}
			return version(m)
		}
	}
	return "unknown"
}

// modelParts is what a Model is made of. newModel takes ownership of the
// vocabulary and the matrices, and copies the rest.
type modelParts struct {
	Vocabulary   []string   // N words, or nil
	Topics       *mat.Dense // B, N×K; each column sums to 1
	WordTopics   *mat.Dense // B̆ᵀ, N×K; each row sums to 1 (or is 0, for a word with c_n ≤ 0)
	Correlations *mat.Dense // A, K×K, symmetric
	Anchors      []int      // K word numbers, or nil
	Facets       [][]int    // K lists of word numbers, nil for a topic with an anchor of one word; or nil
	AnchorNorms  []float64  // r_k, K of them, or nil
	Marginals    []float64  // c, N
	Stats        Stats
	Provenance   Provenance
	Dual         *mat.Dense          // Λ/M, K×K, symmetric; or nil
	Alpha        []float64           // Dirichlet parameters, K; or nil
	Tokenizer    *text.WordTokenizer // or nil
	Spectral     *spectralParts      // before the model was refined, or nil
	State        *rectify.State      // of the rectification, N rows, or nil
}

// spectralParts are the parts of a model that a refinement changes.
type spectralParts struct{ Topics, WordTopics, Correlations *mat.Dense }

// partError tells which part of a model is not as it must be.
type partError struct{ field, detail string }

func (e *partError) Error() string { return e.field + ": " + e.detail }

func invalid(field, format string, args ...any) error {
	return &partError{field, fmt.Sprintf(format, args...)}
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
	m := &Model{
		n: n, k: k,
		vocab:  p.Vocabulary,
		topics: packed(p.Topics), wordTopics: packed(p.WordTopics), corr: packed(p.Correlations),
		// Copies: small, and a caller's own finder may keep what it returned.
		anchors: slices.Clone(p.Anchors), facets: cloneFacets(p.Facets), norms: slices.Clone(p.AnchorNorms), marginals: slices.Clone(p.Marginals),
		stats: p.Stats.clone(), prov: p.Provenance, alpha: slices.Clone(p.Alpha),
	}
	m.prov.Stages = slices.Clone(m.prov.Stages)
	m.state = p.State
	if p.Dual != nil {
		if r, c := p.Dual.Dims(); r != k || c != k {
			return nil, invalid("dual", "is %d×%d, want K×K = %d×%d", r, c, k, k)
		}
		m.dual = packed(p.Dual)
	}
	if p.Tokenizer != nil {
		t := *p.Tokenizer
		m.tokenizer = &t
	}
	if r, c := p.WordTopics.Dims(); r != n || c != k {
		return nil, invalid("word_topics", "is %d×%d, want N×K = %d×%d", r, c, n, k)
	}
	if r, c := p.Correlations.Dims(); r != k || c != k {
		return nil, invalid("correlations", "is %d×%d, want K×K = %d×%d", r, c, k, k)
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
	if p.Spectral != nil {
		if err := m.setSpectral(*p.Spectral); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// setSpectral gives m the model that it was refined from, which shares all with
// it that the refinement did not change. The matrices have the shapes of m's.
func (m *Model) setSpectral(p spectralParts) error {
	s := *m
	s.topics, s.wordTopics, s.corr = packed(p.Topics), packed(p.WordTopics), packed(p.Correlations)
	s.alpha, s.stats.Refine = nil, RefineStats{}
	if n := len(s.prov.Stages); n > 0 {
		s.prov.Stages = s.prov.Stages[: n-1 : n-1]
	}
	if err := s.check(); err != nil {
		var pe *partError
		if errors.As(err, &pe) {
			pe.field = "spectral_" + pe.field
		}
		return err
	}
	m.spectral = &s
	return nil
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

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (m *Model) check() error {
	n, k := m.n, m.k
	if m.vocab != nil && len(m.vocab) != n {
		return invalid("vocabulary", "has %d words, want N = %d", len(m.vocab), n)
	}
	if len(m.marginals) != n {
		return invalid("marginals", "has %d values, want N = %d", len(m.marginals), n)
	}
	for i, c := range m.marginals {
		if !finite(c) {
			return invalid("marginals", "word %s has %v", m.called(i), c)
		}
	}

	sums := make([]float64, k)
	for i := range n {
		for j, b := range m.topics[i*k : (i+1)*k] {
			if !(b >= 0) || math.IsInf(b, 1) {
				return invalid("topics", "p(word %s | topic %d) = %v is not a probability", m.called(i), j, b)
			}
			sums[j] += b
		}
	}
	for j, s := range sums {
		if !(math.Abs(s-1) <= simplexTol) {
			return invalid("topics", "p(word | topic %d) sums to %v over the words, not 1", j, s)
		}
	}

	for i := range n {
		s := 0.0
		for j, b := range m.wordTopics[i*k : (i+1)*k] {
			if !(b >= 0) || math.IsInf(b, 1) {
				return invalid("word_topics", "p(topic %d | word %s) = %v is not a probability", j, m.called(i), b)
			}
			s += b
		}
		if s == 0 && m.marginals[i] <= 0 {
			continue // nothing is known of a word that never occurs
		}
		if !(math.Abs(s-1) <= simplexTol) {
			return invalid("word_topics", "p(topic | word %s) sums to %v over the topics, not 1", m.called(i), s)
		}
	}

	if err := checkSymmetric("correlations", "A", m.corr, k); err != nil {
		return err
	}
	if m.dual != nil {
		if err := checkSymmetric("dual", "Λ/M", m.dual, k); err != nil {
			return err
		}
	}
	if m.alpha != nil && len(m.alpha) != k {
		return invalid("alpha", "has %d values, want K = %d", len(m.alpha), k)
	}
	for j, a := range m.alpha {
		if !(a > 0) || math.IsInf(a, 1) {
			return invalid("alpha", "that of topic %d is %v, not positive", j, a)
		}
	}
	if m.state != nil {
		if err := m.state.Validate(); err != nil {
			return invalid("state", "%v", err)
		}
		if r, _ := m.state.Vectors.Dims(); r != n {
			return invalid("state", "has %d rows, want N = %d", r, n)
		}
	}
	if m.tokenizer != nil {
		if err := checkTokenizer(*m.tokenizer); err != nil {
			return err
		}
	}

	if m.anchors == nil && m.norms != nil {
		return invalid("anchor_norms", "has %d values, but there are no anchors", len(m.norms))
	}
	if m.anchors != nil && len(m.anchors) != k {
		return invalid("anchors", "has %d words, want K = %d", len(m.anchors), k)
	}
	topic := make(map[int]int, k)
	for j, s := range m.anchors {
		if s < 0 || s >= n {
			return invalid("anchors", "word %d of topic %d is not in [0, %d)", s, j, n)
		}
		if l, ok := topic[s]; ok {
			return invalid("anchors", "word %s is the anchor of topics %d and %d", m.called(s), l, j)
		}
		topic[s] = j
	}
	if err := m.checkFacets(); err != nil {
		return err
	}
	if m.norms != nil && len(m.norms) != k {
		return invalid("anchor_norms", "has %d values, want K = %d", len(m.norms), k)
	}
	for j, r := range m.norms {
		if !finite(r) || r < 0 {
			return invalid("anchor_norms", "r of topic %d is %v", j, r)
		}
	}
	return nil
}

// checkSymmetric checks a K×K matrix: that it is finite, and symmetric to
// symmetryTol.
func checkSymmetric(field, name string, a []float64, k int) error {
	scale := 0.0
	for i, x := range a {
		if !finite(x) {
			return invalid(field, "%s[%d,%d] = %v", name, i/k, i%k, x)
		}
		scale = max(scale, math.Abs(x))
	}
	for i := range k {
		for j := range i {
			if x, y := a[i*k+j], a[j*k+i]; !(math.Abs(x-y) <= symmetryTol*scale) {
				return invalid(field, "%s[%d,%d] = %v but %s[%d,%d] = %v", name, i, j, x, name, j, i, y)
			}
		}
	}
	return nil
}

func checkTokenizer(t text.WordTokenizer) error {
	if t.MinLength < 0 || t.MaxLength < 0 || t.Numbers < text.DropNumbers || t.Numbers > text.DropDigits {
		return invalid("tokenizer", "%+v is out of range", t)
	}
	return nil
}

// checkFacets checks the facets: the words of each are different ones, and the
// anchor is one of them.
func (m *Model) checkFacets() error {
	if m.facets == nil {
		return nil
	}
	if len(m.facets) != m.k {
		return invalid("facets", "are %d, want K = %d", len(m.facets), m.k)
	}
	for j, f := range m.facets {
		if f == nil {
			continue
		}
		seen := make(map[int]bool, len(f))
		for _, w := range f {
			if w < 0 || w >= m.n {
				return invalid("facets", "word %d of topic %d is not in [0, %d)", w, j, m.n)
			}
			if seen[w] {
				return invalid("facets", "topic %d has the word %s twice", j, m.called(w))
			}
			seen[w] = true
		}
		if !seen[m.anchors[j]] {
			return invalid("facets", "the anchor of topic %d, word %s, is not in its facet", j, m.called(m.anchors[j]))
		}
	}
	return nil
}

// cloneFacets copies facets. Those without words become nil, as those of single
// words are, and so does the whole where all are.
func cloneFacets(facets [][]int) [][]int {
	out := make([][]int, len(facets))
	some := false
	for j, f := range facets {
		if len(f) > 0 {
			out[j], some = slices.Clone(f), true
		}
	}
	if !some {
		return nil
	}
	return out
}

// called names word i in an error: its number, and the word itself if there is
// a vocabulary.
func (m *Model) called(i int) string {
	if m.vocab == nil {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d (%.40q)", i, m.vocab[i])
}

// N returns the number of words.
func (m *Model) N() int { return m.n }

// K returns the number of topics.
func (m *Model) K() int { return m.k }

// view is a matrix that cannot be written through.
type view struct {
	r, c int
	data []float64
}

func (v view) Dims() (r, c int) { return v.r, v.c }

func (v view) At(i, j int) float64 {
	if uint(i) >= uint(v.r) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(v.c) {
		panic(mat.ErrColAccess)
	}
	return v.data[i*v.c+j]
}

func (v view) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// to copies v into dst as gonum's …To methods do.
func (v view) to(dst *mat.Dense) *mat.Dense {
	switch {
	case dst == nil:
		dst = mat.NewDense(v.r, v.c, nil)
	case dst.IsEmpty():
		dst.ReuseAs(v.r, v.c)
	default:
		if r, c := dst.Dims(); r != v.r || c != v.c {
			panic(mat.ErrShape)
		}
	}
	for i := range v.r {
		copy(dst.RawRowView(i), v.data[i*v.c:(i+1)*v.c])
	}
	return dst
}

// Topics returns B, the N×K matrix of topics: column k is p(word | topic k),
// non-negative, and sums to 1. It is a view that costs nothing and cannot be
// written through; for products and other work on the whole, TopicsTo is
// faster, since gonum reads a view one element at a time.
func (m *Model) Topics() mat.Matrix { return view{m.n, m.k, m.topics} }

// TopicsTo copies B (N×K) into dst and returns it. A nil dst is allocated, an
// empty one resized; any other must be N×K, or TopicsTo panics with
// mat.ErrShape.
func (m *Model) TopicsTo(dst *mat.Dense) *mat.Dense { return view{m.n, m.k, m.topics}.to(dst) }

// WordTopics returns the N×K matrix whose row n is p(topic | word n). It is
// the transpose of B̆ in the papers. Rows are non-negative and sum to 1; the
// row of a word whose marginal is not positive may be all 0. Anchors, where
// there are any, have unit rows, but for those with Facets and in a refined
// model. It is a view, as Topics.
func (m *Model) WordTopics() mat.Matrix { return view{m.n, m.k, m.wordTopics} }

// WordTopicsTo copies WordTopics into dst as TopicsTo does.
func (m *Model) WordTopicsTo(dst *mat.Dense) *mat.Dense {
	return view{m.n, m.k, m.wordTopics}.to(dst)
}

// Correlations returns A, the symmetric K×K matrix of p(topic k, topic l): the
// probability that two words drawn from one document come from topics k and l.
// It is the estimate as recovered, neither clipped nor rescaled: how far its
// sum is from 1 and whether entries are negative tells how well the model fits
// (metrics.Report.Legality). It is a view, as Topics.
func (m *Model) Correlations() mat.Matrix { return view{m.k, m.k, m.corr} }

// CorrelationsTo copies A (K×K) into dst as TopicsTo does.
func (m *Model) CorrelationsTo(dst *mat.Dense) *mat.Dense {
	return view{m.k, m.k, m.corr}.to(dst)
}

// HasAnchors tells whether topics have anchor words: not so in a model that was
// learnt without (Pipeline.AnchorFree).
func (m *Model) HasAnchors() bool { return m.anchors != nil }

// Anchors returns S, the number of the anchor word of each topic; nil for a
// model without anchors. The slice, of length K, is the caller's own.
func (m *Model) Anchors() []int { return slices.Clone(m.anchors) }

// AnchorWords returns the anchor word of each topic; nil for a model without
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

// Facets returns, where the user made anchors of several words (anchor.Tandem),
// the words of each topic's facet, of which the one in Anchors is one; nil for a
// topic that has an anchor of its own. nil where all have. The slices are the
// caller's own.
func (m *Model) Facets() [][]int { return cloneFacets(m.facets) }

// AnchorNorms returns the pivot norms r_k: how far the row of anchor k in C̄
// lies from the span of those before it. They fall with k for pivoted QR; a
// norm close to 0 means more topics than the data hold. The slice, of length
// K, is the caller's own; nil if there are no anchors, or they were found by a
// method without pivots.
func (m *Model) AnchorNorms() []float64 { return slices.Clone(m.norms) }

// Marginals returns c, the row sums of the matrix that was factorised: p(word)
// up to the factor by which that matrix misses the sum 1. Methods that do not
// end in a non-negative matrix may leave tiny negative values. The slice, of
// length N, is the caller's own.
func (m *Model) Marginals() []float64 { return slices.Clone(m.marginals) }

// HasVocabulary tells whether words have names. Without one, as after a fit of
// a bare matrix, they are called by their number: "0", "1", ….
func (m *Model) HasVocabulary() bool { return m.vocab != nil }

// Vocabulary returns the N words; nil if there is no vocabulary. The slice is
// the caller's own.
func (m *Model) Vocabulary() []string { return slices.Clone(m.vocab) }

// Word returns the word with number i.
func (m *Model) Word(i int) string {
	if m.vocab != nil {
		return m.vocab[i]
	}
	if i < 0 || i >= m.n {
		panic(fmt.Sprintf("jsmf: word %d is not in [0, %d)", i, m.n))
	}
	return strconv.Itoa(i)
}

// Index returns the number of a word (the lowest, should the vocabulary repeat
// it), and whether there is such a word. The first call builds a map of the
// vocabulary.
func (m *Model) Index(word string) (int, bool) {
	if m.vocab != nil {
		i, ok := m.index()[word]
		return i, ok
	}
	if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < m.n && strconv.Itoa(i) == word {
		return i, true
	}
	return 0, false
}

// WordProb is a word and its probability in a topic.
type WordProb struct {
	Index int     // number of the word
	Word  string  // the word
	Prob  float64 // p(word | topic)
}

// TopWords returns the n most probable words of topic k, by decreasing
// probability, equal ones by their number; all N where n is larger, none where
// n ≤ 0. A pass over the N words for a small n, a sort for one near N.
func (m *Model) TopWords(k, n int) []WordProb {
	m.checkTopic(k)
	n = max(0, min(n, m.n))
	var best []int
	if n > 0 && n <= m.n/16 {
		// Insertion into a short sorted list: once it holds the common words,
		// almost every word fails the first comparison.
		best = make([]int, 0, n+1)
		for i := range m.n {
			p := m.topics[i*m.k+k]
			if len(best) == n && p <= m.topics[best[n-1]*m.k+k] {
				continue
			}
			at := len(best)
			for at > 0 && m.topics[best[at-1]*m.k+k] < p {
				at--
			}
			best = slices.Insert(best, at, i)
			if len(best) > n {
				best = best[:n]
			}
		}
	} else if n > 0 {
		best = make([]int, m.n)
		for i := range best {
			best[i] = i
		}
		slices.SortStableFunc(best, func(a, b int) int {
			return cmp.Compare(m.topics[b*m.k+k], m.topics[a*m.k+k])
		})
		best = best[:n]
	}
	out := make([]WordProb, len(best))
	for j, i := range best {
		out[j] = WordProb{i, m.Word(i), m.topics[i*m.k+k]}
	}
	return out
}

func (m *Model) checkTopic(k int) {
	if k < 0 || k >= m.k {
		panic(fmt.Sprintf("jsmf: topic %d is not in [0, %d)", k, m.k))
	}
}

// shares returns the row sums of A over its whole sum, and that sum.
func (m *Model) shares() (a []float64, sum float64) {
	a = make([]float64, m.k)
	for i := range m.k {
		for _, x := range m.corr[i*m.k : (i+1)*m.k] {
			a[i] += x
		}
		sum += a[i]
	}
	for i := range a {
		if sum > 0 {
			a[i] /= sum
		} else {
			a[i] = math.NaN()
		}
	}
	return a, sum
}

// TopicShares returns p(topic): the row sums of A divided by the sum of A. The
// shares sum to 1. They may be negative if A is not a proper distribution, and
// are all NaN if A does not even have a positive sum. The slice, of length K,
// is the caller's own. O(K²).
func (m *Model) TopicShares() []float64 {
	a, _ := m.shares()
	return a
}

// TopicPair tells how two topics go together. With A scaled to sum 1 and a its
// row sums:
type TopicPair struct {
	K, L int // the topics, K < L

	// Joint is A_kl, the probability that two words of one document come from
	// topics K and L, in this order.
	Joint float64

	// Lift is A_kl / (a_k a_l): how many times as often as if topics were
	// drawn independently.
	Lift float64

	// Correlation is (A_kl − a_k a_l) / √((A_kk − a_k²)(A_ll − a_l²)), the
	// Pearson correlation over documents of the proportions of the two topics:
	// A is the second moment E[wwᵀ] of the proportions w, a its mean. It lies
	// in [−1, 1] whenever A is positive semi-definite. It is NaN where the
	// estimated variance A_kk − a_k² of a topic is not positive (to 1e-12 of
	// A_kk): a topic with the same share of every document, or an A that is
	// not positive semi-definite, as one from an unrectified matrix may be.
	Correlation float64
}

// CorrelatedPairs returns the n pairs of topics with the largest correlation,
// in decreasing order (NaN last, equal ones by K, then L); all K(K−1)/2 pairs
// where n is larger or negative. The last of all pairs are thus the topics
// that most avoid each other. O(K² log K).
func (m *Model) CorrelatedPairs(n int) []TopicPair {
	a, sum := m.shares()
	k := m.k
	at := func(i, j int) float64 { // A scaled and symmetric to the last bit
		return (m.corr[i*k+j] + m.corr[j*k+i]) / (2 * sum)
	}
	pairs := make([]TopicPair, 0, k*(k-1)/2)
	for i := range k {
		for j := i + 1; j < k; j++ {
			p := TopicPair{K: i, L: j, Joint: math.NaN(), Lift: math.NaN(), Correlation: math.NaN()}
			if sum > 0 {
				p.Joint = at(i, j)
				if d := a[i] * a[j]; d != 0 {
					p.Lift = p.Joint / d
				}
				vi, vj := at(i, i)-a[i]*a[i], at(j, j)-a[j]*a[j]
				if vi > varianceTol*at(i, i) && vj > varianceTol*at(j, j) && vi > 0 && vj > 0 {
					p.Correlation = (p.Joint - a[i]*a[j]) / (math.Sqrt(vi) * math.Sqrt(vj))
				}
			}
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(p, q TopicPair) int {
		return cmp.Compare(q.Correlation, p.Correlation) // NaN is less than all
	})
	if n >= 0 && n < len(pairs) {
		pairs = slices.Clone(pairs[:n])
	}
	return pairs
}

// Refined tells whether topics and correlations were refined on the documents
// (Pipeline.Refine).
func (m *Model) Refined() bool { return m.spectral != nil }

// Spectral returns the model as it was before it was refined, m itself if it was
// not. Anchors, their norms, marginals and vocabulary are those of m.
func (m *Model) Spectral() *Model {
	if m.spectral == nil {
		return m
	}
	return m.spectral
}

// Alpha returns the parameters of the Dirichlet prior of a document's topics
// that the refinement used or found, or LearnAlpha, K positive numbers, the
// caller's own; nil if there was neither.
func (m *Model) Alpha() []float64 { return slices.Clone(m.alpha) }

// Stats returns what each stage of the fit did. The value and all its slices
// are the caller's own.
func (m *Model) Stats() Stats { return m.stats.clone() }

// Provenance returns where the model comes from. The value is the caller's
// own.
func (m *Model) Provenance() Provenance {
	p := m.prov
	p.Stages = slices.Clone(p.Stages)
	return p
}

// String returns a summary in one line.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "jsmf.Model: %d topics over %d words", m.k, m.n)
	if d := m.stats.Corpus.Documents; d > 0 {
		fmt.Fprintf(&b, " from %d documents", d)
	}
	if len(m.prov.Stages) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(m.prov.Stages, "; "))
	}
	return b.String()
}
