package metrics

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// entropy is Report.Entropy.
func entropy(breve *mat.Dense) Stat {
	n, k := breve.Dims()
	values := make([]float64, n)
	lgK := arith.Log2(float64(k))
	for i := range values {
		h, any := 0.0, false
		for _, p := range breve.RawRowView(i) {
			if p > 0 {
				h -= float64(p * arith.Log2(p))
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

// sparsity is Report.Sparsity.
func (t *topics) sparsity() Stat {
	l1, l2 := make([]float64, t.k), make([]float64, t.k)
	for i := range t.n {
		for k, p := range t.b.RawRowView(i) {
			l1[k] += p
			l2[k] += float64(p * p)
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

// specificity is Report.Specificity with the row sums c of C, which sum to sum.
func (t *topics) specificity(c []float64, sum float64) Stat {
	values := make([]float64, t.k)
	for i, ci := range c {
		for k, p := range t.b.RawRowView(i) {
			switch {
			case p == 0:
			case ci > 0:
				values[k] += float64(p * arith.Log2(p*sum/ci))
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
	return NewStat(values)
}

// dissimilarity is Report.Dissimilarity of lists of top words, nil for an empty topic.
func dissimilarity(tops [][]int) Stat {
	in := make(map[int]int) // word → number of lists it is in
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
		mean := vec.Sum(row) / float64(full)
		for k, p := range row {
			d2[k] += float64((mean - p) * (mean - p))
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

// dominancy is Report.Dominancy.
func dominancy(d *mat.Dense) Stat {
	values := rowSums(d)
	for i, s := range values {
		values[i] = math.NaN()
		if s != 0 {
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

// validity is Report.Validity.
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
		vec.AddScaled(q, ci, breve.RawRowView(i))
	}
	return symmetricKL(rowSums(a), q)
}

func rowSums(a *mat.Dense) []float64 {
	n, _ := a.Dims()
	s := make([]float64, n)
	for i := range s {
		s[i] = vec.Sum(a.RawRowView(i))
	}
	return s
}

func symmetricKL(p, q []float64) float64 { return (kl2(p, q) + kl2(q, p)) / 2 }

// kl2 returns Σ p_i lg(p_i/q̂_i) with q̂ = q/Σq, and NaN where it does not exist:
// p_i > 0 = q_i, or a negative entry.
func kl2(p, q []float64) float64 {
	sum, s := vec.Sum(q), 0.0
	for i, x := range p {
		switch {
		case x == 0 && q[i] >= 0:
		case x > 0 && q[i] > 0:
			s += float64(x * arith.Log2(x*sum/q[i]))
		default:
			return math.NaN()
		}
	}
	return s
}

// basisRank is Report.BasisRank.
func (t *topics) basisRank(anchors []int) Stat {
	values := make([]float64, t.k)
	for k, s := range anchors {
		values[k] = math.NaN()
		if t.empty[k] {
			continue
		}
		v := t.b.At(s, k)
		values[k] = 1
		for i := range t.n {
			if p := t.b.At(i, k); p > v || p == v && i < s {
				values[k]++
			}
		}
	}
	return NewStat(values)
}

// softBasisRank is Report.SoftBasisRank.
func (t *topics) softBasisRank(anchors []int) Stat {
	top := make([]float64, t.k)
	for i := range t.n {
		for k, p := range t.b.RawRowView(i) {
			top[k] = math.Max(top[k], p)
		}
	}
	values := make([]float64, t.k)
	for k, s := range anchors {
		values[k] = math.NaN()
		if p := t.b.At(s, k); p > 0 {
			values[k] = arith.Log(top[k] / p)
		}
	}
	return NewStat(values)
}

// basisQuality returns Report.BasisQuality and Report.BasisQualityShare. O(NK log N).
func (t *topics) basisQuality(ctx context.Context, anchors []int, workers int) (quality, share Stat, err error) {
	places := make([][]place, t.k) // places[l][k] is that of anchor k in topic l
	err = parallel.Chunks(ctx, t.k, 4, workers, func(_, _, lo, hi int) error {
		for l := lo; l < hi; l++ {
			if !t.empty[l] {
				places[l] = t.places(l, anchors)
			}
		}
		return nil
	})
	if err != nil {
		return Stat{}, Stat{}, err
	}
	mean := func(value func(place) float64) Stat {
		values := make([]float64, t.k)
		for k := range values {
			sum, n := 0.0, 0.0
			for l, p := range places {
				if l == k || p == nil || math.IsNaN(value(p[k])) {
					continue
				}
				sum += value(p[k])
				n++
			}
			values[k] = sum / n // NaN if there is none
		}
		return NewStat(values)
	}
	return mean(func(p place) float64 { return float64(p.rank) }), mean(place.share), nil
}

// place is the rank of a word in a topic.
type place struct {
	rank        int // from 1, ties by lowest number
	above, tied int // other words more probable and as probable
	of          int // other words of probability above 0
}

// share is the share of the topic's other words that are more probable, half of those
// as probable: 1 for a word that the topic lacks, NaN for its only one.
func (p place) share() float64 {
	if p.above == p.of && p.of > 0 {
		return 1
	}
	return (float64(p.above) + float64(float64(p.tied)/2)) / float64(p.of)
}

// places returns the places of the given words in topic l.
func (t *topics) places(l int, words []int) []place {
	column := mat.Col(nil, l, t.b)
	order := vec.Order(t.n, func(i int) float64 { return column[i] })
	rank := make([]int, t.n) // from 0
	for r, i := range order {
		rank[i] = r
	}
	// from returns how many words are before the first for whose probability a condition holds.
	from := func(holds func(p float64) bool) int {
		return sort.Search(t.n, func(r int) bool { return holds(column[order[r]]) })
	}
	positive := from(func(p float64) bool { return !(p > 0) })
	out := make([]place, len(words))
	for k, s := range words {
		v := column[s]
		above := from(func(p float64) bool { return p <= v })
		out[k] = place{rank: rank[s] + 1, above: above, tied: from(func(p float64) bool { return p < v }) - above - 1, of: positive}
		if v > 0 {
			out[k].of--
		}
	}
	return out
}
