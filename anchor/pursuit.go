package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
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
