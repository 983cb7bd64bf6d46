package anchor

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// SPA is the successive projection algorithm, a baseline of fu-2018: the
// longest row is an anchor, all rows are projected to the orthogonal complement
// of it, and so on. The rows are those of C divided by their sums (fu-2018, §2),
// which is C̄; its anchors are those of [QR].
//
// On the rows of C itself (Unnormalised) rare words, whose rows in C̄ are mostly
// noise, are not chosen for their length; but frequent words are. The anchors s_k of
// separable data are then found for sure only if Σ_k B_nk/B_{s_k k} ≤ 1 for every
// word n: anchors would have to be the most frequent words of their topics.
//
// Cost and memory as QR. It can complete the anchors of Fixed, and, unless Unnormalised,
// those of Tandem.
type SPA struct {
	// Unnormalised searches the rows of C instead of those of C̄.
	Unnormalised bool
	// MinDocs, MinDocFraction, RankTol, AllowFewer are those of QR.
	MinDocs        int
	MinDocFraction float64
	RankTol        float64
	AllowFewer     bool
}

func (s SPA) String() string {
	var opts []string
	if s.Unnormalised {
		opts = append(opts, "unnormalised")
	}
	return withOptions("SPA", s.admit().describe(opts, "rank tol", s.RankTol))
}

func (s SPA) admit() admit { return admit{s.MinDocs, s.MinDocFraction, s.AllowFewer} }

// Validate reports settings out of range.
func (s SPA) Validate() error { return s.admit().validate("SPA", "RankTol", s.RankTol) }

// Find implements Finder. The Norms of the result are those of the rows
// searched. Errors as [QR].
func (s SPA) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Unnormalised {
		rows = unnormalised{rows}
		if err := opt.Given.noPoints("the rows of C"); err != nil {
			return nil, err
		}
	}
	x, err := begin(ctx, "SPA", rows, k, s.admit(), opt)
	if err != nil {
		return nil, err
	}
	return x.pursue(ctx, s.RankTol, false)
}

// unnormalised gives the rows of C in the form of those of C̄.
type unnormalised struct{ cooc.Rows }

func (r unnormalised) Norms2(ctx context.Context, workers int) ([]float64, error) {
	norms, err := r.Rows.Norms2(ctx, workers)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(norms))
	for i, c := range r.Marginals() {
		out[i] = norms[i] * c * c
	}
	return out, nil
}

func (r unnormalised) RowTo(dst []float64, i int) {
	r.Rows.RowTo(dst, i)
	floats.Scale(r.Marginals()[i], dst)
}

func (r unnormalised) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := r.Rows.MulTo(ctx, dst, x, workers); err != nil {
		return err
	}
	c, d := r.Marginals(), dst.RawMatrix()
	return parallel.Chunks(ctx, d.Rows, 1024, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			floats.Scale(c[i], linalg.Row(d, i))
		}
		return nil
	})
}
