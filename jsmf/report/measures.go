package report

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

type measure struct {
	Name, Better, What string
	Mean, Std          cell
}

// topicMetrics are the measures that have a value for each topic.
func topicMetrics(r *metrics.Report) []byTopic {
	var npmi, exclusivity, documents []float64
	for _, v := range r.Verdicts {
		npmi, exclusivity, documents = append(npmi, v.NPMI), append(exclusivity, v.Exclusivity), append(documents, v.Documents)
	}
	return []byTopic{
		{"npmi", "NPMI", "Do its ten {words} meet more often than by chance? −1 to 1", npmi},
		{"exclusivity", "Exclusivity", "The part of its ten {words}’ occurrences that is in the topic", exclusivity},
		{"documents", "{Documents}", "How many {documents} the topic rests on", documents},
		{"dominancy", "Dominancy", "How much of the topic’s company is itself: p(next {word} from it too)", r.Dominancy.Values},
		{"specificity", "Specificity", "Bits by which the topic differs from the corpus as a whole", r.Specificity.Values},
		{"sparsity", "Sparsity", "1: a few {words} are the topic; 0: all {words} alike", r.Sparsity.Values},
		{"dissimilarity", "Own {words}", "How many of the 20 top {words} are in no other topic’s top 20", r.Dissimilarity.Values},
		{"coherence", "Coherence", "Do the top {words} meet in {documents}? (u_mass, at most 0)", r.Coherence.Values},
		{"basis_rank", "Anchor’s rank", "The anchor’s place among the topic’s {words}", r.BasisRank.Values},
	}
}

type byTopic struct {
	Key, Name, What string
	Values          []float64
}

// columns returns those of the table of topics.
func (p *page) columns(m *jsmf.Model, o *Options) []column {
	cols := []byTopic{{"share", "Share, %", "The part of {a document}, on average", nil}}
	for _, x := range toldShares(m) {
		cols[0].Values = append(cols[0].Values, 100*x.Value)
	}
	if n := m.Stats().Anchors.Norms; n != nil {
		cols = append(cols, byTopic{"norm", "Distance", "Of the anchor from the span of those found before it", n})
	}
	r := o.Metrics
	if r == nil { // what needs no documents; nothing if the topics cannot be measured
		f := metrics.Factors{B: mat.DenseCopyOf(m.Topics()), A: m.Correlations(), Anchors: m.Anchors()}
		if r, _ = metrics.Evaluate(context.Background(), f); r == nil {
			r = new(metrics.Report)
		}
	}
	cols = append(cols, topicMetrics(r)...)
	var out []column
	for _, c := range cols {
		if c.Values != nil {
			out = append(out, column{c.Key, p.Say(c.Name), p.Say(c.What), as[full](c.Values)})
		}
	}
	return out
}

// explained holds the name of each measure of a whole model, which way is better,
// and what it asks, by key.
var explained = map[string][3]string{
	"recovery":            {"Recovery", "lower", "Do mixtures of the anchors explain the {words}?"},
	"approximation":       {"Approximation", "lower", "Does the product BABᵀ give the co-occurrences back?"},
	"legality":            {"Legality", "near 1", "Is A a joint distribution of topics?"},
	"validity":            {"Validity", "near 0", "Do A and the {words} agree on how large topics are?"},
	"dominancy":           {"Dominancy", "neither", "How much are topics by themselves in {a document}?"},
	"entropy":             {"Entropy", "lower", "Is {a word} at home in one topic?"},
	"sparsity":            {"Sparsity", "higher", "Are topics made of few {words}?"},
	"specificity":         {"Specificity", "higher", "Do topics differ from the corpus as a whole?"},
	"dissimilarity":       {"Dissimilarity", "higher", "How many of 20 top {words} are in no other topic’s?"},
	"coherence":           {"Coherence", "higher", "Do top {words} meet in {documents}? Favours frequent ones"},
	"npmi":                {"NPMI", "higher", "Do top {words} meet more often than by chance?"},
	"basis_rank":          {"Basis rank", "lower", "Would a reader see the anchor among the top {words}?"},
	"soft_basis_rank":     {"Soft basis rank", "lower", "How improbable is the anchor next to the first {word}?"},
	"basis_quality_share": {"Basis quality", "higher", "What share of other topics’ {words} is more probable there than the anchor? 1 without passes"},
}

// short writes a number with four digits.
func short(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return console.Number("%.4g", x)
}

func (p *page) measures(o *Options) {
	if o.Metrics == nil {
		return
	}
	for _, x := range o.Metrics.Keyed() {
		e, ok := explained[x.Key]
		if !ok {
			continue
		}
		var std cell
		if !x.Single {
			std = newCell(fmt.Sprintf("± %.3g", x.Std), x.Std)
		}
		p.Measures = append(p.Measures, measure{e[0], e[1], p.Say(e[2]), newCell(short(x.Mean), x.Mean), std})
	}
}

// sweepTable compares numbers of topics.
type sweepTable struct {
	K    int // 0: no topics
	Why  string
	Rows []sweepRow
}

type sweepRow struct {
	K      int
	Here   bool // the number of topics of the model
	Best   bool // the one recommended
	Values []cell
	Why    string // this K is recommended or not, or there is no model
}

type sweepData struct {
	// Points are the numbers of topics with models, ascending. Those from Low to High cannot be told
	// apart from Recommended, which is 0 if there are no topics.
	Points      []sweepPoint `json:"points"`
	Recommended int          `json:"recommended,omitempty"`
	Low         int          `json:"low,omitempty"`
	High        int          `json:"high,omitempty"`
}

type sweepPoint struct {
	K      int    `json:"k"`
	Score  number `json:"score"` // the mean of ln p of a word
	Behind number `json:"behind"`
	Error  number `json:"error"` // of Behind
	Back   number `json:"back"`  // the share of topics that come back
	NPMI   number `json:"npmi"`
	Why    string `json:"why"`
}

// addSweep adds the comparison of numbers of topics.
func (p *page) addSweep(d *data, s *jsmf.Sweep) {
	if s == nil {
		return
	}
	p.Sweep, d.Sweep = &sweepTable{K: s.K, Why: s.Why}, &sweepData{Points: []sweepPoint{}, Recommended: s.K, Low: s.Low, High: s.High}
	for _, q := range s.Points {
		row := sweepRow{K: q.K, Here: q.K == p.K, Best: q.K == s.K, Why: q.Why}
		if q.Err != nil {
			row.Why = q.Err.Error()
		} else {
			for _, v := range []float64{q.PerWord, q.Behind, q.Error} {
				row.Values = append(row.Values, newCell(short(v), v))
			}
			row.Values = append(row.Values, newCell(short(math.Round(q.Back)), q.Back), newCell(short(q.NPMI), q.NPMI))
			d.Sweep.Points = append(d.Sweep.Points, sweepPoint{q.K, number(q.PerWord), number(q.Behind), number(q.Error), number(q.Back / float64(q.K)), number(q.NPMI), q.Why})
		}
		p.Sweep.Rows = append(p.Sweep.Rows, row)
	}
}
