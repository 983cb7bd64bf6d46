package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	recovery "github.com/jsmf-go/spectral/recover"
)

var heldoutGroup = &group{
	name: "heldout", version: 2,
	labels: []string{"corpus", "method", "recover", "k"},
	// left_to_right is ln p of a token of whole documents, held_out that of a hidden
	// one after the others were seen, and unigram that of a hidden one by the training
	// tokens' own distribution.
	measures: []string{"left_to_right", "held_out", "unigram", "coherence", "npmi", "dissimilarity", "specificity"},
	seconds:  []string{"seconds"},
}

// How documents are held out, and scored: a tenth of them, half of the tokens of
// each, topics mixed with a hundredth of the unigram distribution, one prior for
// all. From left to right, whose cost grows with the square of the length, documents
// are thinned to the mean length of the papers' NIPS.
const (
	heldDocs     = 0.1
	heldTokens   = 0.5
	heldSmooth   = 0.01
	heldAlphaSum = 5.0
	heldMinDocs  = 0.01 // the share of documents that anchors are in at least
	heldLength   = 68
	heldSamples  = 20 // of left to right, for each document
)

// heldMethods are the ways of arora-2013 Figure 6 without rectification, as there,
// and after AP, and what the library does by itself.
var heldMethods = []struct{ method, recover string }{
	{baseline, "inverse"}, {baseline, "L2"}, {baseline, "KL"},
	{"AP", "inverse"}, {"AP", "L2"}, {"AP", "KL"}, {"AP", "ActiveSet"},
	{passes, "ActiveSet"}, {gibbs, ""},
}

// heldRecoverer returns the way of a name.
func heldRecoverer(name string) recovery.Recoverer {
	switch name {
	case "inverse":
		return recovery.Inverse{Project: true}
	case "L2":
		return recovery.L2()
	case "KL":
		return recovery.KL{Tol: 1e-4, MaxIterations: 200}
	}
	return recoverer(name)
}

// largestKL is the largest K that heldout fits, for the sake of KL.
const largestKL = 25

// split is a corpus with documents held out.
type split struct {
	train            *cooc.Moments
	observed, hidden *corpus.Corpus // over the words of train
	whole            *corpus.Corpus // the same documents, thinned
	unigram          []float64
}

func planHeldout(_ context.Context, l *lab) ([]cell, error) {
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		var sp *split // made when it is first wanted
		get := func(ctx context.Context) (*split, error) {
			if sp == nil {
				var err error
				if sp, err = l.hold(ctx, s); err != nil {
					return nil, err
				}
			}
			return sp, nil
		}
		for _, k := range l.topics {
			if k > largestKL {
				continue
			}
			for _, m := range heldMethods {
				set := settings("corpus", name, "method", m.method, "recover", m.recover, "k", k, "n", l.small, "seed", l.seed, "input", s.digest)
				cost := 0.5
				switch {
				case m.method == gibbs:
					set = append(set, settings("sweeps", l.sweeps)...)
					cost = gibbsCost(k, l.sweeps)
				case m.recover == "KL":
					cost = float64(k)
					fallthrough
				default:
					set = refined(append(set, settings("solver", heldRecoverer(m.recover))...), m.method)
				}
				out = append(out, cell{heldoutGroup, set, cost, func(ctx context.Context) ([]row, error) {
					sp, err := get(ctx)
					if err != nil {
						return nil, err
					}
					return l.heldOut(ctx, s, sp, k, m.method, m.recover)
				}})
			}
		}
	}
	return out, nil
}

// holdDocs holds out a share of a corpus' documents and counts the others. Those held
// out are over the same words.
func (l *lab) holdDocs(ctx context.Context, c *corpus.Corpus, share float64) (train *cooc.Moments, held *corpus.Corpus, err error) {
	most, held, err := c.Split(share, l.seed)
	if err != nil {
		return nil, nil, err
	}
	if train, err = cooc.NewMoments(ctx, most, cooc.Options{DropUnused: true, Workers: l.workers}); err != nil {
		return nil, nil, err
	}
	held, _, err = held.Reindex(train.Info().Corpus.Vocabulary())
	return train, held, err
}

