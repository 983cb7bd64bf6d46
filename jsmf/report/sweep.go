package report

import (
	"math"

	"github.com/jsmf-go/spectral/jsmf"
)

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
