package infer

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/jsmf-go/spectral/internal/vec"
)

// LeftToRight estimates the held-out probability of whole documents, integrated over topic
// proportions with a Dirichlet prior, by the left-to-right estimator (Wallach, Murray,
// Salakhutdinov and Mimno, ICML 2009; lee-2018 §1.4 uses it with α_k = 0.1). Each token is
// scored by a number of particles, which are Gibbs samples of the topics of the tokens before
// it. The estimate of p(document) is unbiased.
//
// The tokens of a document are put in a random order that depends on Seed and the
// document, as the sampling does. Cost: Particles·n²/2 draws for a document of n
// tokens.
type LeftToRight struct {
	Particles int    // samples of each document; 0: 20
	Seed      uint64 // of the random numbers
}

// Score estimates the probability of each document under the topics t.B (see Smooth)
// and the prior t.Alpha, or that of t.A. A document with a word in no topic has the
// probability 0. Errors: [*SettingError], [*TopicsError], documents that InferTo refuses,
// and that of ctx.
func (l LeftToRight) Score(ctx context.Context, t Topics, docs Documents, opt Options) (_ *HeldOut, err error) {
	defer named(&err)
	if l.Particles < 0 {
		return nil, &SettingError{"LeftToRight", "Particles", float64(l.Particles), "≥ 1, or 0 for 20"}
	}
	l.Particles = cmp.Or(l.Particles, 20)
	c, alpha, err := checkPrior(t)
	if err != nil {
		return nil, err
	}
	if err := checkDocuments(docs, c.n); err != nil {
		return nil, err
	}
	// An Inferer checks the documents.
	p := newInferer("LeftToRight", c, &leftToRight{l, c.rows(), alpha, vec.Sum(alpha)})
	return sumUp(ctx, docs, 1, opt, func(_, m int) (float64, int64, int64, error) {
		w := p.pool.Get().(*work)
		defer p.pool.Put(w)
		s := w.own.(*leftToRightScratch)
		s.log = 0
		ids, counts := docs.Doc(m)
		d, err := p.infer(ctx, s.dst, w, ids, counts)
		if d.Unknown > 0 {
			s.log = math.Inf(-1)
		}
		return s.log, int64(d.Tokens + d.Unknown), int64(d.Unknown), err
	})
}

type leftToRight struct {
	LeftToRight
	rows  *rows
	alpha []float64
	sum   float64
}

type leftToRightScratch struct {
	dst         []float64 // K: unused
	log         float64   // of the estimate
	t, cum      []float64 // K
	tokens, z   []int32
	p           []float64 // by token: the sum over the particles of its probability
	order, pcgZ rand.PCG
}

func (l *leftToRight) scratch() any {
	k := len(l.alpha)
	return &leftToRightScratch{dst: make([]float64, k), t: make([]float64, k), cum: make([]float64, k)}
}

func (l *leftToRight) infer(ctx context.Context, _ []float64, d *document, scratch any) (Status, int, error) {
	if err := d.checkWhole(); err != nil {
		return 0, 0, err
	}
	s := scratch.(*leftToRightScratch)
	d.seed(&s.order, l.Seed)
	d.seed(&s.pcgZ, l.Seed+1)
	s.tokens = s.tokens[:0]
	for i, w := range d.ids {
		for range int(d.x[i]) {
			s.tokens = append(s.tokens, w)
		}
	}
	n := len(s.tokens)
	for i := n - 1; i > 0; i-- {
		j := int(uniform(&s.order) * float64(i+1))
		s.tokens[i], s.tokens[j] = s.tokens[j], s.tokens[i]
	}
	if cap(s.z) < n {
		s.z, s.p = make([]int32, n), make([]float64, n)
	}
	z, p := s.z[:n], s.p[:n]
	clear(p)
	for range l.Particles {
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		copy(s.t, l.alpha)
		for i, w := range s.tokens {
			for j, v := range s.tokens[:i] {
				if j%looks == looks-1 && ctx.Err() != nil {
					return 0, 0, ctx.Err()
				}
				idx, val := l.rows.row(v)
				s.t[z[j]]--
				z[j] = draw(&s.pcgZ, idx, val, s.t, s.cum)
				s.t[z[j]]++
			}
			idx, val := l.rows.row(w)
			q := 0.0
			for j, k := range idx {
				q += val[j] * s.t[k]
			}
			p[i] += q / (l.sum + float64(i))
			z[i] = draw(&s.pcgZ, idx, val, s.t, s.cum)
			s.t[z[i]]++
		}
	}
	for _, v := range p {
		s.log += math.Log(v / float64(l.Particles))
	}
	return Converged, l.Particles, nil
}
