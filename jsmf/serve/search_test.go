package serve

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/jsmf/find"
)

// sameDocuments compares what was found with what package find says.
func sameDocuments(t *testing.T, what string, got []foundAnswer, want []find.Match) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d documents, want %d", what, len(got), len(want))
	}
	for i, m := range want {
		if got[i].ID != m.Name || got[i].Score != m.Score {
			t.Errorf("%s: document %d is %+v, want %+v", what, i, got[i], m)
		}
	}
}

// documents returns what a fresh index of all that is held finds.
func documents(t *testing.T, s *Service) *find.Documents {
	t.Helper()
	m := s.current.Load().model
	c, err := s.held.Snapshot().Corpus()
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Transform(context.Background(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	d, err := find.NewDocuments(m, w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func get(t *testing.T, s *Service, path string) documentsAnswer {
	t.Helper()
	return decode[documentsAnswer](t, want(t, s, "GET", path, "", "", 200))
}

func TestSimilar(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	all := texts(200, 1)
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(all, 0)+"{\"id\":\"strange\",\"text\":\"xyzzy\"}\n", 200)
	p := decode[problem](t, want(t, s, "GET", "/v1/documents/d3/similar", "", "", 503))
	if !strings.Contains(p.Detail, "no model yet") {
		t.Errorf("%+v", p)
	}
	refit(t, s)
	check := func() {
		t.Helper()
		docs := documents(t, s)
		m, err := docs.SimilarDocuments("d3", 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := get(t, s, "/v1/documents/d3/similar")
		sameDocuments(t, "like d3", a.Documents, m)
		if a.ID != "d3" || a.Model != s.current.Load().name {
			t.Errorf("%+v", a)
		}
		if m, err = docs.TopDocuments(2, 100, nil); err != nil {
			t.Fatal(err)
		}
		a = get(t, s, "/v1/topics/2/documents?n=100")
		sameDocuments(t, "of topic 2", a.Documents, m)
		if *a.Topic != 2 || a.Name != s.current.Load().model.Name(2) {
			t.Errorf("%+v", a)
		}
		// A document that is sent finds itself first, and then what it finds when it is stored.
		sent := decode[documentsAnswer](t, want(t, s, "POST", "/v1/similar?n=11", typeJSON, fmt.Sprintf(`{"id":"x","text":%q}`, all[3]), 200))
		if m, err = docs.SimilarDocuments("d3", 10, nil); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(sent.Documents, func(f foundAnswer) bool { return f.ID == "d3" })
		if i < 0 || sent.Documents[i].Score < 1-1e-12 || sent.ID != "x" || *sent.Tokens != 40 {
			t.Fatalf("%+v", sent)
		}
		for i, f := range slices.Delete(sent.Documents, i, i+1) { // the last bits depend on the place of a document among others
			if math.Abs(f.Score-m[i].Score) > 1e-6 {
				t.Errorf("sent: document %d is %+v, stored: %+v", i, f, m[i])
			}
		}
	}
	check()
	for path, detail := range map[string]string{
		"/v1/documents/d3/similar?n=0":                         "want a number from 1 to 100",
		"/v1/documents/d3/similar?n=101":                       "want a number from 1 to 100",
		"/v1/documents/d3/similar?n=1&n=2":                     "given 2 times",
		"/v1/topics/1/documents?m=" + strings.Repeat("x", 500): "no such parameter",
		"/v1/topics/1/documents?%zz":                           "cannot be read",
		"/v1/topics/1/documents?a=1;b":                         "cannot be read",
	} {
		if p := decode[problem](t, want(t, s, "GET", path, "", "", 400)); !strings.Contains(p.Detail, detail) {
			t.Errorf("%s: %+v", path, p)
		}
	}
	want(t, s, "GET", "/v1/documents/nobody/similar", "", "", 404)
	want(t, s, "GET", "/v1/topics/5/documents", "", "", 404)
	if p := decode[problem](t, want(t, s, "GET", "/v1/documents/strange/similar", "", "", 409)); !strings.Contains(p.Detail, "knows no word") {
		t.Errorf("%+v", p)
	}
	if a := decode[documentsAnswer](t, want(t, s, "POST", "/v1/similar", typeJSON, `{"text":"xyzzy"}`, 200)); len(a.Documents) != 0 || a.Status != "no tokens" {
		t.Errorf("without known words: %+v", a)
	}
	// After a start it is the same.
	closed(t, s)
	s = open(t, dir, Settings{})
	s.wg.Wait()
	check()

	// Documents that have gone are not found, nor others that have their ids since.
	first := get(t, s, "/v1/documents/d3/similar?n=3").Documents
	want(t, s, "DELETE", "/v1/documents/"+first[0].ID, "", "", 200)
	want(t, s, "DELETE", "/v1/documents/"+first[1].ID, "", "", 200)
	want(t, s, "POST", "/v1/documents", typeJSON, fmt.Sprintf(`{"id":%q,"text":%q}`, first[1].ID, all[3]), 200)
	again := get(t, s, "/v1/documents/d3/similar?n=10").Documents
	if len(again) != 10 || again[0].ID != first[2].ID {
		t.Errorf("after two have gone: %v, before %v", again, first)
	}
	for _, f := range again {
		if f.ID == first[0].ID || f.ID == first[1].ID {
			t.Errorf("%s is found", f.ID)
		}
	}
	want(t, s, "GET", "/v1/documents/"+first[0].ID+"/similar", "", "", 404)
	if p := decode[problem](t, want(t, s, "GET", "/v1/documents/"+first[1].ID+"/similar", "", "", 409)); !strings.Contains(p.Detail, "a refit takes it in") {
		t.Errorf("%+v", p)
	}
	refit(t, s)
	check()
	closed(t, s)
}

// While the documents are being read for a model, and where they are too many, the rest
// of the service answers.
func TestWithoutIndex(t *testing.T) {
	s := start(t, Settings{})
	m := *s.current.Load()
	m.index = nil
	s.current.Store(&m)
	if p := decode[problem](t, want(t, s, "GET", "/v1/topics/1/documents", "", "", 503)); !strings.Contains(p.Detail, "still being read") {
		t.Errorf("%+v", p)
	}
	s.startIndex()
	s.wg.Wait()
	if s.current.Load().index == nil {
		t.Fatal("there is no index")
	}
	// It is made within the limits, and counts.
	x := s.current.Load().index
	if most := s.held.Stats().Docs * (indexBytes + 5*indexTopic + 4); x.size() > int64(most) || x.size() < int64(most)*9/10 {
		t.Errorf("%d bytes, want nearly %d", x.size(), most)
	}
	s.cfg.Limits.Memory = s.held.Stats().Bytes + x.size()
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"one more","text":"a"}`, 507)
	s.cfg.Limits.Memory--
	refit(t, s)
	want(t, s, "GET", "/v1/topics/1/documents", "", "", 507)
	want(t, s, "POST", "/v1/similar", typeJSON, `{"text":"topicaworda"}`, 507)
	want(t, s, "POST", "/v1/infer", typeJSON, `{"text":"topicaworda"}`, 200)
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"one more","text":"a"}`, 200)
	s.cfg.Limits.Memory = 1 << 30

	// Documents without a word of the vocabulary are none to find.
	for i := range 200 {
		want(t, s, "DELETE", fmt.Sprintf("/v1/documents/d%d", i), "", "", 200)
	}
	s.startIndex()
	s.wg.Wait()
	if a := get(t, s, "/v1/topics/1/documents"); len(a.Documents) != 0 {
		t.Errorf("%+v", a)
	}
}

// Answers that list documents have their memory before they are made.
func TestListMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Settings{})
		half := s.cfg.Limits.Work / 8
		for _, client := range []string{"a", "b"} {
			if ok, _ := s.bodies.take(client, half-listBytes/2); !ok {
				t.Fatal("no memory")
			}
		}
		for _, path := range []string{"/v1/documents/d3/similar", "/v1/topics/1/documents"} {
			begun := time.Now()
			want(t, s, "GET", path, "", "", 200) // what is left is enough for one
			s.bodies.take("a", 1)
			want(t, s, "GET", path, "", "", 503)
			if took := time.Since(begun); took != s.cfg.Limits.Wait {
				t.Errorf("%s: refused after %v", path, took)
			}
			s.bodies.free("a", 1)
		}
		want(t, s, "POST", "/v1/similar", typeJSON, `{"text":"topicaworda"}`, 503)
		want(t, s, "POST", "/v1/explain", typeJSON, `{"text":"topicaworda"}`, 200)
		if s.bodies.taken != 2*half-listBytes {
			t.Errorf("%d bytes are taken, want %d", s.bodies.taken, 2*half-listBytes)
		}
	})
}

