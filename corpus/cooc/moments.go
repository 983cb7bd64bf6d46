package cooc

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Moments is the unbiased estimate of C from the M documents of a corpus (lee-2020,
// eq. 1),
//
//	C = 1/M Σ_m (h_m h_mᵀ − diag h_m) / (n_m (n_m − 1)) = ĤĤᵀ − D,
//
// with the counts h_m of a document and their sum n_m. Every document weighs the
// same, whatever its length. Only the scaled counts Ĥ (N×M) and the diagonal D are
// stored, 24 bytes for each nonzero count. A product with p vectors costs 4·nnz(Ĥ)·p
// operations, a row the distinct words of the documents that hold its word.
// [OffDiagonal] has another D, and [TFIDF] D = 0.
type Moments struct {
	n      int
	docs   int        // used
	byDoc  linalg.CSR // docs×N
	byWord linalg.CSR // N×docs, ascending documents
	diag   []float64  // D
	self   []float64  // C_ii, summed without the cancellation in ĤĤᵀ − D
	c      []float64
	info   corpus.Info
	norms2 *lazy
	idle   *sync.Pool // of *[]float64, between products
}

// NewMoments estimates C from the documents of c that opts chooses; Info describes
// them. If the documents have weights w_m ([corpus.Corpus.WithWeights]), C is the mean
// Σ w_m C_m / Σ w_m of their own estimates, and documents of weight 0 are left out.
// The error wraps [ErrNoDocuments] if no document is left.
//
// With [TFIDF] the result is the plain second moment of fu-2018, eq. 2, divided by the
// sum of its entries. It is positive semidefinite, unlike the unbiased estimate, but too
// large on the diagonal, above all for rare words and short documents. M and df count
// the documents that are used, whatever their weights. If tf-idf gives no word a weight,
// or [OffDiagonal] finds no document of two different words, the error wraps
// ErrNoDocuments.
//
// O(nnz) time.
func NewMoments(ctx context.Context, c *corpus.Corpus, opts Options) (*Moments, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	used, info, err := opts.used(ctx, c)
	if err != nil {
		return nil, err
	}
	n, docs := used.NumWords(), used.NumDocs()
	M := &Moments{
		n: n, docs: docs, info: info, norms2: new(lazy), idle: new(sync.Pool),
		byDoc: linalg.CSR{RowPtr: make([]int, docs+1)},
		diag:  make([]float64, n), self: make([]float64, n), c: make([]float64, n),
	}
	M.info.Form = opts.Weighting.form("moments")
	if opts.Weighting == TFIDF {
		err = M.tfidf(used)
	} else {
		err = M.unbiased(ctx, used, opts.Workers)
	}
	if err == nil && opts.Weighting == OffDiagonal {
		err = M.offDiagonal()
	}
	if err != nil {
		return nil, err
	}
	return M, nil
}

// unbiased computes ĤĤᵀ − D.
func (m *Moments) unbiased(ctx context.Context, c *corpus.Corpus, workers int) error {
	m.byDoc.Cols, m.byDoc.Vals = make([]int32, 0, c.NNZ()), make([]float64, 0, c.NNZ())
	share, length := shares(c), make([]float64, m.docs)
	pairs := func(l, docs float64) float64 { return l * (l - 1) * docs }
	for d := range m.docs { // plain counts at first: the sums below use exact ones
		if d%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		words, counts := c.Doc(d)
		m.byDoc.Cols = append(m.byDoc.Cols, words...)
		for _, x := range counts {
			m.byDoc.Vals = append(m.byDoc.Vals, float64(x))
		}
		m.byDoc.RowPtr[d+1], length[d] = len(m.byDoc.Cols), float64(c.DocLen(d))
	}
	m.byDoc.Transpose(&m.byWord, m.n)
	err := parallel.Chunks(ctx, m.docs, 1024, workers, func(_, _, lo, hi int) error {
		for d := lo; d < hi; d++ {
			_, vals := m.byDoc.Row(d)
			floats.Scale(1/math.Sqrt(pairs(length[d], share(d))), vals)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Chunks(ctx, m.n, 256, workers, func(_, _, lo, hi int) error {
		for w := lo; w < hi; w++ {
			cols, vals := m.byWord.Row(w)
			for k, d := range cols {
				x, l, docs := vals[k], length[d], share(int(d))
				p := pairs(l, docs)
				m.diag[w] += x / p
				m.self[w] += x * (x - 1) / p
				m.c[w] += x / (l * docs)
				vals[k] = x * (1 / math.Sqrt(p))
			}
		}
		return nil
	})
}

// shares returns the sum of all weights divided by that of document d: the number of
// documents if they have no weights.
func shares(c *corpus.Corpus) func(d int) float64 {
	docs, weights := float64(c.NumDocs()), c.Weights()
	if weights == nil {
		return func(int) float64 { return docs }
	}
	// Weights are taken in units of the largest, so that none overflows.
	largest, total := slices.Max(weights), 0.0
	for _, w := range weights {
		total += w / largest
	}
	return func(d int) float64 { return total / (weights[d] / largest) }
}

// Dim returns N.
func (m *Moments) Dim() int { return m.n }

// Info describes the documents and words that are used.
func (m *Moments) Info() corpus.Info { return m.info }

// Marginals returns the row sums c_i, for Unbiased the mean over documents of h_mi/n_m.
func (m *Moments) Marginals() []float64 { return m.c }

// MulTo computes dst = Ĥ(ĤᵀX) − DX.
func (m *Moments) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("moments", m.n, m.n, dst, x); err != nil {
		return err
	}
	X, Y := x.RawMatrix(), dst.RawMatrix()
	for i, d := range m.diag {
		row := linalg.Row(Y, i)
		for j, v := range linalg.Row(X, i) {
			row[j] = -d * v
		}
	}
	// A strip of columns at a time, in memory that is kept for the next product: for
	// all columns of a wide block ĤᵀX would be larger than Ĥ.
	const strip = 64
	buf, _ := m.idle.Get().(*[]float64)
	if need := m.docs * min(X.Cols, strip); buf == nil || cap(*buf) < need {
		s := make([]float64, need)
		buf = &s
	}
	defer m.idle.Put(buf)
	for j := 0; j < X.Cols; j += strip {
		w := min(strip, X.Cols-j)
		z := blas64.General{Rows: m.docs, Cols: w, Stride: w, Data: (*buf)[:m.docs*w]}
		x := blas64.General{Rows: X.Rows, Cols: w, Stride: X.Stride, Data: X.Data[j:]}
		y := blas64.General{Rows: Y.Rows, Cols: w, Stride: Y.Stride, Data: Y.Data[j:]}
		if err := m.byDoc.Mul(ctx, x, z, false, workers); err != nil {
			return err
		}
		if err := m.byWord.Mul(ctx, z, y, true, workers); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// RowTo writes row i of C into dst. It takes the time of the distinct words of the
// documents that hold word i. No entry is negative, and words that never meet have
// exactly 0.
func (m *Moments) RowTo(dst []float64, i int) {
	clear(dst[:m.n])
	m.addRow(dst, i, 0)
	dst[i] = m.self[i]
}

// addRow adds the entries of row i of ĤĤᵀ from column from on.
func (m *Moments) addRow(dst []float64, i, from int) {
	for k := m.byWord.RowPtr[i]; k < m.byWord.RowPtr[i+1]; k++ {
		d, a := m.byWord.Cols[k], m.byWord.Vals[k]
		cols, vals := m.byDoc.Row(int(d))
		if from > 0 {
			lo, _ := slices.BinarySearch(cols, int32(from))
			cols, vals = cols[lo:], vals[lo:]
		}
		vals = vals[:len(cols)]
		for t, w := range cols {
			dst[w] += float64(a * vals[t])
		}
	}
}

// addOthers adds to the row sums what a document, a row of Ĥᵀ, gives each of its words
// with all the others.
func (m *Moments) addOthers(words []int32, vals []float64) {
	sum := vec.Sum(vals)
	for i, w := range words {
		m.c[w] += float64(vals[i] * (sum - vals[i]))
	}
}

// restrict keeps documents that lose all their words, so that M stays the same.
func (m *Moments) restrict(idx []int, to []int32) (form, error) {
	k := len(idx)
	s := &Moments{n: k, docs: m.docs, idle: new(sync.Pool), diag: make([]float64, k), self: make([]float64, k), c: make([]float64, k), norms2: new(lazy)}
	s.byDoc.RowPtr = make([]int, m.docs+1)
	for t, i := range idx {
		s.diag[t], s.self[t] = m.diag[i], m.self[i]
	}
	copy(s.c, s.self)
	for d := range m.docs {
		lo := len(s.byDoc.Cols)
		cols, vals := m.byDoc.Row(d)
		for i, w := range cols {
			if t := to[w]; t >= 0 {
				s.byDoc.Cols, s.byDoc.Vals = append(s.byDoc.Cols, t), append(s.byDoc.Vals, vals[i])
			}
		}
		s.addOthers(s.byDoc.Cols[lo:], s.byDoc.Vals[lo:])
		s.byDoc.RowPtr[d+1] = len(s.byDoc.Cols)
	}
	s.byDoc.Transpose(&s.byWord, k)
	return s, nil
}

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
						sum += float64(vals[k] * acc[j])
					case int(j) > i:
						sum += float64(2 * vals[k] * acc[j])
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
					v := float64(acc[j] * acc[j])
					own += v
					out[j] += v
					acc[j], isMarked[j] = 0, false
				}
			} else {
				for j := i + 1; j < n; j++ {
					v := float64(acc[j] * acc[j])
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
