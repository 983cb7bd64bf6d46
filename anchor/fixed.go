package anchor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Fixed takes anchors from the user: topic k is that of the k-th word given. Complete
// finds the others if there are fewer than topics.
//
// The rows of the anchors must not depend on each other: words with the same row cannot
// be anchors of two topics. The Norms of the result are those of Complete, or else of [QR].
type Fixed struct {
	// Words are the anchors by name, as Options.Vocabulary has it.
	Words []string
	// Numbers are the anchors by number, as Options.Numbers has it, instead of Words. In a
	// jsmf.Pipeline these are the numbers of the Model's words.
	Numbers []int
	// Complete finds the anchors that are not given: QR, Projected, SPA, SNPA, XRAY, or a
	// finder of one's own that begins with Options.Given. nil: one must be given for each
	// topic.
	Complete Finder
}

func (f Fixed) String() string {
	names := slices.Clone(f.Words)
	for _, w := range f.Numbers {
		names = append(names, strconv.Itoa(w))
	}
	return "Fixed(" + strings.Join(names, ", ") + completed(f.Complete) + ")"
}

func completed(f Finder) string {
	if f == nil {
		return ""
	}
	return "; then " + f.String()
}

// Validate reports settings out of range, those of Complete too.
func (f Fixed) Validate() error {
	switch {
	case len(f.Words) > 0 && len(f.Numbers) > 0:
		return errors.New("anchor: Fixed: anchors are given both by word and by number")
	case len(f.Words) == 0 && len(f.Numbers) == 0:
		return errors.New("anchor: Fixed: no anchor is given")
	}
	seen := make(map[string]int)
	for i, w := range f.Words {
		if j, ok := seen[w]; ok {
			return fmt.Errorf("anchor: Fixed: %q is given as anchors %d and %d", w, j, i)
		}
		seen[w] = i
	}
	for i, w := range f.Numbers {
		if j := slices.Index(f.Numbers, w); j < i {
			return fmt.Errorf("anchor: Fixed: word %d is given as anchors %d and %d", w, j, i)
		}
	}
	return validateFinder(f.Complete)
}

// validateFinder checks the settings of a finder that has a method for it (see Finder).
func validateFinder(f Finder) error {
	if v, ok := f.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Find implements Finder. Errors: settings out of range, [*UnknownWordError], a number
// without a row, more or fewer anchors than k, anchors whose rows depend on each
// other, words to exclude, and those of Complete.
func (f Fixed) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	l, err := newLookup(rows, opt)
	if err != nil {
		return nil, err
	}
	var anchors []int
	if len(f.Words) > 0 {
		if anchors, err = l.words(f.Words); err != nil {
			return nil, err
		}
	} else {
		for _, w := range f.Numbers {
			i, err := l.number(w)
			if err != nil {
				return nil, err
			}
			anchors = append(anchors, i)
		}
	}
	res, err := complete(ctx, "Fixed", f.Complete, rows, k, opt, &Given{Anchors: anchors}, nil)
	return res, l.named(err)
}
