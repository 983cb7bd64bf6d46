package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a random model with a co-occurrence that it fits more or less.
type model struct {
	c       *cooc.Dense
	b, a    *mat.Dense
	breve   *mat.Dense
	anchors []int
	pairs   *counts
}

func (m *model) input() Factors {
	return Factors{C: m.c, B: m.b, WordTopics: m.breve, A: m.a, Anchors: m.anchors, Pairs: m.pairs, TopN: 8}
}

// randomModel makes B and A at random, C = BABᵀ with the given relative noise on
// each entry, scaled to sum 1, and B̆ by Bayes' rule. The anchors are separable
// (each has mass in its own topic only), so that without noise the model is exact.
func randomModel(t testing.TB, seed uint64, n, k int, noise float64) *model {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	m := &model{b: mat.NewDense(n, k, nil), a: mat.NewDense(k, k, nil), breve: mat.NewDense(n, k, nil), anchors: r.Perm(n)[:k]}
	m.b.Apply(func(_, _ int, _ float64) float64 { return math.Pow(r.Float64(), 4) + 1e-3 }, m.b)
	for j, s := range m.anchors {
		for l := range k {
			if l != j {
				m.b.Set(s, l, 0)
			}
		}
	}
	for j := range k {
		s := mat.Sum(m.b.ColView(j))
		for i := range n {
			m.b.Set(i, j, m.b.At(i, j)/s)
		}
	}
	w := mat.NewDense(k, 3*k, nil)
	w.Apply(func(_, _ int, _ float64) float64 { return r.ExpFloat64() }, w)
	m.a.Mul(w, w.T())
	m.a.Scale(1/mat.Sum(m.a), m.a)
	var c mat.Dense
	c.Product(m.b, m.a, m.b.T())
	for i := range n {
		for j := range i + 1 {
			v := (c.At(i, j) + c.At(j, i)) / 2 * (1 + noise*(2*r.Float64()-1))
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
	}
	c.Scale(1/mat.Sum(&c), &c)
	m.c = denseC(t, &c)
	for i := range n {
		row, s := m.breve.RawRowView(i), 0.0
		for j := range row {
			row[j] = m.b.At(i, j) * mat.Sum(m.a.RowView(j))
			s += row[j]
		}
		for j := range row {
			row[j] /= s
		}
	}
	const docs = 40
	m.pairs = &counts{docs: docs, d1: make([]int, n), d2: make([][]int, n)}
	in := make([][docs]bool, n)
	for i := range in {
		m.pairs.d2[i] = make([]int, n)
		p := r.Float64()
		for d := range docs {
			in[i][d] = r.Float64() < p || i%13 == 0 // some words are in every document
			if i%11 == 3 {
				in[i][d] = d == i%docs // and some never meet
			}
			in[i][i%docs] = true
			if in[i][d] {
				m.pairs.d1[i]++
			}
		}
	}
	for i := range n {
		for j := range n {
			for d := range docs {
				if in[i][d] && in[j][d] {
					m.pairs.d2[i][j]++
				}
			}
		}
	}
	return m
}

// slow computes every measure from its definition, in the most obvious way.
func slow(m *model, topN int) *Report {
	n, k := m.b.Dims()
	c := m.c.Matrix()
	marg, total := make([]float64, n), 0.0
	bar := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			marg[i] += c.At(i, j)
		}
		for j := range n {
			bar.Set(i, j, c.At(i, j)/marg[i])
		}
		total += marg[i]
	}
	perWord := func(f func(i int) float64) Stat {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return NewStat(v)
	}
	perTopic := func(f func(k int) float64) Stat {
		v := make([]float64, k)
		for i := range v {
			v[i] = f(i)
		}
		return NewStat(v)
	}
	r := new(Report)
	r.Recovery = perWord(func(i int) float64 {
		s := 0.0
		for j := range n {
			d := bar.At(i, j)
			for l := range k {
				d -= m.breve.At(i, l) * bar.At(m.anchors[l], j)
			}
			s += d * d
		}
		return math.Sqrt(s)
	})
	var res mat.Dense
	res.Product(m.b, m.a, m.b.T())
	res.Sub(c, &res)
	r.Approximation = mat.Norm(&res, 2)
	rowSum := func(l int) float64 { return mat.Sum(m.a.RowView(l)) }
	sumA := 0.0
	ratio, marginal := make([]float64, k), make([]float64, k)
	for l := range k {
		sumA += rowSum(l)
		words := 0
		for i := range n {
			marginal[l] += m.breve.At(i, l) * marg[i]
			if m.b.At(i, l) > 0 {
				ratio[l] += m.breve.At(i, l) * marg[i] / m.b.At(i, l)
				words++
			}
		}
		ratio[l] /= float64(words)
	}
	r.Legality = sumA
	sym := func(q []float64) float64 {
		sumQ, s := 0.0, 0.0
		for _, x := range q {
			sumQ += x
		}
		for l, x := range q {
			a := rowSum(l)
			s += a*math.Log2(a/(x/sumQ)) + x*math.Log2(x/(a/sumA))
		}
		return s / 2
	}
	r.Validity, r.ValidityMarginal = sym(ratio), sym(marginal)
	r.Dominancy = perTopic(func(l int) float64 { return m.a.At(l, l) / rowSum(l) })
	r.DominancyDiag = perTopic(func(l int) float64 { return m.a.At(l, l) })
	plogp := func(p, q float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log2(p/q)
	}
	r.Entropy = perWord(func(i int) float64 {
		h := 0.0
		for l := range k {
			h -= plogp(m.breve.At(i, l), 1)
		}
		return h / math.Log2(float64(k))
	})
	r.Sparsity = perTopic(func(l int) float64 {
		root := math.Sqrt(float64(n))
		return (root - mat.Norm(m.b.ColView(l), 1)/mat.Norm(m.b.ColView(l), 2)) / (root - 1)
	})
	r.Specificity = perTopic(func(l int) float64 {
		s := 0.0
		for i := range n {
			s += plogp(m.b.At(i, l), marg[i]/total)
		}
		return s
	})
	// order[l] is the whole vocabulary by falling probability in topic l.
	order := make([][]int, k)
	for l := range k {
		order[l] = make([]int, n)
		for i := range n {
			order[l][i] = i
		}
		sort.SliceStable(order[l], func(x, y int) bool { return m.b.At(order[l][x], l) > m.b.At(order[l][y], l) })
	}
	r.Dissimilarity = perTopic(func(l int) float64 {
		count := 0.0
		for _, w := range order[l][:topN] {
			alone := true
			for o := range k {
				alone = alone && (o == l || !slices.Contains(order[o][:topN], w))
			}
			if alone {
				count++
			}
		}
		return count
	})
	pairSum := func(l int, f func(x, y int) float64) (s float64) {
		for i := range topN {
			for j := range i {
				s += f(order[l][i], order[l][j])
			}
		}
		return s
	}
	umass := func(x, y int) float64 {
		return math.Log((float64(m.pairs.d2[x][y]) + 0.01) / float64(m.pairs.d1[y]))
	}
	r.Coherence = perTopic(func(l int) float64 { return pairSum(l, umass) })
	r.CoherenceOrdered = perTopic(func(l int) float64 {
		s := 0.0
		for _, x := range order[l][:topN] {
			for _, y := range order[l][:topN] {
				if x != y {
					s += umass(x, y)
				}
			}
		}
		return s
	})
	docs := float64(m.pairs.docs)
	r.NPMI = perTopic(func(l int) float64 {
		return pairSum(l, func(x, y int) float64 {
			p := float64(m.pairs.d2[x][y]) / docs
			if p == 0 {
				return -1
			}
			if p == 1 {
				return 1
			}
			return -math.Log(p/(float64(m.pairs.d1[x])/docs*float64(m.pairs.d1[y])/docs)) / math.Log(p)
		}) / float64(topN*(topN-1)/2)
	})
	rank := func(w, l int) float64 { return float64(slices.Index(order[l], w) + 1) }
	r.BasisRank = perTopic(func(l int) float64 { return rank(m.anchors[l], l) })
	r.SoftBasisRank = perTopic(func(l int) float64 {
		return math.Log(mat.Max(m.b.ColView(l)) / m.b.At(m.anchors[l], l))
	})
	r.BasisQuality = perTopic(func(l int) float64 {
		s := 0.0
		for o := range k {
			if o != l {
				s += rank(m.anchors[l], o)
			}
		}
		return s / float64(k-1)
	})
	r.BasisQualityShare = perTopic(func(l int) float64 {
		s := 0.0
		for o := range k {
			if o == l {
				continue
			}
			more, all, own := 0.0, 0.0, m.b.At(m.anchors[l], o)
			for i := range n {
				p := m.b.At(i, o)
				if i == m.anchors[l] || p == 0 {
					continue
				}
				all++
				if p > own {
					more++
				} else if p == own {
					more += 0.5
				}
			}
			s += more / all
		}
		return s / float64(k-1)
	})
	for l := range k {
		var d mat.VecDense
		d.SubVec(mat.NewVecDense(n, nil), m.b.ColView(l))
		for o := range k {
			d.AddScaledVec(&d, 1/float64(k), m.b.ColView(o))
		}
		r.TopicDissimilarity = max(r.TopicDissimilarity, mat.Norm(&d, 2))
	}
	r.Verdicts = slowVerdicts(m.input())
	return r
}

