package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/lp"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// TLI is the thresholded linear inverse (lee-2018 §4.3.1): w = B†h̃, where B† is the
// left inverse of B with the smallest largest entry. Shares below τ/Divisor become 0,
//
//	τ = 2λ√(ln K / n) + δ,  λ = max|B†|,
//
// for a document of n tokens, and the others are scaled to sum 1. Where nothing is left,
// all proportions are 0 and the status is [AllZero].
//
// Prepare solves a linear program for each topic, which is slow for a large B. A
// document costs K operations for each distinct word. Memory: 8·N·K bytes.
type TLI struct {
	// Delta is δ, in [0, 1): how much an entry of B†B may differ from the identity.
	Delta float64

	// Divisor of τ, at least 1; 0: 4.5, the paper's less conservative threshold. 1 is the
	// threshold of its guarantee.
	Divisor float64
}

func (t TLI) String() string {
	return fmt.Sprintf("TLI(δ=%g, τ/%g)", t.Delta, cmp.Or(t.Divisor, 4.5))
}

// Prepare implements Method. A B whose topics depend linearly on each other, and so has
// no left inverse, is a [*TopicsError]. Memory: 8·N·K bytes per goroutine, twice that with
// δ > 0.
func (t TLI) Prepare(ctx context.Context, tp Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	t.Divisor = cmp.Or(t.Divisor, 4.5)
	if !(t.Divisor >= 1 && t.Divisor < math.Inf(1)) {
		return nil, &SettingError{"TLI", "Divisor", t.Divisor, "≥ 1, or 0 for 4.5"}
	}
	if !(t.Delta >= 0 && t.Delta < 1) {
		return nil, &SettingError{"TLI", "Delta", t.Delta, "in [0, 1)"}
	}
	c, err := check(tp)
	if err != nil {
		return nil, err
	}
	inv, err := findInverse(ctx, c, t.Delta, opt)
	if err != nil {
		return nil, err
	}
	slope := 2 * inv.lambda * math.Sqrt(arith.Log(float64(c.k)))
	return newInferer(t.String(), c, &tli{inv.dagger, slope, t.Delta, t.Divisor}), nil
}

type tli struct {
	dagger                *mat.Dense
	slope, delta, divisor float64
}

func (t *tli) scratch() any { return nil }

func (t *tli) infer(_ context.Context, dst []float64, d *document, _ any) (Status, int, error) {
	clear(dst)
	for i, w := range d.ids {
		h := d.x[i] / d.n
		row := t.dagger.RawRowView(int(w))
		for k := range dst {
			dst[k] += float64(h * row[k])
		}
	}
	tau := (t.slope/math.Sqrt(d.n) + t.delta) / t.divisor
	sum := 0.0
	for k, v := range dst {
		if v <= 0 || v < tau {
			v = 0
		}
		dst[k] = v
		sum += v
	}
	if sum == 0 {
		return AllZero, 0, nil
	}
	vec.Normalise(dst)
	return Converged, 0, nil
}

// leftInverse is a left inverse of B with a small largest entry.
type leftInverse struct {
	// dagger is B†ᵀ, N×K: column k holds the row of B† for topic k. Rows of words in
	// no topic are 0.
	dagger *mat.Dense
	lambda float64 // λ = max|B†|
}

// findInverse finds the B† that minimises max|B†| under |B†B − I|∞ ≤ δ, to about
// 1e-9. It is one linear program for each topic,
//
//	min λ  over x, s, λ with Bᵀx + s = e_k, |x_n| ≤ λ, |s_l| ≤ δ,
//
// solved by a dual simplex method. A step costs some 4NK flops. Topics are shared
// among goroutines.
func findInverse(ctx context.Context, c *checked, delta float64, opt Options) (*leftInverse, error) {
	// Words in no topic do not count.
	var words []int
	for w := range c.n {
		if c.known[w] {
			words = append(words, w)
		}
	}
	n, k := len(words), c.k
	b := linalg.NewGeneral(n, k)
	for i, w := range words {
		copy(linalg.Row(b, i), c.B.RawRowView(w))
	}
	g, err := gram(ctx, mat.NewDense(n, k, b.Data), opt.Workers)
	if err != nil {
		return nil, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) || chol.Cond() > 1e14 {
		return nil, &TopicsError{"B", -1, -1, "has no left inverse: some topic depends linearly on others"}
	}
	inv := &leftInverse{dagger: mat.NewDense(c.n, k, nil)}
	lambdas := make([]float64, k)
	programs := make([]*leftPrograms, k) // by worker
	err = parallel.Progress(ctx, k, 1, opt.Workers, opt.Progress, func(worker, t, _ int) error {
		if programs[worker] == nil {
			programs[worker] = newLeftPrograms(b, delta)
		}
		p := programs[worker]
		if err := p.solve(ctx, &chol, t); err != nil {
			return fmt.Errorf("TLI: topic %d: %w", t, err)
		}
		for i, w := range words {
			inv.dagger.Set(w, t, p.x[i])
		}
		lambdas[t] = floats.Norm(p.x, math.Inf(1))
		return nil
	})
	if err != nil {
		return nil, err
	}
	inv.lambda = slices.Max(lambdas)
	return inv, nil
}

