package refine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

// correlatedDocs draws documents of a planted model whose topics have correlated logits: those of
// 0 and 1 with .8, and those of 2 and 3 with −.5, or families of so many neighbours, whose shares in
// a document are as squares of normal numbers. It returns the correlations of the proportions, too.
func correlatedDocs(t *testing.T, p *testutil.Planted, each, docs, length int) (*corpus.Corpus, *mat.Dense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, 7))
	b := corpus.Builder{Vocabulary: make([]string, p.N)}
	for i := range b.Vocabulary {
		b.Vocabulary[i] = fmt.Sprint("w", i)
	}
	logits := p.K / each
	all := mat.NewDense(docs, logits, nil)
	for m := range docs {
		theta := all.RawRowView(m)
		for k := range theta {
			theta[k] = rng.NormFloat64()
		}
		theta[1] = 0.8*theta[0] + 0.6*theta[1]
		theta[3] = -0.5*theta[2] + math.Sqrt(0.75)*theta[3]
		sum := 0.0
		for k, v := range theta {
			theta[k] = math.Exp(1.4 * v)
			sum += theta[k]
		}
		for k := range theta {
			theta[k] /= sum
		}
		topics := slices.Clone(theta)
		if each > 1 {
			topics = make([]float64, p.K)
			for f := range logits {
				within := topics[f*each:][:each]
				for k := range within {
					within[k] = math.Pow(rng.NormFloat64(), 4)
				}
				floats.Scale(theta[f]/floats.Sum(within), within)
			}
		}
		d := corpus.Document{ID: fmt.Sprint(m)}
		for range length {
			u, w := rng.Float64(), 0
			for ; w < p.N-1; w++ {
				for k, v := range topics {
					u -= v * p.B.At(w, k)
				}
				if u < 0 {
					break
				}
			}
			d.Words = append(d.Words, int32(w))
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	r := mat.NewDense(logits, logits, nil)
	for i := range logits {
		for j := range logits {
			r.Set(i, j, stat.Correlation(mat.Col(nil, i, all), mat.Col(nil, j, all), nil))
		}
	}
	return c, r
}

// slopeOf is that of the line through the correlations of a against those that are true.
func slopeOf(a, want *mat.Dense) float64 {
	k, _ := a.Dims()
	share := make([]float64, k)
	for i := range k {
		for j := range k {
			share[i] += a.At(i, j)
		}
	}
	cov := func(i, j int) float64 { return a.At(i, j) - share[i]*share[j] }
	var x, y []float64
	for i := range k {
		for j := range i {
			x, y = append(x, want.At(i, j)), append(y, cov(i, j)/math.Sqrt(cov(i, i)*cov(j, j)))
		}
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

// From the true topics, passes under the logistic-normal prior give the correlations back; those
// under a Dirichlet prior halve them.
func TestCorrelatedPlanted(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: many documents")
	}
	p := testutil.NewPlanted(200, 6, 0, 5)
	c, want := correlatedDocs(t, p, 1, 3000, 60)
	slope := map[int]float64{}
	for _, last := range []int{-1, 12} {
		r, err := Passes{N: 12, Correlated: last}.Refine(t.Context(), c.Source(), Start{B: p.B}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		slope[last] = slopeOf(r.A, want)
		if (r.Prior != nil) != (last > 0) || r.Correlated > max(last, 0) || len(r.History) != r.Passes+1 {
			t.Errorf("%d passes: prior %v, %d passes of %d under it, %d scores", last, r.Prior, r.Correlated, r.Passes, len(r.History))
		}
		if s := mat.Sum(r.A); math.Abs(s-1) > 1e-12 {
			t.Errorf("%d passes: A sums to %v", last, s)
		}
	}
	r, err := Batch{N: 12, Correlated: 12}.Refine(t.Context(), c.Source(), Start{B: p.B}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slopeOf(r.A, want); math.Abs(got-slope[12]) > 0.15 || r.Prior == nil {
		t.Errorf("Batch: slope %.3f; Passes have %.3f", got, slope[12])
	}
	t.Logf("slopes %v", slope)
	if slope[12] < 0.8 || slope[12] > 1.2 || slope[-1] > 0.75 {
		t.Errorf("slope %.3f of the correlations, %.3f without a prior that knows them; want about 1, and far less", slope[12], slope[-1])
	}
}

// A start with a prior goes on from it, without passes under a Dirichlet prior.
func TestCorrelatedStart(t *testing.T) {
	p := testutil.NewPlanted(200, 6, 0, 5)
	c, _ := correlatedDocs(t, p, 1, 400, 40)
	first, err := Passes{N: 6, Correlated: 10}.Refine(t.Context(), c.Source(), Start{B: p.B}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var shift float64
	for _, counts := range [][]float32{nil, first.Counts} {
		r, err := Passes{Correlated: 1}.Refine(t.Context(), c.Source(), Start{B: first.B, Prior: first.Prior, Counts: counts}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Passes != 1 || r.Correlated != 1 {
			t.Errorf("%d passes, %d under the prior; want 1", r.Passes, r.Correlated)
		}
		for i := range p.K {
			shift = max(shift, math.Abs(r.Prior.Covariance.At(i, i)/first.Prior.Covariance.At(i, i)-1))
		}
	}
	if shift > 0.25 {
		t.Errorf("a pass changes a variance by %.2f of it", shift)
	}
	for name, s := range map[string]Start{
		"size":   {B: p.B, Prior: &recovery.LogisticNormal{Information: 0.5, Mean: make([]float64, 5), Covariance: mat.NewSymDense(5, nil)}},
		"no Σ":   {B: p.B, Prior: &recovery.LogisticNormal{Information: 0.5, Mean: make([]float64, 6)}},
		"finite": {B: p.B, Prior: &recovery.LogisticNormal{Information: 0.5, Mean: []float64{0, 0, 0, 0, 0, math.NaN()}, Covariance: mat.NewSymDense(6, nil)}},
	} {
		if _, err := (Passes{Correlated: 1}).Refine(t.Context(), c.Source(), s, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A pass does what its description says, by dense matrices in float64.
func TestCorrelatedTranscript(t *testing.T) {
	p := testutil.NewPlanted(80, 5, 0, 6)
	c, _ := correlatedDocs(t, p, 1, 120, 30)
	f := begun(t, Passes{N: 6, Correlated: 2}, c, p.B, 5, 4)
	res := &Result{}
	if err := f.correlate(t.Context(), f, res, 1, true, Options{}); err != nil { // the first pass has other rules
		t.Fatal(err)
	}
	k := f.k
	cov := f.normal.Covariance()
	mean, eta := slices.Clone(f.normal.Mean), slices.Clone(f.state.mem)
	b := mat.NewDense(f.n, k, nil)
	for i := range f.n {
		for t, v := range f.rows.Row(i) {
			b.Set(i, t, float64(v))
		}
	}
	var prec mat.Dense
	if err := prec.Inverse(cov); err != nil {
		t.Fatal(err)
	}
	share0, x := f.normal.Share(), *f.normal              // correlated does not change it
	_, moments, err := f.correlated(t.Context(), 1, true) // all documents at once
	if err != nil {
		t.Fatal(err)
	}
	softmax := func(v []float64) []float64 {
		out, sum := make([]float64, k), 0.0
		for i, x := range v {
			out[i] = math.Exp(x)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	fresh, second := make([]float64, f.n*k), mat.NewDense(k, k, nil)
	var block corpus.Block
	for i := range f.docs.Blocks() {
		if err := f.docs.Block(i, &block); err != nil {
			t.Fatal(err)
		}
		for d := range block.Docs() {
			words, counts := block.Doc(d)
			// share calls each with the tokens by word and topic, one token of each word left out of
			// the weights t.
			share := func(t []float64, each func(w int, k int, v float64)) {
				out := make([]float64, k)
				for i, w := range words {
					row, all := b.RawRowView(int(w)), 0.0
					for k, v := range t {
						all += v * row[k]
					}
					left := 0.0
					for k, v := range t {
						out[k] = max(v-v*row[k]/all, docstep.MinWeight) * row[k]
						left += out[k]
					}
					for k, v := range out {
						each(int(w), k, float64(counts[i])*v/left)
					}
				}
			}
			from := eta[(block.First+d)*k:][:k]
			at, n := make([]float64, k), make([]float64, k)
			for i, v := range from {
				at[i] = float64(v)
			}
			theta, tokens := softmax(at), 0.0
			for _, x := range counts {
				tokens += float64(x)
			}
			weights := slices.Clone(theta)
			floats.Scale(2*tokens+2.5, weights)
			share(weights, func(w, t int, v float64) { n[t] += v; fresh[w*k+t] += v })
			h, g := mat.DenseCopyOf(&prec), make([]float64, k)
			for i := range k {
				g[i] = n[i] - tokens*theta[i]
				for j := range k {
					g[i] -= prec.At(i, j) * (at[j] - mean[j])
					h.Set(i, j, h.At(i, j)-share0*tokens*theta[i]*theta[j])
				}
				h.Set(i, i, h.At(i, i)+share0*tokens*theta[i])
			}
			var step mat.VecDense
			if err := step.SolveVec(h, mat.NewVecDense(k, g)); err != nil {
				t.Fatal(err)
			}
			scale := min(1, 1.5/mat.Norm(&step, math.Inf(1)))
			for i := range at {
				at[i] += scale * step.AtVec(i)
				if got := f.state.mem[(block.First+d)*k+i]; math.Abs(float64(got)-at[i]) > 2e-3 {
					t.Fatalf("document %d: η_%d = %v, want %v", block.First+d, i, got, at[i])
				}
			}
			// The noise has its own test; it is that of the same numbers.
			own := logisticnormal.NewDocument(&x)
			doc := docstep.NewDocument(k)
			doc.Load(words, counts, 1, false)
			if _, _, err := doc.Correlate(&f.rule, own, slices.Clone(from), nil, 1, logisticnormal.Key(block.Key(d), 1), docstep.Sums{}, false); err != nil {
				t.Fatal(err)
			}
			for i := range k {
				for j := range k {
					second.Set(i, j, second.At(i, j)+(at[i]-mean[i])*(at[j]-mean[j])+own.Noise[i]*own.Noise[j])
				}
			}
		}
	}
	for i, want := range fresh {
		if got := float64(f.sums.Row(i / k)[i%k]); math.Abs(got-want) > 1e-3*(1+want) {
			t.Errorf("%v tokens of word %d in topic %d, want %v", got, i/k, i%k, want)
		}
	}
	for i := range k {
		for j := range k {
			if got, want := linalg.Row(moments.second, i)[j], second.At(i, j); math.Abs(got-want) > 0.01*math.Abs(want)+0.2 {
				t.Errorf("moment %d, %d is %v, want %v", i, j, got, want)
			}
		}
	}
}

// Of manyTokens the passes under the prior take each document once, in four parts, after which the sums
// hold about all tokens: the parts differ by a few hundredths here. Any number of workers and a file
// for the state give the same bits.
func TestQuarters(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.5, 3)
	c := planted(t, p, 600, 1000)
	f := begun(t, Passes{}, c, p.B, 4, 2)
	if f.seen.tokens < manyTokens {
		t.Fatalf("%d tokens, want %d", f.seen.tokens, manyTokens)
	}
	f.workers = 1 // which counts
	times := map[uint64]int{}
	_, err := f.read(t.Context(), 4, true, func(w *worker, slot int, in func(uint64) bool, x *tally) error {
		for d := range w.block.Docs() {
			if key := w.block.Key(d); in(key) {
				times[key]++
			}
		}
		return f.block(turn{}, in, w, slot, x)
	}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(sumOf(f.sums.Data)), f.seen.learned(); math.Abs(got/want-1) > 0.1 || len(times) != 600 {
		t.Errorf("%v tokens of %d documents, want %v of 600", got, len(times), want)
	}
	for key, n := range times {
		if n != 1 {
			t.Errorf("document %d is read %d times", key, n)
		}
	}
	var want *Result
	for _, run := range []struct {
		workers int
		scratch string
	}{{1, ""}, {3, ""}, {2, t.TempDir()}} {
		res, err := Passes{N: 2, Correlated: 4, Scratch: run.scratch}.Refine(t.Context(), c.Source(), Start{B: p.B}, Options{Workers: run.workers})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = res
		}
		if !mat.Equal(res.B, want.B) || !mat.Equal(res.A, want.A) {
			t.Errorf("%d workers, state in %q: other bits", run.workers, run.scratch)
		}
	}
}
