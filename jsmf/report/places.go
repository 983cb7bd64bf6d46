package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
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

// pca places the words by the first two principal components of the rows of C̄ as
// the model has them: row n is Σ_k p(topic k | word n) u_k, where u_k = Σ_l
// p(topic l | topic k) b_l is the row of a word of topic k alone, such as its
// anchor. So all words lie in the hull of the u_k. The signs are such that the
// largest coordinate of the u_k is positive. O(N·K²).
func pca(m *jsmf.Model) (*mat.Dense, error) {
	x, top, err := coordinates(m)
	if err != nil {
		return nil, err
	}
	n, k := x.Dims()
	mean := make([]float64, k)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	for i := range n {
		floats.Sub(x.RawRowView(i), mean)
	}
	var cov mat.SymDense
	cov.SymOuterK(1, x.T())
	vectors, _, err := eigen(&cov)
	if err != nil {
		return nil, err
	}
	for t := range k {
		floats.Sub(top.RawRowView(t), mean)
	}
	var corners, axes mat.Dense
	corners.Mul(top, vectors)
	axes.CloneFrom(vectors.Slice(0, k, 0, 2))
	axes.Apply(func(_, j int, v float64) float64 { return sign(corners.ColView(j)) * v }, &axes)
	p := new(mat.Dense)
	p.Mul(x, &axes)
	return p, nil
}

// onMap is how many words the map shows.
const onMap = 2000

// mapWords returns, ascending, the n words to show. Anchors and the ten
// best words of each topic are always among them, even if they are more;
// the others are the most frequent.
func mapWords(m *jsmf.Model, p []float64, n int) []int {
	in := make([]bool, m.N())
	count := 0
	add := func(w int) {
		if !in[w] {
			in[w] = true
			count++
		}
	}
	for _, w := range slices.Concat(append(m.AnchorGroups(), m.Anchors())...) {
		add(w)
	}
	for k := range m.K() {
		for _, w := range m.TopWords(k, 10) {
			add(w.Index)
		}
	}
	for _, w := range vec.Order(len(p), func(i int) float64 { return p[i] }) {
		if count >= n {
			break
		}
		add(w)
	}
	var out []int
	for w, ok := range in {
		if ok {
			out = append(out, w)
		}
	}
	return out
}

// hull returns the corners of the convex hull of points in the plane, by number,
// counterclockwise from the leftmost (Andrew's monotone chain). O(n log n).
func hull(x, y []float64) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b]), a-b) })
	half := func(h []int, order []int) []int {
		first := len(h)
		for _, p := range order {
			for len(h) >= first+2 {
				a, b := h[len(h)-2], h[len(h)-1]
				if (x[b]-x[a])*(y[p]-y[a])-(y[b]-y[a])*(x[p]-x[a]) > 0 {
					break
				}
				h = h[:len(h)-1]
			}
			h = append(h, p)
		}
		return h[:len(h)-1]
	}
	if len(at) < 3 {
		return at
	}
	h := half(nil, at)
	slices.Reverse(at)
	return half(h, at)
}

// drawMap returns the map of the points of pca as the script draws it: in the unit square
// around 0, with one scale for both axes.
func drawMap(m *jsmf.Model, used *wordList, points *mat.Dense) mapData {
	words := mapWords(m, used.p, onMap)
	x, y := make([]float64, len(words)), make([]float64, len(words))
	for i, w := range words {
		x[i], y[i] = points.At(w, 0), points.At(w, 1)
	}
	size := cmp.Or(max(slices.Max(x)-slices.Min(x), slices.Max(y)-slices.Min(y)), 1)
	for _, v := range [][]float64{x, y} {
		mid := (slices.Max(v) + slices.Min(v)) / 2
		for i := range v {
			v[i] = math.Round(1e5*(v[i]-mid)/size) / 1e5
		}
	}
	return mapData{Words: used.add(words), X: numbers(x), Y: numbers(y), Hull: hull(x, y)}
}
