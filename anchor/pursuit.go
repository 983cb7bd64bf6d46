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
			s.u[i] = max(s.u[i]-v*v, 0)
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
// The distance from that span is had without another orthogonalisation: the
// span of all anchors is that of the others and one more direction, orthogonal
// to them, which follows from the coefficients of the anchors in the basis. So
// the squared distance is that from the span of all, which is at hand, and the
// square of the part along the direction, one product with C̄.
func (p *pursuit) cleanUp(ctx context.Context) error {
	m := len(p.res.Anchors)
	coef := p.coef.Slice(0, m, 0, m).(*mat.Dense)
	dist := make([]float64, p.n)
	for t := len(p.given); t < m; t++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("anchor: %w", err)
		}
		// coef·a = e_t: the direction aᵀ·basis is orthogonal to all anchors but t.
		a := make([]float64, m)
		var lu mat.LU
		lu.Factorize(coef)
		e := mat.NewVecDense(m, nil)
		e.SetVec(t, 1)
		if err := lu.SolveVecTo(mat.NewVecDense(m, a), false, e); err != nil {
			return fmt.Errorf("anchor: clean-up: the rows of the anchors depend on each other: %w", err)
		}
		length := vec.Norm(a)
		x := p.x.RawMatrix().Data
		clear(x)
		for l := range a {
			a[l] /= length
			floats.AddScaled(x, a[l], p.basis.RawRowView(l))
		}
		if err := p.mul(ctx); err != nil {
			return err
		}
		for i, v := range p.p.RawMatrix().Data {
			dist[i] = p.u[i] + v*v
		}
		old := p.res.Anchors[t]
		p.open[old] = true
		w := best(dist, p.open, p.largest)
		if w < 0 || dist[old] >= dist[w]-max(tie*dist[w], tieFirst*p.largest) {
			p.open[old] = false
			continue
		}
		// Reflected so that the last basis vector is the direction, which goes.
		p.reflect(coef, a)
		for k := range m {
			coef.Set(k, m-1, 0)
			coef.Set(t, k, 0)
		}
		p.rowTo(x, t, w)
		r := p.orthogonalise(t, m-1)
		if !(r > 0) {
			return fmt.Errorf("anchor: clean-up: word %d is in the span of the anchors", w)
		}
		if err := p.extend(ctx, m-1, r); err != nil {
			return err
		}
		for i, v := range p.p.RawMatrix().Data {
			p.u[i] = max(dist[i]-v*v, 0)
		}
		p.open[w] = false
		p.res.Anchors[t] = w
	}
	// The norms anew, for the anchors that there are now.
	p.coef = nil
	for t, w := range p.res.Anchors {
		p.rowTo(p.x.RawMatrix().Data, t, w)
		r := p.orthogonalise(t, t)
		p.res.Norms[t] = r
		b := p.basis.RawRowView(t)
		for j, v := range p.x.RawMatrix().Data {
			b[j] = 0
			if r > 0 {
				b[j] = v / r
			}
		}
	}
	return ctx.Err()
}

// reflect exchanges the basis for its mirror image in which the last vector is
// aᵀ·basis, for a unit vector a, and brings the coefficients in line.
func (p *pursuit) reflect(coef *mat.Dense, a []float64) {
	m := len(a)
	v := make([]float64, m)
	copy(v, a)
	v[m-1]--
	length := vec.Norm(v)
	if length < 1e-300 {
		return // it is the last vector already
	}
	for l := range v {
		v[l] *= math.Sqrt2 / length // I − vvᵀ is the reflection
	}
	w := make([]float64, p.d)
	for l, c := range v {
		floats.AddScaled(w, c, p.basis.RawRowView(l))
	}
	for l, c := range v {
		floats.AddScaled(p.basis.RawRowView(l), -c, w)
	}
	for k := range m {
		row := coef.RawRowView(k)
		floats.AddScaled(row, -vec.Dot(row, v), v)
	}
}
