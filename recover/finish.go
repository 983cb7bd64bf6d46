package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// Correlations is a way to compute A once B is known.
type Correlations uint8

const (
	// Diagonal is A = D⁻¹C_SSD⁻¹, D = diag(B_S): only the co-occurrence of the
	// anchors themselves counts (lee-2020, Algorithm 5).
	Diagonal Correlations = iota

	// PseudoInverse is A = B†CB†ᵀ, the least-squares solution of C = BABᵀ
	// (arora-2013 §3, Algorithm 3). All of C counts. A may have negative
	// entries and is not normalised.
	PseudoInverse

	// Multiplicative minimises ‖C − BABᵀ‖_F over A ≥ 0 by the updates
	// A ← A∘(BᵀCB)/(BᵀB·A·BᵀB), each followed by a division by ΣA, from the A
	// of Diagonal, or of PseudoInverse where points stand in for anchors. Entries
	// that are not positive there are 0 for good.
	Multiplicative

	numCorrelations
)

// String returns the name of the method.
func (c Correlations) String() string {
	switch c {
	case Diagonal:
		return "diagonal"
	case PseudoInverse:
		return "pseudo-inverse"
	case Multiplicative:
		return "multiplicative"
	}
	return fmt.Sprintf("Correlations(%d)", uint8(c))
}

// Defaults of Multiplicative, those of the papers' program.
const (
	DefaultUpdates   = 100
	DefaultUpdateTol = 1e-4
)

// DefaultSmoothing is what lee-2018 §1.4 adds to the zeros of the anchors.
const DefaultSmoothing = 1e-5

// Finish says how A is computed from C and B, and what is done to both in the
// end. The zero value computes A by Diagonal and leaves it and B as they are.
type Finish struct {
	// Correlations is how A is computed. PseudoInverse and Multiplicative cost
	// a product of C with K vectors more, and 16·N·K bytes.
	Correlations Correlations

	// Updates bounds the updates of Multiplicative, which end before where
	// ‖A_t − A_{t−1}‖_F < UpdateTol. 0 means DefaultUpdates and
	// DefaultUpdateTol.
	Updates   int
	UpdateTol float64

	// Project replaces A by the nearest joint-stochastic, doubly non-negative
	// matrix: see ProjectCorrelations.
	Project bool

	// Smooth, in [0, 1), is added to the zeros of the rows of anchor words in B,
	// whose columns are then divided by their sums: see SmoothAnchors. 0: off.
	// DefaultSmoothing is the papers'. A is computed from the B before.
	Smooth float64
}

// Finishing tells how A was computed.
type Finishing struct {
	// Updates counts those of Multiplicative, Change is the last
	// ‖A_t − A_{t−1}‖_F, and UpdatesLimited tells that their limit was hit.
	Updates        int
	Change         float64
	UpdatesLimited bool
	// Projection is what ProjectCorrelations did, nil without Finish.Project.
	Projection *Projection
}

// Validate reports settings out of range.
func (f Finish) Validate() error {
	switch {
	case f.Correlations >= numCorrelations:
		return fmt.Errorf("recovery: there is no method %v for A", f.Correlations)
	case f.Updates < 0 || !(f.UpdateTol >= 0) || math.IsInf(f.UpdateTol, 1):
		return fmt.Errorf("recovery: %d updates to a tolerance of %g; want 0 for the defaults, or more", f.Updates, f.UpdateTol)
	case !(f.Smooth >= 0 && f.Smooth < 1):
		return fmt.Errorf("recovery: smoothing by %g is not in [0, 1)", f.Smooth)
	}
	return nil
}

func (f Finish) fill() Finish {
	if f.Updates == 0 {
		f.Updates = DefaultUpdates
	}
	if f.UpdateTol == 0 {
		f.UpdateTol = DefaultUpdateTol
	}
	return f
}

// suffix describes what differs from the zero value, to follow a method's name.
func (f Finish) suffix() string {
	var s strings.Builder
	if f.Correlations != Diagonal {
		fmt.Fprintf(&s, ", A %v", f.Correlations)
		if f.Correlations == Multiplicative {
			f := f.fill()
			fmt.Fprintf(&s, "(max=%d, tol=%g)", f.Updates, f.UpdateTol)
		}
	}
	if f.Project {
		s.WriteString(", A projected")
	}
	if f.Smooth > 0 {
		fmt.Fprintf(&s, ", anchors smoothed by %g", f.Smooth)
	}
	return s.String()
}