// hold splits a corpus.
func (l *lab) hold(ctx context.Context, s *source) (*split, error) {
	c, err := s.curate(ctx, curation(l.small))
	if err != nil {
		return nil, err
	}
	train, held, err := l.holdDocs(ctx, c, heldDocs)
	if err != nil {
		return nil, err
	}
	sp := &split{train: train}
	if sp.observed, sp.hidden, err = held.SplitTokens(heldTokens, l.seed); err != nil {
		return nil, err
	}
	sp.whole = held
	if mean := float64(held.Tokens()) / float64(held.NumDocs()); mean > heldLength {
		if sp.whole, _, err = held.SplitTokens(heldLength/mean, l.seed+1); err != nil {
			return nil, err
		}
	}
	used := train.Info().Corpus
	sp.unigram = make([]float64, used.NumWords())
	for i, n := range used.WordCounts() {
		sp.unigram[i] = float64(n) / float64(used.Tokens())
	}
	return sp, nil
}

// heldOut fits a model to the training documents and scores its topics.
func (l *lab) heldOut(ctx context.Context, s *source, sp *split, k int, method, way string) ([]row, error) {
	begun := cpuSeconds()
	var b *mat.Dense
	if method == gibbs {
		m, err := sample(ctx, sp.train.Info().Corpus, k, l.sweeps, l.seed)
		if err != nil {
			return nil, err
		}
		b = m.b
	} else {
		p := asPublished(k).Rectify(rectifier(method)).Recover(heldRecoverer(way)).Refine(refiner(method)).Seed(l.seed).Workers(l.workers)
		if method != passes {
			p = p.Anchors(anchor.Projected{MinDocFraction: heldMinDocs})
		}
		m, err := p.Fit(ctx, sp.train)
		if err != nil {
			return nil, err
		}
		b = mat.DenseCopyOf(m.Topics())
	}
	r := row{"corpus": s.name, "method": method, "recover": way}
	r.set("k", k).set("seconds", cpuSeconds()-begun)
	rep, err := evaluate(ctx, sp.train, b, nil, nil, l.workers)
	if err != nil {
		return nil, err
	}
	measures(r, rep)
	whole, err := l.leftToRight(ctx, sp, b)
	if err != nil {
		return nil, err
	}
	hidden, err := l.completion(ctx, sp, b)
	if err != nil {
		return nil, err
	}
	r.set("left_to_right", whole).set("held_out", hidden)
	uniform := mat.NewDense(len(sp.unigram), 1, sp.unigram)
	ones := mat.NewDense(sp.hidden.NumDocs(), 1, nil)
	for m := range sp.hidden.NumDocs() {
		ones.Set(m, 0, 1)
	}
	score, err := infer.Score(ctx, ones, uniform, sp.hidden, infer.Options{Workers: l.workers})
	if err != nil {
		return nil, err
	}
	r.set("unigram", score.PerToken)
	return []row{r}, nil
}

// heldTopics are the topics that documents are scored by.
func heldTopics(sp *split, b *mat.Dense) (infer.Topics, error) {
	smooth, err := infer.Smooth(b, sp.unigram, heldSmooth)
	_, k := b.Dims()
	return infer.Topics{B: smooth, Alpha: filled(k, heldAlphaSum/float64(k))}, err
}

// leftToRight is ln p of a token of the held-out documents.
func (l *lab) leftToRight(ctx context.Context, sp *split, b *mat.Dense) (float64, error) {
	topics, err := heldTopics(sp, b)
	if err != nil {
		return 0, err
	}
	return leftToRight(ctx, topics, sp.whole, heldSamples, l.seed, l.workers)
}

// completion is ln p of a hidden token by document completion.
func (l *lab) completion(ctx context.Context, sp *split, b *mat.Dense) (float64, error) {
	topics, err := heldTopics(sp, b)
	if err != nil {
		return 0, err
	}
	opt := infer.Options{Workers: l.workers}
	in, err := infer.MAP{Steps: 100}.Prepare(ctx, topics, opt)
	if err != nil {
		return 0, err
	}
	return perToken(infer.Completion(ctx, in, topics.B, sp.observed, sp.hidden, opt))
}

// perToken is the score of a token, of tokens that are all possible.
func perToken(score *infer.HeldOut, err error) (float64, error) {
	if err == nil && score.Impossible > 0 {
		err = fmt.Errorf("%d held-out tokens are impossible", score.Impossible)
	}
	return score.PerToken, err
}
