package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// numberGroup is which number of topics jsmf.Grid recommends.
var numberGroup = &group{
	name: "number", version: 2,
	labels: []string{"corpus", "prior", "k", "split"},
	// low to high cannot be told apart from found, 0 for no topics. back of its topics come back. best
	// predicts words of documents held out best.
	measures: []string{"documents", "found", "low", "high", "back", "best"},
	seconds:  []string{"sweep", "fit"},
}

// The kinds of corpora of number: documents drawn from topics, real ones, and the first words of long
// ones, as they are and dealt anew to the documents.
const (
	numberDocs     = 3000
	numberTokens   = 100
	numberSum      = 2.5 // Σα
	shortDocs      = 100000
	shortTokens    = 13
	fewWords       = "%s: 13 words"
	shuffledWords  = "%s: 13 words shuffled"
	numberUnequal  = 10 // times the share of the rarest topic the most frequent one has
	numberOfSplits = 3
)

// The priors of the documents that are drawn, by whether the topics have equal shares.
var (
	equalShares   = "shares 1:1"
	unequalShares = fmt.Sprintf("shares 1:%d", numberUnequal)
	numberPriors  = []string{equalShares, unequalShares, correlatedLogits}
)

func planNumber(_ context.Context, l *lab) ([]cell, error) {
	x := &plantedLab{lab: l}
	var out []cell
	add := func(name string, from *source, prior string, k int, make func(ctx context.Context) (*corpus.Corpus, error)) {
		input := ""
		if from != nil {
			input = from.digest
		}
		for split := range numberOfSplits {
			set := settings("corpus", name, "prior", prior, "k", k, "split", split, "n", l.words, "seed", l.seed, "input", input)
			out = append(out, cell{numberGroup, set, float64(20 + k), func(ctx context.Context) ([]row, error) {
				c, err := make(ctx)
				if err != nil {
					return nil, err
				}
				return l.number(ctx, c, row{"corpus": name, "prior": prior}.set("k", k), split)
			}})
		}
	}
	for _, topics := range append(plantedTopics, l.corpora[:min(1, len(l.corpora))]...) {
		s, err := x.learnedFrom(topics)
		if err != nil {
			return nil, err
		}
		for _, k := range []int{8, 20, 60} {
			for _, prior := range numberPriors {
				add("topics: "+topics, s, prior, k, func(ctx context.Context) (*corpus.Corpus, error) { return x.unequal(ctx, topics, prior, k) })
			}
		}
	}
	for _, name := range l.corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		add(name, s, "", 0, func(ctx context.Context) (*corpus.Corpus, error) { return s.curate(ctx, curation(l.words)) })
	}
	if l.big == "" {
		return out, nil
	}
	s, err := l.source(l.big)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{fewWords, shuffledWords} {
		add(fmt.Sprintf(kind, l.big), s, "", 0, func(ctx context.Context) (*corpus.Corpus, error) { return l.firstWords(ctx, s, kind == shuffledWords) })
	}
	return out, nil
}

// unequal draws documents from k topics.
func (x *plantedLab) unequal(ctx context.Context, topics, prior string, k int) (*corpus.Corpus, error) {
	b, err := x.topics(ctx, plantedCell{topics: topics, k: k})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(x.seed, 0x40b))
	alpha, lengths, sum := make([]float64, k), make([]int, numberDocs), 0.0
	for i, at := range rng.Perm(k) {
		alpha[i] = 1
		if prior == unequalShares {
			alpha[i] = math.Pow(numberUnequal, float64(at)/float64(k-1))
		}
		sum += alpha[i]
	}
	floats.Scale(numberSum/sum, alpha)
	for m := range lengths {
		lengths[m] = max(5, int(numberTokens*math.Exp(plantedSpread*rng.NormFloat64()-plantedSpread*plantedSpread/2)))
	}
	g := corpus.Generator{Topics: b, Prior: corpus.Dirichlet{Alpha: alpha}, Lengths: lengths, Seed: x.seed, Workers: 1}
	if prior == correlatedLogits {
		g.Prior = newPlantedPrior(prior, k)
	}
	c, _, err := g.Generate(ctx)
	return c, err
}

// firstWords returns documents of the first known words of others, in an order at random, or of as many
// words of all of them.
func (l *lab) firstWords(ctx context.Context, s *source, shuffle bool) (*corpus.Corpus, error) {
	c, err := s.curateSome(ctx, shortDocs, curation(l.words))
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(l.seed, 0x5407))
	var all []int32
	ends := make([]int, c.NumDocs())
	for d := range ends {
		from := len(all)
		words, counts := c.Doc(d)
		for i, w := range words {
			for range counts[i] {
				all = append(all, w)
			}
		}
		of := all[from:]
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		all = all[:from+min(len(of), shortTokens)]
		ends[d] = len(all)
	}
	if shuffle {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	var b corpus.Builder
	from := 0
	for d, end := range ends {
		counts := make(map[string]int)
		for _, w := range all[from:end] {
			counts[c.Word(int(w))]++
		}
		if err := b.AddCounts(fmt.Sprint(d), "", counts); err != nil {
			return nil, err
		}
		from = end
	}
	return b.Corpus()
}

// number asks for the number of topics. Documents are given other ids for each split.
func (l *lab) number(ctx context.Context, c *corpus.Corpus, r row, split int) ([]row, error) {
	var b corpus.Builder
	for d := range c.NumDocs() {
		counts := make(map[string]int)
		words, n := c.Doc(d)
		for i, w := range words {
			counts[c.Word(int(w))] = int(n[i])
		}
		if err := b.AddCounts(fmt.Sprint(split, " ", d), "", counts); err != nil {
			return nil, err
		}
	}
	c, err := b.Corpus()
	if err != nil {
		return nil, err
	}
	begun := cpuSeconds()
	fit := begun
	s, err := jsmf.Grid{}.Run(ctx, jsmf.New(0).Workers(l.workers).Record(func(e jsmf.Event) {
		if e.Stage == jsmf.StageSweep && e.Kind == jsmf.EventEnd {
			fit = cpuSeconds() // the model follows
		}
	}), c)
	if err != nil {
		return nil, err
	}
	end := cpuSeconds()
	r.set("split", split).set("documents", c.NumDocs()).set("found", s.K).set("low", s.Low).set("high", s.High).set("sweep", end-begun).set("fit", end-fit)
	for _, x := range s.Points {
		if x.K == s.K {
			r.set("back", x.Back)
		}
		if x.Err == nil && x.Behind == 0 {
			r.set("best", x.K)
		}
	}
	return []row{r}, nil
}
