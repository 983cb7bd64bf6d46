package metrics

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	rowChunk = 64 // words a chunk

	// cancel is the ratio of squares below which ‖u − v‖² is summed from the
	// differences. The expansion ‖u‖² − 2uᵀv + ‖v‖² is wrong by some 1e-15·‖u‖²,
	// and so keeps nine digits above.
	cancel = 1e-6
)

// rowNorms2 returns the squared norms of the rows of C, checked.
func rowNorms2(ctx context.Context, c cooc.Matrix, workers int) ([]float64, error) {
	norms2, err := c.RowNorms2(ctx, workers)
	if err != nil {
		return nil, fmt.Errorf("metrics: row norms of C: %w", err)
	}
	if len(norms2) != c.Dim() {
		return nil, fmt.Errorf("metrics: row norms of C: %d for %d rows", len(norms2), c.Dim())
	}
	for i, v := range norms2 {
		if !vec.Finite(v) {
			return nil, fmt.Errorf("metrics: C (row norms)[%d]: %v is not finite", i, v)
		}
	}
	return norms2, nil
}

// recovery is Report.Recovery.
func recovery(ctx context.Context, c cooc.Matrix, norms2 []float64, breve *mat.Dense, anchors []int, workers int) (Stat, error) {
	n, k := breve.Dims()
	marg := c.Marginals()
	for j, s := range anchors {
		if tooSmall(marg[s]) {
			return Stat{}, fmt.Errorf("metrics: anchors[%d]: the row of word %d in C sums to %.9g, too small to normalise", j, s, marg[s])
		}
	}
	// x = C̄_Sᵀ (N×K), f = C·x = diag(c)·C̄C̄_Sᵀ, g = C̄_S C̄_Sᵀ.
	x, f := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	xr := x.RawMatrix()
	workers = parallel.Workers(workers, max(parallel.Count(k, 4), parallel.Count(n, rowChunk)))
	rows := make([][]float64, workers)
	err := parallel.Chunks(ctx, k, 4, workers, func(w, _, lo, hi int) error {
		if rows[w] == nil {
			rows[w] = make([]float64, n)
		}
		for j := lo; j < hi; j++ {
			c.RowTo(rows[w], anchors[j])
			inv := 1 / marg[anchors[j]]
			for i, v := range rows[w] {
				xr.Data[i*xr.Stride+j] = v * inv
			}
		}
		return nil
	})
	if err != nil {
		return Stat{}, err
	}
	if err := c.MulTo(ctx, f, x, workers); err != nil {
		return Stat{}, fmt.Errorf("metrics: recovery: %w", err)
	}
	g := mat.NewDense(k, k, nil)
	for j, s := range anchors {
		floats.ScaleTo(g.RawRowView(j), 1/marg[s], f.RawRowView(s))
	}
	yg := mat.NewDense(n, k, nil)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, breve.RawMatrix(), g.RawMatrix(), 0, yg.RawMatrix(), workers); err != nil {
		return Stat{}, err
	}
	values := make([]float64, n)
	err = parallel.Chunks(ctx, n, rowChunk, workers, func(w, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if tooSmall(marg[i]) {
				values[i] = math.NaN()
				continue
			}
			yi := breve.RawRowView(i)
			inv := 1 / marg[i]
			norm2 := float64(norms2[i] * inv * inv)
			d2 := norm2 - float64(2*inv*vec.Dot(f.RawRowView(i), yi)) + vec.Dot(yg.RawRowView(i), yi)
			if vec.Finite(d2) && d2 <= cancel*norm2 {
				if rows[w] == nil {
					rows[w] = make([]float64, n)
				}
				r := rows[w]
				c.RowTo(r, i)
				floats.Scale(inv, r)
				column := func(x []float64) blas64.General { return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x} }
				if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, -1, xr, column(yi), 1, column(r), 1); err != nil {
					return err
				}
				d2 = vec.Dot(r, r)
			}
			if !vec.Finite(d2) {
				return fmt.Errorf("metrics: C[%d]: %v is the squared residual of the row: C holds numbers that are not finite", i, d2)
			}
			values[i] = math.Sqrt(d2)
		}
		return nil
	})
	if err != nil {
		return Stat{}, err
	}
	return NewStat(values), nil
}

