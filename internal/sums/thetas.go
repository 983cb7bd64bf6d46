package sums

import (
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Thetas adds up the documents' E[θθᵀ], where documents have some topics, or topics are in families: one
// under a Dirichlet prior. With n the tokens of a document by topic, φ its shares of the families, and s_f
// the tokens of family f and Σα of it, θ_k is φ_f·(n_k + α)/s_f in the mean. So with
// c_fg = E[φ_f·φ_g]/(s_f·s_g), where E[φ_f²]/(s_f·(s_f + 1)) is in place of c_ff, E[θθᵀ] is
//
//	c_fg·(n_k + α)(n_l + α), and c_ff·(n_k + α) more on the diagonal.
//
// A sum has the upper triangle of the c_fg·n_k·n_l by rows; for each topic k, of family f, the c_fg·n_k·α by
// g; and the c_fg·α². A document adds 1 at most to each.
type Thetas struct {
	alpha float64
	of    []int     // the family of each topic
	prior []float64 // of each family: Σα
	shift int
}

// NewThetas returns the sums of so many documents with k topics, each of a family or, with nil, all of one.
func NewThetas(k int, of []int, families int, alpha float64, docs int64) *Thetas {
	t := &Thetas{alpha: alpha, of: of, prior: make([]float64, families), shift: shift(docs)}
	if of == nil {
		t.of, t.prior = make([]int, k), make([]float64, 1)
	}
	for _, f := range t.of {
		t.prior[f] += alpha
	}
	return t
}

// Len returns how many numbers a sum has.
func (t *Thetas) Len() int {
	k, families := len(t.of), len(t.prior)
	return triangle(k) + k*families + families*families
}

// parts returns the three parts of a sum.
func (t *Thetas) parts(sum []int64) (square, linear, all []int64) {
	n, m := triangle(len(t.of)), len(t.of)*len(t.prior)
	return sum[:n], sum[n:][:m], sum[n+m:]
}

// Read returns the sum of E[θθᵀ], K×K.
func (t *Thetas) Read(sum []int64) *mat.Dense {
	k, families := len(t.of), len(t.prior)
	square, linear, all := t.parts(sum)
	out := mat.NewDense(k, k, nil)
	for i, f := range t.of {
		for j := i; j < k; j++ {
			g := t.of[j]
			v := unfix(square[j-i], t.shift) + unfix(linear[i*families+g]+linear[j*families+f]+all[f*families+g], t.shift)
			if i == j {
				v += unfix(linear[i*families+f]+all[f*families+f], t.shift) / t.alpha
			}
			out.Set(i, j, v)
			out.Set(j, i, v)
		}
		square = square[k-i:]
	}
	return out
}

// ThetaAdder adds documents to a sum of Thetas.
type ThetaAdder struct {
	*Thetas
	scale     float64
	allBlocks []uint16
	// Of a document: s, c times its weight and the scale, and the products of a topic with others.
	s, c []float64
	row  []float32
}

// Adder returns scratch space to add documents with.
func (t *Thetas) Adder() *ThetaAdder {
	a := &ThetaAdder{Thetas: t, scale: power(t.shift), s: make([]float64, len(t.prior)), c: make([]float64, len(t.prior)*len(t.prior))}
	for b := range estep.Padded(len(t.of)) / estep.BlockSize {
		a.allBlocks = append(a.allBlocks, uint16(b))
	}
	return a
}

// Document adds a document with a weight that has n tokens by topic, in some blocks of topics or, with nil,
// in all. The sum of the squares of the rows of shares is E[φφᵀ]: of one family, 1 and 0.
func (a *ThetaAdder) Document(n []float32, blocks []uint16, shares [2][]float64, weight float64, sum []int64) {
	if blocks == nil {
		blocks = a.allBlocks
	}
	copy(a.s, a.prior)
	for i, v := range n {
		if v > 0 {
			a.s[a.of[estep.Column(blocks, i)]] += float64(v)
		}
	}
	square, linear, all := a.parts(sum)
	k, families, scale := len(a.of), len(a.s), a.scale*weight
	for f, s := range a.s {
		for g, t := range a.s {
			c := (float64(shares[0][f]*shares[0][g]) + float64(shares[1][f]*shares[1][g])) / (s * t)
			if f == g {
				c *= s / (s + 1)
			}
			a.c[f*families+g] = c * scale
			all[f*families+g] += nearest(c * scale * a.alpha * a.alpha)
		}
	}
	a.row = vec.Resize(a.row, len(n))
	most := float32(2 * a.scale)
	for i, v := range n {
		if !(v > 0) {
			continue
		}
		t := estep.Column(blocks, i)
		c, to := a.c[a.of[t]*families:][:families], linear[t*families:]
		for g, c := range c {
			to[g] += nearest(c * float64(v) * a.alpha)
		}
		row := square[t*k-triangle(t-1):] // its place u − t has the topics t and u
		for j := i / estep.BlockSize; j < len(blocks); j++ {
			lo := estep.BlockSize * int(blocks[j])
			from := max(lo, t)
			to := row[from-t : min(lo+estep.BlockSize, k)-t]
			at := estep.BlockSize*j + from - lo
			x := a.row[at:][:len(to)]
			for u := range x {
				x[u] = 0
				if w := n[at+u]; w > 0 {
					x[u] = float32(c[a.of[from+u]]) * w
				}
			}
			addNearest(to, x, v, most, &row[0])
		}
	}
}
