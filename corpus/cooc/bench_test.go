package cooc_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
)

// One product C·X by each form. form=csr-vec is Ĥ(Ĥᵀx) by the sparse library's
// own product with a vector, without the diagonal; form=mat-mul is
// mat.Dense.Mul with a sparse operand (100 of the 2985 documents), which asks for every entry with At(i, j)
// and is slower by orders of magnitude: a form that comes near it does the same.
func BenchmarkMul(b *testing.B) {
	c := golden.Corpus(b, "synth")
	m := newMoments(b, c, cooc.Options{})
	d := golden.Dense(b, m)
	rng := rand.New(rand.NewPCG(1, 1))
	n := m.Dim()
	low, err := cooc.NewLowRankSparse(normal(rng, n, 50), 0, randomSparse(b, rng, n))
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range []int{1, 64} {
		x, dst := normal(rng, n, p), mat.NewDense(n, p, nil)
		for _, f := range []struct {
			name string
			c    cooc.Matrix
		}{{"moments", m}, {"dense", d}, {"lowrank", low}} {
			b.Run(fmt.Sprintf("form=%s/N=%d/p=%d", f.name, n, p), func(b *testing.B) {
				for b.Loop() {
					if err := f.c.MulTo(ctx, dst, x, 1); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(m.Info().Nonzeros), "nnz")
			})
		}
	}
	h := c.Counts() // M×N
	ht := h.T().(*sparse.CSC).ToCSR()
	b.Run(fmt.Sprintf("form=csr-vec/N=%d/p=1", n), func(b *testing.B) {
		x, z, y := make([]float64, n), make([]float64, c.NumDocs()), make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for b.Loop() {
			clear(z)
			clear(y)
			h.MulVecTo(z, false, x)
			ht.MulVecTo(y, false, z)
		}
	})
	b.Run(fmt.Sprintf("form=mat-mul/N=%d/M=100/p=1", n), func(b *testing.B) {
		few, err := c.Select(all(100), nil)
		if err != nil {
			b.Fatal(err)
		}
		h := few.Counts()
		ht := h.T().(*sparse.CSC).ToCSR()
		x, z, y := normal(rng, n, 1), mat.NewDense(100, 1, nil), mat.NewDense(n, 1, nil)
		for b.Loop() {
			z.Mul(h, x)
			y.Mul(ht, z)
		}
	})
}

func BenchmarkRowNorms2(b *testing.B) {
	c := golden.Corpus(b, "synth")
	for b.Loop() {
		if _, err := newMoments(b, c, cooc.Options{}).RowNorms2(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCountPairs(b *testing.B) {
	c := golden.Corpus(b, "synth")
	for _, l := range []int{20, 200, 600} {
		b.Run(fmt.Sprintf("L=%d", l), func(b *testing.B) {
			for b.Loop() {
				countPairs(b, c, all(l))
			}
		})
	}
}
