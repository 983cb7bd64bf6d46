package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// genresGroup has a row for each topic.
var genresGroup = &group{
	name: "genres", version: 1,
	labels: []string{"corpus", "method", "k", "start", "topic", "words"},
	// probability is p(topic). class is the class with most of the top words and share
	// its part, all parts are in classes; distance is the total variation distance of
	// these from the parts that the classes have in the corpus, which are in whole.
	measures: []string{"probability", "class", "share", "distance", "classes", "whole"},
	seconds:  []string{"seconds"},
}

const (
	apADMM = "AP+ADMM"
	// thin is how much of each document is kept to make documents as short as
	// playlists.
	thin = 1.0 / 6
	// The starts of CTM, and those that go on to a smaller tolerance.
	ctmStarts    = 10
	longerStarts = 1
)

// genreAP makes as many iterations as the papers'. 15 are too few for documents of some
// 20 tokens.
var genreAP = rectify.AP{Iterations: 150}

// genreTopics are the numbers of topics of lee-2018 Figures 3.4 and 3.3.
var genreTopics = []int{5, 15}

func planGenres(_ context.Context, l *lab) ([]cell, error) {
	if l.classes == "" {
		return nil, nil
	}
	s, _, err := l.labelled()
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, name := range []string{s.name, s.name + ", thinned"} {
		share := 1.0
		if name != s.name {
			share = thin
		}
		for _, k := range genreTopics {
			for _, x := range []struct {
				method string
				starts int
			}{{apADMM, 1}, {ctmName, ctmStarts}, {ctmLonger, longerStarts}} {
				method := x.method
				model := fmt.Sprint(genreAP, recoverer("ADMM"))
				if r := rivalOf(method, k, 0); r != nil {
					model = fmt.Sprint(r)
				}
				for start := range x.starts {
					set := settings("corpus", name, "method", method, "k", k, "start", start, "share", share, "model", model, "seed", l.seed, "input", s.digest)
					out = append(out, cell{genresGroup, set, float64(k) / 3, func(ctx context.Context) ([]row, error) {
						rows, err := l.genres(ctx, s, share, method, k, start)
						for _, r := range rows {
							r["corpus"] = name
						}
						return rows, err
					}})
				}
			}
		}
	}
	return out, nil
}

// thinned counts the corpus with a random part of the tokens of each document.
func (l *lab) thinned(ctx context.Context, s *source, share float64) (*cooc.Moments, error) {
	c, err := s.curate(ctx, every)
	if err != nil {
		return nil, err
	}
	if share < 1 {
		if c, _, err = c.SplitTokens(share, l.seed); err != nil {
			return nil, err
		}
	}
	return cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: l.workers})
}

// genres fits one model and looks at the classes of the top words of its topics.
func (l *lab) genres(ctx context.Context, s *source, share float64, method string, k, start int) ([]row, error) {
	d, err := l.thinned(ctx, s, share)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	begun := cpuSeconds()
	var b *mat.Dense
	var a mat.Matrix
	if r := rivalOf(method, k, l.seed+uint64(start)); r != nil {
		m, err := r.Fit(ctx, c)
		if err != nil {
			return nil, err
		}
		b, a = m.B, m.A
	} else {
		m, err := asPublished(k).Rectify(genreAP).Recover(recoverer("ADMM")).Seed(l.seed).Workers(l.workers).Fit(ctx, d)
		if err != nil {
			return nil, err
		}
		b, a = mat.DenseCopyOf(m.Topics()), m.Correlations()
	}
	took := cpuSeconds() - begun
	names, word, whole := classShares(c)
	top, err := metrics.TopLists(b, 20)
	if err != nil {
		return nil, err
	}
	var rows []row
	for topic, list := range top {
		shares := make([]float64, len(names))
		for _, i := range list {
			for j := range shares {
				shares[j] += word.At(i, j) / float64(len(list))
			}
		}
		distance, probability, best := 0.0, 0.0, 0
		for j, v := range shares {
			distance += math.Abs(v-whole[j]) / 2
			if v > shares[best] {
				best = j
			}
		}
		for j := range k {
			probability += a.At(topic, j)
		}
		r := row{"method": method, "words": listed(c, list), "class": names[best], "classes": profile(names, shares), "whole": profile(names, whole)}
		r.set("k", k).set("start", start).set("topic", topic).set("probability", probability/mat.Sum(a))
		r.set("share", shares[best]).set("distance", distance).set("seconds", took)
		rows = append(rows, r)
	}
	// The most probable topic is the first, as in the papers' pictures.
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.num("probability"), a.num("probability")) })
	return rows, nil
}

// classShares returns the classes, p(class | word) by tokens, and p(class).
func classShares(c *corpus.Corpus) (names []string, word *mat.Dense, whole []float64) {
	names = labelsOf(c)
	slices.Sort(names)
	names = slices.Compact(names)
	word, whole = mat.NewDense(c.NumWords(), len(names), nil), make([]float64, len(names))
	for m := range c.NumDocs() {
		j, _ := slices.BinarySearch(names, c.Label(m))
		words, counts := c.Doc(m)
		for i, id := range words {
			word.Set(int(id), j, word.At(int(id), j)+float64(counts[i]))
			whole[j] += float64(counts[i]) / float64(c.Tokens())
		}
	}
	for i := range c.NumWords() {
		row := word.RawRowView(i)
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for j := range row {
			row[j] /= sum
		}
	}
	return names, word, whole
}

// profile writes shares as "name=share …".
func profile(names []string, shares []float64) string {
	var out []string
	for j, v := range shares {
		out = append(out, fmt.Sprintf("%s=%.4f", names[j], v))
	}
	return strings.Join(out, " ")
}
