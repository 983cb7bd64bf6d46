package refine

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// How topics move is in this file, what a document says of them in package docstep: a change of
// the rule is a change of these, on one machine and on many.
//
// With one step of EM for each document and topics made from all documents, hundreds of passes
// would be needed. Three things make them fewer:
//
//   - Halves (Passes). The topics move after each half of the documents: twice a pass.
//     They keep a quarter of what they were made from before, since a half says less
//     than all documents.
//   - Over-relaxed topics (Batch). The topics move 1.8 times as far as the documents say,
//     because halves would double the number of jobs.
//   - Over-relaxed documents. In each pass of Batch the topic counts of a document are found anew, by
//     steps that move twice as far as those of EM in logarithms (docstep.Document.Settle). Those of
//     Passes move that far once topics were split (docstep.Document.Relax).
//
// Under a logistic-normal prior (correlated.go) the topics of Passes move by quarters where there are
// manyTokens, and otherwise by halves, those of Batch as far as the documents say, and the covariance
// twice as far. Passes under this prior end long before topics are at rest, and quarters bring them
// about as near as twice the passes; but quarters of few tokens say too little.
//
// The first pass, whose documents know little, and the last two, which take the hidden tokens
// too, move the topics exactly to what all documents say.
const (
	// freshShare of the topics comes from the part of the documents that was read last.
	freshShare = 0.75
	// relaxed is how much farther than the documents say the topics move, as a share of the
	// way; minLeft of what the documents say is left in any case.
	relaxed, minLeft = 0.8, 0.1
	// closingPasses take all documents at once, with the hidden tokens.
	closingPasses = 2
	// manyTokens are enough for quarters of the documents.
	manyTokens = 500000
	// leftOfMasked is what is left in a topic of a word that it is to be without. It is not 0, for a document may have no other
	// topic for it.
	leftOfMasked = 1e-6
	// Logarithms take a sixth of the time of a pass: of manyDocs documents or more only one in
	// scoredOf is scored.
	scoredOf, manyDocs = 8, 1000
)

// blend returns by what the sums, and by what the counts of one of the parts of the documents, are
// multiplied before they are added.
func (s *topics) blend(part, parts int) (keep, scale float64) {
	all := float64(int(1) << s.thin)
	if parts == 1 {
		return 0, all
	}
	all *= s.seen.learned() / s.seen.halves[part%2] * float64(parts/2)
	return 1 - freshShare, freshShare * all
}

// relax returns what a number of tokens becomes where documents say that it is fresh.
func relax(before, fresh float64) float64 {
	return max(fresh+float64(relaxed*(fresh-before)), minLeft*fresh)
}

// tokens returns what a number of the sums stands for.
func (s *topics) tokens(v float32) float64 { return float64(s.seen.unit * float64(v)) }

// learn makes the topics from the sums.
func (s *topics) learn(ctx context.Context) error {
	totals := linalg.NewGeneral(parallel.Count(s.n, rowsAtOnce), s.k)
	err := parallel.Chunks(ctx, s.n, rowsAtOnce, s.workers, func(_, chunk, lo, hi int) error {
		total := linalg.Row(totals, chunk)
		for i := lo; i < hi; i++ {
			for t, v := range s.sums.Row(i) {
				total[t] += float64(v)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	clear(s.totals)
	for i := range totals.Rows {
		floats.Add(s.totals, linalg.Row(totals, i))
	}
	scales, tokens := make([]float64, s.k), make([]float64, len(s.seeds))
	for _, t := range s.alive {
		s.totals[t] *= s.seen.unit
		if t < len(s.seeds) {
			tokens[t] = s.totals[t]
			for _, x := range s.seeds[t] {
				s.totals[t] += float64(x.Share * tokens[t])
			}
		}
		s.totals[t] += float64(s.beta * float64(s.n))
		if v := s.totals[t]; !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
		scales[t] = 1 / s.totals[t]
	}
	err = s.words(ctx, s.workers, func(i int) {
		row := s.rows.Row(i)
		for t, v := range s.sums.Row(i) {
			row[t] = float32((s.tokens(v) + s.beta) * scales[t])
		}
	})
	for t, words := range s.seeds {
		for _, x := range words {
			s.rows.Row(x.Word)[t] = float32((s.tokens(s.sums.Row(x.Word)[t]) + s.beta + float64(x.Share*tokens[t])) * scales[t])
		}
	}
	s.mask()
	return err
}

// mask takes from topics the words that they are to be without.
func (s *topics) mask() {
	for t, words := range s.without {
		for _, w := range words {
			s.rows.Row(w)[t] *= leftOfMasked
		}
	}
}
