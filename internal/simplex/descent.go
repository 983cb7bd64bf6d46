package simplex

import (
	"math"

	"github.com/jsmf-go/spectral/internal/arith"
)

// Descent minimises a convex function over the simplex by exponentiated gradient,
//
//	y ← y∘exp(−η∇)/Σ,
//
// with steps that satisfy the strong Wolfe conditions along this curve (Nocedal and Wright, §3.1;
// arora-2013, Appendix D.2 and Algorithm 5). No entry falls below 1e-20, because one of zero could
// not grow again.
type Descent struct {
	Y, Grad []float64 // the point and the gradient there

	next, ngrad []float64 // on trial
	gradient    func(dst, y []float64)
	half        float64
	first, eta  float64
}

// NewDescent returns a Descent in k dimensions. gradient sets dst to the gradient at y. first is the
// first step on trial of a problem.
func NewDescent(k int, first float64, quadratic bool, gradient func(dst, y []float64)) *Descent {
	d := &Descent{Y: make([]float64, k), Grad: make([]float64, k), next: make([]float64, k), ngrad: make([]float64, k), gradient: gradient, first: first}
	if quadratic {
		d.half = 0.5
	}
	return d
}

// Begin starts from Y.
func (d *Descent) Begin() {
	d.eta = d.first
	d.gradient(d.Grad, d.Y)
}

const (
	armijo    = 1e-4
	curvature = 0.9
	maxTrials = 60
	floor     = 1e-20
)

// Step moves Y to a point below, and returns false if there is none to be found.
//
// The step on trial is doubled until the one wanted is bracketed, and halved from there on; if none
// satisfies the conditions, the longest that satisfies that of Armijo is taken. With φ(η) the function
// at y(η), φ′(η) = −cov(∇(0), ∇(η)) under the weights y(η).
func (d *Descent) Step() bool {
	low := Lowest(d.Grad, d.Y)
	slope := -Covariance(d.Y, d.Grad, d.Grad)
	if !(slope < 0) {
		return false
	}
	lo, hi := 0.0, math.Inf(1)
	for range maxTrials {
		change := d.trial(low, d.eta)
		now := -Covariance(d.next, d.Grad, d.ngrad)
		switch {
		case !(change <= armijo*d.eta*slope):
			hi = d.eta
		case now < curvature*slope: // still falling steeply
			lo = d.eta
		case now > -curvature*slope: // rising steeply
			hi = d.eta
		default:
			d.take()
			return true
		}
		if math.IsInf(hi, 1) {
			d.eta *= 2
		} else {
			d.eta = (lo + hi) / 2
		}
	}
	if d.eta = lo; lo == 0 || !(d.trial(low, lo) < 0) {
		return false
	}
	d.take()
	return true
}

func (d *Descent) take() {
	d.Y, d.next = d.next, d.Y
	d.Grad, d.ngrad = d.ngrad, d.Grad
	d.eta *= 2
}

// trial computes the point and the gradient at a step. It returns how the function changes, without large
// terms that cancel: of a quadratic one exactly, ½(∇(0) + ∇(η))ᵀ(y(η) − y(0)); of others the bound
// ∇(η)ᵀ(y(η) − y(0)), which by convexity is no less.
func (d *Descent) trial(low, eta float64) float64 {
	Multiply(d.next, d.Y, d.Grad, low, eta, floor, floor)
	d.gradient(d.ngrad, d.next)
	// Centring keeps out the rounding of Σ(y(η) − y(0)) = 0.
	mean := 0.0
	for j, v := range d.Y {
		mean += float64(v * (float64(d.half*d.Grad[j]) + float64((1-d.half)*d.ngrad[j])))
	}
	change := 0.0
	for j, v := range d.next {
		change += float64((v - d.Y[j]) * (float64(d.half*d.Grad[j]) + float64((1-d.half)*d.ngrad[j]) - mean))
	}
	return change
}

// Multiply sets dst = y∘exp(−η(grad − low)) over its sum. Products below cut become flush.
func Multiply(dst, y, grad []float64, low, eta, cut, flush float64) {
	sum := 0.0
	for j, v := range y {
		if v != 0 {
			v *= arith.Exp(-eta * (grad[j] - low))
			if v < cut {
				v = flush
			}
		}
		dst[j] = v
		sum += v
	}
	inv := 1 / sum
	for j := range dst {
		dst[j] *= inv
	}
}

// Lowest returns the least gradient of the coordinates above zero.
func Lowest(grad, y []float64) float64 {
	low := math.Inf(1)
	for i, v := range y {
		if v > 0 {
			low = min(low, grad[i])
		}
	}
	return low
}
