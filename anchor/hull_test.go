package anchor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

func findHull(t testing.TB, h anchor.Hull, r cooc.Rows, k int, opt anchor.Options) *anchor.Result {
	t.Helper()
	res, err := h.Find(ctx, r, k, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// On separable data the K−1 principal components have the planted anchors as
// their only vertices, whatever the form of the matrix and the correlations.
func TestHullPlanted(t *testing.T) {
	for _, k := range []int{2, 3, 4, 10, 40} {
		if k == 40 && (testing.Short() || testutil.Race) {
			continue
		}
		for _, correlation := range []float64{0, 0.9} {
			m := testutil.NewPlanted(4*k+30, k, correlation, uint64(k))
			low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []cooc.Matrix{dense(t, m.C), low} {
				for _, want := range []int{0, k} {
					r := findHull(t, anchor.Hull{Dims: k - 1}, rowsOf(t, c), want, anchor.Options{})
					if _, err := m.Topics(r.Anchors); err != nil {
						t.Errorf("K = %d, correlation %g: %v", k, correlation, err)
					}
					if r.Candidates != m.N || r.Norms != nil || r.ChoseK != (want == 0) {
						t.Errorf("K = %d: %d candidates, norms %v, chose K: %t", k, r.Candidates, r.Norms, r.ChoseK)
					}
				}
			}
		}
	}
	// A word of two topics lies on the edge between their anchors; it is none.
	m := testutil.NewPlanted(60, 4, 0.2, 3)
	for i := range 60 {
		if !slices.Contains(m.Anchors, i) {
			m.B.Set(i, i%4, 0)
			m.B.Set(i, (i+1)%4, 0)
		}
	}
	var c mat.Dense
	c.Product(m.B, m.A, m.B.T())
	c.Scale(1/mat.Sum(&c), &c)
	for i := range 60 {
		for j := range i {
			c.Set(i, j, c.At(j, i))
		}
	}
	r := findHull(t, anchor.Hull{}, rowsOf(t, dense(t, &c)), 0, anchor.Options{})
	if _, err := m.Topics(r.Anchors); err != nil {
		t.Error(err)
	}
}

// Unnormalised embeds the rows of C: in as many dimensions as they span, their
// distances are kept, whatever the form of the matrix.
func TestHullUnnormalised(t *testing.T) {
	const k = 6
	m := testutil.NewPlanted(50, k, 0.3, 7)
	low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	law, err := low.LAW(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]cooc.Rows{"explicit": rowsOf(t, dense(t, m.C)), "in K dimensions": law} {
		e := findHull(t, anchor.Hull{Dims: k - 1, Unnormalised: true}, rows, 0, anchor.Options{}).Embedding
		full := findHull(t, anchor.Hull{Dims: k, Unnormalised: true}, rows, 0, anchor.Options{}).Embedding
		for i := range 50 {
			for j := range i {
				want := floats.Distance(m.C.RawRowView(i), m.C.RawRowView(j), 2)
				if got := floats.Distance(full.RawRowView(i), full.RawRowView(j), 2); math.Abs(got-want) > 1e-9*want+1e-12 {
					t.Fatalf("%s: words %d and %d are %v apart, want %v", name, i, j, got, want)
				}
				if got := floats.Distance(e.RawRowView(i), e.RawRowView(j), 2); got > want*(1+1e-9)+1e-12 {
					t.Fatalf("%s: words %d and %d are %v apart in fewer dimensions, at most %v", name, i, j, got, want)
				}
			}
		}
	}
}

// cloudRows are rows with a spectrum that falls, as those of texts do.
func cloudRows(n, d int, seed uint64) points {
	rng := rand.New(rand.NewPCG(seed, 9))
	a := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			a.Set(i, j, (1+rng.NormFloat64())*math.Pow(0.8, float64(j)))
		}
	}
	return points{a}
}

