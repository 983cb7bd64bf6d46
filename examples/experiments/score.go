package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/metrics"
)

var scoreGroup = &group{
	name: "score", version: 1,
	labels: []string{"corpus", "topics", "k"},
	// unknown is the share of the topics' words, by probability or of the lists,
	// that the corpus as curated does not have.
	measures: []string{"unknown", "npmi", "u_mass", "c_npmi", "c_v", "coherence", "dissimilarity", "simcount", "diversity", "specificity", "sparsity"},
	seconds:  nil,
}

// scoreMethods make the library's own topics, which those given are compared with.
var scoreMethods = []string{baseline, "AP", "ENN", passes}

// planScore scores the topics of -topics against each corpus, and topics of as
// many numbers of the library's own.
func planScore(ctx context.Context, l *lab) ([]cell, error) {
	digest, err := fileDigest(l.scoreFile)
	if err != nil {
		return nil, err
	}
	words := ""
	if l.scoreVocab != "" {
		if words, err = fileDigest(l.scoreVocab); err != nil {
			return nil, err
		}
	}
	var out []cell
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		given, err := l.readTopics(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s against %s: %w", l.scoreFile, name, err)
		}
		set := settings("corpus", name, "topics", l.scoreName, "k", given.k(), "n", l.words, "file", digest, "words", words, "input", s.digest)
		out = append(out, cell{scoreGroup, set, 1, func(ctx context.Context) ([]row, error) { return l.score(ctx, s, l.scoreName, given) }})
		if given.k() < 2 {
			continue
		}
		for _, m := range scoreMethods {
			k := given.k()
			set := settings("corpus", name, "topics", m, "k", k, "n", l.words, "rectify", rectifier(m), "seed", l.seed, "input", s.digest)
			set = refined(set, m)
			out = append(out, cell{scoreGroup, set, 1 + costs[m]*float64(k)/100, func(ctx context.Context) ([]row, error) {
				d, err := s.countUnbiased(ctx, l.words, l.workers)
				if err != nil {
					return nil, err
				}
				p := asPublished(k).Rectify(rectifier(m)).Refine(refiner(m)).Seed(l.seed).Workers(l.workers)
				fit, err := p.Fit(ctx, d)
				if err != nil {
					return nil, err
				}
				return l.score(ctx, s, m, &topics{words: fit.Vocabulary(), b: mat.DenseCopyOf(fit.Topics())})
			}})
		}
	}
	return out, nil
}

// topics are topics from anywhere: probabilities of words, or lists of words.
type topics struct {
	words []string // of the rows of b
	b     *mat.Dense
	lists [][]string
}

func (t *topics) k() int {
	if t.b == nil {
		return len(t.lists)
	}
	_, k := t.b.Dims()
	return k
}

// score measures topics over the words of the corpus as curated. Those of a matrix
// are restricted to them and scaled to sum 1 again; then all topics of all tools
// are over the same words.
func (l *lab) score(ctx context.Context, s *source, name string, t *topics) ([]row, error) {
	d, err := s.countUnbiased(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	r := row{"corpus": s.name, "topics": name}
	r.set("k", t.k())
	b, top, unknown, err := t.over(c)
	if err != nil {
		return nil, err
	}
	r.set("unknown", math.Max(0, unknown))
	pairs, err := countPairs(ctx, c, b, top)
	if err != nil {
		return nil, err
	}
	rep, err := metrics.Evaluate(ctx, metrics.Factors{C: d, B: b, Pairs: pairs, TopN: top, Workers: l.workers})
	if err != nil {
		return nil, err
	}
	r.set("npmi", rep.NPMI.Mean).set("coherence", rep.Coherence.Mean).set("dissimilarity", rep.Dissimilarity.Mean)
	if t.b != nil {
		r.set("specificity", rep.Specificity.Mean).set("sparsity", rep.Sparsity.Mean)
	}
	lists, err := metrics.TopLists(b, top)
	if err != nil {
		return nil, err
	}
	similar, err := metrics.SimCount(lists)
	if err != nil {
		return nil, err
	}
	diversity, err := metrics.Diversity(lists)
	if err != nil {
		return nil, err
	}
	names := make([][]string, len(lists))
	for j, list := range lists {
		for _, i := range list {
			names[j] = append(names[j], c.Word(i))
		}
	}
	bag, err := bagCoherence(ctx, names, c)
	if err != nil {
		return nil, err
	}
	r.set("simcount", similar).set("diversity", diversity)
	r.set("u_mass", bag.UMass.Mean).set("c_npmi", bag.CNPMI.Mean).set("c_v", bag.CV.Mean)
	return []row{r}, nil
}

// over returns the topics over the words of a corpus, how many top words of each
// count, and the share of their words that the corpus lacks.
func (t *topics) over(c *corpus.Corpus) (b *mat.Dense, top int, unknown float64, err error) {
	b = mat.NewDense(c.NumWords(), t.k(), nil)
	if t.b == nil {
		top, unknown, err = t.listsOver(c, b)
		return b, top, unknown, err
	}
	n, k := b.Dims()
	for i, w := range t.words {
		if at, ok := c.Index(w); ok {
			copy(b.RawRowView(at), t.b.RawRowView(i))
		}
	}
	for j := range k {
		before, after := mat.Sum(t.b.ColView(j)), mat.Sum(b.ColView(j))
		if !(after > 0) {
			return nil, 0, 0, fmt.Errorf("topic %d has no word of the corpus", j)
		}
		unknown += (1 - after/before) / float64(k)
		for i := range n {
			b.Set(i, j, b.At(i, j)/after)
		}
	}
	return b, topWords, unknown, nil
}

// listsOver writes topics made from the lists to b. A list is a topic that gives
// its words falling probabilities: measures of top words look at the order only.
// All lists count as far as the shortest.
func (t *topics) listsOver(c *corpus.Corpus, b *mat.Dense) (top int, unknown float64, err error) {
	n, all := c.NumWords(), 0
	top = topWords
	for j, list := range t.lists {
		known, sum := 0, 0.0
		for _, w := range list {
			if at, ok := c.Index(w); ok {
				known++
				b.Set(at, j, 1/float64(known))
				sum += 1 / float64(known)
			}
		}
		if known < 2 {
			return 0, 0, fmt.Errorf("list %d has %d words of the corpus; want at least 2", j+1, known)
		}
		for i := range n {
			b.Set(i, j, b.At(i, j)/sum)
		}
		top = min(top, known)
		all += len(list)
		unknown += float64(len(list) - known)
	}
	return top, unknown / float64(all), nil
}

// topWords is how many top words of a topic are measured at most.
const topWords = 20
