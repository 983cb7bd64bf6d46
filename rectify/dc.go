package rectify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// DefaultPermutations is the number of random halvings of DC.
const DefaultPermutations = 30

// DC is diagonal completion (lee-2018, Algorithm 7 in its Appendix A.3): the
// diagonal of the matrix, its worst part, is replaced by what the other entries
// say of it under the assumption of rank K; the others stay.
//
// The words are split in two random halves. The off-diagonal block G of the
// halves is free of diagonal entries, so that its K left singular vectors U
// span the columns of the first half's block F in a matrix of rank K, and the
// entry d_j that puts column j of F into that space, in the sense of least
// squares over its other entries, is
//
//	d_j = u_jᵀUᵀ(F − diag F)_j / (1 − ‖u_j‖²)
//
// with u_jᵀ row j of U; the right singular vectors do the same for the second
// half. The entry is the median over several halvings. Then negative entries are
// set to zero and the matrix is divided by its sum.
//
// The matrix is neither low-rank nor positive semidefinite afterwards, which is
// why the papers prefer AP; Violations has the distance. A matrix of exact rank K
// gets its own diagonal back, where no word is the only one to carry a
// direction.
//
// No N×N array is needed. A halving costs about 3K + 30 products of C with two
// vectors, more where the singular values of G are crowded; beside them there is
// one pass over the rows of C (for documents, the sum of squares of their
// numbers of distinct words) and one eigenproblem at the end. Memory: 8·N·K bytes
// for each of a few blocks, 8·N for each halving, and the matrix given, which
// the result keeps and shares.
type DC struct {
	// Permutations is the number of halvings ≥ 1; 0 means 30.
	Permutations int
	// Seed of the stream of halvings (math/rand/v2, PCG), to which Options.Seed
	// is added.
	Seed uint64
	// EigenTol is how far a singular pair may be off: the residual of each of
	// the K triples is at most EigenTol·σ_K. 0 means 1e-6.
	EigenTol float64
}

func (d DC) String() string {
	return fmt.Sprintf("DC(permutations=%d, seed=%d, eigentol=%g)", d.permutations(), d.Seed, d.eigenTol())
}

func (d DC) permutations() int {
	if d.Permutations == 0 {
		return DefaultPermutations
	}
	return d.Permutations
}

func (d DC) eigenTol() float64 {
	if d.EigenTol == 0 {
		return 1e-6
	}
	return d.EigenTol
}

// Validate reports settings out of range.
func (d DC) Validate() error {
	if d.Permutations < 0 {
		return fmt.Errorf("rectify: DC: %d permutations", d.Permutations)
	}
	return validTol("DC", 0, d.EigenTol)
}

// Rectify implements Rectifier, with 1 ≤ k < ⌊N/2⌋, as a half must hold more
// words than there are directions. Iterations is the number of halvings, and
// Changes[t] by how much halving t moved the median of the diagonal (at first, the
// diagonal given), in Euclidean norm. Nonzeros has one entry, how many entries
// were below zero in the end. Undetermined counts the words whose entry no
// halving could tell. Eigenvalues are the K largest of the result. Errors:
// settings or k out of range, singular vectors that do not converge (*EigenError),
// a matrix with numbers that are not finite, ctx's.
func (d DC) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	if n := c.Dim(); k >= n/2 {
		return nil, fmt.Errorf("rectify: DC: K = %d is not below %d, half the number of words", k, n/2)
	}
	res, err := d.rectify(ctx, c, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: DC: %w", err)
	}
	return res, nil
}

