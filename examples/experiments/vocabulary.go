package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

var vocabularyGroup = &group{
	name: "vocabulary", version: 1,
	labels: []string{"corpus", "k", "n"},
	// base_recovery is Recovery over the words of the smallest vocabulary, anchor_rank
	// the mean rank of an anchor in the other topics, and anchor_place that rank as a
	// part of n.
	measures: []string{"documents", "base_recovery", "anchor_rank", "anchor_place", "recovery", "approximation", "specificity", "dissimilarity", "sparsity"},
	seconds:  []string{"seconds_rectify", "seconds_law", "seconds"}, // law: anchors and recovery
}

var gainedGroup = &group{
	name: "vocabulary-words", version: 1,
	labels: []string{"corpus", "topic", "n"},
	// words are the most probable words of the topic among those that vocabularies of
	// n words have and the next smaller ones lack (lost) or the other way round
	// (gained); weight is their mean p(word | topic), own their mean p(topic | word).
	measures: []string{"change", "words", "weight", "own"},
}

var seedsGroup = &group{
	name: "vocabulary-seeds", version: 1,
	labels:   []string{"corpus", "k", "seed"},
	measures: slices.Clone(measured),
}

const (
	lrSeeds          = 5     // runs of LR that differ in the seed
	vocabularySizes  = 8     // multiples of a quarter of -n
	vocabularyTopics = 5     // whose words are looked at
	vocabularyWords  = 6     // of a topic that are shown
	vocabularyDocs   = 20000 // of -big that are used
)

// sizes are the sizes of vocabularies. The base of the words gained and lost is the
// fourth, -n.
func (l *lab) sizes() []int {
	var out []int
	for i := range vocabularySizes {
		out = append(out, (i+1)*l.words/4)
	}
	return out
}

// baseSize is the place of -n in the sizes.
const baseSize = 3

// firstDocs is a corpus cut to its first documents.
type firstDocs struct {
	*source
	docs int // 0: all
	cut  *corpus.Corpus
}

// count counts the n best words of the documents.
func (f *firstDocs) count(ctx context.Context, n, workers int) (*cooc.Moments, error) {
	if f.cut == nil {
		c, err := f.read(ctx)
		if err != nil {
			return nil, err
		}
		if f.docs > 0 && f.docs < c.NumDocs() {
			docs := make([]int, f.docs)
			for i := range docs {
				docs[i] = i
			}
			if c, err = c.Select(docs, nil); err != nil {
				return nil, err
			}
		}
		f.cut = c
	}
	cur := curation(n)
	var err error
	if cur.StopWords, err = f.stopWords(ctx); err != nil {
		return nil, err
	}
	c, _, err := corpus.Curate(f.cut, cur)
	if err != nil {
		return nil, err
	}
	return cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: workers})
}

// countWords is count where all n words are wanted.
func (f *firstDocs) countWords(ctx context.Context, n, workers int) (*cooc.Moments, error) {
	d, err := f.count(ctx, n, workers)
	// A few words of the best may be in no document that is long enough.
	if err == nil && d.Dim() < n*9/10 {
		err = fmt.Errorf("the corpus has %d words; want %d", d.Dim(), n)
	}
	return d, err
}

func planVocabulary(_ context.Context, l *lab) ([]cell, error) {
	corpora := []string{l.corpora[0]}
	if l.big != "" && l.big != corpora[0] {
		corpora = append(corpora, l.big)
	}
	var out []cell
	for _, name := range corpora {
		s, err := l.source(name)
		if err != nil {
			return nil, err
		}
		f := &firstDocs{source: s}
		if name == l.big {
			f.docs = vocabularyDocs
		}
		for _, n := range l.sizes() {
			for _, k := range l.some() {
				set := settings("corpus", name, "k", k, "n", n, "base", l.sizes()[0], "documents", f.docs, "rectify", rectifier("LR"), "seed", l.seed, "input", s.digest)
				cost := 1 + float64(n*k)/1e5
				out = append(out, cell{vocabularyGroup, set, cost, func(ctx context.Context) ([]row, error) { return l.vocabulary(ctx, f, n, k) }})
			}
		}
		for _, k := range l.some() {
			for seed := range uint64(lrSeeds) {
				set := settings("corpus", name, "k", k, "seed", l.seed+seed, "n", l.words, "documents", f.docs, "rectify", rectifier("LR"), "input", s.digest)
				out = append(out, cell{seedsGroup, set, 1 + float64(l.words*k)/1e5, func(ctx context.Context) ([]row, error) { return l.seeded(ctx, f, k, l.seed+seed) }})
			}
		}
		set := settings("corpus", name, "k", vocabularyTopics, "sizes", l.sizes(), "words", vocabularyWords, "documents", f.docs, "rectify", rectifier("LR"), "seed", l.seed, "input", s.digest)
		out = append(out, cell{gainedGroup, set, 8, func(ctx context.Context) ([]row, error) { return l.gained(ctx, f) }})
	}
	return out, nil
}

