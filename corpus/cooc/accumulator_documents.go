package cooc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
)

// HeldDocument is a document that an Accumulator holds, without its words.
type HeldDocument struct {
	ID     string
	At     int64          // its time: see Accumulator.AddAt
	Values []corpus.Value // in AccumulatorOptions.Columns; nil: all are missing. They must not be written to
}

func (d *heldDoc) held() HeldDocument { return HeldDocument{ID: d.id, At: d.at, Values: d.values} }

// Document returns the document with this id and whether it is held.
func (a *Accumulator) Document(id string) (_ HeldDocument, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.byID[id]
	if d == nil {
		return HeldDocument{}, false
	}
	return d.held(), true
}

// DocumentsAfter returns the first n documents that come after the given time and id, in
// the order of times, then ids; fewer at the end. So all documents can be read page by page
// while others come and go. O(n + log documents) time.
func (a *Accumulator) DocumentsAfter(at int64, id string, n int) []HeldDocument {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, found := slices.BinarySearchFunc(a.docs, id, func(d *heldDoc, id string) int { return d.compare(at, id) })
	if found {
		i++
	}
	rest := a.docs[i:]
	out := make([]HeldDocument, 0, min(max(n, 0), len(rest)))
	for _, d := range rest[:cap(out)] {
		out = append(out, d.held())
	}
	return out
}

// Document returns document i of Corpus, from 0.
func (s *Snapshot) Document(i int) HeldDocument { return s.docs[i].held() }

// AddColumns adds columns to AccumulatorOptions.Columns. The documents held have no values
// in them. Errors, after which nothing has changed: those of corpus.NewMetadata, such as a
// name that another column has.
func (a *Accumulator) AddColumns(columns ...corpus.Column) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	all := slices.Concat(a.o.Columns, columns)
	if _, err := corpus.NewMetadata(all, nil); err != nil {
		return fmt.Errorf("cooc: accumulator: columns: %s", strings.TrimPrefix(err.Error(), "corpus: "))
	}
	a.o.Columns = all
	for i, d := range a.docs {
		if d.values == nil {
			continue
		}
		wider := *d // snapshots hold d
		wider.values = make([]corpus.Value, len(all))
		copy(wider.values, d.values)
		a.bytes += wider.bytes() - d.bytes()
		a.docs[i], a.byID[d.id] = &wider, &wider
	}
	return nil
}
