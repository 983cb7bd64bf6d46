package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// HeldOut is the probability of documents under a model.
type HeldOut struct {
	PerToken   float64 // the mean of ln p(token): −Inf where Impossible > 0, NaN without tokens
	Tokens     int64
	Impossible int64     // tokens with probability 0. Topics from anchor words have zeros: see Smooth
	Documents  []float64 // the sum of ln p(token) over each document; 0 for empty ones
}

// sumUp scores documents one by one, on their own goroutines by opt: score returns the
// log-probability of document m, its tokens, and how many of them have probability 0.
func sumUp(ctx context.Context, docs Documents, chunk int, opt Options, score func(worker, m int) (float64, int64, int64, error)) (*HeldOut, error) {
	n := docs.NumDocs()
	h := &HeldOut{Documents: make([]float64, n)}
	tokens, impossible := make([]int64, n), make([]int64, n)
	err := parallel.Progress(ctx, n, chunk, opt.Workers, opt.Progress, func(worker, lo, hi int) (err error) {
		for m := lo; m < hi; m++ {
			if h.Documents[m], tokens[m], impossible[m], err = score(worker, m); err != nil {
				return fmt.Errorf("document %d: %w", m, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for m, v := range h.Documents {
		sum += v
		h.Tokens += tokens[m]
		h.Impossible += impossible[m]
	}
	h.PerToken = sum / float64(h.Tokens)
	return h, nil
}

// Smooth returns (1−share)·B + share·u1ᵀ: topics in which every word of the unigram
// distribution u has some probability. u has length N, is non-negative and is scaled
// to sum 1; share lies in [0, 1]. Smooth the topics of different models alike, say
// with a share of 0.01, before their held-out probabilities are compared.
func Smooth(b *mat.Dense, u []float64, share float64) (_ *mat.Dense, err error) {
	defer named(&err)
	n, k := dims(b)
	if len(u) != n || n == 0 {
		return nil, fmt.Errorf("smooth: a unigram of %d words for topics of %d", len(u), n)
	}
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("smooth: the share %g is not in [0, 1]", share)
	}
	sum := 0.0
	for i, v := range u {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("smooth: the unigram of word %d is %g", i, v)
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("smooth: the unigram sums to %.9g", sum)
	}
	out := mat.NewDense(n, k, nil)
	for i := range n {
		add := share * u[i] / sum
		to := out.RawRowView(i)
		for j, v := range b.RawRowView(i) {
			to[j] = float64((1-share)*v) + add
		}
	}
	return out, nil
}

// Completion measures the held-out probability by document completion. p infers the
// topic proportions of each document from its observed part; the held part is scored
// by Score. b is N×K and may differ from the B of p, for instance be smoothed. observed
// and held have the same documents in the same order, as corpus.Corpus.SplitTokens returns
// them. Proportions that are all zeros ([AllZero]) are replaced by the topic shares.
//
// It fails where Infer and Score do.
func Completion(ctx context.Context, p *Inferer, b *mat.Dense, observed, held Documents, opt Options) (_ *HeldOut, err error) {
	defer named(&err)
	if p == nil {
		return nil, errors.New("completion: no inferer")
	}
	if observed == nil || held == nil {
		return nil, errors.New("completion: no documents")
	}
	if o, h := observed.NumDocs(), held.NumDocs(); o != h {
		return nil, fmt.Errorf("completion: %d documents observed, %d held out", o, h)
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

// Score measures the probability of documents with known topic proportions w (M×K)
// under the topics b (N×K): a token of word n in document m has the probability
// Σ_k w_mk b_nk. It fails for shapes that do not fit, entries that are no probabilities,
// documents that InferTo refuses, and with the error of ctx. Probabilities are found in
// float32: the error of a ln p(token) is some 1e-7. Memory: 4·N·K bytes.
func Score(ctx context.Context, w, b *mat.Dense, docs Documents, opt Options) (_ *HeldOut, err error) {
	defer named(&err)
	m, k := dims(w)
	n, kb := dims(b)
	if err := checkDocuments(docs, n); err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	if docs := docs.NumDocs(); m != docs {
		return nil, fmt.Errorf("score: topic proportions of %d documents for %d documents", m, docs)
	}
	if k != kb && m > 0 {
		return nil, fmt.Errorf("score: proportions of %d topics, but B has %d", k, kb)
	}
	for _, x := range []struct {
		name string
		m    *mat.Dense
	}{{"w", w}, {"b", b}} {
		if i, j, ok := improbable(x.m); ok {
			return nil, fmt.Errorf("score: %s[%d, %d] is %g, no probability", x.name, i, j, x.m.At(i, j))
		}
	}
	rows := estep.NewRows(n, kb)
	for i := range n {
		to := rows.Row(i)
		for j, v := range b.RawRowView(i) {
			to[j] = float32(v)
		}
	}
	scorers := make([]*scorer, m/docChunk+1) // by worker, no more than chunks
	return sumUp(ctx, docs, docChunk, opt, func(worker, m int) (float64, int64, int64, error) {
		if scorers[worker] == nil {
			scorers[worker] = &scorer{Worker: estep.NewWorker(kb), b: b, rows: rows}
		}
		ids, counts := docs.Doc(m)
		return scorers[worker].score(w.RawRowView(m), ids, counts)
	})
}

// scorer finds the probabilities of documents. A goroutine needs its own.
type scorer struct {
	*estep.Worker
	b      *mat.Dense
	rows   *estep.Rows // b
	counts []float32
}

// score returns the log-probability of a document with the topic proportions theta,
// the number of its tokens, and how many of them have probability 0.
func (s *scorer) score(theta []float64, ids, counts []int32) (sum float64, tokens, impossible int64, err error) {
	if counts != nil && len(counts) != len(ids) {
		return 0, 0, 0, fmt.Errorf("%d counts for %d words", len(counts), len(ids))
	}
	count := func(i int) int64 {
		if counts == nil {
			return 1
		}
		return int64(counts[i])
	}
	s.counts = vec.Resize(s.counts, len(ids))
	for i, id := range ids {
		x := count(i)
		if err := checkWord(s.rows.N, i, id, float64(x)); err != nil {
			return 0, 0, 0, err
		}
		s.counts[i] = float32(x)
		tokens += x
	}
	for k, v := range theta {
		s.T[k] = float32(v)
	}
	if sum, err = s.Score(s.rows, ids, s.counts); err == nil {
		return sum, tokens, 0, nil
	}
	sum = 0 // a probability is too small for float32
	for i, id := range ids {
		x := count(i)
		if x == 0 {
			continue
		}
		p := 0.0
		for k, v := range s.b.RawRowView(int(id)) {
			p += float64(theta[k] * v)
		}
		if p == 0 {
			impossible += x
		}
		sum += float64(float64(x) * arith.Log(p))
	}
	return sum, tokens, impossible, nil
}
