package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// TLI is the thresholded linear inverse (lee-2018 §4.3.1): w = B†h̃ with the left
// inverse B† whose largest entry is least; shares below
//
//	τ = 2λ√(ln K / n) + δ,  λ = max|B†|,
//
// for a document of n tokens, divided by Divisor, become 0 and the others are
// scaled to sum 1. Where nothing is left, the composition is all zeros and the
// status AllZero.
//
// Preparing it is a linear program a topic (see LeftInverse). A document costs K
// operations a distinct word. Memory: 8·N·K bytes.
type TLI struct {
	// Delta is δ ≥ 0, how far B†B may be from the identity in any entry, below
	// 1. 0, the default: not at all.
	Delta float64

	// Divisor of τ, at least 1. 0 means 4.5, the paper's less conservative
	// threshold; 1 is that of its guarantee.
	Divisor float64

	// Inverse, if not nil, is used instead of finding one. It must be of the
	// same B; its own Delta counts.
	Inverse *Inverse
}

func (t TLI) String() string {
	d := t.Divisor
	if d == 0 {
		d = 4.5
	}
	delta := t.Delta
	if t.Inverse != nil {
		delta = t.Inverse.Delta
	}
	return fmt.Sprintf("TLI(δ=%g, τ/%g)", delta, d)
}

// Prepare implements Method.
func (t TLI) Prepare(ctx context.Context, tp Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	if t.Divisor != 0 && !(t.Divisor >= 1 && t.Divisor < math.Inf(1)) {
		return nil, &SettingError{"TLI", "Divisor", t.Divisor, "≥ 1, or 0 for 4.5"}
	}
	c, err := check(tp)
	if err != nil {
		return nil, err
	}
	inv := t.Inverse
	if inv == nil {
		if inv, err = leftInverse(ctx, c, t.Delta, opt); err != nil {
			return nil, err
		}
	} else if r, k := dims(inv.Dagger); r != c.n || k != c.k {
		return nil, fmt.Errorf("TLI: Inverse is for %d words and %d topics, not %d and %d", r, k, c.n, c.k)
	}
	m := &tli{k: c.k, dagger: inv.Dagger, divisor: t.Divisor}
	if m.divisor == 0 {
		m.divisor = 4.5
	}
	m.slope, m.delta = 2*inv.Lambda*math.Sqrt(math.Log(float64(c.k))), inv.Delta
	return newInferer(t.String(), c, m), nil
}

type tli struct {
	k                     int
	dagger                *mat.Dense
	slope, delta, divisor float64
}

func (t *tli) scratch() any { return nil }

