package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// split returns the Tokenizer of a setting without tools.
func split(t testing.TB, s text.Setting) text.Tokenizer {
	t.Helper()
	tok, err := s.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestSettings(t *testing.T) {
	type W = text.Setting
	for _, x := range []struct {
		set  W
		in   string
		want string // separated by |
	}{
		{W{}, "", ""},
		{W{}, "The quick, brown fox. A fox!", "the|quick|brown|fox|fox"},
		{W{}, "well-known snake_case e-mail x", "well|known|snake_case|e-mail"},
		{W{}, "can't CAN’T Anna's boss’s dogs' it's 's", "can't|can't|anna|boss|dogs|it"},
		{W{KeepPossessive: true}, "Anna's boss’s", "anna's|boss's"},
		{W{KeepCase: true}, "The NASA'S Fox", "The|NASA|Fox"},
		{W{}, "in 1984, 3.14 or 1,000 b2b x2 ½ Ⅷ", "in|or|b2b|x2|viii"},
		{W{Numbers: text.KeepNumbers}, "in 1984, 3.14 or 1,000 b2b 7", "in|1984|3.14|or|1,000|b2b"},
		{W{Numbers: text.DropDigits}, "in 1984 b2b x² or", "in|or"},
		{W{MinLength: 1}, "a b c", "a|b|c"},
		{W{MinLength: 4, MaxLength: 5}, "abc abcd abcde abcdef", "abcd|abcde"},
		{W{}, strings.Repeat("a", 40) + " " + strings.Repeat("b", 41), strings.Repeat("a", 40)},
		{W{MinLength: 4}, "čtyř tři", "čtyř"}, // runes, not bytes
		{W{}, "Ünïcödé ΑΘΗΝΑ Москва", "ünïcödé|αθηνα|москва"},
		{W{}, "我爱 Go 語", "我爱|go|語"},
		{W{}, "covid-19 GPT-4 SARS-CoV-2 x-ray 3-D 10-year-old 1990-2000 F-16s", "covid-19|gpt-4|sars|cov-2|x-ray|3-d|year|old|f-16s"},
		{W{}, "C++, C# (F#) g++; C++17 A+ a+b x+1 1+2 18+ go### C+++ Ca2+", "c++|c#|f#|g++|c++|a+|go|ca2+"},
		{W{}, "AT&T R&D I/O w/o TCP/IP and/or black&white 24/7", "at&t|r&d|i/o|w/o|tcp|ip|and|or|black|white"},
		{W{}, "H₂O CO₂ ﬁnal ＡＢＣ Intel™ node.js U.S. it.s", "h2o|co2|final|abc|intel|node.js|u.s|it.s"},
		{W{}, "co\u00ADoperate \u200Fabc\u200F im’ї \u02BCx __init__ _x_ 日本", "cooperate|abc|im'ї|init|日本"},
		{W{}, "🙂 --- *** ©", ""},
		{W{}, "bad \xff bytes\xfe", "bad|bytes"},
		{W{}, "line\none\ttab\u00a0nbsp", "line|one|tab|nbsp"},
	} {
		got := split(t, x.set).Tokenize([]string{"before"}, x.in)
		if got[0] != "before" || strings.Join(got[1:], "|") != x.want {
			t.Errorf("%+v: %q gives %q, want %q", x.set, x.in, got[1:], x.want)
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add("Anna’s 2 well-known cafés can't close at 11.", 0, false, false)
	f.Add("İSTANBUL 我爱 \xff 'S’s", 1, true, true)
	f.Fuzz(func(t *testing.T, in string, rule int, keepCase, keepPossessive bool) {
		tok := split(t, text.Setting{MinLength: 1, MaxLength: 10, Numbers: text.NumberRule(uint(rule) % 3), KeepCase: keepCase, KeepPossessive: keepPossessive})
		for _, w := range tok.Tokenize(nil, in) {
			if w == "" || utf8.RuneCountInString(w) > 10 || strings.ContainsAny(w, " \n’") {
				t.Fatalf("token %q", w)
			}
			if utf8.ValidString(in) && !utf8.ValidString(w) {
				t.Fatalf("token %q of valid text is not valid", w)
			}
			if !keepCase && utf8.ValidString(in) && w != strings.ToLower(w) {
				t.Fatalf("token %q is not in lower case", w)
			}
		}
	})
}
