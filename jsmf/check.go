package jsmf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Tolerances of the checks of a model's parts.
const (
	// simplexTol bounds |Σ − 1| for the columns of B and the rows of B̆. Both
	// are sums of at most some 1e5 rounded terms, which err by 1e-11 at worst.
	simplexTol = 1e-9
	// symmetryTol bounds |A_kl − A_lk| / max|A|: pseudo-inverse recoveries of
	// A are symmetric only up to the conditioning of B.
	symmetryTol = 1e-6
)

// partError names a part of a model that is not as it must be.
type partError struct{ field, detail string }

func (e *partError) Error() string { return e.field + ": " + e.detail }

func invalid(field, format string, args ...any) error {
	return &partError{field, fmt.Sprintf(format, args...)}
}

// check tells whether the parts of the model fit together and are what they
// must be: see FORMAT.md. O(NK).
func (m *Model) check() error {
	n, k := m.n, m.k
	if m.vocab != nil && len(m.vocab) != n {
		return invalid("vocabulary", "has %d words, want N = %d", len(m.vocab), n)
	}
	if len(m.marginals) != n {
		return invalid("marginals", "has %d values, want N = %d", len(m.marginals), n)
	}
	for i, c := range m.marginals {
		if !vec.Finite(c) {
			return invalid("marginals", "word %s has %v", m.called(i), c)
		}
	}
	if err := m.checkTopics(); err != nil {
		return err
	}
	if err := m.checkWordTopics(); err != nil {
		return err
	}
	if err := m.checkReading(); err != nil {
		return err
	}
	if m.background != nil && len(m.background) != k {
		return invalid("background", "has %d flags, want K = %d", len(m.background), k)
	}
	if err := m.checkNames(); err != nil {
		return err
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
	if m.text != nil {
		if err := m.text.Validate(); err != nil {
			return invalid("text", "%v", err)
		}
	}
	if m.docs != nil {
		if err := m.docs.check(k); err != nil {
			return invalid("documents", "%v", err)
		}
	}
	if m.unsure != nil {
		if err := m.unsure.check(n, k); err != nil {
			return invalid("uncertainty", "%v", err)
		}
	}
	if err := checkVerdicts(m.verdicts, k); err != nil {
		return invalid("verdicts", "%v", err)
	}
	return m.checkAnchors()
}

// checkTopics checks that the columns of B are distributions of words.
func (m *Model) checkTopics() error {
	sums := make([]float64, m.k)
	for i := range m.n {
		for j, b := range m.topics[i*m.k : (i+1)*m.k] {
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
	return nil
}

// checkWordTopics checks that the rows of B̆ᵀ are distributions of topics, or 0
// for words that are in no topic or whose marginal is not positive.
func (m *Model) checkWordTopics() error {
	for i := range m.n {
		s := 0.0
		for j, b := range m.wordTopics[i*m.k : (i+1)*m.k] {
			if !(b >= 0) || math.IsInf(b, 1) {
				return invalid("word_topics", "p(topic %d | word %s) = %v is not a probability", j, m.called(i), b)
			}
			s += b
		}
		if s == 0 && (m.marginals[i] <= 0 || floats.Sum(m.topics[i*m.k:(i+1)*m.k]) == 0) {
			continue // a word that never occurs, or is in no topic
		}
		if !(math.Abs(s-1) <= simplexTol) {
			return invalid("word_topics", "p(topic | word %s) sums to %v over the topics, not 1", m.called(i), s)
		}
	}
	return nil
}

// checkReading checks that the columns of the reading weights are distributions of
// words, or 0.
func (m *Model) checkReading() error {
	if m.reading == nil {
		return nil
	}
	sums := make([]float64, m.k)
	for i := range m.n {
		for j, w := range m.reading[i*m.k : (i+1)*m.k] {
			if !(w >= 0) || math.IsInf(w, 1) {
				return invalid("reading", "the weight of word %s in topic %d is %v", m.called(i), j, w)
			}
			sums[j] += w
		}
	}
	for j, s := range sums {
		if s != 0 && !(math.Abs(s-1) <= simplexTol) {
			return invalid("reading", "the weights of topic %d sum to %v over the words, not 1", j, s)
		}
	}
	return nil
}

// checkNames checks the names of the user.
func (m *Model) checkNames() error {
	if m.given != nil && len(m.given) != m.k {
		return invalid("names", "are %d, want K = %d", len(m.given), m.k)
	}
	topic := make(map[string]int, m.k)
	for j, s := range m.given {
		if s == "" {
			continue
		}
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
			return invalid("names", "that of topic %d, %.40q, is not UTF-8, or has control characters or space around it", j, s)
		}
		if l, ok := topic[s]; ok {
			return invalid("names", "%.40q is that of topics %d and %d", s, l, j)
		}
		topic[s] = j
	}
	return nil
}

// checkSymmetric checks a K×K matrix: that it is finite, and symmetric to
// symmetryTol.
func checkSymmetric(field, name string, a []float64, k int) error {
	scale := 0.0
	for i, x := range a {
		if !vec.Finite(x) {
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

// checkAnchors checks that the anchors are K different words, that their norms
// in the statistics are lengths, and that each group holds different words, the
// anchor among them.
func (m *Model) checkAnchors() error {
	if m.anchors != nil && len(m.anchors) != m.k {
		return invalid("anchors", "has %d words, want K = %d", len(m.anchors), m.k)
	}
	topic := make(map[int]int, m.k)
	for j, s := range m.anchors {
		if s < 0 || s >= m.n {
			return invalid("anchors", "word %d of topic %d is not in [0, %d)", s, j, m.n)
		}
		if l, ok := topic[s]; ok {
			return invalid("anchors", "word %s is the anchor of topics %d and %d", m.called(s), l, j)
		}
		topic[s] = j
	}
	if r := m.stats.Anchors.Norms; r != nil && len(r) != len(m.anchors) {
		return invalid("stats", "%d norms of %d anchors", len(r), len(m.anchors))
	}
	for j, r := range m.stats.Anchors.Norms {
		if !vec.Finite(r) || r < 0 {
			return invalid("stats", "the norm of anchor %d is %v", j, r)
		}
	}
	if m.groups == nil {
		return nil
	}
	if len(m.groups) != m.k || m.anchors == nil {
		return invalid("anchor_groups", "are %d, for %d anchors of %d topics", len(m.groups), len(m.anchors), m.k)
	}
	for j, g := range m.groups {
		if g == nil {
			continue
		}
		seen := make(map[int]bool, len(g))
		for _, w := range g {
			if w < 0 || w >= m.n {
				return invalid("anchor_groups", "word %d of topic %d is not in [0, %d)", w, j, m.n)
			}
			if seen[w] {
				return invalid("anchor_groups", "topic %d has the word %s twice", j, m.called(w))
			}
			seen[w] = true
		}
		if !seen[m.anchors[j]] {
			return invalid("anchor_groups", "the anchor of topic %d, word %s, is not in its group", j, m.called(m.anchors[j]))
		}
	}
	return nil
}

// called names word i in an error: its number, and the word itself if there is
// a vocabulary.
func (m *Model) called(i int) string {
	if m.vocab == nil {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d (%.40q)", i, m.vocab[i])
}
