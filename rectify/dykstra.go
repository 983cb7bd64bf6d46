package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Dykstra is Dykstra's algorithm (Boyle and Dykstra 1986) on the three sets of [AP]. In the
// intersection of convex sets it finds the nearest matrix, AP just some matrix. Each set S
// keeps a correction P_S, 0 at first, and its turn is
//
//	Y = Π_S(X + P_S),  P_S ← X + P_S − Y,  X ← Y.
//
// Only for K = N are the positive semidefinite matrices of rank K convex; for K < N nothing
// is guaranteed.
//
// The result is a [*cooc.Dense]. Memory: 16·N² bytes, refused above Options.MemoryLimit,
// and 8·N·K for each of a few blocks. An iteration costs a cold eigenproblem, about
// 2K + 20 products with an N×N array (more where the spectrum is crowded), and one
// product of N²K operations.
type Dykstra struct {
	// Iterations is the number of iterations; 0 means 150.
	Iterations int
	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol, which may be a pause.
	Tol float64
	// EigenTol bounds the residuals of eigenpairs as for AP; 0 means 1e-10.
	EigenTol float64
}

func (a Dykstra) settings() settings {
	return settings{name: "Dykstra", iterations: cmp.Or(a.Iterations, 150), tol: a.Tol, eigenTol: cmp.Or(a.EigenTol, 1e-10), rows: true}
}

func (a Dykstra) String() string { s := a.settings(); return s.string(s.eigen()) }

// Validate reports settings out of range.
func (a Dykstra) Validate() error { return a.settings().validate() }

// Rectify implements Rectifier. Changes are those of the matrix after the projection
// on the non-negative matrices, Nonzeros counts its zeros, and Shift is what the
// projection on the matrices of sum 1 added last. Errors are those of [AP].
func (a Dykstra) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, a, new(dykstraMethod))
}

// bytes: two arrays and the result, and eigenproblems that begin anew each time.
func (a Dykstra) bytes(n, k int, opt Options) int64 {
	return whole(2*eigenBytes(n, k) + float64(denseBytes(n, 3)))
}

// dykstraMethod is Dykstra in the loop.
type dykstraMethod struct {
	// u = X + P_PSD. v = X + P_NN: of any entry one of the two is 0, X ≥ 0 and
	// P_NN ≤ 0. The projection on the matrices of sum 1 is the same with and without
	// a multiple of eeᵀ, and so P_NOR is not needed.
	u, v blas64.General
	off  float64 // ‖X − YYᵀ‖_F
}

// denseRows is how many rows of an N×N array are computed at a time.
const denseRows = 64

func (d *dykstraMethod) begin(ctx context.Context, l *loop) (err error) {
	if b := denseBytes(l.n, 2); b > l.opt.limit() {
		return l.tooMuch(b, "AP or DR, which form none")
	}
	if d.u, err = explicit(ctx, l.m, l.opt.Workers); err != nil {
		return err
	}
	d.v = linalg.NewGeneral(l.n, l.n)
	l.op = func(ctx context.Context, dst, x blas64.General) error {
		return linalg.SymMul(ctx, d.u, x, dst, l.opt.Workers)
	}
	return nil
}

func (d *dykstraMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	// A cold start each time: X + P_PSD keeps the eigenvalues that the rank cuts off,
	// and steps from the previous vectors are slow.
	l.block = nil
	if err := l.next(ctx, t); err != nil {
		return step{}, err
	}
	n := l.n
	y := l.y(blas64.General{})
	r := (1 - sumOf(y)) / (float64(n) * float64(n))
	chunks := parallel.Count(n, denseRows)
	change, apart, zeros := make([]float64, chunks), make([]float64, chunks), make([]int, chunks)
	workers := parallel.Workers(l.opt.Workers, chunks)
	scratch := make([][]float64, workers)
	err := parallel.Chunks(ctx, n, denseRows, workers, func(worker, q, lo, hi int) error {
		scratch[worker] = vec.Resize(scratch[worker], (hi-lo)*n)
		low := blas64.General{Rows: hi - lo, Cols: n, Stride: n, Data: scratch[worker]}
		if err := lowRows(ctx, y, lo, low); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			ui, vi := linalg.Row(d.u, i), linalg.Row(d.v, i)
			for j, l := range linalg.Row(low, i-lo) {
				p := ui[j] - l // P_PSD
				old := max(vi[j], 0)
				if t == 1 { // X may be negative, and P_NN is 0
					old = ui[j]
				}
				w := l + r + min(vi[j], 0)
				x := max(w, 0)
				if x == 0 {
					zeros[q]++
				}
				ui[j], vi[j] = x+p, w
				change[q] += (x - old) * (x - old)
				apart[q] += (x - l) * (x - l)
			}
		}
		return nil
	})
	if err != nil {
		return step{}, err
	}
	s := step{}
	d.off = 0
	for q := range change {
		s.change, d.off, s.zeroed = s.change+change[q], d.off+apart[q], s.zeroed+zeros[q]
	}
	s.change, d.off = math.Sqrt(s.change), math.Sqrt(d.off)
	s.compared = s.change
	l.res.Shift = r
	return s, nil
}

func (d *dykstraMethod) finish(ctx context.Context, l *loop) error {
	d.u = blas64.General{} // before the result is allocated
	sum := 0.0
	for i := range d.v.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := linalg.Row(d.v, i)
		for j, w := range row {
			row[j] = max(w, 0)
			sum += row[j]
		}
	}
	if !(sum > 0) {
		return fmt.Errorf("the result sums to %.9g and cannot be divided by it", sum)
	}
	fro, total := 0.0, 0.0
	for i := range d.v.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := linalg.Row(d.v, i)
		for j := range row {
			row[j] /= sum
			total += row[j]
			fro += row[j] * row[j]
		}
	}
	var m mat.Dense
	m.SetRawMatrix(d.v)
	c, err := cooc.NewDense(&m)
	if err != nil {
		return err
	}
	l.res.C = c
	l.res.Violations = &Violations{SumError: total - 1, RankResidual: d.off / sum / math.Sqrt(fro)}
	return nil
}

// explicit writes a matrix into an array of its own, exactly symmetric.
func explicit(ctx context.Context, c cooc.Matrix, workers int) (blas64.General, error) {
	n := c.Dim()
	a := linalg.NewGeneral(n, n)
	err := parallel.Chunks(ctx, n, denseRows, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			c.RowTo(linalg.Row(a, i), i)
			if j := vec.NotFinite(linalg.Row(a, i)); j >= 0 {
				return fmt.Errorf("entry (%d, %d) of the matrix is %g, %w", i, j, a.Data[i*n+j], cooc.ErrNotFinite)
			}
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		for j := range i {
			a.Data[i*n+j] = a.Data[j*n+i]
		}
	}
	return a, nil
}

// lowRows writes the rows of YYᵀ from lo on to dst.
func lowRows(ctx context.Context, y blas64.General, lo int, dst blas64.General) error {
	if y.Cols == 0 {
		clear(dst.Data)
		return ctx.Err()
	}
	return linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, linalg.Rows(y, lo, lo+dst.Rows), y, 0, dst, 1)
}
