package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise returns the text in the form in which words are compared: NFKC, lower case,
// without invisible characters, with one apostrophe and one hyphen, and without accents if
// the setting says so. To do it again changes nothing.
func (t *tokenizer) normalise(s string) string {
	if plain, upper, mapped := isPlain(s); plain && !t.setting.FoldAccents {
		if mapped {
			s = strings.Map(unify, s)
		}
		if (upper || mapped) && !t.setting.KeepCase {
			s = strings.ToLower(s)
		}
		return s
	}
	s = strings.Map(unify, s) // returns s itself if nothing changes
	if n := nfkc(s); n != s {
		s = strings.Map(unify, n) // U+0149 holds an apostrophe
	}
	if !t.setting.KeepCase {
		s = norm.NFC.String(strings.ToLower(s)) // j with a caron has a letter of its own, J has none
	}
	if t.setting.FoldAccents {
		s = foldAccents(s)
	}
	return s
}

// isPlain reports whether a text consists of characters that normalise leaves alone, or only
// makes small, or only maps by unify, and whether there is one of the last two.
func isPlain(s string) (plain, upper, mapped bool) {
	kinds := plainKinds()
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			upper = upper || 'A' <= r && r <= 'Z'
		case int(r) >= len(kinds) || kinds[r] == notPlain:
			return false, false, false
		case kinds[r] == plainUpper:
			upper = true
		case kinds[r] == plainMapped:
			mapped = true
		}
	}
	return true, upper, mapped
}

const (
	notPlain = iota
	plainLower
	plainUpper
	plainMapped
)

// plainKinds returns what isPlain asks of each character of the Basic Multilingual Plane. It
// is made from the tables of package norm when it is first needed, in some milliseconds.
var plainKinds = sync.OnceValue(func() *[1 << 16]byte {
	var kinds [1 << 16]byte
	alone := func(r rune) bool { // normal, and not changed by what comes before
		c := string(r)
		p := norm.NFKC.PropertiesString(c)
		return utf8.ValidRune(r) && norm.NFKC.IsNormalString(c) && p.BoundaryBefore() && p.CCC() == 0
	}
	for r := rune(utf8.RuneSelf); int(r) < len(kinds); r++ {
		switch l := unicode.ToLower(r); {
		case unify(r) != r:
			kinds[r] = plainMapped
		case !alone(r):
		case l == r:
			kinds[r] = plainLower
		case l >= utf8.RuneSelf && int(l) < len(kinds) && unicode.ToLower(l) == l && alone(l):
			kinds[r] = plainUpper
		}
	}
	kinds[thaiAm], kinds[laoAm] = plainLower, plainLower
	return &kinds
})

// unify maps apostrophes, hyphens and characters of full width to ASCII, signs of trade to a
// blank, and drops what cannot be seen: the soft hyphen, marks of direction, the word joiner, the
// byte order mark, and variation selectors. The joiners U+200C and U+200D stay: they make words
// of their own in Persian and the languages of India.
func unify(r rune) rune {
	switch {
	case r < 0xAD:
		return r
	case r == '\u2019', r == '\u02BC', r == '\u00B4':
		return '\''
	case r == '\u2010', r == '\u2011':
		return '-'
	case r == '\u3000': // as NFKC
		return ' '
	case '\uFF01' <= r && r <= '\uFF5E': // full width, as NFKC
		return r - '\uFF01' + '!'
	case r == '\u2122', r == '\u2120': // ™, ℠: NFKC makes letters of them
		return ' '
	case r == '\u00AD', r == '\u200E', r == '\u200F', '\u202A' <= r && r <= '\u202E', '\u2060' <= r && r <= '\u2064',
		'\u2066' <= r && r <= '\u206F', r == '\uFEFF', '\uFE00' <= r && r <= '\uFE0F', 0xE0100 <= r && r <= 0xE01EF:
		return -1
	}
	return r
}

// The vowels AM of Thai and Lao, which NFKC would cut in two characters.
const thaiAm, laoAm = '\u0E33', '\u0EB3'

// nfkc returns the text in NFKC, except for the vowels AM.
func nfkc(s string) string {
	if norm.NFKC.IsNormalString(s) {
		return s
	}
	isAm := func(r rune) bool { return r == thaiAm || r == laoAm }
	i := strings.IndexFunc(s, isAm)
	if i < 0 {
		return norm.NFKC.String(s)
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexFunc(s, isAm) {
		_, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(norm.NFKC.String(s[:i]))
		b.WriteString(s[i : i+n])
		s = s[i+n:]
	}
	b.WriteString(norm.NFKC.String(s))
	return b.String()
}

// folded are the scripts whose letters lose their marks. In others a mark is a vowel or
// makes another letter.
var folded = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic}

// foldAccents takes the marks off the letters of the folded scripts.
func foldAccents(s string) string {
	base := false // whether the last letter is one of these
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			base = class[r]&letter != 0
		case !unicode.Is(unicode.Mn, r):
			base = unicode.In(r, folded...)
		case base:
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}

// lowerASCII returns the text with its ASCII letters in lower case.
func lowerASCII(s string) string {
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	first := 0
	for first < len(s) && !isUpper(s[first]) {
		first++
	}
	if first == len(s) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if isUpper(c) {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
