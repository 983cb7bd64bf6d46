package cooc

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Submatrix returns the rows and columns idx of c, in ascending order and each
// once, as a matrix of the same form; a Matrix of another package becomes one
// that multiplies by the whole. Its sum is in general less than 1. O(size of
// the form) time and memory. Numbers out of range or out of order are an error.
func Submatrix(c Matrix, idx []int) (Matrix, error) {
	n := c.Dim()
	to := make([]int32, n)
	for i := range to {
		to[i] = -1
	}
	for t, i := range idx {
		switch {
		case i < 0 || i >= n:
			return nil, fmt.Errorf("cooc: submatrix: row %d is not in [0, %d)", i, n)
		case t > 0 && i <= idx[t-1]:
			return nil, fmt.Errorf("cooc: submatrix: row %d comes after row %d", i, idx[t-1])
		}
		to[i] = int32(t)
	}
	if len(idx) == 0 {
		return nil, fmt.Errorf("cooc: submatrix without rows")
	}
	info := c.Info()
	out := corpus.Info{Form: info.Form, Documents: info.Documents, Nonzeros: info.Nonzeros}
	for _, i := range idx {
		if info.Vocabulary != nil {
			out.Vocabulary = append(out.Vocabulary, info.Vocabulary[i])
		}
		if info.DocFrequencies != nil {
			out.DocFrequencies = append(out.DocFrequencies, info.DocFrequencies[i])
		}
	}
	m, err := restrict(bare(c), idx, to)
	if err != nil {
		return nil, err
	}
	return told{m, out}, nil
}

// restrict returns the rows and columns idx of c; to holds their new numbers, −1
// for the others.
func restrict(c Matrix, idx []int, to []int32) (Matrix, error) {
	switch m := c.(type) {
	case *Moments:
		return m.sub(idx, to), nil
	case *Dense:
		k := len(idx)
		g := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, 0, k*k)}
		for _, i := range idx {
			for _, j := range idx {
				g.Data = append(g.Data, m.At(i, j))
			}
		}
		return denseOf(g), nil
	case *LowRankSparse:
		e := linalg.CSR{RowPtr: []int{0}}
		for _, i := range idx {
			cols, vals := m.e.Row(i)
			for k, j := range cols {
				if t := to[j]; t >= 0 {
					e.Cols, e.Vals = append(e.Cols, t), append(e.Vals, vals[k])
				}
			}
			e.RowPtr = append(e.RowPtr, len(e.Cols))
		}
		var y *mat.Dense
		if all := m.Y(); all != nil {
			y = mat.NewDense(len(idx), m.Rank(), nil)
			for t, i := range idx {
				y.SetRow(t, all.RawRowView(i))
			}
		}
		return NewLowRankSparse(y, m.Shift(), &Sparse{n: len(idx), csr: e})
	}
	return newPrincipal(c, idx), nil
}

// sub keeps the documents, also those that lose all their words.
func (m *Moments) sub(idx []int, to []int32) *Moments {
	k := len(idx)
	s := &Moments{n: k, docs: m.docs, diag: make([]float64, k), self: make([]float64, k), c: make([]float64, k), norms2: newLazy()}
	s.byDoc.RowPtr = make([]int, m.docs+1)
	for t, i := range idx {
		s.diag[t], s.self[t] = m.diag[i], m.self[i]
	}
	copy(s.c, s.self)
	for d := range m.docs {
		lo, sum := len(s.byDoc.Cols), 0.0
		cols, vals := m.byDoc.Row(d)
		for i, w := range cols {
			if t := to[w]; t >= 0 {
				s.byDoc.Cols, s.byDoc.Vals = append(s.byDoc.Cols, t), append(s.byDoc.Vals, vals[i])
				sum += vals[i]
			}
		}
		// The row sums: a word with all the others of the document.
		for i, t := range s.byDoc.Cols[lo:] {
			v := s.byDoc.Vals[lo+i]
			s.c[t] += v * (sum - v)
		}
		s.byDoc.RowPtr[d+1] = len(s.byDoc.Cols)
	}
	s.transpose()
	return s
}

// principal is a submatrix of a form that is not known here.
type principal struct {
	c      Matrix
	idx    []int
	marg   []float64
	norms2 lazy
}

func newPrincipal(c Matrix, idx []int) *principal {
	p := &principal{c: c, idx: append([]int(nil), idx...), marg: make([]float64, len(idx)), norms2: newLazy()}
	row := make([]float64, len(idx))
	for t := range idx {
		p.RowTo(row, t)
		for _, v := range row {
			p.marg[t] += v
		}
	}
	return p
}

func (p *principal) Dim() int { return len(p.idx) }

func (p *principal) Info() corpus.Info { return corpus.Info{} }

func (p *principal) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("submatrix", len(p.idx), len(p.idx), dst, x); err != nil {
		return err
	}
	n, cols := p.c.Dim(), x.RawMatrix().Cols
	in, out := mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil)
	for t, i := range p.idx {
		in.SetRow(i, x.RawRowView(t))
	}
	if err := p.c.MulTo(ctx, out, in, workers); err != nil {
		return err
	}
	for t, i := range p.idx {
		dst.SetRow(t, out.RawRowView(i))
	}
	return nil
}

func (p *principal) Marginals() []float64 { return p.marg }

func (p *principal) RowTo(dst []float64, t int) {
	row := make([]float64, p.c.Dim())
	p.c.RowTo(row, p.idx[t])
	for k, j := range p.idx {
		dst[k] = row[j]
	}
}

func (p *principal) RowNorms2(ctx context.Context, _ int) ([]float64, error) {
	return p.norms2.get(ctx, func() ([]float64, error) {
		q, row := make([]float64, len(p.idx)), make([]float64, len(p.idx))
		for t := range p.idx {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p.RowTo(row, t)
			for _, v := range row {
				q[t] += v * v
			}
		}
		return q, nil
	})
}
