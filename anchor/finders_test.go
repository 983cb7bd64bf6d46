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

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func mustFind(t testing.TB, f anchor.Finder, r cooc.Rows, k int, opt anchor.Options) *anchor.Result {
	t.Helper()
	res, err := f.Find(ctx, r, k, opt)
	if err != nil {
		t.Fatalf("%v: %v", f, err)
	}
	return res
}

// On separable data every finder returns the planted anchors, in every form of
// the rows; SPA is QR, and says so; and all know that there is no further one.
func TestFindersPlanted(t *testing.T) {
	for _, k := range []int{2, 3, 10} {
		for _, correlation := range []float64{0, 0.9} {
			m := testutil.NewPlanted(2*k+20, k, correlation, uint64(7+k))
			low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			for form, c := range map[string]cooc.Matrix{"dense": dense(t, m.C), "factor": low} {
				r := rowsOf(t, c)
				qr := find(t, anchor.QR{}, r, k, anchor.Options{})
				finders := []anchor.Finder{
					anchor.QR{CleanUp: true},
					anchor.Projected{},
					anchor.Projected{Dims: k + 2, NoCleanUp: true}, anchor.Projected{Dims: k + 2, Sparse: true, Density: 0.5, Seed: 3},
					anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}, anchor.XRAY{Unnormalised: true},
				}
				for _, f := range finders {
					name := fmt.Sprintf("K=%d, correlation %g, %s, %v", k, correlation, form, f)
					res := mustFind(t, f, r, k, anchor.Options{})
					if _, err := m.Topics(res.Anchors); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if _, ok := f.(anchor.SPA); ok && (!slices.Equal(res.Anchors, qr.Anchors) || !slices.Equal(res.Norms, qr.Norms)) {
						t.Errorf("%s: %v, QR %v", name, res.Anchors, qr.Anchors)
					}
					if res.Candidates != m.N || len(res.Norms) != k || res.Groups != nil || res.Points != nil {
						t.Errorf("%s: %+v", name, res)
					}
					_, err := f.Find(ctx, r, k+1, anchor.Options{})
					var rank *anchor.RankError
					if !errors.As(err, &rank) || rank.Rank != k || rank.K != k+1 || rank.Of != "span" && !(rank.Norm < 1e-6*rank.First) {
						t.Errorf("%s: another anchor: %v", name, err)
					}
				}
				for _, f := range []anchor.Finder{anchor.SNPA{AllowFewer: true}, anchor.XRAY{AllowFewer: true}, anchor.SPA{AllowFewer: true}, anchor.Projected{AllowFewer: true}} {
					if res := mustFind(t, f, r, k+3, anchor.Options{}); len(res.Anchors) != k {
						t.Errorf("%v: up to %d anchors: %v", f, k+3, res.Anchors)
					}
				}
			}
		}
	}
}

// Where no word is more frequent in a topic than its anchor, SPA finds the
// anchors in the rows of C too; and it goes by their length.
func TestUnnormalised(t *testing.T) {
	b := mat.NewDense(5, 2, []float64{
		0.45, 0,
		0, 0.4,
		0.2, 0.2,
		0.15, 0.25,
		0.2, 0.15,
	})
	a := mat.NewDense(2, 2, []float64{0.3, 0.1, 0.1, 0.5})
	var c mat.Dense
	c.Product(b, a, b.T())
	r := rowsOf(t, dense(t, &c))
	res := mustFind(t, anchor.SPA{Unnormalised: true}, r, 2, anchor.Options{})
	if !slices.Equal(res.Anchors, []int{1, 0}) {
		t.Errorf("anchors %v, want [1 0]", res.Anchors)
	}
	if want := mat.Norm(c.RowView(1), 2); math.Abs(res.Norms[0]-want) > 1e-15 {
		t.Errorf("r_1 = %g, row 1 of C is %g long", res.Norms[0], want)
	}
	if got := find(t, anchor.QR{}, r, 2, anchor.Options{}); slices.Equal(got.Norms, res.Norms) {
		t.Error("the rows of C are as long as those of C̄")
	}
	if res := mustFind(t, anchor.SPA{Unnormalised: true}, r, 2, withGiven(anchor.Options{}, []int{0}, nil)); !slices.Equal(res.Anchors, []int{0, 1}) {
		t.Errorf("given 0: %v", res.Anchors)
	}
}