// apply computes res.A from res.B, and smooths B.
func (f Finish) apply(ctx context.Context, p *problem, res *Result) (err error) {
	f = f.fill()
	if f.Correlations == PseudoInverse || p.points != nil {
		res.A, err = p.pseudoInverseA(ctx, res.B)
	} else {
		res.A, err = diagonalA(p.rows, res.B, p.anchors)
	}
	if err == nil && f.Correlations == Multiplicative {
		err = p.multiplicativeA(ctx, res, f)
	}
	if err != nil {
		return err
	}
	if f.Project {
		if res.Finishing.Projection, err = ProjectCorrelations(ctx, res.A); err != nil {
			return err
		}
		res.A = res.Finishing.Projection.A
	}
	if f.Smooth > 0 {
		res.B = SmoothAnchors(res.B, p.anchors, f.Smooth)
	}
	return nil
}

// matrixOf returns the matrix that rows were made of, where they know it.
func matrixOf(rows cooc.Rows) (cooc.Matrix, bool) {
	m, ok := rows.(interface{ Matrix() cooc.Matrix })
	if !ok {
		return nil, false
	}
	return m.Matrix(), true
}

// explicit tells whether the rows are those of C̄ themselves and no picture of
// them, which may be of dimension N too.
func explicit(rows cooc.Rows) bool {
	n, d := rows.Dims()
	_, picture := rows.(*cooc.LAW)
	return d == n && !picture
}

// normal returns M = BᵀCB, symmetric to the bit, and G = BᵀB.
func (p *problem) normal(ctx context.Context, b *mat.Dense) (m, g *mat.SymDense, err error) {
	cb := mat.NewDense(p.n, p.k, nil)
	switch c, ok := matrixOf(p.rows); {
	case ok:
		err = c.MulTo(ctx, cb, b, p.workers)
	case explicit(p.rows):
		if err = p.rows.MulTo(ctx, cb, b, p.workers); err == nil {
			for i, c := range p.c {
				row := cb.RawRowView(i)
				for t := range row {
					row[t] *= c
				}
			}
		}
	default:
		err = fmt.Errorf("rows in %d dimensions, of type %T, do not tell the matrix of %d words that they picture; A by Diagonal does without it", p.d, p.rows, p.n)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("recovery: %w", err)
	}
	bcb, bb := mat.NewDense(p.k, p.k, nil), mat.NewDense(p.k, p.k, nil)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, b.RawMatrix(), cb.RawMatrix(), 0, bcb.RawMatrix(), p.workers); err != nil {
		return nil, nil, fmt.Errorf("recovery: %w", err)
	}
	if err := linalg.Gram(ctx, b.RawMatrix(), bb.RawMatrix(), p.workers); err != nil {
		return nil, nil, fmt.Errorf("recovery: %w", err)
	}
	return symmetric(bcb), symmetric(bb), nil
}

// symmetric returns the mean of a and its transpose.
func symmetric(a mat.Matrix) *mat.SymDense {
	k, _ := a.Dims()
	s := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			s.SetSym(i, j, 0.5*a.At(i, j)+0.5*a.At(j, i))
		}
	}
	return s
}

// maxCondition is up to where a K×K matrix counts as invertible.
const maxCondition = 1e13

// SingularError says that a matrix cannot be inverted.
type SingularError struct {
	Matrix    string  // which one, in words
	Condition float64 // its condition number as estimated, +Inf where there is none
	Advice    string  // "" where there is none
}

