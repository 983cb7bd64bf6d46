package effects

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/jsmf"
)

// slow does what Run does for documents in memory over the words of the model, with dense
// matrices.
type slow struct {
	y    *mat.Dense // M×N, the shares of words in documents
	d    *design
	x    *mat.Dense // M×P
	own  []float64
	hat  []float64 // leverages
	pool []float64 // the share of each document's variance that is that of all
	gram *mat.Dense

	inverse  *mat.Dense // (XᵀWX)⁻¹
	borrowed []float64  // the variance that the numbers borrow
}

// slowly returns the intervals in the order of Effects.Rows, without bounds.
func slowly(t *testing.T, s Study, p jsmf.Pipeline, m *jsmf.Model, c *corpus.Corpus) []jsmf.Interval {
	t.Helper()
	w := &slow{y: mat.NewDense(c.NumDocs(), m.N(), nil), own: c.Weights()}
	for i := range c.NumDocs() {
		words, counts := c.Doc(i)
		for j, n := range counts {
			at, ok := m.Index(c.Word(int(words[j])))
			if !ok {
				t.Fatal("a word that the model lacks")
			}
			w.y.Set(i, at, float64(n)/float64(c.DocLen(i)))
		}
	}
	var err error
	if w.d, err = newDesign(ctx, s.Terms, c.Metadata(), w.own); err != nil {
		t.Fatal(err)
	}
	w.x = mat.NewDense(c.NumDocs(), w.d.cols, nil)
	for i := range w.d.docs {
		at, v := w.d.row(i)
		for j, c := range at {
			w.x.Set(i, int(c), v[j])
		}
	}
	// The leverages are the diagonal of √W·X·(XᵀWX)⁻¹·Xᵀ·√W.
	var gram, inverse, hat mat.Dense
	gram.Product(w.x.T(), mat.NewDiagDense(len(w.own), w.own), w.x)
	if err := inverse.Inverse(&gram); err != nil {
		t.Fatal(err)
	}
	hat.Product(w.x, &inverse, w.x.T())
	for i, v := range w.own {
		h := v * hat.At(i, i)
		w.hat, w.pool = append(w.hat, h), append(w.pool, 4*h/(1-h+4*h))
	}
	w.inverse = &inverse
	quantities, err := s.quantities(m)
	if err != nil {
		t.Fatal(err)
	}
	value := w.numbers(t, m, nil, quantities)
	var replicates [][]float64
	s.Bootstrap.Cold = -1
	for r, err := range s.Bootstrap.Replicates(ctx, p, m, c) {
		if err != nil {
			t.Fatal(err)
		}
		replicates = append(replicates, w.numbers(t, r.Model, r.Weights, quantities))
	}
	// Every level has more documents than there are replicates.
	n := float64(len(replicates))
	q := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + s.Bootstrap.Level) / 2)
	var out []jsmf.Interval
	for i, v := range value {
		mean, sum := 0.0, 0.0
		for _, r := range replicates {
			mean += r[i] / n
		}
		for _, r := range replicates {
			sum += (r[i] - mean) * (r[i] - mean)
		}
		half := q * math.Sqrt(sum/(n-1)+w.borrowed[i])
		out = append(out, jsmf.Interval{Value: v, Low: v - half, High: v + half})
	}
	return out
}

// numbers are those of a model, with the weights of a replicate, or nil.
func (w *slow) numbers(t *testing.T, m *jsmf.Model, weights []float64, quantities []Quantity) []float64 {
	t.Helper()
	theta, by := w.theta(t, m), w.own
	if weights != nil {
		by = weights
	}
	beta := w.least(t, theta, w.own)
	if weights != nil {
		beta = w.least(t, w.enlarged(theta, beta), by)
	}
	of := func(c []float64) []float64 {
		var y mat.Dense
		y.Mul(mat.NewDense(1, len(c), c), beta)
		return y.RawRowView(0)
	}
	// Only the ratios of a replicate are bounded.
	number := func(q Quantity, x []float64) float64 {
		if weights != nil && q.Over == nil {
			return ratio(q, x)
		}
		return ratio(q, w.nearest(x))
	}
	var out, variance []float64
	share := average(theta, by)
	for _, q := range quantities {
		out = append(out, number(q, share))
		variance = append(variance, w.variance(q, theta, beta, w.nearest(share)))
	}
	borrow := func(c []float64) {
		for _, v := range variance {
			if weights == nil {
				w.borrowed = append(w.borrowed, v*w.often(c))
			}
		}
	}
	borrow(make([]float64, w.d.cols))
	mean := of(w.d.mean)
	for _, x := range w.d.terms {
		for _, c := range x.predict {
			y, d := of(c), make([]float64, len(c))
			for _, q := range quantities {
				out = append(out, number(q, y))
			}
			for _, q := range quantities {
				out = append(out, number(q, y)-number(q, mean))
			}
			for j := range d {
				d[j] = c[j] - w.d.mean[j]
			}
			borrow(c)
			borrow(d)
		}
		if x.slope == nil {
			continue
		}
		for _, q := range quantities {
			out = append(out, along(q, w.nearest(mean), of(x.slope)))
		}
		borrow(x.slope)
	}
	return out
}