// closeReports compares all fields of two reports to a tolerance relative to the
// value or, below 1, absolute; NaN equals NaN. With tol 0 all bits must agree.
func closeReports(t *testing.T, name string, got, want *Report, tol float64) {
	t.Helper()
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	same := func(field string, x, y float64) {
		t.Helper()
		if math.IsNaN(x) && math.IsNaN(y) || x == y || math.Abs(x-y) <= tol*max(1, math.Abs(y)) {
			return
		}
		t.Errorf("%s: %s = %.17g, want %.17g", name, field, x, y)
	}
	for i := range g.NumField() {
		field := g.Type().Field(i).Name
		switch x := g.Field(i).Interface().(type) {
		case bool:
			if x != w.Field(i).Bool() {
				t.Errorf("%s: %s = %v", name, field, x)
			}
		case float64:
			same(field, x, w.Field(i).Float())
		case Stat:
			y := w.Field(i).Interface().(Stat)
			same(field+".Mean", x.Mean, y.Mean)
			same(field+".Std", x.Std, y.Std)
			if x.Undefined != y.Undefined || len(x.Values) != len(y.Values) {
				t.Errorf("%s: %s has %d values, %d undefined; want %d, %d", name, field, len(x.Values), x.Undefined, len(y.Values), y.Undefined)
				continue
			}
			for j := range x.Values {
				same(fmt.Sprintf("%s[%d]", field, j), x.Values[j], y.Values[j])
			}
		case []Verdict:
			closeVerdicts(t, name, x, w.Field(i).Interface().([]Verdict), tol)
		default:
			t.Fatalf("field %s of another type", field)
		}
	}
}

