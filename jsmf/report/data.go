package report

import (
	"strconv"

	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/internal/vec"
)

// data is what the script reads. Words are numbered by their place in Words.
type data struct {
	Nouns       map[string]string `json:"nouns"` // see Nouns.phrases
	Model       string            `json:"model"` // its fingerprint
	Steps       int               `json:"steps"` // of the slider
	Top         int               `json:"top"`
	Words       []string          `json:"words"`
	P           []number          `json:"p"`    // p(word)
	Home        [][]number        `json:"home"` // the topics where the word is: topic, p(topic | word), …
	Topics      []topicData       `json:"topics"`
	Tree        *treeData         `json:"tree,omitempty"`
	Columns     []column          `json:"columns"`
	Matrix      matrixData        `json:"matrix"`
	Uncertainty *uncertaintyData  `json:"uncertainty,omitempty"`
	TopicMap    topicMapData      `json:"topicmap"`
	Map         mapData           `json:"map"`
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

type mapData struct {
	Words []int    `json:"words"`
	X     []number `json:"x"`
	Y     []number `json:"y"`
	Hull  []int    `json:"hull"` // places in Words
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
