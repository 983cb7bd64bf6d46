package anchor

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// omegaOf puts the blocks of a projection together.
func omegaOf(p Projected, d, dims int) *mat.Dense {
	all := mat.NewDense(d, dims, nil)
	for c := 0; c*blockDims < dims; c++ {
		b := p.omega(d, dims, c, 7)
		_, cols := b.Dims()
		all.Slice(0, d, c*blockDims, c*blockDims+cols).(*mat.Dense).Copy(b)
	}
	return all
}

// 200×150 entries: the mean, the variance 1/dims and the parts of either sign
// are those asked for to four standard errors; all projections keep squared
// lengths on average.
func TestOmega(t *testing.T) {
	const d, dims = 200, 150
	for _, p := range []Projected{{}, {Sparse: true}, {Sparse: true, Density: 1.0 / 3}, {Sparse: true, Density: 1}} {
		o := omegaOf(p, d, dims).RawMatrix().Data
		n := float64(len(o))
		var sum, squares, fourth, plus, minus float64
		for _, v := range o {
			sum += v
			squares += v * v
			fourth += v * v * v * v
			if v > 0 {
				plus++
			} else if v < 0 {
				minus++
			}
		}
		q := 1.0
		if p.Sparse {
			q = p.density()
		}
		se := math.Sqrt(q / 2 * (1 - q/2) * n)
		if math.Abs(sum) > 4*math.Sqrt(n/dims) || math.Abs(squares-n/dims) > 4*math.Sqrt(fourth) ||
			math.Abs(plus-q/2*n) > 4*se || math.Abs(minus-q/2*n) > 4*se {
			t.Errorf("%v: sum %g, squares %g of %g, %g positive and %g negative of %g", p, sum, squares, n/dims, plus, minus, n)
		}
	}
}

// The projected rows against C̄Ω as a whole, with given points among them.
func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 300
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			v := rng.ExpFloat64()
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
	}
	m, err := cooc.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := cooc.NewRows(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Projected{{}, {Sparse: true}} {
		r, err := p.project(context.Background(), rows, 150, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			rows.RowTo(c.RawRowView(i), i)
		}
		var want mat.Dense
		want.Mul(c, omegaOf(p, n, 150))
		norms, _ := r.Norms2(context.Background(), 1)
		ratio := 0.0
		for i := range n {
			for j := range 150 {
				if v := r.x.Data[i*r.x.Stride+j]; math.Abs(v-want.At(i, j)) > 1e-15 {
					t.Fatalf("%v: entry (%d, %d) = %g, want %g", p, i, j, v, want.At(i, j))
				}
			}
			size := mat.Norm(c.RowView(i), 2)
			ratio += norms[i] / (size * size) / n
		}
		// Rows are all much alike here, so their ratios are one random number:
		// √(2/150) = 0.12 is its standard error.
		if math.Abs(ratio-1) > 0.5 {
			t.Errorf("%v: squared lengths change by %g", p, ratio)
		}
	}
}
