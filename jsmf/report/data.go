package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// data is what the script reads. Words are numbered by their place in Words.
type data struct {
	Nouns       map[string]string `json:"nouns"`    // see Nouns.phrases
	Model       string            `json:"model"`    // its fingerprint
	Findings    json.RawMessage   `json:"findings"` // may hold NaN as a text
	Steps       int               `json:"steps"`    // of the slider
	Top         int               `json:"top"`
	Words       []string          `json:"words"`
	P           []number          `json:"p"`    // p(word)
	Home        [][]number        `json:"home"` // the topics where the word is: topic, p(topic | word), …
	Topics      []topicData       `json:"topics"`
	Alpha       []rough           `json:"alpha"`          // the prior of documents; none in a model without
	Mean        []rough           `json:"mean,omitempty"` // that of logits, with Covariance by rows
	Covariance  []rough           `json:"covariance,omitempty"`
	Tree        *treeData         `json:"tree,omitempty"`
	Columns     []column          `json:"columns"`
	Matrix      matrixData        `json:"matrix"`
	Uncertainty *uncertaintyData  `json:"uncertainty,omitempty"`
	TopicMap    topicMapData      `json:"topicmap"`
	Changes     []number          `json:"changes"`
	Eigen       []number          `json:"eigen"`
	Norms       []number          `json:"norms"`
	LogLik      []number          `json:"loglik"`
	Sweep       *sweepData        `json:"sweep,omitempty"`
	Effects     *effectsData      `json:"effects,omitempty"`
	Documents   *documentData     `json:"documents,omitempty"`
}

type topicData struct {
	Name       string    `json:"name"`
	Background bool      `json:"background,omitempty"`
	Verdict    *verdict  `json:"verdict,omitempty"`
	Share      number    `json:"share"`
	Read       []int     `json:"read"`   // as Model.TopWords has them
	Weight     []number  `json:"weight"` // theirs
	Anchor     int       `json:"anchor"` // −1: none
	Rank       int       `json:"rank,omitempty"`
	Group      []int     `json:"group,omitempty"` // words combined into the anchor
	Words      []int     `json:"words"`           // candidates, ascending
	P          []number  `json:"p"`
	Docs       []docData `json:"docs,omitempty"`
	partners             // where the matrix has groups
}

