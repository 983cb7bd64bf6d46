package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// HeldOut is how probable a model finds documents.
type HeldOut struct {
	// PerToken is the mean of the natural logarithm of p(token) over all tokens:
	// −Inf where Impossible > 0, NaN where there are no tokens.
	PerToken float64
	Tokens   int64
	// Impossible counts tokens to which the model gives the probability 0. Topics
	// from anchor words have zeros: see Smooth.
	Impossible int64
	// Documents holds the sum of the logarithms of each document; 0 for empty
	// ones.
	Documents []float64
}

func (h *HeldOut) total(tokens, impossible []int64) {
	sum := 0.0
	for m, v := range h.Documents {
		sum += v
		h.Tokens += tokens[m]
		h.Impossible += impossible[m]
	}
	h.PerToken = sum / float64(h.Tokens)
}

// Smooth returns (1−share)·B + share·u1ᵀ: topics in which every word of the
// unigram distribution u has some probability. u has length N, is non-negative and is
// scaled to sum 1; share lies in [0, 1]. With the share 0.01 it is what the
// held-out probabilities of different models are best compared with.
func Smooth(b *mat.Dense, u []float64, share float64) (*mat.Dense, error) {
	n, k := dims(b)
	if len(u) != n || n == 0 {
		return nil, fmt.Errorf("infer: smooth: a unigram of %d words for topics of %d", len(u), n)
	}
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("infer: smooth: the share %g is not in [0, 1]", share)
	}
	sum := 0.0
	for i, v := range u {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("infer: smooth: the unigram of word %d is %g", i, v)
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("infer: smooth: the unigram sums to %g", sum)
	}
	out := mat.NewDense(n, k, nil)
	for i := range n {
		add := share * u[i] / sum
		to := out.RawRowView(i)
		for j, v := range b.RawRowView(i) {
			to[j] = (1-share)*v + add
		}
	}
	return out, nil
}

// Completion is the held-out probability by document completion: the composition
// of each document is inferred by p from its observed part, and scored on the
// held one, by Σ_k w_k B_nk for a token of word n. b is N×K; it may be another B
// than p's, smoothed for instance. observed and held have the same documents in
// the same order, as corpus.SplitTokens makes them.
//
// Compositions that are all zeros (AllZero) are replaced by the mean one. Errors:
// of shapes, those of Inferer.Infer, ctx's.
func Completion(ctx context.Context, p *Inferer, b *mat.Dense, observed, held Documents, opt Options) (*HeldOut, error) {
	if p == nil {
		return nil, errors.New("infer: completion: no inferer")
	}
	if observed == nil || held == nil {
		return nil, errors.New("infer: completion: no documents")
	}
	if o, h := observed.NumDocs(), held.NumDocs(); o != h {
		return nil, fmt.Errorf("infer: completion: %d documents observed, %d held out", o, h)
	}
	w, err := p.Infer(ctx, observed, opt)
	if err != nil {
		return nil, err
	}
	for m, d := range w.Docs {
		if d.Status == AllZero {
			w.W.SetRow(m, p.mean)
		}
	}
	return Score(ctx, w.W, b, held, opt)
}

