package logisticnormal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// example returns a prior of k topics with a random covariance, and that.
func example(t *testing.T, k int) (*Prior, *mat.SymDense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(k), 3))
	shares := make([]float64, k)
	for i := range shares {
		shares[i] = 0.1 + rng.Float64()
	}
	p := New(shares)
	r := min(k, 5)
	load, cov := mat.NewDense(k, r, nil), mat.NewSymDense(k, nil)
	for i := range k {
		for j := range r {
			load.Set(i, j, 0.7*rng.NormFloat64())
		}
	}
	cov.SymOuterK(1, load)
	for i := range k {
		cov.SetSym(i, i, cov.At(i, i)+0.3+rng.Float64())
	}
	if err := p.factor(cov); err != nil {
		t.Fatal(err)
	}
	return p, cov
}

// obvious returns V and the next η by dense matrices.
func obvious(p *Prior, eta, counts []float32, n float64) (*mat.Dense, []float64) {
	k := p.K()
	theta, sum := make([]float64, k), 0.0
	for i, v := range eta {
		theta[i] = math.Exp(float64(v))
		sum += theta[i]
	}
	w := mat.NewDense(k, k, nil)
	for i := range k {
		theta[i] /= sum
	}
	for i := range k {
		for j := range k {
			w.Set(i, j, -p.share*n*theta[i]*theta[j])
		}
		w.Set(i, i, w.At(i, i)+p.share*n*theta[i])
	}
	var prec, h, v mat.Dense
	prec.Inverse(p.Covariance())
	h.Add(&prec, w)
	v.Inverse(&h)
	g := make([]float64, k)
	for i := range k {
		g[i] = float64(counts[i]) - n*theta[i]
		for j := range k {
			g[i] -= prec.At(i, j) * (float64(eta[j]) - p.Mean[j])
		}
	}
	var step mat.VecDense
	step.MulVec(&v, mat.NewVecDense(k, g))
	most := mat.Norm(&step, math.Inf(1))
	out := make([]float64, k)
	for i := range k {
		out[i] = float64(eta[i]) + step.AtVec(i)*min(1, farthest/most)
	}
	return &v, out
}

// A step and the covariance are those of dense matrices.
func TestStep(t *testing.T) {
	for _, k := range []int{2, 7, 32, 45} {
		p, _ := example(t, k)
		rng := rand.New(rand.NewPCG(uint64(k), 4))
		eta, counts, w := make([]float32, k), make([]float32, k), make([]float32, k)
		n := 0.0
		for i := range eta {
			eta[i] = float32(p.Mean[i] + rng.NormFloat64())
			counts[i] = float32(rng.ExpFloat64() * 5)
			n += float64(counts[i])
		}
		v, want := obvious(p, eta, counts, n)
		d := NewDocument(p)
		d.Weights(w, eta, 0, n)
		d.Move(eta, counts, n)
		for i := range want {
			if math.Abs(float64(eta[i])-want[i]) > 2e-3 {
				t.Errorf("%d topics: η_%d = %v, want %v", k, i, eta[i], want[i])
			}
		}
		second := mat.NewDense(k, k, nil)
		const draws = 40000
		for i := range draws {
			d.Draw(uint64(i))
			x := mat.NewVecDense(k, d.Noise)
			second.RankOne(second, 1.0/draws, x, x)
		}
		for i := range k {
			for j := range k {
				scale := math.Sqrt(v.At(i, i) * v.At(j, j))
				if got := second.At(i, j); math.Abs(got-v.At(i, j)) > 0.03*scale {
					t.Errorf("%d topics: covariance %d, %d of the draws is %.4f, want %.4f of at most %.4f", k, i, j, got, v.At(i, j), scale)
				}
			}
		}
	}
}

func TestExp(t *testing.T) {
	for x := 0.0; x > -86; x -= 0.0137 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-8*want {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if exp(-1000) != 0 {
		t.Error("exp(-1000) is not 0")
	}
}

// Factors keep a covariance: exactly with few topics, and the variances with many.
func TestFactor(t *testing.T) {
	for _, k := range []int{2, 32, 60} {
		p, cov := example(t, k)
		got := p.Covariance()
		for i := range k {
			for j := range i + 1 {
				if math.Abs(got.At(i, j)-cov.At(i, j)) > 0.05 {
					t.Errorf("%d topics: covariance %d, %d is %v, want %v", k, i, j, got.At(i, j), cov.At(i, j))
				}
			}
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	for _, k := range []int{20, 50, 100} {
		rng := rand.New(rand.NewPCG(uint64(k), 4))
		shares := make([]float64, k)
		for i := range shares {
			shares[i] = 0.1 + rng.Float64()
		}
		p := New(shares)
		cov := mat.NewSymDense(k, nil)
		for i := range k {
			cov.SetSym(i, i, 2)
		}
		if err := p.factor(cov); err != nil {
			b.Fatal(err)
		}
		d := NewDocument(p)
		start, counts, w := make([]float32, k), make([]float32, k), make([]float32, k)
		for i := range start {
			start[i] = float32(p.Mean[i] + 2*rng.NormFloat64())
		}
		eta := make([]float32, k)
		for _, tokens := range []float64{10, 100, 1000} {
			b.Run(fmt.Sprintf("k=%d/tokens=%g", k, tokens), func(b *testing.B) {
				for b.Loop() {
					copy(eta, start)
					d.Weights(w, eta, 0, tokens)
					copy(counts, w)
					d.Move(eta, counts, tokens)
					d.Draw(3)
				}
			})
		}
	}
}
