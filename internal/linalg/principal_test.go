package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Points of a plane come back, up to a turn, from their inner products and from their distances.
func TestPrincipal(t *testing.T) {
	points := [][2]float64{{0, 0}, {3, 0}, {0, 1}, {5, 2}, {-1, 4}}
	k := len(points)
	inner, distances := mat.NewDense(k, k, nil), mat.NewSymDense(k, nil)
	for i, p := range points {
		for j, q := range points {
			inner.Set(i, j, p[0]*q[0]+p[1]*q[1])
			if d := math.Hypot(p[0]-q[0], p[1]-q[1]); j <= i {
				distances.SetSym(i, j, -d*d/2)
			}
		}
	}
	for name, given := range map[string]mat.Matrix{"inner products": inner, "distances": distances} {
		at, err := Principal(given)
		if err != nil {
			t.Fatal(err)
		}
		largest := [2]float64{}
		for i, p := range at {
			for j, q := range at {
				want := math.Hypot(points[i][0]-points[j][0], points[i][1]-points[j][1])
				if d := math.Hypot(p[0]-q[0], p[1]-q[1]); math.Abs(d-want) > 1e-12 {
					t.Errorf("%s: points %d and %d are %v apart, want %v", name, i, j, d, want)
				}
			}
			for axis, v := range p {
				if math.Abs(v) > math.Abs(largest[axis]) {
					largest[axis] = v
				}
			}
		}
		if largest[0] <= 0 || largest[1] <= 0 {
			t.Errorf("%s: the largest coordinates are %v", name, largest)
		}
	}
	if one, err := Principal(mat.NewDense(1, 1, []float64{7})); err != nil || one[0] != [2]float64{} {
		t.Errorf("one point: %v, %v", one, err)
	}
	if _, err := Principal(mat.NewDense(2, 2, []float64{1, 0, 0, math.NaN()})); err == nil {
		t.Error("NaN is taken")
	}
}