func (d DC) rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	n := c.Dim()
	if err := guardRows("DC", c, "LR"); err != nil {
		return nil, err
	}
	p, err := newPatched(ctx, c, opt.Workers)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	rng := rand.New(rand.NewPCG(d.Seed+opt.Seed, 0xd1a6))
	votes := make([][]float64, n) // of each word, ascending
	median := slices.Clone(p.diag)
	first := make([]bool, n) // whether a word is in the first half
	for t := 1; t <= d.permutations(); t++ {
		for i, w := range rng.Perm(n) {
			first[w] = i < n/2
		}
		entries, err := d.complete(ctx, operator(c, opt.Workers), p.diag, first, k, t, res, opt.Workers)
		if err != nil {
			return nil, err
		}
		change := 0.0
		for j, v := range entries {
			if math.IsNaN(v) {
				continue
			}
			at, _ := slices.BinarySearch(votes[j], v)
			votes[j] = slices.Insert(votes[j], at, v)
			m := len(votes[j])
			v = 0.5 * (votes[j][(m-1)/2] + votes[j][m/2])
			change += (v - median[j]) * (v - median[j])
			median[j] = v
		}
		change = math.Sqrt(change)
		res.Iterations = t
		res.Changes = append(res.Changes, change)
		if opt.Progress != nil {
			opt.Progress(t, d.permutations(), change)
		}
	}
	for j := range votes {
		if len(votes[j]) == 0 {
			res.Undetermined++
		}
	}
	lifted, err := p.finish(median)
	if err != nil {
		return nil, err
	}
	res.C = p
	res.Nonzeros = []int{lifted}
	pairs := newEigenpairs(n, k, d.eigenTol(), opt.Workers)
	if err := pairs.next(ctx, d.permutations(), operator(p, opt.Workers)); err != nil {
		return nil, err
	}
	res.Products += pairs.products
	res.ColdStarts++
	res.Eigenvalues = slices.Clone(pairs.theta())
	fro, err := frobenius2(ctx, p, opt.Workers)
	if err != nil {
		return nil, err
	}
	rest := fro
	for _, v := range res.Eigenvalues {
		v = max(v, 0)
		rest -= v * v
	}
	res.Violations = &Violations{SumError: cooc.Sum(p) - 1, RankResidual: math.Sqrt(max(rest, 0) / fro)}
	return res, nil
}

// alone is how near to 1 ‖u_j‖² makes word j the only one of its half to carry a
// direction; the equation for its entry is then 0 = 0 to rounding.
const alone = 1e-9

// degenerate is the fraction of the largest singular value below which the
// singular vectors of a block are noise.
const degenerate = 1e-12

// complete returns the diagonal that one halving gives, NaN where it says
// nothing.
func (d DC) complete(ctx context.Context, op linalg.Op, diag []float64, first []bool, k, t int, res *Result, workers int) ([]float64, error) {
	n := len(first)
	// The singular triples of G are the positive eigenpairs of [0 G; Gᵀ 0],
	// with (u; v)/√2 for vectors. As blocks of C in its own order of words:
	// one product with both halves apart has G v and Gᵀu.
	var both, image blas64.General
	apart := func(ctx context.Context, x blas64.General) error {
		if both.Cols != 2*x.Cols {
			both, image = linalg.NewGeneral(n, 2*x.Cols), linalg.NewGeneral(n, 2*x.Cols)
		}
		for i := range n {
			to := linalg.Row(both, i)
			clear(to)
			if !first[i] {
				to = to[x.Cols:]
			}
			copy(to, linalg.Row(x, i))
		}
		return op(ctx, image, both)
	}
	pick := func(dst blas64.General, other bool) {
		for i := range n {
			of := linalg.Row(image, i)
			if first[i] == other {
				of = of[dst.Cols:]
			}
			copy(linalg.Row(dst, i), of[:dst.Cols])
		}
	}
	cross := func(ctx context.Context, dst, x blas64.General) error {
		if err := apart(ctx, x); err != nil {
			return err
		}
		pick(dst, true)
		return nil
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, n, cross, linalg.LanczosOptions{Pairs: k, Tol: d.eigenTol(), MaxRestarts: maxRestarts, Block: 8, Workers: workers})
	if err != nil {
		return nil, err
	}
	res.Products += 2 * st.Products
	res.ColdStarts++
	for k > 0 && theta[k-1] <= degenerate*theta[0] {
		k-- // rank below K: there are no more directions
	}
	if k > 0 && !st.Converged {
		return nil, &EigenError{K: k, Iteration: t, Residual: st.Residual, Tol: d.eigenTol() * theta[k-1]}
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
	// The halves of the vectors are orthonormal up to the residuals; make them
	// so to rounding.
	for _, half := range []bool{true, false} {
		if err := orthonormalise(ctx, x, first, half, workers); err != nil {
			return nil, err
		}
	}
	if err := apart(ctx, x); err != nil {
		return nil, err
	}
	res.Products += 2 * k
	fu := linalg.NewGeneral(n, k)
	pick(fu, false)
	for j := range n {
		u := linalg.Row(x, j)
		u2 := dot(u, u)
		if 1-u2 <= alone {
			entries[j] = math.NaN()
			continue
		}
		entries[j] = (dot(u, linalg.Row(fu, j)) - u2*diag[j]) / (1 - u2)
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
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(k, gram.Data), true) {
		return fmt.Errorf("the eigenvalues of a %d×%d matrix were not found", k, k)
	}
	var v, s mat.Dense
	e.VectorsTo(&v)
	s.CloneFrom(&v)
	for j, l := range e.Values(nil) {
		if l < 0.25 { // ½ but for the residuals
			return fmt.Errorf("the singular vectors of a half of the words are not orthonormal: %g", l)
		}
		for i := range k {
			s.Set(i, j, s.At(i, j)/math.Sqrt(l))
		}
	}
	var m mat.Dense
	m.Mul(&s, v.T())
	out := linalg.NewGeneral(len(rows), k)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, part, m.RawMatrix(), 0, out, workers); err != nil {
		return err
	}
	for t, i := range rows {
		copy(linalg.Row(x, i), linalg.Row(out, t))
	}
	return nil
}

