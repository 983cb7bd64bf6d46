package infer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// simplexLambda solves the linear program of a topic with gonum's simplex
// method: min λ over x = x⁺ − x⁻, s = s⁺ − s⁻ with slacks for |x_n| ≤ λ and |s_l| ≤ δ.
func simplexLambda(t *testing.T, b *mat.Dense, topic int, delta float64) float64 {
	t.Helper()
	n, k := b.Dims()
	// Variables: x⁺, x⁻ (n each), s⁺, s⁻ (k each), λ, slack of x⁺ + x⁻ ≤ λ (n), of
	// s⁺ + s⁻ ≤ δ (k). At an optimum x⁺ and x⁻ need not both be positive.
	vars := 2*n + 2*k + 1 + n + k
	a := mat.NewDense(k+n+k, vars, nil)
	rhs, c := make([]float64, k+n+k), make([]float64, vars)
	at := 2*n + 2*k
	c[at] = 1
	for l := range k {
		for i := range n {
			a.Set(l, i, b.At(i, l))
			a.Set(l, n+i, -b.At(i, l))
		}
		a.Set(l, 2*n+l, 1)
		a.Set(l, 2*n+k+l, -1)
	}
	rhs[topic] = 1
	for i := range n {
		a.Set(k+i, i, 1)
		a.Set(k+i, n+i, 1)
		a.Set(k+i, at, -1)
		a.Set(k+i, at+1+i, 1)
	}
	for l := range k {
		a.Set(k+n+l, 2*n+l, 1)
		a.Set(k+n+l, 2*n+k+l, 1)
		a.Set(k+n+l, at+1+n+l, 1)
		rhs[k+n+l] = delta
	}
	f, _, err := lp.Simplex(c, a, rhs, 1e-10, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// inverse finds the left inverse of B.
func inverse(t *testing.T, tp Topics, delta float64, opt Options) *leftInverse {
	t.Helper()
	c, err := check(tp)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := findInverse(ctx, c, delta, opt)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// λ is that of the simplex method, and the bias within δ.
func TestLeftInverse(t *testing.T) {
	for _, c := range []struct {
		n, k  int
		delta float64
	}{{12, 3, 0}, {12, 3, 0.05}, {20, 5, 0}, {20, 5, 0.01}, {20, 5, 0.3}, {5, 5, 0}, {9, 1, 0}} {
		p := newPlanted(c.n, c.k, 1, 1, uint64(10*c.n+c.k))
		inv := inverse(t, p.Topics, c.delta, Options{})
		want := 0.0
		for k := range c.k {
			want = max(want, simplexLambda(t, p.B, k, c.delta))
		}
		if math.Abs(inv.lambda-want) > 1e-6*want {
			t.Errorf("%+v: λ = %v, gonum's simplex method has %v", c, inv.lambda, want)
		}
		checkInverse(t, p.B, inv, c.delta)
	}
}

func checkInverse(t *testing.T, b *mat.Dense, inv *leftInverse, delta float64) {
	t.Helper()
	_, k := b.Dims()
	var bias mat.Dense
	bias.Mul(inv.dagger.T(), b)
	worst := 0.0
	for i := range k {
		for j := range k {
			v := bias.At(i, j)
			if i == j {
				v--
			}
			worst = max(worst, math.Abs(v))
		}
	}
	if worst > delta+1e-9 {
		t.Errorf("K=%d: |B†B − I| = %v, δ = %v", k, worst, delta)
	}
	top := max(mat.Max(inv.dagger), -mat.Min(inv.dagger))
	if top > inv.lambda*(1+1e-12) || top < inv.lambda*(1-1e-12) {
		t.Errorf("K=%d: the largest entry is %v, λ = %v", k, top, inv.lambda)
	}
}

// A larger model: more bias allows smaller entries, and workers change no bit.
func TestLeftInverseLarger(t *testing.T) {
	p := newPlanted(400, 20, 1, 1, 3)
	last := math.Inf(1)
	for _, delta := range []float64{0, 0.01, 0.1} {
		if delta == 0.01 && testutil.Race {
			continue
		}
		inv := inverse(t, p.Topics, delta, Options{Workers: 1})
		checkInverse(t, p.B, inv, delta)
		t.Logf("δ=%v: λ = %.4g", delta, inv.lambda)
		if !(inv.lambda < last) {
			t.Errorf("δ=%v: λ = %v, with a smaller δ %v", delta, inv.lambda, last)
		}
		last = inv.lambda
		many := inverse(t, p.Topics, delta, Options{Workers: 3})
		if !mat.Equal(many.dagger, inv.dagger) || many.lambda != inv.lambda {
			t.Errorf("δ=%v: three workers differ", delta)
		}
	}
}

func TestTLIErrors(t *testing.T) {
	p := newPlanted(40, 4, 1, 1, 3)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (TLI{}).Prepare(done, p.Topics, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	for i := range 40 {
		p.B.Set(i, 2, 0.5*(p.B.At(i, 0)+p.B.At(i, 1)))
	}
	for _, delta := range []float64{0, 0.1} {
		var te *TopicsError
		if _, err := (TLI{Delta: delta}).Prepare(ctx, p.Topics, Options{}); !errors.As(err, &te) || !strings.Contains(err.Error(), "no left inverse") {
			t.Errorf("topics that depend on each other: %v", err)
		}
	}
}

// TLI is the product with B†, thresholded and scaled.
func TestTLI(t *testing.T) {
	p := newPlanted(100, 6, 60, 200, 7)
	inv := inverse(t, p.Topics, 0.02, Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	zero := 0
	for _, divisor := range []float64{0, 1, 40} {
		m := prepare(t, TLI{Delta: 0.02, Divisor: divisor}, p.Topics)
		by := divisor
		if by == 0 {
			by = 4.5
		}
		for d := range 60 {
			ids, counts := p.docs.Doc(d)
			if rng.IntN(3) == 0 { // a short one
				ids, counts = ids[:3], counts[:3]
			}
			n := 0.0
			for _, c := range counts {
				n += float64(c)
			}
			want := make([]float64, 6)
			for k := range want {
				for i, id := range ids {
					want[k] += inv.dagger.At(int(id), k) * float64(counts[i]) / n
				}
			}
			tau := (2*inv.lambda*math.Sqrt(math.Log(6)/n) + 0.02) / by
			sum := 0.0
			for k, v := range want {
				if v < tau {
					want[k] = 0
				}
				sum += want[k]
			}
			status := AllZero
			if sum > 0 {
				status = Converged
				for k := range want {
					want[k] /= sum
				}
			} else {
				zero++
			}
			w := make([]float64, 6)
			doc, err := m.InferTo(w, ids, counts)
			if err != nil || doc.Status != status && (status == AllZero || doc.Status != NoTopic) {
				t.Fatalf("document %d: %+v, %v, want %v", d, doc, err, status)
			}
			for k := range w {
				if math.Abs(w[k]-want[k]) > 1e-12 {
					t.Fatalf("document %d: %v, want %v", d, w, want)
				}
			}
		}
	}
	if zero == 0 {
		t.Error("no document fell below the threshold: nothing was tested")
	}
}

// Words in few topics, as in models of texts, are tied in many ways: the programs end
// nevertheless.
func TestTLISparse(t *testing.T) {
	testutil.NotWithRace(t)
	const n, k = 1500, 12
	rng := rand.New(rand.NewPCG(4, 4))
	b := mat.NewDense(n, k, nil)
	for i := range n {
		for range 1 + rng.IntN(3) {
			b.Set(i, rng.IntN(k), math.Exp(-8*rng.Float64()))
		}
	}
	for l := range k {
		sum := mat.Sum(b.ColView(l))
		for i := range n {
			b.Set(i, l, b.At(i, l)/sum)
		}
	}
	p := newPlanted(n, k, 1, 1, 1)
	p.Topics.B = b
	c, err := check(p.Topics)
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range []float64{0, 0.01} {
		inv, err := findInverse(ctx, c, delta, Options{})
		if err != nil {
			t.Fatalf("δ=%v: %v", delta, err)
		}
		checkInverse(t, b, inv, delta)
		t.Logf("δ=%v: λ = %.4g", delta, inv.lambda)
	}
}
