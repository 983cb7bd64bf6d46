package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// maxSize is how large a report may be.
const maxSize = 5 << 20

func address(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// only lets a page ask for itself.
func only(file string) func(*url.URL) bool {
	return func(u *url.URL) bool { return u.Scheme == "file" && u.Path == filepath.ToSlash(file) }
}

func save(t *testing.T, m *jsmf.Model, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	if b.Len() > maxSize {
		t.Errorf("%d bytes, more than %d", b.Len(), maxSize)
	}
	t.Logf("%d topics over %d words: %d bytes", m.K(), m.N(), b.Len())
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// compositions makes documents of a model: document d is mostly of topic d mod K.
func compositions(k, docs int) *jsmf.Compositions {
	c := &jsmf.Compositions{Method: "made up", W: mat.NewDense(docs, k, nil), Unknown: make([]int64, docs)}
	for d := range docs {
		for t := range k {
			c.W.Set(d, t, 0.4/float64(k))
		}
		c.W.Set(d, d%k, 0.6+0.4/float64(k))
		c.IDs = append(c.IDs, fmt.Sprintf("document-%d", d))
		c.Docs = append(c.Docs, infer.Doc{Tokens: float64(50 + d)})
	}
	return c
}

// planted makes a model and all that a report can show of it.
func planted(t *testing.T, n, k int) (m *jsmf.Model, o report.Options) {
	t.Helper()
	m, err := sample.Model(n, k, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	h, err := jsmf.Levels{K: []int{k / 5, 3}}.Run(context.Background(), jsmf.Published(0), m)
	if err != nil {
		t.Fatal(err)
	}
	return m, report.Options{
		Title: "A planted model", About: "Made for a test, of words that mean nothing.", Hierarchy: h,
		Documents: compositions(k, 8*k), Describe: func(d int) report.Document {
			return report.Document{Title: fmt.Sprintf("The title of document %d", d), Snippet: strings.Repeat("Some words of it, and so on. ", 12)}
		},
	}
}

const (
	barWords   = `[...document.querySelectorAll("#bars li button")].map(b => b.textContent).join(" ")`
	listTopics = `[...document.querySelectorAll("#list li")].map(l => l.dataset.k).join(" ")`
	title      = `document.getElementById("detail-title").textContent`
	firstRow   = `document.querySelector("#bytopic tbody tr").dataset.row`
)

// TestControls uses every control by mouse and by keyboard, of a page with a hierarchy and
// documents, and of one with reading words.
func TestControls(t *testing.T) {
	m, o := planted(t, 1500, 20)
	read, err := sample.Split(1500, sample.Words, 10, 30)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		model *jsmf.Model
		o     report.Options
	}{{"planted", m, o}, {"reading", read, report.Options{}}} {
		t.Run(c.name, func(t *testing.T) {
			file := save(t, c.model, c.o)
			v := visit.Open(t, tab(t), address(file), "light")
			controls(v)
			shoot(v, c.name)
			v.Leave(only(file))
		})
	}
}

func controls(v *visit.Visit) {
	t := v.T
	t.Helper()

	// A model with reading weights shows reading words first.
	if visit.Eval[bool](v, `document.getElementById("reading") !== null`) {
		if !visit.Eval[bool](v, `document.getElementById("reading").checked`) {
			t.Error("the page does not begin with reading words")
		}
		v.Changes("probable words", barWords, visit.Click("#reading"))
		v.Changes("reading words", barWords, visit.Click("#reading"))
	}

	// The slider changes the order, by both.
	v.Changes("the slider by keyboard", barWords, visit.Focus("#lambda"), visit.Key(kb.Home))
	if l := visit.Eval[string](v, `document.getElementById("lambda").value`); l != "0" {
		t.Errorf("Home moves the slider to %s", l)
	}
	v.Changes("the slider by mouse", barWords, visit.ClickAt("#lambda", .995, .5))
	v.Changes("a step of the slider", `document.getElementById("lambda-out").textContent`, visit.Focus("#lambda"), visit.Key(kb.ArrowLeft))
	v.Run(visit.Focus("#lambda"), visit.Key(kb.End))

	// Topics: by the list, the arrows, the buttons, the largest, the findings, the address.
	v.Changes("a topic by mouse", title, visit.ClickAt("#list li:nth-child(3)", .5, .5))
	v.Changes("a topic by keyboard", title, visit.Focus("#list"), visit.Key(kb.ArrowDown))
	if id, sel := visit.Eval[string](v, `document.getElementById("list").getAttribute("aria-activedescendant")`), visit.Eval[string](v, `document.querySelector("#list [aria-selected=true]").id`); id != sel {
		t.Errorf("active is %s, selected %s", id, sel)
	}
	v.Changes("the next topic", title, visit.Click("#next"))
	v.Changes("the previous topic by keyboard", title, visit.Focus("#prev"), visit.Key(kb.Enter))
	v.Changes("one of the largest", title, visit.Into("#largest"), visit.Click("#largest .row:not(.on) .ground"))
	v.Changes("a name in the findings", title, visit.Into("#findings"), visit.Click("#findings a.name:nth-of-type(3)"))
	v.Changes("the address", title, chromedp.Evaluate(`location.hash = "#topic-" + (1 + Number(document.querySelector("#list [aria-selected=true]").dataset.k)) % 10`, nil))
	v.Changes("a topic that goes with it", title, visit.Into("#with button"), visit.Click("#with button"))
	v.Changes("a topic that goes with it, by keyboard", title, visit.Focus("#with button"), visit.Key(kb.Enter))

	// Sorting and filtering them.
	v.Changes("sorting topics", listTopics, visit.Focus("#sort"), visit.Key("n"))
	first := visit.Eval[string](v, `document.querySelector("#bars li:nth-child(2) button").textContent.replace("◆ ", "")`)
	v.Changes("the filter", listTopics, visit.Set("#filter", first))
	if n := visit.Eval[int](v, `document.querySelectorAll("#list li").length`); n == 0 {
		t.Errorf("no topic has %q", first)
	}
	v.Run(visit.Set("#filter", "no such word of any"))
	v.Wait(`!document.getElementById("list-none").hidden`)
	v.Run(chromedp.Evaluate(`document.getElementById("filter").select()`, nil), visit.Key(kb.Backspace))
	v.Wait(`document.getElementById("list-none").hidden`)

	// A word says where else it is while the pointer is on it, and its topic's disc grows with its part.
	sizes := `[...document.querySelectorAll("#topicmap-plane .disc")].map(g => g.firstChild.getAttribute("r")).join()`
	point := func(event string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`document.querySelector("#bars li:nth-child(2)").dispatchEvent(new PointerEvent(%q))`, event), nil)
	}
	v.Changes("a word under the pointer", sizes, point("pointerenter"))
	if s := visit.Eval[string](v, `document.querySelector("#bars .else").textContent`); !strings.Contains(s, " % in ") {
		t.Errorf("the word is %q", s)
	}
	v.Changes("no word under the pointer", sizes, point("pointerleave"))

	// The map shows and finds a word.
	v.Changes("a word by mouse", `document.getElementById("word-info").textContent`, visit.Into("#bars"), visit.Click("#bars li:nth-child(2) button"))
	v.Changes("a word by keyboard", `document.getElementById("word-info").textContent`, visit.Focus("#bars li:nth-child(3) button"), visit.Key(kb.Enter))

	// Tabs.
	shown := `[...document.querySelectorAll("[role=tabpanel]")].map(p => p.hidden).join()`
	v.Changes("a tab by mouse", shown, visit.Into("#tab-matrix"), visit.Click("#tab-matrix"))
	v.Changes("a tab by keyboard", shown, visit.Focus("#tab-matrix"), visit.Key(kb.ArrowRight))
	if on := visit.Eval[string](v, `document.activeElement.id`); on != "tab-pairs" {
		t.Errorf("the focus is on %q", on)
	}
	row := `document.querySelector("#pairs tbody tr").dataset.row`
	v.Changes("sorting pairs by mouse", row, visit.Into("#pairs"), visit.Click("#pairs th:nth-child(3) button"))
	v.Changes("sorting pairs by keyboard", row, visit.Focus("#pairs th:nth-child(3) button"), visit.Key(kb.Enter))
	other := visit.Eval[int](v, `1 + [...document.querySelectorAll("#pairs tbody tr")].findIndex(r => !r.querySelector("button").textContent.endsWith(`+title+`))`)
	pair := fmt.Sprintf("#pairs tbody tr:nth-child(%d)", other) // of a topic that is not shown
	v.Changes("a topic of a pair", title, visit.Into(pair), visit.Click(pair+" button"))
	v.Run(visit.Focus("#tab-pairs"), visit.Key(kb.ArrowRight)) // and round
	if shown := visit.Eval[bool](v, `document.getElementById("panel-network").hidden`); shown {
		t.Error("the tabs do not go round")
	}

	// The network.
	v.Changes("a node by mouse", title, visit.Into("#network"), chromedp.Evaluate(`document.querySelector("#network g.disc:not(.on, [style*=none]) circle").scrollIntoView({block: "center", behavior: "instant"})`, nil), visit.Click("#network g.disc:not(.on, [style*=none]) circle"))
	v.Run(visit.Focus(`#network g[tabindex="0"]`))
	node := `document.activeElement.querySelector("title").textContent`
	from := visit.Eval[string](v, node)
	for _, k := range []string{kb.ArrowLeft, kb.ArrowUp, kb.ArrowRight, kb.ArrowDown} { // one of them leads on
		if v.Run(visit.Key(k)); visit.Eval[string](v, node) != from {
			break
		}
	}
	v.Changes("arrows and Enter in the network", title, visit.Key(kb.Enter))

	// The matrix.
	v.Run(visit.Click("#tab-matrix"))
	cell := `document.getElementById("heat-info").textContent`
	v.Changes("a cell by keyboard", cell, visit.Focus("#heat"), visit.Key(kb.ArrowRight))
	v.Changes("a cell by mouse", cell, visit.ClickAt("#heat", .6, .4))
	picture := `document.getElementById("heat").toDataURL().length`
	v.Changes("another measure", picture, visit.Focus("#measure"), visit.Key("l"))
	v.Changes("another order", picture, visit.Focus("#order"), visit.Key("n"))
	v.Changes("a row's topic", title, visit.Focus("#heat"), visit.Press(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.Enter))

	// The table by topic.
	v.Changes("sorting topics by mouse", firstRow, visit.Into("#bytopic"), visit.Click("#bytopic th:nth-child(1) button"))
	v.Changes("sorting topics by keyboard", firstRow, visit.Focus("#bytopic th:nth-child(4) button"), visit.Press(kb.Enter, kb.Enter))
	if s := visit.Eval[string](v, `document.querySelector("#bytopic th:nth-child(4)").getAttribute("aria-sort")`); s != "ascending" {
		t.Errorf("aria-sort is %q", s)
	}
	v.Changes("a topic of the table", title, visit.Into("#bytopic"), visit.Click("#bytopic tbody tr:nth-child(5) button"))

	// The tree.
	if visit.Eval[bool](v, `!!document.querySelector(".tree details")`) {
		v.Changes("the tree by mouse", `document.querySelector(".tree details").open`, visit.Into(".tree summary"), visit.Click(".tree summary"))
		v.Changes("the tree by keyboard", `document.querySelector(".tree details").open`, visit.Focus(".tree summary"), visit.Key(kb.Enter))
	}

	if visit.Eval[bool](v, `!!document.querySelector(".tree a")`) {
		v.Run(chromedp.Evaluate(`document.querySelectorAll(".tree details").forEach(d => d.open = true)`, nil))
		v.Changes("a topic of the tree", title, visit.Into(".tree a"), visit.Click(".tree a"))
		v.Changes("a topic of the tree, by keyboard", title, visit.Focus(".tree li:nth-child(2) a"), visit.Key(kb.Enter))
	}

	// The sections.
	v.Changes("a section by mouse", `location.hash`, visit.Click(`nav a[href="#quality"]`))
	v.Changes("a section by keyboard", `location.hash`, visit.Focus(`nav a[href="#fit"]`), visit.Key(kb.Enter))

	// The theme.
	theme := `getComputedStyle(document.body).backgroundColor`
	v.Changes("the theme by mouse", theme, visit.Click("#theme"))
	v.Changes("the theme by keyboard", theme, visit.Focus("#theme"), visit.Key(kb.Enter))

	// Everything that takes the focus shows it, and has a name.
	nameless := visit.Eval[[]string](v, `[...document.querySelectorAll("button, input, select, canvas, a[href], [tabindex='0']")].filter(e => e.getClientRects().length && !e.ariaHidden &&
		!(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML.slice(0, 120))`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	if ids := visit.Eval[[]string](v, `[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(ids) > 0 {
		t.Errorf("ids that stand twice: %q", ids)
	}
	tabs := 0
	v.Run(chromedp.Evaluate(`document.querySelector(".skip").focus()`, nil))
	reached := make(map[string]bool)
	for range 60 {
		v.Run(visit.Key(kb.Tab))
		at := visit.Eval[struct {
			ID    string
			Shows bool
		}](v, `(() => { const e = document.activeElement, s = getComputedStyle(e), c = e.querySelector?.("circle");
			return {id: e.id, shows: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 || !!c && getComputedStyle(c).strokeWidth === "4px"}; })()`)
		if !at.Shows {
			t.Errorf("the focus cannot be seen on %q", at.ID)
		}
		reached[at.ID] = true
		tabs++
	}
	for _, id := range []string{"theme", "filter", "sort", "list", "prev", "next", "lambda"} {
		if !reached[id] {
			t.Errorf("%s is not among the first %d stops of Tab: %v", id, tabs, reached)
		}
	}
}

func centre(ctx context.Context, selector string) (x, y float64, err error) {
	var r struct{ X, Y, Width, Height float64 }
	err = chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().toJSON()`, selector), &r))
	return r.X + r.Width/2, r.Y + r.Height/2, err
}

