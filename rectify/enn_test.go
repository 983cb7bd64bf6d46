package rectify_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

func rectified(t testing.TB, r rectify.Rectifier, c cooc.Matrix, k int) *rectify.Result {
	t.Helper()
	res, err := r.Rectify(ctx, c, k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// sameEntries compares a matrix with an explicit one.
func sameEntries(t *testing.T, name string, c cooc.Matrix, want [][]float64, tol float64) {
	t.Helper()
	row := make([]float64, c.Dim())
	for i := range want {
		c.RowTo(row, i)
		for j, v := range row {
			near(t, fmt.Sprintf("%s (%d, %d)", name, i, j), v, want[i][j], tol)
		}
	}
}

// lowRankRows are what cooc.LowRankSparse.LAW returns.
type lowRankRows interface {
	cooc.Rows
	Clipped() int
}

// model finds anchors and recovers.
func model(t testing.TB, r *rectify.Result, k int) (lowRankRows, *anchor.Result, *recovery.Result) {
	t.Helper()
	rows, err := r.Rows(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	law, ok := rows.(lowRankRows)
	if !ok {
		t.Fatalf("rows are a %T", rows)
	}
	a, err := anchor.QR{}.Find(ctx, rows, k, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := recovery.SCLS{}.Recover(ctx, rows, a.Anchors, recovery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	with, err := law.WithAnchors(ctx, a.Anchors, 0)
	if err != nil {
		t.Fatal(err)
	}
	return with.(lowRankRows), a, res
}

// On tiny all 25 words are in I. Eigenpairs to 1e-13, fifty times one after the
// other, give the matrices of the reference, whose entries are at most 0.02, to
// 1e-13 and everything after that to 1e-12, with the sums of any kernel.
func TestGoldenTinyLowRank(t *testing.T) {
	g := golden.ReadTiny(t)
	m := moments(t, "tiny")
	for _, c := range []struct {
		name string
		r    rectify.Rectifier
		want golden.LowRank
	}{
		{"ENN", rectify.ENN{Iterations: 50, EigenTol: 1e-13}, g.Low.ENN},
		{"EIG", rectify.TruncatedEig{EigenTol: 1e-13}, g.Low.EigY},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := rectified(t, c.r, m, g.K)
			sameEntries(t, "YYᵀ", res.C, c.want.YYt, 1e-13)
			y := res.C.(*cooc.LowRankSparse).Y()
			for j := range g.K { // to the sign
				s := 1.0
				if y.At(0, j)*c.want.Y[0][j] < 0 {
					s = -1
				}
				for i := range g.N {
					near(t, "Y", s*y.At(i, j), c.want.Y[i][j], 1e-10)
				}
			}
			for i, v := range res.C.Marginals() {
				near(t, "d", v, c.want.D[i], 1e-12)
			}
			if c.name == "ENN" {
				// E of the last Y: its nonzeros.
				nnz := 0
				for _, row := range c.want.E {
					for _, v := range row {
						if v != 0 {
							nnz++
						}
					}
				}
				if got := res.Nonzeros[len(res.Nonzeros)-1]; got != nnz || res.Iterations != 50 {
					t.Errorf("%d entries in E after %d iterations, want %d", got, res.Iterations, nnz)
				}
			}
			want := c.want.ActiveSet
			law, a, rec := model(t, res, g.K)
			if !slices.Equal(a.Anchors, want.S0) {
				t.Fatalf("anchors %v, want %v", a.Anchors, want.S0)
			}
			for i, v := range a.Norms {
				near(t, "norm", v, want.DiagR[i], 1e-12)
			}
			nnz := 0
			for _, row := range want.ELaw {
				for _, v := range row {
					if v != 0 {
						nnz++
					}
				}
			}
			if got := law.Clipped(); got != nnz {
				t.Errorf("%d entries zeroed, want %d", got, nnz)
			}
			for i, v := range rec.Marginals {
				near(t, "corrected d", v, want.RowSums[i], 1e-13)
			}
			for i := range g.N {
				for k := range g.K {
					near(t, "B", rec.B.At(i, k), want.B[i][k], 1e-10)
					near(t, "B̆", rec.WordTopics.At(i, k), want.Btilde[k][i], 1e-10)
				}
			}
			for i := range g.K {
				for k := range g.K {
					near(t, "A", rec.A.At(i, k), want.A[i][k], 1e-11)
				}
			}
		})
	}
}

// The reference agrees with itself to 1e-5 only, for its eigenpairs are not
// exact; with exact ones the agreement is better than that, and what follows
// (the least d, B, A, the objective) is compared to ten times the tolerance of
// the matrix. On kos1000 some words have equal rows.
func TestGoldenLowRank(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			m := moments(t, name)
			for _, g := range golden.Rows(t, name) {
				var r rectify.Rectifier
				tol := 1e-5
				switch g.Rectifier {
				case "ENN50":
					if testing.Short() && g.K > 10 {
						continue
					}
					r = rectify.ENN{Iterations: 50, EigenTol: 1e-10}
				case "EIG":
					r, tol = rectify.TruncatedEig{EigenTol: 1e-12}, 1e-9
				default:
					continue
				}
				t.Run(fmt.Sprintf("%s/K=%d", g.Rectifier, g.K), func(t *testing.T) {
					res := rectified(t, r, m, g.K)
					checksums(t, res.C, g, tol)
					law, a, rec := model(t, res, g.K)
					twins := 0
					for i, w := range g.S0 {
						if a.Anchors[i] != w {
							twins++
						}
						near(t, "norm", a.Norms[i], math.Abs(g.DiagR[i]), tol*math.Abs(g.DiagR[0]))
					}
					if twins > 0 && name == "synth" {
						t.Errorf("anchors %v, want %v", a.Anchors, g.S0)
					}
					if twins > 2 {
						t.Errorf("%d anchors of %d differ", twins, g.K)
					}
					nnz := law.Clipped()
					if diff := math.Abs(float64(nnz - g.LawNNZ)); diff > 2+0.002*float64(g.LawNNZ) || g.Rectifier == "EIG" && diff != 0 {
						t.Errorf("%d entries zeroed, want %d", nnz, g.LawNNZ)
					}
					near(t, "least d", slices.Min(rec.Marginals), g.LawMinD, 10*tol*g.LawMinD)
					for _, o := range g.Opt {
						if o.Optimizer != "activeSet" {
							continue
						}
						near(t, "objective", rec.Objective, o.ObjMean, 10*tol*o.ObjMean)
						if twins > 0 {
							continue
						}
						near(t, "‖B‖", mat.Norm(rec.B, 2), o.BFro, 10*tol*o.BFro)
						near(t, "‖B̆‖", mat.Norm(rec.WordTopics, 2), o.BtildeFro, 10*tol*o.BtildeFro)
						near(t, "‖A‖", mat.Norm(rec.A, 2), o.AFro, 10*tol*o.AFro)
						near(t, "ΣA", mat.Sum(rec.A), o.ASum, 10*tol*o.ASum)
						for i, row := range o.BRowsFirst3 {
							for k, v := range row {
								near(t, "B", rec.B.At(i, k), v, 10*tol*o.BFro)
							}
						}
						for k, v := range o.ADiag {
							near(t, "A_kk", rec.A.At(k, k), v, 10*tol*o.AFro)
						}
					}
				})
			}
		})
	}
}

