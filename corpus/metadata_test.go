package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

var columns = []corpus.Column{
	{Name: "rating", Kind: corpus.Number, Unit: "stars"},
	{Name: "date", Kind: corpus.Time},
	{Name: "author", Kind: corpus.Category},
	{Name: "size", Kind: corpus.Category, Levels: []string{"small", "middling", "large"}},
}

// valuesOf makes values of document m, of which some are missing.
func valuesOf(m int) []corpus.Value {
	if m%7 == 6 {
		return nil
	}
	v := []corpus.Value{
		corpus.NumberOf(float64(m) - 2.5),
		corpus.TimeOf(time.Date(1600+m, 2, 3, 4, 5, 6, 1000*(m%2), time.FixedZone("", 3600))),
		corpus.CategoryOf([]string{"zoë", "10", "9", "", "anna"}[m%5]),
		corpus.CategoryOf(columns[3].Levels[m%3]),
	}
	v[m%4] = corpus.Value{}
	return v
}

// withMetadata returns a corpus of n documents with metadata, which are those of order.
func withMetadata(t testing.TB, order []int) *corpus.Corpus {
	t.Helper()
	b := corpus.Builder{Columns: columns}
	for _, m := range order {
		if err := b.AddText(fmt.Sprint("d", m), "", fmt.Sprintf("alpha beta%c gamma delta%c", 'a'+m%3, 'a'+m%2), valuesOf(m)...); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// follows reports whether the values of each document are those of its id.
func follows(t *testing.T, what string, c *corpus.Corpus) {
	t.Helper()
	meta := c.Metadata()
	if meta.NumDocs() != c.NumDocs() || len(meta.Columns()) != len(columns) {
		t.Fatalf("%s: metadata of %d documents, %d columns for %d documents", what, meta.NumDocs(), len(meta.Columns()), c.NumDocs())
	}
	for d := range c.NumDocs() {
		var m int
		if _, err := fmt.Sscanf(c.ID(d), "d%d", &m); err != nil {
			t.Fatal(err)
		}
		want := valuesOf(m)
		for i, x := range meta.Columns() {
			v := meta.Value(d, i)
			if want == nil && v != (corpus.Value{}) || want != nil && v != want[i] {
				t.Errorf("%s: document %s has the %s %v, want %v", what, c.ID(d), x.Name, v, want)
			}
		}
	}
}

func TestMetadataFollows(t *testing.T) {
	ctx := context.Background()
	c := withMetadata(t, upTo(40))
	follows(t, "Builder", c)
	check := func(what string, c *corpus.Corpus, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		follows(t, what, c)
	}
	some, err := c.Select([]int{31, 2, 6, 11}, nil)
	check("Select", some, err)
	if _, levels, _ := some.Metadata().Categories("author"); !slices.Equal(levels, []string{"9", "10", "", "anna", "zoë"}) {
		t.Errorf("levels %q after Select", levels)
	}
	a, b, err := c.Split(0.3, 1)
	check("Split", a, err)
	check("Split", b, err)
	a, b, err = c.SplitTokens(0.5, 1)
	check("SplitTokens", a, err)
	check("SplitTokens", b, err)
	a, _, err = c.Reindex([]string{"gamma", "alpha"})
	check("Reindex", a, err)
	a, _, err = corpus.Curate(c, corpus.Curation{Words: 3, Score: corpus.TF, MinDistinct: 1})
	check("Curate", a, err)
	a, err = c.WithWeights(slices.Repeat([]float64{2}, 40))
	check("WithWeights", a, err)
	check("Source", same(t, c.Source()), nil)

	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	check("Encode", same(t, e), nil)
	if dump(same(t, e)) != dump(c) {
		t.Error("Encode changes the corpus")
	}
	path := filepath.Join(t.TempDir(), "c.jenc")
	if e, err = corpus.EncodeFile(ctx, e, path); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	check("EncodeFile", same(t, e), nil)
	if dump(same(t, e)) != dump(c) {
		t.Error("EncodeFile changes the corpus")
	}

	// Copies can be encoded though ids come twice.
	if e, err = corpus.Encode(ctx, twice{c.Source()}); err != nil {
		t.Fatal(err)
	}
	if e, err = corpus.EncodeFile(ctx, e, filepath.Join(t.TempDir(), "b.jenc")); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if a, err = corpus.Read(ctx, e); err == nil {
		_, err = corpus.Encode(ctx, a.Source())
	}
	check("Encode of copies", a, err)
}

// The order in which documents come changes the order of the rows alone: levels and
// values of an id stay.
func TestMetadataOrder(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 8))
	want := withMetadata(t, upTo(30))
	for range 10 {
		order := rng.Perm(30)
		c := withMetadata(t, order)
		back := make([]int, 30)
		for d, m := range order {
			back[m] = d
		}
		sorted, err := c.Select(back, nil)
		if err != nil {
			t.Fatal(err)
		}
		if dump(sorted) != dump(want) {
			t.Fatalf("order %v:\n%s\n%s", order, dump(sorted), dump(want))
		}
		e, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			t.Fatal(err)
		}
		follows(t, "Encode", same(t, e))
	}
}

