package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/lp"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// LP finds the anchors of arora-2012, by which arora-2013 §4 measures its own. A linear
// program for each word finds how far, in the ℓ₁ norm, its row is from the convex hull of
// the rows of all others. Words whose row is outside are corners; those with the same row
// as a corner already taken are the same corner. The K corners farthest from the rest are
// the anchors, in this order, and the distances are the Norms of the result. The
// coordinates are those of the rows: words, or the columns of a low-rank representation
// ([cooc.LowRankSparse.LAW]).
//
// The method is exact, does not depend on the order in which anchors are found, and on
// separable data gives their number. With noise nearly every word is a corner of its own.
// It is for small vocabularies and to check other finders by. It cannot complete the
// anchors of Fixed and Tandem, and ignores Options.Prefer.
//
// Cost: a linear program a word, with a variable for each dimension of the rows and a
// constraint for each candidate.
type LP struct {
	// MaxWords is the largest number of candidates; more are refused. 0 means 100.
	MaxWords int
	// Tol is the distance, as a fraction of the largest ℓ₁ norm of a row (1 for rows of
	// C̄), above which a row is outside of the hull of the others, and up to which rows are
	// the same corner, in [0, 1). 0 means 1e-6.
	Tol float64
	// MinDocs, MinDocFraction and AllowFewer are those of QR; words in fewer documents take
	// no part in the hull.
	MinDocs        int
	MinDocFraction float64
	AllowFewer     bool
}

func (l LP) String() string {
	var opts []string
	if l.MaxWords > 0 {
		opts = []string{fmt.Sprintf("max words=%d", l.MaxWords)}
	}
	return withOptions("LP", l.admit().describe(opts, "tol", l.Tol))
}

func (l LP) admit() admit { return admit{l.MinDocs, l.MinDocFraction, l.AllowFewer} }

// Validate reports settings out of range.
func (l LP) Validate() error {
	if l.MaxWords < 0 {
		return fmt.Errorf("anchor: LP: MaxWords %d is negative", l.MaxWords)
	}
	return l.admit().validate("LP", "Tol", l.Tol)
}

// Find implements Finder. opt.Progress is called once an anchor, at the end. ctx is
// checked at each step of the linear programs. Errors: those of [QR], more candidates than
// MaxWords, a linear program that comes to no end.
func (l LP) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := opt.refuse("LP"); err != nil {
		return nil, err
	}
	s, err := begin(ctx, "LP", rows, k, l.admit(), opt)
	if err != nil {
		return nil, err
	}
	if limit := cmp.Or(l.MaxWords, 100); s.res.Candidates > limit {
		return nil, fmt.Errorf("anchor: LP: %d candidates are more than %d, which it would take too long for; admit fewer words or raise MaxWords", s.res.Candidates, limit)
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
	tol := cmp.Or(l.Tol, 1e-6) * longest
	dist := make([]float64, len(words))
	err = parallel.Chunks(ctx, len(words), 1, opt.Workers, func(_, i, _, _ int) error {
		var err error
		if dist[i], err = hullDistance(ctx, points, i, tol, longest); err != nil {
			return fmt.Errorf("the linear program of word %d: %w", words[i], err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("anchor: LP: %w", err)
	}
	var taken []int
	next := 0.0
	// Twins have the same program, and so the same distance.
	for _, i := range vec.Order(len(words), func(i int) float64 { return dist[i] }) {
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
		return nil, &RankError{Rank: len(taken), K: k, Of: "convex hull", Norm: next, First: longest}
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
//	min ‖x_i − Σ_j y_j x_j‖₁  subject to  Σ_j y_j = 1, y ≥ 0,
//
// by its dual, the widest gap between the point and the others along a direction z,
//
//	max x_iᵀz + w  subject to  |z_t| ≤ 1, x_jᵀz + w ≤ 0.
//
// Where rows have a low rank or many zeros, many directions are equally good. So
// x_i is moved by a little, each coordinate by another amount, at most a hundredth
// of tol in all, which is as far as the distance may be off.
func hullDistance(ctx context.Context, points *mat.Dense, i int, tol, longest float64) (float64, error) {
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
	// All is divided by the longest norm, so that x_jᵀz + w ≥ −2 where w is best.
	m := len(others)
	pr := lp.Problem{G: linalg.NewGeneral(m, d+1), Lo: make([]float64, d+1), Hi: make([]float64, d+1), RowLo: make([]float64, m), RowHi: make([]float64, m)}
	for r, j := range others {
		g := linalg.Row(pr.G, r)
		floats.ScaleTo(g[:d], 1/longest, points.RawRowView(j))
		g[d], pr.RowLo[r] = 1, -3
	}
	c := make([]float64, d+1)
	floats.ScaleTo(c[:d], 1/longest, points.RawRowView(i))
	lp.Perturb(c[:d], tol/100/float64(d)/longest)
	for t := range d {
		pr.Lo[t], pr.Hi[t] = -1, 1
	}
	c[d], pr.Lo[d], pr.Hi[d] = 1, math.Inf(-1), math.Inf(1)
	s := lp.New(&pr, []int{nearest}, []int{d})
	if err := s.Solve(ctx, c); err != nil {
		return 0, err
	}
	return floats.Dot(c, s.X) * longest, nil
}
