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

// State is what the rectification of a matrix leaves behind for that of a later
// one that differs little, such as that of a few documents more: AP, ENN, LR and Auto
// make one where Options.Keep is set, and go on from one that Options.From gives.
//
// They iterate from C. What they end at, YYᵀ, is kept here as its eigenpairs,
// and what C does to the eigenvectors. For C' near C the iteration goes on from
// YYᵀ + (C' − C), that is from where it was, moved by what has changed, instead
// of from C'; of C' − C it is the rows and columns in the space of the eigenvectors
// that are known, which is all that matters in the first order. So a warm start
// takes one product with C', and then as many iterations as bring the change
// down to twice that of the last one before.
//
// The state of a result of a warm start is the one it started from: however many
// follow one another, each goes back to the last start from nothing, and neither
// errors nor iterations add up (the iterations of AP are to be few: more of them
// lead farther away from C). What is new outside of the space of the
// eigenvectors a warm start does not see. It is measured (Beyond), and where it
// has grown, or the change is too large for the first order (Drift), the method
// starts from nothing, and Result.Cold says why.
//
// Memory: 16·N·p bytes, p = K + 10 to K + 17. Methods do not write to a state.
type State struct {
	// K is the number of topics, and Vectors·diag(Values⁺)·Vectorsᵀ over the
	// first K of the p orthonormal columns is YYᵀ.
	K       int
	Vectors *mat.Dense // N×p
	Values  []float64  // p, descending

	// Product is C·Vectors, N×p, of the matrix before it was rectified.
	Product *mat.Dense

	// Beyond is an estimate of the largest eigenvalue of C beside the K
	// vectors, (I − UUᵀ)C(I − UUᵀ).
	Beyond float64

	// Drift is ‖(C' − C)V‖_F/‖CV‖_F over all Vectors V, for the matrix C' of the
	// result that the state belongs to, 0 where that did not start warm.
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
	if s.Vectors == nil || s.Product == nil {
		return errors.New("rectify: state: vectors or products are missing")
	}
	n, p := s.Vectors.Dims()
	if r, c := s.Product.Dims(); r != n || c != p || len(s.Values) != p || s.K < 1 || s.K > p {
		return fmt.Errorf("rectify: state: vectors of %d×%d, products of %d×%d, %d values for K = %d", n, p, r, c, len(s.Values), s.K)
	}
	for i, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("rectify: state: value %d is %g", i, v)
		}
	}
	for _, x := range []struct {
		name string
		m    *mat.Dense
	}{{"vectors", s.Vectors}, {"products", s.Product}} {
		for i := range n {
			for j, v := range x.m.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("rectify: state: %s[%d,%d] = %g", x.name, i, j, v)
				}
			}
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

// Select returns the state for other words: row i of the new is row rows[i] of s,
// a word that s does not have where that is negative. Words that go take the
// products with their entries along, which is right but for what they had in
// common with those that stay. Errors: numbers out of range or named twice; too
// few words left for the vectors to be independent. O(Np²).
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
			return nil, fmt.Errorf("rectify: state: row %d is not in [0, %d), or is named twice", r, n)
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
	// X = QR is not orthonormal any more. Over the words left YYᵀ is
	// QRΘRᵀQᵀ, and the product with Q that with X times R⁻¹.
	var qr mat.QR
	qr.Factorize(x)
	if c := qr.Cond(); !(c < 1e6) {
		return nil, fmt.Errorf("rectify: state: the vectors do not remain independent without %d of %d words (condition number %.2g)", n-left, n, c)
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
		return nil, fmt.Errorf("rectify: state: %w", err)
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
		return nil, fmt.Errorf("rectify: state: the eigenvalues of a %d×%d matrix were not found", p, p)
	}
	var vecs mat.Dense
	eig.VectorsTo(&vecs)
	values := eig.Values(nil)
	turn := mat.NewDense(p, p, nil) // descending
	out.Values = make([]float64, p)
	for j := range p {
		out.Values[j] = values[p-1-j]
		for i := range p {
			turn.Set(i, j, vecs.At(i, p-1-j))
		}
	}
	out.Vectors, out.Product = new(mat.Dense), new(mat.Dense)
	out.Vectors.Mul(&q, turn)
	inv.Mul(&inv, turn)
	out.Product.Mul(w, &inv)
	return &out, nil
}

// warmStart are the eigenpairs that a method begins with in place of those of c.
type warmStart struct {
	block    *linalg.Block
	drift    float64
	products int
	cold     string // why there are none
}

// warm prepares a warm start for c where opt asks for one.
func (opt Options) warm(ctx context.Context, c cooc.Matrix, k int) (warmStart, error) {
	s := opt.From
	if s == nil {
		return warmStart{}, nil
	}
	if err := s.Validate(); err != nil {
		return warmStart{}, err
	}
	n, p := s.Vectors.Dims()
	if n != c.Dim() {
		return warmStart{}, fmt.Errorf("rectify: a state of %d words for a matrix of %d", n, c.Dim())
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
		ws.cold = fmt.Sprintf("there is something new: the largest eigenvalue beside the topics has grown from %.3g to %.3g", s.Beyond, beyond)
	}
	return ws, nil
}

// firstChange returns by how much the first iterate of a warm start differs from
// the last of the one before, without E: the change of YYᵀ + r·eeᵀ.
func (opt Options) firstChange(ctx context.Context, y blas64.General, r float64) (float64, error) {
	s := opt.From
	n := float64(y.Rows)
	y0 := scaled(s.Vectors.RawMatrix(), s.Values[:s.K], nil)
	change, err := lowRankChange(ctx, y0, y, r-(1-sumOf(y0))/(n*n), opt.Workers)
	return math.Sqrt(max(change, 0)), err
}

// beyondOf estimates the largest eigenvalue of (I − UUᵀ)C(I − UUᵀ), from below,
// and counts the products.
func beyondOf(ctx context.Context, c cooc.Matrix, u blas64.General, workers int) (float64, int, error) {
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

// settled tells whether a warm start has come as far as the start that it goes
// back to.
func (opt Options) settled(res *Result, change float64) bool {
	return res.Warm && change <= mostChange*opt.From.Change
}

// keep makes the state of a result where opt asks for one. pairs hold the
// eigenpairs of YYᵀ, and ws how the method began.
func (opt Options) keep(ctx context.Context, c cooc.Matrix, pairs *linalg.Block, k int, ws warmStart, res *Result) error {
	if !opt.Keep {
		return nil
	}
	if ws.block != nil {
		s := *opt.From
		s.Drift = ws.drift
		res.State = &s
		return nil
	}
	n, p := pairs.X.Rows, pairs.X.Cols
	s := &State{K: k, Vectors: mat.NewDense(n, p, nil), Values: make([]float64, p), Product: mat.NewDense(n, p, nil)}
	for i := range n {
		s.Vectors.SetRow(i, linalg.Row(pairs.X, i))
	}
	copy(s.Values, pairs.Theta)
	if err := c.MulTo(ctx, s.Product, s.Vectors, opt.Workers); err != nil {
		return err
	}
	if m := len(res.Changes); m > 0 {
		s.Change = res.Changes[m-1]
	}
	u := pairs.X
	u.Cols = k
	beyond, products, err := beyondOf(ctx, c, u, opt.Workers)
	if err != nil {
		return err
	}
	s.Beyond = beyond
	res.Products += p + products
	res.State = s
	return nil
}
