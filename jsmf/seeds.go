package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/spelling"
	"github.com/jsmf-go/spectral/recover/refine"
)

// Seed is a topic that the user asks for by some of its words.
type Seed struct {
	// Name is the name of the topic, as in Additions.Names, that of no other; "": its words name it.
	Name string `json:"name"`
	// Words are words of the topic: one at least, none twice. A word may seed several topics.
	Words []string `json:"words"`
	// Weights says how much a use of each word counts, above 0; nil: 1 each.
	Weights []float64 `json:"weights,omitempty"`
	// Strength is the part of the topic that passes keep for the words, in (0, 1]; much makes a topic of the words
	// alone. 0 means 0.05, or more where fewer than 1 % of the documents have two of the words: up to 0.2 from 0.25 % on.
	Strength float64 `json:"strength,omitempty"`
}

// SeedStats says what became of a Seed.
type SeedStats struct {
	Asked Seed   `json:"asked"`
	Topic int    `json:"topic"` // its number
	Name  string `json:"name"`
	// Words are those of the Seed that the documents have, as they are in the vocabulary, and Missing the
	// others.
	Words   []string `json:"words"`
	Missing []string `json:"missing,omitempty"`
	// Kept has for each of Words p(topic | word), and Held is the sum of their p(word | topic): the part
	// of the topic that its seeds hold.
	Kept []float64 `json:"kept"`
	Held float64   `json:"held"`
	// Covered is the part of the topic that is in documents with one of Words, of about 200 such documents.
	Covered float64 `json:"covered"`
	// Lift has for each of Words how many times as many documents have it with another of the words as would
	// if they were independent; nil for a single word.
	Lift []float64 `json:"lift,omitempty"`
	// Doubt says why the documents do not bear the topic out, which does not have the Name then; "": they do,
	// as far as this can be told.
	Doubt string `json:"doubt,omitempty"`
}

// Seeds asks for topics by words. The topics of seeds are the first of the Model, in this order, unless From
// gives them the numbers of another. They have their names where the documents bear them out; the
// K−len(seeds) others are free. A seeded topic begins with the words that documents with several of its
// seeds use more than others do. In the passes each seed has prior counts in its topic (Eshima, Imai and
// Sasaki, 2024). They are gone after the last pass: what the Model says of the topic is what the documents
// say. Seeded topics are neither merged with each other nor split.
//
// Words are found as the documents' text setting makes them: "Use After Free" is the phrase use_after_free
// where there is one. Of forms that a stemmer has merged, the one that the vocabulary shows is found.
// Stats.Warnings names words that are missing, with what is spelt like them, and topics that the documents
// do not bear out; Stats.Seeds has the details. The Model has no anchors.
//
// Fit returns an error where a topic has none of its words, where there are more seeded topics than K, where
// the documents are on other machines, and without passes (Refine), as under Published.
func (p Pipeline) Seeds(topics ...Seed) Pipeline { p.seeds = append([]Seed(nil), topics...); return p }

// check reports what is wrong with the seed of topic t.
func (s Seed) check(t int) error {
	seen := map[string]bool{}
	for _, w := range s.Words {
		if seen[w] {
			return fmt.Errorf("seeds of topic %d (%.40q): %.60q is there twice", t, s.Name, w)
		}
		seen[w] = true
	}
	bad := func(x float64) bool { return !(x > 0) || math.IsInf(x, 1) }
	switch {
	case len(s.Words) == 0:
		return fmt.Errorf("seeds of topic %d (%.40q): no words", t, s.Name)
	case s.Weights != nil && len(s.Weights) != len(s.Words) || slices.ContainsFunc(s.Weights, bad):
		return fmt.Errorf("seeds of topic %d (%.40q): weights %v of %d words; want one above 0 for each", t, s.Name, s.Weights, len(s.Words))
	case !(s.Strength >= 0 && s.Strength <= 1):
		return fmt.Errorf("seeds of topic %d (%.40q): a strength of %v; want at most 1, or 0 for %v to %v", t, s.Name, s.Strength, seedStrength, mostStrength)
	}
	return nil
}

// Seed.Strength, where it is 0, is seedStrength of a subject of rareSubject of the documents or more, and grows as this falls to
// at most mostStrength: what other documents leave in a topic drives a small one off.
const seedStrength, mostStrength, rareSubject = 0.05, 0.2, 0.01

// seeding is what the documents say of the seeds.
type seeding struct {
	b      *mat.Dense // N×S: the topics to begin with
	words  [][]refine.Seed
	stats  []SeedStats
	seen   [][]meeting // of each of words
	docs   float64     // all that have words
	sample []sample    // of those with a seed, for each topic
}

