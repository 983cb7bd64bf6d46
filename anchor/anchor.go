// Package anchor finds the anchor words of a rectified co-occurrence matrix.
//
// An anchor word of a topic occurs in that topic only. If every topic has one,
// each row of the row-normalised matrix C̄ is a convex combination of the K rows
// of the anchors (lee-2020 §3, step 2), and to find the topics is to find the
// corners of the cloud that the rows form. QR finds them greedily: the row
// farthest from the span of those already chosen, K times.
package anchor

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
)

// Finder is a way to find anchors.
type Finder interface {
	// Find returns k anchors among the rows. The result is the same to the bit
	// for any opt.Workers.
	Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every finder takes beside its own settings.
type Options struct {
	// DocFrequencies holds, for each word, the number of documents in which it
	// occurs, and Docs the number of documents; nil and 0 where there are none.
	// They are needed by finders that only admit words frequent enough.
	DocFrequencies []int
	Docs           int
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each anchor from the goroutine
	// that called Find, with its norm r_k.
	Progress func(done, total int, norm float64)
}

// Result is what a finder found.
type Result struct {
	// Anchors are the word numbers in the order found.
	Anchors []int
	// Norms are r_1 ≥ r_2 ≥ … (but for ties, to a relative 1e-9): the distance
	// of each anchor's row from the span of the rows of the anchors before it. A
	// steep fall after r_k suggests k topics.
	Norms []float64
	// Candidates is how many words were admitted.
	Candidates int
}

// RankError says that the rows do not span as many dimensions as anchors were
// asked for.
type RankError struct {
	Rank, K int
	// Norm is the distance of the next best row from the span of the Rank rows
	// found, First that of the first anchor from the origin, both in C̄.
	Norm, First float64
}

func (e *RankError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but the co-occurrence rows have numerical rank %d (the next row is %.3g from the span of the others, the first anchor %.3g long); ask for at most %d topics", e.K, e.Rank, e.Norm, e.First, e.Rank)
}

// CandidateError says that fewer words than anchors are frequent enough.
type CandidateError struct {
	Candidates, K int
	MinDocs       int // what was asked of a candidate
}

func (e *CandidateError) Error() string {
	if e.MinDocs == 0 {
		return fmt.Sprintf("anchor: %d anchors asked for, but only %d words have a co-occurrence row", e.K, e.Candidates)
	}
	return fmt.Sprintf("anchor: %d anchors asked for, but only %d words occur in at least %d documents and have a co-occurrence row; lower the anchors' minimum document frequency or the number of topics", e.K, e.Candidates, e.MinDocs)
}

// DefaultRankTol is the relative pivot norm below which a row counts as lying
// in the span of the anchors. The squared norms are updated by subtraction, so
// that differences below √ε ≈ 1.5e-8 of the first are rounding.
const DefaultRankTol = 1e-7

// tie is the relative difference of squared norms below which rows count as
// equally far, and tieFirst the difference relative to the first norm, for the
// late pivots whose squared norms are what rounding left of larger ones. Words
// of page templates have the same row up to rounding; which of them is taken
// must not depend on how a product was summed.
const (
	tie      = 1e-9
	tieFirst = 4e-15
)

// QR is greedy column-pivoted QR on C̄ᵀ with implicit updates (lee-2020,
// Algorithm 3): only the K basis vectors are stored, and the squared distances
// of all rows are brought up to date by one product with C̄ an anchor. Each
// basis vector is orthogonalised twice. Ties go to the lower word number; the
// anchors for K topics are the first K of those for K+1.
//
// Cost: K products of C̄ with a vector and 4·d·K² operations; memory 8·d·K
// bytes. The zero value admits every word.
type QR struct {
	// MinDocs admits only words that occur in at least so many documents as
	// anchors, as in arora-2013 §5. 0: all. Rectified matrices do not need it;
	// it keeps odd words out of small corpora.
	MinDocs int
	// MinDocFraction does the same by a fraction of the documents, in [0, 1].
	// Where both are set the larger bound holds.
	MinDocFraction float64
	// RankTol is the fraction of the first norm below which no further anchor
	// exists; 0 means DefaultRankTol.
	RankTol float64
	// AllowFewer returns the anchors found where the rank, or the number of
	// candidates, is below k. Otherwise that is a *RankError or a
	// *CandidateError.
	AllowFewer bool
}

func (q QR) String() string {
	var opts []string
	if q.MinDocs > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%d", q.MinDocs))
	}
	if q.MinDocFraction > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%g%%", 100*q.MinDocFraction))
	}
	if q.RankTol > 0 {
		opts = append(opts, fmt.Sprintf("rank tol=%g", q.RankTol))
	}
	if q.AllowFewer {
		opts = append(opts, "allow fewer")
	}
	if opts == nil {
		return "QR"
	}
	return "QR(" + strings.Join(opts, ", ") + ")"
}

