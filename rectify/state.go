package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// State is what the rectification of a matrix C leaves for that of a later matrix C' that
// differs little, such as that of a few more documents. [AP], [ENN], [LR] and [Auto] make
// one if Options.Keep is set, and start from the one in Options.From.
//
// A state holds the eigenpairs of the last iterate YYᵀ, and the product of C with the
// eigenvectors. A warm start goes on from YYᵀ + (C' − C) instead of C', where one product
// with C' gives all of C' − C that matters in the first order. It iterates until the
// change is at most twice that of the last iteration of the cold start.
//
// The state of a warm result is the one it started from, so that neither errors nor
// iterations add up over a chain of warm starts. A warm start measures what is new outside
// of the space of the eigenvectors (Beyond) but does not use it. If that has grown, or the
// change is too large for the first order (Drift), the method starts cold.
//
// Memory: 16·N·p bytes, p = K + 10 to K + 17. Methods do not write to a state.
type State struct {
	// K is the number of topics. YYᵀ is Vectors·diag(Values⁺)·Vectorsᵀ over the first
	// K of the p orthonormal columns.
	K       int
	Vectors *mat.Dense // N×p
	Values  []float64  // p, descending
	// Product is C·Vectors, N×p, of the matrix before it was rectified.
	Product *mat.Dense
	// Beyond estimates the largest eigenvalue of (I − UUᵀ)C(I − UUᵀ), where U are
	// the first K vectors.
	Beyond float64
	// Drift is ‖(C' − C)V‖_F/‖CV‖_F over all Vectors V, for the matrix C' of the
	// result that the state belongs to; 0 after a cold start.
	Drift float64
	// Change is ‖C_t − C_{t−1}‖_F of the last iteration.
	Change float64
}

// Limits of a warm start.
const (
	// maxDrift is how large State.Drift may become.
	maxDrift = 0.3
	// maxBeyond is how much larger than State.Beyond that of C' may be.
	maxBeyond = 1.25
	// maxChange is how much larger than State.Change the last change may be.
	maxChange = 2
	// Beyond comes from a Krylov space of this size. It is only compared with itself.
	beyondVectors, beyondPasses = 8, 3
)

// Validate reports parts that do not fit together or are not finite.
func (s *State) Validate() error {
	if s.Vectors == nil || s.Product == nil {
		return errors.New("rectify: state: vectors or products are missing")
	}
	n, p := s.Vectors.Dims()
	if r, c := s.Product.Dims(); r != n || c != p || len(s.Values) != p || s.K < 1 || s.K > p {
		return fmt.Errorf("rectify: state: vectors of %d×%d, products of %d×%d, %d values for K = %d", n, p, r, c, len(s.Values), s.K)
	}
	if i := vec.NotFinite(s.Values); i >= 0 {
		return fmt.Errorf("rectify: state: value %d is %g", i, s.Values[i])
	}
	for i := range n {
		if j := vec.NotFinite(s.Vectors.RawRowView(i)); j >= 0 {
			return fmt.Errorf("rectify: state: vectors[%d,%d] = %g", i, j, s.Vectors.At(i, j))
		}
		if j := vec.NotFinite(s.Product.RawRowView(i)); j >= 0 {
			return fmt.Errorf("rectify: state: products[%d,%d] = %g", i, j, s.Product.At(i, j))
		}
	}
	for _, v := range []float64{s.Beyond, s.Drift, s.Change} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("rectify: state: Beyond, Drift and Change are %g, %g, %g", s.Beyond, s.Drift, s.Change)
		}
	}
	var g mat.Dense
	g.Mul(s.Vectors.T(), s.Vectors)
	for i := range p {
		for j := range p {
			want := 0.0
			if i == j {
				want = 1
			}
			if v := g.At(i, j); !(math.Abs(v-want) <= 1e-6) {
				return fmt.Errorf("rectify: state: the inner product of vectors %d and %d is %g, not %g", i, j, v, want)
			}
		}
	}
	return nil
}

