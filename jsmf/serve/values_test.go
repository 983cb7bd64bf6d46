package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

var (
	issued  = corpus.Column{Name: "year", Kind: corpus.Number}
	day     = corpus.Column{Name: "day of issue", Kind: corpus.Time}
	section = corpus.Column{Name: "section", Kind: corpus.Category}
	columns = []corpus.Column{issued, day, section}
)

// valued makes documents with values: the year i of two thirds, a day of a half, one of three sections.
func valued(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		v := map[string]any{"section": []string{"sport", "<law>", `a"b\c`}[i%3]}
		if i%3 > 0 {
			v["year"] = i
		}
		if i%2 > 0 {
			v["day of issue"] = time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}
		enc, _ := json.Marshal(v)
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"values\":%s,\"text\":%q}\n", i, enc, t)
	}
	return b.String()
}

func bytesOf(t *testing.T, s *Service) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.held.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Values are stored, given back, and there after a start: from the log, and from a snapshot.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{Columns: columns})
	want(t, s, "POST", "/v1/documents", typeNDJSON, valued(texts(120, 1)), 200)
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"none","text":"x"}`, 200)
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"odd","text":"x","values":{"day of issue":"2024-02-29T23:59:59.123456789+14:00","year":-0.1e-300,"section":""}}`, 200)
	before := bytesOf(t, s)
	for round := range 3 {
		for id, want := range map[string]string{
			"d0":   `{"id":"d0","values":{"section":"sport"}}`,
			"d5":   `{"id":"d5","values":{"year":5,"day of issue":"2024-01-06","section":"a\"b\\c"}}`,
			"none": `{"id":"none"}`,
			"odd":  `{"id":"odd","values":{"year":-1e-301,"day of issue":"2024-02-29T09:59:59.123456789Z","section":""}}`,
		} {
			if got := strings.TrimSpace(wantBody(t, s, "/v1/documents/"+id)); got != want {
				t.Errorf("round %d: %s, want %s", round, got, want)
			}
		}
		if !bytes.Equal(bytesOf(t, s), before) {
			t.Errorf("round %d: other documents than before", round)
		}
		if got := wantBody(t, s, "/v1/documents"); !strings.Contains(got, `"columns":[{"name":"year","kind":"number"},{"name":"day of issue","kind":"time"},{"name":"section","kind":"category"}]`) {
			t.Errorf("round %d: %s", round, got)
		}
		if round == 1 {
			refit(t, s) // and a snapshot
		}
		closed(t, s)
		s = open(t, dir, Settings{}) // columns stay, named or not
	}
	closed(t, s)
}

func wantBody(t *testing.T, s *Service, path string) string {
	t.Helper()
	return want(t, s, "GET", path, "", "", 200)
}

