package jsmf_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// No setting makes a fit, or what is done to a model, panic, go on after ctx, take memory
// without end, or return what is no number.
func TestExtremes(t *testing.T) {
	testutil.NotWithRace(t)
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 60)
	quick := refine.Passes{N: 3} // ends within the looks at ctx that testutil.Extremes gives
	p := jsmf.New(3).Words(40).Rectify(rectify.None{}).Refine(quick)
	m := fit(t, p, c)
	matrix := identity(t, 5)

	type settings struct {
		K, Words, Extra, Workers int
		MemoryLimit              int64
	}
	fits := func(in jsmf.Input, p jsmf.Pipeline) func(context.Context, settings) error {
		return func(ctx context.Context, s settings) error {
			p := p.K(s.K).Extra(s.Extra).Workers(s.Workers).MemoryLimit(s.MemoryLimit)
			if in == c {
				p = p.Words(s.Words)
			}
			m, err := p.Fit(ctx, in)
			if err == nil {
				for _, v := range m.TopicShares() {
					if !(v >= 0 && v <= 1) {
						panic(fmt.Sprintf("a topic has the share %g and there is no error", v))
					}
				}
			}
			return err
		}
	}
	usual := settings{3, 40, 1, 1, 1 << 30}
	testutil.Extremes(t, usual, fits(c, p))
	testutil.Extremes(t, usual, fits(c, jsmf.Published(0).Rectify(rectify.None{})))
	testutil.Extremes(t, usual, fits(matrix, jsmf.Published(0)))
	stats := jsmf.CorpusStats{Documents: 60, Words: 60, Tokens: 1000, NNZ: 900}
	testutil.Extremes(t, usual, func(_ context.Context, s settings) error {
		for _, p := range []jsmf.Pipeline{jsmf.New(s.K).Words(s.Words), jsmf.Published(s.K)} {
			e, err := p.Extra(s.Extra).Workers(s.Workers).MemoryLimit(s.MemoryLimit).Estimate(stats)
			if err != nil {
				return err
			}
			plausible(e)
		}
		return nil
	})
	testutil.Extremes(t, stats, func(_ context.Context, s jsmf.CorpusStats) error {
		for _, p := range []jsmf.Pipeline{jsmf.New(3), jsmf.Published(3)} {
			e, err := p.Estimate(s)
			if err != nil {
				return err
			}
			plausible(e)
		}
		return nil
	})

	testutil.Extremes(t, jsmf.Bootstrap{Warm: 2, Cold: 1}, func(ctx context.Context, b jsmf.Bootstrap) error {
		_, err := b.Run(ctx, p, m, c)
		return err
	})
	testutil.Extremes(t, jsmf.Grid{K: []int{3}}, func(ctx context.Context, g jsmf.Grid) error {
		_, err := g.Run(ctx, p.K(0), c)
		return err
	})
	testutil.Extremes(t, jsmf.Levels{K: []int{2}}, func(ctx context.Context, l jsmf.Levels) error {
		_, err := l.Run(ctx, jsmf.Published(0), m)
		return err
	})

	verdicts, err := p.Verdicts(ctx, m, c)
	if err != nil {
		t.Fatal(err)
	}
	type list struct{ Verdicts []metrics.Verdict }
	testutil.Extremes(t, list{verdicts}, func(_ context.Context, s list) error {
		m, err := m.With(jsmf.Additions{Verdicts: s.Verdicts})
		if err == nil {
			_, err = m.WriteTo(io.Discard)
		}
		return err
	})
	testutil.Extremes(t, jsmf.Edits{Model: m.Fingerprint(), Merge: [][]int{{0, 1}}}, func(_ context.Context, e jsmf.Edits) error {
		_, err := m.Edit(e)
		return err
	})
	type args struct {
		N, Workers, Topic int
		Least             float64
	}
	testutil.Extremes(t, args{2, 1, 0, 0}, func(ctx context.Context, s args) error {
		m.CorrelatedPairs(s.N)
		m.Summary(s.N)
		m.TopWords(0, s.N)
		h, err := jsmf.Levels{K: []int{2}}.Run(ctx, jsmf.Published(0), m)
		if err != nil {
			return err
		}
		h.TopWords(0, 0, s.N)
		h.Edges(1, s.Least)
		m.Reorder([]int{s.Topic, 1, 2})
		m.Edit(jsmf.Edits{Model: m.Fingerprint(), Names: map[int]string{s.Topic: "x"}})
		_, err = jsmf.Align(ctx, m, m, s.Workers)
		return err
	})
}

// plausible panics if an estimate is no number of bytes.
func plausible(e *jsmf.Estimate) {
	for stage, n := range e.Stages {
		if n < 0 || n > math.MaxInt64/2 || e.Bytes < n {
			panic(fmt.Sprintf("%v of %v: %d bytes of %d", stage, e.Stages, n, e.Bytes))
		}
	}
}
