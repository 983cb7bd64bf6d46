package synth

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestScattered(t *testing.T) {
	const n, k, anchors = 400, 6, 4
	b, a := Scattered(n, k, anchors, 1)
	zeros := 0
	for j := range k {
		s := 0.0
		for i := range n {
			v := b.At(i, j)
			s += v
			if v < 0 {
				t.Fatalf("B[%d, %d] = %g", i, j, v)
			}
			if v == 0 {
				zeros++
			}
			if i < anchors && (v > 0) != (i == j) {
				t.Errorf("B[%d, %d] = %g, but word %d is an anchor", i, j, v, i)
			}
		}
		if math.Abs(s-1) > 1e-14*n {
			t.Errorf("column %d sums to %g", j, s)
		}
	}
	// Binomial: 1200 expected of 2400, deviation 24.
	if zeros < 1080 || zeros > 1320 {
		t.Errorf("%d of %d entries are zero", zeros, n*k)
	}
	for i := range k {
		for j := range k {
			if v := a.At(i, j); v != a.At(j, i) || v < 0 || i == j && (v < 1 || v > 2) || i != j && v > 1 {
				t.Errorf("A[%d, %d] = %g", i, j, v)
			}
		}
	}
	same, _ := Scattered(n, k, anchors, 1)
	other, _ := Scattered(n, k, anchors, 2)
	if !mat.Equal(b, same) || mat.Equal(b, other) {
		t.Error("the seed does not settle what is drawn")
	}
	if c := Cooccurrence(b, a); !mat.Equal(c, c.T()) || math.Abs(mat.Sum(c)-mat.Sum(a)) > 1e-12 {
		t.Error("C is not symmetric, or does not sum to the sum of A")
	}
}

// Errors do not see the order of topics, and see everything else.
func TestErrors(t *testing.T) {
	const n, k = 50, 4
	b, a := Scattered(n, k, 0, 3)
	perm := []int{2, 0, 3, 1}
	pb, pa := mat.NewDense(n, k, nil), mat.NewDense(k, k, nil)
	for to, from := range perm {
		pb.SetCol(to, mat.Col(nil, from, b))
		for l, m := range perm {
			pa.Set(to, l, a.At(from, m))
		}
	}
	if eb, ea, err := Errors(b, a, pb, pa); err != nil || eb != 0 || ea != 0 {
		t.Errorf("permuted: errors %g and %g, %v", eb, ea, err)
	}
	pb.Set(7, 1, pb.At(7, 1)+1e-3)
	pa.Set(0, 2, pa.At(0, 2)-2e-3)
	eb, ea, err := Errors(b, a, pb, pa)
	if err != nil || math.Abs(eb-1e-6) > 1e-12 || math.Abs(ea-4e-6) > 1e-12 {
		t.Errorf("changed: errors %g and %g, %v; want 1e-6 and 4e-6", eb, ea, err)
	}
	if _, _, err := Errors(b, a, mat.NewDense(n, k-1, nil), pa); err == nil {
		t.Error("topics of another size give no error")
	}
}
