// Package rectify turns the co-occurrence matrix estimated from documents into one
// that a topic model could have produced.
//
// The model says C = BABᵀ: of rank K, positive semidefinite, non-negative, and of
// sum 1. The estimate from finite, real documents has neither the rank nor the
// definiteness. Its diagonal is far off for rare words and for words that come in
// bursts, and rare words then pose as anchors. Rectification replaces the estimate
// by a nearby matrix that has the structure (lee-2018 §2.3, lee-2020 Appendix A.1), by one
// of these methods:
//
//   - [AP], alternating projection, exact, kept as a sparse matrix plus one of low
//     rank, so that nothing of size N×N is stored.
//   - [ENN], epsilon non-negative rectification, which looks for negative entries only in
//     the rows of the most frequent words and returns a low-rank matrix YYᵀ.
//   - [LR], ENN from eigenpairs that take a few passes over the documents: for
//     vocabularies and corpora of any size.
//   - [Auto], AP while it fits in memory and LR beyond: the default of a jsmf.Pipeline.
//   - [PALM], which minimises ‖C − XYᵀ‖ over non-negative factors.
//   - [DR], Douglas–Rachford, which goes to the same sets as AP.
//   - [DC], which changes the diagonal alone; [TruncatedEig], which keeps the K largest
//     eigenpairs; and [None], the Baseline of the papers.
package rectify

