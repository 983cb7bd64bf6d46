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
	y        *mat.Dense // M×N, the shares of words in documents
	own      []float64
	fits     []*slowFit
	terms    []termDesign
	gram     *mat.Dense
	borrowed []float64 // the variance that the numbers borrow
}

// slowFit is the regression on one design.
type slowFit struct {
	own     []float64
	d       *design
	x       *mat.Dense // M×P
	hat     []float64  // leverages
	pool    []float64  // the share of each document's variance that is that of all
	inverse *mat.Dense // (XᵀWX)⁻¹
}

func newSlowFit(t *testing.T, d *design, own []float64, cluster []int, clustered bool) *slowFit {
	t.Helper()
	w := &slowFit{own: own, d: d, x: mat.NewDense(len(own), d.cols, nil)}
	for i := range w.d.docs {
		at, v := w.d.row(i)
		for j, c := range at {
			w.x.Set(i, int(c), v[j])
		}
	}
	// The leverages are the diagonal of X·(XᵀWX)⁻¹·XᵀW, or its sums over the documents of a cluster.
	var gram, inverse, hat mat.Dense
	gram.Product(w.x.T(), mat.NewDiagDense(len(own), own), w.x)
	if err := inverse.Inverse(&gram); err != nil {
		t.Fatal(err)
	}
	hat.Product(w.x, &inverse, w.x.T())
	for i, v := range own {
		alone, h := v*hat.At(i, i), 0.0
		for j, v := range own {
			if cluster[j] == cluster[i] {
				h += v * hat.At(i, j)
			}
		}
		pool := 4 * alone / (1 - alone + 4*alone)
		if clustered {
			alone, pool = max(min(h, 0.9), alone), 0
		}
		w.hat, w.pool = append(w.hat, alone), append(w.pool, pool)
	}
	w.inverse = &inverse
	return w
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
	designs, err := newDesigns(ctx, s.Terms, c.Metadata(), w.own, s.Bootstrap.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	authors, _, err := c.Metadata().Categories("author")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range designs {
		w.fits = append(w.fits, newSlowFit(t, d, w.own, authors, s.Bootstrap.Cluster != ""))
	}
	quantities := quantities(m)
	w.terms = newSummary(designs, m.K(), quantities).terms
	value := w.numbers(t, m, nil, quantities)
	var replicates [][]float64
	s.Bootstrap.Cold = -1
	for r, err := range s.Bootstrap.Replicates(ctx, p, m, c) {
		if err != nil {
			t.Fatal(err)
		}
		replicates = append(replicates, w.numbers(t, r.Model, r.Weights, quantities))
	}
	// Every level has more clusters than there are replicates.
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
	// The numbers of a replicate are not bounded.
	number := func(q Quantity, x []float64) float64 {
		if weights != nil {
			return sumOf(q, x)
		}
		return sumOf(q, w.nearest(x))
	}
	var out []float64
	share := average(theta, by)
	for _, q := range quantities {
		out = append(out, number(q, share))
	}
	borrow := func(f *slowFit, c []float64) {
		for _, q := range quantities {
			if weights == nil {
				sum, total := 0.0, 0.0
				for i, v := range w.own {
					d := sumOf(q, theta.RawRowView(i)) - sumOf(q, share)
					sum, total = sum+v*d*d, total+v
				}
				w.borrowed = append(w.borrowed, sum/total*f.often(c))
			}
		}
	}
	borrow(w.fits[0], make([]float64, w.fits[0].d.cols))
	for _, x := range w.terms {
		f := w.fits[x.in]
		beta := f.least(t, theta, w.own)
		if weights != nil {
			beta = f.again(theta, beta, weights)
		}
		of := func(c []float64) []float64 {
			var y mat.Dense
			y.Mul(mat.NewDense(1, len(c), c), beta)
			return y.RawRowView(0)
		}
		mean := of(f.d.mean)
		for _, c := range x.predict {
			y, d := of(c), make([]float64, len(c))
			for _, q := range quantities {
				out = append(out, number(q, y))
			}
			for _, q := range quantities {
				out = append(out, number(q, y)-number(q, mean))
			}
			for j := range d {
				d[j] = c[j] - f.d.mean[j]
			}
			borrow(f, c)
			borrow(f, d)
		}
		if x.slope == nil {
			continue
		}
		for _, q := range quantities {
			out = append(out, sumOf(q, of(x.slope)))
		}
		borrow(f, x.slope)
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

// again returns the coefficients of a replicate: those of the documents' own weights and, by the
// weights of the replicate, what the enlarged distances from them add.
func (w *slowFit) again(theta, beta *mat.Dense, weights []float64) *mat.Dense {
	var fit, e, out mat.Dense
	fit.Mul(w.x, beta)
	own, all := 0.0, 0.0
	for i, v := range w.own {
		own, all = own+v, all+weights[i]
	}
	e.Apply(func(i, j int, v float64) float64 {
		return weights[i] * own / all * (v - fit.At(i, j)) * math.Sqrt(1-w.pool[i]) / (1 - w.hat[i])
	}, theta)
	out.Product(w.inverse, w.x.T(), &e)
	out.Add(&out, beta)
	return &out
}

// often returns how often the variance of one document goes into that of cᵀβ.
func (w *slowFit) often(c []float64) (sum float64) {
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

// sumOf returns what a quantity is for the proportions x.
func sumOf(q Quantity, x []float64) (v float64) {
	for _, k := range q.Topics {
		v += x[k]
	}
	return v
}

// least returns the coefficients of y by weighted least squares, by QR.
func (w *slowFit) least(t *testing.T, y *mat.Dense, weights []float64) *mat.Dense {
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
