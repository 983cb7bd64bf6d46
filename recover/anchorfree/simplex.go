package anchorfree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/lp"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// pivotTol is the length of what is left of a dependent row of unit length.
const pivotTol = 1e-9

// polytope is the set {x : Ux ≥ 0, sᵀx = 1}, its constraints scaled to unit length.
// The entries of Ux are not negative and sum to 1, so that each is at most 1 and every
// constraint has an upper bound.
//
// At the topics of an exact model hundreds of the N constraints hold with equality instead
// of K−1, and a primal simplex method creeps from basis to basis of one point. The dual
// programs, min t s.t. Uᵀy = t·s − a, y ≥ 0, have K rows and are not degenerate.
type polytope struct {
	lp.Problem // the words that are not empty, and s in the last row
	k          int
	word       []int // number of the word of each row
	cold       []int // a basis: K−1 rows that are well independent, with s
}

func newPolytope(ctx context.Context, p *problem) (*polytope, error) {
	q := &polytope{k: p.k}
	for i, e := range p.empty {
		if !e {
			q.word = append(q.word, i)
		}
	}
	n := len(q.word)
	q.G = linalg.NewGeneral(n+1, q.k)
	q.RowLo, q.RowHi = make([]float64, n+1), make([]float64, n+1)
	for r, i := range q.word {
		q.RowHi[r] = 1 / p.norms[i]
		row := linalg.Row(q.G, r)
		for j, v := range linalg.Row(p.u, i) {
			row[j] = v / p.norms[i]
		}
	}
	length := blas64.Nrm2(vector(p.s))
	q.RowLo[n], q.RowHi[n] = 1/length, 1/length
	for j, v := range p.s {
		linalg.Row(q.G, n)[j] = v / length
	}
	var err error
	q.cold, err = q.independent(ctx)
	return q, err
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// independent returns the K−1 rows, or fewer, that pivoted Gram–Schmidt takes after s.
func (q *polytope) independent(ctx context.Context) ([]int, error) {
	n := len(q.word)
	a := linalg.NewGeneral(n, q.k)
	copy(a.Data, q.G.Data)
	dir := slices.Clone(linalg.Row(q.G, n))
	var out []int
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchorfree: %w", err)
		}
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
			return out, nil
		}
		out = append(out, at)
		copy(dir, linalg.Row(a, at))
		l := blas64.Nrm2(vector(dir))
		for j := range dir {
			dir[j] /= l
		}
	}
}

// programs finds the points of a polytope where a linear function is largest and
// where it is least.
type programs struct {
	*polytope
	largest, least *lp.Solver
	cols           []int // the columns of every basis: all
}

func newPrograms(ctx context.Context, p *problem) (*programs, error) {
	q, err := newPolytope(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(q.cold) < q.k-1 { // U does not have full rank
		return nil, fmt.Errorf("anchorfree: %d of the words' rows are independent, want %d", len(q.cold)+1, q.k)
	}
	s := &programs{polytope: q, cols: make([]int, q.k)}
	for j := range s.cols {
		s.cols[j] = j
	}
	rows := slices.Concat([]int{len(q.word)}, q.cold)
	s.largest, s.least = lp.New(&q.Problem, rows, s.cols), lp.New(&q.Problem, rows, s.cols)
	return s, nil
}

// solve finds both points, from the bases given or, if these are nil, from those of the
// last programs, and stores the bases. topic is for errors.
func (s *programs) solve(ctx context.Context, topic int, a []float64, bases *[2][]int, workers int) error {
	err := parallel.Chunks(ctx, 2, 1, workers, func(_, i, _, _ int) error {
		solver, c := s.largest, slices.Clone(a)
		if i == 1 {
			solver = s.least
			floats.Scale(-1, c)
		}
		if b := bases[i]; b != nil {
			solver.Start(b, s.cols)
		}
		err := solver.Solve(ctx, c)
		bases[i], _ = solver.Basis()
		return err
	})
	var inf *lp.InfeasibleError
	switch {
	case errors.As(err, &inf):
		e := &InfeasibleError{Topic: topic, Word: s.word[inf.Variable-s.k]}
		for _, r := range inf.Rows {
			if r < len(s.word) { // the last row is the sum
				e.Others = append(e.Others, s.word[r])
			}
		}
		return e
	case err != nil:
		return fmt.Errorf("anchorfree: topic %d: %w", topic, err)
	}
	return nil
}

// corners returns the corners of the polytope that are farthest along the last
// eigenvector; an *InfeasibleError if there are none.
func (p *problem) corners(ctx context.Context) ([][]float64, error) {
	s, err := newPrograms(ctx, p)
	if err != nil {
		return nil, err
	}
	a := make([]float64, p.k)
	a[p.k-1] = 1
	if err := s.solve(ctx, 0, a, new([2][]int), 1); err != nil {
		return nil, err
	}
	return [][]float64{s.largest.X, s.least.X}, nil
}
