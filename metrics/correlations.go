package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Dominancy is p(Z₂ = k | Z₁ = k) = A_kk/Σ_l A_kl, how much a topic is by itself, and
// its mean over topics (lee-2018 §2.4). It is in [0, 1] for a non-negative A; 1 means
// topics that never share a document. Neither end is good in itself.
//
// a is K×K. One value a topic, NaN where the row of A sums to 0.
//
// Report.DominancyDiag is the form of lee-2020, A_kk.
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

// dominancyDiag is Report.DominancyDiag.
func dominancyDiag(d *mat.Dense) Stat {
	k, _ := d.Dims()
	values := make([]float64, k)
	for i := range values {
		values[i] = d.At(i, i)
	}
	return NewStat(values)
}

// Validity compares two estimates of the topic marginals p(Z), a = A·1 and q from B̆
// and the words, by their symmetric Kullback–Leibler divergence in bits (lee-2018
// Appendix A.4):
//
//	½(KL₂(a‖q) + KL₂(q‖a)).
//
// The second argument of each divergence is scaled to sum 1, the first is not, so
// that an A with a sum below 1 may give a negative number. Closer to 0 is better.
//
// q_k is the mean of Bayes' ratio B̆_nk c_n/B_nk over the words with B_nk > 0, as in
// the values published with the papers' program. Each ratio is p(Z = k) if B was made
// with c; with other marginals rare words weigh as much as frequent ones, and an
// entry that rounding leaves, of 1e-17, as much as any other.
// Report.ValidityMarginal takes q_k = Σ_n B̆_nk c_n instead, the printed formula, which
// is less sensitive.
//
// a is K×K, b and breve are N×K, c has length N. NaN where the divergence does not
// exist: a marginal is negative, or positive where the other is 0.
func Validity(a mat.Matrix, b, breve *mat.Dense, c []float64) (float64, error) {
	t, err := checkTopics(b)
	if err != nil {
		return 0, err
	}
	if err := checkBreve(breve, t.n, t.k); err != nil {
		return 0, err
	}
	if err := checkMarginals("marginals", c, t.n); err != nil {
		return 0, err
	}
	d, err := denseA(a, t.k)
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

// validityMarginal is Report.ValidityMarginal.
func validityMarginal(a, breve *mat.Dense, c []float64) float64 {
	_, k := breve.Dims()
	q := make([]float64, k)
	for i, ci := range c {
		floats.AddScaled(q, ci, breve.RawRowView(i))
	}
	return symmetricKL(rowSums(a), q)
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
