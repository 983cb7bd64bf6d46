package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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

func TestBadTopics(t *testing.T) {
	good := func() Topics {
		p := newPlanted(30, 3, 10, 30, 4)
		tp := p.Topics
		tp.Dual = mat.NewSymDense(3, nil)
		tp.Alpha = []float64{1, 2, 3}
		tp.WordTopics = mat.NewDense(30, 3, nil)
		for i := range 30 {
			tp.WordTopics.SetRow(i, []float64{0.5, 0.25, 0.25})
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
		{"WordTopics is 1×1", func(t *Topics) { t.WordTopics = mat.NewDense(1, 1, nil) }},
		{"WordTopics[2, 0] is -1", func(t *Topics) { t.WordTopics.Set(2, 0, -1) }},
		{"Dual is 1×1", func(t *Topics) { t.Dual = mat.NewSymDense(1, nil) }},
		{"Hidden is -1", func(t *Topics) { t.Hidden = -1 }},
		{"Hidden is 3, must", func(t *Topics) { _, t.Hidden = t.B.Dims() }},
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
	tp.WordTopics.Set(3, 0, 0.9)
	if _, err := (SPI{}).Prepare(ctx, tp, Options{}); err == nil || !strings.Contains(err.Error(), "WordTopics, row 3 sums to 1.4") {
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
		PADD{Step: -1}, PADD{Tol: 2}, TLI{Delta: -1}, TLI{Delta: 1}, TLI{Divisor: 0.5}, TLI{Divisor: inf},
	} {
		var se *SettingError
		if _, err := m.Prepare(ctx, good(), Options{}); !errors.As(err, &se) || !strings.Contains(err.Error(), reflect.TypeOf(m).Name()) {
			t.Errorf("%v: %v", m, err)
		}
	}
	for s, want := range map[fmt.Stringer]string{
		AllZero: "all zero", Status(99): "Status(99)", Diverged: "diverged", NoTopic: "no topic",
		PADD{Step: -3}: "PADD(steps=0, s=-3)", TLI{}: "TLI(δ=0, τ/4.5)",
	} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}
