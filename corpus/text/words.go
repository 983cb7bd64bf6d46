package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"
)

// scan finds the words of a text.
type scan struct {
	t    *tokenizer
	dst  []string
	base int // tokens of other texts in dst

	// For a tokenizer with breaks: what is between the last word and the place in hand.
	broken bool
	lines  int

	pieces []string // of a Segmenter
}

// part is a piece between Unicode word boundaries, by what signs ask of it.
type part struct {
	letters     bool // it has a letter
	startsDigit bool
	single      bool // it is a single letter
}

// joins reports whether a sign between two parts keeps them together, because one would be lost
// alone: a number behind a hyphen (covid-19, GPT-4), or a single letter next to a hyphen, an
// ampersand or a slash (x-ray, AT&T, I/O).
func joins(p part, sign byte, q part) bool {
	switch sign {
	case '-':
		return p.letters && q.startsDigit || p.single || q.single
	case '&', '/':
		return p.single || q.single
	}
	return false
}

// signsAt returns the number of plus and number signs that end a word which ends at i and
// has a letter: C#, A+, C++. There are one or two, and no letter follows, nor a digit behind
// a single one.
func signsAt(s string, i int) int {
	n := 0
	for i+n < len(s) && (s[i+n] == '+' || s[i+n] == '#') {
		n++
	}
	if n == 0 || n > 2 {
		return 0
	}
	switch r, _ := utf8.DecodeRuneInString(s[i+n:]); {
	case i+n == len(s):
	case r == '_' || unicode.IsLetter(r) || unicode.IsMark(r), n == 1 && unicode.IsNumber(r):
		return 0
	}
	return n
}

// slow adds the words of a text of any characters. The text is whole between blanks.
func (x *scan) slow(s string) {
	s = x.t.normalise(s)
	var word, tail part // tail is the last part of the word
	from, to := 0, -1   // the word; to < 0: none
	end := 0            // of the last word or run
	flush := func() {
		if to >= 0 {
			if word.letters {
				to += signsAt(s, to)
			}
			x.between(s[end:from])
			x.word(s[from:to])
			end = to
		}
		to = -1
	}
	run, runFrom, runTo := noRun, 0, 0
	flushRun := func() {
		if run != noRun {
			x.between(s[end:runFrom])
			x.run(run, s[runFrom:runTo])
			end = runTo
		}
		run = noRun
	}
	for it := words.FromString(s); it.Next(); {
		w, at := it.Value(), it.Start()
		if g := x.t.runOf(w, run); g != noRun {
			flush()
			if g != run || at != runTo {
				flushRun()
				run, runFrom = g, at
			}
			runTo = it.End()
			continue
		}
		flushRun()
		p, ok := partOf(w)
		switch {
		case !ok: // a sign belongs to a word only between two parts
			if to >= 0 && (at != to || len(w) != 1) {
				flush()
			}
		case to >= 0 && at == to+1 && joins(tail, s[to], p):
			tail, to = p, it.End()
			word.letters = word.letters || p.letters
		default:
			flush()
			word, tail, from, to = p, p, at, it.End()
		}
	}
	flush()
	flushRun()
	x.between(s[end:])
}

// partOf describes a piece between word boundaries; false: it is no part of a word.
func partOf(w string) (p part, ok bool) {
	n := 0
	for i, r := range w {
		switch {
		case unicode.IsLetter(r):
			p.letters = true
		case unicode.IsNumber(r):
			ok = true
			p.startsDigit = p.startsDigit || i == 0
		case unicode.IsMark(r):
			continue
		}
		n++
	}
	p.single = p.letters && n == 1
	return p, ok || p.letters
}

// word adds a word if the setting keeps it.
func (x *scan) word(w string) {
	t := x.t
	w = strings.Trim(w, "_\u200C\u200D")
	w = elided(t.withoutS(w))
	letters, digits := false, false
	for _, r := range w {
		letters = letters || unicode.IsLetter(r)
		digits = digits || unicode.IsNumber(r)
	}
	n := utf8.RuneCountInString(w)
	if n > 1 && !t.setting.KeepCase && strings.HasSuffix(w, "σ") {
		w = w[:len(w)-len("σ")] + "ς"
	}
	x.keep(w, n >= t.lo && n <= t.hi && t.number(letters, digits))
}

// withoutS returns a word without 's at its end, unless the setting keeps it.
func (t *tokenizer) withoutS(w string) string {
	if n := len(w); n > 2 && w[n-2] == '\'' && (w[n-1] == 's' || w[n-1] == 'S') && !t.setting.KeepPossessive {
		return w[:n-2]
	}
	return w
}

