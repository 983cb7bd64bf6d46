package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Principal returns the first two principal coordinates of k points with the given inner
// products, as seen from their centre (classical multidimensional scaling, Torgerson 1952); minus half the
// squares of their distances do as well. The coordinate of largest size on each axis, the first of equal ones, is
// positive. O(k³).
func Principal(inner mat.Matrix) ([][2]float64, error) {
	k, _ := inner.Dims()
	mean, all := make([]float64, k), 0.0
	for i := range k {
		for j := range k {
			mean[i] += inner.At(i, j) / float64(k)
		}
		all += mean[i] / float64(k)
	}
	centred := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			centred.SetSym(i, j, inner.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	values, vectors, err := Eigen(centred)
	if err != nil {
		return nil, err
	}
	at := make([][2]float64, k)
	for axis := range min(2, k) {
		from, largest := k-1-axis, 0.0
		for i := range k {
			if x := vectors.At(i, from); math.Abs(x) > math.Abs(largest)*(1+1e-9) {
				largest = x
			}
		}
		scale := math.Copysign(1, largest) * math.Sqrt(max(0, values[from]))
		for i := range k {
			at[i][axis] = scale * vectors.At(i, from)
		}
	}
	return at, nil
}
