package jsmf

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// view is a matrix that cannot be written through.
type view struct {
	r, c int
	data []float64
}

func (v view) Dims() (r, c int) { return v.r, v.c }

func (v view) At(i, j int) float64 {
	if uint(i) >= uint(v.r) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(v.c) {
		panic(mat.ErrColAccess)
	}
	return v.data[i*v.c+j]
}

func (v view) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// Topics returns B, the N×K matrix of topics. Column k is p(word | topic k), non-negative with sum
// 1. The result is a read-only view. Gonum reads views one element at a time: for work on the whole
// matrix, take a copy by mat.DenseCopyOf.
func (m *Model) Topics() mat.Matrix { return view{m.n, m.k, m.topics} }

// Reading returns the N×K matrix of the weights by which people recognise a topic's words, or nil
// for a model without, such as one that was not refined. Column k favours words that many documents
// use in topic k and few use otherwise (refine.Result.Reading). Columns are non-negative with sum
// 1, or 0 for a topic without such words. The result is a copy.
//
// Topics that are not background (Background) have no weight for words of which most occurrences
// are in background topics, and no topic has for function words of the documents' languages.
func (m *Model) Reading() *mat.Dense {
	if m.reading == nil {
		return nil
	}
	return mat.NewDense(m.n, m.k, slices.Clone(m.reading))
}

// WordTopics returns the N×K matrix whose row n is p(topic | word n), the transpose of B̆ in the
// papers, as a read-only view. Rows are non-negative with sum 1; the row of a word whose marginal is
// not positive may be all 0. The row of an anchor is a unit vector, unless the anchor is one of a
// group or the model was refined.
//
// In a refined model they follow from Topics and the row sums of Correlations by Bayes' rule, and are
// calculated when asked for.
func (m *Model) WordTopics() mat.Matrix {
	if m.wordTopics == nil {
		return m.bayes()
	}
	return view{m.n, m.k, m.wordTopics}
}

// bayes is p(topic | word) by Bayes' rule. Its entries are, to the bit, those of vec.Posterior.
type bayes struct {
	view             // of p(word | topic)
	shares []float64 // K
	words  []float64 // N, p(word)
}

func (b bayes) At(i, j int) float64 {
	if p := b.view.At(i, j) * b.shares[j]; p != 0 {
		return p / b.words[i]
	}
	return 0
}

func (b bayes) T() mat.Matrix { return mat.Transpose{Matrix: b} }

// makeBayes makes what WordTopics returns where it follows from the topics.
func (m *Model) makeBayes() bayes {
	b := bayes{view{m.n, m.k, m.topics}, m.rowSums(), make([]float64, m.n)}
	row := make([]float64, m.k)
	for i := range b.words {
		b.words[i] = vec.Posterior(row, m.topics[i*m.k:(i+1)*m.k], b.shares)
	}
	return b
}

// rowSums returns the row sums of A.
func (m *Model) rowSums() []float64 {
	a := make([]float64, m.k)
	for i := range a {
		a[i] = vec.Sum(m.corr[i*m.k : (i+1)*m.k])
	}
	return a
}

// denseWordTopics returns p(topic | word) for reading. It may share the memory of the model.
func (m *Model) denseWordTopics() *mat.Dense {
	if m.wordTopics != nil {
		return mat.NewDense(m.n, m.k, m.wordTopics)
	}
	out := mat.NewDense(m.n, m.k, nil)
	m.eachWord(func(i int, topics []float64) { out.SetRow(i, topics) })
	return out
}

// eachWord calls do for each word in order with p(topic | word), which is valid during the call.
func (m *Model) eachWord(do func(i int, topics []float64)) {
	row, shares := make([]float64, m.k), m.rowSums()
	for i := range m.n {
		if m.wordTopics != nil {
			row = m.wordTopics[i*m.k : (i+1)*m.k]
		} else {
			vec.Posterior(row, m.topics[i*m.k:(i+1)*m.k], shares)
		}
		do(i, row)
	}
}

// bayesTol is how far p(topic | word) may be from what Bayes' rule gives to follow from it.
const bayesTol = 1e-12

// followsBayes reports whether p(topic | word) follows from the topics, to rounding.
func (m *Model) followsBayes() bool {
	if len(m.wordTopics) != m.n*m.k || len(m.topics) != m.n*m.k || len(m.corr) != m.k*m.k {
		return false
	}
	row, shares := make([]float64, m.k), m.rowSums()
	if floats.Min(shares) < 0 {
		return false
	}
	for i := range m.n {
		vec.Posterior(row, m.topics[i*m.k:(i+1)*m.k], shares)
		if !floats.EqualApprox(row, m.wordTopics[i*m.k:(i+1)*m.k], bayesTol) {
			return false
		}
	}
	return true
}