// theta returns the proportions of the documents, M×K, by the topics of a model.
func (w *slow) theta(t *testing.T, m *jsmf.Model) *mat.Dense {
	t.Helper()
	b := mat.DenseCopyOf(m.Topics())
	var p mat.VecDense
	p.MulVec(b, mat.NewVecDense(m.K(), m.TopicShares()))
	d := mat.NewDiagDense(m.N(), nil)
	for i := range m.N() {
		d.SetDiag(i, 1/p.AtVec(i))
	}
	w.gram = new(mat.Dense)
	w.gram.Product(b.T(), d, b)
	var right, solved mat.Dense
	right.Product(b.T(), d, w.y.T())
	if err := solved.Solve(w.gram, &right); err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(solved.T())
}

// enlarged returns proportions that are farther from the regression.
func (w *slow) enlarged(theta, beta *mat.Dense) *mat.Dense {
	var fit, out mat.Dense
	fit.Mul(w.x, beta)
	out.Apply(func(i, j int, v float64) float64 {
		return fit.At(i, j) + (v-fit.At(i, j))*math.Sqrt(1-w.pool[i])/(1-w.hat[i])
	}, theta)
	return &out
}

// variance returns that of the documents' distances from the regression, for a quantity where
// the proportions are x.
func (w *slow) variance(q Quantity, theta, beta *mat.Dense, x []float64) float64 {
	var e mat.Dense
	e.Mul(w.x, beta)
	e.Sub(theta, &e)
	v, total := 0.0, 0.0
	for i, own := range w.own {
		d := along(q, x, e.RawRowView(i))
		v, total = v+own*d*d, total+own
	}
	m := len(w.own)
	return v / total * float64(m) / float64(m-w.d.cols)
}

// often returns how often the variance of one document goes into that of cᵀβ.
func (w *slow) often(c []float64) (sum float64) {
	var left mat.Dense
	left.Product(mat.NewDense(1, len(c), c), w.inverse, w.x.T())
	for i, own := range w.own {
		sum += w.pool[i] * own * own * left.At(0, i) * left.At(0, i)
	}
	return sum
}

// average returns the weighted average of the rows.
func average(theta *mat.Dense, weights []float64) []float64 {
	_, k := theta.Dims()
	out, total := make([]float64, k), 0.0
	for i, v := range weights {
		total += v
		for j := range k {
			out[j] += v * theta.At(i, j)
		}
	}
	for j := range out {
		out[j] /= total
	}
	return out
}

// ratio returns what a quantity is for the proportions x.
func ratio(q Quantity, x []float64) float64 {
	v, over := 0.0, 0.0
	for _, k := range q.Plus {
		v += x[k]
	}
	for _, k := range q.Minus {
		v -= x[k]
	}
	if q.Over == nil {
		return v
	}
	for _, k := range q.Over {
		over += x[k]
	}
	return v / over
}

// along returns the derivative of a quantity along a direction, by a step so small that its
// square is nothing.
func along(q Quantity, x, direction []float64) float64 {
	const step = 1e-6
	near, far := make([]float64, len(x)), make([]float64, len(x))
	for j := range near {
		near[j], far[j] = x[j]-step*direction[j], x[j]+step*direction[j]
	}
	return (ratio(q, far) - ratio(q, near)) / (2 * step)
}

// least returns the coefficients of y by weighted least squares, by QR.
func (w *slow) least(t *testing.T, y *mat.Dense, weights []float64) *mat.Dense {
	t.Helper()
	x, z := mat.DenseCopyOf(w.x), mat.DenseCopyOf(y)
	for i, v := range weights {
		for j := range w.d.cols {
			x.Set(i, j, math.Sqrt(v)*x.At(i, j))
		}
		for j, u := range y.RawRowView(i) {
			z.Set(i, j, math.Sqrt(v)*u)
		}
	}
	var qr mat.QR
	qr.Factorize(x)
	var beta mat.Dense
	if err := qr.SolveTo(&beta, false, z); err != nil {
		t.Fatal(err)
	}
	return &beta
}

// nearest returns the mixture whose words are the nearest, by steps along the gradient.
func (w *slow) nearest(x []float64) []float64 {
	if slices.Min(x) >= 0 {
		return x
	}
	y := make([]float64, len(x))
	simplex.Project(y, x)
	rate := 1 / mat.Trace(w.gram)
	for range 20000 {
		next := make([]float64, len(x))
		for i := range next {
			g := 0.0
			for j := range x {
				g += w.gram.At(i, j) * (y[j] - x[j])
			}
			next[i] = y[i] - rate*g
		}
		simplex.Project(y, next)
	}
	return y
}
