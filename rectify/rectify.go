// Package rectify turns the co-occurrence matrix estimated from documents into one
// that a topic model could have produced.
//
// The model says C = BABᵀ: of rank K, positive semidefinite, non-negative, and of
// sum 1. The estimate from finite, real documents has neither the rank nor the
// definiteness. Its diagonal is far off for rare words and for words that come in
// bursts, and rare words then pose as anchors. Rectification replaces the estimate
// by a nearby matrix that has the structure (lee-2018 §2.3, lee-2020 Appendix A.1).
//
// The methods are:
//
//   - AP, alternating projection, exact, kept as a sparse matrix plus one of low
//     rank, so that nothing of size N×N is stored.
//   - ENN, epsilon non-negative rectification, which looks for negative entries in
//     the rows of the most frequent words only and returns a low-rank matrix YYᵀ.
//   - LR, which is ENN from eigenpairs that a few passes over the documents give:
//     for vocabularies and corpora of any size.
//   - Auto, which takes AP while it fits in memory and LR beyond. It is the default
//     of a jsmf.Pipeline.
//   - PALM, also with inertia, which minimises ‖C − XYᵀ‖ over non-negative factors.
//   - DR, Douglas–Rachford, and Dykstra, which go to the same sets as AP.
//   - DC, which changes the diagonal alone; TruncatedEig, which keeps the K largest
//     eigenpairs; and None, the Baseline of the papers.
package rectify

import (
	"context"
	"fmt"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/spectrum"
)

// Rectifier is a way to rectify a co-occurrence matrix.
type Rectifier interface {
	// Rectify returns a rectified form of c for k topics, 1 ≤ k ≤ N. c is not
	// changed. A method that needs rows returns an error if c is no cooc.Matrix; ENN,
	// LR and TruncatedEig only multiply. The result is the same to the bit for any opt.Workers.
	Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error)
	// Bytes returns an upper bound of the bytes that Rectify holds at a time for n
	// words, k topics and up to eight workers, beside c and what one product with it
	// takes. Garbage that is not yet collected comes on top.
	Bytes(n, k int, opt Options) int64
	// String names the method and its settings.
	String() string
}

// Options are what every method takes beside its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Seed is added to the seed of a method that draws random numbers.
	Seed uint64
	// Progress, if not nil, is called after each iteration, on the goroutine that
	// called Rectify, with the change ‖C_t − C_{t−1}‖_F.
	Progress func(done, total int, change float64)
	// MemoryLimit bounds the bytes of the methods that form N×N arrays (Dykstra) or
	// whose memory depends on how many entries turn out to be negative (AP, DR).
	// Beyond it they return a *MemoryError, and Auto takes LR. 0 means 4 GiB.
	MemoryLimit int64
	// Keep asks for Result.State, and From, if not nil, is the State of a matrix of
	// the same words that differs little. AP, ENN, LR and Auto use them; the other
	// methods ignore them.
	Keep bool
	From *State
	// Shared is set by jsmf's Sweep: rectifications of one matrix for several K share
	// the products of their first eigenproblem. It changes no bit of the result.
	Shared *spectrum.Shared
}

// Status says why a method stopped.
type Status int

const (
	// IterationLimit: all iterations were made. That is the usual end where no
	// tolerance is set.
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
	// MakeRows makes the rows of C in which anchors are found and topics recovered.
	// nil: the explicit rows, cooc.NewRows(C). See Rows.
	MakeRows func(ctx context.Context, workers int) (cooc.Rows, error)
	// Method names what was run and Reason says why, where a method chose between
	// others (Auto); otherwise both are empty.
	Method, Reason string
	// Status says why the method stopped, after Iterations iterations.
	Status     Status
	Iterations int
	// Changes holds ‖C_t − C_{t−1}‖_F for t = 1…Iterations, before the final
	// division by the sum. The first change of AP after a warm start is that of the
	// low-rank parts alone.
	Changes []float64
	// Eigenvalues are those of the last projection on the positive semidefinite
	// matrices of rank K, descending, clipped ones included.
	Eigenvalues []float64
	// Nonzeros holds, for each iteration, how many entries the projection on the
	// non-negative matrices set to zero.
	Nonzeros []int
	// Shift is the r of the last iteration: the number added to every entry to make
	// the sum 1.
	Shift float64
	// Products counts the vectors that matrices were multiplied by, and ColdStarts
	// the eigenproblems that did not start from earlier vectors.
	Products, ColdStarts int
	// CorrectionChanges holds, for ENN, ‖E_t − E_{t−1}‖_F after each iteration.
	CorrectionChanges []float64
	// Scanned is, for ENN, the number |I| of rows that the last iteration scanned.
	// No entry of YYᵀ outside of the rows and columns I is below −Epsilon; Epsilon is
	// 0 where all rows were scanned.
	Scanned int
	Epsilon float64
	// Passes counts, for LR, the passes over the data. StartResidual is the largest
	// ‖Cu − λu‖ among the K eigenpairs they found, in units of the least positive λ
	// among them, and Clipped the number of those with λ ≤ 0, which are left out.
	Passes, Clipped int
	StartResidual   float64
	// Objectives holds, for PALM, the objective J after each iteration, and Lyapunov,
	// for its inertial form, J plus the terms of the inertia.
	Objectives, Lyapunov []float64
	// Undetermined counts, for DC, the diagonal entries that the other entries say
	// nothing about; they keep their values.
	Undetermined int
	// State is what a later rectification can start from, if Options.Keep asked for
	// it and the method supports it.
	State *State
	// Warm tells whether the method started from Options.From, and Cold why it did
	// not, if one was given and the method supports it.
	Warm bool
	Cold string
	// Violations says by how much C misses the structure; nil where that was not
	// measured.
	Violations *Violations
}

// Rows returns the rows of C in which anchors are found and topics recovered: in K
// dimensions (cooc.LAW) from ENN, LR, PALM and TruncatedEig, explicit from the
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
	r.MakeRows = func(ctx context.Context, workers int) (cooc.Rows, error) { return cooc.NewLAW(ctx, c, workers) }
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
	return &Result{C: m, Status: Unchanged}, ctx.Err()
}

func (None) String() string { return "None" }

// Bytes implements Rectifier: 0.
func (None) Bytes(n, k int, opt Options) int64 { return 0 }
