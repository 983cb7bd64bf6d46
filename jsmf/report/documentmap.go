package report

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/splitmix"
	"github.com/jsmf-go/spectral/jsmf"
)

// Limits of the map of documents.
const (
	mapDocuments   = 100_000   // on the map
	documentBytes  = 105       // on the page, for each of them on average,
	documentsBytes = 3_000_000 // or for all together where that is more
	titleLength    = 160       // characters
	snippetLength  = 320
	textLength     = 1500
	documentTopics = 8 // shown of a document
	minShare       = 0.01
)

// documentData is what the script reads of the map of documents. Strings of numbers are
// base64 of little-endian bytes.
type documentData struct {
	Count  int         `json:"count"`
	All    int         `json:"all"`    // documents with a known word, of which Count are here
	Points string      `json:"points"` // x and y of each, 16 bits, 0 to 65535 in a square
	Places []int       `json:"places"` // of the topics, likewise
	Wide   bool        `json:"wide"`   // numbers of topics have 16 bits, not 8
	Topics string      `json:"topics"` // of each: how many, then the topic and its share in 1/255, the largest first
	Rest   []number    `json:"rest"`   // how what is not in Topics falls to topics, on average
	Fields []fieldData `json:"fields,omitempty"`
	Left   []string    `json:"left,omitempty"` // columns of metadata that are not here
	Lines  string      `json:"lines"`          // deflated: the id of each, a tab and its title, if it has one, a line break
	Texts  string      `json:"texts"`          // deflated: a text, the record separator
	With   string      `json:"with"`           // documents with a text, in the order of Texts, 24 bits
	Partly bool        `json:"partly"`         // the texts of further documents found no room
}

