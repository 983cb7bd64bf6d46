// Package priors has the prior of topic proportions of the semi-real corpora of lee-2018.
package priors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// LogisticNormal is the prior of correlated topic models: w_k ∝ exp(x_k) with
// x ~ N(μ, Σ). Adding a constant to all means, or to all covariances, changes
// nothing.
type LogisticNormal struct {
	// Mean is μ, K numbers; nil means 0.
	Mean []float64
	// Covariance is Σ, K×K and positive semidefinite.
	Covariance mat.Symmetric
}

// psdTol is how negative an eigenvalue of Σ may be, relative to the largest.
const psdTol = 1e-9

// Sampler implements corpus.TopicPrior. It takes O(K³), a draw O(K²).
func (l LogisticNormal) Sampler(k int) (func([]float64, *rand.Rand), error) {
	if l.Covariance == nil || l.Covariance.SymmetricDim() != k || l.Mean != nil && len(l.Mean) != k {
		dim := 0
		if l.Covariance != nil {
			dim = l.Covariance.SymmetricDim()
		}
		return nil, fmt.Errorf("a logistic-normal prior of %d means and a covariance of %d rows for %d topics", len(l.Mean), dim, k)
	}
	mean := make([]float64, k)
	copy(mean, l.Mean)
	for t, v := range mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the logistic-normal mean of topic %d is %g", t, v)
		}
		for j := range k {
			if v := l.Covariance.At(t, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("the logistic-normal covariance of topics %d and %d is %g", t, j, v)
			}
		}
	}
	// Eigenpairs, as Σ may be singular; that of log-ratios is.
	values, vec, err := linalg.Eigen(l.Covariance)
	if err != nil {
		return nil, fmt.Errorf("the logistic-normal covariance: %w", err)
	}
	root := make([]float64, k*k) // V√D, row-major
	for t, v := range values {
		if v < -psdTol*math.Abs(values[k-1]) {
			return nil, fmt.Errorf("the logistic-normal covariance has the eigenvalue %g, want ≥ 0", v)
		}
		for i := range k {
			root[i*k+t] = vec.At(i, t) * math.Sqrt(max(v, 0))
		}
	}
	z := make([]float64, k)
	return func(w []float64, rng *rand.Rand) {
		for t := range z {
			z[t] = rng.NormFloat64()
		}
		for t := range w {
			v := mean[t]
			for j, r := range root[t*k : t*k+k] {
				v += r * z[j]
			}
			w[t] = v
		}
		softmax(w)
	}, nil
}

// Fit returns the logistic-normal prior with the moments of the rows
// of w, the topic proportions of documents (M×K, M ≥ 2, K ≥ 2): mean and sample
// covariance of the centred log-ratios ln w_k − mean_l ln w_l. With the inferred
// proportions of a real corpus it gives the SR corpora of lee-2018 §4.4.
//
// Entries below floor, in (0, 1), are raised to floor, as 0 has no logarithm; 0
// means 0.01/K. Where the proportions are sparse the covariance depends much on
// it.
func Fit(w mat.Matrix, floor float64) (LogisticNormal, error) {
	m, k := w.Dims()
	if floor == 0 {
		floor = 0.01 / float64(k)
	}
	switch {
	case m < 2 || k < 2:
		return LogisticNormal{}, fmt.Errorf("logistic-normal moments of %d documents of %d topics; want 2 of each at least", m, k)
	case !(floor > 0 && floor < 1):
		return LogisticNormal{}, fmt.Errorf("logistic-normal moments: floor %g is not in (0, 1)", floor)
	}
	x := mat.NewDense(m, k, nil)
	mean := make([]float64, k)
	for i := range m {
		row, centre := x.RawRowView(i), 0.0
		for t := range row {
			v := w.At(i, t)
			if !(v >= 0) || math.IsInf(v, 1) {
				return LogisticNormal{}, fmt.Errorf("logistic-normal moments: document %d gives topic %d the share %g", i, t, v)
			}
			row[t] = math.Log(max(v, floor))
			centre += row[t] / float64(k)
		}
		for t := range row {
			row[t] -= centre
			mean[t] += row[t] / float64(m)
		}
	}
	for i := range m {
		for t, v := range mean {
			x.RawRowView(i)[t] -= v
		}
	}
	cov := mat.NewSymDense(k, nil)
	cov.SymOuterK(1/float64(m-1), x.T())
	return LogisticNormal{Mean: mean, Covariance: cov}, nil
}

// softmax replaces x by exp(x)/Σexp(x).
func softmax(x []float64) {
	top, sum := slices.Max(x), 0.0
	for i, v := range x {
		x[i] = math.Exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
