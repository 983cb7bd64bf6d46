package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func elem(m blas64.General, trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return m.Data[i*m.Stride+j]
}

func operand(rnd *rand.Rand, t blas.Transpose, rows, cols, extra int) blas64.General {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return randMat(rnd, rows, cols, extra)
}

// checkGemm compares c with the obvious sum within the bound of rounding errors of
// any order of summation, (k+2)·ε·(|alpha|·Σ|a||b| + |beta·c|), and bit by bit where
// the inner dimension is summed in one chain.
func checkGemm(t *testing.T, kr *kernels, tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c0, c blas64.General) {
	t.Helper()
	m, n, k := c.Rows, c.Cols, a.Cols
	if tA != blas.NoTrans {
		k = a.Rows
	}
	chain := k <= depthMax && (m > 1 && n > 1 || m*k*n <= smallWork)
	opA, opB := make([]float64, k), make([][]float64, n) // a row, all columns
	for j := range opB {
		opB[j] = make([]float64, k)
		for l := range k {
			opB[j][l] = elem(b, tB != blas.NoTrans, l, j)
		}
	}
	for i := range m {
		for l := range k {
			opA[l] = elem(a, tA != blas.NoTrans, i, l)
		}
		for j := range n {
			s, abs := inOrder(opA, opB[j])
			old, got := c0.Data[i*c0.Stride+j], c.Data[i*c.Stride+j]
			want := combine(alpha, s, beta, old)
			if chain && alpha != 0 && k > 0 {
				if got != want {
					t.Fatalf("c[%d,%d] = %v, want the bits of %v", i, j, got, want)
				}
				continue
			}
			bound := math.Abs(alpha) * abs
			if beta != 0 {
				bound += math.Abs(beta * old)
			}
			if !(math.Abs(got-want) <= float64(k+2)*0x1p-53*bound) {
				t.Fatalf("c[%d,%d] = %v, want %v", i, j, got, want)
			}
		}
	}
	for i := range m - 1 {
		for j := n; n > 0 && j < c.Stride; j++ {
			if !math.IsNaN(c.Data[i*c.Stride+j]) {
				t.Fatalf("gap after row %d of c was written", i)
			}
		}
	}
}

var transposes = []struct {
	name   string
	tA, tB blas.Transpose
}{
	{"NN", blas.NoTrans, blas.NoTrans},
	{"NT", blas.NoTrans, blas.Trans},
	{"TN", blas.Trans, blas.NoTrans},
	{"TT", blas.Trans, blas.Trans},
}

var scalars = []struct{ alpha, beta float64 }{{1, 0}, {-1, 1}, {0.7, -0.3}, {2, 0}, {0, 0.5}, {0, 0}}

func TestGemm(t *testing.T) {
	sizes := []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 33, 50}
	eachKernel(t, func(t *testing.T, kr *kernels) {
		for _, tr := range transposes {
			t.Run("op="+tr.name, func(t *testing.T) {
				rnd := newRand(1)
				for x, m := range sizes {
					for y, n := range sizes {
						k := sizes[rnd.IntN(len(sizes))]
						sc := scalars[(x+y)%len(scalars)]
						a := operand(rnd, tr.tA, m, k, rnd.IntN(3))
						b := operand(rnd, tr.tB, k, n, rnd.IntN(3))
						c := randMat(rnd, m, n, rnd.IntN(3))
						c0 := cloneMat(c)
						if sc.beta == 0 {
							for i := range c.Data {
								c.Data[i] = math.NaN() // must be overwritten
							}
						}
						if err := kr.gemm(context.Background(), tr.tA, tr.tB, sc.alpha, a, b, sc.beta, c, 1); err != nil {
							t.Fatal(err)
						}
						checkGemm(t, kr, tr.tA, tr.tB, sc.alpha, a, b, sc.beta, c0, c)
					}
				}
			})
		}
	})
}

// gemmShapes are large enough for several chunks, blocks of the inner dimension
// and each way of cutting.
var gemmShapes = []struct{ m, k, n int }{
	{300, 60, 61},  // tall
	{431, 401, 9},  // tall, three blocks deep
	{400, 30, 130}, // tall, several chunks
	{14, 50, 1111}, // wide
	{5, 385, 777},  // wide, three blocks deep
	{27, 2049, 18}, // long
	{9, 3700, 8},   // long
	{1, 1500, 1},
	{2600, 1, 1},
	{1, 1, 2600},
	{1403, 101, 1}, // times a vector
	{1, 99, 1500},
	{61, 2501, 1},
	{1, 2500, 62},
	{6, 1031, 1},
}

