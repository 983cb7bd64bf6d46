package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/serve"
)

// start runs a service on loopback until the end of the test.
func start(t *testing.T, cfg serve.Settings) (base string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cfg.Topics, cfg.Hosts = 6, []string{"127.0.0.1"}
	s, err := serve.Open(ctx, t.TempDir(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// fields are what the documents are about.
var fields = []string{
	"court judge jury trial law verdict appeal lawyer crime prison",
	"goal match team player coach league season referee stadium score",
	"oven flour sugar butter dough bake recipe salt pepper kitchen",
	"planet orbit star moon rocket telescope gravity comet galaxy probe",
	"market stock share price bank profit trade investor bond rate",
	"river forest bird fish valley mountain lake wolf deer meadow",
}

// texts draws documents of mostly two fields, which have words of words.
func texts(n int, seed uint64, words func(field, i int) string) []string {
	rng := rand.New(rand.NewPCG(seed, 2))
	out := make([]string, n)
	for d := range out {
		a, b := rng.IntN(len(fields)), rng.IntN(len(fields))
		var s []string
		for range 40 {
			f := a
			if rng.IntN(3) == 0 {
				f = b
			}
			s = append(s, words(f, min(int(rng.ExpFloat64()*3), 9)))
		}
		out[d] = strings.Join(s, " ")
	}
	return out
}

func plain(field, i int) string { return strings.Fields(fields[field])[i] }

// send posts to a service and returns the answer.
func send(t *testing.T, method, u, contentType, body string) string {
	t.Helper()
	r, err := http.NewRequest(method, u, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s: %s %s, %v", u, resp.Status, b, err)
	}
	return string(b)
}

// learn stores documents and waits for a model of them.
func learn(t *testing.T, base string, docs []string, first int) {
	t.Helper()
	var b strings.Builder
	for i, text := range docs {
		line, err := json.Marshal(map[string]any{"id": fmt.Sprintf("d%d", first+i), "words": strings.Fields(text)})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	send(t, "POST", base+"/v1/documents", "application/x-ndjson", b.String())
	out := send(t, "POST", base+"/v1/refit", "", "")
	for strings.Contains(out, `"running"`) {
		time.Sleep(5 * time.Millisecond)
		out = send(t, "GET", base+"/v1/refit", "", "")
	}
	if !strings.Contains(out, `"done"`) {
		t.Fatal(out)
	}
}

// open opens the page of a service.
func open(t *testing.T, base, scheme string) (v *visit.Visit, leave func()) {
	t.Helper()
	own, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	v = visit.Open(t, tab(t), base+"/", scheme)
	return v, func() {
		t.Helper()
		v.Leave(func(u *url.URL) bool { return u.Scheme == "http" && u.Host == own.Host })
	}
}

const (
	model   = `document.getElementById("model").textContent`
	listed  = `[...document.querySelectorAll("#topics .line")].map(l => l.dataset.topic).join(" ")`
	title   = `document.getElementById("detail-title").textContent`
	current = `[...document.querySelectorAll("#topics [aria-current]")].map(l => l.dataset.topic).join(" ")`
	said    = `document.getElementById("said").textContent`
	stored  = `document.getElementById("stored").textContent`
	forgot  = `document.getElementById("forgot").textContent`
	kept    = `document.getElementById("kept").textContent`
	learnt  = `document.getElementById("learnt").textContent`
	fitted  = `!document.getElementById("refit").disabled`
)

// A newcomer's way, from an empty service to topics that drift, by every control
// of the page, with the mouse and with the keyboard.
func TestPage(t *testing.T) {
	base := start(t, serve.Settings{})
	v, leave := open(t, base, "light")
	shoot(v, "empty")

	// There is no model: the page says what to do, and shows nothing that needs one.
	if got := visit.Eval[string](v, model); got != "No model yet." {
		t.Errorf("the model is %q", got)
	}
	if !visit.Eval[bool](v, `document.getElementById("compose").hidden && document.getElementById("shown").hidden && !document.getElementById("welcome").hidden`) {
		t.Error("without a model there is more to see than how to get one")
	}
	v.Changes("storing nothing", stored, visit.Click("#upload button"))
	docs := texts(300, 1, plain)

	// Documents by hand, twice the same one.
	v.Changes("storing by mouse", kept, visit.Focus("#lines"), chromedp.SendKeys("#lines", docs[0]+"\n\n"+docs[1]+"\n"+docs[0], chromedp.ByQuery), visit.Click("#upload button"))
	v.Wait(stored + ` === "2 documents stored, 1 there already."`)
	v.Wait(kept + `.startsWith("2 documents of ")`)
	v.Changes("storing by keyboard", stored, visit.Focus("#lines"), chromedp.SendKeys("#lines", docs[2], chromedp.ByQuery), ctrlEnter())
	v.Wait(stored + ` === "1 document stored."`)
	if n := visit.Eval[int](v, `document.querySelectorAll("#recent li").length`); n != 3 {
		t.Errorf("%d documents are shown as stored last", n)
	}
	// Forgetting them.
	v.Changes("forgetting by mouse", kept, visit.Into("#recent"), visit.Click("#recent li:nth-child(1) button"))
	v.Wait(kept + `.startsWith("2 documents of ")`)
	v.Changes("forgetting by keyboard", kept, visit.Focus("#recent li:nth-child(1) button"), visit.Key(kb.Enter))
	v.Wait(kept + `.startsWith("1 document of ")`)
	// A model of one document cannot be.
	v.Changes("a fit of too little", learnt, visit.Click("#refit"))
	v.Wait(fitted + ` && ` + learnt + `.startsWith("It failed, and the model is as before: ")`)
	// From files, of lines and of JSON.
	lines := filepath.Join(t.TempDir(), "docs.txt")
	if err := os.WriteFile(lines, []byte(strings.Join(docs[1:200], "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	v.Changes("a file", stored, chromedp.SetUploadFiles("#file", []string{lines}, chromedp.ByQuery), visit.Click("#upload button"))
	v.Wait(stored + `.endsWith(" stored.") || ` + stored + `.includes("already")`)
	ndjson := filepath.Join(t.TempDir(), "docs.ndjson")
	var b strings.Builder
	for i, d := range docs[200:] {
		fmt.Fprintf(&b, "{\"id\":\"by name %d\",\"text\":%q}\n", i, d)
	}
	if err := os.WriteFile(ndjson, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	v.Changes("a file of JSON Lines", stored, chromedp.SetUploadFiles("#file", []string{ndjson}, chromedp.ByQuery), visit.Focus("#upload button"), visit.Key(kb.Enter))
	v.Wait(stored + ` === "100 documents stored."`)
	v.Changes("forgetting by id", forgot, visit.Focus("#id"), chromedp.SendKeys("#id", "by name 7", chromedp.ByQuery), visit.Key(kb.Enter))
	v.Changes("storing it again", stored, chromedp.SetUploadFiles("#file", []string{ndjson}, chromedp.ByQuery), visit.Click("#upload button"))
	v.Wait(stored + ` === "1 document stored, 99 there already."`)

	// The first model.
	v.Changes("the fit by mouse", model, visit.Click("#refit"))
	v.Wait(fitted + ` && ` + model + `.startsWith("Model 1 · 6 topics · ")`)
	v.Wait(learnt + ` === "Model 1, of 299 documents, serves."`)
	if !visit.Eval[bool](v, `document.getElementById("welcome").hidden && !document.getElementById("compose").hidden && !document.getElementById("shown").hidden`) {
		t.Error("with a model the page is as without")
	}

	// What a text is about.
	v.Changes("a text by mouse", said, visit.Focus("#text"), chromedp.SendKeys("#text", "the jury heard the judge, then the appeal", chromedp.ByQuery), visit.Click("#infer button"))
	v.Wait(said + ` === "3 known words, 5 unknown. Model 1."`)
	top := `document.querySelector("#top .words").textContent`
	for w := range strings.FieldsSeq(visit.Eval[string](v, top)) {
		if w != "·" && !slices.Contains(strings.Fields(fields[0]), w) {
			t.Errorf("the first topic of the text has the word %q", w)
		}
	}
	// Why, and which documents are like it, and like those.
	v.Wait(`document.querySelectorAll("#why li").length === 3 && document.querySelectorAll("#like:not([aria-busy]) li").length === 5`)
	words := visit.Eval[[]string](v, `[...document.querySelectorAll("#why .words")].map(e => e.textContent)`)
	slices.Sort(words)
	if !slices.Equal(words, []string{"appeal", "judge", "jury"}) {
		t.Errorf("the words that say so are %q", words)
	}
	alike := `document.getElementById("alike-title").textContent`
	if got := visit.Eval[string](v, alike); got != "Documents like this text" {
		t.Errorf("the title is %q", got)
	}
	v.Changes("a document by mouse", alike, visit.Into("#like"), visit.Click("#like li:nth-child(2) button"))
	v.Wait(`document.querySelectorAll("#like:not([aria-busy]) li").length === 5`)
	v.Changes("a document by keyboard", alike, visit.Focus("#like li:nth-child(3) button"), visit.Key(kb.Enter))
	v.Changes("a text by keyboard", top, visit.Set("#text", "rocket and moon and comet"), ctrlEnter())
	v.Wait(said + ` === "3 known words, 2 unknown. Model 1."`)
	v.Changes("a text of no words", said, visit.Set("#text", "xyzzy"), visit.Focus("#infer button"), visit.Key(kb.Enter))
	v.Wait(`document.querySelectorAll("#top li").length === 0 && document.getElementById("explained").hidden && document.getElementById("alike").hidden`)
	v.Changes("a text again", said, visit.Set("#text", "bank and bond and forest"), visit.Click("#infer button"))

	// Topics: from the text, from the list, from each other, from the pairs.
	v.Changes("a topic of the text", title, visit.Into("#top"), visit.Click("#top li:nth-child(1) button"))
	v.Changes("a topic by mouse", title, visit.Into("#topics"), visit.Click("#topics li:nth-child(6) button"))
	v.Changes("a topic by keyboard", title, visit.Focus("#topics li:nth-child(2) button"), visit.Key(kb.Enter))
	if a, b := visit.Eval[string](v, title), visit.Eval[string](v, current); a != "Topic "+b {
		t.Errorf("%s is told of, %s marked", a, b)
	}
	v.Wait(`document.querySelectorAll("#of:not([aria-busy]) li").length === 5`)
	// The bars of its words are as long as their percentages say.
	if off := visit.Eval[[]string](v, `(() => {
		const items = [...document.querySelectorAll("#words li")].map(e => ({e, part: parseFloat(e.querySelector("b").textContent), width: parseFloat(e.querySelector(".fill").style.width)}));
		const most = Math.max(...items.map(i => i.part));
		return items.filter(i => Math.abs(i.width - 100 * i.part / most) > 100 * 0.1 / most).map(i => i.e.textContent + ": " + i.width + " %");
	})()`); len(off) > 0 {
		t.Errorf("bars that are longer or shorter than their percentages: %q", off)
	}
	v.Changes("a document of a topic", alike, visit.Into("#of"), visit.Click("#of li:nth-child(1) button"))
	v.Changes("a topic that goes with it", title, visit.Into("#with"), visit.Click("#with button"))
	v.Changes("one by keyboard", title, visit.Focus("#with li:nth-child(2) button"), visit.Key(kb.Enter))
	other := func() string { // a topic of a pair that is not shown
		li := visit.Eval[int](v, `1 + [...document.querySelectorAll("#pairs li")].findIndex(e => "Topic " + e.querySelector("button .number").textContent !== `+title+`)`)
		return fmt.Sprintf("#pairs li:nth-child(%d) button", li)
	}
	v.Changes("a topic of a pair", title, visit.Into("#pairs"), visit.Click(other()))
	v.Changes("one by keyboard", title, visit.Focus(other()), visit.Key(" "))
	rows := `document.querySelectorAll("#pairs li").length`
	v.Changes("all pairs by mouse", rows, visit.Into("#more"), visit.Click("#more"))
	if n := visit.Eval[int](v, rows); n != 15 {
		t.Errorf("%d pairs of 6 topics", n)
	}
	v.Changes("some by keyboard", rows, visit.Focus("#more"), visit.Key(kb.Enter))
	v.Changes("the order of topics", listed, visit.Focus("#order"), visit.Key("n"))
	if got := visit.Eval[string](v, listed); got != "0 1 2 3 4 5" {
		t.Errorf("by number: %s", got)
	}

	// The next model: topics are where they were, and say how far they moved.
	shoot(v, "first")
	v.Changes("documents of one field", stored, visit.Focus("#lines"), chromedp.Evaluate(fmt.Sprintf(`document.getElementById("lines").value = %q`,
		strings.Join(texts(60, 5, func(_, i int) string { return plain(0, i%4) }), "\n")), nil), visit.Click("#upload button"))
	v.Wait(stored + `.includes("stored")`)
	first := visit.Eval[string](v, title)
	v.Changes("the fit by keyboard", model, visit.Focus("#refit"), visit.Key(kb.Enter))
	v.Wait(fitted + ` && ` + model + `.startsWith("Model 2 · ")`)
	v.Wait(learnt + `.includes("Its topics moved by ")`)
	if n := visit.Eval[int](v, `[...document.querySelectorAll("#topics .extra")].filter(e => /^moved [01]\.\d\d$/.test(e.textContent)).length`); n != 6 {
		t.Errorf("%d of 6 topics say how far they moved", n)
	}
	v.Wait(`document.getElementById("facts").textContent.includes("; moved ")`)
	if got := visit.Eval[string](v, title); got != first {
		t.Errorf("%s was told of, now %s", first, got)
	}
	v.Changes("the order of drift", listed, visit.Focus("#order"), visit.Key("d"))
	v.Wait(`(() => { const d = [...document.querySelectorAll("#topics .extra")].map(e => e.textContent); return d.every((x, i) => i === 0 || x <= d[i-1]); })()`)
	if got := visit.Eval[string](v, said); got != "" {
		t.Errorf("the topics of a text are those of the model before: %q", got)
	}
	shoot(v, "second")

	// A swap that somebody else has asked for: the page goes over to it as a whole.
	learn(t, base, texts(50, 9, plain), 1000)
	v.Changes("a topic of the model before", model, visit.Into("#topics"), visit.Click("#topics li:nth-child(1) button"))
	v.Wait(model + `.startsWith("Model 3 · ")`)

	// Everything that takes the focus shows it, and has a name.
	if nameless := visit.Eval[[]string](v, `[...document.querySelectorAll("button, input, select, textarea, a[href]")].filter(e => e.getClientRects().length &&
		!(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML.slice(0, 120))`); len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	reached := map[string]bool{}
	v.Run(chromedp.Evaluate(`document.activeElement.blur(); document.querySelector("nav a").focus()`, nil))
	for range 100 {
		v.Run(visit.Key(kb.Tab))
		at := visit.Eval[struct {
			ID    string
			Shows bool
		}](v, `(() => { const e = document.activeElement, s = getComputedStyle(e); return {id: e.id, shows: e === document.body || s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2}; })()`)
		if !at.Shows {
			t.Errorf("the focus cannot be seen on %q", at.ID)
		}
		reached[at.ID] = true
	}
	for _, id := range []string{"text", "lines", "file", "id", "refit", "order", "more"} {
		if !reached[id] {
			t.Errorf("%s cannot be reached by Tab: %v", id, reached)
		}
	}
	// The links lead where they say.
	v.Run(visit.Click("#report"), chromedp.WaitVisible("#lambda", chromedp.ByQuery)) // a control of the report
	v.Run(chromedp.NavigateBack(), chromedp.WaitVisible("#infer", chromedp.ByQuery))
	leave()
}

// ctrlEnter presses Ctrl and Enter.
func ctrlEnter() chromedp.Action { return chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)) }

// How far a refit is can be seen, also of one that somebody else has begun; here
// the answers are made up, for those of so few documents are done at once.
func TestProgress(t *testing.T) {
	base := start(t, serve.Settings{})
	learn(t, base, texts(300, 1, plain), 0)
	v, leave := open(t, base, "light")
	v.Run(chromedp.Evaluate(`const real = call;
		let state = {state: "running", stage: "rectify", done: 3, total: 10};
		call = async (...request) => request[1] === "v1/refit" ? state : real(...request); undefined`, nil), visit.Click("#refit"))
	bar := `document.getElementById("progress")`
	v.Wait(`!` + bar + `.hidden && ` + bar + `.value === 3 && ` + bar + `.max === 10 && document.getElementById("refit").disabled`)
	v.Wait(learnt + `.endsWith(", 3 of 10 …")`)
	v.Run(chromedp.Evaluate(`state = {state: "running", stage: "something new"}; undefined`, nil))
	v.Wait(learnt + ` === "something new …" && !` + bar + `.hasAttribute("value")`)
	v.Run(chromedp.Evaluate(`state = {state: "failed", error: "<b>why</b>"}; undefined`, nil))
	v.Wait(bar + `.hidden && ` + fitted + ` && ` + learnt + `.endsWith("as before: <b>why</b>")`)
	leave()
}

// The rules by which documents go are told.
func TestWindow(t *testing.T) {
	base := start(t, serve.Settings{Window: 100, MaxAge: 36 * time.Hour, HalfLife: time.Hour})
	learn(t, base, texts(120, 1, plain), 0)
	v, leave := open(t, base, "dark")
	v.Wait(kept + `.endsWith("are kept: the last 100 documents stay, those of 36 hours stay, after 1 hour one counts half, 20 have gone so far.")`)
	leave()
}

// The values of documents are shown with them.
func TestValues(t *testing.T) {
	base := start(t, serve.Settings{Columns: []corpus.Column{{Name: "year", Kind: corpus.Number}, {Name: "<b>", Kind: corpus.Category}}})
	send(t, "POST", base+"/v1/documents", "application/json", `{"id":"<i>x</i>/?#","values":{"year":1998,"<b>":"<u>a</u>"},"text":"judge jury trial law verdict appeal"}`)
	learn(t, base, texts(300, 1, plain), 0)
	v, leave := open(t, base, "light")
	v.Wait(kept + `.endsWith(" are kept. They can have values in year (number), <b> (category).")`)
	v.Changes("a text", said, visit.Set("#text", "judge jury trial law verdict appeal"), visit.Click("#infer button"))
	v.Wait(`[...document.querySelectorAll("#like li")].some(e => e.textContent.endsWith("<i>x</i>/?#year 1998, <b> <u>a</u>"))`)
	leave()
}

// What a topic depends on is told, where it is certain.
func TestEffects(t *testing.T) {
	base := start(t, serve.Settings{Columns: []corpus.Column{{Name: "<i>field</i>", Kind: corpus.Category}, {Name: "when", Kind: corpus.Time}}})
	for i, text := range texts(300, 1, plain) {
		count := make([]int, len(fields)) // the field that most of it is of
		for f, words := range fields {
			for w := range strings.FieldsSeq(text) {
				if slices.Contains(strings.Fields(words), w) {
					count[f]++
				}
			}
		}
		send(t, "POST", base+"/v1/documents", "application/json", fmt.Sprintf(`{"id":"e%d","values":{"<i>field</i>":"<u>%d</u>","when":"2024-%02d-01"},"text":%q}`, i, slices.Index(count, slices.Max(count)), 1+i/30, text))
	}
	learn(t, base, nil, 0)
	for strings.Contains(send(t, "GET", base+"/v1/effects", "", ""), `"waiting"`) {
		time.Sleep(5 * time.Millisecond)
	}
	v, leave := open(t, base, "light")
	v.Run(visit.Click("#topics button"))
	v.Wait(`document.querySelectorAll("#depends li").length === 6 && document.getElementById("depends").firstChild.textContent.startsWith("+")`)
	v.Wait(`document.getElementById("depends-said").textContent.startsWith("Percentage points above")`)
	if got := visit.Eval[string](v, `document.querySelector("#depends .words").textContent`); !strings.HasPrefix(got, "<i>field</i> <u>") {
		t.Errorf("the first is %q", got)
	}
	// The share by time is a line, of which the dates are told.
	v.Wait(`document.querySelectorAll("#over-time polyline").length > 0 && document.querySelector("#over-time figcaption").textContent.startsWith("when, 2024-")`)
	leave()
	shoot(v, "effects")
}

// What eyes would complain of: text on a ground of too little contrast, and a page
// wider than the window.
func TestLooks(t *testing.T) {
	base := start(t, serve.Settings{})
	learn(t, base, texts(300, 1, plain), 0)
	learn(t, base, texts(100, 2, plain), 300)
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{390, 844}, {320, 600}, {1280, 900}} {
			if testing.Short() && size[0] != 320 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", scheme, size[0]), func(t *testing.T) {
				v, leave := open(t, base, scheme)
				v.Run(chromedp.EmulateViewport(size[0], size[1]), visit.Click("#topics button"))
				v.Wait(`!document.getElementById("detail").hidden`) // which moves what is below
				v.Run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById("text").value = %q`, "judge and jury and goal"), nil), visit.Click("#infer button"))
				v.Wait(`document.querySelectorAll("#why li").length > 0 && document.querySelectorAll("#like li").length > 0 && document.querySelectorAll("#of li").length > 0`)
				v.Run(chromedp.Evaluate(`for (const id of ["welcome", "recent", "progress"]) document.getElementById(id).hidden = false; say("learnt", "no", true); say("said", "x".repeat(200))`, nil))
				if w := visit.Eval[int64](v, `document.documentElement.scrollWidth`); w > size[0] {
					t.Errorf("the page is %d wide", w)
				}
				if small := visit.Eval[[]string](v, `[...document.querySelectorAll("button, select, input")].filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 24).map(e => e.outerHTML.slice(0, 80))`); len(small) > 0 {
					t.Errorf("hard to hit: %q", small)
				}
				for _, bad := range visit.Eval[[]string](v, visit.Contrast) {
					t.Errorf("contrast below 4.5: %s", bad)
				}
				// And where the bars are filled.
				v.Run(chromedp.Evaluate(`for (const l of document.querySelectorAll(".bars li")) l.style.background = getComputedStyle(l.querySelector(".fill")).backgroundColor`, nil))
				for _, bad := range visit.Eval[[]string](v, visit.Contrast) {
					t.Errorf("contrast below 4.5 on a bar: %s", bad)
				}
				leave()
				shoot(v, scheme)
			})
		}
	}
}

// Markup in words, texts, ids and errors stays text.
func TestMarkup(t *testing.T) {
	base := start(t, serve.Settings{})
	attacks := []string{
		`<script>window.pwned=1</script>`, `"><img/src=x/onerror="window.pwned=1">`, `'"onmouseover=window.pwned=1/x="`, `javascript:window.pwned=1`,
		`<svg/onload=window.pwned=1>`, `&lt;b&gt;`, `<iframe/src="https://example.com/">`, "\u202egnp", `</title><b>`, `<base/href="https://example.com/">`,
	}
	learn(t, base, texts(300, 3, func(f, i int) string { return fmt.Sprint(attacks[i], f) }), 0)
	v, leave := open(t, base, "light")
	v.Run(visit.Click("#topics button"))
	v.Wait(`document.getElementById("words").textContent.includes("window.pwned=1")`)
	v.Changes("a text", said, chromedp.Evaluate(fmt.Sprintf(`document.getElementById("text").value = %q`, strings.Join(attacks, " ")), nil), visit.Click("#infer button"))
	v.Changes("documents", stored, chromedp.Evaluate(fmt.Sprintf(`document.getElementById("lines").value = %q`, strings.Join(attacks, "\n")), nil), visit.Click("#upload button"))
	v.Wait(`document.querySelectorAll("#recent li").length === 5`)
	if visit.Eval[bool](v, `"pwned" in window`) {
		t.Error("a script of a text has run")
	}
	if got := visit.Eval[[]string](v, `[...document.querySelectorAll("img, iframe, svg, base, title b, main script, main a")].map(e => e.outerHTML)`); len(got) > 0 {
		t.Errorf("elements that the page does not have by itself: %q", got)
	}
	leave()
	// Errors too. (The browser complains of the answers 404, of course.)
	v.Changes("an id", forgot, chromedp.Evaluate(fmt.Sprintf(`document.getElementById("id").value = %q`, attacks[0]+"/../x?y#z"), nil), visit.Click("#forget button"))
	v.Wait(forgot + `.includes("there is no document") && ` + forgot + `.includes("<script>")`)
	if visit.Eval[int](v, `document.scripts.length`) != 1 {
		t.Error("there are more scripts")
	}
}

// shoot saves pictures for people to look at, where they are asked for.
func shoot(v *visit.Visit, name string) {
	dir := os.Getenv("SERVICE_SHOTS")
	if dir == "" {
		return
	}
	for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
		var b []byte
		v.Run(chromedp.EmulateViewport(size[0], size[1]), chromedp.FullScreenshot(&b, 100))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, size[0])), b, 0o666); err != nil {
			v.T.Fatal(err)
		}
	}
	v.Run(chromedp.EmulateViewport(1280, 900))
}