func TestExplain(t *testing.T) {
	s := start(t, Settings{})
	m := s.current.Load()
	words, err := find.NewWords(context.Background(), m.model)
	if err != nil {
		t.Fatal(err)
	}
	text := "topicaworda topicaworda topicawordb topiccwordc unknown"
	x, err := words.Explain(text)
	if err != nil {
		t.Fatal(err)
	}
	a := decode[explanation](t, want(t, s, "POST", "/v1/explain", typeJSON, fmt.Sprintf(`{"id":"a","text":%q}`, text), 200))
	if a.ID != "a" || a.Model != m.name || a.Tokens != 4 || a.Unknown != 1 || a.Unlikely != x.Unlikely || *a.Covered != x.Covered() || *a.LogGain != x.LogGain ||
		!slices.Equal(a.Composition, x.Proportions) || !slices.Equal(a.Prior, x.Prior) || len(a.Words) != len(x.Words) || a.More != 0 {
		t.Errorf("%+v, want %+v", a, x)
	}
	for i, w := range a.Words {
		want := x.Words[i]
		if w.Word != want.Word || w.Count != want.Count || *w.Gain != want.Gain || w.Unlikely != want.Unlikely || w.Topics[0].Share != floats.Max(want.Topics) || want.Topics[w.Topics[0].Topic] != w.Topics[0].Share || len(w.Topics) > wordTopics {
			t.Errorf("word %d is %+v, want %+v", i, w, want)
		}
	}
	if a.Top[0].Share != floats.Max(x.Proportions) || !strings.HasPrefix(a.Top[0].Words[0], "topica") {
		t.Errorf("%+v", a.Top)
	}
	if a := decode[explanation](t, want(t, s, "POST", "/v1/explain", typeJSON, `{"text":"xyzzy"}`, 200)); a.Covered == nil || *a.Covered != 0 || a.LogGain != nil || len(a.Words) != 0 || a.Unknown != 1 {
		t.Errorf("without known words: %+v", a)
	}
	if a := decode[explanation](t, want(t, s, "POST", "/v1/explain", typeJSON, `{"text":""}`, 200)); a.Covered != nil {
		t.Errorf("without words: %+v", a)
	}
	for body, status := range map[string]int{`{"ids":[1000000]}`: 400, `{"text":3}`: 400, `{"text":"` + strings.Repeat("a", 1<<20) + `"}`: 413} {
		want(t, s, "POST", "/v1/explain", typeJSON, body, status)
		want(t, s, "POST", "/v1/similar", typeJSON, body, status)
	}
	want(t, s, "POST", "/v1/explain", typeNDJSON, `{"text":"a"}`, 415)
	bare := *m
	bare.words = nil
	s.current.Store(&bare)
	want(t, s, "POST", "/v1/explain", typeJSON, `{"text":"a"}`, 409)
}

