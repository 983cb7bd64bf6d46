package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/goleak"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
	"github.com/jsmf-go/spectral/jsmf/serve/prom"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/rectify"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("SERVICE_TEST_DATA"); dir != "" {
		child(killable{dir, os.Getenv("SERVICE_TEST_SETTINGS"), os.Getenv("SERVICE_TEST_CLOCK")}, os.Getenv("SERVICE_TEST_KILL_AT"))
		return
	}
	goleak.VerifyTestMain(m)
}

// texts draws documents of five topics, most of two.
func texts(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]string, n)
	for i := range out {
		a, b := rng.IntN(5), rng.IntN(5)
		var s []string
		for range 40 {
			k := a
			if rng.IntN(2) == 0 {
				k = b
			}
			s = append(s, fmt.Sprintf("topic%cword%c", 'a'+k, 'a'+min(int(rng.ExpFloat64()*3), 25)))
		}
		out[i] = strings.Join(s, " ")
	}
	return out
}

// planted returns the topic of texts that a word is of.
func planted(word string) string { return word[:len("topica")] }

// ndjson makes documents of texts, with ids from first on.
func ndjson(texts []string, first int) string {
	var b strings.Builder
	for i, t := range texts {
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q}\n", first+i, t)
	}
	return b.String()
}

// open opens a service on a folder, which the test closes.
func open(t *testing.T, dir string, cfg Settings) *Service {
	t.Helper()
	cfg.KeepModels = 100
	return openStore(t, dir, cfg, store.Options{})
}

func openStore(t testing.TB, dir string, cfg Settings, opt store.Options) *Service {
	t.Helper()
	if cfg.Topics == 0 {
		cfg.Topics = 5
	}
	cfg.bootstrap = jsmf.Bootstrap{Warm: 12, Cold: 2}
	registry := prometheus.NewRegistry()
	cfg.Meter, cfg.MetricsPage = prom.Meter{Registerer: registry}, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	s, err := openFolder(context.Background(), dir, cfg, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, s *Service) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// start opens a service with a model, and closes it in the end.
func start(t *testing.T, cfg Settings) *Service {
	t.Helper()
	s := open(t, t.TempDir(), cfg)
	t.Cleanup(func() { closed(t, s) })
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, s)
	return s
}

func refit(t *testing.T, s *Service) {
	t.Helper()
	want(t, s, "POST", "/v1/refit", "", "", 202)
	s.wg.Wait()
	if st := s.refitStatus(); st.State != refitDone {
		t.Fatalf("refit: %+v", st)
	}
}

// call sends a request, and checks what every answer has.
func call(t *testing.T, s *Service, method, path, contentType, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s %s: the headers lack protection: %v", method, path, w.Header())
	}
	checkAnswer(t, method, path, w)
	return w
}

