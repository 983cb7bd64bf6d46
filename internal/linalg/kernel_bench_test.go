package linalg

import (
	"context"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func reportGFlops(b *testing.B, madds float64) {
	b.ReportMetric(2*madds*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkGemm compares the kernels, on one goroutine, with gonum, which uses
// GOMAXPROCS of them: run it with -cpu 1.
func BenchmarkGemm(b *testing.B) {
	const no, tr = blas.NoTrans, blas.Trans
	for _, sh := range []struct {
		tA, tB  blas.Transpose
		op      string
		m, k, n int
	}{
		{no, no, "NN", 5000, 50, 60},
		{no, no, "NN", 5000, 120, 120},
		{no, no, "NN", 20000, 220, 220},
		{tr, no, "TN", 60, 5000, 50},
		{tr, no, "TN", 110, 5000, 100},
		{tr, no, "TN", 220, 20000, 220},
		{no, tr, "NT", 5000, 50, 60},
		{no, tr, "NT", 5000, 100, 110},
		{no, no, "NN", 50, 50, 5000},
		{no, tr, "NT", 5000, 100, 1500},
		{no, no, "NN", 60, 60, 60},
		{no, no, "NN", 8, 8, 8},
		{no, no, "NN", 2, 3, 4},
		{tr, no, "TN", 4, 4, 4},
	} {
		rnd := newRand(30)
		x, y := operand(rnd, sh.tA, sh.m, sh.k, 0), operand(rnd, sh.tB, sh.k, sh.n, 0)
		z := randMat(rnd, sh.m, sh.n, 0)
		name := fmt.Sprintf("op=%s/m=%d/k=%d/n=%d", sh.op, sh.m, sh.k, sh.n)
		madds := float64(sh.m) * float64(sh.k) * float64(sh.n)
		for _, kr := range available() {
			b.Run(name+"/kernel="+kr.name, func(b *testing.B) {
				for b.Loop() {
					if err := kr.gemm(context.Background(), sh.tA, sh.tB, 1, x, y, 0, z, 1); err != nil {
						b.Fatal(err)
					}
				}
				reportGFlops(b, madds)
			})
		}
		b.Run(name+"/kernel=gonum", func(b *testing.B) {
			for b.Loop() {
				blas64.Gemm(sh.tA, sh.tB, 1, x, y, 0, z)
			}
			reportGFlops(b, madds)
		})
	}
}

func BenchmarkGram(b *testing.B) {
	for _, sh := range [][2]int{{5000, 60}, {5000, 110}, {20000, 220}} {
		n, p := sh[0], sh[1]
		rnd := newRand(31)
		a, c := randMat(rnd, n, p, 0), randMat(rnd, p, p, 0)
		for _, kr := range available() {
			b.Run(fmt.Sprintf("n=%d/p=%d/kernel=%s", n, p, kr.name), func(b *testing.B) {
				for b.Loop() {
					if err := kr.gram(context.Background(), a, c, 1); err != nil {
						b.Fatal(err)
					}
				}
				reportGFlops(b, float64(n)*float64(p)*float64(p+1)/2)
			})
		}
	}
}

func BenchmarkSpMM(b *testing.B) {
	const n = 5000
	for _, density := range []float64{0.01, 0.1} {
		rnd := newRand(32)
		s := randCSR(rnd, n, n, density)
		for _, p := range []int{1, 8, 60, 64, 112} {
			x, dst := randMat(rnd, n, p, 0), randMat(rnd, n, p, 0)
			for _, kr := range available() {
				b.Run(fmt.Sprintf("n=%d/density=%v/p=%d/kernel=%s", n, density, p, kr.name), func(b *testing.B) {
					for b.Loop() {
						if err := kr.spmmParallel(context.Background(), s.rowPtr, s.cols, s.vals, x, dst, false, 1); err != nil {
							b.Fatal(err)
						}
					}
					reportGFlops(b, float64(len(s.cols)*p))
				})
			}
		}
	}
}

// BenchmarkScanBelow searches the upper triangle in blocks of 256 rows on one
// goroutine. hits is the share of the entries found.
func BenchmarkScanBelow(b *testing.B) {
	const n, block = 5000, 256
	for _, k := range []int{50, 100} {
		y := randMat(newRand(33), n, k, 0)
		for i := range n {
			y.Data[i*k] += 3 // most products become positive
		}
		for _, thr := range []float64{-20, 0} {
			for _, kr := range available() {
				b.Run(fmt.Sprintf("n=%d/K=%d/threshold=%v/kernel=%s", n, k, thr, kr.name), func(b *testing.B) {
					var h Hits
					found := 0
					for b.Loop() {
						p := kr.repack(nil, y)
						found = 0
						for lo := 0; lo < n; lo += block {
							h.Reset()
							p.ScanBelow(lo, min(n, lo+block), thr, &h)
							found += len(h.Cols)
						}
					}
					reportGFlops(b, n*(n+1)/2*float64(k))
					b.ReportMetric(float64(found)/(n*(n+1)/2), "hits")
				})
			}
		}
	}
}

func BenchmarkPack(b *testing.B) {
	const n, k = 5000, 100
	y := randMat(newRand(34), n, k, 0)
	b.SetBytes(8 * n * k)
	for b.Loop() {
		Pack(y)
	}
}
