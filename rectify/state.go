package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// State is what the rectification of a matrix C leaves for that of a later matrix
// C' that differs little, such as that of a few more documents. AP, ENN, LR and Auto
// make one if Options.Keep is set, and start from the one in Options.From.
//
// A state holds the eigenpairs of the last iterate YYᵀ, and the product of C with
// the eigenvectors. A warm start goes on from YYᵀ + (C' − C) instead of C'. Of
// C' − C it knows the product with the eigenvectors, which is all that matters in the
// first order. It takes one product with C', and then iterates until the change is
// at most twice that of the last iteration of the cold start.
//
// The state of a warm result is the one it started from. A chain of warm starts thus
// goes back to its last cold start, and neither errors nor iterations add up. A warm
// start does not see what is new outside of the space of the eigenvectors; it
// measures it (Beyond). If that has grown, or the change is too large for the first
// order (Drift), the method starts cold, and Result.Cold says why.
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
	// mostDrift is how large State.Drift may become.
	mostDrift = 0.3
	// mostBeyond is how much larger than State.Beyond that of C' may be.
	mostBeyond = 1.25
	// mostChange is how much larger than State.Change the last change may be.
	mostChange = 2
	// Beyond comes from a Krylov space of so many vectors and products. It is
	// compared with itself only.
	beyondVectors, beyondPasses = 8, 3
)

// Validate reports parts that do not fit together or are not finite.
func (s *State) Validate() error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("rectify: %w", err)
	}
	return nil
}

func (s *State) validate() error {
	if s.Vectors == nil || s.Product == nil {
		return errors.New("state: vectors or products are missing")
	}
	n, p := s.Vectors.Dims()
	if r, c := s.Product.Dims(); r != n || c != p || len(s.Values) != p || s.K < 1 || s.K > p {
		return fmt.Errorf("state: vectors of %d×%d, products of %d×%d, %d values for K = %d", n, p, r, c, len(s.Values), s.K)
	}
	for i, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("state: value %d is %g", i, v)
		}
	}
	for _, x := range []struct {
		name string
		m    *mat.Dense
	}{{"vectors", s.Vectors}, {"products", s.Product}} {
		for i := range n {
			for j, v := range x.m.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("state: %s[%d,%d] = %g", x.name, i, j, v)
				}
			}
		}
	}
	for _, v := range []float64{s.Beyond, s.Drift, s.Change} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("state: Beyond, Drift and Change are %g, %g, %g", s.Beyond, s.Drift, s.Change)
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
				return fmt.Errorf("state: the inner product of vectors %d and %d is %g, not %g", i, j, v, want)
			}
		}
	}
	return nil
}

// Select returns the state for other words: row i of the result is row rows[i] of
// s, or a new word if rows[i] is negative. Words that are left out take the products
// with their entries along, which is right but for what they had in common with those
// that stay. Errors: row numbers out of range or given twice; too few words left for
// the vectors to be independent. O(Np²).
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
	var eig mat.EigenSym
	if !eig.Factorize(t, true) {
		return fmt.Errorf("the eigenvalues of a %d×%d matrix were not found", p, p)
	}
	var vecs mat.Dense
	eig.VectorsTo(&vecs)
	values := eig.Values(nil)
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

// warmStart are the eigenpairs that a method begins with in place of those of c.
type warmStart struct {
	block    *linalg.Block
	drift    float64
	products int
	cold     string // why there are none
}