func randomPoints(rng *rand.Rand, n, d int) *mat.Dense {
	a := mat.NewDense(n, d, nil)
	for i := range n {
		sum := 0.0
		for j := range d {
			v := rng.ExpFloat64()
			a.Set(i, j, v)
			sum += v
		}
		for j := range d {
			a.Set(i, j, a.At(i, j)/sum)
		}
	}
	return a
}

// spanDistance is the distance of row i from the span of rows s, by a dense QR.
func spanDistance(a *mat.Dense, i int, s []int) float64 {
	_, d := a.Dims()
	if len(s) == 0 {
		return mat.Norm(a.RowView(i), 2)
	}
	u := mat.NewDense(d, len(s), nil)
	for t, w := range s {
		u.SetCol(t, a.RawRowView(w))
	}
	var y, v mat.VecDense
	if err := y.SolveVec(u, a.RowView(i)); err != nil {
		return 0
	}
	v.MulVec(u, &y)
	v.SubVec(a.RowView(i), &v)
	return mat.Norm(&v, 2)
}

// cleaned is the second loop of FastAnchorWords as it is written.
func cleaned(a *mat.Dense, s []int, keep int) (anchors []int, norms []float64) {
	n, _ := a.Dims()
	s = slices.Clone(s)
	for t := keep; t < len(s); t++ {
		rest := slices.Concat(s[:t], s[t+1:])
		top := spanDistance(a, s[t], rest) * (1 + 1e-12)
		for i := range n {
			if v := spanDistance(a, i, rest); v > top && !slices.Contains(rest, i) {
				top, s[t] = v, i
			}
		}
	}
	for t := range s {
		norms = append(norms, spanDistance(a, s[t], s[:t]))
	}
	return s, norms
}

// The clean-up against the plain one; norms to 1e-12 of the first, which 20
// updates of a reflected basis keep.
func TestCleanUp(t *testing.T) {
	changed := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n, d := 25+rng.IntN(30), 6+rng.IntN(10)
		a, k := randomPoints(rng, n, d), 3+rng.IntN(5)
		for i := range n { // of about the same length
			for j := range d {
				a.Set(i, j, 1+0.5*a.At(i, j))
			}
		}
		for _, given := range [][]int{nil, {3, 7}} {
			if len(given) > k {
				continue
			}
			opt := anchor.Options{}
			if given != nil {
				opt = withGiven(opt, given, nil)
			}
			plain := find(t, anchor.QR{}, points{a}, k, opt)
			want, norms := cleaned(a, plain.Anchors, len(given))
			got := find(t, anchor.QR{CleanUp: true}, points{a}, k, opt)
			if !slices.Equal(got.Anchors, want) {
				t.Fatalf("seed %d, given %v: %v cleaned up to %v, want %v", seed, given, plain.Anchors, got.Anchors, want)
			}
			if !slices.Equal(want, plain.Anchors) {
				changed++
			}
			for i, v := range got.Norms {
				if math.Abs(v-norms[i]) > 1e-12*norms[0] {
					t.Errorf("seed %d: r_%d = %.17g, want %.17g", seed, i+1, v, norms[i])
				}
			}
			// Points of no more dimensions than asked for are not projected.
			if p := mustFind(t, anchor.Projected{}, points{a}, k, opt); !slices.Equal(p.Anchors, want) {
				t.Errorf("seed %d: Projected %v, want %v", seed, p.Anchors, want)
			}
		}
	}
	if changed < 5 {
		t.Errorf("the clean-up changed %d of 40", changed)
	}
}

