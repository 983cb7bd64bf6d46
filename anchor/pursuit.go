package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// rankTol is the default RankTol. The squared norms are updated by subtraction, so that
// norms below √ε ≈ 1.5e-8 of the first are rounding.
const rankTol = 1e-7

// pursuit is pivoted QR of the rows: an orthonormal basis of the anchors.
type pursuit struct {
	*search
	basis *mat.Dense // K×d; the rows are the q_k
	coef  *mat.Dense // K×K: the rows of the anchors are coef·basis; nil if not kept
	x     *mat.Dense // d×1, a new direction
	p     *mat.Dense // N×1, C̄x
}

// pursue finds the anchors by pivoted QR, and cleans up where asked to.
func (s *search) pursue(ctx context.Context, tol float64, cleanUp bool) (*Result, error) {
	tol = cmp.Or(tol, rankTol)
	p := &pursuit{search: s, basis: mat.NewDense(s.k, s.d, nil), x: mat.NewDense(s.d, 1, nil), p: mat.NewDense(s.n, 1, nil)}
	if cleanUp {
		p.coef = mat.NewDense(s.k, s.k, nil)
	}
	for len(s.res.Anchors) < s.k {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		t := len(s.res.Anchors)
		w, r := -1, 0.0
		if t < len(s.given) {
			w = s.given[t]
		} else {
			w = s.preferred(best(s.u, s.open, s.largest))
		}
		if w >= 0 {
			s.rowTo(p.x.RawMatrix().Data, t, w)
			r = p.orthogonalise(t, t)
		}
		scale := r // of the first anchor; a given one may be short
		if t > 0 {
			scale = s.res.Norms[0]
		}
		if len(s.given) > 0 {
			scale = max(scale, math.Sqrt(s.largest))
		}
		if w < 0 || r <= tol*scale || r == 0 {
			if t < len(s.given) {
				return nil, &givenError{t, w, fmt.Sprintf("its row is in the span of those given before (%.3g from it, rows are up to %.3g long)", r, scale)}
			}
			if s.admit.allowFewer && t > 0 {
				break
			}
			return nil, &RankError{Rank: t, K: s.k, Of: "span", Norm: r, First: scale}
		}
		if err := p.extend(ctx, t, r); err != nil {
			return nil, err
		}
		for i, v := range p.p.RawMatrix().Data {
			s.u[i] = max(s.u[i]-float64(v*v), 0)
		}
		s.take(w, r)
	}
	if cleanUp {
		if err := p.cleanUp(ctx); err != nil {
			return nil, err
		}
	}
	return s.res, nil
}

// orthogonalise takes from x, the row of anchor t, its parts along the first m
// basis vectors and returns the length of what is left.
func (p *pursuit) orthogonalise(t, m int) float64 {
	w := p.x.RawMatrix()
	if m > 0 {
		q := p.basis.Slice(0, m, 0, p.d).(*mat.Dense).RawMatrix()
		h := linalg.NewGeneral(m, 1)
		// On one goroutine, since a product is so short. The only error is that of a
		// context that ends.
		ctx := context.Background()
		for range 2 {
			_ = linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, q, w, 0, h, 1)
			_ = linalg.Gemm(ctx, blas.Trans, blas.NoTrans, -1, q, h, 1, w, 1)
			if p.coef != nil {
				for l, v := range h.Data {
					p.coef.Set(t, l, p.coef.At(t, l)+v)
				}
			}
		}
	}
	r := vec.Norm(w.Data)
	if p.coef != nil {
		p.coef.Set(t, m, r)
	}
	return r
}

// extend makes x/r the basis vector l and p its product with C̄.
func (p *pursuit) extend(ctx context.Context, l int, r float64) error {
	w, b := p.x.RawMatrix().Data, p.basis.RawRowView(l)
	for j, v := range w {
		w[j] = v / r
		b[j] = w[j]
	}
	return p.mul(ctx)
}

func (p *pursuit) mul(ctx context.Context) error {
	if err := p.rows.MulTo(ctx, p.p, p.x, p.opt.Workers); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	return nil
}

// cleanUp is the second loop of FastAnchorWords (arora-2013, Algorithm 4): each
// anchor in turn gives way to the word farthest from the span of all the others.
//
// The squared distance from that span is that from the span of all anchors, which is
// at hand, and the square of the part along the direction.
func (p *pursuit) cleanUp(ctx context.Context) error {
	anchors, dist := p.res.Anchors, make([]float64, p.n)
	for t := len(p.given); t < len(anchors); t++ {
		if err := p.direction(ctx, t); err != nil {
			return err
		}
		for i, v := range p.p.RawMatrix().Data {
			dist[i] = p.u[i] + float64(v*v)
		}
		old := anchors[t]
		p.open[old] = true
		w := best(dist, p.open, p.largest)
		if w < 0 || dist[old] >= dist[w]-max(tie*dist[w], tieFirst*p.largest) {
			p.open[old] = false
			continue
		}
		p.open[w], anchors[t] = false, w
		if err := p.rebase(); err != nil {
			return err
		}
		if err := p.direction(ctx, t); err != nil {
			return err
		}
		for i, v := range p.p.RawMatrix().Data {
			p.u[i] = max(dist[i]-float64(v*v), 0)
		}
	}
	return ctx.Err()
}

// direction makes x the unit vector in the span of the anchors that is orthogonal to all of
// them but t, and p its product with C̄.
func (p *pursuit) direction(ctx context.Context, t int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	// x = aᵀ·basis, where coef·a = e_t, and coef is lower triangular.
	a := make([]float64, len(p.res.Anchors))
	a[t] = 1 / p.coef.At(t, t)
	for l := t + 1; l < len(a); l++ {
		a[l] = -vec.Dot(a[t:l], p.coef.RawRowView(l)[t:]) / p.coef.At(l, l)
	}
	x, length := p.x.RawMatrix().Data, vec.Norm(a)
	clear(x)
	for l, v := range a {
		vec.AddScaled(x, v/length, p.basis.RawRowView(l))
	}
	return p.mul(ctx)
}

// rebase finds basis, coefficients and norms anew.
func (p *pursuit) rebase() error {
	p.coef.Zero()
	for t, w := range p.res.Anchors {
		x := p.x.RawMatrix().Data
		p.rowTo(x, t, w)
		r := p.orthogonalise(t, t)
		if !(r > 0) {
			return fmt.Errorf("anchor: clean-up: word %d is in the span of the anchors", w)
		}
		floats.ScaleTo(p.basis.RawRowView(t), 1/r, x)
		p.res.Norms[t] = r
	}
	return nil
}
