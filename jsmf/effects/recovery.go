package effects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Recovery says in words which part of a difference is found in documents drawn from the model: the
// range over all quantities, and which are those where a fifth or more is lost, five at most. documents is
// what they are called. "" without drawn replicates.
func (e *Effects) Recovery(documents string) string {
	if e.Drawn == 0 {
		return ""
	}
	const lost, most = 0.8, 5
	var told, low []int
	for i, part := range e.Found {
		if !math.IsNaN(part) {
			told = append(told, i)
			if part <= lost {
				low = append(low, i)
			}
		}
	}
	if told == nil {
		return "In " + documents + " drawn from this model, differences are too small to tell which part of them is found."
	}
	slices.SortStableFunc(low, func(i, j int) int { return cmp.Compare(e.Found[i], e.Found[j]) })
	part := func(i int) float64 { return 100 * e.Found[i] }
	byPart := func(i, j int) int { return cmp.Compare(part(i), part(j)) }
	s := fmt.Sprintf("In %s drawn from this model, %.0f to %.0f %% of a difference in a topic is found",
		documents, part(slices.MinFunc(told, byPart)), part(slices.MaxFunc(told, byPart)))
	if few := len(e.Found) - len(told); few > 0 {
		s += fmt.Sprintf(" (of %d of %d; the others have too small ones to tell)", len(told), len(e.Found))
	}
	var of []string
	for _, i := range low[:min(len(low), most)] {
		of = append(of, fmt.Sprintf("%.0f %% in %q", part(i), e.Quantities[i].Name))
	}
	if of != nil {
		s += ": only " + strings.Join(of, ", ")
	}
	return s + "."
}
