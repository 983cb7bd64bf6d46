package refine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	smoothing  = docstep.Smoothing // the share of the unigram distribution in the first B, too
	rowsAtOnce = 256               // of a matrix, by a goroutine
)

// prior is what a refinement adds to counts, and when it ends.
type prior struct {
	asked, beta float64 // of each topic in a document, 0 for alphaSum in all, and of each word in a topic, in tokens
	gain        float64 // the least gain of log-likelihood for each hidden token and pass
}

// String names the settings, with α for any K.
func (p prior) String() string {
	alpha := fmt.Sprintf("%v/K", alphaSum)
	if p.asked > 0 {
		alpha = fmt.Sprint(p.asked)
	}
	s := fmt.Sprintf("alpha %s, beta %v", alpha, p.beta)
	if p.gain >= 0 {
		s += fmt.Sprintf(", gain %v", p.gain)
	}
	return s
}

// alphaOf returns α for k topics.
func (p prior) alphaOf(k int) float64 { return cmp.Or(p.asked, alphaSum/float64(k)) }

// topics are the topics of a refinement, and what they are made from.
type topics struct {
	prior
	workers int
	alpha   float64 // of each topic in a document, in tokens
	n, k    int     // k counts the columns of everything, those of merged topics among them
	want    int     // topics
	alive   []int   // the columns of the topics that there are, ascending
	origin  []int   // for each of them, the column of the start that it was; if merged, of the larger
	settled int     // passes until the last merge
	far     bool    // documents move twice as far in this pass as it says
	thin    int     // one of 2^thin documents is read; 0: all
	// thinnest returns how thin they may be while k topics are on their way to be split; nil: all are read.
	thinnest func(k int) int
	// groups has for each level above the topics the group of each column; nil: topics were not split.
	groups [][]int

	info     corpus.Info // of the documents
	seen     *census
	function []bool   // Options.Function
	seeds    [][]Seed // Options.Seeds, of the first columns; nil after the last pass
	without  [][]int  // Options.Without, of the first columns
	seeded   int      // how many topics have either

	rows    *estep.Rows // N×K, the topics
	sums    *estep.Rows // N×K, the tokens by word and topic that the topics are made from, in units of seen.unit
	unigram []float32   // N: p(word)
	totals  []float64   // K: β·N + the tokens of each topic

	given  *logisticnormal.Prior // of the start; nil: none
	normal *logisticnormal.Prior // nil before the passes under it
	// family has the family of each column, where the prior is one of families; nil before the passes
	// under it. givenFamily are those of the start's prior.
	family, givenFamily []int
}

// newTopics checks the input and what is asked for.
func newTopics(p prior, docs corpus.Source, start Start, opt Options) (*topics, error) {
	if docs == nil {
		return nil, errors.New("refine: no documents")
	}
	if err := start.check(); err != nil {
		return nil, err
	}
	s := &topics{prior: p, workers: opt.Workers, want: opt.K, function: opt.Function}
	s.n, s.k = start.B.Dims()
	if len(s.function) > 0 && len(s.function) != s.n {
		return nil, fmt.Errorf("refine: function words among %d words; the topics have %d", len(s.function), s.n)
	}
	if s.want == 0 {
		s.want = s.k
	}
	most := max(s.k, s.n)
	if s.want < 1 || s.want > most {
		return nil, fmt.Errorf("refine: %d topics of a start with %d and %d words; want at most %d, or 0 for those of the start", s.want, s.k, s.n, most)
	}
	if err := s.seed(opt.Seeds, opt.Without); err != nil {
		return nil, err
	}
	if start.Tree != nil {
		for _, g := range start.Tree.Groups {
			s.groups = append(s.groups, slices.Clone(g))
		}
	}
	if start.Prior != nil && s.want != s.k {
		return nil, fmt.Errorf("refine: a start with a prior has %d topics; want %d", s.k, s.want)
	}
	if start.Prior != nil {
		var err error
		if s.given, err = logisticnormal.From(start.Prior.Mean, start.Prior.Covariance, start.Prior.Information); err != nil {
			return nil, fmt.Errorf("refine: %w", err)
		}
		s.givenFamily = start.Prior.Families
	}
	s.alpha = p.alphaOf(min(s.k, s.want))
	return s, nil
}

