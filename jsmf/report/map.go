package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
)

// Map places words in the plane: that of [TSNE], or one of the caller's own, such as
// the points in which anchor.Hull found its anchors.
type Map struct {
	Method string     // how the words were placed, in a few words
	Points *mat.Dense // the two coordinates of each word in a row
	Words  []int      // the numbers of the words, each once; nil: row i is word i of all N
}

// pca places the words by the first two principal components of the rows of C̄ as
// the model has them: row n is Σ_k p(topic k | word n) u_k, where u_k = Σ_l
// p(topic l | topic k) b_l is the row of a word of topic k alone, such as its
// anchor. So all words lie in the hull of the u_k. The signs are such that the
// largest coordinate of the u_k is positive. O(N·K²).
func pca(m *jsmf.Model) (*Map, error) {
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
	p := &Map{Method: "principal components", Points: new(mat.Dense)}
	p.Points.Mul(x, &axes)
	return p, nil
}

// TSNE places words by t-SNE ([tsne.Embed]) of the rows of C̄ as the model has them: n words
// (0: 2000), more if needed for the anchors and the ten best words of each topic; the others
// are the most frequent. Of more than 250 topics these are the rows and words of groups: see [Write].
// Settings.Dims must be 0 or 2. Two thousand words take some seconds.
func TSNE(ctx context.Context, m *jsmf.Model, n int, s tsne.Settings) (*Map, error) {
	if s.Dims != 0 && s.Dims != 2 {
		return nil, fmt.Errorf("report: t-SNE in %d dimensions; a page has 2", s.Dims)
	}
	if n < 0 {
		return nil, fmt.Errorf("report: %d words on the map", n)
	}
	if m == nil {
		return nil, errors.New("report: no model")
	}
	u, err := newDrawing(m)
	if err != nil {
		return nil, wrap(err)
	}
	x, _, err := coordinates(u.m)
	if err != nil {
		return nil, wrap(err)
	}
	p := &Map{Method: "t-SNE", Words: mapWords(u.m, unigram(m), n)}
	_, k := x.Dims()
	some := mat.NewDense(len(p.Words), k, nil)
	for i, w := range p.Words {
		some.SetRow(i, x.RawRowView(w))
	}
	r, err := tsne.Embed(ctx, some, s)
	if err != nil {
		return nil, wrap(err)
	}
	p.Points = r.Points
	return p, nil
}

// mapWords returns, ascending, the n (0: 2000) words to show. Anchors and the ten
// best words of each topic are always among them, even if they are more;
// the others are the most frequent.
func mapWords(m *jsmf.Model, p []float64, n int) []int {
	n = cmp.Or(n, 2000)
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
	for _, w := range order(len(p), func(i int) float64 { return p[i] }) {
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

// check reports whether p fits m.
func (p *Map) check(m *jsmf.Model) error {
	if p == nil || p.Points == nil || p.Points.IsEmpty() {
		return errors.New("map: no points")
	}
	r, c := p.Points.Dims()
	if c != 2 {
		return fmt.Errorf("map: points have %d coordinates, want 2", c)
	}
	want := len(p.Words)
	if p.Words == nil {
		want = m.N()
	}
	if r != want {
		return fmt.Errorf("map: %d points for %d words", r, want)
	}
	seen := make(map[int]bool)
	for _, w := range p.Words {
		if w < 0 || w >= m.N() {
			return fmt.Errorf("map: word %d is not in [0, %d)", w, m.N())
		}
		if seen[w] {
			return fmt.Errorf("map: word %d is there twice", w)
		}
		seen[w] = true
	}
	for i := range r {
		for _, v := range p.Points.RawRowView(i) {
			if !vec.Finite(v) {
				return fmt.Errorf("map: point %d is at %v", i, p.Points.RawRowView(i))
			}
		}
	}
	return nil
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

// drawMap returns a map as the script draws it: in the unit square around 0, with
// one scale for both axes.
func drawMap(m *jsmf.Model, used *wordList, p *Map, n int) mapData {
	row := p.Words // the words to show, and with them their rows
	at := make(map[int]int, len(p.Words))
	for i, w := range p.Words {
		at[w] = i
	}
	if row == nil {
		row = mapWords(m, used.p, n)
	} else {
		row = slices.Clone(row)
		slices.Sort(row)
	}
	x, y := make([]float64, len(row)), make([]float64, len(row))
	for i, w := range row {
		r := w
		if p.Words != nil {
			r = at[w]
		}
		x[i], y[i] = p.Points.At(r, 0), p.Points.At(r, 1)
	}
	size := cmp.Or(max(slices.Max(x)-slices.Min(x), slices.Max(y)-slices.Min(y)), 1)
	for _, v := range [][]float64{x, y} {
		mid := (slices.Max(v) + slices.Min(v)) / 2
		for i := range v {
			v[i] = math.Round(1e5*(v[i]-mid)/size) / 1e5
		}
	}
	return mapData{Name: p.Method, Words: used.add(row), X: numbers(x), Y: numbers(y), Hull: hull(x, y)}
}
