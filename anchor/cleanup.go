package anchor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

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
