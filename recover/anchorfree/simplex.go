package anchorfree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// This file solves max aᵀx over {x : Ux ≥ 0, 1ᵀUx = 1}, x in R^K. At the topics of
// an exact model hundreds of the N constraints hold with equality where K−1 would
// do, which makes the primal simplex method creep from basis to basis of one point; its
// dual, min t s.t. Uᵀy = t·s − a, y ≥ 0, has K rows and is not degenerate. The dual
// simplex method works there: a basis is K−1 constraints taken as equations,
// its multipliers have the right signs, and while its x violates a constraint that
// one comes in and another goes out.
//
// No first phase is needed, whatever the objective and the basis to begin with:
// since the entries of Ux are not negative and sum to 1, they are also at most 1, and a
// constraint whose multiplier has the wrong sign is taken at that bound instead.
//
// gonum's lp.Simplex solves the same dual reliably (the tests compare the two),
// but takes five to ten times as long from a cold start, cannot use the basis of the
// program before, and does not say which constraint makes a program infeasible.

// polytope is the set {x : Ux ≥ 0, sᵀx = 1}, its constraints scaled to unit length.
// The fields are not written to after it is made.
type polytope struct {
	k    int
	rows blas64.General // of the words that are not empty
	top  []float64      // what each scaled row times x is at most: 1/‖u_i‖
	word []int          // number of the word of each row
	s    []float64      // Uᵀ1 scaled to unit length
	one  float64        // what it times x is
	cold []int          // a basis: K−1 rows that are well independent, with s
}

const (
	// feasTol is by how much a row of unit length may be violated, for ‖x‖ = 1.
	feasTol = 1e-11
	// pivotTol is the least component of a row along one that it can replace.
	pivotTol = 1e-9
	// tieTol widens the ratio test for the sake of larger pivots (Harris 1973).
	tieTol = 1e-13
	// refresh is after how many steps the inverse is computed anew.
	refresh = 50
)

