package main

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/metrics"
)

const (
	prominentMass = 0.8  // the share of a composition that its prominent topics hold
	klFloor       = 1e-3 // the weight of the uniform distribution in the estimate of KL
)

// compositionReport compares the topic proportions of documents with reference
// ones (lee-2018 §4.4): those that documents were generated from, or those of a
// long-running sampler. Every Stat has one value a document.
//
// The prominent topics of a document are its largest, as few as hold 0.8 of the
// mass; of equal ones those with the lowest numbers.
type compositionReport struct {
	// Precision is the part of the estimate's prominent topics that are prominent
	// in the reference, Recall the part of the reference's that are prominent in
	// the estimate, F1 their harmonic mean. In [0, 1], higher is better.
	Precision, Recall, F1 metrics.Stat

	// KL is Σ w ln(w/v) of the reference w and the estimate v, in nats. So that it
	// is finite, v is mixed with 0.001 of the uniform distribution. Lower is better.
	KL metrics.Stat

	// Hellinger is √(1 − Σ√(wv)), in [0, 1]; L1 is Σ|w−v|, in [0, 2]; LInf is
	// max|w−v|, in [0, 1]. Lower is better.
	Hellinger, L1, LInf metrics.Stat

	// NonSupport is the mass that the estimate puts on topics that are not
	// prominent in the reference, in [0, 1]. Lower is better.
	NonSupport metrics.Stat

	// PriorDistance is ‖A − VVᵀ/M‖_F, how far the estimates as a whole are from the
	// topic correlations, over the documents that have an estimate.
	PriorDistance float64
}

// compareCompositions compares the estimates v with the reference w, both M×K with a row of topic
// proportions for each document, or zeros for one without an answer, whose values are NaN. a is A, K×K
// and scaled to sum 1 here. O(M·K·log K).
func compareCompositions(w, v *mat.Dense, a mat.Matrix) *compositionReport {
	m, k := w.Dims()
	var values [8][]float64 // in the order of the fields
	for i := range values {
		values[i] = slices.Repeat([]float64{math.NaN()}, m)
	}
	moment, known := mat.NewSymDense(k, nil), 0
	for d := range m {
		p, q := w.RawRowView(d), v.RawRowView(d)
		if floats.Max(q) == 0 {
			continue
		}
		known++
		moment.SymRankOne(moment, 1, mat.NewVecDense(k, q))
		if floats.Max(p) == 0 {
			continue
		}
		for i, x := range compareComposition(p, q) {
			values[i][d] = x
		}
	}
	r := &compositionReport{PriorDistance: math.NaN()}
	for i, s := range []*metrics.Stat{&r.Precision, &r.Recall, &r.F1, &r.KL, &r.Hellinger, &r.L1, &r.LInf, &r.NonSupport} {
		*s = metrics.NewStat(values[i])
	}
	if known > 0 {
		sum, ss := mat.Sum(a), 0.0
		for i := range k {
			for j := range k {
				x := a.At(i, j)/sum - moment.At(i, j)/float64(known)
				ss += x * x
			}
		}
		r.PriorDistance = math.Sqrt(ss)
	}
	return r
}

// compareComposition returns the measures of one document with the reference p
// and the estimate q, in the order of compositionReport.
func compareComposition(p, q []float64) [8]float64 {
	ref, est := prominentTopics(p), prominentTopics(q)
	in := make([]bool, len(p))
	for _, t := range ref {
		in[t] = true
	}
	hits := 0
	for _, t := range est {
		if in[t] {
			hits++
		}
	}
	var kl, affinity, outside float64
	for t, x := range p {
		y := q[t]
		if x > 0 {
			kl += x * math.Log(x/((1-klFloor)*y+klFloor/float64(len(p))))
		}
		affinity += math.Sqrt(x * y)
		if !in[t] {
			outside += y
		}
	}
	return [8]float64{
		float64(hits) / float64(len(est)), float64(hits) / float64(len(ref)), 2 * float64(hits) / float64(len(est)+len(ref)),
		kl, math.Sqrt(max(1-affinity, 0)), floats.Distance(p, q, 1), floats.Distance(p, q, math.Inf(1)), outside,
	}
}

// prominentTopics returns the prominent topics, largest first.
func prominentTopics(w []float64) []int {
	order := make([]int, len(w))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w[b], w[a]) })
	sum := 0.0
	for i, t := range order {
		// A mass that misses 0.8 by rounding alone is 0.8.
		if sum += w[t]; sum >= prominentMass*(1-1e-9) {
			return order[:i+1]
		}
	}
	return order
}
