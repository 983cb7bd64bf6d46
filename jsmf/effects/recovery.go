package effects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Recovery says in words which part of a difference is found in documents drawn from the model: the range
// over the quantities whose drawn differences are large enough to tell, and where it is least. documents is
// what these are called. "" without drawn replicates.
func (e *Effects) Recovery(documents string) string {
	if e.Drawn == 0 {
		return ""
	}
	var told []int
	for i, part := range e.Found {
		if !math.IsNaN(part) {
			told = append(told, i)
		}
	}
	if told == nil {
		return fmt.Sprintf("In %s drawn from this model, differences are too small to tell which part of them is found.", documents)
	}
	slices.SortStableFunc(told, func(i, j int) int { return cmp.Compare(e.Found[i], e.Found[j]) })
	least := told[0]
	return fmt.Sprintf("In %s drawn from this model, %.0f %% (%s) to %.0f %% of a difference is found, as far as it can be told (%d of %d).",
		documents, 100*e.Found[least], e.Quantities[least].Name, 100*e.Found[told[len(told)-1]], len(told), len(e.Found))
}
