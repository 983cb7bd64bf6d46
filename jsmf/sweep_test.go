package jsmf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/cputime"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
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

// The models of a sweep are those of single fits to the last byte, and the
// measures those of Evaluate to the last bit, whatever the order of the K.
func TestSweepIsFit(t *testing.T) {
	c := golden.Corpus(t, "synth")
	_, docs := planted(60, 4, 300)
	for m := range docs {
		docs[m][60]++ // in every document: without weight in tf-idf
	}
	small := countsCorpus(t, 61, docs)
	for name, x := range map[string]struct {
		p    jsmf.Pipeline
		in   jsmf.Input // nil: the corpus
		tiny bool
		ks   []int
	}{
		"auto":    {p: jsmf.Published(0), ks: []int{5, 20, 10}},
		"enn":     {p: jsmf.Published(0).Rectify(rectify.ENN{Iterations: 6}), ks: []int{12, 4}},
		"dr":      {p: jsmf.Published(0).Rectify(rectify.DR{Iterations: 3}), ks: []int{4, 6}},
		"palm":    {p: jsmf.Published(0).Rectify(rectify.PALM{Iterations: 5}), ks: []int{4, 6}},
		"eig":     {p: jsmf.Published(0).Rectify(rectify.TruncatedEig{}), ks: []int{3, 6}},
		"lr":      {p: jsmf.Published(0).Rectify(rectify.LR{ENN: rectify.ENN{Iterations: 4}}).Seed(3), ks: []int{4, 6}},
		"none":    {p: jsmf.Published(0).Rectify(rectify.None{}), ks: []int{7, 16, 12}},
		"tf-idf":  {p: jsmf.Published(0), in: counted(t, small, cooc.Options{Weighting: cooc.TFIDF}), tiny: true, ks: []int{4, 2, 3}},
		"refined": {p: jsmf.Published(0).Refine(refine.Passes{N: 2}), tiny: true, ks: []int{2, 4}},
	} {
		if (testutil.Race || testing.Short()) && name != "none" && !x.tiny {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var c jsmf.Input = c
			if x.tiny {
				c = small
			}
			if x.in != nil {
				c = x.in
			}
			s, err := jsmf.Grid{K: x.ks}.Run(ctx, x.p.K(0), c)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range x.ks {
				p := x.p.K(k)
				q := s.Points[i]
				m := fit(t, p, c)
				if q.K != k || q.Err != nil || !bytes.Equal(encoded(t, m), encoded(t, q.Model)) {
					t.Fatalf("K = %d: not the model of Fit, %v", k, q.Err)
				}
				r, err := p.Evaluate(ctx, m, c)
				if err != nil {
					t.Fatal(err)
				}
				if !sameReports(r, q.Report) {
					t.Errorf("K = %d: other measures than Evaluate's", k)
				}
				if d := r.Dissimilarity.Mean; d > 20*q.Diversity || !(q.Diversity > 0) {
					t.Errorf("K = %d: diversity %g, dissimilarity %g", k, q.Diversity, d)
				}
			}
			if documents := x.in == nil; (s.Recommendation != nil) != documents || (s.RecommendationErr == nil) != documents {
				t.Errorf("%v, %v", s.Recommendation, s.RecommendationErr)
			}
		})
	}
}

// A sweep reports what it does, and does what is shared once.
func TestSweepShares(t *testing.T) {
	c := golden.Corpus(t, "synth")
	started := map[jsmf.Stage]int{}
	var k []string
	rec := func(e jsmf.Event) {
		if e.Kind == jsmf.EventStart {
			started[e.Stage]++
			if e.Stage == jsmf.StageSweep {
				k = append(k, e.Message)
			}
		}
	}
	s, err := jsmf.Grid{K: []int{4, 6, 8}}.Run(ctx, jsmf.Published(0).Rectify(rectify.AP{Iterations: 2}).Record(rec), c)
	if err != nil {
		t.Fatal(err)
	}
	if started[jsmf.StageCooc] != 1 || started[jsmf.StageRectify] != 3 || started[jsmf.StageSweep] != 3 {
		t.Errorf("stages %v", started)
	}
	if !slices.Equal(k, []string{"K = 4, 1 of 3", "K = 6, 2 of 3", "K = 8, 3 of 3"}) {
		t.Errorf("messages %q", k)
	}
	sum := s.Once
	for _, x := range s.Points {
		sum += x.Fit + x.Evaluate
	}
	if sum > s.Total {
		t.Errorf("times %v of %v", sum, s.Total)
	}
	counted, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	again, err := jsmf.Grid{K: []int{6}}.Run(ctx, jsmf.Published(0).Rectify(rectify.AP{Iterations: 2}), counted)
	if err != nil || !bytes.Equal(encoded(t, again.Points[0].Model), encoded(t, s.Points[1].Model)) {
		t.Errorf("on what was counted before: %v", err)
	}
}

