package report

import (
	"cmp"
	"encoding/base64"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/infer"
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
// topics' documents on it. It calls Describe for each document on it, and again for those
// with a text.
func documentMap(m *jsmf.Model, o *Options, topics []topicData, at [][2]float64) (*documentData, error) {
	c := o.Documents
	docs := make([]int, 0, len(c.Docs))
	for d := range c.Docs {
		if c.Docs[d].Status != infer.NoTokens {
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
