// Package anchor finds the anchor words of a rectified co-occurrence matrix.
//
// An anchor word of a topic occurs in that topic only. If every topic has one,
// each row of the row-normalised matrix C̄ is a convex combination of the K rows
// of the anchors (lee-2020 §3, step 2), and to find the topics is to find the
// corners of the cloud that the rows form.
//
//   - QR finds them greedily: the row farthest from the span of those already
//     chosen, K times. It is fast, exact where the data is separable, and the
//     default.
//   - Projected does the same in random projections of the rows, with a
//     clean-up afterwards, as in arora-2013.
//   - SPA, SNPA and XRAY are the greedy methods others use, for comparison: SPA
//     goes by the span of the anchors found, SNPA by their convex hull, XRAY
//     by their cone.
//   - LP solves a linear program a word, which tells for sure whether it is a
//     corner; for small vocabularies.
//   - Fixed takes the anchors from the user, by word or by number.
//   - Tandem takes groups of words from the user, each of which becomes one
//     anchor: what its words share.
//
// Fixed and Tandem have the other greedy finders find the anchors that the user
// leaves open. How many topics there are may be read from QR's pivot curve:
// QR.Curve.
package anchor

import (
	"context"
	"errors"
	"fmt"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Finder is a way to find anchors.
type Finder interface {
	// Find returns k anchors among the rows. The result is the same to the bit
	// for any opt.Workers.
	Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every finder takes beside its own settings.
type Options struct {
	// DocFrequencies holds, for each word, the number of documents in which it
	// occurs, and Docs the number of documents; nil and 0 where there are none.
	// They are needed by finders that only admit words frequent enough.
	DocFrequencies []int
	Docs           int
	// Seed is added to the seed of finders that draw random numbers.
	Seed uint64
	// Vocabulary names the word of each row, for finders that take words by
	// name; nil where they have none and are called by their number, in decimal
	// digits.
	Vocabulary []string
	// Numbers are the numbers by which the caller knows the words of the rows,
	// ascending; nil where these are the numbers of the rows.
	Numbers []int
	// Partial, if not nil, are anchors there are already: the result begins with
	// them. Finders that cannot add to given ones return ErrPartial.
	Partial *Partial
	// Prefer are rows that QR and Projected take as anchors in place of the
	// farthest row wherever they are nearly as far: at least 1 − PreferTol of its
	// distance, 0 ≤ PreferTol < 1. So the anchors of a model remain those of the one before
	// where others are hardly better. Those that are not admitted are passed
	// over; a clean-up and other finders take no notice.
	Prefer    []int
	PreferTol float64
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each anchor from the goroutine
	// that called Find, with its norm r_k.
	Progress func(done, total int, norm float64)
}

// Partial is a set of anchors to be completed. Fixed and Tandem make them.
type Partial struct {
	// Anchors are row numbers, each once and at most K.
	Anchors []int
	// Points are rows, of length d, that stand in for those of the anchors:
	// nil, or one for each anchor, nil where it is the anchor's own row.
	Points [][]float64
	// Exclude are rows that may not become anchors beside these.
	Exclude []int
}

// ErrPartial is returned by finders that find all anchors or none.
var ErrPartial = errors.New("cannot complete a partial set of anchors")

// Result is what a finder found.
type Result struct {
	// Anchors are the word numbers in the order found.
	Anchors []int
	// Norms are r_1 ≥ r_2 ≥ … (but for ties, to a relative 1e-9, for anchors
	// that were given or preferred, and after a clean-up): the distance of each anchor's row
	// from the span of the rows of the anchors before it. A steep fall after r_k
	// suggests k topics. Finders with another notion of distance say which.
	Norms []float64
	// Candidates is how many words were admitted, given ones among them.
	Candidates int
	// Groups holds for each topic the words whose rows were combined into its
	// anchor, nil for an anchor of one word's own row; the word in Anchors is one
	// of them. nil where all anchors are single words.
	Groups [][]int
	// Points holds for each topic that has a group the row that stands in for
	// that of the anchor, of length d, nil for the others. nil where all anchors
	// are single words.
	Points [][]float64
	// Embedding is where Hull found the anchors; nil for other finders.
	Embedding *Embedding
}

// RankError says that the rows do not span as many dimensions as anchors were
// asked for.
type RankError struct {
	Rank, K int
	// Norm is the distance of the next best row from the span of the Rank rows
	// found, First that of the first anchor from the origin, both in C̄.
	Norm, First float64
}

func (e *RankError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but the co-occurrence rows have numerical rank %d (the next row is %.3g from the span of the others, the first anchor %.3g long); ask for at most %d topics", e.K, e.Rank, e.Norm, e.First, e.Rank)
}

// CandidateError says that fewer words than anchors are frequent enough.
type CandidateError struct {
	Candidates, K int
	MinDocs       int // what was asked of a candidate
}

func (e *CandidateError) Error() string {
	if e.MinDocs == 0 {
		return fmt.Sprintf("anchor: %d anchors asked for, but only %d words have a co-occurrence row", e.K, e.Candidates)
	}
	return fmt.Sprintf("anchor: %d anchors asked for, but only %d words occur in at least %d documents and have a co-occurrence row; lower the anchors' minimum document frequency or the number of topics", e.K, e.Candidates, e.MinDocs)
}

// CoverError says that the anchors found explain all rows, so that there is no
// further one.
type CoverError struct {
	Found, K int
	// Distance is how far the farthest other row is from what the anchors span,
	// First the length of the longest row.
	Distance, First float64
	Of              string // "convex hull" or "cone"
}

func (e *CoverError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but %d explain all rows: the farthest is %.3g from their %s, the longest row %.3g long; ask for at most %d topics", e.K, e.Found, e.Distance, e.Of, e.First, e.Found)
}

// PartialError says what is wrong with a given anchor.
type PartialError struct {
	Anchor, Word int // its place among the given ones, and its row
	Reason       string
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("anchor: given anchor %d, word %d: %s", e.Anchor, e.Word, e.Reason)
}