// What cannot be: a K above the documents is an error of its own, all of them are one
// of the sweep.
func TestSweepBad(t *testing.T) {
	_, docs := planted(40, 3, 6)
	c := countsCorpus(t, 40, docs) // of rank 6 except for the diagonal
	p := jsmf.Published(0).Rectify(rectify.TruncatedEig{})
	s, err := jsmf.Grid{K: []int{3, 30}}.Run(ctx, p.K(0), c)
	if err != nil {
		t.Fatal(err)
	}
	const few = "jsmf: 30 topics of 6 documents; there can be no more topics than documents"
	if s.Points[0].Err != nil || s.Points[1].Err == nil || !strings.HasPrefix(s.Points[1].Err.Error(), few) || s.Points[1].Model != nil || s.Points[1].Report != nil {
		t.Errorf("%v and %v", s.Points[0].Err, s.Points[1].Err)
	}
	lines := strings.Split(s.String(), "\n")
	if len(lines) < 4 || !strings.Contains(s.String(), "NPMI") || !strings.HasPrefix(lines[len(lines)-2], "    3      3 ") || !strings.HasPrefix(lines[len(lines)-1], "   30  ") || !strings.Contains(lines[len(lines)-1], few[:40]) {
		t.Errorf("printed:\n%v", s)
	}
	if _, err := (jsmf.Grid{K: []int{30, 31}}).Run(ctx, p.K(0), c); err == nil || !strings.HasPrefix(err.Error(), few) {
		t.Errorf("no model at all: %v", err)
	}
	if _, err := (jsmf.Grid{K: []int{3, 41}}).Run(ctx, p.K(0), c); err == nil || !strings.Contains(err.Error(), "41 topics of 31 words") {
		t.Errorf("more topics than words: %v", err)
	}
	for what, ks := range map[string][]int{"K = 1 topics": {3, 1}, "K = 3 is there twice": {3, 4, 3}} {
		if _, err := (jsmf.Grid{K: ks}).Run(ctx, p.K(0), c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: %v", ks, err)
		}
	}
	if _, err := (jsmf.Grid{K: []int{1}}).Run(ctx, p.Rectify(nil).Workers(-1).K(0), c); err == nil || !strings.Contains(err.Error(), "Workers(-1)") || !strings.Contains(err.Error(), "no rectifier") || !strings.Contains(err.Error(), "K = 1") {
		t.Errorf("all at once: %v", err)
	}
	if _, err := (jsmf.Grid{K: []int{3}}).Run(ctx, p.K(0), nil); err == nil {
		t.Error("nothing to fit to, and no error")
	}
	gone, cancel := context.WithCancel(ctx)
	defer cancel()
	fits := 0
	_, err = jsmf.Grid{K: []int{2, 3, 4}}.Run(gone, p.Record(func(e jsmf.Event) {
		if e.Stage == jsmf.StageRectify && e.Kind == jsmf.EventEnd {
			if fits++; fits == 2 {
				cancel()
			}
		}
	}).K(0), c)
	if !errors.Is(err, context.Canceled) || fits != 2 {
		t.Errorf("cancelled after %d fits: %v", fits, err)
	}
}

