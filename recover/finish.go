package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Correlations is a way to compute A from C and B.
type Correlations uint8

// The ways to compute A.
const (
	// Diagonal is A = D⁻¹C_SSD⁻¹, D = diag(B_S): it uses only the co-occurrence of
	// the anchors (lee-2020, Algorithm 5).
	Diagonal Correlations = iota

	// PseudoInverse is A = B†CB†ᵀ, the least-squares solution of C = BABᵀ
	// (arora-2013 §3, Algorithm 3). It uses all of C. A may have negative entries
	// and is not normalised.
	PseudoInverse

	// Multiplicative minimises ‖C − BABᵀ‖_F over A ≥ 0 by the updates
	// A ← A∘(BᵀCB)/(BᵀB·A·BᵀB), each followed by a division by ΣA, which begin
	// with the A of Diagonal, or of PseudoInverse if Options.Points are given.
	// Entries that are not positive at the start stay 0. The updates end when A
	// changes by less than 1e-4 in the Frobenius norm, at the latest after 100, as in
	// the papers' program.
	Multiplicative

	numCorrelations
)

// String returns the name of the method.
func (c Correlations) String() string {
	if c >= numCorrelations {
		return fmt.Sprintf("Correlations(%d)", uint8(c))
	}
	return [numCorrelations]string{"diagonal", "pseudo-inverse", "multiplicative"}[c]
}

// Limits of Multiplicative.
const (
	maxUpdates = 100
	updateTol  = 1e-4
)

// Finish says how A is computed from C and B, and how both are changed
// afterwards. The zero value computes A by Diagonal and changes nothing.
type Finish struct {
	// Correlations is how A is computed. PseudoInverse and Multiplicative cost
	// one more product of C with K vectors, and 16·N·K bytes.
	Correlations Correlations
	// Smooth, in [0, 1), is added to the zeros of the rows of anchor words in B, whose
	// columns are then divided by their sums (lee-2018 §1.4, with 1e-5); 0 changes nothing.
	// Otherwise a single occurrence of an anchor would rule out all topics but its own. A is
	// computed from B before.
	Smooth float64
}

// Validate reports settings out of range.
func (f Finish) Validate() error {
	switch {
	case f.Correlations >= numCorrelations:
		return fmt.Errorf("recovery: there is no method %v for A", f.Correlations)
	case !(f.Smooth >= 0 && f.Smooth < 1):
		return fmt.Errorf("recovery: smoothing by %g is not in [0, 1)", f.Smooth)
	}
	return nil
}

// suffix describes what differs from the zero value, to follow a method's name.
func (f Finish) suffix() string {
	var s strings.Builder
	if f.Correlations != Diagonal {
		fmt.Fprintf(&s, ", A %v", f.Correlations)
		if f.Correlations == Multiplicative {
			fmt.Fprintf(&s, "(max=%d, tol=%g)", maxUpdates, updateTol)
		}
	}
	if f.Smooth > 0 {
		fmt.Fprintf(&s, ", anchors smoothed by %g", f.Smooth)
	}
	return s.String()
}

// apply computes res.A from res.B, and smooths B.
func (f Finish) apply(ctx context.Context, p *problem, res *Result) (err error) {
	if f.Correlations == PseudoInverse || p.points != nil {
		res.A, err = p.pseudoInverseA(ctx, res.B)
	} else {
		res.A, err = diagonalA(p.rows, res.B, p.anchors)
	}
	if err == nil && f.Correlations == Multiplicative {
		err = p.multiplicativeA(ctx, res)
	}
	if err != nil {
		return err
	}
	if f.Smooth > 0 {
		res.B = smoothAnchors(res.B, p.anchors, f.Smooth)
	}
	return nil
}

// normal returns M = BᵀCB, symmetric to the bit, and G = BᵀB.
func (p *problem) normal(ctx context.Context, b *mat.Dense) (m, g *mat.SymDense, err error) {
	cb := mat.NewDense(p.n, p.k, nil)
	if p.rows.Explicit() { // without the rows whose sum is rounding
		err = p.rows.MulTo(ctx, cb, b, p.workers)
		for i, c := range p.c {
			floats.Scale(c, cb.RawRowView(i))
		}
	} else {
		err = p.rows.Matrix().MulTo(ctx, cb, b, p.workers)
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
			s.SetSym(i, j, float64(0.5*a.At(i, j))+float64(0.5*a.At(j, i)))
		}
	}
	return s
}

// maxCondition is up to where a K×K matrix counts as invertible.
const maxCondition = 1e13

// singular returns the error for a matrix that cannot be inverted. The condition
// number is +Inf or NaN if there is none.
func singular(name string, condition float64, advice string) error {
	if math.IsNaN(condition) || math.IsInf(condition, 0) {
		return fmt.Errorf("recovery: %s is singular; %s", name, advice)
	}
	return fmt.Errorf("recovery: %s is singular (condition number %.3g); %s", name, condition, advice)
}