// seed checks and takes the words of seeded topics, and those that topics are to be without.
func (s *topics) seed(seeds [][]Seed, without [][]int) error {
	s.seeds, s.without, s.seeded = seeds, without, max(len(seeds), len(without))
	if s.seeded > min(s.k, s.want) {
		return fmt.Errorf("refine: seeds of %d topics; want at most the %d of the start and the %d asked for", s.seeded, s.k, s.want)
	}
	for t, words := range seeds {
		seen := map[int]bool{}
		for _, x := range words {
			if x.Word < 0 || x.Word >= s.n || seen[x.Word] {
				return fmt.Errorf("refine: seed %d of topic %d is there twice, or not in [0, %d)", x.Word, t, s.n)
			}
			if seen[x.Word] = true; !(x.Share >= 0 && x.Share <= 1) {
				return fmt.Errorf("refine: seed %d of topic %d has a share of %v; want 0 to 1", x.Word, t, x.Share)
			}
		}
	}
	for t, words := range without {
		if i := slices.IndexFunc(words, func(w int) bool { return w < 0 || w >= s.n }); i >= 0 {
			return fmt.Errorf("refine: word %d, which topic %d is to be without, is not in [0, %d)", words[i], t, s.n)
		}
	}
	return nil
}

// begin counts the documents and makes the first topics.
func (s *topics) begin(ctx context.Context, docs sums.Documents, start Start) (err error) {
	s.info = docs.Info()
	for w, df := range s.info.DocFrequencies {
		if w >= s.n && df > 0 {
			return fmt.Errorf("the documents have a word %d, the topics %d rows", w, s.n)
		}
	}
	if s.seen, err = takeCensus(ctx, docs, s.n, s.gain >= 0); err != nil {
		return err
	}
	words := slices.Clone(s.seen.words)
	floats.Scale(s.seen.unit, words)
	s.number()
	s.unigram = make([]float32, s.n)
	s.sums, s.rows = estep.NewRows(s.n, s.k), estep.NewRows(s.n, s.k)
	all := vec.Sum(words) + float64(s.beta*float64(s.n))
	defer s.mask()
	return s.words(ctx, s.workers, func(i int) {
		row, from := s.rows.Row(i), start.B.RawRowView(i)
		unigram := (words[i] + s.beta) / all
		for t := range row {
			row[t] = float32(float64((1-smoothing)*from[t]) + float64(smoothing*unigram))
		}
		s.unigram[i] = float32(unigram)
	})
}

// number makes each column a topic, of which nothing is known yet.
func (s *topics) number() {
	s.alive, s.origin, s.totals = make([]int, s.k), make([]int, s.k), make([]float64, s.k)
	for t := range s.k {
		s.alive[t], s.origin[t] = t, t
	}
}

// local returns documents on this machine, added up by at most maxSlots goroutines.
func (s *topics) local(e *corpus.Encoded) *sums.Local {
	return sums.NewLocal(e, parallel.Workers(s.workers, maxSlots))
}

// words calls do for each word; with one worker in order.
func (s *topics) words(ctx context.Context, workers int, do func(i int)) error {
	return parallel.Chunks(ctx, s.n, rowsAtOnce, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			do(i)
		}
		return nil
	})
}

const (
	// gainPasses is over how many passes a gain is measured: single gains are uneven, since
	// topics move by halves of the documents.
	gainPasses = 4
	// minPasses come before the last two. A start that has seen the hidden tokens, as that
	// of jsmf.Published has, takes that long to forget them. Where passes under another prior
	// follow, minBefore come before these.
	minPasses, minBefore = 24, 12
	// settling is the least number of passes after a merge.
	settling = 8
)

// gainsLittle reports whether hidden tokens gained too little in the last passes, of which there
// are to be at least fewest. Where too few tokens would be hidden, all tokens count.
func (s *topics) gainsLittle(h []Score, fewest int) bool {
	if s.gain < 0 || len(s.alive) != s.want || len(h) < max(fewest, s.settled+settling) {
		return false
	}
	of := heldOut
	if !s.seen.hides {
		of = logLik
	}
	least := s.gain
	if s.far {
		least *= 2
	}
	return grows(h, gainPasses, of) < least
}

func heldOut(s Score) float64 { return s.HeldOut }
func logLik(s Score) float64  { return s.LogLik }

