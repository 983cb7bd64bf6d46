package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// DR is the cyclic Douglas–Rachford iteration (lee-2020, Algorithm 2). With the
// reflections R = 2P − I of the three projections of AP, an iteration is
//
//	C1 = ½(I + R_NOR R_PSD) C3,  C2 = ½(I + R_NN R_NOR) C1,  C3 = ½(I + R_PSD R_NN) C2,
//
// and at the end C3 is divided by its sum. Results are about those of AP; the
// matrix has tiny negative entries and may miss the rank by as little (both
// measured in Violations).
//
// No N×N array is needed, and nothing is approximated. With YYᵀ the projection
// of C3 on the positive semidefinite matrices of rank K the first step gives
// C1 = YYᵀ + r₁·eeᵀ, whatever else C3 had. With r₂ = (1 − ΣC1)/N² the second
// gives C1 + r₂ where C1 + 2r₂ ≥ 0, and −r₂ elsewhere. The third is
// PSD(|C2|) + min(C2, 0). Every iterate is thus low-rank plus sparse.
//
// An iteration costs one lookup of negative entries, N²K operations, and two
// eigenproblems, each of 3 or 4 products with K + 10 vectors in O(N·K + nnz(E))
// a vector; E, the entries that are looked up, is 1–45 % of N² on text and
// baskets. Memory: 8·N·K bytes for each of a few blocks and 20 for each
// entry of E, two iterations' worth; where E would take more than 4 GiB the answer is a
// *MemoryError. At the end there is one more lookup.
type DR struct {
	// Iterations is the number of iterations T ≥ 1; 0 means 15.
	Iterations int
	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol, of C3. 0: off.
	Tol float64
	// EigenTol is how far an eigenpair may be off, as for AP; 0 means 1e-5.
	EigenTol float64
}

func (a DR) String() string {
	return methodString("DR", a.iterations(), a.Tol, a.eigenTol())
}

// methodString names a method and the settings that all iterative ones share.
func methodString(name string, iterations int, tol, eigenTol float64, more ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s(iterations=%d", name, iterations)
	if tol > 0 {
		fmt.Fprintf(&s, ", tol=%g", tol)
	}
	fmt.Fprintf(&s, ", eigentol=%g", eigenTol)
	for _, m := range more {
		s.WriteString(", " + m)
	}
	return s.String() + ")"
}

func (a DR) iterations() int {
	if a.Iterations == 0 {
		return DefaultIterations
	}
	return a.Iterations
}

func (a DR) eigenTol() float64 {
	if a.EigenTol == 0 {
		return DefaultEigenTol
	}
	return a.EigenTol
}

// Validate reports settings out of range.
func (a DR) Validate() error {
	if a.Iterations < 0 {
		return fmt.Errorf("rectify: DR: %d iterations", a.Iterations)
	}
	return validTol("DR", a.Tol, a.EigenTol)
}

// Rectify implements Rectifier. The result is a *cooc.LowRankSparse. Nonzeros
// counts the entries that were below zero when the reflection R_NN met them,
// Shift is r₂. Errors: settings or k out of range, eigenpairs that do not converge
// (*EigenError), a matrix with numbers that are not finite, ctx's.
func (a DR) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	res, err := a.rectify(ctx, c, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: DR: %w", err)
	}
	return res, nil
}

