package find

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/jsmf"
)

// Documents finds documents by their topics. It is immutable and safe for concurrent use. Documents
// that no topic explains ([jsmf.Compositions.Explained]) are never found.
//
// Methods that take keep look only at the documents for which it returns true; nil means all. It is
// called with rows of Compositions.W, so that a caller can filter by Compositions.Labels or
// Metadata, and by one goroutine at a time for each call.
type Documents struct {
	k     int
	ids   []string
	names []string       // of the topics
	row   map[string]int // by id
	w     []float64      // M×K, proportions
	roots []float64      // M×K, their square roots; a row of 0 for a document without topics
}

// NewDocuments prepares the proportions c of documents, as m.Transform returns them; nil means
// those that the model holds ([jsmf.Model.With]). What c holds is copied, in 16·M·K bytes for M
// documents and K topics.
//
// Errors: no model, no documents, those of c.Validate, and two documents of one id.
func NewDocuments(m *jsmf.Model, c *jsmf.Compositions) (*Documents, error) {
	if m == nil {
		return nil, errNoModel
	}
	if c == nil {
		if c = m.Additions().Documents; c == nil {
			return nil, errors.New("find: no documents: neither are some given, nor does the model hold any")
		}
	}
	if err := c.Validate(m.K()); err != nil {
		return nil, errorf("%w", err)
	}
	rows := len(c.IDs)
	d := &Documents{
		k: m.K(), ids: slices.Clone(c.IDs), names: m.Names(), row: make(map[string]int, rows),
		w: make([]float64, rows*m.K()), roots: make([]float64, rows*m.K()),
	}
	for i, id := range c.IDs {
		if j, ok := d.row[id]; ok {
			return nil, errorf("documents %d and %d have the same id %q", j, i, id)
		}
		d.row[id] = i
		copy(d.of(d.w, i), c.W.RawRowView(i))
		if c.Explained(i) {
			roots(d.of(d.roots, i), d.of(d.w, i))
		}
	}
	return d, nil
}

// Index returns the row of a document and whether there is one of this id.
func (d *Documents) Index(id string) (row int, ok bool) {
	row, ok = d.row[id]
	return row, ok
}

func (d *Documents) of(a []float64, row int) []float64 { return a[row*d.k : (row+1)*d.k] }

// known reports whether topics of the document in a row are known.
func (d *Documents) known(row int) bool { return floats.Max(d.of(d.roots, row)) > 0 }

// document returns the row of a document whose topics are known.
func (d *Documents) document(id string) (int, error) {
	row, ok := d.row[id]
	if !ok {
		return 0, fmt.Errorf("there is no document %q", id)
	}
	if !d.known(row) {
		return 0, fmt.Errorf("no topic of document %q is known, for the model has none of its words", id)
	}
	return row, nil
}

// TopDocuments returns the n documents with the largest proportion of a topic, largest first, ties
// by row. Score is the proportion. Short documents have the largest ones easily: keep can leave
// them out by Compositions.Docs[row].Tokens. O(M).
func (d *Documents) TopDocuments(topic, n int, keep func(row int) bool) ([]Match, error) {
	if topic < 0 || topic >= d.k {
		return nil, errorf("topic %d: the model has the topics 0 to %d", topic, d.k-1)
	}
	return d.search(n, keep, func(row int) float64 { return d.w[row*d.k+topic] })
}

// TopTopics returns the n topics with the largest proportions in a document, largest first, ties by
// number. Score is the proportion.
func (d *Documents) TopTopics(id string, n int) ([]Match, error) {
	row, err := d.document(id)
	if err != nil {
		return nil, wrap(err)
	}
	b, err := newBest(n)
	if err != nil {
		return nil, wrap(err)
	}
	for t, x := range d.of(d.w, row) {
		b.add(t, x)
	}
	return b.list(func(t int) string { return d.names[t] }), nil
}

// SimilarDocuments returns the n documents whose topics are most similar to those of a document,
// which is left out, most similar first, ties by row. Score is the similarity of the package
// documentation, in [0, 1]. O(M·K).
func (d *Documents) SimilarDocuments(id string, n int, keep func(row int) bool) ([]Match, error) {
	self, err := d.document(id)
	if err != nil {
		return nil, wrap(err)
	}
	return d.similar(d.of(d.roots, self), n, func(row int) bool { return row != self && (keep == nil || keep(row)) })
}

// SimilarTo is SimilarDocuments for topic proportions, such as those of a new document. They are
// scaled to sum 1. Errors: not K of them, and some that are negative or not finite, or all 0.
func (d *Documents) SimilarTo(proportions []float64, n int, keep func(row int) bool) ([]Match, error) {
	if len(proportions) != d.k {
		return nil, errorf("proportions of %d topics, but the model has %d", len(proportions), d.k)
	}
	of := make([]float64, d.k)
	if !roots(of, proportions) {
		return nil, errorf("topic proportions that are negative, not finite, or all 0: %v", proportions)
	}
	return d.similar(of, n, keep)
}

func (d *Documents) similar(of []float64, n int, keep func(row int) bool) ([]Match, error) {
	return d.search(n, keep, func(row int) float64 { return min(floats.Dot(of, d.of(d.roots, row)), 1) })
}

func (d *Documents) search(n int, keep func(row int) bool, score func(row int) float64) ([]Match, error) {
	b, err := newBest(n)
	if err != nil {
		return nil, wrap(err)
	}
	for row := range d.ids {
		if d.known(row) && (keep == nil || keep(row)) {
			b.add(row, score(row))
		}
	}
	return b.list(func(row int) string { return d.ids[row] }), nil
}
