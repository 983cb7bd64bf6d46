package effects

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

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/internal/vec"
)

// regression explains the proportions of the documents by a design.
type regression struct {
	docs  *documents
	d     *design
	row   []int32 // for each document, its row of the design, −1 for none
	gram  mat.Cholesky
	scale []float64 // for each row, by how much the distance from the regression is enlarged

	// lent is XᵀΛX, where Λ holds for each row the square of its weight times the share of its
	// variance that is that of all documents.
	lent *mat.SymDense

	// Of the last model that was regressed.
	theta   *mat.Dense      // M×K, the proportions if they are known; nil: solve finds them
	share   []float64       // K, the average proportions
	beta    *mat.Dense      // P×K
	solve   *mat.Dense      // see solver
	gramB   *mat.SymDense   // BᵀDB
	nearest *simplex.Solver // by it
}

// lenders is how many documents' worth the variance of all documents counts next to that of
// the documents at a point (Smyth, Statistical Applications in Genetics and Molecular Biology
// 3, 2004): few of them tell little of theirs.
const lenders = 4

// newRegression prepares the regression on a design.
func newRegression(docs *documents, d *design) (*regression, error) {
	r := &regression{docs: docs, d: d, row: slices.Repeat([]int32{-1}, len(docs.own)), scale: make([]float64, len(d.docs))}
	for i, doc := range d.docs {
		r.row[doc] = int32(i)
	}
	if !r.gram.Factorize(r.weighted(func(i int) float64 { return docs.own[d.docs[i]] })) {
		return nil, errors.New("what the terms say of the documents is linearly dependent")
	}
	var inverse mat.SymDense
	if err := r.gram.InverseTo(&inverse); err != nil {
		return nil, fmt.Errorf("what the terms say of the documents is nearly linearly dependent: %w", err)
	}
	lent := make([]float64, len(d.docs))
	for i, doc := range d.docs {
		at, x := d.row(i)
		leverage := 0.0
		for j, p := range at {
			for l, q := range at {
				leverage += docs.own[doc] * x[j] * x[l] * inverse.At(int(p), int(q))
			}
		}
		// A document among n of its kind has the leverage 1/n. The variance of n − 1 is known.
		own := max(1-leverage, 0)
		share := lenders * leverage / (own + lenders*leverage)
		lent[i] = share * docs.own[doc] * docs.own[doc]
		if own > 1e-9 {
			r.scale[i] = math.Sqrt(1-share) / own
		}
	}
	r.lent = r.weighted(func(i int) float64 { return lent[i] })
	return r, nil
}

// weighted returns XᵀWX.
func (r *regression) weighted(w func(i int) float64) *mat.SymDense {
	g := mat.NewSymDense(r.d.cols, nil)
	raw := g.RawSymmetric()
	for i := range r.d.docs {
		at, x := r.d.row(i)
		v := w(i)
		for a, p := range at {
			for b, q := range at {
				if p <= q {
					raw.Data[int(p)*raw.Stride+int(q)] += v * x[a] * x[b]
				}
			}
		}
	}
	return g
}

// sums are what one read of the documents adds up.
type sums struct {
	own, drawn blas64.General // P×K, Xᵀ·weights·θ, by the documents' own weights and by others
	share      []float64      // K, Σ weights·θ
}

// original is the number of what is no replicate.
const original = -1

// of regresses the proportions that the documents have by the topics b with their shares,
// with the weights w of a replicate, or for the original the documents' own.
func (r *regression) of(ctx context.Context, b *mat.Dense, shares, w []float64, replicate int) error {
	solve, gramB, err := solver(ctx, b, shares)
	if err != nil {
		return err
	}
	checked, err := simplex.Check(gramB)
	if err != nil {
		return err
	}
	r.solve, r.gramB, r.nearest = solve, gramB, checked.Quadratic(0, 0).Solver()
	return r.regress(ctx, w, replicate)
}

// regress regresses the proportions with the weights w.
func (r *regression) regress(ctx context.Context, w []float64, replicate int) error {
	all, err := r.add(ctx, w, replicate)
	if err != nil {
		return err
	}
	floats.Scale(1/vec.Sum(at(w, r.d.docs)), all.share)
	r.share, r.beta = all.share, new(mat.Dense)
	own := mat.NewDense(r.d.cols, r.docs.k, all.own.Data)
	if err := r.gram.SolveTo(r.beta, own); err != nil || replicate == original {
		return err
	}
	// The regression of the enlarged distances on top of what is explained.
	weight := func(i int) float64 { return w[r.d.docs[i]] }
	var gram mat.Cholesky
	if !gram.Factorize(r.weighted(weight)) {
		return errors.New("with the weights of the replicate, what the terms say of the documents is linearly dependent")
	}
	var y, beta mat.Dense
	y.Mul(r.weighted(func(i int) float64 { return weight(i) * (1 - r.scale[i]) }), r.beta)
	y.Add(&y, mat.NewDense(r.d.cols, r.docs.k, all.drawn.Data))
	err = gram.SolveTo(&beta, &y)
	r.beta = &beta
	return err
}

