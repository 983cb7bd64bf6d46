package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
)

// One token is exact with a single particle; two come to the exact probability, by 50,000 particles to
// within 1 %: the standard error is a fifth of that.
func TestLeftToRightExact(t *testing.T) {
	topics := infer.Topics{B: mat.NewDense(3, 2, []float64{0.7, 0.1, 0.2, 0.3, 0.1, 0.6}), Alpha: []float64{0.3, 0.7}}
	rng := rand.New(rand.NewPCG(1, 2))
	if got, want := leftToRightOf(topics, []int32{0}, 1, rng), math.Log(0.3*0.7+0.7*0.1); math.Abs(got-want) > 1e-12 {
		t.Errorf("one token: %v, want %v", got, want)
	}
	want := 0.0 // over the topics of both tokens, whose Pólya urn has the weights α
	for i, a := range topics.Alpha {
		for j, b := range topics.Alpha {
			if i == j {
				b++
			}
			want += a * b / 2 * topics.B.At(0, i) * topics.B.At(2, j)
		}
	}
	if got := leftToRightOf(topics, []int32{0, 2}, 50000, rng); math.Abs(got-math.Log(want)) > 0.01 {
		t.Errorf("two tokens: %v, want %v", got, math.Log(want))
	}
}
