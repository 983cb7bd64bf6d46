package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Report holds the measures of a factorisation, each under the name of its function.
// A field is zero where the measure was not computed; see the Has fields.
type Report struct {
	Recovery      Stat    // a value a word
	Approximation float64 // ‖C − BABᵀ‖_F
	Legality      float64 // ΣA, near 1 for a joint distribution p(Z₁, Z₂) (lee-2018 Appendix A.4)
	Validity      float64 // bits

	// ValidityMarginal is Validity with the marginals q_k = Σ_n B̆_nk c_n.
	ValidityMarginal float64

	Dominancy Stat // a value a topic

	// DominancyDiag is A_kk, p(Z₁ = k, Z₂ = k), a value a topic: the Dominancy of
	// lee-2020 §4.
	DominancyDiag Stat

	Entropy       Stat // a value a word
	Sparsity      Stat // a value a topic, as are all Stats below
	Specificity   Stat
	Dissimilarity Stat
	Coherence     Stat

	// CoherenceOrdered is Coherence with the sum over ordered pairs i ≠ j, as the
	// papers print it.
	CoherenceOrdered Stat

	NPMI          Stat
	BasisRank     Stat
	SoftBasisRank Stat
	BasisQuality  Stat

	// BasisQualityShare is the share of the words of another topic, those of
	// probability above 0, that are more probable there than the anchor, ties counted
	// half: the mean over the other topics, in [0, 1]; higher is better. It depends
	// neither on the order nor on the number of the words, so that vocabularies of any
	// size can be compared. It is 1 for an anchor that is in no other topic. Recovery
	// makes all anchors so: the share tells something only after passes over the
	// documents.
	BasisQualityShare Stat

	// TopicDissimilarity is max_k ‖b_k − b̄‖₂, b̄ the mean of the topics that are not
	// empty (lee-2018 eq. 1.9). Higher means more different topics; 0 for K = 1.
	TopicDissimilarity float64

	// Verdicts has one for each topic; nil without B̆, A or pair counts.
	Verdicts []Verdict

	// What the Factors held, and so which measures were computed.
	HasBreve, HasA, HasAnchors, HasPairs bool
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
	stat := func(have bool, key string, s Stat) {
		if have {
			out = append(out, Metric{Key: key, Mean: s.Mean, Std: s.Std, Undefined: s.Undefined})
		}
	}
	single := func(have bool, key string, x float64) {
		if have {
			m := Metric{Key: key, Mean: x, Single: true}
			if math.IsNaN(x) {
				m.Undefined = 1
			}
			out = append(out, m)
		}
	}
	stat(r.HasBreve && r.HasAnchors, "recovery", r.Recovery)
	single(r.HasA, "approximation", r.Approximation)
	single(r.HasA, "legality", r.Legality)
	single(r.HasA && r.HasBreve, "validity", r.Validity)
	stat(r.HasA, "dominancy", r.Dominancy)
	stat(r.HasA, "dominancy_diag", r.DominancyDiag)
	stat(r.HasBreve, "entropy", r.Entropy)
	stat(true, "sparsity", r.Sparsity)
	stat(true, "specificity", r.Specificity)
	stat(true, "dissimilarity", r.Dissimilarity)
	stat(r.HasPairs, "coherence", r.Coherence)
	stat(r.HasPairs, "coherence_ordered", r.CoherenceOrdered)
	stat(r.HasPairs, "npmi", r.NPMI)
	stat(r.HasAnchors, "basis_rank", r.BasisRank)
	stat(r.HasAnchors, "soft_basis_rank", r.SoftBasisRank)
	stat(r.HasAnchors, "basis_quality", r.BasisQuality)
	stat(r.HasAnchors, "basis_quality_share", r.BasisQualityShare)
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
		fmt.Fprintf(&b, "%-19s %11.5g", m.Key, m.Mean)
		if !m.Single {
			fmt.Fprintf(&b, " ± %.3g", m.Std)
		}
		if m.Undefined > 0 && !m.Single {
			fmt.Fprintf(&b, " (%d undefined)", m.Undefined)
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

// MarshalJSON writes the measures of Keyed, in their order, as one JSON object: a
// single number as itself, the others as {"mean": …, "std": …}, with
// "undefined": n where n values are not defined. A number that is not defined is
// null.
func (r *Report) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	num := func(x float64) {
		if !vec.Finite(x) {
			b.WriteString("null")
			return
		}
		p, _ := json.Marshal(x) // cannot fail: x is finite
		b.Write(p)
	}
	b.WriteByte('{')
	for i, m := range r.Keyed() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", m.Key)
		if m.Single {
			num(m.Mean)
			continue
		}
		b.WriteString(`{"mean":`)
		num(m.Mean)
		b.WriteString(`,"std":`)
		num(m.Std)
		if m.Undefined > 0 {
			fmt.Fprintf(&b, `,"undefined":%d`, m.Undefined)
		}
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
