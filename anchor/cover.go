package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/recover/scls"
)

// coverTol is the default distance of a row from the anchors' hull or cone, relative to
// the longest row, below which they explain it. Distances are square roots of differences
// of squares: below √(Kε) ≈ 1e-7 they are rounding.
const coverTol = 1e-6

// cover grows the convex hull of anchors and origin, or their cone, until it covers all
// rows.
//
// The nearest point of the hull is that of a simplex with one more corner, the origin. So
// is that of the cone, if the anchors are scaled up so far that the origin keeps some
// weight: then the bound on the coefficients does not matter. Instead of the anchors, the
// row is scaled down by its bound, so that all rows share one Gram matrix.
type cover struct {
	*search
	tol     float64
	cone    bool
	weights []float64 // of the rows' distances; nil: 1
	words   []int     // the open words at first: the rows to be covered
	norms   []float64 // ‖c̄_i‖² of these
	points  *mat.Dense
	gram    *mat.SymDense // of the origin, first, and the anchors
	f, y    *mat.Dense    // len(words)×(K+1): products and coefficients, over bound
	bound   []float64     // the coefficients of a word sum to at most this
	dist    []float64     // squared distances, of all N words
	x, p    *mat.Dense
}

func newCover(s *search, tol float64, cone bool, weights []float64) *cover {
	c := &cover{search: s, tol: cmp.Or(tol, coverTol), cone: cone, weights: weights, dist: make([]float64, s.n), x: mat.NewDense(s.d, 1, nil), p: mat.NewDense(s.n, 1, nil)}
	c.largest = 0
	for i, ok := range s.open {
		if ok {
			c.words, c.norms = append(c.words, i), append(c.norms, s.u[i])
			c.dist[i] = c.weigh(i, s.u[i])
			c.largest = max(c.largest, c.dist[i])
		}
	}
	m := len(c.words)
	c.points, c.gram = mat.NewDense(s.k, s.d, nil), mat.NewSymDense(s.k+1, nil)
	if m > 0 {
		c.f, c.y = mat.NewDense(m, s.k+1, nil), mat.NewDense(m, s.k+1, nil)
	}
	c.bound = make([]float64, m)
	for i := range c.bound {
		c.y.Set(i, 0, 1)
		c.bound[i] = c.firstBound()
	}
	return c
}

// weigh is the squared distance of word i as it is compared.
func (c *cover) weigh(i int, v float64) float64 {
	if c.weights != nil {
		v *= c.weights[i] * c.weights[i]
	}
	return v
}

func (c *cover) run(ctx context.Context) (*Result, error) {
	of := "convex hull"
	if c.cone {
		of = "cone"
	}
	first := math.Sqrt(c.largest)
	for len(c.res.Anchors) < c.k {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		t := len(c.res.Anchors)
		var w int
		var r float64
		if t < len(c.given) {
			w = c.given[t]
			c.rowTo(c.x.RawMatrix().Data, t, w)
			var err error
			if r, err = c.reach(ctx, t, w); err != nil {
				return nil, err
			}
		} else {
			w = best(c.dist, c.open, c.largest)
			if w >= 0 {
				r = math.Sqrt(c.dist[w])
			}
			if w < 0 || r <= c.tol*first {
				if c.admit.allowFewer && t > 0 {
					break
				}
				return nil, &RankError{Rank: t, K: c.k, Of: of, Norm: r, First: first}
			}
			if c.cone {
				var err error
				if w, err = c.along(ctx, w); err != nil {
					return nil, err
				}
			}
			c.rowTo(c.x.RawMatrix().Data, t, w)
		}
		if err := c.add(ctx, t); err != nil {
			return nil, err
		}
		c.take(w, r)
	}
	return c.res, ctx.Err()
}

// reach is the distance of a given anchor, in x, from the hull or cone of those
// before it.
func (c *cover) reach(ctx context.Context, t, w int) (float64, error) {
	x := c.x.RawMatrix().Data
	size := vec.Norm(x)
	if t == 0 {
		return size, nil
	}
	f, y, bound := mat.NewDense(1, t+1, nil), mat.NewDense(1, t+1, nil), []float64{c.firstBound()}
	y.Set(0, 0, 1)
	for a := range t {
		f.Set(0, a+1, vec.Dot(c.points.RawRowView(a), x)/bound[0])
	}
	obj, err := c.solve(ctx, f, y, bound)
	if err != nil {
		return 0, err
	}
	r := math.Sqrt(max(float64(size*size)+float64(2*obj[0]*bound[0]*bound[0]), 0))
	if r <= c.tol*size {
		return 0, &givenError{t, w, fmt.Sprintf("those given before explain its row (%.3g from it, the row is %.3g long)", r, size)}
	}
	return r, nil
}

