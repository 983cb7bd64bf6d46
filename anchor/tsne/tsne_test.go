package tsne

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

var ctx = context.Background()

// clusters draws n points of d dimensions around k centres that are far apart
// for their width; point i belongs to centre i%k.
func clusters(n, d, k int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	centre := mat.NewDense(k, d, nil)
	for i := range k {
		for j := range d {
			centre.Set(i, j, 4*rng.NormFloat64())
		}
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, centre.At(i%k, j)+rng.NormFloat64())
		}
	}
	return x
}

// nearest returns the k nearest rows to row i, itself apart, by looking at all.
func nearest(x *mat.Dense, i, k int) []int {
	n, _ := x.Dims()
	d := make([]float64, n)
	idx := make([]int, 0, n)
	for j := range n {
		for c, v := range x.RawRowView(j) {
			d[j] += (v - x.At(i, c)) * (v - x.At(i, c))
		}
		if j != i {
			idx = append(idx, j)
		}
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		switch {
		case d[a] < d[b]:
			return -1
		case d[a] > d[b]:
			return 1
		}
		return 0
	})
	return idx[:k]
}

// preserved is the mean share of the k nearest neighbours in x that are among
// the k nearest in y.
func preserved(x, y *mat.Dense, k int) float64 {
	n, _ := x.Dims()
	same := 0
	for i := range n {
		a := nearest(x, i, k)
		for _, j := range nearest(y, i, k) {
			if slices.Contains(a, j) {
				same++
			}
		}
	}
	return float64(same) / float64(n*k)
}

