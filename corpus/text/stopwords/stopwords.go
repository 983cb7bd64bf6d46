// Package stopwords has lists of function words in 32 languages, to be left out of a
// vocabulary:
//
//	list, err := stopwords.For("de")
//	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: list, Words: 5000})
//
// The default fit (jsmf.New) needs none: it finds the languages of the documents ([Detect]), keeps all
// words, and takes none of these lists into the start of a fit or among the words that name a topic.
//
// The words are as the default text.Setting gives them: composed, in lower case, with their
// accents. For another setting pass them through its Tokenizer:
//
//	list = tok.Tokenize(nil, strings.Join(list, "\n"))
//
// Most lists are those of Apache Lucene as the search engine Bleve has them: short lists of
// the Snowball project and of Jacques Savoy (BSD), and others (Apache License 2.0, MIT).
// Longer ones in as many languages, such as stopwords-iso, hold words that can name a topic
// ("system" and "states" in English). English, Chinese and Japanese are of this library, the latter
// two for words as package segment gives them. The folder data says where each list is from, what was
// changed, and holds the licences.
package stopwords

import (
	"embed"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

//go:embed data/*.txt
var data embed.FS

// Languages returns the languages that there are lists for, sorted: ISO 639-1 codes, and
// "ckb" for Central Kurdish (Sorani).
func Languages() []string {
	files, err := data.ReadDir("data")
	if err != nil {
		panic(err) // it is in the program
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return out
}

// English returns the list of English, in a new slice: articles, pronouns, prepositions, conjunctions,
// auxiliaries, adverbs without content, a few common verbs, and contractions, both whole ("don't") and as
// the pieces that other tokenizers leave ("don", "ll").
func English() []string {
	list, err := For("en")
	if err != nil {
		panic(err) // it is in the program
	}
	return list
}

// For returns the function words of a language, given by one of the codes of Languages,
// sorted by their bytes, in a new slice. The error lists the languages that there are.
func For(language string) ([]string, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("stopwords: no list for the language %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	list := read(language)
	slices.Sort(list)
	return slices.Compact(list), nil
}

// read returns the list of one of Languages as it is in the file.
func read(language string) []string {
	b, err := data.ReadFile("data/" + language + ".txt")
	if err != nil {
		panic(err) // it is in the program
	}
	return strings.Fields(string(b))
}

// leastFunction is the least part of all tokens that are function words of a language, besides those of
// languages found before it, where documents are in it. Manuals of 18 languages, with English in between,
// have 12 to 58 %; of a language that no document is in, and of English from which function words were
// taken, it is 4 % or less.
const leastFunction = 1. / 20

// Detect returns the languages of documents, as codes of Languages, that with most tokens first, and for
// each of their words whether it is a function word in one of these. tokens are how often each word
// occurs, in any unit; capitals do not matter. nil, nil if no language is found, as in documents from
// which function words were taken.
func Detect(words []string, tokens []float64) (languages []string, function []bool) {
	if len(words) == 0 {
		return nil, nil
	}
	all, of := Languages(), map[string]uint64{}
	for l, language := range all {
		for _, w := range read(language) {
			of[w] |= 1 << l
		}
	}
	total, lists := 0.0, make([]uint64, len(words)) // in which each word is
	for i, w := range words {
		total += tokens[i]
		lists[i] = of[strings.ToLower(w)]
	}
	found := uint64(0)
	for {
		hits := make([]float64, len(all))
		for i, in := range lists {
			if in&found == 0 {
				for ; in != 0; in &= in - 1 {
					hits[bits.TrailingZeros64(in)] += tokens[i]
				}
			}
		}
		best := 0
		for l, n := range hits {
			if n > hits[best] {
				best = l
			}
		}
		if !(hits[best] > 0 && hits[best] >= leastFunction*total) {
			break
		}
		found |= 1 << best
		languages = append(languages, all[best])
	}
	if languages == nil {
		return nil, nil
	}
	function = make([]bool, len(words))
	for i, in := range lists {
		function[i] = in&found != 0
	}
	return languages, function
}
