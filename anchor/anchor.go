// Package anchor finds the anchor words of a rectified co-occurrence matrix.
//
// An anchor word of a topic occurs in that topic only. If every topic has one,
// each row of the row-normalised matrix C̄ is a convex combination of the K rows
// of the anchors (lee-2020 §3, step 2): the anchors are the vertices of the convex
// hull of the rows.
//
//   - [QR], the default, takes the row farthest from the span of those already chosen, K
//     times. It is fast, and exact if the data is separable.
//   - [Projected] does the same in random projections of the rows, with a clean-up
//     afterwards, as in arora-2013.
//   - [SPA], [SNPA] and [XRAY] are other greedy methods, for comparison: SPA goes by the
//     span of the anchors found, SNPA by their convex hull, XRAY by their cone.
//   - [Hull] embeds the rows in a few dimensions and takes the vertices of the hull
//     there, which also gives a number of topics.
//   - [Fixed] takes the anchors from the user, by word or by number.
//   - [Tandem] makes one anchor of each group of words that the user names.
//
// Fixed and Tandem apart, finders admit words that occur in many documents only, unless their
// settings say otherwise (QR.MinDocs).
//
// QR, Projected, SPA, SNPA, XRAY and any finder that begins with Options.Given can complete
// the anchors of Fixed and Tandem.
package anchor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Finder is a way to find anchors. If it has a method Validate() error (jsmf.Validator), a fit
// calls it before anything runs, and so do Fixed and Tandem for the finder that completes them.
type Finder interface {
	// Find returns k anchors among the rows. The result is the same to the bit
	// for any opt.Workers.
	Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every finder takes besides its own settings.
type Options struct {
	// DocFrequencies holds, for each word, the number of documents in which it occurs, and
	// Docs the number of documents; nil and 0 if not known. Finders whose settings bound the
	// documents of an anchor need them.
	DocFrequencies []int
	Docs           int
	// Seed is added to the seed of finders that draw random numbers.
	Seed uint64
	// Vocabulary names the word of each row, for finders that take words by name.
	// nil: a word's name is its number, in decimal digits.
	Vocabulary []string
	// Numbers are the caller's numbers of the words of the rows, ascending. nil: those of
	// the rows.
	Numbers []int
	// Exclude are rows that may not become anchors. Fixed, Tandem, Hull and LP
	// refuse it with an error.
	Exclude []int
	// Prefer are rows, such as the anchors of a previous model, that QR, SPA and Projected
	// take instead of the farthest row if they are at least 1 − PreferTol of its distance
	// away, 0 ≤ PreferTol < 1. Rows that are not admitted are passed over. The clean-up of
	// QR and Projected may replace a preferred anchor; other finders ignore Prefer.
	Prefer    []int
	PreferTol float64
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each anchor from the goroutine
	// that called Find, with its norm r_k.
	Progress func(done, total int, norm float64)
	// Given are the anchors with which the result must begin; nil: none. Fixed and Tandem
	// set it, and Exclude, for the finder that completes them, which must obey both.
	Given *Given
}

// Given are anchors that are known before the search.
type Given struct {
	Anchors []int // row numbers, each once and at most k
	// Points are rows, of length d, that replace those of the anchors: nil, or one for each
	// anchor, nil for the anchor's own row.
	Points [][]float64
}

// Result is what a finder found.
type Result struct {
	// Anchors are the word numbers in the order found.
	Anchors []int
	// Groups holds for each topic the words, that in Anchors among them, whose rows were
	// combined into its anchor; nil for a single word. nil: all anchors are single words.
	Groups [][]int
	// Points holds for each topic that has a group the combined row, of length d; nil for
	// the others. nil: all anchors are single words.
	Points [][]float64
	// Embedding, N×Dims, are the positions in which Hull found the anchors; NaN for
	// words with an empty row. nil for other finders.
	Embedding *mat.Dense

	Stats
}

// Stats says how anchors were found. A jsmf.Pipeline fills in Method where it is empty, and
// Requested and K.
type Stats struct {
	Method    string `json:"method"`
	Requested int    `json:"requested"` // topics asked for
	K         int    `json:"k"`         // anchors found
	// Candidates is how many words were admitted, given ones among them.
	Candidates int `json:"candidates"`
	// Norms are the distances r_k of each anchor's row from the span of those before it; a
	// steep fall after r_k suggests k topics. They do not grow, except for ties (a relative
	// 1e-9), given or preferred anchors, and after a clean-up. Finders with another
	// distance say which; nil: none.
	Norms []float64 `json:"norms"`
	// ChoseK reports that the finder itself chose the number of anchors (Hull.All).
	ChoseK bool `json:"chose_k,omitempty"`
}

// RankError says that the anchors found explain all rows, so that there is no further one.
type RankError struct {
	Rank, K int // anchors found and asked for
	// Of is what the other rows lie in: the "span" of the anchors found (QR, Projected, SPA),
	// their "convex hull" (SNPA, LP) or their "cone" (XRAY).
	Of string
	// Norm is the distance of the farthest other row from that. First is the length of the
	// first anchor's row, or of the longest row if Of is not the span.
	Norm, First float64
}

func (e *RankError) Error() string {
	if e.Of == "span" {
		return fmt.Sprintf("anchor: %d anchors asked for, but the co-occurrence rows have numerical rank %d (the next row is %.3g from the span of the others, the first anchor %.3g long); %s", e.K, e.Rank, e.Norm, e.First, fewer(e.Rank))
	}
	return fmt.Sprintf("anchor: %d anchors asked for, but %d explain all rows: the farthest is %.3g from their %s, the longest row %.3g long; %s", e.K, e.Rank, e.Norm, e.Of, e.First, fewer(e.Rank))
}

// CandidateError says that there are fewer candidates than anchors asked for. A candidate
// is frequent enough, is not excluded, and has a row that was not repaired ([cooc.Rows]).
type CandidateError struct {
	Candidates, K int
	MinDocs       int // what was asked of a candidate
}

func (e *CandidateError) Error() string {
	if e.MinDocs <= 1 {
		return fmt.Sprintf("anchor: %d anchors asked for, but only %d words have a co-occurrence row that can be used", e.K, e.Candidates)
	}
	return fmt.Sprintf("anchor: %d anchors asked for, but only %d words occur in at least %d documents and have a co-occurrence row that can be used; lower the anchors' minimum document frequency or the number of topics", e.K, e.Candidates, e.MinDocs)
}

// fewer is the advice if there are at most k topics.
func fewer(k int) string {
	if k < 2 {
		return "there are no two topics in this data; more documents, or other words, may have some"
	}
	return fmt.Sprintf("ask for at most %d topics", k)
}