// meeting is what documents have of a seed.
type meeting struct {
	df, uses        float64 // documents with it, and tokens
	meets, expected float64 // documents with it and another seed of its topic, and how many by chance
}

// sample is one of some documents.
type sample struct {
	times         float64
	words, counts [][]int32
}

const (
	// sampledDocs are about how many documents with a seed of a topic are kept.
	sampledDocs = 200
	// leastCovered is the least part of a topic in documents with its seeds that it is in no doubt with.
	leastCovered = 0.3
)

// seed finds the words of the seeds and what documents have with them.
func (r *run) seed(ctx context.Context) (*seeding, error) {
	seeds, vocab, n := r.ask.seeds, r.pr.info.Vocabulary, r.pr.n
	if vocab == nil {
		return nil, errors.New("seeds are found by their names, and the words have none")
	}
	at, err := bag.Index(bag.Unique(vocab))
	if err != nil {
		return nil, err
	}
	find := finder(at, r.pr.info.Text)
	s := &seeding{b: mat.NewDense(n, len(seeds), nil), words: make([][]refine.Seed, len(seeds)), stats: make([]SeedStats, len(seeds))}
	for t, x := range seeds {
		st := &s.stats[t]
		st.Asked, st.Topic, st.Name = x, t, x.Name
		for i, w := range x.Words {
			id, ok := find(w)
			if !ok {
				st.Missing = append(st.Missing, w)
				continue
			}
			if slices.Contains(st.Words, vocab[id]) { // in another spelling
				continue
			}
			weight := 1.
			if x.Weights != nil {
				weight = x.Weights[i]
			}
			s.words[t] = append(s.words[t], refine.Seed{Word: int(id), Share: weight})
			st.Words = append(st.Words, vocab[id])
		}
		if missing := spelling.Quoted(st.Missing, vocab); len(missing) > 0 {
			what := fmt.Sprintf("seeds of topic %d (%.40q): not in the vocabulary: %s", t, x.Name, strings.Join(missing, ", "))
			if st.Words == nil {
				return nil, errors.New(what)
			}
			r.warn("%s", what)
		}
	}
	return s, s.count(ctx, r.pr, seeds)
}

// finder returns what finds a word as texts have it: as it is, in lower case, and as their setting makes it, with the
// words of a phrase joined.
func finder(at map[string]int32, set *text.Setting) func(w string) (int32, bool) {
	split := func(w string) []string { return strings.Split(w, " ") }
	if set != nil {
		if t, err := set.Tokenizer(); err == nil {
			split = func(w string) []string { return t.Tokenize(nil, w) }
		}
	}
	return func(w string) (id int32, ok bool) {
		joined := strings.ReplaceAll(w, " ", text.PhraseJoiner)
		for _, as := range []string{w, joined, strings.ToLower(joined), strings.Join(split(w), text.PhraseJoiner)} {
			if id, ok = at[as]; ok {
				break
			}
		}
		return id, ok
	}
}

