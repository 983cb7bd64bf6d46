package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// invoke runs the program and returns what it printed. It fails on any other exit status than want.
func invoke(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	return invokeIn(t, want, "", args...)
}

// invokeIn is invoke with a standard input.
func invokeIn(t *testing.T, want int, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	t.Setenv("COLUMNS", "") // lines as long as they are
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, streams{in: strings.NewReader(stdin), out: &out, err: &errs}); got != want {
		t.Fatalf("%q: exit status %d, want %d\n%s", args, got, want, errs.String())
	}
	return out.String(), errs.String()
}

// onWrite is a writer that calls a function when it is first written something that holds a text.
type onWrite struct {
	said bytes.Buffer
	text string
	do   func()
}

func (s *onWrite) Write(p []byte) (int, error) {
	if s.do != nil && bytes.Contains(p, []byte(s.text)) {
		s.do()
		s.do = nil
	}
	return s.said.Write(p)
}

// groups has the words of four planted topics.
var groups = func() [][]string {
	syllables := strings.Fields("ba de fi go lu ma ne pi ro su ta ve")
	out := make([][]string, 4)
	for k := range out {
		for i := range 36 {
			out[k] = append(out[k], syllables[k]+syllables[i%12]+syllables[(k+i/12+i)%12])
		}
	}
	return out
}()

// messages writes a table of 600 texts over eight years. Topic 0 grows from a tenth of the
// texts to a half and topic 1 shrinks; topic 2 has 10 % of the texts, but 30 % in the class
// "east", where topic 3 has 10 % and not 30 %, and 30 % more everywhere in the years in the
// middle.
func messages(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	add := func(record ...string) {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	add("number", "subject", "when", "office", "stars", "body")
	begin := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 600 {
		when := begin.AddDate(0, 0, i*8*365/600)
		past := float64(i) / 600
		office := []string{"east", "west", "south"}[rng.IntN(3)]
		shares := []float64{0.1 + 0.4*past, 0.5 - 0.4*past, 0.1, 0.3}
		if office == "east" {
			shares[2], shares[3] = 0.3, 0.1
		}
		if past > 0.4 && past < 0.6 {
			shares[0], shares[1], shares[2] = shares[0]-0.15, shares[1]-0.15, shares[2]+0.3
		}
		// Five sixths of a text's words are of one topic, the others of any.
		draw := func() int {
			x, k := rng.Float64(), 0
			for k < 3 && x > shares[k] {
				x -= shares[k]
				k++
			}
			return k
		}
		var body strings.Builder
		topic := draw()
		for w := range 40 {
			k := topic
			if w%6 == 0 {
				k = draw()
			}
			fmt.Fprintf(&body, "the %s ", groups[k][min(rng.IntN(36), rng.IntN(36))])
		}
		stars := "" // more with topic 3; every tenth is not known
		if i%10 > 0 {
			stars = fmt.Sprint(1 + rng.IntN(3) + 2*(topic/3))
		}
		add(fmt.Sprint("n", i), fmt.Sprint("Message ", i), when.Format("2.1.2006"), office, stars, body.String())
	}
	w.Flush()
	path := filepath.Join(t.TempDir(), "messages.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// columns are the arguments for the table of messages.
func columns(path string, more ...string) []string {
	return append([]string{"topics", path}, append(strings.Fields("-text body -id number -title subject -time when -layout 2.1.2006 -class office -sure 20"), more...)...)
}

// topicLine is a line of the table of topics: number, name, share, interval, how often it
// comes back.
var topicLine = regexp.MustCompile(`(?m)^ +(\d+)  (\S+(?: · \S+)+) +([\d.]+) % \(([\d.]+) to ([\d.]+)\) +(\d+) of 4  `)

// planted returns the numbers of the planted topics, by that of the topic of the model.
func planted(t *testing.T, out string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, l := range topicLine.FindAllStringSubmatch(out, -1) {
		k := slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, strings.Split(l[2], " · ")[0]) })
		if k < 0 || l[6] != "4" {
			t.Errorf("not a planted topic, or one that does not come back: %s", l[0])
		}
		found[l[1]] = k
	}
	if len(found) != len(groups) {
		t.Fatalf("%d topics, want %d:\n%s", len(found), len(groups), out)
	}
	return found
}

