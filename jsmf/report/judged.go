package report

import (
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// name fills in how words and topics are called. The words of a phrase are separate, as in
// the text.
func (p *page) name(m *jsmf.Model) {
	show := atMost
	if s := m.Provenance().Text; s != nil && s.Phrases != nil {
		show = func(s string, n int) string { return atMost(strings.ReplaceAll(s, text.PhraseJoiner, " "), n) }
	}
	p.word = func(s string) string { return show(s, wordLength) }
	for _, name := range m.Names() {
		p.names = append(p.names, atMost(name, nameLength))
	}
}

// words lists words in one line, with commas if they have blanks.
func (p *page) words(top []jsmf.WordProb) string {
	var out []string
	for _, w := range top {
		out = append(out, p.word(w.Word))
	}
	if slices.ContainsFunc(out, func(s string) bool { return strings.Contains(s, " ") }) {
		return strings.Join(out, ", ")
	}
	return strings.Join(out, " ")
}

// verdict is a metrics.Verdict as the page shows it.
type verdict struct {
	Quality string `json:"quality"`
	Reason  string `json:"reason,omitempty"`
	Twin    int    `json:"twin"` // −1: none
}

// text says the verdict, with the other topic's name.
func (v *verdict) text(names []string) string {
	s := v.Quality
	if v.Twin >= 0 {
		s += " of “" + names[v.Twin] + "”"
	}
	if v.Reason != "" {
		s += ": " + v.Reason
	}
	return s
}

// toldShares returns the shares of topics as they are told: with what a bootstrap knows of them.
func toldShares(m *jsmf.Model) []jsmf.Interval {
	out := make([]jsmf.Interval, m.K())
	for k, v := range m.TopicShares() {
		out[k] = jsmf.Interval{Value: v, Low: math.NaN(), High: math.NaN(), Bias: math.NaN()}
		if u := m.Additions().Uncertainty; u != nil {
			out[k] = u.Topics[k].Share
		}
	}
	return out
}

// judged returns the verdicts of the topics, nil where there are none: those of the options, or
// else the model's.
func judged(m *jsmf.Model, o *Options) []metrics.Verdict {
	if o.Metrics != nil && o.Metrics.Verdicts != nil {
		return o.Metrics.Verdicts
	}
	return m.Additions().Verdicts
}

// verdicts returns those of the topics as the page shows them, nil where there are none.
func verdicts(m *jsmf.Model, o *Options) []*verdict {
	out := make([]*verdict, m.K())
	for k, v := range judged(m, o) {
		_, reason, _ := strings.Cut(v.String(), ": ")
		out[k] = &verdict{v.Quality.String(), reason, -1}
		if v.Quality == metrics.Twin {
			out[k].Twin = v.Twin
		}
	}
	return out
}

// uncertaintyData is what the page shows of a jsmf.Uncertainty.
type uncertaintyData struct {
	Warm   int                `json:"warm"`
	Cold   int                `json:"cold"`
	Level  float64            `json:"level"`
	Topics []topicUncertainty `json:"topics"`
}

type topicUncertainty struct {
	Value     number      `json:"value"` // of the share
	Share     [2]number   `json:"share"` // its interval
	Stability number      `json:"stability"`
	Kept      number      `json:"kept"`
	Split     number      `json:"split"`
	Merges    [][2]number `json:"merges"` // topic, share of the replicates
}

func uncertainty(m *jsmf.Model) *uncertaintyData {
	u := m.Additions().Uncertainty
	if u == nil {
		return nil
	}
	out := &uncertaintyData{Warm: u.Warm, Cold: u.Cold, Level: u.Level}
	for _, t := range u.Topics {
		x := topicUncertainty{
			Value: number(t.Share.Value), Share: [2]number{number(t.Share.Low), number(t.Share.High)},
			Stability: number(t.Stability), Kept: number(t.Kept), Split: number(t.Split), Merges: [][2]number{},
		}
		for _, with := range t.Merges {
			x.Merges = append(x.Merges, [2]number{number(with.Topic), number(with.Share)})
		}
		out.Topics = append(out.Topics, x)
	}
	return out
}
