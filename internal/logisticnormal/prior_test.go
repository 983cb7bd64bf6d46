package logisticnormal

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// Of many topics only the largest eigenpairs are found, and they are those of all.
func TestFactorsOfManyTopics(t *testing.T) {
	const k, rank = maxAll + 44, 10
	rng := rand.New(rand.NewPCG(1, 1))
	load, cov := mat.NewDense(k, rank, nil), mat.NewSymDense(k, nil)
	for i := range k {
		for j := range rank {
			load.Set(i, j, 0.4*rng.NormFloat64()*float64(rank-j)/rank)
		}
	}
	cov.SymOuterK(1, load)
	for i := range k {
		cov.SetSym(i, i, cov.At(i, i)+0.5+rng.Float64())
	}
	p, err := From(make([]float64, k), cov, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	// The covariance was made of so many factors: it comes back.
	worst := 0.0
	for i := range k {
		for j := range i {
			worst = max(worst, math.Abs(p.at(i, j)-cov.At(i, j)))
		}
		if math.Abs(p.at(i, i)-cov.At(i, i)) > 1e-9 {
			t.Errorf("variance %d is %v, want %v", i, p.at(i, i), cov.At(i, i))
		}
	}
	if worst > 0.2 { // of entries of up to 2; ten rounds of principal factors, not a fixed point
		t.Errorf("a covariance is wrong by %v", worst)
	}
	rest := mat.NewSymDense(k, nil)
	rest.CopySym(cov)
	p.rest.CopySym(cov)
	values, vectors, err := p.eigen()
	if err != nil {
		t.Fatal(err)
	}
	all, want, err := linalg.Eigen(rest)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range values {
		at := k - len(values) + j
		if math.Abs(v-all[at]) > 1e-8*all[k-1] {
			t.Errorf("eigenvalue %d is %v, want %v", at, v, all[at])
		}
		if j < len(values)-rank { // not those apart from the others
			continue
		}
		if cos := math.Abs(mat.Dot(vectors.ColView(j), want.ColView(at))); cos < 1-1e-6 {
			t.Errorf("eigenvector %d has the cosine %v to that of all pairs", at, cos)
		}
	}
}
