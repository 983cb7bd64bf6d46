package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// hullsGroup is lee-2018 Figures 1.4 to 1.9.
var hullsGroup = &group{
	name: "hulls", version: 1,
	labels: []string{"corpus", "method", "k"},
	// distance is the Topic Dissimilarity of lee-2018 eq. 1.9, soft_rank that of eq.
	// 1.11, hard_rank counts from 0; tops is the share of topics whose first word is
	// that of no other, unigram ln p of a held-out token by the words' own frequencies.
	measures: []string{"recovery", "entropy", "specificity", "distance", "dissimilarity", "coherence", "npmi", "hard_rank", "soft_rank", "tops", "held_out", "unigram"},
	seconds:  []string{"seconds"},
}

// hullTopicsGroup is lee-2018 Tables 1.2 and 1.3: a row for each topic of the models
// with all vertices, or as many greedy anchors as there are topics at most.
var hullTopicsGroup = &group{
	name: "hulls-topics", version: 1,
	labels: []string{"corpus", "method", "topic", "anchor"},
	// documents is how many the anchor is in; closest is, of a topic of t-SNE, the
	// nearest of PCA and of Greedy.
	measures: []string{"documents", "hard_rank", "soft_rank", "words", "closest_PCA", "closest_Greedy"},
}

// The settings of lee-2018 §1.4: documents of at least ten tokens, words with at least
// 100, anchors in more than three documents, a twentieth of the documents held out,
// α_k = 0.1, and what anchors get in foreign topics for the sake of held-out documents.
const (
	hullDocs     = 20000 // taken of a corpus at most
	hullTokens   = 10
	hullCount    = 100
	hullMinDocs  = 4
	hullHeld     = 0.05
	hullAlpha    = 0.1
	hullAnchors  = 1e-5
	hullTrials   = 5
	hullScored   = 20000 // held-out tokens that are scored at most
	hullParticle = 5
)

const (
	tSNE           = "t-SNE"
	pca            = "PCA"
	greedy         = "Greedy"
	unprojected    = "Greedy, not projected"
	normalisedTSNE = "t-SNE, normalised rows"
	normalisedPCA  = "PCA, normalised rows"
)

// hullWays are the ways to anchors of lee-2018 §1.4, which embeds the rows of C; the
// greedy one without random projection; and embeddings of the rows of C̄.
var hullWays = []string{tSNE, pca, greedy, unprojected, normalisedTSNE, normalisedPCA}

// hullFinder returns the finder of one of hullWays. dims is the dimension of an
// embedding.
func hullFinder(name string, dims int) anchor.Finder {
	switch name {
	case tSNE, normalisedTSNE:
		return anchor.Hull{Unnormalised: name == tSNE, Dims: dims, TSNE: &tsne.Settings{}, MinDocs: hullMinDocs}
	case pca, normalisedPCA:
		return anchor.Hull{Unnormalised: name == pca, Dims: dims, MinDocs: hullMinDocs}
	case greedy:
		return anchor.Projected{Sparse: true, NoCleanUp: true, MinDocs: hullMinDocs}
	}
	return anchor.QR{MinDocs: hullMinDocs}
}

// hullCorpus is a corpus of lee-2018 chapter 1, and the anchors found in it so far.
type hullCorpus struct {
	l     *lab
	s     *source
	train *cooc.Moments
	held  *corpus.Corpus // over the words of train
	rows  cooc.Rows
	found map[string]*anchor.Result // by finder and seed
}

// prepare reads the corpus once.
func (h *hullCorpus) prepare(ctx context.Context) error {
	if h.train != nil {
		return nil
	}
	c, err := h.s.curateSome(ctx, hullDocs, corpus.Curation{MinCount: hullCount, MinTokens: hullTokens, Words: h.l.words})
	if err != nil {
		return err
	}
	d, held, err := h.l.holdDocs(ctx, c, hullHeld)
	if err != nil {
		return err
	}
	if h.held, err = someTokens(held, hullScored); err != nil {
		return err
	}
	if h.rows, err = rowsOf(ctx, rectify.None{}, d, 2, h.l.seed, h.l.workers); err != nil {
		return err
	}
	h.train, h.found = d, make(map[string]*anchor.Result)
	return nil
}

// forget frees the memory.
func (h *hullCorpus) forget() { *h = hullCorpus{l: h.l, s: h.s} }

// rowsOf returns the rows of a rectified matrix.
func rowsOf(ctx context.Context, r rectify.Rectifier, d *cooc.Moments, k int, seed uint64, workers int) (cooc.Rows, error) {
	res, err := r.Rectify(ctx, d, k, rectify.Options{Seed: seed, Workers: workers})
	if err != nil {
		return nil, err
	}
	return res.Rows(ctx, workers)
}

// someTokens returns the first documents of a corpus, with at most the given number of
// tokens together, and the first in any case.
func someTokens(c *corpus.Corpus, tokens int64) (*corpus.Corpus, error) {
	var docs []int
	for m := range c.NumDocs() {
		if tokens -= c.DocLen(m); tokens < 0 && m > 0 {
			break
		}
		docs = append(docs, m)
	}
	return c.Select(docs, nil)
}

// anchors finds those of a way: all vertices of an embedding, or as many greedy ones as
// there are topics at most. Those found before are remembered.
func (h *hullCorpus) anchors(ctx context.Context, way string, dims int, seed uint64) (*anchor.Result, error) {
	if err := h.prepare(ctx); err != nil {
		return nil, err
	}
	f := hullFinder(way, dims)
	key := fmt.Sprint(f, seed)
	if r := h.found[key]; r != nil {
		return r, nil
	}
	k := 0
	if _, hull := f.(anchor.Hull); !hull {
		k = slices.Max(h.l.topics)
	}
	c := h.train.Info().Corpus
	r, err := f.Find(ctx, h.rows, k, anchor.Options{DocFrequencies: c.DocFrequencies(), Docs: c.NumDocs(), Seed: seed, Workers: h.l.workers})
	if err != nil {
		return nil, err
	}
	h.found[key] = r
	return r, nil
}