func (a DR) rectify(ctx context.Context, c0 cooc.Matrix, k int, opt Options) (*Result, error) {
	n := c0.Dim()
	if err := guardRows("DR", c0, "LR"); err != nil {
		return nil, err
	}
	n2 := float64(n) * float64(n)
	res := &Result{}
	pairs := eigenpairsOf(c0, k, a.eigenTol(), opt)
	op := operator(c0, opt.Workers)
	sum := cooc.Sum(c0) // of C3
	var cur *linalg.LowRankSparse
	limit := opt.within(DefaultMemoryLimit)
	var look lookup
	var spare linalg.CSR // an S that is not needed any more
	for t := 1; t <= a.iterations(); t++ {
		// C1 = YYᵀ + r1: half of C3 goes with the reflection.
		if err := pairs.next(ctx, t, op); err != nil {
			return nil, err
		}
		y := pairs.y()
		sumY := sumOf(y)
		r1 := (1 - 2*sumY + sum) / n2
		r2 := (sumY - sum) / n2 // (1 − ΣC1)/N²

		// C2 = YYᵀ + r1 + r2 but for the entries where C1 + 2r2 < 0. Those and
		// the ones where C2 < 0 are looked up.
		b := r1 + r2
		shift := min(b, b+r2)
		// Beside F there are two S, a half more than AP needs an entry.
		found, _, err := look.negativePart(ctx, y, shift, max(1, mostEntries(n, k, limit)*2/3), opt.Workers)
		if d := (*tooDense)(nil); errors.As(err, &d) {
			err = &tooDense{entries: d.entries * 3 / 2}
		}
		if err != nil {
			return nil, refused(err, "DR", n, k, limit)
		}
		// |C2| = YYᵀ + b + F, and S = min(C2, 0). F takes the place of what was found.
		f := found
		reflected := func(p int) (low, c2 float64) {
			low = b - (found.Vals[p] + shift) // (YYᵀ)_ij + b
			if low+r2 < 0 {
				return low, -r2
			}
			return low, low
		}
		negative := 0
		for p := range found.Vals {
			if _, c2 := reflected(p); c2 < 0 {
				negative++
			}
		}
		s := linalg.CSR{RowPtr: make([]int, n+1), Cols: sized(spare.Cols, negative)[:0], Vals: sized(spare.Vals, negative)[:0]}
		lifted := 0
		sumS := 0.0
		for i := range n {
			for p := found.RowPtr[i]; p < found.RowPtr[i+1]; p++ {
				low, c2 := reflected(p)
				if low+r2 < 0 {
					lifted++
				}
				f.Vals[p] = math.Abs(c2) - low
				if c2 < 0 {
					s.Cols, s.Vals = append(s.Cols, found.Cols[p]), append(s.Vals, c2)
					sumS += c2
				}
			}
			s.RowPtr[i+1] = len(s.Cols)
		}

		// C3 = PSD(|C2|) + S.
		abs := &linalg.LowRankSparse{Y: y, R: b, E: f}
		err = pairs.next(ctx, t, func(ctx context.Context, dst, x blas64.General) error {
			return abs.Mul(ctx, dst, x, opt.Workers)
		})
		if err != nil {
			return nil, err
		}
		z := pairs.y()
		next := &linalg.LowRankSparse{Y: z, E: s}
		var change float64
		if cur == nil {
			change, err = firstDistance(ctx, c0, next, opt.Workers)
		} else {
			change, err = distanceBetween(ctx, cur, next, opt.Workers)
		}
		if err != nil {
			return nil, err
		}
		look.spare = f
		if cur != nil {
			spare = cur.E
		}
		cur, sum = next, sumOf(z)+sumS
		op = func(ctx context.Context, dst, x blas64.General) error { return next.Mul(ctx, dst, x, opt.Workers) }
		res.Iterations, res.Shift = t, r2
		res.Products, res.ColdStarts = pairs.products, pairs.cold
		res.Eigenvalues = append(res.Eigenvalues[:0], pairs.theta()...)
		res.Changes = append(res.Changes, change)
		res.Nonzeros = append(res.Nonzeros, lifted)
		if opt.Progress != nil {
			opt.Progress(t, a.iterations(), change)
		}
		if a.Tol > 0 && change <= a.Tol {
			res.Status = Converged
			break
		}
	}
	if !(sum > 0) {
		return nil, fmt.Errorf("the result sums to %g and cannot be divided by it", sum)
	}
	for i := range cur.Y.Data {
		cur.Y.Data[i] *= math.Sqrt(1 / sum)
	}
	s2 := 0.0
	for i := range cur.E.Vals {
		cur.E.Vals[i] *= 1 / sum
		s2 += cur.E.Vals[i] * cur.E.Vals[i]
	}
	out, err := lowRankSparse(cur)
	if err != nil {
		return nil, err
	}
	res.C = out.Plain()
	v := &Violations{SumError: cooc.Sum(out) - 1}
	if v.MinEntry, v.NegativeSum, err = negativeEntries(ctx, cur, opt.Workers); err != nil {
		return nil, err
	}
	c2, err := frobenius2(ctx, out, opt.Workers)
	if err != nil {
		return nil, err
	}
	v.RankResidual = math.Sqrt(s2 / c2)
	res.Violations = v
	return res, nil
}

// lowRankSparse hands a matrix over to the exported form.
func lowRankSparse(m *linalg.LowRankSparse) (*cooc.LowRankSparse, error) {
	var e *cooc.Sparse
	if m.E.RowPtr != nil {
		var err error
		if e, err = cooc.NewSparse(m.Y.Rows, m.E.RowPtr, m.E.Cols, m.E.Vals); err != nil {
			return nil, err
		}
	}
	var y *mat.Dense
	if m.Y.Cols > 0 {
		y = new(mat.Dense)
		y.SetRawMatrix(m.Y)
	}
	return cooc.NewLowRankSparse(y, m.R, e)
}