// tooSmall reports whether a row with this sum cannot be divided by it: 1/sum is not
// finite.
func tooSmall(sum float64) bool { return math.IsInf(1/sum, 0) }

// approximation is Report.Approximation.
func approximation(ctx context.Context, c cooc.Matrix, norms2 []float64, b, a *mat.Dense, workers int) (float64, error) {
	n, k := b.Dims()
	cb := mat.NewDense(n, k, nil)
	if err := c.MulTo(ctx, cb, b, workers); err != nil {
		return 0, fmt.Errorf("metrics: approximation: %w", err)
	}
	bcb, g, gag := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, b.RawMatrix(), cb.RawMatrix(), 0, bcb.RawMatrix(), workers); err != nil {
		return 0, err
	}
	if err := linalg.Gram(ctx, b.RawMatrix(), g.RawMatrix(), workers); err != nil {
		return 0, err
	}
	ag := mat.NewDense(k, k, nil)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, a.RawMatrix(), g.RawMatrix(), 0, ag.RawMatrix(), workers); err != nil {
		return 0, err
	}
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, g.RawMatrix(), ag.RawMatrix(), 0, gag.RawMatrix(), workers); err != nil {
		return 0, err
	}
	c2, model2 := vec.Sum(norms2), dot(a, gag)
	d2 := c2 - float64(2*dot(a, bcb)) + model2
	if vec.Finite(d2) && d2 <= cancel*math.Max(c2, model2) {
		var err error
		if d2, err = residual2(ctx, c, b, a, workers); err != nil {
			return 0, err
		}
	}
	if !vec.Finite(d2) {
		return 0, fmt.Errorf("metrics: approximation: its square is %v: the entries of C, B or A are not finite, or too large", d2)
	}
	return math.Sqrt(d2), nil
}

// residual2 sums (C − BABᵀ)² over blocks of rows.
func residual2(ctx context.Context, c cooc.Matrix, b, a *mat.Dense, workers int) (float64, error) {
	n, k := b.Dims()
	type scratch struct{ ba, rows blas64.General }
	workers = parallel.Workers(workers, parallel.Count(n, rowChunk))
	bufs := make([]*scratch, workers)
	part := make([]float64, parallel.Count(n, rowChunk))
	err := parallel.Chunks(ctx, n, rowChunk, workers, func(w, chunk, lo, hi int) error {
		if bufs[w] == nil {
			bufs[w] = &scratch{
				blas64.General{Rows: rowChunk, Cols: k, Stride: k, Data: make([]float64, rowChunk*k)},
				blas64.General{Rows: rowChunk, Cols: n, Stride: n, Data: make([]float64, rowChunk*n)},
			}
		}
		ba, rows := linalg.Rows(bufs[w].ba, 0, hi-lo), linalg.Rows(bufs[w].rows, 0, hi-lo)
		for i := lo; i < hi; i++ {
			c.RowTo(rows.Data[(i-lo)*n:(i-lo+1)*n], i)
		}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, linalg.Rows(b.RawMatrix(), lo, hi), a.RawMatrix(), 0, ba, 1); err != nil {
			return err
		}
		if err := linalg.Gemm(ctx, blas.NoTrans, blas.Trans, -1, ba, b.RawMatrix(), 1, rows, 1); err != nil {
			return err
		}
		d := rows.Data[:(hi-lo)*n]
		part[chunk] = vec.Dot(d, d)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return vec.Sum(part), nil
}

// dot returns the sum of the products of the entries of a and b.
func dot(a, b *mat.Dense) float64 {
	r, _ := a.Dims()
	s := 0.0
	for i := range r {
		s += vec.Dot(a.RawRowView(i), b.RawRowView(i))
	}
	return s
}
