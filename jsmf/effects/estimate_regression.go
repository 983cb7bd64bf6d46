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

// regression explains the proportions of the documents by designs.
type regression struct {
	docs  *documents
	fits  []*fit
	row   []int32 // for each document, its row of the designs, −1 for none
	alike [][]int // topics that are not told apart; nil: not known yet

	// Of the last model that was regressed.
	theta   *mat.Dense       // M×K, the proportions if they are known; nil: solve finds them
	share   []float64        // K, the average proportions
	beta    []blas64.General // of each fit, P×K
	solve   *mat.Dense       // see solver
	gramB   *mat.SymDense    // BᵀDB
	shares  []float64        // K, of the model
	nearest *simplex.Solver  // by gramB
}

// fit is the regression on one design.
type fit struct {
	*design
	scale []float64 // for each row, by how much the distance from the regression is enlarged
	lent  []float64 // the square of its weight times the share of its variance that is that of all
}

// lenders is how many documents' worth the variance of all documents counts next to that of
// the documents at a point (Smyth, Statistical Applications in Genetics and Molecular Biology
// 3, 2004): few of them tell little of theirs. It is not that of clusters, which lend nothing.
func (d *design) lenders() int {
	if d.units < len(d.docs) {
		return 0
	}
	return 4
}

// leverages returns for each document how far the regression follows it and the rest of its cluster,
// if all of them are off by the same: the sum of its row of the hat matrix over the cluster (MacKinnon,
// Nielsen and Webb, Journal of Econometrics 232, 2023). Of a document alone that is its leverage, of n
// alike 1/n. A sum over unlike documents may pass 1, and is taken for 0.9 at most.
func (d *design) leverages() []float64 {
	out, z := make([]float64, len(d.docs)), make([]float64, d.cols)
	turned := func(i int) []float64 { // row i of XT
		clear(z)
		at, x := d.row(i)
		for j, p := range at {
			floats.AddScaled(z[p:], x[j], linalg.Row(d.inverse, int(p))[p:])
		}
		return z
	}
	members := make([][]int, d.units)
	for i, w := range d.weights {
		x := turned(i)
		out[i] = w * floats.Dot(x, x)
		members[d.unit[i]] = append(members[d.unit[i]], i)
	}
	sum := make([]float64, d.cols)
	for _, rows := range members {
		if len(rows) < 2 {
			continue
		}
		clear(sum)
		for _, i := range rows {
			floats.AddScaled(sum, d.weights[i], turned(i))
		}
		for _, i := range rows {
			out[i] = max(out[i], min(floats.Dot(turned(i), sum), 0.9))
		}
	}
	return out
}

// newRegression prepares the regression on designs of the same documents.
func newRegression(docs *documents, designs []*design) *regression {
	r := &regression{docs: docs, row: slices.Repeat([]int32{-1}, len(docs.own))}
	for i, doc := range designs[0].docs {
		r.row[doc] = int32(i)
	}
	for _, d := range designs {
		f := &fit{design: d, scale: make([]float64, len(d.docs)), lent: make([]float64, len(d.docs))}
		lenders := float64(d.lenders())
		for i, leverage := range d.leverages() {
			// The variance of n of a kind, each with the leverage 1/n, is that of n − 1.
			own, share := max(1-leverage, 0), 0.0
			if lenders > 0 {
				share = lenders * leverage / (own + lenders*leverage)
			}
			f.lent[i] = share * d.weights[i] * d.weights[i]
			if own > 1e-9 {
				f.scale[i] = math.Sqrt(1-share) / own
			}
		}
		r.fits = append(r.fits, f)
	}
	return r
}

// sums are what one read of the documents adds up.
type sums struct {
	own, drawn []blas64.General // of each design, P×K: Xᵀ·weights·θ, by the documents' own weights and by others
	share      []float64        // K, Σ weights·θ
}

// original is the number of what is no replicate.
const original = -1

