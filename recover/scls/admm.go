package scls

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// ADMM is the alternating direction method of multipliers in its
// Douglas–Rachford form (lee-2020, Algorithm 4; lee-2018, Algorithm 3):
//
//	p ← (γG + I)⁻¹(2y − q + γf),  q ← q + λ(p − y),  y ← Π(q)
//
// where Π is the projection onto the simplex, from y = q = Π((G + δI)⁻¹f). The
// paper has δ = 0; here δ = 1e-10·λ_max(G), because G may have no inverse.
//
// A problem ends when ‖Δy‖₂ < Tol and ‖p − y‖₂ < Tol, the residual of the fixed point. The
// paper asks only for the first (PaperStop), which also holds at a vertex where y waits
// while q still moves.
//
// Cost of a sweep: 2K² flops and one projection for each problem.
type ADMM struct {
	// Gamma is γ > 0, in units of 1/G; the papers use 3. 0 means 1/√(λ_max·λ_min) of the
	// spectrum, with λ_min at least 1e-4·λ_max.
	Gamma float64
	// Lambda is the relaxation λ in (0, 2); 0 means 1.9.
	Lambda float64
	// Tol is the tolerance on ‖Δy‖₂ and ‖p − y‖₂; 0 means 1e-6, and the papers use 1e-5.
	Tol float64
	// MaxIterations bounds the sweeps; 0 means 1000.
	MaxIterations int
	// PaperStop ends at ‖Δy‖₂ < Tol alone.
	PaperStop bool
}

// PaperADMM returns the settings of the papers: γ = 3, λ = 1.9, ‖Δy‖₂ < 1e-5
// or 500 sweeps.
func PaperADMM() ADMM {
	return ADMM{Gamma: 3, Lambda: 1.9, Tol: 1e-5, MaxIterations: 500, PaperStop: true}
}

const (
	gammaFloor = 1e-4  // of λ_max
	startShift = 1e-10 // of λ_max
)

func (a ADMM) withDefaults() ADMM {
	a.Lambda, a.Tol, a.MaxIterations = cmp.Or(a.Lambda, 1.9), cmp.Or(a.Tol, 1e-6), cmp.Or(a.MaxIterations, 1000)
	return a
}

func (a ADMM) String() string {
	a = a.withDefaults()
	gamma, stop := "spectrum", ""
	if a.Gamma != 0 {
		gamma = fmt.Sprint(a.Gamma)
	}
	if a.PaperStop {
		stop = ", ‖Δy‖ only"
	}
	return fmt.Sprintf("ADMM(γ=%s, λ=%g, tol=%g, max=%d%s)", gamma, a.Lambda, a.Tol, a.MaxIterations, stop)
}

// Validate implements [Solver].
func (a ADMM) Validate() error {
	switch {
	case !(a.Gamma >= 0) || math.IsInf(a.Gamma, 0):
		return settingError("ADMM", "Gamma", a.Gamma, "> 0, or 0 for the spectrum's")
	case !(a.Lambda >= 0 && a.Lambda < 2):
		return settingError("ADMM", "Lambda", a.Lambda, "in (0, 2), or 0 for 1.9")
	case !(a.Tol >= 0):
		return settingError("ADMM", "Tol", a.Tol, "> 0, or 0 for 1e-6")
	case a.MaxIterations < 0:
		return settingError("ADMM", "MaxIterations", float64(a.MaxIterations), "≥ 1, or 0 for 1000")
	}
	return nil
}

