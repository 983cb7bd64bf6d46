package corpus

import (
	"strings"
	"unicode"
)

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
