// Package lp solves linear programs by a dual simplex method.
//
// A Problem is to maximise cᵀx subject to Lo ≤ x ≤ Hi and RowLo ≤ Gx ≤ RowHi, where
// every bound is finite except those of free variables. Any basis will do to begin with:
// a variable whose multiplier has the wrong sign is taken at its other bound. There is no
// first phase, and a basis of one objective serves for the next.
//
// The variables are those of x and, after them, the rows of Gx. In a basis p variables
// are nonbasic, p being the length of x, each at one of its bounds, and the others follow
// from them. The method keeps the inverse of the kernel only, the part of G in the nonbasic
// rows and the basic columns, which has at most min(rows, columns) rows.
package lp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
)

const (
	feasTol  = 1e-11 // by how much a bound may be violated, for ‖x‖ = 1 and rows of unit length
	maxTol   = 1e-7  // to what feasTol is raised where the method does not get on
	pivotTol = 1e-7  // the least tableau entry that a pivot may have
	tieTol   = 1e-13 // widens the ratio test for the sake of larger pivots (Harris 1973)
	sideTol  = 1e-10 // the multiplier, for ‖c‖ = 1, from which on its sign counts
	refresh  = 50    // pivots after which the inverse is computed anew
)

// Problem is a set {x : Lo ≤ x ≤ Hi, RowLo ≤ Gx ≤ RowHi}. The rows of G should be about
// one unit long: a bound counts as kept if it is violated by at most 1e-11·‖x‖, or up to
// 1e-7·‖x‖ where rounding does not allow that. A Problem is not written to.
type Problem struct {
	G            blas64.General // q×p
	Lo, Hi       []float64      // of x, length p: both finite, or −∞ and ∞; nil where all are free
	RowLo, RowHi []float64      // of Gx, length q, finite
}

// LimitError says that the method did not end.
type LimitError struct{ Pivots int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the simplex method came to no end in %d steps", e.Pivots)
}

// InfeasibleError says that a variable cannot be brought within its bounds while
// the rows of the basis are within theirs.
type InfeasibleError struct {
	Variable int   // of x below p, else row Variable−p of Gx
	Rows     []int // the nonbasic rows
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("variable %d of the linear program cannot be within its bounds", e.Variable)
}

// Solver solves programs over one Problem. It must not be used by two goroutines
// at once.
type Solver struct {
	// X is the maximiser, length p, and D are the multipliers of the bounds, first
	// those of x, then those of the rows: c = D[:p] + GᵀD[p:], positive at upper
	// bounds, negative at lower ones, zero for basic variables.
	X, D []float64
	// Pivots counts the steps of all programs, and Limit bounds those of one;
	// New sets it to 200·min(p, q) + 2·(p + q).
	Pivots, Limit int

	*Problem
	p, q       int
	rows, cols []int // of the kernel: nonbasic rows, basic variables of x
	place      []int // by variable: where it is in rows or cols, or −1
	high       []bool
	inv        kernel
	r          blas64.General // Gx
	h, alpha   []float64      // right-hand side; the tableau row of the leaving variable
	kernelRow  []float64      // alpha of the nonbasic rows
	kernelCol  []float64
	dx         []float64 // a direction, and G times that
	dr         blas64.General
	weight     []float64 // by variable
	cands      []candidate
	passed     []int // variables that go to their other bound
}

// New returns a solver that begins with the given basis: nonbasic rows, and as
// many basic variables of x, among which all free ones must be.
func New(pr *Problem, rows, cols []int) *Solver {
	p, q := pr.G.Cols, pr.G.Rows
	s := &Solver{
		X: make([]float64, p), D: make([]float64, p+q), Limit: 200*min(p, q) + 2*(p+q),
		Problem: pr, p: p, q: q, place: make([]int, p+q), high: make([]bool, p+q), inv: kernel{stride: min(p, q)},
		r: linalg.NewGeneral(q, 1), h: make([]float64, min(p, q)), alpha: make([]float64, p+q), kernelRow: make([]float64, min(p, q)), kernelCol: make([]float64, min(p, q)),
		dx: make([]float64, p), dr: linalg.NewGeneral(q, 1), weight: make([]float64, p+q),
	}
	s.Start(rows, cols)
	return s
}

// Perturb adds to each number between half of size and size, always the same. Where many
// multipliers are zero, the method makes steps without progress; those of a perturbed
// objective are not. The maximum moves by at most size·Σ|x_n|.
func Perturb(c []float64, size float64) {
	rng := rand.New(rand.NewPCG(0, 0x1b))
	for i := range c {
		c[i] += float64(size * (0.5 + float64(0.5*rng.Float64())))
	}
}

