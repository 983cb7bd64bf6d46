// Package rectify turns the co-occurrence matrix estimated from documents into
// one that a topic model could have produced.
//
// The model says C = BABᵀ: of rank K, positive semidefinite, non-negative, and
// of sum 1. The estimate from finite, real documents is none of the first two:
// its diagonal is far off for words that come in bursts and for rare ones, and
// rare words then pose as anchors. Rectification replaces the estimate by a
// matrix near it that has the structure (lee-2018 §2.3, lee-2020 Appendix A.1).
// It is the step without which the rest does not work on real data.
//
// Of the methods
//
//   - AP, alternating projection, is exact and kept sparse + low-rank so that
//     nothing of size N×N is ever stored. AP{Dense: true} is the same on an
//     explicit array, to check it.
//   - ENN, epsilon non-negative rectification, looks for negative entries in the
//     rows that matter only and returns a low-rank matrix YYᵀ.
//   - LR is ENN from a start that a few passes over the documents give: for
//     vocabularies and corpora of any size.
//   - Auto takes AP while it fits in memory and LR beyond. It is what a
//     jsmf.Pipeline does by default.
//   - PALM (also with inertia) minimises ‖C − XYᵀ‖ over non-negative factors.
//   - DR, Douglas–Rachford, and Dykstra are other ways to the same sets as AP.
//   - DC changes the diagonal alone, TruncatedEig keeps the K largest eigenpairs,
//     and None leaves the matrix alone: the Baseline of the papers.
package rectify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Rectifier is a way to rectify a co-occurrence matrix.
type Rectifier interface {
	// Rectify returns a rectified form of c for k topics, 1 ≤ k ≤ N. c is not
	// changed. The result is the same to the bit for any opt.Workers.
	Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every method takes beside its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Seed is added to the seed of a method that draws random numbers.
	Seed uint64
	// Progress, if not nil, is called after each iteration from the goroutine
	// that called Rectify, with the change ‖C_t − C_{t−1}‖_F.
	Progress func(done, total int, change float64)
	// MemoryLimit > 0 bounds the bytes of methods whose memory shows only in the
	// first iteration (AP, DR, and so Auto), beside the limits of their own.
	MemoryLimit int64
	// Keep asks for Result.State, and From, if not nil, gives that of a matrix
	// of the same words that differs little. AP (but for Dense), ENN, LR and
	// Auto know what to do with them; the others ignore them.
	Keep bool
	From *State
}

// within returns the lesser of a method's own limit of memory and the options'.
func (o Options) within(limit int64) int64 {
	if o.MemoryLimit > 0 {
		return min(limit, o.MemoryLimit)
	}
	return limit
}

// Status says why a method stopped.
type Status int

const (
	// IterationLimit: all iterations asked for were made. That is the usual
	// end where no tolerance is set.
	IterationLimit Status = iota
	// Converged: the change fell to the tolerance.
	Converged
	// Unchanged: there was nothing to do.
	Unchanged
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case IterationLimit:
		return "iteration limit"
	case Converged:
		return "converged"
	case Unchanged:
		return "unchanged"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// Result is a rectified matrix and how it came about.
type Result struct {
	// C is the rectified matrix.
	C cooc.Matrix
	// Method names what was run, and Reason says why, where a method chose
	// between others (Auto); both are empty otherwise.
	Method, Reason string
	// Status says why the method stopped, after Iterations iterations.
	Status     Status
	Iterations int
	// Changes holds ‖C_t − C_{t−1}‖_F for t = 1…Iterations, before the final
	// division by the sum; of AP's first after a warm start, that of the
	// low-rank parts alone.
	Changes []float64
	// Eigenvalues are those of the last projection on the positive
	// semidefinite matrices of rank K, descending, those clipped included.
	Eigenvalues []float64
	// Nonzeros holds, for each iteration, how many entries the projection on
	// the non-negative matrices had to lift to zero.
	Nonzeros []int
	// Shift is the r of the last iteration, by which every entry was moved to
	// make the sum 1.
	Shift float64
	// Products counts the vectors the matrices were multiplied by, ColdStarts
	// how many of the eigenproblems were solved from nothing.
	Products, ColdStarts int
	// CorrectionChanges holds, for ENN, ‖E_t − E_{t−1}‖_F after each iteration.
	CorrectionChanges []float64
	// LookedUp is, for ENN, the |I| of the last lookup, and Epsilon the bound
	// that it leaves: no entry of YYᵀ outside of the rows and columns I is
	// below −Epsilon, which is 0 where all rows were looked up.
	LookedUp int
	Epsilon  float64
	// Passes counts, for LR, the passes over the data: products with a block of
	// vectors each. StartResidual is then the largest ‖Cu − λu‖ among the K
	// eigenpairs that the passes found, in units of the least positive λ among
	// them, and Clipped how many of them had λ ≤ 0 and were left out.
	Passes, Clipped int
	StartResidual   float64
	// Objectives holds, for PALM, the objective J after each iteration, and
	// Lyapunov, for its inertial form, J and the terms of the inertia.
	Objectives, Lyapunov []float64
	// Undetermined counts, for DC, the diagonal entries that the matrix says
	// nothing about; they keep their values.
	Undetermined int
	// State is what a later rectification can go on from, where Options.Keep asked
	// for it and the method knows how.
	State *State
	// Warm tells whether the method went on from Options.From, and Cold why it
	// did not, if one was given and the method knows how.
	Warm bool
	Cold string
	// Violations says by how much C misses the structure that was asked for;
	// nil where that was not measured.
	Violations *Violations
}

// None leaves the matrix as it is. Cost: none.
type None struct{}

// Rectify returns c.
func (None) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := check(c, k); err != nil {
		return nil, err
	}
	return &Result{C: c, Status: Unchanged}, ctx.Err()
}

func (None) String() string { return "None" }

func check(c cooc.Matrix, k int) error {
	if n := c.Dim(); k < 1 || k > n {
		return fmt.Errorf("rectify: K = %d is not in [1, %d], the number of words", k, n)
	}
	return nil
}

// operator makes a linalg.Op of a Matrix.
func operator(c cooc.Matrix, workers int) linalg.Op {
	return func(ctx context.Context, dst, x blas64.General) error {
		var d, m mat.Dense
		d.SetRawMatrix(dst)
		m.SetRawMatrix(x)
		return c.MulTo(ctx, &d, &m, workers)
	}
}
