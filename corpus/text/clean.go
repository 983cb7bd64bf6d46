package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"
)

// clean returns the text as valid UTF-8, without what the setting drops before words are
// looked for.
func (t *tokenizer) clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // which separates words
	if t.setting.DropHeaders {
		s = dropHeaders(s)
	}
	if t.setting.DropQuotes {
		s = dropQuotes(s)
	}
	if !t.setting.KeepMarkup {
		s = dropMarkup(s)
	}
	if t.setting.DropURLs {
		s = dropURLs(s)
	}
	return s
}

// inline are the elements whose tags do not separate words.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Big: true, atom.Cite: true, atom.Code: true, atom.Dfn: true,
	atom.Em: true, atom.Font: true, atom.I: true, atom.Ins: true, atom.Kbd: true, atom.Mark: true, atom.Q: true,
	atom.S: true, atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strong: true, atom.Sub: true, atom.Sup: true,
	atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true,
}

// raw are the elements whose content is not parsed up to their end tag.
var raw = map[atom.Atom]bool{
	atom.Iframe: true, atom.Noembed: true, atom.Noframes: true, atom.Noscript: true, atom.Plaintext: true, atom.Script: true,
	atom.Style: true, atom.Textarea: true, atom.Title: true, atom.Xmp: true,
}

// dropMarkup takes out tags, comments, scripts and styles, and puts the characters in
// place of entities. What only looks like the beginning of a tag stays.
func dropMarkup(s string) string {
	first := strings.IndexAny(s, "<&")
	if first < 0 {
		return s
	}
	if strings.IndexByte(s[first:], '<') < 0 {
		return html.UnescapeString(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	z := html.NewTokenizer(strings.NewReader(s))
	done := 0                // bytes read
	ends := map[string]int{} // where the last end tag of a raw element is
	hidden := false          // within a script or style
	for {
		kind := z.Next()
		piece := s[done : done+len(z.Raw())]
		done += len(piece)
		switch kind {
		case html.ErrorToken: // the end; a tag that does not end is text
			b.WriteString(html.UnescapeString(s[done-len(piece):]))
			return b.String()
		case html.TextToken:
			if !hidden {
				b.WriteString(html.UnescapeString(piece))
			}
			hidden = false
		case html.CommentToken, html.DoctypeToken:
			if piece[len(piece)-1] != '>' {
				b.WriteString(html.UnescapeString(piece))
			}
		default:
			hidden = false
			name, isTag := tag(z)
			if !isTag {
				z.NextIsNotRawText()
				b.WriteString(piece)
				continue
			}
			a := atom.Lookup(name)
			if !inline[a] {
				b.WriteByte('\n')
			}
			if kind != html.StartTagToken || !raw[a] {
				continue
			}
			end, ok := ends[a.String()]
			if !ok {
				end = lastEndTag(s, a.String())
				ends[a.String()] = end
			}
			if end < done {
				z.NextIsNotRawText()
				continue
			}
			hidden = a == atom.Script || a == atom.Style
		}
	}
}

// tag returns the name of the tag in hand, and whether it is one: its name and those of its
// attributes are names, and no attribute lacks a value, or at most two of an element of
// HTML. So "a <b and c> d", <stdio.h> and <ann@example.org> are text.
func tag(z *html.Tokenizer) (name []byte, ok bool) {
	name, more := z.TagName()
	ok = isName(name)
	bare := 0
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if len(value) == 0 {
			bare++
		}
		ok = ok && isName(key)
	}
	return name, ok && (bare == 0 || bare <= 2 && atom.Lookup(name) != 0)
}

// isName reports whether b is the name of an element or an attribute.
func isName(b []byte) bool {
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9'):
		case i > 0 && i < len(b)-1 && (c == '-' || c == '_' || c == ':'):
		default:
			return false
		}
	}
	return len(b) > 0
}