// How many topics of the model recommended are stable is part of the sentence.
func TestSweepBootstrap(t *testing.T) {
	c := draw(t, themes(60, 3), corpus.SymmetricDirichlet(3, 0.1), 200)
	p := jsmf.New(7).Words(60)
	s, err := jsmf.Grid{K: []int{2, 3, 6}}.Run(ctx, p.K(0), c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.Recommendation.String(), "stable") || !strings.Contains(s.String(), "recommended: the most likely") {
		t.Errorf("%v", s)
	}
	u, err := jsmf.Bootstrap{Warm: -1, Cold: 4}.Run(ctx, p.K(3), s.Recommended(), c)
	if err != nil {
		t.Fatal(err)
	}
	s.Recommendation.Stable, s.Recommendation.Cold = u.Stable(), u.Cold
	if r := s.Recommendation; r.K != 3 || u.Stable() != 3 || r.Stable != 3 || r.Cold != 4 || !strings.Contains(r.String(), "; 3 of 3 topics stable; chosen in") {
		t.Errorf("%v, %d stable", s.Recommendation, u.Stable())
	}
	for i, x := range []float64{0.74, math.NaN(), 0.75} {
		if u.Topics[i].Stability = x; u.Stable() != []int{2, 1, 1}[i] {
			t.Errorf("%d topics are stable", u.Stable())
		}
	}
	matrix, err := jsmf.Grid{K: []int{2, 3}}.Run(ctx, jsmf.Published(0).Rectify(rectify.TruncatedEig{}), counted(t, c, cooc.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if matrix.Recommended() != nil || !strings.Contains(matrix.RecommendationErr.Error(), "only documents can be held out") {
		t.Errorf("without a recommendation: %v", matrix.RecommendationErr)
	}
}

// BenchmarkSweep compares a sweep over eight K with as many fits: the CPU time
// of Prepare and the fits and, with measures, of Evaluate too, on one core, and
// how far anchors and measures differ. Each single fit is made in the middle of
// the sweep, right before its own of the same K, and of several rounds the least
// time of each part counts: what else the machine does hits both alike.
//
//	JSMF_DATA=… go test ./jsmf -run '^$' -bench Sweep -benchtime 3x
func BenchmarkSweep(b *testing.B) {
	ks := []int{5, 10, 15, 20, 25, 50, 75, 100}
	for _, name := range []string{"nips17", "kos"} {
		b.Run(fmt.Sprintf("corpus=%s/N=5000/K=5..100/workers=1", name), func(b *testing.B) {
			c := benchCorpus(b, name)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			p := jsmf.Published(0).Workers(1)
			if !cputime.Known {
				b.Skip("skipped: no CPU time here")
			}
			cpu := cputime.Seconds
			least := map[string]float64{} // of each part
			note := func(part string, s float64) {
				if old, ok := least[part]; !ok || s < old {
					least[part] = s
				}
			}
			anchors, worst := 0, 0.0
			for range b.N {
				var models []*jsmf.Model
				var reports []*metrics.Report
				aside, begun, fits := 0.0, 0.0, 0.0
				rec := func(e jsmf.Event) {
					if e.Stage != jsmf.StageSweep {
						return
					}
					if e.Kind == jsmf.EventEnd {
						s := cpu() - begun
						note(fmt.Sprint("fit of sweep ", len(models)), s)
						fits += s
						return
					}
					k := ks[len(models)]
					at := cpu()
					m, err := p.K(k).Fit(ctx, c)
					if err != nil {
						b.Fatal(err)
					}
					fitted := cpu()
					r, err := p.K(k).Evaluate(ctx, m, c)
					if err != nil {
						b.Fatal(err)
					}
					models, reports = append(models, m), append(reports, r)
					note(fmt.Sprint("fit ", len(models)), fitted-at)
					note(fmt.Sprint("evaluate ", len(models)), cpu()-fitted)
					runtime.GC() // the garbage of each is its own
					begun = cpu()
					aside += begun - at
				}
				at := cpu()
				s, err := jsmf.Grid{K: ks}.Run(ctx, p.Record(rec).K(0), c)
				if err != nil {
					b.Fatal(err)
				}
				note("rest of sweep", cpu()-at-aside-fits)
				for i, x := range s.Points {
					if !slices.Equal(x.Model.Anchors(), models[i].Anchors()) {
						anchors++
					}
					want := reports[i].Keyed()
					for j, y := range x.Report.Keyed() {
						worst = max(worst, math.Abs(y.Mean-want[j].Mean))
					}
				}
			}
			var fits, evaluate, sweep float64
			for i := range ks {
				f, s := least[fmt.Sprint("fit ", i+1)], least[fmt.Sprint("fit of sweep ", i+1)]
				b.Logf("K = %d: %.2f s alone, %.2f in the sweep", ks[i], f, s)
				fits, sweep, evaluate = fits+f, sweep+s, evaluate+least[fmt.Sprint("evaluate ", i+1)]
			}
			sweep += least["rest of sweep"]
			b.ReportMetric(fits, "cpu-s/fits")
			b.ReportMetric(evaluate, "cpu-s/evaluate")
			b.ReportMetric(sweep, "cpu-s/sweep")
			b.ReportMetric(sweep/fits, "sweep/fits")
			b.ReportMetric(sweep/(fits+evaluate), "sweep/(fits+evaluate)")
			b.ReportMetric(float64(anchors), "models-with-other-anchors")
			b.ReportMetric(worst, "largest-difference-of-measures")
		})
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
