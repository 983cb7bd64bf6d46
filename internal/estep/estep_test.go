package estep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// eachKernel runs f for every kernel this machine can run.
func eachKernel(t *testing.T, f func(t *testing.T, kr *kernel)) {
	t.Helper()
	for _, name := range linalg.Kernels() {
		i := slices.IndexFunc(kernels, func(k *kernel) bool { return k.name == name })
		if i < 0 {
			t.Fatalf("no kernel %q", name)
		}
		t.Run("kernel="+name, func(t *testing.T) { f(t, kernels[i]) })
	}
}

func TestKernelIsThatOfLinalg(t *testing.T) {
	if got, want := NewWorker(3).kr.name, linalg.KernelName(); got != want {
		t.Errorf("the kernel is %q, linalg's %q", got, want)
	}
}

// problem is a document and what a step needs.
type problem struct {
	Step
	words  []int32
	counts []float32
	t      []float32
}

var forms = []struct {
	name string
	form Form
	sums bool
}{
	{"plain", Plain, true}, {"fold-in", Plain, false},
	{"leave-document", LeaveDocument, true}, {"leave-document-fold-in", LeaveDocument, false},
}

// newProblem draws a document of distinct words. As in use, t is about what the
// document's tokens make of it.
func newProblem(rnd *rand.Rand, n, k, words int, form Form, sums bool) *problem {
	p := &problem{Step: Step{Form: form, B: NewRows(n, k)}, t: make([]float32, Padded(k))}
	p.Floor = make([]float32, Padded(k))
	for i := range k {
		p.Floor[i] = 0.05 + 0.1*rnd.Float32()
	}
	for i := range n {
		for j := range k {
			p.B.Row(i)[j] = float32(math.Exp(3*rnd.NormFloat64()) / float64(200*n))
		}
	}
	if sums {
		p.Sums = NewRows(n, k)
		for i := range n {
			for j := range k {
				p.Sums.Row(i)[j] = rnd.Float32()
			}
		}
	}
	for _, w := range rnd.Perm(n)[:words] {
		p.words = append(p.words, int32(w))
		p.counts = append(p.counts, float32(rnd.IntN(5))) // zeros too
	}
	for i := range k {
		p.t[i] = p.Floor[i] + float32(float64(2*words)/float64(k)*rnd.ExpFloat64())
	}
	return p
}

// slow is a step in float64 as the package comment writes it. It returns N, what is
// added to the sums, by position of the word, and the log-likelihood.
func (p *problem) slow() (n []float64, sums [][]float64, loglik float64) {
	k := p.B.K
	n = make([]float64, k)
	for i, w := range p.words {
		b, x := p.B.Row(int(w)), float64(p.counts[i])
		g, z := make([]float64, k), 0.0
		for j := range g {
			g[j] = float64(p.t[j]) * float64(b[j])
			z += g[j]
		}
		if x > 0 {
			loglik += x * math.Log(z)
		}
		total := 0.0
		for j := range g {
			g[j] /= z
			if p.Form == LeaveDocument {
				g[j] = max(float64(p.t[j])-g[j], float64(p.Floor[j])) * float64(b[j])
			}
			total += g[j]
		}
		sums = append(sums, make([]float64, k))
		for j, v := range g {
			sums[i][j] = x * v / total
			n[j] += sums[i][j]
		}
	}
	return n, sums, loglik
}

