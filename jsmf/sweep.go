package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bytesize"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/internal/vec"
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

// SweepPoint is one number of topics of a Sweep.
type SweepPoint struct {
	K int

	// Models is how many there are, each of two thirds of the documents: three, or fewer if these
	// show already that the number is not the one to take. The numbers below are of the thirds
	// that they have not seen.
	Models int

	// PerWord is the mean of ln p over the hidden words; with fewer than three models, that of
	// Sweep.K and the difference on the thirds that both have. Behind is how much less that is than the
	// largest of the sweep, and Error the standard error of this difference, 0 for the largest: that
	// over documents, or that over the models if it is larger.
	PerWord, Behind, Error float64

	// Back is how many topics of a model are sound (see metrics.Verdicts) and come back in another,
	// where their match (see metrics.Match) shares at least half of the weights of their reading
	// words (Model.Reading): the mean over the pairs of models, NaN without one. BackError is its
	// standard error, not less than if topics came back independently.
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
	// K are the numbers of topics to try, distinct and at least 2. Without any, they are 5, 10, 20 and
	// so on, until the one after the number to take is tried, or two if that predicts better; then, by
	// steps of √2 and of its root, the numbers between it and those that are worse. There are no more
	// topics than 1000 or a twentieth of the documents.
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
// Numbers race (Maron and Moore, Hoeffding races, 1994). One is tried on the next third unless fewer
// than half of its topics come back, by a standard error, or another, of which half come back, predicts
// better by three standard errors on the thirds that both have.
//
// Low to High hold the numbers that also remain if errors of the scores are doubled and two standard
// errors more of the topics come back, the one that predicts best if one error fewer come back, and those
// that two of the thirds would choose by themselves. They reach half way to the next numbers that were tried, as
// ratios, since nothing is known of those between.
//
// Recorders get [StageSweep], and then the stages of the Model's fit. Progress counts the topics
// fitted, and sixteen more for each model. The total is what will be tried as far as is known: if K was
// not given it may be off by three times at first, and mostly by less than two when a quarter is done.
// Memory: a fit to all documents with the largest K, what is kept of models that may still be chosen,
// some kilobytes a topic, and the documents twice.
//
// Errors: those of Validate, a Pipeline with a K, a bad number, an input whose documents
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
	return errors.Join(append(errs, p.K(max(2, len(p.seeds))).validate())...)
}

const (
	gridFrom  = 5  // topics that the chosen numbers begin with
	gridSteps = 4  // numbers from one to its double
	gridDocs  = 20 // documents for each topic, at least
	gridMax   = 1000
	gridUsual = 80 // the largest number that is tried for most documents
)

// numbers returns the numbers that may be tried where none are given.
func (t *trial) numbers() (ks []int) {
	highest := max(gridFrom, min(gridMax, t.docs.NumDocs()/gridDocs, t.docs.NumWords()/2))
	for i := 0.; ; i++ {
		k := int(math.Round(gridFrom * arith.Pow(2, i/gridSteps)))
		if k > highest {
			return ks
		}
		if k >= len(t.p.seeds) {
			ks = append(ks, k)
		}
	}
}

// announce says what a search begins with.
func (t *trial) announce(ks []int) string {
	last := ks[len(ks)-1]
	e, _ := t.p.K(last).estimate(t.p.sizeOf(t.docs))
	return fmt.Sprintf("K = %d to %d, up to %d models each, of up to %s", ks[0], last, len(t.parts), bytesize.String(e.Bytes))
}

// search tries numbers of topics: all that are given, or of ks as many as it takes.
func (t *trial) search(ctx context.Context, tr *tracker, ks []int, given bool) error {
	done := 0
	for {
		x := t.next(ks, given)
		if x == nil {
			break
		}
		at := time.Now()
		x.err = t.more(ctx, x)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.took += time.Since(at)
		done += x.cost()
		tr.progress(done, done+t.left(ks, given), "K", float64(x.K))
	}
	if len(t.held(1)) == 0 {
		return t.tries[0].err
	}
	if vec.Sum(t.words) == 0 {
		return errors.New("the documents held out have too few words")
	}
	return nil
}

// next returns what to hold out one more third for, nil if all is known. A number is tried on the
// second third at once, and on the last one when there are no others to try, while it may be the one
// to take.
func (t *trial) next(ks []int, given bool) *try {
	for _, n := range []int{1, 2} {
		for i, x := range t.tries {
			if len(x.models) == n && t.open(i) {
				return x
			}
		}
		if n == 1 {
			if k := t.untried(ks, given); len(k) > 0 {
				x := &try{K: k[0]}
				t.tries = append(t.tries, x)
				slices.SortFunc(t.tries, func(a, b *try) int { return a.K - b.K })
				return x
			}
		}
	}
	return nil
}