func evaluate(t testing.TB, in Factors) *Report {
	t.Helper()
	r, err := Evaluate(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSlow compares Evaluate with the definitions on random models, to 1e-11:
// residuals are differences of squares, which keep 9 digits at the worst of the
// accepted ratios, of numbers below 0.1.
func TestSlow(t *testing.T) {
	for seed := range uint64(6) {
		for _, noise := range []float64{0, 1e-9, 1e-4, 1e-2, 0.9} {
			m := randomModel(t, seed, 60, 5, noise)
			closeReports(t, fmt.Sprintf("seed %d, noise %g", seed, noise), evaluate(t, m.input()), slow(m, 8), 1e-11)
		}
	}
}

// TestSmallResiduals checks the relative precision of the two residuals around
// the place where the expansion of the square gives way to the plain sum: 1e-8,
// for at the ratio 1e-6 of squares rounding of 1e-15 leaves some nine digits.
func TestSmallResiduals(t *testing.T) {
	for _, noise := range []float64{1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2} {
		m := randomModel(t, 3, 130, 5, noise)
		want := slow(m, 8)
		got := evaluate(t, m.input())
		// Below 1e-7 the definition itself has only the rounding of C (1e-16 of it)
		// for digits.
		tol := max(1e-8, 1e-15/noise*10)
		if d := math.Abs(got.Approximation/want.Approximation - 1); !(d < tol) {
			t.Errorf("noise %g: approximation %v, want %v (%.2g)", noise, got.Approximation, want.Approximation, d)
		}
		for i, v := range want.Recovery.Values {
			if slices.Contains(m.anchors, i) {
				if got.Recovery.Values[i] != 0 {
					t.Errorf("noise %g: anchor %d is recovered with error %v, not 0", noise, i, got.Recovery.Values[i])
				}
			} else if d := math.Abs(got.Recovery.Values[i]/v - 1); !(d < tol) {
				t.Errorf("noise %g: recovery of word %d: %v, want %v (%.2g)", noise, i, got.Recovery.Values[i], v, d)
			}
		}
	}
}

// TestExact: a noise-free separable model has no residual but rounding.
func TestExact(t *testing.T) {
	m := randomModel(t, 1, 200, 6, 0)
	r := evaluate(t, m.input())
	if norm := mat.Norm(m.c.Matrix(), 2); r.Approximation > 1e-14*norm {
		t.Errorf("approximation %g", r.Approximation)
	}
	if r.Recovery.Mean > 1e-16 {
		t.Errorf("recovery %g", r.Recovery.Mean)
	}
	if math.Abs(r.Legality-1) > 1e-14 || math.Abs(r.Validity) > 1e-14 || math.Abs(r.ValidityMarginal) > 1e-14 {
		t.Errorf("legality %v, validity %g, %g", r.Legality, r.Validity, r.ValidityMarginal)
	}
}

// TestNonSymmetricA: Approximation does not lean on the symmetry of A.
func TestNonSymmetricA(t *testing.T) {
	m := randomModel(t, 5, 60, 5, 0.5)
	m.a.Set(0, 1, 0.3)
	got := evaluate(t, Factors{C: m.c, B: m.b, A: m.a}).Approximation
	if want := slow(m, 8).Approximation; math.Abs(got-want) > 1e-14 {
		t.Errorf("%v, want %v", got, want)
	}
}

// permuted returns the model with word i renamed to w[i] and topic k to z[k].
func (m *model) permuted(t *testing.T, w, z []int) *model {
	n, k := m.b.Dims()
	p := &model{b: mat.NewDense(n, k, nil), a: mat.NewDense(k, k, nil), breve: mat.NewDense(n, k, nil), anchors: make([]int, k),
		pairs: &counts{docs: m.pairs.docs, d1: make([]int, n), d2: make([][]int, n)}}
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range k {
			p.b.Set(w[i], z[j], m.b.At(i, j))
			p.breve.Set(w[i], z[j], m.breve.At(i, j))
		}
		p.pairs.d1[w[i]], p.pairs.d2[w[i]] = m.pairs.d1[i], make([]int, n)
		for j := range n {
			c.Set(w[i], w[j], m.c.At(i, j))
			p.pairs.d2[w[i]][w[j]] = m.pairs.d2[i][j]
		}
	}
	for j := range k {
		p.anchors[z[j]] = w[m.anchors[j]]
		for l := range k {
			p.a.Set(z[j], z[l], m.a.At(j, l))
		}
	}
	p.c = denseC(t, c)
	return p
}

// TestPermutation renames words and topics: values move along. 1e-12: sums in
// another order. BasisQuality ranks zeros, tied by word number, and is left out
// when words move.
func TestPermutation(t *testing.T) {
	const n, k = 70, 6
	m := randomModel(t, 11, n, k, 0.3)
	r := rand.New(rand.NewPCG(1, 2))
	id := func(n int) []int { return slices.Sorted(slices.Values(r.Perm(n))) }
	for name, p := range map[string][2][]int{"words": {r.Perm(n), id(k)}, "topics": {id(n), r.Perm(k)}, "both": {r.Perm(n), r.Perm(k)}} {
		got, want := evaluate(t, m.permuted(t, p[0], p[1]).input()), evaluate(t, m.input())
		f := reflect.ValueOf(want).Elem()
		for i := range f.NumField() {
			if s, ok := f.Field(i).Interface().(Stat); ok {
				v, to := make([]float64, len(s.Values)), p[1]
				if len(v) == n {
					to = p[0]
				}
				for j, x := range s.Values {
					v[to[j]] = x
				}
				s.Values = v
				f.Field(i).Set(reflect.ValueOf(s))
			}
		}
		verdicts := make([]Verdict, k)
		for j, v := range want.Verdicts {
			if v.Twin >= 0 {
				v.Twin = p[1][v.Twin]
			}
			verdicts[p[1][j]] = v
		}
		want.Verdicts = verdicts
		if name != "topics" {
			got.BasisQuality, want.BasisQuality = Stat{}, Stat{}
		}
		closeReports(t, name, got, want, 1e-12)
	}
}

// TestWorkers: the same bits from any number of workers and of processors.
func TestWorkers(t *testing.T) {
	for _, noise := range []float64{1e-6, 0.3} { // both ways to sum residuals
		m := randomModel(t, 2, 333, 9, noise)
		in := m.input()
		in.Workers = 1
		want := evaluate(t, in)
		for _, procs := range []int{1, 2, 8} {
			old := runtime.GOMAXPROCS(procs)
			for _, in.Workers = range []int{0, 1, 2, 3, math.MaxInt} {
				closeReports(t, fmt.Sprintf("%d processors, %d workers", procs, in.Workers), evaluate(t, in), want, 0)
			}
			runtime.GOMAXPROCS(old)
		}
	}
}

// TestByHand works each measure of one small model out by hand. 1e-14: a few
// operations each.
func TestByHand(t *testing.T) {
	// Three words, two topics. Word 0 and 1 are the anchors of topics 0 and 1.
	b := mat.NewDense(3, 2, []float64{
		.5, 0,
		0, .25,
		.5, .75,
	})
	breve := mat.NewDense(3, 2, []float64{
		1, 0,
		0, 1,
		.25, .75,
	})
	a := mat.NewDense(2, 2, []float64{
		.3, .1,
		.1, .5,
	})
	// Rows sum to .25, .25, .5.
	c := denseC(t, mat.NewDense(3, 3, []float64{
		.125, 0, .125,
		0, .125, .125,
		.125, .125, .25,
	}))
	// Four documents: {0,2}, {0,2}, {1,2}, {2}.
	pairs := &counts{docs: 4, d1: []int{2, 1, 4}, d2: [][]int{{0, 0, 2}, {0, 0, 1}, {2, 1, 0}}}
	in := Factors{C: c, B: b, WordTopics: breve, A: a, Anchors: []int{0, 1}, Pairs: pairs, TopN: 2}
	r := evaluate(t, in)
	is := func(name string, got Stat, want ...float64) {
		t.Helper()
		if len(got.Values) != len(want) {
			t.Errorf("%s: %d values", name, len(got.Values))
			return
		}
		for i, w := range want {
			if math.Abs(got.Values[i]-w) > 1e-14 {
				t.Errorf("%s[%d] = %v, want %v", name, i, got.Values[i], w)
			}
		}
	}
	one := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	// C̄ has rows (½,0,½), (0,½,½), (¼,¼,½); the last minus ¼ of the first and ¾ of
	// the second is (⅛,−⅛,0).
	is("recovery", r.Recovery, 0, 0, math.Sqrt2/8)
	one("recovery mean", r.Recovery.Mean, math.Sqrt2/24)
	one("recovery std", r.Recovery.Std, math.Sqrt2/8/math.Sqrt(3))
	// BABᵀ = (.075 .0125 .1125; · .03125 .10625; · · .43125).
	d := []float64{.05, .09375, -.18125, -.0125, .0125, .01875}
	one("approximation", r.Approximation, math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2]+2*(d[3]*d[3]+d[4]*d[4]+d[5]*d[5])))
	one("legality", r.Legality, 1)
	// a = (.4, .6). Bayes' ratios: topic 0 (.25/.5, .25·.5/.5) → ⅜; topic 1
	// (.25/.25, .75·.5/.75) → ¾. By total probability q = (.375, .625).
	kl := func(p, q [2]float64) float64 { return p[0]*math.Log2(p[0]/q[0]) + p[1]*math.Log2(p[1]/q[1]) }
	am := [2]float64{.4, .6}
	one("validity", r.Validity, (kl(am, [2]float64{1. / 3, 2. / 3})+kl([2]float64{.375, .75}, am))/2)
	one("validity, marginal", r.ValidityMarginal, (kl(am, [2]float64{.375, .625})+kl([2]float64{.375, .625}, am))/2)
	is("dominancy", r.Dominancy, .75, 5./6)
	is("dominancy_diag", r.DominancyDiag, .3, .5)
	is("entropy", r.Entropy, 0, 0, 2-.75*math.Log2(3))
	root := math.Sqrt(3)
	is("sparsity", r.Sparsity, (root-math.Sqrt2)/(root-1), (root-4/math.Sqrt(10))/(root-1))
	is("specificity", r.Specificity, .5, .75*math.Log2(1.5))
	// Top words: topic 0 {0, 2} (a tie, lowest first), topic 1 {2, 1}.
	is("dissimilarity", r.Dissimilarity, 1, 1)
	is("coherence", r.Coherence, math.Log(2.01/2), math.Log(1.01/4))
	is("coherence_ordered", r.CoherenceOrdered, math.Log(2.01/2)+math.Log(2.01/4), math.Log(1.01/4)+math.Log(1.01/1))
	is("npmi", r.NPMI, 0, 0) // word 2 is everywhere, and so independent of all
	is("basis_rank", r.BasisRank, 1, 2)
	is("soft_basis_rank", r.SoftBasisRank, 0, math.Log(3))
	is("basis_quality", r.BasisQuality, 3, 3)
	is("basis_quality_share", r.BasisQualityShare, 1, 1)
	// b̄ = (¼, ⅛, ⅝), at (¼, ⅛, ⅛) from both topics.
	one("topic dissimilarity", r.TopicDissimilarity, math.Sqrt(4+1+1)/8)
}