// check compares a step of w with the slow one. The responsibilities of a word have
// an error of a few roundings times the largest of them and times what a difference
// t − g loses.
func (p *problem) check(t *testing.T, name string, w *Worker, tol float64) {
	t.Helper()
	before := map[int32][]float32{}
	if p.Sums != nil {
		for _, id := range p.words {
			before[id] = slices.Clone(p.Sums.Row(int(id)))
		}
	}
	copy(w.T, p.t)
	loglik, err := w.Step(&p.Step, p.words, p.counts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	n, sums, want := p.slow()
	tokens := 0.0
	for _, x := range p.counts {
		tokens += float64(x)
	}
	if !(math.Abs(loglik-want) <= 1e-6*(1+tokens)) {
		t.Errorf("%s: log-likelihood %v, want %v", name, loglik, want)
	}
	for j, v := range n {
		if !(math.Abs(float64(w.N[j])-v) <= tol*(1+tokens)) {
			t.Errorf("%s: topic %d has %v tokens, want %v", name, j, w.N[j], v)
		}
	}
	for j, v := range w.N[p.B.K:] {
		if v != 0 {
			t.Errorf("%s: the padding has %v at %d", name, v, j)
		}
	}
	if p.Sums == nil {
		return
	}
	for i, id := range p.words {
		for j, v := range sums[i] {
			got := float64(p.Sums.Row(int(id))[j]) - float64(before[id][j])
			if !(math.Abs(got-v) <= tol*(1+float64(p.counts[i]))) {
				t.Errorf("%s: word %d adds %v to topic %d, want %v", name, id, got, j, v)
			}
		}
		for j, v := range p.Sums.Data[int(id)*p.Sums.Stride:][p.B.K:p.B.Stride] {
			if v != 0 {
				t.Errorf("%s: the padding of word %d has %v at %d", name, id, v, j)
			}
		}
	}
	n32 := slices.Clone(w.N)
	quiet := p.Step
	quiet.NoLikelihood, quiet.Sums = true, nil
	if zero, err := w.Step(&quiet, p.words, p.counts); err != nil || zero != 0 || !nearAll(w.N, n32, tol*(1+tokens)) {
		t.Errorf("%s: without likelihood and sums %v, %v, and tokens %v instead of %v", name, zero, err, w.N, n32)
	}
	score, err := w.Score(p.B, p.words, p.counts)
	if err != nil || score != loglik {
		t.Errorf("%s: score %v, %v; the step gave %v", name, score, err, loglik)
	}
}

func nearAll(x, y []float32, tol float64) bool {
	for i, v := range x {
		if !(math.Abs(float64(v-y[i])) <= tol) {
			return false
		}
	}
	return true
}

// Every form of every kernel equals its transcription in float64, for K next to the
// widths of all vectors and for documents of no word, of one and of more than a piece.
func TestStep(t *testing.T) {
	testutil.NotWithRace(t)
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(1, 2))
		for _, k := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 50, 64, 100, 129, 300} {
			w := newWorker(k, kr)
			for _, words := range []int{0, 1, 2, 3, 15, 16, 17, 32, 33, 200} {
				for _, f := range forms {
					p := newProblem(rnd, 201, k, words, f.form, f.sums)
					p.check(t, fmt.Sprintf("%s, K=%d, %d words", f.name, k, words), w, 3e-6)
				}
			}
		}
		for _, f := range forms {
			p := newProblem(rnd, 2*piece+5, 5, 2*piece+3, f.form, f.sums)
			p.check(t, f.name+", long", newWorker(5, kr), 3e-6)
		}
	})
}

// Weights and topics with zeros and denormal numbers change nothing but themselves.
func TestStepTiny(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for _, f := range forms {
			const k = 21
			p := newProblem(rnd, 50, k, 30, f.form, f.sums)
			for i := range 50 {
				row := p.B.Row(i)
				row[3], row[i%k], row[(i+5)%k] = 0, 1e-42, math.SmallestNonzeroFloat32
				row[7] = 1e-3
			}
			p.t[0], p.t[1], p.Floor[0], p.Floor[1] = 0, 1e-41, 0, 1e-41
			p.check(t, f.name, newWorker(k, kr), 3e-6)
		}
	})
}