// vocabulary fits and measures a model of n words.
func (l *lab) vocabulary(ctx context.Context, f *firstDocs, n, k int) ([]row, error) {
	base, err := f.countWords(ctx, l.sizes()[0], l.workers)
	if err != nil {
		return nil, err
	}
	d, err := f.countWords(ctx, n, l.workers)
	if err != nil {
		return nil, err
	}
	took := make(stageTimes)
	m, rep, err := fitted(ctx, asPublished(k).Rectify(rectifier("LR")).Seed(l.seed).Workers(l.workers).Record(took.Record), d)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": f.name}
	r.set("k", k).set("n", n).set("documents", d.Info().Corpus.NumDocs())
	measures(r, rep)
	small := base.Info().Corpus
	sum, words := 0.0, 0
	for i, v := range rep.Recovery.Values {
		if _, ok := small.Index(m.Word(i)); ok {
			sum, words = sum+v, words+1
		}
	}
	rank := meanRank(mat.DenseCopyOf(m.Topics()), m.Anchors())
	r.set("base_recovery", sum/float64(words)).set("anchor_rank", rank).set("anchor_place", rank/float64(m.N()))
	rectified, law := took[jsmf.StageRectify], took[jsmf.StageAnchors]+took[jsmf.StageRecover]
	r.set("seconds_rectify", rectified).set("seconds_law", law).set("seconds", rectified+law)
	return []row{r}, nil
}

// seeded fits and measures a model by LR with other random vectors.
func (l *lab) seeded(ctx context.Context, f *firstDocs, k int, seed uint64) ([]row, error) {
	d, err := f.countWords(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	_, rep, err := fitted(ctx, asPublished(k).Rectify(rectifier("LR")).Seed(seed).Workers(l.workers), d)
	if err != nil {
		return nil, err
	}
	r := row{"corpus": f.name}
	r.set("k", k).set("seed", seed)
	measures(r, rep)
	return []row{r}, nil
}

// meanRank is the mean rank of an anchor in the topics of the others, 1 for the most
// probable word. Words that are equally probable, as the many of probability 0, share
// the mean of their ranks.
func meanRank(b *mat.Dense, anchors []int) float64 {
	n, k := b.Dims()
	sum := 0.0
	for topic := range k {
		for own, s := range anchors {
			if own == topic {
				continue
			}
			above, equal := 0, 0
			for i := range n {
				switch p := b.At(i, topic); {
				case p > b.At(s, topic):
					above++
				case p == b.At(s, topic):
					equal++
				}
			}
			sum += float64(above) + float64(equal+1)/2
		}
	}
	return sum / float64(k*(k-1))
}

// gained fits few topics with each vocabulary and finds the words that make the
// difference.
func (l *lab) gained(ctx context.Context, f *firstDocs) ([]row, error) {
	sizes := l.sizes()
	models := make([]*jsmf.Model, len(sizes))
	for i, n := range sizes {
		d, err := f.countWords(ctx, n, l.workers)
		if err != nil {
			return nil, err
		}
		if models[i], err = asPublished(vocabularyTopics).Rectify(rectifier("LR")).Seed(l.seed).Workers(l.workers).Fit(ctx, d); err != nil {
			return nil, fmt.Errorf("%d words: %w", n, err)
		}
	}
	base := models[baseSize]
	var rows []row
	for i, n := range sizes {
		change, m, from, to := "", base, i, i // the words of the base itself
		switch {
		case i < baseSize:
			change, to = "lost", i+1
		case i > baseSize:
			change, m, from = "gained", models[i], i-1
		}
		match, err := metrics.Match(ctx, mat.DenseCopyOf(base.Topics()), mat.DenseCopyOf(m.Topics()), metrics.MatchOptions{WordsA: base.Vocabulary(), WordsB: m.Vocabulary()})
		if err != nil {
			return nil, err
		}
		for topic, of := range match.Of {
			r := row{"corpus": f.name, "change": change}
			r.set("topic", topic).set("n", n)
			among := func(w string) bool {
				_, small := models[from].Index(w)
				_, large := models[to].Index(w)
				return from == to || large && !small
			}
			putWords(r, m, of, among)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// putWords puts the most probable words of a topic among some into a row.
func putWords(r row, m *jsmf.Model, topic int, among func(word string) bool) {
	b, own := m.Topics(), m.WordTopics()
	var words []int
	for i := range m.N() {
		if among(m.Word(i)) {
			words = append(words, i)
		}
	}
	slices.SortStableFunc(words, func(i, j int) int {
		switch p, q := b.At(i, topic), b.At(j, topic); {
		case p > q:
			return -1
		case p < q:
			return 1
		}
		return 0
	})
	words = words[:min(vocabularyWords, len(words))]
	names := make([]string, len(words))
	weight, mine := 0.0, 0.0
	for x, i := range words {
		names[x] = m.Word(i)
		weight += b.At(i, topic) / float64(len(words))
		mine += own.At(i, topic) / float64(len(words))
	}
	r["words"] = strings.Join(names, " ")
	r.set("weight", weight).set("own", mine)
}
