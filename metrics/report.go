package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Report holds the measures of a factorisation. A field is zero where Factors lacked what
// the measure needs; see the package documentation for the formulas and ranges.
type Report struct {
	// Recovery is the residual of each word (lee-2018 eq. 1.6, lee-2020 §4). NaN for a word
	// whose row of C sums to 0 or too little to be divided by its sum; such an anchor is an
	// error. Needs C, B̆ and anchors.
	Recovery Stat

	// Approximation (lee-2018 §2.4, lee-2020 §4) is to be compared with ‖C‖_F: entries of C
	// are of the order of 1/N². A need not be symmetric. Needs C and A.
	Approximation float64

	// Legality is near 1 for a joint distribution p(Z₁, Z₂) (lee-2018 Appendix A.4).
	Legality float64

	// Validity compares two estimates of p(topic), a = A·1 and q from B̆ and the words
	// (lee-2018 Appendix A.4). q_k is the mean of Bayes' ratio B̆_nk c_n/B_nk over the words
	// with B_nk > 0, as in the values published with the papers' program: rare words, and
	// entries of 1e-17 that rounding leaves, weigh as much as others. The second argument of
	// each divergence is scaled to sum 1, the first is not: an A with a sum below 1 may give a
	// negative number. NaN if a marginal is negative, or positive where the other is 0. Needs
	// C, A and B̆.
	Validity float64

	// ValidityMarginal is Validity with q_k = Σ_n B̆_nk c_n, the printed formula, which is
	// less sensitive.
	ValidityMarginal float64

	// Dominancy is p(Z₂ = k | Z₁ = k) of each topic (lee-2018 §2.4): 1 for topics that never
	// share a document. NaN where the row of A sums to 0.
	Dominancy Stat

	// DominancyDiag is A_kk, p(Z₁ = k, Z₂ = k) of each topic: the Dominancy of lee-2020 §4.
	DominancyDiag Stat

	// Entropy is that of p(topic | word), of each word (lee-2018 eq. 1.7): 0 if the word
	// belongs to one topic, 1 if to all alike. 0 for K = 1, NaN for a row of zeros. Needs B̆.
	Entropy Stat

	// Sparsity is Hoyer's index of each topic (lee-2020 §4): 0 for the uniform distribution,
	// 1 for a single word. NaN for an empty topic and for N = 1.
	Sparsity Stat

	// Specificity is the divergence of each topic from the unigram distribution, the row sums
	// of C, in which every document weighs the same (lee-2018 eq. 1.8, lee-2020 §4). NaN for
	// an empty topic and for one with a word of c_n ≤ 0. Needs C.
	Specificity Stat

	// Dissimilarity counts the top words of each topic that are among those of no other
	// topic (lee-2018 §2.4, lee-2020 §4). Words of probability 0 fill the list of a topic of
	// fewer than TopN words, by their numbers. NaN for an empty topic, whose words count for
	// no other.
	Dissimilarity Stat

	// Coherence is u_mass of the top words of each topic, most probable first, with ε = 0.01,
	// in the form of the values published with the papers' program. It favours topics of
	// frequent words: read it together with Specificity and Dissimilarity, or use NPMI. A word
	// in no document counts as in one (D1 = 1, D2 = 0). NaN for an empty topic. Needs pairs,
	// counted in the documents that C is made of.
	Coherence Stat

	// CoherenceOrdered is Coherence with the sum over ordered pairs i ≠ j, as the papers
	// print it (lee-2018 eq. 1.10 and §2.4, lee-2020 §4).
	CoherenceOrdered Stat

	// NPMI is the mean normalised pointwise mutual information of the pairs of top words of
	// each topic, npmi = ln(p_ij/(p_i p_j))/(−ln p_ij), where p is the share of the documents
	// that hold the word, or both (Bouma 2009; Lau, Newman and Baldwin 2014): 0 for independent
	// words, −1 for words that never meet, 1 for words in every document. Unlike Coherence it
	// does not reward frequent words. NaN for an empty topic and for a single word. Needs pairs.
	NPMI Stat

	// BasisRank is the rank of each anchor in its own topic, 1 for the most probable word,
	// ties by lowest number (lee-2018 §1.4, which counts from 0). NaN for an empty topic.
	// Needs anchors, as do the next three.
	BasisRank Stat

	// SoftBasisRank is the log ratio of the probabilities of the first word of each topic and
	// its anchor (lee-2018 eq. 1.11). NaN for an empty topic and an anchor of probability 0.
	SoftBasisRank Stat

	// BasisQuality is the mean rank of each anchor in the other topics that are not empty; the
	// papers' program calls it AnchorQuality. NaN if there are none. The rank of a word of
	// probability 0 is given by its number alone: recovery from anchors gives every anchor the
	// probability 0 in all other topics, so that BasisQuality then grows with N.
	BasisQuality Stat

	// BasisQualityShare is the share of the words of another topic, those of probability
	// above 0, that are more probable there than the anchor, ties counted half: the mean over
	// the other topics, in [0, 1]. It does not depend on the order and number of words, so that
	// any vocabularies can be compared. It is 1 for an anchor that is in no other topic, as
	// recovery makes all anchors: it says something only after passes over the documents.
	BasisQualityShare Stat

	// TopicDissimilarity is max_k ‖b_k − b̄‖₂, b̄ the mean of the topics that are not
	// empty (lee-2018 eq. 1.9). Higher means more different topics; 0 for K = 1.
	TopicDissimilarity float64

	// Verdicts has one for each topic. Needs B̆, A and pairs.
	Verdicts []Verdict
}

