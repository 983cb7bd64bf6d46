package jsmf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/rectify"
)

// Resumable says whether fitted models keep the state of their rectification
// (rectify.State), from which a refit goes on: see From. 16·N·p bytes in memory
// and in the model file, p = K + 10 to K + 17. Rectifiers that leave no state,
// such as rectify.DR, are not changed by it. Default: false.
func (p Pipeline) Resumable(on bool) Pipeline { p.resumable = on; return p }

// From makes fits follow a model: one of nearly the same documents, such as
// those of yesterday. nil, the default: none.
//
// The rectification goes on from where that of prev ended, if prev was made with
// Resumable and the same K, and the rectifier knows how (rectify.AP, ENN, LR
// and Auto): it takes a few iterations instead of all. Stats.Refit.Start says
// whether it did or why not; a change that is too large, something new in the
// documents, or an A whose sum is farther from 1 than that of the last model
// fitted from nothing, by more than a tenth, are reasons to begin anew.
//
// The anchors of prev are kept wherever no other word is farther by more than a
// tenth, if the finder knows how (anchor.QR, the default, does): so a few documents
// more do not exchange topics of which there are several nearly as good. Where ΣA
// is then off by more than a tenth, those are taken that would be found without
// prev if they fit better.
//
// The topics are numbered as in prev: see Align and Model.Reorder. Words are
// matched by their strings, those that came or went being listed in Stats.Refit,
// which also says how far each topic has drifted. Where neither has a vocabulary
// they are matched by number; where only one has, or the numbers of words differ,
// the fit is refused.
//
// The model depends on prev, by the anchors that are kept and in the last digits:
// it is as good as one from nothing, but not the same one. On nips17 and kos,
// K = 50 and 100, AP and ENN, after a hundredth more documents, a refit took from
// 0.11 to 0.35 of the time of a fit from nothing. The measures of single refits were
// some hundredths better or worse than those of the fit from nothing, as are those of
// fits to nearly the same documents; their means over ten to twelve choices of the
// documents were at most 1.1 % worse (BenchmarkRefit).
func (p Pipeline) From(prev *Model) Pipeline { p.from = prev; return p }

// anchorHysteresis: the anchors of the model before are taken again where no
// word is farther by more than this part.
const anchorHysteresis = 0.1

// maxMisfit is the misfit of A above which anchors that were kept are compared
// with those that would be found without the model before, and how much more of it
// than in the last model fitted from nothing a warm start may lead to.
const maxMisfit = 0.1

// mostMisfit is the misfit of A above which a model is said not to fit.
const mostMisfit = math.Ln2

// misfit tells how far a sum of A is from 1, as a ratio.
func misfit(sum float64) float64 {
	if sum > 0 {
		return math.Abs(math.Log(sum))
	}
	return math.Inf(1)
}

// coldSum returns the sum of A of the last model fitted from nothing, of those
// that m followed.
func (m *Model) coldSum() float64 {
	if m.stats.Refit.Start == "warm" {
		return m.stats.Refit.ColdSum
	}
	if m.spectral != nil {
		m = m.spectral
	}
	x := slices.Sorted(slices.Values(m.corr)) // the same for any order of topics
	return floats.Sum(x)
}

// before returns the word of the previous model for each row of the problem, −1
// for none; nil where there is no previous model. Where a word stands several
// times, the first place is matched with the first there, and so on: equal
// vocabularies are matched row by row.
func (p Pipeline) before(pr *problem) ([]int, error) {
	prev := p.from
	if prev == nil {
		return nil, nil
	}
	rows := make([]int, pr.c.Dim())
	if pr.info.Vocabulary != nil && prev.vocab != nil {
		words := make([]string, len(rows))
		for i := range rows {
			words[i] = pr.info.Vocabulary[pr.word(i)]
		}
		at, err := bag.Index(bag.Unique(prev.vocab))
		if err != nil {
			return nil, fmt.Errorf("From: %w", err)
		}
		for i, w := range bag.Unique(words) {
			rows[i] = -1
			if j, ok := at[w]; ok {
				rows[i] = int(j)
			}
		}
		return rows, nil
	}
	if pr.info.Vocabulary != nil || prev.vocab != nil || pr.n != prev.N() {
		return nil, fmt.Errorf("From: %d words cannot be matched with the %d of the previous model: not both have names", pr.n, prev.N())
	}
	for i := range rows {
		rows[i] = pr.word(i)
	}
	return rows, nil
}

// start returns the state to start from, for the words that before has matched,
// or why there is none.
func (p Pipeline) start(rows []int) (*rectify.State, string) {
	switch {
	case p.from == nil:
		return nil, ""
	case p.from.state == nil:
		return nil, "the model before was not made Resumable, or by a method that leaves no state"
	}
	s, err := p.from.state.Select(rows)
	if err != nil {
		return nil, err.Error()
	}
	return s, ""
}

// prefer returns the rows of the anchors of the model before, in the order of its
// topics.
func (p Pipeline) prefer(rows []int) []int {
	if p.from == nil || rows == nil || p.from.groups != nil {
		return nil
	}
	at := make(map[int]int, len(rows))
	for i, w := range rows {
		at[w] = i
	}
	var out []int
	for _, w := range p.from.anchors {
		if i, ok := at[w]; ok {
			out = append(out, i)
		}
	}
	return out
}

// startedBy says how a rectification started that was to follow another.
func (r *run) startedBy(res *rectify.Result) string {
	switch {
	case res.Warm:
		return "warm"
	case r.start == nil:
		return "cold: " + r.cold
	case res.Cold != "":
		return "cold: " + res.Cold
	}
	return fmt.Sprintf("cold: %v goes on from no state", r.ask.rectifier)
}

// follow returns the model with its topics numbered as those of the one before,
// and writes down how they have changed.
func (m *Model) follow(ctx context.Context, prev *Model, workers int) (*Model, error) {
	al, err := align(ctx, prev, m, workers)
	if err != nil {
		return nil, fmt.Errorf("the previous model: %w", err)
	}
	order := al.Order()
	out := m.reordered(order)
	if m.spectral != nil {
		out.spectral = m.spectral.reordered(order)
	}
	s := &out.stats.Refit
	s.Drift = permuted(al.Drift, order)
	for _, l := range al.New {
		s.New = append(s.New, slices.Index(order, l))
	}
	slices.Sort(s.New)
	s.Vanished = al.Vanished
	if m.vocab != nil && prev.vocab != nil {
		for _, w := range m.vocab {
			if _, ok := prev.Index(w); !ok {
				s.Joined = append(s.Joined, w)
			}
		}
		for _, w := range prev.vocab {
			if _, ok := m.Index(w); !ok {
				s.Left = append(s.Left, w)
			}
		}
	}
	if out.spectral != nil {
		out.spectral.stats.Refit = out.stats.clone().Refit
	}
	return out, nil
}
