package serve

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/jsmf-go/spectral/jsmf/find"
)

const (
	explainedWords = 200 // of an answer, the most frequent ones
	wordTopics     = 3   // of a word
)

// explainedWord is a word of a document and what it adds to the document's topics.
type explainedWord struct {
	Word     string      `json:"word"`
	Count    int64       `json:"count"`
	Gain     *float64    `json:"gain"`
	Unlikely bool        `json:"unlikely"`
	Topics   []wordTopic `json:"topics"`
}

type wordTopic struct {
	Topic int     `json:"topic"`
	Share float64 `json:"share"` // of the document
}

// explanation says which words of a document its topics come from.
type explanation struct {
	Model       modelName       `json:"model"`
	ID          string          `json:"id,omitempty"`
	Tokens      int64           `json:"tokens"`
	Unknown     int64           `json:"unknown"`
	Unlikely    int64           `json:"unlikely"`
	Covered     *float64        `json:"covered"`
	LogGain     *float64        `json:"log_gain"`
	Top         []shareAnswer   `json:"top"`
	Composition []float64       `json:"composition"`
	Prior       []float64       `json:"prior"`
	Words       []explainedWord `json:"words"`
	More        int             `json:"more_words,omitempty"`
}

// explain answers which words of a document its topics come from.
func (s *Service) explain(w http.ResponseWriter, r *http.Request) *problem {
	return s.withDocument(w, r, func(m *served, d document, held *hold) (any, *problem) {
		if m.words == nil {
			return nil, fail(http.StatusConflict, "model %d cannot explain documents: it has no prior of their topics", m.name.Version)
		}
		ids, counts, unknown, p := m.numbers(d, s.cfg.Limits)
		if p != nil {
			return nil, p
		}
		if p := held.take(explainCost(min(len(ids), m.model.N()), m.model.K())); p != nil {
			return nil, p
		}
		x, err := m.words.ExplainCounts(ids, counts, unknown)
		if err != nil {
			return nil, internal(err)
		}
		return m.explained(d.id, x), nil
	})
}

// explainCost bounds the memory of an explanation and of the answer, given the numbers of
// different words and of topics.
func explainCost(words, topics int) int64 {
	return int64(words)*(8*int64(topics)+1024) + 512*explainedWords + 128*int64(topics)
}

func (m *served) explained(id string, x *find.Explanation) *explanation {
	out := &explanation{
		Model: m.name, ID: id, Tokens: x.Tokens, Unknown: x.Unknown, Unlikely: x.Unlikely,
		Covered: finite(x.Covered()), LogGain: finite(x.LogGain),
		Top: m.largest(x.Proportions, topTopics), Composition: x.Proportions, Prior: x.Prior,
		Words: []explainedWord{}, More: max(0, len(x.Words)-explainedWords),
	}
	var topics []wordTopic
	for _, word := range x.Words[:len(x.Words)-out.More] {
		topics = topics[:0]
		for k, share := range word.Topics {
			if share > 0 {
				topics = append(topics, wordTopic{k, share})
			}
		}
		slices.SortStableFunc(topics, func(a, b wordTopic) int { return cmp.Compare(b.Share, a.Share) })
		best := slices.Clone(topics[:min(len(topics), wordTopics)])
		out.Words = append(out.Words, explainedWord{word.Word, word.Count, finite(word.Gain), word.Unlikely, best})
	}
	return out
}
