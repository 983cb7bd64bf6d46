package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/run"
)

const (
	// DefaultLPWords is the largest number of candidates LP takes.
	DefaultLPWords = 100
	// DefaultLPTol is the ℓ₁ distance, relative to the longest row, below which
	// LP counts rows as equal or as lying in the hull of others.
	DefaultLPTol = 1e-6
)

// LP finds the anchors of 2012, by which arora-2013 §4 measures its own: for
// each word a linear program tells how far, in the ℓ₁ norm, its row is from the
// convex hull of the rows of all others. Words whose row is outside are
// corners; those that have the same row as a corner already taken are the same
// corner. The K corners farthest from the rest are the anchors, in this order,
// and the distances are the Norms of the result.
//
// That is exact, needs no order in which anchors are found, and on separable
// data says how many there are. With noise nearly every word is a corner of its
// own. It is slow: a linear program has as many equations as the rows have
// dimensions, and takes the cube of it a step. It is for small vocabularies and
// to check other finders by. The ℓ₁ norm is that of the coordinates the rows
// are given in: those of words, but for a low-rank picture (cooc.LAW).
//
// It finds all anchors or none, so does not complete a partial set (ErrPartial).
type LP struct {
	// MaxWords is the largest number of candidates; more are refused. 0 means
	// DefaultLPWords. Thirty words take some tenths of a second of one core,
	// sixty 3 to 8, and the time grows with more than the fourth power; that of
	// a low-rank picture of ten dimensions is seventy times less at sixty words.
	MaxWords int
	// Tol is the distance, as a fraction of the largest ℓ₁ norm of a row (1 for rows
	// of C̄), above which a row is outside of the hull of the others, and up to
	// which rows count as the same, in [0, 1). 0 means DefaultLPTol. The larger,
	// the more words with nearly the same row share a corner.
	Tol float64
	// MinDocs and MinDocFraction are those of QR; words with fewer documents take
	// no part in the hull.
	MinDocs        int
	MinDocFraction float64
	// AllowFewer returns the corners there are where these are fewer than k.
	// Otherwise that is a *CoverError.
	AllowFewer bool
}

func (l LP) String() string {
	opts := describeCover(l.admit(), l.Tol)
	if l.MaxWords > 0 {
		opts = append([]string{fmt.Sprintf("max words=%d", l.MaxWords)}, opts...)
	}
	return withOptions("LP", opts)
}

func (l LP) admit() admit { return admit{l.MinDocs, l.MinDocFraction, l.AllowFewer} }

// Validate reports settings out of range.
func (l LP) Validate() error {
	if l.MaxWords < 0 {
		return fmt.Errorf("anchor: LP: MaxWords %d is negative", l.MaxWords)
	}
	return validateCover("LP", l.admit(), l.Tol)
}

// SizeError says that there are too many words for a method.
type SizeError struct {
	Method     string
	Words, Max int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("anchor: %s: %d candidates are more than %d, which it would take too long for; admit fewer words or raise MaxWords", e.Method, e.Words, e.Max)
}

// LPError says that a linear program could not be solved.
type LPError struct {
	Word int
	Err  error // of gonum's lp
}

func (e *LPError) Error() string {
	return fmt.Sprintf("anchor: the linear program of word %d: %v", e.Word, e.Err)
}

// Unwrap returns the error of gonum's lp.
func (e *LPError) Unwrap() error { return e.Err }