// along returns the open word whose row goes farthest along the residual of
// word w.
func (c *cover) along(ctx context.Context, w int) (int, error) {
	i, _ := slices.BinarySearch(c.words, w)
	x := c.x.RawMatrix().Data
	c.rows.RowTo(x, w)
	for a := range c.res.Anchors {
		if y := c.bound[i] * c.y.At(i, a+1); y != 0 {
			vec.AddScaled(x, -y, c.points.RawRowView(a))
		}
	}
	if err := c.rows.MulTo(ctx, c.p, c.x, c.opt.Workers); err != nil {
		return 0, fmt.Errorf("anchor: %w", err)
	}
	if s := best(c.p.RawMatrix().Data, c.open, slices.Max(c.norms)); s >= 0 {
		return s, nil
	}
	return w, nil // rounding: its own product is the square of its distance
}

// add takes the point x in as anchor t and brings the distances up to date.
func (c *cover) add(ctx context.Context, t int) error {
	x := c.x.RawMatrix().Data
	copy(c.points.RawRowView(t), x)
	for a := range t + 1 {
		c.gram.SetSym(a+1, t+1, vec.Dot(c.points.RawRowView(a), x))
	}
	m := len(c.words)
	if t+1 == c.k || m == 0 {
		return nil // the distances are not needed any more
	}
	if err := c.rows.MulTo(ctx, c.p, c.x, c.opt.Workers); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	for i, w := range c.words {
		c.f.Set(i, t+1, c.p.At(w, 0)/c.bound[i])
	}
	f, y := c.f.Slice(0, m, 0, t+2).(*mat.Dense), c.y.Slice(0, m, 0, t+2).(*mat.Dense)
	obj, err := c.solve(ctx, f, y, c.bound)
	if err != nil {
		return err
	}
	for i, w := range c.words {
		c.dist[w] = c.weigh(w, max(c.norms[i]+float64(2*obj[i]*c.bound[i]*c.bound[i]), 0))
	}
	return nil
}

// firstBound is the first bound on the sum of the coefficients. Rows of C̄ sum to 1, so
// that those of a cone seldom exceed 2.
func (c *cover) firstBound() float64 {
	if c.cone {
		return 2
	}
	return 1
}

// solve brings y (over bound) to the minimum for products f (over bound), and returns
// ½yᵀGy − fᵀy. For a cone it raises bounds that are reached.
func (c *cover) solve(ctx context.Context, f, y *mat.Dense, bound []float64) ([]float64, error) {
	m, k := f.Dims()
	g := c.gram.SliceSym(0, k)
	obj, err := c.nearest(ctx, g, f, y)
	if err != nil {
		return nil, err
	}
	if !c.cone {
		return obj, nil
	}
	const (
		none  = 1e-9 // a weight of the origin that is zero
		raise = 4
		limit = 1e9
	)
	for {
		var tight []int
		for i := range m {
			if y.At(i, 0) < none {
				tight = append(tight, i)
			}
		}
		if tight == nil {
			return obj, nil
		}
		ft, yt := mat.NewDense(len(tight), k, nil), mat.NewDense(len(tight), k, nil)
		for a, i := range tight {
			if bound[i] *= raise; bound[i] > limit {
				return nil, fmt.Errorf("anchor: XRAY: the rows of the anchors cancel: a row of the cone has coefficients that sum to more than %g", limit)
			}
			yt.Set(a, 0, 1)
			for j := 1; j < k; j++ {
				f.Set(i, j, f.At(i, j)/raise)
				ft.Set(a, j, f.At(i, j))
				v := float64(y.At(i, j) / raise)
				yt.Set(a, j, v)
				yt.Set(a, 0, yt.At(a, 0)-v)
			}
		}
		part, err := c.nearest(ctx, g, ft, yt)
		if err != nil {
			return nil, err
		}
		for a, i := range tight {
			y.SetRow(i, yt.RawRowView(a))
			obj[i] = part[a]
		}
	}
}

// nearest solves the problems on the simplex, exactly, from the points in y, and returns
// their minima.
func (c *cover) nearest(ctx context.Context, g mat.Symmetric, f, y *mat.Dense) ([]float64, error) {
	res, err := scls.ActiveSet{}.Solve(ctx, g, f, y, scls.Options{Workers: c.opt.Workers, Warm: true})
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	limited := 0
	for _, s := range res.Status {
		if s == scls.IterationLimit {
			limited++
		}
	}
	if limited > 0 {
		return nil, fmt.Errorf("anchor: the solver hit its iteration limit for %d rows: how far they are from the anchors is not known", limited)
	}
	return res.Objective, nil
}
