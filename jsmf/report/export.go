package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/jsmf"
)

// WritePyLDAvis writes the model as the JSON that the scripts of pyLDAvis draw
// (LDAvis.js and d3; Sievert and Shirley 2014), with n words a topic, 1 to 100; 0
// means 30, as there. Topics are numbered from 1 by falling share; "topic.order" has
// their numbers in the model, from 1.
//
// Frequencies are p times the tokens the model was fitted to, or times a million
// where it was fitted to a bare matrix. A word's total is that of the topics,
// Σ_k p(topic k) p(word | topic k). The places of the topics are the principal
// coordinates of their Jensen–Shannon divergences. O(N·K²).
//
// Errors: n out of range, a model whose shares are not positive, those of w.
func WritePyLDAvis(w io.Writer, m *jsmf.Model, n int) error {
	if m == nil {
		return errors.New("report: no model")
	}
	if n < 0 || n > 100 {
		return fmt.Errorf("report: pyLDAvis: %d words a topic are not in [0, 100]", n)
	}
	if n == 0 {
		n = 30
	}
	shares := m.TopicShares()
	for k, s := range shares {
		if !(s >= 0) {
			return fmt.Errorf("report: pyLDAvis: topic %d has the share %v; this format has no place for it", k, s)
		}
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
	lp := logs(unigram)

	var out pyLDAvis
	out.R, out.Step = n, 1.0/lambdaSteps
	out.Plot.X, out.Plot.Y = "PC1", "PC2"
	x, y, err := coordinatesOf(b, topics)
	if err != nil {
		return err
	}
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
	if !(floats.Sum(shares) > 0) {
		return errors.New("report: pyLDAvis: no topic has a share")
	}
	saliency := wordSaliency(b, shares)
	seen := make([]bool, m.N())
	for i, word := range order(m.N(), func(i int) float64 { return saliency[i] })[:min(n, m.N())] {
		seen[word] = true
		info(word, tokens*unigram[word], "Default", float64(n-i), float64(n-i))
	}
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
	if err := json.NewEncoder(w).Encode(out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
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
	squares := mat.NewSymDense(k, nil)
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
			squares.SetSym(i, j, d*d)
		}
	}
	means := make([]float64, k)
	all := 0.0
	for i := range k {
		for j := range k {
			means[i] += squares.At(i, j) / float64(k)
		}
		all += means[i] / float64(k)
	}
	centred := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			centred.SetSym(i, j, -(squares.At(i, j)-means[i]-means[j]+all)/2)
		}
	}
	vectors, values, err := eigen(centred)
	if err != nil {
		return nil, nil, err
	}
	axis := func(j int) []float64 {
		v := mat.Col(nil, j, vectors)
		largest := 0
		for i := range v {
			if math.Abs(v[i]) > math.Abs(v[largest])*(1+1e-9) {
				largest = i
			}
		}
		scale := math.Copysign(math.Sqrt(max(values[j], 0)), v[largest])
		for i := range v {
			v[i] *= scale
		}
		return v
	}
	return axis(0), axis(1), nil
}

// WriteTopicsCSV writes the n top words of each topic as a table of comma-separated
// values: a line a word, with the columns topic (from 0), share, anchor, rank (from
// 1), word, probability and lift, p(word | topic)/p(word). Numbers have all their
// digits; a share or lift that is not defined is empty, as is the anchor in a model
// without. n is at least 1, and at most N words are written.
//
// Words stand as they are, quoted where the format asks for it; mind that spreadsheets
// take one that begins with "=" for a formula.
func WriteTopicsCSV(w io.Writer, m *jsmf.Model, n int) error {
	if m == nil {
		return errors.New("report: no model")
	}
	if n < 1 {
		return fmt.Errorf("report: %d words a topic; want at least 1", n)
	}
	number := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	out := csv.NewWriter(w)
	err := out.Write([]string{"topic", "share", "anchor", "rank", "word", "probability", "lift"})
	p, shares, anchors := unigram(m), m.TopicShares(), m.AnchorWords()
	for k := range m.K() {
		anchor := ""
		if anchors != nil {
			anchor = anchors[k]
		}
		for i, t := range m.TopWords(k, n) {
			if err != nil {
				break
			}
			err = out.Write([]string{strconv.Itoa(k), number(shares[k]), anchor, strconv.Itoa(i + 1), t.Word, number(t.Prob), number(t.Prob / p[t.Index])})
		}
	}
	out.Flush()
	if err = errors.Join(err, out.Error()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteNPY writes a matrix, such as Model.Topics (B, N×K), Model.Correlations (A,
// K×K) or the W of Model.Transform (M×K), as a NumPy file: little-endian float64 in
// C order, format version 1.0, which numpy.load reads.
func WriteNPY(w io.Writer, a mat.Matrix) error {
	if a == nil {
		return errors.New("report: no matrix")
	}
	rows, cols := a.Dims()
	row := make([]float64, cols)
	if err := npy.Write(w, rows, cols, func(i int) []float64 { return mat.Row(row, i, a) }); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// wordSaliency returns the saliency of each word (Chuang, Manning and Heer 2012),
//
//	p(n) Σ_k p(k | n) ln(p(k | n)/p(k)),
//
// in nats: how frequent it is times how much it tells of the topic. b is N×K with
// columns p(word | topic); shares are proportional to p(k).
func wordSaliency(b *mat.Dense, shares []float64) []float64 {
	sum := floats.Sum(shares)
	n, _ := b.Dims()
	out := make([]float64, n)
	for i := range out {
		row, p := b.RawRowView(i), 0.0
		for k, v := range row {
			p += v * shares[k] / sum
		}
		for k, v := range row {
			if joint := v * shares[k] / sum; joint > 0 {
				out[i] += joint * math.Log(v/p)
			}
		}
		out[i] = max(out[i], 0) // rounding
	}
	return out
}
