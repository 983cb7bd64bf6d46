package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/run"
)

// Input is what Evaluate looks at. C and B are required; without one of the
// others the measures that need it are left out, so that topics from any other
// method can be measured too.
type Input struct {
	C       cooc.Matrix // N×N, the original co-occurrence, not the rectified one
	B       *mat.Dense  // N×K, column k is p(word | topic k)
	Breve   *mat.Dense  // N×K, row n is p(topic | word n). nil: no Recovery, Validity, Entropy
	A       mat.Matrix  // K×K. nil: no Approximation, Legality, Validity, Dominancy
	Anchors []int       // K word numbers. nil: no Recovery, no Basis measures
	Pairs   PairCounts  // a *cooc.Pairs over TopUnion(B, TopN). nil: no Coherence, no NPMI
	TopN    int         // words in a topic's top list, ≥ 1; 0: DefaultTopN
	Workers int         // goroutines; 0: GOMAXPROCS. Never changes a bit of the result
}

// Report holds every measure. See the function of the same name for what each
// means, and which values it leaves undefined (NaN).
type Report struct {
	Recovery           Stat    // per word
	Approximation      float64 // ‖C − BABᵀ‖_F
	Legality           float64 // ΣA
	Validity           float64 // q by Bayes' rule word by word
	ValidityMarginal   float64 // q by total probability
	Dominancy          Stat    // A_kk over its row sum, per topic
	DominancyDiag      Stat    // A_kk, per topic
	Entropy            Stat    // per word
	Sparsity           Stat    // per topic, as are all below
	Specificity        Stat
	Dissimilarity      Stat
	Coherence          Stat // over unordered pairs
	CoherenceOrdered   Stat
	NPMI               Stat
	BasisRank          Stat
	SoftBasisRank      Stat
	BasisQuality       Stat
	TopicDissimilarity float64 // thesis eq. 1.9

	// What the input held, and so which of the above were computed.
	HasBreve, HasA, HasAnchors, HasPairs bool
}

// Evaluate computes all measures, sharing what they have in common. It is the
// same as calling each function by itself, bit for bit. Cost: two products of C
// with an N×K block and its row norms, O(NK²), and O(K·n²) look-ups of pairs.
// Memory O(NK).
func Evaluate(ctx context.Context, in Input) (*Report, error) {
	if err := checkC(in.C); err != nil {
		return nil, err
	}
	n := in.C.Dim()
	if r, c := dims(in.B); r != n || c == 0 {
		return nil, &ShapeError{"B", r, c, n, 0}
	}
	t, err := checkTopics(in.B)
	if err != nil {
		return nil, err
	}
	topN := in.TopN
	if topN == 0 {
		topN = DefaultTopN
	}
	if err := checkTopN(topN); err != nil {
		return nil, err
	}
	r := &Report{HasBreve: in.Breve != nil, HasA: in.A != nil, HasAnchors: in.Anchors != nil, HasPairs: !noPairs(in.Pairs)}
	var a *mat.Dense
	if r.HasBreve {
		if err := checkBreve(in.Breve, n, t.k); err != nil {
			return nil, err
		}
	}
	if r.HasA {
		if a, err = denseA(in.A, t.k); err != nil {
			return nil, err
		}
	}
	if r.HasAnchors {
		if err := checkAnchors(in.Anchors, n, t.k); err != nil {
			return nil, err
		}
	}
	tops := t.tops(topN)
	if r.HasPairs {
		if err := checkPairs(in.Pairs, tops); err != nil {
			return nil, err
		}
	}

	if recover := r.HasBreve && r.HasAnchors; recover || r.HasA {
		norms2, err := rowNorms2(ctx, in.C, in.Workers)
		if err != nil {
			return nil, err
		}
		if recover {
			if r.Recovery, err = recovery(ctx, in.C, norms2, in.Breve, in.Anchors, in.Workers); err != nil {
				return nil, err
			}
		}
		if r.HasA {
			if r.Approximation, err = approximation(ctx, in.C, norms2, in.B, a, in.Workers); err != nil {
				return nil, err
			}
		}
	}

	marg := in.C.Marginals()
	tasks := []func() error{
		func() (err error) { r.Specificity, err = t.specificity(marg); return },
		func() (err error) { r.Sparsity, r.Dissimilarity = t.sparsity(), dissimilarity(tops); return },
		func() (err error) { r.TopicDissimilarity, err = t.topicDissimilarity(); return },
	}
	if r.HasA {
		tasks = append(tasks, func() error {
			r.Legality, r.Dominancy, r.DominancyDiag = Legality(a), dominancy(a), dominancyDiag(a)
			return nil
		})
	}
	if r.HasBreve {
		tasks = append(tasks, func() error { r.Entropy = entropy(in.Breve); return nil })
	}
	if r.HasA && r.HasBreve {
		tasks = append(tasks, func() error {
			r.Validity, r.ValidityMarginal = t.validity(a, in.Breve, marg), validityMarginal(a, in.Breve, marg)
			return nil
		})
	}
	if r.HasAnchors {
		tasks = append(tasks,
			func() error {
				r.BasisRank, r.SoftBasisRank = t.basisRank(in.Anchors), t.softBasisRank(in.Anchors)
				return nil
			},
			func() (err error) { r.BasisQuality, err = t.basisQuality(ctx, in.Anchors, 1); return })
	}
	if r.HasPairs {
		tasks = append(tasks, func() error {
			r.Coherence, r.CoherenceOrdered, r.NPMI = coherence(tops, in.Pairs), coherenceOrdered(tops, in.Pairs), npmi(tops, in.Pairs)
			return nil
		})
	}
	err = run.Chunks(ctx, len(tasks), 1, in.Workers, func(_, i, _, _ int) error { return tasks[i]() })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Metric is one line of a Report.
type Metric struct {
	Key       string
	Mean      float64 // NaN where no value is defined
	Std       float64 // 0 for a single number
	Undefined int     // values left out of the mean because they are not defined
	Single    bool    // one number for the whole model, which has no deviation
}

// Keyed returns the measures that were computed, in a fixed order, under the
// keys that the library's programs print: recovery, approximation, legality,
// validity, dominancy, dominancy_diag, entropy, sparsity, specificity,
// dissimilarity, coherence, coherence_ordered, npmi, basis_rank,
// soft_basis_rank, basis_quality.
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
	return out
}

// MarshalJSON writes the measures of Keyed in their order as one JSON object:
// a single number as itself, the others as {"mean": …, "std": …}, with
// "undefined": n where n values were left out of the mean. A number that is not
// defined is null.
func (r *Report) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	num := func(x float64) {
		if !finite(x) {
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