// Solve implements [Solver].
func (a ADMM) Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.withDefaults()
	p, err := check(g, f, y, opt)
	if err != nil {
		return nil, err
	}
	d, err := newDR(p, a)
	if err != nil {
		return nil, err
	}
	res := newResult(p.n)
	err = solve(ctx, p, opt, func() *drBatch { return newDRBatch(p.k) }, func(b *drBatch, lo, hi int) error {
		b.load(p, d, lo, hi)
		if err := b.run(ctx, p, d, res, a); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			f, y := p.f.RawRowView(i), p.y.RawRowView(i)
			simplex.Gradient(b.grad, p.Data, f, y, b.index)
			res.Objective[i], res.KKTGap[i] = simplex.Gap(b.grad, f, y)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// dr holds what all problems share.
type dr struct {
	gamma  float64
	prox   []float64 // (γG + I)⁻¹
	center []float64 // (G + δI)⁻¹
}

func newDR(p *problem, a ADMM) (*dr, error) {
	k := p.k
	val, vec, err := linalg.Eigen(mat.NewSymDense(k, slices.Clone(p.Data)))
	if err != nil {
		return nil, fmt.Errorf("scls: G: %w", err)
	}
	top := val[k-1]
	d := &dr{gamma: a.Gamma}
	if d.gamma == 0 {
		d.gamma = 1
		if top > 0 {
			d.gamma = 1 / math.Sqrt(top*max(val[0], gammaFloor*top))
		}
	}
	shift := startShift * top
	if shift <= 0 {
		shift = 1
	}
	function := func(f func(v float64) float64) []float64 {
		scaled := mat.NewDense(k, k, nil)
		for j, v := range val {
			c := f(max(v, 0))
			for i := range k {
				scaled.Set(i, j, c*vec.At(i, j))
			}
		}
		var m mat.Dense
		m.Mul(scaled, vec.T())
		return m.RawMatrix().Data
	}
	d.prox = function(func(v float64) float64 { return 1 / (1 + float64(d.gamma*v)) })
	d.center = function(func(v float64) float64 { return 1 / (v + shift) })
	return d, nil
}

// drBatch is the state of up to chunkSize problems, rows without gaps; the
// first m rows are still at work.
type drBatch struct {
	k, m          int
	at            []int // the problem of each row
	f, q, y, r, p []float64
	grad          []float64 // K
	index         []int     // K
}

func newDRBatch(k int) *drBatch {
	b := &drBatch{k: k, at: make([]int, chunkSize), grad: make([]float64, k), index: make([]int, k)}
	buf := make([]float64, 5*chunkSize*k)
	next := func() []float64 { s := buf[: chunkSize*k : chunkSize*k]; buf = buf[chunkSize*k:]; return s }
	b.f, b.q, b.y, b.r, b.p = next(), next(), next(), next(), next()
	return b
}

func (b *drBatch) load(p *problem, d *dr, lo, hi int) {
	k := b.k
	b.m = hi - lo
	for i := range b.m {
		b.at[i] = lo + i
		copy(b.f[i*k:i*k+k], p.f.RawRowView(lo+i))
	}
	used := b.f[:b.m*k]
	if p.warm {
		for i := range b.m {
			copy(b.y[i*k:i*k+k], p.y.RawRowView(lo+i))
		}
	} else {
		mul(b.y, b.f, d.center, b.m, k)
	}
	for i := range b.m {
		simplex.Project(b.y[i*k:i*k+k], b.y[i*k:i*k+k])
	}
	copy(b.q, b.y[:b.m*k])
	for i := range used {
		used[i] *= d.gamma
	}
}

func (b *drBatch) run(ctx context.Context, p *problem, d *dr, res *Result, a ADMM) error {
	k := b.k
	tol := a.Tol * a.Tol
	for it := 1; b.m > 0; it++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := b.m * k
		f, q, y, r := b.f[:n], b.q[:n], b.y[:n], b.r[:n]
		for i := range r {
			r[i] = float64(2*y[i]) - q[i] + f[i]
		}
		mul(b.p, b.r, d.prox, b.m, k)
		// From the last row to the first: a row that is done is replaced by
		// the last one at work, which has been treated already.
		for i := b.m - 1; i >= 0; i-- {
			y, q, pr, next := b.y[i*k:i*k+k], b.q[i*k:i*k+k], b.p[i*k:i*k+k], b.r[i*k:i*k+k]
			fix := 0.0
			for j, v := range pr {
				v -= y[j]
				fix += float64(v * v)
				q[j] += float64(a.Lambda * v)
			}
			simplex.Project(next, q)
			step := 0.0
			for j, v := range next {
				e := v - y[j]
				step += float64(e * e)
				y[j] = v
			}
			done := step < tol && (a.PaperStop || fix < tol)
			if !done && it < a.MaxIterations {
				continue
			}
			at := b.at[i]
			copy(p.y.RawRowView(at), y)
			res.Iterations[at] = it
			if !done {
				res.Status[at] = IterationLimit
			}
			last := b.m - 1
			if i != last {
				b.at[i] = b.at[last]
				copy(b.f[i*k:i*k+k], b.f[last*k:last*k+k])
				copy(q, b.q[last*k:last*k+k])
				copy(y, b.y[last*k:last*k+k])
			}
			b.m--
		}
	}
	return nil
}
