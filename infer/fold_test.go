package infer

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// exactPosterior sums over all topics of all tokens: the posterior mean of the
// composition and the probability of the tokens.
func exactPosterior(b *mat.Dense, alpha []float64, tokens []int32) (mean []float64, p float64) {
	k := len(alpha)
	sum := 0.0
	for _, a := range alpha {
		sum += a
	}
	mean = make([]float64, k)
	z := make([]int, len(tokens))
	for {
		q, t := 1.0, slices.Clone(alpha)
		for i, w := range tokens {
			q *= b.At(int(w), z[i]) * t[z[i]] / (sum + float64(i))
			t[z[i]]++
		}
		p += q
		for j := range mean {
			mean[j] += q * t[j] / (sum + float64(len(tokens)))
		}
		i := 0
		for ; i < len(z); i++ {
			if z[i]++; z[i] < k {
				break
			}
			z[i] = 0
		}
		if i == len(z) {
			break
		}
	}
	for j := range mean {
		mean[j] /= p
	}
	return mean, p
}

// Gibbs sampling comes to the exact posterior mean, here by 200,000 sweeps to
// within 0.005 (some five standard errors of the worst mixing chain seen).
func TestGibbsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("some 0.3 s")
	}
	p := newPlanted(20, 3, 1, 1, 5)
	p.Alpha = []float64{0.3, 0.7, 0.2}
	tokens := []int32{1, 4, 4, 9, 13, 17}
	want, _ := exactPosterior(p.B, p.Alpha, tokens)
	w := make([]float64, 3)
	if _, err := prepare(t, Gibbs{Sweeps: 200000, Seed: 3}, p.Topics).InferTo(w, []int32{1, 4, 9, 13, 17}, []int32{1, 2, 1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	for k := range w {
		if math.Abs(w[k]-want[k]) > 0.005 {
			t.Errorf("%v, exact %v", w, want)
			break
		}
	}
	v := make([]float64, 3)
	if _, err := prepare(t, Gibbs{BurnIn: -1, Sweeps: 50, Seed: 4}, p.Topics).InferTo(v, []int32{1, 4}, []int32{1, 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(t, Gibbs{BurnIn: -1, Sweeps: 50, Seed: 5}, p.Topics).InferTo(w, []int32{1, 4}, []int32{1, 2}); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(v, w) {
		t.Errorf("two seeds give %v", v)
	}
}

func TestCompletion(t *testing.T) {
	p := newPlanted(50, 4, 12, 60, 5)
	held := newPlanted(50, 4, 12, 20, 6).docs
	inf := prepare(t, MAP{}, p.Topics)
	h, err := Completion(ctx, inf, p.B, p.docs, held, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := inf.Infer(ctx, p.docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for d := range 12 {
		ids, counts := held.Doc(d)
		for i, id := range ids {
			sum += float64(counts[i]) * math.Log(mat.Dot(w.W.RowView(d), p.B.RowView(int(id))))
		}
	}
	if h.Tokens != 240 || math.Abs(h.PerToken-sum/240) > 1e-7 { // float32
		t.Errorf("%+v, want %v a token", h, sum/240)
	}
	// A word that no topic has makes it impossible; smoothing makes it possible.
	for k := range 4 {
		rest := 1 - p.B.At(7, k)
		p.B.Set(7, k, 0)
		for i := range 50 {
			p.B.Set(i, k, p.B.At(i, k)/rest)
		}
	}
	with := &docList{n: 50, ids: [][]int32{{7, 8}}, counts: [][]int32{{2, 1}}}
	obs := &docList{n: 50, ids: [][]int32{{3}}, counts: [][]int32{{1}}}
	inf = prepare(t, MAP{}, p.Topics)
	if h, err = Completion(ctx, inf, p.B, obs, with, Options{}); err != nil || h.Impossible != 2 || !math.IsInf(h.PerToken, -1) {
		t.Errorf("%+v, %v", h, err)
	}
	u := make([]float64, 50)
	for i := range u {
		u[i] = float64(i + 1)
	}
	smooth, err := Smooth(p.B, u, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if v, want := smooth.At(7, 2), 0.01*8/1275; math.Abs(v-want) > 1e-15 {
		t.Errorf("smoothed to %v, want %v", v, want)
	}
	if _, err := check(Topics{B: smooth}); err != nil {
		t.Errorf("smoothed topics: %v", err)
	}
	if h, err = Completion(ctx, inf, smooth, obs, with, Options{}); err != nil || h.Impossible != 0 || math.IsInf(h.PerToken, 0) {
		t.Errorf("%+v, %v", h, err)
	}
	// TLI that finds nothing is scored with the mean composition.
	tli := prepare(t, TLI{Divisor: 1}, p.Topics)
	mean, err := Score(ctx, mat.NewDense(1, 4, tli.mean), smooth, with, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h, err = Completion(ctx, tli, smooth, obs, with, Options{}); err != nil || h.PerToken != mean.PerToken {
		t.Errorf("%+v, %v, want %v", h, err, mean.PerToken)
	}
	for name, err := range map[string]error{
		"observed and held differ": second(Completion(ctx, inf, p.B, p.docs, with, Options{})),
		"no inferer":               second(Completion(ctx, nil, p.B, p.docs, held, Options{})),
		"no documents":             second(Completion(ctx, inf, p.B, nil, nil, Options{})),
		"compositions of 3 topics": second(Score(ctx, mat.NewDense(1, 3, nil), p.B, with, Options{})),
		"2 compositions":           second(Score(ctx, mat.NewDense(2, 4, nil), p.B, with, Options{})),
		"a share of NaN":           second(Score(ctx, mat.NewDense(1, 4, []float64{0, 0, 1, math.NaN()}), p.B, with, Options{})),
		"other words":              second(Score(ctx, mat.NewDense(1, 4, nil), p.B, &docList{n: 3, ids: [][]int32{nil}, counts: [][]int32{nil}}, Options{})),
		"word 70":                  second(Score(ctx, mat.NewDense(1, 4, nil), p.B, &docList{n: 50, ids: [][]int32{{70}}, counts: [][]int32{{1}}}, Options{})),
		"share":                    second(Smooth(p.B, u, 2)),
		"unigram short":            second(Smooth(p.B, u[1:], 0.1)),
		"unigram of zeros":         second(Smooth(p.B, make([]float64, 50), 0.1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Probabilities beyond float32 are scored as well, and only zero is impossible.
func TestScoreTiny(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{0.5, 0.25, 0.5, 0.75, 1e-60, 1e-70, 0, 1e-20})
	docs := &docList{n: 4, ids: [][]int32{{0, 1}, {0, 2}, {1, 3, 0}, {3, 0}}, counts: [][]int32{{2, 1}, {1, 3}, {1, 2, 0}, nil}}
	h, err := Score(ctx, mat.NewDense(4, 2, []float64{0.5, 0.5, 0.25, 0.75, 1, 0, 1 - 1e-15, 1e-15}), b, docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{2*math.Log(0.375) + math.Log(0.625), math.Log(0.3125) + 3*math.Log(0.25e-60), math.Inf(-1), math.Log(0.5) + math.Log(1e-35)}
	for d, v := range want {
		if got := h.Documents[d]; !(math.Abs(got-v) <= 1e-6) && got != v {
			t.Errorf("document %d: %v, want %v", d, got, v)
		}
	}
	if h.Tokens != 12 || h.Impossible != 2 {
		t.Errorf("%d tokens, %d impossible", h.Tokens, h.Impossible)
	}
}

func second[T any](_ T, err error) error { return err }