// place returns the try of k topics, or where it would be.
func (t *trial) place(k int) (i int, found bool) {
	return slices.BinarySearchFunc(t.tries, k, func(x *try, k int) int { return x.K - k })
}

// untried returns the numbers that are to be tried next by what is known: of chosen ones each fourth
// until the one after the number to take, or two if that predicts better, then those in the middle between
// it and its neighbours, unless these are as good.
func (t *trial) untried(ks []int, given bool) (out []int) {
	add := func(k int) {
		if _, found := t.place(k); !found {
			out = append(out, k)
		}
	}
	if given {
		for _, k := range ks {
			add(k)
		}
		return out
	}
	at := 0
	chosen, near := t.near()
	if chosen < 0 {
		chosen = len(t.tries) - 1
	}
	if chosen >= 0 {
		at, _ = slices.BinarySearch(ks, t.tries[chosen].K)
	}
	last := at - at%gridSteps + gridSteps
	if last < len(ks) && chosen >= 0 {
		if i, found := t.place(ks[last]); found && t.tries[i].err == nil && t.tries[chosen].err == nil {
			if ahead, err := t.common(i, chosen); ahead > err {
				last += gridSteps // its topics do not come back: those of the planted number may, again
			}
		}
	}
	for i := 0; i < len(ks) && i <= last; i += gridSteps {
		add(ks[i])
	}
	for step := gridSteps / 2; step > 0 && len(out) == 0; step /= 2 {
		for _, to := range []int{at - step, at + step} {
			if at%step > 0 || to < 0 || to >= len(ks) {
				continue
			}
			if beyond := 2*to - at; beyond >= 0 && beyond < len(ks) {
				if i, found := t.place(ks[beyond]); found && slices.Contains(near, i) {
					continue
				}
			}
			add(ks[to])
		}
	}
	return out
}

// cost is how long one model of a number takes, in topics. What it takes besides them is as long as
// for sixteen.
func (x *try) cost() int { return x.K + 16 }

// left returns the cost of what is still to be tried: all models of numbers that may be the one to
// take, and two of those that come next. Where numbers are not given, more will come, by what is known:
// while the largest one does best, those up to gridUsual, and one model of each next to the number to take.
func (t *trial) left(ks []int, given bool) (cost int) {
	largest := false
	for i, x := range t.tries {
		if t.open(i) {
			cost += (len(t.parts) - len(x.models)) * x.cost()
			largest = i == len(t.tries)-1
		}
	}
	next := t.untried(ks, given)
	for _, k := range next {
		cost += 2 * (&try{K: k}).cost()
	}
	if given || cost == 0 {
		return cost
	}
	more := func(i, models int) {
		if i >= 0 && i < len(ks) && !slices.Contains(next, ks[i]) {
			if _, found := t.place(ks[i]); !found {
				cost += models * (&try{K: ks[i]}).cost()
			}
		}
	}
	for i := 0; i < len(ks) && largest && ks[i] <= gridUsual; i += gridSteps {
		more(i, 2)
	}
	if chosen, _ := t.near(); chosen >= 0 {
		at, _ := slices.BinarySearch(ks, t.tries[chosen].K)
		for to := at - gridSteps/2; to <= at+gridSteps/2; to++ {
			more(to, 1)
		}
	}
	return cost
}

// String returns the recommendation and a table of the numbers tried that fits on a screen of 24
// lines and 100 columns: a line for each K, the first ones if there are too many, with what speaks for
// or against it. A star marks the K recommended.
func (s *Sweep) String() string {
	lines := console.Wrap(oneLine(s.Why), tableWidth)
	lines = lines[:min(len(lines), tableLines/3)]
	lines = append(lines, fmt.Sprintf("%5s %19s %11s %8s %8s", "K", "held out", "come back", "NPMI", "seconds"))
	points := s.Points
	if room := tableLines - len(lines); len(points) > room {
		points = points[:room-1]
	}
	for _, x := range points {
		lines = append(lines, x.line(x.K == s.K))
	}
	if more := len(s.Points) - len(points); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// line returns the line of a point.
func (x SweepPoint) line(star bool) string {
	number := fmt.Sprint(x.K)
	if star {
		number = "*" + number
	}
	score := "best"
	if x.Behind > 0 {
		score = console.Number("−%.4f ± %.4f", x.Behind, x.Error)
	}
	line, words := fmt.Sprintf("%5s", number), x.Why
	if x.Err != nil {
		words = x.Err.Error()
	} else {
		back := fmt.Sprintf("%4.0f of %3d", x.Back, x.K)
		if math.IsNaN(x.Back) {
			back = "–"
		}
		line += fmt.Sprintf(" %19s %11s", score, back) + console.Number(" %8.3f %8.2f", x.NPMI, x.Time.Seconds())
	}
	return line + "  " + clip(words, tableWidth-utf8.RuneCountInString(line)-2)
}