// Find implements Finder. opt.Progress is called once an anchor, at the end. A
// program that has begun is not interrupted. Errors: settings out of range, a
// document-frequency bound without opt.DocFrequencies, *SizeError,
// *CandidateError, *CoverError, *LPError, ErrPartial, ctx's.
func (l LP) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if opt.Partial != nil {
		return nil, fmt.Errorf("anchor: LP: %w", ErrPartial)
	}
	s, err := begin(ctx, "LP", rows, k, l.admit(), opt)
	if err != nil {
		return nil, err
	}
	most := l.MaxWords
	if most == 0 {
		most = DefaultLPWords
	}
	if s.res.Candidates > most {
		return nil, &SizeError{"LP", s.res.Candidates, most}
	}
	var words []int
	for i, ok := range s.open {
		if ok {
			words = append(words, i)
		}
	}
	points := mat.NewDense(len(words), s.d, nil)
	longest := 0.0
	for i, w := range words {
		rows.RowTo(points.RawRowView(i), w)
		longest = max(longest, mat.Norm(points.RowView(i), 1))
	}
	tol := l.Tol
	if tol == 0 {
		tol = DefaultLPTol
	}
	tol *= longest
	dist := make([]float64, len(words))
	err = run.Chunks(ctx, len(words), 1, opt.Workers, func(_, i, _, _ int) error {
		var err error
		if dist[i], err = hullDistance(points, i, tol); err != nil {
			return &LPError{words[i], err}
		}
		return nil
	})
	if err != nil {
		if le, ok := err.(*LPError); ok {
			return nil, le
		}
		return nil, fmt.Errorf("anchor: %w", err)
	}
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	// Twins have the same program, and so the same distance.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(dist[b], dist[a]) })
	var taken []int
	next := 0.0
	for _, i := range order {
		if dist[i] <= tol {
			next = dist[i]
			break
		}
		if !slices.ContainsFunc(taken, func(j int) bool { return apart(points, i, j) <= tol }) {
			if len(taken) == k {
				break
			}
			taken = append(taken, i)
		}
	}
	if len(taken) < k && (!l.AllowFewer || len(taken) == 0) {
		return nil, &CoverError{Found: len(taken), K: k, Distance: next, First: longest, Of: "convex hull"}
	}
	for _, i := range taken {
		s.take(words[i], dist[i])
	}
	return s.res, ctx.Err()
}

// apart is the ℓ₁ distance of two points.
func apart(points *mat.Dense, i, j int) float64 {
	sum := 0.0
	b := points.RawRowView(j)
	for t, v := range points.RawRowView(i) {
		sum += math.Abs(v - b[t])
	}
	return sum
}

// hullDistance is the ℓ₁ distance of point i from the convex hull of those that
// are farther than tol from it, or from the origin where there is none:
//
//	min Σ(e⁺ + e⁻)  subject to  Σ_j y_j x_j + e⁺ − e⁻ = x_i, Σ_j y_j = 1, all ≥ 0.
//
// Where rows have a low rank that program is degenerate, and the simplex method
// of gonum goes round in circles for ever. So x_i is moved by a little, each
// coordinate by another amount, at most a hundredth of tol in all, which is as
// far as the distance may be off.
func hullDistance(points *mat.Dense, i int, tol float64) (float64, error) {
	n, d := points.Dims()
	var others []int
	nearest, least := 0, math.Inf(1)
	for j := range n {
		if v := apart(points, i, j); v > tol {
			if v < least {
				nearest, least = len(others), v
			}
			others = append(others, j)
		}
	}
	if others == nil {
		return mat.Norm(points.RowView(i), 1), nil
	}
	m := len(others)
	a := mat.NewDense(d+1, m+2*d, nil)
	b, c := make([]float64, d+1), make([]float64, m+2*d)
	rng := rand.New(rand.NewPCG(0, 0x1b)) // the same for all, so that twins stay twins
	for t, v := range points.RawRowView(i) {
		b[t] = v + tol/100*(0.5+0.5*rng.Float64())/float64(d)
	}
	b[d] = 1
	for y, j := range others {
		for t, v := range points.RawRowView(j) {
			a.Set(t, y, v)
		}
		a.Set(d, y, 1)
	}
	// The nearest point and the signs of the differences make a first corner.
	basic := make([]int, d+1)
	basic[d] = nearest
	for t := range d {
		a.Set(t, m+t, 1)
		a.Set(t, m+d+t, -1)
		c[m+t], c[m+d+t] = 1, 1
		basic[t] = m + t
		if b[t] < a.At(t, nearest) {
			basic[t] = m + d + t
		}
	}
	v, _, err := lp.Simplex(c, a, b, 1e-12, basic)
	if err != nil {
		return 0, err
	}
	return v, nil
}
