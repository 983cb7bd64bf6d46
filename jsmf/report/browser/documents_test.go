package browser

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// TestDocuments uses the map of documents by mouse and by keyboard.
func TestDocuments(t *testing.T) {
	m, err := sample.Model(900, 12, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	const docs = 600
	file := save(t, m, many(t, m, docs))
	v := visit.Open(t, tab(t), address(file), "light")
	v.Wait(allTexts)
	if got, want := visit.Eval[string](v, chosenCount), "600 documents"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	readByMouse(v)
	readByKeyboard(v)
	moveMap(v)
	chooseAreas(v)
	findDocuments(v, strings.ToLower(m.TopWords(0, 1)[0].Word))
	filterDocuments(v)
	saveDocuments(v)
	editTopics(v)
	v.Changes("a document of the chosen topic", reading, visit.Into("#docs button"), visit.Click("#docs button"))
	v.Run(visit.Focus("#documents-back"), visit.Key(kb.Enter), visit.Focus("#documents-list button"), visit.Key(kb.Enter))
	looksOf(v)
	v.Leave(only(file))
}

// TestDocumentsSomeTexts: where the page has the texts of some documents only, a search says
// among how many it looked, and compares what it found with nothing.
func TestDocumentsSomeTexts(t *testing.T) {
	m, err := sample.Model(900, 12, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	const docs = 5000
	o := many(t, m, docs)
	o.Describe = func(d int) report.Document {
		r := rand.New(rand.NewPCG(4, uint64(d)))
		text := []byte("everywhere ")
		if d%10 == 0 {
			text = append(text, "tenth "...)
		}
		for len(text) < 1400 {
			text = append(text, byte('a'+r.IntN(26)))
		}
		return report.Document{Title: fmt.Sprintf("The title of number %d", d), Text: string(text)}
	}
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	v.Wait(allTexts)
	texts := visit.Eval[int](v, `Number(document.getElementById("documents").dataset.texts)`)
	if texts < 100 || texts >= docs {
		t.Fatalf("%d of %d texts are kept, want some", texts, docs)
	}
	kept := visit.Eval[string](v, `document.getElementById("documents-find").placeholder`)
	number := strings.TrimSuffix(strings.TrimPrefix(kept, "in titles, ids and "), " texts")
	if got := strings.ReplaceAll(number, "\u202f", ""); got != strconv.Itoa(texts) {
		t.Errorf("the search is %q, want it to say that there are %d texts", kept, texts)
	}
	ratios := `[...document.querySelectorAll("#documents-mix .v:last-child")].map(e => e.textContent).join("")`
	for _, x := range []struct{ search, count, why string }{
		{"everywhere", "In " + number, "with “everywhere”; other texts found no room on this page"},
		{`"number 499"`, "In 0", "with “number 499”; in 11 other titles and ids; other texts found no room on this page"},
		{"tenth", "In " + strconv.Itoa(texts / 10)[:1], "with “tenth”; other texts"},
	} {
		t.Run(x.search, func(t *testing.T) {
			v.Run(visit.Set("#documents-find", x.search))
			v.Wait(`document.getElementById("documents-why").textContent.includes(` + strconv.Quote(x.why) + `)`)
			if got := visit.Eval[string](v, chosenCount); !strings.HasPrefix(got, x.count) || !strings.HasSuffix(got, " of the "+number+" texts kept here") {
				t.Errorf("%q in the texts, want %s… of the %s texts kept here", got, x.count, number)
			}
			if got := visit.Eval[string](v, ratios); got != "" {
				t.Errorf("the topics of what was found are %q times as much as in all, want no such numbers", got)
			}
			if said := visit.Eval[string](v, `document.getElementById("documents-plane").getAttribute("aria-label")`); !strings.Contains(said, " texts kept here") {
				t.Errorf("the map is called %q", said)
			}
		})
	}
	for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
		v.Run(chromedp.EmulateViewport(size[0], size[1]))
		v.Wait(`document.documentElement.scrollWidth <= innerWidth`)
		if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
			var b []byte
			v.Run(visit.Into("#documents-count"), chromedp.CaptureScreenshot(&b))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("texts-%d.png", size[0])), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	v.Run(visit.Click("#documents-clear"))
	v.Wait(chosenCount + ` === "5\u202f000 documents"`)
	// All words of an address must be there, in whatever order.
	v.Run(chromedp.Evaluate(`location.hash = "#topic-1&text=tenth+number"`, nil))
	v.Wait(`document.getElementById("documents-find").value === "tenth number" && document.querySelector("#list [aria-selected=true]").dataset.k === "1"`)
	if got := visit.Eval[string](v, chosenCount); !strings.HasPrefix(got, "In "+strconv.Itoa(texts / 10)[:1]) {
		t.Errorf("by its address the page chooses %q", got)
	}
	v.Leave(only(file))
}

// readByMouse: the mouse finds a document, and a click reads it, with words marked.
func readByMouse(v *visit.Visit) {
	t := v.T
	t.Helper()
	x, y := hover(v)
	if tip := visit.Eval[string](v, `document.getElementById("documents-tip").textContent`); !strings.HasPrefix(tip, "The title of number ") {
		t.Errorf("the tip says %q", tip)
	}
	at := visit.Eval[string](v, planeAt)
	v.Run(chromedp.MouseClickXY(x, y))
	v.Wait(reading + ` !== undefined`)
	if got := visit.Eval[string](v, reading); got != at {
		t.Errorf("a click on document %s reads %s", at, got)
	}
	pane := visit.Eval[struct {
		Name, Marks string
		Paragraphs  int
		Facts, Bars int
		Unmarked    bool
	}](v, `(() => { const p = document.getElementById("documents-read"), m = [...p.querySelectorAll("mark")].map(m => m.textContent);
		return {name: p.querySelector("h3").textContent, marks: m.join(" "), paragraphs: p.querySelectorAll(".text p").length, facts: p.querySelectorAll(".facts div").length,
			bars: p.querySelectorAll(".bars li").length, unmarked: !m.includes("unrelated") && p.querySelector(".text").textContent.includes("unrelated")}; })()`)
	if pane.Name != "The title of number "+at || pane.Paragraphs != 2 || pane.Bars < 2 || !pane.Unmarked || strings.Count(pane.Marks, " ") < 15 || pane.Marks != strings.ToUpper(pane.Marks) {
		t.Errorf("the pane of document %s is %+v", at, pane)
	}
	v.Changes("a topic of the document", `document.querySelector("#documents-read .text + *, #documents-read").textContent + document.querySelectorAll("#documents-read mark").length`, visit.Click("#documents-read .bars li:nth-child(2) button"))
	v.Changes("a similar document", reading, visit.Into("#documents-read .found button"), visit.Click("#documents-read .found button"))
	v.Changes("back to the list", `document.getElementById("documents-read").hidden`, visit.Into("#documents-back"), visit.Click("#documents-back"))

}

// readByKeyboard: arrow keys go from one document to the next, Enter reads it, and Escape
// comes back.
func readByKeyboard(v *visit.Visit) {
	t := v.T
	t.Helper()
	v.Changes("an arrow key", planeAt, visit.Focus("#documents-plane"), visit.Key(kb.ArrowRight))
	v.Changes("another", planeAt, visit.Key(kb.ArrowDown))
	if said, tip := visit.Eval[string](v, `document.getElementById("documents-info").textContent`), visit.Eval[string](v, `document.querySelector("#documents-tip b").textContent`); !strings.HasPrefix(said, tip) {
		t.Errorf("said is %q, shown %q", said, tip)
	}
	at := visit.Eval[string](v, planeAt)
	v.Run(visit.Key(kb.Enter))
	v.Wait(reading + ` === "` + at + `" && document.activeElement.id === "documents-read"`)
	v.Run(visit.Key(kb.Escape))
	v.Wait(reading + ` === undefined && document.activeElement.id === "documents-plane"`)
	v.Changes("an entry of the list, by keyboard", reading, visit.Focus("#documents-list li:nth-child(3) button"), visit.Key(kb.Enter))
	v.Run(visit.Focus("#documents-back"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement === document.querySelector("#documents-list li:nth-child(3) button")`)
	v.Changes("more of the list", `document.getElementById("documents-list").children.length`, visit.Into("#documents-more"), visit.Click("#documents-more"))

}

// moveMap zooms and moves the map, and chooses what is in view.
func moveMap(v *visit.Visit) {
	v.T.Helper()
	v.Changes("zoom by button", planeView, visit.Into("#documents-plane"), visit.Click("#documents-in"))
	v.Changes("zoom by key", planeView, visit.Focus("#documents-plane"), visit.Key("+"))
	v.Changes("moving by mouse", planeView, visit.Into("#documents-plane"), chromedp.ActionFunc(func(ctx context.Context) error { return drag(ctx, "#documents-plane", 60, 40) }))
	v.Changes("zoom by wheel", planeView, visit.Into("#documents-plane"), chromedp.ActionFunc(func(ctx context.Context) error { return wheel(ctx, "#documents-plane", -300) }))
	v.Changes("zoom out", planeView, visit.Focus("#documents-out"), visit.Key(kb.Enter))
	v.Changes("what is in view", chosenCount, visit.Focus("#documents-view"), visit.Key(kb.Enter))
	v.Changes("all", planeView, visit.Click("#documents-reset"))
	v.Changes("two fingers", planeView, visit.Into("#documents-plane"), pinch("#documents-plane"))
	v.Changes("all documents", chosenCount, visit.Click("#documents-clear"))
	v.Run(visit.Click("#documents-reset"))

}

// chooseAreas draws around documents, with the button and with Shift.
func chooseAreas(v *visit.Visit) {
	t := v.T
	t.Helper()
	v.Changes("a lasso", chosenCount, visit.Click("#documents-lasso"), visit.Into("#documents-plane"), around("#documents-plane", 0))
	if why := visit.Eval[string](v, `document.getElementById("documents-why").textContent`); !strings.Contains(why, "area") {
		t.Errorf("why these: %q", why)
	}
	some := visit.Eval[string](v, `document.getElementById("documents-mix").textContent`)
	v.Changes("all documents, by keyboard", chosenCount, visit.Focus("#documents-clear"), visit.Key(kb.Enter))
	if all := visit.Eval[string](v, `document.getElementById("documents-mix").textContent`); all == some {
		t.Error("the mix of topics of an area is that of all")
	}
	v.Changes("Shift", chosenCount, visit.Into("#documents-plane"), around("#documents-plane", input.ModifierShift))
	v.Run(visit.Click("#documents-clear"))
	v.Wait(chosenCount + ` === "600 documents"`)

}

// findDocuments searches in titles, ids and texts; word is one of some of them.
func findDocuments(v *visit.Visit, word string) {
	v.T.Helper()
	for q, want := range map[string]string{"NUMBER 599": "1 document", "id-598": "1 document", "no such thing": "0 documents", word: ""} {
		v.Run(visit.Set("#documents-find", q))
		if want == "" {
			v.Wait(chosenCount + ` !== "0 documents" && ` + chosenCount + ` !== "600 documents"`)
		} else {
			v.Wait(chosenCount + ` === "` + want + `"`)
		}
	}
	v.Run(visit.Click("#documents-clear"))
	v.Wait(chosenCount + ` === "600 documents"`)

}

// filterDocuments uses the colours, their legend, and filters of all kinds together.
func filterDocuments(v *visit.Visit) {
	t := v.T
	t.Helper()
	v.Changes("colours by a topic's share", legend, option("documents-colour", -1))
	v.Changes("colours by number", legend, option("documents-colour", 3))
	v.Changes("colours by category", legend, option("documents-colour", 2))
	v.Changes("a level of the legend", chosenCount, visit.Into("#documents-legend"), visit.Click("#documents-legend button"))
	if got := visit.Eval[string](v, chosenCount); got != "50 documents" && got != "40 documents" { // a twelfth, without those that have no values
		t.Errorf("%s of a level", got)
	}
	v.Changes("filters", `document.getElementById("documents-filters").open`, visit.Focus("#documents-filters summary"), visit.Key(kb.Enter))
	filter := func(field int, rest string) string {
		return fmt.Sprintf("#documents-filters fieldset:nth-child(%d) %s", field, rest)
	}
	v.Wait(`document.querySelectorAll("#documents-filters fieldset").length === 5`)
	v.Changes("another level", chosenCount, visit.Into(filter(3, "label:nth-child(2) input")), visit.Click(filter(3, "label:nth-child(2) input")))
	v.Changes("a number", chosenCount, visit.Set(filter(4, "input"), "100\t"))
	v.Changes("a time", chosenCount, visit.Set(filter(5, "label:nth-child(2) input"), "01012002\t"))
	v.Wait(`document.getElementById("documents-why").textContent.includes("to 2002-01-01")`)
	if n, _ := strconv.Atoi(strings.Fields(visit.Eval[string](v, chosenCount))[0]); n < 1 || n > 60 {
		t.Errorf("%d documents of two papers, from 100 words, before 2002", n)
	}
}

// saveDocuments saves the chosen documents as a table, and the picture.
func saveDocuments(v *visit.Visit) {
	t := v.T
	t.Helper()
	left := strings.Fields(visit.Eval[string](v, chosenCount))[0]
	d := takeDownloads(v)
	rows, err := csv.NewReader(strings.NewReader(d.press(v, saveButton("chosen documents.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 || strconv.Itoa(len(rows)-1) != left || !slices.Equal(rows[0][:6], []string{"id", "title", "largest topic", "paper", "length", "published"}) || len(rows[0]) != 6+12 {
		t.Fatalf("%s documents in %d rows, head %q", left, len(rows), rows[0])
	}
	for _, r := range rows[1:] {
		if words, _ := strconv.Atoi(r[4]); !strings.HasPrefix(r[3], "paper ") || words < 100 || r[5] > "2002-01-01" || !strings.HasPrefix(r[0], "id-") {
			t.Errorf("a row is %q", r)
		}
	}
	if _, err := png.Decode(strings.NewReader(d.press(v, saveButton("map of documents.png")))); err != nil {
		t.Error(err)
	}

}

// editTopics: names that people give, and topics that they make one, hold here too.
func editTopics(v *visit.Visit) {
	t := v.T
	t.Helper()
	v.Run(visit.Click("#documents-clear"), option("documents-colour", 1))
	v.Wait(chosenCount + ` === "600 documents"`)
	topics := func() int {
		return visit.Eval[int](v, `document.querySelectorAll("#documents-filters fieldset:nth-child(2) label").length`)
	}
	before, all := topics(), visit.Eval[string](v, `document.getElementById("documents-mix").textContent`)
	rename(v, "A new name")
	v.Wait(`document.getElementById("documents-filters").textContent.includes("A new name") && document.getElementById("documents-order").textContent.includes("A new name")`)
	v.Run(visit.Focus("#merge"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "merge-with"`)
	v.Changes("topics that are one", `document.getElementById("documents-mix").textContent`, visit.Click("#merge-form [type=submit]"))
	if got := topics(); got != before-1 {
		t.Errorf("%d topics after two of %d have become one", got, before)
	}
	v.Run(visit.Focus("#undo"), visit.Key(kb.Enter), visit.Focus("#undo"), visit.Key(kb.Enter))
	if got := visit.Eval[string](v, `document.getElementById("documents-mix").textContent`); topics() != before || got != all {
		t.Errorf("%d topics again, with %q, want %d with %q", topics(), got, before, all)
	}
}

// looksOf measures contrast and width, in both themes, on a desktop and a phone.
func looksOf(v *visit.Visit) {
	t := v.T
	t.Helper()
	for _, dark := range []bool{false, true} {
		v.Run(chromedp.Evaluate(fmt.Sprintf(`if ((document.documentElement.dataset.theme === "dark") !== %v) document.getElementById("theme").click()`, dark), nil))
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			drawn := visit.Eval[string](v, planeDrawn)
			v.Run(chromedp.EmulateViewport(size[0], size[1]))
			v.Wait(fmt.Sprintf(`innerWidth === %d`, size[0]))
			if size[0] == 390 {
				v.Wait(planeDrawn + ` !== "` + drawn + `"`)
			}
			if w := visit.Eval[int64](v, `document.documentElement.scrollWidth`); w > size[0] {
				t.Errorf("dark: %v: %d pixels in a window of %d", dark, w, size[0])
			}
			if bad := visit.Eval[[]string](v, visit.Contrast); len(bad) > 0 {
				t.Errorf("dark: %v, %d pixels: contrast %q", dark, size[0], bad)
			}
		}
	}
}

// TestDocumentsMarkup: titles, texts, levels and words full of markup and of what has a
// meaning in regular expressions stay text, and the words are marked.
func TestDocumentsMarkup(t *testing.T) {
	odd := []string{`<img src=x onerror="window.pwned=1">`, `covid-19`, `c++`, `(a|b)*`, `[^a]`, `a\d$`, `</script><script>window.pwned=1</script>`, `machine_learning`, `a/b`, `{2}`, `^.?`, "\u202egnp", "东京", `'`}
	m, err := sample.Model(280, 4, func(i int) string { return fmt.Sprintf("%s%d", odd[i%len(odd)], i) })
	if err != nil {
		t.Fatal(err)
	}
	o := many(t, m, 40)
	values := make([][]corpus.Value, 40)
	for d := range values {
		values[d] = []corpus.Value{corpus.CategoryOf(odd[d%len(odd)])}
	}
	if o.Documents.Metadata, err = corpus.NewMetadata([]corpus.Column{{Name: odd[0], Kind: corpus.Category}}, values); err != nil {
		t.Fatal(err)
	}
	describe := o.Describe
	o.Describe = func(d int) report.Document {
		doc := describe(d)
		return report.Document{Title: odd[0] + odd[6], Text: odd[6] + " " + strings.ReplaceAll(strings.ToLower(doc.Text), "_", " ")}
	}
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	v.Wait(allTexts)
	hover(v)
	v.Run(visit.Focus("#documents-filters summary"), visit.Key(kb.Enter), option("documents-colour", 2))
	for i := range 10 {
		v.Run(visit.Focus(fmt.Sprintf("#documents-list li:nth-child(%d) button", 1+4*i)), visit.Key(kb.Enter),
			visit.Focus("#documents-read .bars li:first-child button"), visit.Key(kb.Enter)) // twenty words of its largest topic are in the text
		if n := visit.Eval[int](v, `document.querySelectorAll("#documents-read mark").length`); n < 20 {
			t.Errorf("%d words are marked: %q", n, visit.Eval[string](v, `document.getElementById("documents-read").innerHTML`))
		}
		v.Run(visit.Focus("#documents-back"), visit.Key(kb.Enter))
	}
	if visit.Eval[bool](v, `"pwned" in window || document.scripts.length !== 2 || !!document.querySelector("#documents :is(img, script, iframe)")`) {
		t.Error("a text has become markup")
	}
	v.Leave(only(file))
}

// TestOneDocument: the map of one document without a text shows it.
func TestOneDocument(t *testing.T) {
	m, err := sample.Model(60, 2, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, m, report.Options{Documents: compositions(2, 1)})
	v := visit.Open(t, tab(t), address(file), "dark")
	v.Run(chromedp.EmulateViewport(900, 700, chromedp.EmulateScale(2)))
	v.Wait(allTexts + ` && document.getElementById("documents-plane").width === 2 * document.getElementById("documents-plane").clientWidth`)
	v.Run(visit.Focus("#documents-plane"), visit.Key(kb.ArrowLeft))
	v.Wait(planeAt + ` === "0"`)
	v.Run(visit.Key(kb.Enter))
	v.Wait(reading + ` === "0" && document.getElementById("documents-read").textContent.includes("The page has no texts")`)
	v.Leave(only(file))
}

// TestManyDocuments: a page of 100,000 documents draws its map and answers the mouse. How
// long that takes is logged.
func TestManyDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: 100,000 documents")
	}
	m, err := sample.Model(3000, 50, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	if err := report.Write(&b, m, many(t, m, 100_000)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", b.Len()); b.Len() > 12e6 {
		t.Errorf("%d bytes", b.Len())
	}
	v := visit.Open(t, tab(t), address(file), "light")
	v.Wait(planeDrawn + ` !== undefined`)
	t.Logf("the page was drawn after at most %.0f ms", visit.Eval[float64](v, `performance.now()`))
	v.Wait(allTexts)
	t.Logf("titles and texts were there after at most %.0f ms", visit.Eval[float64](v, `performance.now()`))
	x, y := hover(v)
	t.Logf("the mouse is answered in %.2f ms", visit.Eval[float64](v, fmt.Sprintf(`(() => { const p = document.getElementById("documents-plane"), r = p.getBoundingClientRect(), n = 200;
		const t = performance.now();
		for (let i = 0; i < n; i++) p.dispatchEvent(new PointerEvent("pointermove", {clientX: %v + i %% 20, clientY: %v + i %% 7, bubbles: true}));
		return (performance.now() - t) / n; })()`, x, y)))
	before := visit.Eval[string](v, planeDrawn)
	v.Run(visit.Click("#documents-in"))
	v.Wait(planeDrawn + ` !== "` + before + `"`)
	v.Changes("searching", chosenCount, visit.Set("#documents-find", "number 9999"))
	v.Leave(only(file))
}
