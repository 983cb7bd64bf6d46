// Package stopwords has lists of function words in 32 languages, to be left out of a
// vocabulary:
//
//	list, err := stopwords.For("de")
//	c, report, err := corpus.Curate(c, corpus.Curation{StopWords: list, Words: 5000})
//
// The default fit (jsmf.New) needs none.
//
// The words are as the default text.Setting gives them: composed, in lower case, with their
// accents. For another setting pass them through its Tokenizer:
//
//	list = tok.Tokenize(nil, strings.Join(list, "\n"))
//
// Most lists are those of Apache Lucene as the search engine Bleve has them: short lists of
// the Snowball project and of Jacques Savoy (BSD), and others (Apache License 2.0, MIT).
// Longer ones in as many languages, such as stopwords-iso, hold words that can name a topic
// ("system" and "states" in English). English is text.EnglishStopWords; Chinese and Japanese
// are of this library, for words as package segment gives them. The folder data says where
// each list is from, what was changed, and holds the licences.
package stopwords

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/text"
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
	out := []string{"en"}
	for _, f := range files {
		out = append(out, strings.TrimSuffix(f.Name(), ".txt"))
	}
	slices.Sort(out)
	return out
}

// For returns the function words of a language, given by one of the codes of Languages,
// sorted by their bytes, in a new slice. The error lists the languages that there are.
func For(language string) ([]string, error) {
	if language == "en" {
		return text.EnglishStopWords(), nil
	}
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("stopwords: no list for the language %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	b, err := data.ReadFile("data/" + language + ".txt")
	if err != nil {
		return nil, fmt.Errorf("stopwords: %w", err)
	}
	return strings.Fields(string(b)), nil
}