// hullDistance is the distance of x from the cone of rows s of a, or from the
// hull of these and the origin: the least over all subsets of the distance to
// their affine or linear span, where the coefficients are not negative.
func hullDistance(a *mat.Dense, x []float64, s []int, cone bool) float64 {
	v := mat.NewVecDense(len(x), x)
	least := mat.Norm(v, 2)
	for set := 1; set < 1<<len(s); set++ {
		var p []int
		for t, w := range s {
			if set>>t&1 == 1 {
				p = append(p, w)
			}
		}
		u := mat.NewDense(len(x), len(p), nil)
		for t, w := range p {
			u.SetCol(t, a.RawRowView(w))
		}
		var y mat.VecDense
		if y.SolveVec(u, v) == nil && mat.Min(&y) >= 0 && (cone || mat.Sum(&y) <= 1) {
			var r mat.VecDense
			r.MulVec(u, &y)
			r.SubVec(v, &r)
			least = min(least, mat.Norm(&r, 2))
		}
		if cone {
			continue
		}
		// On the face Σy = 1: p_0 and differences from it.
		z := mat.NewVecDense(len(x), nil)
		z.SubVec(v, u.ColView(0))
		r := mat.VecDenseCopyOf(z)
		if len(p) > 1 {
			e := mat.NewDense(len(x), len(p)-1, nil)
			for t := 1; t < len(p); t++ {
				var diff mat.VecDense
				diff.SubVec(u.ColView(t), u.ColView(0))
				e.SetCol(t-1, diff.RawVector().Data)
			}
			var w mat.VecDense
			if w.SolveVec(e, z) != nil || mat.Min(&w) < 0 || mat.Sum(&w) > 1 {
				continue
			}
			r.MulVec(e, &w)
			r.SubVec(z, r)
		}
		least = min(least, mat.Norm(r, 2))
	}
	return least
}

// SNPA and XRAY against their definitions on random points, with the nearest
// points found by trying all subsets; distances to 1e-7 of the first, for they
// come from squares by subtraction.
func TestCoverAgainstExplicit(t *testing.T) {
	testutil.NotWithRace(t)
	differ := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 17))
		n, d := 30, 3+rng.IntN(5) // with fewer dimensions than anchors QR must end
		a := randomPoints(rng, n, d)
		const k = 5
		var s []int
		var norms []float64
		for range k {
			best, top := 0, -1.0
			for i := range n {
				if v := hullDistance(a, a.RawRowView(i), s, false); v > top {
					best, top = i, v
				}
			}
			s, norms = append(s, best), append(norms, top)
		}
		res := mustFind(t, anchor.SNPA{}, points{a}, k, anchor.Options{})
		if !slices.Equal(res.Anchors, s) {
			t.Fatalf("seed %d: SNPA %v, want %v", seed, res.Anchors, s)
		}
		for i, v := range res.Norms {
			if math.Abs(v-norms[i]) > 1e-7*norms[0] {
				t.Errorf("seed %d: SNPA r_%d = %.12g, want %.12g", seed, i+1, v, norms[i])
			}
		}
		if qr := find(t, anchor.QR{AllowFewer: true}, points{a}, k, anchor.Options{}); !slices.Equal(qr.Anchors, s) {
			differ++
		}

		// XRAY: the farthest from the cone, and of all rows the farthest along
		// its residual. That of the cone is found by its distances along the
		// axes: ∂½dist²/∂x is the residual.
		s, norms = nil, nil
		for range k {
			far, top := 0, -1.0
			for i := range n {
				if v := hullDistance(a, a.RawRowView(i), s, true); v > top {
					far, top = i, v
				}
			}
			norms = append(norms, top)
			x := slices.Clone(a.RawRowView(far))
			res := make([]float64, d)
			const h = 1e-5
			for j := range x {
				x[j] += h
				up := hullDistance(a, x, s, true)
				x[j] -= 2 * h
				down := hullDistance(a, x, s, true)
				x[j] += h
				res[j] = (up*up - down*down) / (4 * h)
			}
			best, along := 0, math.Inf(-1)
			for i := range n {
				sum := 0.0
				for j, v := range a.RawRowView(i) {
					sum += v * res[j]
				}
				if sum > along {
					best, along = i, sum
				}
			}
			s = append(s, best)
		}
		res = mustFind(t, anchor.XRAY{}, points{a}, k, anchor.Options{})
		if !slices.Equal(res.Anchors, s) {
			t.Fatalf("seed %d: XRAY %v, want %v", seed, res.Anchors, s)
		}
		for i, v := range res.Norms {
			if math.Abs(v-norms[i]) > 1e-7*norms[0] {
				t.Errorf("seed %d: XRAY r_%d = %.12g, want %.12g", seed, i+1, v, norms[i])
			}
		}
	}
	if differ == 0 {
		t.Error("SNPA is QR on all of them")
	}
}

