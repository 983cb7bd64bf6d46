package report

import (
	"encoding/base64"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// fieldLevels is how many levels a column may have that is shown.
const fieldLevels = 1000

// fieldData is a column of metadata as the script reads it.
type fieldData struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // category, number or time
	Unit string `json:"unit,omitempty"`
	// Values are base64: of categories the number of the level from 1, in 16 bits; of
	// others v in 24 bits, for the value (From/Step + v−1)·Step. 0 is missing. Times are in
	// seconds since 1970.
	Values string   `json:"values"`
	Levels []string `json:"levels,omitempty"`
	From   float64  `json:"from"`
	Step   float64  `json:"step"`
}

// bytes returns about how many the column takes on the page.
func (f *fieldData) bytes() int {
	n := len(f.Values) + 100
	for _, l := range f.Levels {
		n += len(l) + 3
	}
	return n
}

// addFields fills in the labels and the columns of metadata, in their order, up to limit
// bytes. It leaves out columns of too many levels, and those without a value.
func (d *documentData) addFields(c *jsmf.Compositions, docs []int, limit int) error {
	add := func(f fieldData) bool {
		if f.Values == "" || f.bytes() > limit {
			return false
		}
		limit -= f.bytes()
		d.Fields = append(d.Fields, f)
		return true
	}
	add(labels(c, docs))
	for _, column := range c.Metadata.Columns() {
		f := fieldData{Name: column.Name, Kind: column.Kind.String(), Unit: column.Unit}
		var err error
		switch column.Kind {
		case corpus.Category:
			var level []int
			var levels []string
			if level, levels, err = c.Metadata.Categories(f.Name); err == nil {
				f.categories(docs, level, levels)
			}
		case corpus.Number:
			err = f.numbers(c.Metadata, docs)
		case corpus.Time:
			err = f.times(c.Metadata, docs)
		}
		if err != nil {
			return err
		}
		if !add(f) {
			d.Left = append(d.Left, column.Name)
		}
	}
	return nil
}

// labels returns the labels of the documents as a column.
func labels(c *jsmf.Compositions, docs []int) fieldData {
	f := fieldData{Name: "label", Kind: corpus.Category.String()}
	if c.Labels == nil {
		return f
	}
	levels := slices.Compact(slices.Sorted(slices.Values(c.Labels)))
	level := make([]int, len(c.Labels))
	for d, l := range c.Labels {
		if level[d] = -1; l != "" {
			level[d], _ = slices.BinarySearch(levels, l)
		}
	}
	f.categories(docs, level, levels)
	return f
}

// categories takes the levels that occur, in their order; level is that of each document,
// −1 if it has none.
func (f *fieldData) categories(docs, level []int, levels []string) {
	occur := map[int]bool{}
	for _, d := range docs {
		occur[level[d]] = true
	}
	number := map[int]int{} // on the page; 0: none
	for l, name := range levels {
		if occur[l] {
			f.Levels = append(f.Levels, plain(name, wordLength, false))
			number[l] = len(f.Levels)
		}
	}
	if len(f.Levels) == 0 || len(f.Levels) > fieldLevels {
		return
	}
	b := make([]byte, 0, 2*len(docs))
	for _, d := range docs {
		v := number[level[d]]
		b = append(b, byte(v), byte(v>>8))
	}
	f.Values = base64.StdEncoding.EncodeToString(b)
}

// numbers takes whole numbers as they are, if their range allows it.
func (f *fieldData) numbers(t *corpus.Metadata, docs []int) error {
	x, known, err := t.Numbers(f.Name)
	if err != nil {
		return err
	}
	whole := true
	low, high := within(docs, x, known)
	for _, d := range docs {
		whole = whole && (!known[d] || x[d] == math.Trunc(x[d]))
	}
	f.From, f.Step = low, high/steps-low/steps // the difference may be no float64
	if whole && f.Step <= 1 || f.Step == 0 {
		f.Step = 1
	}
	f.quantise(docs, x, known, math.Round)
	return nil
}

// times takes times to the second, if their range allows it, or else to the minute, the
// hour or days.
func (f *fieldData) times(t *corpus.Metadata, docs []int) error {
	at, known, err := t.Times(f.Name)
	if err != nil {
		return err
	}
	const day = 24 * 60 * 60
	x := make([]float64, len(at))
	f.Step = day
	for _, d := range docs {
		if known[d] {
			x[d] = float64(at[d].Unix())
			if math.Mod(x[d], day) != 0 {
				f.Step = 1
			}
		}
	}
	low, high := within(docs, x, known)
	for _, s := range []float64{60, 3600, day} {
		if high-low > f.Step*steps {
			f.Step = max(f.Step, s)
		}
	}
	for high-low > f.Step*steps {
		f.Step *= 2
	}
	f.From = math.Floor(low/f.Step) * f.Step
	f.quantise(docs, x, known, math.Floor)
	return nil
}

// steps is how many there are at most between the least value and the largest.
const steps = 1<<24 - 3

// within returns the least and the largest value that is known.
func within(docs []int, x []float64, known []bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, d := range docs {
		if known[d] {
			low, high = min(low, x[d]), max(high, x[d])
		}
	}
	return low, high
}

// quantise fills in values as steps, rounded.
func (f *fieldData) quantise(docs []int, x []float64, known []bool, round func(float64) float64) {
	b := make([]byte, 0, 3*len(docs))
	some := false
	for _, d := range docs {
		v := 0
		if known[d] {
			v, some = 1+int(round(x[d]/f.Step-f.From/f.Step)), true
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16))
	}
	if some {
		f.Values = base64.StdEncoding.EncodeToString(b)
	}
}
