package corpus_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
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
		"SQL": corpus.SQL{Query: query(t, rows[0], [][]driver.Value{
			{"a", "x", "apples", -1.5, time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), "Zoë"},
			{"b", "y", []byte("apples pears"), nil, "2024-03-01 00:30:00.5+02:00", int64(9)},
			{"c", "x", "pears", "1e6", nil, nil},
		}), Text: "text", ID: "id", Label: "class", Fields: fields},
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

func TestSQL(t *testing.T) {
	ctx := context.Background()
	src := corpus.SQL{Text: "t", Query: query(t, []string{"t", "n"}, [][]driver.Value{{"one", int64(1)}, {nil, int64(2)}, {"two", "x"}})}
	wantDump(t, same(t, src), "[\"one\" \"two\"]\n1 one:1\n2\n3 two:1\n")
	src.Fields = []corpus.Field{{Column: corpus.Column{Name: "n", Kind: corpus.Number}}}
	_, err := corpus.Read(ctx, src)
	wantError(t, err, `corpus: query:3: column "n": value "x": is not a number`)
	src.Fields[0].From = "m"
	_, err = corpus.Read(ctx, src)
	wantError(t, err, `corpus: query: column "m" is not in the result, which has ["t" "n"]`)
	src.Fields, src.ID, src.Query = nil, "n", query(t, []string{"t", "n"}, [][]driver.Value{{"one", int64(1)}, {"two", "1"}})
	_, err = corpus.Read(ctx, src)
	wantError(t, err, `corpus: query:2: id "1" comes twice, first at query:1`)
	src.Query = query(t, []string{"t", "n"}, [][]driver.Value{{"one", 1.5}})
	_, err = corpus.Read(ctx, src)
	wantError(t, err, `corpus: query:1: column "n": it holds a float64, not text`)
	src.Query = query(t, []string{"t", "n"}, [][]driver.Value{{"caf\xe9", "a"}})
	if _, err = corpus.Read(ctx, src); !errors.Is(err, corpus.ErrInvalidUTF8) {
		t.Error(err)
	}

	src = corpus.SQL{Text: "t", Query: query(t, []string{"t", "d"}, [][]driver.Value{{"one", time.Date(54193, 5, 1, 0, 0, 0, 0, time.UTC)}}), Fields: []corpus.Field{{Column: corpus.Column{Name: "d", Kind: corpus.Time}}}}
	_, err = corpus.Read(ctx, src)
	wantError(t, err, `corpus: query:1: column "d": value "54193-05-01": is not in the years 0 to 9999`)
	src = corpus.SQL{Text: "t", Query: func(context.Context) (*sql.Rows, error) { return nil, nil }}
	_, err = corpus.Read(ctx, src)
	wantError(t, err, "corpus: query: SQL.Query returned no rows and no error")
	src = corpus.SQL{Text: "t", Query: query(t, []string{"t", "n", "t"}, nil)}
	_, err = corpus.Read(ctx, src)
	wantError(t, err, `corpus: query: two columns are called "t", #1 and #3`)

	// Rows that are there already can be read once.
	rows, err := query(t, []string{"t"}, [][]driver.Value{{"one"}, {"two"}})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	src = corpus.SQL{Text: "t", Query: func(context.Context) (*sql.Rows, error) { return rows, nil }}
	c, err := corpus.Read(ctx, src)
	if err != nil || c.NumDocs() != 2 {
		t.Fatal(c, err)
	}
	_, err = corpus.Read(ctx, src)
	wantError(t, err, "corpus: query: sql: Rows are closed")

	// A pass that is left or cancelled closes its rows.
	canceled, cancel := context.WithCancel(ctx)
	defer cancel()
	src.Query = query(t, []string{"t"}, [][]driver.Value{{"one"}, {"two"}, {"three"}})
	for _, err := range src.Docs(canceled) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	for range src.Docs(ctx) {
		break
	}
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

// query returns what runs a query with this result, in a database of its own.
func query(t *testing.T, names []string, rows [][]driver.Value) func(context.Context) (*sql.Rows, error) {
	db := sql.OpenDB(fakeDB{names, rows})
	t.Cleanup(func() {
		if n := db.Stats().InUse; n > 0 {
			t.Errorf("%d connections are still in use", n)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(ctx context.Context) (*sql.Rows, error) { return db.QueryContext(ctx, "SELECT") }
}

// fakeDB is a driver of package database/sql whose queries all have one result.
type fakeDB struct {
	names []string
	rows  [][]driver.Value
}

func (f fakeDB) Connect(context.Context) (driver.Conn, error) { return f, nil }
func (f fakeDB) Driver() driver.Driver                        { return nil }
func (f fakeDB) Prepare(string) (driver.Stmt, error)          { return f, nil }
func (f fakeDB) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (f fakeDB) Close() error                                 { return nil }
func (f fakeDB) NumInput() int                                { return 0 }
func (f fakeDB) Exec([]driver.Value) (driver.Result, error)   { return nil, errors.ErrUnsupported }
func (f fakeDB) Query([]driver.Value) (driver.Rows, error)    { return &fakeRows{f, 0}, nil }

type fakeRows struct {
	fakeDB
	next int
}

func (r *fakeRows) Columns() []string { return r.names }

func (r *fakeRows) Next(dst []driver.Value) error {
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dst, r.rows[r.next])
	r.next++
	return nil
}
