// Package anchorfree learns topics that need not have anchor words (fu-2018).
//
// Of all factorisations C = BABᵀ with non-negative B whose columns sum to 1, it takes the
// one with the least |det A| (fu-2018, eq. 4). That is the true one, up to the order of the
// topics, if the rows of B are "sufficiently scattered": their cone must contain the largest
// round cone in the positive orthant (Theorem 1). Topics with enough zeros in enough words
// satisfy that; anchor words are a special case.
//
// With the K largest eigenpairs C ≈ UΛUᵀ every such B is UM for a K×K matrix M,
// and A = M⁻¹ΛM⁻ᵀ. The problem that remains is (eq. 13)
//
//	max |det M|  subject to  UM ≥ 0, 1ᵀUM = 1ᵀ:
//
// find the simplex of largest volume whose corners lie in a polytope of K−1 dimensions and
// N facets. It is not convex. [LP] replaces one column of M after another by the best one
// given the others, a linear program; [PDS] moves all columns at once. Both are
// deterministic, need no rows of C, and accept any symmetric C with K positive eigenvalues,
// such as tf-idf moments, whatever its sum. fu-2018 works with U√Λ instead of U, which
// changes M by √Λ, and B and A not at all.
package anchorfree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Learner is a way to learn topics without anchors.
type Learner interface {
	// Learn returns the model of c with k topics. The result is the same to
	// the bit for any opt.Workers.
	Learn(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every Learner takes besides its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called from the goroutine that called Learn: by LP after each
	// topic of a sweep, with ln|det M|, and by PDS after each round, with ‖UM − Z‖. total is
	// the limit.
	Progress func(done, total int, value float64)
}

// Result is a learned model. Topics are in descending order of their shares ΣₗA_kl.
type Result struct {
	// B is N×K: column k holds p(word | topic k), is non-negative and sums to 1.
	// Rows of words that do not occur in C are zero.
	B *mat.Dense
	// A is K×K and symmetric: A_kl is the probability that two words of a document come from
	// topics k and l, if C sums to 1. It is M⁻¹ΛM⁻ᵀ, neither clipped nor rescaled: entries may
	// be negative, and its sum is that of the K eigenpairs (metrics.Report.Legality).
	A *mat.Dense
	// WordTopics is N×K: row n holds p(topic | word n), by Bayes' rule from B and the topic
	// shares, and sums to 1. A word of C without a row in the K eigenpairs gets the shares
	// themselves; one that does not occur in C gets zeros.
	WordTopics *mat.Dense
	// Marginals are the row sums of C, length N. They belong to C and must not
	// be written to.
	Marginals []float64

	Stats
}

// Stats says how topics were learned without anchors.
type Stats struct {
	// Method names what was run; if empty, a jsmf.Pipeline takes the Learner's String.
	Method string `json:"method"`
	// Iterations are sweeps over all topics for LP and inner steps for PDS.
	Iterations int `json:"iterations"`
	// Rounds are the updates of multipliers or penalty of PDS; 0 for LP.
	Rounds int `json:"rounds"`
	// Programs is the number of linear programs solved, Pivots the number of their
	// simplex steps; 0 for PDS.
	Programs int `json:"programs"`
	Pivots   int `json:"pivots"`
	// Limited reports that the iteration limit came before the tolerance was met.
	Limited bool `json:"limited"`
	// LogDet is ln|det M|, which is maximised; ln|det A| = Σ ln Eigenvalues − 2·LogDet.
	LogDet float64 `json:"log_det"`
	// Eigenvalues are the K largest of C, descending.
	Eigenvalues []float64 `json:"eigenvalues"`
	// Products is the number of products of C with a vector.
	Products int `json:"products"`
	// Clipped counts the entries of UM below zero, which were set to 0 before the columns of
	// B were scaled to sum 1; Negative is the largest sum of their absolute values in a topic,
	// a probability: rounding for LP (about 1e-12), the tolerance for PDS.
	Clipped  int     `json:"clipped"`
	Negative float64 `json:"negative"`
	// NegativeShares counts topics with a share below 0, which counts as 0 in Bayes' rule.
	NegativeShares int `json:"negative_shares"`
	// Empty counts words without a row in the K eigenpairs, which are in no topic.
	Empty int `json:"empty"`
}

// RankError says that C has fewer positive eigenvalues than topics were asked for.
type RankError struct {
	Rank, K int
	// First is the largest eigenvalue, Next the first that is not positive (to rounding).
	First, Next float64
}

func (e *RankError) Error() string {
	advice := "is it all zero?"
	switch {
	case e.Rank == 1:
		advice = "ask for one topic"
	case e.Rank > 1:
		advice = fmt.Sprintf("ask for at most %d topics", e.Rank)
	}
	return fmt.Sprintf("anchorfree: %d topics asked for, but the co-occurrence matrix has %d positive eigenvalues (the first is %.3g, the next %.3g); %s", e.K, e.Rank, e.First, e.Next, advice)
}

// InfeasibleError says that no distribution over the words lies in the span of the K
// eigenvectors, so that there is no topic. C then has negative entries, or only rounding is
// left of some words.
type InfeasibleError struct {
	// Topic is the column of M whose linear program it was.
	Topic int
	// Word cannot get a probability in [0, 1] while all Others have one.
	Word   int
	Others []int
}

func (e *InfeasibleError) Error() string {
	others := fmt.Sprintf("%d other words", len(e.Others))
	if len(e.Others) > 0 {
		others += fmt.Sprintf(" (the first is word %d)", e.Others[0])
	}
	return fmt.Sprintf("anchorfree: the linear program of topic %d has no solution: within the span of the eigenvectors, word %d has a negative probability, or one above 1, in every vector that sums to 1 and in which %s do not; a non-negative co-occurrence matrix, as rectification gives it, has solutions", e.Topic, e.Word, others)
}

// Tolerances that are not settings.
const (
	// eigenTol is the residual of the eigenpairs, as a part of λ_K: the zeros of B are found
	// to some 1e-11.
	eigenTol    = 1e-12
	maxRestarts = 500
	// rankTol is the part of the norm of C that counts as zero.
	rankTol = 1e-11
	// emptyRow is the length of a row of U, as a part of the longest, that is rounding.
	emptyRow = 1e-13
)

// problem is what both methods solve.
type problem struct {
	n, k    int
	u       blas64.General // n×k, orthonormal columns
	s       []float64      // Uᵀ1
	lambda  []float64      // k, descending, positive
	c       []float64
	empty   []bool    // of words without a row in U
	norms   []float64 // ‖u_i‖
	workers int

	products int
}

// newProblem finds the eigenpairs.
func newProblem(ctx context.Context, c cooc.Matrix, k int, workers int) (*problem, error) {
	n := c.Dim()
	if k < 1 || k > n {
		return nil, fmt.Errorf("anchorfree: K = %d is not in [1, %d], the number of words", k, n)
	}
	p := &problem{n: n, k: k, c: c.Marginals(), workers: workers, s: make([]float64, k), empty: make([]bool, n), norms: make([]float64, n)}
	if len(p.c) != n {
		return nil, fmt.Errorf("anchorfree: the matrix has %d rows and %d row sums", n, len(p.c))
	}
	largest := 0.0
	for i, v := range p.c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("anchorfree: row %d of the matrix sums to %.9g", i, v)
		}
		largest = max(largest, math.Abs(v))
	}
	if largest > 0 && largest < 1e-290 { // 1/σ would not be finite
		return nil, fmt.Errorf("anchorfree: the rows of the matrix sum to at most %.9g, too small to normalise: divide the matrix by its sum", largest)
	}
	op := func(ctx context.Context, dst, x blas64.General) error {
		var d, v mat.Dense
		d.SetRawMatrix(dst)
		v.SetRawMatrix(x)
		return c.MulTo(ctx, &d, &v, workers)
	}
	theta, vecs, st, err := linalg.Lanczos(ctx, n, op, linalg.LanczosOptions{Pairs: k, Tol: eigenTol, MaxRestarts: maxRestarts, Block: 8, Workers: workers})
	if err != nil {
		return nil, fmt.Errorf("anchorfree: eigenpairs: %w", err)
	}
	p.products = st.Products
	// The norm of C is at least maxᵢ|cᵢ|/√N: an eigenvalue below a part of that is rounding,
	// even the largest.
	scale := theta[0]
	for _, v := range p.c {
		scale = max(scale, math.Abs(v)/math.Sqrt(float64(n)))
	}
	for i, v := range theta {
		if !(v > rankTol*scale) {
			return nil, &RankError{Rank: i, K: k, First: theta[0], Next: v}
		}
	}
	if !st.Converged {
		return nil, fmt.Errorf("anchorfree: the %d largest eigenpairs did not converge: residual %.3g, want %.3g", k, st.Residual, eigenTol*theta[k-1])
	}
	p.lambda = theta
	// One more product makes the rows of rare words as accurate, relatively, as the others,
	// and those of absent ones zero.
	v := linalg.NewGeneral(n, k)
	for i := range n {
		row := linalg.Row(v, i)
		for j := range row {
			row[j] = vecs.Data[j*vecs.Stride+i] / theta[j]
		}
	}
	p.u = linalg.NewGeneral(n, k)
	if err := op(ctx, p.u, v); err != nil {
		return nil, fmt.Errorf("anchorfree: %w", err)
	}
	p.products += k
	p.normalise()
	return p, nil
}

