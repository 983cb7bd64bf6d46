package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

var semiGroup = &group{
	name: "semi", version: 1,
	labels: []string{"corpus", "documents", "method", "k"},
	measures: append([]string{"b_l1", "a_frobenius", "anchors_found", "w_l2", "a_from_w"},
		measured...),
	seconds: []string{"seconds"},
}

// The documents drawn: those of lee-2018 A.4.
const (
	semiTokens = 300
	semiAlpha  = 0.03
	semiInfer  = 500  // documents whose compositions are inferred
	semiGibbs  = 8000 // the most documents for Gibbs sampling, for the time it takes
)

// semiMethods are compared on drawn documents, and Gibbs sampling on few of them.
var semiMethods = []string{baseline, "AP", "ENN", "LR"}

// truth is a model that documents are drawn from, with an anchor for each topic.
type truth struct {
	b     *mat.Dense // (N+K)×K, topic t has word N+t for itself
	a     *mat.SymDense
	vocab []string
}

// trueModel is a fit to the corpus, with AP and its K topics, to each of which an
// anchor was added.
func (l *lab) trueModel(ctx context.Context, s *source, k int) (*truth, error) {
	d, err := s.countUnbiased(ctx, l.small, l.workers)
	if err != nil {
		return nil, err
	}
	m, err := asPublished(k).Rectify(rectify.AP{}).Workers(l.workers).Fit(ctx, d)
	if err != nil {
		return nil, err
	}
	t := &truth{b: plantAnchors(mat.DenseCopyOf(m.Topics())), a: dirichletMoments(k, semiAlpha), vocab: m.Vocabulary()}
	for i := range k {
		t.vocab = append(t.vocab, fmt.Sprintf("anchor of topic %d", i))
	}
	return t, nil
}

// plantAnchors adds a word for each topic, in no other and as probable in it as its
// most probable word was (arora-2013 §5.4).
func plantAnchors(b *mat.Dense) *mat.Dense {
	n, k := b.Dims()
	out := mat.NewDense(n+k, k, nil)
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(b)
	for i := range k {
		out.Set(n+i, i, mat.Max(b.ColView(i)))
		col := out.ColView(i).(*mat.VecDense)
		col.ScaleVec(1/mat.Sum(col), col)
	}
	return out
}

// dirichletMoments returns E[wwᵀ] of the symmetric Dirichlet prior.
func dirichletMoments(k int, alpha float64) *mat.SymDense {
	a := mat.NewSymDense(k, nil)
	sum := alpha * float64(k)
	for i := range k {
		for j := range i + 1 {
			v := alpha * alpha
			if i == j {
				v += alpha
			}
			a.SetSym(i, j, v/(sum*(sum+1)))
		}
	}
	return a
}

func planSemi(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.topics {
			if 25*k > l.small {
				continue // more topics than so few words are for
			}
			for _, docs := range l.docs {
				set := settings("corpus", name, "documents", docs, "k", k, "n", l.small, "methods", semiMethods,
					"tokens", semiTokens, "alpha", semiAlpha, "seed", l.seed, "input", s.digest)
				cost := 1 + float64(k)/30 + float64(docs)/3000
				out = append(out, cell{semiGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.drawn(ctx, s, k, docs) }})
				if docs <= semiGibbs && k <= l.maxSlow {
					set := settings("corpus", name, "documents", docs, "method", gibbs, "k", k, "n", l.small, "sweeps", l.sweeps,
						"tokens", semiTokens, "alpha", semiAlpha, "seed", l.seed, "input", s.digest)
					out = append(out, cell{semiGroup, set, gibbsCost(k, l.sweeps) * float64(docs) / 8000, func(ctx context.Context) ([]row, error) { return l.drawnGibbs(ctx, s, k, docs) }})
				}
			}
		}
	}
	return out, nil
}

// drawnDocuments are documents of a true model, with their compositions.
func (l *lab) drawnDocuments(ctx context.Context, s *source, k, docs int) (*truth, *corpus.Corpus, *mat.Dense, *cooc.Moments, error) {
	t, err := l.trueModel(ctx, s, k)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	g := corpus.Generator{Topics: t.b, Prior: corpus.SymmetricDirichlet(k, semiAlpha), Docs: docs, Lengths: []int{semiTokens}, Vocabulary: t.vocab, Seed: l.seed, Workers: l.workers}
	c, w, err := g.Generate(ctx)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
	return t, c, w, d, err
}

