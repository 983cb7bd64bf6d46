package docstep

import (
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Families group the columns of a Rule where a logistic-normal prior is one of families: the
// proportions within a family have the Dirichlet prior of the Rule.
type Families struct {
	Of    []int32   // the family of each column, padded
	Prior []float32 // by family: the prior counts of its columns
}

// NewFamilies returns the families of columns, of which there are some, with the prior α of each.
func NewFamilies(of []int, families int, prior Prior) *Families {
	f := &Families{Of: make([]int32, len(prior)), Prior: make([]float32, families)}
	for k, g := range of {
		f.Of[k] = int32(g)
		f.Prior[g] += prior[k]
	}
	return f
}

// Count sets to to the sum of n by family.
func (f *Families) Count(to, n []float32) {
	clear(to)
	of := f.Of[:len(n)]
	for k, v := range n {
		to[of[k]] += v
	}
}

// weigh sets T to weights at η + sign·noise, with the sum total, and returns the sum of those that
// there are: total·θ or, with families, total·φ_f·(n_k + α)/(n_f + Σα), where n are tokens by topic.
func (d *Document) weigh(r *Rule, x *logisticnormal.Document, eta, n []float32, sign, total float64) float64 {
	f := r.Families
	if f == nil {
		x.Weights(d.T, eta, sign, total)
		return total
	}
	d.shares = vec.Resize(d.shares, len(eta))
	x.Weights(d.shares, eta, sign, total)
	return d.within(r, x.Counts, n)
}

// within sets T to the shares of families, times those of topics within them where n are tokens by
// topic, and returns the sum. It leaves n by family in counts.
func (d *Document) within(r *Rule, counts, n []float32) float64 {
	f := r.Families
	f.Count(counts, n)
	for g, v := range counts {
		d.shares[g] /= v + f.Prior[g]
	}
	r.Prior.Weigh(d.T, n)
	t, of := d.T[:len(n)], f.Of[:len(n)]
	sum := float32(0)
	for k, v := range t {
		v = float32(v * d.shares[of[k]])
		t[k] = v
		sum += v
	}
	return float64(sum)
}

// Correlate takes steps of the document under a logistic-normal prior: from η to the next η, by
// the tokens by topic at each η. At the last one it shares out the visible tokens for the topics,
// too, as Learn does, and returns the log-likelihoods that Learn returns. x has the noise of the
// posterior of η in the end; key chooses it. With families n are the tokens by topic, before and
// after; otherwise n is nil, and the columns are those of all topics of r.
func (d *Document) Correlate(r *Rule, x *logisticnormal.Document, eta, n []float32, steps int, key uint64, to Sums, scored bool) (visible, hidden float64, err error) {
	for range steps - 1 {
		if _, _, err := d.approach(r, x, eta, n, Sums{}, false); err != nil {
			return 0, 0, err
		}
	}
	to.Count = true
	visible, hidden, err = d.approach(r, x, eta, n, to, scored)
	x.Draw(key)
	return visible, hidden, err
}

// approach moves η and n by one step, and leaves the tokens by logit before it in x.Counts. It is Learn
// at the weights before the step.
func (d *Document) approach(r *Rule, x *logisticnormal.Document, eta, n []float32, to Sums, scored bool) (visible, hidden float64, err error) {
	total := d.weigh(r, x, eta, n, 0, r.weight(d.Visible.Sum))
	if visible, hidden, err = d.Learn(r, to, total, scored); err != nil {
		return 0, 0, err
	}
	if r.Families == nil {
		d.Counted(x.Counts)
	} else {
		d.Counted(n)
		r.Families.Count(x.Counts, n)
	}
	x.Move(eta, x.Counts, float64(d.Visible.Sum))
	return visible, hidden, nil
}

// weight is what the weights of a document of n tokens sum to. With families a whole token is left
// out of them: within a family as under a Dirichlet prior.
func (r *Rule) weight(n int64) float64 {
	if r.Families == nil {
		return logisticnormal.Weight(n)
	}
	return float64(n) + 2.5
}

// Information adds to observed and full what the visible tokens say of η, the trace of their
// information, as they are and if their topics were known. It leaves x as a step from η does.
func (d *Document) Information(r *Rule, x *logisticnormal.Document, eta, n []float32, observed, full *float64) error {
	d.weigh(r, x, eta, n, 0, 1)
	squares, counts := 0.0, d.Visible.Counts
	each := func(i int, out []float32, sum float32) {
		if f := r.Families; f != nil {
			f.Count(d.shares, out)
			out = d.shares
		}
		s := float32(0)
		for _, v := range out {
			s += float32(v * v)
		}
		squares += float64(counts[i]) * float64(s) / (float64(sum) * float64(sum))
	}
	_, err := d.Step(&estep.Step{B: r.Topics, Each: each, NoLikelihood: true}, d.Visible.Words, counts)
	share := d.T
	if r.Families != nil {
		share = d.shares
		x.Weights(share, eta, 0, 1)
	}
	tokens, theta := float64(d.tokens(d.Visible.Sum)), 0.0
	for _, v := range share {
		theta += float64(float64(v) * float64(v))
	}
	*observed += squares - float64(tokens*theta)
	*full += tokens - float64(tokens*theta)
	return err
}

// FinishCorrelated is Finish under a logistic-normal prior. The rows of theta are the
// proportions at η ± noise times 1/√2, by family where there are some: the sum of their squares
// stands for the posterior mean of θθᵀ. n receives the tokens by topic, which it has before where
// there are families. η needs so many steps.
func (d *Document) FinishCorrelated(r *Rule, x *logisticnormal.Document, eta, n []float32, steps int, key uint64, to *Sums, theta [2][]float64) (float64, error) {
	for range steps {
		if _, _, err := d.approach(r, x, eta, n, Sums{}, false); err != nil {
			return 0, err
		}
	}
	f, share := r.Families, d.T
	if f == nil {
		copy(n, x.Counts)
	} else {
		share = d.shares
	}
	x.Draw(key)
	for i, sign := range [...]float64{1, -1} {
		x.Weights(share, eta, sign, 1)
		for k := range theta[i] {
			theta[i][k] = float64(share[k]) * math.Sqrt2 / 2
		}
	}
	total := 0.0
	for k := range theta[0] {
		v := float32((theta[0][k] + theta[1][k]) * math.Sqrt2 / 2)
		share[k] = v
		total += float64(v)
	}
	if f != nil {
		total = d.within(r, x.Counts, n)
	}
	return d.Finish(r, to, total)
}