// normalise gives the eigenvectors positive sums, and measures the rows of U.
func (p *problem) normalise() {
	n, k := p.n, p.k
	for i := range n {
		floats.Add(p.s, linalg.Row(p.u, i))
	}
	sign := make([]float64, k) // eigenvectors are determined up to it
	for j, v := range p.s {
		sign[j] = math.Copysign(1, v)
		p.s[j] = math.Abs(v)
	}
	longest := 0.0
	for i := range n {
		row := linalg.Row(p.u, i)
		floats.Mul(row, sign)
		p.norms[i] = blas64.Nrm2(blas64.Vector{N: k, Inc: 1, Data: row})
		longest = max(longest, p.norms[i])
	}
	for i, v := range p.norms {
		if v <= emptyRow*longest {
			// Rounding would bound the polytope at random.
			p.empty[i], p.norms[i] = true, 0
			clear(linalg.Row(p.u, i))
		}
	}
}

// finish makes the model of a solution M, k×k.
func (p *problem) finish(ctx context.Context, m *mat.Dense) (*Result, error) {
	n, k := p.n, p.k
	inv, err := inverse(m)
	if err != nil {
		return nil, err
	}
	logdet, _ := mat.LogDet(m)
	a := mat.NewDense(k, k, nil)
	share := make([]float64, k)
	for i := range k {
		for j := range i + 1 {
			v := 0.0
			for l, x := range p.lambda {
				v += x * inv.At(i, l) * inv.At(j, l)
			}
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	for i := range share {
		for j := range k {
			share[i] += a.At(i, j)
		}
	}
	order := vec.Order(k, func(i int) float64 { return share[i] })

	res := &Result{
		B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil), WordTopics: mat.NewDense(n, k, nil),
		Marginals: p.c, Stats: Stats{Eigenvalues: slices.Clone(p.lambda), LogDet: logdet, Products: p.products},
	}
	sorted := linalg.NewGeneral(k, k)
	for t, o := range order {
		for l, q := range order {
			res.A.Set(t, l, a.At(o, q))
		}
		for i := range k {
			sorted.Data[i*k+t] = m.At(i, o)
		}
	}
	b := res.B.RawMatrix()
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, p.u, sorted, 0, b, p.workers); err != nil {
		return nil, fmt.Errorf("anchorfree: %w", err)
	}
	sum, below := make([]float64, k), make([]float64, k)
	for i := range n {
		if p.empty[i] {
			res.Empty++
		}
		row := linalg.Row(b, i)
		for t, v := range row {
			if v < 0 {
				res.Clipped++
				below[t] -= v
				row[t] = 0
				continue
			}
			sum[t] += v
		}
	}
	for t, s := range sum {
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("anchorfree: topic %d has the total probability %g", t, s)
		}
		res.Negative = max(res.Negative, below[t])
	}
	prior, total := make([]float64, k), 0.0
	for t, o := range order {
		if share[o] < 0 {
			res.NegativeShares++
		}
		prior[t] = max(share[o], 0)
		total += prior[t]
	}
	for t := range prior {
		prior[t] /= total
	}
	for i := range n {
		row, out := linalg.Row(b, i), res.WordTopics.RawRowView(i)
		floats.Div(row, sum)
		if vec.Posterior(out, row, prior) == 0 && p.c[i] > 0 {
			copy(out, prior)
		}
	}
	return res, ctx.Err()
}

// inverse returns M⁻¹, or an error if the columns of M are dependent.
func inverse(m *mat.Dense) (*mat.Dense, error) {
	var inv mat.Dense
	return &inv, dependent(inv.Inverse(m))
}

// dependent returns the error for a matrix that has no inverse. One close to singular is
// good enough for a direction.
func dependent(err error) error {
	if cond, ok := errors.AsType[mat.Condition](err); err == nil || ok && !math.IsInf(float64(cond), 0) {
		return nil
	}
	return fmt.Errorf("anchorfree: the topics are linearly dependent: %w", err)
}