// of regresses the proportions that the documents have by the topics b with their shares,
// with the weights w of a replicate, or for the original the documents' own.
func (r *regression) of(ctx context.Context, b *mat.Dense, shares, w []float64, replicate int) error {
	db, gram, err := weighed(ctx, b, shares)
	if err != nil {
		return err
	}
	if r.alike == nil {
		r.alike = alike(gram)
	}
	bind(gram, r.alike)
	r.shares = shares
	if r.solve, err = solver(ctx, db, gram); err != nil {
		return err
	}
	checked, err := simplex.Check(gram)
	if err != nil {
		return err
	}
	r.gramB, r.nearest = gram, checked.Quadratic(0, 0).Solver()
	return r.regress(ctx, w, replicate)
}

// regress regresses the proportions with the weights w. In a replicate the coefficients are those by
// the documents' own weights, plus what the enlarged distances from them add by the replicate's (the
// score bootstrap, Kline and Santos, Journal of Econometric Methods 1, 2012): XᵀWX is factored once.
func (r *regression) regress(ctx context.Context, w []float64, replicate int) error {
	all, err := r.add(ctx, w, replicate)
	if err != nil {
		return err
	}
	total := vec.Sum(at(w, r.fits[0].docs))
	floats.Scale(1/total, all.share)
	r.share, r.beta = all.share, make([]blas64.General, len(r.fits))
	for n, f := range r.fits {
		beta, err := f.times(ctx, all.own[n])
		if r.beta[n] = beta; err != nil {
			return err
		}
		if replicate == original {
			continue
		}
		distance, rest := all.drawn[n], make([]float64, r.docs.k)
		for i, doc := range f.docs {
			if err := ctx.Err(); err != nil {
				return err
			}
			clear(rest)
			at, x := f.row(i)
			for j, c := range at {
				floats.AddScaled(rest, x[j], linalg.Row(beta, int(c)))
			}
			for j, c := range at {
				floats.AddScaled(linalg.Row(distance, int(c)), -w[doc]*f.scale[i]*x[j], rest)
			}
		}
		floats.Scale(1/total, distance.Data)
		more, err := f.times(ctx, distance)
		if err != nil {
			return err
		}
		floats.Add(beta.Data, more.Data)
	}
	return nil
}

// times returns (XᵀWX)⁻¹y.
func (d *design) times(ctx context.Context, y blas64.General) (blas64.General, error) {
	z, out := linalg.NewGeneral(y.Rows, y.Cols), linalg.NewGeneral(y.Rows, y.Cols)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, d.inverse, y, 0, z, 0); err != nil {
		return out, err
	}
	return out, linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, d.inverse, z, 0, out, 0)
}

