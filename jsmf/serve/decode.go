package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// document is a document as clients send it.
type document struct {
	id     string
	text   string
	words  []string
	ids    []int32
	counts []int32        // of words or ids; nil: one each
	kind   string         // which of text, words and ids there is
	values []corpus.Value // in the columns; nil: none
}

const (
	maxDepth = 4   // of nested JSON; a document has 2
	maxID    = 256 // bytes of a document's id
)

// parseDocument reads one document from a JSON object. It checks all that does not need a model.
func parseDocument(b []byte, columns []corpus.Column, lim Limits) (d document, p *problem) {
	most, p := checkJSON(b, lim)
	if p != nil {
		return d, p
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	tok, err := dec.Token()
	if err != nil {
		return d, noJSON(err)
	}
	if tok != json.Delim('{') {
		return d, fail(http.StatusBadRequest, "a document is a JSON object")
	}
	seen := make(map[string]bool)
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return d, noJSON(err)
		}
		name, _ := tok.(string)
		if seen[name] {
			return d, inField(shorten(name), "the field is given twice")
		}
		seen[name] = true
		var dst any
		switch name {
		case "id":
			dst = &d.id
		case "text":
			dst = &d.text
		case "words":
			d.words, dst = make([]string, 0, most), &d.words
		case "ids":
			d.ids, dst = make([]int32, 0, most), &d.ids
		case "counts":
			d.counts, dst = make([]int32, 0, most), &d.counts
		case "values":
			if d.values, p = parseValues(dec, columns); p != nil {
				return d, p
			}
			continue
		default:
			return d, inField(shorten(name), "there is no such field; a document has id and values, and text, or words or ids with counts")
		}
		if err := dec.Decode(dst); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				return d, inField(name, "a JSON %s cannot be used here", shorten(wrong.Value)) // it holds the number

			}
			return d, noJSON(err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return d, noJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return d, fail(http.StatusBadRequest, "there is more after the end of the document")
	}
	for _, kind := range []string{"text", "words", "ids"} {
		if !seen[kind] {
			continue
		}
		if d.kind != "" {
			return d, inField(kind, "the document has %s too; want one of them", d.kind)
		}
		d.kind = kind
	}
	if d.kind == "" {
		return d, fail(http.StatusBadRequest, "the document has none of text, words and ids")
	}
	if seen["id"] {
		if p := checkID(d.id); p != nil {
			return d, p
		}
	}
	return d, d.check(seen["counts"], lim)
}

// noJSON says why bytes are not JSON.
func noJSON(err error) *problem {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return fail(http.StatusBadRequest, "this is no JSON: %v", err)
}

func (d *document) check(counts bool, lim Limits) *problem {
	n := max(len(d.words), len(d.ids))
	switch {
	case counts && d.kind == "text":
		return inField("counts", "counts go with words or ids, not with text")
	case counts && len(d.counts) != n:
		return inField("counts", "%d counts for %d %s", len(d.counts), n, d.kind)
	}
	for i, w := range d.words {
		if w == "" {
			return inField(fmt.Sprintf("words[%d]", i), "the word is empty")
		}
	}
	for i, w := range d.ids {
		if w < 0 {
			return inField(fmt.Sprintf("ids[%d]", i), "the word number is negative")
		}
	}
	total := int64(n)
	if counts {
		total = 0
		for i, c := range d.counts {
			if c < 1 {
				return inField(fmt.Sprintf("counts[%d]", i), "the count is %d; want at least 1", c)
			}
			total += int64(c)
		}
	}
	return tooManyTokens(d.kind, total, lim)
}

func tooManyTokens(field string, n int64, lim Limits) *problem {
	if n <= lim.Tokens {
		return nil
	}
	p := fail(http.StatusRequestEntityTooLarge, "the document has %d tokens, more than %d", n, lim.Tokens)
	p.Field = field
	return p
}

// checkID refuses ids that a path cannot name.
func checkID(id string) *problem {
	switch {
	case id == "" || id == "." || id == "..":
		return inField("id", "%q is no id", id)
	case len(id) > maxID:
		return inField("id", "the id has %d bytes, more than %d", len(id), maxID)
	case strings.ContainsFunc(id, unicode.IsControl):
		return inField("id", "the id has a control character")
	}
	return nil
}

// tokens returns a document's different words and their counts, in the order in
// which they come first.
func (d *document) tokens(tok text.Tokenizer, lim Limits) (words []string, counts []int32, p *problem) {
	words, counts = d.words, d.counts
	if d.kind == "text" {
		words, counts = tok.Tokenize(nil, d.text), nil
		if p := tooManyTokens("text", int64(len(words)), lim); p != nil {
			return nil, nil, p
		}
	}
	few := min(len(words), 1<<10) // different words, of most texts
	at := make(map[string]int, few)
	n := 0
	sums := make([]int32, 0, few)
	distinct := make([]string, 0, few)
	for i, w := range words {
		c := int32(1)
		if counts != nil {
			c = counts[i]
		}
		j, ok := at[w]
		if !ok {
			at[w] = n
			distinct, sums = append(distinct, strings.Clone(w)), append(sums, c)
			n++
			continue
		}
		if int64(sums[j])+int64(c) > corpus.MaxCount {
			return nil, nil, inField(d.kind, "the word %s occurs more than %d times", quote(w), corpus.MaxCount)
		}
		sums[j] += c
	}
	return distinct, sums, nil
}

// quote makes a client's string fit into a sentence of an answer.
func quote(s string) string { return strconv.Quote(shorten(s)) }

// shorten makes a client's string fit into an answer.
func shorten(s string) string { return shortenTo(s, 60) }

// shortenTo cuts a text to at most n bytes, at the end of a character.
func shortenTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// checkJSON refuses what encoding/json would take or repair: bytes that are not
// UTF-8, halves of surrogate pairs, deep nesting, null for nothing said; and lists that
// are too long, before anything is made of them. It returns the length of the longest
// list.
func checkJSON(b []byte, lim Limits) (most int, p *problem) {
	if !utf8.Valid(b) {
		i := 0
		for {
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				return 0, fail(http.StatusBadRequest, "byte %d is not UTF-8", i)
			}
			i += n
		}
	}
	depth, quoted, list := 0, false, 1
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			if r, ok := escape(b[i:]); ok && r >= 0xd800 && r < 0xe000 {
				low, ok := escape(b[min(i+6, len(b)):])
				if r >= 0xdc00 || !ok || low < 0xdc00 || low >= 0xe000 {
					return 0, fail(http.StatusBadRequest, "at byte %d: half of a surrogate pair", i)
				}
				i += 6
			}
			i++ // what was escaped
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == 'n' && bytes.HasPrefix(b[i:], []byte("null")):
			return 0, fail(http.StatusBadRequest, "at byte %d: no field can be null", i)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return 0, fail(http.StatusBadRequest, "at byte %d: nested deeper than %d", i, maxDepth)
			}
			list = 1
		case c == ',' && depth > 1:
			if list++; int64(list) > lim.Tokens {
				return 0, fail(http.StatusRequestEntityTooLarge, "at byte %d: a list with more than %d elements", i, lim.Tokens)
			}
			most = max(most, list)
		case c == '}' || c == ']':
			depth--
		}
	}
	return max(most, 1), nil
}

// escape returns the code of the \uXXXX at the beginning of b.
func escape(b []byte) (code int, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		code = code<<4 | int(c)
	}
	return code, true
}