func wheel(ctx context.Context, selector string, delta float64) error {
	x, y, err := centre(ctx, selector)
	if err != nil {
		return err
	}
	return chromedp.MouseEvent("mouseWheel", x, y, func(p *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
		return p.WithDeltaX(0).WithDeltaY(delta)
	}).Do(ctx)
}

func drag(ctx context.Context, selector string, dx, dy float64) error {
	x, y, err := centre(ctx, selector)
	if err != nil {
		return err
	}
	left := func(p *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
		return p.WithButton("left").WithClickCount(1)
	}
	return chromedp.Tasks{
		chromedp.MouseEvent("mousePressed", x, y, left),
		chromedp.MouseEvent("mouseMoved", x+dx/2, y+dy/2, left),
		chromedp.MouseEvent("mouseMoved", x+dx, y+dy, left),
		chromedp.MouseEvent("mouseReleased", x+dx, y+dy, left),
	}.Do(ctx)
}

// TestLooks measures what eyes would complain of: text on a ground of too little
// contrast, and a page wider than a phone.
func TestLooks(t *testing.T) {
	m, o := planted(t, 1500, 20)
	m, o.Metrics = doubtful(t, m)
	file := save(t, m, o)
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			t.Run(fmt.Sprintf("%s/%d", scheme, size[0]), func(t *testing.T) {
				v := visit.Open(t, tab(t), address(file), scheme)
				v.Run(chromedp.EmulateViewport(size[0], size[1]))
				if got := visit.Eval[string](v, `document.documentElement.dataset.theme`); got != scheme {
					t.Errorf("the theme is %q", got)
				}
				for _, form := range []string{"merge", "rename"} { // open, and with an edit to undo
					v.Run(visit.Focus("#"+form), visit.Key(kb.Enter), visit.Focus("#"+form+"-form button[type=submit]"), visit.Key(kb.Enter), visit.Focus("#"+form), visit.Key(kb.Enter))
				}
				if w := visit.Eval[int64](v, `document.documentElement.scrollWidth`); w > size[0] {
					t.Errorf("the page is %d wide", w)
				}
				for _, bad := range visit.Eval[[]string](v, visit.Contrast) {
					t.Errorf("contrast below 4.5: %s", bad)
				}
				v.Leave(only(file))
			})
		}
	}
}