// Validate reports settings out of range.
func (q QR) Validate() error {
	if q.MinDocs < 0 || !(q.MinDocFraction >= 0 && q.MinDocFraction <= 1) || !(q.RankTol >= 0 && q.RankTol < 1) {
		return fmt.Errorf("anchor: QR: MinDocs %d, MinDocFraction %g, RankTol %g out of range", q.MinDocs, q.MinDocFraction, q.RankTol)
	}
	return nil
}

// Find implements Finder. Words with an empty row are never anchors. Errors:
// settings out of range, a document-frequency bound without
// opt.DocFrequencies, *RankError, *CandidateError, ctx's.
func (q QR) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	n, d := rows.Dims()
	if k < 1 || k > n {
		return nil, fmt.Errorf("anchor: K = %d is not in [1, %d], the number of words", k, n)
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	tol := q.RankTol
	if tol == 0 {
		tol = DefaultRankTol
	}
	// 7 % of 100 documents are 7, not the 8 that 0.07·100 rounds up to.
	least := max(q.MinDocs, int(math.Ceil(q.MinDocFraction*float64(opt.Docs)*(1-1e-12))))
	if q.MinDocs > 0 || q.MinDocFraction > 0 {
		if len(opt.DocFrequencies) != n {
			return nil, fmt.Errorf("anchor: QR: candidates are to occur in at least %d documents, but the document frequencies of %d words are known, of %d", least, len(opt.DocFrequencies), n)
		}
		if q.MinDocFraction > 0 && opt.Docs <= 0 {
			return nil, fmt.Errorf("anchor: QR: candidates are to occur in %g of the documents, but their number is not known", q.MinDocFraction)
		}
	}
	norms, err := rows.Norms2(ctx, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	const out = -1
	u := make([]float64, n)
	res := &Result{}
	for i, v := range norms {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fmt.Errorf("anchor: the row of word %d has the squared norm %g", i, v)
		case v <= 0 || least > 0 && opt.DocFrequencies[i] < least:
			u[i] = out
		default:
			u[i] = v
			res.Candidates++
		}
	}
	if res.Candidates < k && !q.AllowFewer || res.Candidates == 0 {
		return nil, &CandidateError{Candidates: res.Candidates, K: k, MinDocs: least}
	}

	basis := mat.NewDense(k, d, nil) // rows are the q_k
	x := mat.NewDense(d, 1, nil)
	p := mat.NewDense(n, 1, nil)
	largest := 0.0
	for len(res.Anchors) < k {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		best, s := 0.0, -1
		for _, v := range u {
			best = max(best, v)
		}
		if len(res.Anchors) == 0 {
			largest = best
		}
		bar := best - max(tie*best, tieFirst*largest)
		for i, v := range u {
			if v != out && v >= bar {
				s = i
				break
			}
		}
		found := len(res.Anchors)
		var r float64
		if s >= 0 {
			w := x.RawMatrix().Data
			rows.RowTo(w, s)
			for pass := 0; pass < 2 && found > 0; pass++ {
				if err := against(ctx, basis.Slice(0, found, 0, d).(*mat.Dense).RawMatrix(), x.RawMatrix()); err != nil {
					return nil, fmt.Errorf("anchor: %w", err)
				}
			}
			r = norm(w)
		}
		if s < 0 || r <= tol*first(res.Norms, r) || r == 0 {
			e := &RankError{Rank: found, K: k, Norm: r, First: first(res.Norms, r)}
			if q.AllowFewer && found > 0 {
				return res, nil
			}
			return nil, e
		}
		w := x.RawMatrix().Data
		b := basis.RawRowView(found)
		for j, v := range w {
			w[j] = v / r
			b[j] = w[j]
		}
		res.Anchors, res.Norms = append(res.Anchors, s), append(res.Norms, r)
		if err := rows.MulTo(ctx, p, x, opt.Workers); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		for i, v := range p.RawMatrix().Data {
			if u[i] != out {
				u[i] = max(u[i]-v*v, 0)
			}
		}
		u[s] = out
		if opt.Progress != nil {
			opt.Progress(len(res.Anchors), k, r)
		}
	}
	return res, nil
}

// against removes from w, d×1, its components along the rows of q. On one
// core: it takes less than waking another.
func against(ctx context.Context, q, w blas64.General) error {
	h := linalg.NewGeneral(q.Rows, 1)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, q, w, 0, h, 1); err != nil {
		return err
	}
	return linalg.Gemm(ctx, blas.Trans, blas.NoTrans, -1, q, h, 1, w, 1)
}

func first(norms []float64, r float64) float64 {
	if len(norms) == 0 {
		return r
	}
	return norms[0]
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