// warm prepares a warm start for c where opt asks for one.
func (opt Options) warm(ctx context.Context, c cooc.Operator, k int) (warmStart, error) {
	s := opt.From
	if s == nil {
		return warmStart{}, nil
	}
	if err := s.validate(); err != nil {
		return warmStart{}, err
	}
	n, p := s.Vectors.Dims()
	if n != c.Dim() {
		return warmStart{}, fmt.Errorf("a state of %d words for a matrix of %d", n, c.Dim())
	}
	if s.K != k {
		return warmStart{cold: fmt.Sprintf("the state is that of %d topics", s.K)}, nil
	}
	x, before := s.Vectors.RawMatrix(), s.Product.RawMatrix()
	w := linalg.NewGeneral(n, p)
	if err := operator(c, opt.Workers)(ctx, w, x); err != nil {
		return warmStart{}, err
	}
	ws := warmStart{products: p}
	moved, size := 0.0, 0.0
	for i := range n {
		row, old := linalg.Row(w, i), linalg.Row(before, i)
		for j, v := range old {
			row[j] -= v
			moved += row[j] * row[j]
			size += v * v
		}
	}
	ws.drift = math.Sqrt(moved / size)
	if !(ws.drift <= mostDrift) {
		ws.cold = fmt.Sprintf("the matrix has changed by %.2g of itself, more than %g", ws.drift, mostDrift)
		return ws, nil
	}
	theta := make([]float64, p)
	copy(theta, s.Values[:k])
	var err error
	if ws.block, err = linalg.Perturbed(ctx, x, theta, w, opt.Workers); err != nil {
		return ws, err
	}
	u := ws.block.X
	u.Cols = k
	beyond, products, err := beyondOf(ctx, c, u, opt.Workers)
	if err != nil {
		return ws, err
	}
	ws.products += products
	if beyond > mostBeyond*s.Beyond {
		ws.block = nil
		ws.cold = fmt.Sprintf("the largest eigenvalue beside the topics has grown from %.3g to %.3g", s.Beyond, beyond)
	}
	return ws, nil
}

// warmChange returns by how much the first iterate of a warm start differs from the
// last iterate of the state, without E: the change of YYᵀ + r·eeᵀ.
func (l *loop) warmChange(ctx context.Context, y blas64.General, r float64) (float64, error) {
	s := l.opt.From
	n := float64(y.Rows)
	y0 := scaled(s.Vectors.RawMatrix(), s.Values[:s.K], nil)
	change, err := lowRankChange(ctx, y0, y, r-(1-sumOf(y0))/(n*n), l.opt.Workers)
	return math.Sqrt(max(change, 0)), err
}

// beyondOf estimates the largest eigenvalue of (I − UUᵀ)C(I − UUᵀ), from below,
// and counts the products.
func beyondOf(ctx context.Context, c cooc.Operator, u blas64.General, workers int) (float64, int, error) {
	n := u.Rows
	p := min(n-u.Cols, beyondVectors)
	if p < 1 {
		return 0, 0, nil
	}
	all := linalg.NewGeneral(u.Cols, p)
	deflate := func(ctx context.Context, x blas64.General) error {
		h := all
		h.Cols = x.Cols // Krylov drops vectors where the space is used up
		if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, u, x, 0, h, workers); err != nil {
			return err
		}
		return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, u, h, 1, x, workers)
	}
	mul := operator(c, workers)
	op := func(ctx context.Context, dst, x blas64.General) error { // x is in the space already
		if err := mul(ctx, dst, x); err != nil {
			return err
		}
		return deflate(ctx, dst)
	}
	x, err := randomBlock(ctx, c.Marginals(), p, 0, workers)
	if err != nil {
		return 0, 0, err
	}
	if err := deflate(ctx, x); err != nil {
		return 0, 0, err
	}
	b, st, err := linalg.Krylov(ctx, op, x, 1, 1, beyondPasses, workers)
	if err != nil {
		return 0, 0, err
	}
	return max(b.Theta[0], 0), st.Products, nil
}

// keep makes the state of a result: that of the warm start, or one of the eigenpairs
// of the last iterate.
func (l *loop) keep(ctx context.Context) error {
	if l.res.Warm {
		s := *l.opt.From
		s.Drift = l.start.drift
		l.res.State = &s
		return nil
	}
	pairs := l.pairs.block
	n, p := pairs.X.Rows, pairs.X.Cols
	s := &State{K: l.k, Vectors: mat.NewDense(n, p, nil), Values: make([]float64, p), Product: mat.NewDense(n, p, nil)}
	for i := range n {
		s.Vectors.SetRow(i, linalg.Row(pairs.X, i))
	}
	copy(s.Values, pairs.Theta)
	if err := l.c.MulTo(ctx, s.Product, s.Vectors, l.opt.Workers); err != nil {
		return err
	}
	if m := len(l.res.Changes); m > 0 {
		s.Change = l.res.Changes[m-1]
	}
	u := pairs.X
	u.Cols = l.k
	beyond, products, err := beyondOf(ctx, l.c, u, l.opt.Workers)
	if err != nil {
		return err
	}
	s.Beyond = beyond
	l.res.Products += p + products
	l.res.State = s
	return nil
}