// TestMarkup: a vocabulary, titles and snippets full of markup and script stay text.
func TestMarkup(t *testing.T) {
	attacks := []string{
		`<script>window.pwned=1</script>`, `"><img src=x onerror="window.pwned=1">`, `</script><script>window.pwned=1</script>`,
		`<!--<script>`, `-->`, `'"onmouseover=window.pwned=1 x="`, `javascript:window.pwned=1`, "`${window.pwned=1}`", `{{.Title}}`,
		`<svg onload=window.pwned=1>`, `&lt;b&gt;`, `<iframe src="https://example.com/">`, "\u2028window.pwned=1\u2029", `]]>`, `</title><b>`,
		`<a href="javascript:window.pwned=1">`, `</style><style>*{display:none}`, "\u202egnp", `\u003cscript\u003e`, `<base href="https://example.com/">`,
	}
	m, err := sample.Model(300, 6, func(i int) string { return fmt.Sprintf("%s%d", attacks[i%len(attacks)], i) })
	if err != nil {
		t.Fatal(err)
	}
	h, err := jsmf.Levels{K: []int{2}}.Run(context.Background(), jsmf.Published(0), m)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(attacks, " ")
	c := compositions(6, 12)
	c.Labels = slices.Repeat([]string{attacks[1]}, 12)
	file := save(t, m, report.Options{
		Title: attacks[2] + attacks[14], About: all, Hierarchy: h, Times: []report.Time{{Stage: attacks[1], Duration: time.Second}},
		Documents: c, Describe: func(int) report.Document { return report.Document{Title: attacks[1], Snippet: all} },
	})
	v := visit.Open(t, tab(t), address(file), "light")
	for k := range 6 {
		v.Run(visit.ClickAt(fmt.Sprintf("#list li:nth-child(%d)", k+1), .5, .5), visit.Focus("#lambda"), visit.Key(kb.Home), visit.Key(kb.End))
		for i := range 6 {
			v.Run(visit.Focus(fmt.Sprintf("#bars li:nth-child(%d) button", 1+3*i)), visit.Key(kb.Enter))
		}
	}
	for _, id := range []string{"tab-matrix", "tab-pairs"} {
		v.Run(visit.Into("#"+id), visit.Click("#"+id))
	}
	if visit.Eval[bool](v, `"pwned" in window`) {
		t.Error("a script of the vocabulary has run")
	}
	if got := visit.Eval[[]string](v, `[...document.querySelectorAll("img, iframe, script, style, base, b, svg[onload], a")].filter(e =>
		!(e.tagName === "SCRIPT" && (e.id === "data" || e === document.scripts[1])) && !(e.tagName === "STYLE" && e === document.querySelector("style")) &&
		!(e.tagName === "A" && e.getAttribute("href").startsWith("#")) && !(e.tagName === "B" && (e.closest(".track, .key, #detail-anchor, #word-info, #heat-info, figcaption")))).map(e => e.outerHTML.slice(0, 100))`); len(got) > 0 {
		t.Errorf("elements that the page does not have by itself: %q", got)
	}
	if n := visit.Eval[int](v, `document.scripts.length`); n != 2 {
		t.Errorf("%d scripts", n)
	}
	if got := visit.Eval[string](v, `document.title`); got != attacks[2]+attacks[14] {
		t.Errorf("the title is %q", got)
	}
	if got := visit.Eval[bool](v, `document.getElementById("detail").textContent.includes("window.pwned=1")`); !got {
		t.Error("the words are not there as text")
	}
	v.Leave(only(file))
}

