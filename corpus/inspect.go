package corpus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Inspection says what a collection of documents holds that a reader of its topics should
// know, and what the default fit (jsmf.New) makes of it. Nothing has been left out.
//
// The default fit needs no stop list and no cut-offs. It keeps all documents with a word and
// all words:
//
//   - Words in more than half of the documents, and words in few, have no part in the start:
//     its some 2000 words are those of largest p(word)·ln⌊M/df⌋. The passes bring all in.
//     Words that are common in all topics stand far back in the words by which a topic is
//     read, and topics of such words alone are marked as background.
//   - Numbers are words like others. The default text.Setting drops them.
//   - Lines of boilerplate are left out if the text setting has them: see Learn.
//   - Duplicates count as often as they are there, and inflate every measure, since a copy of
//     a document predicts it. Curation.DropDuplicates leaves them out.
type Inspection struct {
	Documents int   // with a word or without
	Empty     int   // documents without words
	Short     int   // documents with 1 to 19 tokens
	Words     int   // of the vocabulary
	Tokens    int64 // of all documents

	Rare    Group // words in a single document
	Common  Group // words in more than half of the documents
	Numbers Group // words of digits, with their signs

	// Duplicates are documents that repeat an earlier one, in order: the same words
	// equally often, or nearly. Documents of fewer than 5 different words are left
	// aside, and near-duplicates have at least 20 tokens and are among the first 268
	// million documents. Those of Corpus.Bootstrap are not sought.
	Duplicates []Duplicate

	// Languages counts documents by language, most first, where that can be told: by the
	// function words of some twenty languages in Latin script, and by other scripts.
	Languages []Count

	// Unsegmented counts the tokens that are pairs of characters of a script written
	// without blanks, which no Segmenter split, by script, most first.
	Unsegmented []Count

	// Boilerplate is the number of lines that the text setting leaves out.
	Boilerplate int

	// Warnings say in a sentence each what a person should know. jsmf.Fit passes them on
	// in Stats.Warnings.
	Warnings []string
}

// Group is a number of words, the tokens they have, and the ten most frequent of them.
type Group struct {
	Words    int
	Tokens   int64
	Examples []string
}

// Count is how many there are of something.
type Count struct {
	Name string
	N    int64
}

// Inspect reads the documents of a source (an Encoded as it is; others are encoded first) two
// or three times. Time is linear in their size; memory is 300 to 420 bytes a document beside
// the Encoded and the counts of words. Errors are those of Encode.
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
	count, languages := make([]int64, r.Words), map[string]int64{}
	table := newLanguageTable(info.Vocabulary)
	err = e.bags(ctx)(func(_ int, words, counts []int32) {
		tokens := int64(0)
		for i, w := range words {
			count[w] += int64(counts[i])
			tokens += int64(counts[i])
		}
		switch {
		case tokens == 0:
			r.Empty++
		case tokens < shortDocument:
			r.Short++
		}
		if l := table.language(words, counts); l != "" {
			languages[l]++
		}
	})
	if err != nil {
		return nil, err
	}
	r.Languages = ranked(languages)
	r.words(&info, count)
	if !e.repeats {
		if r.Duplicates, err = e.bags(ctx).duplicates(r.Documents); err != nil {
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

// words fills in what is known of the words. count holds the tokens of each.
func (r *Inspection) words(info *Info, count []int64) {
	order := make([]int, len(count)) // most frequent first
	for w := range order {
		order[w] = w
	}
	slices.SortFunc(order, func(v, w int) int {
		return cmp.Or(cmp.Compare(count[w], count[v]), strings.Compare(info.Vocabulary[v], info.Vocabulary[w]))
	})
	add := func(g *Group, w int) {
		g.Words++
		g.Tokens += count[w]
		if len(g.Examples) < 10 {
			g.Examples = append(g.Examples, info.Vocabulary[w])
		}
	}
	unsegmented := map[string]int64{}
	for _, w := range order {
		word, df := info.Vocabulary[w], info.DocFrequencies[w]
		if df == 1 {
			add(&r.Rare, w)
		}
		if 2*df > r.Documents-r.Empty {
			add(&r.Common, w)
		}
		if isNumber(word) {
			add(&r.Numbers, w)
		}
		if info.Text != nil && len(info.Text.Segmenters) == 0 && info.Text.Own == "" {
			if script := text.Unsegmented(word); script != "" {
				unsegmented[script] += count[w]
			}
		}
	}
	r.Unsegmented = ranked(unsegmented)
}

// isNumber reports whether a word has digits and no letters.
func isNumber(w string) bool {
	return strings.ContainsFunc(w, unicode.IsNumber) && !strings.ContainsFunc(w, unicode.IsLetter)
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
		say("%d documents are in %s and %d in %s: topics will be languages; fit each by itself", l[0].N, l[0].Name, l[1].N, l[1].Name)
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

// String returns the inspection as a table of several lines.
func (r *Inspection) String() string {
	var b strings.Builder
	line := func(name string, n int, format string, args ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-32s %11d  %s", name, n, fmt.Sprintf(format, args...)), " "))
		b.WriteByte('\n')
	}
	group := func(name string, g Group) {
		line(name, g.Words, "%d tokens: %s", g.Tokens, strings.Join(g.Examples, " "))
	}
	line("documents", r.Documents, "%d tokens", r.Tokens)
	line("  without words", r.Empty, "left out by the fit")
	line("  with fewer than 20 words", r.Short, "kept")
	line("  that repeat an earlier one", len(r.Duplicates), "kept, or left out by Curation.DropDuplicates")
	for _, x := range r.Languages {
		line("  in "+x.Name, int(x.N), "")
	}
	line("words", r.Words, "")
	group("  in a single document", r.Rare)
	group("  in more than half of them", r.Common)
	group("  numbers", r.Numbers)
	for _, x := range r.Unsegmented {
		line("  tokens of pairs in "+x.Name, int(x.N), "")
	}
	line("lines of boilerplate", r.Boilerplate, "left out of every text")
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}
