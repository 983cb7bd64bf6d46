package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/jsmf"
)

// CSV sets how text is written as comma-separated values. The zero value is for people
// who open the file in a spreadsheet.
type CSV struct {
	// Verbatim writes all text as it is. Otherwise text that a spreadsheet may take for a
	// formula, because it begins with =, +, -, @, a tab or a carriage return, gets an
	// apostrophe before it. Numbers are never changed.
	Verbatim bool
}

// text returns s as it is written in a cell.
func (o CSV) text(s string) string {
	if o.Verbatim {
		return s
	}
	return sheet.Text(s)
}

// WriteTopicsCSV writes the n ≥ 1 best words of each topic, or fewer (Model.TopWords), as
// comma-separated values. Each word is a line with the columns topic (from 0), name,
// share, background (true or false), anchor, rank (from 1), word, probability, weight, by
// which it is ranked, and lift, p(word | topic)/p(word). Numbers have all their digits; a
// share or lift that is not defined is empty, as is the anchor in a model without anchors.
func WriteTopicsCSV(w io.Writer, m *jsmf.Model, n int, o CSV) error {
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
			err = out.Write([]string{strconv.Itoa(t.Number), o.text(t.Name), sheet.Number(t.Share), strconv.FormatBool(t.Background), o.text(t.Anchor),
				strconv.Itoa(i + 1), o.text(w.Word), sheet.Number(w.Prob), sheet.Number(w.Weight), sheet.Number(w.Prob / p[w.Index])})
		}
	}
	out.Flush()
	return wrap(errors.Join(err, out.Error()))
}

// WriteDocumentsCSV writes the topic proportions of documents with what is known of them,
// as comma-separated values. Each document is a line with the columns id, label if any
// document has one, those of the metadata by their names, tokens (of known words), and
// "topic 0", "topic 1" and so on. Numbers have all their digits, times are in UTC as in
// RFC 3339, and a missing value is empty.
func WriteDocumentsCSV(w io.Writer, c *jsmf.Compositions, o CSV) error {
	if c == nil {
		return errors.New("report: no documents")
	}
	head := []string{"id"}
	if c.Labels != nil {
		head = append(head, "label")
	}
	columns := c.Metadata.Columns()
	for _, x := range columns {
		head = append(head, o.text(x.Name))
	}
	head = append(head, "tokens")
	_, k := c.W.Dims()
	for t := range k {
		head = append(head, fmt.Sprint("topic ", t))
	}
	out := csv.NewWriter(w)
	err := out.Write(head)
	for m, id := range c.IDs {
		if err != nil {
			break
		}
		line := append(head[:0], o.text(id))
		if c.Labels != nil {
			line = append(line, o.text(c.Labels[m]))
		}
		for i := range columns {
			v := c.Metadata.Value(m, i)
			cell := v.String()
			if _, ok := v.Category(); ok {
				cell = o.text(cell)
			}
			line = append(line, cell)
		}
		line = append(line, sheet.Number(c.Docs[m].Tokens))
		for t := range k {
			line = append(line, sheet.Number(c.W.At(m, t)))
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

// wordSaliency returns the saliency of each word (Chuang, Manning and Heer 2012),
//
//	p(n) Σ_k p(k | n) ln(p(k | n)/p(k)),
//
// in nats: how frequent it is times how much it tells of the topic. b is N×K with
// columns p(word | topic); shares are proportional to p(k).
func wordSaliency(b *mat.Dense, shares []float64) []float64 {
	sum := floats.Sum(shares)
	n, _ := b.Dims()
	out := make([]float64, n)
	for i := range out {
		row, p := b.RawRowView(i), 0.0
		for k, v := range row {
			p += v * shares[k] / sum
		}
		for k, v := range row {
			if joint := v * shares[k] / sum; joint > 0 {
				out[i] += joint * math.Log(v/p)
			}
		}
		out[i] = max(out[i], 0) // rounding
	}
	return out
}