// Select returns the state for other words: row i of the result is row rows[i] of
// s, or a new word if rows[i] is negative. What words that are left out had in common with
// those that stay is lost. Errors: row numbers out of range or given twice; too few words
// left for the vectors to be independent. O(Np²).
func (s *State) Select(rows []int) (*State, error) {
	n, p := s.Vectors.Dims()
	seen := make([]bool, n)
	left := 0
	x, w := mat.NewDense(len(rows), p, nil), mat.NewDense(len(rows), p, nil)
	for i, r := range rows {
		if r < 0 {
			continue
		}
		if r >= n || seen[r] {
			return nil, fmt.Errorf("rectify: state: row %d is not in [0, %d), or is given twice", r, n)
		}
		seen[r] = true
		left++
		x.SetRow(i, s.Vectors.RawRowView(r))
		w.SetRow(i, s.Product.RawRowView(r))
	}
	out := *s
	out.Vectors, out.Product = x, w
	if left == n {
		return &out, nil
	}
	if len(rows) < p {
		return nil, fmt.Errorf("rectify: state: %d words for %d vectors", len(rows), p)
	}
	if err := out.orthonormalise(x, w, n-left); err != nil {
		return nil, fmt.Errorf("rectify: state: %w", err)
	}
	return &out, nil
}

// orthonormalise makes the vectors out of x, which has lost the entries of some
// words, and the products out of w. X = QR; over the words left YYᵀ is QRΘRᵀQᵀ, and
// the product with Q is that with X times R⁻¹.
func (s *State) orthonormalise(x, w *mat.Dense, lost int) error {
	_, p := x.Dims()
	var qr mat.QR
	qr.Factorize(x)
	if c := qr.Cond(); !(c < 1e6) {
		return fmt.Errorf("the vectors do not remain independent without %d of the words (condition number %.2g)", lost, c)
	}
	var r, q, inv mat.Dense
	qr.RTo(&r)
	upper := mat.NewTriDense(p, mat.Upper, nil)
	for i := range p {
		for j := i; j < p; j++ {
			upper.SetTri(i, j, r.At(i, j))
		}
	}
	var u mat.TriDense
	if err := u.InverseTri(upper); err != nil {
		return err
	}
	inv.CloneFrom(&u)
	q.Mul(x, &inv)
	t := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			v := 0.0
			for l := range s.K {
				v += upper.At(i, l) * s.Values[l] * upper.At(j, l)
			}
			t.SetSym(i, j, v)
		}
	}
	values, vecs, err := linalg.Eigen(t)
	if err != nil {
		return fmt.Errorf("a %d×%d matrix: %w", p, p, err)
	}
	turn := mat.NewDense(p, p, nil) // descending
	s.Values = make([]float64, p)
	for j := range p {
		s.Values[j] = values[p-1-j]
		for i := range p {
			turn.Set(i, j, vecs.At(i, p-1-j))
		}
	}
	s.Vectors, s.Product = new(mat.Dense), new(mat.Dense)
	s.Vectors.Mul(&q, turn)
	inv.Mul(&inv, turn)
	s.Product.Mul(w, &inv)
	return nil
}

