package refine

import (
	"context"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// finish reads the documents once more, scores the final state and fills in the result.
func (s *topics) finish(ctx context.Context, docs documents, res *Result) (err error) {
	s.seeds = nil
	switch {
	case s.groups != nil:
		err = s.sparsen(ctx)
	case s.seeded > 0:
		err = s.learn(ctx)
	}
	if err != nil {
		return err
	}
	counts := s.counts()
	score, err := docs.last(ctx, res)
	if err != nil {
		return err
	}
	s.rows = nil // room for what follows
	if 8*s.n*s.k >= manyBytes {
		runtime.GC() // which otherwise waits until twice as much is in use
	}
	if res.B, err = s.probabilities(ctx, counts); err != nil {
		return err
	}
	res.History = append(res.History, score)
	for t := range res.Alone {
		res.Alone[t] /= linalg.Sum(res.A.RowView(t))
	}
	res.A.Scale(1/linalg.Sum(res.A), res.A)
	if res.Tree = s.tree(); res.Tree != nil {
		s.origin = nil
	}
	res.Alpha, res.From = slices.Repeat([]float64{s.alpha}, s.k), s.origin
	res.Reading, err = s.reading(ctx, res.B)
	return err
}

// sparsen takes from each topic the words with less than leastOfBeta of β: of many topics most words
// have a trace of a token, left by a document's other topics, which says nothing and fills files.
func (s *topics) sparsen(ctx context.Context) error {
	err := s.words(ctx, s.workers, func(i int) {
		row := s.sums.Row(i)
		for t, v := range row {
			if s.tokens(v) < leastOfBeta*s.beta {
				row[t] = 0
			}
		}
	})
	if err != nil {
		return err
	}
	return s.learn(ctx)
}

// reads reports whether documents have enough words each for reading words.
func (s *topics) reads() bool { return s.seen.nonzeros >= docstep.Shortest*int64(s.seen.docs) }

// counts returns the sums, of which most are zero where topics are many.
func (s *topics) counts() *linalg.CSR {
	ptr := make([]int, s.n+1)
	for i := range s.n {
		ptr[i+1] = ptr[i]
		for _, v := range s.sums.Row(i) {
			if v != 0 {
				ptr[i+1]++
			}
		}
	}
	c := &linalg.CSR{RowPtr: ptr, Cols: make([]int32, 0, ptr[s.n]), Vals: make([]float64, 0, ptr[s.n])}
	for i := range s.n {
		for t, v := range s.sums.Row(i) {
			if v != 0 {
				c.Cols, c.Vals = append(c.Cols, int32(t)), append(c.Vals, s.tokens(v))
			}
		}
	}
	return c
}

// probabilities returns p(word | topic), N×K, without the rounding of the rows.
func (s *topics) probabilities(ctx context.Context, counts *linalg.CSR) (*mat.Dense, error) {
	b, none := mat.NewDense(s.n, s.k, nil), make([]float64, s.k)
	for t, v := range s.totals {
		none[t] = s.beta / v
	}
	return b, s.words(ctx, s.workers, func(i int) {
		row := b.RawRowView(i)
		copy(row, none)
		topics, tokens := counts.Row(i)
		for j, t := range topics {
			row[t] = (tokens[j] + s.beta) / s.totals[t]
		}
	})
}

const (
	// leastOfBeta is the least part of β that the tokens of a word are in one of many topics.
	leastOfBeta = 0.5
	// manyBytes of a result are worth a collection of garbage before it is made.
	manyBytes = 1 << 28
)

// reading returns the reading weights of Result: of the sums, where these hold how many documents use each
// word in each topic, and otherwise of the topics b.
func (s *topics) reading(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	if !s.reads() && s.function == nil {
		return b, nil
	}
	out := mat.NewDense(s.n, s.k, nil)
	if s.reads() {
		if err := s.weigh(ctx, out); err != nil {
			return nil, err
		}
	} else {
		out.Copy(b)
	}
	scale := make([]float64, s.k)
	err := s.words(ctx, 1, func(i int) {
		row := out.RawRowView(i)
		if s.function != nil && s.function[i] {
			clear(row)
		}
		floats.Add(scale, row)
	})
	if err != nil {
		return nil, err
	}
	for t, v := range scale {
		if v == 0 { // no word has weight: the most probable ones rank
			for i, is := range s.function {
				if !is {
					out.Set(i, t, b.At(i, t))
					scale[t] += b.At(i, t)
				}
			}
		}
		if scale[t] > 0 {
			scale[t] = 1 / scale[t]
		}
	}
	return out, s.words(ctx, s.workers, func(i int) { floats.Mul(out.RawRowView(i), scale) })
}

// weigh sets the reading weights of all words, before they are scaled.
func (s *topics) weigh(ctx context.Context, to *mat.Dense) error {
	shares, words := make([]float64, s.k), make([]float64, s.n)
	err := s.words(ctx, 1, func(i int) {
		for t, v := range s.sums.Row(i) {
			shares[t] += s.tokens(v)
			words[i] += s.tokens(v)
		}
	})
	if err != nil {
		return err
	}
	all := vec.Sum(shares)
	return s.words(ctx, s.workers, func(i int) {
		if words[i] == 0 { // it is in no document
			return
		}
		row, idf := to.RawRowView(i), arith.Log(s.seen.weight/s.seen.df[i])
		for t, v := range s.sums.Row(i) {
			v := s.tokens(v)
			row[t] = docstep.Weight(v, v/words[i]*all/shares[t], idf)
		}
	})
}