// Correlations returns A, the symmetric K×K matrix of p(topic k, topic l), as a read-only view: the
// probability that two words drawn from one document come from topics k and l. It is the estimate
// as recovered, neither clipped nor rescaled. Negative entries, or a sum far from 1, mean that the
// model does not fit (metrics.Report.Legality).
//
// After passes over the documents A is the mean of E[θθᵀ] over the documents, given their words and
// the prior of their proportions θ. Under a logistic-normal prior ([Model.Logits], the default for
// documents of ten tokens and more) the correlations of thousands of documents of a hundred tokens
// are near the true ones; they are too small where documents are fewer or shorter. Under a prior of
// families of topics that is so of the families' (of Cut(0)). Under a Dirichlet prior they are about
// half as large. The correlations of the prior itself, of logits, are [recovery.LogisticNormal.Correlations].
func (m *Model) Correlations() mat.Matrix { return view{m.k, m.k, m.corr} }

// denseTopics returns B for reading: it shares the memory of the model.
func (m *Model) denseTopics() *mat.Dense { return mat.NewDense(m.n, m.k, m.topics) }

// varianceTol is the part of A_kk that the variance A_kk − a_k² must keep to be more than rounding.
const varianceTol = 1e-12

// shares returns the row sums of A over its whole sum, and that sum.
func (m *Model) shares() (a []float64, sum float64) {
	a = make([]float64, m.k)
	for i := range m.k {
		for _, x := range m.corr[i*m.k : (i+1)*m.k] {
			a[i] += x
		}
		sum += a[i]
	}
	for i := range a {
		if sum > 0 {
			a[i] /= sum
		} else {
			a[i] = math.NaN()
		}
	}
	return a, sum
}

// TopicShares returns p(topic) for each topic: the row sums of A divided by the sum of A. It is the
// mean of the topic's proportions over documents, in which a long document counts as a short one
// does, unless it has a larger weight. Shares may be negative if A has negative entries, and are
// all NaN if the sum of A is not positive.
func (m *Model) TopicShares() []float64 {
	a, _ := m.shares()
	return a
}

// TopicPair says how two topics are related. In the formulas A is scaled to sum 1, and a are its row
// sums.
type TopicPair struct {
	K, L int // the topics, K < L

	// Joint is A_kl, the probability that two words of one document come from topics K and L, in
	// this order.
	Joint float64

	// Lift is A_kl / (a_k a_l): above 1 where the topics meet more often than independent ones.
	Lift float64

	// Correlation is (A_kl − a_k a_l) / √((A_kk − a_k²)(A_ll − a_l²)), the Pearson correlation of
	// the two topics' proportions over the documents. It lies in [−1, 1] if A is positive
	// semi-definite. It is NaN if a topic's variance A_kk − a_k² is not positive, to 1e-12 of A_kk.
	Correlation float64
}

// CorrelatedPairs returns the n pairs of topics with the largest correlation, in decreasing order,
// NaN last, ties by K and then L. A negative n, or one that is too large, returns all K(K−1)/2
// pairs. O(K² log K).
func (m *Model) CorrelatedPairs(n int) []TopicPair {
	pairs := m.pairs()
	slices.SortFunc(pairs, func(p, q TopicPair) int {
		return cmp.Or(cmp.Compare(q.Correlation, p.Correlation), cmp.Compare(p.K, q.K), cmp.Compare(p.L, q.L)) // NaN is less than all
	})
	if n >= 0 && n < len(pairs) {
		pairs = slices.Clone(pairs[:n])
	}
	return pairs
}

// pairs returns all pairs of topics by K and L.
func (m *Model) pairs() []TopicPair {
	a, sum := m.shares()
	k := m.k
	at := func(i, j int) float64 { // A scaled and symmetric to the last bit
		return (m.corr[i*k+j] + m.corr[j*k+i]) / (2 * sum)
	}
	pairs := make([]TopicPair, 0, k*(k-1)/2)
	for i := range k {
		for j := i + 1; j < k; j++ {
			p := TopicPair{K: i, L: j, Joint: math.NaN(), Lift: math.NaN(), Correlation: math.NaN()}
			if sum > 0 {
				p.Joint = at(i, j)
				if d := a[i] * a[j]; d != 0 {
					p.Lift = p.Joint / d
				}
				vi, vj := at(i, i)-float64(a[i]*a[i]), at(j, j)-float64(a[j]*a[j])
				if vi > varianceTol*at(i, i) && vj > varianceTol*at(j, j) && vi > 0 && vj > 0 {
					p.Correlation = (p.Joint - float64(a[i]*a[j])) / (math.Sqrt(vi) * math.Sqrt(vj))
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}
