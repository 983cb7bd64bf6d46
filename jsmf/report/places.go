package report

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
)

// topicPlaces places the topics in the plane, similar ones near each other: by classical
// multidimensional scaling (Torgerson 1952) of the Hellinger distances of their reading
// words, which is the same as principal components of the square roots of the
// distributions. The signs are such that the coordinate of largest size is positive. The
// scale is that of the distances, from 0 to √2. O(N·K² + K³).
func topicPlaces(m *jsmf.Model) ([][2]float64, error) {
	n, k := m.N(), m.K()
	b, reading := mat.DenseCopyOf(m.Topics()), m.Reading()
	roots := mat.NewDense(n, k, nil)
	for t := range k {
		from, sum := b, 0.0
		if reading != nil {
			for i := range n {
				sum += max(0, reading.At(i, t))
			}
			if sum > 0 {
				from = reading
			}
		}
		if from == b {
			sum = 0
			for i := range n {
				sum += max(0, b.At(i, t))
			}
		}
		for i := range n {
			if sum > 0 {
				roots.Set(i, t, math.Sqrt(max(0, from.At(i, t))/sum))
			}
		}
	}
	var gram mat.Dense
	gram.Mul(roots.T(), roots)
	// The inner products of the topics seen from their centre.
	mean, all := make([]float64, k), 0.0
	for i := range k {
		for j := range k {
			mean[i] += gram.At(i, j) / float64(k)
		}
		all += mean[i] / float64(k)
	}
	centred := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			centred.SetSym(i, j, gram.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	vectors, values, err := eigen(centred)
	if err != nil {
		return nil, err
	}
	places := make([][2]float64, k)
	for axis := range min(2, k) {
		root, largest, sign := math.Sqrt(max(0, values[axis])), 0.0, 1.0
		for i := range k {
			if v := vectors.At(i, axis); math.Abs(v) > largest*(1+1e-9) { // of equal ones the first
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		for i := range k {
			places[i][axis] = sign * root * vectors.At(i, axis)
		}
	}
	return places, nil
}
