package infer

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/internal/vec"
)

// SPI is the simple probabilistic inverse (lee-2018 §4.3.1): w = B̆h̃, the mean of
// p(topic | word) over the tokens. It is the fastest method and finds every topic of a
// document, but gives some share to most others too. B̆ is Topics.WordTopics or, where that
// is nil, p(k | n) ∝ B_nk a_k by Bayes' rule with the topic shares a of Topics.A.
type SPI struct{}

func (SPI) String() string { return "SPI" }

// Prepare implements Method. O(NK).
func (SPI) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	r, err := c.breve()
	if err != nil {
		return nil, err
	}
	for w := range c.known {
		c.known[w] = !r.empty(int32(w))
	}
	return newInferer("SPI", c, spi{r}), ctx.Err()
}

// breve returns the rows of B̆, each summing to 1 or empty.
func (c *checked) breve() (*rows, error) {
	r := newRows(cmp.Or(c.WordTopics, c.B))
	if c.WordTopics == nil { // p(k | n) ∝ B_nk a_k
		for i, k := range r.idx {
			r.val[i] *= c.mean[k]
		}
	}
	for w := range c.n {
		_, val := r.row(int32(w))
		sum := vec.Sum(val)
		switch {
		case len(val) == 0:
		case c.WordTopics != nil && !(math.Abs(sum-1) <= sumTol):
			return nil, &TopicsError{"WordTopics", w, -1, fmt.Sprintf("sums to %g, not 1 or 0", sum)}
		case sum == 0: // a word of topics without any share: all of them alike
			for i := range val {
				val[i] = 1 / float64(len(val))
			}
		default:
			for i := range val {
				val[i] /= sum
			}
		}
	}
	return r, nil
}

type spi struct{ breve *rows }

func (s spi) scratch() any { return nil }

func (s spi) infer(_ context.Context, dst []float64, d *document, _ any) (Status, int, error) {
	s.breve.project(dst, d)
	vec.Normalise(dst) // rounding
	return Converged, 0, nil
}