// count reads the documents: how often they have each seed, and with others, and the words of those that
// have some.
func (s *seeding) count(ctx context.Context, pr *problem, seeds []Seed) error {
	src, err := pr.encoded(ctx)
	if err != nil {
		return err
	}
	info := src.Info()
	type place struct{ topic, i int }
	places, every := map[int32][]place{}, make([]int64, len(s.words))
	s.seen, s.sample = make([][]meeting, len(s.words)), make([]sample, len(s.words))
	for t, words := range s.words {
		s.seen[t] = make([]meeting, len(words))
		df := 0
		for i, x := range words {
			places[int32(x.Word)] = append(places[int32(x.Word)], place{t, i})
			s.seen[t][i].df = float64(info.DocFrequencies[x.Word])
			df += info.DocFrequencies[x.Word]
		}
		every[t] = int64(max(1, df/sampledDocs))
		s.sample[t].times = float64(every[t])
	}
	read, all := 0, float64(cmp.Or(pr.info.Documents, info.Documents))
	found, weights, unigram := make([][]int, len(s.words)), make([]float64, len(s.words)), make([]float64, pr.n)
	several := make([]float64, len(s.words)) // documents with two seeds of a topic, or its only one
	for d, err := range src.Docs(ctx) {
		if err != nil {
			return err
		}
		read++
		tokens := 0.
		for i, w := range d.Words {
			tokens += float64(d.Counts[i])
			for _, at := range places[w] {
				found[at.topic] = append(found[at.topic], at.i)
				s.seen[at.topic][at.i].uses += float64(d.Counts[i])
			}
		}
		if tokens == 0 {
			continue
		}
		s.docs++
		for i, w := range d.Words {
			unigram[w] += float64(d.Counts[i]) / tokens
		}
		for t, of := range found {
			if len(of) == 0 {
				continue
			}
			if len(of) >= min(2, len(s.words[t])) {
				several[t]++
			}
			x := 0.
			for _, i := range of {
				if len(of) > 1 {
					s.seen[t][i].meets++
				}
				x += arith.Log(all / s.seen[t][i].df)
			}
			found[t] = of[:0]
			weights[t] += float64(x * x)
			for i, w := range d.Words {
				s.b.Set(int(w), t, s.b.At(int(w), t)+x*x*float64(d.Counts[i])/tokens)
			}
			if holdout.Sampled(bag.Key(d.ID, read), every[t]) {
				s.sample[t].words = append(s.sample[t].words, slices.Clone(d.Words))
				s.sample[t].counts = append(s.sample[t].counts, slices.Clone(d.Counts))
			}
		}
	}
	for t, words := range s.words {
		column, sum := mat.Col(nil, t, s.b), 0.
		for w, v := range column {
			column[w] = max(0, v/weights[t]-unigram[w]/s.docs)
			sum += column[w]
		}
		if !(sum > 0) {
			return fmt.Errorf("seeds of topic %d (%.40q): the documents that have them use no word more than others do", t, s.stats[t].Name)
		}
		floats.Scale(1/sum, column)
		s.b.SetCol(t, column)
		total := 0.
		for i := range words {
			words[i].Share = float64(words[i].Share * s.seen[t][i].uses)
			total += words[i].Share
		}
		strength := cmp.Or(seeds[t].Strength, min(seedStrength*max(1, rareSubject*s.docs/several[t]), mostStrength))
		for i := range words {
			words[i].Share *= strength / total
			none := 1. // of the others, in a document, if words were independent
			for j, y := range s.seen[t] {
				if j != i {
					none *= 1 - y.df/s.docs
				}
			}
			x := &s.seen[t][i]
			if x.expected = x.df * (1 - none); len(words) > 1 {
				s.stats[t].Lift = append(s.stats[t].Lift, x.meets/x.expected)
			}
		}
	}
	return nil
}

// withFree returns what k topics are made of: those asked for, and of the topics b twice as many as are to be
// left, at most: those that are least like them.
func withFree(asked, b *mat.Dense, k int) *mat.Dense {
	_, first := asked.Dims()
	n, topics := b.Dims()
	like, order := make([]float64, topics), make([]int, topics)
	for t := range like {
		for g := range first {
			sum := 0.
			for i := range n {
				sum += math.Sqrt(asked.At(i, g) * b.At(i, t))
			}
			like[t] = max(like[t], sum)
		}
	}
	floats.Argsort(like, order)
	order = order[:min(topics, 2*(k-first))]
	slices.Sort(order)
	out := asked.Grow(0, len(order)).(*mat.Dense)
	for j, t := range order {
		out.SetCol(first+j, mat.Col(nil, t, b))
	}
	return out
}

// judge fills in what the topics of m, of which the first are those of the seeds, have of the seeds, and names
// those that the documents bear out.
func (s *seeding) judge(ctx context.Context, m *Model) error {
	m.stats.Seeds, m.add.Names = s.stats, make([]string, m.k)
	by, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		return err
	}
	theta, breve, shares := make([]float64, m.k), m.WordTopics(), m.TopicShares()
	for t := range s.stats {
		st := &s.stats[t]
		for i, words := range s.sample[t].words {
			if _, err := by.InferTo(theta, words, s.sample[t].counts[i]); err != nil {
				return err
			}
			st.Covered += theta[t] * s.sample[t].times / s.docs / shares[t]
		}
		apart, elsewhere, meets, expected := 0, 0, 0., 0.
		for i, x := range s.words[t] {
			row := mat.Row(nil, x.Word, breve)
			st.Kept = append(st.Kept, row[t])
			st.Held += m.topics[x.Word*m.k+t]
			if floats.MaxIdx(row) != t {
				elsewhere++
			}
			y := s.seen[t][i]
			if y.meets <= y.expected+float64(2*math.Sqrt(y.expected)) {
				apart++
			}
			meets, expected = meets+y.meets, expected+y.expected
		}
		switch n := len(s.words[t]); {
		case n > 1 && expected < 1 && meets < 1:
			st.Doubt = "too few documents have its words to tell whether they go together"
		case n > 1 && 2*apart > n:
			st.Doubt = fmt.Sprintf("%d of its %d words meet the others in no more documents than by chance", apart, n)
		case 2*elsewhere > n:
			st.Doubt = fmt.Sprintf("%d of its %d words are used more in another topic", elsewhere, n)
		case st.Covered < leastCovered:
			st.Doubt = fmt.Sprintf("only %.0f%% of it is in documents with its words", 100*st.Covered)
		default:
			m.add.Names[t] = st.Name
		}
	}
	m.setNames(m.add.Names)
	return nil
}