// checksums is compare for matrices that are not of sum 1 and non-negative.
func checksums(t *testing.T, c cooc.Matrix, g golden.Row, rel float64) {
	t.Helper()
	d := golden.Dense(t, c)
	sum, fro, trace, least, most := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for i := range g.N {
		trace += d.At(i, i)
		for j := range g.N {
			v := d.At(i, j)
			sum += v
			fro += v * v
			least, most = min(least, v), max(most, v)
		}
	}
	near(t, "fro", math.Sqrt(fro), g.Rect.Fro, rel*g.Rect.Fro)
	near(t, "sum", sum, g.Rect.Sum, rel)
	near(t, "trace", trace, g.Rect.Trace, rel*g.Rect.Trace)
	near(t, "max", most, g.Rect.Max, rel*g.Rect.Max)
	near(t, "min", least, g.Rect.Min, rel*g.Rect.Max)
	for i, row := range g.Rect.Block {
		for j, v := range row {
			near(t, "block", d.At(i, j), v, rel*g.Rect.Max)
		}
	}
	for i, v := range g.Rect.DiagFirst10 {
		near(t, "diagonal", d.At(i, i), v, rel*g.Rect.Max)
	}
}

// longestRows returns the words of the n rows of Y with the largest ‖y_i‖².
func longestRows(c cooc.Matrix, n int) []bool {
	y := c.(*cooc.LowRankSparse).Y()
	norms, order := make([]float64, c.Dim()), make([]int, c.Dim())
	for i := range order {
		order[i], norms[i] = i, mat.Dot(y.RowView(i), y.RowView(i))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(norms[b], norms[a]) })
	in := make([]bool, c.Dim())
	for _, i := range order[:n] {
		in[i] = true
	}
	return in
}

