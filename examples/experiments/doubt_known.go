package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// doubtKnown is the number of replicates for the intervals of known topics.
const doubtKnown = 100

// doubtTerms is what a document counts for in the regression: 1, its group and its time.
const doubtTerms = 3

// knownWidths returns for each kind of number the median of half the width of intervals of 95 % where
// the true topics are known and documents alone are drawn anew (the Bayesian bootstrap). Proportions are
// those of package effects, (BᵀDB)⁻¹BᵀDn/Σn. From them come shares, differences and slopes, and from
// pairs of tokens the second moments for the correlations.
func knownWidths(d *plantedCorpus, seed uint64) (map[string]float64, error) {
	n, k := d.b.Dims()
	marginals := d.moments.Marginals()
	db := mat.NewDense(n, k, nil)
	for i, p := range marginals {
		if p > 0 {
			floats.AddScaled(db.RawRowView(i), 1/p, d.b.RawRowView(i))
		}
	}
	var gram, s mat.Dense
	gram.Mul(d.b.T(), db)
	if err := s.Solve(&gram, db.T()); err != nil { // K×words
		return nil, fmt.Errorf("the topics are dependent: %w", err)
	}
	solve := mat.DenseCopyOf(s.T())
	// A row for each document: the products of terms, those of terms and proportions, and of proportions.
	docs := d.docs.NumDocs()
	all := mat.NewDense(docs, doubtTerms*doubtTerms+doubtTerms*k+k*k, nil)
	groups, _, err := d.docs.Metadata().Categories("group")
	if err != nil {
		return nil, err
	}
	times, _, err := d.docs.Metadata().Numbers("time")
	if err != nil {
		return nil, err
	}
	theta := make([]float64, k)
	for m := range docs {
		z := []float64{1, float64(groups[m]), times[m]}
		words, counts := d.docs.Doc(m)
		length := float64(d.docs.DocLen(m))
		clear(theta)
		row := all.RawRowView(m)
		second := row[doubtTerms*(doubtTerms+k):]
		for i, w := range words {
			of := solve.RawRowView(int(w))
			floats.AddScaled(theta, float64(counts[i])/length, of)
			for t, v := range of {
				floats.AddScaled(second[t*k:(t+1)*k], -float64(counts[i])*v/(length*(length-1)), of)
			}
		}
		for t, v := range theta {
			floats.AddScaled(second[t*k:(t+1)*k], v*length/(length-1), theta)
		}
		for i, v := range z {
			floats.AddScaled(row[i*doubtTerms:(i+1)*doubtTerms], v, z)
			floats.AddScaled(row[doubtTerms*doubtTerms+i*k:doubtTerms*doubtTerms+(i+1)*k], v, theta)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x4a0))
	weights := mat.NewDense(doubtKnown, docs, nil)
	for r := range doubtKnown {
		for m := range docs {
			weights.Set(r, m, rng.ExpFloat64())
		}
	}
	var sums mat.Dense
	sums.Mul(weights, all)
	values := map[string][][]float64{} // of each number in the replicates
	add := func(what string, x []float64) {
		if values[what] == nil {
			values[what] = make([][]float64, len(x))
		}
		for i, v := range x {
			values[what][i] = append(values[what][i], v)
		}
	}
	for r := range doubtKnown {
		row := sums.RawRowView(r)
		xx := mat.NewDense(doubtTerms, doubtTerms, row[:doubtTerms*doubtTerms])
		xy := mat.NewDense(doubtTerms, k, row[doubtTerms*doubtTerms:doubtTerms*(doubtTerms+k)])
		var beta mat.Dense
		if err := beta.Solve(xx, xy); err != nil {
			return nil, err
		}
		share, half := mat.Row(nil, 0, xy), mat.Row(nil, 1, &beta)
		floats.Scale(1/row[0], share)
		floats.Scale(0.5, half)
		var pairs []float64
		of := correlationsOf(mat.NewDense(k, k, row[doubtTerms*(doubtTerms+k):]))
		for i := range k {
			for j := range i {
				pairs = append(pairs, of.At(i, j))
			}
		}
		add(doubtShare, share)
		add(doubtCorrelation, pairs)
		add(doubtDifference, half)
		add(doubtSlope, mat.Row(nil, 2, &beta))
	}
	out := map[string]float64{doubtPermuted: math.NaN()}
	for what, all := range values {
		var halves []float64
		for _, x := range all {
			halves = append(halves, 1.96*stat.StdDev(x, nil))
		}
		slices.Sort(halves)
		out[what] = stat.Quantile(0.5, stat.Empirical, halves, nil)
	}
	return out, nil
}
