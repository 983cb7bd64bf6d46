package infer

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/recover/scls"
)

// localSolver finds a local minimum of ½wᵀGw − fᵀw over the simplex for a G that
// is not convex there, by the convex–concave procedure: with σ above minus the
// least eigenvalue along the simplex,
//
//	w ← argmin ½wᵀ(G + σI)w − (f + σw)ᵀw,
//
// each step exact. The objective falls with every step; the first is taken from
// the minimum of the convex part alone.
type localSolver struct {
	k     int
	sigma float64
	exact *scls.Prepared // PGP + σI
	shift []float64      // PG1/K
}

type localScratch struct {
	work *scls.Workspace
	f, w []float64
}

const (
	localSteps = 200
	localTol   = 1e-9 // on ‖Δw‖₁
)

func newLocalSolver(g *mat.SymDense) (*localSolver, error) {
	centred, shift, _ := centre(g)
	var e mat.EigenSym
	if !e.Factorize(centred, false) {
		return nil, errors.New("infer: BᵀB + Λ/M: its eigenvalues cannot be found")
	}
	val := e.Values(nil)
	low, high := val[0], val[len(val)-1]
	s := &localSolver{k: g.SymmetricDim(), shift: shift, sigma: 1.01*max(-low, 0) + 1e-6*max(math.Abs(low), math.Abs(high))}
	convex := mat.NewSymDense(s.k, nil)
	convex.CopySym(centred)
	for i := range s.k {
		convex.SetSym(i, i, convex.At(i, i)+s.sigma)
	}
	var err error
	if s.exact, err = (scls.ActiveSet{}).Prepare(convex); err != nil {
		return nil, fmt.Errorf("infer: BᵀB + Λ/M + σI: %w", err)
	}
	return s, nil
}

func (s *localSolver) newScratch() *localScratch {
	return &localScratch{work: s.exact.NewWorkspace(), f: make([]float64, s.k), w: make([]float64, s.k)}
}

// solve writes a local minimum to dst and returns how many steps it took.
func (s *localSolver) solve(dst, f []float64, sc *localScratch) (Status, int, error) {
	clear(sc.w)
	for it := 1; ; it++ {
		for i := range sc.f {
			sc.f[i] = f[i] - s.shift[i] + s.sigma*sc.w[i]
		}
		if _, err := sc.work.Solve(dst, sc.f, it > 1); err != nil {
			return 0, 0, fmt.Errorf("infer: %w", err)
		}
		change := 0.0
		for i, v := range dst {
			change += math.Abs(v - sc.w[i])
			sc.w[i] = v
		}
		if change < localTol {
			return LocalMinimum, it, nil
		}
		if it == localSteps {
			return IterationLimit, it, nil
		}
	}
}
