package docstep

import (
	"math"

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
func (d *Document) Compare(costs []float64, r *Rule, pairs []Pair, totals []float64) {
	t, counts := d.T, d.Visible.Counts
	d.moved = vec.Resize(d.moved, len(pairs))
	for i, p := range pairs {
		x, y := totals[p.Into], totals[p.From]
		d.moved[i] = float32((float64(t[p.From])*x - float64(t[p.Into])*y) / (x + y))
	}
	for i, word := range d.Visible.Words {
		row := r.Topics.Row(int(word))
		x, scale := counts[i], 1/dot(t, row)
		for j, p := range pairs {
			y := d.moved[j] * (row[p.Into] - row[p.From]) * scale
			if y < -0.06 || y > 0.06 {
				// −1 and less by rounding alone
				costs[j] -= float64(x) * math.Log1p(max(float64(y), least))
			} else { // to 1e-6 of y, which is small for nearly all pairs
				costs[j] -= float64(x * y * (1 - y*(1.0/2-y*(1.0/3-y*(1.0/4)))))
			}
		}
	}
}

// least is the float32 next to −1.
const least = -1 + 1.0/(1<<24)

// dot returns tᵀb; t may be longer.
func dot(t, b []float32) float32 {
	t = t[:len(b)]
	var sum [4]float32 // which do not wait for each other
	k := 0
	for ; k+4 <= len(b); k += 4 {
		t, b := t[k:k+4:k+4], b[k:k+4:k+4]
		sum[0] += t[0] * b[0]
		sum[1] += t[1] * b[1]
		sum[2] += t[2] * b[2]
		sum[3] += t[3] * b[3]
	}
	for ; k < len(b); k++ {
		sum[0] += t[k] * b[k]
	}
	return sum[0] + sum[1] + sum[2] + sum[3]
}