// Columns come later, to documents of before, and neither go nor change.
func TestColumnsLater(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"old","text":"x"}`, 200)
	p := decode[problem](t, want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"a","text":"x","values":{"year":1}}`, 400))
	if p.Field != "values.year" || !strings.Contains(p.Detail, "-column") {
		t.Errorf("%+v", p)
	}
	closed(t, s)
	s = open(t, dir, Settings{Columns: []corpus.Column{issued}})
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"a","text":"x","values":{"year":1}}`, 200)
	closed(t, s)
	s = open(t, dir, Settings{Columns: []corpus.Column{section}})
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"b","text":"x","values":{"section":"s","year":2}}`, 200)
	closed(t, s)
	records := func() uint64 { return s.seq }
	for range 2 { // the second time there is nothing to add
		s = open(t, dir, Settings{Columns: []corpus.Column{section, issued}})
		if got := wantBody(t, s, "/v1/list?n=5"); got != `{"documents":[{"id":"old"},{"id":"a","values":{"year":1}},{"id":"b","values":{"year":2,"section":"s"}}]}`+"\n" || records() != 5 {
			t.Errorf("%d records: %s", records(), got)
		}
		closed(t, s)
	}
	for name, bad := range map[string][]corpus.Column{
		`the column "year" of the documents is a number, not a time`: {{Name: "year", Kind: corpus.Time}},
		"another column has this name":                               {section, section},
		"Kind is 0":                                                  {{Name: "x"}},
		"more than 64 bytes":                                         {{Name: strings.Repeat("x", 65), Kind: corpus.Number}},
		"control character":                                          {{Name: "a\nb", Kind: corpus.Number}},
		"want at most 64":                                            make([]corpus.Column, 65),
	} {
		if _, err := Open(context.Background(), dir, Settings{Columns: bad}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Columns are added to documents that a snapshot has.
func TestColumnsAfterSnapshot(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, s)
	closed(t, s)
	for range 2 {
		s = open(t, dir, Settings{Columns: columns})
		want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"new","text":"topicaworda","values":{"section":"s"}}`, 200)
		if got := wantBody(t, s, "/v1/documents/new"); got != `{"id":"new","values":{"section":"s"}}`+"\n" {
			t.Error(got)
		}
		refit(t, s)
		if got := get(t, s, "/v1/topics/1/documents?values.section=s").Documents; len(got) != 1 || got[0].ID != "new" {
			t.Errorf("%+v", got)
		}
		closed(t, s)
	}
}

func TestWrongValues(t *testing.T) {
	s := open(t, t.TempDir(), Settings{Columns: append(slices.Clone(columns), corpus.Column{Name: "of two", Kind: corpus.Category, Levels: []string{"yes", "no"}})})
	defer closed(t, s)
	long := strings.Repeat("9", 5000)
	for values, field := range map[string]string{
		`3`:                               "values",
		`[1]`:                             "values",
		`"x"`:                             "values",
		`{"yaer":1}`:                      "values.yaer",
		`{"year":"1"}`:                    "values.year",
		`{"year":1e999}`:                  "values.year",
		`{"year":` + long + `}`:           "values.year",
		`{"year":[1]}`:                    "values.year",
		`{"year":{"a":1}}`:                "values.year",
		`{"year":1,"year":2}`:             "values.year",
		`{"year":true}`:                   "values.year",
		`{"day of issue":20240101}`:       "values.day of issue",
		`{"day of issue":"yesterday"}`:    "values.day of issue",
		`{"day of issue":"2024-02-30"}`:   "values.day of issue",
		`{"day of issue":"` + long + `"}`: "values.day of issue",
		`{"day of issue":"0000-01-01T00:00:00+14:00"}`: "values.day of issue",
		`{"section":1}`:              "values.section",
		`{"section":"` + long + `"}`: "values.section",
		`{"section":"a\u0000"}`:      "values.section",
		`{"of two":"perhaps"}`:       "values.of two",
		`{"` + long + `":1}`:         "values." + strings.Repeat("9", 60) + "…",
		`{"section":"a"`:             "values.text",
		`{"year":nan}`:               "",
		`{"year":Infinity}`:          "",
		`{"year":null}`:              "",
	} {
		for _, path := range []string{"/v1/documents", "/v1/infer"} {
			if path == "/v1/infer" && s.current.Load() == nil {
				continue
			}
			w := call(t, s, "POST", path, typeNDJSON, `{"id":"a","values":`+values+`,"text":"x"}`)
			p := decode[problem](t, w.Body.String())
			if w.Code != 400 || p.Field != field || p.Line != 1 || w.Body.Len() > 500 || strings.Contains(p.Detail, "can be null") != strings.Contains(values, "null") {
				t.Errorf("%.60s: %d %.500s", values, w.Code, w.Body)
			}
		}
	}
	// All values together have a limit of their own, below which answers have memory.
	wide := open(t, t.TempDir(), Settings{Columns: manyColumns(maxColumns)})
	defer closed(t, wide)
	body := func(n int) string {
		v := map[string]string{}
		for i := range maxColumns {
			v[fmt.Sprint("c", i)] = strings.Repeat("é", n)
		}
		enc, _ := json.Marshal(v)
		return fmt.Sprintf(`{"id":"w%d","text":"x","values":%s}`, n, enc)
	}
	want(t, wide, "POST", "/v1/documents", typeJSON, body(26), 200)
	if p := decode[problem](t, want(t, wide, "POST", "/v1/documents", typeJSON, body(128), 400)); p.Field != "values" {
		t.Errorf("%+v", p)
	}
	var docs strings.Builder
	for i := range maxDocuments {
		fmt.Fprintln(&docs, strings.Replace(body(26), "w26", strings.Repeat("<", 250)+fmt.Sprint(i), 1))
	}
	want(t, wide, "POST", "/v1/documents", typeNDJSON, docs.String(), 200)
	if n := len(wantBody(t, wide, "/v1/list?n=100")); n < listBytes/4 || n > listBytes*3/4 {
		t.Errorf("the longest list has %d bytes", n)
	}
}

func manyColumns(n int) (out []corpus.Column) {
	for i := range n {
		out = append(out, corpus.Column{Name: fmt.Sprint("c", i), Kind: corpus.Category})
	}
	return out
}

// dayValue reads a time as the service writes it.
type dayValue struct{ time.Time }

func (d *dayValue) UnmarshalJSON(b []byte) (err error) {
	d.Time, _, err = parseTime(strings.Trim(string(b), `"`))
	return err
}

// Ends of times hold to the first and the last that there are.
func TestTimeEnds(t *testing.T) {
	day := func(s string) corpus.Value {
		v, err := parseValue(corpus.Column{Name: "day", Kind: corpus.Time}, []byte(`"`+s+`"`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		ends string
		want map[string]bool
	}{
		{"..0001-01-01", map[string]bool{"0000-12-31": true, "0001-01-01": false, "2024-01-01": false}},
		{"0001-01-01..", map[string]bool{"0000-12-31": false, "0001-01-01": true, "9999-12-31": true}},
		{"..", map[string]bool{"0000-01-01": true, "9999-12-31T23:59:59.999999999Z": true}},
		{"..2000-01-01", map[string]bool{"0000-01-01": true, "2000-01-01": false}},
		{"9999-12-31", map[string]bool{"9999-12-30": false, "9999-12-31T23:59:59.999999999Z": true}},
	} {
		got, p := parseCondition([]corpus.Column{{Name: "day", Kind: corpus.Time}}, "day", []string{c.ends})
		if p != nil {
			t.Fatal(p)
		}
		for s, want := range c.want {
			if holds := got.holds(day(s)); holds != want {
				t.Errorf("%s: %v for %s, want %v", c.ends, holds, s, want)
			}
		}
	}
}

// Pages of any length have the documents that a plain look at all of them finds.
func TestList(t *testing.T) {
	s := start(t, Settings{Columns: columns})
	for i := range 200 { // those of start have no values
		want(t, s, "DELETE", fmt.Sprintf("/v1/documents/d%d", i), "", "", 200)
	}
	want(t, s, "POST", "/v1/documents", typeNDJSON, valued(texts(120, 1)), 200)
	refit(t, s)
	type values struct {
		Year    *float64
		Day     *dayValue `json:"day of issue"`
		Section string
	}
	pages := func(n int, query string) (ids []string) {
		t.Helper()
		from := ""
		for {
			a := decode[struct {
				Documents []struct{ ID string }
				Next      string
			}](t, wantBody(t, s, fmt.Sprintf("/v1/list?n=%d%s%s", n, query, from)))
			for _, d := range a.Documents {
				ids = append(ids, d.ID)
			}
			if len(a.Documents) != n && a.Next != "" || len(a.Documents) == 0 && from != "" {
				t.Fatalf("a page of %d, and another after it", len(a.Documents))
			}
			if a.Next == "" {
				return ids
			}
			from = "&from=" + a.Next
		}
	}
	date := func(d int) time.Time { return time.Date(2024, 1, d, 0, 0, 0, 0, time.UTC) }
	for query, keep := range map[string]func(v values) bool{
		"":                      func(values) bool { return true },
		"&values.section=sport": func(v values) bool { return v.Section == "sport" },
		"&values.section=sport&values.section=" + url.QueryEscape(`a"b\c`): func(v values) bool { return v.Section != "<law>" },
		"&values.section=":                             func(v values) bool { return false },
		"&values.year=7":                               func(v values) bool { return v.Year != nil && *v.Year == 7 },
		"&values.year=10..20.5":                        func(v values) bool { return v.Year != nil && *v.Year >= 10 && *v.Year <= 20 },
		"&values.year=..20":                            func(v values) bool { return v.Year != nil && *v.Year <= 20 },
		"&values.year=20..":                            func(v values) bool { return v.Year != nil && *v.Year >= 20 },
		"&values.year=..":                              func(v values) bool { return v.Year != nil },
		"&values.year=30..10":                          func(v values) bool { return false },
		"&values.day+of+issue=2024-01-06":              func(v values) bool { return v.Day != nil && v.Day.Equal(date(6)) },
		"&values.day+of+issue=2024-01-06T00:00:00Z":    func(v values) bool { return v.Day != nil && v.Day.Equal(date(6)) },
		"&values.day+of+issue=2024-01-06T00:00:01Z":    func(v values) bool { return false },
		"&values.day+of+issue=2024-01-06..2024-01-20":  func(v values) bool { return v.Day != nil && !v.Day.Before(date(6)) && v.Day.Before(date(20)) },
		"&values.day+of+issue=2024-01-06..":            func(v values) bool { return v.Day != nil && !v.Day.Before(date(6)) },
		"&values.day+of+issue=..2024-01-06":            func(v values) bool { return v.Day != nil && v.Day.Before(date(6)) },
		"&values.day+of+issue=..0001-01-01":            func(v values) bool { return false },
		"&values.day+of+issue=0001-01-01..":            func(v values) bool { return v.Day != nil },
		"&values.day+of+issue=..&values.section=sport": func(v values) bool { return v.Day != nil && v.Section == "sport" },
	} {
		var plain []string
		for i := range 120 {
			d := decode[struct{ Values values }](t, wantBody(t, s, fmt.Sprintf("/v1/documents/d%d", i)))
			if keep(d.Values) {
				plain = append(plain, fmt.Sprintf("d%d", i))
			}
		}
		for _, n := range []int{1, 7, 100} {
			if got := pages(n, query); !slices.Equal(got, plain) {
				t.Errorf("%s by %d: %q, want %q", query, n, got, plain)
			}
		}
		// So do searches, in their order, and they have the values.
		found := get(t, s, "/v1/topics/1/documents?n=100"+query).Documents
		for i, f := range found {
			if !slices.Contains(plain, f.ID) || i > 0 && f.Score > found[i-1].Score || f.Values == nil {
				t.Errorf("%s: found %+v", query, f)
			}
		}
		if len(found) != min(len(plain), 100) {
			t.Errorf("%s: %d documents are found, want %d", query, len(found), len(plain))
		}
	}
	for query, field := range map[string]string{
		"values.x=1": "values.x", "values.year=": "values.year", "values.year=x..1": "values.year", "values.year=1..nan": "values.year", "values.year=1&values.year=2": "values.year",
		"values.day+of+issue=": "values.day of issue", "values.day+of+issue=1..": "values.day of issue", "values.day+of+issue=..1": "values.day of issue",
		"from=x": "from", "from=": "from", "year=1": "year", "values=1": "values", "values.year=" + strings.Repeat("x", 1000): "values.year",
	} {
		w := call(t, s, "GET", "/v1/list?"+query, "", "")
		if p := decode[problem](t, w.Body.String()); w.Code != 400 || p.Field != field || w.Body.Len() > 500 {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	for _, from := range []int64{math.MinInt64, math.MaxInt64} {
		wantBody(t, s, fmt.Sprintf("/v1/list?from=%d", from))
	}
	if p := decode[problem](t, want(t, s, "GET", "/v1/topics/1/documents?from=1", "", "", 400)); p.Field != "from" {
		t.Errorf("%+v", p)
	}
	want(t, s, "GET", "/v1/documents/d3/similar?values.section=sport", "", "", 200)
	want(t, s, "POST", "/v1/similar?values.section=sport", typeJSON, `{"text":"topicaworda","values":{"year":3}}`, 200)
}

// A list waits for its turn no longer than others, and has its memory before.
func TestListTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir(), Settings{Limits: Limits{Inferring: 1}})
		defer closed(t, s)
		s.work <- struct{}{}
		begun := time.Now()
		want(t, s, "GET", "/v1/list", "", "", 503)
		if took := time.Since(begun); took != s.cfg.Limits.Wait || s.bodies.taken != 0 {
			t.Errorf("refused after %v, with %d bytes", took, s.bodies.taken)
		}
		<-s.work
		s.bodies.take("a", s.bodies.most/2)
		s.bodies.take("b", s.bodies.most/2)
		want(t, s, "GET", "/v1/list", "", "", 503)
	})
}