type docData struct {
	Title   string `json:"title"`
	Note    string `json:"note,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	Share   number `json:"share"`
	At      int    `json:"at"` // on the map of documents; −1: it is not there
	row     int
}

// column is a column of the table of topics.
type column struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	What   string `json:"what"`
	Values []full `json:"values"`
}

// matrixData holds the upper triangles, by rows, of the correlations (without the
// diagonal) and of A (with it).
type matrixData struct {
	Topics      []int   `json:"topics"` // ascending; or groups
	Correlation []rough `json:"corr"`
	Joint       []rough `json:"joint"`
	Low         []rough `json:"low,omitempty"` // the intervals of the correlations, if known
	High        []rough `json:"high,omitempty"`
	Similar     []int   `json:"similar"` // an order of places in Topics
	X           []rough `json:"x"`
	Y           []rough `json:"y"`
	Radius      []rough `json:"r"`
	Links       [][]int `json:"links"` // pairs of places
	Named       bool    `json:"named"` // there is room for all names
	Width       int     `json:"width"`
	Height      int     `json:"height"`
}

// number is a float64 that takes few digits in JSON, and null where it is not
// finite.
type number float64

// MarshalJSON writes six digits.
func (x number) MarshalJSON() ([]byte, error) { return digits(float64(x), 6), nil }

// rough is a number with three digits, for what is only drawn.
type rough float64

// MarshalJSON writes three digits.
func (x rough) MarshalJSON() ([]byte, error) { return digits(float64(x), 3), nil }

// cell is a number in a table: as it is shown, and with all its digits as it is saved, ""
// for none.
type cell struct{ Text, Full string }

func newCell(text string, x float64) cell {
	return cell{text, sheet.Number(x)}
}

// full is a number with all its digits, for what is saved.
type full float64

// MarshalJSON writes the digits that the number needs.
func (x full) MarshalJSON() ([]byte, error) { return digits(float64(x), -1), nil }

func digits(x float64, n int) []byte {
	if !vec.Finite(x) {
		return []byte("null")
	}
	return strconv.AppendFloat(nil, x, 'g', n, 64)
}

func numbers(v []float64) []number { return as[number](v) }

// as returns numbers as another type.
func as[T ~float64](v []float64) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

// WriteTopicsCSV writes the n ≥ 1 best words of each topic, or fewer (Model.TopWords), as
// comma-separated values. Each word is a line with the columns topic (from 0), name,
// share, background (true or false), anchor, rank (from 1), word, probability, weight, by
// which it is ranked, and lift, p(word | topic)/p(word). Numbers have all their digits; a
// share or lift that is not defined is empty, as is the anchor in a model without anchors.
// Text that a spreadsheet may take for a formula, because it begins with =, +, -, @, a tab or
// a carriage return, gets an apostrophe before it.
func WriteTopicsCSV(w io.Writer, m *jsmf.Model, n int) error {
	if m == nil {
		return errors.New("report: no model")
	}
	if n < 1 {
		return fmt.Errorf("report: %d words a topic; want at least 1", n)
	}
	out := csv.NewWriter(w)
	err := out.Write([]string{"topic", "name", "share", "background", "anchor", "rank", "word", "probability", "weight", "lift"})
	p := unigram(m)
	for _, t := range m.Summary(n) {
		for i, w := range t.Words {
			if err != nil {
				break
			}
			err = out.Write([]string{strconv.Itoa(t.Number), sheet.Text(t.Name), sheet.Number(t.Share), strconv.FormatBool(t.Background), sheet.Text(t.Anchor),
				strconv.Itoa(i + 1), sheet.Text(w.Word), sheet.Number(w.Prob), sheet.Number(w.Weight), sheet.Number(w.Prob / p[w.Index])})
		}
	}
	out.Flush()
	return wrap(errors.Join(err, out.Error()))
}

// WriteDocumentsCSV writes the topic proportions of documents with what is known of them,
// as comma-separated values. Each document is a line with the columns id, label if any
// document has one, those of the metadata by their names, tokens (of known words), and
// "topic 0", "topic 1" and so on. Numbers have all their digits, times are in UTC as in
// RFC 3339, a missing value is empty, as are the topics of a document that they do not explain
// (Compositions.Explained), and text is as in WriteTopicsCSV. Errors are those of c.Validate and of w.
func WriteDocumentsCSV(w io.Writer, c *jsmf.Compositions) error {
	if c == nil {
		return errors.New("report: no documents")
	}
	k := 0
	if c.W != nil {
		_, k = c.W.Dims()
	}
	if err := c.Validate(k); err != nil {
		return wrap(err)
	}
	head := []string{"id"}
	if c.Labels != nil {
		head = append(head, "label")
	}
	columns := c.Metadata.Columns()
	for _, x := range columns {
		head = append(head, sheet.Text(x.Name))
	}
	head = append(head, "tokens")
	for t := range k {
		head = append(head, fmt.Sprint("topic ", t))
	}
	out := csv.NewWriter(w)
	err := out.Write(head)
	for m, id := range c.IDs {
		if err != nil {
			break
		}
		line := append(head[:0], sheet.Text(id))
		if c.Labels != nil {
			line = append(line, sheet.Text(c.Labels[m]))
		}
		for i := range columns {
			v := c.Metadata.Value(m, i)
			cell := v.String()
			if _, ok := v.Category(); ok {
				cell = sheet.Text(cell)
			}
			line = append(line, cell)
		}
		line = append(line, sheet.Number(c.Docs[m].Tokens))
		for t := range k {
			share := ""
			if c.Explained(m) {
				share = sheet.Number(c.W.At(m, t))
			}
			line = append(line, share)
		}
		err = out.Write(line)
	}
	out.Flush()
	return wrap(errors.Join(err, out.Error()))
}

// WriteNPY writes a matrix, such as Model.Topics (B, N×K), Model.Correlations (A,
// K×K) or the W of Model.Transform (M×K), as a file that numpy.load reads: float64,
// little-endian, in C order, format version 1.0.
func WriteNPY(w io.Writer, a mat.Matrix) error {
	if a == nil {
		return errors.New("report: no matrix")
	}
	rows, cols := a.Dims()
	row := make([]float64, cols)
	return wrap(npy.Write(w, rows, cols, func(i int) []float64 { return mat.Row(row, i, a) }))
}
