package rivals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/vec"
)

// CTM is the correlated topic model by variational EM (Blei and Lafferty 2007). The
// logarithms η of a document's proportions, up to a constant that makes the last of
// them 0, are normal with mean μ and covariance Σ (K−1 numbers). q(η) has the means λ
// and the variances ν². It ends when the bound grows by a part of less than Tolerance,
// or after Iterations.
type CTM struct {
	K          int
	Iterations int
	Tolerance  float64
	Seed       uint64
}

// The updates of a document end when its bound grows by less than the part ctmGrowth, or
// after ctmUpdates of them.
const (
	ctmGrowth  = 1e-6
	ctmUpdates = 20
)

// normal is the prior of a document's η: mean, and the inverse of the covariance with
// the logarithm of its determinant.
type normal struct {
	mu        []float64
	precision *mat.SymDense
	logDet    float64
}

// Fit fits the model. Each topic starts at the words of a document that is drawn, with
// noise. λ and ν² of a document start where the last iteration left them, so that the
// bound never falls.
func (o CTM) Fit(ctx context.Context, c *corpus.Corpus) (*Model, error) {
	if err := check(o.K, c); err != nil {
		return nil, err
	}
	return o.fit(ctx, c, o.start(c))
}

// fit goes on from topics b.
func (o CTM) fit(ctx context.Context, c *corpus.Corpus, b *mat.Dense) (*Model, error) {
	docs, k := c.NumDocs(), o.K
	prior := &normal{mu: make([]float64, k-1), precision: mat.NewSymDense(k-1, nil)}
	for t := range k - 1 {
		prior.precision.SetSym(t, t, 1)
	}
	lambda, nu2 := mat.NewDense(docs, k, nil), mat.NewDense(docs, k, nil)
	for m := range docs {
		for t := range k - 1 {
			nu2.Set(m, t, 1)
		}
	}
	out := &Model{}
	d := newCTMDocument(k)
	for range o.Iterations {
		stats, bound := mat.NewDense(c.NumWords(), k, nil), 0.0
		for m := range docs {
			if err := stopped(ctx, m); err != nil {
				return nil, err
			}
			words, counts := c.Doc(m)
			d.words, d.counts, d.length = words, counts, float64(c.DocLen(m))
			d.lambda, d.nu2 = lambda.RawRowView(m), nu2.RawRowView(m)
			v, err := d.infer(b, prior)
			if err != nil {
				return nil, fmt.Errorf("rivals: document %d: %w", m, err)
			}
			bound += v
			d.addCounts(b, stats)
		}
		out.Bounds = append(out.Bounds, bound)
		normaliseColumns(stats)
		b = stats
		var err error
		if prior, err = estimate(lambda, nu2); err != nil {
			return nil, err
		}
		if n := len(out.Bounds); n > 1 && bound-out.Bounds[n-2] < o.Tolerance*math.Abs(bound) {
			break
		}
	}
	for m := range docs {
		row := lambda.RawRowView(m)
		whole := logSumExp(row)
		for t := range row {
			row[t] = math.Exp(row[t] - whole)
		}
	}
	out.B, out.W, out.A = b, lambda, topicPairs(lambda)
	return out, nil
}

// start draws a document for each topic.
func (o CTM) start(c *corpus.Corpus) *mat.Dense {
	rng := rand.New(rand.NewPCG(o.Seed, 0xc7b))
	b := mat.NewDense(c.NumWords(), o.K, nil)
	for t := range o.K {
		for i := range c.NumWords() {
			b.Set(i, t, 1+rng.Float64())
		}
		words, counts := c.Doc(rng.IntN(c.NumDocs()))
		for i, w := range words {
			b.Set(int(w), t, b.At(int(w), t)+float64(counts[i]))
		}
	}
	normaliseColumns(b)
	return b
}

// estimate returns the normal distribution of most likelihood.
func estimate(lambda, nu2 *mat.Dense) (*normal, error) {
	docs, k := lambda.Dims()
	n := &normal{mu: make([]float64, k-1), precision: mat.NewSymDense(k-1, nil)}
	for t := range n.mu {
		n.mu[t] = mat.Sum(lambda.ColView(t)) / float64(docs)
	}
	sigma := mat.NewSymDense(k-1, nil)
	diff := mat.NewVecDense(k-1, nil)
	for m := range docs {
		for t := range n.mu {
			diff.SetVec(t, lambda.At(m, t)-n.mu[t])
			sigma.SetSym(t, t, sigma.At(t, t)+nu2.At(m, t)/float64(docs))
		}
		sigma.SymRankOne(sigma, 1/float64(docs), diff)
	}
	var chol mat.Cholesky
	if !chol.Factorize(sigma) {
		return nil, errors.New("rivals: the covariance of the topics is singular")
	}
	n.logDet = -chol.LogDet()
	return n, chol.InverseTo(n.precision)
}

// ctmDocument infers q of one document.
type ctmDocument struct {
	words, counts []int32
	length        float64
	lambda, nu2   []float64 // K numbers, the last 0

	theta, expected, shares, gradient, trial []float64
	hessian                                  *mat.SymDense
	chol                                     mat.Cholesky
}

func newCTMDocument(k int) *ctmDocument {
	return &ctmDocument{theta: make([]float64, k), expected: make([]float64, k), shares: make([]float64, k),
		gradient: make([]float64, k-1), trial: make([]float64, k), hessian: mat.NewSymDense(k-1, nil)}
}

