package anchor

import "fmt"

// RankError says that the rows do not span as many dimensions as anchors were
// asked for.
type RankError struct {
	Rank, K int
	// Norm is the distance of the next best row from the span of the Rank rows
	// found, First that of the first anchor from the origin, both in C̄.
	Norm, First float64
}

func (e *RankError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but the co-occurrence rows have numerical rank %d (the next row is %.3g from the span of the others, the first anchor %.3g long); %s", e.K, e.Rank, e.Norm, e.First, fewer(e.Rank))
}

// CandidateError says that there are fewer candidates than anchors asked for. A candidate
// is frequent enough, is not excluded, and has a row that was not mended (cooc.Rows).
type CandidateError struct {
	Candidates, K int
	MinDocs       int // what was asked of a candidate
}

func (e *CandidateError) Error() string {
	if e.MinDocs == 0 {
		return fmt.Sprintf("anchor: %d anchors asked for, but only %d words have a co-occurrence row that can be used", e.K, e.Candidates)
	}
	return fmt.Sprintf("anchor: %d anchors asked for, but only %d words occur in at least %d documents and have a co-occurrence row that can be used; lower the anchors' minimum document frequency or the number of topics", e.K, e.Candidates, e.MinDocs)
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
	return fmt.Sprintf("anchor: %d anchors asked for, but %d explain all rows: the farthest is %.3g from their %s, the longest row %.3g long; %s", e.K, e.Found, e.Distance, e.Of, e.First, fewer(e.Found))
}

// fewer is the advice where there are at most k topics.
func fewer(k int) string {
	if k < 2 {
		return "there are no two topics in this data; more documents, or other words, may have some"
	}
	return fmt.Sprintf("ask for at most %d topics", k)
}
