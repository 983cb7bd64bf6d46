package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/npy"
	"github.com/jsmf-go/spectral/internal/sheet"
	"github.com/jsmf-go/spectral/jsmf"
)

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
// RFC 3339, a missing value is empty, and text is as in WriteTopicsCSV. Errors are those of c.Validate and of w.
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
