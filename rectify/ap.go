package rectify

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// AP is alternating projection (lee-2020, Algorithm 1). An iteration projects on
// the positive semidefinite matrices of rank K (the K algebraically largest
// eigenpairs, negative eigenvalues clipped), on the matrices of sum 1 (a number
// added to every entry), and on the non-negative matrices (negative entries set to
// zero). At the end the matrix is divided by its sum.
//
// After the first projection the iterate is exactly YYᵀ + r·eeᵀ + E with a sparse E, and
// only that form is kept. An iteration costs N²K operations for the scan for negative
// entries and 3 or 4 products with K + 10 vectors. Memory: 8·N·K bytes for each of a few
// blocks, and some 48 for each entry of E, which has 1–20 % of N² entries on texts, and up
// to half if nearly all words are rare, as in baskets.
//
// The result is a [*cooc.LowRankSparse], non-negative and of sum 1.
type AP struct {
	// Iterations is the number of iterations; 0 means 15.
	Iterations int
	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol.
	Tol float64
	// EigenTol bounds the residual ‖Cu − λu‖ of each of the K eigenpairs by
	// EigenTol·λ_K, from 1e-13 to 0.1; 0 means 1e-5.
	EigenTol float64
}

func (a AP) settings() settings {
	return settings{name: "AP", iterations: cmp.Or(a.Iterations, 15), tol: a.Tol, eigenTol: cmp.Or(a.EigenTol, 1e-5), rows: true}
}

func (a AP) String() string { s := a.settings(); return s.string(s.eigen()) }

// Validate reports settings out of range.
func (a AP) Validate() error { return a.settings().validate() }

// Rectify implements Rectifier. Errors: settings or k out of range, a matrix that
// has no rows or holds numbers that are not finite, eigenpairs that do not converge,
// [*MemoryError], ctx's.
func (a AP) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, a, new(apMethod))
}

// bytes: half of all entries may be in E.
func (a AP) bytes(n, k int, opt Options) int64 {
	return whole(eigenBytes(n, k) + float64(perEntry/2*float64(n)*float64(n)))
}

// apMethod is AP in the loop.
type apMethod struct {
	cur   linalg.LowRankSparse // C_t
	sum   float64              // of C_t
	scan  scanner
	moved moves
	spare blas64.General // an old Y
}

func (a *apMethod) begin(context.Context, *loop) error { return nil }

func (a *apMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	if err := l.next(ctx, t); err != nil {
		return step{}, err
	}
	n := float64(l.n)
	y := l.y(a.spare)
	r := (1 - sumOf(y)) / (n * n) // makes the sum of YYᵀ + r·eeᵀ one
	e, sumE, err := l.negativePart(ctx, &a.scan, y, r, 2)
	if err != nil {
		return step{}, err
	}
	next := linalg.LowRankSparse{Y: y, R: r, E: e}
	var change float64
	if t > 1 {
		change, err = a.moved.changeOf(ctx, &a.cur, &next, l.opt.Workers)
	} else {
		change, err = firstChange(ctx, l.m, &next, l.theta(), l.opt.Workers)
	}
	if err != nil {
		return step{}, err
	}
	a.scan.spare, a.spare = a.cur.E, a.cur.Y
	a.cur, a.sum = next, 1+sumE
	l.multiplyBy(&a.cur)
	l.res.Shift = r
	return step{change: change, compared: change, zeroed: len(e.Cols)}, nil
}

func (a *apMethod) finish(ctx context.Context, l *loop) error {
	a.scan, a.moved, a.spare = scanner{}, moves{}, blas64.General{}
	s := 1 / a.sum
	floats.Scale(math.Sqrt(s), a.cur.Y.Data)
	floats.Scale(s, a.cur.E.Vals)
	a.cur.R *= s
	c, err := lowRankSparse(&a.cur)
	if err != nil {
		return err
	}
	l.res.C = c
	l.res.Violations = &Violations{SumError: vec.Sum(c.Marginals()) - 1}
	l.res.Violations.RankResidual, err = beyondRank(ctx, &a.cur, l.opt.Workers)
	return err
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