// TestNPMIEnds: −1 for words that never meet, +1 for words in every document and
// for words that only ever come together, 0 for independent ones.
func TestNPMIEnds(t *testing.T) {
	b := mat.NewDense(2, 1, []float64{.5, .5})
	for _, x := range []struct {
		d1, d2, docs int
		want         float64
	}{{3, 0, 8, -1}, {8, 8, 8, 1}, {3, 3, 8, 1}, {4, 2, 8, 0}} {
		p := &counts{docs: x.docs, d1: []int{x.d1, x.d1}, d2: [][]int{{0, x.d2}, {x.d2, 0}}}
		got := evaluate(t, Factors{B: b, Pairs: p}).NPMI
		if math.Abs(got.Mean-x.want) > 1e-15 {
			t.Errorf("%+v: %v", x, got.Mean)
		}
	}
}

// TestUndefined: values that do not exist are NaN, counted, and left out.
func TestUndefined(t *testing.T) {
	is := func(name string, s Stat, mean float64, undefined ...int) {
		t.Helper()
		if s.Undefined != len(undefined) || !(s.Mean == mean || math.IsNaN(s.Mean) && math.IsNaN(mean)) {
			t.Errorf("%s: mean %v, %d undefined; want %v, %d", name, s.Mean, s.Undefined, mean, len(undefined))
		}
		for _, i := range undefined {
			if !math.IsNaN(s.Values[i]) {
				t.Errorf("%s: value %d is %v", name, i, s.Values[i])
			}
		}
	}
	ctx := context.Background()
	nan := math.NaN()
	// Topic 1 is empty.
	b := mat.NewDense(3, 2, []float64{1, 0, 0, 0, 0, 0})
	pairs := &counts{docs: 4, d1: []int{2, 2, 0}, d2: [][]int{{0, 2, 0}, {2, 0, 0}, {0, 0, 0}}}
	r := evaluate(t, Factors{B: b, Anchors: []int{1, 2}, Pairs: pairs, TopN: 2})
	is("sparsity", r.Sparsity, 1, 1)
	is("dissimilarity", r.Dissimilarity, 2, 1)
	is("coherence", r.Coherence, math.Log(2.01/2), 1)
	is("npmi", r.NPMI, 1, 1)
	is("basis rank", r.BasisRank, 2, 1)
	is("basis quality", r.BasisQuality, 3, 0)
	is("soft basis rank of an anchor without mass", r.SoftBasisRank, nan, 0, 1)
	of := func(rows, cols int, entries ...float64) *topics {
		t.Helper()
		b, err := checkTopics(mat.NewDense(rows, cols, entries))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	is("specificity", of(3, 2, 1, 0, 0, 0, 0, 0).specificity([]float64{.5, .25, .25}, 1), 1, 1)
	is("soft basis rank", of(3, 2, 1, 0, 0, 0, 0, 0).softBasisRank([]int{0, 2}), 0, 1)
	// A topic that has no other word than the anchor, and one that lacks it.
	two := of(3, 2, 1, .5, 0, .25, 0, .25)
	for _, x := range []struct {
		name      string
		anchors   []int
		mean      float64
		undefined []int
	}{
		{"a tie and a topic without the anchor", []int{1, 2}, .875, nil},
		{"the first word", []int{0, 1}, .5, nil},
		{"the only word", []int{1, 0}, .75, []int{1}},
	} {
		_, s, err := two.basisQuality(ctx, x.anchors, 1)
		if err != nil {
			t.Fatal(err)
		}
		is("basis quality, "+x.name, s, x.mean, x.undefined...)
	}
	// Words that are in no document count as words that never meet.
	is("coherence of an unseen word", coherence(of(3, 1, 0, 0, 1).tops(2), pairs), math.Log(.01))
	is("npmi of a single word", evaluate(t, Factors{B: b, Pairs: pairs, TopN: 1}).NPMI, nan, 0, 1)
	is("specificity on a word without marginal", of(2, 2, 1, .5, 0, .5).specificity([]float64{1, 0}, 1), 0, 1)
	is("dominancy", dominancy(mat.NewDense(2, 2, []float64{.5, .5, 0, 0})), .5, 1)
	is("entropy", entropy(mat.NewDense(2, 2, []float64{0, 0, .5, .5})), 1, 0)
	if v := validityMarginal(mat.NewDense(2, 2, []float64{1, 0, 0, 0}), mat.NewDense(1, 2, []float64{.5, .5}), []float64{1}); !math.IsNaN(v) {
		t.Errorf("validity of marginals with different support: %v", v)
	}
	// Word 2 is unknown to C.
	c := denseC(t, mat.NewDense(3, 3, []float64{.25, .25, 0, .25, .25, 0, 0, 0, 0}))
	breve := mat.NewDense(3, 1, []float64{1, 1, 0})
	one := mat.NewDense(3, 1, []float64{.5, .25, .25})
	recovered := func(c cooc.Matrix, anchor int) (Stat, error) {
		r, err := Evaluate(ctx, Factors{C: c, B: one, WordTopics: breve, Anchors: []int{anchor}})
		if err != nil {
			return Stat{}, err
		}
		return r.Recovery, nil
	}
	s, err := recovered(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	is("recovery", s, 0, 2)

	// Nor is a row known whose entries are too small to be divided by their sum.
	tiny := denseC(t, mat.NewDense(3, 3, []float64{.25, .25, 1e-310, .25, .25, 0, 1e-310, 0, 0}))
	if s, err = recovered(tiny, 0); err != nil {
		t.Fatal(err)
	}
	is("recovery of a denormal row", s, 0, 2)
	if _, err = recovered(tiny, 2); err == nil || !strings.Contains(err.Error(), "too small to normalise") {
		t.Errorf("a denormal anchor: %v", err)
	}

	// One topic, and one word.
	r = evaluate(t, Factors{B: one, Anchors: []int{0}})
	is("dissimilarity, K=1", r.Dissimilarity, 3)
	is("basis quality, K=1", r.BasisQuality, nan, 0)
	is("entropy, K=1", entropy(mat.NewDense(2, 1, []float64{1, 1})), 0)
	is("sparsity, N=1", of(1, 1, 1).sparsity(), nan, 0)
	r, err = Evaluate(ctx, Factors{C: c, B: mat.NewDense(3, 1, []float64{.5, .5, 0}), A: mat.NewDense(1, 1, []float64{1}), WordTopics: breve, Anchors: []int{0}, Pairs: pairs})
	if err != nil {
		t.Fatal(err)
	}
	if r.Recovery.Std != 0 || r.Sparsity.Std != 0 || r.Approximation > 1e-16 || r.BasisQuality.Undefined != 1 {
		t.Errorf("K=1: %+v", r)
	}
}

func TestTopWords(t *testing.T) {
	b := mat.NewDense(6, 2, []float64{
		.1, math.NaN(),
		.3, .2,
		.1, .2,
		.3, 0,
		.2, .6,
		0, math.Inf(-1),
	})
	for _, x := range []struct {
		k, n int
		want []int
	}{
		{0, 1, []int{1}}, {0, 3, []int{1, 3, 4}}, {0, 4, []int{1, 3, 4, 0}}, {0, 100, []int{1, 3, 4, 0, 2, 5}},
		{1, 4, []int{4, 1, 2, 3}}, {1, 6, []int{4, 1, 2, 3, 5, 0}}, {0, 0, nil}, {0, -1, nil},
	} {
		if got := topWords(b, x.n)[x.k]; !slices.Equal(got, x.want) {
			t.Errorf("topWords(%d, %d) = %v, want %v", x.k, x.n, got, x.want)
		}
	}
	if got := TopUnion(b, 2); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("TopUnion = %v", got)
	}
	// Against a stable sort, with many ties.
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		n := 1 + r.IntN(80)
		m, all := mat.NewDense(n, 1, nil), make([]int, n)
		for i := range n {
			m.Set(i, 0, float64(r.IntN(10)))
			all[i] = i
		}
		sort.SliceStable(all, func(x, y int) bool { return m.At(all[x], 0) > m.At(all[y], 0) })
		top := 1 + r.IntN(n)
		if got := topWords(m, top)[0]; !slices.Equal(got, all[:top]) {
			t.Fatalf("topWords(%v, %d) = %v, want %v", m.RawMatrix().Data, top, got, all[:top])
		}
	}
}