// add sums up the documents.
func (r *regression) add(ctx context.Context, w []float64, replicate int) (sums, error) {
	k := r.docs.k
	parts := make([]sums, r.docs.parts())
	for i := range parts {
		parts[i] = sums{linalg.NewGeneral(r.d.cols, k), linalg.NewGeneral(r.d.cols, k), make([]float64, k)}
	}
	err := r.each(ctx, func(part, doc int, theta []float64) {
		s, row := &parts[part], int(r.row[doc])
		floats.AddScaled(s.share, w[doc], theta)
		at, values := r.d.row(row)
		for j, c := range at {
			floats.AddScaled(linalg.Row(s.own, int(c)), r.docs.own[doc]*values[j], theta)
			if replicate != original {
				floats.AddScaled(linalg.Row(s.drawn, int(c)), w[doc]*r.scale[row]*values[j], theta)
			}
		}
	})
	if err != nil {
		return sums{}, err
	}
	for _, p := range parts[1:] {
		floats.Add(parts[0].own.Data, p.own.Data)
		floats.Add(parts[0].drawn.Data, p.drawn.Data)
		floats.Add(parts[0].share, p.share)
	}
	return parts[0], nil
}

// each calls f with the proportions of each document that counts, those of a part in order.
func (r *regression) each(ctx context.Context, f func(part, doc int, theta []float64)) error {
	thetas := make([][]float64, parallel.Workers(0, r.docs.parts()))
	return r.docs.each(ctx, func(worker, part int, b *corpus.Block) error {
		if thetas[worker] == nil {
			thetas[worker] = make([]float64, r.docs.k)
		}
		theta := thetas[worker]
		for i := range b.Docs() {
			doc := b.First + i
			if r.row[doc] < 0 {
				continue
			}
			if r.theta != nil {
				copy(theta, r.theta.RawRowView(doc))
			} else {
				r.solved(theta, doc, b, i)
			}
			f(part, doc, theta)
		}
		return nil
	})
}

// solved sets theta to the proportions of a document, number i of block b.
func (r *regression) solved(theta []float64, doc int, b *corpus.Block, i int) {
	clear(theta)
	words, counts := b.Doc(i)
	for j, word := range words {
		if at := r.docs.to[word]; at >= 0 {
			floats.AddScaled(theta, float64(counts[j])/r.docs.length[doc], r.solve.RawRowView(int(at)))
		}
	}
}

// variances returns for each of some sums of topics, given by their factors, the variance of the
// documents' distances from the regression.
func (r *regression) variances(ctx context.Context, factors [][]float64) ([]float64, error) {
	parts := make([][]float64, r.docs.parts())
	for i := range parts {
		parts[i] = make([]float64, len(factors))
	}
	topics := make([][]int, len(factors)) // those with factors: few
	for i, f := range factors {
		for k, v := range f {
			if v != 0 {
				topics[i] = append(topics[i], k)
			}
		}
	}
	err := r.each(ctx, func(part, doc int, theta []float64) {
		at, values := r.d.row(int(r.row[doc]))
		for j, c := range at {
			floats.AddScaled(theta, -values[j], r.beta.RawRowView(int(c)))
		}
		for i, f := range factors {
			e := 0.0
			for _, k := range topics[i] {
				e += f[k] * theta[k]
			}
			parts[part][i] += r.docs.own[doc] * e * e
		}
	})
	if err != nil {
		return nil, err
	}
	total := vec.Sum(at(r.docs.own, r.d.docs))
	for _, p := range parts[1:] {
		floats.Add(parts[0], p)
	}
	n := float64(len(r.d.docs))
	floats.Scale(n/max(n-float64(r.d.cols), 1)/total, parts[0])
	return parts[0], nil
}

// borrowed returns how often the variance of one document goes into that of cᵀβ in place of
// the variance of the documents at hand.
func (r *regression) borrowed(c []float64) (float64, error) {
	var x mat.VecDense
	if err := r.gram.SolveVecTo(&x, mat.NewVecDense(len(c), c)); err != nil {
		return 0, err
	}
	return mat.Inner(&x, r.lent, &x), nil
}

// mixture returns the proportions, not negative and of sum 1, that are nearest to x of sum 1: by
// the distance of the words that they give, (x − y)ᵀBᵀDB(x − y).
func (r *regression) mixture(x []float64) ([]float64, error) {
	if floats.Min(x) >= 0 {
		return x, nil
	}
	y := make([]float64, len(x))
	f := mat.NewVecDense(len(x), nil)
	f.MulVec(r.gramB, mat.NewVecDense(len(x), x))
	_, err := r.nearest.Solve(y, f.RawVector().Data, false)
	return y, err
}

// solver returns DB(BᵀDB)⁻¹, N×K, and BᵀDB. The proportions of a document are the average of
// the rows of its tokens. O(N·K² + K³).
func solver(ctx context.Context, b *mat.Dense, shares []float64) (*mat.Dense, *mat.SymDense, error) {
	n, k := b.Dims()
	db, roots := linalg.NewGeneral(n, k), make([]float64, n) // of D
	for i := range n {
		from := b.RawRowView(i)
		if p := floats.Dot(from, shares); p > 0 {
			roots[i] = 1 / math.Sqrt(p)
			floats.AddScaled(linalg.Row(db, i), roots[i], from)
		}
	}
	gram := mat.NewSymDense(k, nil)
	if err := linalg.Gram(ctx, db, blas64.General{Rows: k, Cols: k, Stride: k, Data: gram.RawSymmetric().Data}, 0); err != nil {
		return nil, nil, err
	}
	for i, v := range roots {
		floats.Scale(v, linalg.Row(db, i))
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, nil, errors.New("the topics are linearly dependent: no words tell them apart")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil, nil, fmt.Errorf("the topics are nearly linearly dependent: %w", err)
	}
	out := mat.NewDense(n, k, nil)
	full := mat.DenseCopyOf(&inverse) // both triangles
	err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, db, full.RawMatrix(), 0, out.RawMatrix(), 0)
	return out, gram, err
}
