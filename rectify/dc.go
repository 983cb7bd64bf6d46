package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// DC is diagonal completion (lee-2018, Algorithm 7 in its Appendix A.3). It replaces the
// diagonal of the matrix, its worst part, by what the other entries imply if the rank is K.
//
// The words are split in two random halves. Their off-diagonal block G has no diagonal
// entries. Its K left singular vectors U span, in a matrix of rank K, the columns of the
// first half's block F, and the entry d_j that puts column j of F into that space, by least
// squares over its other entries, is
//
//	d_j = u_jᵀUᵀ(F − diag F)_j / (1 − ‖u_j‖²)
//
// with u_jᵀ row j of U. The right singular vectors do the same for the second half.
// The entry is the median over several halvings. Then negative entries are set to zero
// and the matrix is divided by its sum.
//
// The result is neither low-rank nor positive semidefinite (Violations). A matrix of exact
// rank K gets its own diagonal back, unless a word is the only one to carry a direction.
//
// A halving costs about 3K + 30 products of C with two vectors, more where the singular
// values of G are crowded. Besides the halvings there is one pass over the rows of C and
// one eigenproblem. Memory: 16·N² bytes, half of them for the result, 8·N·K for each of a
// few blocks and 8·N for each halving; N×N arrays above Options.MemoryLimit are refused.
type DC struct {
	// Halvings is the number of halvings; 0 means 30.
	Halvings int
	// Seed of the stream of halvings (math/rand/v2, PCG), to which Options.Seed is
	// added.
	Seed uint64
	// EigenTol bounds the residual of the K singular triples by EigenTol·σ_K, at most 0.1; 0
	// means 1e-6.
	EigenTol float64
}

func (d DC) settings() settings {
	return settings{name: "DC", iterations: cmp.Or(d.Halvings, 30), eigenTol: cmp.Or(d.EigenTol, 1e-6), rows: true}
}

func (d DC) String() string {
	s := d.settings()
	return fmt.Sprintf("DC(halvings=%d, seed=%d, %s)", s.iterations, d.Seed, s.eigen())
}

// Validate reports settings out of range.
func (d DC) Validate() error {
	if d.Halvings < 0 {
		return fmt.Errorf("rectify: DC: %d halvings", d.Halvings)
	}
	return d.settings().validate()
}

// Rectify implements Rectifier, for 1 ≤ k < ⌊N/2⌋, as a half must hold more words than
// there are directions. Iterations is the number of halvings, and Changes[t] by how
// much halving t moved the median of the diagonal (at first, the diagonal given), in
// Euclidean norm. Nonzeros has one entry, the number of entries below zero at the end.
// Undetermined counts the words whose entry no halving determined. Eigenvalues are the
// K largest of the result. Errors: settings or k out of range, a matrix that has no
// rows or holds numbers that are not finite, singular vectors that do not converge,
// ctx's.
func (d DC) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, d, &dcMethod{seed: d.Seed + opt.Seed})
}

func (d DC) bytes(n, k int, opt Options) int64 {
	return whole(float64(2*eigenBytes(n, k)) + float64(16*float64(n)*float64(n+d.settings().iterations)))
}

// dcMethod is DC in the loop.
type dcMethod struct {
	seed    uint64
	rng     *rand.Rand
	entries *mat.SymDense
	diag    []float64   // that given
	votes   [][]float64 // of each word, ascending
	median  []float64
	first   []bool // whether a word is in the first half
}

func (d *dcMethod) begin(ctx context.Context, l *loop) (err error) {
	if l.k >= l.n/2 {
		return fmt.Errorf("number of topics K = %d is not below %d, half the number of words", l.k, l.n/2)
	}
	if b := denseBytes(l.n, 2); b > l.opt.limit() {
		return l.tooMuch(b, "AP or DR, which form none")
	}
	if d.entries, err = entriesOf(ctx, l.m, l.opt.Workers); err != nil {
		return err
	}
	for j := range l.n {
		d.diag = append(d.diag, d.entries.At(j, j))
	}
	d.rng = rand.New(rand.NewPCG(d.seed, 0xd1a6))
	d.votes, d.median, d.first = make([][]float64, l.n), slices.Clone(d.diag), make([]bool, l.n)
	return nil
}

