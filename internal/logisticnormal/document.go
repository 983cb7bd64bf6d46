package logisticnormal

import (
	"math"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/splitmix"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	// Widest bounds how far a logit is from its mean, and its noise.
	Widest = 30
	// Beginning is how many steps logits need that begin near their document's tokens.
	Beginning = 4
	// farthest bounds a step in a logit.
	farthest = 1.5
)

// Document is what the prior makes of one document, and scratch space for the next. A goroutine
// needs its own.
type Document struct {
	p      *Prior
	theta  []float64 // K: θ at the last η
	Noise  []float64 // K: of Draw
	Counts []float32 // K: space for the tokens by topic
	weight []float64 // K: the information of a topic, ω
	part   []float64 // K: 1/(1 + Ψω)
	along  []float64 // K: (Λ, 1)u, and what is multiplied by (Λ, 1)ᵀ
	u      []float64 // r+1: factors and offset

	held   linalg.CSR  // 1×K, without zeros: ω/(1 + Ψω)
	system []float64   // the upper triangle of the system by rows, then of its factor R
	rows   [][]float64 // r+1: the rows of system; in the end 1/R_ii is the first of row i
}

// NewDocument returns a Document for the prior.
func NewDocument(p *Prior) *Document {
	k := p.K()
	x := make([]float64, 6*k)
	d := &Document{
		p: p, theta: x[:k], Noise: x[k : 2*k], weight: x[2*k : 3*k], part: x[3*k : 4*k], along: x[4*k : 5*k],
		Counts: make([]float32, k),
		held:   linalg.CSR{RowPtr: []int{0, k}, Cols: make([]int32, k), Vals: x[5*k:]},
	}
	for i := range d.held.Cols {
		d.held.Cols[i] = int32(i)
	}
	return d
}

// resize makes space for a system of so many rows.
func (d *Document) resize(size int) {
	d.u, d.rows, d.system = make([]float64, size), make([][]float64, size), make([]float64, d.p.products.Cols)
	rest := d.system
	for i := range d.rows {
		d.rows[i], rest = rest[:size-i:size-i], rest[size-i:]
	}
}

// Weight is what the weights of a document of n tokens sum to when a token is left out of them. Under
// a Dirichlet prior it would be n and the prior's count. Here the other tokens and the prior hold the
// logits of a token's topics, so that without it they are about half as far away.
func Weight(n int64) float64 { return float64(2*float64(n)) + 2.5 }

// Weights sets t to total·θ, θ = softmax(η + sign·Noise). With sign 0, θ is that of the next Move.
func (d *Document) Weights(t, eta []float32, sign, total float64) {
	theta := d.theta
	if sign != 0 {
		theta = d.along // of no use between Draw and Move
	}
	most := math.Inf(-1)
	for k, v := range eta {
		x := float64(v)
		if sign != 0 {
			x += float64(sign * d.Noise[k])
		}
		theta[k] = x
		if x > most { // sooner than max
			most = x
		}
	}
	sum := 0.0
	for k, v := range theta {
		e := exp(v - most)
		theta[k] = e
		sum += e
	}
	scale := 1 / sum
	for k, v := range theta {
		theta[k] = v * scale
		t[k] = float32(v * scale * total)
	}
}

// Move moves η by a step of Newton, where the document has n tokens, and counts of them by topic
// at the weights that Weights has set.
func (d *Document) Move(eta, counts []float32, n float64) {
	d.solve(n)
	p, u := d.p, d.u
	sum := 0.0
	for k, theta := range d.theta {
		b := float64(d.weight[k]*(float64(eta[k])-p.Mean[k])) + float64(counts[k]) - float64(n*theta)
		d.Noise[k] = b // until Draw
		sum += b
	}
	// W(η − μ) has the sum 0: take out its mean by the weights.
	all := sum / (p.share * n)
	for k, weight := range d.weight {
		b := d.Noise[k] - float64(all*weight)
		d.Noise[k] = b
		d.along[k] = b * d.part[k]
	}
	clear(u)
	for k, x := range d.along {
		vec.AddScaled(u, x, p.design(k))
	}
	d.forward()
	d.backward()
	p.logits(d.along, u)
	offset := u[p.factors]
	most := 0.0
	for k, b := range d.Noise {
		x := p.Mean[k] + float64((float64(p.Own[k]*b)+d.along[k])*d.part[k]) - offset - float64(eta[k])
		d.Noise[k] = x
		if x = math.Abs(x); x > most {
			most = x
		}
	}
	scale := 1.0
	if most > farthest {
		scale = farthest / most
	}
	for k, step := range d.Noise {
		mean := p.Mean[k]
		eta[k] = float32(mean + within(float64(eta[k])+float64(scale*step)-mean))
	}
}

