// Package anchor finds the anchor words of a rectified co-occurrence matrix.
//
// An anchor word of a topic occurs in that topic only. If every topic has one,
// each row of the row-normalised matrix C̄ is a convex combination of the K rows
// of the anchors (lee-2020 §3, step 2): the anchors are the vertices of the convex
// hull of the rows.
//
//   - QR finds them greedily: the row farthest from the span of those already
//     chosen, K times. It is fast, exact where the data is separable, and the
//     default.
//   - Projected does the same in random projections of the rows, with a
//     clean-up afterwards, as in arora-2013.
//   - SPA, SNPA and XRAY are other greedy methods, for comparison: SPA goes by the
//     span of the anchors found, SNPA by their convex hull, XRAY by their cone.
//   - LP solves a linear program a word, which tells whether its row is a vertex;
//     for small vocabularies.
//   - Hull embeds the rows in a few dimensions and takes the vertices of the hull
//     there, which also gives a number of topics.
//   - Fixed takes the anchors from the user, by word or by number.
//   - Tandem takes groups of words from the user and makes one anchor of each.
//
// QR, Projected, SPA, SNPA and XRAY can complete the anchors of Fixed and Tandem. The
// pivot curve of QR suggests a number of topics: QR.Curve.
package anchor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Finder is a way to find anchors. The settings of a Finder that has a method
// Validate() error are checked by it before a fit begins.
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
	// Vocabulary names the word of each row, for finders that take words by name.
	// nil: a word's name is its number, in decimal digits.
	Vocabulary []string
	// Numbers are the numbers by which the caller knows the words of the rows,
	// ascending. nil: the numbers of the rows.
	Numbers []int
	// Exclude are rows that may not become anchors. Fixed, Tandem, Hull and LP
	// refuse it with an error.
	Exclude []int
	// Prefer are rows that QR, SPA and Projected take as anchors in place of the
	// farthest row wherever they are nearly as far: at least 1 − PreferTol of its
	// distance, 0 ≤ PreferTol < 1. So the anchors of a previous model remain where
	// others are hardly better. Rows that are not admitted are passed over. The
	// clean-up of QR and Projected may replace a preferred anchor; SNPA, XRAY, LP
	// and Hull take no notice.
	Prefer    []int
	PreferTol float64
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each anchor from the goroutine
	// that called Find, with its norm r_k.
	Progress func(done, total int, norm float64)

	given *given // what Fixed and Tandem have completed
}

// Result is what a finder found.
type Result struct {
	// Anchors are the word numbers in the order found.
	Anchors []int
	// Norms are the distances r_k of each anchor's row from the span of the rows of
	// the anchors before it; a steep fall after r_k suggests k topics. They do not
	// grow, but for ties (a relative 1e-9), given or preferred anchors, and after a
	// clean-up. Finders with another notion of distance say which.
	Norms []float64
	// Candidates is how many words were admitted, given ones among them.
	Candidates int
	// ChoseK tells that the finder chose the number of anchors itself, as Hull with
	// All does.
	ChoseK bool
	// Groups holds for each topic the words whose rows were combined into its
	// anchor, nil for an anchor of one word's own row; the word in Anchors is one
	// of them. nil where all anchors are single words.
	Groups [][]int
	// Points holds for each topic that has a group the row that stands in for
	// that of the anchor, of length d, nil for the others. nil where all anchors
	// are single words.
	Points [][]float64
	// Embedding, N×Dims, are the positions in which Hull found the anchors; NaN for
	// words with an empty row. nil for other finders.
	Embedding *mat.Dense
}
