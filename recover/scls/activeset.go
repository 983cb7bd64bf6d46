package scls

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ActiveSet finds the exact minimum, to rounding: KKT gaps are of the order of
// 1e-15 times the largest entries of G and f, whatever the start.
//
// It is a primal active-set method: from the best vertex, the coordinate with
// the most negative multiplier enters the set P of positive coordinates, the
// point moves to the minimum over {y : Σy = 1, y = 0 outside P}, and coordinates
// that reach zero on the way leave. That minimum follows from one Cholesky
// factor of G_PP + σ11ᵀ, which is positive definite exactly where the columns of
// P are affinely independent, and which is updated in O(|P|²) as coordinates
// enter and leave. A coordinate that depends on P (equal anchors, K above the
// rank of G) is exchanged along the null direction and never factored. The
// objective falls with every step, and a coordinate that entered without a
// fall may not do so again before there is one, so the method ends. The point
// is then refined with its gradient.
//
// A warm start gives P; coordinates that come out negative are dropped. From
// the right support it takes one step, a third of the time or less of a cold
// start. (Guessing the support of cold starts by some sweeps of ADMM, and
// letting many coordinates enter at once, both took longer than they saved on
// word co-occurrences with K = 50 and 100.)
//
// Where the optimum is not unique, one of its points is found, and a warm start
// may find another. Problems whose gap rounding keeps above about 1e-12 of the
// scale are reported as Stalled.
//
// Cost for each problem: O(K|P|) a step, |P| up to one or two steps more. Memory:
// O(K²) a worker.
type ActiveSet struct {
	// MaxIterations bounds the equality-constrained solves of one problem,
	// to within the K of a last step; 0 means 20K + 200, far above what is
	// needed in practice.
	MaxIterations int
}

func (a ActiveSet) String() string {
	if a.MaxIterations > 0 {
		return fmt.Sprintf("ActiveSet(max=%d)", a.MaxIterations)
	}
	return "ActiveSet"
}

