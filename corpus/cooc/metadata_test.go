package cooc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

var columns = []corpus.Column{
	{Name: "n", Kind: corpus.Number, Unit: "EUR"}, {Name: "when", Kind: corpus.Time}, {Name: "who", Kind: corpus.Category},
	{Name: "size", Kind: corpus.Category, Levels: []string{"small", "large"}},
}

// valued returns document i, with values of which some are missing.
func valued(i int) corpus.Document {
	d := corpus.Document{ID: fmt.Sprint("d", i), Tokens: strings.Fields("tea cup tea net cup"), Values: []corpus.Value{
		corpus.NumberOf(float64(i)), corpus.TimeOf(time.Unix(int64(i), 5)), corpus.CategoryOf(fmt.Sprint("w", i%3)), corpus.CategoryOf("small"),
	}}
	d.Values[i%4] = corpus.Value{}
	if i%5 == 4 {
		d.Values = nil
	}
	return d
}

// hasValues tells whether the documents of a corpus have the values of their ids.
func hasValues(t *testing.T, what string, c *corpus.Corpus) {
	t.Helper()
	meta := c.Metadata()
	if len(meta.Columns()) != len(columns) || meta.NumDocs() != c.NumDocs() {
		t.Fatalf("%s: %d columns of %d documents", what, len(meta.Columns()), meta.NumDocs())
	}
	for m := range c.NumDocs() {
		var i int
		if _, err := fmt.Sscanf(c.ID(m), "d%d", &i); err != nil {
			t.Fatal(err)
		}
		want := valued(i).Values
		for k := range columns {
			if v := meta.Value(m, k); want == nil && v != (corpus.Value{}) || want != nil && v != want[k] {
				t.Errorf("%s: column %d of %s is %v", what, k, c.ID(m), v)
			}
		}
	}
}

// Values go through an accumulator, its file and merges, in whatever order documents come
// and go.
func TestAccumulatorMetadata(t *testing.T) {
	ctx := context.Background()
	o := cooc.AccumulatorOptions{MinDocs: 1, Columns: columns}
	build := func(order []int) *cooc.Accumulator {
		a, err := cooc.NewAccumulator(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			if err := a.AddAt(valued(i), int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	file := func(a *cooc.Accumulator) []byte {
		var b bytes.Buffer
		if _, err := a.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	read := func(a *cooc.Accumulator) *corpus.Corpus {
		c, err := a.Snapshot().Corpus()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rng := rand.New(rand.NewPCG(1, 2))
	whole := build([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	want := file(whole)
	hasValues(t, "snapshot", read(whole))
	for range 5 {
		a := build(rng.Perm(13))
		for _, gone := range []string{"d10", "d12", "d11"} {
			a.Remove(gone)
		}
		if !bytes.Equal(file(a), want) {
			t.Error("the order of documents shows")
		}
	}
	part := build([]int{1, 3, 5, 7, 9})
	if err := part.Merge(build([]int{0, 2, 4, 6, 8})); err != nil || !bytes.Equal(file(part), want) {
		t.Errorf("parts differ from the whole (%v)", err)
	}
	var again cooc.Accumulator
	if _, err := again.ReadFrom(bytes.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	hasValues(t, "file", read(&again))
	if !bytes.Equal(file(&again), want) || again.Stats() != whole.Stats() {
		t.Errorf("read and written again it is another: %+v, %+v", again.Stats(), whole.Stats())
	}
	if err := again.Add(corpus.Document{ID: "new", Tokens: []string{"tea"}, Values: []corpus.Value{3: corpus.CategoryOf("large"), 2: corpus.CategoryOf("someone new")}}); err != nil {
		t.Error(err)
	}
	for n := 0; n < len(want); n += 7 {
		if _, err := new(cooc.Accumulator).ReadFrom(bytes.NewReader(want[:n])); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(want))
		}
	}

	// From a source, by the names of its columns, also by an accumulator that knows none.
	src := read(whole).Source()
	var fresh cooc.Accumulator
	if _, err := fresh.AddSource(ctx, src); err != nil {
		t.Fatal(err)
	}
	if got := fresh.Options().Columns; len(got) != 4 || got[3].Name != "size" || got[3].Levels != nil {
		t.Errorf("columns %v were taken", got)
	}
	turned, err := cooc.NewAccumulator(cooc.AccumulatorOptions{MinDocs: 1, Columns: []corpus.Column{columns[2], {Name: "other", Kind: corpus.Number}, columns[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turned.AddSource(ctx, src); err != nil {
		t.Fatal(err)
	}
	meta := read(turned).Metadata()
	if meta.Value(1, 0) != valued(1).Values[2] || meta.Value(1, 2) != valued(1).Values[0] || meta.Value(1, 1).Kind() != 0 {
		t.Errorf("values of d1: %v %v %v", meta.Value(1, 0), meta.Value(1, 1), meta.Value(1, 2))
	}
}

func TestAccumulatorMetadataErrors(t *testing.T) {
	if _, err := cooc.NewAccumulator(cooc.AccumulatorOptions{Columns: []corpus.Column{{Name: "n"}}}); err == nil || !strings.Contains(err.Error(), "Kind is 0") {
		t.Error(err)
	}
	a, err := cooc.NewAccumulator(cooc.AccumulatorOptions{Columns: columns[3:]})
	if err != nil {
		t.Fatal(err)
	}
	var ve *corpus.ValueError
	if err := a.Add(corpus.Document{ID: "x", Values: []corpus.Value{corpus.CategoryOf("huge")}}); !errors.As(err, &ve) || ve.Column != "size" {
		t.Error(err)
	}
	if err := a.Add(corpus.Document{ID: "x", Values: make([]corpus.Value, 2)}); err == nil || !strings.Contains(err.Error(), "document x: 2 values for 1 columns") {
		t.Error(err)
	}
	if st := a.Stats(); st.Docs != 0 || st.Bytes != 0 {
		t.Errorf("refused documents left %+v", st)
	}
	other, err := cooc.NewAccumulator(cooc.AccumulatorOptions{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Merge(other); err == nil || !strings.Contains(err.Error(), "Columns differs") {
		t.Error(err)
	}
	src := corpus.CSV{In: corpus.FileFromBytes("x", []byte("t,size\ntea,1\n")), Text: "t", Fields: []corpus.Field{{Column: corpus.Column{Name: "size", Kind: corpus.Number}}}}
	if _, err := a.AddSource(context.Background(), src); err == nil || !strings.Contains(err.Error(), `column "size" of the source holds values of the kind number, not category`) {
		t.Error(err)
	}
}

// The documents behind a Stream have what is known of them.
func TestStreamMetadata(t *testing.T) {
	ctx := context.Background()
	b := corpus.Builder{Columns: columns}
	for i := range 8 {
		d := valued(i)
		if i == 3 {
			d.Tokens = nil // too short for the Stream
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	s, err := cooc.NewStream(ctx, c.Source(), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := corpus.Read(ctx, s.Info().Source)
	if err != nil {
		t.Fatal(err)
	}
	hasValues(t, "stream", got)
	var ids []string
	for m := range got.NumDocs() {
		ids = append(ids, got.ID(m))
	}
	if !slices.Equal(ids, []string{"d0", "d1", "d2", "d4", "d5", "d6", "d7"}) {
		t.Errorf("documents %q", ids)
	}
}