// add sums up the documents.
func (r *regression) add(ctx context.Context, w []float64, replicate int) (sums, error) {
	k := r.docs.k
	parts := make([]sums, r.docs.parts())
	for i := range parts {
		parts[i].share = make([]float64, k)
		for _, f := range r.fits {
			parts[i].own = append(parts[i].own, linalg.NewGeneral(f.cols, k))
			parts[i].drawn = append(parts[i].drawn, linalg.NewGeneral(f.cols, k))
		}
	}
	err := r.each(ctx, func(part, doc int, theta []float64) {
		s, row := &parts[part], int(r.row[doc])
		floats.AddScaled(s.share, w[doc], theta)
		for n, f := range r.fits {
			at, values := f.row(row)
			for j, c := range at {
				floats.AddScaled(linalg.Row(s.own[n], int(c)), f.weights[row]*values[j], theta)
				if replicate != original {
					floats.AddScaled(linalg.Row(s.drawn[n], int(c)), w[doc]*f.scale[row]*values[j], theta)
				}
			}
		}
	})
	if err != nil {
		return sums{}, err
	}
	for _, p := range parts[1:] {
		floats.Add(parts[0].share, p.share)
		for n := range r.fits {
			floats.Add(parts[0].own[n].Data, p.own[n].Data)
			floats.Add(parts[0].drawn[n].Data, p.drawn[n].Data)
		}
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
			pool(theta, r.alike, r.shares)
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

// variances returns the variance of each quantity over the documents.
func (r *regression) variances(ctx context.Context, quantities []Quantity) ([]float64, error) {
	parts := make([][]float64, r.docs.parts())
	for i := range parts {
		parts[i] = make([]float64, len(quantities))
	}
	err := r.each(ctx, func(part, doc int, theta []float64) {
		for i, q := range quantities {
			e := q.of(theta) - q.of(r.share)
			parts[part][i] += r.fits[0].weights[r.row[doc]] * e * e
		}
	})
	for _, p := range parts[1:] {
		floats.Add(parts[0], p)
	}
	return parts[0], err
}

// borrowed returns how often the variance of one document goes into that of cᵀβ in place of
// the variance of the documents at hand, and how often where all documents have the same.
func (f *fit) borrowed(ctx context.Context, c []float64) (sum, all float64, err error) {
	x, err := f.times(ctx, blas64.General{Rows: len(c), Cols: 1, Stride: 1, Data: c})
	for i, lent := range f.lent {
		at, values := f.row(i)
		y := 0.0
		for j, p := range at {
			y += values[j] * x.Data[p]
		}
		sum += lent * y * y
	}
	return sum, floats.Dot(c, x.Data), err
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

// weighed returns DB, N×K, and BᵀDB. O(N·K²).
func weighed(ctx context.Context, b *mat.Dense, shares []float64) (blas64.General, *mat.SymDense, error) {
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
	err := linalg.Gram(ctx, db, blas64.General{Rows: k, Cols: k, Stride: k, Data: gram.RawSymmetric().Data}, 0)
	for i, v := range roots {
		floats.Scale(v, linalg.Row(db, i))
	}
	return db, gram, err
}

// solver returns DB(BᵀDB)⁻¹. The proportions of a document are the average of the rows of its
// tokens. O(N·K² + K³).
func solver(ctx context.Context, db blas64.General, gram *mat.SymDense) (*mat.Dense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, errors.New("the topics are linearly dependent: no words tell them apart")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil, fmt.Errorf("the topics are nearly linearly dependent: %w", err)
	}
	out := mat.NewDense(db.Rows, db.Cols, nil)
	full := mat.DenseCopyOf(&inverse) // both triangles
	return out, linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, db, full.RawMatrix(), 0, out.RawMatrix(), 0)
}

// twins is the cosine from which on two topics are not told apart: unbounded least squares gives the
// difference of their proportions fifty times the variance of the proportion of one topic, and more.
const twins = 0.99

// alike returns the groups of topics with nearly the same words, by the cosines of BᵀDB.
func alike(gram *mat.SymDense) [][]int {
	groups, in := [][]int{}, map[int]bool{}
	for k := range gram.SymmetricDim() {
		if in[k] {
			continue
		}
		group := []int{k}
		for l := k + 1; l < gram.SymmetricDim(); l++ {
			if !in[l] && gram.At(k, l) > twins*math.Sqrt(gram.At(k, k)*gram.At(l, l)) {
				group, in[l] = append(group, l), true
			}
		}
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// bind adds to BᵀDB a little that keeps the proportions of the topics of a group together, so that their
// sum can be solved for even if they are equal.
func bind(gram *mat.SymDense, groups [][]int) {
	for _, g := range groups {
		for _, k := range g[1:] {
			f := 1e-3 * gram.At(g[0], g[0])
			gram.SetSym(k, k, gram.At(k, k)+f)
			gram.SetSym(g[0], g[0], gram.At(g[0], g[0])+f)
			gram.SetSym(g[0], k, gram.At(g[0], k)-f)
		}
	}
}

// pool gives each topic of a group its part, by share, of their sum.
func pool(theta []float64, groups [][]int, shares []float64) {
	for _, g := range groups {
		sum, total := Quantity{Topics: g}.of(theta), Quantity{Topics: g}.of(shares)
		for _, k := range g {
			if total > 0 {
				theta[k] = sum * shares[k] / total
			}
		}
	}
}
