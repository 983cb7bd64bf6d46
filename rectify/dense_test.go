package rectify_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/rectify"
)

// denseAP is AP on an explicit N×N array, each eigenproblem cold: the reference that
// AP is compared with. eigenTol is that of AP.
func denseAP(t testing.TB, c0 cooc.Matrix, k, iterations int, eigenTol float64) *rectify.Result {
	t.Helper()
	c := golden.Dense(t, c0)
	n := c.Dim()
	cur := linalg.NewGeneral(n, n)
	for i := range n {
		c.RowTo(linalg.Row(cur, i), i)
	}
	op := func(ctx context.Context, dst, x blas64.General) error { return linalg.SymMul(ctx, cur, x, dst, 0) }
	res := &rectify.Result{Stats: rectify.Stats{Status: rectify.IterationLimit}}
	beyond := 0.0 // ‖C_t − YYᵀ‖²
	for range iterations {
		theta, vecs, st, err := linalg.Lanczos(ctx, n, op, linalg.LanczosOptions{Pairs: k, Tol: eigenTol, MaxRestarts: 300, Block: 8})
		if err == nil && !st.Converged {
			err = fmt.Errorf("the eigenpairs did not converge: %+v", st)
		}
		if err != nil {
			t.Fatal(err)
		}
		y := linalg.NewGeneral(n, k)
		r := 1.0
		for j, l := range theta {
			s := 0.0
			for i, v := range linalg.Row(vecs, j) {
				y.Data[i*k+j] = math.Sqrt(max(l, 0)) * v
				s += y.Data[i*k+j]
			}
			r -= s * s
		}
		r /= float64(n) * float64(n)
		change, zeroed := 0.0, 0
		beyond = 0
		sums := make([][3]float64, parallel.Count(n, 64))
		err = parallel.Chunks(ctx, n, 64, 0, func(_, q, lo, hi int) error {
			rows := linalg.NewGeneral(hi-lo, n)
			yi := blas64.General{Rows: hi - lo, Cols: k, Stride: k, Data: y.Data[lo*k:]}
			if err := linalg.Gemm(ctx, blas.NoTrans, blas.Trans, 1, yi, y, 0, rows, 1); err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				old := linalg.Row(cur, i)
				for j, low := range linalg.Row(rows, i-lo) {
					v := low + r
					if v < 0 {
						v = 0
						sums[q][2]++
					}
					sums[q][0] += (v - old[j]) * (v - old[j])
					sums[q][1] += (v - low) * (v - low)
					old[j] = v
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sums {
			change, beyond, zeroed = change+s[0], beyond+s[1], zeroed+int(s[2])
		}
		res.Eigenvalues = theta
		res.Changes = append(res.Changes, math.Sqrt(change))
		res.Nonzeros = append(res.Nonzeros, zeroed)
	}
	sum, whole := 0.0, 0.0
	for _, v := range cur.Data {
		sum, whole = sum+v, whole+v*v
	}
	for i := range cur.Data {
		cur.Data[i] /= sum
	}
	var m mat.Dense
	m.SetRawMatrix(cur)
	res.C = newDense(t, &m)
	res.Iterations = iterations
	res.Violations = &rectify.Violations{SumError: vec.Sum(res.C.Marginals()) - 1, RankResidual: math.Sqrt(beyond / whole)}
	return res
}

// apOf is AP, or the dense reference for it with the same settings.
func apOf(t testing.TB, dense bool, a rectify.AP, c cooc.Matrix, k int) *rectify.Result {
	t.Helper()
	if !dense {
		return rectified(t, a, c, k)
	}
	if a.Iterations == 0 {
		a.Iterations = 15
	}
	if a.EigenTol == 0 {
		a.EigenTol = 1e-10
	}
	return denseAP(t, c, k, a.Iterations, a.EigenTol)
}
