package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// Tokenizer splits text into words. It must be safe for concurrent use.
type Tokenizer interface {
	// Tokenize appends the tokens of text to dst and returns the extended slice.
	// No token is the empty string. Tokens may share memory with text.
	Tokenize(dst []string, text string) []string
}

// TokenizerFunc is a function as a Tokenizer.
type TokenizerFunc func(dst []string, text string) []string

// Tokenize calls f.
func (f TokenizerFunc) Tokenize(dst []string, text string) []string { return f(dst, text) }

// NumberRule says which words with digits a WordTokenizer drops.
type NumberRule int

const (
	// DropNumbers drops words without a letter, such as 1984 and 3.14, and keeps
	// b2b. It is the default.
	DropNumbers NumberRule = iota
	// KeepNumbers drops none.
	KeepNumbers
	// DropDigits drops every word with a digit, also b2b.
	DropDigits
)

// WordTokenizer splits text at the Unicode word boundaries (UAX #29) and keeps the
// pieces with a letter or, depending on Numbers, a digit. It is the default
// tokenizer. Its zero value suits English and most languages that put space between
// words.
//
// By UAX #29 "can't" and "3.14" are one word, "well-known" is two, parts joined by
// an underscore are one, and every Chinese ideograph is a word of its own. The
// typographic apostrophe (U+2019) becomes the plain one. Text is not normalised:
// composed and decomposed accents make different words. Bytes that are not valid
// UTF-8 separate words.
type WordTokenizer struct {
	// KeepCase keeps upper case. By default words are lower-cased.
	KeepCase bool

	// MinLength and MaxLength bound the length of a word in runes; 0 means 2 and
	// 40. Shorter and longer words are dropped. A single Han ideograph is never
	// too short.
	MinLength, MaxLength int

	// Numbers says which words with digits are dropped.
	Numbers NumberRule

	// KeepPossessive keeps 's at the end of words. By default it is removed, which
	// also turns "it's" into "it".
	KeepPossessive bool
}

// Tokenize implements Tokenizer.
func (t WordTokenizer) Tokenize(dst []string, text string) []string {
	lo, hi := t.MinLength, t.MaxLength
	if lo == 0 {
		lo = 2
	}
	if hi == 0 {
		hi = 40
	}
	text = strings.ToValidUTF8(text, "\uFFFD") // UAX #29 says nothing about broken bytes
	if !t.KeepCase {
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
		if n := len(w); !t.KeepPossessive && n > 2 && w[n-2] == '\'' && (w[n-1] == 's' || w[n-1] == 'S') {
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
		case t.Numbers == DropNumbers && letters == 0:
		case t.Numbers == DropDigits && digits > 0:
		default:
			dst = append(dst, w)
		}
	}
	return dst
}
