package infer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// conforming are the methods, with settings that keep tests short: a new one is tested by its
// line here. renumbered is by how much a share may change where words and topics have other
// numbers.
var conforming = []struct {
	m          Method
	renumbered float64
}{
	{LeastSquares{}, 1e-6},
	{SPI{}, 1e-6},
	{PADD{}, 1e-6},
	{TLI{}, 1e-6}, // its program is solved to 1e-8
	{TLI{Delta: 0.05}, 1e-6},
	{MAP{}, 1e-3}, // sums have another order, and may end the steps at another one
	{MAP{EM: true}, 1e-3},
	{Draw{Seed: 5}, 1}, // draws other random numbers
	{Gibbs{BurnIn: 10, Sweeps: 40, Seed: 5}, 1}, // draws other random numbers
}

// Nothing that could have a line is without one.
func TestConformanceComplete(t *testing.T) {
	for _, name := range testutil.TypesWith(t, ".", "Prepare") {
		if !slices.ContainsFunc(methods(), func(m Method) bool { return reflect.TypeOf(m).Name() == name }) {
			t.Errorf("%s has no line in the suite, want one", name)
		}
	}
}

// methods are those of the suite.
func methods() (out []Method) {
	for _, x := range conforming {
		out = append(out, x.m)
	}
	return out
}

// Every method refuses bad settings, ends with ctx, and gives compositions in the simplex (or all zeros, with the status
// for it), the same bits for one document alone, for any number of workers and
// for many goroutines at once, without allocating.
func TestConformance(t *testing.T) {
	p := newPlanted(120, 8, 70, 60, 1)
	tp := p.withDual(t)
	for _, m := range methods() {
		t.Run(m.String(), func(t *testing.T) {
			inf := prepare(t, m, tp)
			if inf.N() != 120 || inf.K() != 8 || inf.String() != m.String() {
				t.Errorf("N = %d, K = %d, %q", inf.N(), inf.K(), inf)
			}
			looks := testutil.EndingAfter(math.MaxInt)
			one, err := inf.Infer(looks, p.docs, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, after := range []int{1, looks.Looks() / 2} {
				if b, err := inf.Infer(testutil.EndingAfter(after), p.docs, Options{Workers: 1}); b != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("ctx ends after %d of %d looks: %v, want its error", after, looks.Looks(), err)
				}
			}
			last := 0
			many, err := prepare(t, m, tp).Infer(ctx, p.docs, Options{Workers: math.MaxInt, Progress: func(done, total int) {
				if done <= last || total != 70 {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			}})
			if err != nil {
				t.Fatal(err)
			}
			if last != 70 {
				t.Errorf("progress ended at %d", last)
			}
			if !mat.Equal(one.W, many.W) || !slices.Equal(one.Docs, many.Docs) {
				t.Error("a second preparation, with many workers, gives other bits than the first with one, want the same")
			}
			for d := range 70 {
				sum := 0.0
				for _, v := range one.W.RawRowView(d) {
					if !(v >= 0) {
						t.Fatalf("document %d has the share %v", d, v)
					}
					sum += v
				}
				want := 1.0
				if one.Docs[d].Status == AllZero {
					want = 0
				}
				if math.Abs(sum-want) > 1e-12 {
					t.Errorf("document %d: the shares sum to %v, status %v", d, sum, one.Docs[d].Status)
				}
				if one.Docs[d].Tokens != 60 || one.Docs[d].Unknown != 0 {
					t.Errorf("document %d: %+v", d, one.Docs[d])
				}
			}
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					w := make([]float64, 8)
					for i := range 70 {
						d := (i + 17*g) % 70
						ids, counts := p.docs.Doc(d)
						if _, err := inf.InferTo(w, ids, counts); err != nil || !slices.Equal(w, one.W.RawRowView(d)) {
							t.Errorf("document %d alone: %v, %v", d, w, err)
							return
						}
					}
				})
			}
			wg.Wait()
			testutil.BadSettings(m, func(name string, bad any) {
				var se *SettingError
				if name == "Gibbs.BurnIn" { // -1 is none
					return
				}
				if _, err := bad.(Method).Prepare(ctx, tp, Options{}); !errors.As(err, &se) {
					t.Errorf("%s of %+v: %v, want a SettingError", name, bad, err)
				}
			})
			if !testutil.Race { // its pools drop what they hold at random, and so does the collector
				defer debug.SetGCPercent(debug.SetGCPercent(-1))
				w := make([]float64, 8)
				ids, counts := p.docs.Doc(3)
				if n := testing.AllocsPerRun(100, func() { inf.InferTo(w, ids, counts) }); n != 0 {
					t.Errorf("%v allocations a document", n)
				}
			}
		})
	}
}

