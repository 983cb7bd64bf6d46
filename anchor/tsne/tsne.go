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
	// Exaggeration, at least 1, multiplies the p_ij in the first ExaggerationIterations
	// steps, so that clusters form before they spread. 0 means 12, and 250 steps; a negative
	// number of steps means none.
	Exaggeration           float64
	ExaggerationIterations int
	// LearningRate is the length of a step; 0 means N/(4·Exaggeration), at
	// least 50 (after Belkina et al. 2019).
	LearningRate float64
	// Theta, at most 1, is the ratio of size and distance below which a cell
	// acts as one point. 0 means 0.5; negative: no approximation, O(N²) a step.
	Theta float64
	// Init is where the points start, N×Dims, best with a spread of about 1e-4. nil: normal
	// with the standard deviation 1e-4, drawn with Seed.
	Init *mat.Dense
	Seed uint64
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
	// Progress, if not nil, is called from the goroutine that called Embed whenever KL was
	// computed, with the number of steps done.
	Progress func(done, total int, kl float64)
}

// Result is an embedding.
type Result struct {
	// Points are the positions, N×Dims, with their mean at the origin.
	Points *mat.Dense
	// KL is the divergence without exaggeration, every 50 steps and at the end.
	KL []Divergence
}

// Divergence is KL(P‖Q) after a number of steps, in nats.
type Divergence struct {
	Iteration int     `json:"iteration"`
	KL        float64 `json:"kl"`
}

// klEvery is how many steps lie between two computations of KL.
const klEvery = 50

// Momentum is low during the first switchStep steps and high after them (van
// der Maaten and Hinton 2008, §3.4).
const (
	momentumLow  = 0.5
	momentumHigh = 0.8
	switchStep   = 250
	minGain      = 0.01
)

func (s Settings) defaults(n int) Settings {
	s.Dims, s.Perplexity, s.Iterations = cmp.Or(s.Dims, 2), cmp.Or(s.Perplexity, 30), cmp.Or(s.Iterations, 1000)
	s.Exaggeration, s.ExaggerationIterations = cmp.Or(s.Exaggeration, 12), cmp.Or(s.ExaggerationIterations, 250)
	s.LearningRate, s.Theta = cmp.Or(s.LearningRate, max(float64(n)/s.Exaggeration/4, 50)), cmp.Or(s.Theta, 0.5)
	return s
}

// Validate reports settings out of range.
func (s Settings) Validate() error {
	s = s.defaults(0)
	switch {
	case s.Dims != 2 && s.Dims != 3:
		return fmt.Errorf("tsne: an embedding in %d dimensions; want 2 or 3", s.Dims)
	case !(s.Perplexity >= 1) || math.IsInf(s.Perplexity, 0):
		return fmt.Errorf("tsne: perplexity %g; want at least 1", s.Perplexity)
	case s.Iterations < 0:
		return fmt.Errorf("tsne: %d iterations", s.Iterations)
	case !(s.Exaggeration >= 1) || math.IsInf(s.Exaggeration, 0):
		return fmt.Errorf("tsne: exaggeration %g; want at least 1", s.Exaggeration)
	case !(s.LearningRate > 0) || math.IsInf(s.LearningRate, 0):
		return fmt.Errorf("tsne: learning rate %g; want more than 0", s.LearningRate)
	case !(s.Theta <= 1) || math.IsInf(s.Theta, 0):
		return fmt.Errorf("tsne: theta %g; want at most 1", s.Theta)
	}
	return nil
}

