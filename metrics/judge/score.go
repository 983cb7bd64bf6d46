package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with a confidence interval, NaN where answers are too few.
type Interval struct{ Value, Low, High float64 }

// Result is how topics did in one kind of task. Values are shares of right answers and, of Label, means of the
// correlation of a judge's ratings with the proportions of the topic.
type Result struct {
	Kind   Kind
	Chance float64 // the value of judges who cannot tell
	// All is the value of all answers. Its interval is that of topics like these: it allows for
	// topics that differ.
	All    Interval
	Topics []Interval // of each topic by itself
}

// Score returns a result for each of Words, Documents and Label that has answers, with intervals of a
// level such as 0.95. Errors: a level not between 0 and 1, keys that are none, answers that fit no key.
func Score(keys []Key, answers []Answer, level float64) ([]Result, error) {
	pairs, err := match(keys, answers, level)
	if err != nil {
		return nil, err
	}
	topics := 0
	for _, k := range keys {
		topics = max(topics, k.Topic+1)
	}
	var out []Result
	for _, kind := range []Kind{Words, Documents, Label} {
		r, values, n := Result{Kind: kind}, make([][]float64, topics), 0.0
		for _, p := range pairs {
			v := 0.0
			switch {
			case p.key.Kind != kind:
				continue
			case kind == Label:
				if v = stat.Correlation(p.Ratings, p.key.Shares, nil); math.IsNaN(v) {
					v = 0 // all ratings are equal
				}
			case p.Choice == p.key.Right:
				v = 1
			}
			if kind != Label {
				r.Chance += 1 / float64(p.key.Options)
			}
			values[p.key.Topic] = append(values[p.key.Topic], v)
			n++
		}
		if n == 0 {
			continue
		}
		r.Chance /= n
		r.All = interval(values, kind != Label, level)
		for _, of := range values {
			var alone [][]float64
			for _, v := range of {
				alone = append(alone, []float64{v})
			}
			r.Topics = append(r.Topics, interval(alone, kind != Label, level))
		}
		out = append(out, r)
	}
	return out, nil
}

// pair is an answer with the key to it.
type pair struct {
	key Key
	Answer
}

func match(keys []Key, answers []Answer, level float64) (out []pair, err error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("judge: a level of %v; want one between 0 and 1", level)
	}
	of := make(map[string]Key)
	for _, k := range keys {
		intrusion := (k.Kind == Words || k.Kind == Documents) && k.Right >= 1 && k.Right <= k.Options
		if _, twice := of[k.ID]; twice || k.Topic < 0 || k.Document < 0 || !intrusion && k.Kind != Choose && !(k.Kind == Label && len(k.Shares) == k.Options) {
			return nil, fmt.Errorf("judge: key %q is there twice or is none of a task", k.ID)
		}
		of[k.ID] = k
	}
	for i, a := range answers {
		k, known := of[a.ID]
		if !known || k.Kind == Label && (len(a.Ratings) != k.Options || slices.ContainsFunc(a.Ratings, math.IsNaN)) || k.Kind != Label && (a.Choice < 1 || a.Choice > k.Options) {
			return nil, fmt.Errorf("judge: answer %d, to %q, is choice %d and ratings %v; want an answer to one of the keys (%d options)", i, a.ID, a.Choice, a.Ratings, k.Options)
		}
		out = append(out, pair{k, a})
	}
	return out, nil
}

// interval is that of the mean of values in clusters: Student's, of the clusters, and of shares Wilson's
// with the number of answers that would vary as much if they were independent.
func interval(clusters [][]float64, shares bool, level float64) Interval {
	clusters = slices.DeleteFunc(slices.Clone(clusters), func(v []float64) bool { return len(v) == 0 })
	all := slices.Concat(clusters...)
	if len(all) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	mean, c, n, variance := stat.Mean(all, nil), float64(len(clusters)), float64(len(all)), 0.0
	for _, v := range clusters {
		d := float64(len(v)) / n * (stat.Mean(v, nil) - mean)
		variance += d * d * c / (c - 1) // NaN for one
	}
	t, z := distuv.StudentsT{Sigma: 1, Nu: max(c-1, 1)}.Quantile((1+level)/2), distuv.UnitNormal.Quantile((1+level)/2)
	if !shares {
		half := t * math.Sqrt(variance)
		return Interval{mean, mean - half, mean + half}
	}
	if alone := mean * (1 - mean) / n; alone > 0 && variance > alone {
		n, z = n*alone/variance, t
	}
	return wilson(mean, n, z)
}

