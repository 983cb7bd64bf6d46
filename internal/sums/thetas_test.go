package sums

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// E[θθᵀ] of documents with some blocks of topics is that of their definition.
func TestThetas(t *testing.T) {
	const k, families = 37, 4
	rng := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{1, families} {
		const alpha = 0.3
		of := make([]int, k)
		for i := range of {
			of[i] = rng.IntN(n)
		}
		x, want := NewThetas(k, of, n, alpha, 20), mat.NewDense(k, k, nil)
		if n == 1 {
			x = NewThetas(k, nil, 0, alpha, 20)
		}
		a, sum := x.Adder(), make([]int64, x.Len())
		for _, blocks := range [][]uint16{{0}, {2}, {0, 2}, {1, 2}, nil} {
			columns := 16 * len(blocks)
			if blocks == nil {
				columns = k
			}
			tokens, all := make([]float32, columns), make([]float64, k)
			for i := range tokens {
				c := i
				if blocks != nil {
					c = 16*int(blocks[i/16]) + i%16
				}
				if c < k && rng.IntN(3) > 0 {
					tokens[i] = 4 * rng.Float32()
					all[c] = float64(tokens[i])
				}
			}
			shares := [2][]float64{{1}, {0}}
			if n > 1 {
				shares = [2][]float64{make([]float64, n), make([]float64, n)}
				for f := range n {
					shares[0][f], shares[1][f] = rng.Float64(), rng.Float64()
				}
			}
			weight, sums := 0.5+rng.Float64(), make([]float64, n)
			for i, v := range all {
				sums[of[i]] += v + alpha
			}
			for i := range k {
				for j := range k {
					f, g := of[i], of[j]
					both := shares[0][f]*shares[0][g] + shares[1][f]*shares[1][g]
					x, y := all[i]+alpha, all[j]+alpha
					v := x * y / (sums[f] * sums[g])
					if f == g {
						v = x * y / (sums[f] * (sums[f] + 1))
					}
					if i == j {
						v += x / (sums[f] * (sums[f] + 1))
					}
					want.Set(i, j, want.At(i, j)+weight*both*v)
				}
			}
			a.Document(tokens, blocks, shares, weight, sum)
		}
		if got := x.Read(sum); !mat.EqualApprox(got, want, 1e-6) { // products in float32
			t.Errorf("%d families: %v, want %v", n, mat.Formatted(got), mat.Formatted(want))
		}
	}
}
