package refine_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/recover/refine"
)

// transcript is Passes as its comment describes it, in float64, with every responsibility
// of every pair of a document and a word in the open, for a start without topics to merge.
type transcript struct {
	refine.Passes
	x, hidden [][]float64 // counts, M×N: all, and the hidden ones of these
	half      []int       // of each document
	weight    []float64   // of each document
	unigram   []float64
	alpha     []float64
	b, nw     [][]float64 // N×K
	nd        [][]float64 // M×K
	history   []refine.Score
}

func grid(r, c int) [][]float64 {
	g := make([][]float64, r)
	for i := range g {
		g[i] = make([]float64, c)
	}
	return g
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

func newTranscript(t *testing.T, p refine.Passes, c *corpus.Corpus, b *mat.Dense) *transcript {
	n, k := b.Dims()
	m := c.NumDocs()
	s := &transcript{Passes: p, x: grid(m, n), hidden: grid(m, n), half: make([]int, m), weight: make([]float64, m), unigram: make([]float64, n), alpha: make([]float64, k), b: grid(n, k), nw: grid(n, k), nd: grid(m, k)}
	for t := range s.alpha {
		s.alpha[t] = p.Alpha
	}
	keys := keysOf(t, c.Source())
	hidden := 0.0
	for d := range m {
		if s.weight[d] = 1; c.Weights() != nil {
			s.weight[d] = c.Weights()[d]
		}
		words, counts := c.Doc(d)
		s.half[d] = int(keys[d] & 1)
		token := 0
		for i, w := range words {
			s.x[d][w] = float64(counts[i])
			if s.weight[d] == 0 {
				s.x[d][w] = 0
			}
			for range int(s.x[d][w]) {
				if token++; token%2 == 0 && holdout.HeldOut(keys[d]) {
					s.hidden[d][w]++
					hidden++
				}
			}
		}
	}
	if hidden < 2000 {
		s.hidden = grid(m, n)
	}
	tokens := 0.0
	for d, x := range s.x {
		tokens += s.weight[d] * total(x)
		for w, v := range x {
			s.unigram[w] += s.weight[d] * v
		}
	}
	for w := range n {
		s.unigram[w] = (s.unigram[w] + p.Beta) / (tokens + p.Beta*float64(n))
		for t := range k {
			s.b[w][t] = 0.99*b.At(w, t) + 0.01*s.unigram[w]
		}
	}
	return s
}

// keysOf returns the numbers by which documents are chosen.
func keysOf(t *testing.T, src corpus.Source) (keys []uint64) {
	e, err := corpus.Encode(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	var block corpus.Block
	for i := range e.Blocks() {
		if err := e.Block(i, &block); err != nil {
			t.Fatal(err)
		}
		for d := range block.Docs() {
			keys = append(keys, block.Key(d))
		}
	}
	return keys
}

// theta is the posterior mean of a document's topic proportions, by what the document's
// topic counts are.
func (s *transcript) theta(d int) []float64 {
	theta := make([]float64, len(s.alpha))
	for t, a := range s.alpha {
		theta[t] = (s.nd[d][t] + a) / (total(s.nd[d]) + total(s.alpha))
	}
	return theta
}

func normal(g []float64) []float64 {
	sum := total(g)
	for t := range g {
		g[t] /= sum
	}
	return g
}

// shared are the responsibilities of a word in a document; with out one token is left out.
func (s *transcript) shared(d, w int, out bool) []float64 {
	g := s.theta(d)
	for t := range g {
		g[t] *= s.b[w][t]
	}
	normal(g)
	if !out {
		return g
	}
	for t, v := range g {
		g[t] = max(s.nd[d][t]+s.alpha[t]-v, 1e-8) * s.b[w][t]
	}
	return normal(g)
}

// count returns the document's topic counts, by words that occur x times, and adds the
// tokens to nw.
func (s *transcript) count(d int, x []float64, out bool, nw [][]float64) []float64 {
	nd := make([]float64, len(s.alpha))
	for w, v := range x {
		if v > 0 {
			for t, g := range s.shared(d, w, out) {
				nd[t] += v * g
				nw[w][t] += s.weight[d] * v * g
			}
		}
	}
	return nd
}

// loglik is Σ x·ln p, with p mixed with a share of the unigram distribution.
func (s *transcript) loglik(d int, x []float64, share float64) float64 {
	theta, sum := s.theta(d), 0.0
	for w, v := range x {
		if v > 0 {
			p := 0.0
			for t, q := range theta {
				p += q * s.b[w][t]
			}
			sum += v * math.Log((1-share)*p+share*s.unigram[w])
		}
	}
	return sum
}

// visible are the tokens of a document that a pass learns from.
func (s *transcript) visible(d int, closing bool) []float64 {
	x := slices.Clone(s.x[d])
	for w, v := range s.hidden[d] {
		if !closing {
			x[w] -= v
		}
	}
	return x
}

// score adds a document to the score of the state.
func (s *transcript) score(h *refine.Score, tokens, hidden *float64, d int, closing bool) {
	x := s.visible(d, closing)
	weight := s.weight[d]
	h.LogLik += weight * s.loglik(d, x, 0)
	*tokens += weight * total(x)
	if !closing {
		h.HeldOut += weight * s.loglik(d, s.hidden[d], 0.01)
		*hidden += weight * total(s.hidden[d])
	}
}

func (s *transcript) pass(first, closing bool) {
	k, halves := len(s.alpha), []int{0, 1}
	if first || closing {
		halves = []int{-1}
	}
	h, tokens, hidden := refine.Score{}, 0.0, 0.0
	all := 0.0
	for d := range s.x {
		all += s.weight[d] * total(s.visible(d, closing))
	}
	for _, half := range halves {
		fresh, before := grid(len(s.b), k), tokens
		for d := range s.x {
			if half >= 0 && s.half[d] != half {
				continue
			}
			x := s.visible(d, closing)
			if first {
				for range 10 {
					s.nd[d] = s.count(d, x, false, grid(len(s.b), k))
				}
			}
			s.score(&h, &tokens, &hidden, d, closing)
			heldOut := !closing && total(s.hidden[d]) > 0
			s.nd[d] = s.count(d, x, !first && !heldOut, fresh)
		}
		for w, row := range fresh {
			for t, v := range row {
				if half >= 0 {
					v = 0.25*s.nw[w][t] + 0.75*v*all/(tokens-before)
				}
				s.nw[w][t] = v
			}
		}
		s.topics()
	}
	s.note(h, tokens, hidden)
}

func (s *transcript) topics() {
	for t := range s.alpha {
		sum := 0.0
		for _, row := range s.nw {
			sum += row[t] + s.Beta
		}
		for w, row := range s.nw {
			s.b[w][t] = (row[t] + s.Beta) / sum
		}
	}
}

func (s *transcript) note(h refine.Score, tokens, hidden float64) {
	h.LogLik, h.HeldOut = h.LogLik/tokens, h.HeldOut/hidden
	s.history = append(s.history, h)
}

// moments is A by its definition.
func (s *transcript) moments() [][]float64 {
	k, docs := len(s.alpha), 0.0
	a := grid(k, k)
	for d, x := range s.x {
		if total(x) == 0 {
			continue
		}
		docs += s.weight[d]
		theta, sum := s.theta(d), total(s.nd[d])+total(s.alpha)
		for i, x := range theta {
			for j, y := range theta {
				a[i][j] += s.weight[d] * sum * x * y / (sum + 1)
				if i == j {
					a[i][j] += s.weight[d] * x / (sum + 1)
				}
			}
		}
	}
	for _, row := range a {
		for j := range row {
			row[j] /= docs
		}
	}
	return a
}

// alone is Result.Alone by its definition.
func (s *transcript) alone() []float64 {
	out, all := make([]float64, len(s.alpha)), make([]float64, len(s.alpha))
	for d, x := range s.x {
		if total(x) == 0 {
			continue
		}
		for t, v := range s.theta(d) {
			all[t] += s.weight[d] * v
			if n := s.nd[d][t]; n > total(s.nd[d])/2 {
				out[t] += s.weight[d] * n / total(s.nd[d])
			}
		}
	}
	for t, v := range all {
		out[t] /= v
	}
	return out
}

// reading are the reading weights by their definition.
func (s *transcript) reading() [][]float64 {
	docs, read, pairs, df := 0.0, 0.0, 0.0, make([]float64, len(s.b))
	out := grid(len(s.b), len(s.alpha))
	for d, x := range s.x {
		if total(x) > 0 {
			docs += s.weight[d]
			read++
		}
		for w, v := range x {
			if v > 0 {
				pairs++
				df[w] += s.weight[d]
				for t, g := range s.shared(d, w, false) {
					out[w][t] += s.weight[d] * g
				}
			}
		}
	}
	if pairs < 8*read {
		return s.b
	}
	uses, topic, all := make([]float64, len(out)), make([]float64, len(s.alpha)), 0.0
	for w, row := range out {
		for t, v := range row {
			uses[w] += v
			topic[t] += v
			all += v
		}
	}
	for t := range s.alpha {
		sum := 0.0
		for w := range out {
			if x := out[w][t]; df[w] > 0 {
				lift := (x / uses[w]) / (topic[t] / all)
				out[w][t] = max(x-2*math.Sqrt(x), 0) * max(math.Log(lift), 0) * math.Log(docs/df[w])
			}
			sum += out[w][t]
		}
		for w := range out {
			if sum > 0 {
				out[w][t] /= sum
			}
		}
	}
	return out
}
