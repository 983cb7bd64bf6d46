package refine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	smoothing  = 0.01 // the share of the unigram distribution in the first B and in scores of hidden tokens
	rowsAtOnce = 256  // of a matrix, by a goroutine
)

// prior is what a refinement adds to counts, and when it ends.
type prior struct {
	alpha, beta float64 // of each topic in a document, and of each word in a topic, in tokens
	gain        float64 // the least gain of log-likelihood for each hidden token and pass
}

// String names the settings, with α for any K.
func (p prior) String() string {
	alpha := fmt.Sprintf("%v/K", alphaSum)
	if p.alpha > 0 {
		alpha = fmt.Sprint(p.alpha)
	}
	s := fmt.Sprintf("alpha %s, beta %v", alpha, p.beta)
	if p.gain >= 0 {
		s += fmt.Sprintf(", gain %v", p.gain)
	}
	return s
}

// topics are the topics of a refinement, and what they are made from.
type topics struct {
	prior
	workers int
	n, k    int   // k counts the columns of everything, those of merged topics among them
	want    int   // topics
	alive   []int // the columns of the topics that there are, ascending
	origin  []int // for each of them, the column of the start that it was; if merged, of the larger
	settled int   // passes until the last merge

	rows    *estep.Rows    // N×K, the topics
	sums    blas64.General // N×K, the tokens by word and topic that the topics are made from
	unigram []float32      // N: p(word)
	totals  []float64      // K: β·N + the tokens of each topic
}

// newTopics checks a start and what is asked for.
func newTopics(p prior, start Start, opt Options) (topics, error) {
	if err := start.check(); err != nil {
		return topics{}, err
	}
	s := topics{prior: p, workers: opt.Workers, want: opt.K}
	s.n, s.k = start.B.Dims()
	if s.want == 0 {
		s.want = s.k
	}
	if s.want < 1 || s.want > s.k {
		return s, fmt.Errorf("refine: %d topics of a start with %d; want at most as many, or 0 for all", s.want, s.k)
	}
	if s.alpha == 0 {
		s.alpha = alphaSum / float64(s.want)
	}
	return s, nil
}

// make makes the first topics, for words with so many tokens each.
func (s *topics) make(ctx context.Context, start Start, words []float64) error {
	s.alive, s.origin = make([]int, s.k), make([]int, s.k)
	for t := range s.k {
		s.alive[t], s.origin[t] = t, t
	}
	s.totals, s.unigram = make([]float64, s.k), make([]float32, s.n)
	s.sums, s.rows = linalg.NewGeneral(s.n, s.k), estep.NewRows(s.n, s.k)
	all := vec.Sum(words) + s.beta*float64(s.n)
	return s.words(ctx, s.workers, func(i int) {
		row, from := s.rows.Row(i), start.B.RawRowView(i)
		unigram := (words[i] + s.beta) / all
		for t := range row {
			row[t] = float32((1-smoothing)*from[t] + smoothing*unigram)
		}
		s.unigram[i] = float32(unigram)
	})
}

// words calls do for each word, by so many goroutines; one takes them in order.
func (s *topics) words(ctx context.Context, workers int, do func(i int)) error {
	return run.Chunks(ctx, s.n, rowsAtOnce, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			do(i)
		}
		return nil
	})
}

