package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Hull embeds the rows of C̄ in a few dimensions and takes the vertices of the exact
// convex hull of the embedding (lee-2018, chapter 1), where the greedy methods look
// for an approximate hull of the rows themselves.
//
// The embedding is linear, by principal components, or, with TSNE, by t-SNE, which
// keeps neighbours together. The number of vertices is an outcome and grows with the
// dimension. Find returns the k vertices that are farthest from the mean of the candidates,
// farthest first; with All, or k = 0, all of them.
//
// If the data is separable, K topics span K−1 dimensions, and principal components with
// Dims: K−1 find the anchors exactly. On the rows of C itself (Unnormalised) frequent
// words have long rows and lie outside, so that the anchors are frequent and salient
// words, as in lee-2018.
//
// In a jsmf.Pipeline, k is the rank of the rectification in any case; with All the model
// has a topic for each vertex. If these are more than k and the rectified matrix has rank k
// (ENN, LR, PALM, TruncatedEig), p(topic | word) is not unique: a larger k or rectify.None
// avoids that.
//
// Hull cannot complete the anchors of Fixed and Tandem, and ignores Options.Prefer.
//
// Cost: some 100 products with C̄ and its transpose, for t-SNE some 250 and that of
// [tsne.Embed]; then about N·H·Dims operations for H vertices. The zero value is the hull
// of the principal components in three dimensions. Safe for concurrent use.
type Hull struct {
	// Unnormalised embeds the rows of C instead of those of C̄.
	Unnormalised bool
	// Dims is the dimension of the embedding, at least 1, with TSNE 2 or 3; 0 means 3, as
	// in lee-2018.
	Dims int
	// TSNE, if not nil, asks for t-SNE of the first 50 principal components with these
	// settings, except Workers. Dims may be 0; Options.Seed is added to Seed. Another seed gives another embedding, and some
	// other anchors.
	TSNE *tsne.Settings
	// Tol is the distance, as a fraction of that of the farthest point from the mean, up
	// to which a point counts as lying in the hull of the others, in [1e-12, 0.1]; 0 means
	// 1e-9.
	Tol float64
	// All returns all vertices, whatever the k of Find is, and sets Result.ChoseK.
	All bool
	// MinDocs and MinDocFraction are those of QR, where the k of Find stands for K with All, too;
	// lee-2018 asks for 4 documents. The embedding is of all words, the hull of those admitted.
	MinDocs        int
	MinDocFraction float64
	// AllowFewer returns all vertices if there are fewer than k, instead of a *VerticesError.
	AllowFewer bool
}

// VerticesError says that the hull has fewer vertices than anchors were asked for.
type VerticesError struct {
	Vertices, K int
	Method      string // of the embedding: "PCA" or "t-SNE"
	Dims        int
}

func (e *VerticesError) Error() string {
	return fmt.Sprintf("anchor: %d anchors asked for, but the hull of the %s embedding in %d dimensions has %d vertices; ask for fewer, or for more dimensions", e.K, e.Method, e.Dims, e.Vertices)
}

// dimensionError says that the rows of words span found dimensions only.
func (h Hull) dimensionError(found, words int) error {
	if found == 0 {
		return fmt.Errorf("anchor: a hull in %d dimensions asked for, but the rows of all %d words are the same (%s)", h.dims(), words, h.method())
	}
	return fmt.Errorf("anchor: a hull in %d dimensions asked for, but the rows of the %d words lie in a flat of %d (%s); ask for at most %d", h.dims(), words, found, h.method(), found)
}

func (h Hull) method() string {
	if h.TSNE != nil {
		return "t-SNE"
	}
	return "PCA"
}

func (h Hull) dims() int { return cmp.Or(h.Dims, 3) }

func (h Hull) String() string {
	opts := []string{h.method(), fmt.Sprintf("dims=%d", h.dims())}
	if h.Unnormalised {
		opts = append(opts, "unnormalised")
	}
	if t := h.TSNE; t != nil {
		if t.Perplexity != 0 {
			opts = append(opts, fmt.Sprintf("perplexity=%g", t.Perplexity))
		}
		if t.Iterations != 0 {
			opts = append(opts, fmt.Sprintf("iterations=%d", t.Iterations))
		}
		opts = append(opts, fmt.Sprintf("seed=%d", t.Seed))
	}
	if h.Tol > 0 {
		opts = append(opts, fmt.Sprintf("tol=%g", h.Tol))
	}
	if h.All {
		opts = append(opts, "all vertices")
	}
	return withOptions("Hull", h.admit().describe(opts, "", 0))
}

func (h Hull) admit() admit { return admit{h.MinDocs, h.MinDocFraction, h.AllowFewer} }

