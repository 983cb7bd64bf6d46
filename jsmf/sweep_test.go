package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// sameReports reports whether all values are the same to the bit, NaN being NaN.
func sameReports(a, b *metrics.Report) bool {
	x, y := reflect.ValueOf(*a), reflect.ValueOf(*b)
	same := func(p, q float64) bool { return math.Float64bits(p) == math.Float64bits(q) || p != p && q != q }
	for i := range x.NumField() {
		switch p := x.Field(i).Interface().(type) {
		case metrics.Stat:
			q := y.Field(i).Interface().(metrics.Stat)
			if !same(p.Mean, q.Mean) || !same(p.Std, q.Std) || !slices.EqualFunc(p.Values, q.Values, same) {
				return false
			}
		case float64:
			if !same(p, y.Field(i).Float()) {
				return false
			}
		case []metrics.Verdict:
			if !slices.EqualFunc(p, y.Field(i).Interface().([]metrics.Verdict), func(v, w metrics.Verdict) bool {
				return v.Quality == w.Quality && v.Twin == w.Twin && same(v.Share, w.Share) && same(v.NPMI, w.NPMI) &&
					same(v.Exclusivity, w.Exclusivity) && same(v.Documents, w.Documents) && same(v.Cosine, w.Cosine)
			}) {
				return false
			}
		default:
			if p != y.Field(i).Interface() {
				return false
			}
		}
	}
	return true
}

// A sweep reports its fits with the topics done and those that are left, and then the stages of its
// model, which is that of Fit. Its points are the same for one worker.
func TestSweep(t *testing.T) {
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 300)
	var stages []jsmf.Stage
	var last jsmf.Event
	done, total := 0, 0
	p := jsmf.New(0).Words(60)
	s, err := jsmf.Grid{K: []int{6, 2, 3}}.Run(ctx, p.Record(func(e jsmf.Event) {
		switch {
		case e.Kind == jsmf.EventStart:
			stages = append(stages, e.Stage)
			if e.Stage == jsmf.StageSweep && !strings.HasPrefix(e.Message, "K = 2 to 6, up to 3 models each, of up to ") {
				t.Errorf("announced as %q", e.Message)
			}
		case e.Stage == jsmf.StageSweep && e.Kind == jsmf.EventProgress:
			if e.Done-done != int(e.Value)+16 || e.Name != "K" || e.Total < e.Done {
				t.Errorf("%+v after %d", e, done)
			}
			total = e.Total
			done = e.Done
		case e.Stage == jsmf.StageSweep && e.Kind == jsmf.EventEnd:
			last = e
		}
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	if want := []jsmf.Stage{jsmf.StageSweep, jsmf.StageCooc, jsmf.StageRectify, jsmf.StageAnchors, jsmf.StageRecover, jsmf.StageRefine}; !slices.Equal(stages, want) || done != total || last.Message != s.Why {
		t.Errorf("stages %v, %d of %d topics, ended with %q", stages, done, total, last.Message)
	}
	if s.K != 3 || s.Low != 3 || s.High != 4 || !bytes.Equal(encoded(t, s.Model), encoded(t, fit(t, p.K(3), c))) {
		t.Errorf("not the model of Fit with 3 topics:\n%v", s)
	}
	if s.Documents != 300 || s.Points[1].Back < 2.99 || s.Points[1].Behind != 0 || s.Points[1].NPMI <= 0.05 {
		t.Errorf("%+v", s)
	}
	if !strings.HasPrefix(s.String(), s.Why[:30]) || !strings.Contains(s.String(), "   *3                best    3 of   3 ") {
		t.Errorf("printed\n%v", s)
	}
	again, err := jsmf.Grid{K: []int{2, 3, 6}}.Run(ctx, p.Workers(1), c)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range again.Points {
		y := s.Points[i]
		if x.Time, y.Time = 0, 0; fmt.Sprint(x) != fmt.Sprint(y) {
			t.Errorf("one worker: %+v, want %+v", x, y)
		}
	}
}

// What cannot be: a K above the documents is an error of its own, all of them are one
// of the sweep.
func TestSweepBad(t *testing.T) {
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 90)
	p := jsmf.New(0).Words(60)
	s, err := jsmf.Grid{K: []int{3, 70}}.Run(ctx, p, c)
	if err != nil {
		t.Fatal(err)
	}
	const few = "jsmf: 70 topics of "
	if s.Points[0].Err != nil || s.Points[1].Err == nil || !strings.HasPrefix(s.Points[1].Err.Error(), few) || !strings.Contains(s.String(), "   70  "+few) {
		t.Errorf("%v", s)
	}
	if _, err := (jsmf.Grid{K: []int{70, 71}}).Run(ctx, p, c); err == nil || !strings.HasPrefix(err.Error(), "jsmf: sweep: 70 topics of ") {
		t.Errorf("no model at all: %v", err)
	}
	for what, ks := range map[string][]int{"K = 1 topics": {3, 1}, "K = 3 is there twice": {3, 4, 3}} {
		if _, err := (jsmf.Grid{K: ks}).Run(ctx, p, c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: %v", ks, err)
		}
	}
	if _, err := (jsmf.Grid{K: []int{1}}).Run(ctx, p.Rectify(nil).Workers(-1), c); err == nil || !strings.Contains(err.Error(), "Workers(-1)") || !strings.Contains(err.Error(), "no rectifier") || !strings.Contains(err.Error(), "K = 1") {
		t.Errorf("all at once: %v", err)
	}
	if _, err := (jsmf.Grid{K: []int{3}}).Run(ctx, p, nil); err == nil {
		t.Error("nothing to fit to, and no error")
	}
	if _, err := (jsmf.Grid{}).Run(ctx, p, draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 30)); err == nil || !strings.Contains(err.Error(), "of 30 documents would be held out") {
		t.Errorf("too few documents: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	defer cancel()
	fits := 0
	_, err = jsmf.Grid{K: []int{2, 3, 4}}.Run(gone, p.Record(func(e jsmf.Event) {
		if e.Kind == jsmf.EventProgress {
			if fits++; fits == 2 {
				cancel()
			}
		}
	}), c)
	if !errors.Is(err, context.Canceled) || fits != 2 {
		t.Errorf("cancelled after %d fits: %v", fits, err)
	}
}

// A planted number of topics is found to a quarter on numbers that Grid chooses, with shares that
// are equal or not, and few more numbers are tried.
func TestSweepFinds(t *testing.T) {
	testutil.NotWithRace(t)
	if testing.Short() {
		t.Skip("skipped: two dozen fits take seconds")
	}
	const k = 9
	for name, alpha := range map[string][]float64{
		"equal":   {.1, .1, .1, .1, .1, .1, .1, .1, .1},
		"unequal": {.04, .05, .06, .08, .1, .12, .14, .17, .2},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := jsmf.Grid{}.Run(ctx, jsmf.New(0), draw(t, themes(400, k), corpus.Dirichlet{Alpha: alpha}, 600))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(s.K)/k-1) > 0.25 || s.Low > s.K || s.High < s.K || s.Model.K() != s.K {
				t.Errorf("%d topics\n%v", k, s)
			}
			grid := []int{5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40}
			at := slices.Index(grid, s.K)
			for _, x := range s.Points {
				if i := slices.Index(grid, x.K); i < 0 || i > at-at%4+8 || i%4 > 0 && (i < at-3 || i > at+3) {
					t.Errorf("%d topics were tried:\n%v", x.K, s)
				}
			}
		})
	}
}

