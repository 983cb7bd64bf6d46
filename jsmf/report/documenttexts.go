package report

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/jsmf-go/spectral/jsmf"
)

// described returns what to show of a document, with a title.
func (o *Options) described(doc int) Document {
	var shown Document
	if o.Describe != nil {
		shown = o.Describe(doc)
	}
	if shown.Title == "" {
		shown.Title = o.Documents.IDs[doc]
	}
	return shown
}

// lines fills in ids and titles, cut so that they take no more than limit bytes.
func (d *documentData) lines(o *Options, docs []int, limit int) {
	ids, titles := make([]string, len(docs)), make([]string, len(docs))
	for i, doc := range docs {
		ids[i] = plain(o.Documents.IDs[doc], titleLength, false)
		if titles[i] = plain(o.described(doc).Title, titleLength, false); titles[i] == ids[i] {
			titles[i] = ""
		}
	}
	for n := titleLength; ; n /= 2 {
		b := newDeflated()
		for i, id := range ids {
			line := atMost(id, n)
			if titles[i] != "" {
				line += "\t" + atMost(titles[i], n)
			}
			b.write(line + "\n")
		}
		if d.Lines = b.text(); len(d.Lines) <= limit || n <= 10 {
			return
		}
	}
}

// texts fills in the texts of documents, of each topic the best first, while they take no
// more than limit bytes.
func (d *documentData) texts(o *Options, docs []int, limit int) {
	if o.Describe == nil {
		return
	}
	const block = 1 << 16 // the compressor may hold back as much
	b, with := newDeflated(), []byte(nil)
	for _, i := range byTopics(o.Documents, docs) {
		if d.Partly = b.length()+4*len(with)/3 > limit-block; d.Partly {
			break
		}
		shown := o.Describe(docs[i])
		if shown.Text == "" {
			shown.Text = shown.Snippet
		}
		if text := plain(shown.Text, textLength, true); text != "" {
			b.write(text + "\x1e")
			with = append(with, byte(i), byte(i>>8), byte(i>>16))
		}
	}
	d.With, d.Texts = base64.StdEncoding.EncodeToString(with), b.text()
}

// byTopics returns the documents by places in docs: that with the largest share of each
// topic, then the second of each, and so on, and those that are of no topic last.
func byTopics(c *jsmf.Compositions, docs []int) []int {
	const least = 0.1 // of what is of a topic
	_, k := c.W.Dims()
	ranked := make([][]int, k)
	for i, d := range docs {
		for t, x := range c.W.RawRowView(d) {
			if x >= least {
				ranked[t] = append(ranked[t], i)
			}
		}
	}
	longest := 0
	for t, list := range ranked {
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(c.W.At(docs[j], t), c.W.At(docs[i], t)) })
		longest = max(longest, len(list))
	}
	seen := make([]bool, len(docs))
	out := make([]int, 0, len(docs))
	add := func(i int) {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	for rank := range longest {
		for _, list := range ranked {
			if rank < len(list) {
				add(list[rank])
			}
		}
	}
	for i := range docs {
		add(i)
	}
	return out
}

// plain returns at most n characters of s without control characters, and with single
// blanks; paragraphs, if they are kept, end with a line break.
func plain(s string, n int, paragraphs bool) string {
	if len(s) > 8*n {
		s = s[:8*n]
	}
	var out strings.Builder
	blank, breaks := false, 0
	for _, r := range s {
		switch {
		case r == '\n':
			breaks++
			blank = true
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = true
		default:
			if blank && out.Len() > 0 {
				if breaks > 1 && paragraphs {
					out.WriteByte('\n')
				} else {
					out.WriteByte(' ')
				}
			}
			blank, breaks = false, 0
			out.WriteRune(r)
		}
	}
	return atMost(out.String(), n)
}

// deflated compresses strings.
type deflated struct {
	buf bytes.Buffer
	w   *flate.Writer
	any bool
}

func newDeflated() *deflated {
	d := new(deflated)
	d.w, _ = flate.NewWriter(&d.buf, flate.DefaultCompression) // fails for unknown levels only
	return d
}

// write adds a string. Writing to a bytes.Buffer does not fail.
func (d *deflated) write(s string) {
	d.any = true
	io.WriteString(d.w, s)
}

// length returns how long the text is that was made up to now.
func (d *deflated) length() int { return base64.StdEncoding.EncodedLen(d.buf.Len()) }

// text returns all in base64; "" if nothing was written.
func (d *deflated) text() string {
	if !d.any {
		return ""
	}
	d.w.Close()
	return base64.StdEncoding.EncodeToString(d.buf.Bytes())
}
