package simplex

import "math"

// minimise sets x to the minimum over P with Σx = 1, of any sign.
func (s *activeSet) minimise() {
	s.iter++
	m := len(s.idx)
	s.back(s.x[:m], s.z[:m], 1)
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
	r := s.full[:m]
	for i, c := range s.idx {
		r[i] = (-s.grad[c] + s.grad[s.idx[0]] - dot(s.l[i*k:i*k+i], r[:i])) * s.dinv[i]
	}
	s.back(r, r, 1-sum)
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
		s.scatter(s.full, s.cur)
		gradientOn(s.grad, s.g, s.f, s.full, s.idx)
		level, obj := s.level()
		if obj < best {
			best = obj
			clear(s.ban)
		}
		if s.iter >= s.limit {
			return s.finish(y, Limit)
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
	c := s.x[:m]
	s.back(c, s.l[m*k:m*k+m], 1)
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
	Normalise(y)
	Gradient(s.grad, s.g, s.f, y, s.index)
	_, gap := Gap(s.grad, s.f, y)
	m := len(s.idx)
	for try := 0; try < 3 && gap > s.tol/4 && st == Converged; try++ {
		x := s.x[:m]
		for i, c := range s.idx {
			x[i] = y[c]
		}
		s.refine()
		s.scatter(s.keepCur, x)
		Normalise(s.keepCur)
		Gradient(s.trial, s.g, s.f, s.keepCur, s.index)
		_, g := Gap(s.trial, s.f, s.keepCur)
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
