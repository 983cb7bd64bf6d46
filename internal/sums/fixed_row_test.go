package sums

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// Every kernel adds the whole numbers nearest to the products, and nothing beyond the row.
func TestKernelsAddTheNearest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, add := range kernels {
		if !slices.Contains(linalg.Kernels(), name) {
			continue
		}
		for n := range 70 {
			for _, scale := range []float32{1, 1 << 20, 1 << 40, 3.7e8} {
				x, sum := make([]float32, n+9), make([]int64, n+9)
				for i := range x {
					x[i] = float32(math.Exp(-30 * rnd.Float64() * rnd.Float64()))
					sum[i] = rnd.Int64N(1 << 60)
				}
				if n > 4 {
					x[0], x[1], x[2], x[3] = 0, 0.5/scale, 1.5/scale, 2.5/scale // ties
				}
				want := slices.Clone(sum)
				for i, v := range x[:n] {
					want[i] += int64(math.RoundToEven(float64(v * scale)))
				}
				add(sum[:n:n], x, scale, &sum[0])
				if !slices.Equal(sum, want) {
					t.Fatalf("%s, %d numbers times %v: %v, want %v", name, n, scale, sum, want)
				}
			}
		}
	}
}

// Products may be above what kernels take.
func TestAddNearestOfLargeNumbers(t *testing.T) {
	for _, most := range []float32{1, 1 << 11, 1 << 20, 1<<21 - 1} {
		x, sum := []float32{most, most / 3, 0.3}, make([]int64, 3)
		addNearest(sum, x, 1<<40, most*(1<<40), &sum[0])
		for i, v := range x {
			if want := int64(math.RoundToEven(float64(v) * (1 << 40))); sum[i] != want {
				t.Errorf("%v·2^40 is %d, want %d", v, sum[i], want)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	for _, v := range []float64{0, 0.5, 1.5, -0.5, -1.5, 2.4999, exact - 0.5, exact, exact + 1, 1 << 61, -exact, -(1 << 60)} {
		want, _ := new(big.Float).SetFloat64(math.RoundToEven(v)).Int64()
		if got := nearest(v); got != want {
			t.Errorf("%v: %d, want %d", v, got, want)
		}
	}
}

// BenchmarkAddNearest times rows of a large sum.
func BenchmarkAddNearest(b *testing.B) {
	for _, words := range []int{100, 70000} {
		for name, add := range kernels {
			if !slices.Contains(linalg.Kernels(), name) {
				continue
			}
			b.Run(fmt.Sprintf("words=%d/K=100/kernel=%s", words, name), func(b *testing.B) {
				sum, x := make([]int64, words*100), make([]float32, 100)
				for i := range x {
					x[i] = 1 / float32(i+1)
				}
				i := 0
				for b.Loop() {
					next := (i + 7919) % words
					add(sum[i*100:][:100], x, 1<<40, &sum[next*100])
					i = next
				}
			})
		}
	}
}
