package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/bytesize"
)

// Sweep says how many topics documents carry: see Grid.
type Sweep struct {
	// K is the number of topics to take, 0 if the documents have no topics. It cannot be told apart
	// from the numbers from Low to High.
	K, Low, High int

	// Why says so in sentences, with numbers.
	Why string

	// Model is that of Fit with K topics to all documents, nil if K is 0.
	Model *Model

	// Points holds a point for each number tried, ascending.
	Points []SweepPoint

	// Documents were held out, each once, with Words hidden words.
	Documents, Words int

	Total time.Duration
}

// SweepPoint is one number of topics of a Sweep: three models, each of two thirds of the documents.
type SweepPoint struct {
	K int

	// PerWord is the mean of ln p over the hidden words. Behind is how much less that is than the
	// largest of the sweep, and Error the standard error of this difference, 0 for the largest: that
	// over documents, or that over the three models if it is larger.
	PerWord, Behind, Error float64

	// Back is how many topics of a model are sound (see metrics.Verdicts) and come back in another
	// of the three, where their match (see metrics.Match) shares at least half of the weights of
	// their reading words (Model.Reading): the mean over the pairs of models. BackError is its standard
	// error.
	Back, BackError float64

	// NPMI is the mean of the topics' coherence (see metrics.Verdict).
	NPMI float64

	Time time.Duration

	// Why says in a few words what speaks for this number or against it.
	Why string

	// Err says why there are no such models, such as a *anchor.RankError if the data has too few
	// dimensions. The numbers above are 0 then.
	Err error
}

// Grid finds how many topics documents carry. The zero value chooses the numbers that it tries.
type Grid struct {
	// K are the numbers of topics to try, distinct and at least 2. Without any, they are 5, 7, 10, 14,
	// 20 and so on by the factor √2, until the two after the number to take are tried; then the numbers
	// in the middle between it and its neighbours. There are no more topics than 1000 or a twentieth of
	// the documents.
	K []int
}

// Run makes the Sweep of the stages of p, which must have K = 0: New(0).
//
// Documents are divided into thirds by their ids (by place where there is none), and each is held
// out once. For each K a model of the others is fitted, without From. It sees every second word of a
// held-out document and predicts the hidden ones, each counted once; weights of documents do not
// matter to the score.
//
// Only numbers count with which at least half of the topics come back ([SweepPoint].Back); if there
// is none, all do. Those that predict the hidden words as well as the best of them, within one
// standard error, remain (Breiman et al., Classification and Regression Trees, 1984). Of these K is
// the one with which most topics more come back than do not. If with
// no number half of the topics come back, and none predicts better than the frequencies of words alone
// by two standard errors, there are no topics.
//
// Low to High are the numbers that also remain if errors are doubled, and those that two of the
// thirds would choose by themselves. A grid has gaps of its own: of the numbers between two that
// were tried nothing is known.
//
// Recorders get [StageSweep], with the topics fitted as progress, and then the stages of the
// Model's fit. Memory: a fit to all documents with the largest K, 24·N·K bytes for the topics of three models, and
// the documents twice. Errors: those of Validate, a Pipeline with a K, a bad number, an input whose documents
// cannot be held out because there are none or they are on other machines, those of Fit, and that of
// the first K if there are models of none.
func (g Grid) Run(ctx context.Context, p Pipeline, in Input) (_ *Sweep, err error) {
	begun := time.Now()
	if err := p.unset("sweep"); err != nil {
		return nil, err
	}
	if err := g.check(p); err != nil {
		return nil, err
	}
	defer while("sweep", &err)
	t, err := p.K(2).thirds(ctx, in)
	if err != nil {
		return nil, err
	}
	ks := slices.Sorted(slices.Values(g.K))
	if len(ks) == 0 {
		ks = t.numbers()
	}
	tr := &tracker{recorders: p.recorders}
	var s *Sweep
	err = tr.run(nil, StageSweep, t.announce(ks), func() (string, error) {
		if err := t.search(ctx, tr, ks, len(g.K) > 0); err != nil {
			return "", err
		}
		s = t.sweep(len(g.K) > 0)
		return s.Why, nil
	})
	if err != nil {
		return nil, err
	}
	if s.K > 0 {
		if s.Model, err = p.K(s.K).Fit(ctx, in); err != nil {
			return nil, err
		}
	}
	s.Total = time.Since(begun)
	return s, nil
}