// leftPrograms are the linear programs of the topics, in the unknowns ξ = x/λ and
// θ = 1/λ, which is to be as large as can be:
//
//	|ξ_n| ≤ 1,  Bᵀξ = θe_k,  or  |Bᵀξ − θe_k| ≤ δθ.
//
// For δ = 0 the rows of the program are the columns of B. For δ > 0 they come twice,
// first with their lower bounds, then with their upper ones.
type leftPrograms struct {
	lp.Problem
	b      blas64.General // N×K
	norms  []float64      // of the columns of B, to which the rows are scaled
	sums   []float64      // of their entries
	delta  float64
	x, bu  []float64 // N: the result; Bu
	u, res []float64 // K
}

func newLeftPrograms(b blas64.General, delta float64) *leftPrograms {
	n, k := b.Rows, b.Cols
	rows := k
	if delta > 0 {
		rows = 2 * k
	}
	p := &leftPrograms{
		b: b, delta: delta, norms: make([]float64, k), sums: make([]float64, k),
		x: make([]float64, n), bu: make([]float64, n), u: make([]float64, k), res: make([]float64, k),
	}
	p.G = linalg.NewGeneral(rows, n+1)
	p.Lo, p.Hi, p.RowLo, p.RowHi = make([]float64, n+1), make([]float64, n+1), make([]float64, rows), make([]float64, rows)
	for i := range n {
		p.Lo[i], p.Hi[i] = -1, 1
	}
	p.Lo[n], p.Hi[n] = math.Inf(-1), math.Inf(1)
	for l := range k {
		g := linalg.Row(p.G, l)
		for i := range n {
			g[i] = b.Data[i*b.Stride+l]
			p.sums[l] += g[i]
		}
		p.norms[l] = blas64.Nrm2(blas64.Vector{N: n, Inc: 1, Data: g})
		floats.Scale(1/p.norms[l], g)
		if rows > k {
			copy(linalg.Row(p.G, k+l), g)
		}
	}
	return p
}

// solve finds row t of B†, in p.x. chol is the factor of BᵀB.
func (p *leftPrograms) solve(ctx context.Context, chol *mat.Cholesky, t int) error {
	n, k := p.b.Rows, p.b.Cols
	// θ is measured in ‖b_t‖, and is at most Σ_n B_nt/(1 − δ).
	maxTheta := p.sums[t] / p.norms[t] / (1 - p.delta)
	for r := range p.G.Rows {
		l, own, side := r%k, 0.0, -p.delta
		if l == t {
			own = 1
		}
		if r >= k {
			side = p.delta
		}
		unit := p.norms[t] / p.norms[l]
		linalg.Row(p.G, r)[n] = -(own + side) * unit
		if p.delta > 0 {
			beyond := 2 * (p.sums[l]/p.norms[l] + float64(2*unit*maxTheta))
			if p.RowLo[r], p.RowHi[r] = 0, beyond; r >= k {
				p.RowLo[r], p.RowHi[r] = -beyond, 0
			}
		}
	}
	s := lp.New(&p.Problem, []int{t}, []int{n})
	// Words in few topics are tied in many ways; the bound on λ is off by some 1e-9.
	c := make([]float64, n+1)
	lp.Perturb(c[:n], 1e-10)
	c[n] = 1
	if err := s.Solve(ctx, c); err != nil {
		return err
	}
	theta := s.X[n] * p.norms[t]
	if !(theta > 0) {
		return fmt.Errorf("1/λ is %g", theta)
	}
	floats.ScaleTo(p.x, 1/theta, s.X[:n])
	// Rounding in the equations is taken out along B(BᵀB)⁻¹.
	if err := mul(ctx, p.b, blas.Trans, p.x, p.res); err != nil {
		return err
	}
	p.res[t]--
	for l, v := range p.res {
		p.res[l] = min(max(v, -p.delta), p.delta) - v
	}
	if err := chol.SolveVecTo(mat.NewVecDense(k, p.u), mat.NewVecDense(k, p.res)); err != nil {
		if _, ok := errors.AsType[mat.Condition](err); !ok {
			return err
		}
	}
	if err := mul(ctx, p.b, blas.NoTrans, p.u, p.bu); err != nil {
		return err
	}
	floats.Add(p.x, p.bu)
	return nil
}

func column(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// mul sets y = Bx or Bᵀx.
func mul(ctx context.Context, b blas64.General, t blas.Transpose, x, y []float64) error {
	return linalg.Gemm(ctx, t, blas.NoTrans, 1, b, column(x), 0, column(y), 1)
}
