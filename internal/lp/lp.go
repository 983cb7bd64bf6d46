// Package lp solves linear programs by a dual simplex method.
//
// A Problem is to maximise cᵀx subject to Lo ≤ x ≤ Hi and RowLo ≤ Gx ≤ RowHi,
// where every bound is finite but those of variables that are free. So any basis
// will do to begin with: a variable whose multiplier has the wrong sign is taken
// at its other bound. There is no first phase, and a basis of one objective
// serves for the next.
//
// Terms: the variables are those of x and, after them, the rows of Gx. In a basis
// as many variables as x has are nonbasic, each at one of its bounds, and the
// others follow from them. The method keeps the inverse of the kernel only, the
// part of G in the nonbasic rows and the basic columns, which has at most
// min(rows, columns) rows.
package lp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/internal/linalg"
)

const (
	// feasTol is by how much a bound may be violated, for ‖x‖ = 1 and rows of
	// unit length.
	feasTol = 1e-11
	// mostTol is to what feasTol is raised where the method does not get on.
	mostTol = 1e-7
	// pivotTol is the least tableau entry that a pivot may have.
	pivotTol = 1e-9
	// tieTol widens the ratio test for the sake of larger pivots (Harris 1973).
	tieTol = 1e-13
	// sideTol is the multiplier, for ‖c‖ = 1, from which on its sign counts.
	sideTol = 1e-10
	// refresh is after how many pivots the inverse is computed anew.
	refresh = 50
)

// Problem is a set {x : Lo ≤ x ≤ Hi, RowLo ≤ Gx ≤ RowHi}. The rows of G should be about
// one unit long: a bound counts as kept if it is violated by at most 1e-11·‖x‖,
// or more, up to 1e-7·‖x‖, where rounding does not allow that.
// A Problem is not written to, and may be shared.
type Problem struct {
	G            blas64.General // q×p
	Lo, Hi       []float64      // of x, length p: both finite, or −∞ and ∞; nil where all are free
	RowLo, RowHi []float64      // of Gx, length q, finite
}

// LimitError says that the method came to no end.
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
	}
	s.Start(rows, cols)
	return s
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

// nonbasic tells whether v is at a bound.
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
	value, still, fresh := math.Inf(1), 0, true
	for step := 1; ; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step > s.Limit {
			return &LimitError{step - 1}
		}
		if err := s.values(ctx); err != nil {
			return err
		}
		// While the bound falls the most violated variable leaves the basis, else
		// the first one (Bland 1977), with which no basis comes twice.
		v := blas64.Dot(vector(c), vector(s.X))
		if math.IsInf(value, 1) || v < value-1e-14*math.Abs(value) {
			value, still = v, 0
		} else {
			still++
		}
		patience := 2 * (len(s.rows) + 1)
		bland := still > patience
		tol := feasTol * blas64.Nrm2(vector(s.X))
		if worse := still/patience - 4; worse > 0 {
			// An inverse so badly conditioned that its rounding is above tol.
			tol *= math.Min(math.Pow(2, float64(worse)), mostTol/feasTol)
		}
		out, below, over := s.violated(bland, tol)
		enter := -1
		if out >= 0 {
			s.tableauRow(out)
			enter = s.entering(below, bland, over-tol, tieTol*scale)
		}
		if enter < 0 || math.Abs(s.alpha[enter]) < 1e3*pivotTol && !fresh {
			switch {
			case !fresh: // so it is for the inverse at hand: once more with an exact one
				if err := s.renew(c, scale); err != nil {
					return err
				}
				fresh = true
				continue
			case out < 0:
				return nil
			}
			return &InfeasibleError{out, slices.Clone(s.rows)}
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
		}
	}
}

// renew computes inverse and multipliers anew, and the sides of those whose
// multipliers have changed sign by more than rounding.
func (s *Solver) renew(c []float64, scale float64) error {
	if err := s.invert(); err != nil {
		return err
	}
	s.multipliers(c)
	s.sides(sideTol * scale)
	return nil
}

// multipliers computes those of all nonbasic variables.
func (s *Solver) multipliers(c []float64) {
	s.rowMultipliers(c)
	if len(s.cols) == s.p {
		return
	}
	d := s.D[:s.p]
	copy(d, c)
	for _, r := range s.rows {
		blas64.Axpy(-s.D[s.p+r], vector(linalg.Row(s.G, r)), vector(d))
	}
	for _, v := range s.cols {
		d[v] = 0
	}
}

// rowMultipliers computes those of the rows of the kernel.
func (s *Solver) rowMultipliers(c []float64) {
	pi := s.kernelRow[:len(s.rows)]
	clear(pi)
	for l, v := range s.cols {
		blas64.Axpy(c[v], vector(s.inv.row(l)), vector(pi))
	}
	clear(s.D[s.p:])
	for i, r := range s.rows {
		s.D[s.p+r] = pi[i]
	}
}

// sides takes every nonbasic variable at the bound that its multiplier asks for.
func (s *Solver) sides(tol float64) {
	for v, d := range s.D {
		switch {
		case d > tol:
			s.high[v] = true
		case d < -tol:
			s.high[v] = false
		}
	}
}

