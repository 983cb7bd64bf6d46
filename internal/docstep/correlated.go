package docstep

import (
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
)

// Correlate takes steps of the document under a logistic-normal prior: from η to the next η, by
// the tokens by topic at each η. It then shares out the visible tokens by the proportions at
// η + noise, whose covariance is that of the posterior; key chooses the noise. With scored it
// returns the log-likelihood of the visible tokens at the first η. The columns are those of
// all topics of r.
func (d *Document) Correlate(r *Rule, x *logisticnormal.Document, eta []float32, steps int, key uint64, to Sums, scored bool) (loglik float64, err error) {
	for i := range steps {
		first, err := d.approach(r, x, eta, scored && i == 0)
		if err != nil {
			return 0, err
		}
		loglik += first
	}
	x.Draw(key)
	x.Weights(d.T, eta, 1, 1)
	_, err = d.Step(&estep.Step{B: r.Topics, Sums: to.Rows, Each: to.Each, NoLikelihood: true}, d.Visible.Words, d.Visible.Counts)
	return loglik, err
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

// approach moves η by one step, and leaves the tokens by topic before it in x.Counts.
func (d *Document) approach(r *Rule, x *logisticnormal.Document, eta []float32, scored bool) (float64, error) {
	x.Weights(d.T, eta, 0, 1)
	loglik, err := d.Step(&estep.Step{B: r.Topics, NoLikelihood: !scored}, d.Visible.Words, d.Visible.Counts)
	if err != nil {
		return 0, err
	}
	d.Counted(x.Counts)
	x.Move(eta, x.Counts, float64(d.Visible.Sum))
	return loglik, nil
}

// FinishCorrelated is Finish under a logistic-normal prior. The rows of theta are the
// proportions at η ± noise times 1/√2: the sum of their squares stands for the posterior mean of
// θθᵀ. n receives the tokens by topic. η needs so many steps.
func (d *Document) FinishCorrelated(r *Rule, x *logisticnormal.Document, eta, n []float32, steps int, key uint64, to *Sums, theta [2][]float64) (float64, error) {
	for range steps {
		if _, err := d.approach(r, x, eta, false); err != nil {
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
