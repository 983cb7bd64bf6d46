package jsmf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

// Tolerances of the checks of a model's parts.
const (
	// simplexTol bounds |Σ − 1| for the columns of B and the rows of B̆. Both are sums of at most
	// some 1e5 rounded terms, which err by 1e-11 at worst.
	simplexTol = 1e-9
	// symmetryTol bounds |A_kl − A_lk| / max|A| of what a stage of the user's own returns. In a
	// Model A is symmetric to the last bit.
	symmetryTol = 1e-6
)

// checkMarginals checks that c is finite.
func (m *Model) checkMarginals() error {
	for i, c := range m.marginals {
		if !vec.Finite(c) {
			return fmt.Errorf("word %s has %v", m.called(i), c)
		}
	}
	return nil
}

// checkAlpha checks that α is positive.
func (m *Model) checkAlpha() error {
	for j, a := range m.alpha {
		if !(a > 0) || math.IsInf(a, 1) {
			return fmt.Errorf("that of topic %d is %v, not positive", j, a)
		}
	}
	return nil
}

func (m *Model) checkText() error {
	if m.prov.Text == nil {
		return nil
	}
	return m.prov.Text.Validate()
}

// checkTopics checks that the columns of B are distributions of words.
func (m *Model) checkTopics() error {
	return m.checkColumns(m.topics, false, "p(word %s | topic %d) = %v is not a probability", "p(word | topic %d) sums to %.9g over the words, not 1")
}

// checkReading checks that the columns of the reading weights are distributions of words, or 0.
func (m *Model) checkReading() error {
	return m.checkColumns(m.reading, true, "the weight of word %s in topic %d is %v", "the weights of topic %d sum to %.9g over the words, not 1")
}

// checkColumns checks that the columns of an N×K matrix, if it is there, are distributions, or 0 if
// that may be. The formats are those of errors about an entry and about a sum.
func (m *Model) checkColumns(a []float64, zero bool, entry, sum string) error {
	if a == nil {
		return nil
	}
	sums := make([]float64, m.k)
	for i := range m.n {
		for j, x := range a[i*m.k : (i+1)*m.k] {
			if !(x >= 0) || math.IsInf(x, 1) {
				return fmt.Errorf(entry, m.called(i), j, x)
			}
			sums[j] += x
		}
	}
	for j, s := range sums {
		if !(math.Abs(s-1) <= simplexTol) && !(zero && s == 0) {
			return fmt.Errorf(sum, j, s)
		}
	}
	return nil
}

// checkWordTopics checks that the rows of B̆ᵀ are distributions of topics, or 0 for words that are
// in no topic or whose marginal is not positive.
func (m *Model) checkWordTopics() error {
	if m.wordTopics == nil { // by Bayes' rule
		for j, s := range m.rowSums() {
			if !(s >= 0) || math.IsInf(s, 1) {
				return fmt.Errorf("are not there, and do not follow from a share of topic %d of %v", j, s)
			}
		}
		return nil
	}
	for i := range m.n {
		s := 0.0
		for j, b := range m.wordTopics[i*m.k : (i+1)*m.k] {
			if !(b >= 0) || math.IsInf(b, 1) {
				return fmt.Errorf("p(topic %d | word %s) = %v is not a probability", j, m.called(i), b)
			}
			s += b
		}
		if s == 0 && (m.marginals[i] <= 0 || vec.Sum(m.topics[i*m.k:(i+1)*m.k]) == 0) {
			continue // a word that never occurs, or is in no topic
		}
		if !(math.Abs(s-1) <= simplexTol) {
			return fmt.Errorf("p(topic | word %s) sums to %.9g over the topics, not 1", m.called(i), s)
		}
	}
	return nil
}

// checkNames checks the names of the user.
func checkNames(names []string) error {
	topic := make(map[string]int, len(names))
	for j, s := range names {
		if s == "" {
			continue
		}
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
			return fmt.Errorf("that of topic %d, %.40q, is not UTF-8, or has control characters or space around it", j, s)
		}
		if l, ok := topic[s]; ok {
			return fmt.Errorf("%.40q is that of topics %d and %d", s, l, j)
		}
		topic[s] = j
	}
	return nil
}

