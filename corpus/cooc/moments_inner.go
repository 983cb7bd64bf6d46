package cooc

import (
	"context"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// RowNorms2 returns ‖C_i‖² for every row. The first call takes Σ_m d_m²/2 multiply-adds, d_m
// the number of distinct words of document m, and O(N) memory. The result is kept.
func (m *Moments) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return m.norms2.get(ctx, func() ([]float64, error) {
		_, norms2, err := m.pass(ctx, nil, workers)
		return norms2, err
	})
}

// inner returns Σ_ij E_ij C_ij for a symmetric sparse E. It takes the same pass over
// the documents as RowNorms2 and keeps the norms.
func (m *Moments) inner(ctx context.Context, e *linalg.CSR, workers int) (float64, error) {
	sum, norms2, err := m.pass(ctx, e, workers)
	if err != nil {
		return 0, err
	}
	_, err = m.norms2.get(ctx, func() ([]float64, error) { return norms2, nil })
	return sum, err
}

// momentChunks is the number of parts of the rows. Part p has the rows p,
// p+momentChunks, …, so that the long rows of the upper triangle are spread.
const momentChunks = 16

// pass computes ⟨E, C⟩ and the norms from the rows of the upper triangle of C.
func (m *Moments) pass(ctx context.Context, e *linalg.CSR, workers int) (float64, []float64, error) {
	n := m.n
	norms := make([][]float64, momentChunks)
	inner := make([]float64, momentChunks)
	err := parallel.Chunks(ctx, momentChunks, 1, workers, func(_, part, _, _ int) error {
		acc, out := make([]float64, n), make([]float64, n)
		var marked []int32
		isMarked := make([]bool, n)
		sum := 0.0
		for i := part; i < n; i += momentChunks {
			if i/momentChunks%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			// Words of few documents touch few columns: visit only those.
			work := 0
			for k := m.byWord.RowPtr[i]; k < m.byWord.RowPtr[i+1]; k++ {
				d := m.byWord.Cols[k]
				work += m.byDoc.RowPtr[d+1] - m.byDoc.RowPtr[d]
			}
			m.addRow(acc, i, i)
			acc[i] = m.self[i]
			if e != nil {
				cols, vals := e.Row(i)
				for k, j := range cols {
					switch {
					case int(j) == i:
						sum += vals[k] * acc[j]
					case int(j) > i:
						sum += 2 * vals[k] * acc[j]
					}
				}
			}
			own := acc[i] * acc[i]
			acc[i] = 0
			if work < (n-i)/4 {
				marked = marked[:0]
				for k := m.byWord.RowPtr[i]; k < m.byWord.RowPtr[i+1]; k++ {
					cols, _ := m.byDoc.Row(int(m.byWord.Cols[k]))
					for t := len(cols) - 1; t >= 0 && int(cols[t]) > i; t-- {
						if j := cols[t]; !isMarked[j] {
							isMarked[j] = true
							marked = append(marked, j)
						}
					}
				}
				for _, j := range marked {
					v := acc[j] * acc[j]
					own += v
					out[j] += v
					acc[j], isMarked[j] = 0, false
				}
			} else {
				for j := i + 1; j < n; j++ {
					v := acc[j] * acc[j]
					own += v
					out[j] += v
					acc[j] = 0
				}
			}
			out[i] += own
		}
		norms[part], inner[part] = out, sum
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	sums := make([]float64, n)
	for _, part := range norms {
		for i, v := range part {
			sums[i] += v
		}
	}
	return vec.Sum(inner), sums, nil
}