// A word that no topic has is an error that names it, and a word without tokens none.
func TestStepImpossible(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(5, 6))
		for _, f := range forms {
			for _, v := range []float32{0, 1e-35, float32(math.NaN()), float32(math.Inf(1))} {
				p := newProblem(rnd, 9, 5, 9, f.form, f.sums)
				for i := range p.counts {
					p.counts[i] = float32(i)
				}
				row := p.B.Row(int(p.words[4]))
				for j := range row {
					row[j] = v
				}
				w := newWorker(5, kr)
				copy(w.T, p.t)
				_, err := w.Step(&p.Step, p.words, p.counts)
				if !errors.Is(err, ErrImpossible) {
					t.Errorf("%s: entries %v: error %v", f.name, v, err)
				}
				p.NoLikelihood = true
				if _, e := w.Step(&p.Step, p.words, p.counts); e == nil || e.Error() != err.Error() {
					t.Errorf("%s: entries %v: error %v without the likelihood, %v with it", f.name, v, e, err)
				}
				if v > 0 && v < 1 || v == 0 {
					p.counts[4] = 0
					if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
						t.Errorf("%s: no token of a word with %v: %v", f.name, v, err)
					}
					for j, n := range w.N {
						if !(n >= 0 && n < 100) {
							t.Errorf("%s: topic %d has %v tokens", f.name, j, n)
						}
					}
				}
			}
			p := newProblem(rnd, 9, 5, 9, f.form, f.sums)
			for _, id := range []int32{-1, 9, math.MaxInt32, math.MinInt32} {
				p.words[8] = id
				if _, err := newWorker(5, kr).Step(&p.Step, p.words, p.counts); err == nil {
					t.Errorf("%s: no error for word %d", f.name, id)
				}
			}
		}
	})
}

// The sum of logarithms is as good as one in float64, whatever the counts.
func TestLogSum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		sum, want, abs := 0.0, 0.0, 0.0
		for range 50 {
			var x, z []float32
			for range 100 {
				n := float32(rnd.IntN(4))
				if rnd.IntN(10) == 0 {
					n = float32(rnd.ExpFloat64() * 40)
				}
				x, z = append(x, n), append(z, float32(math.Exp(60*rnd.Float64()-50)))
				v := float64(n) * math.Log(float64(z[len(z)-1]))
				want += v
				abs += math.Abs(v)
			}
			var bad int
			if sum, bad = logs().add(sum, x, z); bad >= 0 {
				t.Fatalf("z = %v", z[bad])
			}
		}
		if !(math.Abs(sum-want) <= 1e-14*abs) {
			t.Errorf("sum %v, want %v", sum, want)
		}
	}
	for _, z := range []float32{Least, 1, 2, 0.99999994, 1.9999999, math.MaxFloat32, 0.5} {
		got, _ := logs().add(0, []float32{1}, []float32{z})
		if want := math.Log(float64(z)); !(math.Abs(got-want) <= 1e-15*max(1, math.Abs(want))) {
			t.Errorf("ln %v = %v, want %v", z, got, want)
		}
	}
	if _, i := logs().add(0, []float32{0, 1, 1}, []float32{0, 1, Least / 2}); i != 2 {
		t.Errorf("the word with too small a probability is %d, want 2", i)
	}
}

// Drained often enough, sums lose nothing: some 2³⁰ tokens of one word, a hundredth of
// which belongs to the second of two topics.
func TestDrainLosesNothing(t *testing.T) {
	b, sums := NewRows(1, 2), NewRows(1, 2)
	copy(b.Row(0), []float32{0.99, 0.01})
	rnd := rand.New(rand.NewPCG(14, 15))
	w := NewWorker(2)
	w.T[0], w.T[1] = 1, 1
	total, tokens := NewRows(1, 2), 0.0
	for i := range 1 << 14 {
		for range 16 {
			x := float32(1 + rnd.IntN(1<<13))
			if _, err := w.Step(&Step{B: b, Sums: sums}, []int32{0}, []float32{x}); err != nil {
				t.Fatal(err)
			}
			tokens += float64(x)
		}
		if i%16 == 15 { // about 2²⁰ tokens
			total.Drain(1, 1, []*Rows{sums}, 0, 1)
		}
	}
	for k, share := range []float64{0.99, 0.01} {
		if want := share * tokens; !(math.Abs(float64(total.Row(0)[k])/want-1) < 1e-6) {
			t.Errorf("topic %d has %v tokens, want %v", k, total.Row(0)[k], want)
		}
	}
	if sums.Data[0] != 0 || sums.Data[1] != 0 {
		t.Error("sums are not zero after Drain")
	}
}

func TestStepAllocates(t *testing.T) {
	p := newProblem(rand.New(rand.NewPCG(9, 9)), 100, 50, 60, LeaveDocument, true)
	w := NewWorker(50)
	copy(w.T, p.t)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