// checkEffects reports whether what is printed of years and offices is what was planted.
func checkEffects(t *testing.T, out string, topic map[string]int) {
	t.Helper()
	found := map[string]bool{}
	where := ""
	for line := range strings.Lines(out) {
		switch {
		case regexp.MustCompile(`^\d of 4 topics (rose|fell|came)`).MatchString(line):
			where = strings.Trim(strings.Fields(line)[4], ":.;\n")
		case regexp.MustCompile(`^(east|west|south) \(\d+ texts\)`).MatchString(line):
			where = strings.Fields(line)[0]
		}
		if l := regexp.MustCompile(`^  (\d+) \S+ · .*[\d.]+ % \(.* (to|and) [\d.]+ %`).FindStringSubmatch(line); l != nil {
			found[fmt.Sprint(where, " ", topic[l[1]])] = true
		}
		if l := regexp.MustCompile(`^  ([+−])[\d.]+ \(\S+ to \S+\) +(\d+) `).FindStringSubmatch(line); l != nil {
			found[fmt.Sprint(where, " ", l[1], topic[l[2]])] = true
		}
	}
	for _, want := range []string{"rose 0", "fell 1", "came 2", "east +2", "east −3"} {
		if !found[want] {
			t.Errorf("not found: %s (found %v)\n%s", want, found, out)
		}
	}
	for _, not := range []string{"rose 1", "rose 2", "fell 0", "fell 3", "west +2", "south +2"} {
		if found[not] {
			t.Errorf("found what is not so: %s\n%s", not, out)
		}
	}
}

func TestMessages(t *testing.T) {
	path, dir := messages(t), t.TempDir()
	page, model := filepath.Join(dir, "report.html"), filepath.Join(dir, "model")
	rows := filepath.Join(dir, "effects.csv")
	out, errs := invoke(t, 0, columns(path, "-k", "4", "-report", page, "-save", model, "-effects", rows)...)
	checkEffects(t, out, planted(t, out))
	for _, want := range []string{
		"messages.csv: 600 texts, 2016-01-01 to 2023-12-", "TOPICS: 4, of which 4 are sound.", "The report, to open in a browser: " + page,
		"\nWORDING: ", "By when: 0 words\n", "By office: 0 words\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	for _, want := range []string{"learn: ", "bootstrap: ", "write: "} {
		if !strings.Contains(errs, want) {
			t.Errorf("the progress lacks %q:\n%s", want, errs)
		}
	}
	// 4 topics: their shares, and predictions and differences at 8 years and in 3 offices, raw and adjusted.
	if got := readTable(t, rows); len(got) != 1+4+2*2*4*(8+3) || got[0][0] != "term" {
		t.Errorf("%d rows of effects, from %q", len(got), got[0])
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte(`"title":"Message `)) || !bytes.Contains(html, []byte("<title>Topics of messages.csv</title>")) {
		t.Errorf("the report, of %d bytes, lacks titles (%v)", len(html), err)
	}
	m, err := jsmf.LoadModel(model)
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Additions().Documents; d == nil || len(d.IDs) != 600 || d.IDs[7] != "n7" {
		t.Error("the saved model has other documents")
	}

	// One worker prints what many print, and the report differs in the times only.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, _ := invoke(t, 0, columns(path, "-k", "4", "-report", "none", "-quiet")...)
	if first, _, _ := strings.Cut(out, "\nThe report"); first != again {
		t.Errorf("with one worker:\n%s\nwith many:\n%s", again, first)
	}

	// Names and merged topics are read back.
	edits := filepath.Join(dir, "edits.json")
	text := fmt.Sprintf(`{"model": %q, "names": {"0": "apples and pears"}, "merge": [[0, 2]]}`, m.Fingerprint())
	if err := os.WriteFile(edits, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ = invoke(t, 0, columns(path, "-k", "4", "-report", "none", "-quiet", "-edits", edits)...)
	if !strings.Contains(out, "TOPICS: 3,") || !strings.Contains(out, "apples and pears") {
		t.Errorf("with edits:\n%s", out)
	}
	_, errs = invoke(t, 1, columns(path, "-k", "5", "-report", "none", "-quiet", "-edits", edits)...)
	if !strings.Contains(errs, "edits.json") || !strings.Contains(errs, "the edits are of model") {
		t.Errorf("edits of another model: %q", errs)
	}
}

// Results that took minutes are printed though the folder for the files has gone, and the
// files that can be written are.
func TestUnwritable(t *testing.T) {
	dir, page := filepath.Join(t.TempDir(), "gone"), filepath.Join(t.TempDir(), "report.html")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	errs := onWrite{text: "read", do: func() { os.Remove(dir) }}
	args := columns(messages(t), "-k", "4", "-report", page, "-save", filepath.Join(dir, "m"), "-effects", filepath.Join(dir, "e.csv"))
	if got := run(t.Context(), args, streams{out: &out, err: &errs}); got != 1 {
		t.Fatalf("exit status %d, want 1", got)
	}
	for _, want := range []string{"TOPICS: 4", "BY OFFICE", page} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, out.String())
		}
	}
	for _, want := range []string{filepath.Join(dir, "m"), filepath.Join(dir, "e.csv")} {
		if !strings.Contains(errs.said.String(), want) {
			t.Errorf("the file %s that is not written is not named:\n%s", want, errs.said.String())
		}
	}
	if _, err := os.Stat(page); err != nil {
		t.Errorf("the report is not written: %v", err)
	}
}

