package recovery

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Bounds of what FitAlpha returns.
const (
	alphaFlat     = 0.1  // each parameter where no Dirichlet distribution matches
	alphaSumMin   = 1e-3 // of α₀
	alphaSumMax   = 1e4
	alphaShareMin = 1e-4 // of α_k/α₀, relative to the mean 1/K
)

// FitAlpha returns the K parameters of the Dirichlet prior of topic proportions
// whose second moments are nearest to the topic correlations A (K×K, of any
// scale; lee-2018 §3.3, Algorithm 4). The proportions of α are the topic shares
// a = A·1, with A scaled to sum 1. Their sum α₀ minimises
//
//	Σ_kl ((α₀a_l + δ_kl)/(α₀ + 1) − Ā_kl)²,
//
// where Ā is A with rows scaled to sum 1. The loss is quadratic in 1/(α₀ + 1), so
// that the minimum is found at once.
//
// A Dirichlet prior has weak negative correlations only, all fitted by one number: FitAlpha
// is for methods that ask for such a prior. The result is bounded: α₀ lies in [10⁻³, 10⁴],
// and no share is below 10⁻⁴/K. Topics with a smaller or negative share do not count in the
// loss. If two words of a document have the same topic no more often than two words of
// different documents (the best α₀ is infinite), every parameter is 0.1.
//
// It fails if A is not square, finite and symmetric with a positive sum. O(K²).
func FitAlpha(a mat.Matrix) ([]float64, error) {
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, err
	}
	rows := mat.DenseCopyOf(a)
	sum := mat.Sum(rows)
	if !(sum > 0) {
		return nil, errors.New("recovery: α: A does not have a positive sum")
	}
	least := alphaShareMin / float64(k)
	share, alpha := make([]float64, k), make([]float64, k)
	for i := range share {
		share[i] = floats.Sum(rows.RawRowView(i)) / sum
		alpha[i] = max(share[i], 0)
	}
	floats.Scale(1/floats.Sum(alpha), alpha)
	for i, v := range alpha {
		alpha[i] = max(v, least)
	}
	// With t = 1/(α₀ + 1) the loss is Σ(t·d − r)², d = δ_kl − a_l, r = Ā_kl − a_l.
	dd, dr := 0.0, 0.0
	for i := range k {
		if share[i] < least {
			continue
		}
		for j, v := range rows.RawRowView(i) {
			d, r := -alpha[j], v/(sum*share[i])-alpha[j]
			if i == j {
				d++
			}
			dd += d * d
			dr += d * r
		}
	}
	if !(dr > 0) {
		for i := range alpha {
			alpha[i] = alphaFlat
		}
		return alpha, nil
	}
	floats.Scale(min(max(dd/dr-1, alphaSumMin), alphaSumMax), alpha)
	return alpha, nil
}

// checkCorrelations checks that a is a symmetric K×K matrix of numbers.
func checkCorrelations(a mat.Matrix) (k int, err error) {
	k, c := a.Dims()
	if k != c || k == 0 {
		return 0, fmt.Errorf("recovery: A is %d×%d, want square and not empty", k, c)
	}
	largest := 0.0
	for i := range k {
		for j := range k {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("recovery: A[%d,%d] = %g", i, j, v)
			}
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range k {
		for j := range i {
			if v, w := a.At(i, j), a.At(j, i); math.Abs(v-w) > 1e-6*largest {
				return 0, fmt.Errorf("recovery: A is not symmetric: A[%d,%d] = %g, A[%d,%d] = %g", i, j, v, j, i, w)
			}
		}
	}
	return k, nil
}