// Score is the probability of documents with known compositions: w is M×K, b
// N×K, and a token of word n of document m has the probability Σ_k w_mk b_nk.
func Score(ctx context.Context, w, b *mat.Dense, docs Documents, opt Options) (*HeldOut, error) {
	m, k := dims(w)
	n, kb := dims(b)
	if docs == nil || m != docs.NumDocs() {
		return nil, fmt.Errorf("infer: score: %d compositions do not fit the documents", m)
	}
	if docs.NumWords() != n {
		return nil, &VocabularyError{docs.NumWords(), n}
	}
	if k != kb && m > 0 {
		return nil, fmt.Errorf("infer: score: compositions of %d topics, but B has %d", k, kb)
	}
	for _, x := range []struct {
		name string
		m    *mat.Dense
	}{{"w", w}, {"b", b}} {
		r, _ := dims(x.m)
		for i := range r {
			for j, v := range x.m.RawRowView(i) {
				if !(v >= 0) || math.IsInf(v, 1) {
					return nil, fmt.Errorf("infer: score: %s[%d, %d] is %g, no probability", x.name, i, j, v)
				}
			}
		}
	}
	h := &HeldOut{Documents: make([]float64, m)}
	tokens, impossible := make([]int64, m), make([]int64, m)
	err := inChunks(ctx, m, docChunk, opt, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			ids, counts := docs.Doc(i)
			if counts != nil && len(counts) != len(ids) {
				return fmt.Errorf("document %d: %w", i, &LengthError{"counts", len(counts), len(ids)})
			}
			theta := w.RawRowView(i)
			for j, id := range ids {
				if id < 0 || int(id) >= n {
					return fmt.Errorf("document %d: %w", i, &WordError{j, id, n})
				}
				c := int64(1)
				if counts != nil {
					c = int64(counts[j])
				}
				if c < 0 {
					return fmt.Errorf("document %d: %w", i, &WeightError{j, id, float64(c), "must be at least 0"})
				}
				if c == 0 {
					continue
				}
				p := 0.0
				for t, v := range b.RawRowView(int(id)) {
					p += theta[t] * v
				}
				tokens[i] += c
				if p == 0 {
					impossible[i] += c
				}
				h.Documents[i] += float64(c) * math.Log(p)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.total(tokens, impossible)
	return h, nil
}

// LeftToRight estimates the held-out probability of whole documents, integrated
// over compositions with a Dirichlet prior: the left-to-right estimator of Wallach,
// Murray, Salakhutdinov and Mimno (Evaluation methods for topic models, ICML 2009),
// which lee-2018 §1.4 uses with α_k = 0.1. Each token is scored by a number of
// particles, Gibbs samples of the topics of the tokens before it; the estimate of
// p(document) is unbiased.
//
// The tokens of a document are put in a random order that depends on Seed and the
// document, as the sampling does. Cost: for a document of n tokens Particles·n²/2
// draws.
type LeftToRight struct {
	// Particles is how many samples there are of each document; 0 means 20.
	Particles int
	// Seed of the random numbers.
	Seed uint64
}

// Score estimates the probability of each document under t's B (see Smooth) and
// α. A word in no topic is impossible: it makes the document's sum −Inf. Errors:
// *SettingError, *TopicsError, those of InferTo, ctx's.
func (l LeftToRight) Score(ctx context.Context, t Topics, docs Documents, opt Options) (*HeldOut, error) {
	if l.Particles < 0 {
		return nil, &SettingError{"LeftToRight", "Particles", float64(l.Particles), "≥ 1, or 0 for 20"}
	}
	if l.Particles == 0 {
		l.Particles = 20
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	alpha, err := c.alpha("LeftToRight")
	if err != nil {
		return nil, err
	}
	e := &leftToRight{l, c.rows, alpha, 0}
	for _, a := range alpha {
		e.sum += a
	}
	// As an inference whose result is one number, so that documents are checked
	// as everywhere.
	p := newInferer("LeftToRight", c, e)
	if docs == nil {
		return nil, errors.New("infer: left to right: no documents")
	}
	if n := docs.NumWords(); n != c.n {
		return nil, &VocabularyError{n, c.n}
	}
	m := docs.NumDocs()
	h := &HeldOut{Documents: make([]float64, m)}
	tokens, impossible := make([]int64, m), make([]int64, m)
	err = inChunks(ctx, m, 1, opt, func(_, lo, hi int) error {
		w := p.pool.Get().(*work)
		defer p.pool.Put(w)
		s := w.own.(*leftToRightScratch)
		for i := lo; i < hi; i++ {
			ids, counts := docs.Doc(i)
			if counts != nil && len(counts) != len(ids) {
				return fmt.Errorf("document %d: %w", i, &LengthError{"counts", len(counts), len(ids)})
			}
			s.ctx, s.log = ctx, 0
			d, err := p.infer(s.dst, w, ids, counts, nil)
			s.ctx = nil
			if err != nil {
				return fmt.Errorf("document %d: %w", i, err)
			}
			tokens[i], impossible[i] = int64(d.Tokens+d.Unknown), int64(d.Unknown)
			h.Documents[i] = s.log
			if d.Unknown > 0 {
				h.Documents[i] = math.Inf(-1)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.total(tokens, impossible)
	return h, nil
}

type leftToRight struct {
	LeftToRight
	rows  *rows
	alpha []float64
	sum   float64
}

type leftToRightScratch struct {
	ctx         context.Context
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

func (l *leftToRight) infer(_ []float64, d *document, scratch any) (Status, int, error) {
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
		copy(s.t, l.alpha)
		for i, w := range s.tokens {
			if i%64 == 0 && s.ctx.Err() != nil {
				return 0, 0, s.ctx.Err()
			}
			for j, v := range s.tokens[:i] {
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