// Draw sets Noise to a vector with the covariance V, by signs instead of random numbers: over
// keys the mean of Noise·Noiseᵀ is V. It comes after Move and before Weights.
func (d *Document) Draw(key uint64) {
	s := signs{key: key}
	d.DrawFrom(s.next)
}

// DrawFrom is Draw with numbers of mean 0 and variance 1.
func (d *Document) DrawFrom(next func() float64) {
	p, u := d.p, d.u
	for j := range u {
		u[j] = next()
	}
	d.backward()
	p.logits(d.along, u)
	offset := u[p.factors]
	for k, x := range d.along {
		part := d.part[k]
		d.Noise[k] = within(float64(x*part) - offset + float64(next()*math.Sqrt(p.Own[k]*part)))
	}
}

// within bounds x by Widest.
func within(x float64) float64 {
	if x > Widest {
		return Widest
	}
	if x < -Widest {
		return -Widest
	}
	return x
}

// solve factors the system of the factors and the offset for θ as RᵀR.
func (d *Document) solve(n float64) {
	p := d.p
	if size := p.factors + 1; len(d.u) != size {
		d.resize(size)
	}
	least, informed := n*1e-9, n*p.share
	for k, theta := range d.theta {
		w := max(informed*theta, least)
		part := 1 / (1 + float64(p.Own[k]*w))
		d.weight[k], d.part[k], d.held.Vals[k] = w, part, w*part
	}
	d.held.MulRow(0, p.products, d.system)
	for _, row := range d.rows[:len(d.rows)-1] {
		row[0]++
	}
	for k, to := range d.rows {
		// Row k of the factor is that of the system less multiples of the rows above it.
		above := func(i int) []float64 { return d.rows[i][k-i:][:len(to)] }
		i := 0
		for ; i+4 <= k; i += 4 { // four at a time: to is read and written less often
			r0, r1, r2, r3 := above(i), above(i+1), above(i+2), above(i+3)
			x0, x1, x2, x3 := r0[0], r1[0], r2[0], r3[0]
			for j, v := range to {
				to[j] = v - (float64(x0*r0[j]) + float64(x1*r1[j])) - (float64(x2*r2[j]) + float64(x3*r3[j]))
			}
		}
		for ; i < k; i++ {
			row := above(i)
			x := row[0]
			for j, v := range row {
				to[j] -= float64(x * v)
			}
		}
		inverse := 1 / math.Sqrt(max(to[0], 1e-12))
		to[0] = inverse
		for j := 1; j < len(to); j++ {
			to[j] *= inverse
		}
	}
}

// forward solves Rᵀx = u.
func (d *Document) forward() {
	for i, row := range d.rows {
		u := d.u[i:][:len(row)]
		x := u[0] * row[0]
		u[0] = x
		for j := 1; j < len(row); j++ {
			u[j] -= float64(row[j] * x)
		}
	}
}

// backward solves Rx = u. A sum ends with the number found last: its others need not wait.
func (d *Document) backward() {
	for i := len(d.rows) - 1; i >= 0; i-- {
		row := d.rows[i]
		u := d.u[i:][:len(row)]
		x := u[0]
		for j := len(row) - 1; j > 0; j-- {
			x -= float64(row[j] * u[j])
		}
		u[0] = x * row[0]
	}
}

// Key is the key of the noise of a document in a pass.
func Key(document uint64, pass int) uint64 { return splitmix.Step(document + uint64(pass)<<32) }

// signs are numbers 1 and −1 as good as random.
type signs struct {
	key, bits uint64
	left      int
}

func (s *signs) next() float64 {
	if s.left == 0 {
		s.key = splitmix.Step(s.key)
		s.bits, s.left = s.key, 64
	}
	x := 1 - float64(2*float64(s.bits&1))
	s.bits >>= 1
	s.left--
	return x
}

// exp returns eˣ for x ≤ 0, to 1e-8 of it, and 0 below −87.
func exp(x float64) float64 {
	if x < -87 {
		return 0
	}
	const magic = 3 << 51 // the last bits of k are the exponent of 2
	k := float64(x*math.Log2E) + magic
	r := x - float64((k-magic)*math.Ln2)
	p := 1 + float64(r*(1+float64(r*(1.0/2+float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120+float64(r*(1.0/720+float64(r*(1.0/5040))))))))))))))
	return p * math.Float64frombits((math.Float64bits(k)+1023)<<52)
}
