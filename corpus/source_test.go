package corpus_test

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// described is a source of its own description.
type described struct {
	listed
	desc corpus.Description
}

func (s described) Describe(context.Context) (corpus.Description, error) { return s.desc, nil }

// known is a source of which everything is known that a Description can say. A new field
// belongs here, and into the tests that ask what becomes of it.
func known() described {
	value := func(x float64) []corpus.Value { return []corpus.Value{corpus.NumberOf(x)} }
	return described{
		listed{{ID: "a", Words: []int32{0, 1}, Values: value(1)}, {ID: "b", Words: []int32{2}, Values: value(2)}, {ID: "a", Words: []int32{1, 2}, Values: value(3)}},
		corpus.Description{
			Documents: 3, Vocabulary: []string{"nets", "net", "ant"}, Unsorted: true,
			Columns: []corpus.Column{{Name: "stars", Kind: corpus.Number}},
			Text:    &text.Setting{Version: 1, MinLength: 2, MaxLength: 12}, Stemmer: endings{},
			Weights: []float64{1, 2, 3}, Copies: true, Remote: true,
			DroppedDocuments: []corpus.Dropped{{Reason: "not readable", Count: 1, Names: []string{"c"}}},
		},
	}
}

// sameDescription compares two descriptions field by field.
func sameDescription(t *testing.T, got, want corpus.Description) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range w.NumField() {
		if g, w := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(g, w) {
			t.Errorf("%s is %v, want %v", reflect.TypeOf(want).Field(i).Name, g, w)
		}
	}
}

func describe(t *testing.T, src corpus.Source) corpus.Description {
	t.Helper()
	desc, err := src.Describe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return desc
}

// first yields the first document of another source.
type first struct{ corpus.Source }

func (s first) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for d, err := range s.Source.Docs(ctx) {
			yield(d, err)
			return
		}
	}
}

// firstEncoded has all methods of an Encoded but Docs.
type firstEncoded struct{ *corpus.Encoded }

func (s firstEncoded) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return first{s.Encoded}.Docs(ctx)
}

// What a wrapper changes is what is read, also where there is a faster way to the documents of
// what it wraps.
func TestWrapperIsRead(t *testing.T) {
	ctx := context.Background()
	e, err := corpus.Encode(ctx, listed{{Tokens: []string{"a", "b"}}, {Tokens: []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]corpus.Source{
		"Encoded": firstEncoded{e},
		"UCI":     first{corpus.UCI{Docword: str("2\n2\n3\n1 1 1\n1 2 1\n2 2 1\n"), Vocab: vocabOf("a", "b")}},
	} {
		c, err := corpus.Read(ctx, src)
		if err != nil {
			t.Fatal(err)
		}
		if c.NumDocs() != 1 {
			t.Errorf("%s: %d documents, want the first", name, c.NumDocs())
		}
	}
}

// A reader of a user's own names the places of its documents, and errors do.
func TestPlaces(t *testing.T) {
	ctx := context.Background()
	stars := []corpus.Column{{Name: "stars", Kind: corpus.Number}}
	at := func(line int, d corpus.Document) corpus.Document {
		d.Place = corpus.Place{File: "mine.xml", Line: line}
		return d
	}
	good := at(2, corpus.Document{ID: "x", Tokens: []string{"ant"}})
	for name, x := range map[string]struct {
		bad  corpus.Document
		want string
	}{
		"an id that comes twice": {at(7, corpus.Document{ID: "x"}), `corpus: mine.xml:7: id "x" comes twice, first at mine.xml:2`},
		"a value":                {at(7, corpus.Document{Values: []corpus.Value{corpus.CategoryOf("many")}}), `corpus: mine.xml:7: column "stars": value "many": is a category, want a number`},
		"a token":                {at(7, corpus.Document{ID: "y", Tokens: []string{"a", ""}}), "corpus: mine.xml:7: document y: "},
		"a count":                {at(7, corpus.Document{Tokens: []string{"a"}, Counts: []int32{-1}}), `corpus: mine.xml:7: count -1 of word "a" in document 2 `},
		"a number":               {at(0, corpus.Document{Words: []int32{1}}), "corpus: mine.xml: document 2: "},
		"no place":               {corpus.Document{ID: "x"}, `corpus: document 2: id "x" comes twice, first at mine.xml:2`},
	} {
		t.Run(name, func(t *testing.T) {
			src := described{listed{good, x.bad}, corpus.Description{Columns: stars}}
			_, read := corpus.Read(ctx, src)
			_, encode := corpus.Encode(ctx, src)
			for how, err := range map[string]error{"Read": read, "Encode": encode} {
				if err == nil || !strings.HasPrefix(err.Error(), x.want) {
					t.Errorf("%s: %v, want %s", how, err, x.want)
				}
			}
		})
	}
}