// fit recovers the topics of the first k anchors of a way, all where k is 0, and
// measures them; nil where there are fewer.
func (h *hullCorpus) fit(ctx context.Context, way string, k int) (*jsmf.Model, *metrics.Report, error) {
	r, err := h.anchors(ctx, way, 3, h.l.seed)
	if err != nil {
		return nil, nil, err
	}
	if k == 0 {
		k = len(r.Anchors)
	}
	if k > len(r.Anchors) {
		return nil, nil, nil
	}
	p := asPublished(k).Rectify(rectify.None{}).Anchors(anchor.Fixed{Numbers: r.Anchors[:k]}).Recover(recovery.L2()).Workers(h.l.workers)
	return fitted(ctx, p, h.train)
}

// planHulls makes the cells of a corpus × way × K, and those of a corpus.
func planHulls(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for i, name := range l.hulls {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		h := &hullCorpus{l: l, s: s}
		set := func(more ...any) []setting {
			return settings(append([]any{"corpus", name, "n", l.words, "seed", l.seed, "input", s.digest}, more...)...)
		}
		for _, way := range hullWays {
			for _, k := range l.topics {
				x := set("method", way, "k", k, "finder", hullFinder(way, 3), "most", slices.Max(l.topics))
				out = append(out, cell{hullsGroup, x, 2 + float64(k)/10, func(ctx context.Context) ([]row, error) { return h.measure(ctx, way, k) }})
			}
		}
		out = append(out, cell{hullTopicsGroup, set("most", slices.Max(l.topics)), 10, h.topics})
		if i == 0 {
			out = append(out, cell{pointsGroup, set("points", maxPoints), 10, h.points})
		}
		out = append(out, cell{hullShapesGroup, set("trials", hullTrials), 30, h.shapes})
	}
	return out, nil
}

// measure is a row of hullsGroup, none where the hull has too few vertices.
func (h *hullCorpus) measure(ctx context.Context, way string, k int) ([]row, error) {
	begun := cpuSeconds()
	m, rep, err := h.fit(ctx, way, k)
	if err != nil || m == nil {
		return nil, err
	}
	r := row{"corpus": h.s.name, "method": way}
	r.set("k", k)
	r.set("recovery", rep.Recovery.Mean).set("entropy", rep.Entropy.Mean).set("specificity", rep.Specificity.Mean)
	r.set("distance", rep.TopicDissimilarity).set("dissimilarity", rep.Dissimilarity.Mean)
	r.set("coherence", rep.Coherence.Mean).set("npmi", rep.NPMI.Mean)
	r.set("hard_rank", rep.BasisRank.Mean-1).set("soft_rank", rep.SoftBasisRank.Mean)
	b := mat.DenseCopyOf(m.Topics())
	lists, err := metrics.TopLists(b, 1)
	if err != nil {
		return nil, err
	}
	r.set("tops", singleTops(lists))
	for _, i := range m.Anchors() {
		for j := range k {
			if b.At(i, j) == 0 {
				b.Set(i, j, hullAnchors)
			}
		}
	}
	for j := range k {
		col := b.ColView(j).(*mat.VecDense)
		col.ScaleVec(1/mat.Sum(col), col)
	}
	alpha := filled(k, hullAlpha)
	held, err := leftToRight(ctx, infer.Topics{B: b, Alpha: alpha}, h.held, hullParticle, h.l.seed, h.l.workers)
	if err != nil {
		return nil, err
	}
	r.set("held_out", held).set("unigram", h.unigram())
	return []row{r.set("seconds", cpuSeconds()-begun)}, nil
}

// singleTops returns the share of lists whose first word begins no other.
func singleTops(lists [][]int) float64 {
	n := make(map[int]int)
	for _, l := range lists {
		n[l[0]]++
	}
	single := 0
	for _, times := range n {
		if times == 1 {
			single++
		}
	}
	return float64(single) / float64(len(lists))
}

// unigram is ln p of a held-out token by the frequencies of the training documents.
func (h *hullCorpus) unigram() float64 {
	train := h.train.Info().Corpus
	counts, sum := train.WordCounts(), 0.0
	for i, n := range h.held.WordCounts() {
		if n > 0 {
			sum += float64(n) * math.Log(float64(counts[i])/float64(train.Tokens()))
		}
	}
	return sum / float64(h.held.Tokens())
}

// topics are the rows of hullTopicsGroup.
func (h *hullCorpus) topics(ctx context.Context) ([]row, error) {
	var rows []row
	var first *mat.Dense // t-SNE's topics
	for _, way := range hullWays[:3] {
		m, rep, err := h.fit(ctx, way, 0)
		if err != nil {
			return nil, err
		}
		df := h.train.Info().Corpus.DocFrequencies()
		b := mat.DenseCopyOf(m.Topics())
		for j, i := range m.Anchors() {
			r := row{"corpus": h.s.name, "method": way, "anchor": m.Word(i), "words": strings.Join(wordsOf(m.TopWords(j, 8)), " ")}
			r.set("topic", j+1).set("documents", df[i]).set("hard_rank", rep.BasisRank.Values[j]-1).set("soft_rank", rep.SoftBasisRank.Values[j])
			rows = append(rows, r)
		}
		if first == nil {
			first = b
			continue
		}
		_, k := first.Dims()
		for j := range k {
			at, _ := closest(first.ColView(j), b)
			rows[j].set("closest_"+way, at+1)
		}
	}
	return rows, nil
}
