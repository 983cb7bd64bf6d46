// Package tsne embeds points in the plane or in space so that neighbours stay
// neighbours: t-distributed stochastic neighbour embedding (van der Maaten and
// Hinton 2008; lee-2018, eqs. 1.1–1.4).
//
// Near points of the input get a large probability p_ij, by Gaussians whose
// widths give each point the same effective number of neighbours, the
// perplexity. Gradient descent moves the embedding to where KL(P‖Q) is least, for its
// own probabilities q_ij, by the heavy-tailed Student distribution. The attraction comes from
// the nearest neighbours, which are exact, and the repulsion from the Barnes–Hut method (van
// der Maaten 2014): a cell of a tree that is small for its distance acts as one heavy point.
package tsne

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Settings say how points are embedded. The zero value has the usual ones.
type Settings struct {
	// Dims is 2 or 3, the dimension of the embedding; 0 means 2.
	Dims int
	// Perplexity is the effective number of neighbours of a point, at least 1
	// and at most a third of the number of other points. 0 means 30.
	Perplexity float64
	// Iterations is the number of steps; 0 means 1000.
	Iterations int
	// Seed draws where the points start: normal with the standard deviation 1e-4.
	Seed uint64
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

const (
	// In the first steps the p_ij are multiplied by exaggeration, so that clusters form
	// before they spread, and the momentum is low (van der Maaten and Hinton 2008, §3.4).
	firstSteps   = 250
	exaggeration = 12
	momentumLow  = 0.5
	momentumHigh = 0.8
	minGain      = 0.01
	// theta is the ratio of size and distance below which a cell acts as one point.
	theta = 0.5
)

func (s Settings) defaults() Settings {
	s.Dims, s.Perplexity, s.Iterations = cmp.Or(s.Dims, 2), cmp.Or(s.Perplexity, 30), cmp.Or(s.Iterations, 1000)
	return s
}

// Validate reports settings out of range.
func (s Settings) Validate() error {
	s = s.defaults()
	switch {
	case s.Dims != 2 && s.Dims != 3:
		return fmt.Errorf("tsne: an embedding in %d dimensions; want 2 or 3", s.Dims)
	case !(s.Perplexity >= 1) || math.IsInf(s.Perplexity, 0):
		return fmt.Errorf("tsne: perplexity %g; want at least 1", s.Perplexity)
	case s.Iterations < 0:
		return fmt.Errorf("tsne: %d iterations", s.Iterations)
	}
	return nil
}

// Embed embeds the rows of x, N points of any dimension D. It returns their positions, N×Dims,
// with the mean at the origin.
//
// The same points, settings and type of CPU give the same bits for any number of workers;
// another Seed gives another embedding. Time: N²·D for the neighbours, and for each step
// O(N·log N) for the repulsion and O(N·Perplexity) for the attraction. Memory: O(N·D), and
// some 200 bytes for each point and unit of perplexity. Safe for concurrent use.
//
// Errors: settings out of range, too few points for the perplexity, a number that is not
// finite, ctx's.
func Embed(ctx context.Context, x *mat.Dense, s Settings) (*mat.Dense, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	s = s.defaults()
	if need := math.Ceil(3*s.Perplexity) + 1; !(float64(n) >= need) {
		return nil, fmt.Errorf("tsne: a perplexity of %g needs at least %g points, there are %d", s.Perplexity, need, n)
	}
	for i := range n {
		if j := vec.NotFinite(x.RawRowView(i)); j >= 0 {
			return nil, fmt.Errorf("tsne: coordinate %d of point %d is %g", j, i, x.At(i, j))
		}
	}
	e := newEmbedding(n, s)
	rng := rand.New(rand.NewPCG(s.Seed, 0x75e))
	for i := range n {
		for c := range s.Dims {
			e.pos[i][c] = 1e-4 * rng.NormFloat64()
		}
	}
	nb, err := neighbours(ctx, x, int(3*s.Perplexity), s.Workers)
	if err != nil {
		return nil, fmt.Errorf("tsne: %w", err)
	}
	if e.p, err = affinities(ctx, nb, s.Perplexity, s.Workers); err != nil {
		return nil, fmt.Errorf("tsne: %w", err)
	}

	for it := range s.Iterations {
		exaggerated, momentum := 1.0, momentumHigh
		if it < firstSteps {
			exaggerated, momentum = exaggeration, momentumLow
		}
		if err := e.gradient(ctx, exaggerated); err != nil {
			return nil, fmt.Errorf("tsne: %w", err)
		}
		e.step(momentum)
	}
	points := mat.NewDense(n, s.Dims, nil)
	for i := range n {
		copy(points.RawRowView(i), e.pos[i][:s.Dims])
	}
	return points, nil
}

// vector is a position. In the plane the third coordinate stays 0, and costs
// less than code for each dimension would.
type vector [3]float64

// embedding is the state of the descent.
type embedding struct {
	s    Settings
	n    int
	p    *affinity
	pos  []vector
	vel  []vector
	gain []vector
	grad []vector
	tree tree
	rep  []vector  // repulsion on each point, not yet divided by Z
	z    []float64 // each point's part of Z

	theta float64
	rate  float64 // the length of a step (after Belkina et al. 2019)
}

// chunk is how many points are a unit of work.
const chunk = 128

func newEmbedding(n int, s Settings) *embedding {
	e := &embedding{s: s, n: n, theta: theta, rate: max(float64(n)/exaggeration/4, 50)}
	for _, v := range []*[]vector{&e.pos, &e.vel, &e.gain, &e.grad, &e.rep} {
		*v = make([]vector, n)
	}
	for i := range e.gain {
		e.gain[i] = vector{1, 1, 1}
	}
	e.z = make([]float64, n)
	return e
}

// gradient computes 4·Σ_j (exaggerated·p_ij − q_ij)·w_ij·(y_i − y_j), with w_ij =
// 1/(1+‖y_i − y_j‖²) and q_ij = w_ij/Z.
func (e *embedding) gradient(ctx context.Context, exaggerated float64) error {
	e.tree.build(e.pos)
	err := parallel.Chunks(ctx, e.n, chunk, e.s.Workers, func(_, _, lo, hi int) error {
		for t := lo; t < hi; t++ {
			i := e.tree.order[t]
			e.rep[i], e.z[i] = e.tree.repulsion(t, e.theta*e.theta)
		}
		return nil
	})
	if err != nil {
		return err
	}
	z := vec.Sum(e.z)
	return parallel.Chunks(ctx, e.n, chunk, e.s.Workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			cols, vals := e.p.row(i)
			y := e.pos[i]
			var a vector
			for t, j := range cols {
				o := &e.pos[j]
				dx, dy, dz := y[0]-o[0], y[1]-o[1], y[2]-o[2]
				d2 := dx*dx + dy*dy + dz*dz
				f := vals[t] / (1 + d2)
				a[0] += f * dx
				a[1] += f * dy
				a[2] += f * dz
			}
			for c := range 3 {
				e.grad[i][c] = 4 * (exaggerated*a[c] - e.rep[i][c]/z)
			}
		}
		return nil
	})
}

// step moves the points down the gradient, with momentum and a gain for each
// coordinate that grows while the direction stays (Jacobs 1988).
func (e *embedding) step(momentum float64) {
	var mean vector
	for i := range e.n {
		for c := range e.s.Dims {
			g, v, k := e.grad[i][c], e.vel[i][c], e.gain[i][c]
			if g > 0 && v < 0 || g < 0 && v > 0 {
				k += 0.2
			} else {
				k = max(0.8*k, minGain)
			}
			v = momentum*v - e.rate*k*g
			e.gain[i][c], e.vel[i][c] = k, v
			e.pos[i][c] += v
			mean[c] += e.pos[i][c] / float64(e.n)
		}
	}
	for i := range e.n {
		for c := range e.s.Dims {
			e.pos[i][c] -= mean[c]
		}
	}
}