func TestGemmLarge(t *testing.T) {
	testutil.NotWithRace(t)
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(2)
		for x, sh := range gemmShapes {
			for y, tr := range transposes {
				if sh.m > 1 && sh.n > 1 && x != 0 && x != 5 && y != x%3 {
					continue // one operation for the other large shapes
				}
				t.Run(fmt.Sprintf("m=%d/k=%d/n=%d/op=%s", sh.m, sh.k, sh.n, tr.name), func(t *testing.T) {
					sc := scalars[(x+y)%3]
					a := operand(rnd, tr.tA, sh.m, sh.k, 1)
					b := operand(rnd, tr.tB, sh.k, sh.n, 2)
					c0 := randMat(rnd, sh.m, sh.n, 3)
					var first blas64.General
					for _, workers := range []int{1, 2, 3, 8} {
						c := cloneMat(c0)
						if err := kr.gemm(context.Background(), tr.tA, tr.tB, sc.alpha, a, b, sc.beta, c, workers); err != nil {
							t.Fatal(err)
						}
						if workers == 1 {
							checkGemm(t, kr, tr.tA, tr.tB, sc.alpha, a, b, sc.beta, c0, c)
							first = c
						} else if d := diffBits(c.Data, first.Data); d != "" {
							t.Fatalf("%d workers: %s", workers, d)
						}
					}
				})
			}
		}
	})
}

func TestGram(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(3)
		for _, sh := range [][2]int{{1, 1}, {3, 7}, {100, 8}, {513, 25}, {1100, 33}, {600, 61}, {40, 130}, {0, 5}, {5, 0}} {
			n, p := sh[0], sh[1]
			a := randMat(rnd, n, p, 2)
			c0 := randMat(rnd, p, p, 1)
			var first blas64.General
			for _, workers := range []int{1, 2, 3, 8} {
				c := cloneMat(c0)
				if err := kr.gram(context.Background(), a, c, workers); err != nil {
					t.Fatal(err)
				}
				if workers > 1 {
					if d := diffBits(c.Data, first.Data); d != "" {
						t.Fatalf("%d×%d, %d workers: %s", n, p, workers, d)
					}
					continue
				}
				first = c
				column := make([][]float64, p)
				for j := range p {
					column[j] = make([]float64, n)
					for l := range n {
						column[j][l] = a.Data[l*a.Stride+j]
					}
				}
				for i := range p {
					for j := range p {
						s, abs := inOrder(column[i], column[j])
						got := c.Data[i*c.Stride+j]
						if !(math.Abs(got-s) <= float64(n+1)*0x1p-53*abs) {
							t.Fatalf("%d×%d: c[%d,%d] = %v, want %v", n, p, i, j, got, s)
						}
						if got != c.Data[j*c.Stride+i] {
							t.Fatalf("%d×%d: c[%d,%d] and c[%d,%d] differ", n, p, i, j, j, i)
						}
					}
				}
			}
		}
	})
}

// TestGemmNonFinite: a NaN or infinity reaches exactly the row or column that
// depends on it, zeros of the other factor notwithstanding.
func TestGemmNonFinite(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernels) {
		rnd := newRand(4)
		for _, sh := range [][3]int{{9, 5, 11}, {100, 60, 50}, {17, 2048, 9}} {
			t.Run(fmt.Sprint(sh), func(t *testing.T) {
				m, k, n := sh[0], sh[1], sh[2]
				a, b := randMat(rnd, m, k, 0), randMat(rnd, k, n, 0)
				for l := range k {
					a.Data[3*k+l] = 0
				}
				b.Data[(k/2)*n+4] = math.Inf(1) // 0·∞ is NaN
				a.Data[(m-1)*k] = math.NaN()
				c := randMat(rnd, m, n, 0)
				if err := kr.gemm(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, 2); err != nil {
					t.Fatal(err)
				}
				for i := range m {
					for j := range n {
						v := c.Data[i*n+j]
						switch {
						case i == m-1, i == 3 && j == 4:
							if !math.IsNaN(v) {
								t.Fatalf("c[%d,%d] = %v, want NaN", i, j, v)
							}
						case j == 4:
							if !math.IsInf(v, 0) {
								t.Fatalf("c[%d,%d] = %v, want an infinity", i, j, v)
							}
						case math.IsNaN(v) || math.IsInf(v, 0):
							t.Fatalf("c[%d,%d] = %v, want a finite number", i, j, v)
						}
					}
				}
			})
		}
	})
}

