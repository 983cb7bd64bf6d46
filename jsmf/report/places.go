package report

import (
	"fmt"
	"math"

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
// distances of their reading words. Classical multidimensional scaling shows little
// but the two oddest families of topics, with all others in the middle, so majorize goes on from
// there. The scale is that of the distances, from 0 to √2. O(K³).
func places(gram *mat.Dense) ([][2]float64, error) {
	places, err := linalg.Principal(gram)
	if err != nil {
		return nil, fmt.Errorf("the distances of the map: %w", err)
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
