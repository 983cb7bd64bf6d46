package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// DefaultTopN is the length of a topic's list of top words in the papers.
const DefaultTopN = 20

// Entropy measures how undecided the words are between topics: the mean over
// words of H(p(topic | word n))/lg K, in [0, 1] (lee-2018 eq. 1.7). 0: every
// word belongs to one topic; 1: every word to all alike. Lower means sharper
// topics.
//
// breve is N×K. Values has one entry a word (anchors, which have entropy 0,
// among them), undefined (NaN) for a row of zeros. With K = 1 there is nothing
// to be undecided about: all values are 0.
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

// Sparsity measures how few words a topic is spread over, by Hoyer's index
// (√N − ‖b_k‖₁/‖b_k‖₂)/(√N − 1) (lee-2020 §4): 0 for a uniform topic, 1 for a
// topic of one word. Higher is usually better.
//
// b is N×K. Values has one entry a topic, undefined (NaN) for an empty topic and
// when N = 1.
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

// Specificity measures how far topics are from the corpus as a whole: the mean
// of KL₂(b_k‖c), in bits, with c scaled to sum 1 (lee-2018 eq. 1.8, lee-2020
// §4). Near 0 the topics repeat the unigram distribution; higher is better.
//
// b is N×K; c has length N, the row sums of the co-occurrence (every document
// weighs the same). Values has one entry a topic, undefined (NaN) for an empty
// topic and where the divergence does not exist, because b_k has mass on a word
// with c_n ≤ 0.
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
		return Stat{}, &ValueError{"marginals", -1, -1, sum, "is their sum, which must be positive"}
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

// TopWords returns the n most probable words of topic k, most probable first,
// ties by lowest index; all N words when n > N. b is N×K, words in rows. NaN
// counts as less than any number. A k outside [0, K) panics, as an index does.
// Cost O(N log n).
func TopWords(b mat.Matrix, k, n int) []int {
	rows, cols := b.Dims()
	if k < 0 || k >= cols {
		panic(fmt.Sprintf("metrics: topic %d is not in [0, %d)", k, cols))
	}
	n = min(n, rows)
	if n <= 0 {
		return nil
	}
	col := make([]float64, rows)
	for i := range col {
		if col[i] = b.At(i, k); math.IsNaN(col[i]) {
			col[i] = math.Inf(-1)
		}
	}
	// A binary heap of the n best so far, the worst of them on top.
	worse := func(i, j int) bool { return col[i] < col[j] || col[i] == col[j] && i > j }
	heap := make([]int, n)
	down := func(p int) {
		for {
			c := 2*p + 1
			if c >= n {
				return
			}
			if c+1 < n && worse(heap[c+1], heap[c]) {
				c++
			}
			if !worse(heap[c], heap[p]) {
				return
			}
			heap[p], heap[c] = heap[c], heap[p]
			p = c
		}
	}
	for i := range heap {
		heap[i] = i
	}
	for p := n/2 - 1; p >= 0; p-- {
		down(p)
	}
	for i := n; i < rows; i++ {
		if worse(heap[0], i) {
			heap[0] = i
			down(0)
		}
	}
	slices.SortFunc(heap, func(i, j int) int {
		if worse(j, i) {
			return -1
		}
		return 1
	})
	return heap
}

// TopUnion returns, ascending, the words that stand in the top n of at least one
// topic: those whose document frequencies Coherence and NPMI ask for.
func TopUnion(b mat.Matrix, n int) []int {
	_, k := b.Dims()
	var all []int
	for j := range k {
		all = append(all, TopWords(b, j, n)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func checkTopN(n int) error {
	if n < 1 {
		return &ValueError{"top words", -1, -1, float64(n), "is the length of the lists, which must be at least 1"}
	}
	return nil
}

// tops returns the top words of every topic, nil for an empty one.
func (t *topics) tops(n int) [][]int {
	lists := make([][]int, t.k)
	for k := range lists {
		if !t.empty[k] {
			lists[k] = TopWords(t.b, k, n)
		}
	}
	return lists
}

// Dissimilarity counts how many of a topic's n top words are in the top n of no
// other topic, and takes the mean over topics (lee-2018 §2.4, lee-2020 §4;
// n = 20 there). From 0, all lists shared, to n; higher is better.
//
// b is N×K. Words of probability 0 fill up the list of a topic with fewer than n
// words, by index, and with n ≥ N every list is the whole vocabulary. Values has
// one entry a topic, undefined (NaN) for an empty topic, whose list also counts
// for no other. With K = 1 nothing is shared: the value is min(n, N).
func Dissimilarity(b *mat.Dense, n int) (Stat, error) {
	t, err := checkTopics(b)
	if err != nil {
		return Stat{}, err
	}
	if err := checkTopN(n); err != nil {
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

// TopicDissimilarity is another quantity of nearly the same name, from the first
// chapter of the thesis: max_k ‖b̄ − b_k‖₂, b̄ the mean of the topics, the radius
// of the ball around the mean that holds all topics (lee-2018 eq. 1.9). Higher
// means more different topics; 0 when K = 1. b is N×K; empty topics are left out.
func TopicDissimilarity(b *mat.Dense) (float64, error) {
	t, err := checkTopics(b)
	if err != nil {
		return 0, err
	}
	return t.topicDissimilarity()
}

func (t *topics) topicDissimilarity() (float64, error) {
	full := 0
	for _, e := range t.empty {
		if !e {
			full++
		}
	}
	if full == 0 {
		return 0, &ValueError{"B", -1, 0, 0, "is its sum, as that of all columns: every topic is empty"}
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