// Ctrl-C after the first fit gives the topics of that fit, in print and in the page, and before it
// nothing.
func TestInterrupted(t *testing.T) {
	path := messages(t)
	for _, c := range []struct {
		at     string
		topics bool
	}{{"read", false}, {"sweep: K", true}, {"bootstrap", true}} {
		page := filepath.Join(t.TempDir(), "report.html")
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		errs := onWrite{text: c.at, do: cancel}
		if got := run(ctx, columns(path, "-report", page), streams{out: &out, err: &errs}); got != 130 {
			t.Errorf("%s: exit status %d, want 130\n%s", c.at, got, errs.said.String())
		}
		if got := strings.Contains(out.String(), "this was interrupted") && strings.Contains(out.String(), "TOPICS: "); got != c.topics {
			t.Errorf("%s: topics are printed: %v, want %v\n%s", c.at, got, c.topics, out.String())
		}
		if _, err := os.Stat(page); (err == nil) != c.topics {
			t.Errorf("%s: the page is written: %v, want %v", c.at, err, c.topics)
		}
		if !strings.HasSuffix(errs.said.String(), "spectral: interrupted\n") {
			t.Errorf("%s: the last words are not that it was interrupted: %q", c.at, errs.said.String())
		}
	}
}

// A run that is repeated by its settings gives the same, to the bit.
func TestSettings(t *testing.T) {
	dir, path := t.TempDir(), messages(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	first, _ := invoke(t, 0, columns(path, "-k", "4", "-quiet", "-sure", "0", "-report", none, "-save", file("a"), "-keep-settings", file("settings"))...)
	again, _ := invoke(t, 0, "topics", "-settings", file("settings"), "-save", file("b"), "-quiet")
	if x, y := strings.Replace(first, file("a"), "", 2), strings.Replace(again, file("b"), "", 2); x != y {
		t.Errorf("first:\n%s\nagain:\n%s", x, y)
	}
	a, err := os.ReadFile(file("a"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file("b")); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the models differ (%v)", err)
	}
	if out, _ := invoke(t, 0, "topics", "-settings", file("settings"), "-k", "3", "-save", file("c"), "-quiet"); !strings.Contains(out, "TOPICS: 3") {
		t.Errorf("a flag of the command line does not count more:\n%s", out)
	}
}

// A model is shown, applied, followed and exported.
func TestModel(t *testing.T) {
	dir, path := t.TempDir(), messages(t)
	model := filepath.Join(dir, "m.jsmf")
	invoke(t, 0, columns(path, "-k", "4", "-fast", "-quiet", "-report", none, "-save", model)...)
	out, _ := invoke(t, 0, "show", model)
	for _, want := range []string{"a model of 4 topics", "FINDINGS", "TOPICS: 4, of which 4 are sound"} {
		if !strings.Contains(out, want) {
			t.Errorf("show lacks %q:\n%s", want, out)
		}
	}
	line := fmt.Sprintf(`{"id": "x", "body": {"text": %q}}`+"\n\n"+`{"body": {"text": "zzz"}}`, strings.Join(groups[2][:9], " "))
	out, _ = invokeIn(t, 0, line, "apply", model, "-", "-text", "body.text", "-top", "1")
	var got []applied
	for l := range strings.Lines(out) {
		var x applied
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	if len(got) != 2 || got[0].ID != "x" || got[0].Words != 9 || got[0].Topics[0].Share < 0.8 || !slices.Contains(groups[2], strings.Split(got[0].Topics[0].Name, " · ")[0]) {
		t.Errorf("apply: %+v", got)
	}
	if len(got) == 2 && (got[1].ID != "3" || got[1].Unknown != 1 || len(got[1].Topics) != 0) {
		t.Errorf("apply to a text without known words: %+v", got[1])
	}
	all, _ := invoke(t, 0, "apply", model, path, "-text", "body", "-id", "number", "-quiet")
	if n := strings.Count(all, "\n"); n != 600 || !strings.HasPrefix(all, `{"id":"n0","words":`) {
		t.Errorf("apply to a table: %d lines", n)
	}
	out, _ = invoke(t, 0, "find", model, strings.Join(groups[2][:9], " "), "-top", "5")
	_, like, _ := strings.Cut(out, "(1: the same):\n")
	if !strings.HasPrefix(out, "The model knows 9 words of the text, and not 0.") || strings.Count(like, "\n") != 5 || strings.Count(like, got[0].Topics[0].Name) != 5 {
		t.Errorf("find:\n%s", out)
	}
	if _, said := invoke(t, 1, "find", model, "zzz"); !strings.Contains(said, "the model knows no word of the text") {
		t.Errorf("find without known words: %s", said)
	}
	out, _ = invoke(t, 0, "refit", model, path, "-text", "body", "-quiet", "-report", none)
	if !strings.Contains(out, "AGAINST THE MODEL BEFORE, of 4 topics: 0 are new, 0 have vanished") {
		t.Errorf("refit:\n%s", out)
	}
	for format, want := range map[string]string{
		"csv": "topic,name,share", "json": `"topics": [`, "pyldavis": `{"mdsDat":{"x":[`, "graphml": "<node id=\"t3\">",
		"npy": "\x93NUMPY", "words": "\n" + groups[0][0] + "\n", "documents": "\nn17,",
	} {
		file := filepath.Join(dir, "x."+format)
		invoke(t, 0, "export", model, "-format", format, "-out", file)
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %q (%v)", format, want, err)
		}
	}
	// What pyLDAvis draws: shares have the sum 100, and the topics of a term the sum 1.
	b, err := os.ReadFile(filepath.Join(dir, "x.pyldavis"))
	if err != nil {
		t.Fatal(err)
	}
	var page pyLDAvis
	if err := json.Unmarshal(b, &page); err != nil {
		t.Fatal(err)
	}
	sum := 0.
	for _, x := range page.MDS.Freq {
		sum += x
	}
	if math.Abs(sum-100) > 1e-9 || !slices.IsSortedFunc(page.MDS.Freq, func(x, y float64) int { return cmp.Compare(y, x) }) {
		t.Errorf("shares %v", page.MDS.Freq)
	}
	of := map[string]float64{}
	for i, term := range page.Tokens.Term {
		of[term] += page.Tokens.Freq[i]
	}
	for term, x := range of {
		if x < 0.95 || x > 1+1e-9 {
			t.Errorf("the topics of %q have the sum %g", term, x)
		}
	}
	out, _ = invoke(t, 0, "sweep", path, "-text", "body", "-quiet")
	if !strings.Contains(out, "recommended") {
		t.Errorf("sweep:\n%s", out)
	}
}

// A number has a slope.
func TestNumber(t *testing.T) {
	out, _ := invoke(t, 0, "topics", messages(t), "-text", "body", "-time", none, "-title", none, "-number", "stars", "-k", "4", "-sure", "20", "-report", none, "-quiet")
	topic := planted(t, out)
	_, slopes, ok := strings.Cut(out, "\nBY STARS, in percentage points for each unit more\n1 topic grows, ")
	l := regexp.MustCompile(`(?m)^  \+[\d.]+ \(\+[\d.]+ to \+[\d.]+\) +(\d+) `).FindStringSubmatch(slopes)
	if !ok || l == nil || topic[l[1]] != 3 || !strings.Contains(out, "540 texts tell how topics depend on stars; 60 are left out") {
		t.Errorf("the slope by stars:\n%s", out)
	}
}

// Without -k the number of topics is recommended, with the reason.
func TestRecommended(t *testing.T) {
	out, _ := invoke(t, 0, columns(messages(t), "-report", "none", "-quiet", "-sure", "10")...)
	if !regexp.MustCompile(`(?m)^K = \d+.* \(.*\)\. Of \d+ topics \d+ are sound and come back when other documents are held out`).MatchString(out) {
		t.Errorf("no recommendation:\n%s", out)
	}
}

// A class of many levels has few, and records without ids get their number.
func TestLevels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsv")
	var b strings.Builder
	b.WriteString("text\tauthor\n")
	for i := range 40 {
		fmt.Fprintf(&b, "some words here\tauthor %02d\n", min(i, 20))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	tab, done, err := open(context.Background(), &options{source: path, class: "author"}, nil)
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	d, err := tab.survey(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	n := 0
	for x, err := range tab.source(d, nil).Docs(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; x.ID != fmt.Sprint(n) || d.texts[d.row[x.ID]] != "some words here" {
			t.Errorf("record %d has the id %q", n, x.ID)
		}
		level, _ := x.Values[0].Category()
		counts[level]++
	}
	if len(counts) != 2 || counts[other] != 20 || counts["author 20"] != 20 {
		t.Errorf("levels %v", counts)
	}
}
