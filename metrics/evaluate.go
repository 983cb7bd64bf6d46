package metrics

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/run"
)

// Factors is what Evaluate measures, the factorisation C ≈ BABᵀ of N words and K
// topics. C and B are required. The measures that need another field are left out
// where it is nil, so that topics of any program can be measured.
type Factors struct {
	C       cooc.Matrix // N×N, the original co-occurrence, not the rectified one
	B       *mat.Dense  // N×K, column k is p(word | topic k)
	Breve   *mat.Dense  // B̆, N×K, row n is p(topic | word n). nil: no Recovery, Validity, Entropy
	A       mat.Matrix  // K×K. nil: no Approximation, Legality, Validity, Dominancy
	Anchors []int       // K numbers of words. nil: no Recovery, no Basis measures
	Pairs   PairCounts  // of the words of TopUnion(B, TopN), for Verdicts also of TopUnion(Reading, 10). nil: no Coherence, NPMI, Verdicts
	TopN    int         // top words of a topic; 0: 20
	Workers int         // goroutines; 0: GOMAXPROCS. The result does not depend on it

	// For Verdicts, which Evaluate has of factors with Breve, A and Pairs.
	Reading    *mat.Dense // N×K, the weights by which people recognise a topic's words. nil: B
	Background []bool     // K: the topic is background. nil: none
}

// Evaluate computes all measures that f allows. The values are those of the single
// functions, bit for bit. O(N·K²) and O(NK) memory: two products of C with an N×K
// block, the row norms of C, and O(K·TopN²) pairs of words.
func Evaluate(ctx context.Context, f Factors) (*Report, error) {
	e, err := newEvaluation(f)
	if err != nil {
		return nil, err
	}
	r := &Report{HasBreve: f.Breve != nil, HasA: f.A != nil, HasAnchors: f.Anchors != nil, HasPairs: !noPairs(f.Pairs)}
	if recover := r.HasBreve && r.HasAnchors; recover || r.HasA {
		norms2, err := rowNorms2(ctx, f.C, f.Workers)
		if err != nil {
			return nil, err
		}
		if recover {
			if r.Recovery, err = recovery(ctx, f.C, norms2, f.Breve, f.Anchors, f.Workers); err != nil {
				return nil, err
			}
		}
		if r.HasA {
			if r.Approximation, err = approximation(ctx, f.C, norms2, f.B, e.a, f.Workers); err != nil {
				return nil, err
			}
		}
	}
	tasks := e.tasks(ctx, r)
	if err := run.Chunks(ctx, len(tasks), 1, f.Workers, func(_, i, _, _ int) error { return tasks[i]() }); err != nil {
		return nil, err
	}
	return r, nil
}

// evaluation is a checked Factors, with what its measures share.
type evaluation struct {
	Factors
	t    *topics
	a    *mat.Dense
	tops [][]int
}

func newEvaluation(f Factors) (*evaluation, error) {
	if err := checkC(f.C); err != nil {
		return nil, err
	}
	n := f.C.Dim()
	if r, c := dims(f.B); r != n || c == 0 {
		return nil, wrongShape("B", r, c, n, 0)
	}
	t, top, err := topicsAndTop(f.B, f.TopN)
	if err != nil {
		return nil, err
	}
	e := &evaluation{Factors: f, t: t, tops: t.tops(top)}
	if f.Breve != nil {
		if err := checkBreve(f.Breve, n, t.k); err != nil {
			return nil, err
		}
	}
	if f.A != nil {
		if e.a, err = denseA(f.A, t.k); err != nil {
			return nil, err
		}
	}
	if f.Anchors != nil {
		if err := checkAnchors(f.Anchors, n, t.k); err != nil {
			return nil, err
		}
	}
	if !noPairs(f.Pairs) {
		if err := checkPairs(f.Pairs, e.tops); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// tasks returns the measures that need no product with C, in parts that can run at
// the same time. Each writes other fields of r.
func (e *evaluation) tasks(ctx context.Context, r *Report) []func() error {
	marg := e.C.Marginals()
	one := e.Factors
	one.Workers = 1 // the tasks run beside each other
	tasks := []func() error{
		func() (err error) { r.Specificity, err = e.t.specificity(marg); return },
		func() (err error) { r.Sparsity, r.Dissimilarity = e.t.sparsity(), dissimilarity(e.tops); return },
		func() (err error) { r.TopicDissimilarity, err = e.t.topicDissimilarity(); return },
	}
	if r.HasA {
		tasks = append(tasks, func() error {
			r.Legality, r.Dominancy, r.DominancyDiag = mat.Sum(e.a), dominancy(e.a), dominancyDiag(e.a)
			return nil
		})
	}
	if r.HasBreve {
		tasks = append(tasks, func() error { r.Entropy = entropy(e.Breve); return nil })
	}
	if r.HasA && r.HasBreve {
		tasks = append(tasks, func() error {
			r.Validity, r.ValidityMarginal = e.t.validity(e.a, e.Breve, marg), validityMarginal(e.a, e.Breve, marg)
			return nil
		})
	}
	if r.HasAnchors {
		tasks = append(tasks,
			func() error {
				r.BasisRank, r.SoftBasisRank = e.t.basisRank(e.Anchors), e.t.softBasisRank(e.Anchors)
				return nil
			},
			func() (err error) {
				r.BasisQuality, r.BasisQualityShare, err = e.t.basisQuality(ctx, e.Anchors, 1)
				return err
			})
	}
	if r.HasPairs && r.HasA && r.HasBreve {
		tasks = append(tasks, func() (err error) { r.Verdicts, err = verdicts(ctx, one, e.t, e.a); return })
	}
	if r.HasPairs {
		tasks = append(tasks, func() error {
			r.Coherence, r.CoherenceOrdered, r.NPMI = coherence(e.tops, e.Pairs), coherenceOrdered(e.tops, e.Pairs), npmi(e.tops, e.Pairs)
			return nil
		})
	}
	return tasks
}

func checkC(c cooc.Matrix) error {
	if c == nil || c.Dim() < 1 {
		return fmt.Errorf("metrics: no co-occurrence matrix")
	}
	return checkMarginals("C (row sums)", c.Marginals(), c.Dim())
}
