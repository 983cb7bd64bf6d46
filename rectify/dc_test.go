package rectify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

// exactModel returns a joint-stochastic matrix BABᵀ of exact rank k, indefinite if
// asked for: DC does not need the positive eigenvalues.
func exactModel(rng *rand.Rand, n, k int, indefinite bool) *mat.SymDense {
	b := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			b.Set(i, j, math.Pow(rng.Float64(), 3))
		}
	}
	a := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range i + 1 {
			v := 0.1 + 0.3*rng.Float64()
			if i == j && !indefinite {
				v += 1
			}
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	var ba, c mat.Dense
	ba.Mul(b, a)
	c.Mul(&ba, b.T())
	out := mat.NewSymDense(n, nil)
	s := mat.Sum(&c)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, c.At(i, j)/s)
		}
	}
	return out
}

// A matrix of exact rank K gets its own diagonal back from any other, to 1e-12 of
// the largest entry; the condition of the smallest block here is about 100.
func TestDCGivesBackTheDiagonal(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(41, 1))
	for _, c := range []struct {
		n, k       int
		indefinite bool
	}{{30, 3, false}, {101, 8, false}, {140, 10, false}, {90, 5, true}, {11, 4, false}} {
		t.Run(fmt.Sprintf("N=%d/K=%d", c.n, c.k), func(t *testing.T) {
			truth := exactModel(rng, c.n, c.k, c.indefinite)
			corrupt := mat.NewSymDense(c.n, nil)
			corrupt.CopySym(truth)
			for i := range c.n {
				corrupt.SetSym(i, i, truth.At(i, i)*4*rng.Float64())
			}
			most := mat.Max(truth)
			for _, in := range []*mat.SymDense{truth, corrupt} {
				res, err := rectify.DC{}.Rectify(ctx, newDense(t, in), c.k, rectify.Options{})
				if err != nil {
					t.Fatal(err)
				}
				row := make([]float64, c.n)
				for i := range c.n {
					res.C.RowTo(row, i)
					for j, v := range row {
						near(t, "entry", v, truth.At(i, j), 1e-12*most)
					}
				}
				// Half the digits: the residual is a difference of squares.
				if v := res.Violations; !c.indefinite && (v.RankResidual > 1e-7 || math.Abs(v.SumError) > 1e-13) {
					t.Errorf("violations %+v", v)
				}
				if res.Undetermined != 0 || res.Iterations != 30 || len(res.Changes) != 30 || res.Changes[29] > 1e-11*most {
					t.Errorf("%d undetermined, %d iterations, last change %g", res.Undetermined, res.Iterations, res.Changes[29])
				}
			}
		})
	}
}

// naiveDC follows Algorithm 7 of lee-2018 for one split, with a full singular
// value decomposition and, for each word, the least-squares problem itself.
func naiveDC(c *mat.SymDense, k int, first []int, second []int) map[int]float64 {
	out := map[int]float64{}
	half := func(rows, cols []int) {
		g := mat.NewDense(len(rows), len(cols), nil)
		for i, a := range rows {
			for j, b := range cols {
				g.Set(i, j, c.At(a, b))
			}
		}
		var svd mat.SVD
		if !svd.Factorize(g, mat.SVDThin) {
			panic("no singular values")
		}
		var u mat.Dense
		svd.UTo(&u)
		for j, w := range rows {
			// y minimises ‖U_J y − F_Jj‖ over the rows J other than j.
			uj := mat.NewDense(len(rows)-1, k, nil)
			fj := mat.NewVecDense(len(rows)-1, nil)
			at := 0
			for i, v := range rows {
				if i != j {
					for l := range k {
						uj.Set(at, l, u.At(i, l))
					}
					fj.SetVec(at, c.At(v, w))
					at++
				}
			}
			var y mat.VecDense
			if err := y.SolveVec(uj, fj); err != nil {
				panic(err)
			}
			for l := range k {
				out[w] += u.At(j, l) * y.AtVec(l)
			}
		}
	}
	half(first, second)
	half(second, first)
	return out
}

func TestDCAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	const n, k, halvings = 37, 4, 7
	c := noisy(rng, n, k)
	res, err := rectify.DC{Halvings: halvings, Seed: 9, EigenTol: 1e-13}.Rectify(ctx, newDense(t, c), k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stream := rand.New(rand.NewPCG(9, 0xd1a6))
	votes := make([][]float64, n)
	for range halvings {
		p := stream.Perm(n)
		for w, v := range naiveDC(c, k, p[:n/2], p[n/2:]) {
			votes[w] = append(votes[w], v)
		}
	}
	want := mat.NewSymDense(n, nil)
	want.CopySym(c)
	negative := 0
	for w, v := range votes {
		slices.Sort(v)
		if v[halvings/2] < 0 {
			negative++
		}
		want.SetSym(w, w, max(v[halvings/2], 0))
	}
	want.ScaleSym(1/mat.Sum(want), want)
	if d := distance(t, res.C, newDense(t, want)); d > 1e-12 {
		t.Errorf("differs by %g", d)
	}
	if res.Nonzeros[0] != negative {
		t.Errorf("%d entries zeroed, want %d", res.Nonzeros[0], negative)
	}
	nearest := normOf(want, projectPSD(want, k)) / mat.Norm(want, 2)
	near(t, "rank residual", res.Violations.RankResidual, nearest, 1e-9)
}