func (e *SingularError) Error() string {
	s := fmt.Sprintf("recovery: %s is singular (condition number %.3g)", e.Matrix, e.Condition)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// pseudoInverseA returns B†CB†ᵀ = G⁻¹MG⁻¹.
func (p *problem) pseudoInverseA(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	m, g, err := p.normal(ctx, b)
	if err != nil {
		return nil, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return nil, &SingularError{Matrix: "BᵀB, of the topics' inner products,", Condition: math.Inf(1), Advice: "topics depend on each other linearly: ask for fewer"}
	}
	if c := chol.Cond(); !(c <= maxCondition) {
		return nil, &SingularError{Matrix: "BᵀB, of the topics' inner products,", Condition: c, Advice: "topics depend on each other linearly: ask for fewer"}
	}
	var x, a mat.Dense
	// The only errors are those of the condition, which was looked at.
	if err := chol.SolveTo(&x, m); err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	if err := chol.SolveTo(&a, x.T()); err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	return mat.DenseCopyOf(symmetric(&a)), nil
}

// multiplicativeA updates the A in res.
func (p *problem) multiplicativeA(ctx context.Context, res *Result, f Finish) error {
	m, g, err := p.normal(ctx, res.B)
	if err != nil {
		return err
	}
	k := p.k
	a := mat.NewDense(k, k, nil)
	sum := 0.0
	for i := range k {
		for j := range k {
			if v := m.At(i, j); v < 0 {
				return fmt.Errorf("recovery: multiplicative updates of A need C ≥ 0, but bᵀCb of topics %d and %d is %g", i, j, v)
			}
			v := max(res.A.At(i, j), 0)
			a.Set(i, j, v)
			sum += v
		}
	}
	if !(sum > 0) {
		return fmt.Errorf("recovery: multiplicative updates of A cannot begin: the co-occurrence of the anchors sums to %g", sum)
	}
	a.Scale(1/sum, a)
	var ga, gag mat.Dense
	next := mat.NewDense(k, k, nil)
	for res.Finishing.UpdatesLimited = true; res.Finishing.Updates < f.Updates; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("recovery: %w", err)
		}
		ga.Mul(g, a)
		gag.Mul(&ga, g)
		sum := 0.0
		for i := range k {
			for j := range i + 1 {
				v := a.At(i, j)
				if v > 0 { // then the denominator is too: G ≥ 0, its diagonal > 0
					v *= m.At(i, j) / (0.5 * (gag.At(i, j) + gag.At(j, i)))
				}
				next.Set(i, j, v)
				next.Set(j, i, v)
				sum += v
				if i != j {
					sum += v
				}
			}
		}
		if !(sum > 0) || math.IsInf(sum, 0) {
			return fmt.Errorf("recovery: after %d multiplicative updates A sums to %g", res.Finishing.Updates+1, sum)
		}
		change := 0.0
		for i := range k {
			row, old := next.RawRowView(i), a.RawRowView(i)
			for j := range row {
				row[j] /= sum
				change += (row[j] - old[j]) * (row[j] - old[j])
			}
		}
		a, next = next, a
		res.Finishing.Updates++
		res.Finishing.Change = math.Sqrt(change)
		if res.Finishing.Change < f.UpdateTol {
			res.Finishing.UpdatesLimited = false
			break
		}
	}
	res.A = a
	return nil
}

// SmoothAnchors returns a copy of B, N×K, in which eps was added to every zero
// of the rows of anchor words, and each column divided by its sum (lee-2018
// §1.4, with 1e-5). An anchor has p(word | topic) = 0 in all topics but its own,
// so that one occurrence rules these topics out: likelihoods of documents
// suffer from it more than topics of other methods' B do.
func SmoothAnchors(b *mat.Dense, anchors []int, eps float64) *mat.Dense {
	n, k := b.Dims()
	out := mat.DenseCopyOf(b)
	for _, w := range anchors {
		for t, v := range out.RawRowView(w) {
			if v == 0 {
				out.Set(w, t, eps)
			}
		}
	}
	sum := make([]float64, k)
	for i := range n {
		for t, v := range out.RawRowView(i) {
			sum[t] += v
		}
	}
	for i := range n {
		row := out.RawRowView(i)
		for t, s := range sum {
			row[t] /= s
		}
	}
	return out
}

// Projection is the outcome of ProjectCorrelations.
type Projection struct {
	A *mat.Dense // K×K
	// Distance is ‖A − a‖_F from the matrix that was projected.
	Distance float64
	// Iterations counts the pairs of projections; Limited tells that they
	// ended at their limit, so that A is in all the sets but may not be the
	// nearest matrix.
	Iterations int
	Limited    bool
	// Shift is the multiple of the identity that was added in the end, before
	// A was divided by its sum again, so that no eigenvalue is negative.
	Shift float64
}

