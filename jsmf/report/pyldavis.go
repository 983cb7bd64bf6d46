package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
)

// WritePyLDAvis writes the model as the JSON that the scripts of pyLDAvis draw
// (LDAvis.js and d3; Sievert and Shirley 2014), with n words per topic, at most 100;
// 0: 30. Topics are numbered from 1 by decreasing share; "topic.order" has their
// numbers in the model, from 1.
//
// Frequencies are probabilities times the tokens of the fit, or times a million if
// the model was fitted to a bare matrix. The total of a word is Σ_k p(topic k)
// p(word | topic k). The coordinates of the topics are the principal coordinates of
// their Jensen–Shannon divergences. O(N·K²).
//
// Errors: n out of range, a model whose shares are not positive, those of w.
func WritePyLDAvis(w io.Writer, m *jsmf.Model, n int) error {
	if m == nil {
		return errors.New("report: no model")
	}
	out, err := newPyLDAvis(m, n)
	if err == nil {
		err = json.NewEncoder(w).Encode(out)
	}
	return wrap(err)
}

func newPyLDAvis(m *jsmf.Model, n int) (*pyLDAvis, error) {
	if n < 0 || n > 100 {
		return nil, fmt.Errorf("pyLDAvis: %d words a topic are not in [0, 100]", n)
	}
	if n == 0 {
		n = 30
	}
	shares := m.TopicShares()
	for k, s := range shares {
		if !(s >= 0) {
			return nil, fmt.Errorf("pyLDAvis: topic %d has the share %v; this format has no place for it", k, s)
		}
	}
	if !(floats.Sum(shares) > 0) {
		return nil, errors.New("pyLDAvis: no topic has a share")
	}
	tokens := float64(m.Stats().Corpus.Tokens)
	if tokens == 0 {
		tokens = 1e6
	}
	topics := order(m.K(), func(k int) float64 { return shares[k] })
	b := mat.DenseCopyOf(m.Topics())
	unigram := make([]float64, m.N())
	for i := range unigram {
		for k, s := range shares {
			unigram[i] += s * b.At(i, k)
		}
	}
	x, y, err := coordinatesOf(b, topics)
	if err != nil {
		return nil, err
	}
	out := new(pyLDAvis)
	out.R, out.Step = n, 1.0/lambdaSteps
	out.Plot.X, out.Plot.Y = "PC1", "PC2"
	for place, k := range topics {
		out.Order = append(out.Order, k+1)
		out.MDS.X, out.MDS.Y = append(out.MDS.X, x[place]), append(out.MDS.Y, y[place])
		out.MDS.Topics, out.MDS.Cluster = append(out.MDS.Topics, place+1), append(out.MDS.Cluster, 1)
		out.MDS.Freq = append(out.MDS.Freq, 100*shares[k])
	}
	info := func(word int, freq float64, category string, logprob, loglift float64) {
		t := &out.Info
		t.Term, t.Freq = append(t.Term, m.Word(word)), append(t.Freq, freq)
		t.Total, t.Category = append(t.Total, tokens*unigram[word]), append(t.Category, category)
		t.LogProb, t.LogLift = append(t.LogProb, logprob), append(t.LogLift, loglift)
	}
	saliency := wordSaliency(b, shares)
	seen := make([]bool, m.N())
	for i, word := range order(m.N(), func(i int) float64 { return saliency[i] })[:min(n, m.N())] {
		seen[word] = true
		info(word, tokens*unigram[word], "Default", float64(n-i), float64(n-i))
	}
	lp := logs(unigram)
	for place, k := range topics {
		for _, word := range candidates(newLines(b, k, lp), n) {
			p := b.At(word, k)
			seen[word] = true
			info(word, tokens*shares[k]*p, "Topic"+strconv.Itoa(place+1), math.Log(p), math.Log(p)-lp[word])
		}
	}
	var terms []int
	for i, ok := range seen {
		if ok && unigram[i] > 0 {
			terms = append(terms, i)
		}
	}
	slices.SortStableFunc(terms, func(a, b int) int { return cmp.Compare(m.Word(a), m.Word(b)) })
	for _, i := range terms {
		for place, k := range topics {
			if joint := shares[k] * b.At(i, k); tokens*joint >= 0.5 { // less than a token is not drawn
				t := &out.Tokens
				t.Topic, t.Freq, t.Term = append(t.Topic, place+1), append(t.Freq, joint/unigram[i]), append(t.Term, m.Word(i))
			}
		}
	}
	return out, nil
}

// pyLDAvis is the layout that its scripts read.
type pyLDAvis struct {
	MDS struct {
		X       []float64 `json:"x"`
		Y       []float64 `json:"y"`
		Topics  []int     `json:"topics"`
		Cluster []int     `json:"cluster"`
		Freq    []float64 `json:"Freq"`
	} `json:"mdsDat"`
	Info struct {
		Term     []string  `json:"Term"`
		Freq     []float64 `json:"Freq"`
		Total    []float64 `json:"Total"`
		Category []string  `json:"Category"`
		LogProb  []float64 `json:"logprob"`
		LogLift  []float64 `json:"loglift"`
	} `json:"tinfo"`
	Tokens struct {
		Topic []int     `json:"Topic"`
		Freq  []float64 `json:"Freq"`
		Term  []string  `json:"Term"`
	} `json:"token.table"`
	R    int     `json:"R"`
	Step float64 `json:"lambda.step"`
	Plot struct {
		X string `json:"xlab"`
		Y string `json:"ylab"`
	} `json:"plot.opts"`
	Order []int `json:"topic.order"`
}

// coordinatesOf returns the first two principal coordinates of the topics' square
// Jensen–Shannon divergences; the largest of each is positive.
func coordinatesOf(b *mat.Dense, topics []int) (x, y []float64, err error) {
	n, _ := b.Dims()
	k := len(topics)
	inner := mat.NewSymDense(k, nil) // points with these distances have such products from their centre
	columns := make([][]float64, k)
	for i, t := range topics {
		columns[i] = mat.Col(nil, t, b)
	}
	for i, p := range columns {
		for j, q := range columns[:i] {
			d := 0.0
			for w := range n {
				mid := (p[w] + q[w]) / 2
				if p[w] > 0 {
					d += p[w] / 2 * math.Log(p[w]/mid)
				}
				if q[w] > 0 {
					d += q[w] / 2 * math.Log(q[w]/mid)
				}
			}
			inner.SetSym(i, j, -d*d/2)
		}
	}
	at, err := principal(inner)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range at {
		x, y = append(x, p[0]), append(y, p[1])
	}
	return x, y, nil
}
