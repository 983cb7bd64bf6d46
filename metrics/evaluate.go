package metrics

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Factors is a factorisation C ≈ BABᵀ of N words and K topics, made by any program. B is
// required. Measures that need a field that is nil are left out.
type Factors struct {
	C          cooc.Matrix // N×N, the original co-occurrence, not the rectified one
	B          *mat.Dense  // N×K, column k is p(word | topic k)
	WordTopics *mat.Dense  // B̆, N×K, row n is p(topic | word n)
	A          mat.Matrix  // K×K, p(topic, topic)
	Anchors    []int       // K numbers of words
	Pairs      PairCounts  // of the words of TopUnion(B, TopN), for Verdicts also of TopUnion(Reading, 10)
	TopN       int         // top words of a topic; 0: 20
	Workers    int         // goroutines; 0: GOMAXPROCS. The result does not depend on it

	// For Verdicts, which Evaluate has of factors with WordTopics, A and Pairs.
	Reading    *mat.Dense // N×K, the weights by which people recognise a topic's words. nil: B
	Background []bool     // K: the topic is background. nil: none
	Tokens     []int64    // N: how often each word occurs in the documents of Pairs. nil: no topic is boilerplate
}

// Evaluate computes all measures that f allows. O(N·K²) and O(NK) memory: two products of
// C with an N×K block, the row norms of C, and O(K·TopN²) pairs of words.
//
// Words recovered to better than a thousandth of their norm take a row of C each; an
// approximation error below a thousandth of ‖C‖ takes all rows and O(N²K).
func Evaluate(ctx context.Context, f Factors) (*Report, error) {
	e, err := newEvaluation(f)
	if err != nil {
		return nil, err
	}
	r := &Report{Sparsity: e.t.sparsity(), Dissimilarity: dissimilarity(e.tops)}
	if r.TopicDissimilarity, err = e.t.topicDissimilarity(); err != nil {
		return nil, err
	}
	if f.C != nil {
		if err := e.fit(ctx, r); err != nil {
			return nil, err
		}
	}
	if f.A != nil {
		r.Legality, r.Dominancy, r.DominancyDiag = linalg.Sum(e.a), dominancy(e.a), dominancyDiag(e.a)
	}
	if f.WordTopics != nil {
		r.Entropy = entropy(f.WordTopics)
	}
	if f.Anchors != nil {
		r.BasisRank, r.SoftBasisRank = e.t.basisRank(f.Anchors), e.t.softBasisRank(f.Anchors)
		if r.BasisQuality, r.BasisQualityShare, err = e.t.basisQuality(ctx, f.Anchors, f.Workers); err != nil {
			return nil, err
		}
	}
	if noPairs(f.Pairs) {
		return r, nil
	}
	r.Coherence, r.CoherenceOrdered, r.NPMI = coherence(e.tops, f.Pairs), coherenceOrdered(e.tops, f.Pairs), npmi(e.tops, f.Pairs)
	if f.A != nil && f.WordTopics != nil {
		if r.Verdicts, err = verdicts(ctx, f, e.t, e.a); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// evaluation is a checked Factors, with what its measures share.
type evaluation struct {
	Factors
	t    *topics
	a    *mat.Dense // nil without A
	tops [][]int
	sum  float64 // of the row sums of C
}

func newEvaluation(f Factors) (e *evaluation, err error) {
	e = &evaluation{Factors: f}
	if f.C != nil {
		n := f.C.Dim()
		if r, c := dims(f.B); r != n || c == 0 {
			return nil, wrongShape("B", r, c, n, 0)
		}
		if e.sum, err = checkMarginals("C (row sums)", f.C.Marginals(), n); err != nil {
			return nil, err
		}
	}
	t, top, err := topicsAndTop(f.B, f.TopN)
	if err != nil {
		return nil, err
	}
	e.t, e.tops = t, t.tops(top)
	if f.WordTopics != nil {
		if err := checkBreve(f.WordTopics, t.n, t.k); err != nil {
			return nil, err
		}
	}
	if f.A != nil {
		if e.a, err = denseA(f.A, t.k); err != nil {
			return nil, err
		}
	}
	if f.Anchors != nil {
		if err := checkAnchors(f.Anchors, t.n, t.k); err != nil {
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

// fit sets the measures that need C.
func (e *evaluation) fit(ctx context.Context, r *Report) (err error) {
	marg := e.C.Marginals()
	r.Specificity = e.t.specificity(marg, e.sum)
	if e.a != nil && e.WordTopics != nil {
		r.Validity, r.ValidityMarginal = e.t.validity(e.a, e.WordTopics, marg), validityMarginal(e.a, e.WordTopics, marg)
	}
	hasRecovery := e.WordTopics != nil && e.Anchors != nil
	if e.a == nil && !hasRecovery {
		return nil
	}
	norms2, err := rowNorms2(ctx, e.C, e.Workers)
	if err != nil {
		return err
	}
	if hasRecovery {
		if r.Recovery, err = recovery(ctx, e.C, norms2, e.WordTopics, e.Anchors, e.Workers); err != nil {
			return err
		}
	}
	if e.a != nil {
		r.Approximation, err = approximation(ctx, e.C, norms2, e.B, e.a, e.Workers)
	}
	return err
}
