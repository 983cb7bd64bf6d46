package serve

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// grouped makes documents whose values go with their first words: the section is the topic
// that most of them are of, and the year grows with it.
func grouped(n int) string {
	var b strings.Builder
	for i, t := range texts(n, 1) {
		count := make([]int, 5)
		for w := range strings.FieldsSeq(t) {
			count[w[len("topic")]-'a']++
		}
		most := 0
		for k, c := range count {
			if c > count[most] {
				most = k
			}
		}
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q,\"values\":{\"section\":\"%c\",\"year\":%d,\"day of issue\":\"2024-%02d-01\"}}\n", i, t, 'a'+most, 2000+2*most+i%2, 1+i%12)
	}
	return b.String()
}

type effectsJSON struct {
	columnStatus
	Unit       string
	Level      float64
	Replicates int
	Topics     []effectTopic
	Rows       []effectRow
}

// What topics depend on is what package effects measures, after a refit and after a start.
func TestEffects(t *testing.T) {
	testutil.NotWithRace(t) // TestStudyLimits measures effects while requests come in, too
	dir := t.TempDir()
	odd := corpus.Column{Name: "a/b ?", Kind: corpus.Category}
	s := open(t, dir, Settings{Columns: append(columns, odd)})
	want(t, s, "GET", "/v1/effects", "", "", 503)
	want(t, s, "POST", "/v1/documents", typeNDJSON, grouped(200)+`{"id":"none","text":"topicaworda topicaworda"}`, 200)
	refit(t, s)
	measured := map[string]*effects.Effects{}
	for range 2 {
		docs, err := s.held.Snapshot().Corpus()
		if err != nil {
			t.Fatal(err)
		}
		for name, term := range map[string]effects.Term{"section": effects.Category("section"), "year": effects.Number("year"), "day of issue": effects.Time("day of issue", effects.Week)} {
			e := measured[name]
			if e == nil {
				if e, err = (effects.Study{Terms: []effects.Term{term}, Bootstrap: s.cfg.bootstrap}).Run(context.Background(), jsmf.New(s.cfg.Topics), s.current.Load().model, docs); err != nil {
					t.Fatal(err)
				}
				measured[name] = e
			}
			path := "/v1/effects/" + strings.ReplaceAll(name, " ", "%20")
			got := decode[effectsJSON](t, wantBody(t, s, path))
			rows := e.Rows()
			if got.State != "done" || got.Name != name || got.Documents != 200 || got.Missing != 1 || got.Level != 0.95 || got.Replicates != 12 || got.Unit != e.Terms[0].Unit || len(got.Rows) != len(rows) || len(got.Topics) != 5 {
				t.Fatalf("%s: %+v", name, got.columnStatus)
			}
			for i, r := range got.Rows {
				x := rows[i]
				if r.Point != x.Point || got.Topics[r.Topic].Name != x.Quantity || r.Measure != x.Measure || r.Documents != x.Documents || r.Few != x.Few || r.Incomplete != x.Incomplete || !same(r.Value, x.Value) || !same(r.Low, x.Low) || !same(r.High, x.High) {
					t.Fatalf("%s: row %d is %+v, want %+v", name, i, r, x)
				}
			}
			one := decode[effectsJSON](t, wantBody(t, s, path+"?topic=3"))
			if len(one.Rows) != len(rows)/5 || one.Rows[0].Topic != 3 || len(one.Topics) != 1 || one.Topics[0].Name != got.Topics[3].Name {
				t.Errorf("%s of topic 3: %+v", name, one)
			}
			var b bytes.Buffer
			if err := e.WriteCSV(&b); err != nil {
				t.Fatal(err)
			}
			if got := wantBody(t, s, path+"?format=csv"); got != b.String() {
				t.Errorf("%s: another table", name)
			}
			if table, err := csv.NewReader(&b).ReadAll(); err != nil || len(table) != len(rows)+1 {
				t.Errorf("%s: %d lines, %v", name, len(table), err)
			}
		}
		// Documents of a section have more of their topic, for certain.
		m := s.current.Load()
		for _, r := range decode[effectsJSON](t, wantBody(t, s, "/v1/effects/section")).Rows {
			if own := strings.HasPrefix(m.labels[r.Topic][0], "topic"+r.Point); r.Measure == "difference" && own && (*r.Low < 0.3 || *r.Value < *r.Low || *r.High < *r.Value) {
				t.Errorf("section %s: %+v", r.Point, r)
			}
		}
		if p := decode[problem](t, want(t, s, "GET", "/v1/effects/a%2Fb%20%3F", "", "", 409)); !strings.Contains(p.Detail, "no two documents have different values") {
			t.Errorf("%+v", p)
		}
		// The report shows the time, of the columns, and the documents.
		for range 2 { // also when it has been made
			if page := want(t, s, "GET", "/v1/report", "", "", 200); !strings.Contains(page, "day of issue") || !strings.Contains(page, "d199") {
				t.Error("the report lacks effects or documents")
			}
		}
		list := decode[struct{ Columns []columnStatus }](t, wantBody(t, s, "/v1/effects")).Columns
		if len(list) != 4 || list[0].State != "done" || list[3].State != "none" || list[3].Why == "" {
			t.Errorf("%+v", list)
		}
		closed(t, s)
		s = open(t, dir, Settings{})
		s.wg.Wait()
	}
	defer closed(t, s)
	long := strings.Repeat("x", 1000)
	for path, status := range map[string]int{"x": 404, long: 404, "section?topic=5": 404, "section?topic=-1": 404, "section?topic=x": 400, "section?topic=1&topic=2": 400,
		"section?format=xml": 400, "section?format=csv&topic=1": 400, "section?n=1": 400, "section?format=" + long: 400, "section?%zz": 400} {
		if w := call(t, s, "GET", "/v1/effects/"+path, "", ""); w.Code != status || w.Body.Len() > 500 {
			t.Errorf("%.60s: %d %.300s", path, w.Code, w.Body)
		}
	}
}

