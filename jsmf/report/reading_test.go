package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/refine"
)

// known is a Refiner that knows its result.
type known struct{ result *refine.Result }

func (known) String() string { return "known" }
func (r known) Refine(context.Context, corpus.Source, refine.Start, refine.Options) (*refine.Result, error) {
	return r.result, nil
}

// readModel has 6 topics. Topic 0 has the words of all documents; the others have words of
// a fifth of the documents, and the largest reading weights for the least probable ones.
func readModel(t testing.TB) *jsmf.Model {
	t.Helper()
	const k, each = 6, 12
	var b corpus.Builder
	for d := range 300 {
		mine := []string{}
		for w := range each {
			mine = append(mine, fmt.Sprintf("every%c", 'a'+w))
			if w <= d%each+2 {
				mine = append(mine, fmt.Sprintf("t%dx%c", 1+d%5, 'a'+w))
			}
		}
		if err := b.AddText("", "", strings.Join(mine, " ")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	n := c.NumWords()
	r := &refine.Result{B: mat.NewDense(n, k, nil), A: mat.NewDense(k, k, nil), Reading: mat.NewDense(n, k, nil), Alone: []float64{0, 0.5, 0.5, 0.5, 0.5, 0.5}}
	for i, w := range c.Vocabulary() {
		topic, rank := 0, int(w[len(w)-1]-'a')
		if w[0] == 't' {
			topic = int(w[1] - '0')
		}
		r.B.Set(i, topic, float64(each-rank)/78)
		r.Reading.Set(i, topic, float64(rank+1)/78)
	}
	for i := range k {
		for j := range k {
			switch {
			case i == 0 && j == 0:
				r.A.Set(i, j, 0.25)
			case i == 0 || j == 0:
				r.A.Set(i, j, 0.05)
			case i == j:
				r.A.Set(i, j, 0.05)
			}
		}
	}
	m, err := jsmf.Published(k).Refine(known{r}).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The page and the table show names, reading words and what is background.
func TestReadingWords(t *testing.T) {
	m := readModel(t)
	if want := []bool{true, false, false, false, false, false}; !slices.Equal(m.Background(), want) {
		t.Fatalf("background %v, want %v", m.Background(), want)
	}
	page := write(t, m, Options{TopWords: 5})
	s := read(t, page)
	for k, topic := range s.Topics {
		if topic.Name != m.Name(k) || topic.Background != (k == 0) {
			t.Errorf("topic %d: name %q, background %v", k, topic.Name, topic.Background)
		}
		var got, want []string
		for _, w := range topic.Read {
			got = append(got, s.Words[w])
			if !slices.Contains(topic.Words, w) {
				t.Errorf("topic %d: the probability of the reading word %q is not there", k, s.Words[w])
			}
		}
		for _, w := range m.TopWords(k, 5) {
			want = append(want, w.Word)
		}
		if !slices.Equal(got, want) || got[0] != fmt.Sprintf("t%dxl", k) && k > 0 {
			t.Errorf("topic %d: reading words %q, want %q", k, got, want)
		}
	}
	static := between(t, page, `<div class="static">`, `</div>`)
	if strings.Count(static, "(background)") != 1 || !strings.Contains(static, ">"+m.Name(3)+"<") || !strings.Contains(page, `id="reading"`) || !strings.Contains(page, "Background topics gather") {
		t.Error("the page does not show names, background or the switch of reading words")
	}
	// With measures it shows the verdicts, those that are not sound in the table too.
	r := &metrics.Report{Verdicts: make([]metrics.Verdict, m.K())}
	r.Verdicts[0].Quality = metrics.Background
	r.Verdicts[2] = metrics.Verdict{Quality: metrics.Weak, Words: 10, Joined: 4, Exclusivity: 0.5, Documents: 33, Share: 0.1}
	judged := write(t, m, Options{Metrics: r})
	static = between(t, judged, `<div class="static">`, `</div>`)
	if strings.Count(static, "(background)") != 1 || strings.Count(static, "(weak: only 4 of its 10 words go together)") != 1 || strings.Contains(static, "(sound)") {
		t.Error("the table of topics does not show the verdicts")
	}
	if s := read(t, judged); *s.Topics[1].Verdict != (verdict{"sound", "", -1}) || *s.Topics[2].Verdict != (verdict{"weak", "only 4 of its 10 words go together", -1}) {
		t.Errorf("verdicts %+v and %+v", s.Topics[1].Verdict, s.Topics[2].Verdict)
	}
	if plain := write(t, model(t, 12, 3)); strings.Contains(plain, `id="reading"`) || strings.Contains(plain, "Background topics gather") {
		t.Error("a page of a model without reading weights explains them")
	}

	var table bytes.Buffer
	if err := WriteTopicsCSV(&table, m, 2); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rows[3][:4:4], []string{"1", m.Name(1), rows[3][2], "false"}; !slices.Equal(got, want) || rows[3][6] != "t1xl" || rows[1][3] != "true" {
		t.Errorf("rows %q and %q", rows[1], rows[3])
	}

	// A topic has 12 words by which to know it, and lists end there.
	table.Reset()
	if err := WriteTopicsCSV(&table, m, 20); err != nil {
		t.Fatal(err)
	}
	if rows, err = csv.NewReader(&table).ReadAll(); err != nil || len(rows) != 1+6*12 || rows[12][5] != "12" || rows[13][5] != "1" {
		t.Errorf("%d rows, %v; want 12 for each topic and the head", len(rows), err)
	}
	for k, topic := range read(t, write(t, m, Options{TopWords: 20})).Topics {
		if len(topic.Read) != 12 {
			t.Errorf("topic %d: %d reading words on the page, want 12", k, len(topic.Read))
		}
	}
}
