package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

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