// want sends a request and checks the status.
func want(t *testing.T, s *Service, method, path, contentType, body string, status int, header ...string) string {
	t.Helper()
	w := call(t, s, method, path, contentType, body, header...)
	if w.Code != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

func decode[T any](t *testing.T, b string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(b), &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

func TestInfer(t *testing.T) {
	s := start(t, Settings{})
	m := s.current.Load()
	p, err := m.model.Inferer(context.Background(), nil, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := "topicaworda topicaworda topicawordb topiccwordc! unknown"
	ids, counts, unknown, err := m.model.CountWords(text)
	if err != nil {
		t.Fatal(err)
	}
	composition := make([]float64, 5)
	if _, err := p.InferTo(composition, ids, counts); err != nil {
		t.Fatal(err)
	}
	idsJSON, _ := json.Marshal(ids)
	countsJSON, _ := json.Marshal(counts)
	for _, body := range []string{
		fmt.Sprintf(`{"text":%q}`, text),
		`{"words":["topicaworda","topicawordb","topiccwordc","unknown"],"counts":[2,1,1,1]}`,
		`{"counts":[1,1,1,1,1],"words":["unknown","topiccwordc","topicaworda","topicawordb","topicaworda"]}`,
		fmt.Sprintf(`{"id":"é","ids":%s,"counts":%s}`, idsJSON, countsJSON),
	} {
		a := decode[inferAnswer](t, want(t, s, "POST", "/v1/infer", typeJSON, body, 200))
		if a.Model != m.name || !slices.Equal(a.Composition, composition) || a.Tokens != 4 || a.Status != "converged" {
			t.Errorf("%s: %+v, want composition %v", body, a, composition)
		}
		if want := float64(unknown); a.Unknown != want && !strings.Contains(body, "ids") {
			t.Errorf("%s: %v unknown tokens, want %v", body, a.Unknown, want)
		}
		if a.Top[0].Share != slices.Max(composition) || a.Composition[a.Top[0].Topic] != a.Top[0].Share || !strings.HasPrefix(a.Top[0].Words[0], "topica") || a.Top[0].Name != m.model.Name(a.Top[0].Topic) {
			t.Errorf("%s: the first topic is %+v", body, a.Top[0])
		}
	}
	a := decode[inferAnswer](t, want(t, s, "POST", "/v1/infer", typeJSON, `{"text":""}`, 200))
	if a.Status != infer.NoTokens.String() || !floats.EqualApprox(a.Composition, m.model.TopicShares(), 1e-12) {
		t.Errorf("a document without words: %+v", a)
	}
}

func TestStream(t *testing.T) {
	s := start(t, Settings{})
	docs := texts(100, 7)
	body := "\n" + strings.ReplaceAll(ndjson(docs, 0), "\n", "\r\n\n")
	check := func(out string) {
		t.Helper()
		sc := bufio.NewScanner(strings.NewReader(out))
		n := 0
		for ; sc.Scan(); n++ {
			a := decode[inferAnswer](t, sc.Text())
			if a.ID != fmt.Sprintf("d%d", n) || a.Line != 2+2*n || a.Model != s.current.Load().name {
				t.Fatalf("answer %d: %+v", n, a)
			}
			one := decode[inferAnswer](t, want(t, s, "POST", "/v1/infer", typeJSON, fmt.Sprintf(`{"text":%q}`, docs[n]), 200))
			if !slices.Equal(a.Composition, one.Composition) {
				t.Fatalf("document %d: %v in a stream, %v alone", n, a.Composition, one.Composition)
			}
		}
		if n != len(docs) {
			t.Errorf("%d answers, want %d", n, len(docs))
		}
	}
	check(want(t, s, "POST", "/v1/infer", typeNDJSON, body, 200))
	check(want(t, s, "POST", "/v1/infer", typeNDJSON+"; charset=UTF-8", zipped(t, body), 200, "Content-Encoding", "gzip"))
	if out := want(t, s, "POST", "/v1/infer", typeNDJSON, "", 200); out != "" {
		t.Errorf("an empty stream: %s", out)
	}
	// What is wrong in the first line is the answer; later it is the last line.
	p := decode[problem](t, want(t, s, "POST", "/v1/infer", typeNDJSON, "\n{\"text\":3}\n", 400))
	if p.Line != 2 || p.Field != "text" {
		t.Errorf("a wrong first line: %+v", p)
	}
	out := strings.Split(want(t, s, "POST", "/v1/infer", typeNDJSON, ndjson(docs[:2], 0)+"{\"ids\":[7,-1]}\n"+ndjson(docs[:2], 0), 200), "\n")
	last := decode[struct{ Problem problem }](t, out[2])
	if len(out) != 4 || last.Problem.Line != 3 || last.Problem.Field != "ids[1]" || last.Problem.Status != 400 {
		t.Errorf("a wrong third line: %q", out)
	}
}

// A client that waits for each answer before it sends the next document gets it.
func TestDialogue(t *testing.T) {
	s := start(t, Settings{})
	srv := httptest.NewServer(s)
	defer srv.Close()
	r, w := io.Pipe()
	req, err := http.NewRequest("POST", srv.URL+"/v1/infer", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", typeNDJSON)
	first := make(chan struct{})
	go func() {
		<-first
		io.WriteString(w, "{\"text\":\"topicaworda\"}\n")
	}()
	close(first)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	for i := range 3 {
		if !sc.Scan() {
			t.Fatalf("answer %d did not come: %v", i, sc.Err())
		}
		if a := decode[inferAnswer](t, sc.Text()); a.Line != i+1 || a.Tokens != float64(max(i, 1)) {
			t.Errorf("answer %d: %+v", i, a)
		}
		if i < 2 {
			fmt.Fprintf(w, "{\"text\":%q}\n", strings.Repeat("topicaworda ", i+1))
		}
	}
	w.Close()
	if sc.Scan() {
		t.Errorf("more answers than documents: %s", sc.Text())
	}
}

func TestTopics(t *testing.T) {
	s := start(t, Settings{})
	m := s.current.Load().model
	type topicsAnswer struct {
		Model  modelName
		Topics []topicAnswer
	}
	list := decode[topicsAnswer](t, want(t, s, "GET", "/v1/topics", "", "", 200))
	if len(list.Topics) != 5 || list.Model != s.current.Load().name {
		t.Fatalf("%+v", list)
	}
	for k, a := range list.Topics {
		if a.Topic != k || *a.Share != m.TopicShares()[k] || a.Anchor != m.Word(m.Anchors()[k]) || a.Name != m.Name(k) || a.Background != m.Background()[k] || a.Words[0].Word != m.TopWords(k, 1)[0].Word {
			t.Errorf("topic %d: %+v", k, a)
		}
		one := decode[struct {
			topicAnswer
			Pairs []pairAnswer
		}](t, want(t, s, "GET", fmt.Sprintf("/v1/topics/%d", k), "", "", 200))
		if one.Topic != k || one.Name != a.Name || len(one.Words) < len(a.Words) || one.Words[1] != a.Words[1] || len(one.Pairs) != 4 {
			t.Errorf("topic %d by itself: %+v", k, one)
		}
	}
	// The verdicts are those of the documents, and in the model's file.
	docs, err := s.held.Snapshot().Corpus()
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := jsmf.New(5).Verdicts(context.Background(), m, docs)
	if err != nil {
		t.Fatal(err)
	}
	for k, a := range list.Topics {
		v := verdicts[k]
		if a.Verdict == nil || a.Verdict.Why != v.String() || a.Verdict.Quality != v.Quality.String() || *a.Verdict.NPMI != v.NPMI || *a.Verdict.Documents != v.Documents || (a.Verdict.Twin == nil) != (v.Twin < 0) || *a.Verdict.Exclusivity != v.Exclusivity || m.Additions().Verdicts[k] != v {
			t.Errorf("the verdict on topic %d is %+v, want %+v", k, a.Verdict, v)
		}
	}
	page := want(t, s, "GET", "/v1/report", "", "", 200)
	if !strings.Contains(page, s.current.Load().name.Checksum) || !strings.Contains(page, m.Word(m.Anchors()[3])) || !strings.Contains(page, m.Name(3)) || page != want(t, s, "GET", "/v1/report", "", "", 200) {
		t.Errorf("the report has %d bytes and not what it should have", len(page))
	}
	pairs := decode[struct{ Pairs []pairAnswer }](t, want(t, s, "GET", "/v1/correlations", "", "", 200)).Pairs
	for i, p := range m.CorrelatedPairs(-1) {
		if got := pairs[i]; got.Topics != [2]int{p.K, p.L} || *got.Correlation != p.Correlation || *got.Joint != p.Joint || *got.Lift != p.Lift {
			t.Errorf("pair %d: %+v, want %+v", i, got, p)
		}
	}
	for _, path := range []string{"/v1/topics/5", "/v1/topics/-1", "/v1/topics/x", "/v1/topics/99999999999999999999"} {
		if p := decode[problem](t, want(t, s, "GET", path, "", "", 404)); !strings.Contains(p.Detail, "the topics 0 to 4") {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	count := func(want int) {
		t.Helper()
		if n := s.held.Stats().Docs; n != want {
			t.Errorf("%d documents, want %d", n, want)
		}
	}
	docs := texts(50, 3)
	if p := decode[problem](t, want(t, s, "POST", "/v1/infer", typeJSON, `{"text":"a"}`, 503)); !strings.Contains(p.Detail, "no model yet") {
		t.Errorf("without a model: %+v", p)
	}
	if out := want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs, 0), 200); out != "{\"stored\":50}\n" {
		t.Errorf("stored: %s", out)
	}
	if out := want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[:3], 48), 200); out != "{\"stored\":1,\"already_there\":[\"d48\",\"d49\"]}\n" {
		t.Errorf("some again: %s", out)
	}
	want(t, s, "POST", "/v1/documents", typeJSON, `{"id":"a/b ü","words":["x","y","x"],"counts":[1,2,3]}`, 200)
	count(52)
	for _, line := range []string{`{"text":"no id"}`, `{"id":"x","ids":[1]}`, `{"id":"","text":"x"}`, `{"id":"..","text":"x"}`, `{"id":"a\u0000","text":"x"}`, `{"id":"` + strings.Repeat("x", 257) + `","text":"x"}`} {
		p := decode[problem](t, want(t, s, "POST", "/v1/documents", typeNDJSON, "{\"id\":\"new\",\"text\":\"x\"}\n"+line, 400))
		if p.Line != 2 || p.Field == "" {
			t.Errorf("%s: %+v", line, p)
		}
	}
	count(52)
	want(t, s, "GET", "/v1/documents/d7", "", "", 200)
	want(t, s, "DELETE", "/v1/documents/d7", "", "", 200)
	want(t, s, "GET", "/v1/documents/d7", "", "", 404)
	want(t, s, "DELETE", "/v1/documents/a%2Fb%20%C3%BC", "", "", 200)
	want(t, s, "DELETE", "/v1/documents/d7", "", "", 404)
	count(50)
	var before bytes.Buffer
	if _, err := s.held.WriteTo(&before); err != nil {
		t.Fatal(err)
	}
	closed(t, s)

	// The same documents come back from the log, and after a refit from a snapshot.
	for round := range 3 {
		s = open(t, dir, Settings{})
		var after bytes.Buffer
		if _, err := s.held.WriteTo(&after); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before.Bytes(), after.Bytes()) {
			t.Errorf("round %d: other documents than before", round)
		}
		if round == 1 {
			refit(t, s)
		}
		if m := s.current.Load(); (m != nil) != (round > 0) || m != nil && m.name.Version != 1 {
			t.Errorf("round %d: the model is %+v", round, m)
		}
		closed(t, s)
	}
	if _, err := Open(context.Background(), dir, Settings{MinDocs: 6}); err == nil || !strings.Contains(err.Error(), "MinDocs 5") {
		t.Errorf("another rule for the vocabulary: %v", err)
	}
}

func TestRefit(t *testing.T) {
	s := open(t, t.TempDir(), Settings{})
	defer closed(t, s)
	if st := decode[refitStatus](t, want(t, s, "GET", "/v1/refit", "", "", 200)); st.State != refitIdle {
		t.Errorf("before the first: %+v", st)
	}
	// Too few documents: the reason is told, and the service goes on.
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(2, 1), 1000), 200)
	want(t, s, "POST", "/v1/refit", "", "", 202)
	s.wg.Wait()
	if st := decode[refitStatus](t, want(t, s, "GET", "/v1/refit", "", "", 200)); st.State != refitFailed || st.Error == "" || st.Finished == nil {
		t.Errorf("too few documents: %+v", st)
	}
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	// One at a time: hold the documents, so that the first cannot go on.
	s.documents.Lock()
	st := decode[refitStatus](t, want(t, s, "POST", "/v1/refit", "", "", 202))
	if st.State != refitRunning || st.Started == nil || st.From != nil {
		t.Errorf("begun: %+v", st)
	}
	want(t, s, "POST", "/v1/refit", "", "", 409)
	s.documents.Unlock()
	s.wg.Wait()
	first := s.current.Load()
	if st := s.refitStatus(); st.State != refitDone || *st.Model != first.name || first.name.Version != 1 || st.Documents != 202 || st.Words == 0 {
		t.Errorf("done: %+v", st)
	}
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(20, 2), 500), 200)
	refit(t, s)
	st = decode[refitStatus](t, want(t, s, "GET", "/v1/refit", "", "", 200))
	if *st.From != first.name || st.Model.Version != 2 || st.Model.Checksum == first.name.Checksum {
		t.Errorf("second: %+v", st)
	}
	// A tenth more of the same documents: each topic is still the same.
	if len(st.Drift) != 5 {
		t.Fatalf("drift: %v", st.Drift)
	}
	second := s.current.Load()
	for k, x := range st.Drift {
		if x == nil || *x > 0.2 || planted(second.labels[k][0]) != planted(first.labels[k][0]) {
			t.Errorf("topic %d was %v, is %v, drift %v", k, first.labels[k], second.labels[k], x)
		}
	}
}

