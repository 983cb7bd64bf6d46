package estep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Steps of a narrowed Worker are those of the one it was, where the topics that it lost have
// nothing; and Reset brings all topics back.
func TestNarrow(t *testing.T) {
	const n, k = 50, 70
	rng := rand.New(rand.NewPCG(1, 1))
	left := []int32{0, 3, 4, 17, 18, 30, 31, 32, 33, 34, 35, 36, 40, 41, 42, 43, 44, 69}
	b := NewRows(n, k)
	for i := range n {
		for _, j := range left {
			b.Row(i)[j] = rng.Float32()
		}
	}
	var words, part []int32
	var counts []float32
	for i := range int32(40) {
		words, part, counts = append(words, i+i/8), append(part, i), append(counts, float32(1+i%3))
	}
	step := Step{Form: LeaveLast, B: b, NoLikelihood: true, Floor: make([]float32, b.Stride), Token: 1}
	for j := range k {
		step.Floor[j] = 0.1
	}
	begin := func(w *Worker) {
		w.Reset(k)
		for j := range k {
			w.T[j] = 1
		}
		w.Keep(len(words))
	}
	next := func(w *Worker, s Step, words []int32) {
		t.Helper()
		if _, err := w.Step(&s, words, counts); err != nil {
			t.Fatal(err)
		}
		for j := range w.T {
			w.T[j] = s.Floor[j] + w.N[j]
		}
	}
	eachKernel(t, func(t *testing.T, kr *kernel) {
		all, few := newWorker(k, kr), newWorker(k, kr)
		for range 2 {
			begin(all)
			begin(few)
			next(all, step, words)
			next(few, step, words)
			narrow := step
			narrow.B, narrow.Floor = &Rows{}, Narrow(slices.Clone(step.Floor), 1, left)
			narrow.B.Take(b, words, left)
			few.Narrow(left)
			topics := left
			for round := range 4 {
				next(all, step, words)
				next(few, narrow, part)
				for i, j := range topics {
					if d := math.Abs(float64(all.N[j] - few.N[i])); !(d <= 1e-5) {
						t.Fatalf("round %d, topic %d: %v tokens, want %v", round, j, few.N[i], all.N[j])
					}
				}
				if m := len(topics); len(few.T) != Padded(m) || slices.Max(few.N[m:]) != 0 {
					t.Fatalf("%d numbers for %d topics, padding %v", len(few.T), m, few.N[m:])
				}
				if round == 1 { // once more, to all of them
					same := make([]int32, len(topics))
					for i := range same {
						same[i] = int32(i)
					}
					few.Narrow(same)
					narrow.B.Narrow(same)
				}
			}
		}
	})
}

func TestTake(t *testing.T) {
	b := NewRows(4, 40)
	for i := range b.Data {
		b.Data[i] = float32(i)
	}
	var r Rows
	r.Take(b, []int32{3, 1}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20})
	r.Take(b, []int32{2, 0, 1}, []int32{1, 2, 5, 8, 13, 21, 34, 35, 39})
	check := func(columns []int32) {
		t.Helper()
		if r.N != 3 || r.K != len(columns) || r.Stride != 16 || len(r.Data) != 48 {
			t.Fatalf("%d×%d, %d apart, of %d numbers", r.N, r.K, r.Stride, len(r.Data))
		}
		for i, w := range []int{2, 0, 1} {
			for j, v := range r.Data[16*i:][:16] {
				want := float32(0)
				if j < len(columns) {
					want = b.Row(w)[columns[j]]
				}
				if v != want {
					t.Errorf("row %d, column %d: %v, want %v", i, j, v, want)
				}
			}
		}
	}
	check([]int32{1, 2, 5, 8, 13, 21, 34, 35, 39})
	r.Narrow([]int32{0, 3, 8})
	check([]int32{1, 8, 39})
}
