package cooc

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// Submatrix returns the rows and columns idx of c as a matrix of the same form. idx
// must be ascending, without repetition. The sum is in general less than 1. Info
// keeps what is true of the chosen words: no Tokens, Corpus or Source.
//
// A form of this package takes time and memory in proportion to its size. A Matrix
// of another package is multiplied by as a whole.
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
	out := corpus.Info{Form: info.Form, Documents: info.Documents, Nonzeros: info.Nonzeros, Text: info.Text}
	for _, i := range idx {
		if info.Vocabulary != nil {
			out.Vocabulary = append(out.Vocabulary, info.Vocabulary[i])
		}
		if info.DocFrequencies != nil {
			out.DocFrequencies = append(out.DocFrequencies, info.DocFrequencies[i])
		}
	}
	if o, ok := own(c); ok {
		m, err := o.(form).restrict(idx, to)
		if err != nil {
			return nil, err
		}
		return m.withInfo(out).(Matrix), nil
	}
	return newPrincipal(c, idx).withInfo(out).(Matrix), nil
}

// principal is a submatrix of a form of another package.
type principal struct {
	c      Matrix
	idx    []int
	marg   []float64
	norms2 lazy
	info   corpus.Info
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

func (p *principal) Info() corpus.Info { return p.info }

func (p *principal) withInfo(info corpus.Info) Operator {
	out := *p
	out.info = info
	return &out
}

func (p *principal) restrict(idx []int, _ []int32) (form, error) {
	all := make([]int, len(idx))
	for t, i := range idx {
		all[t] = p.idx[i]
	}
	return newPrincipal(p.c, all), nil
}

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