// A cone does not depend on how long its rays are: given points that are
// shortened 3000 times need coefficients far above the bound these begin with.
func TestConeOfShortRays(t *testing.T) {
	a := randomPoints(rand.New(rand.NewPCG(5, 5)), 40, 8)
	want := mustFind(t, anchor.XRAY{}, points{a}, 7, anchor.Options{})
	var rays [][]float64
	for _, w := range want.Anchors[:3] {
		short := slices.Clone(a.RawRowView(w))
		for j := range short {
			short[j] /= 3000
		}
		rays = append(rays, short)
	}
	got := mustFind(t, anchor.XRAY{}, points{a}, 7, withGiven(anchor.Options{}, want.Anchors[:3], rays))
	if !slices.Equal(got.Anchors, want.Anchors) {
		t.Errorf("%v, want %v", got.Anchors, want.Anchors)
	}
	for i := 3; i < 7; i++ {
		if math.Abs(got.Norms[i]-want.Norms[i]) > 1e-7*want.Norms[0] {
			t.Errorf("r_%d = %g, want %g", i+1, got.Norms[i], want.Norms[i])
		}
	}
}

// finders are all that work on a matrix without structure, with settings that
// leave something to do on 600 words.
func finders() []anchor.Finder {
	return []anchor.Finder{
		anchor.QR{CleanUp: true}, anchor.Projected{Dims: 200}, anchor.Projected{Dims: 100, Sparse: true, NoCleanUp: true},
		anchor.SPA{}, anchor.SPA{Unnormalised: true}, anchor.SNPA{}, anchor.XRAY{}, anchor.XRAY{Unnormalised: true},
	}
}

// The seed is that of the finder and the caller's together; without a
// projection it is of no effect.
func TestSeed(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, and on one goroutine")
	}
	r := synth(t)
	norms := func(own, callers uint64, dims int) []float64 {
		return mustFind(t, anchor.Projected{Dims: dims, Seed: own}, r, 4, anchor.Options{Seed: callers}).Norms
	}
	base := norms(1, 2, 50)
	if !slices.Equal(base, norms(1, 2, 50)) || !slices.Equal(base, norms(3, 0, 50)) {
		t.Error("the same seed gives other projections")
	}
	if slices.Equal(base, norms(1, 3, 50)) {
		t.Error("another seed gives the same projection")
	}
	if !slices.Equal(norms(1, 2, 600), norms(8, 9, 0)) {
		t.Error("rows of 600 dimensions are projected to 600 and to 1000")
	}
}

