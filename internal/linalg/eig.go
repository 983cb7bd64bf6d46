package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Op applies a symmetric operator to a block: dst = A·x, both n×p.
type Op func(ctx context.Context, dst, x blas64.General) error

// EigStats says what a computation of eigenpairs took.
type EigStats struct {
	Products  int     // columns multiplied by the operator
	Restarts  int     // of Lanczos, or steps of the block iteration
	Residual  float64 // the largest ‖Au − λu‖ among the pairs asked for
	Converged bool
	Cold      bool // computed by Lanczos
}

// ErrNonFinite is returned where the operator's results are not finite.
var ErrNonFinite = errors.New("linalg: the operator returned a number that is not finite")

// LanczosOptions sets what Lanczos computes and how.
type LanczosOptions struct {
	// Pairs is how many eigenpairs are returned. The first Need of them must
	// converge (0: all); the others are the best at hand, for a warm start.
	Pairs, Need int
	// Tol bounds the residual of the needed pairs by Tol·|λ_Need|.
	Tol float64
	// MaxRestarts bounds the restarts.
	MaxRestarts int
	// Block is how many vectors the operator is applied to at a time. 0 means
	// 1, with the fewest products; 8 is best where the time of a product
	// hardly grows with the number of vectors, as for sparse operators.
	Block   int
	Workers int
	// Start, if not nil, has the products of computations for the same operator
	// with other numbers of pairs, and gets those that it lacks. It changes no
	// bit of the result.
	Start *LanczosStart
}

// LanczosStart keeps the first cycles of Lanczos computations for one operator.
// Before the first restart the vectors do not depend on how many pairs are asked
// for: the cycle for few is the beginning of that for many, to the bit. The zero
// value is ready; it is not safe for concurrent use. Memory: 8·n bytes a vector
// of the longest cycle.
type LanczosStart struct {
	cycles []*lanczos // by block size
}

func (s *LanczosStart) cycle(n, b int) (*lanczos, error) {
	for _, l := range s.cycles {
		if l.n != n {
			return nil, fmt.Errorf("linalg: the start of a %d×%d operator for one of %d×%d", l.n, l.n, n, n)
		}
		if l.b == b {
			return l, nil
		}
	}
	l, err := newLanczos(n, b)
	if err != nil {
		return nil, err
	}
	s.cycles = append(s.cycles, l)
	return l, nil
}

// Lanczos computes the algebraically largest eigenpairs of a symmetric n×n
// operator by (block) Lanczos with thick restarts (Wu and Simon 2000) and full
// reorthogonalisation. It returns eigenvalues in descending order and the
// vectors as the rows of a Pairs×n matrix.
//
// Residuals below a few ulps of ‖A‖ count as converged whatever Tol. The start
// vectors are the same for every call, and so the result is the same to the
// bit. Cost: about Pairs + Need + 20 products where the spectrum is well
// separated, and O(n·Pairs²) beside them. Where the pairs do not converge
// within MaxRestarts the best ones found are returned with Converged false.
func Lanczos(ctx context.Context, n int, op Op, o LanczosOptions) ([]float64, blas64.General, EigStats, error) {
	st := EigStats{Cold: true}
	k, need, b := o.Pairs, o.Need, max(o.Block, 1)
	if need == 0 {
		need = k
	}
	if k < 1 || k > n || need < 0 || need > k {
		return nil, blas64.General{}, st, fmt.Errorf("linalg: %d of %d eigenpairs of a %d×%d operator", need, k, n, n)
	}
	m := k + need + max(20, 4*b)
	// One start vector sees one vector of a multiple eigenvalue, a block as
	// many as it has columns. In small problems, where blocks would soon fill
	// the space and symmetric toy data has such eigenvalues, a second cycle
	// from a new direction looks for more.
	small := n < 8*m
	if small {
		b = 1
	}
	m = min(n, (m+b-1)/b*b)
	keep := min(m-b, (k+(m-k)/2)/b*b) // kept at a restart, beside the next block
	keep = max(keep, min(k, m-b))
	t, r := NewGeneral(m, m), NewGeneral(b, b)
	put := func(j int, h blas64.General) { // the products of the block at j
		for i := range h.Rows {
			for c := range b {
				t.Data[i*m+j+c], t.Data[(j+c)*m+i] = h.Data[i*b+c], h.Data[i*b+c]
			}
		}
		for c := range b { // the block's own part, symmetric up to rounding
			for d := range c {
				v := 0.5 * (h.Data[(j+c)*b+d] + h.Data[(j+d)*b+c])
				t.Data[(j+c)*m+j+d], t.Data[(j+d)*m+j+c] = v, v
			}
		}
	}
	l, err := o.first(ctx, n, b, m, op)
	if err != nil {
		return nil, blas64.General{}, st, err
	}
	for i, q := range l.kept[:m/b] {
		put(i*b, q.h)
		copy(r.Data, q.r.Data)
	}
	st.Products = m
	size := m              // vectors of the basis whose products are known
	var verified []float64 // eigenvalues to be confirmed by another cycle
	for st.Restarts = 0; ; st.Restarts++ {
		for j := size; j < m; j += b {
			h, err := l.step(ctx, op, j, r)
			if err != nil {
				return nil, blas64.General{}, st, err
			}
			st.Products += b
			put(j, h)
		}
		theta, s, err := symEig(ctx, t, o.Workers)
		if err != nil {
			return nil, blas64.General{}, st, err
		}
		// The residual of a Ritz pair is that of its last block, ‖R·s‖.
		st.Residual = 0
		for i := range need {
			q := 0.0
			for c := range b {
				v := 0.0
				for d := c; d < b; d++ {
					v += r.Data[c*b+d] * s.Data[(m-b+d)*m+i]
				}
				q += v * v
			}
			st.Residual = max(st.Residual, math.Sqrt(q))
		}
		st.Converged = m == n || st.Residual <= max(o.Tol*math.Abs(theta[need-1]), 1.8e-15*l.largest)
		confirm := false
		if st.Converged && small && m < n && st.Restarts < o.MaxRestarts {
			confirm = verified == nil
			for i := range verified {
				confirm = confirm || math.Abs(theta[i]-verified[i]) > o.Tol*math.Abs(theta[need-1])+1e-13*l.largest
			}
			st.Converged = !confirm
			verified = append([]float64{}, theta[:need]...)
		}
		done := st.Converged || st.Restarts >= o.MaxRestarts
		want := keep
		switch {
		case done:
			want = k
		case confirm:
			want = need // the others' residuals go with the block left behind
		}
		// The Ritz vectors.
		sel := blas64.General{Rows: m, Cols: want, Stride: m, Data: s.Data}
		ritz := NewGeneral(want, n)
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
		clear(t.Data)
		for i := range want {
			t.Data[i*m+i] = theta[i]
		}
		size = want
	}
}