// symmetrise makes a K×K matrix symmetric to the last bit where it is so to symmetryTol.
func symmetrise(a []float64, k int) {
	scale := 0.0
	for _, x := range a {
		scale = max(scale, math.Abs(x))
	}
	for i := 0; i < k && len(a) == k*k; i++ {
		for j := range i {
			if x, y := a[i*k+j], a[j*k+i]; x != y && math.Abs(x-y) <= symmetryTol*scale {
				a[i*k+j] = x + float64((y-x)/2)
				a[j*k+i] = a[i*k+j]
			}
		}
	}
}

// checkSymmetric checks a K×K matrix: that it is finite, and symmetric.
func checkSymmetric(name string, a []float64, k int) error {
	for i, x := range a {
		if !vec.Finite(x) {
			return fmt.Errorf("%s[%d,%d] = %v", name, i/k, i%k, x)
		}
		if y := a[i%k*k+i/k]; i/k > i%k && x != y {
			return fmt.Errorf("%s[%d,%d] = %v but %[1]s[%[3]d,%[2]d] = %[5]v", name, i/k, i%k, x, y)
		}
	}
	return nil
}

// checkAnchors checks that the anchors are different words.
func (m *Model) checkAnchors() error {
	topic := make(map[int]int, m.k)
	for j, s := range m.anchors {
		if s < 0 || s >= m.n {
			return fmt.Errorf("word %d of topic %d is not in [0, %d)", s, j, m.n)
		}
		if l, ok := topic[s]; ok {
			return fmt.Errorf("word %s is the anchor of topics %d and %d", m.called(s), l, j)
		}
		topic[s] = j
	}
	return nil
}

// checkStats checks that the norms of the anchors are lengths.
func (m *Model) checkStats() error {
	norms := m.stats.Anchors.Norms
	if norms != nil && len(norms) != len(m.anchors) {
		return fmt.Errorf("%d norms of %d anchors", len(norms), len(m.anchors))
	}
	for j, r := range norms {
		if !vec.Finite(r) || r < 0 {
			return fmt.Errorf("the norm of anchor %d is %v", j, r)
		}
	}
	for _, s := range m.stats.Seeds {
		if s.Topic < 0 || s.Topic >= m.k {
			return fmt.Errorf("seeds of topic %d, which is not in [0, %d)", s.Topic, m.k)
		}
		if s.Asked.Words != nil {
			if err := s.Asked.check(s.Topic); err != nil {
				return err
			}
		}
	}
	for _, x := range m.stats.Edited.Excluded {
		if x.Topic < 0 || x.Topic >= m.k {
			return fmt.Errorf("words are kept out of topic %d, which is not in [0, %d)", x.Topic, m.k)
		}
	}
	return nil
}

// checkGroups checks that each group of anchors holds different words, the anchor of its topic
// among them.
func (m *Model) checkGroups() error {
	if m.groups != nil && m.anchors == nil {
		return errors.New("there are no anchors")
	}
	for j, g := range m.groups {
		if g == nil {
			continue
		}
		seen := make(map[int]bool, len(g))
		for _, w := range g {
			if w < 0 || w >= m.n {
				return fmt.Errorf("word %d of topic %d is not in [0, %d)", w, j, m.n)
			}
			if seen[w] {
				return fmt.Errorf("topic %d has the word %s twice", j, m.called(w))
			}
			seen[w] = true
		}
		if !seen[m.anchors[j]] {
			return fmt.Errorf("the anchor of topic %d, word %s, is not in its group", j, m.called(m.anchors[j]))
		}
	}
	return nil
}

// checkVerdicts checks verdicts of k topics.
func checkVerdicts(list []metrics.Verdict, k int) error {
	if list == nil {
		return nil
	}
	if len(list) != k {
		return fmt.Errorf("are %d, want K = %d", len(list), k)
	}
	for t, v := range list {
		if v.Quality > metrics.Boilerplate || v.Twin < -1 || v.Twin >= k || v.Twin == t {
			return fmt.Errorf("that of topic %d is of quality %d, with topic %d for a twin; want a quality there is, and −1 or another topic", t, v.Quality, v.Twin)
		}
		if v.Words < 0 || v.Joined < 0 || v.Joined > v.Words {
			return fmt.Errorf("that of topic %d says that %d of %d words go together", t, v.Joined, v.Words)
		}
	}
	return nil
}

// called names word i in an error: its number, and the word itself if there is a vocabulary.
func (m *Model) called(i int) string {
	if m.vocab == nil {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d (%.40q)", i, m.vocab[i])
}