func (d *dcMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	n := len(d.first)
	for i, w := range d.rng.Perm(n) {
		d.first[w] = i < n/2
	}
	entries, err := l.complete(ctx, d.diag, d.first, t)
	if err != nil {
		return step{}, err
	}
	change := 0.0
	for j, v := range entries {
		if math.IsNaN(v) {
			continue
		}
		at, _ := slices.BinarySearch(d.votes[j], v)
		d.votes[j] = slices.Insert(d.votes[j], at, v)
		m := len(d.votes[j])
		v = float64(0.5 * (d.votes[j][(m-1)/2] + d.votes[j][m/2]))
		change += float64((v - d.median[j]) * (v - d.median[j]))
		d.median[j] = v
	}
	return step{change: math.Sqrt(change), zeroed: -1}, nil
}

func (d *dcMethod) finish(ctx context.Context, l *loop) error {
	for j := range d.votes {
		if len(d.votes[j]) == 0 {
			l.res.Undetermined++
		}
	}
	for j, v := range d.median {
		d.entries.SetSym(j, j, v)
	}
	negative, err := clip(d.entries)
	if err != nil {
		return err
	}
	dense, err := cooc.NewDense(d.entries)
	if err != nil {
		return err
	}
	out := completed{dense, l.c.Info()}
	l.res.C, l.res.Nonzeros = out, []int{negative}
	l.op = operator(out, l.opt.Workers)
	if err := l.next(ctx, l.iterations); err != nil {
		return err
	}
	l.res.Eigenvalues = slices.Clone(l.theta())
	fro, err := frobenius2(ctx, out, l.opt.Workers)
	if err != nil {
		return err
	}
	rest := fro
	for _, v := range l.res.Eigenvalues {
		v = max(v, 0)
		rest -= float64(v * v)
	}
	l.res.Violations = &Violations{SumError: vec.Sum(out.Marginals()) - 1, RankResidual: math.Sqrt(max(rest, 0) / fro)}
	return nil
}

const (
	// If ‖u_j‖² is within `alone` of 1, word j is the only one of its half to carry a
	// direction, and the equation for its entry is 0 = 0 to rounding.
	alone = 1e-9
	// degenerate is the fraction of the largest singular value below which the singular
	// vectors of a block are noise.
	degenerate = 1e-12
)

// halves multiplies by the blocks of C that belong to two halves of the words, by one
// product with the halves apart.
type halves struct {
	op          linalg.Op // of C
	first       []bool    // the half of a word
	both, image blas64.General
}

// multiply makes the products of C with x, with the rows of one half and of the other
// in columns of their own.
func (h *halves) multiply(ctx context.Context, x blas64.General) error {
	n := len(h.first)
	if h.both.Cols != 2*x.Cols {
		h.both, h.image = linalg.NewGeneral(n, 2*x.Cols), linalg.NewGeneral(n, 2*x.Cols)
	}
	for i := range n {
		to := linalg.Row(h.both, i)
		clear(to)
		if !h.first[i] {
			to = to[x.Cols:]
		}
		copy(to, linalg.Row(x, i))
	}
	return h.op(ctx, h.image, h.both)
}

// pick takes, for each word, the product with its own half or with the other.
func (h *halves) pick(dst blas64.General, other bool) {
	for i := range h.first {
		of := linalg.Row(h.image, i)
		if h.first[i] == other {
			of = of[dst.Cols:]
		}
		copy(linalg.Row(dst, i), of[:dst.Cols])
	}
}

