package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/jsmf"
)

// Picture places words in the plane. Write draws PCA's and those given by Map:
// TSNE's, or one of the caller's own, such as the points in which anchor.Hull found
// its anchors.
type Picture struct {
	// Method says in a few words how the places were found.
	Method string
	// Points has a row for each word, with its two coordinates.
	Points *mat.Dense
	// Words are the numbers of the words, each once; nil: row i is word i of all N.
	Words []int
}

// PCA places the words by the first two principal components of the rows of C̄ as
// the model has them: row n is Σ_k p(topic k | word n) u_k, where u_k = Σ_l
// p(topic l | topic k) b_l is the row of a word of topic k alone, such as its
// anchor. So all words lie in the hull of the u_k. The signs are such that the
// largest coordinate of the u_k is positive. O(N·K²).
func PCA(m *jsmf.Model) (*Picture, error) {
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
		for j := range mean {
			x.RawRowView(i)[j] -= mean[j]
		}
	}
	var cov mat.SymDense
	cov.SymOuterK(1, x.T())
	vectors, _, err := eigen(&cov)
	if err != nil {
		return nil, err
	}
	axes := mat.NewDense(k, 2, nil)
	for j := range 2 {
		largest, sign := 0.0, 1.0
		for t := range k {
			s := 0.0
			for i := range k {
				s += (top.At(t, i) - mean[i]) * vectors.At(i, j)
			}
			if math.Abs(s) > largest*(1+1e-9) { // of equal ones the first
				largest, sign = math.Abs(s), math.Copysign(1, s)
			}
		}
		for i := range k {
			axes.Set(i, j, sign*vectors.At(i, j))
		}
	}
	p := &Picture{Method: "principal components", Points: new(mat.Dense)}
	p.Points.Mul(x, axes)
	return p, nil
}

// TSNE places words so that near ones stay near, by package tsne in the space of
// PCA: at most n words, 0 means DefaultMapWords, the most frequent with all anchors
// and the ten top words of each topic. Settings.Dims must be 0 or 2. Its cost is
// that of tsne.Embed: some seconds for two thousand words.
func TSNE(ctx context.Context, m *jsmf.Model, n int, s tsne.Settings) (*Picture, error) {
	if m == nil {
		return nil, errors.New("report: no model")
	}
	if s.Dims != 0 && s.Dims != 2 {
		return nil, fmt.Errorf("report: t-SNE in %d dimensions; a page has 2", s.Dims)
	}
	if n < 0 {
		return nil, fmt.Errorf("report: %d words on the map", n)
	}
	x, _, err := coordinates(m)
	if err != nil {
		return nil, err
	}
	p := &Picture{Method: "t-SNE", Words: mapWords(m, unigram(m), n)}
	_, k := x.Dims()
	some := mat.NewDense(len(p.Words), k, nil)
	for i, w := range p.Words {
		some.SetRow(i, x.RawRowView(w))
	}
	r, err := tsne.Embed(ctx, some, s)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	p.Points = r.Points
	return p, nil
}

// coordinates returns an isometric picture in K dimensions of the rows of the
// model's C̄, one a word, and of the u_k of PCA, one a topic.
func coordinates(m *jsmf.Model) (x, top *mat.Dense, err error) {
	if m == nil {
		return nil, nil, errors.New("report: no model")
	}
	k := m.K()
	b, given := mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.Correlations())
	for t := range k { // p(topic l | topic t)
		row, sum := given.RawRowView(t), 0.0
		for l := range row {
			row[l] = max(row[l], 0) // an A that is no distribution may have less
			sum += row[l]
		}
		if sum == 0 {
			row[t], sum = 1, 1 // a topic of no document goes with itself
		}
		for l := range row {
			row[l] /= sum
		}
	}
	// The inner products of the u_k, and points with the same.
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

// eigen returns eigenvectors and values, the largest first.
func eigen(s mat.Symmetric) (*mat.Dense, []float64, error) {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, errors.New("report: the eigenproblem of the map did not converge")
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

// mapWords returns, ascending, the words to show: n of them, 0 for
// DefaultMapWords. Anchors and the first ten words of each topic are always
// there, even if they are more; the rest are the most frequent.
func mapWords(m *jsmf.Model, p []float64, n int) []int {
	if n == 0 {
		n = DefaultMapWords
	}
	in := make([]bool, m.N())
	count := 0
	add := func(w int) {
		if !in[w] {
			in[w] = true
			count++
		}
	}
	for _, w := range m.Anchors() {
		add(w)
	}
	for _, f := range m.AnchorGroups() {
		for _, w := range f {
			add(w)
		}
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

// check tells whether p fits m.
func (p *Picture) check(m *jsmf.Model) error {
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
			if math.IsNaN(v) || math.IsInf(v, 0) {
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
	slices.SortFunc(at, func(a, b int) int {
		switch {
		case x[a] != x[b] && x[a] < x[b] || x[a] == x[b] && y[a] < y[b]:
			return -1
		case x[a] == x[b] && y[a] == y[b]:
			return a - b
		}
		return 1
	})
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