// pseudoInverseA returns B†CB†ᵀ = G⁻¹MG⁻¹.
func (p *problem) pseudoInverseA(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	m, g, err := p.normal(ctx, b)
	if err != nil {
		return nil, err
	}
	values, v, err := linalg.Eigen(g)
	if err != nil {
		return nil, fmt.Errorf("recovery: BᵀB, of the topics' inner products: %w", err)
	}
	condition := math.Inf(1)
	if values[0] > 0 {
		condition = values[p.k-1] / values[0]
	}
	if !(condition <= maxCondition) {
		return nil, singular("BᵀB, of the topics' inner products,", condition, "the topics are linearly dependent: ask for fewer")
	}
	// G = VΛVᵀ: the columns of V/√Λ give G⁻¹.
	for i := range p.k {
		for j, x := range values {
			v.Set(i, j, v.At(i, j)/math.Sqrt(x))
		}
	}
	inverse, x, a := mat.NewDense(p.k, p.k, nil), mat.NewDense(p.k, p.k, nil), mat.NewDense(p.k, p.k, nil)
	if err := errors.Join(multiply(ctx, inverse, v, v.T()), multiply(ctx, x, inverse, m), multiply(ctx, a, x, inverse)); err != nil {
		return nil, fmt.Errorf("recovery: %w", err)
	}
	return mat.DenseCopyOf(symmetric(a)), nil
}

// multiply sets c = ab, K×K each.
func multiply(ctx context.Context, c *mat.Dense, a, b mat.Matrix) error {
	return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, mat.DenseCopyOf(a).RawMatrix(), mat.DenseCopyOf(b).RawMatrix(), 0, c.RawMatrix(), 1)
}

// multiplicativeA updates the A in res.
func (p *problem) multiplicativeA(ctx context.Context, res *Result) error {
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
		return fmt.Errorf("recovery: multiplicative updates of A cannot begin: the co-occurrence of the anchors sums to %.9g", sum)
	}
	a.Scale(1/sum, a)
	ga, gag := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	next := mat.NewDense(k, k, nil)
	for limited := true; limited; {
		if res.Updates == maxUpdates {
			res.Warnings = append(res.Warnings, fmt.Sprintf("the multiplicative updates of A ended at their limit of %d, with a change of %.2g", maxUpdates, res.Change))
			break
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("recovery: %w", err)
		}
		if err := errors.Join(multiply(ctx, ga, g, a), multiply(ctx, gag, ga, g)); err != nil {
			return fmt.Errorf("recovery: %w", err)
		}
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
			return fmt.Errorf("recovery: after %d multiplicative updates A sums to %.9g", res.Updates+1, sum)
		}
		change := 0.0
		for i := range k {
			row, old := next.RawRowView(i), a.RawRowView(i)
			for j := range row {
				row[j] /= sum
				change += float64((row[j] - old[j]) * (row[j] - old[j]))
			}
		}
		a, next = next, a
		res.Updates++
		res.Change = math.Sqrt(change)
		limited = !(res.Change < updateTol)
	}
	res.A = a
	return nil
}

// smoothAnchors returns a copy of B as Finish.Smooth describes it.
func smoothAnchors(b *mat.Dense, anchors []int, eps float64) *mat.Dense {
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
		floats.Add(sum, out.RawRowView(i))
	}
	for i := range n {
		floats.Div(out.RawRowView(i), sum)
	}
	return out
}

// Bounds of what FitAlpha returns.
const (
	alphaFlat     = 0.1  // each parameter where no Dirichlet distribution matches
	alphaSumMin   = 1e-3 // of α₀
	alphaSumMax   = 1e4
	alphaShareMin = 1e-4 // of α_k/α₀, relative to the mean 1/K
)

// FitAlpha returns the K parameters of the Dirichlet prior of topic proportions
// whose second moments are nearest to the topic correlations A (K×K, of any
// scale; lee-2018 §3.3, Algorithm 4). The proportions of α are the topic shares
// a = A·1, with A scaled to sum 1. Their sum α₀ minimises
//
//	Σ_kl ((α₀a_l + δ_kl)/(α₀ + 1) − Ā_kl)²,
//
// where Ā is A with rows scaled to sum 1. The loss is quadratic in 1/(α₀ + 1), so
// that the minimum is found at once.
//
// A Dirichlet prior has weak negative correlations only, all fitted by one number: FitAlpha
// is for methods that ask for such a prior. The result is bounded: α₀ lies in [10⁻³, 10⁴],
// and no share is below 10⁻⁴/K. Topics with a smaller or negative share do not count in the
// loss. If two words of a document have the same topic no more often than two words of
// different documents (the best α₀ is infinite), every parameter is 0.1.
//
// It fails if A is not square, finite and symmetric with a positive sum. O(K²).
func FitAlpha(a mat.Matrix) ([]float64, error) {
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, err
	}
	rows := mat.DenseCopyOf(a)
	sum := linalg.Sum(rows)
	if !(sum > 0) {
		return nil, errors.New("recovery: α: A does not have a positive sum")
	}
	least := alphaShareMin / float64(k)
	share, alpha := make([]float64, k), make([]float64, k)
	for i := range share {
		share[i] = vec.Sum(rows.RawRowView(i)) / sum
		alpha[i] = max(share[i], 0)
	}
	floats.Scale(1/vec.Sum(alpha), alpha)
	for i, v := range alpha {
		alpha[i] = max(v, least)
	}
	// With t = 1/(α₀ + 1) the loss is Σ(t·d − r)², d = δ_kl − a_l, r = Ā_kl − a_l.
	dd, dr := 0.0, 0.0
	for i := range k {
		if share[i] < least {
			continue
		}
		for j, v := range rows.RawRowView(i) {
			d, r := -alpha[j], v/(sum*share[i])-alpha[j]
			if i == j {
				d++
			}
			dd += float64(d * d)
			dr += float64(d * r)
		}
	}
	if !(dr > 0) {
		for i := range alpha {
			alpha[i] = alphaFlat
		}
		return alpha, nil
	}
	floats.Scale(min(max(dd/dr-1, alphaSumMin), alphaSumMax), alpha)
	return alpha, nil
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
