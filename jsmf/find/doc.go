// Package find answers questions about a fitted model: the documents of a topic, the topics of a
// document, what is similar to a document, a word or a topic, which items to recommend, and which
// words a document has its topics from.
//
// [Documents] is made of the topic proportions of documents ([jsmf.Model.Transform]), [Words] of a
// model alone. Both are prepared once and are safe for concurrent use. Every search compares all
// documents, words or topics; nothing is approximate.
//
// # Similarity
//
// Documents, words and topics are compared as distributions p and q: the topics of a document,
// p(topic | word) of a word, p(word | topic) of a topic. Their similarity is the Bhattacharyya
// coefficient
//
//	Σ_i √(p_i q_i) = 1 − H²,
//
// where H is the Hellinger distance. It is 1 if p and q are equal and 0 if they have nothing in
// common. Unlike the Kullback–Leibler divergence it is symmetric and needs no smoothing of zeros,
// and small entries count for more than in the cosine.
package find

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/errs"
)

// Match is a document, a word or a topic that was found.
type Match struct {
	Index int     // row of Compositions.W, number of the word, or number of the topic
	Name  string  // id of the document, the word, or name of the topic
	Score float64 // what it was ranked by: see the method
}

func errorf(format string, args ...any) error { return errs.Errorf("find", format, args...) }

func wrap(err error) error { return errs.Wrap("find", err) }

// errNoModel is that of constructors without a model.
var errNoModel = errors.New("find: no model")

// best collects the n matches of highest score, ties by lowest index.
type best struct {
	n      int
	found  []Match // at most 2n
	lowest float64 // score that a match needs to be among the n best so far
}

func newBest(n int) (*best, error) {
	if n < 1 {
		return nil, fmt.Errorf("the best %d; want at least 1", n)
	}
	return &best{n: n, lowest: math.Inf(-1)}, nil
}

// add takes matches by ascending index, so that one with the lowest score comes too late.
func (b *best) add(index int, score float64) {
	if len(b.found) >= b.n && score <= b.lowest {
		return
	}
	if b.found = append(b.found, Match{Index: index, Score: score}); len(b.found) >= 2*b.n {
		b.cut()
	}
}

// cut keeps the n best, best first.
func (b *best) cut() {
	slices.SortFunc(b.found, func(x, y Match) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Index, y.Index))
	})
	b.found = b.found[:min(b.n, len(b.found))]
	if len(b.found) == b.n {
		b.lowest = b.found[b.n-1].Score
	}
}

// list returns the n best with their names, best first.
func (b *best) list(name func(int) string) []Match {
	b.cut()
	for i := range b.found {
		b.found[i].Name = name(b.found[i].Index)
	}
	return b.found
}

// roots writes the square roots of the entries of p, scaled to sum 1, to dst, and returns whether
// it can: entries are finite and not negative, and not all 0.
func roots(dst, p []float64) bool {
	sum := 0.0
	for _, x := range p {
		if !(x >= 0) {
			return false
		}
		sum += x
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return false
	}
	for i, x := range p {
		dst[i] = math.Sqrt(x / sum)
	}
	return true
}