func same(got *float64, want float64) bool {
	return got == nil && math.IsNaN(want) || got != nil && *got == want
}

// A study has limits of time and memory; a refit stops it, and another follows.
func TestStudyLimits(t *testing.T) {
	s := open(t, t.TempDir(), Settings{Columns: columns, Limits: Limits{Effects: 1}})
	defer closed(t, s)
	want(t, s, "POST", "/v1/documents", typeNDJSON, grouped(200), 200)
	refit(t, s)
	why := func(part string) {
		t.Helper()
		for _, name := range []string{"section", "year"} {
			if p := decode[problem](t, want(t, s, "GET", "/v1/effects/"+name, "", "", 409)); !strings.Contains(p.Detail, part) {
				t.Errorf("%s: %s, want %q", name, p.Detail, part)
			}
		}
	}
	why("not done after 1ns")
	again := func() {
		s.current.Load().study = newStudy(s.columns)
		s.startStudy()
		s.wg.Wait()
	}
	s.cfg.Limits.Effects, s.cfg.Limits.Fit = time.Hour, 1000
	again()
	why("bytes of memory, more than 1000")
	s.cfg.Limits.Fit = 1 << 30

	// One waits for a refit, and shows so.
	s.fitting <- struct{}{}
	s.current.Load().study = newStudy(s.columns)
	s.startStudy()
	if p := decode[problem](t, want(t, s, "GET", "/v1/effects/section", "", "", 503)); !strings.Contains(p.Detail, "still being measured") {
		t.Errorf("%+v", p)
	}
	if got := wantBody(t, s, "/v1/effects"); !strings.Contains(got, `"state":"waiting"`) {
		t.Error(got)
	}
	<-s.fitting
	s.wg.Wait()
	if n := s.current.Load().study.bytes(); n < 1000 || n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	want(t, s, "GET", "/v1/effects/section", "", "", 200)

	// A refit stops a study, and the study of its model follows.
	old := s.current.Load()
	old.study = newStudy(s.columns)
	s.fitting <- struct{}{} // so that it has not begun
	s.startStudy()
	want(t, s, "POST", "/v1/refit", "", "", 202)
	<-s.fitting
	s.wg.Wait()
	if s.current.Load().name.Version != 2 || len(s.fitting) > 0 {
		t.Errorf("%+v", s.refitStatus())
	}
	want(t, s, "GET", "/v1/effects/section", "", "", 200)
	for _, c := range old.study.all() {
		if c.done() {
			t.Errorf("%s was studied by the model before", c.column.Name)
		}
	}
	// Where a refit fails the study of the model before goes on.
	s.current.Load().study = newStudy(s.columns)
	s.cfg.Topics = 100_000
	want(t, s, "POST", "/v1/refit", "", "", 202)
	s.wg.Wait()
	if st := s.refitStatus(); st.State != refitFailed {
		t.Errorf("%+v", st)
	}
	want(t, s, "GET", "/v1/effects/section", "", "", 200)

	// A model that was not made by passes.
	docs, err := s.held.Snapshot().Corpus()
	if err != nil {
		t.Fatal(err)
	}
	published, err := jsmf.Published(5).Fit(context.Background(), docs)
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), Settings{Columns: columns})
	defer closed(t, other)
	want(t, other, "POST", "/v1/documents", typeNDJSON, grouped(200), 200)
	if done, err := other.Import(context.Background(), published); !done || err != nil {
		t.Fatal(done, err)
	}
	other.wg.Wait()
	other.startStudy()
	other.wg.Wait()
	if p := decode[problem](t, want(t, other, "GET", "/v1/effects/section", "", "", 409)); !strings.Contains(p.Detail, "passes") {
		t.Errorf("%+v", p)
	}
}

