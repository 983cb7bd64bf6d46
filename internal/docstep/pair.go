package docstep

import (
	"slices"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Pair is two topics that may become one.
type Pair struct{ Into, From int } // Into < From

// Compare adds to the costs of the pairs the log-likelihood that the document's visible tokens
// lose if the two topics become one, their weights in the document added up. With
// B = (R_i·B_i + R_j·B_j)/(R_i + R_j), R_i being the tokens of topic i, totals, the probability
// p of a token changes by
//
//	(t_i + t_j)·B − t_i·B_i − t_j·B_j = (t_j·R_i − t_i·R_j)/(R_i + R_j) · (B_i − B_j).
func (d *Document) Compare(costs []float64, r *Rule, pairs []Pair, totals []float64) error {
	t, counts := d.T, d.Visible.Counts
	if r.blocks != nil {
		d.all = vec.Resize(d.all, r.Topics.Stride)
		clear(d.all)
		estep.Spread(d.all, t, r.blocks)
		t = d.all
	}
	d.moved, d.near = d.moved[:0], d.near[:0]
	near := slices.Max(r.Prior) + leastNear
	for i, p := range pairs {
		if r.blocks != nil && max(t[p.From], t[p.Into]) < near {
			continue
		}
		x, y := totals[p.Into], totals[p.From]
		d.moved = append(d.moved, float32((float64(float64(t[p.From])*x)-float64(float64(t[p.Into])*y))/(x+y)))
		d.near = append(d.near, i)
	}
	d.sums = vec.Resize(d.sums, len(counts))
	if err := d.Products(r.Topics, d.Visible.Words, counts, d.sums); err != nil {
		return err
	}
	for i, word := range d.Visible.Words {
		row := r.Topics.Row(int(word))
		x, scale := counts[i], 1/d.sums[i]
		for at, j := range d.near {
			p := pairs[j]
			y := d.moved[at] * (row[p.Into] - row[p.From]) * scale
			if y < -0.06 || y > 0.06 {
				// −1 and less by rounding alone
				costs[j] -= float64(float64(x) * arith.Log(1+max(float64(y), least)))
			} else { // to 1e-6 of y, which is small for nearly all pairs
				costs[j] -= float64(x * y * (1 - float32(y*(1.0/2-float32(y*(1.0/3-float32(y*(1.0/4))))))))
			}
		}
	}
	return nil
}

// leastNear tokens of a topic are the least with which a document that has some topics alone counts
// for its pairs.
const leastNear = 0.05

// least is the float32 next to −1.
const least = -1 + 1.0/(1<<24)
