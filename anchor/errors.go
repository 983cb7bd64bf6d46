package anchor

import "fmt"

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
