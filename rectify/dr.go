package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// DR is the cyclic Douglas–Rachford iteration (lee-2020, Algorithm 2). With the
// reflections R = 2P − I of the three projections of [AP], an iteration is
//
//	C1 = ½(I + R_NOR R_PSD) C3,  C2 = ½(I + R_NN R_NOR) C1,  C3 = ½(I + R_PSD R_NN) C2,
//
// and at the end C3 is divided by its sum. The result, a [*cooc.LowRankSparse], is near
// that of AP; it has tiny negative entries and misses the rank by as little
// (Violations). A row that sums to less than zero by as little counts as empty.
//
// The iterates are exact and kept as low-rank plus sparse. With YYᵀ the projection of
// C3 on the positive semidefinite matrices of rank K, the first step gives
// C1 = YYᵀ + r₁·eeᵀ, whatever else C3 had. With r₂ = (1 − ΣC1)/N² the second gives
// C1 + r₂ where C1 + 2r₂ ≥ 0, and −r₂ elsewhere. The third is PSD(|C2|) + min(C2, 0).
//
// An iteration costs one scan for negative entries, N²K operations, and two
// eigenproblems, each of 3 or 4 products with K + 10 vectors in O(N·K + nnz(E)) a
// vector. Memory: 8·N·K bytes for each of a few blocks and some 72 for each entry of
// E, which has 1–45 % of N² entries on text and baskets.
type DR struct {
	// Iterations is the number of iterations; 0 means 15.
	Iterations int
	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol, of C3.
	Tol float64
	// EigenTol bounds the residuals of eigenpairs as for AP; 0 means 1e-5.
	EigenTol float64
}

func (a DR) settings() settings {
	return settings{name: "DR", iterations: cmp.Or(a.Iterations, 15), tol: a.Tol, eigenTol: cmp.Or(a.EigenTol, 1e-5), rows: true}
}

func (a DR) String() string { s := a.settings(); return s.string(s.eigen()) }

// Validate reports settings out of range.
func (a DR) Validate() error { return a.settings().validate() }

// Rectify implements Rectifier. Nonzeros counts the entries below zero that the
// reflection R_NN met; Shift is r₂. Errors are those of [AP].
func (a DR) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, a, new(drMethod))
}

// bytes: half of all entries may be in E.
func (a DR) bytes(n, k int, opt Options) int64 {
	return whole(eigenBytes(n, k) + float64(32*float64(n)*float64(k)) + float64(perEntry*3/4*float64(n)*float64(n)))
}

// drMethod is DR in the loop.
type drMethod struct {
	cur   *linalg.LowRankSparse // C3; nil before the first iteration
	sum   float64               // of C3
	scan  scanner
	spare linalg.CSR // an old S
}

func (d *drMethod) begin(_ context.Context, l *loop) error {
	d.sum = vec.Sum(l.c.Marginals())
	return nil
}

func (d *drMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	n2 := float64(l.n) * float64(l.n)
	// C1 = YYᵀ + r1: the reflection cancels half of C3.
	if err := l.next(ctx, t); err != nil {
		return step{}, err
	}
	y := l.y(blas64.General{})
	sumY := sumOf(y)
	r1 := (1 - float64(2*sumY) + d.sum) / n2
	r2 := (sumY - d.sum) / n2 // (1 − ΣC1)/N²

	// C2 = YYᵀ + r1 + r2 except where C1 + 2r2 < 0. These entries are found, and those
	// where C2 < 0. There are two S besides F, half as much again as AP needs.
	b := r1 + r2
	shift := min(b, b+r2)
	found, _, err := l.negativePart(ctx, &d.scan, y, shift, 3)
	if err != nil {
		return step{}, err
	}
	s, sumS, zeroed := reflect(found, d.spare, b, r2, shift)

	// C3 = PSD(|C2|) + S.
	l.multiplyBy(&linalg.LowRankSparse{Y: y, R: b, E: found})
	if err := l.next(ctx, t); err != nil {
		return step{}, err
	}
	next := &linalg.LowRankSparse{Y: l.y(blas64.General{}), E: s}
	var change float64
	if d.cur == nil {
		change, err = firstDistance(ctx, l.m, next, l.opt.Workers)
	} else {
		change, err = distanceBetween(ctx, d.cur, next, l.opt.Workers)
	}
	if err != nil {
		return step{}, err
	}
	d.scan.spare = found
	if d.cur != nil {
		d.spare = d.cur.E
	}
	d.cur, d.sum = next, sumOf(next.Y)+sumS
	l.multiplyBy(next)
	l.res.Shift = r2
	return step{change: change, compared: change, zeroed: zeroed}, nil
}

// reflect makes |C2| = YYᵀ + b + F and S = min(C2, 0) of the entries of YYᵀ + shift
// that were found negative, given with the other sign. F takes the place of the
// entries found, and S the memory of spare. zeroed counts the entries that R_NN meets
// below zero.
func reflect(found, spare linalg.CSR, b, r2, shift float64) (s linalg.CSR, sum float64, zeroed int) {
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
	n := len(found.RowPtr) - 1
	s = linalg.CSR{RowPtr: make([]int, n+1), Cols: vec.Resize(spare.Cols, negative)[:0], Vals: vec.Resize(spare.Vals, negative)[:0]}
	for i := range n {
		for p := found.RowPtr[i]; p < found.RowPtr[i+1]; p++ {
			low, c2 := reflected(p)
			if low+r2 < 0 {
				zeroed++
			}
			found.Vals[p] = math.Abs(c2) - low
			if c2 < 0 {
				s.Cols, s.Vals = append(s.Cols, found.Cols[p]), append(s.Vals, c2)
				sum += c2
			}
		}
		s.RowPtr[i+1] = len(s.Cols)
	}
	return s, sum, zeroed
}

func (d *drMethod) finish(ctx context.Context, l *loop) error {
	d.scan, d.spare = scanner{}, linalg.CSR{}
	if !(d.sum > 0) {
		return fmt.Errorf("the result sums to %.9g and cannot be divided by it", d.sum)
	}
	floats.Scale(math.Sqrt(1/d.sum), d.cur.Y.Data)
	floats.Scale(1/d.sum, d.cur.E.Vals)
	s2 := vec.Dot(d.cur.E.Vals, d.cur.E.Vals)
	out, err := lowRankSparse(d.cur)
	if err != nil {
		return err
	}
	l.res.C = out
	c2, err := frobenius2(ctx, out, l.opt.Workers)
	if err != nil {
		return err
	}
	l.res.Violations = &Violations{SumError: vec.Sum(out.Marginals()) - 1, RankResidual: math.Sqrt(s2 / c2)}
	return nil
}
