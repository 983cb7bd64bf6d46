package recovery

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Inverse is the recovery of Arora, Ge and Moitra (2012), as given in
// arora-2013 (Algorithm 2, "Recover"): with p = C_S·1, z = C_SS⁻¹p,
//
//	Bᵀ = (C_SS·diag(z))⁻¹C_S,   A = diag(z)·C_SS·diag(z).
//
// It is exact if C is. It uses only the K rows of the anchors and so is sensitive to noise
// in a few entries of C: [SCLS] and [KL] are better on all real data.
//
// WordTopics follows from B and A·1 by Bayes' rule; a word that is in no topic gets the
// topic shares. There are no iterations: Result.Words is 0.
//
// Cost: K rows of C, O(K³ + N·K²) operations, memory 32·N·K bytes.
type Inverse struct {
	// Project replaces each column of B by the nearest point of the simplex (arora-2013 §3).
	// Without it a negative entry in B, beyond 1e-8 of the largest of its column, is an error.
	Project bool
	// Smooth is that of Finish.
	Smooth float64
}

func (s Inverse) String() string {
	name := "Inverse"
	if s.Project {
		name = "Inverse(projected)"
	}
	return name + Finish{Smooth: s.Smooth}.suffix()
}

// Validate reports settings out of range.
func (s Inverse) Validate() error { return Finish{Smooth: s.Smooth}.Validate() }

// maxInverseCondition is the largest condition number with which C_SS is inverted.
const maxInverseCondition = 1e12

// negativeB is how negative an entry of B may be, relative to the largest of
// its column, to count as rounding.
const negativeB = 1e-8

// Recover implements Recoverer. Errors: those of [SCLS] about anchors; a singular
// C_SS; topics of negative probability; negative entries of B unless projected.
func (s Inverse) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := noPoints("Inverse", opt); err != nil {
		return nil, err
	}
	p, err := begin(ctx, rows, anchors, opt)
	if err != nil {
		return nil, err
	}
	cs, err := p.anchorBlock(ctx)
	if err != nil {
		return nil, err
	}
	css, sum := mat.NewDense(p.k, p.k, nil), mat.NewDense(p.k, 1, nil)
	for t := range anchors {
		row := cs.RawRowView(t)
		for l, w := range anchors {
			css.Set(t, l, row[w])
		}
		sum.Set(t, 0, vec.Sum(row))
	}
	solve, err := inverse(p, css)
	if err != nil {
		return nil, err
	}
	z := mat.DenseCopyOf(sum)
	if err := solve(z); err != nil {
		return nil, err
	}
	share := make([]float64, p.k) // A·1 = diag(z)p
	for t := range share {
		if v := z.At(t, 0); !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("recovery: 1/p(anchor | topic) of word %d of topic %d is %g; the inverse of the anchors' co-occurrence makes no probabilities of noisy counts: rectify C, or use SCLS", anchors[t], t, v)
		}
		share[t] = z.At(t, 0) * sum.At(t, 0)
	}
	if err := solve(cs); err != nil { // cs is now diag(z)·Bᵀ
		return nil, err
	}
	res := p.result(0)
	if res.B, err = s.topics(ctx, p, cs, z); err != nil {
		return nil, err
	}
	res.A = mat.NewDense(p.k, p.k, nil)
	for t := range p.k {
		for l := range p.k {
			res.A.Set(t, l, z.At(t, 0)*z.At(l, 0)*0.5*(css.At(t, l)+css.At(l, t)))
		}
	}
	free := p.free()
	for _, w := range free {
		wordTopics(res.WordTopics.RawRowView(w), res.B.RawRowView(w), share)
	}
	if err := p.residuals(ctx, res, free); err != nil {
		return nil, err
	}
	res.average()
	if s.Smooth > 0 {
		res.B = smoothAnchors(res.B, anchors, s.Smooth)
	}
	return res, ctx.Err()
}

// inverse returns a function that sets x ← C_SS⁻¹x. It divides rows and columns by the
// anchors' probabilities, so that rare words do not count as dependent ones.
func inverse(p *problem, css *mat.Dense) (func(x *mat.Dense) error, error) {
	scale := make([]float64, p.k)
	for t := range scale {
		scale[t] = 1 / p.c[p.anchors[t]]
	}
	m := mat.NewDense(p.k, p.k, nil)
	for t := range p.k {
		for l := range p.k {
			m.Set(t, l, css.At(t, l)*scale[t]*scale[l])
		}
	}
	var lu mat.LU
	lu.Factorize(m)
	if c := lu.Cond(); !(c <= maxInverseCondition) {
		return nil, singular("C_SS, of the anchors' co-occurrence,", c, "anchors may be of one topic or too rare to be seen together: rectify C, or use SCLS")
	}
	rescale := func(x *mat.Dense) {
		_, c := x.Dims()
		for t := range p.k {
			for j := range c {
				x.Set(t, j, x.At(t, j)*scale[t])
			}
		}
	}
	return func(x *mat.Dense) error {
		rescale(x)
		if err := lu.SolveTo(x, false, x); err != nil {
			return fmt.Errorf("recovery: C_SS: %w", err)
		}
		rescale(x)
		return nil
	}, nil
}

// topics returns B for cs = diag(z)·Bᵀ, which it changes.
func (s Inverse) topics(ctx context.Context, p *problem, cs, z *mat.Dense) (*mat.Dense, error) {
	b := mat.NewDense(p.n, p.k, nil)
	for t := range p.k {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		col, largest := cs.RawRowView(t), 0.0
		for i := range col {
			col[i] /= z.At(t, 0)
			largest = max(largest, col[i])
		}
		if s.Project {
			simplex.Project(col, col)
		}
		total := 0.0
		for i, v := range col {
			if v < -negativeB*largest {
				return nil, fmt.Errorf("recovery: p(word | topic) of word %d of topic %d is %g; Inverse{Project: true} projects B onto the simplex; SCLS does not need it", i, t, v)
			}
			col[i] = max(v, 0)
			total += col[i]
		}
		if !(total > 0) || math.IsInf(total, 0) {
			return nil, fmt.Errorf("recovery: topic %d has the total probability %g", t, total)
		}
		for i, v := range col {
			b.Set(i, t, v/total)
		}
	}
	return b, nil
}

// wordTopics sets y to p(topic | word) by Bayes' rule from the word's row b of B and
// the topic shares; to the shares if the word is in no topic.
func wordTopics(y, b, share []float64) {
	if vec.Posterior(y, b, share) == 0 {
		copy(y, share)
		vec.Normalise(y)
	}
}

// anchorBlock returns C_S, the rows of the anchors in C before it was
// normalised, K×N.
func (p *problem) anchorBlock(ctx context.Context) (*mat.Dense, error) {
	cs := mat.NewDense(p.k, p.n, nil)
	for t, w := range p.anchors {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		row := cs.RawRowView(t)
		if !p.rows.Explicit() {
			p.rows.Matrix().RowTo(row, w)
			continue
		}
		p.rows.RowTo(row, w)
		floats.Scale(p.c[w], row)
	}
	return cs, nil
}
