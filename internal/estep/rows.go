package estep

import "github.com/jsmf-go/spectral/internal/linalg"

// lanes is how many numbers the widest vector holds. Rows are padded to that.
const lanes = 16

// Padded returns the length of a row of k numbers with its padding.
func Padded(k int) int { return roundUp(k, lanes) }

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// Rows is an N×K matrix of float32. Rows begin at cache lines and are padded with zeros.
type Rows struct {
	N, K, Stride int
	Data         []float32
}

// NewRows returns an n×k matrix of zeros.
func NewRows(n, k int) *Rows {
	s := Padded(k)
	return &Rows{N: n, K: k, Stride: s, Data: linalg.Aligned[float32](n * s)}
}

// Reset makes r an N×k matrix of zeros in the same memory; k is at most what it began
// with.
func (r *Rows) Reset(k int) {
	r.K, r.Stride = k, Padded(k)
	r.Data = r.Data[:r.N*r.Stride]
	clear(r.Data)
}

// Row returns row i without its padding.
func (r *Rows) Row(i int) []float32 { return r.Data[i*r.Stride:][:r.K:r.K] }

// Drain multiplies rows [lo, hi) of dst, which are stride apart, by keep, adds those of
// the parts times scale, in the order of the parts, and sets the parts to zero.
func Drain(dst []float64, stride int, keep, scale float64, parts []*Rows, lo, hi int) {
	for i := lo; i < hi; i++ {
		keep := keep
		for _, p := range parts {
			from := p.Row(i)
			to := dst[i*stride:][:len(from)]
			for k, v := range from {
				to[k] = keep*to[k] + scale*float64(v)
			}
			clear(from)
			keep = 1
		}
	}
}