// Validate reports settings out of range.
func (h Hull) Validate() error {
	switch {
	case h.Dims < 0:
		return fmt.Errorf("anchor: Hull: %d dimensions", h.Dims)
	case h.Tol != 0 && !(h.Tol >= minTol && h.Tol <= 0.1):
		return fmt.Errorf("anchor: Hull: Tol %g is not in [%g, 0.1]", h.Tol, minTol)
	case h.admit().bad():
		return fmt.Errorf("anchor: Hull: MinDocs %d, MinDocFraction %g out of range", h.MinDocs, h.MinDocFraction)
	case h.TSNE == nil:
		return nil
	case h.TSNE.Dims != 0 && h.TSNE.Dims != h.dims():
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

// Find implements Finder. k = 0 asks for all vertices. The Result has an Embedding and no
// Norms; opt.Progress gets the distances from the mean. Errors: settings out of range, a
// document-frequency bound without opt.DocFrequencies, anchors to complete or words to
// exclude, [*CandidateError], rows in a flat of fewer dimensions, [*VerticesError],
// principal components that were not found, those of [tsne.Embed], ctx's.
func (h Hull) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	n, _ := rows.Dims()
	if k < 0 || k > n {
		return nil, fmt.Errorf("anchor: K = %d is not in [0, %d], the number of words", k, n)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if err := opt.refuse("Hull"); err != nil {
		return nil, err
	}
	if h.Unnormalised {
		rows = unnormalised{rows}
	}
	filled, candidates, err := h.candidates(ctx, rows, k, opt)
	if err != nil {
		return nil, err
	}
	points, err := h.embed(ctx, rows, filled, opt)
	if err != nil {
		return nil, err
	}
	// The positions of all words and of the candidates; both lists of words ascend.
	d := h.dims()
	x := mat.NewDense(len(candidates), d, nil)
	all := mat.NewDense(n, d, slices.Repeat([]float64{math.NaN()}, n*d))
	for t, w := range filled {
		all.SetRow(w, points.RawRowView(t))
	}
	for t, w := range candidates {
		x.SetRow(t, all.RawRowView(w))
	}
	vertices, dist, err := h.vertices(ctx, x)
	if err != nil {
		return nil, err
	}
	res := &Result{Embedding: all, Stats: Stats{Candidates: len(candidates), ChoseK: h.All || k == 0}}
	take := len(vertices)
	if !res.ChoseK {
		if take < k && !h.AllowFewer {
			return nil, &VerticesError{Vertices: take, K: k, Method: h.method(), Dims: d}
		}
		take = min(take, k)
	}
	for t, v := range vertices[:take] {
		res.Anchors = append(res.Anchors, candidates[v])
		if opt.Progress != nil {
			opt.Progress(t+1, take, dist[t])
		}
	}
	return res, nil
}

// candidates returns the words that have a row, and of them those that may be
// anchors, both ascending.
func (h Hull) candidates(ctx context.Context, rows cooc.Rows, k int, opt Options) (filled, admitted []int, err error) {
	a := h.admit()
	if h.All { // k is not how many are wanted
		n, _ := rows.Dims()
		k, a.allowFewer = min(k, n), true
	}
	s, err := begin(ctx, "Hull", rows, max(k, 1), a, opt)
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

// tsneInput is the largest number of principal components that t-SNE starts from.
const tsneInput = 50

// embed returns the positions of the words that have a row.
func (h Hull) embed(ctx context.Context, rows cooc.Rows, filled []int, opt Options) (*mat.Dense, error) {
	d, want := h.dims(), h.dims()
	if h.TSNE != nil {
		want = tsneInput
	}
	scores, found, err := principalComponents(ctx, rows, filled, want, opt.Workers)
	switch {
	case err != nil:
		return nil, err
	case found == 0 || h.TSNE == nil && found < d:
		return nil, h.dimensionError(found, len(filled))
	case h.TSNE == nil:
		return scores, nil
	}
	embedding, err := tsne.Embed(ctx, scores, h.tsne(opt))
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	return embedding, nil
}

// vertices returns the vertices of the hull of the rows of x and their distances from
// the mean: the farthest first; of those equally far, to rounding, the lowest number.
func (h Hull) vertices(ctx context.Context, x *mat.Dense) (vertices []int, distances []float64, err error) {
	n, d := x.Dims()
	found, dims, err := hullVertices(ctx, x, h.Tol)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("anchor: Hull: %w", err)
	case dims < d:
		return nil, nil, h.dimensionError(dims, n)
	}
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	dist := make([]float64, len(found))
	for t, i := range found {
		dist[t] = vec.Distance(x.RawRowView(i), mean)
	}
	const equal = 1e-9
	for range dist {
		best := slices.Max(dist)
		for t, v := range dist {
			if v >= 0 && v >= best*(1-equal) {
				vertices, distances = append(vertices, found[t]), append(distances, v)
				dist[t] = -1
				break
			}
		}
	}
	return vertices, distances, nil
}