func TestMetadataColumns(t *testing.T) {
	meta := withMetadata(t, upTo(9)).Metadata()
	x, known, err := meta.Numbers("rating")
	if err != nil || len(x) != 9 || x[3] != .5 || !known[3] || known[0] || !math.IsNaN(x[0]) || known[6] {
		t.Errorf("ratings %v, known %v (%v)", x, known, err)
	}
	when, known, err := meta.Times("date")
	if err != nil || !when[2].Equal(time.Date(1602, 2, 3, 3, 5, 6, 0, time.UTC)) || known[1] || !when[1].IsZero() || when[3].Nanosecond() != 1000 {
		t.Errorf("dates %v, known %v (%v)", when, known, err)
	}
	level, levels, err := meta.Categories("author")
	if err != nil || !slices.Equal(levels, []string{"9", "10", "", "anna", "zoë"}) || !slices.Equal(level, []int{4, 1, -1, 2, 3, 4, -1, 0, 2}) {
		t.Errorf("authors %v of %q (%v)", level, levels, err)
	}
	if level, levels, err = meta.Categories("size"); err != nil || levels[1] != "middling" || level[1] != 1 {
		t.Errorf("sizes %v of %q (%v)", level, levels, err)
	}
	_, _, err = meta.Numbers("date")
	wantError(t, err, `corpus: column "date" holds values of the kind time, not number`)
	_, _, err = meta.Times("day")
	wantError(t, err, `corpus: there is no column "day"; the columns are ["rating" "date" "author" "size"]`)
	if meta.Columns()[0].Unit != "stars" {
		t.Error("the unit is gone")
	}

	var none *corpus.Metadata
	if _, _, err = none.Categories("x"); err == nil || none.NumDocs() != 0 || none.Columns() != nil {
		t.Error("no metadata has columns")
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestMetadataErrors(t *testing.T) {
	for want, x := range map[string]struct {
		column corpus.Column
		value  corpus.Value
	}{
		`column 1, "": it has no name`:                         {column: corpus.Column{Kind: corpus.Time}},
		`column 1, "a": Kind is 0; want Number`:                {column: corpus.Column{Name: "a"}},
		`column 1, "a": a time has no Levels`:                  {column: corpus.Column{Name: "a", Kind: corpus.Time, Levels: []string{}}},
		`column 1, "a": the level "x" comes twice`:             {column: corpus.Column{Name: "a", Kind: corpus.Category, Levels: []string{"x", "x"}}},
		`document 1: column "a": value "NaN": is not a finite`: {corpus.Column{Name: "a", Kind: corpus.Number}, corpus.NumberOf(math.NaN())},
		`column "a": value "7": is a number, want a time`:      {corpus.Column{Name: "a", Kind: corpus.Time}, corpus.NumberOf(7)},
		`column "a": value "y": is not among the Levels`:       {corpus.Column{Name: "a", Kind: corpus.Category, Levels: []string{"x"}}, corpus.CategoryOf("y")},
		`column "a": value "\xff": invalid UTF-8`:              {corpus.Column{Name: "a", Kind: corpus.Category}, corpus.CategoryOf("\xff")},
	} {
		cols := []corpus.Column{x.column}
		_, err := corpus.NewMetadata(cols, [][]corpus.Value{{x.value}})
		wantError(t, err, want)
		b := corpus.Builder{Columns: cols}
		errB := b.AddTokens("", "", []string{"w"}, x.value)
		if errB == nil || errB.Error() != err.Error() {
			t.Errorf("the Builder says %v", errB)
		}
		var ve *corpus.ValueError
		if x.value.Kind() != 0 && (!errors.As(err, &ve) || ve.Column != "a") {
			t.Errorf("%v is no ValueError", err)
		}
		if _, err := b.Corpus(); !errors.Is(err, corpus.ErrNoDocuments) {
			t.Errorf("a refused document is in the corpus (%v)", err)
		}
	}
	b := corpus.Builder{Columns: columns}
	wantError(t, b.AddTokens("q", "", nil, corpus.NumberOf(1)), "corpus: document q: 1 values for 4 columns")
	b = corpus.Builder{}
	wantError(t, b.AddTokens("q", "", nil, corpus.NumberOf(1)), "corpus: document q: 1 values, but no columns are given")
	_, err := withMetadata(t, upTo(3)).WithMetadata(withMetadata(t, upTo(4)).Metadata())
	wantError(t, err, "metadata of 4 documents for 3")
}

// Bytes that are cut off or changed are an error or other values, never a panic, and what
// is read is written again as it was.
func TestMetadataBytes(t *testing.T) {
	meta := withMetadata(t, upTo(20)).Metadata()
	b, err := meta.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) (*corpus.Metadata, error) {
		var m corpus.Metadata
		err := m.UnmarshalBinary(b)
		if err == nil {
			if again, _ := m.AppendBinary(nil); !slices.Equal(again, b) {
				t.Fatalf("written %q, read %q", again, b)
			}
		}
		return &m, err
	}
	if m, err := read(b); err != nil || m.NumDocs() != 20 {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := read(b[:n]); !errors.Is(err, corpus.ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	refused := 0
	for i := range b {
		for _, x := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(b)
			bad[i] ^= x
			var m corpus.Metadata
			if err := m.UnmarshalBinary(bad); err != nil {
				refused++
				continue
			}
			for d := range m.NumDocs() {
				for k := range m.Columns() {
					_ = m.Value(d, k).String()
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	if _, err := read(append(slices.Clone(b), 0)); err == nil {
		t.Error("a byte too many was read")
	}
}

func TestRepeatedIDs(t *testing.T) {
	ctx := context.Background()
	var b corpus.Builder
	for i, id := range []string{"x", "", "", "y"} {
		if err := b.AddTokens(id, "", []string{"w"}); err != nil {
			t.Fatal(i, err)
		}
	}
	err := b.AddTokens("x", "", []string{"v"})
	if !errors.Is(err, corpus.ErrRepeatedID) {
		t.Fatal(err)
	}
	wantError(t, err, `corpus: document 5: id "x" comes twice, first at document 1`)
	// A document that was refused does not take its id.
	if err := b.AddTokens("z", "", []string{""}); err == nil {
		t.Fatal("an empty token was taken")
	}
	if err := b.AddTokens("z", "", []string{"w"}); err != nil {
		t.Fatal(err)
	}
	c, err := b.Corpus()
	if err != nil || c.NumDocs() != 5 || c.NumWords() != 1 {
		t.Fatal(c, err)
	}
	if err := b.AddTokens("x", "", []string{"w"}); err != nil { // the builder is empty again
		t.Fatal(err)
	}

	ids := corpus.FileFromBytes("ids", []byte("a\n\nb\na\n"))
	for name, src := range map[string]corpus.Source{
		"ids:4: id \"a\" comes twice, first at ids:1":   corpus.UCI{Docword: str("4\n1\n1\n1 1 1\n"), IDs: ids},
		"data:3: id \"1\" comes twice, first at data:1": corpus.JSONL{In: str("{\"text\":\"aa\",\"id\":1}\n{\"text\":\"aa\"}\n{\"text\":\"aa\",\"id\":\"1\"}\n")},
		"data:5: id \"k\" comes twice, first at data:2": corpus.CSV{In: str("id,text\nk,\"one\ntwo\"\nl,x\nk,y\n"), Text: "text", ID: "id"},
	} {
		for how, read := range map[string]func() error{
			"read":   func() error { _, err := corpus.Read(ctx, src); return err },
			"stream": func() error { _, err := corpus.Read(ctx, wrapped{src}); return err },
			"encode": func() error { _, err := corpus.Encode(ctx, src); return err },
		} {
			if err := read(); !errors.Is(err, corpus.ErrRepeatedID) || strings.TrimPrefix(err.Error(), "corpus: ") != strings.TrimSpace(name) {
				t.Errorf("%s: %v, want %q", how, err, name)
			}
		}
	}
}
