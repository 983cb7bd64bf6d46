package anchor

import (
	"context"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// XRAY is the conical-hull algorithm, a baseline of fu-2018. R is the residual of the
// row farthest from the cone of the anchors found, and the next anchor the row that
// goes farthest along it, argmax_j Rᵀc_j/(1ᵀc_j), an extreme ray of the cone of all
// rows (the selection by "max" of its authors).
//
// The Norms of the result are the distances of the farthest rows from the cone, not
// those of the anchors; they do not grow. Given anchors have their own distance. XRAY
// can complete the anchors of Fixed and Tandem.
//
// Cost: two products of C̄ with a vector and N non-negative least-squares
// problems an anchor; memory 24·N·K bytes.
type XRAY struct {
	// Unnormalised takes the row farthest from the cone among the rows of C, not of
	// C̄, which favours frequent words. The rule that chooses the anchor does not
	// depend on the length of the rows.
	Unnormalised bool
	// Tol, MinDocs, MinDocFraction and AllowFewer are those of SNPA.
	Tol            float64
	MinDocs        int
	MinDocFraction float64
	AllowFewer     bool
}

func (x XRAY) String() string {
	var opts []string
	if x.Unnormalised {
		opts = []string{"unnormalised"}
	}
	return withOptions("XRAY", x.admit().describe(opts, "tol", x.Tol))
}

func (x XRAY) admit() admit { return admit{x.MinDocs, x.MinDocFraction, x.AllowFewer} }

// Validate reports settings out of range.
func (x XRAY) Validate() error { return x.admit().validate("XRAY", "Tol", x.Tol) }

// Find implements Finder. Errors as [SNPA].
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