// Renumbering words and topics renumbers the compositions.
func TestPermutation(t *testing.T) {
	p := newPlanted(80, 5, 30, 400, 2)
	tp := p.withDual(t)
	rng := rand.New(rand.NewPCG(9, 9))
	words, topics := rng.Perm(80), rng.Perm(5)
	q := Topics{B: mat.NewDense(80, 5, nil), A: mat.NewDense(5, 5, nil), Dual: mat.NewSymDense(5, nil)}
	for i := range 80 {
		for k := range 5 {
			q.B.Set(words[i], topics[k], tp.B.At(i, k))
		}
	}
	for k := range 5 {
		for l := range 5 {
			q.A.Set(topics[k], topics[l], tp.A.At(k, l))
			q.Dual.SetSym(topics[k], topics[l], tp.Dual.At(k, l))
		}
	}
	for _, x := range conforming {
		t.Run(x.m.String(), func(t *testing.T) {
			a, b := prepare(t, x.m, tp), prepare(t, x.m, q)
			w, v := make([]float64, 5), make([]float64, 5)
			for d := range 30 {
				ids, counts := p.docs.Doc(d)
				to := make([]int32, len(ids))
				for i, id := range ids {
					to[i] = int32(words[id])
				}
				if _, err := a.InferTo(w, ids, counts); err != nil {
					t.Fatal(err)
				}
				if _, err := b.InferTo(v, to, counts); err != nil {
					t.Fatal(err)
				}
				for k := range w {
					if math.Abs(w[k]-v[topics[k]]) > x.renumbered {
						t.Fatalf("document %d: %v and, renumbered, %v (topics %v)", d, w, v, topics)
					}
				}
			}
		})
	}
}

// The order of the words, repeated words and counts of 0 do not matter, and no
// counts are ones.
func TestWordsInAnyForm(t *testing.T) {
	p := newPlanted(60, 4, 5, 50, 3)
	tp := p.withDual(t)
	for _, m := range methods() {
		t.Run(m.String(), func(t *testing.T) {
			inf := prepare(t, m, tp)
			w, v := make([]float64, 4), make([]float64, 4)
			ids, counts := p.docs.Doc(2)
			if _, err := inf.InferTo(w, ids, counts); err != nil {
				t.Fatal(err)
			}
			var tokens []int32
			for i := len(ids) - 1; i >= 0; i-- {
				for range counts[i] {
					tokens = append(tokens, ids[i])
				}
			}
			d, err := inf.InferTo(v, tokens, nil)
			if err != nil || d.Tokens != 50 {
				t.Fatal(d, err)
			}
			if !slices.Equal(w, v) {
				t.Errorf("tokens one by one give %v, counts %v", v, w)
			}
			if _, err := inf.InferTo(v, append(slices.Clone(ids), 7), append(slices.Clone(counts), 0)); err != nil || !slices.Equal(v, w) {
				t.Errorf("a count of 0 changes %v to %v (%v)", w, v, err)
			}
			weights := make([]float64, len(counts))
			for i, c := range counts {
				weights[i] = float64(c)
			}
			if _, err := inf.InferWeightsTo(v, ids, weights); err != nil || !slices.Equal(v, w) {
				t.Errorf("as weights %v, as counts %v (%v)", v, w, err)
			}
		})
	}
}

