package stem_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stem"
	"github.com/jsmf-go/spectral/examples/readme/snippets"
)

// Words of one stem, with the stem.
var families = map[string]map[string]string{
	"ar": {"كتاب": "كتاب الكتاب", "مدرس": "مدرسة المدرسة"},
	"da": {"hus": "hus huset husene huse", "bil": "bil biler bilerne"},
	"de": {"haus": "haus hauses häuser häusern", "zeitung": "zeitung zeitungen"},
	"en": {"network": "network networks networking networked", "topic": "topic topics", "run": "run runs running"},
	"es": {"trabaj": "trabajar trabajaban trabajo", "ciudad": "ciudades"},
	"fi": {"talo": "talo talot talossa taloissa talon", "kirj": "kirja kirjat kirjoissa"},
	"fr": {"cheval": "cheval chevaux", "continu": "continuer continuait", "nation": "nation nations"},
	"ga": {"bád": "bád bhád"},
	"hu": {"ház": "ház házak házban házakban", "könyv": "könyv könyvek könyvben"},
	"it": {"gatt": "gatto gatti gatte", "lavor": "lavorare lavorava", "libr": "libro libri"},
	"nl": {"boek": "boek boeken", "tafel": "tafel tafels"},
	"no": {"bil": "bil biler bilene bilen", "hus": "hus huset"},
	"pt": {"cas": "casa casas", "trabalh": "trabalhar trabalhavam"},
	"ro": {"cărț": "cărți cărții", "cop": "copii copiilor"},
	"ru": {"книг": "книга книги книгу книгами", "город": "город города городов", "берез": "берёза березы"},
	"sv": {"bil": "bil bilar bilarna bilen", "flick": "flicka flickor flickorna"},
	"ta": {"புத்தகம்": "புத்தகம் புத்தகங்கள்", "வீடு": "வீடு வீடுகள்"},
	"tr": {"kitap": "kitap kitaplar kitaplarda", "ev": "ev evler evlerde evde"},
}

func stemmer(t testing.TB, language string) text.Stemmer {
	s, err := stem.Snowball(language)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFamilies(t *testing.T) {
	for _, language := range stem.Languages() {
		s := stemmer(t, language)
		if s.Name() != "snowball/"+language {
			t.Errorf("%s is called %q", language, s.Name())
		}
		if len(families[language]) == 0 {
			t.Errorf("%s is not tested", language)
		}
		for want, words := range families[language] {
			for _, w := range strings.Fields(words) {
				if got := s.Stem(w); got != want {
					t.Errorf("%s: the stem of %q is %q, want %q", language, w, got, want)
				}
			}
		}
	}
}

// What is not a word of the language is left alone.
func TestStrangers(t *testing.T) {
	s := stemmer(t, "en")
	for _, w := range []string{"covid-19", "c++", "7", "東京", "книга", "🙂"} {
		if got := s.Stem(w); got != w {
			t.Errorf("the stem of %q is %q", w, got)
		}
	}
	for _, w := range []string{"", "'", "''s"} {
		if got := s.Stem(w); got == "" && w != "" {
			t.Errorf("the stem of %q is empty", w)
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	for _, language := range []string{"", "xx", "EN", "english"} {
		if _, err := stem.Snowball(language); err == nil || !strings.Contains(err.Error(), "en, es") {
			t.Errorf("%q: %v", language, err)
		}
	}
	if l := stem.Languages(); len(l) != 18 || !slices.IsSorted(l) {
		t.Errorf("languages %q", l)
	}
}

func TestConcurrent(t *testing.T) {
	s := stemmer(t, "tr")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for want, words := range families["tr"] {
					for w := range strings.FieldsSeq(words) {
						if got := s.Stem(w); got != want {
							t.Errorf("the stem of %q is %q", w, got)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}

// No word makes a stemmer panic, and a stem is valid text, not empty, and the same each time.
func FuzzStem(f *testing.F) {
	for _, families := range families {
		for _, words := range families {
			f.Add(words)
		}
	}
	f.Add("ïë\xff'’s \x00 ßé")
	var all []text.Stemmer
	for _, language := range stem.Languages() {
		all = append(all, stemmer(f, language))
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, w := range append(strings.Fields(in), in) {
			for _, s := range all {
				got := s.Stem(w)
				if got == "" && w != "" || utf8.ValidString(w) && !utf8.ValidString(got) || got != s.Stem(w) {
					t.Fatalf("%s: the stem of %q is %q", s.Name(), w, got)
				}
			}
		}
	})
}

// The snippets of the guides that name this package pass go vet.
func TestSnippets(t *testing.T) { snippets.Vet(t, 1) }
