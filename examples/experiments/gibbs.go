package main

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/vec"
)

// The priors of the sampler, those that the papers' sampler has when nothing is
// said.
const (
	gibbsAlphaSum = 5.0
	gibbsBeta     = 0.01
)

// gibbsCost is about the seconds that sampling takes on a corpus of the size of nips17.
func gibbsCost(k, sweeps int) float64 { return (0.07 + 0.0022*float64(k)) * float64(sweeps) }

// sampled is a topic model by Gibbs sampling: B and A as of a Model.
type sampled struct {
	b, breve *mat.Dense
	a        *mat.SymDense
	w        *mat.Dense // M×K, the compositions
}

// sample runs a collapsed Gibbs sampler of latent Dirichlet allocation over the
// documents: the yardstick of the papers. B and the compositions are averaged over
// every tenth of the second half of the sweeps; A is the mean of wwᵀ. One
// goroutine, K operations a token and sweep, 4 bytes a token.
func sample(ctx context.Context, c *corpus.Corpus, k, sweeps int, seed uint64) (*sampled, error) {
	return newSampler(c, k, seed, nil, 0).run(ctx, sweeps)
}

func (g *sampler) run(ctx context.Context, sweeps int) (*sampled, error) {
	c, k := g.c, g.k
	n, docs := c.NumWords(), c.NumDocs()
	out := &sampled{b: mat.NewDense(n, k, nil), a: mat.NewSymDense(k, nil), w: mat.NewDense(docs, k, nil)}
	taken := 0
	for sweep := 1; sweep <= sweeps; sweep++ {
		if err := g.sweep(ctx); err != nil {
			return nil, err
		}
		if 2*sweep > sweeps && (sweep%10 == 0 || sweep == sweeps) {
			taken++
			g.add(out)
		}
	}
	out.b.Scale(1/float64(taken), out.b)
	out.w.Scale(1/float64(taken), out.w)
	out.a.SymOuterK(1/float64(docs), out.w.T())
	out.breve = wordTopics(out.b, out.a)
	return out, nil
}

// sampler is the state of the Markov chain.
type sampler struct {
	c                    *corpus.Corpus
	k                    int
	rng                  *rand.Rand
	topics               [][]int32 // of each token, in the order of the words
	byWord, byDoc, total []float64 // counts with the priors added
	scale                []float64 // 1/total
	cumulative           []float64
}

// newSampler gives each token a topic by chance, those of seeds that of the seed. The prior counts of a seed in its
// topic are strength times its uses, as in seeded LDA.
func newSampler(c *corpus.Corpus, k int, seed uint64, seeds map[int32]int, strength float64) *sampler {
	n, docs := c.NumWords(), c.NumDocs()
	g := &sampler{
		c: c, k: k, rng: rand.New(rand.NewPCG(seed, 0x61bb5)), topics: make([][]int32, docs),
		byWord: filled(n*k, gibbsBeta), byDoc: filled(docs*k, gibbsAlphaSum/float64(k)), total: filled(k, float64(n)*gibbsBeta),
		scale: make([]float64, k), cumulative: make([]float64, k),
	}
	for m := range docs {
		words, counts := c.Doc(m)
		g.topics[m] = make([]int32, 0, c.DocLen(m))
		for i, w := range words {
			for range counts[i] {
				t, seeded := seeds[w]
				if seeded {
					g.byWord[int(w)*k+t] += strength
					g.total[t] += strength
				} else {
					t = g.rng.IntN(k)
				}
				g.topics[m] = append(g.topics[m], int32(t))
				g.byWord[int(w)*k+t]++
				g.byDoc[m*k+t]++
				g.total[t]++
			}
		}
	}
	for t := range k {
		g.scale[t] = 1 / g.total[t]
	}
	return g
}

// sweep draws the topic of every token anew.
func (g *sampler) sweep(ctx context.Context) error {
	c, k, rng, total := g.c, g.k, g.rng, g.total
	for m := range c.NumDocs() {
		if m%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		words, counts := c.Doc(m)
		doc := g.byDoc[m*k:][:k]
		scale, cumulative := g.scale[:len(doc)], g.cumulative[:len(doc)] // the compiler then checks no index below
		topics := g.topics[m]
		at := 0
		for i, id := range words {
			word := g.byWord[int(id)*k:][:len(doc)]
			for range counts[i] {
				old := topics[at]
				doc[old]--
				word[old]--
				total[old]--
				scale[old] = 1 / total[old]
				sum := 0.0
				for t, d := range doc {
					sum += d * word[t] * scale[t]
					cumulative[t] = sum
				}
				u := rng.Float64() * sum
				t := int32(0)
				for t < int32(k-1) && cumulative[t] <= u {
					t++
				}
				topics[at] = t
				doc[t]++
				word[t]++
				total[t]++
				scale[t] = 1 / total[t]
				at++
			}
		}
	}
	return nil
}

// add adds B and the compositions of the state to the sums in out.
func (g *sampler) add(out *sampled) {
	k := g.k
	for i := range g.c.NumWords() {
		for t := range k {
			out.b.Set(i, t, out.b.At(i, t)+g.byWord[i*k+t]*g.scale[t])
		}
	}
	for m := range g.c.NumDocs() {
		for t := range k {
			out.w.Set(m, t, out.w.At(m, t)+g.byDoc[m*k+t]/(float64(g.c.DocLen(m))+gibbsAlphaSum))
		}
	}
}

// wordTopics returns p(topic | word) by Bayes' rule.
func wordTopics(b *mat.Dense, a *mat.SymDense) *mat.Dense {
	n, k := b.Dims()
	shares := make([]float64, k)
	for t := range k {
		for s := range k {
			shares[t] += a.At(t, s)
		}
	}
	out := mat.NewDense(n, k, nil)
	for i := range n {
		vec.Posterior(out.RawRowView(i), b.RawRowView(i), shares)
	}
	return out
}

func filled(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
