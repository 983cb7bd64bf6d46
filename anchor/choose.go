package anchor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Curve is the pivot curve of a matrix: the distance of each anchor from the span of
// those before.
type Curve struct {
	// Anchors and Norms are those QR finds, r_1 ≥ r_2 ≥ …
	Anchors []int
	Norms   []float64
	// Exhausted tells that there is no further anchor: the rows have rank
	// len(Norms), or no other word is admitted.
	Exhausted bool
	// K and Drop are those of SuggestK, where r is 0 after the end of an exhausted
	// curve.
	K    int
	Drop float64
}

// Curve computes the first most norms of the pivot curve and suggests a number
// of topics from them. Fewer norms are no error, whatever AllowFewer says, but
// there must be two. The cost is that of Find with k = most.
//
// Rectification for K topics makes the matrix one of rank K, where the curve then
// falls. Take the curve of the raw C, or of one rectified for more topics than there
// can be.
func (q QR) Curve(ctx context.Context, rows cooc.Rows, most int, opt Options) (*Curve, error) {
	n, _ := rows.Dims()
	if most < 2 || most > n {
		return nil, fmt.Errorf("anchor: a pivot curve of %d norms; want 2 to %d, the number of words", most, n)
	}
	if q.CleanUp {
		return nil, errors.New("anchor: after a clean-up there is no pivot curve")
	}
	q.AllowFewer = true
	res, err := q.Find(ctx, rows, most, opt)
	if err != nil {
		return nil, err
	}
	c := &Curve{Anchors: res.Anchors, Norms: res.Norms, Exhausted: len(res.Norms) < most}
	norms := res.Norms
	if c.Exhausted {
		norms = append(slices.Clone(norms), 0)
	}
	if c.K, c.Drop, err = SuggestK(norms); err != nil {
		return nil, err
	}
	return c, nil
}

// SuggestK suggests a number of topics K ≥ 2 from a pivot curve (Result.Norms
// of QR): the K with the largest relative drop (r_K − r_{K+1})/r_K, in [0, 1], the
// lowest of equals. At least 3 norms are needed, none below zero. It is a hint: the
// curves of texts fall smoothly, and a drop of some per cent means nothing.
func SuggestK(norms []float64) (k int, drop float64, err error) {
	if len(norms) < 3 {
		return 0, 0, fmt.Errorf("anchor: a pivot curve of %d norms; at least 3 are needed to suggest a number of topics", len(norms))
	}
	for i, r := range norms {
		if !(r >= 0) || math.IsInf(r, 0) {
			return 0, 0, fmt.Errorf("anchor: pivot norm %d is %g", i, r)
		}
	}
	drop = math.Inf(-1)
	for i := 1; i+1 < len(norms); i++ {
		if norms[i] == 0 {
			break
		}
		if d := (norms[i] - norms[i+1]) / norms[i]; d > drop {
			k, drop = i+1, d
		}
	}
	if k == 0 {
		return 0, 0, errors.New("anchor: the second pivot norm is 0: there are no two topics")
	}
	return k, drop, nil
}
