package stopwords_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
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
}

func TestEnglish(t *testing.T) {
	english := stopwords.English()
	if n := len(english); n < 180 || n > 350 || !slices.Equal(english, list(t, "en")) {
		t.Errorf("%d words", n)
	}
	// A text of function words only leaves nothing.
	for _, w := range text.Default().Tokenize(nil, "It's what they'd have done if you weren't there, isn't it? Let's not; we've got Anna's.") {
		if w != "anna" && !slices.Contains(english, w) {
			t.Errorf("%q is not in the list", w)
		}
	}
}

// counted returns the words of texts and how often each occurs.
func counted(t *testing.T, texts ...string) (words []string, tokens []float64) {
	t.Helper()
	tok, err := text.Setting{}.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for _, w := range tok.Tokenize(nil, strings.Join(texts, "\n")) {
		if _, ok := at[w]; !ok {
			at[w] = len(words)
			words, tokens = append(words, w), append(tokens, 0)
		}
		tokens[at[w]]++
	}
	return words, tokens
}

func TestDetect(t *testing.T) {
	english := "The fox went over the hill and was not seen again until the hounds had gone home to their kennels in the valley"
	german := "Der Fuchs lief über den Hügel und wurde nicht mehr gesehen bis die Hunde nach Hause in das Tal gegangen waren"
	russian := "Лиса ушла за холм и её не видели до тех пор пока собаки не вернулись домой в долину"
	for _, x := range []struct{ texts, want string }{
		{english, "en"},
		{strings.ToUpper(english), "en"},
		{german, "de"},
		{russian, "ru"},
		{"Le renard est parti sur la colline et on ne le vit plus avant que les chiens soient rentrés dans la vallée", "fr"},
		{"El zorro se fue por la colina y no lo vieron más hasta que los perros volvieron a su casa en el valle", "es"},
		{strings.Repeat(english+" ", 3) + german, "en de"},
		{english + russian, "en ru"},
		{"fox hill hounds kennels valley gorse heath copse brook", ""}, // function words were taken
		{"beans rice lentils oil salt", ""},
	} {
		words, tokens := counted(t, x.texts)
		languages, function := stopwords.Detect(words, tokens)
		if got := strings.Join(languages, " "); got != x.want {
			t.Errorf("%.40q: %q, want %q", x.texts, got, x.want)
		}
		for i, w := range words {
			listed := false
			for _, language := range languages {
				listed = listed || slices.Contains(list(t, language), strings.ToLower(w))
			}
			if function != nil && function[i] != listed || function == nil && listed {
				t.Errorf("%.40q: %q: %v", x.texts, w, listed)
			}
		}
	}
	if languages, function := stopwords.Detect(nil, nil); languages != nil || function != nil {
		t.Error(languages, function)
	}
}
