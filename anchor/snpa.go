package anchor

import (
	"context"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// SNPA is the successive non-negative projection algorithm, a baseline of
// fu-2018: the next anchor is the row farthest from the convex hull of the anchors
// found and the origin. If the data is not separable, it differs from [SPA] and [QR], whose
// projections may have negative coefficients: rows on the far side of the anchors are
// corners to SNPA, and there may be more anchors than the rank of C̄.
//
// The Norms of the result are the distances from the hull; they do not grow, except for
// given anchors. SNPA can complete the anchors of Fixed and Tandem.
//
// Cost: a product of C̄ with a vector and N least-squares problems on the simplex an
// anchor, several times the cost of recovering the topics. Memory: 16·N·K bytes.
type SNPA struct {
	// Tol is the relative distance below which a row counts as explained, in
	// [0, 1); 0 means 1e-6.
	Tol float64
	// MinDocs and MinDocFraction are those of QR.
	MinDocs        int
	MinDocFraction float64
	// AllowFewer is that of QR.
	AllowFewer bool
}

func (s SNPA) String() string {
	return withOptions("SNPA", s.admit().describe(nil, "tol", s.Tol))
}

func (s SNPA) admit() admit { return admit{s.MinDocs, s.MinDocFraction, s.AllowFewer} }

// Validate reports settings out of range.
func (s SNPA) Validate() error { return s.admit().validate("SNPA", "Tol", s.Tol) }

// Find implements Finder. Errors: settings out of range, a document-frequency
// bound without opt.DocFrequencies, [*RankError], [*CandidateError], an iteration limit,
// ctx's.
func (s SNPA) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	x, err := begin(ctx, "SNPA", rows, k, s.admit(), opt)
	if err != nil {
		return nil, err
	}
	return newCover(x, s.Tol, false, nil).run(ctx)
}