func TestFindersEquivariance(t *testing.T) {
	m := testutil.NewPlanted(60, 6, 0.5, 12)
	rng := rand.New(rand.NewPCG(4, 1))
	a := mat.NewDense(60, 60, nil)
	for i := range 60 {
		for j := range i + 1 {
			v := m.C.At(i, j) * (1 + 0.3*rng.Float64())
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	order := rng.Perm(60)
	p := mat.NewDense(60, 60, nil)
	for i, oi := range order {
		for j, oj := range order {
			p.Set(i, j, a.At(oi, oj))
		}
	}
	for _, f := range []anchor.Finder{anchor.QR{CleanUp: true}, anchor.SPA{Unnormalised: true}, anchor.SNPA{}, anchor.XRAY{}, anchor.XRAY{Unnormalised: true}} {
		want := mustFind(t, f, rowsOf(t, dense(t, a)), 10, anchor.Options{})
		got := mustFind(t, f, rowsOf(t, dense(t, p)), 10, anchor.Options{})
		for i, w := range got.Anchors {
			if order[w] != want.Anchors[i] || math.Abs(got.Norms[i]-want.Norms[i]) > 1e-7*want.Norms[0] {
				t.Errorf("%v: anchor %d is %d (%g), before the permutation %d (%g)", f, i, order[w], got.Norms[i], want.Anchors[i], want.Norms[i])
			}
		}
	}
}

// A set that is begun as the finder would begin is completed as it would go on;
// and points that are the rows themselves change no bit.
func TestGiven(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	r := synth(t)
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.Projected{NoCleanUp: true}, anchor.Projected{Dims: 150, NoCleanUp: true}, anchor.SPA{}, anchor.SPA{Unnormalised: true}, anchor.SNPA{}, anchor.XRAY{}} {
		want := mustFind(t, f, r, 9, anchor.Options{})
		given := want.Anchors[:4]
		got := mustFind(t, f, r, 9, withGiven(anchor.Options{}, given, nil))
		if !slices.Equal(got.Anchors, want.Anchors) || got.Candidates != want.Candidates {
			t.Errorf("%v: completed to %v, want %v", f, got.Anchors, want.Anchors)
		}
		for i, v := range got.Norms {
			// What was given of XRAY has its own distance, not that of the row
			// that showed the way.
			if x, _ := f.(anchor.XRAY); (f != anchor.Finder(x) || i >= 4) && math.Abs(v-want.Norms[i]) > 1e-7*want.Norms[0] {
				t.Errorf("%v: r_%d = %g, want %g", f, i+1, v, want.Norms[i])
			}
		}
		rows := make([][]float64, 4)
		_, d := r.Dims()
		for i, w := range given {
			rows[i] = make([]float64, d)
			r.RowTo(rows[i], w)
		}
		opt := withGiven(anchor.Options{}, given, rows)
		if f == (anchor.Projected{Dims: 150, NoCleanUp: true}) || f == (anchor.SPA{Unnormalised: true}) {
			if _, err := f.Find(ctx, r, 9, opt); err == nil || !strings.Contains(err.Error(), "cannot be completed") {
				t.Errorf("%v: with points: %v, want an error that they cannot be completed", f, err)
			}
			opt.Given.Points = nil
		}
		if pointed := mustFind(t, f, r, 9, opt); !slices.Equal(pointed.Anchors, got.Anchors) {
			t.Errorf("%v: with points %v, want %v", f, pointed.Anchors, got.Anchors)
		}
		if all := mustFind(t, f, r, 4, opt); !slices.Equal(all.Anchors, want.Anchors[:4]) {
			t.Errorf("%v: nothing to complete: %v", f, all.Anchors)
		}
		opt.Exclude = []int{want.Anchors[4], want.Anchors[0]}
		if without := mustFind(t, f, r, 9, opt); slices.Contains(without.Anchors, want.Anchors[4]) || without.Anchors[0] != want.Anchors[0] {
			t.Errorf("%v: without %d: %v", f, want.Anchors[4], without.Anchors)
		}
	}
}

// Against the definition: each further anchor is the row farthest from the span
// of the given ones and those before.
func TestGivenAgainstExplicit(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 31))
		a := randomPoints(rng, 40, 9)
		given := rng.Perm(40)[:3]
		want := slices.Clone(given)
		for len(want) < 7 {
			best, top := 0, -1.0
			for i := range 40 {
				if v := spanDistance(a, i, want); v > top && !slices.Contains(want, i) {
					best, top = i, v
				}
			}
			want = append(want, best)
		}
		got := find(t, anchor.QR{}, points{a}, 7, withGiven(anchor.Options{}, given, nil))
		if !slices.Equal(got.Anchors, want) {
			t.Errorf("seed %d: %v, want %v", seed, got.Anchors, want)
		}
	}
}