// Solve implements [Solver].
func (a ActiveSet) Solve(ctx context.Context, g mat.Symmetric, f, y *mat.Dense, opt Options) (*Result, error) {
	if a.MaxIterations < 0 {
		return nil, &SettingError{"ActiveSet", "MaxIterations", float64(a.MaxIterations), "≥ 0"}
	}
	p, err := check(g, f, y, opt)
	if err != nil {
		return nil, err
	}
	limit := a.MaxIterations
	if limit == 0 {
		limit = 20*p.k + 200
	}

	scale := p.scale()
	scaled := make([]float64, len(p.g))
	gmax := 0.0
	for i, v := range p.g {
		scaled[i] = v * scale
		gmax = max(gmax, math.Abs(scaled[i]))
	}
	res := newResult(p.n)
	opt.Workers = p.workers(opt)
	solvers := make([]*activeSet, opt.Workers)
	err = p.solveChunks(ctx, opt, func(worker, lo, hi int) {
		s := solvers[worker]
		if s == nil {
			s = newActiveSet(p.k, scaled, gmax, limit)
			solvers[worker] = s
		}
		for i := lo; i < hi; i++ {
			f, y := p.f.row(i), p.y.row(i)
			best := s.load(f, scale)
			if p.warm {
				s.startFrom(y, best)
			} else {
				s.startVertex(best)
			}
			status := s.solve(y)
			obj, gap := kkt(s.grad, s.f, y)
			res.Objective[i], res.KKTGap[i] = (obj-s.shift)/scale, gap/scale
			res.Iterations[i], res.Status[i] = s.iter, status
		}
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

const eps = 0x1p-52 // the distance from 1 to the next number

// scale returns the power of two that brings the mean of G's diagonal to the
// order of 1, so that scaling does not round, or one small enough for f not
// to overflow.
func (p *problem) scale() float64 {
	const top = 512
	e := 0
	if p.trace > 0 {
		_, e = math.Frexp(p.trace / float64(p.k))
	}
	if p.fmax > 0 {
		_, ef := math.Frexp(p.fmax)
		e = max(e, ef-top)
	}
	return math.Ldexp(1, max(-e, -1022))
}

// activeSet is the state of the work on one problem.
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

// load takes f and returns the best vertex, the lowest of several. On the
// simplex a constant added to f only adds to the objective. The entry of the
// best vertex becomes 0, and then all entries are at most of the order of G, and
// so are the entries of the coordinates of any optimum and their gradients: a
// large f costs no accuracy.
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

// push appends j to P and its row to the factor. It returns false, with P as
// it was, where j depends affinely on P as far as rounding lets one tell.
func (s *activeSet) push(j int) bool {
	d := s.pivot(j)
	if len(s.idx) > 0 && d <= s.dep*s.diag(j) {
		return false
	}
	s.accept(j, d)
	return true
}

func (s *activeSet) diag(j int) float64 { return s.g[j*s.k+j] + s.sigma }

// pivot computes row |P| of l, L⁻¹h_P, for coordinate j, and returns the square
// of the diagonal entry.
func (s *activeSet) pivot(j int) float64 {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m]
	h := s.g[j*k : j*k+k]
	ss := 0.0
	for i, c := range s.idx {
		v := (h[c] + s.sigma - dot(s.l[i*k:i*k+i], row[:i])) * s.dinv[i]
		row[i] = v
		ss += v * v
	}
	return h[j] + s.sigma - ss
}

// accept appends j to P after pivot returned d.
func (s *activeSet) accept(j int, d float64) {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m+1]
	d = math.Sqrt(d)
	inv := 1 / d
	row[m] = d
	s.dinv[m] = inv
	s.z[m] = (s.f[j] - dot(row[:m], s.z)) * inv
	s.w[m] = (1 - dot(row[:m], s.w)) * inv
	s.cur[m] = 0
	s.idx = append(s.idx, j)
	s.in[j] = true
}

// remove takes the coordinate at position p out of P: the factor loses a row
// and is brought back to triangular form by rotations, one row at a time.
func (s *activeSet) remove(p int) {
	k, m := s.k, len(s.idx)
	s.in[s.idx[p]] = false
	copy(s.idx[p:], s.idx[p+1:])
	copy(s.cur[p:m-1], s.cur[p+1:m])
	s.idx = s.idx[:m-1]
	cs, sn := s.full[:m], s.x[:m] // scratch: x is solved for anew after every removal
	for r := p; r < m-1; r++ {
		row := s.l[r*k : r*k+r+2]
		copy(row, s.l[(r+1)*k:(r+1)*k+r+2])
		a := row[p]
		for c := p; c < r; c++ {
			b := row[c+1]
			row[c] = cs[c]*a + sn[c]*b
			a = cs[c]*b - sn[c]*a
		}
		b := row[r+1]
		h := math.Sqrt(a*a + b*b)
		inv := 1 / h
		cs[r], sn[r] = a*inv, b*inv
		row[r] = h
		s.dinv[r] = inv
		z0, z1 := s.z[r], s.z[r+1]
		s.z[r], s.z[r+1] = cs[r]*z0+sn[r]*z1, cs[r]*z1-sn[r]*z0
		w0, w1 := s.w[r], s.w[r+1]
		s.w[r], s.w[r+1] = cs[r]*w0+sn[r]*w1, cs[r]*w1-sn[r]*w0
	}
}

// back solves Lᵀx = x for the first m entries of x.
func (s *activeSet) back(x []float64) {
	k := s.k
	for i := len(x) - 1; i >= 0; i-- {
		v := x[i] * s.dinv[i]
		x[i] = v
		axpy(x[:i], -v, s.l[i*k:i*k+i])
	}
}

// minimise sets x to the minimum over P with Σx = 1, of any sign.
func (s *activeSet) minimise() {
	s.iter++
	m := len(s.idx)
	z, w := s.z[:m], s.w[:m]
	nu := (dot(w, z) - 1) / dot(w, w)
	x := s.x[:m]
	for i := range x {
		x[i] = z[i] - nu*w[i]
	}
	s.back(x)
}

// refine improves x, the minimum over P, by one step of iterative refinement
// with the gradient at x.
func (s *activeSet) refine() {
	k, m := s.k, len(s.idx)
	x := s.x[:m]
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	// r = −grad_P up to a multiple of 1, which the constraint absorbs.
	r, one := s.full[:m], s.w[:m]
	for i, c := range s.idx {
		r[i] = (-s.grad[c] + s.grad[s.idx[0]] - dot(s.l[i*k:i*k+i], r[:i])) * s.dinv[i]
	}
	nu := (dot(one, r) - (1 - sum)) / dot(one, one)
	for i := range r {
		r[i] -= nu * one[i]
	}
	s.back(r)
	for i := range x {
		x[i] += r[i]
	}
}

// scatter writes v, in the order of P, to y.
func (s *activeSet) scatter(y, v []float64) {
	clear(y)
	for i, c := range s.idx {
		y[c] = v[i]
	}
}

// feasible drops negative coordinates, all at once, until the minimum over P
// is in the simplex. It ends: P shrinks, and one coordinate alone gets 1.
func (s *activeSet) feasible() {
	if len(s.idx) == 0 {
		s.push(s.best)
	}
	for {
		s.minimise()
		x := s.x[:len(s.idx)]
		first, count := -1, 0
		for i, v := range x {
			if v <= 0 {
				if first < 0 {
					first = i
				}
				count++
			}
		}
		switch {
		case count == 0:
			return
		case count == 1:
			s.remove(first)
		default:
			// The factor of what stands before the first is kept.
			keep := s.keep[:0]
			for i := first; i < len(x); i++ {
				s.in[s.idx[i]] = false
				if x[i] > 0 {
					keep = append(keep, s.idx[i])
				}
			}
			s.idx = s.idx[:first]
			for _, j := range keep {
				s.push(j)
			}
		}
		if len(s.idx) == 0 {
			s.push(s.best)
		}
	}
}

// solve works from P to the optimum, writes it to y and leaves the gradient
// there in s.grad.
func (s *activeSet) solve(y []float64) Status {
	s.feasible()
	best := math.Inf(1)
	for {
		copy(s.cur, s.x[:len(s.idx)])
		gradientOn(s.grad, s.g, s.f, s.idx, s.cur)
		level, obj := s.level()
		if obj < best {
			best = obj
			clear(s.ban)
		}
		if s.iter >= s.limit {
			return s.finish(y, IterationLimit)
		}
		for {
			j := s.worst(level)
			if j < 0 {
				return s.finish(y, Converged)
			}
			s.ban[j] = true // until the objective falls
			if s.enter(j) {
				break
			}
		}
	}
}

// level returns the multiplier of Σy = 1, the mean of the gradient weighted by
// the current point, and the objective.
func (s *activeSet) level() (level, objective float64) {
	for i, c := range s.idx {
		v := s.cur[i]
		level += v * s.grad[c]
		objective += v * (s.grad[c] - s.f[c])
	}
	return level, objective / 2
}

// worst returns the coordinate outside P with the lowest gradient, −1 where
// none is below the level.
func (s *activeSet) worst(level float64) int {
	low, at := level-s.tol, -1
	for j, v := range s.grad {
		if v < low && !s.in[j] && !s.ban[j] {
			low, at = v, j
		}
	}
	return at
}

// enter lets j into P and moves to the minimum over P, dropping coordinates
// that reach 0 on the way. It returns false, with the point and P as they
// were, where rounding or dependence allows no step.
func (s *activeSet) enter(j int) bool {
	d := s.pivot(j)
	fresh := true
	if d <= near*s.diag(j) {
		switch s.exchange(j) {
		case exchanged:
			fresh = false
		case curved:
			if d <= s.dep*s.diag(j) {
				return false
			}
			d = s.pivot(j)
		case stuck:
			return false
		}
	}
	if fresh {
		s.accept(j, d)
	}
	for {
		s.minimise()
		m := len(s.idx)
		x, cur := s.x[:m], s.cur[:m]
		if fresh && x[m-1] <= 0 {
			s.remove(m - 1) // its multiplier was negative by rounding only
			return false
		}
		fresh = false
		t, block := 1.0, -1
		for i, v := range x {
			if v > 0 {
				continue
			}
			r := 0.0
			if cur[i] > 0 {
				r = cur[i] / (cur[i] - v)
			}
			if block < 0 || r < t {
				t, block = r, i
			}
		}
		if block < 0 {
			copy(cur, x)
			return true
		}
		for i, v := range x {
			cur[i] = max(0, cur[i]+t*(v-cur[i]))
		}
		s.remove(block)
	}
}

// near is the pivot, relative to the diagonal, up to which enter looks whether
// the new coordinate should rather take the place of another.
const near = 1e-8

type exchangeResult uint8

const (
	exchanged exchangeResult = iota // j has taken another's place
	curved                          // the minimum comes before any coordinate is used up
	stuck                           // no step is possible
)

// exchange puts j into P where it depends affinely on P, or nearly so:
// h_j = Σc_i h_i with Σc = 1. Along the direction that feeds j from P in the
// proportions c the objective falls and is linear, or nearly so, until some
// coordinate is used up; that one leaves and j takes its place. Row |P| of l
// holds L⁻¹h_P on entry.
func (s *activeSet) exchange(j int) exchangeResult {
	k, m := s.k, len(s.idx)
	// The best c with Σc = 1 exactly, as in minimise.
	c, row, one := s.x[:m], s.l[m*k:m*k+m], s.w[:m]
	beta := (dot(one, row) - 1) / dot(one, one)
	for i, v := range row {
		c[i] = v - beta*one[i]
	}
	s.back(c)
	t, block := math.Inf(1), -1
	for i, v := range c {
		if v > 0 && s.cur[i] < t*v {
			t, block = s.cur[i]/v, i
		}
	}
	if block < 0 {
		return stuck
	}
	slope, curve := s.grad[j]-s.grad[s.idx[0]], s.g[j*k+j]
	for i, a := range s.idx {
		slope -= c[i] * (s.grad[a] - s.grad[s.idx[0]])
		h := -2 * s.g[j*k+a]
		for e, b := range s.idx {
			h += c[e] * s.g[a*k+b]
		}
		curve += c[i] * h
	}
	if slope >= 0 || slope+curve*t >= 0 {
		return curved
	}
	out, had := s.idx[block], s.cur[block]
	// c lies in x, which remove overwrites: the new point goes to full first.
	next := s.full[:0]
	for i, v := range c {
		if i != block {
			next = append(next, max(0, s.cur[i]-t*v))
		}
	}
	cur := append(s.keepCur[:0], s.cur[:m]...)
	copy(s.cur, next[:block])
	copy(s.cur[block+1:], next[block:])
	s.remove(block)
	if !s.push(j) {
		// j hangs on what is left as well: put things back.
		copy(s.cur, cur[:block])
		copy(s.cur[block:], cur[block+1:])
		if s.push(out) {
			s.cur[m-1] = had
		}
		return stuck
	}
	s.cur[m-1] = t
	return exchanged
}

// finish refines the point at s.cur, whose gradient is known, and writes it to
// y. A point that stays far from the optimum for rounding is reported as such.
func (s *activeSet) finish(y []float64, st Status) Status {
	s.scatter(y, s.cur)
	normalise(y)
	gradient(s.grad, s.g, s.f, y, s.index)
	_, gap := kkt(s.grad, s.f, y)
	m := len(s.idx)
	for try := 0; try < 3 && gap > s.tol/4 && st == Converged; try++ {
		x := s.x[:m]
		for i, c := range s.idx {
			x[i] = y[c]
		}
		s.refine()
		s.scatter(s.keepCur, x)
		normalise(s.keepCur)
		gradient(s.trial, s.g, s.f, s.keepCur, s.index)
		_, g := kkt(s.trial, s.f, s.keepCur)
		if !(g < gap) {
			break
		}
		gap = g
		copy(y, s.keepCur)
		copy(s.grad, s.trial)
	}
	if st == Converged && gap > stallFactor*s.tol {
		return Stalled
	}
	return st
}

// stallFactor times the tolerance of the multipliers is the KKT gap above
// which a point is not called converged: about 1e-12 times the scale.
const stallFactor = 512