// first makes the first cycle, of m vectors, from that of o.Start where there is
// one.
func (o LanczosOptions) first(ctx context.Context, n, b, m int, op Op) (*lanczos, error) {
	if o.Start == nil {
		l, err := newLanczos(n, b)
		if err != nil {
			return nil, err
		}
		l.workers = o.Workers
		return l, l.grow(ctx, op, m)
	}
	l, err := o.Start.cycle(n, b)
	if err != nil {
		return nil, err
	}
	l.workers = o.Workers
	if err := l.grow(ctx, op, m); err != nil {
		return nil, err
	}
	return l.fork(m), nil
}

// lanczos is the state of one computation: the orthonormal basis vectors are
// the rows of v, w is the block of products being made orthogonal to them.
type lanczos struct {
	n, b, workers int
	pcg           *rand.PCG
	rng           *rand.Rand // of pcg
	v, w, x       blas64.General
	largest       float64 // an estimate of ‖A‖, to tell what is rounding
	kept          []lanczosBlock
}

// lanczosBlock is what the step of one block in the first cycle gave, and the
// state it left.
type lanczosBlock struct {
	h, r    blas64.General
	largest float64
	pcg     rand.PCG
}

func newLanczos(n, b int) (*lanczos, error) {
	l := &lanczos{n: n, b: b, pcg: rand.NewPCG(0x5eed, 0x1a2c), v: NewGeneral(b, n), w: NewGeneral(n, b), x: NewGeneral(n, b)}
	l.rng = rand.New(l.pcg)
	return l, l.random(0)
}

// grow makes the first cycle at least m vectors long.
func (l *lanczos) grow(ctx context.Context, op Op, m int) error {
	if rows := m + l.b; l.v.Rows < rows {
		v := NewGeneral(rows, l.n)
		copy(v.Data, l.v.Data)
		l.v = v
	}
	for j := len(l.kept) * l.b; j < m; j += l.b {
		was, pcg := l.largest, *l.pcg
		k := lanczosBlock{r: NewGeneral(l.b, l.b)}
		var err error
		if k.h, err = l.step(ctx, op, j, k.r); err != nil {
			l.largest, *l.pcg = was, pcg // as if not begun
			return err
		}
		k.largest, k.pcg = l.largest, *l.pcg
		l.kept = append(l.kept, k)
	}
	return nil
}