// wilson is the interval of a share p of n answers.
func wilson(p, n, z float64) Interval {
	mid, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{p, max(0, (mid-half)/(1+z*z/n)), min(1, (mid+half)/(1+z*z/n))}
}

// Share is which part of all documents is about a topic.
type Share struct {
	Model    float64 // the mean of the model's proportions
	Judged   float64 // the part of the judged documents alone
	Interval         // from both
}

const (
	leastJudged = 20 // documents
	leastOfEach = 10 // that are about a topic, and that are not, for Student's interval
)

// Correct returns for each topic which part of the M documents is about it in the sense of the judges of Choose. To
// what they say of the sample it adds what the model says of the others, by the regression estimator
// λ·mean(θ) + mean(y − λθ): θ are the M×K proportions, y the part of a document's judges who chose the topic,
// and λ has the least variance (prediction-powered inference, Angelopoulos et al. 2023; with equal
// probabilities, Egami et al. 2023). A model whose shares are wrong makes the interval wider and biases nothing. The
// interval is Student's, and reaches as far as Wilson's from the judges alone where fewer than
// ten of the documents are about the topic, or are not.
//
// Errors: those of Score, fewer than twenty documents, and proportions that do not fit the keys.
func Correct(keys []Key, answers []Answer, proportions *mat.Dense, level float64) ([]Share, error) {
	pairs, err := match(keys, answers, level)
	if err != nil {
		return nil, err
	}
	if proportions == nil {
		return nil, errors.New("judge: no proportions")
	}
	m, k := proportions.Dims()
	votes, docs := make(map[int][]float64), []int(nil) // of a document, by choice
	for _, p := range pairs {
		if p.key.Kind != Choose {
			continue
		}
		d := p.key.Document
		if d >= m || p.key.Options != k+1 {
			return nil, fmt.Errorf("judge: %q is about document %d and %d topics; there are %d and %d", p.ID, d, p.key.Options-1, m, k)
		}
		if votes[d] == nil {
			votes[d], docs = make([]float64, p.key.Options), append(docs, d)
		}
		votes[d][p.Choice-1]++
	}
	if len(docs) < leastJudged {
		return nil, fmt.Errorf("judge: %d documents are judged, want %d", len(docs), leastJudged)
	}
	slices.Sort(docs)
	n, out := float64(len(docs)), make([]Share, k)
	t, z := distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile((1+level)/2), distuv.UnitNormal.Quantile((1+level)/2)
	y, theta, rest := make([]float64, len(docs)), make([]float64, len(docs)), make([]float64, len(docs))
	for k := range out {
		for i, d := range docs {
			y[i], theta[i] = votes[d][k]/floats.Sum(votes[d]), proportions.At(d, k)
		}
		s, lambda := &out[k], 0.0
		s.Model, s.Judged = stat.Mean(mat.Col(nil, k, proportions), nil), stat.Mean(y, nil)
		if v := stat.Variance(theta, nil); v > 0 {
			lambda = stat.Covariance(y, theta, nil) / v
		}
		for i := range rest {
			rest[i] = y[i] - lambda*theta[i]
		}
		mean, variance := stat.MeanVariance(rest, nil)
		mean += lambda * s.Model
		half := t * math.Sqrt((1-n/float64(m))*variance*(n-1)/(n-2)/n)
		s.Interval = Interval{min(max(mean, 0), 1), max(mean-half, 0), min(mean+half, 1)}
		if about := n * s.Judged; min(about, n-about) < leastOfEach {
			w := wilson(s.Judged, n, z)
			s.Low, s.High = min(s.Low, w.Low), max(s.High, w.High)
		}
	}
	return out, nil
}
