package report

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
)

// coordinates returns points in K dimensions with the distances of the rows of the
// model's C̄, one per word, and of the u_k of pca, one per topic.
func coordinates(m *jsmf.Model) (x, top *mat.Dense, err error) {
	if m == nil {
		return nil, nil, errors.New("no model")
	}
	k := m.K()
	b, given := mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.Correlations())
	for t := range k { // p(topic l | topic t)
		row, sum := given.RawRowView(t), 0.0
		for l := range row {
			row[l] = max(row[l], 0) // A may have negative entries
			sum += row[l]
		}
		if sum == 0 {
			row[t], sum = 1, 1 // a topic of no document goes with itself
		}
		for l := range row {
			row[l] /= sum
		}
	}
	// The inner products of the u_k, and points with the same products.
	var gram, g mat.Dense
	gram.Mul(b.T(), b)
	g.Product(given, &gram, given.T())
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, (g.At(i, j)+g.At(j, i))/2)
		}
	}
	vectors, values, err := eigen(sym)
	if err != nil {
		return nil, nil, err
	}
	for j, v := range values {
		root := math.Sqrt(max(v, 0))
		for i := range k {
			vectors.Set(i, j, vectors.At(i, j)*root)
		}
	}
	x = new(mat.Dense)
	x.Mul(mat.DenseCopyOf(m.WordTopics()), vectors)
	return x, vectors, nil
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
		largest := 0
		for i := range k {
			if math.Abs(vectors.At(i, axis)) > math.Abs(vectors.At(largest, axis))*(1+1e-9) { // of equal ones the first
				largest = i
			}
		}
		scale := math.Copysign(math.Sqrt(max(0, values[axis])), vectors.At(largest, axis))
		for i := range k {
			at[i][axis] = scale * vectors.At(i, axis)
		}
	}
	return at, nil
}

// eigen returns eigenvectors and values, the largest first.
func eigen(s mat.Symmetric) (*mat.Dense, []float64, error) {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, errors.New("the eigenproblem of the map did not converge")
	}
	values := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
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