// startWarm makes the method begin with the eigenpairs of Options.From, moved by what has
// changed in c, or sets Result.Cold.
func (l *loop) startWarm(ctx context.Context) error {
	s := l.opt.From
	if err := s.Validate(); err != nil {
		return err
	}
	n, p := s.Vectors.Dims()
	if n != l.n {
		return fmt.Errorf("a state of %d words for a matrix of %d", n, l.n)
	}
	if s.K != l.k {
		l.res.Cold = fmt.Sprintf("the state is that of %d topics", s.K)
		return nil
	}
	x, before := s.Vectors.RawMatrix(), s.Product.RawMatrix()
	w := linalg.NewGeneral(n, p)
	if err := l.op(ctx, w, x); err != nil {
		return err
	}
	l.res.Products += p
	moved, size := 0.0, 0.0
	for i := range n {
		row, old := linalg.Row(w, i), linalg.Row(before, i)
		for j, v := range old {
			row[j] -= v
			moved += row[j] * row[j]
			size += v * v
		}
	}
	l.drift = math.Sqrt(moved / size)
	if !(l.drift <= maxDrift) {
		l.res.Cold = fmt.Sprintf("the matrix has changed by %.2g of itself, more than %g", l.drift, maxDrift)
		return nil
	}
	theta := make([]float64, p)
	copy(theta, s.Values[:l.k])
	block, err := linalg.Perturbed(ctx, x, theta, w, l.opt.Workers)
	if err != nil {
		return err
	}
	beyond, err := l.beyond(ctx, block.X)
	if err != nil {
		return err
	}
	if beyond > maxBeyond*s.Beyond {
		l.res.Cold = fmt.Sprintf("the largest eigenvalue besides those of the topics has grown from %.3g to %.3g", s.Beyond, beyond)
		return nil
	}
	l.block, l.res.Warm = block, true
	return nil
}

// warmChange returns by how much the first iterate of a warm start differs from the
// last iterate of the state, without E: the change of YYᵀ + r·eeᵀ.
func (l *loop) warmChange(ctx context.Context, y blas64.General, r float64) (float64, error) {
	s := l.opt.From
	n := float64(y.Rows)
	y0 := scaled(s.Vectors.RawMatrix(), s.Values[:s.K], nil)
	change, err := new(moves).lowRank(ctx, y0, y, r-(1-sumOf(y0))/(n*n), l.opt.Workers)
	return math.Sqrt(max(change, 0)), err
}

// beyond estimates the largest eigenvalue of (I − UUᵀ)C(I − UUᵀ), from below, where U
// are the first k columns of u.
func (l *loop) beyond(ctx context.Context, u blas64.General) (float64, error) {
	u.Cols = l.k
	p := min(l.n-l.k, beyondVectors)
	if p < 1 {
		return 0, nil
	}
	workers := l.opt.Workers
	all := linalg.NewGeneral(l.k, p)
	deflate := func(ctx context.Context, x blas64.General) error {
		h := all
		h.Cols = x.Cols // Krylov drops vectors where the space is used up
		if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, u, x, 0, h, workers); err != nil {
			return err
		}
		return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, u, h, 1, x, workers)
	}
	mul := operator(l.c, workers)
	op := func(ctx context.Context, dst, x blas64.General) error { // x is in the space already
		if err := mul(ctx, dst, x); err != nil {
			return err
		}
		return deflate(ctx, dst)
	}
	x, err := randomBlock(ctx, l.c.Marginals(), p, 0, workers)
	if err != nil {
		return 0, err
	}
	if err := deflate(ctx, x); err != nil {
		return 0, err
	}
	b, st, err := linalg.Krylov(ctx, op, x, 1, 1, beyondPasses, workers)
	if err != nil {
		return 0, err
	}
	l.res.Products += st.Products
	return max(b.Theta[0], 0), nil
}

// keep makes the state of a result: that of the warm start, or one of the eigenpairs
// of the last iterate.
func (l *loop) keep(ctx context.Context) (err error) {
	if l.res.Warm {
		s := *l.opt.From
		s.Drift = l.drift
		l.res.State = &s
		return nil
	}
	x := l.block.X
	s := &State{K: l.k, Vectors: mat.NewDense(l.n, x.Cols, nil), Values: slices.Clone(l.block.Theta), Product: mat.NewDense(l.n, x.Cols, nil)}
	for i := range l.n {
		s.Vectors.SetRow(i, linalg.Row(x, i))
	}
	if err := l.c.MulTo(ctx, s.Product, s.Vectors, l.opt.Workers); err != nil {
		return err
	}
	l.res.Products += x.Cols
	if m := len(l.res.Changes); m > 0 {
		s.Change = l.res.Changes[m-1]
	}
	s.Beyond, err = l.beyond(ctx, x)
	l.res.State = s
	return err
}
