package stopwords_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/examples/readme/snippets"
)

func list(t *testing.T, language string) []string {
	t.Helper()
	l, err := stopwords.For(language)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Words that any reader of the language would expect.
var expected = map[string]string{
	"ar": "في من على", "bg": "и на не", "ca": "i els amb", "ckb": "لە بۆ", "cs": "jsem který", "da": "og ikke det",
	"de": "und nicht für", "el": "και είναι από", "en": "the and don't", "es": "que está los", "eu": "eta baina", "fa": "از آن که این",
	"fi": "ja että olla", "fr": "les même été", "ga": "agus ní", "gl": "pero tamén", "hi": "और नहीं", "hr": "jesam sam",
	"hu": "és hogy", "hy": "այդ են", "id": "yang dan", "it": "che perché degli", "ja": "です から これ", "nl": "het niet", "no": "og ikke",
	"pl": "się nie", "pt": "não uma", "ro": "și şi este", "ru": "не ещё еще", "sv": "och inte", "tr": "için çok", "zh": "的 我们 我們 因为 因為",
}

// Each word is one that the default tokenizer can give, or it would never be found.
func TestLists(t *testing.T) {
	languages := stopwords.Languages()
	if len(languages) != 32 || len(expected) != 32 || !slices.IsSorted(languages) {
		t.Errorf("%d languages: %q", len(languages), languages)
	}
	tok, err := text.Setting{MinLength: 1, KeepPossessive: true}.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages {
		words := list(t, language)
		if len(words) < 40 || len(words) > 400 {
			t.Errorf("%s: %d words", language, len(words))
		}
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Errorf("%s: not sorted, or a word comes twice", language)
		}
		for w := range strings.FieldsSeq(expected[language]) {
			if !slices.Contains(words, w) {
				t.Errorf("%s: %q is missing", language, w)
			}
		}
		if language == "zh" || language == "ja" {
			continue // without a segmenter words become pairs of characters
		}
		for _, w := range words {
			// An article before an apostrophe is cut off: of "d'una" is left "una".
			if got := tok.Tokenize(nil, w); len(got) != 1 || !slices.Contains(words, got[0]) {
				t.Errorf("%s: %q is split into %q", language, w, got)
			}
		}
	}
}

func TestFor(t *testing.T) {
	for _, language := range []string{"", "xx", "DE", "../data/de", "LICENSE"} {
		if l, err := stopwords.For(language); err == nil || l != nil || !strings.Contains(err.Error(), "da, de, el") {
			t.Errorf("%q: %v", language, err)
		}
	}
	l := list(t, "de")
	l[0] = "changed"
	if list(t, "de")[0] == "changed" {
		t.Error("the list is shared")
	}
	if !slices.Equal(list(t, "en"), text.EnglishStopWords()) {
		t.Error("English has two lists")
	}
}

// The snippets of the guides that name this package pass go vet.
func TestSnippets(t *testing.T) { snippets.Vet(t, 1) }
