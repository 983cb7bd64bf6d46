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
	// which inflates every measure; Curation.DropDuplicates leaves it out. The documents of
	// Corpus.Bootstrap have none.
	Duplicates []Duplicate

	// Languages counts documents by language, most first, by the function words of some twenty
	// languages in Latin script, and by other scripts. Documents of other languages are left out.
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

// Inspect reads the documents of a source, which is encoded first if it is no Encoded, two or
// three times. Time is linear in their size; memory is 300 to 420 bytes a document, besides the
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
	count, languages := make([]int64, r.Words), map[string]int64{}
	table := newLanguageTable(info.Vocabulary)
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
		if l := table.language(d.Words, d.Counts); l != "" {
			languages[l]++
		}
	}
	r.Languages = ranked(languages)
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

// languages are the commonest function words of languages in Latin script, by which the
// language of a document is found. The table is not for leaving words out.
var languages = []struct{ name, words string }{
	{"English", "the of and to in is that for was with this are as be it"},
	{"German", "der die und das den nicht von ist des mit dem ein eine auf für"},
	{"French", "le les des et est une du dans que pour pas sur qui au par"},
	{"Spanish", "el los las que en una por con para del se no es al como"},
	{"Portuguese", "os uma não para com como dos em do da que se ao mais no"},
	{"Italian", "il che di della per una sono gli con nel del non si la le"},
	{"Dutch", "het een van en niet dat zijn voor op met de te die aan ook"},
	{"Swedish", "och att det som är för inte med av ett en på den till har"},
	{"Danish or Norwegian", "og det er ikke til som på at af av en med for den har"},
	{"Finnish", "ja on ei että se oli joka myös tai kun ovat hän mutta kuin ole"},
	{"Polish", "nie się na jest że do to jak oraz lub po od dla są przez"},
	{"Czech", "se na je že to do jako ve pro nebo ale si tak není jsou"},
	{"Hungarian", "az és hogy nem egy is ez meg de vagy csak kell volt ha már"},
	{"Romanian", "și este în nu din care pentru cu mai sunt la de un pe sau"},
	{"Turkish", "bir ve bu için ile de da çok daha olarak olan ne en gibi var"},
	{"Indonesian", "yang dan di dengan untuk tidak dari ini itu dalam akan pada ke atau ada"},
}

// scripts are those other than Latin. Several languages may share one.
var scripts = []struct {
	name   string
	tables []*unicode.RangeTable
}{
	{"Cyrillic", []*unicode.RangeTable{unicode.Cyrillic}},
	{"Greek", []*unicode.RangeTable{unicode.Greek}},
	{"Arabic", []*unicode.RangeTable{unicode.Arabic}},
	{"Hebrew", []*unicode.RangeTable{unicode.Hebrew}},
	{"Devanagari", []*unicode.RangeTable{unicode.Devanagari}},
	{"Hangul", []*unicode.RangeTable{unicode.Hangul}},
	{"Chinese or Japanese", []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}},
	{"Thai", []*unicode.RangeTable{unicode.Thai}},
}

// languageTable says for each word of which languages it is a function word (bits), and of
// which script it is (1 + the number in scripts; 0: another).
type languageTable struct {
	function []uint32
	script   []uint8
}

func newLanguageTable(vocab []string) languageTable {
	of := make(map[string]uint32)
	for l := range languages {
		for _, w := range strings.Fields(languages[l].words) {
			of[w] |= 1 << l
		}
	}
	t := languageTable{make([]uint32, len(vocab)), make([]uint8, len(vocab))}
	for i, w := range vocab {
		t.function[i] = of[w]
		for _, r := range w {
			if r < unicode.MaxLatin1 || !unicode.IsLetter(r) {
				continue
			}
			for s := range scripts {
				if unicode.In(r, scripts[s].tables...) {
					t.script[i] = uint8(s + 1)
				}
			}
			break
		}
	}
	return t
}

// language returns the language or the script of a document: a script of half of its tokens, or
// the language with most function words, if these are at least three and a twelfth of the tokens,
// and at least 1.5 times those of any other language. "" if there is none.
func (t *languageTable) language(words, counts []int32) string {
	var hits [32]int64
	var script [32]int64
	all := int64(0)
	for i, w := range words {
		n := int64(counts[i])
		all += n
		script[t.script[w]] += n
		for f, l := t.function[w], 0; f != 0; f, l = f>>1, l+1 {
			if f&1 != 0 {
				hits[l] += n
			}
		}
	}
	for s := range scripts {
		if 2*script[s+1] >= all && all > 0 {
			return scripts[s].name
		}
	}
	best, second := 0, int64(0)
	for l, n := range hits {
		if n > hits[best] {
			second = hits[best]
			best = l
		} else if l != best {
			second = max(second, n)
		}
	}
	if n := hits[best]; n >= 3 && 12*n >= all && 2*n >= 3*second {
		return languages[best].name
	}
	return ""
}