func newPolytope(p *problem) *polytope {
	k := p.k
	q := &polytope{k: k, s: slices.Clone(p.s)}
	for i, e := range p.empty {
		if !e {
			q.word = append(q.word, i)
		}
	}
	q.rows = linalg.NewGeneral(len(q.word), k)
	q.top = make([]float64, len(q.word))
	for r, i := range q.word {
		q.top[r] = 1 / p.norms[i]
		row := linalg.Row(q.rows, r)
		for j, v := range linalg.Row(p.u, i) {
			row[j] = v / p.norms[i]
		}
	}
	length := blas64.Nrm2(vector(q.s))
	q.one = 1 / length
	for j := range q.s {
		q.s[j] /= length
	}
	q.cold = q.independent()
	return q
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// independent returns the K−1 rows that pivoted Gram–Schmidt takes after s; fewer
// where there are no more.
func (q *polytope) independent() []int {
	a := linalg.NewGeneral(q.rows.Rows, q.k)
	copy(a.Data, q.rows.Data)
	dir := slices.Clone(q.s)
	var out []int
	for {
		best, at := pivotTol, -1
		for i := range a.Rows {
			row := linalg.Row(a, i)
			d := blas64.Dot(vector(row), vector(dir))
			blas64.Axpy(-d, vector(dir), vector(row))
			if l := blas64.Nrm2(vector(row)); l > best && !slices.Contains(out, i) {
				best, at = l, i
			}
		}
		if len(out) == q.k-1 || at < 0 {
			return out
		}
		out = append(out, at)
		copy(dir, linalg.Row(a, at))
		l := blas64.Nrm2(vector(dir))
		for j := range dir {
			dir[j] /= l
		}
	}
}

// errStalled is returned where rounding keeps the method from an end.
type errStalled struct{ pivots int }

func (e *errStalled) Error() string {
	return fmt.Sprintf("the simplex method came to no end in %d steps", e.pivots)
}

// infeasible says that row r cannot be brought within its bounds while those of
// the basis are.
type infeasible struct {
	r     int
	basis []int
}

func (e *infeasible) Error() string { return fmt.Sprintf("row %d cannot be satisfied", e.r) }

// simplex solves one linear program after the other over a polytope, each from
// the basis of the last or from one that load gives it.
type simplex struct {
	*polytope
	sign  float64 // maximise sign·aᵀx
	basis []int   // rows; position r of the basis is row r+1 of T
	high  []bool  // whether at the upper bound
	in    []bool  // by row: whether in the basis

	t, inv *mat.Dense // T = [s; rows of the basis], and its inverse
	h      []float64  // T·x
	x      []float64
	pi     []float64 // multipliers: sign·a = Tᵀπ
	rho    []float64
	ux     blas64.General
	pivots int // of all programs
}

func newSimplex(q *polytope, sign float64) *simplex {
	k := q.k
	s := &simplex{
		polytope: q, sign: sign, basis: slices.Clone(q.cold), high: make([]bool, k-1), in: make([]bool, q.rows.Rows),
		t: mat.NewDense(k, k, nil), inv: mat.NewDense(k, k, nil), h: make([]float64, k), x: make([]float64, k),
		pi: make([]float64, k), rho: make([]float64, k), ux: linalg.NewGeneral(q.rows.Rows, 1),
	}
	for _, r := range s.basis {
		s.in[r] = true
	}
	return s
}

// load sets the basis to begin with.
func (s *simplex) load(basis []int) {
	for _, r := range s.basis {
		s.in[r] = false
	}
	copy(s.basis, basis)
	for _, r := range s.basis {
		s.in[r] = true
	}
}

// invert computes T⁻¹ from the basis.
func (s *simplex) invert() error {
	s.t.SetRow(0, s.s)
	for j, r := range s.basis {
		s.t.SetRow(j+1, linalg.Row(s.rows, r))
	}
	inv, err := inverse(s.t)
	if err != nil {
		return err
	}
	s.inv = inv
	return nil
}

// multipliers solves Tᵀπ = sign·a.
func (s *simplex) multipliers(a []float64) {
	clear(s.pi)
	for l, v := range a {
		blas64.Axpy(s.sign*v, vector(s.inv.RawRowView(l)), vector(s.pi))
	}
}

// point solves Tx = h.
func (s *simplex) point() {
	s.h[0] = s.one
	for j, r := range s.basis {
		s.h[j+1] = 0
		if s.high[j] {
			s.h[j+1] = s.top[r]
		}
	}
	for l := range s.x {
		s.x[l] = blas64.Dot(vector(s.inv.RawRowView(l)), vector(s.h))
	}
}

// sides takes every constraint of the basis at the bound that its multiplier
// asks for.
func (s *simplex) sides(tol float64) {
	for j := range s.basis {
		switch v := s.pi[j+1]; {
		case v > tol:
			s.high[j] = true
		case v < -tol:
			s.high[j] = false
		}
	}
}

// solve maximises sign·aᵀx from the last basis. The maximiser is s.x.
func (s *simplex) solve(ctx context.Context, a []float64) error {
	if len(s.basis) < s.k-1 { // not so where U has full rank
		return fmt.Errorf("%d of the words' rows are independent, want %d", len(s.basis)+1, s.k)
	}
	limit := 200*s.k + 2*s.rows.Rows
	scale := blas64.Nrm2(vector(a))
	if err := s.invert(); err != nil {
		return err
	}
	s.multipliers(a)
	for j := range s.high {
		s.high[j] = false
	}
	s.sides(0)
	value, still := math.Inf(1), 0
	fresh := true
	for step := 1; ; step++ {
		if step%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if step > limit {
			return &errStalled{step}
		}
		s.point()
		// While the bound falls the most violated constraint comes in, else the
		// first one (Bland 1977), with which no basis comes twice.
		v := 0.0
		for j, w := range s.h {
			v += s.pi[j] * w
		}
		if v < value-1e-14*math.Abs(value) {
			value, still = v, 0
		} else {
			still++
		}
		in, below, err := s.violated(ctx, still > 2*s.k)
		if err != nil {
			return err
		}
		if in < 0 {
			if fresh {
				return nil
			}
			// Optimal for the inverse at hand: once more with an exact one.
			if err := s.renew(a, scale); err != nil {
				return err
			}
			fresh = true
			continue
		}
		// u_in = Tᵀρ. Its multiplier grows from 0, and that of position j with
		// it by ±ρ_j, until one gets to zero.
		clear(s.rho)
		for l, v := range linalg.Row(s.rows, in) {
			blas64.Axpy(v, vector(s.inv.RawRowView(l)), vector(s.rho))
		}
		out := s.leaving(below, still > 2*s.k, tieTol*scale)
		if out < 0 {
			if !fresh {
				if err := s.renew(a, scale); err != nil {
					return err
				}
				fresh = true
				continue
			}
			return &infeasible{in, slices.Clone(s.basis)}
		}
		// T⁻¹ with row out+1 of T replaced by u_in.
		piv := s.rho[out+1]
		for l := range s.k {
			row := s.inv.RawRowView(l)
			col := row[out+1] / piv
			blas64.Axpy(-col, vector(s.rho), vector(row))
			row[out+1] = col
		}
		s.in[s.basis[out]], s.in[in] = false, true
		s.basis[out], s.high[out] = in, !below
		s.pivots++
		fresh = false
		if step%refresh == 0 {
			if err := s.renew(a, scale); err != nil {
				return err
			}
			fresh = true
		} else {
			s.multipliers(a)
		}
	}
}

// renew computes inverse and multipliers anew, and the sides of those whose
// multipliers have changed sign by more than rounding.
func (s *simplex) renew(a []float64, scale float64) error {
	if err := s.invert(); err != nil {
		return err
	}
	s.multipliers(a)
	s.sides(1e-10 * scale)
	return nil
}

// violated returns the row that x violates most, or the first one that it
// violates; −1 where there is none. below tells which of its bounds.
func (s *simplex) violated(ctx context.Context, bland bool) (row int, below bool, err error) {
	x := blas64.General{Rows: s.k, Cols: 1, Stride: 1, Data: s.x}
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, s.rows, x, 0, s.ux, 1); err != nil {
		return 0, false, err
	}
	tol := feasTol * blas64.Nrm2(vector(s.x))
	row, worst := -1, tol
	for i, v := range s.ux.Data {
		over := v - s.top[i] - tol // the upper bound holds by itself, in the end
		if (-v > worst || over > worst) && !s.in[i] {
			row, below, worst = i, -v > over, max(-v, over)
			if bland {
				break
			}
		}
	}
	return row, below, nil
}

