package metrics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// ProminentMass is the share of a composition that its prominent topics hold.
const ProminentMass = 0.8

// klFloor is the weight of the uniform distribution that the estimate of KL is
// mixed with.
const klFloor = 1e-3

// CompositionReport compares the compositions of documents with reference ones
// (lee-2018 §4.4): true ones, where documents were made from them, or those of a
// long-running sampler. Every Stat has one value a document.
//
// A document's prominent topics are its largest ones, as few as hold 0.8 of the
// mass (equal ones by their number).
type CompositionReport struct {
	// Precision is the part of the estimate's prominent topics that are prominent
	// in the reference, Recall the part of the reference's that are in the
	// estimate's, F1 their harmonic mean. In [0, 1], higher is better.
	Precision, Recall, F1 Stat

	// KL is Σ w ln(w/v) of the reference w and the estimate v, in nats. So that
	// it is finite, v is mixed with 0.001 of the uniform distribution. Lower is
	// better.
	KL Stat

	// Hellinger is √(1 − Σ√(wv)), in [0, 1]; L1 is Σ|w−v|, in [0, 2]; LInf is
	// max|w−v|. Lower is better.
	Hellinger, L1, LInf Stat

	// NonSupport is the mass that the estimate puts on topics that are not
	// prominent in the reference. Lower is better.
	NonSupport Stat

	// PriorDistance is ‖A − VVᵀ/M‖_F, how far the estimates are from the topic
	// correlations as a whole, over the documents whose estimate is defined. NaN
	// where no A is given.
	PriorDistance float64
}

// Compositions compares the estimates v with the reference w, both M×K with a row
// a document. a is A, K×K and scaled to sum 1 here, for PriorDistance; nil leaves
// that out. Rows sum to 1 to 1e-6 or are all zeros, which says that there is no
// answer: what is not defined for such a document is NaN. Errors: *ShapeError,
// *ValueError. O(M·K·log K).
func Compositions(w, v *mat.Dense, a mat.Matrix) (*CompositionReport, error) {
	m, k := dims(w)
	if err := checkCompositions("w", w, 0, 0); err != nil {
		return nil, err
	}
	if err := checkCompositions("v", v, m, k); err != nil {
		return nil, err
	}
	var prior *mat.Dense
	if a != nil {
		var err error
		if prior, err = denseA(a, k); err != nil {
			return nil, err
		}
		if s := mat.Sum(prior); !(s > 0) {
			return nil, &ValueError{"A", -1, -1, s, "is its sum, which must be positive"}
		}
	}
	nan := func() []float64 {
		x := make([]float64, m)
		for i := range x {
			x[i] = math.NaN()
		}
		return x
	}
	precision, recall, f1, kl, hell, l1, linf, non := nan(), nan(), nan(), nan(), nan(), nan(), nan(), nan()
	moment, known := mat.NewSymDense(k, nil), 0
	in := make([]bool, k)
	for d := range m {
		p, q := w.RawRowView(d), v.RawRowView(d)
		if !slices.ContainsFunc(q, positive) {
			continue
		}
		known++
		moment.SymRankOne(moment, 1, mat.NewVecDense(k, q))
		if !slices.ContainsFunc(p, positive) {
			continue
		}
		ref, est := prominent(p), prominent(q)
		clear(in)
		for _, t := range ref {
			in[t] = true
		}
		hits := 0
		for _, t := range est {
			if in[t] {
				hits++
			}
		}
		precision[d], recall[d] = float64(hits)/float64(len(est)), float64(hits)/float64(len(ref))
		f1[d] = 2 * float64(hits) / float64(len(est)+len(ref))
		var div, affinity, one, top, mass float64
		for t, x := range p {
			y := q[t]
			if x > 0 {
				div += x * math.Log(x/((1-klFloor)*y+klFloor/float64(k)))
			}
			affinity += math.Sqrt(x * y)
			one += math.Abs(x - y)
			top = max(top, math.Abs(x-y))
			if !in[t] {
				mass += y
			}
		}
		kl[d], hell[d], l1[d], linf[d], non[d] = div, math.Sqrt(max(1-affinity, 0)), one, top, mass
	}
	r := &CompositionReport{
		Precision: NewStat(precision), Recall: NewStat(recall), F1: NewStat(f1), KL: NewStat(kl),
		Hellinger: NewStat(hell), L1: NewStat(l1), LInf: NewStat(linf), NonSupport: NewStat(non), PriorDistance: math.NaN(),
	}
	if prior != nil && known > 0 {
		sum, ss := mat.Sum(prior), 0.0
		for i := range k {
			for j := range k {
				x := prior.At(i, j)/sum - moment.At(i, j)/float64(known)
				ss += x * x
			}
		}
		r.PriorDistance = math.Sqrt(ss)
	}
	return r, nil
}

func positive(x float64) bool { return x > 0 }

// prominent returns the prominent topics, largest first.
func prominent(w []float64) []int {
	order := make([]int, len(w))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w[b], w[a]) })
	sum := 0.0
	for i, t := range order {
		// A mass that misses 0.8 by rounding alone is 0.8.
		if sum += w[t]; sum >= ProminentMass*(1-1e-9) {
			return order[:i+1]
		}
	}
	return order
}

// checkCompositions checks that every row is a distribution or all zeros.
func checkCompositions(what string, w *mat.Dense, m, k int) error {
	if err := checkDense(what, w, m, k); err != nil {
		return err
	}
	m, _ = dims(w)
	for d := range m {
		sum := 0.0
		for t, x := range w.RawRowView(d) {
			if x < 0 {
				return &ValueError{what, d, t, x, "is negative"}
			}
			sum += x
		}
		if sum != 0 && !(math.Abs(sum-1) <= tolStochastic) {
			return &ValueError{what, d, -1, sum, "is the sum of the row, which must be 1 (or 0 for no answer)"}
		}
	}
	return nil
}