// lastEndTag returns where the last end tag of an element begins, −1 for none.
func lastEndTag(s, name string) int {
	for {
		i := strings.LastIndex(s, "</")
		if i < 0 || len(s) >= i+2+len(name) && strings.EqualFold(s[i+2:i+2+len(name)], name) {
			return i
		}
		s = s[:i]
	}
}

// dropHeaders leaves of an e-mail's header, which ends at the first blank line, what the
// Subject says. A text without a From, Date, Subject or Message-ID in front is as it was.
func dropHeaders(s string) string {
	subject, isMail, inSubject := "", false, false
	for rest, n := s, 0; ; n++ {
		line, after, found := strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" && isMail {
			return subject + "\n" + after
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case n == 0 && strings.HasPrefix(line, "From "): // of a mailbox
		case n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t'): // goes on
			if inSubject {
				subject += line
			}
		case ok && isField(name):
			inSubject = strings.EqualFold(name, "Subject")
			if inSubject {
				subject = value
			}
			for _, known := range []string{"From", "Date", "Subject", "Message-ID"} {
				isMail = isMail || strings.EqualFold(name, known)
			}
		default:
			return s
		}
		if !found {
			return s
		}
		rest = after
	}
}

// isField reports whether s is the name of a field of a header.
func isField(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

// dropQuotes drops quoted lines and the line above them that says whose they are.
func dropQuotes(s string) string {
	if !strings.Contains(s, ">") {
		return s
	}
	b := make([]byte, 0, len(s))
	above := 0 // where the last line in b that is not blank begins
	quoting := false
	for line := range strings.Lines(s) {
		words := strings.TrimSpace(line)
		if !strings.HasPrefix(words, ">") {
			if words != "" {
				above, quoting = len(b), false
			}
			b = append(b, line...)
			continue
		}
		if !quoting && strings.HasSuffix(strings.TrimSpace(string(b[above:])), ":") {
			b = b[:above]
		}
		quoting = true
	}
	return string(b)
}

// dropURLs puts a blank in place of web and e-mail addresses. Those end at a blank, a
// quotation mark, an angle bracket or a character that is not ASCII.
func dropURLs(s string) string {
	var b strings.Builder
	done := 0
	drop := func(from, to int) {
		b.WriteString(s[done:from])
		b.WriteByte(' ')
		done = to
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			from := i
			for from > done && isSchemeByte(s[from-1]) {
				from--
			}
			if from < i {
				drop(from, addressEnd(s, i))
			}
		case (c == 'w' || c == 'W') && (i == 0 || class[s[i-1]]&wordByte == 0) && len(s) > i+4 && strings.EqualFold(s[i:i+4], "www."):
			drop(i, addressEnd(s, i))
		case c == '@':
			from, to := i, i+1
			for from > done && isLocalByte(s[from-1]) {
				from--
			}
			for to < len(s) && (class[s[to]]&(letter|digit) != 0 || s[to] == '.' || s[to] == '-') {
				to++
			}
			for to > i+1 && class[s[to-1]]&(letter|digit) == 0 {
				to--
			}
			if from == i || !strings.Contains(s[i:to], ".") {
				continue
			}
			if at := from - len("mailto:"); at >= done && strings.EqualFold(s[at:from], "mailto:") {
				from = at
			}
			drop(from, to)
		}
		i = max(i, done-1)
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func isSchemeByte(c byte) bool {
	return class[c]&(letter|digit) != 0 || c == '+' || c == '-'
}

func isLocalByte(c byte) bool {
	return class[c]&wordByte != 0 || strings.IndexByte(".%+-", c) >= 0
}

// addressEnd returns where the address that begins before i ends.
func addressEnd(s string, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] <= '~' && strings.IndexByte("<>\"", s[i]) < 0 {
		i++
	}
	return i
}

// normalise returns the text in the form in which words are compared: NFKC, lower case,
// without invisible characters, with one apostrophe and one hyphen, and without accents if
// the setting says so. To do it again changes nothing.
func (t *tokenizer) normalise(s string) string {
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