// On real text, with |I| = 10K + 1000 of N = 3000 words: outside of the rows and
// columns I the whole of YYᵀ is at least −ε, and YYᵀ is as far below zero and from a
// sum of 1 as the result says.
func TestENNGuarantee(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: long, and -short or -race is set")
	}
	m, _ := real(t, "kos", 3000)
	const k = 10
	low := rectified(t, rectify.ENN{Iterations: 10}, m, k)
	if low.Scanned != 1100 || !(low.Epsilon > 0) {
		t.Fatalf("%d rows scanned, ε = %g", low.Scanned, low.Epsilon)
	}
	in := longestRows(low.C, low.Scanned)
	row := make([]float64, m.Dim())
	least, sum, bound := 0.0, 0.0, 0.0
	for i := range row {
		low.C.RowTo(row, i)
		for j, v := range row {
			least, sum = min(least, v), sum+v
			if !in[i] && !in[j] {
				bound = min(bound, v)
				if v < -low.Epsilon {
					t.Fatalf("entry (%d, %d) of YYᵀ is %g, ε = %g", i, j, v, low.Epsilon)
				}
			}
		}
	}
	near(t, "sum", low.Violations.SumError, sum-1, 1e-12)
	t.Logf("ε = %.2g, least entry outside of I %.2g, of YYᵀ %.2g; the mean entry is %.2g", low.Epsilon, bound, least, 1/float64(len(row)*len(row)))
}

// naiveENN is Algorithm 3 with full matrices: YYᵀ, E, r and the bound that holds
// outside of I after the last iteration.
func naiveENN(c *mat.SymDense, k, iterations, most int, epsilon float64) (p, e *mat.SymDense, r, bound float64) {
	return naiveENNs(c, k, iterations, most, epsilon, func(_, _ *mat.SymDense) {})
}

// naiveENNs is naiveENN that hands over YYᵀ and E of each iteration, from that of
// C on.
func naiveENNs(c *mat.SymDense, k, iterations, most int, epsilon float64, each func(p, e *mat.SymDense)) (p, e *mat.SymDense, r, bound float64) {
	n := c.SymmetricDim()
	op := mat.NewSymDense(n, nil)
	op.CopySym(c)
	for t := 0; ; t++ {
		var ev mat.EigenSym
		if !ev.Factorize(op, true) {
			panic("no eigenvalues")
		}
		values := ev.Values(nil)
		var v mat.Dense
		ev.VectorsTo(&v)
		p = mat.NewSymDense(n, nil)
		for q := n - k; q < n; q++ {
			if values[q] > 0 {
				p.SymRankOne(p, values[q], v.ColView(q))
			}
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if p.At(a, a) > p.At(b, b) {
				return -1
			} else if p.At(a, a) < p.At(b, b) {
				return 1
			}
			return 0
		})
		in := make([]bool, n)
		bound = 0
		for s, i := range order {
			if s < most && (epsilon == 0 || p.At(i, i) > epsilon) {
				in[i] = true
			} else {
				bound = max(bound, p.At(i, i))
			}
		}
		e = mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				if in[i] || in[j] {
					e.SetSym(i, j, max(-p.At(i, j), 0))
				}
			}
		}
		r = (1 - mat.Sum(p) - mat.Sum(e)) / float64(n*n)
		each(p, e)
		if t == iterations {
			return p, e, r, bound
		}
		for i := range n {
			for j := range i + 1 {
				op.SetSym(i, j, p.At(i, j)+e.At(i, j)+r)
			}
		}
	}
}

