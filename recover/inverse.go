package recovery

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// DefaultInverseCondition is the condition number of C_SS above which Inverse
// refuses.
const DefaultInverseCondition = 1e12

// Inverse is the recovery of Arora, Ge and Moitra of 2012, as arora-2013 has it
// (Algorithm 2, "Recover"): with p = C_S·1, z = C_SS⁻¹p,
//
//	Bᵀ = (C_SS·diag(z))⁻¹C_S,   A = diag(z)·C_SS·diag(z).
//
// It is exact where C is, and looks at the K rows of the anchors only, so that
// noise in a few entries of C spoils it: SCLS and RecoverKL are better on all
// real data. It is here to be compared with.
//
// Breve is B and A·1 turned round by Bayes' rule; a word that is in no topic
// gets the shares of the topics. No iterations are made: Result.Words is 0.
//
// Cost: K rows of C, O(K³ + N·K²) operations, memory 32·N·K bytes.
type Inverse struct {
	// Project replaces each column of B by the nearest point of the simplex,
	// as arora-2013 §3 says is needed. Without it a negative entry in B, beyond
	// 1e-8 of the column's largest, is a *NegativeError.
	Project bool

	// MaxCondition is the condition number of C_SS up to which it is inverted;
	// beyond, the error is a *SingularError. 0 means
	// DefaultInverseCondition.
	MaxCondition float64

	// Smooth is as in Finish.
	Smooth float64
}

func (s Inverse) String() string {
	var opts []string
	if s.Project {
		opts = append(opts, "projected")
	}
	if s.MaxCondition != 0 {
		opts = append(opts, fmt.Sprintf("max condition=%g", s.MaxCondition))
	}
	out := "Inverse"
	if opts != nil {
		out += "(" + strings.Join(opts, ", ") + ")"
	}
	return out + Finish{Smooth: s.Smooth}.suffix()
}

// Validate reports settings out of range.
func (s Inverse) Validate() error {
	if s.MaxCondition != 0 && !(s.MaxCondition >= 1) {
		return fmt.Errorf("recovery: Inverse: MaxCondition %g; want 0 for the default, or at least 1", s.MaxCondition)
	}
	return Finish{Smooth: s.Smooth}.Validate()
}

// negativeB is how negative an entry of B may be, relative to the largest of
// its column, to count as rounding.
const negativeB = 1e-8

// Recover implements Recoverer. Errors: those of SCLS about anchors; C_SS that is
// singular (*SingularError); topics of negative probability, and negative entries
// of B where they are not projected (*NegativeError).
func (s Inverse) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	limit := s.MaxCondition
	if limit == 0 {
		limit = DefaultInverseCondition
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
	css, sum := mat.NewDense(p.k, p.k, nil), mat.NewVecDense(p.k, nil)
	for t := range anchors {
		row := cs.RawRowView(t)
		for l, w := range anchors {
			css.Set(t, l, row[w])
		}
		s := 0.0
		for _, v := range row {
			s += v
		}
		sum.SetVec(t, s)
	}
	// Rows and columns divided by the anchors' probabilities: the numbers are the
	// same in the end, and rare words do not count as dependent ones.
	scale := make([]float64, p.k)
	for t := range scale {
		scale[t] = 1 / p.c[anchors[t]]
	}
	m := mat.NewDense(p.k, p.k, nil)
	for t := range p.k {
		for l := range p.k {
			m.Set(t, l, css.At(t, l)*scale[t]*scale[l])
		}
	}
	var lu mat.LU
	lu.Factorize(m)
	if c := lu.Cond(); !(c <= limit) {
		return nil, &SingularError{Matrix: "C_SS, of the anchors' co-occurrence,", Condition: c, Advice: "anchors may be of one topic or too rare to be seen together: rectify C, or use SCLS"}
	}
	solve := func(x *mat.Dense) error { // x ← C_SS⁻¹x
		_, c := x.Dims()
		for t := range p.k {
			for j := range c {
				x.Set(t, j, x.At(t, j)*scale[t])
			}
		}
		if err := lu.SolveTo(x, false, x); err != nil {
			return fmt.Errorf("recovery: C_SS: %w", err)
		}
		for t := range p.k {
			for j := range c {
				x.Set(t, j, x.At(t, j)*scale[t])
			}
		}
		return nil
	}
	z := mat.DenseCopyOf(sum)
	if err := solve(z); err != nil {
		return nil, err
	}
	share := make([]float64, p.k) // A·1 = diag(z)p
	for t := range share {
		if v := z.At(t, 0); !(v > 0) || math.IsInf(v, 0) {
			return nil, &NegativeError{What: "1/p(anchor | topic)", Word: anchors[t], Topic: t, Value: v, Advice: "the inverse of the anchors' co-occurrence makes no probabilities of noisy counts: rectify C, or use SCLS"}
		}
		share[t] = z.At(t, 0) * sum.AtVec(t)
	}
	if err := solve(cs); err != nil { // cs is now diag(z)·Bᵀ
		return nil, err
	}
	res := p.result(0)
	res.B = mat.NewDense(p.n, p.k, nil)
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
				return nil, &NegativeError{What: "p(word | topic)", Word: i, Topic: t, Value: v, Advice: "Inverse{Project: true} projects B on the simplex; SCLS does not need it"}
			}
			col[i] = max(v, 0)
			total += col[i]
		}
		if !(total > 0) || math.IsInf(total, 0) {
			return nil, fmt.Errorf("recovery: topic %d has the total probability %g", t, total)
		}
		for i, v := range col {
			res.B.Set(i, t, v/total)
		}
	}
	res.A = mat.NewDense(p.k, p.k, nil)
	for t := range p.k {
		for l := range p.k {
			res.A.Set(t, l, z.At(t, 0)*z.At(l, 0)*0.5*(css.At(t, l)+css.At(l, t)))
		}
	}
	free := p.free()
	for _, w := range free {
		b, y, total := res.B.RawRowView(w), res.Breve.RawRowView(w), 0.0
		for t, v := range b {
			y[t] = v * share[t]
			total += y[t]
		}
		if total == 0 {
			copy(y, share)
			for _, v := range share {
				total += v
			}
		}
		for t := range y {
			y[t] /= total
		}
	}
	if err := p.residuals(ctx, res, free); err != nil {
		return nil, err
	}
	res.Objective /= float64(p.n)
	if s.Smooth > 0 {
		res.B = SmoothAnchors(res.B, anchors, s.Smooth)
	}
	return res, ctx.Err()
}

// anchorBlock returns C_S, the rows of the anchors in C before it was
// normalised, K×N.
func (p *problem) anchorBlock(ctx context.Context) (*mat.Dense, error) {
	cs := mat.NewDense(p.k, p.n, nil)
	c, ok := matrixOf(p.rows)
	if !ok && !explicit(p.rows) {
		return nil, fmt.Errorf("recovery: Inverse needs the rows of C themselves, but was given rows in %d dimensions (%T) that have the same inner products only", p.d, p.rows)
	}
	for t, w := range p.anchors {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("recovery: %w", err)
		}
		row := cs.RawRowView(t)
		if ok {
			c.RowTo(row, w)
			continue
		}
		p.rows.RowTo(row, w)
		for j := range row {
			row[j] *= p.c[w]
		}
	}
	return cs, nil
}
