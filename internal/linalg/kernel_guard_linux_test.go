package linalg

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/testutil"
)

func guardedMat(t testing.TB, m blas64.General, end bool) blas64.General {
	m.Data = testutil.GuardedCopy(t, m.Data, end)
	return m
}

// TestKernelsStayInBounds runs everything on operands that end, or begin, at a
// page that may not be touched.
func TestKernelsStayInBounds(t *testing.T) {
	for _, kr := range available() {
		for _, end := range []bool{true, false} {
			t.Run(fmt.Sprintf("kernel=%s/end=%v", kr.name, end), func(t *testing.T) {
				rnd := newRand(40)
				for _, sh := range [][3]int{{8, 7, 24}, {16, 9, 17}, {9, 30, 1}, {25, 8, 12}, {7, 1100, 23}, {3, 20, 300}, {13, 29, 1}, {1, 31, 70}, {9, 1100, 1}, {1, 16, 8}} {
					m, k, n := sh[0], sh[1], sh[2]
					for _, tr := range transposes {
						a := guardedMat(t, operand(rnd, tr.tA, m, k, 1), end)
						b := guardedMat(t, operand(rnd, tr.tB, k, n, 0), end)
						c0 := randMat(rnd, m, n, 0)
						c := guardedMat(t, c0, end)
						if err := kr.gemm(context.Background(), tr.tA, tr.tB, 0.5, a, b, 2, c, 1); err != nil {
							t.Fatal(err)
						}
						checkGemm(t, kr, tr.tA, tr.tB, 0.5, a, b, 2, c0, c)
					}
					g := guardedMat(t, randMat(rnd, n, n, 0), end)
					if err := kr.gram(context.Background(), guardedMat(t, randMat(rnd, k, n, 0), end), g, 1); err != nil {
						t.Fatal(err)
					}
				}
				for _, p := range []int{1, 2, 5, 8, 31, 33, 64, 100} {
					s := randCSR(rnd, 19, 23, 0.3)
					x := randMat(rnd, s.cols_, p, 0)
					dst0 := randMat(rnd, s.rows, p, 0)
					want := cloneMat(dst0)
					s.mul(kr, x, want, true)
					dst := guardedMat(t, dst0, end)
					kr.spmmRange(testutil.GuardedCopy(t, s.rowPtr, end), testutil.GuardedCopy(t, s.cols, end), testutil.GuardedCopy(t, s.vals, end),
						guardedMat(t, x, end), dst, 0, s.rows, true)
					if d := diffBits(dst.Data, want.Data); d != "" {
						t.Fatalf("SpMM, p=%d: %s", p, d)
					}
				}
				for _, n := range []int{24, 61} {
					const k = 11
					y := guardedMat(t, randMat(rnd, n, k, 1), end)
					z := products(kr, y)
					p := kr.repack(nil, y)
					p.data = testutil.GuardedCopy(t, p.data, end)
					var h Hits
					h.st.prepare(n)
					h.st.cols = testutil.GuardedCopy(t, h.st.cols, end)
					h.st.vals = testutil.GuardedCopy(t, h.st.vals, end)
					for _, thr := range []float64{0, math.Inf(1)} {
						h.Reset()
						p.ScanBelow(0, n, thr, &h)
						for i := range n {
							checkRow(t, &h, i, z[i*n:(i+1)*n], i, thr)
						}
					}
				}
			})
		}
	}
}
