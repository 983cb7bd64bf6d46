package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/arith"
)

// Boilerplate are lines that say nothing about a document because many documents have them:
// licence headers, footers of e-mails, navigation, headings of forms. A tokenizer leaves them
// out. Learn finds them: they are in at least ten documents of several lines, and in at least one
// of a hundred. Signatures, such as the name and address at the end of an e-mail or a change note, are
// boilerplate, too. They must not be changed while a tokenizer uses them.
type Boilerplate struct {
	// Lines are in the order of their Documents, largest first, then by their bytes.
	Lines []Line `json:"lines"`

	// Documents is the number of documents that were read. Rare lines are forgotten to bound
	// memory: no count is too low by more than Missed, 0 up to 262,144 different lines.
	Documents int64 `json:"documents"`
	Missed    int64 `json:"missed,omitempty"`

	// Signatures are words in lower case, ascending, of which at least four in five occurrences are in the
	// last line of documents of three lines or more. A last line is left out if half of its words are among
	// them, and then the line that is the last without it, by the same rule.
	Signatures []string `json:"signatures,omitempty"`

	once  sync.Once
	index map[string]struct{}
}

// Line is a line of boilerplate.
type Line struct {
	// Text is the line with each run of blanks as one, none at the ends, and each run of digits
	// as 0, so that lines that differ in these only are the same.
	Text string `json:"text"`

	// Documents is the number of documents that have the line.
	Documents int64 `json:"documents"`
}

// In manual pages and Go's library, lines above the first two limits are headings, licences,
// authors and notes on usage; below them are sentences that two pages of one program share.
const (
	boilerplateDocs  = 10  // least number of documents with the line
	boilerplateOneIn = 100 // least share of documents with the line, 1/100

	signedLines = 3   // least number of lines of a document that may have a signature
	signedShare = 0.8 // least share of a word's occurrences in last lines

	maxLine  = 1000    // bytes of a line that may be boilerplate
	maxLines = 1 << 18 // different lines that are counted at once
)

// Validate reports what is wrong with the lines, nil for nothing.
func (b *Boilerplate) Validate() error {
	for i, l := range b.Lines {
		if l.Text != string(appendLine(nil, l.Text)) || l.Text == "" || strings.Contains(l.Text, "\n") || !utf8.ValidString(l.Text) {
			return fmt.Errorf("text: line %d of boilerplate (%.60q) is not as Line.Text says", i, l.Text)
		}
	}
	if !slices.IsSorted(b.Signatures) {
		return errors.New("text: the words of signatures are not in ascending order")
	}
	return nil
}

// unsigned returns a text without its signature.
func (b *Boilerplate) unsigned(s string) string {
	if len(b.Signatures) == 0 {
		return s
	}
	for lines := appendLines(nil, s); len(lines) >= signedLines; lines = lines[:len(lines)-1] {
		last := lines[len(lines)-1]
		others := letters(last)
		all := len(others)
		others = slices.DeleteFunc(others, func(w string) bool { _, signed := slices.BinarySearch(b.Signatures, w); return signed })
		if 2*len(others) > all {
			break
		}
		at := strings.LastIndex(s, last)
		s = s[:at] + s[at+len(last):]
	}
	return s
}

// letters returns the runs of letters of a line in lower case.
func letters(line string) []string {
	return strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}

// strip returns a text without the lines of boilerplate. Empty ones stay in their place.
func (b *Boilerplate) strip(s string) string {
	if b == nil {
		return s
	}
	if s = b.unsigned(s); len(b.Lines) == 0 {
		return s
	}
	b.once.Do(func() {
		b.index = make(map[string]struct{}, len(b.Lines))
		for _, l := range b.Lines {
			b.index[l.Text] = struct{}{}
		}
	})
	var out strings.Builder
	var buf [256]byte
	done := 0 // bytes of s that are in out or left out
	for at := 0; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		if _, ok := b.index[string(appendLine(buf[:0], line))]; ok {
			out.WriteString(s[done:at])
			done = at + len(line)
		}
		at += len(line) + 1
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// appendLine appends what lines are compared by: see Line.Text.
func appendLine(dst []byte, line string) []byte {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	from, blank := len(dst), false
	for i := range len(line) {
		c := line[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			blank = len(dst) > from
			continue
		case digit(c) && i > 0 && digit(line[i-1]):
			continue
		case digit(c):
			c = '0'
		}
		if blank {
			dst, blank = append(dst, ' '), false
		}
		dst = append(dst, c)
	}
	return dst
}

// appendLines appends the lines of a text that may be boilerplate: those that have a letter and
// are not too long.
func appendLines(dst []string, s string) []string {
	for line := range strings.Lines(s) {
		if len(line) <= maxLine && strings.ContainsFunc(line, unicode.IsLetter) {
			dst = append(dst, strings.TrimSuffix(line, "\n"))
		}
	}
	return dst
}

// findBoilerplate finds the lines that many documents have. A token is a line.
func findBoilerplate(ctx context.Context, docs iter.Seq2[[]string, error]) (*Boilerplate, error) {
	b := &Boilerplate{Lines: []Line{}}
	table, words := new(wordTable), new(wordTable)
	var tokens, last float64 // of words, in all lines and in last ones
	var buf []byte
	for lines, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		b.Documents++
		if len(lines) == 1 {
			continue // it is the document
		}
		for i, line := range lines {
			buf = appendLine(buf[:0], line)
			if len(table.list) >= maxLines {
				b.Missed += table.forget()
			}
			c := &table.list[table.add(string(buf))]
			if c.last != b.Documents {
				c.last = b.Documents
				c.n++
			}
			if len(lines) < signedLines {
				continue
			}
			for _, w := range letters(line) {
				if len(words.list) >= maxWords {
					words.forget()
				}
				c := &words.list[words.add(w)]
				c.n++
				tokens++
				if i == len(lines)-1 {
					c.here++
					last++
				}
			}
		}
	}
	for _, c := range table.list {
		if c.n >= boilerplateDocs && boilerplateOneIn*c.n >= b.Documents {
			b.Lines = append(b.Lines, Line{c.word, c.n})
		}
	}
	for _, c := range words.list {
		// By chance one word in a thousand collections is so often in last lines (Hoeffding's bound).
		n, x, p := float64(c.n), float64(c.here)/float64(c.n), last/tokens
		if x >= signedShare && x > p && 2*n*(x-p)*(x-p) >= arith.Log(1000*float64(len(words.list))) {
			b.Signatures = append(b.Signatures, c.word)
		}
	}
	slices.Sort(b.Signatures)
	slices.SortFunc(b.Lines, func(x, y Line) int {
		return cmp.Or(cmp.Compare(y.Documents, x.Documents), strings.Compare(x.Text, y.Text))
	})
	return b, ctx.Err()
}
