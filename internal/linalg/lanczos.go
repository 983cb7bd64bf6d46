package linalg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/vec"
)

// LanczosOptions are the settings of Lanczos.
type LanczosOptions struct {
	// Pairs is the number of eigenpairs returned. The first Need of them must
	// converge (0: all). The others are approximations for a warm start.
	Pairs, Need int
	// Tol bounds the residual of the needed pairs by Tol·|λ_Need|.
	Tol float64
	// MaxRestarts bounds the restarts.
	MaxRestarts int
	// Block is the number of vectors that the operator is applied to at a time. 0
	// means 1, which takes the fewest products; 8 is best for sparse operators, where
	// the time of a product hardly grows with the number of vectors.
	Block   int
	Workers int
}

// sizes returns the number of pairs that must converge, the block size, the
// number m of basis vectors and how many of them a restart keeps besides the
// next block. small reports whether the space has few more dimensions than the basis.
func (o LanczosOptions) sizes(n int) (need, b, m, keep int, small bool) {
	k := o.Pairs
	need, b = o.Need, max(o.Block, 1)
	if need == 0 {
		need = k
	}
	m = k + need + max(20, 4*b)
	// One start vector finds one vector of a multiple eigenvalue, a block one for each
	// column. Small problems often have such eigenvalues, and blocks would soon fill the
	// space: instead, a second cycle from a new direction looks for more. Single vectors
	// need it in larger spaces than blocks.
	few := 4
	if b == 1 {
		few = 8
	}
	if small = n < few*m; small {
		b = 1
	}
	m = min(n, (m+b-1)/b*b)
	keep = min(m-b, (k+(m-k)/2)/b*b)
	keep = max(keep, min(k, m-b))
	return need, b, m, keep, small
}

// Lanczos computes the algebraically largest eigenpairs of a symmetric n×n
// operator by (block) Lanczos with thick restarts (Wu and Simon 2000) and full
// reorthogonalisation. It returns the eigenvalues in descending order and the
// vectors as the rows of a Pairs×n matrix.
//
// Residuals below a few ulps of ‖A‖ count as converged, whatever Tol is. The start
// vectors, and so the bits of the result, are always the same. The cost is about
// Pairs + Need + 20 products if the spectrum is well separated, and O(n·Pairs²). If the
// pairs do not converge within MaxRestarts, the best ones are returned with Converged
// false.
func Lanczos(ctx context.Context, n int, op Op, o LanczosOptions) ([]float64, blas64.General, EigStats, error) {
	var st EigStats
	k := o.Pairs
	need, b, m, keep, small := o.sizes(n)
	if k < 1 || k > n || need < 0 || need > k {
		return nil, blas64.General{}, st, fmt.Errorf("linalg: %d of %d eigenpairs of a %d×%d operator", need, k, n, n)
	}
	l, err := newLanczos(n, b, m, o.Workers)
	if err != nil {
		return nil, blas64.General{}, st, err
	}
	t := projection{b: b, t: NewGeneral(m, m), r: NewGeneral(b, b)}
	room := make([]float64, max(k, keep)*n)
	size := 0              // vectors of the basis whose products are known
	var verified []float64 // eigenvalues to be confirmed by another cycle
	for st.Restarts = 0; ; st.Restarts++ {
		for j := size; j < m; j += b {
			h, err := l.step(ctx, op, j, t.r)
			if err != nil {
				return nil, blas64.General{}, st, err
			}
			st.Products += b
			t.put(j, h)
		}
		theta, s, err := symEig(t.t)
		if err != nil {
			return nil, blas64.General{}, st, err
		}
		st.Residual = t.residual(s, need)
		st.Converged = m == n || st.Residual <= max(o.Tol*math.Abs(theta[need-1]), 1.8e-15*l.largest)
		confirm := false
		if st.Converged && small && m < n && st.Restarts < o.MaxRestarts {
			confirm = verified == nil
			for i := range verified {
				confirm = confirm || math.Abs(theta[i]-verified[i]) > float64(o.Tol*math.Abs(theta[need-1]))+float64(1e-13*l.largest)
			}
			st.Converged = !confirm
			verified = slices.Clone(theta[:need])
		}
		done := st.Converged || st.Restarts >= o.MaxRestarts
		want := keep
		switch {
		case done:
			want = k
		case confirm:
			want = need // the residuals of the others go with the block left behind
		}
		ritz := blas64.General{Rows: want, Cols: n, Stride: n, Data: room[:want*n]}
		sel := blas64.General{Rows: m, Cols: want, Stride: m, Data: s.Data}
		if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, sel, l.basis(m), 0, ritz, o.Workers); err != nil {
			return nil, blas64.General{}, st, err
		}
		if done {
			return theta[:k], ritz, st, nil
		}
		copy(l.v.Data, ritz.Data)
		copy(l.v.Data[want*n:(want+b)*n], l.v.Data[m*n:(m+b)*n])
		if confirm {
			if err := l.random(want); err != nil { // small: b = 1
				return nil, blas64.General{}, st, err
			}
		}
		t.restart(theta[:want])
		size = want
	}
}

// projection is the operator in the basis, T = VᵀAV, in blocks of b vectors, and
// the triangle R of the block that follows the basis.
type projection struct {
	b    int
	t, r blas64.General
}

// put sets the products h of the block at j.
func (p projection) put(j int, h blas64.General) {
	b, m, t := p.b, p.t.Cols, p.t.Data
	for i := range h.Rows {
		for c := range b {
			t[i*m+j+c], t[(j+c)*m+i] = h.Data[i*b+c], h.Data[i*b+c]
		}
	}
	for c := range b { // the block's own part, symmetric up to rounding
		for d := range c {
			v := 0.5 * (h.Data[(j+c)*b+d] + h.Data[(j+d)*b+c])
			t[(j+c)*m+j+d], t[(j+d)*m+j+c] = v, v
		}
	}
}

// residual returns the largest residual of the first need eigenvectors s of T:
// that of a Ritz pair is ‖R·s‖ with the last block of s.
func (p projection) residual(s blas64.General, need int) float64 {
	b, m := p.b, p.t.Cols
	worst := 0.0
	for i := range need {
		q := 0.0
		for c := range b {
			v := 0.0
			for d := c; d < b; d++ {
				v += float64(p.r.Data[c*b+d] * s.Data[(m-b+d)*m+i])
			}
			q += float64(v * v)
		}
		worst = max(worst, math.Sqrt(q))
	}
	return worst
}

// restart makes T the diagonal matrix of the Ritz values kept.
func (p projection) restart(theta []float64) {
	clear(p.t.Data)
	for i, v := range theta {
		p.t.Data[i*p.t.Cols+i] = v
	}
}

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
		before := vec.Norm(q)
		for range 2 {
			for d := range c {
				p := Row(l.v, have+d)
				x := vec.Dot(p, q)
				vec.AddScaled(q, -x, p)
				r.Data[d*b+c] += x
			}
		}
		beta := vec.Norm(q)
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
			beta = vec.Norm(q)
		}
		r.Data[c*b+c] = beta
		floats.Scale(1/beta, q)
	}
	return h, nil
}

// against removes from q its components along the first j vectors.
func (l *lanczos) against(j int, q []float64) {
	for i := range j {
		p := Row(l.v, i)
		vec.AddScaled(q, -vec.Dot(p, q), p)
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
				q[i] = float64(l.rng.Float64()) - 0.5
			}
			was := vec.Norm(q)
			for range 3 {
				l.against(j, q)
			}
			if d := vec.Norm(q); d > 1e-8*was {
				floats.Scale(1/d, q)
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
