// Package synth draws the synthetic models of papers, for the programs that
// repeat their experiments and for tests.
package synth

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
)

// Scattered draws the model of fu-2018 §5: B (n×k) of independent exponential
// numbers, each set to zero with probability ½, its first anchors rows (at most
// k of them) replaced by unit vectors, its columns scaled to the sum 1; and
// A = UUᵀ/k + I with U uniform in [0, 1]. C = BABᵀ does not sum to 1.
func Scattered(n, k, anchors int, seed uint64) (b, a *mat.Dense) {
	rng := rand.New(rand.NewPCG(seed, 0x5ca77e2ed))
	b, a = mat.NewDense(n, k, nil), mat.NewDense(k, k, nil)
	sum := make([]float64, k)
	for i := range n {
		row := b.RawRowView(i)
		for t := range row {
			if v := rng.ExpFloat64(); rng.Uint64()&1 == 1 {
				row[t] = v
			}
		}
		if i < min(anchors, k) {
			clear(row)
			row[i] = 1
		}
		for t, v := range row {
			sum[t] += v
		}
	}
	for i := range n {
		for t, s := range sum {
			b.Set(i, t, b.At(i, t)/s)
		}
	}
	u := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			u.Set(i, j, rng.Float64())
		}
	}
	a.Mul(u, u.T())
	a.Scale(1/float64(k), a)
	for i := range k {
		a.Set(i, i, a.At(i, i)+1)
	}
	return b, a
}

// Cooccurrence returns C = BABᵀ, exactly symmetric.
func Cooccurrence(b, a *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Product(b, a, b.T())
	n, _ := c.Dims()
	for i := range n {
		for j := range i {
			c.Set(i, j, c.At(j, i))
		}
	}
	return &c
}

// Errors returns ‖B − B̂‖_F² and ‖A − Â‖_F² once the columns of B̂ are matched with
// those of B, one to one, so that the first is least (fu-2018 §5).
func Errors(b, a, gotB, gotA *mat.Dense) (errB, errA float64, err error) {
	n, k := b.Dims()
	if r, c := gotB.Dims(); r != n || c != k {
		return 0, 0, fmt.Errorf("synth: topics are %d×%d, want %d×%d", r, c, n, k)
	}
	if r, c := gotA.Dims(); r != k || c != k {
		return 0, 0, fmt.Errorf("synth: correlations are %d×%d, want %d×%d", r, c, k, k)
	}
	gain := mat.NewDense(k, k, nil)
	for i := range n {
		x, y := b.RawRowView(i), gotB.RawRowView(i)
		for t, v := range x {
			row := gain.RawRowView(t)
			for l, w := range y {
				row[l] -= (v - w) * (v - w)
			}
		}
	}
	to, err := assign.Best(gain)
	if err != nil {
		return 0, 0, err
	}
	for t, l := range to {
		errB -= gain.At(t, l)
		for s, m := range to {
			d := a.At(t, s) - gotA.At(l, m)
			errA += d * d
		}
	}
	return errB, errA, nil
}