// Start sets the basis to begin with.
func (s *Solver) Start(rows, cols []int) {
	s.rows, s.cols = append(s.rows[:0], rows...), append(s.cols[:0], cols...)
	for v := range s.place {
		s.place[v] = -1
	}
	for i, r := range s.rows {
		s.place[s.p+r] = i
	}
	for l, c := range s.cols {
		s.place[c] = l
	}
}

// Basis returns the basis of the last program: nonbasic rows and basic variables
// of x.
func (s *Solver) Basis() (rows, cols []int) { return slices.Clone(s.rows), slices.Clone(s.cols) }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func column(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// bounds are those of a variable.
func (s *Solver) bounds(v int) (lo, hi float64) {
	switch {
	case v >= s.p:
		return s.RowLo[v-s.p], s.RowHi[v-s.p]
	case s.Lo == nil:
		return math.Inf(-1), math.Inf(1)
	}
	return s.Lo[v], s.Hi[v]
}

// at is the bound at which a nonbasic variable is.
func (s *Solver) at(v int) float64 {
	lo, hi := s.bounds(v)
	if s.high[v] {
		return hi
	}
	return lo
}

// nonbasic reports whether v is at a bound.
func (s *Solver) nonbasic(v int) bool { return (s.place[v] >= 0) == (v >= s.p) }

// Solve maximises cᵀx from the last basis, or that of Start. Errors: *LimitError,
// *InfeasibleError, a singular basis, ctx's, which is checked at each step.
func (s *Solver) Solve(ctx context.Context, c []float64) error {
	scale := blas64.Nrm2(vector(c))
	if err := s.invert(); err != nil {
		return err
	}
	clear(s.high)
	s.multipliers(c)
	s.sides(0)
	for v := range s.weight {
		s.weight[v] = 1
	}
	value, still, fresh, known := math.Inf(1), 0, true, false
	for step := 1; ; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step > s.Limit {
			return &LimitError{step - 1}
		}
		if !known {
			if err := s.values(ctx); err != nil {
				return err
			}
			known = true
		}
		// While the bound falls the most violated variable leaves the basis, else
		// the first one (Bland 1977), with which no basis comes twice.
		v := blas64.Dot(vector(c), vector(s.X))
		if math.IsInf(value, 1) || v < value-float64(1e-14*math.Abs(value)) {
			value, still = v, 0
		} else {
			still++
		}
		patience := 2 * (len(s.rows) + 1)
		bland := still > patience
		tol := feasTol * blas64.Nrm2(vector(s.X))
		if worse := still/patience - 4; worse > 0 {
			// An inverse so badly conditioned that its rounding is above tol.
			tol *= math.Min(math.Ldexp(1, worse), maxTol/feasTol)
		}
		out, below, over := s.violated(bland, tol)
		enter := -1
		if out >= 0 {
			s.tableauRow(out)
			enter = s.entering(below, bland, over-tol, tieTol*scale)
		}
		if enter < 0 || math.Abs(s.alpha[enter]) < 100*pivotTol && !fresh {
			switch {
			case !fresh: // perhaps by rounding of the inverse: once more with an exact one
				if err := s.renew(c, scale); err != nil {
					return err
				}
				fresh, known = true, false
				continue
			case out < 0:
				return nil
			}
			return &InfeasibleError{out, slices.Clone(s.rows)}
		}
		if err := s.direction(ctx, enter); err != nil {
			return err
		}
		s.weigh(out, enter)
		if known = len(s.passed) == 0; known {
			s.advance(out, enter, below)
		}
		for _, v := range s.passed {
			s.high[v] = !s.high[v]
		}
		s.exchange(out, enter, below, c)
		s.Pivots++
		if fresh = step%refresh == 0; fresh {
			if err := s.renew(c, scale); err != nil {
				return err
			}
			known = false
		}
	}
}

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
	slices.SortFunc(s.cands, func(a, b candidate) int { return cmp.Compare(a.ratio, b.ratio) })
	for next := 0; next < len(s.cands); {
		// Of those that are zero at the same time, to rounding, the one with the
		// largest pivot (Harris 1973), or the first one.
		least, change := math.Inf(1), 0.0
		best, first := s.cands[next], len(s.passed)
		for ; next < len(s.cands) && s.cands[next].ratio <= least; next++ {
			c := s.cands[next]
			least = min(least, (c.d+slack)/c.a)
			if !bland && c.a > best.a || bland && c.v < best.v {
				best = c
			}
			lo, hi := s.bounds(c.v)
			change += float64(c.a * (hi - lo))
			s.passed = append(s.passed, c.v)
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
