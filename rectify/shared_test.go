package rectify

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/spectrum"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// counting is a matrix that counts the vectors it is multiplied by.
type counting struct {
	cooc.Matrix
	vectors int
}

func (c *counting) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	_, p := x.Dims()
	c.vectors += p
	return c.Matrix.MulTo(ctx, dst, x, workers)
}

// Rectifications that share a start give the bits of those that do not, and
// multiply C by as many vectors as the largest does alone.
func TestShared(t *testing.T) {
	ctx := context.Background()
	m, err := cooc.NewMoments(ctx, golden.Corpus(t, "synth"), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain := func(c cooc.Matrix) []float64 {
		d := golden.Dense(t, c)
		row, all := make([]float64, d.Dim()), []float64(nil)
		for i := range d.Dim() {
			d.RowTo(row, i)
			all = append(all, row...)
		}
		return all
	}
	for _, r := range []Rectifier{AP{Iterations: 3}, DR{Iterations: 2}, ENN{Iterations: 3}, TruncatedEig{}, PALM{Iterations: 2}, Auto{AP: AP{Iterations: 2}}} {
		switch r.(type) {
		case TruncatedEig:
		case AP:
			if testutil.Race {
				continue
			}
		default:
			if testing.Short() || testutil.Race {
				continue
			}
		}
		c := &counting{Matrix: m}
		shared := spectrum.New(c)
		var alone, together []int
		for _, k := range []int{12, 5, 8} {
			c.vectors = 0
			want, err := r.Rectify(ctx, c, k, Options{})
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, c.vectors)
			c.vectors = 0
			got, err := r.Rectify(spectrum.With(ctx, shared), c, k, Options{})
			if err != nil {
				t.Fatal(err)
			}
			together = append(together, c.vectors)
			if !slices.Equal(plain(got.C), plain(want.C)) || got.Products != want.Products || !slices.Equal(got.Changes, want.Changes) {
				t.Errorf("%v, K = %d: not the same", r, k)
			}
		}
		if together[0] != alone[0] || together[1] >= alone[1] || together[2] >= alone[2] {
			t.Errorf("%v: %v vectors instead of %v", r, together, alone)
		}
		if s := shared.Values(); len(s) != 12 || !slices.IsSortedFunc(s, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%v: spectrum %v", r, s)
		}
		// Another matrix does not use what it is not the owner of.
		other := &counting{Matrix: m}
		if _, err := r.Rectify(spectrum.With(ctx, shared), other, 5, Options{}); err != nil || other.vectors != alone[1] {
			t.Errorf("%v: another matrix took %d vectors, %v", r, other.vectors, err)
		}
	}
}
