package held_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

var heldColumns = []corpus.Column{
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

// hasValues reports whether the documents of a corpus have the values of their ids.
func hasValues(t *testing.T, what string, c *corpus.Corpus) {
	t.Helper()
	meta := c.Metadata()
	if len(meta.Columns()) != len(heldColumns) || meta.NumDocs() != c.NumDocs() {
		t.Fatalf("%s: %d columns of %d documents", what, len(meta.Columns()), meta.NumDocs())
	}
	for m := range c.NumDocs() {
		var i int
		if _, err := fmt.Sscanf(c.ID(m), "d%d", &i); err != nil {
			t.Fatal(err)
		}
		want := valued(i).Values
		for k := range heldColumns {
			if v := meta.Value(m, k); want == nil && v != (corpus.Value{}) || want != nil && v != want[k] {
				t.Errorf("%s: column %d of %s is %v", what, k, c.ID(m), v)
			}
		}
	}
}

// Values go through an accumulator and its file, in whatever order documents come and go.
func TestAccumulatorMetadata(t *testing.T) {
	o := held.Options{MinDocs: 1, Columns: heldColumns}
	build := func(order []int) *held.Accumulator {
		a, err := held.New(o)
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
	file := func(a *held.Accumulator) []byte {
		var b bytes.Buffer
		if _, err := a.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	read := func(a *held.Accumulator) *corpus.Corpus {
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
	var again held.Accumulator
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
		if _, err := new(held.Accumulator).ReadFrom(bytes.NewReader(want[:n])); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(want))
		}
	}
}

func TestAccumulatorMetadataErrors(t *testing.T) {
	if _, err := held.New(held.Options{Columns: []corpus.Column{{Name: "n"}}}); err == nil || !strings.Contains(err.Error(), "Kind is 0") {
		t.Error(err)
	}
	a, err := held.New(held.Options{Columns: heldColumns[3:]})
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
}
