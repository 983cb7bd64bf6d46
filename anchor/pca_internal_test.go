package anchor

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// Against explicit rows, to the rounding of sums of 600 terms; the same bits on
// any number of workers. An empty row adds nothing.
func TestMulTrans(t *testing.T) {
	ctx := context.Background()
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := testutil.NewPlanted(300, 6, 0.3, 4)
	low, err := cooc.NewLowRankSparse(p.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	hole := mat.DenseCopyOf(p.C)
	for i := range 300 {
		hole.Set(i, 17, 0)
		hole.Set(17, i, 0)
	}
	holed, err := cooc.NewDense(hole)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]cooc.Rows{}
	for name, c := range map[string]cooc.Matrix{"moments": m, "low rank": low, "dense": holed} {
		if all[name], err = cooc.NewRows(c); err != nil {
			t.Fatal(err)
		}
	}
	if all["LAW"], err = low.LAW(ctx, 0); err != nil {
		t.Fatal(err)
	}
	for name, own := range all {
		n, d := own.Dims()
		a := mat.NewDense(n, d, nil)
		for i := range n {
			own.RowTo(a.RawRowView(i), i)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		x := mat.NewDense(n, 3, nil)
		for i := range n {
			for j := range 3 {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		var want mat.Dense
		want.Mul(a.T(), x)
		first := mat.NewDense(d, 3, nil)
		for _, w := range []int{1, 3} {
			got := mat.NewDense(d, 3, nil)
			got.Set(0, 0, 5) // is overwritten
			if err := newCentred(own, nil, w).mulTrans(ctx, got, mat.DenseCopyOf(x)); err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got, &want, 1e-12*mat.Norm(&want, 2)) {
				t.Errorf("%s: the product differs", name)
			}
			if w == 1 {
				first.Copy(got)
			} else if !mat.Equal(got, first) {
				t.Errorf("%s: %d workers give other bits", name, w)
			}
		}
	}
}
