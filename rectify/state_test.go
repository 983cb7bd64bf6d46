package rectify_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/rectify"
)

// lowRank returns the YYᵀ of a state.
func lowRank(s *rectify.State) *mat.Dense {
	n, _ := s.Vectors.Dims()
	u := mat.DenseCopyOf(s.Vectors.Slice(0, n, 0, s.K))
	var out mat.Dense
	out.Product(u, mat.NewDiagDense(s.K, s.Values[:s.K]), u.T())
	return &out
}

// iterate returns the YYᵀ of a result.
func iterate(t *testing.T, res *rectify.Result) *mat.Dense {
	t.Helper()
	c, ok := res.C.(*cooc.LowRankSparse)
	if !ok {
		t.Fatalf("a %T", res.C)
	}
	var out mat.Dense
	out.Mul(c.Y(), c.Y().T())
	return &out
}

func farFrom(a, b *mat.Dense) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2) / mat.Norm(b, 2)
}

// keeping rectifies and returns the result, with its state.
func keeping(t *testing.T, r rectify.Rectifier, c cooc.Matrix, k int, from *rectify.State) *rectify.Result {
	t.Helper()
	res, err := r.Rectify(context.Background(), c, k, rectify.Options{Keep: true, From: from})
	if err != nil {
		t.Fatal(err)
	}
	if res.State == nil {
		t.Fatalf("%v kept no state", r)
	}
	if err := res.State.Validate(); err != nil {
		t.Fatal(err)
	}
	return res
}

