package rivals

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/vec"
)

// OnlineLDA is online variational inference of latent Dirichlet allocation (Hoffman,
// Blei and Bach 2010). Documents are taken in batches. After the t-th batch, counted
// from 0, the topics move towards what the batch alone would make of them, by the part
// ρ = (Tau + t + 1)^−Kappa. With Batch 0 and Kappa 0 every step is a full one from all
// documents, which is the variational inference of Blei, Ng and Jordan (2003).
type OnlineLDA struct {
	K          int
	Alpha, Eta float64 // the symmetric priors of proportions and topics
	Batch      int     // documents of a step; 0: all
	Tau, Kappa float64
	Passes     int // over the corpus
	Seed       uint64
}

// The updates of a document's proportions end when they change by less than ldaChange on
// average, or after ldaUpdates of them.
const (
	ldaChange  = 1e-3
	ldaUpdates = 50
)

// Fit fits the model. The proportions of a document start where the last pass over it
// left them. Only full batches have bounds.
func (o OnlineLDA) Fit(ctx context.Context, c *corpus.Corpus) (*Model, error) {
	if err := check(o.K, c); err != nil {
		return nil, err
	}
	docs, n, k := c.NumDocs(), c.NumWords(), o.K
	batch := o.Batch
	if batch <= 0 || batch > docs {
		batch = docs
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x01da))
	lambda, stats := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	for i := range n {
		for t := range k {
			lambda.Set(i, t, 0.5+rng.Float64())
		}
	}
	gamma := mat.NewDense(docs, k, nil)
	for m := range docs {
		for t := range k {
			gamma.Set(m, t, o.Alpha+float64(c.DocLen(m))/float64(k))
		}
	}
	out := &Model{}
	topics := mat.NewDense(n, k, nil) // exp E[ln B]
	step := 0
	for range o.Passes {
		order := rng.Perm(docs)
		for lo := 0; lo < docs; lo += batch {
			hi := min(lo+batch, docs)
			expectLog(topics, lambda)
			stats.Zero()
			bound := 0.0
			for _, m := range order[lo:hi] {
				if err := stopped(ctx, m); err != nil {
					return nil, err
				}
				bound += o.document(c, m, gamma.RawRowView(m), topics, stats)
			}
			if batch == docs {
				out.Bounds = append(out.Bounds, bound+topicsBound(lambda, o.Eta))
			}
			step++
			rho := math.Pow(o.Tau+float64(step), -o.Kappa)
			scale := float64(docs) / float64(hi-lo)
			for i := range n {
				l, s, e := lambda.RawRowView(i), stats.RawRowView(i), topics.RawRowView(i)
				for t := range l {
					l[t] = (1-rho)*l[t] + rho*(o.Eta+scale*s[t]*e[t])
				}
			}
		}
	}
	normaliseColumns(lambda)
	for m := range docs {
		vec.Normalise(gamma.RawRowView(m))
	}
	out.B, out.W, out.A = lambda, gamma, topicPairs(gamma)
	return out, nil
}

// expectLog sets dst to exp E[ln B] where the columns of B have Dirichlet
// distributions with the parameters lambda.
func expectLog(dst, lambda *mat.Dense) {
	n, k := lambda.Dims()
	sums := make([]float64, k)
	for i := range n {
		for t, v := range lambda.RawRowView(i) {
			sums[t] += v
		}
	}
	for t := range sums {
		sums[t] = mathext.Digamma(sums[t])
	}
	for i := range n {
		d := dst.RawRowView(i)
		for t, v := range lambda.RawRowView(i) {
			d[t] = math.Exp(mathext.Digamma(v) - sums[t])
		}
	}
}

// document updates the proportions γ of a document, adds its share of the expected
// counts, without the factor exp E[ln B], to stats, and returns its part of the bound.
func (o OnlineLDA) document(c *corpus.Corpus, m int, gamma []float64, topics, stats *mat.Dense) float64 {
	words, counts := c.Doc(m)
	k := len(gamma)
	theta, next := make([]float64, k), make([]float64, k) // exp E[ln θ]
	expect := func() {
		whole := mathext.Digamma(vec.Sum(gamma))
		for t, g := range gamma {
			theta[t] = math.Exp(mathext.Digamma(g) - whole)
		}
	}
	expect()
	for range ldaUpdates {
		clear(next)
		for i, w := range words {
			row := topics.RawRowView(int(w))
			share := float64(counts[i]) / vec.Dot(theta, row)
			for t, v := range row {
				next[t] += share * v
			}
		}
		change := 0.0
		for t := range gamma {
			g := o.Alpha + theta[t]*next[t]
			change += math.Abs(g - gamma[t])
			gamma[t] = g
		}
		expect()
		if change < ldaChange*float64(k) {
			break
		}
	}
	bound := 0.0
	for i, w := range words {
		row, s := topics.RawRowView(int(w)), stats.RawRowView(int(w))
		sum := vec.Dot(theta, row)
		bound += float64(counts[i]) * math.Log(sum)
		share := float64(counts[i]) / sum
		for t, v := range theta {
			s[t] += share * v
		}
	}
	return bound + dirichletBound(gamma, o.Alpha)
}

// topicsBound is the part of the bound that is about the topics.
func topicsBound(lambda *mat.Dense, eta float64) float64 {
	n, k := lambda.Dims()
	column, bound := make([]float64, n), 0.0
	for t := range k {
		bound += dirichletBound(mat.Col(column, t, lambda), eta)
	}
	return bound
}

// dirichletBound is E[ln p(x) − ln q(x)] of x with the Dirichlet distribution q with
// parameters q, and p with all parameters prior.
func dirichletBound(q []float64, prior float64) float64 {
	lgamma := func(x float64) float64 {
		v, _ := math.Lgamma(x)
		return v
	}
	sum := vec.Sum(q)
	whole, n := mathext.Digamma(sum), float64(len(q))
	bound := lgamma(n*prior) - n*lgamma(prior) - lgamma(sum)
	for _, v := range q {
		bound += lgamma(v) + (prior-v)*(mathext.Digamma(v)-whole)
	}
	return bound
}
