package held_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

var (
	year  = corpus.Column{Name: "year", Kind: corpus.Number}
	place = corpus.Column{Name: "place", Kind: corpus.Category}
)

// Pages of any size have all documents in the order of times and ids.
func TestDocumentsAfter(t *testing.T) {
	a, err := held.New(held.Options{Columns: []corpus.Column{year}})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 30 { // three documents of each time, in no order
		at, id := int64(i%10)-5, fmt.Sprintf("d%02d", i)
		if err := a.AddAt(corpus.Document{ID: id, Tokens: []string{"w"}, Values: []corpus.Value{corpus.NumberOf(float64(i))}}, at); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d %s %d", at+5, id, i))
	}
	slices.Sort(want)
	for _, n := range []int{1, 4, 30, 100} {
		var got []string
		at, id := int64(-100), ""
		for {
			page := a.DocumentsAfter(at, id, n)
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				got = append(got, fmt.Sprintf("%d %s %v", d.At+5, d.ID, d.Values[0]))
			}
			at, id = page[len(page)-1].At, page[len(page)-1].ID
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", n, got, want)
		}
	}
	if page := a.DocumentsAfter(-100, "", 0); len(page) != 0 {
		t.Errorf("a page of none: %v", page)
	}
	snap := a.Snapshot()
	for i, d := range a.DocumentsAfter(-100, "", 100) {
		if got := snap.Document(i); got.ID != d.ID || got.At != d.At {
			t.Errorf("document %d of the snapshot is %+v, want %+v", i, got, d)
		}
	}
	d, ok := a.Document("d07")
	if x, _ := d.Values[0].Number(); !ok || d.At != 2 || x != 7 {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, ok := a.Document("d99"); ok {
		t.Error("there is no such document")
	}
}

// Columns that are added later give what columns from the beginning give, to the byte, and
// leave snapshots as they were.
func TestAddColumns(t *testing.T) {
	doc := func(i int, values ...corpus.Value) corpus.Document {
		return corpus.Document{ID: fmt.Sprint(i), Tokens: strings.Fields("a b c"), Values: values}
	}
	add := func(a *held.Accumulator, d corpus.Document) {
		t.Helper()
		if err := a.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	early, err := held.New(held.Options{Columns: []corpus.Column{year, place}, MinDocs: 1})
	if err != nil {
		t.Fatal(err)
	}
	late, err := held.New(held.Options{MinDocs: 1})
	if err != nil {
		t.Fatal(err)
	}
	none, in := corpus.Value{}, corpus.CategoryOf("here")
	add(early, doc(1))
	add(early, doc(2, corpus.NumberOf(2), none))
	add(early, doc(3, none, in))

	add(late, doc(1))
	if err := late.AddColumns(year); err != nil {
		t.Fatal(err)
	}
	add(late, doc(2, corpus.NumberOf(2)))
	before := late.Snapshot()
	if err := late.AddColumns(place); err != nil {
		t.Fatal(err)
	}
	add(late, doc(3, none, in))
	var a, b bytes.Buffer
	if _, err := early.WriteTo(&a); err != nil {
		t.Fatal(err)
	}
	if _, err := late.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("other bytes than with the columns from the beginning")
	}
	if x, y := early.Stats(), late.Stats(); x != y {
		t.Errorf("%+v, want %+v", y, x)
	}
	c, err := before.Corpus()
	if err != nil || len(c.Metadata().Columns()) != 1 || c.NumDocs() != 2 {
		t.Errorf("the snapshot has become %v, %v", c, err)
	}
	for _, bad := range []corpus.Column{year, {Name: "x"}, {Kind: corpus.Number}} {
		if err := late.AddColumns(bad); err == nil || len(late.Options().Columns) != 2 {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := late.AddColumns(year); !strings.Contains(err.Error(), `held: columns: column 3, "year": another column has this name`) {
		t.Error(err)
	}
}
