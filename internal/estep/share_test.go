package estep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// With Each a step hands out what it adds up without, word by word in order, for documents of one piece and of
// several, and returns the same log-likelihood. The scores of the sums are those of a step, to
// 3e-6 as in the other tests.
func TestEach(t *testing.T) {
	const tol = 3e-6
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(31, 32))
		for _, form := range []Form{Plain, LeaveDocument} {
			for _, k := range []int{1, 16, 50, 113} {
				for _, words := range []int{0, 1, 19, piece + 7} {
					name := fmt.Sprintf("form %d, K = %d, %d words", form, k, words)
					p := newProblem(rnd, piece+9, k, words, form, false)
					w := newWorker(k, kr)
					copy(w.T, p.t)
					p.Step.Count = true
					tokens, want, loglik := p.slow()
					next := 0
					p.Step.Each = func(i int, out []float32, sum float32) {
						if i != next || len(out) != k {
							t.Fatalf("%s: word %d with %d numbers, want word %d", name, i, len(out), next)
						}
						next++
						for j, v := range out {
							if x := float64(p.counts[i] / sum * v); !(math.Abs(x-want[i][j]) <= tol*(1+want[i][j])) {
								t.Fatalf("%s: word %d, topic %d has %v, want %v", name, i, j, x, want[i][j])
							}
						}
					}
					got, err := w.Step(&p.Step, p.words, p.counts)
					for j, v := range w.N[:k] {
						if x := float64(v); !(math.Abs(x-tokens[j]) <= tol*(1+tokens[j])) {
							t.Fatalf("%s: topic %d has %v tokens, want %v", name, j, x, tokens[j])
						}
					}
					if err != nil || next != words || !(math.Abs(got-loglik) <= tol*(1+math.Abs(loglik))) {
						t.Errorf("%s: %v words, log-likelihood %v, want %v; %v", name, next, got, loglik, err)
					}
				}
			}
		}
	})
}
