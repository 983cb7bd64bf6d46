package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/jsmf"
)

// overlaps returns how alike the reading words of topics are, as a K×K matrix: the
// Bhattacharyya coefficients Σ √(p q) of their distributions, 1 for the same words and 0 for
// none in common. A topic without reading words has those of its probabilities. 2 less twice
// the coefficient is the square of the distance of Hellinger, times two. O(N·K²).
func overlaps(m *jsmf.Model) *mat.Dense {
	n, k := m.N(), m.K()
	b, reading := mat.DenseCopyOf(m.Topics()), m.Reading()
	total := func(a *mat.Dense, t int) (sum float64) {
		for i := range n {
			sum += max(0, a.At(i, t))
		}
		return sum
	}
	roots := mat.NewDense(n, k, nil)
	for t := range k {
		from, sum := b, 0.0
		if reading != nil {
			from, sum = reading, total(reading, t)
		}
		if sum == 0 {
			from, sum = b, total(b, t)
		}
		for i := range n {
			if sum > 0 {
				roots.Set(i, t, math.Sqrt(max(0, from.At(i, t))/sum))
			}
		}
	}
	gram := new(mat.Dense)
	gram.Mul(roots.T(), roots)
	return gram
}

// places places topics in the plane, similar ones near each other, by the Hellinger
// distances of their reading words. Classical multidimensional scaling (principal) shows little
// but the two oddest families of topics, with all others in the middle, so majorize goes on from
// there. The scale is that of the distances, from 0 to √2. O(K³).
func places(gram *mat.Dense) ([][2]float64, error) {
	places, err := principal(gram)
	if err != nil {
		return nil, err
	}
	majorize(places, func(i, j int) float64 {
		return math.Sqrt(max(0, gram.At(i, i)+gram.At(j, j)-2*gram.At(i, j)))
	}, 300)
	return places, nil
}

// majorize moves points so that their distances come nearer to those wanted: no step
// raises the sum of the squares of the differences, the stress (SMACOF, de Leeuw 1977).
// O(K²) a step.
func majorize(at [][2]float64, want func(i, j int) float64, steps int) {
	next := make([][2]float64, len(at))
	for range steps {
		for i, p := range at {
			next[i] = [2]float64{}
			for j, q := range at {
				dx, dy := p[0]-q[0], p[1]-q[1]
				d := math.Hypot(dx, dy)
				f := 0.0
				if d > 0 {
					f = want(i, j) / d
				}
				next[i][0] += (q[0] + f*dx) / float64(len(at))
				next[i][1] += (q[1] + f*dy) / float64(len(at))
			}
		}
		copy(at, next)
	}
}

// principal returns the first two principal coordinates of points with the given inner
// products, as seen from their centre (classical multidimensional scaling, Torgerson 1952).
// The coordinate of largest size on each axis is positive.
func principal(inner mat.Matrix) ([][2]float64, error) {
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
	vectors, values, err := eigen(centred)
	if err != nil {
		return nil, err
	}
	at := make([][2]float64, k)
	for axis := range min(2, k) {
		scale := sign(vectors.ColView(axis)) * math.Sqrt(max(0, values[axis]))
		for i := range k {
			at[i][axis] = scale * vectors.At(i, axis)
		}
	}
	return at, nil
}

// sign returns the sign of the coordinate of largest size, of equal ones that of the first.
func sign(v mat.Vector) float64 {
	largest := 0.0
	for i := range v.Len() {
		if x := v.AtVec(i); math.Abs(x) > math.Abs(largest)*(1+1e-9) {
			largest = x
		}
	}
	return math.Copysign(1, largest)
}

// eigen returns eigenvectors and values, the largest first.
func eigen(s mat.Symmetric) (*mat.Dense, []float64, error) {
	values, v, err := linalg.Eigen(s)
	if err != nil {
		return nil, nil, fmt.Errorf("the distances of the map: %w", err)
	}
	n := len(values)
	out := mat.NewDense(n, n, nil)
	for j := range n {
		for i := range n {
			out.Set(i, j, v.At(i, n-1-j))
		}
	}
	slices.Reverse(values)
	return out, values, nil
}