// values computes X and Gx from the nonbasic variables.
func (s *Solver) values(ctx context.Context) error {
	mixed := len(s.cols) < s.p
	if mixed {
		for v := range s.X {
			if s.X[v] = 0; s.place[v] < 0 {
				s.X[v] = s.at(v)
			}
		}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.G, column(s.X), 0, s.r, 1); err != nil {
			return err
		}
	}
	h := s.h[:len(s.rows)]
	for i, r := range s.rows {
		if h[i] = s.at(s.p + r); mixed {
			h[i] -= s.r.Data[r]
		}
	}
	for l, v := range s.cols {
		s.X[v] = blas64.Dot(vector(s.inv.row(l)), vector(h))
	}
	if !mixed {
		return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.G, column(s.X), 0, s.r, 1)
	}
	for r := range s.q {
		g := linalg.Row(s.G, r)
		for _, v := range s.cols {
			s.r.Data[r] += g[v] * s.X[v]
		}
	}
	return nil
}

// violated returns the basic variable that is farthest beyond its bounds, or the
// first one that is beyond them by more than tol; −1 where there is none. below tells on which
// side, and over by how much.
func (s *Solver) violated(bland bool, tol float64) (out int, below bool, over float64) {
	out, over = -1, tol
	look := func(v int, x, lo, hi float64) bool {
		if max(lo-x, x-hi) <= over || s.nonbasic(v) {
			return false
		}
		out, below, over = v, lo-x > x-hi, max(lo-x, x-hi)
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

// tableauRow sets alpha to the derivatives of a basic variable by the nonbasic
// ones.
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

// candidate is a nonbasic variable that may enter the basis.
type candidate struct {
	v           int
	d, a, width float64 // how far its multiplier is from 0, how fast it gets there, hi − lo
}

// entering returns the nonbasic variable whose multiplier is the first to get to
// zero as that of the leaving one grows, −1 where none does. But a variable that
// may go to its other bound and leave the leaving one beyond its own, which over
// measures, is passed and put down in s.passed. Multipliers up to zero are
// rounding.
func (s *Solver) entering(below, bland bool, over, zero float64) int {
	dir := 1.0
	if !below {
		dir = -1
	}
	s.cands, s.passed = s.cands[:0], s.passed[:0]
	add := func(v int) {
		// At the lower bound D ≤ 0, and it moves by dir·alpha.
		d, a := -s.D[v], dir*s.alpha[v]
		if s.high[v] {
			d, a = -d, -a
		}
		lo, hi := s.bounds(v)
		if a <= pivotTol || lo == hi {
			return
		}
		if bland && d <= 100*zero { // a tie must be seen as one
			d = 0
		}
		s.cands = append(s.cands, candidate{v, max(d, 0), a, hi - lo})
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
	slack := zero
	if bland {
		slack = 0
	}
	for cands := s.cands; len(cands) > 0; {
		least := math.Inf(1)
		for _, c := range cands {
			least = min(least, (c.d+slack)/c.a)
		}
		at, change := -1, 0.0
		for i, c := range cands {
			if c.d/c.a > least {
				continue
			}
			change += c.a * c.width
			switch {
			case at < 0, !bland && c.a > cands[at].a, bland && c.v < cands[at].v:
				at = i
			}
		}
		if bland || over-change <= 0 {
			return cands[at].v
		}
		over -= change
		rest := cands[:0]
		for _, c := range cands {
			if c.d/c.a <= least {
				s.passed = append(s.passed, c.v)
			} else {
				rest = append(rest, c)
			}
		}
		cands = rest
	}
	return -1
}

// exchange brings out to its bound and enter into the basis.
func (s *Solver) exchange(out, enter int, below bool, c []float64) {
	step := s.D[enter] / s.alpha[enter]
	if len(s.cols) < s.p {
		blas64.Axpy(-step, vector(s.alpha[:s.p]), vector(s.D[:s.p]))
	}
	switch rho := s.kernelRow[:len(s.rows)]; {
	case out >= s.p && enter >= s.p:
		i := s.place[enter]
		s.inv.replaceRow(i, rho)
		s.rows[i] = out - s.p
		s.place[out], s.place[enter] = i, -1
	case out < s.p && enter < s.p:
		l := s.place[out]
		s.inv.replaceColumn(l, s.kernelColumn(enter))
		s.cols[l] = enter
		s.place[out], s.place[enter] = -1, l
	case out >= s.p:
		s.inv.grow(rho, s.kernelColumn(enter), s.alpha[enter])
		s.place[out], s.place[enter] = len(s.rows), len(s.cols)
		s.rows, s.cols = append(s.rows, out-s.p), append(s.cols, enter)
	default:
		i, l := s.place[enter], s.place[out]
		s.inv.shrink(l, i)
		s.rows, s.cols = slices.Delete(s.rows, i, i+1), slices.Delete(s.cols, l, l+1)
		s.place[out], s.place[enter] = -1, -1
		for i, r := range s.rows {
			s.place[s.p+r] = i
		}
		for l, v := range s.cols {
			s.place[v] = l
		}
	}
	s.high[out] = !below
	if enter < s.p {
		s.D[enter] = 0
	}
	if out < s.p {
		s.D[out] = step
	}
	s.rowMultipliers(c)
}

// kernelColumn is the inverse of the kernel times the column of v.
func (s *Solver) kernelColumn(v int) []float64 {
	h := s.h[:len(s.rows)]
	for i, r := range s.rows {
		h[i] = s.G.Data[r*s.G.Stride+v]
	}
	t := s.kernelCol[:len(s.cols)]
	for l := range t {
		t[l] = blas64.Dot(vector(s.inv.row(l)), vector(h))
	}
	return t
}
