package jsmf

import (
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/metrics"
)

// Topic is what people see of a topic.
type Topic struct {
	Number     int              `json:"topic"`             // from 0, as everywhere
	Name       string           `json:"name"`              // Model.Name
	Share      float64          `json:"share"`             // p(topic), the mean over documents: Model.TopicShares
	Background bool             `json:"background"`        // Model.Background
	Anchor     string           `json:"anchor,omitempty"`  // the word of Model.Anchors; "" for a model without anchors
	Verdict    *metrics.Verdict `json:"verdict,omitempty"` // Additions.Verdicts; nil for a model without
	Words      []WordProb       `json:"words"`             // Model.TopWords
}

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (t Topic) MarshalJSON() ([]byte, error) { return nanjson.Marshal(t) }

// Summary returns what people see of each topic, with its n best words (TopWords).
func (m *Model) Summary(n int) []Topic {
	out := make([]Topic, m.k)
	names, shares, background := m.names(), m.TopicShares(), m.Background()
	for k := range out {
		out[k] = Topic{Number: k, Name: names[k], Share: shares[k], Background: background[k], Words: m.TopWords(k, n)}
		if m.anchors != nil {
			out[k].Anchor = m.Word(m.anchors[k])
		}
		if m.add.Verdicts != nil {
			v := m.add.Verdicts[k]
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
		if s := oneLine(w.Word); !slices.Contains(named, s) && !slices.Contains(named, strings.ReplaceAll(s, text.PhraseJoiner, " ")) {
			out = append(out, w.Word)
		}
	}
	return out
}

// Background reports for each topic whether it gathers words that most documents share, function
// words or the furniture of pages, instead of a subject. It is known of models that were refined on
// documents ([Pipeline.Refine]). A topic is background if it fills next to no document by itself:
// less than a tenth of it, and less than half of the median topic's part, comes from documents of
// which it has more than half (refine.Result.Alone), or all documents have about as much of it: it is
// spread over half of them, by E[θ]²/E[θ²] of its proportions θ. The documents that have its words,
// weighted as for reading, must be twice as many as for the median topic, too, and it must be spread
// over 1.4 times as many.
func (m *Model) Background() []bool {
	if m.background == nil {
		return make([]bool, m.k)
	}
	return slices.Clone(m.background)
}
