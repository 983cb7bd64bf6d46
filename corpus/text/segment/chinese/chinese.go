// Package chinese splits Chinese text into words, for text.Setting.Segmenters:
//
//	zh, err := chinese.New()
//	tok, err := text.Setting{Segmenters: []string{zh.Name()}}.Tokenizer(zh)
//	c, err := corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: "news.jsonl"}, Tokenizer: tok})
//
// It uses [github.com/go-ego/gse] (Apache License 2.0), which takes the most probable words
// of a dictionary and a hidden Markov model for words that the dictionary lacks, such as
// names. Its dictionary of 589,000 simplified and traditional words comes in part from jieba
// (MIT licence). The dictionaries, with gse's Japanese one, which is not used, add 33 MB to a
// program.
//
// Runs of Han characters can have one segmenter only: Chinese and Japanese texts need two
// settings. Korean needs none. For Thai, Lao, Khmer and Burmese there is no Go library that
// is kept up: mapkha (2018, LGPL) and go-thaiwordcut (2022) are Thai only, and package text
// splits these scripts into pairs of characters.
package chinese

import (
	"fmt"

	"github.com/go-ego/gse"

	"github.com/jsmf-go/spectral/corpus/text"
)

// New returns the segmenter of runs of Han characters. Its name is "gse/zh". It is safe for
// concurrent use, and splits some 5 MB of text a second on a core. It reads the dictionary,
// which takes one to two seconds and 200 MB of memory: make one and keep it.
func New() (text.Segmenter, error) {
	s := &segmenter{}
	s.gse.SkipLog = true
	if err := s.gse.LoadDictEmbed("zh"); err != nil {
		return nil, fmt.Errorf("chinese: dictionary: %w", err)
	}
	return s, nil
}

type segmenter struct{ gse gse.Segmenter }

func (s *segmenter) Name() string { return "gse/zh" }

func (s *segmenter) Scripts() []string { return []string{"Han"} }

// longest is the most characters that gse is given at once: its time grows with the square
// of a stretch of characters that are no words of the dictionary. No sentence is as long.
const longest = 200

func (s *segmenter) Segment(dst []string, run string) []string {
	from, n := 0, 0
	for i := range run {
		if n++; n > longest {
			dst = append(dst, s.gse.Cut(run[from:i], true)...)
			from, n = i, 1
		}
	}
	return append(dst, s.gse.Cut(run[from:], true)...)
}