// complete returns the diagonal that one halving gives, NaN where it says nothing.
func (l *loop) complete(ctx context.Context, diag []float64, first []bool, t int) ([]float64, error) {
	n, k := len(first), l.k
	// The singular triples of G are the positive eigenpairs of [0 G; Gᵀ 0], with
	// (u; v)/√2 for vectors.
	h := &halves{op: l.op, first: first}
	cross := func(ctx context.Context, dst, x blas64.General) error {
		if err := h.multiply(ctx, x); err != nil {
			return err
		}
		h.pick(dst, true)
		return nil
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, n, cross, linalg.LanczosOptions{Pairs: k, Tol: l.eigenTol, MaxRestarts: maxRestarts, Block: 8, Workers: l.opt.Workers})
	if err != nil {
		return nil, err
	}
	l.res.Products += 2 * st.Products
	l.res.ColdStarts++
	for k > 0 && theta[k-1] <= degenerate*theta[0] {
		k-- // rank below K: there are no more directions
	}
	if k > 0 && !st.Converged {
		return nil, notConverged(k, t, st.Residual, l.eigenTol*theta[k-1])
	}
	entries := make([]float64, n)
	if k == 0 {
		return entries, nil // G = 0, and no column but 0 lies in its range
	}
	x := linalg.NewGeneral(n, k)
	for c := range k {
		for i, v := range linalg.Row(vecs, c) {
			x.Data[i*k+c] = v
		}
	}
	// The halves of the vectors are orthonormal up to the residuals; make them so to
	// rounding.
	for _, half := range []bool{true, false} {
		if err := orthonormalise(ctx, x, first, half, l.opt.Workers); err != nil {
			return nil, err
		}
	}
	if err := h.multiply(ctx, x); err != nil {
		return nil, err
	}
	l.res.Products += 2 * k
	fu := linalg.NewGeneral(n, k)
	h.pick(fu, false)
	for j := range n {
		u := linalg.Row(x, j)
		u2 := vec.Dot(u, u)
		if 1-u2 <= alone {
			entries[j] = math.NaN()
			continue
		}
		entries[j] = (vec.Dot(u, linalg.Row(fu, j)) - float64(u2*diag[j])) / (1 - u2)
		if math.IsNaN(entries[j]) || math.IsInf(entries[j], 0) {
			return nil, linalg.ErrNonFinite
		}
	}
	return entries, nil
}

// orthonormalise multiplies the rows of one half by (XᵀX)^(−1/2) over them.
func orthonormalise(ctx context.Context, x blas64.General, first []bool, half bool, workers int) error {
	k := x.Cols
	var rows []int
	for i, f := range first {
		if f == half {
			rows = append(rows, i)
		}
	}
	part := linalg.NewGeneral(len(rows), k)
	for t, i := range rows {
		copy(linalg.Row(part, t), linalg.Row(x, i))
	}
	gram := linalg.NewGeneral(k, k)
	if err := linalg.Gram(ctx, part, gram, workers); err != nil {
		return err
	}
	values, v, err := linalg.Eigen(mat.NewSymDense(k, gram.Data))
	if err != nil {
		return fmt.Errorf("a %d×%d matrix: %w", k, k, err)
	}
	s := mat.DenseCopyOf(v)
	for j, l := range values {
		if l < 0.25 { // ½, up to the residuals
			return fmt.Errorf("the singular vectors of a half of the words are not orthonormal: %.6g", l)
		}
		for i := range k {
			s.Set(i, j, s.At(i, j)/math.Sqrt(l))
		}
	}
	var m mat.Dense
	m.Mul(s, v.T())
	out := linalg.NewGeneral(len(rows), k)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, part, m.RawMatrix(), 0, out, workers); err != nil {
		return err
	}
	for t, i := range rows {
		copy(linalg.Row(x, i), linalg.Row(out, t))
	}
	return nil
}

// completed is the result: an array with the Info of the matrix given.
type completed struct {
	*cooc.Dense
	info corpus.Info
}

func (c completed) Info() corpus.Info { return c.info }

// entriesOf returns the entries of c, which must be finite.
func entriesOf(ctx context.Context, c cooc.Matrix, workers int) (*mat.SymDense, error) {
	n := c.Dim()
	a := linalg.NewGeneral(n, n)
	err := parallel.Chunks(ctx, n, scanRows, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := linalg.Row(a, i)
			c.RowTo(row, i)
			if j := vec.NotFinite(row); j >= 0 {
				return fmt.Errorf("entry (%d, %d) of the matrix is %g, %w", i, j, row[j], cooc.ErrNotFinite)
			}
		}
		return nil
	})
	return mat.NewSymDense(n, a.Data), err
}

// clip sets negative entries of a to zero and divides it by its sum. It returns how many there were.
func clip(a *mat.SymDense) (negative int, err error) {
	data := a.RawSymmetric().Data
	n, sum := a.SymmetricDim(), 0.0
	for i := range n {
		for j, v := range data[i*n+i : (i+1)*n] {
			times := 1 + min(j, 1) // both triangles
			if v < 0 {
				data[i*n+i+j] = 0
				negative += times
			} else {
				sum += float64(float64(times) * v)
			}
		}
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 0, fmt.Errorf("the result sums to %.9g and cannot be divided by it", sum)
	}
	a.ScaleSym(1/sum, a)
	return negative, nil
}