// documentMap returns the map of the documents, nil without any, with the topics at the places at, and sets the places of the
// topics' documents on it.
func documentMap(m *jsmf.Model, o *Options, topics []topicData, at [][2]float64) (*documentData, error) {
	c := o.Documents
	docs := make([]int, 0, len(c.Docs))
	for d := range c.Docs {
		if c.Explained(d) {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		return nil, nil
	}
	d := &documentData{All: len(docs), Wide: m.K() > 256}
	docs = sampled(c, docs, mapDocuments)
	d.Count = len(docs)
	for _, t := range topics {
		for i := range t.Docs {
			if at, there := slices.BinarySearch(docs, t.Docs[i].row); there {
				t.Docs[i].At = at
			}
		}
	}
	d.place(m, c, docs, at)
	d.Topics = d.topics(c, docs)
	limit := max(documentsBytes, documentBytes*len(docs))
	left := limit - len(d.Points) - len(d.Topics)
	if err := d.addFields(c, docs, left/2); err != nil {
		return nil, err
	}
	for _, f := range d.Fields {
		left -= f.bytes()
	}
	d.lines(o, docs, left)
	d.texts(o, docs, left-len(d.Lines))
	return d, nil
}

// sampled returns n of the documents, those whose ids have the smallest keys, in their order.
func sampled(c *jsmf.Compositions, docs []int, n int) []int {
	if len(docs) <= n {
		return docs
	}
	key := func(d int) uint64 { return bag.Key(c.IDs[d], d+1) }
	out := slices.Clone(docs)
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	out = out[:n]
	slices.Sort(out)
	return out
}

// place fills in the places. A document is at the mean of the places of its topics,
// weighted by the cubes of their proportions; background topics count where there is
// little else. Proportions as such heap documents of several topics in the middle. Documents at
// nearly the same place are spread over a disc around it, by their ids, whose area is in
// proportion to their number.
func (d *documentData) place(m *jsmf.Model, c *jsmf.Compositions, docs []int, at [][2]float64) {
	background := m.Background()
	points := make([][2]float64, len(docs))
	for i, doc := range docs {
		points[i] = placeOf(c.W.RawRowView(doc), at, background)
	}
	spreadOut(points, func(i int) uint64 { return bag.Key(c.IDs[docs[i]], docs[i]+1) })
	low, high, size := corners(slices.Concat(points, at))
	quantum := func(p [2]float64, axis int) int {
		return int(math.Round(65535 * (0.5 + (p[axis]-(low[axis]+high[axis])/2)/size)))
	}
	b := make([]byte, 0, 4*len(points))
	for _, p := range points {
		for axis := range p {
			b = append(b, byte(quantum(p, axis)), byte(quantum(p, axis)>>8))
		}
	}
	d.Points = base64.StdEncoding.EncodeToString(b)
	for _, p := range at {
		d.Places = append(d.Places, quantum(p, 0), quantum(p, 1))
	}
}

// placeOf returns the mean of places weighted by the cubes of w, without background
// topics if the rest has a tenth of the document.
func placeOf(w []float64, at [][2]float64, background []bool) [2]float64 {
	var p, all [2]float64
	sum, sumAll := 0.0, 0.0
	for k, x := range w {
		x *= x * x
		all[0], all[1], sumAll = all[0]+x*at[k][0], all[1]+x*at[k][1], sumAll+x
		if !background[k] {
			p[0], p[1], sum = p[0]+x*at[k][0], p[1]+x*at[k][1], sum+x
		}
	}
	if sum < 0.001 {
		p, sum = all, sumAll
	}
	if sum == 0 {
		return p
	}
	return [2]float64{p[0] / sum, p[1] / sum}
}

// spreadOut moves points that are near each other over a disc around their place, at
// random by their keys.
func spreadOut(points [][2]float64, key func(int) uint64) {
	const (
		cells = 160  // of a side of the square
		fill  = 0.25 // of the square, by the discs of all points
	)
	low, _, size := corners(points)
	cell := func(p [2]float64) (x, y int) {
		return int((p[0] - low[0]) / size * (cells - 1)), int((p[1] - low[1]) / size * (cells - 1))
	}
	var in [cells + 2][cells + 2]float64
	for _, p := range points {
		x, y := cell(p)
		in[x+1][y+1]++
	}
	for i, p := range points {
		x, y := cell(p)
		near := 0.0
		for dx := range 3 {
			for dy := range 3 {
				near += in[x+dx][y+dy]
			}
		}
		h := splitmix.Step(key(i))
		u, angle := float64(h>>32)/(1<<32), 2*math.Pi*float64(uint32(h))/(1<<32)
		r := size * math.Sqrt(u*fill*near/float64(len(points))/math.Pi)
		points[i] = [2]float64{p[0] + r*math.Cos(angle), p[1] + r*math.Sin(angle)}
	}
}

// corners returns the lower left and the upper right corner of points, and the size of a
// square that holds them, 1 for a single place.
func corners(points [][2]float64) (low, high [2]float64, size float64) {
	low, high = points[0], points[0]
	for _, p := range points {
		for axis, v := range p {
			low[axis], high[axis] = min(low[axis], v), max(high[axis], v)
		}
	}
	return low, high, cmp.Or(max(high[0]-low[0], high[1]-low[1]), 1)
}

// topics returns the largest topics of each document, and fills in the rest.
func (d *documentData) topics(c *jsmf.Compositions, docs []int) string {
	_, k := c.W.Dims()
	var b []byte
	rest := make([]float64, k)
	for _, doc := range docs {
		w := c.W.RawRowView(doc)
		top := best(k, documentTopics, func(k int) float64 {
			if w[k] < minShare {
				return math.NaN()
			}
			return w[k]
		})
		b = append(b, byte(len(top)))
		for k, x := range w {
			if !slices.Contains(top, k) {
				rest[k] += max(0, x)
			}
		}
		for _, k := range top {
			b = append(b, byte(k))
			if d.Wide {
				b = append(b, byte(k>>8))
			}
			b = append(b, byte(math.Round(255*min(w[k], 1))))
		}
	}
	if sum := floats.Sum(rest); sum > 0 {
		floats.Scale(1/sum, rest)
	}
	d.Rest = numbers(rest)
	return base64.StdEncoding.EncodeToString(b)
}

// describer returns what is shown of a document, cut to what there is room for, with a title, and its
// snippet for a text where it has no other. Describe may have a file to read: what it says is kept for the next
// time, of the first documents, up to 16 MB.
func describer(o *Options) func(doc int) Document {
	seen := map[int]Document{}
	describe, room := o.Describe, 16<<20
	return func(doc int) Document {
		x, ok := seen[doc]
		if !ok {
			if describe != nil {
				x = describe(doc)
			}
			x = Document{plain(cmp.Or(x.Title, o.Documents.IDs[doc]), titleLength, false), plain(x.Snippet, snippetLength, false), plain(cmp.Or(x.Text, x.Snippet), textLength, true)}
			if room -= len(x.Title) + len(x.Snippet) + len(x.Text); room >= 0 {
				seen[doc] = x
			}
		}
		return x
	}
}

// lines fills in ids and titles, cut so that they take no more than limit bytes.
func (d *documentData) lines(o *Options, docs []int, limit int) {
	ids, titles := make([]string, len(docs)), make([]string, len(docs))
	for i, doc := range docs {
		ids[i] = plain(o.Documents.IDs[doc], titleLength, false)
		if titles[i] = o.Describe(doc).Title; titles[i] == ids[i] {
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
	const block = 1 << 16 // the compressor may hold back as much
	b, with := newDeflated(), []byte(nil)
	for _, i := range byTopics(o.Documents, docs) {
		text := o.Describe(docs[i]).Text
		if text == "" {
			continue
		}
		if d.Partly = b.length()+4*len(with)/3 > limit-block; d.Partly {
			break
		}
		b.write(text + "\x1e")
		with = append(with, byte(i), byte(i>>8), byte(i>>16))
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