// Metric is one measure of a Report.
type Metric struct {
	Key       string
	Mean      float64 // NaN where no value is defined
	Std       float64 // 0 for a single number
	Undefined int     // how many values are not defined
	Single    bool    // one number for the whole model, which has no deviation
}

// Keyed returns the measures that were computed, in a fixed order, under the keys
// recovery, approximation, legality, validity, dominancy, dominancy_diag, entropy,
// sparsity, specificity, dissimilarity, coherence, coherence_ordered, npmi,
// basis_rank, soft_basis_rank, basis_quality, basis_quality_share.
func (r *Report) Keyed() []Metric {
	var out []Metric
	stat := func(key string, s Stat) {
		if s.Values != nil {
			out = append(out, Metric{Key: key, Mean: s.Mean, Std: s.Std, Undefined: s.Undefined})
		}
	}
	single := func(key string, x float64, needs ...Stat) {
		for _, s := range needs {
			if s.Values == nil {
				return
			}
		}
		m := Metric{Key: key, Mean: x, Single: true}
		if math.IsNaN(x) {
			m.Undefined = 1
		}
		out = append(out, m)
	}
	stat("recovery", r.Recovery)
	single("approximation", r.Approximation, r.Dominancy, r.Specificity)
	single("legality", r.Legality, r.Dominancy)
	single("validity", r.Validity, r.Dominancy, r.Specificity, r.Entropy)
	stat("dominancy", r.Dominancy)
	stat("dominancy_diag", r.DominancyDiag)
	stat("entropy", r.Entropy)
	stat("sparsity", r.Sparsity)
	stat("specificity", r.Specificity)
	stat("dissimilarity", r.Dissimilarity)
	stat("coherence", r.Coherence)
	stat("coherence_ordered", r.CoherenceOrdered)
	stat("npmi", r.NPMI)
	stat("basis_rank", r.BasisRank)
	stat("soft_basis_rank", r.SoftBasisRank)
	stat("basis_quality", r.BasisQuality)
	stat("basis_quality_share", r.BasisQualityShare)
	return out
}

// String returns the measures of Keyed as a table, a line each, and how many topics have
// each verdict.
func (r *Report) String() string {
	if r == nil {
		return "no report"
	}
	var b strings.Builder
	for _, m := range r.Keyed() {
		fmt.Fprintf(&b, "%-19s %s", m.Key, console.Number("%11.5g", m.Mean))
		if !m.Single {
			b.WriteString(console.Number(" ± %.3g", m.Std))
			if m.Undefined > 0 {
				fmt.Fprintf(&b, " (%d undefined)", m.Undefined)
			}
		}
		b.WriteByte('\n')
	}
	if r.Verdicts != nil {
		counts := make([]int, len(qualities))
		for _, v := range r.Verdicts {
			counts[v.Quality]++
		}
		var parts []string
		for q, n := range counts {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %v", n, Quality(q)))
			}
		}
		fmt.Fprintf(&b, "%-19s %s\n", "verdicts", strings.Join(parts, ", "))
	}
	return b.String()
}

// MarshalJSON writes the measures of Keyed, in their order, as one JSON object: a single
// number as itself, the others as {"mean": …, "std": …}, with "undefined": n where n values
// are not defined. A number that is not defined is null.
func (r *Report) MarshalJSON() ([]byte, error) {
	type stat struct {
		Mean      *float64 `json:"mean"`
		Std       *float64 `json:"std"`
		Undefined int      `json:"undefined,omitempty"`
	}
	defined := func(x float64) *float64 {
		if !vec.Finite(x) {
			return nil
		}
		return &x
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range r.Keyed() {
		if i > 0 {
			b.WriteByte(',')
		}
		var v any = stat{defined(m.Mean), defined(m.Std), m.Undefined}
		if m.Single {
			v = defined(m.Mean)
		}
		p, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.Key, p)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Stat is a measure with one value per word, topic, list or document.
type Stat struct {
	Mean      float64   // of the values that are defined, NaN for none
	Std       float64   // their sample standard deviation (n−1): 0 for a single value, NaN for none
	Values    []float64 // NaN where the measure is not defined; nil where it was not computed
	Undefined int       // how many Values are NaN
}

// NewStat summarises values, which it keeps. The Stat of the Recovery of some words, those of
// a smaller vocabulary, is the BaseRecovery of dong-2019 (§4.6), by which models of different
// vocabularies are compared.
func NewStat(values []float64) Stat {
	s := Stat{Values: values}
	n := 0
	for _, v := range values {
		if math.IsNaN(v) {
			s.Undefined++
			continue
		}
		s.Mean += v
		n++
	}
	if n == 0 {
		s.Mean, s.Std = math.NaN(), math.NaN()
		return s
	}
	s.Mean /= float64(n)
	if n == 1 {
		return s
	}
	for _, v := range values {
		if !math.IsNaN(v) {
			d := v - s.Mean
			s.Std += float64(d * d)
		}
	}
	s.Std = math.Sqrt(s.Std / float64(n-1))
	return s
}

// String returns mean and deviation, and how many values are not defined.
func (s Stat) String() string {
	if s.Undefined > 0 {
		return fmt.Sprintf("%.4g ± %.4g (%d undefined)", s.Mean, s.Std, s.Undefined)
	}
	return fmt.Sprintf("%.4g ± %.4g", s.Mean, s.Std)
}
