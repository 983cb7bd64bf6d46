package linalg

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// lanczos is the state of one computation. The orthonormal basis vectors are the
// rows of v; w is the block of products that is made orthogonal to them.
type lanczos struct {
	n, b, workers int
	rng           *rand.Rand
	v, w, x       blas64.General
	largest       float64 // an estimate of ‖A‖, to tell what is rounding
}

// newLanczos starts a basis of m vectors, which are followed by a block.
func newLanczos(n, b, m, workers int) (*lanczos, error) {
	l := &lanczos{n: n, b: b, workers: workers, rng: rand.New(rand.NewPCG(0x5eed, 0x1a2c)), v: NewGeneral(m+b, n), w: NewGeneral(n, b), x: NewGeneral(n, b)}
	return l, l.random(0)
}

// step multiplies the block of vectors at j and appends the next one. It writes
// to r and returns what extend does.
func (l *lanczos) step(ctx context.Context, op Op, j int, r blas64.General) (blas64.General, error) {
	l.columns(j, l.x)
	if err := op(ctx, l.w, l.x); err != nil {
		return blas64.General{}, err
	}
	return l.extend(ctx, j, r)
}

// basis returns the first j vectors.
func (l *lanczos) basis(j int) blas64.General {
	return blas64.General{Rows: j, Cols: l.n, Stride: l.n, Data: l.v.Data[:j*l.n]}
}

// columns writes the block of vectors from j on as columns of x.
func (l *lanczos) columns(j int, x blas64.General) {
	for c := range l.b {
		for i, v := range Row(l.v, j+c) {
			x.Data[i*l.b+c] = v
		}
	}
}

// extend makes w, the products of the block at j, orthogonal to the basis and appends it as
// the next block. It returns the components H along the first j+b vectors and writes to r
// the triangle with w = VᵀH + Q·R.
func (l *lanczos) extend(ctx context.Context, j int, r blas64.General) (blas64.General, error) {
	b, have := l.b, j+l.b
	longest, err := longestColumn(l.w)
	if err != nil {
		return blas64.General{}, err
	}
	l.largest = max(l.largest, longest)
	h, h2 := NewGeneral(have, b), NewGeneral(have, b)
	for range 2 {
		if err := orthogonalise(ctx, l.basis(have), l.w, h2, l.workers); err != nil {
			return h, err
		}
		for i, v := range h2.Data {
			h.Data[i] += v
		}
	}
	clear(r.Data)
	if have+b > l.v.Rows || have >= l.n {
		clear(l.v.Data[min(have, l.v.Rows)*l.n:])
		return h, nil // the basis spans the space: nothing is left of w
	}
	// Gram–Schmidt within the block, and against the basis once more if much of a
	// vector cancelled.
	for c := range b {
		q := Row(l.v, have+c)
		for i := range q {
			q[i] = l.w.Data[i*b+c]
		}
		before := norm(q)
		for range 2 {
			for d := range c {
				p := Row(l.v, have+d)
				x := blas64.Dot(vec(p), vec(q))
				blas64.Axpy(-x, vec(p), vec(q))
				r.Data[d*b+c] += x
			}
		}
		beta := norm(q)
		if beta <= 1e-14*l.largest {
			// The basis spans an invariant subspace: continue from a new direction,
			// which the operator does not couple with the basis so far.
			if err := l.random(have + c); err != nil {
				return h, err
			}
			continue
		}
		if beta < 1e-2*before {
			for range 2 {
				l.against(have+c, q)
			}
			beta = norm(q)
		}
		r.Data[c*b+c] = beta
		scale(1/beta, q)
	}
	return h, nil
}

// against removes from q its components along the first j vectors.
func (l *lanczos) against(j int, q []float64) {
	for i := range j {
		p := Row(l.v, i)
		blas64.Axpy(-blas64.Dot(vec(p), vec(q)), vec(p), vec(q))
	}
}

// random makes vector j, or for j = 0 each of the first block, a unit vector orthogonal to
// those before it.
func (l *lanczos) random(j int) error {
	last := j
	if j == 0 {
		last = l.b - 1
	}
	for ; j <= last; j++ {
		q := Row(l.v, j)
		for try := 0; ; try++ {
			for i := range q {
				q[i] = l.rng.Float64() - 0.5
			}
			was := norm(q)
			for range 3 {
				l.against(j, q)
			}
			if d := norm(q); d > 1e-8*was {
				scale(1/d, q)
				break
			}
			if try == 5 {
				return fmt.Errorf("linalg: lanczos found no vector orthogonal to %d others in dimension %d", j, l.n)
			}
		}
	}
	return nil
}

// orthogonalise removes from the columns of w their components h along the rows of v.
func orthogonalise(ctx context.Context, v, w, h blas64.General, workers int) error {
	if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, v, w, 0, h, workers); err != nil {
		return err
	}
	return Gemm(ctx, blas.Trans, blas.NoTrans, -1, v, h, 1, w, workers)
}
