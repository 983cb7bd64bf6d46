package cooc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
)

// checkValues tells whether a document may have these values.
func (a *Accumulator) checkValues(values []corpus.Value) error {
	if len(values) > 0 && len(values) != len(a.o.Columns) {
		return fmt.Errorf("%d values for %d columns", len(values), len(a.o.Columns))
	}
	for i, v := range values {
		if err := a.o.Columns[i].Check(v); err != nil {
			return err
		}
	}
	return nil
}

// ownValues returns a copy of values, nil if all are missing.
func ownValues(values []corpus.Value) []corpus.Value {
	if !slices.ContainsFunc(values, func(v corpus.Value) bool { return v.Kind() != 0 }) {
		return nil
	}
	out := slices.Clone(values)
	for i, v := range out {
		if name, ok := v.Category(); ok {
			out[i] = corpus.CategoryOf(strings.Clone(name)) // it may be a piece of a whole text
		}
	}
	return out
}

// takeColumns returns for each column of the accumulator the number of that of a source,
// −1 for none; nil if the source has no columns.
func (a *Accumulator) takeColumns(src corpus.Source) ([]int, error) {
	d, ok := src.(corpus.Described)
	if !ok || len(d.Columns()) == 0 {
		return nil, nil
	}
	columns := d.Columns()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.o.Columns) == 0 && len(a.docs) == 0 {
		if _, err := corpus.NewMetadata(columns, nil); err != nil {
			return nil, fmt.Errorf("cooc: accumulator: columns of the source: %w", err)
		}
		for _, c := range columns {
			c.Levels = nil
			a.o.Columns = append(a.o.Columns, c)
		}
	}
	from := make([]int, len(a.o.Columns))
	for i, c := range a.o.Columns {
		from[i] = slices.IndexFunc(columns, func(x corpus.Column) bool { return x.Name == c.Name })
		if k := from[i]; k >= 0 && columns[k].Kind != c.Kind {
			return nil, fmt.Errorf("cooc: accumulator: column %q of the source holds values of the kind %v, not %v", c.Name, columns[k].Kind, c.Kind)
		}
	}
	return from, nil
}