// TestWithoutScripts: the tables are there when scripts are forbidden.
func TestWithoutScripts(t *testing.T) {
	m, err := sample.Model(300, 6, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, m, report.Options{})
	v := &visit.Visit{T: t, Ctx: tab(t)}
	v.Run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(address(file)))
	var text string
	v.Run(chromedp.Text("body", &text, chromedp.ByQuery))
	want := []string{"Without scripts"}
	for _, w := range m.Anchors() {
		want = append(want, m.Word(w))
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not there", w)
		}
	}
	if strings.Contains(text, "Relevance") {
		t.Error("controls without a function are shown")
	}
}

// shoot saves pictures for people to look at, where they are asked for.
func shoot(v *visit.Visit, name string) {
	dir := os.Getenv("REPORT_SHOTS")
	if dir == "" {
		return
	}
	v.Run(chromedp.Evaluate(`document.getElementById("find").value = ""; document.getElementById("find").dispatchEvent(new Event("input"));
		document.querySelector("#list li").click(); document.getElementById("sort").value = "share"; document.getElementById("sort").dispatchEvent(new Event("change")); document.querySelector("#list li:nth-child(4)").click()`, nil))
	for _, dark := range []bool{false, true} {
		v.Run(chromedp.Evaluate(fmt.Sprintf(`if ((document.documentElement.dataset.theme === "dark") !== %v) document.getElementById("theme").click()`, dark), nil))
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			v.Run(chromedp.EmulateViewport(size[0], size[1]))
			for _, tab := range []string{"network", "matrix", "pairs"} {
				v.Run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById("tab-%s").click(); document.activeElement.blur(); scrollTo(0, 0)`, tab), nil), chromedp.Sleep(400*time.Millisecond))
				for _, part := range []string{"overview", "topics", "correlations", "hierarchy", "quality", "fit"} {
					if tab != "network" && part != "correlations" || !visit.Eval[bool](v, fmt.Sprintf(`!!document.getElementById(%q)`, part)) {
						continue
					}
					var b []byte
					v.Run(chromedp.Screenshot("#"+part, &b, chromedp.ByQuery))
					file := fmt.Sprintf("%s-%d-%v-%s.png", name, size[0], map[bool]string{false: "light", true: "dark"}[dark], part)
					if part == "correlations" {
						file = strings.TrimSuffix(file, ".png") + "-" + tab + ".png"
					}
					if err := os.WriteFile(filepath.Join(dir, file), b, 0o666); err != nil {
						v.T.Fatal(err)
					}
				}
			}
		}
	}
	v.Run(chromedp.EmulateViewport(1280, 900))
}