func TestImport(t *testing.T) {
	s := start(t, Settings{})
	m := s.current.Load()
	dir := t.TempDir()
	other := open(t, dir, Settings{})
	if ok, err := other.Import(context.Background(), m.model); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if got := other.current.Load().name; got.Checksum != m.name.Checksum || got.Version != 1 {
		t.Errorf("imported as %+v, it was %+v", got, m.name)
	}
	if ok, err := other.Import(context.Background(), m.model); ok || err != nil {
		t.Errorf("again: %v, %v", ok, err)
	}
	// A refit of another number of topics: those that are new have no drift.
	other.cfg.Topics = 6
	want(t, other, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, other)
	st := decode[refitStatus](t, want(t, other, "GET", "/v1/refit", "", "", 200))
	if len(st.Drift) != 6 || st.Drift[0] == nil || st.Drift[5] != nil {
		t.Errorf("6 topics after 5: %+v", st)
	}
	want(t, other, "GET", "/v1/topics", "", "", 200)
	// One that would take too much memory does not begin.
	other.cfg.Limits.Fit = 1000
	want(t, other, "POST", "/v1/refit", "", "", 202)
	other.wg.Wait()
	if st := other.refitStatus(); st.State != refitFailed || !strings.Contains(st.Error, "more than") || other.current.Load().name.Version != 2 {
		t.Errorf("too little memory: %+v", st)
	}
	closed(t, other)
	// A model that calls words by number cannot read texts.
	bare, err := jsmf.Published(2).Fit(context.Background(), tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	other = open(t, t.TempDir(), Settings{})
	defer closed(t, other)
	if _, err := other.Import(context.Background(), bare); err == nil || !strings.Contains(err.Error(), "no vocabulary") {
		t.Errorf("a model without vocabulary: %v", err)
	}
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Many clients while models change: every answer is, to the bit, that of the
// model it names.
func TestSwap(t *testing.T) {
	s := start(t, Settings{})
	docs := texts(20, 9)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	type got struct {
		doc int
		a   inferAnswer
	}
	const clients = 2
	answers := make([][]got, clients)
	var streams atomic.Int64 // answered
	done := make(chan struct{}, clients)
	for c := range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ctx.Err() == nil; i++ {
				d := (c + i) % len(docs)
				w := httptest.NewRecorder()
				r := httptest.NewRequest("POST", "/v1/infer", strings.NewReader(ndjson(docs[d:d+1], 0)+ndjson(docs[:1], 1)))
				r.Header.Set("Content-Type", typeNDJSON)
				s.ServeHTTP(w, r)
				for j, line := range strings.Split(strings.TrimSpace(w.Body.String()), "\n") {
					g := got{doc: d}
					if j > 0 {
						g.doc = 0
					}
					if err := json.Unmarshal([]byte(line), &g.a); err != nil {
						t.Errorf("%v in %s", err, line)
						return
					}
					answers[c] = append(answers[c], g)
				}
				if n := len(answers[c]); n%2 != 0 || answers[c][n-1].a.Model != answers[c][n-2].a.Model {
					t.Errorf("a stream answered by two models, or not at all")
					return
				}
				streams.Add(1)
			}
		}()
	}
	models := map[modelName]*served{}
	// Each model answers: there are enough streams that the last began after it came.
	answered := func() {
		t.Helper()
		n := streams.Load() + clients + 1
		until(func() bool { return streams.Load() >= n || t.Failed() })
	}
	refits := 5
	if testing.Short() {
		refits = 2
	}
	for i := range refits {
		models[s.current.Load().name] = s.current.Load()
		answered()
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(20, uint64(20+i)), 1000+20*i), 200)
		refit(t, s)
	}
	models[s.current.Load().name] = s.current.Load()
	answered()
	stop()
	for range clients {
		<-done
	}
	if len(models) != refits+1 {
		t.Errorf("%d models, want %d", len(models), refits+1)
	}
	seen := map[modelName]bool{}
	w := make([]float64, 5)
	for _, list := range answers {
		for _, g := range list {
			m := models[g.a.Model]
			if m == nil {
				t.Fatalf("an answer of %+v, which never served", g.a.Model)
			}
			seen[g.a.Model] = true
			ids, counts, _, err := m.model.CountWords(docs[g.doc])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.inferer.InferTo(w, ids, counts); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w, g.a.Composition) {
				t.Fatalf("model %d gave %v for document %d, now it gives %v", g.a.Model.Version, g.a.Composition, g.doc, w)
			}
		}
	}
	if len(seen) != len(models) {
		t.Errorf("%d models answered, want %d", len(seen), len(models))
	}
}