// patched is f·(C + E), of a given matrix with sparse changes E that leave no
// negative entry. Immutable once finished; safe for concurrent use.
type patched struct {
	base    cooc.Matrix
	e       linalg.CSR // symmetric; its diagonal is full
	f       float64
	diag    []float64 // of the base
	others2 []float64 // sum of squares of the other entries of a row, those < 0 left out
	c       []float64
	norms2  []float64
}

// newPatched looks through the rows of a matrix for negative entries.
func newPatched(ctx context.Context, c cooc.Matrix, workers int) (*patched, error) {
	n := c.Dim()
	p := &patched{base: c, diag: make([]float64, n), others2: make([]float64, n)}
	upper := make([]upperRows, run.Count(n, scanRows))
	workers = run.Workers(workers, len(upper))
	scratch := make([][]float64, workers)
	err := run.Chunks(ctx, n, scanRows, workers, func(w, q, lo, hi int) error {
		if scratch[w] == nil {
			scratch[w] = make([]float64, n)
		}
		row := scratch[w]
		u := &upper[q]
		for i := lo; i < hi; i++ {
			c.RowTo(row, i)
			if j := notFinite(row); j >= 0 {
				return &cooc.EntryError{I: i, J: j, Value: row[j], Kind: cooc.ErrNotFinite}
			}
			p.diag[i] = row[i]
			for j, v := range row {
				switch {
				case j == i:
					u.cols, u.vals = append(u.cols, int32(j)), append(u.vals, 0)
				case v >= 0:
					p.others2[i] += v * v
				case j > i:
					u.cols, u.vals = append(u.cols, int32(j)), append(u.vals, -v)
				}
			}
			u.end = append(u.end, len(u.cols))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.e, err = mirror(ctx, n, upper, linalg.CSR{}, workers)
	return p, err
}

// finish sets the diagonal, and negative entries to zero, and makes the sum 1.
// It returns how many entries it had to lift.
func (p *patched) finish(diag []float64) (lifted int, err error) {
	n := len(diag)
	p.c = slices.Clone(p.base.Marginals())
	p.norms2 = slices.Clone(p.others2)
	sum := 0.0
	for i, v := range diag {
		if v < 0 {
			v = 0
			lifted++
		}
		p.norms2[i] += v * v
		for t := p.e.RowPtr[i]; t < p.e.RowPtr[i+1]; t++ {
			if int(p.e.Cols[t]) == i {
				p.e.Vals[t] = v - p.diag[i]
			} else {
				lifted++
			}
			p.c[i] += p.e.Vals[t]
		}
		sum += p.c[i]
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 0, fmt.Errorf("the result sums to %g and cannot be divided by it", sum)
	}
	p.f = 1 / sum
	for i := range n {
		p.c[i] *= p.f
		p.norms2[i] *= p.f * p.f
	}
	return lifted, nil
}

func (p *patched) Dim() int { return len(p.diag) }

func (p *patched) Marginals() []float64 { return p.c }

func (p *patched) RowNorms2(ctx context.Context, _ int) ([]float64, error) {
	return p.norms2, ctx.Err()
}

func (p *patched) RowTo(dst []float64, i int) {
	p.base.RowTo(dst, i)
	cols, vals := p.e.Row(i)
	for t, j := range cols {
		dst[j] += vals[t]
	}
	for j, v := range dst[:p.Dim()] {
		dst[j] = p.f * max(v, 0) // what E lifts may miss zero by rounding
	}
}

func (p *patched) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := p.base.MulTo(ctx, dst, x, workers); err != nil {
		return err
	}
	d, b := dst.RawMatrix(), x.RawMatrix()
	return run.Chunks(ctx, p.Dim(), scanRows, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			to := linalg.Row(d, i)
			cols, vals := p.e.Row(i)
			for t, j := range cols {
				v := vals[t]
				for c, y := range linalg.Row(b, int(j)) {
					to[c] += v * y
				}
			}
			for c := range to {
				to[c] *= p.f
			}
		}
		return nil
	})
}

var _ cooc.Matrix = (*patched)(nil)
