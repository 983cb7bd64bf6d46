package corpus

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TopicPrior is a distribution of topic proportions. Dirichlet and LogisticNormal
// are two.
type TopicPrior interface {
	// Sampler checks the prior against the number of topics and returns a function
	// that draws topic proportions from rng into w, of length k ≥ 1: at least 0,
	// with sum 1. Each goroutine calls Sampler and uses a function of its own.
	Sampler(k int) (func(w []float64, rng *rand.Rand), error)
}

// Dirichlet is the prior of latent Dirichlet allocation (LDA).
type Dirichlet struct {
	// Alpha holds the K parameters, each > 0 and finite.
	Alpha []float64
}

// SymmetricDirichlet returns the Dirichlet prior of k topics with α_k = alpha.
func SymmetricDirichlet(k int, alpha float64) Dirichlet {
	return Dirichlet{slices.Repeat([]float64{alpha}, k)}
}

// Sampler implements TopicPrior.
func (d Dirichlet) Sampler(k int) (func([]float64, *rand.Rand), error) {
	if len(d.Alpha) != k {
		return nil, fmt.Errorf("a Dirichlet prior of %d parameters for %d topics", len(d.Alpha), k)
	}
	for t, a := range d.Alpha {
		if !(a > 0) || math.IsInf(a, 1) {
			return nil, fmt.Errorf("the Dirichlet parameter of topic %d is %g, want > 0", t, a)
		}
	}
	alpha := slices.Clone(d.Alpha)
	return func(w []float64, rng *rand.Rand) {
		// Gamma variates in logarithms, by G(α) = G(α+1)·U^(1/α): those of a
		// small α underflow, all K of them now and then.
		for t, a := range alpha {
			g := distuv.Gamma{Alpha: a + 1, Beta: 1, Src: rng}.Rand()
			w[t] = math.Log(g) + math.Log(1-rng.Float64())/a
		}
		softmax(w)
	}, nil
}

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

// Sampler implements TopicPrior. It takes O(K³), a draw O(K²).
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
	var eig mat.EigenSym
	if !eig.Factorize(l.Covariance, true) {
		return nil, errors.New("the eigenvalues of the logistic-normal covariance did not converge")
	}
	var vec mat.Dense
	eig.VectorsTo(&vec)
	values := eig.Values(nil)
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

// FitLogisticNormal returns the logistic-normal prior with the moments of the rows
// of w, the topic proportions of documents (M×K, M ≥ 2, K ≥ 2): mean and sample
// covariance of the centred log-ratios ln w_k − mean_l ln w_l. With the inferred
// proportions of a real corpus it gives the SR corpora of lee-2018 §4.4.
//
// Entries below floor, in (0, 1), are raised to floor, as 0 has no logarithm; 0
// means 0.01/K. Where the proportions are sparse the covariance depends much on
// it.
func FitLogisticNormal(w mat.Matrix, floor float64) (LogisticNormal, error) {
	m, k := w.Dims()
	if floor == 0 {
		floor = 0.01 / float64(k)
	}
	switch {
	case m < 2 || k < 2:
		return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments of %d documents of %d topics; want 2 of each at least", m, k)
	case !(floor > 0 && floor < 1):
		return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments: floor %g is not in (0, 1)", floor)
	}
	x := mat.NewDense(m, k, nil)
	mean := make([]float64, k)
	for i := range m {
		row, centre := x.RawRowView(i), 0.0
		for t := range row {
			v := w.At(i, t)
			if !(v >= 0) || math.IsInf(v, 1) {
				return LogisticNormal{}, fmt.Errorf("corpus: logistic-normal moments: document %d gives topic %d the share %g", i, t, v)
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