// momentsBut returns the moments of all documents but every so-manieth.
func momentsBut(t *testing.T, every int) *cooc.Moments {
	t.Helper()
	c := golden.Corpus(t, "synth")
	var keep []int
	for m := range c.NumDocs() {
		if every == 0 || m%every != 0 {
			keep = append(keep, m)
		}
	}
	c, err := c.Select(keep, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// From the state of the same matrix, a method stays where it was; from that of
// 99 % of the documents it comes as near to its own cold result as that is
// converged, in a fraction of the work; and it is not where it started.
func TestStateGoesOn(t *testing.T) {
	all, part := momentsBut(t, 0), momentsBut(t, 100)
	methods := []rectify.Rectifier{rectify.AP{}, rectify.ENN{}, rectify.LR{}, rectify.Auto{}}
	if testing.Short() {
		methods = methods[:2]
	}
	for _, r := range methods {
		cold := keeping(t, r, all, 10, nil)
		if cold.Warm || cold.Cold != "" {
			t.Errorf("%v: warm without a state: %q", r, cold.Cold)
		}
		same := keeping(t, r, all, 10, cold.State)
		if !mat.Equal(same.State.Vectors, cold.State.Vectors) || !mat.Equal(same.State.Product, cold.State.Product) {
			t.Errorf("%v: the state is not that of the cold start", r)
		}
		if !same.Warm || same.Cold != "" || same.Iterations > 2 {
			t.Fatalf("%v: from its own state: warm %v, %q, %d iterations", r, same.Warm, same.Cold, same.Iterations)
		}
		want := iterate(t, cold)
		if d := farFrom(iterate(t, same), want); d > 2*cold.Changes[len(cold.Changes)-1]/mat.Norm(want, 2) {
			t.Errorf("%v: from its own state it moved by %.2g", r, d)
		}
		before := keeping(t, r, part, 10, nil)
		warm := keeping(t, r, all, 10, before.State)
		if !warm.Warm || warm.Products > cold.Products/2 || 2*warm.Iterations > cold.Iterations {
			t.Errorf("%v: warm %v (%q), %d products and %d iterations; %d and %d cold", r, warm.Warm, warm.Cold, warm.Products, warm.Iterations, cold.Products, cold.Iterations)
		}
		was, is := farFrom(iterate(t, before), want), farFrom(iterate(t, warm), want)
		t.Logf("%v: without the new documents %.2g away, with them %.2g; %d products instead of %d", r, was, is, warm.Products, cold.Products)
		if is > was/3 {
			t.Errorf("%v: %.2g away from the cold result, %.2g before", r, is, was)
		}
		if s := warm.State; !(s.Drift > 0 && s.Drift < 0.1) || s.Beyond != before.State.Beyond || s.Change != before.State.Change || before.State.Drift != 0 {
			t.Errorf("%v: drift %g, beyond %g, change %g", r, s.Drift, s.Beyond, s.Change)
		}
	}
}

func TestStateSameBits(t *testing.T) {
	all, part := momentsBut(t, 0), momentsBut(t, 50)
	for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.ENN{}} {
		before := keeping(t, r, part, 8, nil)
		var first *rectify.Result
		for _, workers := range []int{1, 3, 2} {
			res, err := r.Rectify(context.Background(), all, 8, rectify.Options{Keep: true, From: before.State, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = res
			}
			if !mat.Equal(iterate(t, res), iterate(t, first)) || res.State.Drift != first.State.Drift || res.Iterations != first.Iterations {
				t.Errorf("%v: %d workers give other bits than one", r, workers)
			}
		}
	}
}

// With the rows in another order the state is that of the matrix with its rows so
// ordered; words that are new have rows of zero; words that go leave YYᵀ over
// those that stay.
func TestStateSelect(t *testing.T) {
	c := momentsBut(t, 0)
	s := keeping(t, rectify.ENN{}, c, 8, nil).State
	n := c.Dim()
	y := lowRank(s)
	rng := rand.New(rand.NewPCG(1, 2))
	at := func(rows []int) (*rectify.State, *mat.Dense) {
		t.Helper()
		got, err := s.Select(rows)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		want := mat.NewDense(len(rows), len(rows), nil)
		for i, a := range rows {
			for j, b := range rows {
				if a >= 0 && b >= 0 {
					want.Set(i, j, y.At(a, b))
				}
			}
		}
		return got, want
	}
	order := append(rng.Perm(n), -1, -1)
	got, want := at(order)
	if d := farFrom(lowRank(got), want); d > 1e-15 {
		t.Errorf("in another order: %.2g away", d)
	}
	fewer := rng.Perm(n)[:n-20]
	got, want = at(append([]int{-1}, fewer...))
	if d := farFrom(lowRank(got), want); d > 1e-12 {
		t.Errorf("with fewer words: %.2g away", d)
	}
	// The products with what is left of the vectors, the entries of the words that
	// have gone taken along: those of the old vectors, combined the same way.
	var coef, product mat.Dense
	x := mat.NewDense(len(fewer)+1, s.Vectors.RawMatrix().Cols, nil)
	w := mat.NewDense(len(fewer)+1, s.Vectors.RawMatrix().Cols, nil)
	for i, r := range fewer {
		x.SetRow(i+1, s.Vectors.RawRowView(r))
		w.SetRow(i+1, s.Product.RawRowView(r))
	}
	if err := coef.Solve(x, got.Vectors); err != nil {
		t.Fatal(err)
	}
	product.Mul(w, &coef)
	if d := farFrom(got.Product, &product); d > 1e-11 {
		t.Errorf("the products with fewer words: %.2g away", d)
	}
	for name, rows := range map[string][]int{"twice": {0, 0}, "beyond": {n}, "too few": fewer[:3], "nothing known": make([]int, 0, n)} {
		if name == "nothing known" {
			for range n {
				rows = append(rows, -1)
			}
		}
		if _, err := s.Select(rows); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// A cold start, and why.
func TestStateCold(t *testing.T) {
	ctx := context.Background()
	c := golden.Corpus(t, "synth")
	all := momentsBut(t, 0)
	s := keeping(t, rectify.AP{}, all, 8, nil).State

	k9 := keeping(t, rectify.AP{}, all, 9, s)
	if k9.Warm || !strings.Contains(k9.Cold, "8 topics") {
		t.Errorf("another K: %v, %q", k9.Warm, k9.Cold)
	}
	// A tenth of the documents is another corpus.
	var some []int
	for m := 0; m < c.NumDocs(); m += 40 {
		some = append(some, m)
	}
	few, err := c.Select(some, nil)
	if err != nil {
		t.Fatal(err)
	}
	fewM, err := cooc.NewMoments(ctx, few, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res := keeping(t, rectify.AP{}, fewM, 8, s)
	fresh := keeping(t, rectify.AP{}, fewM, 8, nil)
	if res.Warm || res.Cold == "" || !mat.Equal(res.State.Vectors, fresh.State.Vectors) || res.State.Drift != 0 {
		t.Errorf("another corpus: warm %v, %q", res.Warm, res.Cold)
	}
	t.Log(res.Cold)

	for name, change := range map[string]func(s *rectify.State){
		"no vectors":     func(s *rectify.State) { s.Vectors = nil },
		"no products":    func(s *rectify.State) { s.Product = nil },
		"few values":     func(s *rectify.State) { s.Values = s.Values[1:] },
		"K":              func(s *rectify.State) { s.K = 0 },
		"NaN":            func(s *rectify.State) { s.Product.Set(3, 4, math.NaN()) },
		"value":          func(s *rectify.State) { s.Values[2] = math.Inf(1) },
		"not orthogonal": func(s *rectify.State) { s.Vectors.Set(3, 1, 1) },
		"drift":          func(s *rectify.State) { s.Drift = -1 },
		"rows": func(s *rectify.State) {
			n, p := s.Vectors.Dims()
			s.Vectors, s.Product = mat.DenseCopyOf(s.Vectors.Grow(1, 0)), mat.DenseCopyOf(s.Product.Grow(1, 0))
			_, _ = n, p
		},
	} {
		bad := *s
		bad.Vectors, bad.Product = mat.DenseCopyOf(s.Vectors), mat.DenseCopyOf(s.Product)
		bad.Values = append([]float64{}, s.Values...)
		change(&bad)
		for _, r := range []rectify.Rectifier{rectify.AP{}, rectify.ENN{}, rectify.LR{}} {
			if _, err := r.Rectify(ctx, all, 8, rectify.Options{From: &bad}); err == nil {
				t.Errorf("%s: %v took it", name, r)
			}
		}
	}
	// Methods that know nothing of it.
	dr, err := rectify.DR{Iterations: 2}.Rectify(ctx, all, 8, rectify.Options{Keep: true, From: s})
	if err != nil || dr.Warm || dr.Cold != "" || dr.State != nil {
		t.Errorf("DR: %+v, %v", dr, err)
	}
}
