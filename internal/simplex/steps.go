package simplex

import (
	"fmt"
	"math"
)

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
		level += float64(v * s.grad[c])
		objective += float64(v * (s.grad[c] - s.f[c]))
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
			cur[i] = max(0, cur[i]+float64(t*(v-cur[i])))
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
		slope -= float64(c[i] * (s.grad[a] - s.grad[s.idx[0]]))
		h := -2 * s.g[j*k+a]
		for e, b := range s.idx {
			h += float64(c[e] * s.g[a*k+b])
		}
		curve += float64(c[i] * h)
	}
	if slope >= 0 || slope+float64(curve*t) >= 0 {
		return curved
	}
	out, had := s.idx[block], s.cur[block]
	// c lies in x, which remove overwrites: the new point goes to full first.
	next := s.full[:0]
	for i, v := range c {
		if i != block {
			next = append(next, max(0, s.cur[i]-float64(t*v)))
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

// Gradient sets dst = Gy − f over the nonzero entries of y. idx is scratch of
// length K.
func Gradient(dst, g, f, y []float64, idx []int) {
	m := 0
	for i, v := range y {
		idx[m] = i
		if v != 0 {
			m++
		}
	}
	gradientOn(dst, g, f, y, idx[:m])
}

// gradientOn sets dst = Gy − f for a y whose nonzero entries are at idx, which are added up
// in this order.
func gradientOn(dst, g, f, y []float64, idx []int) {
	k := len(f)
	negate(dst, f)
	i := 0
	for ; i+3 < len(idx); i += 4 {
		a, b, c, d := idx[i], idx[i+1], idx[i+2], idx[i+3]
		axpy4(dst, y[a], g[a*k:], y[b], g[b*k:], y[c], g[c*k:], y[d], g[d*k:])
	}
	for _, a := range idx[i:] {
		axpy(dst, y[a], g[a*k:a*k+k])
	}
}

func negate(dst, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = -x[i]
	}
}

// axpy4 adds a·ra + b·rb + c·rc + d·rd to dst.
func axpy4(dst []float64, a float64, ra []float64, b float64, rb []float64, c float64, rc []float64, d float64, rd []float64) {
	ra, rb, rc, rd = ra[:len(dst)], rb[:len(dst)], rc[:len(dst)], rd[:len(dst)]
	for j := range dst {
		dst[j] += (float64(a*ra[j]) + float64(b*rb[j])) + (float64(c*rc[j]) + float64(d*rd[j]))
	}
}

// axpy adds a·x to dst.
func axpy(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += float64(a * x[i])
	}
}

// dot returns xᵀy, summed in two interleaved parts.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s, t float64
	i := 0
	for ; i+1 < len(x); i += 2 {
		s += float64(x[i] * y[i])
		t += float64(x[i+1] * y[i+1])
	}
	if i < len(x) {
		s += float64(x[i] * y[i])
	}
	return s + t
}

// Gap returns the objective ½yᵀGy − fᵀy and the primal-dual gap Σ y_k(∇_k − min ∇) of
// a y in the simplex, given ∇ = Gy − f.
func Gap(grad, f, y []float64) (objective, gap float64) {
	low := grad[0]
	for _, v := range grad[1:] {
		low = min(low, v)
	}
	for i, v := range y {
		if v != 0 {
			objective += float64(v * (grad[i] - f[i]))
			gap += float64(v * (grad[i] - low))
		}
	}
	return float64(objective / 2), gap
}

// Normalise clips tiny negative entries and scales the sum to 1.
func Normalise(y []float64) {
	sum := 0.0
	for i, v := range y {
		if v <= 0 {
			y[i] = 0
			continue
		}
		sum += v
	}
	for i := range y {
		y[i] /= sum
	}
}

// Covariance returns the covariance of a and b under the weights y, which sum to 1.
func Covariance(y, a, b []float64) float64 {
	ma, mb := 0.0, 0.0
	for j, v := range y {
		ma += float64(v * a[j])
		mb += float64(v * b[j])
	}
	c := 0.0
	for j, v := range y {
		c += float64(v * (a[j] - ma) * (b[j] - mb))
	}
	return c
}

// Project sets dst to the point of the simplex {y : y ≥ 0, Σy = 1} nearest to v in the
// Euclidean norm: y = max(v − τ, 0) with the τ for which Σy = 1. dst and v have the same
// length K ≥ 1 and may be the same slice. v must be finite, else the result is not.
//
// It is exact to rounding: the set of positive entries is found by Michelot's finite scheme
// (drop what is at or below the running τ, repeat), begun with the entries above max v − 1.
// A point of the simplex is returned as it is, bit for bit. O(K) in practice, O(K²) at worst.
// It panics if the lengths differ or are 0.
func Project(dst, v []float64) {
	if len(dst) != len(v) || len(v) == 0 {
		panic(fmt.Sprintf("simplex: Project: lengths %d and %d, must be equal and at least 1", len(dst), len(v)))
	}
	top, low, sum := v[0], v[0], 0.0
	for _, x := range v {
		top = max(top, x)
		low = min(low, x)
		sum += x
	}
	if low >= 0 && math.Abs(sum-1) <= 2*float64(len(v))*eps {
		copy(dst, v)
		return
	}
	// Entries relative to the largest: those that count are in (−1, 0], so
	// that no accuracy is lost where v is large.
	m, s := 0, 0.0
	for i, x := range v {
		x -= top
		dst[i] = x
		if x > -1 {
			m++
			s += x
		}
	}
	tau := (s - 1) / float64(m)
	for {
		n := 0
		s = 0
		for _, x := range dst {
			if x > tau {
				n++
				s += x
			}
		}
		// The set only shrinks, except for rounding of τ, with which an entry
		// near it might come and go for ever.
		if n >= m {
			break
		}
		m = n
		tau = (s - 1) / float64(n)
	}
	sum = 0
	for i, x := range dst {
		x = max(x-tau, 0)
		dst[i] = x
		sum += x
	}
	// What rounding left of the sum is spread over the positive entries.
	d := (sum - 1) / float64(m)
	for i, x := range dst {
		if x > 0 {
			dst[i] = max(x-d, 0)
		}
	}
}
