package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

// fields are those of the tests' files, in which columns have other names.
var fields = []corpus.Field{
	{Column: corpus.Column{Name: "price", Kind: corpus.Number, Unit: "EUR"}, Missing: []string{"NA"}},
	{Column: corpus.Column{Name: "date", Kind: corpus.Time}, From: "when"},
	{Column: corpus.Column{Name: "author", Kind: corpus.Category}},
}

const fieldsDump = `["apples" "pears"]
a [x] apples:1 (number "-1.5") (time "2024-03-01") (category "Zoë")
b [y] apples:1 pears:1 (Kind(0) "") (time "2024-02-29T22:30:00.5Z") (category "9")
c [x] pears:1 (number "1e+06") (Kind(0) "") (Kind(0) "")
{"price" "number" "EUR" []}
{"date" "time" "" []}
{"author" "category" "" ["9" "Zo\u00eb"]}
`

func TestFields(t *testing.T) {
	rows := [][]string{
		{"id", "class", "text", "price", "when", "author"},
		{"a", "x", "apples", "-1.5", "2024-03-01", "Zoë"},
		{"b", "y", "apples pears", "NA", "2024-03-01 00:30:00.5+02:00", "9"},
		{"c", "x", "pears", " 1e6", "", ""},
	}
	table := func(comma string) string {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(strings.Join(r, comma) + "\n")
		}
		return b.String()
	}
	for name, src := range map[string]corpus.Source{
		"CSV":       corpus.CSV{In: str(table(",")), Text: "text", ID: "id", Label: "class", Fields: fields},
		"semicolon": corpus.CSV{In: str(table(";")), Text: "text", ID: "id", Label: "class", Fields: fields, Comma: ';'},
		"TSV":       corpus.CSV{In: corpus.FileFromBytes("x.tsv", []byte(table("\t"))), Text: "text", ID: "id", Label: "class", Fields: fields, NoQuotes: true},
		"JSONL": corpus.JSONL{In: str(`{"body": {"text": "apples", "meta": [{"price": -1.5}]}, "id": "a", "class": "x", "when": "2024-03-01T00:00:00Z", "author": "Zoë"}
{"body": {"text": "apples pears", "meta": [{"price": "NA"}]}, "id": "b", "class": "y", "when": "2024-03-01T00:30:00.5+02:00", "author": 9}
{"body": {"text": "pears", "meta": [{"price": 1e6}, 7]}, "id": "c", "class": "x", "author": null}
`), Text: "body.text", Label: "class", Fields: []corpus.Field{
			{Column: fields[0].Column, From: "body.meta.0.price", Missing: []string{"NA"}}, fields[1], fields[2],
		}},
	} {
		t.Run(name, func(t *testing.T) {
			wantDump(t, same(t, src), fieldsDump)
			e, err := corpus.Encode(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			wantDump(t, same(t, e), fieldsDump)
		})
	}
}