// All kernels give the same bits.
func TestKernelsSameBits(t *testing.T) {
	all := available()
	rnd := newRand(5)
	for _, sh := range gemmShapes {
		a, b := randMat(rnd, sh.m, sh.k, 0), randMat(rnd, sh.k, sh.n, 0)
		c0 := randMat(rnd, sh.m, sh.n, 0)
		s := randCSR(rnd, sh.m, sh.k, 0.1)
		var wantC, wantS []float64
		for i, kr := range all {
			c, d := cloneMat(c0), cloneMat(c0)
			if err := kr.gemm(context.Background(), blas.NoTrans, blas.NoTrans, 0.3, a, b, 0.7, c, 1); err != nil {
				t.Fatal(err)
			}
			kr.spmmRange(s.rowPtr, s.cols, s.vals, b, d, 0, sh.m, true)
			if sh.m > 0 && sh.k > 0 && sh.n > 0 { // one column, as of a product with a vector
				kr.spmm(sh.k, s.rowPtr, s.cols, s.vals, b.Data, b.Stride, d.Data, d.Stride, 1, 0, sh.m, true)
			}
			if i == 0 {
				wantC, wantS = c.Data, d.Data
				continue
			}
			if diff := diffBits(c.Data, wantC); diff != "" {
				t.Errorf("%+v: Gemm of %s and %s: %s", sh, kr.name, all[0].name, diff)
			}
			if diff := diffBits(d.Data, wantS); diff != "" {
				t.Errorf("%+v: SpMM of %s and %s: %s", sh, kr.name, all[0].name, diff)
			}
		}
	}
}

func TestGemmCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	rnd := newRand(6)
	a, b, c := randMat(rnd, 30, 4, 0), randMat(rnd, 4, 5, 0), randMat(rnd, 30, 5, 0)
	want := cloneMat(c)
	if err := Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Gemm: %v, want context.Canceled", err)
	}
	if d := diffBits(c.Data, want.Data); d != "" {
		t.Errorf("Gemm wrote after cancellation: %s", d)
	}
	g := randMat(rnd, 4, 4, 0)
	if err := Gram(ctx, a, g, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Gram: %v, want context.Canceled", err)
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		if p, ok := v.(*parallel.Panic); ok {
			v = p.Value
		}
		s, ok := v.(string)
		if !ok || !strings.HasPrefix(s, "linalg: ") || !strings.Contains(s, want) {
			t.Errorf("panic %v, want one of this package that says %q", v, want)
		}
	}()
	f()
}

func TestGemmWrongShapes(t *testing.T) {
	ctx := context.Background()
	m := func(r, c, stride, n int) blas64.General {
		return blas64.General{Rows: r, Cols: c, Stride: stride, Data: make([]float64, n)}
	}
	ok := m(3, 3, 3, 9)
	gemm := func(a, b, c blas64.General) func() {
		return func() { _ = Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, 1) }
	}
	mustPanic(t, "inner dimensions differ", gemm(ok, m(2, 3, 3, 6), ok))
	mustPanic(t, "c is 3×2, want 3×3", gemm(ok, ok, m(3, 2, 2, 6)))
	mustPanic(t, "a is 3×3 with stride 3 but holds 8 numbers", gemm(m(3, 3, 3, 8), ok, ok))
	mustPanic(t, "b is 3×3 with stride 2", gemm(ok, m(3, 3, 2, 9), ok))
	mustPanic(t, "negative size", gemm(ok, m(-3, 3, 3, 9), ok))
	mustPanic(t, "is not a transposition", func() { _ = Gemm(ctx, 'x', blas.NoTrans, 1, ok, ok, 0, ok, 1) })
	mustPanic(t, "c is 3×2, want 3×3", func() { _ = Gram(ctx, ok, m(3, 2, 2, 6), 1) })
}

// FuzzGemm draws shapes, strides, scalars and operations.
func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint16(9), uint16(17), uint16(25), uint8(0), 1.0, 0.0)
	f.Add(uint64(2), uint16(100), uint16(1100), uint16(3), uint8(2), -1.5, 0.5)
	f.Add(uint64(3), uint16(8), uint16(193), uint16(250), uint8(1), 1.0, 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, m, k, n uint16, op uint8, alpha, beta float64) {
		rnd := newRand(seed)
		tr := transposes[op%4]
		mm, kk, nn := int(m%300), int(k%1300), int(n%300)
		if mm*kk*nn > 2_000_000 || math.Abs(alpha) > 1e9 || math.Abs(beta) > 1e9 || math.IsNaN(alpha) || math.IsNaN(beta) ||
			alpha != 0 && math.Abs(alpha) < 1e-9 || beta != 0 && math.Abs(beta) < 1e-9 {
			t.Skip()
		}
		a := operand(rnd, tr.tA, mm, kk, rnd.IntN(9))
		b := operand(rnd, tr.tB, kk, nn, rnd.IntN(9))
		c0 := randMat(rnd, mm, nn, rnd.IntN(9))
		for _, kr := range available() {
			c := cloneMat(c0)
			if err := kr.gemm(context.Background(), tr.tA, tr.tB, alpha, a, b, beta, c, 1+rnd.IntN(3)); err != nil {
				t.Fatal(err)
			}
			checkGemm(t, kr, tr.tA, tr.tB, alpha, a, b, beta, c0, c)
		}
	})
}