// leaving returns the position of the basis that gives way to the row that ρ
// belongs to, −1 where nothing does. Multipliers up to zero are rounding.
func (s *simplex) leaving(below, bland bool, zero float64) int {
	dir := 1.0
	if !below {
		dir = -1
	}
	// Of position j at its lower bound, π ≤ 0, the multiplier moves up by ρ.
	ratio := func(j int, slack float64) (float64, bool) {
		d, p := dir*s.rho[j+1], -s.pi[j+1]
		if s.high[j] {
			d, p = -d, -p
		}
		if d <= pivotTol {
			return 0, false
		}
		if bland && p <= 100*zero { // a tie must be seen as one
			p = 0
		}
		return (max(p, 0) + slack) / d, true
	}
	least, slack := math.Inf(1), zero
	if bland {
		slack = 0
	}
	for j := range s.basis {
		if r, ok := ratio(j, slack); ok {
			least = min(least, r)
		}
	}
	out := -1
	for j := range s.basis {
		r, ok := ratio(j, 0)
		if !ok || r > least {
			continue
		}
		switch {
		case out < 0:
			out = j
		case bland:
			if s.basis[j] < s.basis[out] {
				out = j
			}
		case math.Abs(s.rho[j+1]) > math.Abs(s.rho[out+1]):
			out = j
		}
	}
	return out
}