// A field whose own name has dots comes before one within another, and paths that lead
// nowhere are missing in a line, but not in all.
func TestJSONPaths(t *testing.T) {
	src := corpus.JSONL{In: str(`{"text": ["w"], "a.b": 1, "a": {"b": 2, "c.d": {"e": 3}}, "list": [[4, 5], {"x": 6}]}
{"text": ["w"], "a": {"b": 2}, "list": 3}
`)}
	for path, want := range map[string]string{"a.b": "1 2", "a.c.d.e": "3 ", "list.0.1": "5 ", "list.1.x": "6 "} {
		src.Fields = []corpus.Field{{Column: corpus.Column{Name: "n", Kind: corpus.Number}, From: path}}
		meta := same(t, src).Metadata()
		if got := fmt.Sprint(meta.Value(0, 0), " ", meta.Value(1, 0)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"a.x", "list.2", "list.-1", "list.x", "text.0.0", ".", "a.", ""} {
		src.Fields = []corpus.Field{{Column: corpus.Column{Name: "n", Kind: corpus.Number}, From: path}}
		_, err := corpus.Read(context.Background(), src)
		if path == "" {
			path = "n"
		}
		wantError(t, err, fmt.Sprintf("corpus: data: no line has a field %q", path))
	}
}

func TestTimes(t *testing.T) {
	for _, x := range []struct{ layout, text, want string }{
		{"", "2006-01-02", "2006-01-02"},
		{"", " 2006-01-02 03:04:05 ", "2006-01-02T03:04:05Z"},
		{"", "2006-01-02T03:04:05.25-01:00", "2006-01-02T04:04:05.25Z"},
		{"", "0002-01-02T03:04:05", "0002-01-02T03:04:05Z"},
		{"2006", "1789", "1789-01-01"},
		{"02/01/06", "03/04/05", "2005-04-03"},
		{corpus.UnixSeconds, "-1", "1969-12-31T23:59:59Z"},
		{corpus.UnixSeconds, "1.5e9", "2017-07-14T02:40:00Z"},
		{corpus.UnixSeconds, "-0.25", "1969-12-31T23:59:59.75Z"},
		{corpus.UnixMilliseconds, "1500000000123", "2017-07-14T02:40:00.123Z"},
		{corpus.UnixMilliseconds, "-1", "1969-12-31T23:59:59.999Z"},
		{"", "2006", "neither a date"},
		{"", "2006-02-30", "neither a date"},
		{"", "2006-01-02T03:04", "neither a date"},
		{"2006", "06", `is not a time of the layout "2006"`},
		{corpus.UnixSeconds, "NaN", "is not a number of seconds since 1970"},
		{corpus.UnixSeconds, "1e300", "is not a number of seconds"},
		{corpus.UnixMilliseconds, "soon", "is not a number of milliseconds"},
		{corpus.UnixSeconds, "253402300799.5", "9999-12-31T23:59:59.5Z"},
		{corpus.UnixSeconds, "-62167219200", "0000-01-01"},
		{corpus.UnixSeconds, "253402300800", "is not in the years 0 to 9999; if it is in milliseconds, set Field.Layout to UnixMilliseconds"},
		{corpus.UnixSeconds, "-62167219201", "is not in the years 0 to 9999"},
		{corpus.UnixSeconds, "1648000000000", "is not in the years 0 to 9999; if it is in milliseconds"},
		{corpus.UnixSeconds, "1.648e12", "is not in the years 0 to 9999; if it is in milliseconds"},
		{corpus.UnixSeconds, "-9223372036854775808", "is not in the years 0 to 9999"},
		{corpus.UnixMilliseconds, "1648000000000000", "is not in the years 0 to 9999; is it in microseconds or nanoseconds?"},
		{"", "9999-12-31T23:59:59-01:00", "is not in the years 0 to 9999"},
	} {
		src := corpus.CSV{In: str("t,d\nword," + x.text + "\n"), Text: "t", Fields: []corpus.Field{{Column: corpus.Column{Name: "d", Kind: corpus.Time}, Layout: x.layout}}}
		c, err := corpus.Read(context.Background(), src)
		if err != nil {
			wantError(t, err, "corpus: data:2: column \"d\": value \""+x.text+"\": ")
			wantError(t, err, x.want)
		} else if got := c.Metadata().Value(0, 0).String(); got != x.want {
			t.Errorf("%q as %q is %s, want %s", x.text, x.layout, got, x.want)
		}
	}
}

func TestFieldErrors(t *testing.T) {
	number := []corpus.Field{{Column: corpus.Column{Name: "n", Kind: corpus.Number}}}
	levels := []corpus.Field{{Column: corpus.Column{Name: "n", Kind: corpus.Category, Levels: []string{"low", "high"}}}}
	table := func(value string) corpus.File { return str("t,n\nw,\nw," + value + "\n") }
	lines := func(value string) corpus.File {
		return str("{\"text\":[\"w\"]}\n\n{\"text\":[\"w\"],\"n\":" + value + "}\n")
	}
	refuse(t, []badCase{
		{name: "word", src: corpus.CSV{In: table("few"), Text: "t", Fields: number}, line: 3, text: `column "n": value "few": is not a number; if it stands for a missing one, name it in Field.Missing`},
		{name: "NaN", src: corpus.CSV{In: table("NaN"), Text: "t", Fields: number}, line: 3, text: `value "NaN": is not a finite number`},
		{name: "huge", src: corpus.CSV{In: table("1e999"), Text: "t", Fields: number}, line: 3, text: "out of the range"},
		{name: "level", src: corpus.CSV{In: table("Low"), Text: "t", Fields: levels}, line: 3, text: `column "n": value "Low": is not among the Levels`},
		{name: "no column", src: corpus.CSV{In: table("1"), Text: "t", Fields: []corpus.Field{{Column: corpus.Column{Name: "m", Kind: corpus.Time}}}}, line: 1, text: `column "m" is not in the header, which has ["t" "n"]`},
		{name: "no kind", src: corpus.CSV{In: table("1"), Text: "t", Fields: []corpus.Field{{Column: corpus.Column{Name: "n"}}}}, text: `column 1, "n": Kind is 0; want Number, Time or Category`},
		{name: "bytes", src: corpus.CSV{In: table("\xff"), Text: "t", Fields: levels}, is: corpus.ErrInvalidUTF8, line: 3, text: "column 2"},
		{name: "JSON word", src: corpus.JSONL{In: lines(`"few"`), Fields: number}, line: 3, text: `column "n": value "few"`},
		{name: "JSON empty", src: corpus.JSONL{In: lines(`""`), Fields: number}, line: 3, text: `value "": is not a number`},
		{name: "JSON list", src: corpus.JSONL{In: lines(`[1,2]`), Fields: number}, line: 3, text: `value "[1,2]": holds several values; give the path of one`},
		{name: "JSON bool", src: corpus.JSONL{In: lines(`true`), Fields: number}, line: 3, text: `value "true": is not a number`},
		{name: "JSON level", src: corpus.JSONL{In: lines(`"x"`), Fields: levels}, line: 3, text: "is not among the Levels"},
		{name: "JSON twice", src: corpus.JSONL{In: lines(`1`), Fields: append(number, number...)}, text: `column 2, "n": another column has this name`},
	})
}

func TestDirFields(t *testing.T) {
	when := time.Date(2020, 5, 6, 7, 8, 9, 0, time.UTC)
	src := corpus.Dir{FS: fstest.MapFS{
		"2024/ann/one.txt": {Data: []byte("one"), ModTime: when},
		"2024/two.txt":     {Data: []byte("two"), ModTime: when},
		"three.txt":        {Data: []byte("three")},
	}, ModTime: "changed", Folders: []string{"year", "author"}}
	wantDump(t, same(t, src), `["one" "three" "two"]
2024/ann/one.txt one:1 (time "2020-05-06T07:08:09Z") (category "2024") (category "ann")
2024/two.txt two:1 (time "2020-05-06T07:08:09Z") (category "2024") (Kind(0) "")
three.txt three:1 (Kind(0) "") (Kind(0) "") (Kind(0) "")
{"changed" "time" "" []}
{"year" "category" "" ["2024"]}
{"author" "category" "" ["ann"]}
`)
}

func TestFromSeq(t *testing.T) {
	ctx := context.Background()
	desc := corpus.Description{Columns: []corpus.Column{{Name: "n", Kind: corpus.Number}}}
	docs := func(n *int) iter.Seq2[corpus.Document, error] {
		return func(yield func(corpus.Document, error) bool) {
			for ; *n > 0; *n-- {
				if !yield(corpus.Document{Tokens: []string{"w"}, Values: []corpus.Value{corpus.NumberOf(float64(*n))}}, nil) {
					return
				}
			}
		}
	}
	src := corpus.FromSeq(func(yield func(corpus.Document, error) bool) { n := 3; docs(&n)(yield) }, desc)
	wantDump(t, same(t, src), "[\"w\"]\n1 w:1 (number \"3\")\n2 w:1 (number \"2\")\n3 w:1 (number \"1\")\n{\"n\" \"number\" \"\" []}\n")

	n := 3
	src = corpus.FromSeq(docs(&n), desc)
	if _, err := corpus.Read(ctx, src); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Read(ctx, src); !errors.Is(err, corpus.ErrSourceChanged) {
		t.Errorf("a sequence that was gone through: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	n = 3
	if _, err := corpus.Read(canceled, corpus.FromSeq(docs(&n), desc)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err := corpus.Read(ctx, corpus.FromSeq(func(yield func(corpus.Document, error) bool) { yield(corpus.Document{}, io.ErrNoProgress) }, desc))
	if !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}
