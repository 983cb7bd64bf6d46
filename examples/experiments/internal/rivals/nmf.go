package rivals

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// NMF is non-negative matrix factorisation of tf-idf weights: X ≈ WHᵀ with the least sum of
// squares, by coordinate descent (HALS, Cichocki and Phan 2009) from the singular vectors of X
// (NNDSVD, Boutsidis and Gallopoulos 2008). A row of X is a document, n·(ln((1+M)/(1+df)) + 1) of its
// words scaled to length 1, as scikit-learn has it.
type NMF struct {
	K          int
	Iterations int     // at most
	Tolerance  float64 // it ends when an iteration moves W and H by less than this part of the first one
	Seed       uint64  // of the search for singular vectors
}

// Fit returns the columns of H, scaled to sum 1, as topics, and the rows of W for topics so scaled, with
// sum 1, as proportions; a document without weights has zeros.
func (o NMF) Fit(ctx context.Context, c *corpus.Corpus) (*Model, error) {
	if err := check(o.K, c); err != nil {
		return nil, err
	}
	x := TFIDF(c)
	w, h, err := o.start(ctx, x)
	if err != nil {
		return nil, err
	}
	first := 0.0
	for i := range o.Iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		moved := descend(w, h, x.times(h)) + descend(h, w, x.transposed(w))
		if i == 0 {
			first = moved
		}
		if moved <= o.Tolerance*first {
			break
		}
	}
	_, k := h.Dims()
	for t := range k {
		sum := mat.Sum(h.ColView(t))
		if sum == 0 {
			for i := range c.NumWords() { // a topic of nothing
				h.Set(i, t, 1/float64(c.NumWords()))
			}
			continue
		}
		for i := range c.NumWords() {
			h.Set(i, t, h.At(i, t)/sum)
		}
		for m := range c.NumDocs() {
			w.Set(m, t, w.At(m, t)*sum)
		}
	}
	for m := range c.NumDocs() {
		if row := w.RawRowView(m); floats.Sum(row) > 0 {
			floats.Scale(1/floats.Sum(row), row)
		}
	}
	return &Model{B: h, W: w, A: topicPairs(w)}, nil
}

// descend sets each entry of w in turn to the best that is not negative, with the others and h fixed; xh is
// Xh. It returns by how much the entries moved in all.
func descend(w, h, xh *mat.Dense) (moved float64) {
	m, k := w.Dims()
	var gram mat.Dense
	gram.Mul(h.T(), h)
	for i := range m {
		row, target := w.RawRowView(i), xh.RawRowView(i)
		for t := range k {
			of := gram.RawRowView(t)
			if of[t] == 0 {
				continue
			}
			v := max(row[t]+(target[t]-floats.Dot(row, of))/of[t], 0)
			moved += math.Abs(v - row[t])
			row[t] = v
		}
	}
	return moved
}

// Weights is a sparse matrix with a row for each document.
type Weights struct {
	n      int
	ids    [][]int32
	values [][]float64
}

// TFIDF returns the weights of NMF.
func TFIDF(c *corpus.Corpus) *Weights {
	x, df := &Weights{n: c.NumWords()}, c.DocFrequencies()
	for m := range c.NumDocs() {
		ids, counts := c.Doc(m)
		v := make([]float64, len(ids))
		for i, w := range ids {
			v[i] = float64(counts[i]) * (math.Log(float64(1+c.NumDocs())/float64(1+df[w])) + 1)
		}
		if size := floats.Norm(v, 2); size > 0 {
			floats.Scale(1/size, v)
		}
		x.ids, x.values = append(x.ids, ids), append(x.values, v)
	}
	return x
}

// Dense returns the weights as an array.
func (x *Weights) Dense() *mat.Dense {
	out := mat.NewDense(len(x.ids), x.n, nil)
	for m, ids := range x.ids {
		for i, w := range ids {
			out.Set(m, int(w), x.values[m][i])
		}
	}
	return out
}

// times returns Xh.
func (x *Weights) times(h *mat.Dense) *mat.Dense {
	_, k := h.Dims()
	out := mat.NewDense(len(x.ids), k, nil)
	for m, ids := range x.ids {
		to := out.RawRowView(m)
		for i, w := range ids {
			floats.AddScaled(to, x.values[m][i], h.RawRowView(int(w)))
		}
	}
	return out
}

// transposed returns Xᵀw.
func (x *Weights) transposed(w *mat.Dense) *mat.Dense {
	_, k := w.Dims()
	out := mat.NewDense(x.n, k, nil)
	for m, ids := range x.ids {
		from := w.RawRowView(m)
		for i, id := range ids {
			floats.AddScaled(out.RawRowView(int(id)), x.values[m][i], from)
		}
	}
	return out
}

// The search for singular vectors: how many vectors more than are looked for, and how many times X and its
// transpose are applied.
const (
	svdMore  = 10
	svdSteps = 10
)

// start returns the positive or the negative part of each pair of singular vectors, the larger one.
func (o NMF) start(ctx context.Context, x *Weights) (w, h *mat.Dense, err error) {
	m, p := len(x.ids), min(o.K+svdMore, len(x.ids), x.n)
	rng := rand.New(rand.NewPCG(o.Seed, 0x7f1df))
	v := mat.NewDense(x.n, p, nil)
	for i := range x.n {
		for t := range p {
			v.Set(i, t, rng.NormFloat64())
		}
	}
	for range svdSteps {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		var qr mat.QR
		qr.Factorize(x.transposed(x.times(v)))
		var q mat.Dense
		qr.QTo(&q)
		v.Copy(q.Slice(0, x.n, 0, p))
	}
	var svd mat.SVD
	if !svd.Factorize(x.times(v), mat.SVDThin) {
		return nil, nil, errNoSVD
	}
	var u, turned, right mat.Dense
	svd.UTo(&u)
	svd.VTo(&turned)
	right.Mul(v, &turned)
	sizes := svd.Values(nil)
	w, h = mat.NewDense(m, o.K, nil), mat.NewDense(x.n, o.K, nil)
	for t := range min(o.K, p) {
		best := 0.0
		for _, sign := range []float64{1, -1} {
			a, b := part(mat.Col(nil, t, &u), sign), part(mat.Col(nil, t, &right), sign)
			na, nb := floats.Norm(a, 2), floats.Norm(b, 2)
			if na*nb <= best {
				continue
			}
			best = na * nb
			floats.Scale(math.Sqrt(sizes[t]*na*nb)/na, a)
			floats.Scale(math.Sqrt(sizes[t]*na*nb)/nb, b)
			w.SetCol(t, a)
			h.SetCol(t, b)
		}
	}
	return w, h, nil
}

// part returns the entries of x of a sign, without it, and 0 for the others.
func part(x []float64, sign float64) []float64 {
	for i, v := range x {
		x[i] = max(sign*v, 0)
	}
	return x
}
