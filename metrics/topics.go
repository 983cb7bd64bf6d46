package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Entropy is the entropy of p(topic | word n) divided by lg K, and its mean over
// words, in [0, 1] (lee-2018 eq. 1.7): 0 if each word belongs to one topic, 1 if
// to all alike. Lower means sharper topics.
//
// breve is B̆, N×K. One value a word, 0 for anchors and for K = 1, NaN for a row of
// zeros.
func Entropy(breve *mat.Dense) (Stat, error) {
	n, k := dims(breve)
	if err := checkBreve(breve, n, k); err != nil {
		return Stat{}, err
	}
	return entropy(breve), nil
}

func entropy(breve *mat.Dense) Stat {
	n, k := breve.Dims()
	values := make([]float64, n)
	lgK := math.Log2(float64(k))
	for i := range values {
		h, any := 0.0, false
		for _, p := range breve.RawRowView(i) {
			if p > 0 {
				h -= p * math.Log2(p)
				any = true
			}
		}
		switch {
		case !any:
			values[i] = math.NaN()
		case k > 1:
			values[i] = h / lgK
		}
	}
	return NewStat(values)
}

// Sparsity is Hoyer's index (√N − ‖b_k‖₁/‖b_k‖₂)/(√N − 1) of each topic, and its
// mean, in [0, 1] (lee-2020 §4): 0 for the uniform distribution, 1 for a single
// word. Higher is usually better.
//
// b is N×K. One value a topic, NaN for an empty one and for N = 1.
func Sparsity(b *mat.Dense) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	return t.sparsity(), nil
}

func (t *topics) sparsity() Stat {
	l1, l2 := make([]float64, t.k), make([]float64, t.k)
	for i := range t.n {
		for k, p := range t.b.RawRowView(i) {
			l1[k] += p
			l2[k] += p * p
		}
	}
	root := math.Sqrt(float64(t.n))
	values := make([]float64, t.k)
	for k := range values {
		values[k] = math.NaN()
		if !t.empty[k] && t.n > 1 {
			values[k] = (root - l1[k]/math.Sqrt(l2[k])) / (root - 1)
		}
	}
	return NewStat(values)
}

// Specificity is the divergence KL₂(b_k‖c) of each topic from the unigram
// distribution, in bits, and its mean (lee-2018 eq. 1.8, lee-2020 §4). Near 0 the
// topics repeat the corpus as a whole; higher is better.
//
// b is N×K. c, of length N, is scaled to sum 1 here: the row sums of the
// co-occurrence, in which every document weighs the same. One value a topic, NaN for
// an empty one and for one with a word of c_n ≤ 0.
func Specificity(b *mat.Dense, c []float64) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkMarginals("marginals", c, t.n); err != nil {
		return Stat{}, err
	}
	return t.specificity(c)
}

func (t *topics) specificity(c []float64) (Stat, error) {
	sum := floats.Sum(c)
	if !(sum > 0) {
		return Stat{}, fmt.Errorf("metrics: the marginals sum to %v, which is not positive", sum)
	}
	values := make([]float64, t.k)
	for i, ci := range c {
		for k, p := range t.b.RawRowView(i) {
			switch {
			case p == 0:
			case ci > 0:
				values[k] += p * math.Log2(p*sum/ci)
			default:
				values[k] = math.NaN()
			}
		}
	}
	for k, e := range t.empty {
		if e {
			values[k] = math.NaN()
		}
	}
	return NewStat(values), nil
}

// Dissimilarity counts the words of a topic's n top words that are in the top n of
// no other topic, and takes the mean over topics (lee-2018 §2.4, lee-2020 §4). It is
// in [0, n]; higher is better.
//
// b is N×K; n is 20 for 0. Words of probability 0 fill the list of a topic of fewer
// than n words, by their numbers. One value a topic, NaN for an empty one, whose
// words count for no other.
func Dissimilarity(b *mat.Dense, n int) (Stat, error) {
	t, n, err := topicsAndTop(b, n)
	if err != nil {
		return Stat{}, err
	}
	return dissimilarity(t.tops(n)), nil
}

func dissimilarity(tops [][]int) Stat {
	in := make(map[int]int) // word → number of lists it stands in
	for _, l := range tops {
		for _, w := range l {
			in[w]++
		}
	}
	values := make([]float64, len(tops))
	for k, l := range tops {
		if l == nil {
			values[k] = math.NaN()
		}
		for _, w := range l {
			if in[w] == 1 {
				values[k]++
			}
		}
	}
	return NewStat(values)
}

// topicDissimilarity is Report.TopicDissimilarity.
func (t *topics) topicDissimilarity() (float64, error) {
	full := 0
	for _, e := range t.empty {
		if !e {
			full++
		}
	}
	if full == 0 {
		return 0, fmt.Errorf("metrics: B has empty topics only")
	}
	d2 := make([]float64, t.k)
	for i := range t.n {
		row := t.b.RawRowView(i)
		mean := floats.Sum(row) / float64(full)
		for k, p := range row {
			d2[k] += (mean - p) * (mean - p)
		}
	}
	r := 0.0
	for k, d := range d2 {
		if !t.empty[k] {
			r = math.Max(r, d)
		}
	}
	return math.Sqrt(r), nil
}
