package text

import "strings"

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