// Answers with effects have their memory before they are made, and take no more.
func TestEffectsMemory(t *testing.T) {
	testutil.NotWithRace(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir(), Settings{Columns: columns})
		defer closed(t, s)
		want(t, s, "POST", "/v1/documents", typeNDJSON, grouped(200), 200)
		refit(t, s)
		c := s.current.Load().study.all()[2]
		most := effectBytes * rowsOf(c.found)
		if n := int64(len(wantBody(t, s, "/v1/effects/section"))); 3*n > most {
			t.Errorf("the answer has %d bytes, and %d are taken for it", n, most)
		}
		for _, client := range []string{"a", "b"} {
			if ok, _ := s.bodies.take(client, s.bodies.most/2-most/2+1); !ok {
				t.Fatal("no memory")
			}
		}
		for _, query := range []string{"", "?format=csv"} {
			begun := time.Now()
			want(t, s, "GET", "/v1/effects/section"+query, "", "", 503)
			if took := time.Since(begun); took != s.cfg.Limits.Wait {
				t.Errorf("refused after %v", took)
			}
		}
	})
}

// Which columns can explain topics, and how.
func TestTerms(t *testing.T) {
	const d = 24 * time.Hour
	for span, want := range map[time.Duration]effects.Bins{time.Second: effects.Day, 58 * d: effects.Day, 60 * d: effects.Week, 400 * d: effects.Week, 500 * d: effects.Month,
		1600 * d: effects.Month, 1700 * d: effects.Quarter, 5000 * d: effects.Quarter, 5400 * d: effects.Year, 20_000 * d: effects.Year, 30_000 * d: effects.Equal(equalBins)} {
		if got := binsOf(span); got != want {
			t.Errorf("%v: %v, want %v", span, got, want)
		}
	}
	all := []corpus.Column{issued, day, section}
	rows := func(n int, v func(i int) []corpus.Value) *corpus.Metadata {
		t.Helper()
		var docs [][]corpus.Value
		for i := range n {
			docs = append(docs, v(i))
		}
		m, err := corpus.NewMetadata(all, docs)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	value := func(i int) []corpus.Value {
		return []corpus.Value{corpus.NumberOf(float64(i)), corpus.TimeOf(time.Unix(int64(i), 0)), corpus.CategoryOf(fmt.Sprint(i))}
	}
	for name, c := range map[string]struct {
		meta *corpus.Metadata
		want string
	}{
		"none":     {rows(3, func(int) []corpus.Value { return nil }), "no two documents"},
		"one":      {rows(3, func(i int) []corpus.Value { return value(7) }), "no two documents"},
		"two":      {rows(2, value), ""},
		"too many": {rows(maxLevels+1, value), "101 categories"},
	} {
		for _, col := range all {
			_, err := termOf(c.meta, col)
			if want := c.want; name == "too many" && col.Kind != corpus.Category {
				want = ""
				if err != nil {
					t.Errorf("%s, %s: %v", name, col.Name, err)
				}
			} else if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v, want %q", name, col.Name, err, want)
			}
		}
	}
}