// Against full matrices, for a bound on |I|, the ε rule and both; and the guarantee
// YYᵀ ≥ −ε outside of I, entry by entry, with the ε that the result states.
func TestENNAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, size := range []struct{ n, k int }{{40, 4}, {130, 7}} {
		if testutil.Race && size.n > 40 {
			continue
		}
		c := noisy(rng, size.n, size.k)
		in := newDense(t, c)
		mean := 1 / float64(size.n*size.n)
		for _, e := range []rectify.ENN{
			{Rows: size.n / 3}, {Rows: 1}, {Epsilon: mean}, {Epsilon: 2 * mean, Rows: size.n / 4}, {Rows: size.n}, {Epsilon: 1},
		} {
			e.Iterations, e.EigenTol = 7, 1e-12
			t.Run(fmt.Sprintf("N=%d/%v", size.n, e), func(t *testing.T) {
				most := e.Rows
				if most == 0 {
					most = size.n
				}
				p, _, r, bound := naiveENN(c, size.k, e.Iterations, most, e.Epsilon)
				res := rectified(t, e, in, size.k)
				if d := distance(t, res.C, newDense(t, p)); d > 1e-9 {
					t.Errorf("YYᵀ differs by %.2g", d)
				}
				near(t, "r", res.Shift, r, 1e-9*mean)
				near(t, "ε", res.Epsilon, bound, 1e-9*bound)
				near(t, "sum", res.Violations.SumError, mat.Sum(p)-1, 1e-12)

				// The guarantee, on the matrix itself.
				rows := longestRows(res.C, res.Scanned)
				row := make([]float64, size.n)
				for i := range size.n {
					res.C.RowTo(row, i)
					for j, v := range row {
						if !rows[i] && !rows[j] && v < -res.Epsilon {
							t.Fatalf("entry (%d, %d) of YYᵀ is %g, ε = %g", i, j, v, res.Epsilon)
						}
					}
				}
			})
		}
	}
}

// E changes as the explicit matrices do, also while words enter and leave I.
func TestENNHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n, k = 90, 6
	c := noisy(rng, n, k)
	in := newDense(t, c)
	for _, e := range []rectify.ENN{{Rows: 20}, {Rows: n}, {Epsilon: 1.0 / (n * n)}} {
		e.Iterations, e.EigenTol = 8, 1e-12
		res := rectified(t, e, in, k)
		most := e.Rows
		if most == 0 {
			most = n
		}
		var ps, es []*mat.SymDense
		naiveENNs(c, k, e.Iterations, most, e.Epsilon, func(p, e *mat.SymDense) { ps, es = append(ps, p), append(es, e) })
		for i := range e.Iterations {
			p0, e0, p1, e1 := ps[i], es[i], ps[i+1], es[i+1]
			var dp, de mat.Dense
			dp.Sub(p1, p0)
			de.Sub(e1, e0)
			near(t, "change", res.Changes[i], mat.Norm(&dp, 2), 1e-10*mat.Norm(p1, 2))
			near(t, "change of E", res.CorrectionChanges[i], mat.Norm(&de, 2), 1e-10*mat.Norm(p1, 2))
			nnz := 0
			for a := range n {
				for b := range n {
					if e1.At(a, b) != 0 {
						nnz++
					}
				}
			}
			if d := res.Nonzeros[i] - nnz; d < -2 || d > 2 {
				t.Errorf("iteration %d: %d entries, want %d", i+1, res.Nonzeros[i], nnz)
			}
		}
	}
}

