package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/jsmf"
)

// sweepTable compares numbers of topics.
type sweepTable struct {
	Recommendation    *jsmf.Recommendation
	RecommendationErr error // why there is none
	Names             []string
	Rows              []sweepRow
}

type sweepRow struct {
	K      int
	Here   bool // the number of topics of the model
	Best   bool // the one recommended
	Values []cell
	Why    string // this K is recommended, or not
	Err    string // why there is no model
}

type sweepData struct {
	K      []int   `json:"k"`
	Curves []curve `json:"curves"`
	// Scores are those of documents held out, by increasing K; those from Low to High are
	// as likely as Recommended.
	Scores      []score `json:"scores,omitempty"`
	Recommended int     `json:"recommended,omitempty"`
	Low         int     `json:"low,omitempty"`
	High        int     `json:"high,omitempty"`
}

type score struct {
	K      int    `json:"k"`
	Score  number `json:"score"` // the mean of ln p of a word
	Behind number `json:"behind"`
	Error  number `json:"error"` // of Behind
	Likely bool   `json:"likely,omitempty"`
	Chosen number `json:"chosen"`
	Why    string `json:"why"`
}

// curve is a measure against K.
type curve struct {
	Name   string   `json:"name"`
	Better string   `json:"better"`
	What   string   `json:"what"`
	Draw   bool     `json:"draw"` // or in the table only
	Values []number `json:"values"`
}

// drawn are the measures whose curves are drawn.
var drawn = []string{"recovery", "approximation", "legality", "npmi", "coherence", "dissimilarity", "specificity", "sparsity"}

// addSweep adds the measures for other numbers of topics, by increasing K.
func (p *page) addSweep(d *data, s *jsmf.Sweep) {
	if s == nil {
		return
	}
	t := &sweepTable{Recommendation: s.Recommendation, RecommendationErr: s.RecommendationErr}
	if s.Recommendation != nil {
		t.Names = []string{"Behind", "± error", "Resamples"}
	}
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b jsmf.SweepPoint) int { return cmp.Compare(a.K, b.K) })
	d.Sweep = &sweepData{K: []int{}, Curves: []curve{}}
	d.Sweep.heldOut(s.Recommendation, points)
	at := make(map[string]int) // of a measure among the curves
	for _, q := range points {
		if q.Report == nil {
			continue
		}
		for _, x := range q.Report.Keyed() {
			if _, ok := at[x.Key]; !ok && explained[x.Key][0] != "" {
				e := explained[x.Key]
				at[x.Key] = len(d.Sweep.Curves)
				d.Sweep.Curves = append(d.Sweep.Curves, curve{Name: e[0], Better: e[1], What: p.Say(e[2]), Draw: slices.Contains(drawn, x.Key)})
				t.Names = append(t.Names, e[0])
			}
		}
	}
	for _, q := range points {
		row := sweepRow{K: q.K, Here: q.K == p.K, Best: s.Recommendation != nil && s.Recommendation.K == q.K}
		if q.Report == nil {
			row.Err = "no model"
			if err := cmp.Or(q.Err, q.MeasureErr); err != nil {
				row.Err = err.Error()
			}
			t.Rows = append(t.Rows, row)
			continue
		}
		values := slices.Repeat([]float64{math.NaN()}, len(d.Sweep.Curves))
		for _, x := range q.Report.Keyed() {
			if i, ok := at[x.Key]; ok {
				values[i] = x.Mean
			}
		}
		d.Sweep.K = append(d.Sweep.K, q.K)
		if s.Recommendation != nil {
			row.Values = heldOut(q.HeldOut)
			if q.HeldOut != nil {
				row.Why = q.HeldOut.Why
			}
		}
		for i, v := range values {
			c := &d.Sweep.Curves[i]
			c.Values = append(c.Values, number(v))
			row.Values = append(row.Values, newCell(short(v), v))
		}
		t.Rows = append(t.Rows, row)
	}
	p.Sweep = t
}

// heldOut adds the scores of points, by increasing K, from which r follows.
func (d *sweepData) heldOut(r *jsmf.Recommendation, points []jsmf.SweepPoint) {
	if r == nil {
		return
	}
	d.Recommended, d.Low, d.High = r.K, r.Low, r.High
	for _, q := range points {
		if h := q.HeldOut; h != nil {
			d.Scores = append(d.Scores, score{q.K, number(h.PerWord), number(h.Behind), number(h.Error), h.AsLikely, number(h.Chosen), h.Why})
		}
	}
}

// heldOut returns the cells of the score of documents held out.
func heldOut(h *jsmf.HeldOutScore) []cell {
	if h == nil {
		return make([]cell, 3)
	}
	return []cell{newCell(short(h.Behind), h.Behind), newCell(short(h.Error), h.Error), newCell(fmt.Sprintf("%.0f %%", 100*h.Chosen), h.Chosen)}
}
