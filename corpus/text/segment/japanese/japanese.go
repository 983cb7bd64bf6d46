// Package japanese splits Japanese text into words, for text.Setting.Segmenters:
//
//	ja, err := japanese.New()
//	tok, err := text.Setting{Segmenters: []string{ja.Name()}}.Tokenizer(ja)
//	c, err := corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: "news.jsonl"}, Tokenizer: tok})
//
// It uses [github.com/ikawaha/kagome/v2] (MIT licence) with the dictionary mecab-ipadic
// 2.7.0-20070801, whose licence, of the Nara Institute of Science and Technology and of ICOT,
// allows use and redistribution with its notice. The dictionary adds 13 MB to a program.
//
// Words are those of the text: 食べ and 食べる are two. Particles and endings are words of
// their own. Package text drops those of one kana, such as の, は and た; package stopwords
// lists the others, such as です and ます.
package japanese

import (
	"fmt"

	"github.com/ikawaha/kagome-dict/ipa"
	"github.com/ikawaha/kagome/v2/tokenizer"

	"github.com/jsmf-go/spectral/corpus/text"
)

// New returns the segmenter of runs of Han characters and Kana. Its name is
// "kagome/ipadic". It is safe for concurrent use, and splits some 4 MB of text a second on a
// core. The first call reads the dictionary, which takes 0.3 s and 30 MB of memory; later
// ones share it.
func New() (text.Segmenter, error) {
	t, err := tokenizer.New(ipa.DictShrink(), tokenizer.OmitBosEos())
	if err != nil {
		return nil, fmt.Errorf("japanese: dictionary: %w", err)
	}
	return segmenter{t}, nil
}

type segmenter struct{ kagome *tokenizer.Tokenizer }

func (segmenter) Name() string { return "kagome/ipadic" }

func (segmenter) Scripts() []string { return []string{"Han", "Hiragana", "Katakana"} }

func (s segmenter) Segment(dst []string, run string) []string {
	return append(dst, s.kagome.Wakati(run)...)
}
