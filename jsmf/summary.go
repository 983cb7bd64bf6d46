package jsmf

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

// Topic is what people see of a topic.
type Topic struct {
	Number     int              // from 0, as everywhere
	Name       string           // Model.Name
	Share      float64          // p(topic), the mean over documents: Model.TopicShares
	Background bool             // Model.Background
	Anchor     string           // Model.AnchorWords; "" for a model without anchors
	Words      []WordProb       // Model.TopWords
	Verdict    *metrics.Verdict // Model.Verdicts; nil for a model without
}

// Summary returns what people see of each topic, with its n best words (TopWords).
func (m *Model) Summary(n int) []Topic {
	out := make([]Topic, m.k)
	names, shares, background, anchors := m.names(), m.TopicShares(), m.Background(), m.AnchorWords()
	for k := range out {
		out[k] = Topic{Number: k, Name: names[k], Share: shares[k], Background: background[k], Words: m.TopWords(k, n)}
		if anchors != nil {
			out[k].Anchor = anchors[k]
		}
		if m.verdicts != nil {
			v := m.verdicts[k]
			out[k].Verdict = &v
		}
	}
	return out
}

// further returns those of Words that are not in the name, for lists that show both.
func (t Topic) further() []string {
	named := strings.Split(t.Name, nameSeparator)
	var out []string
	for _, w := range t.Words {
		if !slices.Contains(named, oneLine(w.Word)) {
			out = append(out, w.Word)
		}
	}
	return out
}

// MarshalJSON writes the topic with the keys topic, name, share, background, anchor (not
// in models without anchors), verdict (not in models without verdicts), which is what
// metrics.Verdict.String returns, and words, each with index, word, prob and weight. A share
// that is not defined is null.
func (t Topic) MarshalJSON() ([]byte, error) {
	x := struct {
		Number     int        `json:"topic"`
		Name       string     `json:"name"`
		Share      *float64   `json:"share"`
		Background bool       `json:"background"`
		Anchor     string     `json:"anchor,omitempty"`
		Verdict    string     `json:"verdict,omitempty"`
		Words      []WordProb `json:"words"`
	}{t.Number, t.Name, nil, t.Background, t.Anchor, "", t.Words}
	if t.Verdict != nil {
		x.Verdict = t.Verdict.String()
	}
	if vec.Finite(t.Share) {
		x.Share = &t.Share
	}
	return json.Marshal(x)
}

// Background returns for each topic whether it gathers words that most documents share,
// function words or the furniture of pages, instead of a subject. It is known of models
// that were refined on documents (Pipeline.Refine). A topic is background if the documents
// that have its words, weighted as for reading, are 1.6 times as many as for the median
// topic, and if it is spread over 1.4 times as many documents, by E[θ]²/E[θ²] of its
// proportions θ. In text with its function words, that is, if a tenth of the tokens are
// words that tell less than 0.2 nats of the topic, they must be twice as many, and the
// spread is not asked for. At most a fifth of the topics are background, those with the
// most common words. No language is known to the rule, and no stop list.
func (m *Model) Background() []bool {
	if m.background == nil {
		return make([]bool, m.k)
	}
	return slices.Clone(m.background)
}
