package report

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
)

func TestTopicsCSV(t *testing.T) {
	m := model(t, 300, 4)
	var b bytes.Buffer
	if err := WriteTopicsCSV(&b, m, 7); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+4*7 || strings.Join(rows[0], ",") != "topic,name,share,background,anchor,rank,word,probability,weight,lift" {
		t.Fatalf("%d rows under %q", len(rows), rows[0])
	}
	p, shares := unigram(m), m.TopicShares()
	for i, r := range rows[1:] {
		k, rank := i/7, i%7
		top := m.TopWords(k, 7)[rank]
		want := []string{strconv.Itoa(k), m.Name(k), strconv.FormatFloat(shares[k], 'g', -1, 64), "false", m.Word(m.Anchors()[k]), strconv.Itoa(rank + 1), top.Word,
			strconv.FormatFloat(top.Prob, 'g', -1, 64), strconv.FormatFloat(top.Weight, 'g', -1, 64), strconv.FormatFloat(top.Prob/p[top.Index], 'g', -1, 64)}
		if !slices.Equal(r, want) {
			t.Errorf("row %d is %q, want %q", i, r, want)
		}
	}
	if err := WriteTopicsCSV(&b, m, 0); err == nil {
		t.Error("no words were taken")
	}
	if err := WriteTopicsCSV(&b, nil, 1); err == nil {
		t.Error("of no model")
	}
}

func TestWriteNPY(t *testing.T) {
	m := model(t, 100, 3)
	var b bytes.Buffer
	if err := WriteNPY(&b, m.Topics()); err != nil {
		t.Fatal(err)
	}
	tail := b.Bytes()[b.Len()-8*300:]
	for _, at := range [][2]int{{0, 0}, {50, 2}, {99, 1}} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(tail[8*(3*at[0]+at[1]):])); got != m.Topics().At(at[0], at[1]) {
			t.Errorf("B%v = %v", at, got)
		}
	}
	if WriteNPY(&b, nil) == nil {
		t.Error("no matrix was taken")
	}
}

func TestWriteDocumentsCSV(t *testing.T) {
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "n", Kind: corpus.Number}, {Name: "when", Kind: corpus.Time}, {Name: "who", Kind: corpus.Category}}, [][]corpus.Value{
		{corpus.NumberOf(-.5), corpus.TimeOf(time.Unix(0, 0)), corpus.CategoryOf("a, b")}, nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &jsmf.Compositions{
		W: mat.NewDense(2, 2, []float64{.25, .75, 1, 0}), IDs: []string{"x", "y"}, Labels: []string{"", "l"}, Metadata: meta,
		Docs: []infer.Doc{{Tokens: 7}, {Tokens: 0}}, Unknown: []int64{0, 1},
	}
	var b strings.Builder
	if err := WriteDocumentsCSV(&b, c); err != nil {
		t.Fatal(err)
	}
	want := "id,label,n,when,who,tokens,topic 0,topic 1\nx,,-0.5,1970-01-01,\"a, b\",7,0.25,0.75\ny,l,,,,0,,\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	for name, x := range map[string]struct {
		change func(*jsmf.Compositions)
		want   string
	}{
		"no W":            {func(c *jsmf.Compositions) { c.W = nil }, "the proportions are 0×0, want 2×0"},
		"short W":         {func(c *jsmf.Compositions) { c.W = mat.NewDense(1, 2, []float64{1, 0}) }, "the proportions are 1×2, want 2×2"},
		"no Docs":         {func(c *jsmf.Compositions) { c.Docs = nil }, "what inference says of 0 and 2 documents"},
		"short Docs":      {func(c *jsmf.Compositions) { c.Docs = c.Docs[:1] }, "what inference says of 1 and 2 documents"},
		"short Labels":    {func(c *jsmf.Compositions) { c.Labels = c.Labels[:1] }, "1 labels"},
		"short IDs":       {func(c *jsmf.Compositions) { c.IDs = c.IDs[:1] }, "1 ids"},
		"short Unknown":   {func(c *jsmf.Compositions) { c.Unknown = nil }, "what inference says of 2 and 0 documents"},
		"proportion of 7": {func(c *jsmf.Compositions) { c.W = mat.NewDense(2, 2, []float64{.25, .75, 7, 0}) }, "the proportion of topic 0 in document y is 7"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := *c
			x.change(&broken)
			if err := WriteDocumentsCSV(io.Discard, &broken); err == nil || !strings.HasPrefix(err.Error(), "report: ") || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v, want report: … %s", err, x.want)
			}
		})
	}
	if err := WriteDocumentsCSV(&b, nil); err == nil {
		t.Error("nothing was written without an error")
	}
	b.Reset()
	if err := WriteDocumentsCSV(&b, new(jsmf.Compositions)); err != nil || b.String() != "id,tokens\n" {
		t.Errorf("no documents: %q, %v; want the header alone", b.String(), err)
	}
}

// Text from which a spreadsheet makes a formula gets an apostrophe; numbers stay.
func TestFormulas(t *testing.T) {
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "@n", Kind: corpus.Number}, {Name: "who", Kind: corpus.Category}}, [][]corpus.Value{{corpus.NumberOf(-2), corpus.CategoryOf("-b")}})
	if err != nil {
		t.Fatal(err)
	}
	c := &jsmf.Compositions{W: mat.NewDense(1, 1, []float64{1}), IDs: []string{"=x"}, Labels: []string{"+l"}, Metadata: meta, Docs: []infer.Doc{{Tokens: 7}}, Unknown: []int64{0}}
	want := "id,label,'@n,who,tokens,topic 0\n'=x,'+l,-2,'-b,7,1\n"
	var b strings.Builder
	if err := WriteDocumentsCSV(&b, c); err != nil || b.String() != want {
		t.Errorf("got %q, %v; want %q", b.String(), err, want)
	}
}