// drawnGibbs samples topics of documents drawn from a true model.
func (l *lab) drawnGibbs(ctx context.Context, s *source, k, docs int) ([]row, error) {
	t, _, _, d, err := l.drawnDocuments(ctx, s, k, docs)
	if err != nil {
		return nil, err
	}
	c, begun := d.Info().Corpus, cpuSeconds()
	m, err := sample(ctx, c, k, l.sweeps, l.seed)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": s.name, "method": gibbs}
	r.set("documents", docs).set("k", k).set("seconds", cpuSeconds()-begun)
	rep, err := evaluate(ctx, d, m.b, m.breve, m.a, l.workers)
	if err != nil {
		return nil, err
	}
	measures(r, rep)
	if _, err := l.fromTruth(ctx, r, t, c.Vocabulary(), m.b, m.a); err != nil {
		return nil, err
	}
	return []row{r}, nil
}

// drawn draws documents from a true model and fits models to them.
func (l *lab) drawn(ctx context.Context, s *source, k, docs int) ([]row, error) {
	t, c, w, d, err := l.drawnDocuments(ctx, s, k, docs)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, method := range semiMethods {
		r := row{"corpus": s.name, "method": method}
		r.set("documents", docs).set("k", k)
		err := l.compare(ctx, r, t, c, w, d, k, rectifier(method))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r["error"] = err.Error()
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// fromTruth notes how far topics and their correlations are from the true ones.
// Words in no document are not in the vocabulary, and so of probability 0.
func (l *lab) fromTruth(ctx context.Context, r row, t *truth, vocab []string, b *mat.Dense, a mat.Matrix) (*metrics.Matching, error) {
	match, err := metrics.Match(ctx, t.b, b, metrics.MatchOptions{WordsA: t.vocab, WordsB: vocab, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	k := len(match.Of)
	diff := mat.NewDense(k, k, nil)
	for i, j := range match.Of {
		for i2, j2 := range match.Of {
			diff.Set(i, i2, t.a.At(i, i2)-a.At(j, j2))
		}
	}
	r.set("b_l1", match.L1.Mean).set("a_frobenius", mat.Norm(diff, 2))
	return match, nil
}

// compare fits a model and notes its measures and how far it is from the truth.
func (l *lab) compare(ctx context.Context, r row, t *truth, c *corpus.Corpus, w *mat.Dense, d *cooc.Moments, k int, rect rectify.Rectifier) error {
	p := asPublished(k).Rectify(rect).Seed(l.seed).Workers(l.workers)
	begun := cpuSeconds()
	m, err := p.Fit(ctx, d)
	if err != nil {
		return err
	}
	r.set("seconds", cpuSeconds()-begun)
	rep, err := p.Evaluate(ctx, m, d)
	if err != nil {
		return err
	}
	measures(r, rep)
	a := mat.DenseCopyOf(m.Correlations())
	match, err := l.fromTruth(ctx, r, t, m.Vocabulary(), mat.DenseCopyOf(m.Topics()), a)
	if err != nil {
		return err
	}
	// Words of one topic only are anchors; those that were planted are not the
	// only ones.
	topic := make(map[string]int)
	for i, word := range t.vocab {
		row := t.b.RawRowView(i)
		if at := floats.MaxIdx(row); floats.Sum(row) == row[at] {
			topic[word] = at
		}
	}
	found := make(map[int]bool, k)
	for _, i := range m.Anchors() {
		if at, ok := topic[m.Word(i)]; ok {
			found[at] = true
		}
	}
	r.set("anchors_found", float64(len(found))/float64(k))

	// The compositions of some documents (lee-2018 A.3), and what A they add up to.
	some := min(semiInfer, c.NumDocs())
	part := make([]int, some)
	for i := range part {
		part[i] = i
	}
	docs, err := c.Select(part, nil)
	if err != nil {
		return err
	}
	fit, err := m.TransformBy(ctx, docs.Source(), infer.LeastSquares{}, infer.Options{Workers: l.workers})
	if err != nil {
		return err
	}
	if rows, _ := fit.W.Dims(); rows != some {
		return errors.New("not all documents were inferred")
	}
	far := 0.0
	for x := range some {
		d2 := 0.0
		for i, j := range match.Of {
			v := w.At(x, i) - fit.W.At(x, j)
			d2 += v * v
		}
		far += math.Sqrt(d2) / float64(some)
	}
	gap := moment(fit.W)
	gap.Sub(gap, a)
	r.set("w_l2", far).set("a_from_w", mat.Norm(gap, 2))
	return nil
}
