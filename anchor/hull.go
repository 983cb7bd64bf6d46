package anchor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/convex"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// Defaults of Hull.
const (
	DefaultHullDims      = 3
	DefaultHullInputDims = 50
)

// Hull embeds the rows of C̄ in a few dimensions and takes the vertices of the
// exact convex hull of what comes out (lee-2018, chapter 1), where the greedy
// methods look for an approximate hull of the rows themselves. There it found more
// frequent words than QR, with topics that differ more, and the picture shows
// why a word was chosen.
//
// The embedding is linear, by principal components, or, with TSNE, by t-SNE,
// which keeps neighbours together. How many vertices there are is an outcome; it
// grows with the dimension. They come in the order of their distance from the
// centroid, the mean of the candidates, farthest first. Find returns the first k
// of them, or with All, or k = 0, all.
//
// If the data is separable, K topics span K−1 dimensions: principal components
// of Dims: K−1 find the anchors exactly.
//
// In a Pipeline, k is the rank of the rectification in any case, and with All
// the model has as many topics as there are vertices. If these are more than k
// and the rectified matrix has rank k (ENN, LR, PALM, TruncatedEig), p(topic |
// word) is not unique: a larger k or rectify.None avoids that.
//
// Cost: PCA some 100 products with C̄ and its transpose, for t-SNE some 250;
// t-SNE see tsne.Embed; the hull about N·H·Dims operations for H vertices, and H times
// the number of facets. The zero value is the hull of the principal components
// in three dimensions. Safe for concurrent use.
type Hull struct {
	// Dims is the dimension of the embedding, at least 1; 0 means 3, as in
	// lee-2018. With TSNE it is 2 or 3.
	Dims int
	// TSNE, if not nil, asks for t-SNE with these settings, of which Dims may
	// be left 0 and Workers is not used; Init has a position for each word that
	// has a row. Options.Seed is added to Seed. Another one gives another
	// embedding, and some other anchors.
	TSNE *tsne.Settings
	// InputDims is the number of principal components that t-SNE starts from,
	// or all there are where these are fewer; 0 means 50.
	InputDims int
	// Tol is the distance, as a fraction of that of the farthest point from the
	// mean, up to which a point counts as lying in the hull of the others. In
	// [1e-12, 0.1]; 0 means 1e-9, which is above the rounding of a fit.
	Tol float64
	// MaxFacets bounds the facets of the hull, whose number grows with the
	// power ⌊Dims/2⌋ of that of the vertices; more are a *FacetLimitError. 0
	// means 500,000; negative: facets are not computed, which lets Dims be
	// larger.
	MaxFacets int
	// All returns all vertices, whatever the k of Find is.
	All bool
	// MinDocs admits only words that occur in at least so many documents as
	// anchors; lee-2018 asks for 4. 0: all. The embedding has all words, the
	// hull is that of those admitted.
	MinDocs int
	// MinDocFraction does the same by a fraction of the documents, in [0, 1].
	// Where both are set the larger bound holds.
	MinDocFraction float64
	// AllowFewer returns all vertices where there are fewer than k. Otherwise
	// that is a *VerticesError.
	AllowFewer bool
}

// Embedding is the picture in which Hull found the anchors. Words are called by
// the number of their row.
type Embedding struct {
	Method string // "PCA" or "t-SNE"
	// Points are the positions, N×Dims. The coordinates of a word with an empty
	// row are NaN: it has no position.
	Points *mat.Dense
	// Vertices are all vertices of the hull of the candidates, the farthest
	// from the centroid first, and Distances how far they are from it.
	Vertices  []int
	Distances []float64
	Centroid  []float64 // the mean of the candidates' positions
	// Facets are simplices of Dims words each, for drawing: in the plane the
	// edges in counterclockwise order, in space triangles whose vertices run
	// counterclockwise as seen from outside. A face with more corners comes in
	// several. nil with MaxFacets < 0.
	Facets [][]int
	// Singular are the singular values of C̄ less the mean row, as many as
	// principal components were used: the lengths of the columns of Points,
	// or the input of t-SNE.
	Singular []float64
	// KL is the divergence on the way of t-SNE; nil for PCA.
	KL []tsne.Divergence
}

// VerticesError says that the hull has fewer vertices than anchors were asked
// for.
type VerticesError struct {
	Vertices, K int
	Method      string // of the embedding
	Dims        int
}

func (e *VerticesError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but the hull of the %s embedding in %d dimensions has %d vertices; ask for fewer, or for more dimensions", e.K, e.Method, e.Dims, e.Vertices)
}

