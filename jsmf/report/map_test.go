package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPCA compares with the principal components of the rows of C̄ = B̆ᵀĀBᵀ, formed.
func TestPCA(t *testing.T) {
	m := model(t, 150, 6)
	p, err := pca(m)
	if err != nil {
		t.Fatal(err)
	}
	n, k := m.N(), m.K()
	a := mat.DenseCopyOf(m.Correlations())
	for i := range k {
		s := mat.Sum(a.RowView(i))
		for j := range k {
			a.Set(i, j, a.At(i, j)/s)
		}
	}
	var rows mat.Dense
	rows.Product(mat.DenseCopyOf(m.WordTopics()), a, m.Topics().T())
	mean := make([]float64, n)
	for i := range n {
		for j := range n {
			mean[j] += rows.At(i, j) / float64(n)
		}
	}
	rows.Apply(func(_, j int, v float64) float64 { return v - mean[j] }, &rows)
	var svd mat.SVD
	if !svd.Factorize(&rows, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var v mat.Dense
	svd.VTo(&v)
	var want mat.Dense
	want.Mul(&rows, v.Slice(0, n, 0, 2))
	for j := range 2 {
		sign := math.Copysign(1, mat.Dot(want.ColView(j), p.ColView(j)))
		largest, at := 0.0, 0
		for _, s := range m.Anchors() {
			if x := math.Abs(p.At(s, j)); x > largest {
				largest, at = x, s
			}
		}
		if p.At(at, j) < 0 {
			t.Errorf("axis %d: the farthest anchor is at %v", j, p.At(at, j))
		}
		for i := range n {
			// K-dimensional coordinates come by a square root from inner products:
			// 1e-8 of the largest.
			if d := math.Abs(p.At(i, j) - sign*want.At(i, j)); d > 1e-7*largest {
				t.Fatalf("word %d, axis %d: %v, want %v", i, j, p.At(i, j), sign*want.At(i, j))
			}
		}
	}
	// All words lie in the hull of the anchors.
	var x, y []float64
	for _, s := range m.Anchors() {
		x, y = append(x, p.At(s, 0)), append(y, p.At(s, 1))
	}
	corners := hull(x, y)
	for i := range n {
		if out := outside(x, y, corners, p.At(i, 0), p.At(i, 1)); out > 1e-9 {
			t.Errorf("word %d is %v outside of the anchors", i, out)
		}
	}
}

// outside returns how far a point is from a polygon that does not hold it.
func outside(x, y []float64, corners []int, px, py float64) float64 {
	far := math.Inf(-1)
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		dx, dy := x[b]-x[a], y[b]-y[a]
		far = max(far, (dy*(px-x[a])-dx*(py-y[a]))/math.Hypot(dx, dy))
	}
	return far
}

func TestHull(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		n := 3 + rng.IntN(60)
		x, y := make([]float64, n), make([]float64, n)
		for i := range n { // many on common lines, and some equal
			x[i], y[i] = float64(rng.IntN(8)), float64(rng.IntN(8))
		}
		h := hull(x, y)
		if len(h) < 3 {
			continue // all on a line
		}
		for i := range n {
			if out := outside(x, y, h, x[i], y[i]); out > 1e-12 {
				t.Fatalf("point %d is %v outside", i, out)
			}
		}
		for i, c := range h { // every corner is one, by itself
			rest := slices.Delete(slices.Clone(h), i, i+1)
			if len(rest) > 2 && outside(x, y, rest, x[c], y[c]) <= 0 {
				t.Fatalf("corner %d lies in the hull of the others", i)
			}
		}
	}
	if got := hull([]float64{0, 1, 2}, []float64{0, 1, 2}); len(got) != 2 {
		t.Errorf("the hull of a line is %v", got)
	}
	if got := hull([]float64{1}, []float64{1}); !slices.Equal(got, []int{0}) {
		t.Errorf("the hull of a point is %v", got)
	}
}

func TestMapWords(t *testing.T) {
	m := model(t, 400, 5)
	p := unigram(m)
	few := mapWords(m, p, 1) // what must be there
	for k := range m.K() {
		for _, w := range m.TopWords(k, 10) {
			if !slices.Contains(few, w.Index) {
				t.Errorf("top word %d of topic %d is not there", w.Index, k)
			}
		}
	}
	if got := mapWords(m, p, 100); len(got) != 100 {
		t.Errorf("%d words, want 100", len(got))
	}
	if got := mapWords(m, p, onMap); len(got) != 400 {
		t.Errorf("%d words of 400", len(got))
	}
}

// TestSimilarOrder: things that are similar in blocks are put in blocks, however they
// are numbered.
func TestSimilarOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		n := 24
		block := rng.Perm(n)
		noise := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range i {
				v := 0.1 * rng.Float64()
				noise.Set(i, j, v)
				noise.Set(j, i, v)
			}
		}
		got := similarOrder(n, func(i, j int) float64 {
			if i >= j {
				t.Fatal("asked for the lower triangle")
			}
			if block[i]/6 == block[j]/6 {
				return 0.5 + noise.At(i, j)
			}
			return noise.At(i, j)
		})
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		for i, v := range sorted {
			if v != i {
				t.Fatalf("%v is no order of %d", got, n)
			}
		}
		changes := 0
		for i := 1; i < n; i++ {
			if block[got[i]]/6 != block[got[i-1]]/6 {
				changes++
			}
		}
		if changes != 3 {
			t.Errorf("%d changes of block, want 3", changes)
		}
	}
	if got := similarOrder(3, func(int, int) float64 { return math.NaN() }); len(got) != 3 {
		t.Errorf("without similarities: %v", got)
	}
	if got := similarOrder(0, nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 2, 7, 40, 150} {
		boxes, start := make([]box, n), make([]int, n)
		for i := range boxes {
			r := 8 + 4*rng.Float64()
			boxes[i] = box{r, r + 10*rng.Float64(), r + 8}
			start[i] = i
		}
		var links []link
		for range n {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				links = append(links, link{i, j, rng.Float64()})
			}
		}
		x, y := spread(n, links, start, boxes)
		for i, a := range boxes {
			if x[i]-a.halfWidth < -1e-9 || x[i]+a.halfWidth > networkWidth+1e-9 || y[i]-a.radius < -1e-9 || y[i]+a.below > networkHeight+1e-9 {
				t.Errorf("n=%d: node %d is at %v, %v", n, i, x[i], y[i])
			}
			for j, b := range boxes[:i] {
				if math.Abs(x[i]-x[j]) < a.halfWidth+b.halfWidth && y[i]-a.radius < y[j]+b.below && y[j]-b.radius < y[i]+a.below {
					t.Errorf("n=%d: nodes %d and %d overlap", n, i, j)
				}
			}
		}
		x2, y2 := spread(n, links, start, boxes)
		if !slices.Equal(x, x2) || !slices.Equal(y, y2) {
			t.Errorf("n=%d: another picture the second time", n)
		}
	}
	// Linked ones are nearer than others.
	boxes := slices.Repeat([]box{{5, 5, 5}}, 20)
	var links []link
	for i := 1; i < 20; i++ {
		if i != 10 {
			links = append(links, link{i - 1, i, 1})
		}
	}
	x, y := spread(20, links, []int{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17, 8, 18, 9, 19}, boxes)
	far := func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) }
	linked, all := 0.0, 0.0
	for _, e := range links {
		linked += far(e.k, e.l) / float64(len(links))
	}
	for i := range 20 {
		for j := range i {
			all += far(i, j) / 190
		}
	}
	if linked > all/2 {
		t.Errorf("linked nodes are %v apart, all %v", linked, all)
	}
}