// What an explanation takes, and its answer, is less than what is taken for it; and a long
// document has an answer of no more than the most frequent words.
func TestExplainCost(t *testing.T) {
	s := open(t, t.TempDir(), Settings{MinDocs: 1})
	t.Cleanup(func() { closed(t, s) })
	var docs, all strings.Builder
	for i, text := range texts(200, 1) {
		fmt.Fprintf(&docs, "{\"id\":\"d%d\",\"text\":\"%s", i, text)
		for j := range 20 {
			w := " r" + strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(20*i+j))
			docs.WriteString(w)
			all.WriteString(w)
		}
		docs.WriteString("\"}\n")
	}
	want(t, s, "POST", "/v1/documents", typeNDJSON, docs.String(), 200)
	refit(t, s)
	m := s.current.Load()
	body := fmt.Sprintf(`{"text":%q}`, all.String())
	a := decode[explanation](t, want(t, s, "POST", "/v1/explain", typeJSON, body, 200))
	if len(a.Words) != explainedWords || a.More < 1000 {
		t.Fatalf("%d words and %d more", len(a.Words), a.More)
	}
	d, p := parseDocument([]byte(body), nil, s.cfg.Limits)
	if p != nil {
		t.Fatal(p)
	}
	ids, counts, unknown, p := m.numbers(d, s.cfg.Limits)
	if p != nil {
		t.Fatal(p)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x, err := m.words.ExplainCounts(ids, counts, unknown)
	if err != nil {
		t.Fatal(err)
	}
	m.explained("", x)
	runtime.ReadMemStats(&after)
	if got, most := int64(after.TotalAlloc-before.TotalAlloc), explainCost(len(ids), 5); got > most {
		t.Errorf("%d bytes were allocated for %d words, %d taken", got, len(ids), most)
	}
}