// DimensionError says that what is embedded has fewer dimensions than it was to
// be embedded in.
type DimensionError struct {
	Method string // of the embedding
	// Dims were asked for; Found is the dimension of the smallest flat with all
	// points: 0 where they are the same, 1 on a line, 2 in a plane.
	Dims, Found int
	Words       int // how many there are
}

func (e *DimensionError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("anchor: a hull in %d dimensions asked for, but the rows of all %d words are the same (%s)", e.Dims, e.Words, e.Method)
	}
	return fmt.Sprintf("anchor: a hull in %d dimensions asked for, but the rows of the %d words lie in a flat of %d (%s); ask for at most %d", e.Dims, e.Words, e.Found, e.Method, e.Found)
}

// FacetLimitError says that the hull has more facets than Hull.MaxFacets.
type FacetLimitError struct {
	Dims, Vertices int
	Facets, Max    int // Facets is how many there were when it was given up
}

func (e *FacetLimitError) Error() string {
	return fmt.Sprintf("anchor: the hull of %d vertices in %d dimensions has more than %d facets, at most %d are allowed; ask for fewer dimensions, or for no facets (MaxFacets −1)", e.Vertices, e.Dims, e.Facets-1, e.Max)
}

func (h Hull) method() string {
	if h.TSNE != nil {
		return "t-SNE"
	}
	return "PCA"
}

func (h Hull) dims() int {
	if h.Dims == 0 {
		return DefaultHullDims
	}
	return h.Dims
}

func (h Hull) String() string {
	opts := []string{h.method(), fmt.Sprintf("dims=%d", h.dims())}
	if t := h.TSNE; t != nil {
		for _, o := range []struct {
			name string
			v    float64
		}{
			{"perplexity", t.Perplexity}, {"iterations", float64(t.Iterations)}, {"exaggeration", t.Exaggeration},
			{"exaggeration iterations", float64(t.ExaggerationIterations)}, {"learning rate", t.LearningRate}, {"theta", t.Theta},
			{"input dims", float64(h.InputDims)},
		} {
			if o.v != 0 {
				opts = append(opts, fmt.Sprintf("%s=%g", o.name, o.v))
			}
		}
		if t.Init != nil {
			opts = append(opts, "start given")
		} else {
			opts = append(opts, fmt.Sprintf("seed=%d", t.Seed))
		}
	}
	if h.Tol > 0 {
		opts = append(opts, fmt.Sprintf("tol=%g", h.Tol))
	}
	if h.All {
		opts = append(opts, "all vertices")
	}
	opts = append(opts, h.admit().describe()...)
	if h.AllowFewer {
		opts = append(opts, "allow fewer")
	}
	return withOptions("Hull", opts)
}

func (h Hull) admit() admit { return admit{h.MinDocs, h.MinDocFraction, h.AllowFewer} }

// ChoosesK says that the number of anchors does not depend on the k of Find.
func (h Hull) ChoosesK() bool { return h.All }

// Validate reports settings out of range.
func (h Hull) Validate() error {
	switch {
	case h.Dims < 0:
		return fmt.Errorf("anchor: Hull: %d dimensions", h.Dims)
	case h.Tol != 0 && !(h.Tol >= convex.MinTol && h.Tol <= 0.1):
		return fmt.Errorf("anchor: Hull: Tol %g is not in [%g, 0.1]", h.Tol, convex.MinTol)
	case h.admit().bad():
		return fmt.Errorf("anchor: Hull: MinDocs %d, MinDocFraction %g out of range", h.MinDocs, h.MinDocFraction)
	case h.TSNE == nil && h.InputDims != 0:
		return fmt.Errorf("anchor: Hull: InputDims %d are of use for t-SNE only", h.InputDims)
	case h.InputDims < 0 || h.InputDims > 0 && h.InputDims < h.dims():
		return fmt.Errorf("anchor: Hull: t-SNE from %d dimensions to %d", h.InputDims, h.dims())
	}
	if h.TSNE == nil {
		return nil
	}
	if h.TSNE.Dims != 0 && h.TSNE.Dims != h.dims() {
		return fmt.Errorf("anchor: Hull: t-SNE in %d dimensions for a hull in %d", h.TSNE.Dims, h.dims())
	}
	if err := h.tsne(Options{}).Validate(); err != nil {
		return fmt.Errorf("anchor: Hull: %w", err)
	}
	return nil
}

func (h Hull) tsne(opt Options) tsne.Settings {
	s := *h.TSNE
	s.Dims, s.Workers = h.dims(), opt.Workers
	s.Seed += opt.Seed
	return s
}

