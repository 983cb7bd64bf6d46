package effects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// Study asks how topic proportions depend on what is known of documents: on columns of
// their metadata.
type Study struct {
	// Terms are at least one. Adjusted effects add up: each holds while the columns of the
	// others stay as they are. There are at most 5000 levels, bins and pairs of them.
	Terms []Term

	// Bootstrap makes the replicates for the intervals. Warm, Drawn, Cluster, Level and Seed count;
	// no cold replicates are made.
	Bootstrap jsmf.Bootstrap
}

// Validate reports all settings that are out of range, joined into one error. What depends
// on the model and the metadata is checked by Run.
func (s Study) Validate() error {
	var list []error
	add := func(format string, args ...any) { list = append(list, fmt.Errorf("effects: "+format, args...)) }
	if len(s.Terms) == 0 {
		add("no terms")
	}
	columns := map[string]part{}
	for i, t := range s.Terms {
		if err := t.validate(); err != nil {
			add("term %d: %w", i+1, err)
			continue
		}
		for j, u := range s.Terms[:i] {
			if slices.Equal(t.parts, u.parts) {
				add("terms %d and %d are the same: %v", j+1, i+1, t)
			}
		}
		for _, p := range t.parts {
			if other, ok := columns[p.column]; ok && other != p {
				add("term %d, %v: column %q is already in another term in another form", i+1, t, p.column)
			}
			columns[p.column] = p
		}
	}
	if s.Bootstrap.Warm < 0 {
		add("Bootstrap.Warm = %d; want 0 for 100, or more", s.Bootstrap.Warm)
	} else if err := s.Bootstrap.Validate(); err != nil {
		add("%w", err)
	}
	return errors.Join(list...)
}

// Prune returns the study without the terms that documents with this metadata cannot tell, with a
// sentence for each: one whose column holds one value only, or of which nothing is left when the terms
// before it are known. It needs no model and can be asked before a fit. All terms may go. Begin and Run
// return such a term as an error.
func (s Study) Prune(ctx context.Context, meta *corpus.Metadata) (Study, []string, error) {
	if err := s.Validate(); err != nil {
		return s, nil, err
	}
	var notes []string
	for len(s.Terms) > 0 {
		_, err := newDesigns(ctx, s.Terms, meta, slices.Repeat([]float64{1}, meta.NumDocs()), "")
		var u *untold
		if !errors.As(err, &u) {
			return s, notes, err
		}
		notes = append(notes, fmt.Sprintf("%v is left out: %s", s.Terms[u.term], u.why))
		s.Terms = slices.Delete(slices.Clone(s.Terms), u.term, u.term+1)
	}
	return s, notes, nil
}