const (
	projectTol        = 1e-10
	projectIterations = 2000
)

// ProjectCorrelations returns the matrix nearest to a (K×K, symmetric, finite),
// in the Frobenius norm, among the joint-stochastic, doubly non-negative ones:
// positive semidefinite, of entries A_kl ≥ 0 that sum to 1. A can then be read as
// a distribution p(Z₁, Z₂) of two draws from a mixture.
//
// It alternates the projections on the two convex sets, the cone of
// semidefinite matrices and the simplex of the K² entries, with Dykstra's
// corrections (boyle-1986), until the two points differ by less than 1e-10 or
// 2000 times, each an eigenproblem of O(K³). What is negative yet of the
// eigenvalues is then mended by a multiple of the identity.
//
// Errors: a not square, not finite or not symmetric to 1e-6 of its largest
// entry; ctx's.
func ProjectCorrelations(ctx context.Context, a mat.Matrix) (*Projection, error) {
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, err
	}
	in := symmetric(a)
	x, y := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	x.CopySym(in)
	var pc, qc, t mat.SymDense // the corrections of the two sets; scratch
	pc.ReuseAsSym(k)
	qc.ReuseAsSym(k)
	t.ReuseAsSym(k)
	flat := make([]float64, k*k)
	p := &Projection{Limited: true}
	for p.Iterations < projectIterations {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		p.Iterations++
		t.AddSym(x, &pc)
		if err := semidefinite(y, &t); err != nil {
			return nil, err
		}
		subtract(&pc, &t, y)
		t.AddSym(y, &qc)
		for i := range k {
			for j := range k {
				flat[i*k+j] = t.At(i, j)
			}
		}
		simplex.Project(flat, flat)
		change, gap := 0.0, 0.0
		for i := range k {
			for j := range k {
				v := flat[i*k+j]
				change += (v - x.At(i, j)) * (v - x.At(i, j))
				gap += (v - y.At(i, j)) * (v - y.At(i, j))
				if j >= i {
					x.SetSym(i, j, v)
				}
			}
		}
		subtract(&qc, &t, x)
		if max(change, gap) < projectTol*projectTol {
			p.Limited = false
			break
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(x, false) {
		return nil, errEigen
	}
	if low := eig.Values(nil)[0]; low < 0 {
		p.Shift = -low
		for i := range k {
			x.SetSym(i, i, x.At(i, i)-low)
		}
		x.ScaleSym(1/(1-float64(k)*low), x)
	}
	p.A = mat.DenseCopyOf(x)
	subtract(&t, x, in)
	p.Distance = mat.Norm(&t, 2)
	return p, nil
}

var errEigen = errors.New("recovery: the eigenvalues of A did not converge")

// semidefinite sets dst to the positive semidefinite matrix nearest to a.
func semidefinite(dst, a *mat.SymDense) error {
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		return errEigen
	}
	k := a.SymmetricDim()
	var v mat.Dense
	eig.VectorsTo(&v)
	for t, l := range eig.Values(nil) {
		s := math.Sqrt(max(l, 0))
		for i := range k {
			v.Set(i, t, v.At(i, t)*s)
		}
	}
	dst.SymOuterK(1, &v)
	return nil
}

// subtract sets dst = a − b.
func subtract(dst, a, b *mat.SymDense) {
	for i := range a.SymmetricDim() {
		for j := i; j < a.SymmetricDim(); j++ {
			dst.SetSym(i, j, a.At(i, j)-b.At(i, j))
		}
	}
}

// checkCorrelations checks that a is a symmetric K×K matrix of numbers.
func checkCorrelations(a mat.Matrix) (k int, err error) {
	k, c := a.Dims()
	if k != c || k == 0 {
		return 0, fmt.Errorf("recovery: A is %d×%d, want square and not empty", k, c)
	}
	largest := 0.0
	for i := range k {
		for j := range k {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("recovery: A[%d,%d] = %g", i, j, v)
			}
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range k {
		for j := range i {
			if v, w := a.At(i, j), a.At(j, i); math.Abs(v-w) > 1e-6*largest {
				return 0, fmt.Errorf("recovery: A is not symmetric: A[%d,%d] = %g, A[%d,%d] = %g", i, j, v, j, i, w)
			}
		}
	}
	return k, nil
}