import (
	"context"
	"math"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Rectifier is a way to rectify a co-occurrence matrix.
type Rectifier interface {
	// Rectify returns a rectified form of c for k topics, 1 ≤ k ≤ N. c is not
	// changed. A method that needs rows returns an error if c is no cooc.Matrix; ENN,
	// LR and TruncatedEig only multiply. The result is the same to the bit for any opt.Workers.
	Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Bytes returns an upper bound of the bytes that r holds at a time for n words, k topics and
// up to eight workers, besides the matrix and what one product with it takes. Garbage that is
// not yet collected comes on top. A Rectifier of another package counts as Auto{}.
func Bytes(r Rectifier, n, k int, opt Options) int64 {
	own, ok := r.(interface {
		bytes(n, k int, opt Options) int64
	})
	if !ok {
		own = Auto{}
	}
	return own.bytes(n, k, opt)
}

// Options are what every method takes besides its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Seed is added to the seed of a method that draws random numbers.
	Seed uint64
	// Progress, if not nil, is called after each iteration, on the goroutine that
	// called Rectify, with the change ‖C_t − C_{t−1}‖_F.
	Progress func(done, total int, change float64)
	// MemoryLimit bounds the bytes of the methods that form N×N arrays (DC) or
	// keep the negative entries (AP, DR). Beyond it they return a *MemoryError, and Auto
	// takes LR. 0 means 4 GiB.
	MemoryLimit int64
}

// Status says why a method stopped.
type Status string

const (
	// IterationLimit: all iterations were made, the usual end without a tolerance.
	IterationLimit Status = "iteration limit"
	// Converged: the change fell to the tolerance.
	Converged Status = "converged"
	// Unchanged: there was nothing to do.
	Unchanged Status = "unchanged"
)

// Result is a rectified matrix and how it came about.
type Result struct {
	// C is the rectified matrix.
	C cooc.Matrix
	// MakeRows makes the Rows; nil: the explicit rows, cooc.NewRows(C).
	MakeRows func(ctx context.Context, workers int) (cooc.Rows, error)

	Stats
}

// Stats says what a rectification did.
type Stats struct {
	// Method names what was run, and Reason says why if there was a choice (Auto). If
	// Method is empty, a jsmf.Pipeline takes the method's String.
	Method string `json:"method"`
	Reason string `json:"reason,omitempty"`
	// Status says why the method stopped, after Iterations iterations.
	Iterations int    `json:"iterations"`
	Status     Status `json:"status"`
	// Changes holds ‖C_t − C_{t−1}‖_F for t = 1…Iterations, before the final
	// division by the sum.
	Changes []float64 `json:"changes"`
	// Eigenvalues are those of the last projection on the positive semidefinite
	// matrices of rank K, descending, clipped ones included.
	Eigenvalues []float64 `json:"eigenvalues"`
	// Nonzeros holds, for each iteration, how many entries the projection on the
	// non-negative matrices set to zero.
	Nonzeros []int `json:"nnz"`
	// Shift is r, what the last iteration added to every entry to make the sum 1.
	Shift float64 `json:"shift"`
	// Products counts the vectors that matrices were multiplied by, and ColdStarts
	// the eigenproblems that did not start from earlier vectors.
	Products   int `json:"products"`
	ColdStarts int `json:"cold_starts,omitempty"`
	// Passes counts, for LR, the passes over the data. StartResidual is the largest
	// ‖Cu − λu‖ among the K eigenpairs they found, in units of the least positive λ
	// among them, and Clipped the number of those with λ ≤ 0, which are left out.
	Passes        int     `json:"passes,omitempty"`
	Clipped       int     `json:"clipped,omitempty"`
	StartResidual float64 `json:"start_residual,omitempty"`
	// CorrectionChanges holds, for ENN, ‖E_t − E_{t−1}‖_F after each iteration.
	CorrectionChanges []float64 `json:"correction_changes,omitempty"`
	// Scanned is, for ENN, the number |I| of rows that the last iteration scanned.
	// No entry of YYᵀ outside of the rows and columns I is below −Epsilon; Epsilon is
	// 0 where all rows were scanned.
	Scanned int     `json:"scanned,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
	// Objectives holds, for PALM, the objective J after each iteration.
	Objectives []float64 `json:"objectives,omitempty"`
	// Undetermined counts, for DC, the diagonal entries that the others do not determine;
	// they keep their values.
	Undetermined int `json:"undetermined,omitempty"`
	// Violations says by how much C misses the structure; nil: not measured.
	Violations *Violations `json:"violations,omitempty"`
}

// Rows returns the rows of C in which anchors are found and topics recovered: in K
// dimensions ([cooc.LowRankSparse.LAW]) from [ENN], [LR], [PALM] and [TruncatedEig], explicit from the
// others. workers bounds the goroutines (0: GOMAXPROCS) and changes no bit.
func (r *Result) Rows(ctx context.Context, workers int) (cooc.Rows, error) {
	if r.MakeRows == nil {
		return cooc.NewRows(r.C)
	}
	return r.MakeRows(ctx, workers)
}

// setLowRank makes YYᵀ the result.
func (r *Result) setLowRank(c *cooc.LowRankSparse) {
	r.C = c
	r.MakeRows = func(ctx context.Context, workers int) (cooc.Rows, error) { return c.LAW(ctx, workers) }
}

// None leaves the matrix as it is.
type None struct{}

// Rectify returns c.
func (None) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	if err := check(c, k); err != nil {
		return nil, err
	}
	m, err := matrix("None", c)
	if err != nil {
		return nil, err
	}
	return &Result{C: m, Stats: Stats{Status: Unchanged}}, ctx.Err()
}

func (None) String() string { return "None" }

func (None) bytes(n, k int, opt Options) int64 { return 0 }

// Violations says by how much a rectified matrix, as it is returned, misses the sum
// of 1 and the rank.
type Violations struct {
	// SumError is ΣC − 1.
	SumError float64 `json:"sum_error"`
	// RankResidual is ‖C − Z‖_F/‖C‖_F, where Z is the last projection on the positive
	// semidefinite matrices of rank K, scaled as C is: an upper bound of the relative
	// distance to the nearest of them. For DC, Z is the nearest.
	RankResidual float64 `json:"rank_residual"`
}

// beyondRank returns ‖C − YYᵀ‖_F/‖C‖_F of C = YYᵀ + r·eeᵀ + E, where C is zero in the
// entries in which E is not.
func beyondRank(ctx context.Context, c *linalg.LowRankSparse, workers int) (float64, error) {
	n := float64(c.Y.Rows)
	off := c.R * c.R * n * n
	for _, v := range c.E.Vals {
		off += float64(v * (v + float64(2*c.R)))
	}
	gram := linalg.NewGeneral(c.Y.Cols, c.Y.Cols)
	if err := linalg.Gram(ctx, c.Y, gram, workers); err != nil {
		return 0, err
	}
	whole := vec.Dot(gram.Data, gram.Data)
	whole += off + float64(2*c.R*sumOf(c.Y)) // and 2⟨YYᵀ, E⟩
	for _, v := range c.E.Vals {
		whole -= float64(2 * v * (v + c.R))
	}
	return math.Sqrt(max(off, 0) / whole), nil
}