func TestStat(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		values    []float64
		mean, std float64
		undefined int
	}{
		{[]float64{1, 2, 3}, 2, 1, 0},
		{[]float64{nan, 1, 3}, 2, math.Sqrt2, 1},
		{[]float64{5}, 5, 0, 0},
		{[]float64{5, nan}, 5, 0, 1},
		{[]float64{nan}, nan, nan, 1},
		{nil, nan, nan, 0},
	} {
		s := NewStat(x.values)
		eq := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !eq(s.Mean, x.mean) || !eq(s.Std, x.std) || s.Undefined != x.undefined {
			t.Errorf("%v: %+v", x.values, s)
		}
	}
}

// broken is a co-occurrence whose parts misbehave.
type broken struct {
	cooc.Matrix
	mul    func(dst *mat.Dense) error
	marg   []float64
	norms2 []float64
	row    func(dst []float64)
}

func (b *broken) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if b.mul != nil {
		return b.mul(dst)
	}
	return b.Matrix.MulTo(ctx, dst, x, workers)
}

func (b *broken) Marginals() []float64 {
	if b.marg != nil {
		return b.marg
	}
	return b.Matrix.Marginals()
}

func (b *broken) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	if b.norms2 != nil {
		return b.norms2, nil
	}
	return b.Matrix.RowNorms2(ctx, workers)
}