func TestBadGiven(t *testing.T) {
	a := randomPoints(rand.New(rand.NewPCG(3, 3)), 20, 5)
	a.SetRow(4, a.RawRowView(2))
	a.SetRow(5, make([]float64, 5))
	nan := make([]float64, 5)
	nan[3] = math.NaN()
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.Projected{}, anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}} {
		for _, c := range []struct {
			anchors []int
			points  [][]float64
			want    string
		}{
			{[]int{1, 2, 3, 4}, nil, "4 anchors are given for 3 topics"},
			{[]int{1, 20}, nil, "given anchor 1, word 20: not in [0, 20)"},
			{[]int{-1}, nil, "word -1: not in"},
			{[]int{1, 3, 1}, nil, "given anchor 2, word 1: is given anchor 0 too"},
			{[]int{2, 4}, nil, "given anchor 1, word 4: "},
			{[]int{5}, nil, "word 5: has no co-occurrence row"},
			{[]int{1}, make([][]float64, 2), "2 points are given for 1 anchors"},
			{[]int{1}, [][]float64{{1, 2}}, "has 2 coordinates, the rows have 5"},
			{[]int{1}, [][]float64{make([]float64, 5)}, "point is zero"},
			{[]int{1}, [][]float64{nan}, "coordinate 3 of its point is NaN"},
		} {
			_, err := f.Find(ctx, points{a}, 3, withGiven(anchor.Options{}, c.anchors, c.points))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "anchor: ") != 1 {
				t.Errorf("%v: %v, want %q", f, err, c.want)
			}
		}
	}
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.Projected{}, anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}} {
		if _, err := f.Find(ctx, points{a}, 3, anchor.Options{Exclude: []int{20}}); err == nil || !strings.Contains(err.Error(), "excluded word 20") {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestFindersBad(t *testing.T) {
	r := points{randomPoints(rand.New(rand.NewPCG(1, 1)), 10, 6)}
	for _, c := range []struct {
		f    anchor.Finder
		want string
	}{
		{anchor.Projected{Dims: -1}, "Dims -1"},
		{anchor.Projected{Dims: 2}, "2 dimensions for 3 anchors"},
		{anchor.Projected{Density: 0.5}, "Sparse is not set"},
		{anchor.Projected{Sparse: true, Density: 1.5}, "Density 1.5"},
		{anchor.Projected{RankTol: math.NaN()}, "RankTol NaN"},
		{anchor.SPA{MinDocs: -1}, "MinDocs -1"},
		{anchor.SNPA{Tol: 1}, "Tol 1"},
		{anchor.SNPA{MinDocs: 2}, "document frequencies of 0 words"},
		{anchor.XRAY{Tol: -1}, "Tol -1"},
		{anchor.XRAY{MinDocFraction: 2}, "MinDocFraction 2"},
		{anchor.Fixed{}, "no anchor is given"},
		{anchor.Fixed{Words: []string{"0"}, Numbers: []int{1}}, "both by word and by number"},
		{anchor.Fixed{Words: []string{"0", "1", "0"}}, `"0" is given as anchors 0 and 2`},
		{anchor.Fixed{Numbers: []int{3, 3}}, "word 3 is given as anchors 0 and 1"},
		{anchor.Fixed{Numbers: []int{1}, Complete: anchor.QR{MinDocs: -1}}, "MinDocs -1"},
		{anchor.Fixed{Numbers: []int{1, 2}}, "2 anchors are given for 3 topics, and nothing to complete them"},
		{anchor.Fixed{Numbers: []int{1, 2, 3, 4}}, "4 anchors are given for 3 topics"},
		{anchor.Fixed{Numbers: []int{1, 12}, Complete: anchor.QR{}}, "there is no word 12; numbers go from 0 to 9"},
		{anchor.Fixed{Numbers: []int{1}, Complete: anchor.Hull{}}, "Hull cannot complete given anchors"},
		{anchor.Fixed{Numbers: []int{1}, Complete: forgetful{}}, "does not keep the given anchors"},
		{anchor.Fixed{Numbers: []int{1}, Complete: anchor.Fixed{Numbers: []int{2}}}, "Fixed cannot complete given anchors"},
		{anchor.Tandem{}, "no group"},
		{anchor.Tandem{Groups: [][]string{{"1"}, {}}}, "group 1 has no words"},
		{anchor.Tandem{Groups: [][]string{{"1", "2", "1"}}}, `group 0 holds "1" twice`},
		{anchor.Tandem{Groups: [][]string{{"1", "2"}, {"2", "1"}}}, "groups 0 and 1 hold the same words"},
		{anchor.Tandem{Groups: [][]string{{"1", "2"}}}, "low-rank rows"},
	} {
		_, err := c.f.Find(ctx, r, 3, anchor.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "anchor: ") != 1 {
			t.Errorf("%v: %v, want %q", c.f, err, c.want)
		}
	}
	all := synth(t)
	for _, f := range finders() {
		if _, err := f.Find(ctx, all, 0, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "K = 0 is not in [1, 600]") {
			t.Errorf("%v, K = 0: %v", f, err)
		}
	}
	a := randomPoints(rand.New(rand.NewPCG(1, 1)), 10, 6)
	a.Set(2, 3, math.Inf(1))
	for _, f := range []anchor.Finder{anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}, anchor.Projected{Dims: 4}} {
		if _, err := f.Find(ctx, points{a}, 3, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "word 2") {
			t.Errorf("%v, infinite: %v", f, err)
		}
	}
}

// forgetful finds anchors, but not the given ones.
type forgetful struct{}

func (forgetful) Find(ctx context.Context, r cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	return anchor.QR{}.Find(ctx, r, k, anchor.Options{Workers: opt.Workers})
}
func (forgetful) String() string { return "forgetful" }

func TestFindersString(t *testing.T) {
	for _, c := range []struct {
		f    anchor.Finder
		want string
	}{
		{anchor.QR{CleanUp: true}, "QR(clean-up)"},
		{anchor.Projected{}, "Projected(dims=1000)"},
		{anchor.Projected{Dims: 50, Sparse: true, Seed: 3, NoCleanUp: true, MinDocs: 2, RankTol: 1e-3, AllowFewer: true}, "Projected(dims=50, sparse=0.1, seed=3, no clean-up, min docs=2, rank tol=0.001, allow fewer)"},
		{anchor.SPA{}, "SPA"},
		{anchor.SPA{Unnormalised: true, RankTol: 1e-3, AllowFewer: true}, "SPA(unnormalised, rank tol=0.001, allow fewer)"},
		{anchor.SNPA{Tol: 1e-3, MinDocFraction: 0.01}, "SNPA(min docs=1%, tol=0.001)"},
		{anchor.XRAY{Unnormalised: true, AllowFewer: true}, "XRAY(unnormalised, allow fewer)"},
		{anchor.Hull{Unnormalised: true, All: true}, "Hull(PCA, dims=3, unnormalised, all vertices)"},
		{anchor.Fixed{Words: []string{"a", "b"}}, "Fixed(a, b)"},
		{anchor.Fixed{Numbers: []int{3}, Complete: anchor.QR{}}, "Fixed(3; then QR)"},
		{anchor.Tandem{Groups: [][]string{{"a", "b"}, {"c"}}, Complete: anchor.SNPA{}}, "Tandem(a+b, c; then SNPA)"},
	} {
		if c.f.String() != c.want {
			t.Errorf("%q, want %q", c.f.String(), c.want)
		}
	}
}

// Words below the bound on documents are no anchors, with any finder.
func TestFindersMinDocs(t *testing.T) {
	testutil.NotWithRace(t)
	r := synth(t)
	n, _ := r.Dims()
	df := make([]int, n)
	first := mustFind(t, anchor.QR{}, r, 1, anchor.Options{}).Anchors[0]
	for i := range df {
		df[i] = 10
	}
	df[first] = 9
	opt := anchor.Options{DocFrequencies: df, Docs: 100}
	for _, f := range []anchor.Finder{anchor.Projected{MinDocs: 10}, anchor.SPA{MinDocFraction: 0.1}, anchor.SNPA{MinDocs: 10}, anchor.XRAY{MinDocs: 10}} {
		res := mustFind(t, f, r, 5, opt)
		if slices.Contains(res.Anchors, first) || res.Candidates != n-1 {
			t.Errorf("%v: %v of %d candidates, %d is in too few documents", f, res.Anchors, res.Candidates, first)
		}
		// A given anchor is kept, however few documents it is in.
		res = mustFind(t, anchor.Fixed{Numbers: []int{first}, Complete: f}, r, 5, opt)
		if res.Anchors[0] != first || res.Candidates != n {
			t.Errorf("given %d: %+v", first, res)
		}
	}
}