// Find implements Finder. k = 0 asks for all vertices. The Result has an
// Embedding and no Norms; opt.Progress is told the distances from the centroid,
// and TSNE.Progress of the embedding. Errors: settings out of range, a document
// frequency bound without opt.DocFrequencies, ErrPartial where some anchors are
// given, *CandidateError, *DimensionError,
// *VerticesError, *FacetLimitError, principal components that were not found,
// those of tsne.Embed, ctx's.
func (h Hull) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	n, _ := rows.Dims()
	if k < 0 || k > n {
		return nil, fmt.Errorf("anchor: K = %d is not in [0, %d], the number of words", k, n)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if opt.Partial != nil {
		return nil, fmt.Errorf("anchor: Hull: %w", ErrPartial)
	}
	filled, candidates, err := h.candidates(ctx, rows, k, opt)
	if err != nil {
		return nil, err
	}
	e := &Embedding{Method: h.method()}
	points, err := h.embed(ctx, rows, filled, e, opt)
	if err != nil {
		return nil, err
	}
	// The positions of the candidates; both lists of words ascend.
	d := h.dims()
	x := mat.NewDense(len(candidates), d, nil)
	e.Points = mat.NewDense(n, d, nil)
	nan := make([]float64, d)
	for j := range nan {
		nan[j] = math.NaN()
	}
	for i := range n {
		e.Points.SetRow(i, nan)
	}
	for t, w := range filled {
		e.Points.SetRow(w, points.RawRowView(t))
	}
	for t, w := range candidates {
		x.SetRow(t, e.Points.RawRowView(w))
	}
	if err := h.hull(ctx, x, candidates, e); err != nil {
		return nil, err
	}
	res := &Result{Candidates: len(candidates), Embedding: e}
	take := len(e.Vertices)
	if !h.All && k > 0 {
		if take < k && !h.AllowFewer {
			return nil, &VerticesError{Vertices: take, K: k, Method: e.Method, Dims: d}
		}
		take = min(take, k)
	}
	res.Anchors = append(res.Anchors, e.Vertices[:take]...)
	if opt.Progress != nil {
		for t := range take {
			opt.Progress(t+1, take, e.Distances[t])
		}
	}
	return res, nil
}

// candidates returns the words that have a row, and of them those that may be
// anchors, both ascending.
func (h Hull) candidates(ctx context.Context, rows cooc.Rows, k int, opt Options) (filled, admitted []int, err error) {
	if h.All {
		k = 0
	}
	s, err := begin(ctx, "Hull", rows, max(k, 1), h.admit(), opt)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range s.u {
		if v > 0 {
			filled = append(filled, i)
		}
		if s.open[i] {
			admitted = append(admitted, i)
		}
	}
	return filled, admitted, nil
}

// embed returns the positions of the words that have a row.
func (h Hull) embed(ctx context.Context, rows cooc.Rows, filled []int, e *Embedding, opt Options) (*mat.Dense, error) {
	d, want := h.dims(), h.dims()
	if h.TSNE != nil {
		want = h.InputDims
		if want == 0 {
			want = DefaultHullInputDims
		}
	}
	scores, sigma, err := principalComponents(ctx, rows, filled, want, opt.Workers)
	if err != nil {
		return nil, err
	}
	e.Singular = sigma
	if h.TSNE == nil {
		if len(sigma) < d {
			return nil, &DimensionError{Method: e.Method, Dims: d, Found: len(sigma), Words: len(filled)}
		}
		return scores, nil
	}
	if len(sigma) == 0 {
		return nil, &DimensionError{Method: e.Method, Dims: d, Words: len(filled)}
	}
	r, err := tsne.Embed(ctx, scores, h.tsne(opt))
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	e.KL = r.KL
	return r.Points, nil
}

// hull finds the hull of the positions x of the given words.
func (h Hull) hull(ctx context.Context, x *mat.Dense, words []int, e *Embedding) error {
	n, d := x.Dims()
	o := convex.Options{Tol: h.Tol, MaxFacets: max(h.MaxFacets, 0), NoFacets: h.MaxFacets < 0}
	c, err := convex.New(ctx, x, o)
	switch err := err.(type) {
	case nil:
	case *convex.DimensionError:
		return &DimensionError{Method: e.Method, Dims: d, Found: err.Found, Words: n}
	case *convex.FacetError:
		return &FacetLimitError{Dims: d, Vertices: err.Vertices, Facets: err.Facets, Max: err.Max}
	default:
		return fmt.Errorf("anchor: %w", err)
	}
	e.Centroid = make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			e.Centroid[j] += v / float64(n)
		}
	}
	dist := make([]float64, len(c.Vertices))
	for t, i := range c.Vertices {
		s := 0.0
		for j, v := range x.RawRowView(i) {
			s += (v - e.Centroid[j]) * (v - e.Centroid[j])
		}
		dist[t] = math.Sqrt(s)
	}
	// The farthest first; of those equally far, to rounding, the lowest number.
	const equal = 1e-9
	for range dist {
		best := -1.0
		for _, v := range dist {
			best = max(best, v)
		}
		for t, v := range dist {
			if v >= 0 && v >= best*(1-equal) {
				e.Vertices = append(e.Vertices, words[c.Vertices[t]])
				e.Distances = append(e.Distances, v)
				dist[t] = -1
				break
			}
		}
	}
	for _, f := range c.Facets {
		for j := range f {
			f[j] = words[f[j]]
		}
	}
	e.Facets = c.Facets
	return nil
}

