package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

func bytesOf(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func inflated(t testing.TB, s string) string {
	t.Helper()
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(bytesOf(t, s))))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func number24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// random makes documents of k topics, of which most are of few.
func random(k, docs int) *jsmf.Compositions {
	c := &jsmf.Compositions{W: mat.NewDense(docs, k, nil), Unknown: make([]int64, docs)}
	rng := rand.New(rand.NewPCG(uint64(docs), uint64(k)))
	for d := range docs {
		row, sum := c.W.RawRowView(d), 0.0
		for t := range row {
			row[t] = math.Pow(rng.ExpFloat64(), 4)
			sum += row[t]
		}
		for t := range row {
			row[t] /= sum
		}
		c.IDs = append(c.IDs, fmt.Sprintf("id %d", d))
		c.Docs = append(c.Docs, infer.Doc{Tokens: float64(1000 + d)})
	}
	return c
}

// TestDocumentMap reads the map as the script does.
func TestDocumentMap(t *testing.T) {
	const k, docs = 7, 400
	m, c := model(t, 300, k), random(k, docs)
	for d := range 5 { // of one topic alone
		row := c.W.RawRowView(10 + d)
		clear(row)
		row[d] = 1
	}
	c.Docs[3].Status = infer.NoTokens
	described := map[int]int{}
	o := Options{Documents: c, Describe: func(d int) Document {
		described[d]++
		doc := Document{Title: fmt.Sprintf("Title\t\n%d <b>", d)}
		if d%2 == 0 {
			doc.Title = c.IDs[d] // nothing new
		}
		if d%3 == 0 {
			doc.Text = fmt.Sprintf("One line\nof %d.\n\nAnother\x1e.", d)
		}
		return doc
	}}
	if err := o.check(m); err != nil {
		t.Fatal(err)
	}
	spots, err := places(overlaps(m))
	if err != nil {
		t.Fatal(err)
	}
	got, err := documentMap(m, &o, nil, spots)
	if err != nil {
		t.Fatal(err)
	}
	for d, n := range described {
		if n != 1 {
			t.Errorf("document %d was described %d times", d, n)
		}
	}
	if got.Count != docs-1 || got.All != docs-1 || got.Wide {
		t.Fatalf("%d of %d documents, wide: %v", got.Count, got.All, got.Wide)
	}
	row := func(i int) int { // of the documents, without the one that has no word
		if i < 3 {
			return i
		}
		return i + 1
	}

	// The places: a document of one topic is near it, and all are within the hull of the
	// topics except for the discs, whose area is at most a quarter of the square.
	points := bytesOf(t, got.Points)
	at := func(i int) (x, y float64) {
		p := points[4*i:]
		return float64(int(p[0]) | int(p[1])<<8), float64(int(p[2]) | int(p[3])<<8)
	}
	for d := range 5 {
		x, y := at(9 + d)
		if far := math.Hypot(x-float64(got.Places[2*d]), y-float64(got.Places[2*d+1])); far > 65535*math.Sqrt(0.25*40/docs/math.Pi) {
			t.Errorf("a document of topic %d is %v from it", d, far)
		}
	}

	// The topics, largest first, to half a step. With the rest their means are the true ones.
	topics, mean, sum := bytesOf(t, got.Topics), make([]float64, k), 0.0
	for i := range got.Count {
		n := int(topics[0])
		topics = topics[1:]
		w, last := c.W.RawRowView(row(i)), 1.0
		large := 0
		for _, x := range w {
			if x >= minShare {
				large++
			}
		}
		if n != min(large, documentTopics) {
			t.Fatalf("document %d has %d topics, want %d", i, n, large)
		}
		for range n {
			x := w[topics[0]]
			if math.Abs(float64(topics[1])/255-x) > 0.5/255+1e-12 || x > last {
				t.Fatalf("document %d: topic %d has %d/255 for %v, after %v", i, topics[0], topics[1], x, last)
			}
			last = x
			mean[topics[0]] += float64(topics[1]) / 255
			sum += float64(topics[1]) / 255
			topics = topics[2:]
		}
	}
	if len(topics) > 0 {
		t.Errorf("%d bytes are left", len(topics))
	}

	for k := range mean {
		want := 0.0
		for i := range got.Count {
			want += c.W.At(row(i), k)
		}
		if all := mean[k] + (float64(got.Count)-sum)*float64(got.Rest[k]); math.Abs(all-want) > 0.15 { // six standard deviations of what is rounded
			t.Errorf("topic %d has %v documents, want %v", k, all, want)
		}
	}

	// Ids and titles.
	lines := strings.Split(inflated(t, got.Lines), "\n")
	for i := range got.Count {
		want := c.IDs[row(i)]
		if row(i)%2 == 1 {
			want += fmt.Sprintf("\tTitle %d <b>", row(i))
		}
		if lines[i] != want {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	// Texts: those of each topic's best document before any other.
	texts, with := strings.Split(inflated(t, got.Texts), "\x1e"), bytesOf(t, got.With)
	if len(texts) != len(with)/3+1 || len(with)/3 != 133 { // every third of 399
		t.Fatalf("%d texts for %d documents", len(texts)-1, len(with)/3)
	}
	for j := range len(with) / 3 {
		d := row(number24(with[3*j:]))
		if want := fmt.Sprintf("One line of %d.\nAnother .", d); texts[j] != want {
			t.Errorf("text %d is %q, want %q", j, texts[j], want)
		}
	}
	again, err := documentMap(m, &o, nil, spots)
	if err != nil || again.Lines != got.Lines || again.Texts != got.Texts || again.Points != got.Points {
		t.Errorf("the same documents have other bytes (%v)", err)
	}
}

// TestByTopics: the best document of each topic comes first, then the second of each.
func TestByTopics(t *testing.T) {
	c := &jsmf.Compositions{W: mat.NewDense(5, 2, []float64{.9, .1, .2, .8, .5, .5, .05, .95, .0, .0})}
	if got, want := byTopics(c, []int{0, 1, 2, 3, 4}), []int{0, 3, 2, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSampled: which documents of many are shown depends on their ids alone.
func TestSampled(t *testing.T) {
	c := random(2, 1000)
	all := make([]int, 1000)
	for i := range all {
		all[i] = i
	}
	got := sampled(c, all, 100)
	if len(got) != 100 || !slices.IsSorted(got) {
		t.Fatalf("%d documents, %v", len(got), got)
	}
	if half := got[50]; half < 350 || half > 650 { // six standard deviations
		t.Errorf("the middle document is %d of 1000", half)
	}
	back := &jsmf.Compositions{IDs: slices.Clone(c.IDs)}
	slices.Reverse(back.IDs)
	for i, d := range sampled(back, all, 100) {
		if 999-d != got[99-i] {
			t.Fatal("another order of the documents has others shown")
		}
	}
	if got := sampled(c, all, 1000); !slices.Equal(got, all) {
		t.Error("not all are shown where there is room")
	}
}

// TestDocumentFields: the values come back as they were, or as near as the page says.
func TestDocumentFields(t *testing.T) {
	const docs = 300
	rng := rand.New(rand.NewPCG(5, 6))
	columns := []corpus.Column{
		{Name: "class", Kind: corpus.Category, Levels: []string{"b", "unused", "a"}}, {Name: "author", Kind: corpus.Category}, {Name: "whole", Kind: corpus.Number},
		{Name: "real", Kind: corpus.Number, Unit: "EUR"}, {Name: "huge", Kind: corpus.Number}, {Name: "one", Kind: corpus.Number}, {Name: "day", Kind: corpus.Time},
		{Name: "second", Kind: corpus.Time}, {Name: "age", Kind: corpus.Time}, {Name: "none", Kind: corpus.Number},
	}
	values := make([][]corpus.Value, docs)
	begin := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	for d := range values {
		huge := 1e308 // twice as much is no float64
		if d%2 == 0 {
			huge = -huge
		}
		values[d] = []corpus.Value{
			corpus.CategoryOf([]string{"a", "b"}[d%2]), corpus.CategoryOf(fmt.Sprint(d)), corpus.NumberOf(float64(rng.IntN(1e6) - 5e5)), corpus.NumberOf(rng.NormFloat64()),
			corpus.NumberOf(huge), corpus.NumberOf(7.5), corpus.TimeOf(begin.AddDate(0, 0, d)), corpus.TimeOf(begin.Add(time.Duration(rng.Int64N(1e7)) * time.Second)),
			corpus.TimeOf(time.Date(d*30, 5, 6, 7, 8, 9, 0, time.UTC)), {},
		}
		if d%10 == 9 {
			values[d] = make([]corpus.Value, len(columns))
		}
	}
	meta, err := corpus.NewMetadata(columns, values)
	if err != nil {
		t.Fatal(err)
	}
	c := random(3, docs)
	c.Metadata, c.Labels = meta, slices.Repeat([]string{"x", "", "y"}, docs/3)
	all := make([]int, docs)
	for i := range all {
		all[i] = i
	}
	d := new(documentData)
	if err := d.addFields(c, all, 1e6); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Left, []string{"none"}) || d.Fields[0].Name != "label" || !slices.Equal(d.Fields[0].Levels, []string{"x", "y"}) {
		t.Fatalf("left out: %q; the first has the levels %q", d.Left, d.Fields[0].Levels)
	}
	for i, f := range d.Fields[1:] {
		b := bytesOf(t, f.Values)
		for doc := range docs {
			want := meta.Value(doc, i)
			if f.Kind == "category" {
				got := int(b[2*doc]) | int(b[2*doc+1])<<8
				if s, ok := want.Category(); ok != (got > 0) || ok && f.Levels[got-1] != s {
					t.Fatalf("%s of document %d is %d, want %q", f.Name, doc, got, s)
				}
				continue
			}
			v := number24(b[3*doc:])
			got := (f.From/f.Step + float64(v-1)) * f.Step
			x, known := want.Number()
			if at, ok := want.Time(); ok {
				x, known = float64(at.Unix()), true
				if got > x || x-got >= f.Step {
					t.Fatalf("%s of document %d is %v, want %v less up to %v", f.Name, doc, got, x, f.Step)
				}
			}
			if known != (v > 0) || known && math.Abs(got-x) > f.Step*(1+1e-9) {
				t.Fatalf("%s of document %d is %v, want %v", f.Name, doc, got, x)
			}
		}
	}
	for i, want := range map[int]float64{3: 1, 6: 1, 7: 86400, 8: 1, 9: 86400} { // whole, one, day, second, age
		if got := d.Fields[i].Step; got != want {
			t.Errorf("%s goes by %v, want %v", d.Fields[i].Name, got, want)
		}
	}

	// Columns that take too much are left out, those with too many levels too.
	d = new(documentData)
	if err := d.addFields(c, all, 3000); err != nil || len(d.Fields) != 2 || len(d.Left) != 9 {
		t.Errorf("%d columns, left out %q, %v", len(d.Fields), d.Left, err)
	}
	f := fieldData{}
	if f.categories([]int{0, 1}, []int{1, 1000}, slices.Repeat([]string{"x"}, 1001)); f.Values == "" {
		t.Error("two levels that occur are too many")
	}
	many := make([]int, fieldLevels+1)
	for i := range many {
		many[i] = i
	}
	f = fieldData{}
	if f.categories(many, many, slices.Repeat([]string{"x"}, len(many))); f.Values != "" {
		t.Errorf("%d levels are shown", len(many))
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		para bool
		want string
	}{
		{"  a\t b\n\n\nc \x00d ", 99, true, "a b\nc d"},
		{"a\n\nb", 99, false, "a b"},
		{"a\nb", 99, true, "a b"},
		{"é\xffé", 99, true, "é\ufffdé"},
		{"abcdef", 4, true, "abc…"},
		{strings.Repeat("é ", 4000), 10, true, "é é é é é…"},
		{"", 5, true, ""},
	} {
		if got := plain(c.in, c.n, c.para); got != c.want {
			t.Errorf("plain(%.20q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// TestManyDocuments: the page of 100,000 documents has at most 12 MB, with all their ids,
// and titles and texts as they fit.
func TestManyDocuments(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: 100,001 documents")
	}
	m, c := model(t, 3000, 30), random(30, mapDocuments+1)
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 60_000)
	for i := range words {
		words[i] = m.Word(int(300*rng.ExpFloat64()) % m.N())
	}
	some := func(d, n int) string {
		at := d * 7919 % (len(words) - n)
		return strings.Join(words[at:at+n], " ")
	}
	page := write(t, m, Options{Documents: c, Describe: func(d int) Document { return Document{Title: some(d, 12), Text: some(d+1, 200)} }})
	if len(page) > 12e6 {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(page, "100\u202f000 of 100\u202f001 documents") {
		t.Error("the page does not say that a document is left out")
	}
	s := read(t, page).Documents
	lines, with := strings.Split(inflated(t, s.Lines), "\n"), bytesOf(t, s.With)
	if len(lines) != mapDocuments+1 || len(with) < 3*10_000 || len(s.Texts) > documentBytes*mapDocuments {
		t.Errorf("%d lines, %d texts", len(lines)-1, len(with)/3)
	}
	t.Logf("%d bytes, %d texts", len(page), len(with)/3)
}

// Documents that no topic explains are told of in a sentence, and listed with why.
func TestUnexplained(t *testing.T) {
	m, c := model(t, 300, 4), random(4, 1500)
	if s := write(t, m, Options{Documents: c}); strings.Contains(s, `id="unexplained"`) {
		t.Error("topics explain all documents, and the page says that they do not")
	}
	c.Docs[7].Status = infer.NoTokens
	c.Docs[7].Tokens, c.Unknown[7] = 0, 40
	c.Docs[8].Tokens, c.Unknown[8] = 3, 28
	for d := 9; d < 309; d++ {
		c.Docs[d].Status = infer.NoTopic
	}
	o := Options{Documents: c, Nouns: Nouns{Document: "letter", Documents: "letters"}, Describe: func(d int) Document { return Document{Title: fmt.Sprintf("No. %d <", d)} }}
	const want = "No topic explains 302 of 1\u202f500 letters: 2 with few known words and 300 with words that are unlikely in all topics. They are left out of lists of letters and of effects."
	if x := found(t, m, o)["#unexplained"]; x.Text != want {
		t.Error(x.Text)
	}
	s := write(t, m, o)
	rows := strings.Split(between(t, between(t, s, `id="unexplained"`, "</section>"), "<tbody>", "</tbody>"), "</tr>")
	if !strings.Contains(s, want+` <a href="#unexplained">Which</a>`) || !strings.Contains(s, "<p>The first 200 of 302 letters. ") || len(rows) != mostUnexplained+1 {
		t.Errorf("%d rows", len(rows))
	}
	for i, want := range map[int]string{
		0: `No. 7 &lt;</th><td class="num">0 of 40</td><td>few known words</td>`, 1: `No. 8 &lt;</th><td class="num">3 of 31</td><td>few`,
		2: `No. 9 &lt;</th><td class="num">1` + "\u202f" + `009 of 1` + "\u202f" + `009</td><td>words that are unlikely in all topics</td>`,
	} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("%q, want %q", rows[i], want)
		}
	}
}