// grows returns the gain of a likelihood as the mean of the last passes.
func grows(h []Score, passes int, of func(Score) float64) float64 {
	n := len(h)
	return (of(h[n-1]) - of(h[n-1-passes])) / float64(passes)
}

// turn is a pass among others.
type turn struct {
	first   bool // documents have no tokens by topic yet
	begins  bool // the first pass with its topics: topics of all documents
	closing bool // one of the last two
	merge   bool // topics are merged after it
	splits  bool // topics are split after it
}

// whole reports whether it takes all documents at once.
func (t turn) whole() bool { return t.begins || t.closing || t.merge }

// documents are read once a pass, move the sums of the topics, and make the topics anew: in
// stripes of float32 numbers (stripes), or by plans that add up whole numbers (plans).
type documents interface {
	// pass makes a pass and returns the score of the topics before it.
	pass(ctx context.Context, t turn) (Score, error)
	// split makes k topics of those that there are, and leaves documents their tokens.
	split(ctx context.Context, k int) error
	// candidates returns the n pairs of topics that seem the cheapest to merge, with their costs.
	candidates(ctx context.Context, n int) ([]merged, error)
	// joined makes one topic of each of the pairs in all that is kept besides the sums; done says
	// that no more will be merged.
	joined(ctx context.Context, pairs []merged, done bool) error
	// correlated makes pass t, counted from 0, of those under the logistic-normal prior, and returns the
	// moments of the logits that it found.
	correlated(ctx context.Context, t int, closing bool) (Score, logits, error)
	// last sets res.A, not scaled, and the sums to how many documents use each word in each topic.
	last(ctx context.Context, res *Result) (Score, error)
}

// fit makes at most limit passes, and as many under a logistic-normal prior as are asked for, and
// finishes the result.
func (s *topics) fit(ctx context.Context, docs documents, limit, correlated int, opt Options) (*Result, error) {
	res := &Result{Stats: Stats{Beta: s.beta, Docs: s.seen.docs, HeldOut: s.seen.heldOut, Tokens: s.seen.tokens}}
	closing, fewest, asked := closingPasses, minPasses, correlated > 0
	if correlated = s.correlatedPasses(correlated); correlated > 0 {
		closing, fewest = 0, minBefore
		if s.given != nil {
			limit = 0
		}
	}
	levels := s.levels(s.surplus())
	before := splitPasses * len(levels)
	if before > 0 { // of a split topic hidden tokens know nothing that is to be forgotten
		fewest = minBefore
	}
	for i, k := range levels {
		if s.thinnest != nil {
			s.thin = s.thinnest(s.k)
		}
		for t := range splitPasses {
			score, err := docs.pass(ctx, turn{first: i+t == 0, begins: t == 0, splits: t == splitPasses-1})
			if err == nil && t == splitPasses-1 {
				err = docs.split(ctx, k)
			}
			if err != nil {
				return nil, fmt.Errorf("refine: pass %d: %w", res.Passes+1, err)
			}
			res.Passes++
			res.History = append(res.History, score)
			if opt.Progress != nil {
				opt.Progress(res.Passes, before+limit+correlated, score.LogLik)
			}
		}
	}
	s.thin = 0
	fewest += before
	limit += before
	end := limit // moves forward when the gain is small
	for t := before; t < end; t++ {
		merge := s.mergesAfter(t-before, end-before)
		score, err := docs.pass(ctx, turn{first: t == 0, begins: t == before, closing: t >= end-closing, merge: merge})
		if err == nil && merge {
			err = s.merge(ctx, docs, t == end-1)
			s.settled = t + 1
		}
		if err != nil {
			return nil, fmt.Errorf("refine: pass %d: %w", t+1, err)
		}
		res.Passes++
		res.History = append(res.History, score)
		if t+1+closing < end && s.gainsLittle(res.History, fewest) {
			end, res.Early = t+1+closing, true
		}
		if opt.Progress != nil {
			opt.Progress(res.Passes, end+correlated, score.LogLik)
		}
	}
	if correlated > 0 {
		if err := s.correlate(ctx, docs, res, correlated, !asked, opt); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	if err := s.finish(ctx, docs, res); err != nil {
		return nil, fmt.Errorf("refine: after the last pass: %w", err)
	}
	res.LastRead = time.Since(begun)
	return res, ctx.Err()
}