// principalComponents returns the scores of the given rows of C̄ on their first
// p principal components, the columns of (C̄ − 1·mean)·V with V the leading right
// singular vectors, and the singular values. The entry of largest size of a
// column is positive. Where the rows span fewer dimensions, singular values
// above 1e-7 of the first, there are as many columns.
//
// V are eigenvectors of the d×d matrix of the centred rows, by Lanczos; the
// scores are exact to the rounding of the rows, not of its square.
func principalComponents(ctx context.Context, rows cooc.Rows, words []int, p, workers int) (*mat.Dense, []float64, error) {
	n, d := rows.Dims()
	p = min(p, d)
	centre := func(y *mat.Dense) error {
		// Rows that are not among words are left out.
		_, q := y.Dims()
		used := make([]bool, n)
		mean := make([]float64, q)
		for _, i := range words {
			used[i] = true
			for j, v := range y.RawRowView(i) {
				mean[j] += v
			}
		}
		for j := range mean {
			mean[j] /= float64(len(words))
		}
		return run.Chunks(ctx, n, 1024, workers, func(_, _, lo, hi int) error {
			for i := lo; i < hi; i++ {
				row := y.RawRowView(i)
				if !used[i] {
					clear(row)
					continue
				}
				for j := range row {
					row[j] -= mean[j]
				}
			}
			return nil
		})
	}
	project := func(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
		_, q := x.Dims()
		y := mat.NewDense(n, q, nil)
		if err := rows.MulTo(ctx, y, x, workers); err != nil {
			return nil, err
		}
		return y, centre(y)
	}
	op := func(ctx context.Context, dst, x blas64.General) error {
		y, err := project(ctx, asDense(x))
		if err != nil {
			return err
		}
		return cooc.MulTransTo(ctx, rows, asDense(dst), y, workers)
	}
	theta, v, st, err := linalg.Lanczos(ctx, d, op, linalg.LanczosOptions{Pairs: p, Tol: 1e-9, MaxRestarts: 60, Block: 8, Workers: workers})
	if err != nil {
		return nil, nil, fmt.Errorf("anchor: principal components: %w", err)
	}
	basis := mat.NewDense(d, p, nil)
	for j := range p {
		for i, x := range linalg.Row(v, j) {
			basis.Set(i, j, x)
		}
	}
	y, err := project(ctx, basis)
	if err != nil {
		return nil, nil, fmt.Errorf("anchor: %w", err)
	}
	// Rows that differ by rounding only have no components at all.
	norms2, err := rows.Norms2(ctx, workers)
	if err != nil {
		return nil, nil, fmt.Errorf("anchor: %w", err)
	}
	total := 0.0
	for _, i := range words {
		total += norms2[i]
	}
	floor := 1e-12 * math.Sqrt(total)
	var sigma []float64
	for j := range p {
		s := 0.0
		for i := range n {
			s += y.At(i, j) * y.At(i, j)
		}
		s = math.Sqrt(s)
		if s <= floor || len(sigma) > 0 && s <= DefaultRankTol*sigma[0] {
			break
		}
		sigma = append(sigma, s)
	}
	if len(sigma) == 0 {
		return nil, nil, nil
	}
	// Where there are fewer dimensions than p the last pairs are rounding.
	if !st.Converged && st.Residual > 1e-13*theta[0] {
		return nil, nil, fmt.Errorf("anchor: the %d first principal components were not found in %d restarts: the residual is %.2g of the first", p, st.Restarts, st.Residual/theta[0])
	}
	scores := mat.NewDense(len(words), len(sigma), nil)
	for j := range sigma {
		largest, sign := 0.0, 1.0
		for t, i := range words {
			v := y.At(i, j)
			scores.Set(t, j, v)
			if math.Abs(v) > largest*(1+1e-9) {
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		if sign < 0 {
			for t := range words {
				scores.Set(t, j, -scores.At(t, j))
			}
		}
	}
	return scores, sigma, nil
}

// asDense returns g as a matrix in the same memory.
func asDense(g blas64.General) *mat.Dense {
	var m mat.Dense
	m.SetRawMatrix(g)
	return &m
}