// The halvings of the reference were others, and more; the issue is how the medians
// scatter.
func TestDCGolden(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	check := func(t *testing.T, res *rectify.Result, diag []float64, c cooc.Matrix, off float64) {
		t.Helper()
		n := c.Dim()
		row, old := make([]float64, n), make([]float64, n)
		apart, all := 0.0, 0.0
		ratio := 0.0
		for i, v := range diag {
			res.C.RowTo(row, i)
			c.RowTo(old, i)
			apart += math.Abs(row[i] - v)
			all += v
			if math.Abs(row[i]-v) > 0.25*v+0.01*slices.Max(diag) {
				t.Errorf("diagonal entry %d is %g, the reference's %g", i, row[i], v)
			}
			for j := range row { // the others are the old ones, all divided by one number
				if j == i || old[j] == 0 {
					continue
				}
				if ratio == 0 {
					ratio = row[j] / old[j]
				}
				if math.Abs(row[j]-ratio*old[j]) > 1e-14*row[j] {
					t.Fatalf("entry (%d, %d) is not in proportion", i, j)
				}
			}
		}
		if apart > off*all {
			t.Errorf("the diagonals differ by %.3g of their sum", apart/all)
		}
	}
	g := golden.ReadTiny(t)
	m := moments(t, "tiny")
	res, err := rectify.DC{}.Rectify(ctx, m, g.K, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var diag []float64
	for i := range g.N {
		diag = append(diag, g.FullDC30.CRect[i][i])
	}
	check(t, res, diag, m, 0.1)
	m = moments(t, "synth")
	for _, g := range golden.Rows(t, "synth") {
		if g.Rectifier != "DC30" || g.K > 10 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprintf("K=%d", g.K), func(t *testing.T) {
			dc := rectify.DC{Halvings: 8}
			if g.K > 10 {
				dc.Halvings = 3
			}
			res, err := dc.Rectify(ctx, m, g.K, rectify.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			check(t, res, g.Rect.DiagFirst10, m, 0.1)
			trace, s := 0.0, 0.0
			row := make([]float64, g.N)
			for i := range g.N {
				res.C.RowTo(row, i)
				trace += row[i]
				for _, v := range row {
					s += v * v
				}
			}
			near(t, "trace", trace, g.Rect.Trace, 0.02*g.Rect.Trace)
			near(t, "fro", math.Sqrt(s), g.Rect.Fro, 0.002*g.Rect.Fro)
		})
	}
}

// DC looks at the entries off the diagonal only, so that the form of C without it
// gives the same matrix, to the precision of the singular vectors.
func TestDCOffDiagonal(t *testing.T) {
	testutil.NotWithRace(t)
	off, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{Weighting: cooc.OffDiagonal})
	if err != nil {
		t.Fatal(err)
	}
	dc := rectify.DC{Halvings: 3, EigenTol: 1e-10}
	var rows [2][]float64
	for i, m := range []*cooc.Moments{moments(t, "synth"), off} {
		res, err := dc.Rectify(ctx, m, 5, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Undetermined > 0 {
			t.Errorf("%d words keep their own entry", res.Undetermined)
		}
		row := make([]float64, m.Dim())
		for w := range row {
			res.C.RowTo(row, w)
			rows[i] = append(rows[i], row...)
		}
	}
	largest := slices.Max(rows[0])
	for i, v := range rows[0] {
		if math.Abs(rows[1][i]-v) > 1e-10*largest {
			t.Fatalf("entry %d is %g of the largest, without the diagonal %g", i, v/largest, rows[1][i]/largest)
		}
	}
}

func TestDCSeed(t *testing.T) {
	m := moments(t, "tiny")
	diag := func(seed uint64) []float64 {
		res, err := rectify.DC{Seed: seed, Halvings: 3}.Rectify(ctx, m, 4, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, row := make([]float64, m.Dim()), make([]float64, m.Dim())
		for i := range d {
			res.C.RowTo(row, i)
			d[i] = row[i]
		}
		return d
	}
	if !slices.Equal(diag(1), diag(1)) {
		t.Error("one seed, two results")
	}
	if slices.Equal(diag(1), diag(2)) {
		t.Error("two seeds, one result")
	}
}

// Two words that only occur together: a direction of their own, which either of
// them carries alone in its half.
func TestDCUndetermined(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	const n, k = 20, 3
	in := mat.NewSymDense(n, nil)
	in.CopySym(exactModel(rng, n, k, false))
	for i := range n {
		in.SetSym(i, 18, 0)
		in.SetSym(i, 19, 0)
	}
	in.SetSym(18, 19, 0.5*mat.Max(in))
	in.SetSym(18, 18, 0.123*mat.Max(in))
	in.ScaleSym(1/mat.Sum(in), in)
	c := newDense(t, in)
	apart, together := false, false
	for seed := range uint64(20) {
		res, err := rectify.DC{Halvings: 1, Seed: seed}.Rectify(ctx, c, k+1, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, n)
		res.C.RowTo(row, 18)
		switch {
		case res.Undetermined == 2: // apart: nothing is known, and the entry stays
			apart = true
			near(t, "kept entry", row[18]/row[19], 0.123/0.5, 1e-12)
		case res.Undetermined == 0: // together: nothing in G, so 0
			together = true
			near(t, "entry", row[18], 0, 1e-12)
		default:
			t.Errorf("%d undetermined", res.Undetermined)
		}
	}
	if !apart || !together {
		t.Error("twenty seeds had only one of two cases")
	}
}

// Any Matrix goes in and a Matrix comes out, whose parts agree with each other.
func TestDCResultIsAMatrix(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(44, 1))
	const n, k = 70, 4
	withNegatives := mat.NewSymDense(n, nil)
	withNegatives.CopySym(noisy(rng, n, k))
	for range 40 {
		i, j := rng.IntN(n), rng.IntN(n)
		if i != j {
			withNegatives.SetSym(i, j, -1e-4*rng.Float64())
		}
	}
	ap, err := rectify.AP{}.Rectify(ctx, moments(t, "synth"), 10, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cooc.Matrix{"dense": newDense(t, withNegatives), "moments": moments(t, "synth"), "low-rank": ap.C} {
		t.Run(name, func(t *testing.T) {
			res, err := rectify.DC{Halvings: 3}.Rectify(ctx, c, k, rectify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := c.Dim()
			d := mat.NewDense(n, n, nil)
			for i := range n {
				res.C.RowTo(d.RawRowView(i), i)
			}
			s := newDense(t, d) // symmetric
			norms, err := res.C.RowNorms2(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.RowNorms2(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			x := mat.NewDense(n, 3, nil)
			for i := range n {
				for j := range 3 {
					x.Set(i, j, rng.NormFloat64())
				}
			}
			y, z := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
			if err := res.C.MulTo(ctx, y, x, 2); err != nil {
				t.Fatal(err)
			}
			z.Mul(d, x)
			for i := range n {
				near(t, "row sum", res.C.Marginals()[i], s.Marginals()[i], 1e-14)
				near(t, "row norm", norms[i], want[i], 1e-15)
				for j := range 3 {
					near(t, "product", y.At(i, j), z.At(i, j), 1e-13)
				}
			}
			near(t, "least entry", mat.Min(d), 0, 0)
			near(t, "sum", mat.Sum(d), 1, 1e-12)
		})
	}
}

func TestDCTooManyTopics(t *testing.T) {
	_, err := rectify.DC{}.Rectify(ctx, moments(t, "tiny"), 12, rectify.Options{})
	if err == nil || !strings.Contains(err.Error(), "K = 12 is not below 12, half the number of words") {
		t.Error(err)
	}
}
