package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// steeredGroup is how well topics that were asked for by words give documents their classes.
var steeredGroup = &group{
	name: "steered", version: 1,
	labels: []string{"corpus", "k", "method", "strength", "class"},
	// f1 is that of the class, of documents that the seeds were not chosen by. loglik is that of a token, of all
	// documents; 0 where it is not known.
	measures: []string{"f1", "accuracy", "loglik"},
	seconds:  []string{"fit"},
}

const (
	steeredSeeds  = 5   // of each class
	steeredSweeps = 400 // of Gibbs sampling
	steeredOneOf  = 3   // one document of so many chooses the seeds

	seedsMethod  = "Seeds"
	tandemMethod = "Tandem"
	seededLDA    = "seeded LDA"
)

// The strengths of seeds, and their prior counts in seeded LDA for each use.
var (
	steeredStrengths = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.4}
	steeredPriors    = []float64{0.01, 0.1, 1}
)

func planSteered(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, classes, err := l.labelled()
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, more := range []int{0, 1, 5, 15} {
		for _, x := range []struct {
			method    string
			strengths []float64
		}{{byDefault, []float64{0}}, {seedsMethod, steeredStrengths}, {tandemMethod, []float64{0}}, {seededLDA, steeredPriors}} {
			for _, strength := range x.strengths {
				k := len(classes) + more
				set := settings("corpus", s.name, "k", k, "method", x.method, "strength", strength, "seed", l.seed, "input", s.digest)
				out = append(out, cell{steeredGroup, set, 3, func(ctx context.Context) ([]row, error) {
					return l.steered(ctx, s, classes, k, x.method, strength)
				}})
			}
		}
	}
	return out, nil
}

// steered fits a model with topics for the classes and gives each document to the largest of these. Without
// seeds topics are of the class that has most of their proportions in the documents that would choose them.
func (l *lab) steered(ctx context.Context, s *source, classes []string, k int, method string, strength float64) ([]row, error) {
	c, err := s.curate(ctx, corpus.Curation{Score: corpus.TFIDF})
	if err != nil {
		return nil, err
	}
	labels := labelsOf(c)
	words := seedWords(c, labels, classes)
	of := make([]int, k) // the class of each topic, −1 for none
	for t := range of {
		if of[t] = t; t >= len(classes) {
			of[t] = -1
		}
	}
	begun := cpuSeconds()
	var w *mat.Dense
	loglik := 0.0
	if method == seededLDA {
		seeds := map[int32]int{}
		for t, list := range words {
			for _, word := range list {
				id, _ := c.Index(word)
				seeds[int32(id)] = t
			}
		}
		m, err := newSampler(c, k, l.seed, seeds, strength).run(ctx, steeredSweeps)
		if err != nil {
			return nil, err
		}
		w = m.w
	} else {
		p := jsmf.New(k).Workers(l.workers)
		switch method {
		case seedsMethod:
			seeds := make([]jsmf.Seed, len(classes))
			for t, class := range classes {
				seeds[t] = jsmf.Seed{Name: class, Words: words[t], Strength: strength}
			}
			p = p.Seeds(seeds...)
		case tandemMethod: // all words, so that those of the groups are among them
			p = p.Words(c.NumWords()).Anchors(anchor.Tandem{Groups: words, Complete: anchor.QR{MinDocs: 1}})
		}
		m, err := p.Fit(ctx, c)
		if err != nil {
			return nil, err
		}
		history := m.Stats().Refine.History
		loglik = history[len(history)-1].LogLik
		x, err := m.Transform(ctx, c.Source())
		if err != nil {
			return nil, err
		}
		w = x.W
	}
	seconds := cpuSeconds() - begun
	if method == byDefault {
		of = classesOf(w, labels, classes)
	}
	hits, given, have, right, all := make([]float64, len(classes)), make([]float64, len(classes)), make([]float64, len(classes)), 0.0, 0.0
	for d, label := range labels {
		if d%steeredOneOf == 0 {
			continue
		}
		best := -1
		for t := range of {
			if of[t] >= 0 && (best < 0 || w.At(d, t) > w.At(d, best)) {
				best = t
			}
		}
		is := slices.Index(classes, label)
		given[of[best]]++
		have[is]++
		all++
		if of[best] == is {
			hits[is]++
			right++
		}
	}
	var out []row
	for i, class := range classes {
		r := row{"corpus": s.name, "method": method, "class": class}.set("k", k).set("strength", strength)
		out = append(out, r.set("f1", 2*hits[i]/(given[i]+have[i])).set("accuracy", right/all).set("loglik", loglik).set("fit", seconds))
	}
	return out, nil
}

// seedWords returns for each class its name, if that is a word, and the words of highest χ² among those that its
// documents have more often than others do.
func seedWords(c *corpus.Corpus, labels, classes []string) [][]string {
	docs, in, with := 0.0, make([]float64, len(classes)), make([][]float64, len(classes))
	for i := range with {
		with[i] = make([]float64, c.NumWords())
	}
	for d := 0; d < c.NumDocs(); d += steeredOneOf {
		i := slices.Index(classes, labels[d])
		in[i]++
		docs++
		words, _ := c.Doc(d)
		for _, w := range words {
			with[i][w]++
		}
	}
	out, taken := make([][]string, len(classes)), map[string]bool{}
	for i, class := range classes {
		if name := strings.ToLower(class); slices.Contains(c.Vocabulary(), name) {
			out[i], taken[name] = append(out[i], name), true
		}
	}
	for i := range classes {
		type scored struct {
			word string
			chi2 float64
		}
		var all []scored
		for w := range c.NumWords() {
			df := 0.0
			for j := range with {
				df += with[j][w]
			}
			a := with[i][w]
			if gap := a*docs - df*in[i]; gap > 0 {
				all = append(all, scored{c.Word(w), gap * gap / (df * (docs - df) * in[i] * (docs - in[i]))})
			}
		}
		slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.chi2, a.chi2) })
		for _, x := range all {
			if len(out[i]) < steeredSeeds && !taken[x.word] {
				out[i], taken[x.word] = append(out[i], x.word), true
			}
		}
	}
	return out
}

// classesOf returns for each topic the class that has most of it, for its number of documents, in the documents
// that choose seeds.
func classesOf(w *mat.Dense, labels, classes []string) []int {
	docs, k := w.Dims()
	mass, in := mat.NewDense(k, len(classes), nil), make([]float64, len(classes))
	for d := 0; d < docs; d += steeredOneOf {
		i := slices.Index(classes, labels[d])
		in[i]++
		for t := range k {
			mass.Set(t, i, mass.At(t, i)+w.At(d, t))
		}
	}
	out := make([]int, k)
	for t := range out {
		row := mat.Row(nil, t, mass)
		floats.Div(row, in)
		out[t] = floats.MaxIdx(row)
	}
	return out
}

// strengthOf names a method with its strength.
func strengthOf(method, strength string) string {
	if strength == "0" {
		return method
	}
	return fmt.Sprintf("%s (%s)", method, strength)
}