// learn makes the topics from the sums.
func (s *topics) learn(ctx context.Context) error {
	totals := linalg.NewGeneral(run.Count(s.n, rowsAtOnce), s.k)
	err := run.Chunks(ctx, s.n, rowsAtOnce, s.workers, func(_, chunk, lo, hi int) error {
		total := linalg.Row(totals, chunk)
		for i := lo; i < hi; i++ {
			for t, v := range linalg.Row(s.sums, i) {
				total[t] += v
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
	scales := make([]float64, s.k)
	for _, t := range s.alive {
		s.totals[t] += s.beta * float64(s.n)
		if v := s.totals[t]; !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("topic %d has %v tokens", t, v)
		}
		scales[t] = 1 / s.totals[t]
	}
	return s.words(ctx, s.workers, func(i int) {
		row := s.rows.Row(i)[:s.k]
		for t, v := range linalg.Row(s.sums, i) {
			row[t] = float32((v + s.beta) * scales[t])
		}
	})
}

// probabilities returns p(word | topic), N×K, which are those of the rows but for rounding.
func (s *topics) probabilities(ctx context.Context) (*mat.Dense, error) {
	b := mat.NewDense(s.n, s.k, nil)
	return b, s.words(ctx, s.workers, func(i int) {
		row := b.RawRowView(i)
		for t, v := range linalg.Row(s.sums, i) {
			row[t] = (v + s.beta) / s.totals[t]
		}
	})
}

// breve returns p(topic | word), N×K, by Bayes' rule from B and the topic shares A·1.
func (s *topics) breve(ctx context.Context, res *Result) (*mat.Dense, error) {
	breve, shares := mat.NewDense(s.n, s.k, nil), make([]float64, s.k)
	for t := range shares {
		for _, v := range res.A.RawRowView(t) {
			shares[t] += v
		}
	}
	return breve, s.words(ctx, s.workers, func(i int) {
		vec.Posterior(breve.RawRowView(i), res.B.RawRowView(i), shares)
	})
}

const (
	// certain is how many standard deviations below its mean the number of documents that
	// use a word in a topic is taken.
	certain = 2
	// shortest is how many distinct words documents need on average for reading words
	// that differ from the most probable ones.
	shortest = 8
)

// reading makes the reading weights of Result of the sums, which hold how many of so many
// documents use each word in each topic. df are the documents of each word.
func (s *topics) reading(ctx context.Context, docs float64, df []float64) (*mat.Dense, error) {
	out, scale := mat.NewDense(s.n, s.k, s.sums.Data), make([]float64, s.k)
	shares, all := make([]float64, s.k), 0.0
	err := s.words(ctx, 1, func(i int) { floats.Add(shares, out.RawRowView(i)) })
	if err != nil {
		return nil, err
	}
	for _, v := range shares {
		all += v
	}
	err = s.words(ctx, 1, func(i int) {
		row := out.RawRowView(i)
		word := floats.Sum(row)
		if word == 0 { // it is in no document
			return
		}
		idf := math.Log(docs / df[i])
		for t, v := range row {
			lift := v / word * all / shares[t]
			row[t] = 0
			if v > certain*certain && lift > 1 {
				row[t] = (v - certain*math.Sqrt(v)) * math.Log(lift) * idf
				scale[t] += row[t]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for t, v := range scale {
		if v > 0 {
			scale[t] = 1 / v
		}
	}
	return out, s.words(ctx, s.workers, func(i int) { floats.Mul(out.RawRowView(i), scale) })
}

const (
	// gainPasses is over how many passes a gain is measured. Topics that move by halves
	// of the documents make single gains uneven.
	gainPasses = 4
	// fewest is how many passes come before the last two at least. A start that has seen
	// the hidden tokens, as that of jsmf.Published has, takes as long to forget them.
	fewest = 24
	// settling is how many passes topics take at least to settle after they were merged.
	settling = 8
)

// gainsLittle tells whether the watched documents gained too little in the last passes.
func (s *topics) gainsLittle(h []Score) bool {
	n := len(h)
	return len(s.alive) == s.want && n >= max(fewest, s.settled+settling) &&
		h[n-1].HeldOut-h[n-1-gainPasses].HeldOut < gainPasses*s.gain // never with NaN
}

// fit makes passes, of the number limit at most, and finishes the result. pass makes pass t of
// end, counted from 0.
func (s *topics) fit(ctx context.Context, res *Result, limit int, opt Options, pass func(ctx context.Context, t, end int) (Score, error), finish func(context.Context, *Result) error) (*Result, error) {
	end := limit // moves forward when the gain is small
	for t := 0; t < end; t++ {
		merges := s.mergesAfter(t, end)
		score, err := pass(ctx, t, end)
		if err != nil {
			return nil, fmt.Errorf("refine: pass %d: %w", t+1, err)
		}
		if merges {
			s.settled = t + 1
		}
		res.Passes++
		res.History = append(res.History, score)
		if t+1+closingPasses < end && s.gainsLittle(res.History) {
			end, res.Early = t+1+closingPasses, true
		}
		if opt.Progress != nil {
			opt.Progress(res.Passes, end, score.LogLik)
		}
	}
	begun := time.Now()
	if err := finish(ctx, res); err != nil {
		return nil, fmt.Errorf("refine: after the last pass: %w", err)
	}
	res.LastRead = time.Since(begun)
	return res, ctx.Err()
}

// describe fills in what follows from res.B and res.A. With reading the sums hold how many of
// so many documents use each word in each topic; df are the documents of each word.
func (s *topics) describe(ctx context.Context, res *Result, reading bool, docs float64, df []float64) (err error) {
	res.Alpha, res.From, res.Reading = slices.Repeat([]float64{s.alpha}, s.k), s.origin, res.B
	if res.Breve, err = s.breve(ctx, res); err == nil && reading {
		res.Reading, err = s.reading(ctx, docs, df)
	}
	return err
}

// longEnough tells whether so many documents, with so many nonzero counts in all, have enough
// words each for reading words.
func longEnough(nonzeros int64, docs int) bool { return nonzeros >= shortest*int64(docs) }