func TestNeighbours(t *testing.T) {
	x := clusters(300, 7, 5, 1)
	x.SetRow(17, x.RawRowView(200)) // twins
	x.SetRow(18, x.RawRowView(200))
	for j := range 7 { // far from the origin, where inner products lose digits
		for i := range 300 {
			x.Set(i, j, x.At(i, j)+1e4)
		}
	}
	for _, k := range []int{1, 10, 295, 299} {
		nb, err := neighbours(ctx, x, k, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nb {
			var got []int
			for _, c := range nb[i] {
				got = append(got, int(c.j))
			}
			if want := nearest(x, i, k); !slices.Equal(got, want) {
				t.Fatalf("point %d, %d neighbours: %v, want %v", i, k, got, want)
			}
		}
	}
}

// P is symmetric, sums to 1, and the conditional probabilities have the
// entropy of the perplexity, whatever the unit of the coordinates.
func TestAffinities(t *testing.T) {
	for _, unit := range []float64{1e-9, 1, 1e9} {
		t.Run(fmt.Sprint("unit ", unit), func(t *testing.T) {
			x := clusters(200, 5, 4, 2)
			x.Scale(unit, x)
			perplexity := 20.5
			nb, err := neighbours(ctx, x, int(3*perplexity), 1)
			if err != nil {
				t.Fatal(err)
			}
			dense := mat.NewDense(200, 200, nil)
			for i := range nb {
				h, sum := 0.0, 0.0
				for k, p := range conditional(nb[i], perplexity) {
					h -= p * math.Log(p)
					sum += p
					j := int(nb[i][k].j)
					dense.Set(i, j, dense.At(i, j)+p/400)
					dense.Set(j, i, dense.At(j, i)+p/400)
				}
				if math.Abs(math.Exp(h)-perplexity) > 1e-7 || math.Abs(sum-1) > 1e-14 {
					t.Fatalf("point %d: perplexity %.12g, sum %.17g", i, math.Exp(h), sum)
				}
			}
			p, err := affinities(ctx, nb, perplexity, 2)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range 200 {
				cols, vals := p.row(i)
				if !slices.IsSorted(cols) {
					t.Fatalf("row %d is not sorted", i)
				}
				for k, j := range cols {
					sum += vals[k]
					if math.Abs(vals[k]-dense.At(i, int(j))) > 1e-18 {
						t.Fatalf("p(%d, %d) = %g, want %g", i, j, vals[k], dense.At(i, int(j)))
					}
					dense.Set(i, int(j), 0)
				}
			}
			if math.Abs(sum-1) > 1e-13 || mat.Max(dense) > 0 {
				t.Errorf("P sums to %.17g; the largest entry left out is %g", sum, mat.Max(dense))
			}
		})
	}
	// More twins than the perplexity: they share the probability.
	nb := make([]neighbour, 30)
	for k := 20; k < 30; k++ {
		nb[k].v = 1
	}
	if p := conditional(nb, 10); math.Abs(p[0]-0.05) > 1e-12 || p[25] > 1e-12 {
		t.Errorf("20 twins of 30 neighbours: %v", p)
	}
	for k := range nb {
		nb[k].v = 3
	}
	if p := conditional(nb, 10); p[0] != p[29] || math.Abs(p[0]-1.0/30) > 1e-15 {
		t.Errorf("30 equally far neighbours: %v", p)
	}
}

// scattered returns an embedding in the middle of the descent.
func scattered(t *testing.T, n, dims int, theta float64) *embedding {
	t.Helper()
	e := newEmbedding(n, Settings{Dims: dims, Workers: 2})
	e.theta = theta
	rng := rand.New(rand.NewPCG(4, uint64(dims)))
	for i := range n {
		for c := range dims {
			e.pos[i][c] = 3*rng.NormFloat64() + float64(i%3*10)
		}
	}
	nb, err := neighbours(ctx, clusters(n, 5, 3, 5), 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.p, err = affinities(ctx, nb, 10, 1); err != nil {
		t.Fatal(err)
	}
	return e
}

// slow computes gradient and divergence by their definitions, over all pairs.
func slow(e *embedding, exaggeration float64) (grad []vector, kl float64) {
	p := mat.NewDense(e.n, e.n, nil)
	for i := range e.n {
		cols, vals := e.p.row(i)
		for k, j := range cols {
			p.Set(i, int(j), vals[k])
		}
	}
	w := func(i, j int) float64 {
		s := 1.0
		for c := range 3 {
			s += (e.pos[i][c] - e.pos[j][c]) * (e.pos[i][c] - e.pos[j][c])
		}
		return 1 / s
	}
	z := 0.0
	for i := range e.n {
		for j := range e.n {
			if i != j {
				z += w(i, j)
			}
		}
	}
	grad = make([]vector, e.n)
	for i := range e.n {
		for j := range e.n {
			if i == j {
				continue
			}
			q := w(i, j) / z
			if v := p.At(i, j); v > 0 {
				kl += v * math.Log(v/q)
			}
			for c := range 3 {
				grad[i][c] += 4 * (exaggeration*p.At(i, j) - q) * w(i, j) * (e.pos[i][c] - e.pos[j][c])
			}
		}
	}
	return grad, kl
}

// Against the definition: to rounding without approximation, to a few per cent
// with it; and the gradient is the derivative of the divergence.
func TestGradient(t *testing.T) {
	testutil.NotWithRace(t)
	for _, dims := range []int{2, 3} {
		for _, c := range []struct{ theta, tol float64 }{{0, 1e-12}, {0.2, 5e-3}, {0.5, 3e-2}, {1, 0.2}} {
			t.Run(fmt.Sprintf("%d dimensions, theta %g", dims, c.theta), func(t *testing.T) {
				e := scattered(t, 400, dims, c.theta)
				e.pos[7] = e.pos[9] // points that coincide
				for _, exaggeration := range []float64{1, 12} {
					want, _ := slow(e, exaggeration)
					if err := e.gradient(ctx, exaggeration); err != nil {
						t.Fatal(err)
					}
					diff, size := 0.0, 0.0
					for i := range want {
						for k := range 3 {
							diff += (e.grad[i][k] - want[i][k]) * (e.grad[i][k] - want[i][k])
							size += want[i][k] * want[i][k]
						}
					}
					if diff = math.Sqrt(diff / size); !(diff <= c.tol) {
						t.Errorf("exaggeration %g: the gradient is off by %g", exaggeration, diff)
					}
				}
			})
		}
		e := scattered(t, 100, dims, 0)
		if err := e.gradient(ctx, 1); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 100; i += 17 {
			for c := range dims {
				const h = 1e-5
				at, g := e.pos[i][c], e.grad[i][c]
				e.pos[i][c] = at + h
				_, up := slow(e, 1)
				e.pos[i][c] = at - h
				_, down := slow(e, 1)
				e.pos[i][c] = at
				if want := (up - down) / (2 * h); math.Abs(g-want) > 1e-8 {
					t.Errorf("derivative by coordinate %d of point %d: %.10g, by differences %.10g", c, i, g, want)
				}
			}
		}
	}
}

// All points in one place: the depth of the tree is bounded.
func TestCoincident(t *testing.T) {
	var tr tree
	pos := make([]vector, 100)
	tr.build(pos)
	if f, z := tr.repulsion(3, 0.25); f != (vector{}) || z != 99 {
		t.Errorf("force %v, z %g; want none and 99", f, z)
	}
	pos[50] = vector{1, 1, 0}
	tr.build(pos)
	if _, z := tr.repulsion(slices.Index(tr.order, 50), 0); math.Abs(z-99.0/3) > 1e-12 {
		t.Errorf("z %g, want 33", z)
	}
	if len(tr.cells) > 300 {
		t.Errorf("%d cells", len(tr.cells))
	}
}

// Clusters come out as clusters: nearly all neighbours belong together, and half of
// the neighbours are kept.
func TestClusters(t *testing.T) {
	testutil.NotWithRace(t)
	n := 600
	if testing.Short() {
		n = 200
	}
	for _, dims := range []int{2, 3} {
		t.Run(fmt.Sprint(dims, " dimensions"), func(t *testing.T) {
			x := clusters(n, 10, 6, 3)
			y, err := Embed(ctx, x, Settings{Dims: dims, Perplexity: 20, Iterations: 500})
			if err != nil {
				t.Fatal(err)
			}
			together := 0
			for i := range n {
				for _, j := range nearest(y, i, 10) {
					if j%6 == i%6 {
						together++
					}
				}
			}
			if share := float64(together) / float64(10*n); share < 0.99 {
				t.Errorf("%.1f%% of neighbours are of the same cluster", 100*share)
			}
			if p := preserved(x, y, 10); p < 0.4 {
				t.Errorf("%.3f of the neighbours are kept", p)
			}
			for c := range dims {
				if m := mat.Sum(y.ColView(c)) / float64(n); math.Abs(m) > 1e-9 {
					t.Errorf("coordinate %d has the mean %g, want 0", c, m)
				}
			}
		})
	}
}

// The same bits on any number of workers; another seed, another embedding.
func TestSeedAndWorkers(t *testing.T) {
	x := clusters(250, 8, 4, 6)
	embed := func(s Settings) *mat.Dense {
		s.Perplexity, s.Iterations = 10, 120
		y, err := Embed(ctx, x, s)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	want := embed(Settings{Seed: 3, Workers: 1})
	for _, w := range []int{0, 2, 5, math.MaxInt} {
		if !mat.Equal(embed(Settings{Seed: 3, Workers: w}), want) {
			t.Errorf("%d workers give other bits", w)
		}
	}
	if mat.Equal(embed(Settings{Seed: 4}), want) {
		t.Error("seeds 3 and 4 give the same")
	}
}

// A probability that is not 0 can become 0 where it is divided by 2N. It counts as 0
// then, and has no place in the sum of p·log p.
func TestAffinityUnderflow(t *testing.T) {
	const perplexity = 2
	row := func(far float64) []neighbour { return []neighbour{{1, 1}, {2, 2}, {3, 3}, {far, 4}} }
	p := conditional(row(1e9), perplexity)
	beta := math.Log(p[0] / p[1])
	nb := [][]neighbour{row(1 + 744.3/beta)} // e^−744.3 is the least number twice
	if p := conditional(nb[0], perplexity)[3]; !(p > 0 && p/10 == 0) {
		t.Fatalf("the probability is %g, want one that a division by 10 makes 0", p)
	}
	for i := 1; i < 5; i++ {
		r := []neighbour{{1, 1}, {2, 2}, {3, 3}}
		for t := range r {
			r[t].j = int32((i + t + 1) % 4)
		}
		nb = append(nb, r)
	}
	a, err := affinities(ctx, nb, perplexity, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a.vals {
		if !(v > 0) {
			t.Errorf("entry %d, of word %d, is %g, want it positive", i, a.cols[i], v)
		}
	}
}

func TestBad(t *testing.T) {
	x := clusters(100, 3, 2, 7)
	nan := mat.DenseCopyOf(x)
	nan.Set(5, 1, math.NaN())
	for _, c := range []struct {
		x    *mat.Dense
		s    Settings
		want string
	}{
		{x, Settings{Dims: 4}, "in 4 dimensions"},
		{x, Settings{Dims: 1}, "in 1 dimensions"},
		{x, Settings{Perplexity: 0.5}, "perplexity 0.5"},
		{x, Settings{Perplexity: math.NaN()}, "perplexity NaN"},
		{x, Settings{Perplexity: 34}, "needs at least 103 points, there are 100"},
		{x, Settings{Iterations: -1}, "-1 iterations"},
		{nan, Settings{}, "coordinate 1 of point 5 is NaN"},
	} {
		_, err := Embed(ctx, c.x, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "tsne: ") != 1 {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if err := (Settings{}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	x := clusters(150, 3, 2, 7)
	for _, w := range []int{1, 3} {
		for _, looks := range []int{1, 2, 100} {
			if _, err := Embed(testutil.EndingAfter(looks), x, Settings{Perplexity: 10, Workers: w}); !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers, cancelled at look %d: %v", w, looks, err)
			}
		}
	}
}

func Example() {
	x := mat.NewDense(60, 3, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 60 { // two clouds
		for j := range 3 {
			x.Set(i, j, float64(8*(i%2))+rng.NormFloat64())
		}
	}
	y, err := Embed(context.Background(), x, Settings{Perplexity: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	mixed := 0
	for i := range 60 {
		if nearest(y, i, 1)[0]%2 != i%2 {
			mixed++
		}
	}
	fmt.Println(y.Caps())
	fmt.Println("nearest neighbours of the other cloud:", mixed)
	// Output:
	// 60 2
	// nearest neighbours of the other cloud: 0
}

// BenchmarkEmbed times 1000 steps at N = 5000 in seconds and in units u of one
// gonum product 5000×5000 · 5000×60 on one core, measured in the same run:
//
//	go test ./anchor/tsne -run '^$' -bench Embed -benchtime 1x
func BenchmarkEmbed(b *testing.B) {
	x := clusters(5000, 50, 40, 1)
	for _, dims := range []int{2, 3} {
		for _, workers := range []int{1, 2} {
			if workers > runtime.NumCPU() {
				continue
			}
			b.Run(fmt.Sprintf("N=5000/d=%d/perplexity=30/iterations=1000/workers=%d", dims, workers), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				u := testutil.Stick()
				var y *mat.Dense
				var err error
				b.ResetTimer()
				for range b.N {
					if y, err = Embed(ctx, x, Settings{Dims: dims, Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
				b.ReportMetric(u, "u-seconds")
				b.ReportMetric(preserved(x, y, 10), "kept-of-10")
			})
		}
	}
}
