package estep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// newLast draws a problem for LeaveLast, with words of less than a token.
func newLast(rnd *rand.Rand, n, k, words int, sums bool) *problem {
	p := newProblem(rnd, n, k, words, LeaveLast, sums)
	p.Token = 0.75
	for i := range p.counts {
		p.counts[i] *= 0.5
	}
	return p
}

// checkLast takes three steps of w, each with the weights that the one before leads to,
// and compares each with the definition in float64.
func (p *problem) checkLast(t *testing.T, name string, w *Worker, tol float64) {
	t.Helper()
	k, tokens := p.B.K, 0.0
	for _, x := range p.counts {
		tokens += float64(x)
	}
	last := make([][]float64, len(p.words))
	for i := range last {
		last[i] = make([]float64, k)
	}
	copy(w.T, p.t)
	w.Keep(len(p.words))
	for step := range 3 {
		n := make([]float64, k)
		var sums [][]float64
		for i, id := range p.words {
			x, total := float64(p.counts[i]), 0.0
			for j, b := range p.B.Row(int(id)) {
				left := float64(w.T[j]) - min(x, float64(p.Token))*last[i][j]
				last[i][j] = max(left, float64(p.Floor[j])) * float64(b)
				total += last[i][j]
			}
			sums = append(sums, make([]float64, k))
			for j := range n {
				last[i][j] /= total
				sums[i][j] = x * last[i][j]
				n[j] += sums[i][j]
			}
		}
		var before [][]float32
		if p.Sums != nil {
			for _, id := range p.words {
				before = append(before, slices.Clone(p.Sums.Row(int(id))))
			}
		}
		if loglik, err := w.Step(&p.Step, p.words, p.counts); err != nil || loglik != 0 {
			t.Fatalf("%s: %v, %v", name, loglik, err)
		}
		for j, v := range n {
			if !(math.Abs(float64(w.N[j])-v) <= tol*(1+tokens)) {
				t.Errorf("%s, step %d: topic %d has %v tokens, want %v", name, step, j, w.N[j], v)
			}
		}
		for j, v := range w.N[k:] {
			if v != 0 {
				t.Errorf("%s, step %d: the padding has %v at %d", name, step, v, j)
			}
		}
		for i := range before {
			for j, v := range p.Sums.Row(int(p.words[i])) {
				if got := float64(v) - float64(before[i][j]); !(math.Abs(got-sums[i][j]) <= tol*(4+tokens)) {
					t.Errorf("%s, step %d: word %d adds %v to topic %d, want %v", name, step, p.words[i], got, j, sums[i][j])
				}
			}
		}
		for j := range n {
			w.T[j] = w.N[j] + p.Floor[j]
		}
	}
}

// Steps that leave out what the last one gave equal their definition, as in TestStep.
func TestLeaveLast(t *testing.T) {
	testutil.NotWithRace(t)
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(18, 19))
		for _, k := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 129} {
			w := newWorker(k, kr)
			for _, words := range []int{0, 1, 2, 15, 16, 17, 33, 200} {
				for _, sums := range []bool{false, true} {
					newLast(rnd, 201, k, words, sums).checkLast(t, fmt.Sprintf("K=%d, %d words, sums %v", k, words, sums), w, 3e-6)
				}
			}
		}
		newLast(rnd, 2*piece+5, 5, 2*piece+3, false).checkLast(t, "long", newWorker(5, kr), 3e-6)
	})
}

// A document is not influenced by the one before.
func TestKeepForgets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(20, 21))
	p, other := newLast(rnd, 50, 20, 30, false), newLast(rnd, 50, 20, 45, false)
	w := NewWorker(20)
	other.checkLast(t, "another document", w, 3e-6)
	p.checkLast(t, "after another", w, 3e-6)
	n := slices.Clone(w.N)
	fresh := NewWorker(20)
	p.checkLast(t, "fresh", fresh, 3e-6)
	if !slices.Equal(n, fresh.N) {
		t.Errorf("after another document %v, without %v", n, fresh.N)
	}
}

// As in TestStepImpossible.
func TestLeaveLastImpossible(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		for _, v := range []float32{0, 1e-35, float32(math.NaN()), float32(math.Inf(1))} {
			p := newLast(rand.New(rand.NewPCG(22, 23)), 9, 5, 9, false)
			for i := range p.counts {
				p.counts[i] = float32(i)
			}
			row := p.B.Row(int(p.words[4]))
			for j := range row {
				row[j] = v
			}
			w := newWorker(5, kr)
			copy(w.T, p.t)
			w.Keep(9)
			if _, err := w.Step(&p.Step, p.words, p.counts); !errors.Is(err, ErrImpossible) {
				t.Errorf("entries %v: error %v", v, err)
			}
		}
	})
}

func TestLeaveLastAllocates(t *testing.T) {
	p := newLast(rand.New(rand.NewPCG(24, 25)), 100, 50, 60, false)
	w := NewWorker(50)
	copy(w.T, p.t)
	w.Keep(60)
	if n := testing.AllocsPerRun(10, func() {
		w.Keep(60)
		if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
