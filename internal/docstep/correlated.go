package docstep

import (
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
)

// Correlate takes steps of the document under a logistic-normal prior: from η to the next η, by
// the tokens by topic at each η. At the last one it shares out the visible tokens for the topics,
// too, as Learn does, and returns the log-likelihoods that Learn returns. x has the noise of the
// posterior of η in the end; key chooses it. The columns are those of all topics of r.
func (d *Document) Correlate(r *Rule, x *logisticnormal.Document, eta []float32, steps int, key uint64, to Sums, scored bool) (visible, hidden float64, err error) {
	for range steps - 1 {
		if _, _, err := d.approach(r, x, eta, Sums{}, false); err != nil {
			return 0, 0, err
		}
	}
	to.Count = true
	visible, hidden, err = d.approach(r, x, eta, to, scored)
	x.Draw(key)
	return visible, hidden, err
}

// approach moves η by one step, and leaves the tokens by topic before it in x.Counts. It is Learn
// at the weights before the step.
func (d *Document) approach(r *Rule, x *logisticnormal.Document, eta []float32, to Sums, scored bool) (visible, hidden float64, err error) {
	total := logisticnormal.Weight(d.Visible.Sum)
	x.Weights(d.T, eta, 0, total)
	if visible, hidden, err = d.Learn(r, to, total, scored); err != nil {
		return 0, 0, err
	}
	d.Counted(x.Counts)
	x.Move(eta, x.Counts, float64(d.Visible.Sum))
	return visible, hidden, nil
}

// Information adds to observed and full what the visible tokens say of η, the trace of their
// information, as they are and if their topics were known. It leaves x as a step from η does.
func (d *Document) Information(r *Rule, x *logisticnormal.Document, eta []float32, observed, full *float64) error {
	x.Weights(d.T, eta, 0, 1)
	squares, counts := 0.0, d.Visible.Counts
	each := func(i int, out []float32, sum float32) {
		s := float32(0)
		for _, v := range out {
			s += v * v
		}
		squares += float64(counts[i]) * float64(s) / (float64(sum) * float64(sum))
	}
	_, err := d.Step(&estep.Step{B: r.Topics, Each: each, NoLikelihood: true}, d.Visible.Words, counts)
	n, theta := d.tokens(d.Visible.Sum), 0.0
	for _, v := range d.T {
		theta += float64(v) * float64(v)
	}
	*observed += squares - n*theta
	*full += n - n*theta
	return err
}

// FinishCorrelated is Finish under a logistic-normal prior. The rows of theta are the
// proportions at η ± noise times 1/√2: the sum of their squares stands for the posterior mean of
// θθᵀ. n receives the tokens by topic. η needs so many steps.
func (d *Document) FinishCorrelated(r *Rule, x *logisticnormal.Document, eta, n []float32, steps int, key uint64, to *Sums, theta [2][]float64) (float64, error) {
	for range steps {
		if _, _, err := d.approach(r, x, eta, Sums{}, false); err != nil {
			return 0, err
		}
	}
	copy(n, x.Counts)
	x.Draw(key)
	for i, sign := range [...]float64{1, -1} {
		x.Weights(d.T, eta, sign, 1)
		for k := range theta[i] {
			theta[i][k] = float64(d.T[k]) * math.Sqrt2 / 2
		}
	}
	total := 0.0
	for k := range theta[0] {
		v := float32((theta[0][k] + theta[1][k]) * math.Sqrt2 / 2)
		d.T[k] = v
		total += float64(v)
	}
	return d.Finish(r, to, total)
}
