package logisticnormal

import (
	"math"

	"github.com/jsmf-go/spectral/internal/splitmix"
)

const (
	// Widest bounds how far a logit is from its mean, and its noise.
	Widest = 30
	// Beginning is how many steps logits need that begin near their document's tokens.
	Beginning = 4
	// farthest bounds a step in a logit.
	farthest = 1.5
	// negligible is below what information a topic does not count.
	negligible = 0.03
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
	system []float64 // (r+1)×(r+1): the lower triangle of the system, then of its factor
	u      []float64 // r+1: factors and offset
	active []int     // K: the topics that count, and what they weigh
	amount []float64
}

// NewDocument returns a Document for the prior.
func NewDocument(p *Prior) *Document {
	k := p.K()
	x := make([]float64, 4*k)
	return &Document{p: p, Counts: make([]float32, k), theta: x[:k], Noise: x[k : 2*k], weight: x[2*k : 3*k], part: x[3*k:], active: make([]int, k), amount: make([]float64, k)}
}

// Weights sets t to total·θ, θ = softmax(η + sign·Noise). With sign 0, θ is that of the next Move.
func (d *Document) Weights(t, eta []float32, sign, total float64) {
	theta := d.theta
	if sign != 0 {
		theta = d.part // not needed any more
	}
	most := math.Inf(-1)
	for k, v := range eta {
		x := float64(v)
		if sign != 0 {
			x += sign * d.Noise[k]
		}
		theta[k] = x
		most = max(most, x)
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
	p := d.p
	r := p.factors
	u := d.u
	clear(u)
	for k, theta := range d.theta {
		b := d.weight[k]*(float64(eta[k])-p.Mean[k]) + float64(counts[k]) - n*theta
		d.Noise[k] = b // until Draw
	}
	// W(η − μ) has the sum 0: take out its mean by the weights.
	sum := 0.0
	for _, b := range d.Noise {
		sum += b
	}
	all := 1 / (p.share * n)
	for k := range d.Noise {
		d.Noise[k] -= sum * d.weight[k] * all
		b := d.Noise[k] * d.part[k]
		row := p.load[k*(r+1):][:r+1]
		for j, v := range row {
			u[j] += v * b
		}
	}
	d.forward(u)
	d.backward(u)
	most := 0.0
	for k, b := range d.Noise {
		x := p.Own[k]*(b-d.weight[k]*u[r]) + dot(p.load[k*(r+1):][:r], u)
		d.Noise[k] = p.Mean[k] + x*d.part[k] - float64(eta[k])
		most = max(most, math.Abs(d.Noise[k]))
	}
	scale := 1.0
	if most > farthest {
		scale = farthest / most
	}
	for k, step := range d.Noise {
		x := float64(eta[k]) + scale*step
		eta[k] = float32(min(max(x, p.Mean[k]-Widest), p.Mean[k]+Widest))
	}
}

// Draw sets Noise to a vector with the covariance V, by signs instead of random numbers: over
// keys the mean of Noise·Noiseᵀ is V. It comes after Move and before Weights.
func (d *Document) Draw(key uint64) {
	p := d.p
	r := p.factors
	s := signs{key: key}
	for j := range d.u {
		d.u[j] = s.next()
	}
	d.backward(d.u)
	offset := d.u[r]
	for k := range d.Noise {
		x := dot(p.load[k*(r+1):][:r], d.u) - p.Own[k]*d.weight[k]*offset
		x = x*d.part[k] + s.next()*math.Sqrt(p.Own[k]*d.part[k])
		d.Noise[k] = min(max(x, -Widest), Widest)
	}
}

// solve factors the system of the factors and the offset for θ.
func (d *Document) solve(n float64) {
	p := d.p
	r := p.factors
	size := r + 1
	if len(d.system) != size*size {
		d.system, d.u = make([]float64, size*size), make([]float64, size)
	}
	q := d.system
	clear(q)
	for j := range r {
		q[j*size+j] = 1
	}
	active, least := 0, n*1e-9
	informed := n * p.share
	for k, theta := range d.theta {
		w := max(informed*theta, least)
		d.weight[k] = w
		part := 1 / (1 + p.Own[k]*w)
		d.part[k] = part
		c := w * part
		if w < negligible {
			q[r*size+r] += c
			continue
		}
		d.active[active], d.amount[active] = k, c
		active++
	}
	i := 0
	for ; i+4 <= active; i += 4 { // four at a time: the system is read and written less often
		d.addFour(d.active[i:i+4], d.amount[i:i+4])
	}
	for ; i < active; i++ {
		row, amount := p.load[d.active[i]*size:][:size], d.amount[i]
		for i, v := range row {
			x := v * amount
			to := q[i*size:][: i+1 : i+1]
			for j, y := range row[:len(to)] {
				to[j] += x * y
			}
		}
	}
	column := d.u // free until Move has solved
	for k := range size {
		inverse := 1 / math.Sqrt(max(q[k*size+k], 1e-12))
		q[k*size+k] = inverse // of the factor's entry
		for i := k + 1; i < size; i++ {
			v := q[i*size+k] * inverse
			q[i*size+k], column[i] = v, v
		}
		for i := k + 1; i < size; i++ {
			row, x := q[i*size+k+1:i*size+i+1], column[i]
			for j, v := range column[k+1:][:len(row)] {
				row[j] -= x * v
			}
		}
	}
}

// addFour adds four topics' parts to the system.
func (d *Document) addFour(topics []int, amounts []float64) {
	size := d.p.factors + 1
	row := func(i int) []float64 { return d.p.load[topics[i]*size:][:size] }
	r0, r1, r2, r3 := row(0), row(1), row(2), row(3)
	for i := range size {
		to := d.system[i*size:][: i+1 : i+1]
		x0, x1, x2, x3 := r0[i]*amounts[0], r1[i]*amounts[1], r2[i]*amounts[2], r3[i]*amounts[3]
		y0, y1, y2, y3 := r0[:len(to)], r1[:len(to)], r2[:len(to)], r3[:len(to)]
		for j, v := range to {
			to[j] = v + (x0*y0[j] + x1*y1[j]) + (x2*y2[j] + x3*y3[j])
		}
	}
}

// dot returns xᵀy; y may be longer. Its four sums do not wait for each other.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// forward solves Lx = u, L being the factor of the system.
func (d *Document) forward(u []float64) {
	size := len(u)
	for i := range u {
		row := d.system[i*size:][:i+1]
		v := u[i]
		for j, x := range row[:i] {
			v -= x * u[j]
		}
		u[i] = v * row[i]
	}
}

// backward solves Lᵀx = u.
func (d *Document) backward(u []float64) {
	size := len(u)
	for i := size - 1; i >= 0; i-- {
		row := d.system[i*size:][:i+1]
		x := u[i] * row[i]
		u[i] = x
		for j, v := range row[:i] {
			u[j] -= v * x
		}
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
	x := 1 - 2*float64(s.bits&1)
	s.bits >>= 1
	s.left--
	return x
}

// exp returns eˣ for x ≤ 0, to 1e-8 of it, and 0 below −87.
func exp(x float64) float64 {
	if x < -87 {
		return 0
	}
	const magic = 3 << 51
	k := x*math.Log2E + magic
	n := int64(math.Float64bits(k)) - int64(math.Float64bits(magic))
	r := x - (k-magic)*math.Ln2
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720+r*(1.0/5040)))))))
	return p * math.Float64frombits(uint64(1023+n)<<52)
}
