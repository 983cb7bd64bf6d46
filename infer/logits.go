package infer

import (
	"context"
	"math"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/vec"
)

// logits is MAP under a logistic-normal prior.
type logits struct {
	MAP
	b     *estep.Rows
	prior *logisticnormal.Prior
	draw  *Draw // nil: the proportions at the mode
}

// logitScratch has the numbers of a document.
type logitScratch struct {
	*estep.Worker
	x      *logisticnormal.Document
	step   estep.Step
	eta    []float32
	counts []float32
	last   []float32 // T of the step before

	first, second []float32 // η before the last two steps, and between them

	rng random
}

// maxTimes is how many times as far as a step an extrapolation goes at most, and maxFarther how far
// in a logit.
const maxTimes, maxFarther = 4, 0.5

// extrapolate moves η on from where two steps took it.
func (s *logitScratch) extrapolate(mean []float64) {
	step := func(k int) (r, bend float64) {
		r = float64(s.second[k]) - float64(s.first[k])
		return r, float64(s.eta[k]) - float64(s.second[k]) - r
	}
	steps, bends := 0.0, 0.0
	for k := range s.eta {
		r, bend := step(k)
		steps += float64(r * r)
		bends += float64(bend * bend)
	}
	a := min(math.Sqrt(steps/bends), maxTimes)
	if !(a > 1) {
		return
	}
	for k, v := range s.eta {
		r, bend := step(k)
		x := float64(s.first[k]) + float64(2*a*r) + float64(a*a*bend) - float64(v)
		x = float64(v) + min(max(x, -maxFarther), maxFarther)
		s.eta[k] = float32(min(max(x, mean[k]-logisticnormal.Widest), mean[k]+logisticnormal.Widest))
	}
}

func (m *logits) scratch() any {
	k := m.b.K
	return &logitScratch{
		Worker: estep.NewWorker(k), x: logisticnormal.NewDocument(m.prior), step: estep.Step{B: m.b, NoLikelihood: true},
		eta: make([]float32, k), last: make([]float32, k), first: make([]float32, k), second: make([]float32, k),
	}
}

func (m *logits) infer(ctx context.Context, dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*logitScratch)
	s.counts = vec.Resize(s.counts, len(d.x))
	for i, x := range d.x {
		s.counts[i] = float32(x)
	}
	for k, v := range m.prior.Mean {
		s.eta[k] = float32(v)
	}
	status, it := IterationLimit, 0
	for status == IterationLimit && it < m.Steps {
		if err := ctx.Err(); err != nil {
			return 0, it, err
		}
		first := it%2 == 0 // of two steps
		copy(s.last, s.T)
		if first {
			copy(s.first, s.eta)
		}
		copy(s.second, s.eta)
		s.x.Weights(s.T, s.eta, 0, 1)
		if !first {
			if changed(s.T[:len(s.last)], s.last) <= m.Tol {
				status = Converged
			}
		}
		if _, err := s.Step(&s.step, d.ids, s.counts); err != nil {
			return 0, it, err
		}
		s.x.Move(s.eta, s.N[:len(s.eta)], d.n)
		if it++; !first && status == IterationLimit && it < m.Steps {
			s.extrapolate(m.prior.Mean)
		}
	}
	sign := 0.0
	if m.draw != nil {
		s.rng.seed(d, m.draw.Seed)
		s.x.DrawFrom(s.rng.NormFloat64)
		sign = 1
	}
	s.x.Weights(s.T, s.eta, sign, 1)
	for k := range dst {
		dst[k] = float64(s.T[k])
	}
	vec.Normalise(dst)
	return status, it, nil
}

// changed returns by how much the largest change of a share changes it.
func changed(x, y []float32) float64 {
	most := 0.0
	for k, v := range x {
		most = max(most, math.Abs(float64(v)-float64(y[k])))
	}
	return most
}
