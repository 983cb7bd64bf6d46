package anchor

import (
	"context"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// XRAY is the conical-hull algorithm, a baseline of fu-2018: of the rows
// outside of the cone of the anchors found, the one farthest from it shows the
// way out, its residual R, and the anchor is the row that goes farthest along
// it, argmax_j Rᵀc_j/(1ᵀc_j), an extreme ray of the cone of all rows (the
// selection by "max" of its authors).
//
// The Norms of the result are the distances of the farthest rows from the cone,
// which never grow, not those of the anchors (but for given ones, which have
// their own). It can complete the anchors of Fixed and
// Tandem.
//
// Cost: two products of C̄ with a vector and N non-negative least-squares
// problems an anchor; memory 24·N·K bytes.
type XRAY struct {
	// Unnormalised takes the row farthest from the cone among the rows of C, and
	// not of C̄: frequent words show the way out. The anchor itself is chosen by
	// the same rule, which does not depend on how long the rows are.
	Unnormalised bool
	// Tol, MinDocs, MinDocFraction and AllowFewer are those of SNPA.
	Tol            float64
	MinDocs        int
	MinDocFraction float64
	AllowFewer     bool
}

func (x XRAY) String() string {
	opts := describeCover(x.admit(), x.Tol)
	if x.Unnormalised {
		opts = append([]string{"unnormalised"}, opts...)
	}
	return withOptions("XRAY", opts)
}

func (x XRAY) admit() admit { return admit{x.MinDocs, x.MinDocFraction, x.AllowFewer} }

// Validate reports settings out of range.
func (x XRAY) Validate() error { return validateCover("XRAY", x.admit(), x.Tol) }

// Find implements Finder. Errors as SNPA.
func (x XRAY) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	s, err := begin(ctx, "XRAY", rows, k, x.admit(), opt)
	if err != nil {
		return nil, err
	}
	var weights []float64
	if x.Unnormalised {
		weights = rows.Marginals()
	}
	return newCover(s, x.Tol, true, weights).run(ctx)
}
