package rivals

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/experiments/internal/priors"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// draw draws documents from planted topics.
func draw(t *testing.T, p *testutil.Planted, prior corpus.TopicPrior, docs, tokens int) (*corpus.Corpus, *mat.Dense) {
	t.Helper()
	c, w, err := corpus.Generator{Topics: p.B, Prior: prior, Docs: docs, Lengths: []int{tokens}, Seed: 3}.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// distance is the mean ℓ₁ distance of matched topics, and the mean of |A−A'| after the
// same match.
func distance(t *testing.T, got *Model, b *mat.Dense, a mat.Matrix) (topics, pairs float64) {
	t.Helper()
	m, err := metrics.Match(t.Context(), got.B, b, metrics.MatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Of {
		for j := range m.Of {
			pairs += math.Abs(got.A.At(i, j) - a.At(m.Of[i], m.Of[j]))
		}
	}
	return m.L1.Mean, pairs
}

func neverFalls(t *testing.T, bounds []float64) {
	t.Helper()
	if len(bounds) < 5 {
		t.Fatalf("%d bounds", len(bounds))
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i] < bounds[i-1]-1e-9*math.Abs(bounds[i]) {
			t.Errorf("the bound falls from %.10g to %.10g in pass %d", bounds[i-1], bounds[i], i)
		}
	}
}

func TestOnlineLDA(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0, 1)
	c, w := draw(t, p, corpus.SymmetricDirichlet(4, 0.3), 1500, 60)
	a := topicPairs(w)
	full := OnlineLDA{K: 4, Alpha: 0.3, Eta: 0.05, Passes: 60, Seed: 1}
	online := OnlineLDA{K: 4, Alpha: 0.3, Eta: 0.05, Batch: 100, Tau: 1, Kappa: 0.7, Passes: 6, Seed: 1}
	for _, o := range []OnlineLDA{full, online} {
		m, err := o.Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if o.Batch == 0 {
			neverFalls(t, m.Bounds)
		}
		if b, a := distance(t, m, p.B, a); b > 0.15 || a > 0.1 {
			t.Errorf("batch %d: topics are %.3f off, their pairs %.3f", o.Batch, b, a)
		}
		again, err := o.Fit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(m.B, again.B) || !mat.Equal(m.W, again.W) {
			t.Errorf("batch %d: two fits differ", o.Batch)
		}
	}
}

// Topics that go together are found, and found to go together. The bound is best at
// topics that are somewhat off: an iteration that starts from the planted ones ends at
// the same distance.
func TestCTM(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0, 1)
	sigma := mat.NewSymDense(4, []float64{3, 2, 0, 0, 2, 3, 0, 0, 0, 0, 3, 2, 0, 0, 2, 3})
	p.B.Apply(func(_, _ int, v float64) float64 { return v * v }, p.B) // topics that share less
	normaliseColumns(p.B)
	c, w := draw(t, p, priors.LogisticNormal{Covariance: sigma}, 600, 200)
	o := CTM{K: 4, Iterations: 60, Tolerance: 1e-6, Seed: 1}
	m, err := o.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	neverFalls(t, m.Bounds)
	if b, a := distance(t, m, p.B, topicPairs(w)); b > 0.1 || a > 0.15 {
		t.Errorf("topics are %.3f off, their pairs %.3f", b, a)
	}
	o.Iterations = 20
	near, err := o.fit(t.Context(), c, p.B)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := distance(t, m, near.B, near.A); b > 0.1 {
		t.Errorf("topics are %.3f off those that start at the planted ones", b)
	}
	if match, err := metrics.Match(t.Context(), p.B, m.B, metrics.MatchOptions{}); err != nil {
		t.Fatal(err)
	} else if of := match.Of; m.A.At(of[0], of[1]) < 1.4*m.A.At(of[0], of[2]) || m.A.At(of[2], of[3]) < 1.4*m.A.At(of[1], of[3]) {
		t.Errorf("topics 0 and 1, and 2 and 3, do not go together: %v", mat.Formatted(m.A))
	}
	o.Iterations = 3
	one, err := o.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one.Bounds, m.Bounds[:3]) {
		t.Error("two fits differ")
	}
}

// The bound of a document is the largest that q can have, by a grid, and below the
// logarithm of its probability, an integral over one number with two topics.
func TestCTMBound(t *testing.T) {
	b := mat.NewDense(3, 2, []float64{0.7, 0.1, 0.2, 0.2, 0.1, 0.7})
	const mu, precision = 0.4, 0.5
	prior := &normal{mu: []float64{mu}, precision: mat.NewSymDense(1, []float64{precision}), logDet: math.Log(precision)}
	d := newCTMDocument(2)
	d.words, d.counts, d.length = []int32{0, 1, 2}, []int32{5, 2, 1}, 8
	d.lambda, d.nu2 = []float64{0, 0}, []float64{1, 0}
	got, err := d.infer(b, prior)
	if err != nil {
		t.Fatal(err)
	}
	best, total, step := math.Inf(-1), 0.0, 1e-2
	for x := -15.0; x < 15; x += step {
		fit, like := 0.0, math.Sqrt(precision/(2*math.Pi))*math.Exp(-precision/2*(x-mu)*(x-mu))
		for i, n := range d.counts {
			word := math.Exp(x)*b.At(i, 0) + b.At(i, 1)
			fit += float64(n) * math.Log(word)
			like *= math.Pow(word/(1+math.Exp(x)), float64(n))
		}
		total += like * step
		for v := 0.01; v < 2; v += 0.01 {
			best = max(best, fit-8*math.Log(1+math.Exp(x+v/2))+(math.Log(precision)+1+math.Log(v)-precision*(v+(x-mu)*(x-mu)))/2)
		}
	}
	if math.Abs(got-best) > 1e-3 {
		t.Errorf("the bound is %v; a grid has %v", got, best)
	}
	if got > math.Log(total) {
		t.Errorf("the bound is %v, the logarithm of the probability %v", got, math.Log(total))
	}
}