// infer updates λ and ν² and returns the document's part of the bound.
func (d *ctmDocument) infer(b *mat.Dense, p *normal) (float64, error) {
	last := math.Inf(-1)
	for i := 0; ; i++ {
		fit := d.topics(b)
		bound := fit + d.prior(p, d.lambda) - d.length*logSumExp(d.tilted(d.lambda)) + 0.5*p.logDet
		for t := range p.mu {
			bound += 0.5 * (1 + math.Log(d.nu2[t]) - d.nu2[t]*p.precision.At(t, t))
		}
		if i == ctmUpdates || bound-last < ctmGrowth*math.Abs(bound) {
			return bound, nil
		}
		last = bound
		if err := d.means(p); err != nil {
			return 0, err
		}
		d.variances(p)
	}
}

// topics sets expected to the numbers of tokens of each topic, by the posterior of
// their topics given λ, and returns Σ ln Σ_k exp(λ_k)·B_wk over the tokens w.
func (d *ctmDocument) topics(b *mat.Dense) float64 {
	shift := d.setTheta()
	clear(d.expected)
	fit := d.length * shift
	for i, w := range d.words {
		row := b.RawRowView(int(w))
		sum := vec.Dot(d.theta, row)
		fit += float64(d.counts[i]) * math.Log(sum)
		share := float64(d.counts[i]) / sum
		for t, v := range row {
			d.expected[t] += share * v
		}
	}
	for t, v := range d.theta {
		d.expected[t] *= v
	}
	return fit
}

// setTheta sets theta to exp(λ − shift) and returns the shift, the largest λ.
func (d *ctmDocument) setTheta() float64 {
	shift := math.Inf(-1)
	for _, v := range d.lambda {
		shift = max(shift, v)
	}
	for t, v := range d.lambda {
		d.theta[t] = math.Exp(v - shift)
	}
	return shift
}

// addCounts adds the expected numbers of each word in each topic.
func (d *ctmDocument) addCounts(b, stats *mat.Dense) {
	d.setTheta()
	for i, w := range d.words {
		row, s := b.RawRowView(int(w)), stats.RawRowView(int(w))
		share := float64(d.counts[i]) / vec.Dot(d.theta, row)
		for t, v := range row {
			s[t] += share * v * d.theta[t]
		}
	}
}

// prior is −½(λ−μ)ᵀΣ⁻¹(λ−μ).
func (d *ctmDocument) prior(p *normal, lambda []float64) float64 {
	v := 0.0
	for i, mi := range p.mu {
		row := 0.0
		for j, mj := range p.mu {
			row += p.precision.At(i, j) * (lambda[j] - mj)
		}
		v -= 0.5 * (lambda[i] - mi) * row
	}
	return v
}

// tilted returns λ + ν²/2, in shares.
func (d *ctmDocument) tilted(lambda []float64) []float64 {
	for t, v := range lambda {
		d.shares[t] = v + d.nu2[t]/2
	}
	return d.shares
}

// means moves λ to the maximum of the bound with all else fixed, which is concave in
// it, by Newton's method with steps halved until the bound grows.
func (d *ctmDocument) means(p *normal) error {
	value := func(lambda []float64) float64 {
		return vec.Dot(d.expected, lambda) + d.prior(p, lambda) - d.length*logSumExp(d.tilted(lambda))
	}
	at := value(d.lambda)
	for range 20 {
		whole := logSumExp(d.tilted(d.lambda))
		for t, v := range d.shares {
			d.shares[t] = math.Exp(v - whole)
		}
		size := 0.0
		for i := range p.mu {
			pull := 0.0
			for j := range p.mu {
				pull += p.precision.At(i, j) * (d.lambda[j] - p.mu[j])
				if j >= i {
					h := p.precision.At(i, j) - d.length*d.shares[i]*d.shares[j]
					if i == j {
						h += d.length * d.shares[i]
					}
					d.hessian.SetSym(i, j, h)
				}
			}
			d.gradient[i] = d.expected[i] - d.length*d.shares[i] - pull
			size = max(size, math.Abs(d.gradient[i]))
		}
		if size < 1e-6*(1+d.length) {
			return nil
		}
		if !d.chol.Factorize(d.hessian) {
			return errors.New("the curvature of the bound is singular")
		}
		step := mat.NewVecDense(len(p.mu), d.gradient)
		if err := d.chol.SolveVecTo(step, step); err != nil {
			return err
		}
		grown := false
		for scale := 1.0; scale > 1e-6 && !grown; scale /= 2 {
			copy(d.trial, d.lambda)
			for t := range p.mu {
				d.trial[t] += scale * step.AtVec(t)
			}
			if v := value(d.trial); v > at {
				at, grown = v, true
				copy(d.lambda, d.trial)
			}
		}
		if !grown { // as far as rounding lets it
			return nil
		}
	}
	return nil
}

// variances moves each ν² to the maximum of the bound with ζ = Σ exp(λ+ν²/2) fixed, the
// root of 1 = ν²(Σ⁻¹_tt + L/ζ·exp(λ+ν²/2)), by Newton's method kept in a bracket.
func (d *ctmDocument) variances(p *normal) {
	whole := logSumExp(d.tilted(d.lambda))
	for t := range p.mu {
		precision := p.precision.At(t, t)
		lo, hi, v := 0.0, 1/precision, d.nu2[t]
		for range 50 {
			e := d.length * math.Exp(d.lambda[t]+v/2-whole)
			g := 1 - v*(precision+e)
			if g > 0 {
				lo = v
			} else {
				hi = v
			}
			next := v + g/(precision+e*(1+v/2))
			if !(next > lo && next < hi) {
				next = (lo + hi) / 2
			}
			if math.Abs(next-v) <= 1e-10*v {
				break
			}
			v = next
		}
		d.nu2[t] = v
	}
}

// logSumExp returns ln Σ exp(x).
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
