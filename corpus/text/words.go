package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// Tokenize implements Tokenizer.
func (t *tokenizer) Tokenize(dst []string, text string) []string {
	lo, hi := t.lo, t.hi
	text = strings.ToValidUTF8(text, "\uFFFD") // UAX #29 says nothing about broken bytes
	if !t.setting.KeepCase {
		text = strings.ToLower(text)
	}
	for it := words.FromString(text); it.Next(); {
		w := it.Value()
		if c := w[0]; len(w) == 1 && c < utf8.RuneSelf && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			continue // a space or a mark, the most common piece
		}
		if strings.Contains(w, "\u2019") {
			w = strings.ReplaceAll(w, "\u2019", "'")
		}
		if n := len(w); !t.setting.KeepPossessive && n > 2 && w[n-2] == '\'' && (w[n-1] == 's' || w[n-1] == 'S') {
			w = w[:n-2]
		}
		letters, digits, han, n := 0, 0, false, 0
		for _, r := range w {
			n++
			switch {
			case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
				letters++
			case '0' <= r && r <= '9':
				digits++
			case r < utf8.RuneSelf:
			case unicode.IsLetter(r):
				letters++
				han = han || unicode.Is(unicode.Han, r)
			case unicode.IsNumber(r):
				digits++
			}
		}
		if n > hi || n < lo && !han || letters+digits == 0 {
			continue
		}
		switch {
		case t.setting.Numbers == DropNumbers && letters == 0:
		case t.setting.Numbers == DropDigits && digits > 0:
		default:
			dst = append(dst, w)
		}
	}
	return dst
}