// Documents that hold nothing known have the mean composition and say so.
func TestNothingKnown(t *testing.T) {
	p := newPlanted(60, 4, 20, 50, 3)
	for k := range 4 { // word 0 is in no topic
		rest := 1 - p.B.At(0, k)
		p.B.Set(0, k, 0)
		for i := range 60 {
			p.B.Set(i, k, p.B.At(i, k)/rest)
		}
	}
	tp := p.withDual(t)
	mean := make([]float64, 4)
	for k := range mean {
		mean[k] = mat.Sum(p.A.RowView(k)) / mat.Sum(p.A)
	}
	for _, m := range methods() {
		t.Run(m.String(), func(t *testing.T) {
			inf := prepare(t, m, tp)
			w := make([]float64, 4)
			for _, c := range []struct {
				ids, counts []int32
				unknown     float64
			}{{nil, nil, 0}, {[]int32{0}, []int32{3}, 3}, {[]int32{5, 9}, []int32{0, 0}, 0}} {
				d, err := inf.InferTo(w, c.ids, c.counts)
				if want := (Doc{Status: NoTokens, Unknown: c.unknown}); err != nil || d != want {
					t.Errorf("%v: %+v, %v", c.ids, d, err)
				}
				for k := range w {
					if math.Abs(w[k]-mean[k]) > 1e-14 {
						t.Fatalf("%v, want %v", w, mean)
					}
				}
			}
			d, err := inf.InferTo(w, []int32{0, 5, 6}, []int32{2, 3, 1})
			if err != nil || d.Unknown != 2 || d.Tokens != 4 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestBadDocuments(t *testing.T) {
	p := newPlanted(40, 3, 10, 30, 4)
	tp := p.withDual(t)
	nan := math.NaN()
	for _, m := range methods() {
		t.Run(m.String(), func(t *testing.T) {
			inf := prepare(t, m, tp)
			w := make([]float64, 3)
			for _, c := range []struct {
				dst         []float64
				ids, counts []int32
				want        string
			}{
				{w, []int32{1, 40}, []int32{1, 1}, "word 40, number 1 of the document, is not in [0, 40)"},
				{w, []int32{-1}, nil, "word -1"},
				{w, []int32{1, 2}, []int32{1}, "1 counts for 2 words"},
				{w[:2], []int32{1}, nil, "dst has the length 2, must have 3"},
				{w, []int32{1, 2}, []int32{1, -4}, "the weight of word 2, number 1 of the document, is -4"},
				{w, []int32{1, 1}, []int32{1, math.MaxInt32}, "word 1 occurs 2.147483648e+09 times"},
			} {
				if _, err := inf.InferTo(c.dst, c.ids, c.counts); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			}
			for _, x := range []float64{nan, math.Inf(1), -1} {
				if _, err := inf.InferWeightsTo(w, []int32{2}, []float64{x}); err == nil || !strings.Contains(err.Error(), "infer: the weight of word 2") {
					t.Errorf("weight %v: %v", x, err)
				}
			}
			if _, err := inf.InferWeightsTo(w, []int32{2, 3}, []float64{math.MaxFloat64, math.MaxFloat64}); err == nil {
				t.Errorf("weights whose sum overflows are accepted")
			}
			if _, err := inf.Infer(ctx, &docList{n: 41}, Options{}); err == nil || !strings.Contains(err.Error(), "documents over 41 words for a model of 40") {
				t.Errorf("documents over another vocabulary: %v", err)
			}
			bad := &docList{n: 40, ids: [][]int32{{1}, {2, 99}}, counts: [][]int32{{1}, {1, 1}}}
			if _, err := inf.Infer(ctx, bad, Options{}); err == nil || !strings.Contains(err.Error(), "infer: document 1: word 99") {
				t.Errorf("%v", err)
			}
			if _, err := inf.Infer(ctx, nil, Options{}); err == nil {
				t.Errorf("no documents are accepted")
			}
			if b, err := inf.Infer(ctx, &docList{n: 40}, Options{}); err != nil || len(b.Docs) != 0 {
				t.Errorf("an empty collection: %v", err)
			}
		})
	}
	g := prepare(t, Gibbs{}, tp)
	if _, err := g.InferWeightsTo(make([]float64, 3), []int32{2}, []float64{1.5}); err == nil || !strings.Contains(err.Error(), "whole numbers") {
		t.Errorf("Gibbs takes half a token: %v", err)
	}
}