// elided returns a word without the article or pronoun of Romance languages that has lost
// its vowel: a consonant and an apostrophe before a vowel or an h (l'eau, d'Italia, s'il).
func elided(w string) string {
	if len(w) < 3 || w[1] != '\'' || class[w[0]] != letter || strings.IndexByte("aeiouyAEIOUY", w[0]) >= 0 {
		return w
	}
	r, _ := utf8.DecodeRuneInString(w[2:])
	if !strings.ContainsRune("aàáâäeèéêëiìíîïoòóôöuùúûühyœæ", unicode.ToLower(r)) {
		return w
	}
	return w[2:]
}

// number reports whether the setting keeps a word with letters, digits or both.
func (t *tokenizer) number(letters, digits bool) bool {
	switch t.setting.Numbers {
	case DropNumbers:
		return letters
	case DropDigits:
		return letters && !digits
	}
	return letters || digits
}

// keep adds a token, or notes that one is left out.
func (x *scan) keep(w string, ok bool) {
	if !ok {
		x.broken = true
		return
	}
	if x.t.breaks && x.broken && len(x.dst) > x.base {
		x.dst = append(x.dst, Break)
	}
	x.dst = append(x.dst, w)
	x.broken, x.lines = false, 0
}

// between notes what is between two words, for a tokenizer with breaks. They stay neighbours if
// it is blanks, hyphens and one line break.
func (x *scan) between(s string) {
	if !x.t.breaks {
		return
	}
	for _, r := range s {
		switch r {
		case ' ', '\t', '\r', '\f', '\v', '-', '\u2010':
		case '\n':
			x.lines++
			x.broken = x.broken || x.lines > 1
		default:
			x.broken = true
		}
	}
}

// A run is a piece of text that is not divided by blanks. Its kind is the number of the
// script in unbroken, or len(unbroken) and the number of a Segmenter.
const noRun = -1

// unbroken are the scripts that are written without blanks between words.
var unbroken = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Han", unicode.Han}, {"Hiragana", unicode.Hiragana}, {"Thai", unicode.Thai}, {"Lao", unicode.Lao},
	{"Khmer", unicode.Khmer}, {"Myanmar", unicode.Myanmar},
}

const firstUnbroken = '\u0E00' // the first character of these scripts

// prolonged is the sign of a long vowel of Hiragana and Katakana, which has neither script.
const prolonged = 'ー'

// runOf returns the kind of the run to which a piece between word boundaries belongs. run is
// that of the piece before.
func (t *tokenizer) runOf(w string, run int) int {
	r, n := utf8.DecodeRuneInString(w)
	if r < firstUnbroken && len(t.segmenters) == 0 || !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return noRun
	}
	if r == prolonged && n == len(w) {
		return run
	}
	for i := range t.segmenters {
		if unicode.In(r, t.segmenters[i].tables...) {
			return len(unbroken) + i
		}
	}
	return scriptOf(r)
}

// scriptOf returns the number of an unbroken script, noRun for others.
func scriptOf(r rune) int {
	if r >= firstUnbroken {
		for i := range unbroken {
			if unicode.Is(unbroken[i].table, r) {
				return i
			}
		}
	}
	return noRun
}

// run adds the words of a run: those of its Segmenter, or each two neighbours of its
// characters (grapheme clusters).
func (x *scan) run(kind int, s string) {
	if kind >= len(unbroken) {
		x.pieces = x.t.segmenters[kind-len(unbroken)].Segment(x.pieces[:0], s)
		for _, w := range x.pieces {
			x.character(w)
		}
		return
	}
	last, here, count := 0, 0, 0
	for it := graphemes.FromString(s); it.Next(); count++ {
		if count > 0 {
			x.character(s[last:it.End()])
			last = here
		}
		here = it.End()
	}
	if count == 1 {
		x.character(s)
	}
}

// character adds a word of a script without blanks: one of at least two characters, or a
// Han character alone.
func (x *scan) character(w string) {
	n := utf8.RuneCountInString(w)
	r, _ := utf8.DecodeRuneInString(w)
	p, ok := partOf(w)
	x.keep(w, ok && p.letters && n <= x.t.hi && (n > 1 || unicode.Is(unicode.Han, r)))
}

// Unsegmented returns the script of a word, by its name in unicode.Scripts, if all its letters
// are of one script that is written without blanks; "" for other words. Such words are pairs of
// characters, unless a Segmenter split them.
func Unsegmented(word string) string {
	script := noRun
	for _, r := range word {
		if unicode.IsMark(r) && script != noRun {
			continue
		}
		if g := scriptOf(r); g == noRun || script != noRun && g != script {
			return ""
		} else {
			script = g
		}
	}
	if script == noRun {
		return ""
	}
	return unbroken[script].name
}