// unset returns an error if the Pipeline has a number of topics, which what sets itself.
func (p Pipeline) unset(what string) error {
	if p.k != 0 {
		return errorf("%s: the Pipeline has K = %d, and a %[1]s sets K itself: give it one with K(0)", what, p.k)
	}
	return nil
}

// check reports all bad settings.
func (g Grid) check(p Pipeline) error {
	var errs []error
	for i, k := range g.K {
		if k < 2 {
			errs = append(errs, errorf("sweep: K = %d topics; want at least 2", k))
		}
		if slices.Contains(g.K[:i], k) {
			errs = append(errs, errorf("sweep: K = %d is there twice", k))
		}
	}
	return errors.Join(append(errs, p.K(2).validate())...)
}

const (
	gridFrom   = 5  // topics that the chosen numbers begin with
	gridDocs   = 20 // documents for each topic, at least
	gridMax    = 1000
	gridBeyond = 2 // numbers that are tried after the one to take
)

// numbers returns the numbers that may be tried where none are given.
func (t *trial) numbers() (ks []int) {
	highest := max(gridFrom, min(gridMax, t.docs.NumDocs()/gridDocs, t.docs.NumWords()/2))
	for i := 0.; ; i++ {
		k := int(math.Round(gridFrom * math.Pow(2, i/2)))
		if k > highest {
			return ks
		}
		ks = append(ks, k)
	}
}

// announce says what a search begins with.
func (t *trial) announce(ks []int) string {
	last := ks[len(ks)-1]
	e, _ := t.p.K(last).estimate(t.p.sizeOf(t.docs))
	return fmt.Sprintf("K = %d to %d, %d models each, of up to %s", ks[0], last, len(t.parts), bytesize.String(e.Bytes))
}

// search tries numbers of topics: all that are given, or of ks as many as it takes.
func (t *trial) search(ctx context.Context, tr *tracker, ks []int, given bool) error {
	done := 0
	for {
		left := t.plan(ks, given)
		if len(left) == 0 {
			break
		}
		total := done
		for _, k := range left {
			total += k * len(t.parts)
		}
		x, at := try{K: left[0]}, time.Now()
		x.err = t.try(ctx, &x, func() {
			done += x.K
			tr.progress(done, total, "K", float64(x.K))
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.took = time.Since(at)
		t.tries = append(t.tries, x)
		slices.SortFunc(t.tries, func(a, b try) int { return a.K - b.K })
	}
	if len(t.scored()) == 0 {
		return t.tries[0].err
	}
	if floats.Sum(t.words) == 0 {
		return errors.New("the documents held out have too few words")
	}
	return nil
}

// plan returns the numbers that are still to be tried by what is known so far.
func (t *trial) plan(ks []int, given bool) []int {
	if !given {
		taken := ks[0]
		if len(t.scored()) > 0 {
			chosen, _ := t.choose(everyThird, 1)
			taken = t.tries[chosen].K
		} else if n := len(t.tries); n > 0 {
			taken = t.tries[n-1].K
		}
		at, grid := slices.BinarySearch(ks, taken)
		var between []int
		if grid {
			for i := max(1, at); i <= min(at+1, len(ks)-1); i++ {
				between = append(between, int(math.Round(math.Sqrt(float64(ks[i-1]*ks[i])))))
			}
		}
		ks = append(slices.Clone(ks[:min(len(ks), at+1+gridBeyond)]), between...)
	}
	return slices.DeleteFunc(slices.Clone(ks), func(k int) bool {
		return slices.ContainsFunc(t.tries, func(x try) bool { return x.K == k })
	})
}
