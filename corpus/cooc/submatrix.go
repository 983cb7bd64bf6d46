package cooc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
)

// Submatrix returns the rows and columns idx of c as a matrix of the same form. idx
// must be ascending, without repetition. The sum is in general less than 1. Info
// keeps what is true of the chosen words: no Tokens, Corpus or Source. Time and memory
// are in proportion to the size of c. A Matrix of another package is an error.
func Submatrix(c Matrix, idx []int) (Matrix, error) {
	f, ok := c.(form)
	if !ok || !ours(c) {
		return nil, errors.New("cooc: submatrix of a matrix of another package: leave out its empty rows beforehand")
	}
	n := c.Dim()
	to := slices.Repeat([]int32{-1}, n)
	for t, i := range idx {
		switch {
		case i < 0 || i >= n:
			return nil, fmt.Errorf("cooc: submatrix: row %d is not in [0, %d)", i, n)
		case t > 0 && i <= idx[t-1]:
			return nil, fmt.Errorf("cooc: submatrix: row %d comes after row %d", i, idx[t-1])
		}
		to[i] = int32(t)
	}
	if len(idx) == 0 {
		return nil, errors.New("cooc: submatrix without rows")
	}
	info := c.Info()
	out := corpus.Info{Form: info.Form, Documents: info.Documents, Nonzeros: info.Nonzeros, Text: info.Text}
	for _, i := range idx {
		if info.Vocabulary != nil {
			out.Vocabulary = append(out.Vocabulary, info.Vocabulary[i])
		}
		if info.DocFrequencies != nil {
			out.DocFrequencies = append(out.DocFrequencies, info.DocFrequencies[i])
		}
	}
	m, err := f.restrict(idx, to)
	if err != nil {
		return nil, err
	}
	return withInfo(m, out).(Matrix), nil
}