// degenerate learns a model whose third topic has no share, as happens where the
// model does not fit: some of its numbers are none.
type degenerate struct{}

func (degenerate) String() string { return "degenerate" }

func (degenerate) Learn(_ context.Context, c cooc.Matrix, _ int, _ anchorfree.Options) (*anchorfree.Result, error) {
	return &anchorfree.Result{
		B:          mat.NewDense(4, 3, []float64{0.5, 0, 0, 0.5, 0, 0, 0, 0.5, 0, 0, 0.5, 1}),
		A:          mat.NewDense(3, 3, []float64{0.6, 0, 0, 0, 0.4, 0, 0, 0, 0}),
		WordTopics: mat.NewDense(4, 3, []float64{1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0}),
		Marginals:  c.Marginals(),
	}, nil
}

func TestDegenerate(t *testing.T) {
	named, err := cooc.WithInfo(tiny(t), corpus.Info{Vocabulary: []string{"a", "b", "c", "d"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(3).Rectify(rectify.None{}).AnchorFree(degenerate{}).Fit(context.Background(), named)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	if _, err := s.Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, dir, Settings{}) // and it can be taken up again
	defer closed(t, s)
	if list := want(t, s, "GET", "/v1/topics", "", "", 200); strings.Contains(list, "verdict") {
		t.Errorf("nobody has judged: %s", list)
	}
	want(t, s, "GET", "/v1/topics/2", "", "", 200)
	want(t, s, "GET", "/v1/report", "", "", 200)
	pairs := decode[struct{ Pairs []pairAnswer }](t, want(t, s, "GET", "/v1/correlations", "", "", 200)).Pairs
	if n := len(pairs); n != 3 || pairs[n-1].Lift != nil || pairs[n-1].Correlation != nil {
		t.Errorf("%+v", pairs)
	}
	want(t, s, "POST", "/v1/infer", typeJSON, `{"words":["a","d"]}`, 200)
}