// fork returns the state at the end of a first cycle of m vectors, in memory of
// its own.
func (l *lanczos) fork(m int) *lanczos {
	k := l.kept[m/l.b-1]
	f := &lanczos{n: l.n, b: l.b, workers: l.workers, pcg: &k.pcg, v: NewGeneral(m+l.b, l.n), w: NewGeneral(l.n, l.b), x: NewGeneral(l.n, l.b), largest: k.largest, kept: l.kept}
	f.rng = rand.New(f.pcg)
	copy(f.v.Data, l.v.Data)
	return f
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

// extend makes w, the products of the block at j, orthogonal to the basis and
// appends it as the next block. It returns the components H along the first
// j+b vectors and writes to r the triangle with w = VᵀH + Q·R.
func (l *lanczos) extend(ctx context.Context, j int, r blas64.General) (blas64.General, error) {
	b, have := l.b, j+l.b
	for c := range b {
		q := 0.0
		for i := range l.n {
			q += l.w.Data[i*b+c] * l.w.Data[i*b+c]
		}
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return blas64.General{}, ErrNonFinite
		}
		l.largest = max(l.largest, math.Sqrt(q))
	}
	h, h2 := NewGeneral(have, b), NewGeneral(have, b)
	for pass := 0; pass < 2; pass++ {
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
	// Gram–Schmidt within the block, against the basis once more where much
	// of a vector cancelled.
	for c := range b {
		q := Row(l.v, have+c)
		for i := range q {
			q[i] = l.w.Data[i*b+c]
		}
		before := norm(q)
		for pass := 0; pass < 2; pass++ {
			for d := range c {
				p := Row(l.v, have+d)
				x := blas64.Dot(vec(p), vec(q))
				blas64.Axpy(-x, vec(p), vec(q))
				r.Data[d*b+c] += x
			}
		}
		beta := norm(q)
		if beta <= 1e-14*l.largest {
			// An invariant subspace: go on from a new direction, which the
			// operator does not couple with the basis so far.
			if err := l.random(have + c); err != nil {
				return h, err
			}
			continue
		}
		if beta < 1e-2*before {
			for pass := 0; pass < 2; pass++ {
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

// random makes vector j a unit vector orthogonal to those before it; at j = 0
// a whole block.
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
			for pass := 0; pass < 3; pass++ {
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

// Block improves given vectors until they are the k algebraically largest
// eigenpairs of a symmetric operator: block Krylov steps with Rayleigh–Ritz.
// It is for a sequence of operators that change little, where the vectors of
// one are nearly those of the next.
type Block struct {
	// X holds the vectors, n×p, p ≥ k, orthonormal, the best first: the start
	// on entry and the refined vectors on return, in other memory; that of the
	// start is used for other things.
	X blas64.General
	// Theta are the Ritz values, p, descending.
	Theta []float64

	scratch [3]blas64.General // n×p, kept from one Refine to the next
	skip    int               // steps of the next Refine that are not looked at
}

// Refine runs at most steps steps and stops when the k first pairs have
// residuals of at most tol·λ_k. It says whether they have; X and Theta hold
// the best approximation in either case.
//
// Rayleigh–Ritz changes no subspace, so the steps before the one at which the
// Refine before came to its end go without: for as many the residuals, which
// take longer than the products of a sparse operator, are too large anyway.
func (b *Block) Refine(ctx context.Context, k int, op Op, tol float64, steps, workers int) (EigStats, error) {
	var st EigStats
	n, p := b.X.Rows, b.X.Cols
	for i := range b.scratch {
		if b.scratch[i].Rows != n || b.scratch[i].Cols != p {
			b.scratch[i] = NewGeneral(n, p)
		}
	}
	w, xq, wq := b.scratch[0], b.scratch[1], b.scratch[2]
	b.scratch = [3]blas64.General{} // in use, until done
	done := func() {
		b.X, xq = xq, b.X
		b.scratch = [3]blas64.General{w, xq, wq}
	}
	g := NewGeneral(p, p)
	skip := min(b.skip, steps-1)
	b.skip = 0
	for {
		if err := op(ctx, w, b.X); err != nil {
			return st, err
		}
		st.Products += p
		st.Restarts++
		if st.Restarts <= skip {
			ok, err := cholQR(ctx, w, workers)
			if err != nil || !ok {
				b.scratch = [3]blas64.General{w, xq, wq}
				return st, err
			}
			b.X, w = w, b.X
			continue
		}
		if err := Gemm(ctx, blas.Trans, blas.NoTrans, 1, b.X, w, 0, g, workers); err != nil {
			return st, err
		}
		for _, v := range g.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return st, ErrNonFinite
			}
		}
		symmetrise(g)
		theta, q, err := symEig(ctx, g, workers)
		if err != nil {
			return st, err
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, b.X, q, 0, xq, workers); err != nil {
			return st, err
		}
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, w, q, 0, wq, workers); err != nil {
			return st, err
		}
		b.Theta = theta
		st.Residual = 0
		for _, r2 := range residuals(ctx, xq, wq, theta, k, workers) {
			st.Residual = max(st.Residual, math.Sqrt(r2))
		}
		if err := ctx.Err(); err != nil {
			return st, err
		}
		if theta[k-1] > 0 && st.Residual <= tol*theta[k-1] {
			st.Converged = true
			// A step fewer is worth a look where this one was good enough by far.
			b.skip = st.Restarts - 1
			if st.Residual <= tol*theta[k-1]/4 {
				b.skip = max(b.skip-1, 0)
			}
			done()
			return st, nil
		}
		if st.Restarts >= steps {
			done()
			return st, nil
		}
		// Next basis: the images, orthonormalised.
		ok, err := cholQR(ctx, wq, workers)
		if err != nil {
			return st, err
		}
		if !ok {
			done()
			return st, nil // the images are numerically dependent: not for us
		}
		b.X, wq = wq, b.X
	}
}

// residuals returns ‖w_j − θ_j x_j‖² for the k first columns.
func residuals(ctx context.Context, x, w blas64.General, theta []float64, k, workers int) []float64 {
	const size = 512
	parts := make([][]float64, run.Count(x.Rows, size))
	_ = run.Chunks(ctx, x.Rows, size, workers, func(_, c, lo, hi int) error {
		r := make([]float64, k)
		for i := lo; i < hi; i++ {
			xr, wr := Row(x, i)[:k], Row(w, i)[:k]
			for j := range r {
				d := wr[j] - theta[j]*xr[j]
				r[j] += d * d
			}
		}
		parts[c] = r
		return nil
	})
	sum := make([]float64, k)
	for _, r := range parts {
		for j := range r {
			sum[j] += r[j]
		}
	}
	return sum
}

// cholQR orthonormalises the columns of a in place; false where they are
// dependent to rounding. Columns are scaled to length one first, and one pass
// of Cholesky QR leaves them orthogonal to their squared condition number
// times the rounding: where that is not enough a second pass is.
func cholQR(ctx context.Context, a blas64.General, workers int) (bool, error) {
	p := a.Cols
	g := NewGeneral(p, p)
	for pass := 0; pass < 2; pass++ {
		if err := Gram(ctx, a, g, workers); err != nil {
			return false, err
		}
		d := make([]float64, p)
		for i := range p {
			v := g.Data[i*p+i]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false, ErrNonFinite
			}
			if v <= 0 {
				return false, nil
			}
			d[i] = 1 / math.Sqrt(v)
		}
		s := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				s.SetSym(i, j, g.Data[i*p+j]*d[i]*d[j])
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(s) || chol.Cond() > 1e13 {
			return false, nil
		}
		// a ← a·diag(d)·R⁻¹.
		var u, inv mat.TriDense
		chol.UTo(&u)
		if err := inv.InverseTri(&u); err != nil {
			return false, nil
		}
		r := NewGeneral(p, p)
		for i := range p {
			for j := i; j < p; j++ {
				r.Data[i*p+j] = d[i] * inv.At(i, j)
			}
		}
		err := run.Chunks(ctx, a.Rows, 256, workers, func(_, _, lo, hi int) error {
			rows := blas64.General{Rows: hi - lo, Cols: p, Stride: a.Stride, Data: a.Data[lo*a.Stride : (hi-1)*a.Stride+p]}
			buf := borrow((hi - lo) * p)
			defer giveBack(buf)
			t := blas64.General{Rows: hi - lo, Cols: p, Stride: p, Data: *buf}
			if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, rows, r, 0, t, 1); err != nil {
				return err
			}
			for i := range t.Rows {
				copy(Row(rows, i), Row(t, i))
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		if chol.Cond() < 1e3 {
			break
		}
	}
	return true, nil
}

func symmetrise(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			v := 0.5 * (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i])
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = v, v
		}
	}
}

// orthogonalise removes from the columns of w their components along the rows
// of v, which are written to h.
func orthogonalise(ctx context.Context, v, w, h blas64.General, workers int) error {
	if w.Cols > 1 {
		if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, v, w, 0, h, workers); err != nil {
			return err
		}
		return Gemm(ctx, blas.Trans, blas.NoTrans, -1, v, h, 1, w, workers)
	}
	err := run.Chunks(ctx, v.Rows, 16, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			h.Data[i] = blas64.Dot(vec(Row(v, i)), vec(w.Data))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return run.Chunks(ctx, v.Cols, 2048, workers, func(_, _, lo, hi int) error {
		for i := range v.Rows {
			blas64.Axpy(-h.Data[i], vec(Row(v, i)[lo:hi]), vec(w.Data[lo:hi]))
		}
		return nil
	})
}

func vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func norm(x []float64) float64 { return blas64.Nrm2(vec(x)) }

func scale(a float64, x []float64) { blas64.Scal(a, vec(x)) }
