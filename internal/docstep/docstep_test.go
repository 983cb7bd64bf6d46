package docstep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/estep"
)

// example draws topics and a document of some words for them.
func example(k int, columns []int) (Rule, *Document) {
	rnd := rand.New(rand.NewPCG(1, 2))
	topics := estep.NewRows(30, k)
	for i := range 30 {
		for _, c := range columns {
			topics.Row(i)[c] = rnd.Float32() / 30
		}
	}
	d := NewDocument(k)
	d.Load([]int32{2, 5, 7, 20}, []int32{3, 1, 2, 4}, 1, false)
	return NewRule(topics, 0.25, columns, make([]float32, 30)), d
}

// Columns that are no topics get no weight and no token, and the others share all tokens.
func TestColumns(t *testing.T) {
	for name, leave := range map[string]bool{"plain": false, "leaving a token out": true} {
		t.Run(name, func(t *testing.T) {
			r, d := example(5, []int{0, 1, 4})
			r.Leave = leave
			n := make([]float32, 5)
			if err := d.Fold(&r, n, 4); err != nil {
				t.Fatal(err)
			}
			total := r.Prior.Weigh(d.T, n)
			if want := 10 + 3*0.25; math.Abs(total-want) > 1e-5 {
				t.Errorf("weights sum to %v, want %v tokens and α", total, want)
			}
			if _, _, err := d.Learn(&r, Sums{Rows: estep.NewRows(30, 5)}, total, true); err != nil {
				t.Fatal(err)
			}
			if d.T[2] != 0 || d.T[3] != 0 || d.N[2] != 0 || d.N[3] != 0 {
				t.Errorf("weights %v, tokens %v; want none in columns 2 and 3", d.T[:5], d.N[:5])
			}
			if sum := d.N[0] + d.N[1] + d.N[4]; math.Abs(float64(sum)-10) > 1e-5 {
				t.Errorf("%v tokens, want 10", sum)
			}
		})
	}
}

// Rows and Each get the same tokens by word and topic, to rounding.
func TestSums(t *testing.T) {
	for name, leave := range map[string]bool{"plain": false, "leaving a token out": true} {
		t.Run(name, func(t *testing.T) {
			r, d := example(5, []int{0, 1, 2, 3, 4})
			r.Leave = leave
			learn := func(to Sums) (float64, []float32) {
				total := r.Prior.Weigh(d.T, []float32{4, 1, 2, 0.5, 2.5})
				loglik, _, err := d.Learn(&r, to, total, true)
				if err != nil {
					t.Fatal(err)
				}
				return loglik, slices.Clone(d.N[:5])
			}
			rows, each := estep.NewRows(30, 5), estep.NewRows(30, 5)
			a, n := learn(Sums{Rows: rows})
			b, m := learn(Sums{Count: true, Each: func(i int, out []float32, sum float32) {
				for k, v := range out {
					each.Row(int(d.Visible.Words[i]))[k] += d.Visible.Counts[i] * v / sum
				}
			}})
			if a != b {
				t.Errorf("log-likelihoods %v and %v, want the same", a, b)
			}
			for i, v := range append(rows.Data, n...) {
				if w := append(each.Data, m...)[i]; math.Abs(float64(v-w)) > 1e-5 {
					t.Fatalf("number %d is %v in rows and %v by word, want the same", i, v, w)
				}
			}
		})
	}
}

// Relaxed tokens are those of the definition: weights twice as far from the old ones in logarithms, not
// below α, made to sum to the total, less α. At the fixed point of Fold they stay where they are.
func TestRelax(t *testing.T) {
	r, d := example(5, []int{0, 1, 3, 4})
	before := []float32{4, 1, 0, 0.5, 4.5}
	total := r.Prior.Weigh(d.T, before)
	n := []float32{5, 0.2, 0, 0, 4.8} // the last but one has lost all
	weights, sum := make([]float64, 5), 0.0
	for k, p := range r.Prior {
		if k < 5 && p > 0 {
			old, v := float64(before[k]+p), float64(n[k]+p)
			weights[k] = max(v*min(v/old, maxRise), float64(p))
			sum += weights[k]
		}
	}
	d.Relax(&r, n, float32(total))
	for k, v := range n {
		want := max(weights[k]*total/sum-float64(r.Prior[k]), 0)
		if math.Abs(float64(v)-want) > 1e-5 { // float32
			t.Errorf("topic %d has %v tokens, want %v", k, v, want)
		}
	}
	if err := d.Fold(&r, n, 2000); err != nil {
		t.Fatal(err)
	}
	fixed := slices.Clone(n)
	total = r.Prior.Weigh(d.T, n)
	d.Relax(&r, n, float32(total))
	for k, v := range n {
		if math.Abs(float64(v-fixed[k])) > 1e-4 {
			t.Errorf("topic %d moves from %v to %v at the fixed point", k, fixed[k], v)
		}
	}
}

// Over-relaxed steps keep the sum of the weights, and end where steps of EM end.
func TestSettle(t *testing.T) {
	r, d := example(4, []int{0, 1, 2, 3})
	n := make([]float32, 4)
	if err := d.Fold(&r, n, 2000); err != nil {
		t.Fatal(err)
	}
	total := r.Prior.Weigh(d.T, n)
	want := slices.Clone(d.T[:4])
	Rescale(d.T[:4], []float32{1, 1, 1, 1}, float32(total)/4)
	if err := d.Settle(&r, float32(total), 1000); err != nil {
		t.Fatal(err)
	}
	for k, v := range want {
		if math.Abs(float64(d.T[k]-v)) > 0.01 {
			t.Errorf("weights %v, want %v of 2000 steps of EM", d.T[:4], want)
			break
		}
	}
}

// A document's weight multiplies what it adds to the topics, and not what topics it has.
func TestTimes(t *testing.T) {
	r, d := example(3, []int{0, 1, 2})
	rows, n := [2]*estep.Rows{}, [2][]float32{}
	for i, times := range []float64{1, 2.5} {
		d.Load([]int32{2, 5, 7, 20}, []int32{3, 1, 2, 4}, times, false)
		rows[i], n[i] = estep.NewRows(30, 3), make([]float32, 3)
		if err := d.Fold(&r, n[i], 3); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Learn(&r, Sums{Rows: rows[i]}, r.Prior.Weigh(d.T, n[i]), false); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range n[0] {
		if math.Abs(float64(v-n[1][k])) > 1e-5 {
			t.Errorf("tokens by topic %v with weight 1 and %v with 2.5, want the same", n[0], n[1])
		}
	}
	for i, v := range rows[0].Data {
		if math.Abs(float64(2.5*v-rows[1].Data[i])) > 1e-5 {
			t.Errorf("number %d of the sums is %v with weight 1 and %v with 2.5", i, v, rows[1].Data[i])
		}
	}
}
