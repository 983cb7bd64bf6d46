package infer

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
)

// localSolver finds a local minimum of ½wᵀGw − fᵀw over the simplex for a G that is
// not convex there, by the convex–concave procedure: with σ above minus the least
// eigenvalue along the simplex,
//
//	w ← argmin ½wᵀ(G + σI)w − (f + σw)ᵀw.
//
// Each step is solved exactly and lowers the objective. Where the procedure ends, all mass of
// one topic goes to another as long as that gains, and the procedure continues from there. It
// has two starts, the minimum of the convex part and the best proportions of two topics; the
// better end is the result. (The global minimum is NP-hard to find.)
type localSolver struct {
	k     int
	g     *mat.SymDense
	sigma float64
	gain  float64            // the least of a move that counts
	exact *simplex.Quadratic // PGP + σI
	shift []float64          // PG1/K
}

type localScratch struct {
	work       *simplex.Solver
	f, w, grad []float64
	other      []float64 // the end of the other start
}

const (
	localSteps = 200  // of the procedure, from each start
	localTol   = 1e-9 // on ‖Δw‖₁
	localGain  = 1e-9 // the gain of a move that counts, relative to the largest |eigenvalue| along the simplex
)

func newLocalSolver(g *mat.SymDense) (*localSolver, error) {
	centred, shift, _ := centre(g)
	val, err := linalg.Eigenvalues(centred)
	if err != nil {
		return nil, fmt.Errorf("BᵀB + Λ/M: %w", err)
	}
	low, high := val[0], val[len(val)-1]
	largest := max(math.Abs(low), math.Abs(high))
	s := &localSolver{k: g.SymmetricDim(), g: g, shift: shift, sigma: float64(1.01*max(-low, 0)) + float64(1e-6*largest), gain: localGain * largest}
	convex := mat.NewSymDense(s.k, nil)
	convex.CopySym(centred)
	for i := range s.k {
		convex.SetSym(i, i, convex.At(i, i)+s.sigma)
	}
	m, err := simplex.Check(convex)
	if err != nil {
		return nil, fmt.Errorf("BᵀB + Λ/M + σI: %w", err)
	}
	s.exact = m.Quadratic(0, 0)
	return s, nil
}

func (s *localSolver) newScratch() *localScratch {
	x := make([]float64, 4*s.k)
	return &localScratch{work: s.exact.Solver(), f: x[:s.k:s.k], w: x[s.k : 2*s.k : 2*s.k], grad: x[2*s.k : 3*s.k : 3*s.k], other: x[3*s.k:]}
}

// solve writes a local minimum to dst and returns how many steps it took.
func (s *localSolver) solve(ctx context.Context, dst, f []float64, sc *localScratch) (Status, int, error) {
	s.bestPair(sc.w, f)
	st1, n1, err := s.descend(ctx, sc.other, f, sc)
	if err != nil {
		return 0, 0, err
	}
	clear(sc.w)
	st, n, err := s.descend(ctx, dst, f, sc)
	if err != nil {
		return 0, 0, err
	}
	if s.objective(sc.other, f, sc) < s.objective(dst, f, sc) {
		copy(dst, sc.other)
		st = st1
	}
	return st, n + n1, nil
}

// bestPair writes the best proportions of at most two topics.
func (s *localSolver) bestPair(w, f []float64) {
	best, bi, bj, bx := math.Inf(1), 0, 0, 0.0
	g := s.g.RawSymmetric()
	for i := range s.k {
		row := g.Data[i*g.Stride : i*g.Stride+s.k]
		gi := row[i]
		at := float64(gi/2) - f[i]
		for j := i; j < s.k; j++ { // x of topic j and the rest of i
			x := 0.0
			slope, curve := f[i]-f[j]+row[j]-gi, float64((gi+g.Data[j*g.Stride+j])/2)-row[j]
			if curve > 0 {
				x = min(max(-slope/(2*curve), 0), 1)
			} else if slope+curve < 0 {
				x = 1
			}
			if v := at + float64((slope+float64(curve*x))*x); v < best {
				best, bi, bj, bx = v, i, j, x
			}
		}
	}
	clear(w)
	w[bi] += 1 - bx
	w[bj] += bx
}

// descend goes down from sc.w.
func (s *localSolver) descend(ctx context.Context, dst, f []float64, sc *localScratch) (Status, int, error) {
	for it := 1; ; it++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		for i := range sc.f {
			sc.f[i] = f[i] - s.shift[i] + float64(s.sigma*sc.w[i])
		}
		if _, err := sc.work.Solve(dst, sc.f, it > 1); err != nil {
			return 0, 0, err
		}
		change := 0.0
		for i, v := range dst {
			change += math.Abs(v - sc.w[i])
			sc.w[i] = v
		}
		if change < localTol && !s.move(sc, f) {
			return LocalMinimum, it, nil
		}
		if it == localSteps {
			return IterationLimit, it, nil
		}
	}
}

// objective returns ½wᵀGw − fᵀw and leaves Gw − f in sc.grad.
func (s *localSolver) objective(w, f []float64, sc *localScratch) float64 {
	val := 0.0
	g := s.g.RawSymmetric()
	for i := range sc.grad {
		sc.grad[i] = -f[i]
	}
	for i := range s.k { // the upper triangle
		row := g.Data[i*g.Stride : i*g.Stride+s.k]
		sum := row[i] * w[i]
		for j := i + 1; j < s.k; j++ {
			sum += float64(row[j] * w[j])
			sc.grad[j] += float64(row[j] * w[i])
		}
		sc.grad[i] += sum
	}
	for i, x := range w {
		val += float64(x * (sc.grad[i] - f[i]) / 2)
	}
	return val
}

// move moves all mass of one topic in sc.w to another, for the pair that gains most,
// and reports whether there is one.
func (s *localSolver) move(sc *localScratch, f []float64) bool {
	s.objective(sc.w, f, sc)
	gain, from, to := s.gain, -1, -1
	for i, x := range sc.w {
		if x == 0 {
			continue
		}
		for j := range sc.w {
			// Along e_j − e_i the objective changes by slope·t + curve·t². Here a pair
			// gains only if curve < 0, and then most at t = x.
			slope, curve := sc.grad[j]-sc.grad[i], float64((s.g.At(i, i)+s.g.At(j, j))/2)-s.g.At(i, j)
			if v := -(slope + float64(curve*x)) * x; v > gain {
				gain, from, to = v, i, j
			}
		}
	}
	if from < 0 {
		return false
	}
	sc.w[to] += sc.w[from]
	sc.w[from] = 0
	return true
}
