package sums

import (
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Pair is two topics that may become one.
type Pair struct{ Into, From int } // Into < From

// Losses finds the log-likelihood that documents lose if two topics become one, their weights
// in documents added up. With B = (R_i·B_i + R_j·B_j)/(R_i + R_j), R_i being the tokens of
// topic i, the probability p of a token changes by
//
//	(t_i + t_j)·B − t_i·B_i − t_j·B_j = (t_j·R_i − t_i·R_j)/(R_i + R_j) · (B_i − B_j).
type Losses struct {
	moved []float32 // by pair: (t_j·R_i − t_i·R_j)/(R_i + R_j)
}

// Add adds what a document with the weights t loses to the costs of the pairs. Row i of b is
// that of the document's word i if local, or else row Words[i].
func (l *Losses) Add(costs []float64, pairs []Pair, totals []float64, t []float32, b *estep.Rows, words []int32, counts []float32) {
	l.moved = vec.Resize(l.moved, len(pairs))
	for i, p := range pairs {
		x, y := totals[p.Into], totals[p.From]
		l.moved[i] = float32((float64(t[p.From])*x - float64(t[p.Into])*y) / (x + y))
	}
	for i, word := range words {
		row := b.Row(int(word))
		x, scale := counts[i], 1/dot(t, row)
		for j, p := range pairs {
			y := l.moved[j] * (row[p.Into] - row[p.From]) * scale
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