// Documents whose words are drawn from one distribution have no topics.
func TestSweepNoTopics(t *testing.T) {
	testutil.NotWithRace(t)
	p := make([]float64, 200)
	for i := range p {
		p[i] = 1 / float64(i+3)
	}
	floats.Scale(1/floats.Sum(p), p)
	c, _, err := corpus.Generator{Topics: mat.NewDense(200, 1, p), Lengths: []int{20}, Docs: 900, Prior: corpus.Dirichlet{Alpha: []float64{1}}}.Generate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsmf.Grid{K: []int{3, 6, 12}}.Run(ctx, jsmf.New(0), c)
	if err != nil {
		t.Fatal(err)
	}
	if s.K != 0 || s.Model != nil || !strings.HasPrefix(s.String(), "No topics: ") || strings.Contains(s.String(), "*") {
		t.Errorf("\n%v", s)
	}
}

// A number of topics that would be ignored is an error.
func TestNoKIsIgnored(t *testing.T) {
	c := draw(t, themes(30, 3), corpus.SymmetricDirichlet(3, 0.1), 40)
	p := jsmf.New(3)
	m := fit(t, p, c)
	for name, run := range map[string]func() error{
		"Grid":   func() error { _, err := jsmf.Grid{K: []int{2, 4}}.Run(ctx, p, c); return err },
		"Levels": func() error { _, err := jsmf.Levels{K: []int{2}}.Run(ctx, p, m); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(); err == nil || !strings.Contains(err.Error(), "K = 3") || !strings.Contains(err.Error(), "K(0)") {
				t.Errorf("error %v, want one that names K = 3 and K(0)", err)
			}
		})
	}
	if err := p.K(0).Validate(nil); err == nil || !strings.Contains(err.Error(), "K = 0") {
		t.Errorf("a fit without a number of topics: %v", err)
	}
}