// The scores are those of a singular value decomposition of the centred rows,
// with the largest entry of each column positive; a word without a row has no
// position and counts nowhere.
func TestHullPCA(t *testing.T) {
	rows := cloudRows(120, 30, 1)
	for j := range 30 {
		rows.a.Set(50, j, 0)
	}
	r := findHull(t, anchor.Hull{Dims: 4}, rows, 0, anchor.Options{})
	e := r.Embedding
	a := mat.NewDense(119, 30, nil)
	words := make([]int, 0, 119)
	for i := range 120 {
		if i != 50 {
			a.SetRow(len(words), rows.a.RawRowView(i))
			words = append(words, i)
		}
	}
	for j := range 30 {
		mean := mat.Sum(a.ColView(j)) / 119
		for i := range 119 {
			a.Set(i, j, a.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		t.Fatal("svd")
	}
	var u mat.Dense
	svd.UTo(&u)
	s := svd.Values(nil)
	for j := range 4 {
		sign, largest := 1.0, 0.0
		for i := range 119 {
			if v := u.At(i, j); math.Abs(v) > largest {
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		for i, w := range words {
			// The eigenvectors are found to 1e-9 of their own scale.
			if want := sign * u.At(i, j) * s[j]; math.Abs(e.At(w, j)-want) > 1e-7*s[0] {
				t.Fatalf("score (%d, %d) is %.10g, want %.10g", w, j, e.At(w, j), want)
			}
		}
	}
	if !math.IsNaN(e.At(50, 0)) || slices.Contains(r.Anchors, 50) {
		t.Errorf("the word without a row is at %v", e.RawRowView(50))
	}
}

// k anchors are the first of all, which come by their distance from the mean.
func TestHullOrder(t *testing.T) {
	rows := cloudRows(300, 20, 2)
	all := findHull(t, anchor.Hull{}, rows, 0, anchor.Options{})
	if len(all.Anchors) < 15 {
		t.Fatalf("%d anchors", len(all.Anchors))
	}
	mean := make([]float64, 3)
	for i := range 300 {
		floats.AddScaled(mean, 1.0/300, all.Embedding.RawRowView(i))
	}
	distances := make([]float64, len(all.Anchors))
	for t1, w := range all.Anchors {
		distances[t1] = floats.Distance(all.Embedding.RawRowView(w), mean, 2)
		if t1 > 0 && distances[t1] > distances[t1-1] {
			t.Errorf("vertex %d is %g from the mean, the one before it %g", t1, distances[t1], distances[t1-1])
		}
	}
	var seen []float64
	part := findHull(t, anchor.Hull{}, rows, 7, anchor.Options{Progress: func(done, total int, d float64) {
		if seen = append(seen, d); done != len(seen) || total != 7 {
			t.Errorf("progress %d of %d", done, total)
		}
	}})
	if !slices.Equal(part.Anchors, all.Anchors[:7]) || !floats.EqualApprox(seen, distances[:7], 1e-12) {
		t.Errorf("7 anchors %v, of %v; progress %v", part.Anchors, all.Anchors, seen)
	}
	if r := findHull(t, anchor.Hull{All: true}, rows, 7, anchor.Options{}); !slices.Equal(r.Anchors, all.Anchors) {
		t.Errorf("All: %v", r.Anchors)
	}
	most := len(all.Anchors)
	if r := findHull(t, anchor.Hull{AllowFewer: true}, rows, most+1, anchor.Options{}); !slices.Equal(r.Anchors, all.Anchors) {
		t.Errorf("AllowFewer: %v", r.Anchors)
	}
	_, err := anchor.Hull{}.Find(ctx, rows, most+1, anchor.Options{})
	var ve *anchor.VerticesError
	if !errors.As(err, &ve) || *ve != (anchor.VerticesError{Vertices: most, K: most + 1, Method: "PCA", Dims: 3}) || !strings.Contains(err.Error(), fmt.Sprintf("has %d vertices", most)) {
		t.Errorf("more anchors than vertices: %v", err)
	}
}

// The same bits on any number of workers; another name for a word, the same
// words. t-SNE too, where the start goes with the words.
func TestHullWorkersAndEquivariance(t *testing.T) {
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, m)
	for _, h := range []anchor.Hull{{}, {Dims: 2}, {Dims: 2, TSNE: &tsne.Settings{Iterations: 30, Seed: 4}}} {
		one := findHull(t, h, rows, 0, anchor.Options{Workers: 1})
		for _, w := range []int{2, 5} {
			if testutil.Race && w == 2 {
				continue
			}
			got := findHull(t, h, rows, 0, anchor.Options{Workers: w})
			if !slices.Equal(got.Anchors, one.Anchors) || !mat.Equal(got.Embedding, one.Embedding) {
				t.Errorf("%v: %d workers give other bits", h, w)
			}
		}
	}
	a := cloudRows(150, 20, 3)
	rng := rand.New(rand.NewPCG(5, 5))
	order := rng.Perm(150)
	b := points{mat.NewDense(150, 20, nil)}
	for i, o := range order {
		b.a.SetRow(i, a.a.RawRowView(o))
	}
	want, got := findHull(t, anchor.Hull{}, a, 0, anchor.Options{}), findHull(t, anchor.Hull{}, b, 0, anchor.Options{})
	for t1, w := range got.Anchors {
		got.Anchors[t1] = order[w]
	}
	if !slices.Equal(got.Anchors, want.Anchors) {
		t.Errorf("anchors %v, after renaming %v", want.Anchors, got.Anchors)
	}
}

// Rare words are in the embedding but not in the hull.
func TestHullCandidates(t *testing.T) {
	rows := cloudRows(200, 20, 4)
	all := findHull(t, anchor.Hull{}, rows, 0, anchor.Options{})
	df := slices.Repeat([]int{100}, 200)
	rare := all.Anchors[0]
	df[rare] = 6
	opt := anchor.Options{DocFrequencies: df, Docs: 100}
	for _, h := range []anchor.Hull{{MinDocs: 7}, {MinDocFraction: 0.07}} {
		r := findHull(t, h, rows, 0, opt)
		if slices.Contains(r.Anchors, rare) || r.Candidates != 199 || !mat.Equal(r.Embedding, all.Embedding) {
			t.Errorf("%v: anchors %v of %d candidates", h, r.Anchors, r.Candidates)
		}
	}
	df[rare] = 7
	for _, h := range []anchor.Hull{{MinDocs: 7}, {MinDocFraction: 0.07}} {
		if r := findHull(t, h, rows, 0, opt); !slices.Equal(r.Anchors, all.Anchors) {
			t.Errorf("%v: anchors %v, want %v", h, r.Anchors, all.Anchors)
		}
	}
	var ce *anchor.CandidateError
	if _, err := (anchor.Hull{MinDocs: 101}).Find(ctx, rows, 3, opt); !errors.As(err, &ce) || ce.Candidates != 0 || ce.MinDocs != 101 {
		t.Errorf("no candidates: %v", err)
	}
	for i := range 197 {
		df[i] = 1
	}
	if _, err := (anchor.Hull{MinDocs: 2, AllowFewer: true}).Find(ctx, rows, 5, opt); err == nil || !strings.Contains(err.Error(), "the rows of the 3 words lie in a flat of 2") {
		t.Errorf("three candidates in space: %v", err)
	}
	if _, err := (anchor.Hull{MinDocs: 2}).Find(ctx, rows, 5, opt); !errors.As(err, &ce) || ce.Candidates != 3 || ce.K != 5 {
		t.Errorf("three candidates for five anchors: %v", err)
	}
}

func TestHullBad(t *testing.T) {
	rows := cloudRows(100, 12, 5)
	nan := cloudRows(100, 12, 5)
	nan.a.Set(7, 3, math.NaN())
	df := make([]int, 100)
	for _, c := range []struct {
		h    anchor.Hull
		rows cooc.Rows
		k    int
		opt  anchor.Options
		want string
	}{
		{anchor.Hull{}, rows, -1, anchor.Options{}, "K = -1 is not in [0, 100]"},
		{anchor.Hull{}, rows, 101, anchor.Options{}, "K = 101 is not in [0, 100]"},
		{anchor.Hull{Dims: -1}, rows, 3, anchor.Options{}, "-1 dimensions"},
		{anchor.Hull{Tol: 1}, rows, 3, anchor.Options{}, "Tol 1 "},
		{anchor.Hull{Tol: math.NaN()}, rows, 3, anchor.Options{}, "Tol NaN"},
		{anchor.Hull{MinDocs: -1}, rows, 3, anchor.Options{}, "MinDocs -1"},
		{anchor.Hull{MinDocFraction: math.NaN()}, rows, 3, anchor.Options{}, "MinDocFraction NaN"},
		{anchor.Hull{MinDocs: 2}, rows, 3, anchor.Options{DocFrequencies: df[:99]}, "document frequencies of 99 words"},
		{anchor.Hull{MinDocFraction: 0.5}, rows, 3, anchor.Options{DocFrequencies: df}, "their number is not known"},
		{anchor.Hull{Dims: 4, TSNE: &tsne.Settings{}}, rows, 3, anchor.Options{}, "tsne: an embedding in 4 dimensions"},
		{anchor.Hull{TSNE: &tsne.Settings{Dims: 2}}, rows, 3, anchor.Options{}, "in 2 dimensions for a hull in 3"},
		{anchor.Hull{TSNE: &tsne.Settings{Perplexity: 40}}, rows, 3, anchor.Options{}, "perplexity of 40 needs at least 121 points, there are 100"},
		{anchor.Hull{}, nan, 3, anchor.Options{}, "the row of word 7 has the squared norm NaN"},
		{anchor.Hull{Dims: 13}, rows, 3, anchor.Options{}, "a hull in 13 dimensions asked for, but the rows of the 100 words lie in a flat of 12 (PCA); ask for at most 12"},
		{anchor.Hull{}, rows, 3, withGiven(anchor.Options{}, []int{1}, nil), "Hull cannot complete given anchors"},
		{anchor.Hull{}, rows, 3, anchor.Options{Exclude: []int{1}}, "Hull cannot leave out words"},
	} {
		_, err := c.h.Find(ctx, c.rows, c.k, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "anchor: ") != 1 {
			t.Errorf("%v, K = %d: %v, want %q", c.h, c.k, err, c.want)
		}
	}
	// Of many dimensions too.
	r := findHull(t, anchor.Hull{Dims: 12}, rows, 0, anchor.Options{})
	if len(r.Anchors) < 90 {
		t.Errorf("%d vertices in 12 dimensions", len(r.Anchors))
	}
	// Fewer dimensions than asked for, found and said.
	for dim := range 3 {
		flat := points{mat.NewDense(40, 8, nil)}
		rng := rand.New(rand.NewPCG(6, uint64(dim)))
		base := mat.NewDense(dim+1, 8, nil)
		for i := range dim + 1 {
			for j := range 8 {
				base.Set(i, j, rng.Float64())
			}
		}
		for i := range 40 {
			row := flat.a.RawRowView(i)
			for l := range dim + 1 {
				w := rng.Float64()
				if l == 0 {
					w = 1
				}
				for j := range row {
					row[j] += w * base.At(l, j)
				}
			}
		}
		for _, h := range []anchor.Hull{{}, {TSNE: &tsne.Settings{Perplexity: 5, Iterations: 5}}} {
			if h.TSNE != nil && dim > 0 {
				continue // t-SNE fills the space whatever it starts from
			}
			want := fmt.Sprintf("a hull in 3 dimensions asked for, but the rows of the 40 words lie in a flat of %d", dim)
			if dim == 0 {
				want = "a hull in 3 dimensions asked for, but the rows of all 40 words are the same"
			}
			if _, err := h.Find(ctx, flat, 3, anchor.Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v of rows in a flat of %d: %v", h, dim, err)
			}
		}
	}
	// The seeds add up.
	at := func(own, opt uint64) *mat.Dense {
		h := anchor.Hull{TSNE: &tsne.Settings{Perplexity: 5, Iterations: 3, Seed: own}}
		return findHull(t, h, rows, 0, anchor.Options{Seed: opt}).Embedding
	}
	if !mat.Equal(at(3, 4), at(7, 0)) || mat.Equal(at(3, 4), at(3, 0)) {
		t.Error("the seed of the options does not count")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, h := range []anchor.Hull{{}, {TSNE: &tsne.Settings{}}} {
		if _, err := h.Find(cancelled, rows, 3, anchor.Options{}); !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "anchor: ") != 1 {
			t.Errorf("cancelled: %v", err)
		}
	}
}

func TestHullString(t *testing.T) {
	for _, c := range []struct {
		h    anchor.Hull
		want string
	}{
		{anchor.Hull{}, "Hull(PCA, dims=3)"},
		{anchor.Hull{Dims: 2, TSNE: &tsne.Settings{}}, "Hull(t-SNE, dims=2, seed=0)"},
		{anchor.Hull{TSNE: &tsne.Settings{Perplexity: 20, Iterations: 500}, Tol: 1e-6, All: true, MinDocs: 4, MinDocFraction: 0.01, AllowFewer: true},
			"Hull(t-SNE, dims=3, perplexity=20, iterations=500, seed=0, tol=1e-06, all vertices, min docs=4, min docs=1%, allow fewer)"},
	} {
		if c.h.String() != c.want {
			t.Errorf("%q, want %q", c.h, c.want)
		}
	}
}

// kept is the mean share of the k nearest rows of C̄ that are among the k
// nearest positions.
func kept(t testing.TB, rows cooc.Rows, y *mat.Dense, k int) float64 {
	t.Helper()
	n, d := rows.Dims()
	a := linalg.NewGeneral(n, d)
	for i := range n {
		rows.RowTo(linalg.Row(a, i), i)
	}
	near := func(a blas64.General) [][]int {
		g := linalg.NewGeneral(n, n)
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, a, a, 0, g, 0); err != nil {
			t.Fatal(err)
		}
		out := make([][]int, n)
		for i := range n {
			best := make([]int, 0, k+1) // ascending distance, of equal ones the first
			dist := func(j int) float64 { return g.Data[j*n+j] - 2*g.Data[i*n+j] }
			for j := range n {
				if j == i || len(best) == k && dist(j) >= dist(best[k-1]) {
					continue
				}
				at := len(best)
				for at > 0 && dist(j) < dist(best[at-1]) {
					at--
				}
				best = slices.Insert(best, at, j)
				best = best[:min(len(best), k)]
			}
			out[i] = best
		}
		return out
	}
	was, is := near(a), near(y.RawMatrix())
	same := 0
	for i := range n {
		for _, j := range is[i] {
			if slices.Contains(was[i], j) {
				same++
			}
		}
	}
	return float64(same) / float64(n*k)
}

func rectified(t testing.TB, name string, words, k int) cooc.Rows {
	t.Helper()
	c := golden.Curated(t, testutil.Data(t, name, "docword."+name+".txt.gz"), testutil.Data(t, name, "vocab."+name+".txt"), testutil.Data(t, "stopwords.en.txt"), words)
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rectify.AP{}.Rectify(ctx, m, k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rowsOf(t, r.C)
}

// Of the words of bbc, t-SNE keeps at least 40 % of the 10 nearest neighbours
// by the rows of C̄.
func TestHullNeighboursBBC(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: takes some ten seconds")
	}
	rows := rectified(t, "bbc", 2000, 20)
	r := findHull(t, anchor.Hull{Dims: 2, TSNE: &tsne.Settings{Seed: 1}}, rows, 0, anchor.Options{})
	share := kept(t, rows, r.Embedding, 10)
	n, _ := rows.Dims()
	t.Logf("%d words: %.3f of the 10 nearest neighbours kept, %d vertices", n, share, len(r.Anchors))
	if share < 0.40 {
		t.Errorf("%.3f of the neighbours are kept", share)
	}
}

// BenchmarkHull times finding the anchors of rectified nips17 in seconds and in
// units u of one gonum product 5000×5000 · 5000×60 on one core. Run
//
//	JSMF_DATA=… go test ./anchor -run '^$' -bench Hull -benchtime 1x
func BenchmarkHull(b *testing.B) {
	rows := rectified(b, "nips17", 5000, 50)
	for _, method := range []string{"pca", "tsne"} {
		for _, dims := range []int{2, 3} {
			b.Run(fmt.Sprintf("corpus=nips17/N=5000/method=%s/d=%d", method, dims), func(b *testing.B) {
				h := anchor.Hull{Dims: dims}
				if method == "tsne" {
					h.TSNE = &tsne.Settings{}
				}
				u := testutil.Stick()
				var r *anchor.Result
				b.ResetTimer()
				for range b.N {
					r = findHull(b, h, rows, 0, anchor.Options{})
				}
				b.StopTimer()
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/u, "u/op")
				b.ReportMetric(float64(len(r.Anchors)), "vertices")
				b.ReportMetric(kept(b, rows, r.Embedding, 10), "kept-of-10")
			})
		}
	}
}

// Three topics span a plane, in which their anchors are the corners.
func ExampleHull() {
	m := testutil.NewPlanted(20, 3, 0.5, 1)
	d, err := cooc.NewDense(m.C)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := cooc.NewRows(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := anchor.Hull{Dims: 2}.Find(context.Background(), rows, 0, anchor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("anchors", r.Anchors)
	for _, w := range r.Anchors {
		fmt.Printf("word %d is at (%.2f, %.2f)\n", w, r.Embedding.At(w, 0), r.Embedding.At(w, 1))
	}

	// The rows span two dimensions only.
	_, err = anchor.Hull{Dims: 3}.Find(context.Background(), rows, 0, anchor.Options{})
	fmt.Println(err)
	// Output:
	// anchors [14 2 12]
	// word 14 is at (0.16, -0.03)
	// word 2 is at (-0.14, -0.04)
	// word 12 is at (-0.02, 0.08)
	// anchor: a hull in 3 dimensions asked for, but the rows of the 20 words lie in a flat of 2 (PCA); ask for at most 2
}