func (t *tli) infer(dst []float64, d *document, _ any) (Status, int, error) {
	clear(dst)
	for i, w := range d.ids {
		h := d.x[i] / d.n
		row := t.dagger.RawRowView(int(w))
		for k := range dst {
			dst[k] += h * row[k]
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
	for k := range dst {
		dst[k] /= sum
	}
	return Converged, 0, nil
}

// Inverse is a left inverse of B with a small largest entry.
type Inverse struct {
	// Dagger is B†ᵀ, N×K: column k holds the row of B† for topic k. Rows of words
	// in no topic are 0.
	Dagger *mat.Dense
	// Delta is δ: |B†B − I| ≤ δ in every entry, to about 1e-9.
	Delta float64
	// Lambda is λ = max|B†|; Bound a lower bound of it that holds for every left
	// inverse with this δ, from the dual problem. They differ by less than 1e-6
	// of λ unless Limited > 0.
	Lambda, Bound float64
	// Iterations is the mean over the topics, Limited how many topics hit the
	// limit of 100 iterations or the end of what rounding allows before their
	// relative gap was 1e-8.
	Iterations float64
	Limited    int
}

// LeftInverse finds the B† that minimises max|B†| under |B†B − I|∞ ≤ δ (lee-2018
// §4.3.1). It is one linear program a topic,
//
//	min λ  over x, s, λ with Bᵀx + s = e_k, |x_n| ≤ λ, |s_l| ≤ δ,
//
// solved by a primal-dual interior-point method (Mehrotra's predictor and
// corrector) from a strictly feasible point. All but K of the unknowns leave the
// Newton system at once, so that an iteration costs NK² flops for a K×K matrix and
// O(K³) for its factor. Topics are shared among goroutines; memory 8·N·K bytes
// each.
//
// Errors: *TopicsError, also where topics depend on each other, so that B has no
// left inverse; *SettingError for δ outside [0, 1); ctx's.
func LeftInverse(ctx context.Context, t Topics, delta float64, opt Options) (_ *Inverse, err error) {
	defer named(&err)
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	return leftInverse(ctx, c, delta, opt)
}

func leftInverse(ctx context.Context, c *checked, delta float64, opt Options) (*Inverse, error) {
	if !(delta >= 0 && delta < 1) {
		return nil, &SettingError{"TLI", "Delta", delta, "in [0, 1)"}
	}
	// Words in no topic play no part.
	var words []int
	for w := range c.n {
		if !c.rows.empty(int32(w)) {
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
	inv := &Inverse{Dagger: mat.NewDense(c.n, k, nil), Delta: delta}
	progs := make([]leftProgram, k)
	spaces := make([]*leftSpace, k) // by worker
	err = inChunks(ctx, k, 1, opt, func(worker, lo, hi int) error {
		if spaces[worker] == nil {
			spaces[worker] = newLeftSpace(n, k, delta > 0)
		}
		s := spaces[worker]
		for t := lo; t < hi; t++ {
			p, err := s.solve(ctx, b, &chol, t, delta)
			if err != nil {
				return fmt.Errorf("TLI: topic %d: %w", t, err)
			}
			for i, w := range words {
				inv.Dagger.Set(w, t, s.best[i])
			}
			progs[t] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range progs {
		inv.Lambda, inv.Bound = max(inv.Lambda, p.lambda), max(inv.Bound, p.bound)
		inv.Iterations += float64(p.iterations) / float64(k)
		if !p.converged {
			inv.Limited++
		}
	}
	return inv, nil
}

// leftProgram is how the linear program of a topic ended.
type leftProgram struct {
	lambda, bound float64
	iterations    int
	converged     bool
}

const (
	leftIterations = 100
	leftTol        = 1e-8 // of the gap, relative to λ
	leftFraction   = 0.995
)

// leftSpace is the space of one goroutine.
type leftSpace struct {
	n, k  int
	slack bool // δ > 0: the variables s exist

	// The iterate: x in the box ±λ with distances p and q and their multipliers
	// a and b; s in ±δ with distances g and h and multipliers c and d; u the
	// multipliers of the equations.
	x, p, q, a, b, s, g, h, c, d, u []float64
	lambda                          float64

	// One Newton step.
	dx, da, db, ds, dc, dd, du []float64
	dlambda                    float64

	inv, e, rx, ra, rb, rho, tmp []float64 // N: 1/Dx, E, …
	inv2, rs, rc, rd, rho2       []float64 // K: 1/Ds, …
	v, rhs, re                   []float64 // K
	best                         []float64 // N: the result

	scaled, m blas64.General // D^{−1/2}B; its Gram matrix
	sym       *mat.SymDense
	chol      mat.Cholesky
}

func newLeftSpace(n, k int, slack bool) *leftSpace {
	s := &leftSpace{n: n, k: k, slack: slack, scaled: linalg.NewGeneral(n, k), m: linalg.NewGeneral(k, k), sym: mat.NewSymDense(k, nil)}
	for _, p := range []*[]float64{&s.x, &s.p, &s.q, &s.a, &s.b, &s.dx, &s.da, &s.db, &s.inv, &s.e, &s.rx, &s.ra, &s.rb, &s.rho, &s.tmp, &s.best} {
		*p = make([]float64, n)
	}
	for _, p := range []*[]float64{&s.s, &s.g, &s.h, &s.c, &s.d, &s.u, &s.ds, &s.dc, &s.dd, &s.du, &s.inv2, &s.rs, &s.rc, &s.rd, &s.rho2, &s.v, &s.rhs, &s.re} {
		*p = make([]float64, k)
	}
	return s
}

func column(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// mul sets y = Bx or Bᵀx.
func mul(ctx context.Context, b blas64.General, t blas.Transpose, x, y []float64) error {
	return linalg.Gemm(ctx, t, blas.NoTrans, 1, b, column(x), 0, column(y), 1)
}

// solve finds row t of B†, in s.best. chol is the factor of BᵀB.
func (s *leftSpace) solve(ctx context.Context, b blas64.General, chol *mat.Cholesky, t int, delta float64) (leftProgram, error) {
	n, k := s.n, s.k
	out := leftProgram{lambda: math.Inf(1)}

	// The start: the pseudo-inverse's row, with room around it; multipliers that
	// fulfil the dual equations with u = 0.
	clear(s.rhs)
	s.rhs[t] = 1
	if err := chol.SolveVecTo(mat.NewVecDense(k, s.du), mat.NewVecDense(k, s.rhs)); err != nil {
		if !isCondition(err) {
			return out, err
		}
	}
	if err := mul(ctx, b, blas.NoTrans, s.du, s.x); err != nil {
		return out, err
	}
	s.lambda = 0
	for _, v := range s.x {
		s.lambda = max(s.lambda, math.Abs(v))
	}
	s.lambda *= 1.5
	for i := range s.x {
		s.p[i], s.q[i] = s.lambda-s.x[i], s.lambda+s.x[i]
		s.a[i], s.b[i] = 0.5/float64(n), 0.5/float64(n)
	}
	clear(s.s)
	clear(s.u)
	for l := range s.s {
		s.g[l], s.h[l] = delta, delta
		if s.slack {
			s.c[l] = 0.5 * s.lambda / (float64(n) * delta)
			s.d[l] = s.c[l]
		}
	}

	for out.iterations = 0; ; out.iterations++ {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := s.residuals(ctx, b, t); err != nil {
			return out, err
		}
		if err := s.keepBest(ctx, b, chol, t, delta, &out); err != nil {
			return out, err
		}
		if out.lambda-out.bound <= leftTol*out.lambda {
			out.converged = true
			return out, nil
		}
		if out.iterations == leftIterations {
			return out, nil
		}
		ok, err := s.factor(ctx, b)
		if err != nil {
			return out, err
		}
		if !ok {
			return out, nil // rounding: the matrix is no longer positive definite
		}
		mu := s.gapTotal() / s.pairs()

		// Predictor: the step to the end.
		s.targets(0, false)
		if err := s.step(ctx, b); err != nil {
			return out, err
		}
		primal, dual := s.lengths(1)
		after := s.gapAfter(primal, dual) / s.pairs()
		sigma := math.Pow(after/mu, 3)

		// Corrector.
		s.targets(sigma*mu, true)
		if err := s.step(ctx, b); err != nil {
			return out, err
		}
		primal, dual = s.lengths(leftFraction)
		if !(primal > 1e-12 || dual > 1e-12) {
			return out, nil // stuck, for rounding
		}
		s.advance(primal, dual)
	}
}

func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}

func (s *leftSpace) pairs() float64 {
	if s.slack {
		return float64(2*s.n + 2*s.k)
	}
	return float64(2 * s.n)
}

// residuals computes what is missing in the equations.
func (s *leftSpace) residuals(ctx context.Context, b blas64.General, t int) error {
	if err := mul(ctx, b, blas.NoTrans, s.u, s.tmp); err != nil { // Bu
		return err
	}
	for i := range s.rx {
		s.rx[i] = s.tmp[i] - s.a[i] + s.b[i]
	}
	if err := mul(ctx, b, blas.Trans, s.x, s.re); err != nil {
		return err
	}
	for l := range s.re {
		s.re[l] = -s.re[l] - s.s[l]
		s.rs[l] = s.u[l] - s.c[l] + s.d[l]
	}
	s.re[t]++
	return nil
}

// keepBest makes a feasible point of the iterate and keeps it where its λ is the
// least so far; s.tmp holds Bu. The dual value of u, scaled to ‖Bu‖₁ = 1, is a
// lower bound.
func (s *leftSpace) keepBest(ctx context.Context, b blas64.General, chol *mat.Cholesky, t int, delta float64, out *leftProgram) error {
	norm, value := 0.0, s.u[t]
	for _, v := range s.tmp {
		norm += math.Abs(v)
	}
	for _, v := range s.u {
		value -= delta * math.Abs(v)
	}
	if norm > 0 {
		out.bound = max(out.bound, value/norm)
	}
	// Rounding in Bᵀx + s = e_k is taken out along B(BᵀB)⁻¹.
	if err := chol.SolveVecTo(mat.NewVecDense(s.k, s.du), mat.NewVecDense(s.k, s.re)); err != nil && !isCondition(err) {
		return err
	}
	if err := mul(ctx, b, blas.NoTrans, s.du, s.rho); err != nil {
		return err
	}
	top := 0.0
	for i, v := range s.x {
		s.rho[i] += v
		top = max(top, math.Abs(s.rho[i]))
	}
	if top < out.lambda {
		out.lambda = top
		copy(s.best, s.rho)
	}
	return nil
}

// factor forms the matrix of the Newton system in u and factors it.
func (s *leftSpace) factor(ctx context.Context, b blas64.General) (bool, error) {
	for i := range s.inv {
		ap, bq := s.a[i]/s.p[i], s.b[i]/s.q[i]
		d := ap + bq
		s.inv[i], s.e[i] = 1/d, ap-bq
		r := math.Sqrt(1 / d)
		to := linalg.Row(s.scaled, i)
		for j, v := range linalg.Row(b, i) {
			to[j] = r * v
		}
	}
	if err := linalg.Gram(ctx, s.scaled, s.m, 1); err != nil {
		return false, err
	}
	for i := range s.tmp {
		s.tmp[i] = s.inv[i] * s.e[i]
	}
	if err := mul(ctx, b, blas.Trans, s.tmp, s.v); err != nil {
		return false, err
	}
	size := s.size()
	for l := range s.k {
		if s.slack {
			s.inv2[l] = 1 / (s.c[l]/s.g[l] + s.d[l]/s.h[l])
		}
		for j := l; j < s.k; j++ {
			v := s.m.Data[l*s.k+j] + s.v[l]*s.v[j]/size
			if j == l {
				v += s.inv2[l]
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false, nil
			}
			s.sym.SetSym(l, j, v)
		}
	}
	return s.chol.Factorize(s.sym), nil
}

// size is S = Σ(Dx − E²/Dx), without the cancellation.
func (s *leftSpace) size() float64 {
	sum := 0.0
	for i := range s.inv {
		sum += 4 * (s.a[i] / s.p[i]) * (s.b[i] / s.q[i]) * s.inv[i]
	}
	return sum
}

// targets sets what the products of distances and multipliers should change by:
// to mu, less the second-order term of the step in hand where correct is set.
func (s *leftSpace) targets(mu float64, correct bool) {
	for i := range s.ra {
		s.ra[i], s.rb[i] = mu-s.a[i]*s.p[i], mu-s.b[i]*s.q[i]
		if correct {
			s.ra[i] -= (s.dlambda - s.dx[i]) * s.da[i]
			s.rb[i] -= (s.dlambda + s.dx[i]) * s.db[i]
		}
	}
	if !s.slack {
		return
	}
	for l := range s.rc {
		s.rc[l], s.rd[l] = mu-s.c[l]*s.g[l], mu-s.d[l]*s.h[l]
		if correct {
			s.rc[l] += s.ds[l] * s.dc[l]
			s.rd[l] -= s.ds[l] * s.dd[l]
		}
	}
}

// step solves the Newton system.
func (s *leftSpace) step(ctx context.Context, b blas64.General) error {
	kappa, missing := 0.0, 1.0
	for i := range s.rho {
		ra, rb := s.ra[i]/s.p[i], s.rb[i]/s.q[i]
		s.rho[i] = s.rx[i] - ra + rb
		s.tmp[i] = s.inv[i] * s.rho[i]
		kappa += ra + rb + s.e[i]*s.tmp[i]
		missing -= s.a[i] + s.b[i]
	}
	kappa -= missing
	size := s.size()
	if err := mul(ctx, b, blas.Trans, s.tmp, s.rhs); err != nil {
		return err
	}
	for l := range s.rhs {
		s.rhs[l] = s.re[l] - s.rhs[l] - s.v[l]*kappa/size
		if s.slack {
			s.rho2[l] = s.rs[l] - s.rc[l]/s.g[l] + s.rd[l]/s.h[l]
			s.rhs[l] -= s.rho2[l] * s.inv2[l]
		}
	}
	if err := s.chol.SolveVecTo(mat.NewVecDense(s.k, s.du), mat.NewVecDense(s.k, s.rhs)); err != nil && !isCondition(err) {
		return err
	}
	s.dlambda = kappa
	for l, v := range s.v {
		s.dlambda += v * s.du[l]
	}
	s.dlambda /= size
	if err := mul(ctx, b, blas.NoTrans, s.du, s.tmp); err != nil {
		return err
	}
	for i := range s.dx {
		s.dx[i] = s.inv[i] * (s.rho[i] + s.e[i]*s.dlambda + s.tmp[i])
		s.da[i] = (s.ra[i] - s.a[i]*(s.dlambda-s.dx[i])) / s.p[i]
		s.db[i] = (s.rb[i] - s.b[i]*(s.dlambda+s.dx[i])) / s.q[i]
	}
	if s.slack {
		for l := range s.ds {
			s.ds[l] = s.inv2[l] * (s.rho2[l] + s.du[l])
			s.dc[l] = (s.rc[l] + s.c[l]*s.ds[l]) / s.g[l]
			s.dd[l] = (s.rd[l] - s.d[l]*s.ds[l]) / s.h[l]
		}
	}
	return nil
}

// lengths returns the part of the step, at most 1, after which all distances
// and all multipliers are still positive, times fraction.
func (s *leftSpace) lengths(fraction float64) (primal, dual float64) {
	limit := func(v, dv, most float64) float64 {
		if dv < 0 {
			return min(most, -v/dv)
		}
		return most
	}
	primal, dual = 1/fraction, 1/fraction
	for i := range s.p {
		primal = limit(s.p[i], s.dlambda-s.dx[i], primal)
		primal = limit(s.q[i], s.dlambda+s.dx[i], primal)
		dual = limit(s.a[i], s.da[i], dual)
		dual = limit(s.b[i], s.db[i], dual)
	}
	if s.slack {
		for l := range s.g {
			primal = limit(s.g[l], -s.ds[l], primal)
			primal = limit(s.h[l], s.ds[l], primal)
			dual = limit(s.c[l], s.dc[l], dual)
			dual = limit(s.d[l], s.dd[l], dual)
		}
	}
	return min(1, fraction*primal), min(1, fraction*dual)
}

func (s *leftSpace) gapTotal() float64 { return s.gapAfter(0, 0) }

// gapAfter is the sum of the products of distances and multipliers after a part
// of the step.
func (s *leftSpace) gapAfter(primal, dual float64) float64 {
	sum := 0.0
	for i := range s.p {
		sum += (s.p[i]+primal*(s.dlambda-s.dx[i]))*(s.a[i]+dual*s.da[i]) +
			(s.q[i]+primal*(s.dlambda+s.dx[i]))*(s.b[i]+dual*s.db[i])
	}
	if s.slack {
		for l := range s.g {
			sum += (s.g[l]-primal*s.ds[l])*(s.c[l]+dual*s.dc[l]) + (s.h[l]+primal*s.ds[l])*(s.d[l]+dual*s.dd[l])
		}
	}
	return sum
}

// advance takes the step.
func (s *leftSpace) advance(primal, dual float64) {
	s.lambda += primal * s.dlambda
	for i := range s.x {
		s.x[i] += primal * s.dx[i]
		s.p[i] += primal * (s.dlambda - s.dx[i])
		s.q[i] += primal * (s.dlambda + s.dx[i])
		s.a[i] += dual * s.da[i]
		s.b[i] += dual * s.db[i]
	}
	for l := range s.u {
		s.u[l] += dual * s.du[l]
		if s.slack {
			s.s[l] += primal * s.ds[l]
			s.g[l] -= primal * s.ds[l]
			s.h[l] += primal * s.ds[l]
			s.c[l] += dual * s.dc[l]
			s.d[l] += dual * s.dd[l]
		}
	}
}
