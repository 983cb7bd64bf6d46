package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Legality returns ΣA, the sum of all entries of the K×K topic correlations
// (lee-2018 Appendix A.4). A is meant to be the joint distribution p(Z₁, Z₂),
// whose sum is 1: the closer to 1 the better. It is NaN only if a holds NaN.
func Legality(a mat.Matrix) float64 { return mat.Sum(a) }

// Dominancy measures how much topics keep to themselves, as the thesis does:
// the mean over topics of p(Z₂ = k | Z₁ = k) = A_kk/Σ_l A_kl (lee-2018 §2.4).
// In [0, 1] for a legal A; 1 means topics that are never mixed in a document.
// Neither end is good: a greater value means weaker correlations, found or lost.
//
// Values has one entry a topic, undefined (NaN) where the row of A sums to 0.
func Dominancy(a mat.Matrix) (Stat, error) {
	d, err := denseA(a, 0)
	if err != nil {
		return Stat{}, err
	}
	return dominancy(d), nil
}

func dominancy(d *mat.Dense) Stat {
	k, _ := d.Dims()
	values := make([]float64, k)
	for i := range values {
		values[i] = math.NaN()
		if s := floats.Sum(d.RawRowView(i)); s != 0 {
			values[i] = d.At(i, i) / s
		}
	}
	return NewStat(values)
}

// DominancyDiag is the form of the later paper, the mean of the diagonal A_kk
// (lee-2020 §4): the joint probability p(Z₁ = k, Z₂ = k), at most 1/K on average
// for a legal A. Values has one entry a topic.
func DominancyDiag(a mat.Matrix) (Stat, error) {
	d, err := denseA(a, 0)
	if err != nil {
		return Stat{}, err
	}
	return dominancyDiag(d), nil
}

func dominancyDiag(d *mat.Dense) Stat {
	k, _ := d.Dims()
	values := make([]float64, k)
	for i := range values {
		values[i] = d.At(i, i)
	}
	return NewStat(values)
}

// Validity compares two ways to the topic marginals p(Z), a = A·1 and one from
// B̆ and the words (lee-2018 Appendix A.4): the symmetric Kullback–Leibler
// divergence in bits,
//
//	½(KL₂(a‖q) + KL₂(q‖a)),
//
// with the second argument of each scaled to sum 1, the first as it is. The
// closer to 0 the better; because the first argument is not scaled it is
// negative for an A that sums to less than 1.
//
// Here q is read off Bayes' rule word by word, as in the values published with
// the papers' program: q_k is the mean over the words with B_nk > 0 of
// B̆_nk c_n/B_nk. When c is the marginal with which B was made, each of these
// terms is p(Z = k) itself; with the original marginals they scatter and rare
// words weigh as much as frequent ones. ValidityMarginal is the robust form.
//
// a is K×K, b and breve N×K, c of length N. NaN (with no error) where the
// divergence does not exist: a marginal is negative, or has mass where the other
// has none.
func Validity(a mat.Matrix, b, breve *mat.Dense, c []float64) (float64, error) {
	t, err := checkTopics(b)
	if err != nil {
		return 0, err
	}
	d, err := validityArgs(a, breve, c, t.n, t.k)
	if err != nil {
		return 0, err
	}
	return t.validity(d, breve, c), nil
}

func (t *topics) validity(a, breve *mat.Dense, c []float64) float64 {
	q, words := make([]float64, t.k), make([]float64, t.k)
	for n := range t.n {
		for k, p := range t.b.RawRowView(n) {
			if p > 0 {
				q[k] += breve.At(n, k) * c[n] / p
				words[k]++
			}
		}
	}
	for k := range q {
		if words[k] > 0 {
			q[k] /= words[k]
		}
	}
	return symmetricKL(rowSums(a), q)
}

// ValidityMarginal is Validity with q_k = Σ_n B̆_nk c_n, the law of total
// probability, which is the thesis' formula as printed (lee-2018 Appendix A.4).
func ValidityMarginal(a mat.Matrix, breve *mat.Dense, c []float64) (float64, error) {
	n, k := dims(breve)
	d, err := validityArgs(a, breve, c, n, k)
	if err != nil {
		return 0, err
	}
	return validityMarginal(d, breve, c), nil
}

func validityMarginal(a, breve *mat.Dense, c []float64) float64 {
	_, k := breve.Dims()
	q := make([]float64, k)
	for i, ci := range c {
		floats.AddScaled(q, ci, breve.RawRowView(i))
	}
	return symmetricKL(rowSums(a), q)
}

// validityArgs checks the arguments and returns A.
func validityArgs(a mat.Matrix, breve *mat.Dense, c []float64, n, k int) (*mat.Dense, error) {
	if err := checkBreve(breve, n, k); err != nil {
		return nil, err
	}
	if err := checkMarginals("marginals", c, n); err != nil {
		return nil, err
	}
	return denseA(a, k)
}

func rowSums(a *mat.Dense) []float64 {
	k, _ := a.Dims()
	s := make([]float64, k)
	for i := range s {
		s[i] = floats.Sum(a.RawRowView(i))
	}
	return s
}

func symmetricKL(p, q []float64) float64 { return (kl2(p, q) + kl2(q, p)) / 2 }

// kl2 returns Σ p_i lg(p_i/q̂_i) with q̂ = q/Σq, and NaN where it does not exist:
// p_i > 0 = q_i, or a negative entry.
func kl2(p, q []float64) float64 {
	sum, s := floats.Sum(q), 0.0
	for i, x := range p {
		switch {
		case x == 0 && q[i] >= 0:
		case x > 0 && q[i] > 0:
			s += x * math.Log2(x*sum/q[i])
		default:
			return math.NaN()
		}
	}
	return s
}