// From the moments of the model itself the decomposition gives the model.
func TestTensorPopulation(t *testing.T) {
	const n, k = 40, 5
	p := testutil.NewPlanted(n, k, 0, 1)
	alpha := []float64{0.2, 0.3, 0.5, 0.4, 0.8}
	a0 := vec.Sum(alpha)
	a := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			a.SetSym(i, j, alpha[i]*alpha[j]/(a0*(a0+1)))
		}
		a.SetSym(i, i, alpha[i]*(alpha[i]+1)/(a0*(a0+1)))
	}
	var half, c mat.Dense
	half.Mul(p.B, a)
	c.Mul(&half, p.B.T())
	d, err := cooc.NewDense(&c)
	if err != nil {
		t.Fatal(err)
	}
	// E[θ⊗θ⊗θ] of a Dirichlet distribution: rising factorials.
	third := func(_ context.Context, w *mat.Dense) (tensor, error) {
		var wb mat.Dense
		wb.Mul(w.T(), p.B)
		out := tensor{k, make([]float64, k*k*k)}
		for x := range k {
			for y := range k {
				for z := range k {
					v := alpha[x]
					v *= alpha[y] + map[bool]float64{true: 1}[x == y]
					v *= alpha[z] + map[bool]float64{true: 1}[x == z] + map[bool]float64{true: 1}[y == z]
					v /= a0 * (a0 + 1) * (a0 + 2)
					for i := range k {
						for j := range k {
							for l := range k {
								out.at[(i*k+j)*k+l] += v * wb.At(i, x) * wb.At(j, y) * wb.At(l, z)
							}
						}
					}
				}
			}
		}
		return out, nil
	}
	m, err := Tensor{K: k, AlphaSum: a0, Restarts: 10, Steps: 200, Seed: 1}.fit(t.Context(), d, third)
	if err != nil {
		t.Fatal(err)
	}
	if b, a := distance(t, m, p.B, a); b > 1e-7 || a > 1e-7 {
		t.Errorf("topics are %.2g off, their pairs %.2g", b, a)
	}
}

// The third moment through the documents is that of all triples of different tokens.
func TestThirdMoment(t *testing.T) {
	b := corpus.Builder{}
	for _, doc := range [][]string{{"a", "a", "b", "c"}, {"b", "b", "b", "a", "d"}, {"c", "d"}} {
		if err := b.AddTokens("", "", doc); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	w := mat.NewDense(4, 2, []float64{1, 0.3, -0.5, 2, 0.7, -1, 0.1, 0.9})
	got, err := thirdMoment(t.Context(), c, w)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 8)
	for m := range 2 { // the last has two tokens
		var tokens []int
		words, counts := c.Doc(m)
		for i, id := range words {
			for range counts[i] {
				tokens = append(tokens, int(id))
			}
		}
		n := float64(len(tokens))
		for x, i := range tokens {
			for y, j := range tokens {
				for z, l := range tokens {
					if x == y || x == z || y == z {
						continue
					}
					for at := range want {
						want[at] += w.At(i, at/4) * w.At(j, at/2%2) * w.At(l, at%2) / (2 * n * (n - 1) * (n - 2))
					}
				}
			}
		}
	}
	for at := range want {
		if math.Abs(got.at[at]-want[at]) > 1e-14 {
			t.Errorf("entry %d is %v; want %v", at, got.at[at], want[at])
		}
	}
}

func TestTensorDocuments(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0, 1)
	c, w := draw(t, p, corpus.SymmetricDirichlet(4, 0.3), 6000, 60)
	o := Tensor{K: 4, AlphaSum: 1.2, Restarts: 10, Steps: 100, Seed: 1}
	m, err := o.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if b, a := distance(t, m, p.B, topicPairs(w)); b > 0.15 || a > 0.1 {
		t.Errorf("topics are %.3f off, their pairs %.3f", b, a)
	}
	again, err := o.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(m.B, again.B) {
		t.Error("two fits differ")
	}
}

func TestErrors(t *testing.T) {
	p := testutil.NewPlanted(30, 3, 0, 1)
	c, _ := draw(t, p, nil, 50, 20)
	done, stop := context.WithCancel(t.Context())
	stop()
	for name, fit := range map[string]func(ctx context.Context, k int) error{
		"OnlineLDA": func(ctx context.Context, k int) error {
			_, err := OnlineLDA{K: k, Alpha: 1, Eta: 1, Passes: 2}.Fit(ctx, c)
			return err
		},
		"CTM": func(ctx context.Context, k int) error {
			_, err := CTM{K: k, Iterations: 2}.Fit(ctx, c)
			return err
		},
		"Tensor": func(ctx context.Context, k int) error {
			_, err := Tensor{K: k, AlphaSum: 1, Restarts: 2, Steps: 5}.Fit(ctx, c)
			return err
		},
	} {
		if err := fit(done, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, stopped: %v", name, err)
		}
		if err := fit(t.Context(), 1); err == nil {
			t.Errorf("%s takes one topic", name)
		}
	}
}