func TestENNTolerance(t *testing.T) {
	m := moments(t, "synth")
	all := rectified(t, rectify.ENN{Iterations: 30, Rows: 300}, m, 10)
	fro := 0.0
	first := rectified(t, rectify.TruncatedEig{}, m, 10)
	for _, v := range first.Eigenvalues {
		fro += v * v
	}
	fro = math.Sqrt(fro)
	i := 9
	tol := all.CorrectionChanges[i] / fro * (1 + 1e-9)
	for j, v := range all.CorrectionChanges {
		if v <= tol*fro {
			i = j
			break
		}
	}
	done := 0
	res, err := rectify.ENN{Iterations: 30, Rows: 300, Tol: tol}.Rectify(ctx, m, 10, rectify.Options{Progress: func(d, total int, change float64) {
		done++
		if d != done || total != 30 || change != all.Changes[d-1] {
			t.Errorf("progress %d of %d, %g", d, total, change)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Iterations != i+1 || res.Status != rectify.Converged || done != i+1 {
		t.Errorf("%d iterations, %v; want %d", res.Iterations, res.Status, i+1)
	}
}

// With no number of iterations ENN goes on until E converges, ten at least; with
// one it makes as many.
func TestENNStops(t *testing.T) {
	m := moments(t, "synth")
	res := rectified(t, rectify.ENN{}, m, 10)
	fro := 0.0
	for _, v := range rectified(t, rectify.TruncatedEig{}, m, 10).Eigenvalues {
		fro += v * v
	}
	tol := 5e-5 * math.Sqrt(fro)
	last := res.CorrectionChanges[len(res.CorrectionChanges)-1]
	if res.Status != rectify.Converged || res.Iterations < 10 || last > tol || res.Iterations > 10 && res.CorrectionChanges[len(res.CorrectionChanges)-2] <= tol {
		t.Errorf("%v after %d iterations, the changes of E %g; want the first ≤ %g", res.Status, res.Iterations, res.CorrectionChanges, tol)
	}
	more := res.Iterations + 3
	if res = rectified(t, rectify.ENN{Iterations: more}, m, 10); res.Iterations != more {
		t.Errorf("%d iterations, want %d", res.Iterations, more)
	}
}

// A model is left alone, whatever is scanned.
func TestENNOfAModelIsTheModel(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(200, 6, 0.5, 3)
	in := newDense(t, p.C)
	for _, k := range []int{6, 9} {
		for _, e := range []rectify.ENN{{Iterations: 6}, {Iterations: 6, Rows: 50}} {
			res := rectified(t, e, in, k)
			if d := distance(t, res.C, in); d > 1e-12 {
				t.Errorf("%v, K=%d: moved by %g", e, k, d)
			}
		}
	}
}

func TestENNPermutationEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 5))
	const n, k = 150, 8
	c := noisy(rng, n, k)
	perm := rng.Perm(n)
	p := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			p.SetSym(i, j, c.At(perm[i], perm[j]))
		}
	}
	r := rectify.ENN{Iterations: 10, Rows: 40, EigenTol: 1e-12}
	a, b := rectified(t, r, newDense(t, c), k), rectified(t, r, newDense(t, p), k)
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		b.C.RowTo(x, i)
		a.C.RowTo(y, perm[i])
		for j := range n {
			near(t, "entry", x[j], y[perm[j]], 1e-13)
		}
	}
}

func TestENNBadInput(t *testing.T) {
	m := moments(t, "tiny")
	negative := mat.NewSymDense(3, []float64{-1, 0, 0, 0, -1, 0, 0, 0, -1})
	for _, c := range []struct {
		r    rectify.Rectifier
		c    cooc.Matrix
		k    int
		want string
	}{
		{rectify.ENN{}, m, 0, "K = 0 is not in [1, 25]"},
		{rectify.ENN{}, m, 26, "K = 26 is not in [1, 25]"},
		{rectify.TruncatedEig{}, m, 26, "K = 26 is not in [1, 25]"},
		{rectify.ENN{Iterations: -1}, m, 4, "-1 iterations"},
		{rectify.ENN{Rows: -1}, m, 4, "-1 rows"},
		{rectify.ENN{Epsilon: -1}, m, 4, "Epsilon is -1"},
		{rectify.ENN{Epsilon: math.NaN()}, m, 4, "Epsilon is NaN"},
		{rectify.ENN{Tol: math.NaN()}, m, 4, "NaN"},
		{rectify.ENN{EigenTol: 1}, m, 4, "and 1;"},
		{rectify.TruncatedEig{EigenTol: 1}, m, 4, "and 1;"},
		{rectify.ENN{}, bad{m, math.NaN()}, 4, "not finite"},
		{rectify.TruncatedEig{}, bad{m, math.NaN()}, 4, "not finite"},
		{rectify.ENN{}, newDense(t, negative), 2, "the largest eigenvalue is -1"},
		{rectify.TruncatedEig{}, newDense(t, negative), 2, "the largest eigenvalue is -1"},
	} {
		_, err := c.r.Rectify(ctx, c.c, c.k, rectify.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "rectify: ") {
			t.Errorf("%v, K=%d: %v, want %q", c.r, c.k, err, c.want)
		}
	}
}
