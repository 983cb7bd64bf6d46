package infer

import (
	"context"
	"errors"
	"fmt"
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

var ctx = context.Background()

// docList is the plainest Documents.
type docList struct {
	n           int
	ids, counts [][]int32
}

func (d *docList) NumDocs() int                 { return len(d.ids) }
func (d *docList) NumWords() int                { return d.n }
func (d *docList) Doc(m int) (ids, cnt []int32) { return d.ids[m], d.counts[m] }

func (d *docList) add(counts map[int]int) {
	var words []int
	for w := range counts {
		words = append(words, w)
	}
	slices.Sort(words)
	var ids, cnt []int32
	for _, w := range words {
		ids, cnt = append(ids, int32(w)), append(cnt, int32(counts[w]))
	}
	d.ids, d.counts = append(d.ids, ids), append(d.counts, cnt)
}

// planted is a model with documents drawn from it and their true compositions.
type planted struct {
	Topics
	docs *docList
	w    *mat.Dense // M×K
}

// newPlanted draws m documents of n tokens each from a planted model. The
// compositions are logistic-normal, with neighbouring topics correlated, and A
// is their second moment.
func newPlanted(words, k, m, n int, seed uint64) *planted {
	pm := testutil.NewPlanted(words, k, 0.5, seed)
	rng := rand.New(rand.NewPCG(seed, 77))
	p := &planted{docs: &docList{n: words}, w: mat.NewDense(m, k, nil)}
	p.B, p.A = pm.B, mat.NewDense(k, k, nil)
	cum := make([][]float64, k)
	for t := range cum {
		cum[t] = make([]float64, words)
		s := 0.0
		for i := range words {
			s += pm.B.At(i, t)
			cum[t][i] = s
		}
	}
	pick := func(c []float64) int {
		i, _ := slices.BinarySearch(c, rng.Float64()*c[len(c)-1])
		return min(i, len(c)-1)
	}
	for d := range m {
		w, s := p.w.RawRowView(d), 0.0
		last := rng.NormFloat64()
		for t := range w {
			z := rng.NormFloat64()
			w[t] = math.Exp(2 * (z + 0.7*last))
			s += w[t]
			last = z
		}
		run := make([]float64, k)
		c := 0.0
		for t := range w {
			w[t] /= s
			c += w[t]
			run[t] = c
		}
		for t := range w {
			for l := range w {
				p.A.Set(t, l, p.A.At(t, l)+w[t]*w[l]/float64(m))
			}
		}
		counts := map[int]int{}
		for range n {
			counts[pick(cum[pick(run)])]++
		}
		p.docs.add(counts)
	}
	return p
}

func prepare(t testing.TB, m Method, tp Topics) *Inferer {
	t.Helper()
	p, err := m.Prepare(ctx, tp, Options{})
	if err != nil {
		t.Fatalf("%v: %v", m, err)
	}
	return p
}

// withDual learns what PADD needs.
func (p *planted) withDual(t testing.TB) Topics {
	t.Helper()
	l, err := PADD{}.Learn(ctx, p.Topics, p.docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tp := p.Topics
	tp.Dual = l.Dual
	return tp
}

// methods are all, with settings that keep tests short.
func methods() []Method {
	return []Method{LeastSquares{}, SPI{}, PADD{}, TLI{}, TLI{Delta: 0.05}, MAP{}, MAP{EM: true}, Gibbs{BurnIn: 10, Sweeps: 40, Seed: 5}}
}

func meanL1(a, b *mat.Dense) float64 {
	m, k := a.Dims()
	s := 0.0
	for i := range m {
		for j := range k {
			s += math.Abs(a.At(i, j) - b.At(i, j))
		}
	}
	return s / float64(m)
}

// Every method gives compositions in the simplex (or all zeros, with the status
// for it), the same bits for one document alone, for any number of workers and
// for many goroutines at once, without allocating.
func TestEveryMethod(t *testing.T) {
	p := newPlanted(120, 8, 70, 60, 1)
	tp := p.withDual(t)
	for _, m := range methods() {
		t.Run(m.String(), func(t *testing.T) {
			inf := prepare(t, m, tp)
			if inf.N() != 120 || inf.K() != 8 || inf.String() != m.String() {
				t.Errorf("N = %d, K = %d, %q", inf.N(), inf.K(), inf)
			}
			one, err := inf.Infer(ctx, p.docs, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			many, err := inf.Infer(ctx, p.docs, Options{Workers: 5, Progress: func(done, total int) {
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
				t.Error("one worker and five differ")
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
	for _, m := range methods() {
		if _, ok := m.(Gibbs); ok {
			continue // draws other random numbers
		}
		a, b := prepare(t, m, tp), prepare(t, m, q)
		tol := 1e-6 // TLI's program is solved to 1e-8
		if _, ok := m.(MAP); ok {
			tol = 1e-3 // sums have another order, and may end the steps at another one
		}
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
				if math.Abs(w[k]-v[topics[k]]) > tol {
					t.Fatalf("%v, document %d: %v and, renumbered, %v (topics %v)", m, d, w, v, topics)
				}
			}
		}
	}
}

// The order of the words, repeated words and counts of 0 do not matter, and no
// counts are ones.
func TestWordsInAnyForm(t *testing.T) {
	p := newPlanted(60, 4, 5, 50, 3)
	tp := p.withDual(t)
	for _, m := range methods() {
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
			t.Errorf("%v: tokens one by one give %v, counts %v", m, v, w)
		}
		if _, err := inf.InferTo(v, append(slices.Clone(ids), 7), append(slices.Clone(counts), 0)); err != nil || !slices.Equal(v, w) {
			t.Errorf("%v: a count of 0 changes %v to %v (%v)", m, w, v, err)
		}
		weights := make([]float64, len(counts))
		for i, c := range counts {
			weights[i] = float64(c)
		}
		if _, err := inf.InferWeightsTo(v, ids, weights); err != nil || !slices.Equal(v, w) {
			t.Errorf("%v: as weights %v, as counts %v (%v)", m, v, w, err)
		}
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
		inf := prepare(t, m, tp)
		w := make([]float64, 4)
		for _, c := range []struct {
			ids, counts []int32
			unknown     float64
		}{{nil, nil, 0}, {[]int32{0}, []int32{3}, 3}, {[]int32{5, 9}, []int32{0, 0}, 0}} {
			d, err := inf.InferTo(w, c.ids, c.counts)
			if want := (Doc{Status: NoTokens, Unknown: c.unknown}); err != nil || d != want {
				t.Errorf("%v, %v: %+v, %v", m, c.ids, d, err)
			}
			for k := range w {
				if math.Abs(w[k]-mean[k]) > 1e-14 {
					t.Fatalf("%v: %v, want %v", m, w, mean)
				}
			}
		}
		d, err := inf.InferTo(w, []int32{0, 5, 6}, []int32{2, 3, 1})
		if err != nil || d.Unknown != 2 || d.Tokens != 4 {
			t.Errorf("%v: %+v, %v", m, d, err)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	p := newPlanted(40, 3, 10, 30, 4)
	tp := p.withDual(t)
	nan := math.NaN()
	for _, m := range methods() {
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
				t.Errorf("%v: %v, want %q", m, err, c.want)
			}
		}
		for _, x := range []float64{nan, math.Inf(1), -1} {
			if _, err := inf.InferWeightsTo(w, []int32{2}, []float64{x}); err == nil || !strings.Contains(err.Error(), "infer: the weight of word 2") {
				t.Errorf("%v: weight %v: %v", m, x, err)
			}
		}
		if _, err := inf.InferWeightsTo(w, []int32{2, 3}, []float64{math.MaxFloat64, math.MaxFloat64}); err == nil {
			t.Errorf("%v: weights whose sum overflows are accepted", m)
		}
		if _, err := inf.Infer(ctx, &docList{n: 41}, Options{}); err == nil || !strings.Contains(err.Error(), "documents over 41 words for a model of 40") {
			t.Errorf("%v: documents over another vocabulary: %v", m, err)
		}
		bad := &docList{n: 40, ids: [][]int32{{1}, {2, 99}}, counts: [][]int32{{1}, {1, 1}}}
		if _, err := inf.Infer(ctx, bad, Options{}); err == nil || !strings.Contains(err.Error(), "infer: document 1: word 99") {
			t.Errorf("%v: %v", m, err)
		}
		if _, err := inf.Infer(ctx, nil, Options{}); err == nil {
			t.Errorf("%v: no documents are accepted", m)
		}
		if b, err := inf.Infer(ctx, &docList{n: 40}, Options{}); err != nil || len(b.Docs) != 0 {
			t.Errorf("%v: an empty collection: %v", m, err)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := inf.Infer(done, p.docs, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: after the end of ctx: %v", m, err)
		}
	}
	g := prepare(t, Gibbs{}, tp)
	if _, err := g.InferWeightsTo(make([]float64, 3), []int32{2}, []float64{1.5}); err == nil || !strings.Contains(err.Error(), "whole numbers") {
		t.Errorf("Gibbs takes half a token: %v", err)
	}
}

func TestBadTopics(t *testing.T) {
	good := func() Topics {
		p := newPlanted(30, 3, 10, 30, 4)
		tp := p.Topics
		tp.Dual = mat.NewSymDense(3, nil)
		tp.Alpha = []float64{1, 2, 3}
		tp.Breve = mat.NewDense(30, 3, nil)
		for i := range 30 {
			tp.Breve.SetRow(i, []float64{0.5, 0.25, 0.25})
		}
		return tp
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		want   string
		change func(*Topics)
	}{
		{"B is nil", func(t *Topics) { t.B = nil }},
		{"B is nil or empty", func(t *Topics) { t.B = new(mat.Dense) }},
		{"B[4, 1] is NaN", func(t *Topics) { t.B.Set(4, 1, nan) }},
		{"B[4, 1] is -1", func(t *Topics) { t.B.Set(4, 1, -1) }},
		{"B[4, 1] is +Inf", func(t *Topics) { t.B.Set(4, 1, inf) }},
		{"topic 2 sums to", func(t *Topics) { t.B.Set(4, 2, 1) }},
		{"A is 2×2", func(t *Topics) { t.A = mat.NewDense(2, 2, nil) }},
		{"A[0, 1] is NaN", func(t *Topics) { t.A.Set(0, 1, nan) }},
		{"the other way round", func(t *Topics) { t.A.Set(0, 1, 9) }},
		{"A sums to", func(t *Topics) { t.A.Zero() }},
		{"Alpha has 1 values", func(t *Topics) { t.Alpha = []float64{1} }},
		{"Alpha, topic 1 is 0", func(t *Topics) { t.Alpha[1] = 0 }},
		{"Alpha, topic 1 is NaN", func(t *Topics) { t.Alpha[1] = nan }},
		{"Breve is 1×1", func(t *Topics) { t.Breve = mat.NewDense(1, 1, nil) }},
		{"Breve[2, 0] is -1", func(t *Topics) { t.Breve.Set(2, 0, -1) }},
		{"Dual is 1×1", func(t *Topics) { t.Dual = mat.NewSymDense(1, nil) }},
		{"Dual[1, 0] is NaN", func(t *Topics) { t.Dual.SetSym(0, 1, nan) }},
	} {
		for _, m := range methods() {
			tp := good()
			c.change(&tp)
			_, err := m.Prepare(ctx, tp, Options{})
			var te *TopicsError
			if !errors.As(err, &te) || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "infer:") != 1 {
				t.Errorf("%v: %v, want %q", m, err, c.want)
			}
		}
		tp := good()
		c.change(&tp)
		if err := tp.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Validate: %v, want %q", err, c.want)
		}
	}
	tp := good()
	if err := tp.Validate(); err != nil {
		t.Error(err)
	}
	tp.Breve.Set(3, 0, 0.9)
	if _, err := (SPI{}).Prepare(ctx, tp, Options{}); err == nil || !strings.Contains(err.Error(), "Breve, row 3 sums to 1.4") {
		t.Errorf("B̆ that does not sum to 1: %v", err)
	}
	tp = good()
	tp.Dual = nil
	var te *TopicsError
	if _, err := (PADD{}).Prepare(ctx, tp, Options{}); !errors.As(err, &te) || te.Field != "Dual" {
		t.Errorf("PADD without Λ: %v", err)
	}
	tp.A, tp.Alpha = nil, nil
	for _, m := range []Method{MAP{}, Gibbs{}} {
		if _, err := m.Prepare(ctx, tp, Options{}); err == nil || !strings.Contains(err.Error(), "needs one of them") {
			t.Errorf("%v without α: %v", m, err)
		}
	}
	for _, m := range []Method{
		LeastSquares{MaxIterations: -1}, PADD{Steps: -1}, PADD{Step: -1}, PADD{Step: nan}, PADD{Tol: 2}, TLI{Delta: -1}, TLI{Delta: 1}, TLI{Delta: nan},
		TLI{Divisor: 0.5}, TLI{Divisor: inf}, MAP{Steps: -1}, MAP{Tol: nan}, Gibbs{Sweeps: -1},
	} {
		var se *SettingError
		if _, err := m.Prepare(ctx, good(), Options{}); !errors.As(err, &se) || !strings.Contains(err.Error(), reflect.TypeOf(m).Name()) {
			t.Errorf("%v: %v", m, err)
		}
	}
	for s, want := range map[fmt.Stringer]string{
		AllZero: "all zero", Status(99): "Status(99)", Diverged: "diverged",
		PADD{Step: -3}: "PADD(steps=0, s=-3)", TLI{}: "TLI(δ=0, τ/4.5)",
	} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}
