package jsmf

import (
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/console"
)

// Recommendation is a number of topics, and how sure it is. It follows the one-standard-error rule
// (Breiman et al., Classification and Regression Trees, 1984): of the numbers of topics under which
// held-out documents are at most one standard error less likely than under the best, it is the
// smallest. The standard error is that of the difference, over documents.
type Recommendation struct {
	K int

	// Low and High are the smallest and the largest number of topics that are as likely: the
	// log-likelihood differs from that under K by no more than two standard errors of the
	// difference. Best is the number under which the documents are most likely.
	Low, High, Best int

	// Chosen is the share of resamples that lead to K: the scores of the documents are weighted
	// anew, at random, and the rule is applied again. No model is fitted again, so that the doubt
	// about the fits themselves is not in it.
	Chosen float64

	// Stable of the topics of the model of K came back in Cold fits to reweighted documents
	// (Uncertainty.Stable). Whoever runs a Bootstrap of the model sets them; 0: not known.
	Stable, Cold int

	// Documents were held out, with Words hidden words.
	Documents, Words int

	// Why is the reason in a sentence or two, with numbers.
	Why string
}

// String returns for example "K = 35 (25 to 45 are as likely; 31 of 35 topics stable; chosen in 62
// % of resamples)". Without Cold there is nothing of stability in it.
func (r *Recommendation) String() string {
	likely := "no other is as likely"
	if r.Low < r.High {
		likely = fmt.Sprintf("%d to %d are as likely", r.Low, r.High)
	}
	if r.Cold > 0 {
		likely += fmt.Sprintf("; %d of %d topics stable", r.Stable, r.K)
	}
	return fmt.Sprintf("K = %d (%s; chosen in %.0f %% of resamples)", r.K, likely, 100*r.Chosen)
}

// HeldOutScore is how well models of K topics predict documents that they were not fitted to.
type HeldOutScore struct {
	// PerWord is the mean of ln p over the hidden words.
	PerWord float64
	// Behind is how much less that is than the best of the sweep, and Error the standard error of
	// this difference over documents. Both are 0 for the best.
	Behind, Error float64
	// AsLikely reports whether the difference to the K recommended is at most two standard errors.
	AsLikely bool
	// Chosen is the share of resamples that lead to this K.
	Chosen float64
	// Why says in a few words why this K is recommended, or why not.
	Why string
}

// resamples is how many there are: the error of a share is 2 % at most.
const resamples = 500

// ballot holds the scores from which a number of topics is chosen.
type ballot struct {
	logs  [][]float64 // for each K, ascending: the sum of ln p of each document
	words []float64   // of each document
}

// means returns for each K the mean of ln p a word, with the given weights of documents.
func (b ballot) means(weights []float64) []float64 {
	total := 0.0
	for d, w := range weights {
		total += w * b.words[d]
	}
	out := make([]float64, len(b.logs))
	for i, logs := range b.logs {
		for d, w := range weights {
			out[i] += w * logs[d]
		}
		out[i] /= total
	}
	return out
}

// difference returns the mean of ln p a word under i less that under j, and the standard error of
// this ratio over the documents, whose scores are paired.
func (b ballot) difference(i, j int, weights []float64) (mean, err float64) {
	sum, total, n := 0.0, 0.0, 0.0
	for d, w := range weights {
		sum += w * (b.logs[i][d] - b.logs[j][d])
		total += w * b.words[d]
		n += w
	}
	mean = sum / total
	square := 0.0
	for d, w := range weights {
		x := b.logs[i][d] - b.logs[j][d] - mean*b.words[d]
		square += w * x * x
	}
	return mean, math.Sqrt(square*n/(n-1)) / total
}

// choose returns the best, and the first that is within one standard error of it.
func (b ballot) choose(weights []float64) (best, chosen int) {
	means := b.means(weights)
	for i, v := range means {
		if v > means[best] {
			best = i
		}
	}
	for i := range best {
		if behind, err := b.difference(best, i, weights); behind <= err {
			return best, i
		}
	}
	return best, best
}

// resample returns the share of resamples that choose each K. Documents are weighted as in a
// Bootstrap, by their keys: their places do not matter.
func (b ballot) resample(keys []uint64) []float64 {
	shares, weights := make([]float64, len(b.logs)), make([]float64, len(keys))
	for r := range resamples {
		for d, key := range keys {
			weights[d] = exponential(0, r, key)
		}
		_, chosen := b.choose(weights)
		shares[chosen] += 1. / resamples
	}
	return shares
}

// asLikely reports whether numbers i and j differ by no more than two standard errors.
func (b ballot) asLikely(i, j int, weights []float64) bool {
	mean, err := b.difference(i, j, weights)
	return math.Abs(mean) <= 2*err
}

// recommend chooses among ks, ascending, and returns the score of each. end says why there is no
// larger number, if there is a reason.
func (b ballot) recommend(ks []int, keys []uint64, end string) (*Recommendation, []HeldOutScore) {
	ones := slices.Repeat([]float64{1}, len(b.words))
	best, chosen := b.choose(ones)
	low, high := chosen, chosen
	means, shares := b.means(ones), b.resample(keys)
	scores := make([]HeldOutScore, len(ks))
	for i := range ks {
		behind, err := b.difference(best, i, ones)
		scores[i] = HeldOutScore{PerWord: means[i], Behind: behind, Error: err, AsLikely: b.asLikely(chosen, i, ones), Chosen: shares[i]}
		if scores[i].AsLikely {
			low, high = min(low, i), max(high, i)
		}
	}
	for i := range scores {
		scores[i].Why = why(ks, i, chosen, best, scores[i].AsLikely, low < i && i < high)
	}
	r := &Recommendation{K: ks[chosen], Low: ks[low], High: ks[high], Chosen: shares[chosen], Best: ks[best], Documents: len(b.words)}
	for _, n := range b.words {
		r.Words += int(n)
	}
	r.Why = console.Number("%d documents held out are most likely with %d topics: ln p is %.4f a word", r.Documents, r.Best, means[best])
	switch {
	case chosen < best:
		r.Why += fmt.Sprintf("; %d is the fewest within one standard error, lower by %v.", r.K, scores[chosen])
	case best > 0:
		r.Why += fmt.Sprintf("; with %d it is lower by %v.", ks[best-1], scores[best-1])
	default:
		r.Why += "."
	}
	switch {
	case len(ks) == 1:
		r.Why += " There was no other number to choose."
	case best == len(ks)-1:
		r.Why += " That is the largest number of the sweep: more may do better." + end
	case chosen == 0:
		r.Why += " It is the smallest number of the sweep: fewer may do."
	}
	return r, scores
}

// why says what speaks for and against number i, which may lie between others that are as likely as
// the one chosen.
func why(ks []int, i, chosen, best int, asLikely, between bool) string {
	switch {
	case i == chosen && i == best:
		return "recommended: the most likely"
	case i == chosen:
		return fmt.Sprintf("recommended: as likely as %d", ks[best])
	case i == best:
		return fmt.Sprintf("most likely; %d is as likely", ks[chosen])
	case asLikely:
		return fmt.Sprintf("as likely as %d", ks[chosen])
	case between:
		return "a little less likely"
	case i < chosen:
		return "less likely: too few"
	}
	return "less likely: too many"
}

// String says how far the score is behind the best.
func (s HeldOutScore) String() string { return fmt.Sprintf("%.4f ± %.4f", s.Behind, s.Error) }