// Embed embeds the rows of x, N points of any dimension D.
//
// The same points, settings and type of CPU give the same bits for any number of workers;
// another Seed gives another embedding. Time: N²·D for the neighbours, and for each step
// O(N·log N) for the repulsion and O(N·Perplexity) for the attraction. Memory: O(N·D), and
// some 200 bytes for each point and unit of perplexity. Safe for concurrent use.
//
// Errors: settings out of range, too few points for the perplexity, a number that is not
// finite, a learning rate so large that the positions overflow, ctx's.
func Embed(ctx context.Context, x *mat.Dense, s Settings) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	s = s.defaults(n)
	if need := math.Ceil(3*s.Perplexity) + 1; !(float64(n) >= need) {
		return nil, fmt.Errorf("tsne: a perplexity of %g needs at least %g points, there are %d", s.Perplexity, need, n)
	}
	if err := finite("point", x); err != nil {
		return nil, err
	}
	e := newEmbedding(n, s)
	if s.Init != nil {
		if r, c := s.Init.Dims(); r != n || c != s.Dims {
			return nil, fmt.Errorf("tsne: a start of %d×%d for %d points in %d dimensions", r, c, n, s.Dims)
		}
		if err := finite("start", s.Init); err != nil {
			return nil, err
		}
		for i := range n {
			copy(e.pos[i][:], s.Init.RawRowView(i))
		}
	} else {
		rng := rand.New(rand.NewPCG(s.Seed, 0x75e))
		for i := range n {
			for c := range s.Dims {
				e.pos[i][c] = 1e-4 * rng.NormFloat64()
			}
		}
	}
	nb, err := neighbours(ctx, x, int(3*s.Perplexity), s.Workers)
	if err != nil {
		return nil, fmt.Errorf("tsne: %w", err)
	}
	if e.p, err = affinities(ctx, nb, s.Perplexity, s.Workers); err != nil {
		return nil, fmt.Errorf("tsne: %w", err)
	}

	res := &Result{}
	for it := 0; ; it++ {
		record := it > 0 && it%klEvery == 0 || it == s.Iterations
		exaggeration := 1.0
		if it < s.ExaggerationIterations {
			exaggeration = s.Exaggeration
		}
		kl, err := e.gradient(ctx, exaggeration, record)
		if err != nil {
			return nil, fmt.Errorf("tsne: %w", err)
		}
		if record {
			if math.IsNaN(kl) || math.IsInf(kl, 0) {
				return nil, fmt.Errorf("tsne: the positions overflowed before step %d; the learning rate %g is too large", it, s.LearningRate)
			}
			res.KL = append(res.KL, Divergence{it, kl})
			if s.Progress != nil {
				s.Progress(it, s.Iterations, kl)
			}
		}
		if it == s.Iterations {
			break
		}
		momentum := momentumHigh
		if it < switchStep {
			momentum = momentumLow
		}
		e.step(momentum)
	}
	res.Points = mat.NewDense(n, s.Dims, nil)
	for i := range n {
		copy(res.Points.RawRowView(i), e.pos[i][:s.Dims])
	}
	return res, nil
}

func finite(what string, x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		if j := vec.NotFinite(x.RawRowView(i)); j >= 0 {
			return fmt.Errorf("tsne: coordinate %d of %s %d is %g", j, what, i, x.At(i, j))
		}
	}
	return nil
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
	kl   []float64 // of the chunks
}

// chunk is how many points are a unit of work.
const chunk = 128

func newEmbedding(n int, s Settings) *embedding {
	e := &embedding{s: s, n: n}
	for _, v := range []*[]vector{&e.pos, &e.vel, &e.gain, &e.grad, &e.rep} {
		*v = make([]vector, n)
	}
	for i := range e.gain {
		e.gain[i] = vector{1, 1, 1}
	}
	e.z = make([]float64, n)
	e.kl = make([]float64, parallel.Count(n, chunk))
	return e
}

// gradient computes 4·Σ_j (exaggeration·p_ij − q_ij)·w_ij·(y_i − y_j), with w_ij =
// 1/(1+‖y_i − y_j‖²) and q_ij = w_ij/Z, and KL(P‖Q) where it is asked for.
func (e *embedding) gradient(ctx context.Context, exaggeration float64, withKL bool) (kl float64, err error) {
	e.tree.build(e.pos)
	theta2 := 0.0
	if e.s.Theta > 0 {
		theta2 = e.s.Theta * e.s.Theta
	}
	err = parallel.Chunks(ctx, e.n, chunk, e.s.Workers, func(_, _, lo, hi int) error {
		for t := lo; t < hi; t++ {
			i := e.tree.order[t]
			e.rep[i], e.z[i] = e.tree.repulsion(t, theta2)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	z := vec.Sum(e.z)
	err = parallel.Chunks(ctx, e.n, chunk, e.s.Workers, func(_, c, lo, hi int) error {
		sum := 0.0
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
				if withKL {
					sum += vals[t] * math.Log(vals[t]*z*(1+d2))
				}
			}
			for c := range 3 {
				e.grad[i][c] = 4 * (exaggeration*a[c] - e.rep[i][c]/z)
			}
		}
		e.kl[c] = sum
		return nil
	})
	return vec.Sum(e.kl), err
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
			v = momentum*v - e.s.LearningRate*k*g
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
