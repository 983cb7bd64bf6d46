package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
)

// source is a corpus of the data folder. Before a cell asks for it, it
// is read for its digest only.
type source struct {
	name                         string
	docword, vocab, labels, stop string // files; labels and stop may be ""
	digest                       string // of their content

	raw    *corpus.Corpus
	counts map[string]*cooc.Moments // by curation and weights
}

// findSource looks for the files of a corpus below folder: NAME/docword.NAME.txt
// (or .txt.gz), NAME/vocab.NAME.txt and, where there is one, NAME/labels.txt. Of a
// corpus with documents held out it takes the others: docword.train.txt and
// vocab.txt.
func findSource(folder, name, stop string) (*source, error) {
	s := &source{name: name, stop: stop, counts: make(map[string]*cooc.Moments)}
	exists := func(path string) (bool, error) {
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	for _, x := range []struct {
		to       *string
		required bool
		base     []string
	}{
		{&s.docword, true, []string{"docword." + name + ".txt.gz", "docword." + name + ".txt", "docword.train.txt.gz", "docword.train.txt"}},
		{&s.vocab, true, []string{"vocab." + name + ".txt", "vocab.txt"}},
		{&s.labels, false, []string{"labels.txt"}},
	} {
		for _, base := range x.base {
			path := filepath.Join(folder, name, base)
			ok, err := exists(path)
			if err != nil {
				return nil, err
			}
			if ok && *x.to == "" {
				*x.to = path
			}
		}
		if x.required && *x.to == "" {
			return nil, fmt.Errorf("corpus %s: there is no %s in %s", name, strings.Join(x.base, " or "), filepath.Join(folder, name))
		}
	}
	h := sha256.New()
	for _, path := range []string{s.docword, s.vocab, s.labels, s.stop} {
		if path == "" {
			fmt.Fprintln(h, "none")
			continue
		}
		sum, err := fileDigest(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(h, sum)
	}
	if s.stop == "" { // the list of the library
		fmt.Fprintln(h, strings.Join(stopwords.English(), "\n"))
	}
	s.digest = hex.EncodeToString(h.Sum(nil)[:12])
	return s, nil
}

func fileDigest(path string) (sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// read returns the whole corpus, with labels where there are any.
func (s *source) read(ctx context.Context) (*corpus.Corpus, error) {
	if s.raw != nil {
		return s.raw, nil
	}
	c, err := corpus.ReadUCI(ctx, s.docword, s.vocab)
	if err != nil {
		return nil, err
	}
	if s.labels != "" {
		labels, err := s.classes()
		if err != nil {
			return nil, err
		}
		if len(labels) != c.NumDocs() {
			return nil, fmt.Errorf("%s: %d labels for %d documents", s.labels, len(labels), c.NumDocs())
		}
		words, ids := make([]string, c.NumWords()), make([]string, c.NumDocs())
		for i := range words {
			words[i] = c.Word(i)
		}
		for m := range ids {
			ids[m] = c.ID(m)
		}
		if c, err = corpus.FromCSR(c.Counts(), words, ids, labels); err != nil {
			return nil, err
		}
	}
	s.raw = c
	return c, nil
}

// classes returns the label of each document: the last column, after a tab, of
// the lines of the file of labels.
func (s *source) classes() ([]string, error) {
	out, err := readLines(s.labels)
	for i, text := range out {
		out[i] = text[strings.LastIndexByte(text, '\t')+1:]
	}
	return out, err
}

func (s *source) stopWords(ctx context.Context) ([]string, error) {
	if s.stop == "" {
		return stopwords.English(), nil
	}
	return corpus.ReadStopWords(ctx, corpus.File{Name: s.stop})
}

// curate applies the curation, after the stop words.
func (s *source) curate(ctx context.Context, cur corpus.Curation) (*corpus.Corpus, error) {
	return s.curateSome(ctx, math.MaxInt, cur)
}

// curateSome is curate for at most docs documents, at equal distances in the corpus.
func (s *source) curateSome(ctx context.Context, docs int, cur corpus.Curation) (*corpus.Corpus, error) {
	raw, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if all := raw.NumDocs(); all > docs {
		if raw, err = raw.Select(evenly(docs, all), nil); err != nil {
			return nil, err
		}
	}
	if cur.StopWords, err = s.stopWords(ctx); err != nil {
		return nil, err
	}
	c, _, err := corpus.Curate(raw, cur)
	return c, err
}

// evenly returns n of the numbers below all, at equal distances.
func evenly(n, all int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i * all / n
	}
	return out
}

// count curates the corpus and counts it, once for all cells with these settings.
func (s *source) count(ctx context.Context, cur corpus.Curation, w cooc.Weighting, workers int) (*cooc.Moments, error) {
	key := fmt.Sprintf("%d %g %v %v", cur.Words, cur.MaxDocShare, cur.Score, w)
	if d := s.counts[key]; d != nil {
		return d, nil
	}
	c, err := s.curate(ctx, cur)
	if err != nil {
		return nil, err
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Weighting: w, Workers: workers})
	if err != nil {
		return nil, err
	}
	s.counts[key] = d
	return d, nil
}

// countUnbiased is count with the usual curation and weights.
func (s *source) countUnbiased(ctx context.Context, words, workers int) (*cooc.Moments, error) {
	return s.count(ctx, curation(words), cooc.Unbiased, workers)
}
