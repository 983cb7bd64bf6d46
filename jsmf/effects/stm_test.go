package effects

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// groupMeans are the mean proportions of three groups, which average to 1/3 each, and toneSlope
// is what a unit of tone adds to topic 0 and takes from topic 1.
var groupMeans = [3][3]float64{{.45, .33, .22}, {.22, .45, .33}, {.33, .22, .45}}

const toneSlope = .06

// planted are documents of three groups, each with a tone. Their proportions of three topics
// are Dirichlet distributed with precision 1, about means that are linear in both. Each
// topic has 200 words of its own, word i with a probability about proportional to 1/(1 + i).
// It returns the proportions too.
func planted(t *testing.T, docs, tokens int, seed uint64) (*corpus.Corpus, *mat.Dense) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	w := mat.NewDense(docs, 3, nil)
	b := corpus.Builder{Columns: []corpus.Column{{Name: "group", Kind: corpus.Category}, {Name: "tone", Kind: corpus.Number}}}
	for m := range docs {
		group, tone := m%3, 2*r.Float64()-1
		theta := groupMeans[group]
		theta[0] += toneSlope * tone
		theta[1] -= toneSlope * tone
		for k, a := range theta {
			theta[k] = distuv.Gamma{Alpha: a, Beta: 1, Src: r}.Rand()
		}
		floats.Scale(1/floats.Sum(theta[:]), theta[:])
		w.SetRow(m, theta[:])
		counts := map[string]int{}
		for range tokens {
			k, u := 0, r.Float64()
			for ; k < 2 && u > theta[k]; k++ {
				u -= theta[k]
			}
			word := int(math.Exp(r.Float64()*math.Log(201))) - 1
			counts[fmt.Sprintf("t%dw%03d", k, word)]++
		}
		err := b.AddCounts(strconv.Itoa(m), "", counts, corpus.CategoryOf(string(rune('a'+group))), corpus.NumberOf(tone))
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// composition is the method of composition (Treier and Jackman 2008) as estimateEffect of
// stm describes it (Roberts, Stewart and Tingley 2019): draw each document's
// proportions from its approximate posterior, here the Dirichlet distribution whose mean is
// the MAP and whose precision is the number of tokens and Σα; regress them on the terms by
// least squares; draw coefficients from their normal distribution; pool all draws. The
// topics are held fixed. It returns the mean of cᵀβ and its standard deviation for each
// vector c and topic.
func composition(t *testing.T, m *jsmf.Model, in *corpus.Corpus, d *design, vectors [][]float64, rounds, perRound int) (mean, sd [][]float64) {
	t.Helper()
	w, err := m.Transform(context.Background(), in.Source())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	n, p, k := len(d.docs), d.cols, m.K()
	x := dense(d)
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	var chol mat.Cholesky
	if !chol.Factorize(&gram) {
		t.Fatal("XᵀX is singular")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	var root mat.Cholesky // of the covariance divided by σ²
	root.Factorize(&inverse)
	var l mat.TriDense
	root.LTo(&l)
	draws := make([][][]float64, len(vectors))
	for i := range draws {
		draws[i] = make([][]float64, k)
	}
	y := mat.NewDense(n, k, nil)
	for range rounds {
		for i, doc := range d.docs {
			precision := w.Docs[doc].Tokens + floats.Sum(m.Alpha())
			row := y.RawRowView(i)
			for t := range row {
				row[t] = distuv.Gamma{Alpha: max(w.W.At(doc, t)*precision, 1e-6), Beta: 1, Src: r}.Rand()
			}
			floats.Scale(1/floats.Sum(row), row)
		}
		var xy, beta, residual mat.Dense
		xy.Mul(x.T(), y)
		if err := chol.SolveTo(&beta, &xy); err != nil {
			t.Fatal(err)
		}
		residual.Mul(x, &beta)
		residual.Sub(y, &residual)
		for t := range k {
			e := mat.Col(nil, t, &residual)
			sigma := math.Sqrt(floats.Dot(e, e) / float64(n-p))
			for range perRound {
				z, drawn := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
				for j := range p {
					z.SetVec(j, sigma*r.NormFloat64())
				}
				drawn.MulVec(&l, z)
				drawn.AddVec(drawn, beta.ColView(t))
				for i, c := range vectors {
					draws[i][t] = append(draws[i][t], floats.Dot(c, drawn.RawVector().Data))
				}
			}
		}
	}
	for i := range vectors {
		mean, sd = append(mean, make([]float64, k)), append(sd, make([]float64, k))
		for t := range k {
			mean[i][t], sd[i][t] = stat.MeanStdDev(draws[i][t], nil)
		}
	}
	return mean, sd
}

// dense returns X.
func dense(d *design) *mat.Dense {
	x := mat.NewDense(len(d.docs), d.cols, nil)
	for i := range d.docs {
		at, v := d.row(i)
		for j, c := range at {
			x.Set(i, int(c), v[j])
		}
	}
	return x
}

// compared is a number measured in both ways, with half of its 95 % interval.
type compared struct {
	name         string
	truth        float64 // from the true proportions of the documents
	size         float64 // the largest number of the kind
	ours, theirs float64
	our, their   float64 // half intervals
}

// compare measures the effects of group and tone both ways.
func compare(t *testing.T, docs, tokens, replicates int) (out []compared) {
	t.Helper()
	ctx := context.Background()
	in, truth := planted(t, docs, tokens, 3)
	// The method of composition draws from the posterior under a Dirichlet prior.
	p := jsmf.New(3).Refine(refine.Passes{Correlated: -1})
	m, err := p.Fit(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	s := Study{Terms: []Term{Category("group"), Spline("tone", 1)}, Bootstrap: jsmf.Bootstrap{Warm: replicates, Drawn: 3}}
	e, err := s.Run(ctx, p, m, in)
	if err != nil {
		t.Fatal(err)
	}
	ones := slices.Repeat([]float64{1}, docs)
	d, err := newDesign(ctx, s.Terms, in.Metadata(), ones)
	if err != nil {
		t.Fatal(err)
	}
	var beta [3][]float64 // of the true proportions
	for k := range beta {
		beta[k] = d.solve(t, mat.Col(nil, k, truth), ones)
	}
	var vectors [][]float64
	add := func(name string, size float64, c []float64, x []jsmf.Interval) {
		vectors = append(vectors, c)
		for k, v := range x {
			topic := m.Name(k)[1] // as in t0w134
			out = append(out, compared{
				name: fmt.Sprintf("%s, topic %c", name, topic), truth: floats.Dot(beta[topic-'0'], c), size: size,
				ours: v.Value, our: (v.High - v.Low) / 2,
			})
		}
	}
	for i, x := range e.Terms[1].Points {
		add("difference of group "+x.Label, .45-1./3, floats.SubTo(make([]float64, d.cols), d.terms[0].predict[i], d.mean), e.Terms[1].Differences[i])
	}
	add("slope of tone", toneSlope, d.terms[1].slope, e.Terms[3].Slopes)
	mean, sd := composition(t, m, in, d, vectors, 100, 20)
	for i := range out {
		out[i].theirs, out[i].their = mean[i/3][i%3], 1.96*sd[i/3][i%3]
		x := out[i]
		t.Logf("%-30s true %6.3f   ours %6.3f ± %.3f   composition %6.3f ± %.3f", x.name, x.truth, x.ours, x.our, x.theirs, x.their)
	}
	return out
}

// agreement is how far two ways to measure agree, over all numbers.
type agreement struct {
	ours, theirs float64 // the share of the true effects that is found, by least squares
	gap          float64 // the largest distance of the estimates, in sizes of the effect
	errors       float64 // the mean distance, in standard errors of the method of composition
	width        float64 // the mean of our intervals' widths in those of the other's
}

func agree(t *testing.T, all []compared) (a agreement) {
	t.Helper()
	n, square := float64(len(all)), 0.0
	for _, x := range all {
		d := math.Abs(x.ours - x.theirs)
		a.gap = max(a.gap, d/x.size)
		a.errors += d / (x.their / 1.96) / n
		a.width += x.our / x.their / n
		a.ours += x.truth * x.ours
		a.theirs += x.truth * x.theirs
		square += x.truth * x.truth
	}
	a.ours /= square
	a.theirs /= square
	t.Logf("of the true effects ours finds %.3f, the method of composition %.3f; the gap is at most %.3f of an effect and %.3f standard errors on average; ours are %.3f times as wide",
		a.ours, a.theirs, a.gap, a.errors, a.width)
	return a
}

// Where topics are certain, because they share no words, and documents are long, the method of
// composition and ours say the same. Estimates are within 5 % of the size of the effect, the
// prior of the one pulling by Σα in 3000 tokens, and the widths of intervals are within 10 % on
// average. (The standard deviation of one of ours, of 100 replicates, is 7 %.)
func TestMethodOfComposition(t *testing.T) {
	if testing.Short() {
		t.Skip("7 seconds")
	}
	testutil.NotWithRace(t)
	a := agree(t, compare(t, 150, 2000, 60))
	if a.gap > .05 || math.Abs(a.width-1) > .1 {
		t.Errorf("the methods do not agree: %+v", a)
	}
}

// Where documents are short, the prior pulls proportions together and the method of
// composition understates effects, and ours does not: it finds all of what the true proportions
// of the documents show, up to the noise of their words, 2 %.
func TestMethodOfCompositionShort(t *testing.T) {
	testutil.NotWithRace(t)
	a := agree(t, compare(t, 1500, 30, 5))
	if math.Abs(a.ours-1) > .06 || a.theirs > a.ours-.02 {
		t.Errorf("found %+v", a)
	}
}
