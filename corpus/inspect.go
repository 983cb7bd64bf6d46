package corpus

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
)

// Inspection says what a collection of documents holds that a reader of its topics should
// know. Nothing has been left out. The default fit (jsmf.New) keeps all words, and all documents
// with a word: it needs no stop list and no cut-offs.
type Inspection struct {
	Documents int   // with a word or without
	Empty     int   // documents without words
	Short     int   // documents with 1 to 19 tokens
	Words     int   // of the vocabulary
	Tokens    int64 // of all documents

	// Duplicates are documents that repeat an earlier one, in order: the same words equally
	// often, or nearly. They have at least 5 different words; near-duplicates have at least 20
	// tokens and are among the first 268 million documents. A copy of a document predicts it,
	// which inflates every measure; Curation.DropDuplicates leaves it out. Documents that may be
	// copies (Description.Copies) have none.
	Duplicates []Duplicate

	// Languages counts documents by language, most first, by the function words of those languages
	// that stopwords.Detect finds and by their codes, such as "en". A document with fewer than three
	// of these words, or a twelfth of its tokens, is left out.
	Languages []Count

	// Unsegmented counts, by script, most first, the tokens that are pairs of characters of a
	// script written without blanks, which no Segmenter split.
	Unsegmented []Count

	// Boilerplate is the number of lines that the text setting leaves out.
	Boilerplate int

	// Warnings are sentences for people. A fit passes them on in Stats.Warnings.
	Warnings []string
}

// Count is how many there are of something.
type Count struct {
	Name string
	N    int64
}

// Inspect reads the documents of a source, which is encoded first if it is no Encoded, up to
// four times. Time is linear in their size; memory is 300 to 420 bytes a document, besides the
// Encoded and the counts of words. Errors are those of Encode.
func Inspect(ctx context.Context, src Source) (*Inspection, error) {
	e, err := Encode(ctx, src)
	if err != nil {
		return nil, err
	}
	info := e.Info()
	r := &Inspection{Documents: info.Documents, Words: len(info.Vocabulary), Tokens: info.Tokens}
	if info.Text != nil && info.Text.Boilerplate != nil {
		r.Boilerplate = len(info.Text.Boilerplate.Lines)
	}
	count := make([]int64, r.Words)
	for d, err := range e.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		tokens := int64(0)
		for i, w := range d.Words {
			count[w] += int64(d.Counts[i])
			tokens += int64(d.Counts[i])
		}
		switch {
		case tokens == 0:
			r.Empty++
		case tokens < shortDocument:
			r.Short++
		}
	}
	if r.Languages, err = languages(ctx, e, count); err != nil {
		return nil, err
	}
	r.Unsegmented = unsegmented(&info, count)
	if !e.repeats {
		if r.Duplicates, err = duplicates(ctx, e, r.Documents); err != nil {
			return nil, err
		}
	}
	r.warn(&info)
	return r, nil
}

// ranked returns counts, largest first, equal ones by name.
func ranked(counts map[string]int64) []Count {
	out := make([]Count, 0, len(counts))
	for name, n := range counts {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return out
}

// unsegmented counts the tokens that no Segmenter split. count holds the tokens of each word.
func unsegmented(info *Info, count []int64) []Count {
	if info.Text == nil || len(info.Text.Segmenters) > 0 || info.Text.Own != "" {
		return nil
	}
	tokens := map[string]int64{}
	for w, word := range info.Vocabulary {
		if script := text.Unsegmented(word); script != "" {
			tokens[script] += count[w]
		}
	}
	return ranked(tokens)
}

// Limits of warnings.
const (
	shortDocument = 20 // tokens; fewer pairs of words than a topic has words to tell
	stemWords     = 500
	// In texts of five languages and in all shared corpora a fifth or more of the longer
	// words end in a vowel, and after Snowball's stemmers a twelfth or fewer.
	stemOneIn = 8
)

// warn fills in the warnings.
func (r *Inspection) warn(info *Info) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	docs := r.Documents - r.Empty
	if 2*r.Short > docs {
		say("%d of %d documents have fewer than %d words: topics of short documents are less certain; join those that belong together, such as one author's", r.Short, docs, shortDocument)
	}
	if n := len(r.Duplicates); 20*n >= docs && n > 0 {
		say("%d of %d documents repeat an earlier one, or nearly: they inflate every measure; corpus.Curation.DropDuplicates leaves them out", n, docs)
	}
	for _, x := range r.Unsegmented {
		if 2*x.N > r.Tokens {
			say("%d of %d tokens are pairs of characters in %s script, which is written without blanks: topics are easier to read with words from a text.Segmenter", x.N, r.Tokens, x.Name)
		}
	}
	if l := r.Languages; len(l) > 1 && 10*l[1].N >= int64(docs) {
		say("%d documents are in the language %q and %d in %q: topics will be languages; fit each by itself", l[0].N, l[0].Name, l[1].N, l[1].Name)
	}
	if vowels, words := finals(info); words >= stemWords && stemOneIn*vowels < words {
		say("the words look already stemmed (%d of %d longer ones end in a vowel): give the texts as they are, and a text.Stemmer if words are to be merged, which shows whole words", vowels, words)
	}
}

// finals counts the words of five letters and more in Latin, Greek or Cyrillic script, in two
// documents at least, and how many of them end in a vowel other than i. In every language of
// these scripts many do, and stemmers cut that off (or make it i).
func finals(info *Info) (vowels, words int) {
	if info.Text != nil && info.Text.Stemmer != "" {
		return 0, 0
	}
	for w, word := range info.Vocabulary {
		if info.DocFrequencies[w] < 2 || utf8.RuneCountInString(word) < 5 || strings.ContainsFunc(word, func(r rune) bool {
			return !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		}) {
			continue
		}
		words++
		if r, _ := utf8.DecodeLastRuneInString(word); strings.ContainsRune(finalVowels, unicode.ToLower(r)) {
			vowels++
		}
	}
	return vowels, words
}

const finalVowels = "aeouyàáâãäåèéêëòóôõöùúûüýæøąęěůőűăâαεηοωάέήόώаеоуыэюяйьіїєё"

// languages counts documents by language: that with most function words in a document, of the languages
// of all documents. count holds the tokens of each word.
func languages(ctx context.Context, e *Encoded, count []int64) ([]Count, error) {
	vocab, tokens := e.info.Vocabulary, make([]float64, len(count))
	for w, n := range count {
		tokens[w] = float64(n)
	}
	found, function := stopwords.Detect(vocab, tokens)
	of := make(map[string]uint64) // the languages of a function word, as bits
	for l, language := range found {
		list, err := stopwords.For(language)
		if err != nil {
			return nil, err
		}
		for _, w := range list {
			of[w] |= 1 << l
		}
	}
	docs := map[string]int64{}
	if found == nil {
		return ranked(docs), nil
	}
	for d, err := range e.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		hits, all := make([]int64, len(found)), int64(0)
		for i, w := range d.Words {
			n := int64(d.Counts[i])
			if all += n; function[w] {
				for in := of[strings.ToLower(vocab[w])]; in != 0; in &= in - 1 {
					hits[bits.TrailingZeros64(in)] += n
				}
			}
		}
		if most := slices.Max(hits); most >= 3 && 12*most >= all {
			docs[found[slices.Index(hits, most)]]++
		}
	}
	return ranked(docs), nil
}
