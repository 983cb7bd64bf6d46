package lp

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// violated returns the basic variable that is farthest beyond its bounds, by its weight,
// or the first one that is beyond them by more than tol; −1 where there is none. below
// says on which side, and over by how much.
func (s *Solver) violated(bland bool, tol float64) (out int, below bool, over float64) {
	out = -1
	most := 0.0
	look := func(v int, x, lo, hi float64) bool {
		d := max(lo-x, x-hi)
		if d <= tol || d*d <= most*s.weight[v] || s.nonbasic(v) {
			return false
		}
		out, below, over, most = v, lo-x > x-hi, d, d*d/s.weight[v]
		return bland
	}
	if s.Lo != nil {
		for v, x := range s.X {
			if look(v, x, s.Lo[v], s.Hi[v]) {
				return out, below, over
			}
		}
	}
	for r, x := range s.r.Data {
		if look(s.p+r, x, s.RowLo[r], s.RowHi[r]) {
			break
		}
	}
	return out, below, over
}

// tableauRow sets alpha to the derivatives of a basic variable by the nonbasic ones.
func (s *Solver) tableauRow(out int) {
	rho, x := s.kernelRow[:len(s.rows)], s.alpha[:s.p]
	clear(s.alpha)
	if out < s.p {
		copy(rho, s.inv.row(s.place[out]))
	} else {
		clear(rho)
		g := linalg.Row(s.G, out-s.p)
		for l, v := range s.cols {
			blas64.Axpy(g[v], vector(s.inv.row(l)), vector(rho))
		}
		copy(x, g)
	}
	if len(s.cols) < s.p {
		for i, r := range s.rows {
			blas64.Axpy(-rho[i], vector(linalg.Row(s.G, r)), vector(x))
		}
	}
	for _, v := range s.cols {
		x[v] = 0
	}
	for i, r := range s.rows {
		s.alpha[s.p+r] = rho[i]
	}
}

// candidate is a nonbasic variable that may enter the basis: its multiplier is d from
// zero and gets there at the rate a, when that of the leaving one is ratio = d/a.
type candidate struct {
	v           int
	d, a, ratio float64
}

// entering returns the nonbasic variable whose multiplier is the first to get to zero as
// that of the leaving one grows, −1 where none does. Variables that may go to their other
// bound while the leaving one, over beyond its own, stays beyond it, are passed and listed
// in s.passed. Multipliers up to zero are rounding.
func (s *Solver) entering(below, bland bool, over, zero float64) int {
	s.candidates(below)
	s.passed = s.passed[:0]
	slack := zero
	if bland {
		slack = 0
		for i := range s.cands {
			if c := &s.cands[i]; c.d <= 100*zero { // a tie must be seen as one
				c.d, c.ratio = 0, 0
			}
		}
	}
	heap := s.cands
	for i := len(heap)/2 - 1; i >= 0; i-- {
		siftDown(heap, i)
	}
	for len(heap) > 0 {
		// Of those that are zero at the same time, to rounding, the one with the
		// largest pivot (Harris 1973), or the first one.
		least, change := math.Inf(1), 0.0
		best, first := heap[0], len(s.passed)
		for len(heap) > 0 && heap[0].ratio <= least {
			c := heap[0]
			least = min(least, (c.d+slack)/c.a)
			if !bland && c.a > best.a || bland && c.v < best.v {
				best = c
			}
			lo, hi := s.bounds(c.v)
			change += c.a * (hi - lo)
			s.passed = append(s.passed, c.v)
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
			siftDown(heap, 0)
		}
		if bland || over-change <= 0 {
			s.passed = s.passed[:first]
			return best.v
		}
		over -= change
	}
	return -1
}

// candidates sets s.cands.
func (s *Solver) candidates(below bool) {
	dir := 1.0
	if !below {
		dir = -1
	}
	s.cands = s.cands[:0]
	add := func(v int) {
		// At the lower bound D ≤ 0, and it moves by dir·alpha.
		d, a := -s.D[v], dir*s.alpha[v]
		if s.high[v] {
			d, a = -d, -a
		}
		if a > pivotTol {
			if lo, hi := s.bounds(v); lo < hi {
				d = max(d, 0)
				s.cands = append(s.cands, candidate{v, d, a, d / a})
			}
		}
	}
	for _, r := range s.rows {
		add(s.p + r)
	}
	if len(s.cols) < s.p {
		for v := range s.p {
			if s.place[v] < 0 {
				add(v)
			}
		}
	}
}

// siftDown brings element i of a heap, the least ratio first, to its place.
func siftDown(heap []candidate, i int) {
	for {
		j := 2*i + 1
		if j >= len(heap) {
			return
		}
		if j+1 < len(heap) && heap[j+1].ratio < heap[j].ratio {
			j++
		}
		if heap[i].ratio <= heap[j].ratio {
			return
		}
		heap[i], heap[j] = heap[j], heap[i]
		i = j
	}
}

// weigh brings the weights up to date: Devex (Harris 1973, in the dual), an estimate
// of how long the rows of the tableau are.
func (s *Solver) weigh(out, enter int) {
	f := s.weight[out] / (s.alpha[enter] * s.alpha[enter])
	for _, v := range s.cols {
		s.weight[v] = max(s.weight[v], f*s.dx[v]*s.dx[v])
	}
	for r, d := range s.dr.Data {
		s.weight[s.p+r] = max(s.weight[s.p+r], f*d*d)
	}
	s.weight[enter] = max(f, 1)
}
