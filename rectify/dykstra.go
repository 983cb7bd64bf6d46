package rectify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// DefaultDykstraIterations is the number of iterations of Dykstra.
const DefaultDykstraIterations = 150

// Dykstra is Dykstra's algorithm (Boyle and Dykstra 1986) on the three sets of
// AP. Where AP ends in some matrix of the intersection of convex sets, Dykstra's
// algorithm ends in the nearest one, the projection. Each set S keeps a correction
// P_S, 0 at first, and its turn is
//
//	Y = Π_S(X + P_S),  P_S ← X + P_S − Y,  X ← Y.
//
// The positive semidefinite matrices of rank K are convex for K = N alone; for
// K < N nothing is guaranteed. On text it has converged there too, at AP's pace
// or slower, to a matrix as near to C as that of AP; each iteration costs far more.
//
// Memory: 16·N² bytes, refused above MemoryLimit (*MemoryError), and 8·N·K for
// each of a few blocks. An iteration costs an eigenproblem from nothing, about
// 2K + 20 products with the N×N array (more where the spectrum is crowded), and
// one product N²K. The correction of the matrices of sum 1 is a multiple of
// eeᵀ, and that of the non-negative ones lives where the iterate is zero, so
// that neither takes an array of its own.
type Dykstra struct {
	// Iterations is the number of iterations T ≥ 1; 0 means 150.
	Iterations int
	// Tol > 0 stops before Iterations once ‖C_t − C_{t−1}‖_F ≤ Tol; 0: off.
	// The iterate can stand still for a while and go on: it says little.
	Tol float64
	// EigenTol is how far an eigenpair may be off, as for AP; 0 means 1e-10.
	EigenTol float64
	// MemoryLimit is how many bytes of N×N arrays are allowed; 0 means
	// DefaultMemoryLimit, 4 GiB, which is N ≤ 16384.
	MemoryLimit int64
}

func (a Dykstra) String() string {
	return methodString("Dykstra", a.iterations(), a.Tol, a.eigenTol())
}

func (a Dykstra) iterations() int {
	if a.Iterations == 0 {
		return DefaultDykstraIterations
	}
	return a.Iterations
}

func (a Dykstra) eigenTol() float64 {
	if a.EigenTol == 0 {
		return 1e-10
	}
	return a.EigenTol
}

// Validate reports settings out of range.
func (a Dykstra) Validate() error {
	if a.Iterations < 0 {
		return fmt.Errorf("rectify: Dykstra: %d iterations", a.Iterations)
	}
	if a.MemoryLimit < 0 {
		return fmt.Errorf("rectify: Dykstra: a memory limit of %d bytes", a.MemoryLimit)
	}
	return validTol("Dykstra", a.Tol, a.EigenTol)
}

// Rectify implements Rectifier. The result is a *cooc.Dense, non-negative and,
// after the division by its sum, of sum 1. Changes are those of the matrix after
// the turn of the non-negative ones, Nonzeros counts its zeros, and Shift
// is what the turn of the matrices of sum 1 added last. Errors: settings or k out
// of range, *MemoryError, eigenpairs that do not converge (*EigenError), a matrix
// with numbers that are not finite, ctx's.
func (a Dykstra) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	res, err := a.rectify(ctx, c, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: Dykstra: %w", err)
	}
	return res, nil
}

// denseRows is how many rows of an N×N array are computed at a time.
const denseRows = 64

