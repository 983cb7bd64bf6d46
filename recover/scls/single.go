package scls

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Prepared is a matrix G made ready for solving one problem at a time, for
// callers whose vectors f arrive one by one. It never changes and is safe for
// concurrent use; each goroutine needs a [Workspace] of its own.
type Prepared struct {
	k            int
	scaled       []float64 // K×K
	scale, gmax  float64
	limit        int
	largestInput float64 // |f| up to which nothing overflows
}

// Prepare checks G (K×K, positive semidefinite) once and copies it. The
// errors are those of Solve about settings and G. O(K³).
func (a ActiveSet) Prepare(g mat.Symmetric) (*Prepared, error) {
	if a.MaxIterations < 0 {
		return nil, &SettingError{"ActiveSet", "MaxIterations", float64(a.MaxIterations), "≥ 0"}
	}
	p, err := check(g, new(mat.Dense), new(mat.Dense), Options{})
	if err != nil {
		return nil, err
	}
	out := &Prepared{k: p.k, scaled: make([]float64, len(p.g)), scale: p.scale(), limit: a.MaxIterations}
	if out.limit == 0 {
		out.limit = 20*p.k + 200
	}
	for i, v := range p.g {
		out.scaled[i] = v * out.scale
		out.gmax = max(out.gmax, math.Abs(out.scaled[i]))
	}
	out.largestInput = 0x1p512 / out.scale // as in Solve
	return out, nil
}

// K returns the size of G.
func (p *Prepared) K() int { return p.k }

// Workspace solves problems with one matrix, one after the other and without
// allocating. It must not be used by two goroutines at once. Memory: 8K² bytes.
type Workspace struct {
	p *Prepared
	s *activeSet
}

// NewWorkspace returns a workspace for p.
func (p *Prepared) NewWorkspace() *Workspace {
	return &Workspace{p, newActiveSet(p.k, p.scaled, p.gmax, p.limit)}
}

// Outcome tells how the work on one problem ended; see [Result].
type Outcome struct {
	Objective  float64
	KKTGap     float64
	Iterations int
	Status     Status
}

// Solve minimises ½ yᵀGy − fᵀy over the simplex, as [ActiveSet.Solve] does for
// a row of its matrices; y and f have length K and must not share memory. With
// warm, y holds a starting point on entry: y ≥ 0 and Σy = 1 to 1e-6. The result
// depends on G, f and the start alone, to the bit. Errors: *ShapeError and
// *ValueError.
func (w *Workspace) Solve(y, f []float64, warm bool) (Outcome, error) {
	p, s := w.p, w.s
	if len(f) != p.k {
		return Outcome{}, &ShapeError{"f", 1, len(f), 1, p.k}
	}
	if len(y) != p.k {
		return Outcome{}, &ShapeError{"y", 1, len(y), 1, p.k}
	}
	for j, v := range f {
		if !(math.Abs(v) <= p.largestInput) {
			return Outcome{}, &ValueError{"f", 0, j, v, fmt.Sprintf("is not finite or above %.3g", p.largestInput)}
		}
	}
	if warm {
		sum := 0.0
		for j, v := range y {
			if !(v >= -1e-6) || math.IsInf(v, 1) {
				return Outcome{}, &ValueError{"y", 0, j, v, "is no starting value (must be ≥ 0)"}
			}
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return Outcome{}, &ValueError{"y", 0, -1, sum, "is no starting point (must sum to 1)"}
		}
	}
	best := s.load(f, p.scale)
	if warm {
		s.startFrom(y, best)
	} else {
		s.startVertex(best)
	}
	status := s.solve(y)
	obj, gap := kkt(s.grad, s.f, y)
	return Outcome{(obj - s.shift) / p.scale, gap / p.scale, s.iter, status}, nil
}
