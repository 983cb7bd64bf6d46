package effects

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/jsmf"
)

// Study asks how topic proportions depend on what is known of documents: on columns of
// their metadata.
type Study struct {
	// Terms are at least one. Their effects add up: each holds while the columns of the
	// others stay as they are. There are at most 5000 levels, bins and pairs of them.
	Terms []Term

	// Quantities are further numbers to study besides the proportions of the K topics.
	Quantities []Quantity

	// Bootstrap makes the replicates for the intervals. Warm, Drawn, Cluster, Level and Seed count;
	// no cold replicates are made.
	Bootstrap jsmf.Bootstrap
}

// Quantity is a number made of topics: the sum of the proportions of Plus, less that of
// Minus, divided by that of Over, if there is any. Topics count from 0.
type Quantity struct {
	Name  string `json:"name"`
	Plus  []int  `json:"plus"` // at least one
	Minus []int  `json:"minus,omitempty"`
	Over  []int  `json:"over,omitempty"`
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
	names := map[string]bool{}
	for i, q := range s.Quantities {
		if err := q.validate(); err != nil {
			add("quantity %d, %q: %w", i+1, q.Name, err)
		}
		if names[q.Name] {
			add("quantity %d, %q: another has this name", i+1, q.Name)
		}
		names[q.Name] = true
	}
	if s.Bootstrap.Warm < 0 {
		add("Bootstrap.Warm = %d; want 0 for 100, or more", s.Bootstrap.Warm)
	} else if err := s.Bootstrap.Validate(); err != nil {
		add("%w", err)
	}
	return errors.Join(list...)
}

// validate reports what is wrong with a quantity, without the model.
func (q Quantity) validate() error {
	if q.Name == "" {
		return errors.New("it has no name")
	}
	if len(q.Plus) == 0 {
		return errors.New("no topics in Plus")
	}
	for i, list := range [][]int{q.Plus, q.Minus, q.Over} {
		name := []string{"Plus", "Minus", "Over"}[i]
		sorted := slices.Sorted(slices.Values(list))
		if len(sorted) > 0 && sorted[0] < 0 {
			return fmt.Errorf("%s has topic %d", name, sorted[0])
		}
		if len(slices.Compact(sorted)) < len(list) {
			return fmt.Errorf("%s has a topic twice: %v", name, list)
		}
	}
	for _, t := range q.Plus {
		if slices.Contains(q.Minus, t) {
			return fmt.Errorf("topic %d is in Plus and in Minus", t)
		}
	}
	return nil
}
