package simplex

import "math"

// eps is the distance from 1 to the next number.
const eps = 0x1p-52

// activeSet is the state of a primal active-set method. From the best vertex, the
// coordinate with the most negative multiplier enters the set P of positive coordinates,
// the point moves to the minimum over {y : Σy = 1, y = 0 outside P}, and coordinates that
// reach zero on the way leave. That minimum follows from a Cholesky factor of G_PP + σ11ᵀ,
// which is positive definite where the columns of P are affinely independent, and is
// updated in O(|P|²). A coordinate that depends on P (equal columns of G, K above its rank)
// is exchanged along the null direction and never factored. The objective falls, and a
// coordinate that entered without a fall may not do so again before there is one, so the
// method ends. The point is then refined with its gradient.
type activeSet struct {
	k     int
	g     []float64 // K×K
	sigma float64   // the multiple of 11ᵀ added to G
	limit int
	dep   float64 // a pivot below dep times the diagonal means dependence

	f     []float64 // scaled and shifted
	shift float64   // what was taken from every entry of f
	tol   float64   // a multiplier above −tol counts as 0
	iter  int
	best  int // the best vertex

	idx  []int     // P, in the order of the factor
	in   []bool    // K: whether in P
	ban  []bool    // K: may not enter until the objective falls
	l    []float64 // Cholesky factor L of G_PP + σ11ᵀ, rows of stride K
	dinv []float64 // 1/L_ii
	z, w []float64 // L⁻¹f_P, L⁻¹1
	x    []float64 // the minimum over P, in the order of idx
	cur  []float64 // the current feasible point, in the order of idx
	grad []float64 // K: Gy − f

	full, trial, keepCur []float64 // K: scratch
	keep, index          []int     // K: scratch
}

func newActiveSet(k int, g []float64, gmax float64, limit int) *activeSet {
	s := &activeSet{k: k, g: g, limit: limit, sigma: 1, dep: float64(k+8) * eps, tol: 16 * eps * gmax}
	if gmax == 0 {
		s.dep = 0.5 // any two columns are the same
	}
	s.idx, s.keep, s.index = make([]int, 0, k), make([]int, 0, k), make([]int, k)
	s.in, s.ban = make([]bool, k), make([]bool, k)
	s.l = make([]float64, k*k)
	buf := make([]float64, 10*k)
	next := func() []float64 { b := buf[:k:k]; buf = buf[k:]; return b }
	s.f, s.dinv, s.z, s.w = next(), next(), next(), next()
	s.x, s.cur, s.grad, s.full = next(), next(), next(), next()
	s.trial, s.keepCur = next(), next()
	return s
}

func (s *activeSet) reset() {
	clear(s.in)
	clear(s.ban)
	s.idx = s.idx[:0]
	s.iter = 0
}

// load takes f and returns the best vertex, the lowest of several. On the simplex a
// constant added to f only adds to the objective: the entry of the best vertex becomes 0,
// so that those of any optimum are at most of the order of G, and a large f costs no
// accuracy.
func (s *activeSet) load(f []float64, scale float64) (best int) {
	low := math.Inf(1)
	for j, v := range f {
		s.f[j] = v * scale
		if o := s.g[j*s.k+j]/2 - s.f[j]; o < low {
			low, best = o, j
		}
	}
	s.shift = s.f[best]
	for j := range s.f {
		s.f[j] -= s.shift
	}
	return best
}

func (s *activeSet) startVertex(j int) {
	s.reset()
	s.best = j
	s.push(j)
}

// startFrom begins with the support of y, largest entries first so that those
// likely to leave stand last in the factor.
func (s *activeSet) startFrom(y []float64, best int) {
	s.reset()
	keep := s.keep[:0]
	for j, v := range y {
		if v <= 0 {
			continue
		}
		i := len(keep)
		keep = append(keep, j)
		for ; i > 0 && y[keep[i-1]] < v; i-- {
			keep[i] = keep[i-1]
		}
		keep[i] = j
	}
	for _, j := range keep {
		s.push(j)
	}
	s.best = best
}