func (a Dykstra) rectify(ctx context.Context, c0 cooc.Matrix, k int, opt Options) (*Result, error) {
	n := c0.Dim()
	if err := guardRows("Dykstra", c0, "LR"); err != nil {
		return nil, err
	}
	if err := guardDense("Dykstra", n, 2, a.MemoryLimit, "AP or DR, which form none"); err != nil {
		return nil, err
	}
	// u = X + P_PSD. v = X + P_NN: of any entry one of the two is 0, X ≥ 0 and
	// P_NN ≤ 0. The projection on the matrices of sum 1 is the same with and
	// without a multiple of eeᵀ, and so P_NOR is not needed.
	u, err := explicit(ctx, c0, opt.Workers)
	if err != nil {
		return nil, err
	}
	// The first X may be negative, and P_NN is 0: v is X in what follows only
	// after the first turn.
	v := linalg.NewGeneral(n, n)
	first := true
	res := &Result{}
	op := func(ctx context.Context, dst, x blas64.General) error {
		return linalg.SymMul(ctx, u, x, dst, opt.Workers)
	}
	chunks := run.Count(n, denseRows)
	var off float64 // ‖X − YYᵀ‖_F
	for t := 1; t <= a.iterations(); t++ {
		// From nothing each time: as X + P_PSD keeps all the eigenvalues that
		// the rank cuts off, warm-started steps are slow.
		pairs := newEigenpairs(n, k, a.eigenTol(), opt.Workers)
		if err := pairs.next(ctx, t, op); err != nil {
			return nil, err
		}
		res.Products += pairs.products
		res.ColdStarts++
		y := pairs.y()
		r := (1 - sumOf(y)) / (float64(n) * float64(n))
		change, apart, zeros := make([]float64, chunks), make([]float64, chunks), make([]int, chunks)
		err = run.Chunks(ctx, n, denseRows, opt.Workers, func(_, q, lo, hi int) error {
			low, err := lowRows(ctx, y, lo, hi)
			if err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				ui, vi := linalg.Row(u, i), linalg.Row(v, i)
				for j, l := range linalg.Row(low, i-lo) {
					p := ui[j] - l // P_PSD
					old := max(vi[j], 0)
					if first {
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
			return nil, err
		}
		first = false
		s, nz := 0.0, 0
		off = 0
		for q := range change {
			s, off, nz = s+change[q], off+apart[q], nz+zeros[q]
		}
		s, off = math.Sqrt(s), math.Sqrt(off)
		res.Iterations, res.Shift = t, r
		res.Eigenvalues = append(res.Eigenvalues[:0], pairs.theta()...)
		res.Changes = append(res.Changes, s)
		res.Nonzeros = append(res.Nonzeros, nz)
		if opt.Progress != nil {
			opt.Progress(t, a.iterations(), s)
		}
		if a.Tol > 0 && s <= a.Tol {
			res.Status = Converged
			break
		}
	}
	u = blas64.General{} // before the result is allocated
	sum := 0.0
	for i, w := range v.Data {
		x := max(w, 0)
		v.Data[i] = x
		sum += x
	}
	if !(sum > 0) {
		return nil, fmt.Errorf("the result sums to %g and cannot be divided by it", sum)
	}
	fro, total := 0.0, 0.0
	for i := range v.Data {
		v.Data[i] /= sum
		total += v.Data[i]
		fro += v.Data[i] * v.Data[i]
	}
	var m mat.Dense
	m.SetRawMatrix(v)
	if res.C, err = cooc.NewDense(&m); err != nil {
		return nil, err
	}
	res.Violations = &Violations{SumError: total - 1, RankResidual: off / sum / math.Sqrt(fro)}
	return res, nil
}

// explicit writes a matrix into an array of its own, exactly symmetric.
func explicit(ctx context.Context, c cooc.Matrix, workers int) (blas64.General, error) {
	n := c.Dim()
	a := linalg.NewGeneral(n, n)
	err := run.Chunks(ctx, n, denseRows, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			c.RowTo(linalg.Row(a, i), i)
			if j := notFinite(linalg.Row(a, i)); j >= 0 {
				return &cooc.EntryError{I: i, J: j, Value: a.Data[i*n+j], Kind: cooc.ErrNotFinite}
			}
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	for i := range n {
		for j := range i {
			a.Data[i*n+j] = a.Data[j*n+i]
		}
	}
	return a, nil
}

// notFinite returns the first index of a number that is not finite, or −1.
func notFinite(x []float64) int {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}

// lowRows computes rows lo ≤ i < hi of YYᵀ.
func lowRows(ctx context.Context, y blas64.General, lo, hi int) (blas64.General, error) {
	rows := linalg.NewGeneral(hi-lo, y.Rows)
	if y.Cols == 0 {
		return rows, ctx.Err()
	}
	yi := blas64.General{Rows: hi - lo, Cols: y.Cols, Stride: y.Stride, Data: y.Data[lo*y.Stride : (hi-1)*y.Stride+y.Cols]}
	return rows, linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, yi, y, 0, rows, 1)
}
