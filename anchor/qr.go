package anchor

import (
	"context"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// QR is greedy column-pivoted QR on C̄ᵀ with implicit updates (lee-2020,
// Algorithm 3): the next anchor is the row farthest from the span of those before.
// Only the K basis vectors are stored; the squared distances of all rows are updated
// by one product with C̄ an anchor. Ties go to the lower word number. Without CleanUp
// the anchors for K topics are the first K of those for K+1. QR can complete the
// anchors of Fixed and Tandem.
//
// Cost: K products of C̄ with a vector and 4·d·K² operations; memory 8·d·K
// bytes. CleanUp takes K to 2K more products.
type QR struct {
	// MinDocs is the least number of documents that an anchor occurs in (arora-2013 §5). 1
	// admits any word, as the papers on rectified matrices do. A word's row is a mean over its
	// documents, so that the rows of rare words are noise, and noise lies farthest out.
	//
	// If MinDocs and MinDocFraction are 0, the words that occur in at least
	// 1.1·max(M, 2000)/K of the M documents are admitted, for K topics, and in any case the
	// 10·max(K, 12) words that most documents have, with those in as many. The bound is near
	// the number of documents that are mainly of one topic. Any word is admitted if
	// Options.DocFrequencies or Options.Docs are not known.
	MinDocs int
	// MinDocFraction is a bound as a fraction of the documents, in [0, 1]. The larger bound
	// holds.
	MinDocFraction float64
	// RankTol is the fraction of the first norm below which no further anchor
	// exists; 0 means 1e-7.
	RankTol float64
	// AllowFewer returns the anchors found if there are fewer than k, instead of a
	// *RankError or a *CandidateError.
	AllowFewer bool
	// CleanUp replaces one anchor after the other, in their order and once each,
	// by the word farthest from the span of all the others (arora-2013,
	// Algorithm 4). Given anchors stay, and so does one that no word beats.
	CleanUp bool
}

func (q QR) String() string {
	opts := q.admit().describe(nil, "rank tol", q.RankTol)
	if q.CleanUp {
		opts = append(opts, "clean-up")
	}
	return withOptions("QR", opts)
}

func (q QR) admit() admit { return admit{q.MinDocs, q.MinDocFraction, q.AllowFewer} }

// Validate reports settings out of range.
func (q QR) Validate() error { return q.admit().validate("QR", "RankTol", q.RankTol) }

// Find implements Finder. Words with an empty row are never anchors. Errors:
// settings out of range, MinDocs above 1 or MinDocFraction without
// opt.DocFrequencies, [*RankError], [*CandidateError], ctx's.
func (q QR) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	s, err := begin(ctx, "QR", rows, k, q.admit(), opt)
	if err != nil {
		return nil, err
	}
	return s.pursue(ctx, q.RankTol, q.CleanUp)
}
