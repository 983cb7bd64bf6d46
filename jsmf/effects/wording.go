package effects

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/jsmf"
)

// Wording is what Study.Wording finds: the words that groups of documents use more than others within the
// same topic. It is written to JSON by encoding/json.
type Wording struct {
	Level      float64       `json:"level"`      // the probability of the intervals
	Replicates int           `json:"replicates"` // warm ones, of the bootstrap
	Drawn      int           `json:"drawn"`      // drawn ones
	Topics     []string      `json:"topics"`     // the names of the K topics (Model.Names)
	Terms      []TermWording `json:"terms"`      // in the order of Study.Terms
}

// TermWording is how the groups of one term word the topics.
type TermWording struct {
	Name   string  `json:"name"` // the column
	Kind   Kind    `json:"kind"` // Categories or Times
	Unit   string  `json:"unit,omitempty"`
	Points []Point `json:"points"` // the groups. Units are documents, or clusters of them at the point
	// Documents is the number of documents that count: with a value in the column and a word of the model.
	Documents int            `json:"documents"`
	Topics    []TopicWording `json:"topics"` // K
}

// TopicWording is how the groups word one topic.
type TopicWording struct {
	// Judged is the number of words that are compared: those of which p(topic | word) is 0.5 or more and
	// which 40 documents, or clusters of them, use within the topic. Where it is 0 the documents do not tell.
	Judged int `json:"judged"`
	// Unsure is the number of words that documents tell but replicates do not: the interval holds a ratio
	// of 1 or is withheld. They are not among Words.
	Unsure int       `json:"unsure,omitempty"`
	Words  []WordUse `json:"words"` // the surest first, by Ratio.Low
}

// WordUse is a word that a group uses more than the other documents do within a topic.
type WordUse struct {
	Word  string `json:"word"`
	Point int    `json:"point"` // the group, of TermWording.Points
	// Ratio says how many times as often: the odds that a token of the topic is the word, in the group
	// against all others.
	Ratio jsmf.Interval `json:"ratio"`
	// Uses is the expected number of uses within the topic by the group, and Expected what it would be if
	// the group had the words of all documents, with its own share of the topic.
	Uses      float64 `json:"uses"`
	Expected  float64 `json:"expected"`
	Documents int     `json:"documents"` // of the group, or clusters of them, that use it within the topic
}

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (x *Wording) MarshalJSON() ([]byte, error) { return nanjson.Marshal(*x) }

// Validate reports lists whose sizes do not fit together, and words of groups that there are not.
func (x *Wording) Validate() error {
	for _, t := range x.Terms {
		if len(t.Topics) != len(x.Topics) {
			return fmt.Errorf("effects: wording by %q: %d topics, want %d", t.Name, len(t.Topics), len(x.Topics))
		}
		for k, topic := range t.Topics {
			for _, w := range topic.Words {
				if w.Point < 0 || w.Point >= len(t.Points) {
					return fmt.Errorf("effects: wording by %q of topic %d: %q is of group %d of %d", t.Name, k, w.Word, w.Point, len(t.Points))
				}
			}
		}
	}
	return nil
}

// WriteCSV writes the words as comma-separated values under a line with the names of the columns: term,
// point, topic, name, word, ratio, low, high, uses, expected and documents. Numbers have all their digits; what is
// NaN is empty. Text that a spreadsheet may take for a formula gets an apostrophe before it.
func (x *Wording) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"term", "point", "topic", "name", "word", "ratio", "low", "high", "uses", "expected", "documents"})
	for _, t := range x.Terms {
		for k, topic := range t.Topics {
			for _, u := range topic.Words {
				err = errors.Join(err, out.Write([]string{
					sheet.Text(t.Name), pointCell(t.Points[u.Point].Label), strconv.Itoa(k), sheet.Text(x.Topics[k]), sheet.Text(u.Word),
					sheet.Number(u.Ratio.Value), sheet.Number(u.Ratio.Low), sheet.Number(u.Ratio.High),
					sheet.Number(u.Uses), sheet.Number(u.Expected), strconv.Itoa(u.Documents),
				}))
			}
		}
	}
	out.Flush()
	return errs.Wrap("effects", errors.Join(err, out.Error()))
}

// Notes returns for each term a sentence that a reader has to know before the words: of how many topics the
// documents tell too little, and how many words are left out.
func (x *Wording) Notes() (out []string) {
	for _, t := range x.Terms {
		little, unsure := 0, 0
		for _, topic := range t.Topics {
			if unsure += topic.Unsure; topic.Judged == 0 {
				little++
			}
		}
		if little > 0 {
			out = append(out, fmt.Sprintf("By %s, there is too little to tell in %d of %d topics: none of their words is used in 40 documents.", t.Name, little, len(t.Topics)))
		}
		if unsure > 0 {
			out = append(out, fmt.Sprintf("By %s, words left out because they are not sure once topics are learned again: %d.", t.Name, unsure))
		}
	}
	return out
}
