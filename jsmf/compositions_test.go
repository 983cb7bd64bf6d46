package jsmf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/modelfile"
)

// dated returns documents with metadata, some of it missing, and their topics by the model
// of themed.
func dated(t testing.TB) (*Model, *corpus.Corpus, *Compositions) {
	t.Helper()
	ctx := context.Background()
	m, _, texts := themed(t)
	b := corpus.Builder{Columns: []corpus.Column{
		{Name: "n", Kind: corpus.Number, Unit: "pages"}, {Name: "date", Kind: corpus.Time}, {Name: "who", Kind: corpus.Category},
	}}
	for i := range 50 {
		v := []corpus.Value{corpus.NumberOf(float64(i)), corpus.TimeOf(time.Unix(int64(i)*1e6, 0)), corpus.CategoryOf(fmt.Sprint("w", i%3))}
		if i%5 == 0 {
			v[i%3] = corpus.Value{}
		}
		if err := b.AddText(fmt.Sprint("d", i), "", texts[i]+" unheard", v...); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	return m, c, docs
}

func metadataBytes(t testing.TB, m *corpus.Metadata) []byte {
	t.Helper()
	b, err := m.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sameCompositions(t *testing.T, what string, got, want *Compositions) {
	t.Helper()
	if !bytes.Equal(metadataBytes(t, got.Metadata), metadataBytes(t, want.Metadata)) {
		t.Errorf("%s: the metadata differs", what)
	}
	a, b := *got, *want
	a.Metadata, b.Metadata = nil, nil
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s:\n%+v\n%+v", what, a, b)
	}
}

// Metadata comes out of Transform as it was in the corpus, from the corpus and from its
// documents encoded, and follows the documents when they are permuted.
func TestTransformMetadata(t *testing.T) {
	ctx := context.Background()
	m, c, docs := dated(t)
	if !bytes.Equal(metadataBytes(t, docs.Metadata), metadataBytes(t, c.Metadata())) {
		t.Error("Transform changes the metadata")
	}
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Transform(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	sameCompositions(t, "encoded", again, docs)

	order := make([]int, c.NumDocs())
	for i := range order {
		order[i] = (7*i + 3) % len(order)
	}
	turned, err := c.Select(order, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = m.Transform(ctx, turned.Source()); err != nil {
		t.Fatal(err)
	}
	for d, i := range order {
		if again.IDs[d] != docs.IDs[i] || !slices.Equal(again.W.RawRowView(d), docs.W.RawRowView(i)) {
			t.Fatalf("document %d is not number %d", d, i)
		}
		for col := range 3 {
			if again.Metadata.Value(d, col) != docs.Metadata.Value(i, col) {
				t.Fatalf("column %d of document %d is not that of %d", col, d, i)
			}
		}
	}
}

func TestDocumentsInFile(t *testing.T) {
	m, _, docs := dated(t)
	if m.Additions().Documents != nil {
		t.Error("a fitted model has documents")
	}
	labelled := *docs
	labelled.Labels, labelled.Metadata = make([]string, len(docs.IDs)), nil
	labelled.Labels[3] = "x"
	none := &Compositions{Method: "MAP", W: new(mat.Dense), IDs: []string{}, Docs: []infer.Doc{}, Unknown: []int64{}}
	for what, c := range map[string]*Compositions{"metadata": docs, "labels": &labelled, "none": none} {
		with, err := m.With(Additions{Documents: c})
		if err != nil {
			t.Fatal(err)
		}
		file := encoded(t, with)
		got, err := ReadModel(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !bytes.Equal(encoded(t, got), file) {
			t.Errorf("%s: written again, the bytes differ", what)
		}
		if what == "none" {
			if d := got.Additions().Documents; d == nil || len(d.IDs) != 0 || d.Method != "MAP" {
				t.Errorf("no documents became %+v", d)
			}
			continue
		}
		sameCompositions(t, what, got.Additions().Documents, c)
	}

	// The model's documents are its own, and follow its topics.
	with, err := m.With(Additions{Documents: docs})
	if err != nil {
		t.Fatal(err)
	}
	with.Additions().Documents.W.Set(0, 0, 7)
	want := docs.W.At(0, 0)
	docs.W.Set(0, 0, 9)
	if got := with.Additions().Documents.W.At(0, 0); got != want {
		t.Errorf("the documents of a model were changed to %v", got)
	}
	docs.W.Set(0, 0, want)
	order := make([]int, m.K())
	for k := range order {
		order[k] = (k + 1) % m.K()
	}
	turned, err := with.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	for d := range docs.IDs {
		for k, from := range order {
			if got := turned.Additions().Documents.W.At(d, k); got != docs.W.At(d, from) {
				t.Fatalf("topic %d of document %d has %v after Reorder", k, d, got)
			}
		}
	}
	sameCompositions(t, "after Reorder", with.Additions().Documents, docs)
}

func TestDocumentsErrors(t *testing.T) {
	m, _, docs := dated(t)
	for want, change := range map[string]func(c *Compositions){
		"50 ids, 3 labels":                 func(c *Compositions) { c.Labels = []string{"a", "b", "c"} },
		"metadata of 50":                   func(c *Compositions) { c.IDs = c.IDs[1:] },
		"the proportions are 50×1,":        func(c *Compositions) { c.W = mat.NewDense(50, 1, nil) },
		"of topic 1 in document d2 is NaN": func(c *Compositions) { c.W.Set(2, 1, math.NaN()) },
		"of topic 1 in document d2 is 7":   func(c *Compositions) { c.W.Set(2, 1, 7) },
		"of topic 0 in document d3 is -1":  func(c *Compositions) { c.W.Set(3, 0, -1) },
		"document d4 have the sum 0.6":     func(c *Compositions) { floats.Scale(0.6, c.W.RawRowView(4)) },
		"document d5 have the sum 0,":      func(c *Compositions) { clear(c.W.RawRowView(5)) },
		"document d6 has NaN":              func(c *Compositions) { c.Docs[6].Tokens = math.NaN() },
	} {
		c := docs.clone()
		change(c)
		if _, err := m.With(Additions{Documents: c}); err == nil || !strings.HasPrefix(err.Error(), "jsmf: documents: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// Whatever a section of a file holds, there is an error or documents, and what is cut
	// off is an error.
	b, err := docs.bytes()
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(b); n += 1 + n/50 {
		if _, err := readCompositions(b[:n], m.K()); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(b))
		}
	}
	for i := 0; i < len(b); i += 1 + i/100 {
		bent := bytes.Clone(b)
		bent[i] ^= 0x81
		if c, err := readCompositions(bent, m.K()); err == nil {
			_ = c.Validate(m.K())
		}
	}
	bent := bytes.Clone(b)
	copy(bent, bytes.Repeat([]byte{0xff}, 8)) // the number of documents
	file := tinyFile()
	file.sections = append(file.sections, testSection{tag: "DOCS", payload: bent})
	var fe *modelfile.Error
	if _, err := ReadModel(bytes.NewReader(file.bytes())); !errors.As(err, &fe) || fe.Kind != ErrInvalid || fe.Section != "DOCS" {
		t.Errorf("a damaged section: %v", err)
	}
}