// The kinds of bytes.
const (
	letter uint8 = 1 << iota
	digit
	underscore
	blank
	high // of a character that is not ASCII
	midLetter
	midNumber

	wordByte = letter | digit | underscore
)

// class is the kind of each byte. By UAX #29 a colon, a full stop or an apostrophe does not
// end a word between letters, nor does a full stop, an apostrophe, a comma or a semicolon
// between digits.
var class = func() (c [256]uint8) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
			c[b] = letter
		case '0' <= b && b <= '9':
			c[b] = digit
		case b >= 0x80:
			c[b] = high
		}
	}
	c['_'] = underscore
	for _, b := range " \t\n\v\f\r" {
		c[b] = blank
	}
	c[':'], c['.'], c['\''] = midLetter, midLetter|midNumber, midLetter|midNumber
	c[','], c[';'] = midNumber, midNumber
	return c
}()

// text adds the words of a text. A piece between two blanks is split by the table of ASCII,
// unless it has another character: then by slow, which gives the same words for ASCII. No word
// has a blank within.
func (x *scan) text(s string) {
	if !x.t.setting.KeepCase {
		s = lowerASCII(s)
	}
	begin := *x // at the last blank
	from := 0   // behind it
	for i := 0; i < len(s); {
		switch c := class[s[i]]; {
		case c&(letter|digit|underscore) != 0:
			i = x.ascii(s, i)
		case c == blank:
			if x.t.breaks {
				x.between(s[i : i+1])
			}
			i++
			from = i
			begin.dst, begin.broken, begin.lines = x.dst, x.broken, x.lines
		case c == high:
			x.dst, x.broken, x.lines = begin.dst, begin.broken, begin.lines
			i = endOfHigh(s, i)
			x.slow(s[from:i])
			from = i
			begin.dst, begin.broken, begin.lines = x.dst, x.broken, x.lines
		default:
			if x.t.breaks {
				x.between(s[i : i+1])
			}
			i++
		}
	}
}

// endOfHigh returns the first blank behind i that is not followed by a character beyond ASCII.
func endOfHigh(s string, i int) int {
	for {
		for i < len(s) && class[s[i]] != blank {
			i++
		}
		end := i
		for i < len(s) && class[s[i]] == blank {
			i++
		}
		if i == len(s) || class[s[i]] != high {
			return end
		}
	}
}

// ascii adds the word that begins at i, and returns its end.
func (x *scan) ascii(s string, i int) int {
	end, kinds := asciiPart(s, i)
	if end < len(s) && kinds&(letter|digit) != 0 && (s[end] == '-' || s[end] == '&' || s[end] == '/') {
		end, kinds = asciiJoin(s, i, end, kinds)
	}
	if end < len(s) && (s[end] == '+' || s[end] == '#') && kinds&letter != 0 {
		end += signsAt(s, end)
	}
	w := s[i:end]
	if kinds&underscore != 0 {
		w = strings.Trim(w, "_")
	}
	t := x.t
	w = elided(t.withoutS(w))
	ok := len(w) >= t.lo && len(w) <= t.hi && t.number(kinds&letter != 0, kinds&digit != 0)
	if t.breaks {
		x.keep(w, ok)
	} else if ok {
		x.dst = append(x.dst, w)
	}
	return end
}

// asciiPart returns the end of the piece between word boundaries that begins at i, and the
// kinds of its bytes.
func asciiPart(s string, i int) (end int, kinds uint8) {
	for {
		for i < len(s) && class[s[i]]&wordByte != 0 {
			kinds |= class[s[i]]
			i++
		}
		if i+1 >= len(s) {
			return i, kinds
		}
		mid, around := class[s[i]], class[s[i-1]]&class[s[i+1]]
		if !(mid&midLetter != 0 && around == letter || mid&midNumber != 0 && around == digit) {
			return i, kinds
		}
		i++
	}
}

// asciiJoin continues a word with the parts that signs join to it.
func asciiJoin(s string, from, end int, kinds uint8) (int, uint8) {
	p := asciiKind(s, from, end, kinds)
	for end+1 < len(s) && class[s[end+1]]&wordByte != 0 {
		next, more := asciiPart(s, end+1)
		q := asciiKind(s, end+1, next, more)
		if more&(letter|digit) == 0 || !joins(p, s[end], q) {
			break
		}
		p, end, kinds = q, next, kinds|more
	}
	return end, kinds
}

// asciiKind describes a piece for joins.
func asciiKind(s string, from, end int, kinds uint8) part {
	return part{letters: kinds&letter != 0, startsDigit: class[s[from]] == digit, single: end-from == 1 && kinds == letter}
}