func (b *broken) RowTo(dst []float64, i int) {
	b.Matrix.RowTo(dst, i)
	if b.row != nil {
		b.row(dst)
	}
}

func TestErrors(t *testing.T) {
	m := randomModel(t, 4, 30, 3, 0.2)
	boom := errors.New("boom")
	nan := math.NaN()
	set := func(d *mat.Dense, i, j int, v float64) *mat.Dense {
		d = mat.DenseCopyOf(d)
		d.Set(i, j, v)
		return d
	}
	for _, x := range []struct {
		name   string
		change func(in *Factors)
		want   string
	}{
		{"no B", func(in *Factors) { in.B = nil }, "B is 0×0, needs 30×(≥ 1)"},
		{"empty B", func(in *Factors) { in.B = &mat.Dense{} }, "B is 0×0"},
		{"transposed B", func(in *Factors) { in.B = mat.DenseCopyOf(m.b.T()) }, "B is 3×30, needs 30"},
		{"NaN in B", func(in *Factors) { in.B = set(m.b, 7, 1, nan) }, "B[7, 1]: NaN is not finite"},
		{"negative B", func(in *Factors) { in.B = set(m.b, 7, 1, -.1) }, "B[7, 1]: -0.1 is negative"},
		{"B not stochastic", func(in *Factors) { in.B = set(m.b, 7, 1, 1.5) }, "B, column 1"},
		{"B̆ shape", func(in *Factors) { in.WordTopics = mat.NewDense(30, 2, nil) }, "B̆ is 30×2, needs 30×3"},
		{"empty B̆", func(in *Factors) { in.WordTopics = &mat.Dense{} }, "B̆ is 0×0, needs 30×3"},
		{"infinite B̆", func(in *Factors) { in.WordTopics = set(m.breve, 3, 2, math.Inf(1)) }, "B̆[3, 2]: +Inf is not finite"},
		{"B̆ negative", func(in *Factors) { in.WordTopics = set(m.breve, 3, 2, -1) }, "B̆[3, 2]: -1 is negative"},
		{"B̆ not stochastic", func(in *Factors) { in.WordTopics = set(m.breve, 3, 2, 3) }, "B̆[3] sums to 3.9"},
		{"A shape", func(in *Factors) { in.A = mat.NewDense(2, 2, nil) }, "A is 2×2, needs 3×3"},
		{"NaN in A", func(in *Factors) { in.A = set(m.a, 0, 2, nan) }, "A[0, 2]: NaN is not finite"},
		{"huge A", func(in *Factors) { in.A = set(m.a, 0, 0, 1e300) }, "too large"},
		{"too few anchors", func(in *Factors) { in.Anchors = []int{1} }, "1 anchors given, 3 needed"},
		{"anchor out of range", func(in *Factors) { in.Anchors = []int{1, 30, 2} }, "anchors[1]: 30 is not in [0, 30)"},
		{"negative anchor", func(in *Factors) { in.Anchors = []int{1, 2, -1} }, "anchors[2]: -1 is not in [0, 30)"},
		{"negative TopN", func(in *Factors) { in.TopN = -1 }, "lists of -1 top words"},
		{"uncounted words", func(in *Factors) { in.Pairs = &counts{docs: 3, d1: []int{1}, d2: [][]int{{1}}} }, "no pair counts for word"},
		{"no documents", func(in *Factors) { in.Pairs = &counts{} }, "no documents"},
		{"product fails", func(in *Factors) { in.C = &broken{Matrix: m.c, mul: func(*mat.Dense) error { return boom }} }, "boom"},
		{"NaN in a product", func(in *Factors) {
			in.C = &broken{Matrix: m.c, mul: func(d *mat.Dense) error { d.Set(5, 0, nan); return nil }}
		}, "C[5]: NaN"},
		{"NaN in a row", func(in *Factors) { in.C = &broken{Matrix: m.c, row: func(d []float64) { d[4] = nan }} }, "not finite"},
		{"NaN in marginals", func(in *Factors) {
			in.C = &broken{Matrix: m.c, marg: append(slices.Clone(m.c.Marginals()[:29]), nan)}
		}, "C (row sums)[29]: NaN"},
		{"too few marginals", func(in *Factors) { in.C = &broken{Matrix: m.c, marg: []float64{1}} }, "1 marginals given, 30 needed"},
		{"NaN in norms", func(in *Factors) {
			in.C = &broken{Matrix: m.c, norms2: append(make([]float64, 29), nan)}
		}, "C (row norms)[29]: NaN"},
		{"too few norms", func(in *Factors) { in.C = &broken{Matrix: m.c, norms2: []float64{1}} }, "row norms of C: 1 for 30 rows"},
		{"anchor unknown to C", func(in *Factors) {
			c := slices.Clone(m.c.Marginals())
			c[m.anchors[1]] = 0
			in.C = &broken{Matrix: m.c, marg: c}
		}, "anchors[1]: "},
		{"C without mass", func(in *Factors) {
			in.C, in.WordTopics = &broken{Matrix: m.c, marg: make([]float64, 30)}, nil
		}, "marginals sum to 0"},
	} {
		in := m.input()
		x.change(&in)
		r, err := Evaluate(context.Background(), in)
		if err == nil || r != nil {
			t.Errorf("%s: no error", x.name)
			continue
		}
		if !strings.Contains(err.Error(), x.want) || strings.Count(err.Error(), "metrics: ") != 1 {
			t.Errorf("%s: error %q, want one with %q", x.name, err, x.want)
		}
	}
	_, err := Evaluate(context.Background(), Factors{C: &broken{Matrix: m.c, mul: func(*mat.Dense) error { return boom }}, B: m.b, A: m.a})
	if !errors.Is(err, boom) {
		t.Errorf("the cause is lost: %v", err)
	}
	for name, in := range map[string]Factors{
		"nothing":      {},
		"empty topics": {B: mat.NewDense(2, 2, nil)},
		"nil A":        {B: m.b, A: (*mat.Dense)(nil)},
	} {
		if _, err := Evaluate(context.Background(), in); err == nil || !strings.HasPrefix(err.Error(), "metrics: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParts: without some of the input the measures that need it are left out,
// and the others are the same.
func TestParts(t *testing.T) {
	m := randomModel(t, 6, 40, 4, 0.1)
	full := evaluate(t, m.input()).Keyed()
	keys := "recovery approximation legality validity dominancy dominancy_diag entropy sparsity specificity dissimilarity" +
		" coherence coherence_ordered npmi basis_rank soft_basis_rank basis_quality basis_quality_share"
	list := func(ms []Metric) string {
		var k []string
		for _, m := range ms {
			k = append(k, m.Key)
		}
		return strings.Join(k, " ")
	}
	if list(full) != keys {
		t.Errorf("keys %s", list(full))
	}
	value := make(map[string]Metric)
	for _, x := range full {
		value[x.Key] = x
	}
	for _, x := range []struct {
		name   string
		change func(in *Factors)
		gone   string
	}{
		{"pairs", func(in *Factors) { in.Pairs = nil }, "coherence coherence_ordered npmi"},
		{"typed nil pairs", func(in *Factors) { in.Pairs = (*cooc.Pairs)(nil) }, "coherence coherence_ordered npmi"},
		{"anchors", func(in *Factors) { in.Anchors = nil }, "recovery basis_rank soft_basis_rank basis_quality basis_quality_share"},
		{"B̆", func(in *Factors) { in.WordTopics = nil }, "recovery validity entropy"},
		{"A", func(in *Factors) { in.A = nil }, "approximation legality validity dominancy dominancy_diag"},
		{"C", func(in *Factors) { in.C = nil }, "recovery approximation validity specificity"},
		{"all", func(in *Factors) { *in = Factors{C: in.C, B: in.B, TopN: in.TopN} },
			"recovery approximation legality validity dominancy dominancy_diag entropy coherence coherence_ordered npmi basis_rank soft_basis_rank basis_quality basis_quality_share"},
	} {
		in := m.input()
		x.change(&in)
		got := evaluate(t, in).Keyed()
		gone := strings.Fields(x.gone)
		want := slices.DeleteFunc(strings.Fields(keys), func(k string) bool { return slices.Contains(gone, k) })
		if list(got) != strings.Join(want, " ") {
			t.Errorf("without %s: %s", x.name, list(got))
		}
		for _, g := range got {
			if g != value[g.Key] {
				t.Errorf("without %s: %+v, was %+v", x.name, g, value[g.Key])
			}
		}
	}
}

// TestJSON: every key once, in order; undefined numbers are null.
func TestJSON(t *testing.T) {
	m := randomModel(t, 6, 40, 4, 0.1)
	r := evaluate(t, m.input())
	p, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(p, &v); err != nil {
		t.Fatalf("%v in %s", err, p)
	}
	for _, x := range r.Keyed() {
		if x.Single {
			if v[x.Key] != x.Mean {
				t.Errorf("%s: %v, want %v", x.Key, v[x.Key], x.Mean)
			}
		} else if o := v[x.Key].(map[string]any); o["mean"] != x.Mean || o["std"] != x.Std || len(o) != 2 {
			t.Errorf("%s: %v, want %+v", x.Key, o, x)
		}
	}
	if len(v) != len(r.Keyed()) {
		t.Errorf("%d keys", len(v))
	}
	p, err = json.Marshal(&Report{Validity: math.NaN(), Legality: 1, Sparsity: NewStat([]float64{math.NaN()}),
		Dominancy: NewStat([]float64{1}), Specificity: NewStat([]float64{1}), Entropy: NewStat([]float64{1})})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"validity":null,`, `"sparsity":{"mean":null,"std":null,"undefined":1}`, `"legality":1,`} {
		if !strings.Contains(string(p), want) {
			t.Errorf("no %s in %s", want, p)
		}
	}
}

// TestReportString: a report of many words prints as one screen.
func TestReportString(t *testing.T) {
	m := randomModel(t, 6, 300, 4, 0.1)
	r := evaluate(t, m.input())
	s := fmt.Sprint(r)
	if n := strings.Count(s, "\n"); n != len(r.Keyed())+1 || len(s) > 1000 || !strings.HasSuffix(s, "verdicts            4 weak\n") {
		t.Errorf("%d bytes in %d lines:\n%s", len(s), n, s)
	}
	for _, x := range r.Keyed() {
		if !strings.Contains(s, x.Key) {
			t.Errorf("no %s in\n%s", x.Key, s)
		}
	}
	if s := fmt.Sprint((*Report)(nil), NewStat([]float64{1, 3, math.NaN()})); s != "no report 2 ± 1.414 (1 undefined)" {
		t.Error(s)
	}
}

// TestCancel: a cancelled context ends every function that takes one, also in
// the middle.
func TestCancel(t *testing.T) {
	m := randomModel(t, 6, 300, 4, 1e-6)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Evaluate(ctx, m.input()); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
	norms2, err := m.c.RowNorms2(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recovery(ctx, m.c, norms2, m.breve, m.anchors, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("recovery: %v", err)
	}
	if _, err := approximation(ctx, m.c, norms2, m.b, m.a, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("approximation: %v", err)
	}
	if _, err := Evaluate(ctx, Factors{B: m.b, Anchors: m.anchors}); !errors.Is(err, context.Canceled) {
		t.Errorf("basis quality: %v", err)
	}
	// With one worker, at most the rest of a chunk of rows is read afterwards.
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	rows, after := 0, 0
	c := &broken{Matrix: m.c, row: func([]float64) {
		if ctx.Err() != nil {
			after++
		}
		if rows++; rows == 10 {
			cancel()
		}
	}}
	if _, err := approximation(ctx, c, norms2, m.b, m.a, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("approximation: %v", err)
	}
	if rows < 10 || after > rowChunk {
		t.Errorf("%d rows were read, %d of them after the cancellation", rows, after)
	}
}
