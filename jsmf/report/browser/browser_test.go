package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor/tsne"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// maxSize is how large a report may be.
const maxSize = 5 << 20

// patience is how long to wait for what must happen: long, for a machine may be busy.
const patience = 20 * time.Second

// start starts a browser of the test's own, which ends with it.
func start(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("skipped: no chromium, chromium-browser or google-chrome in PATH")
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("mute-audio", true),
	}
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(stop)
	ctx, endAll := chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(endAll)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // closes the browser and waits for it
			t.Error(err)
		}
		end()
	})
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// visit is a page in the browser, with all that it complained of and asked for.
type visit struct {
	t   *testing.T
	ctx context.Context

	mu                sync.Mutex
	complaints, asked []string
	dialogs           int
}

// open opens a file in a light or dark scheme and waits until its script has run.
func open(t *testing.T, ctx context.Context, file, scheme string) *visit {
	t.Helper()
	v := &visit{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			v.complaints = append(v.complaints, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeAssert {
				v.complaints = append(v.complaints, fmt.Sprintf("console: %v", ev.Args))
			}
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError || ev.Entry.Level == log.LevelWarning {
				v.complaints = append(v.complaints, "log: "+ev.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			v.asked = append(v.asked, ev.Request.URL)
		case *cdppage.EventJavascriptDialogOpening:
			v.dialogs++
			go func() { _ = chromedp.Run(ctx, cdppage.HandleJavaScriptDialog(false)) }()
		}
	})
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	v.run(network.Enable(), log.Enable(), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, // no waiting for scrolling
	}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address))
	v.wait(`document.documentElement.dataset.ready === "true"`)
	return v
}

func (v *visit) run(actions ...chromedp.Action) {
	v.t.Helper()
	if err := chromedp.Run(v.ctx, actions...); err != nil {
		v.t.Fatal(err)
	}
}

// eval evaluates an expression into a value.
func eval[T any](v *visit, expression string) T {
	v.t.Helper()
	var out T
	v.run(chromedp.Evaluate(expression, &out))
	return out
}

func (v *visit) wait(condition string) {
	v.t.Helper()
	if err := chromedp.Run(v.ctx, chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(patience))); err != nil {
		v.t.Fatalf("waiting for %s: %v\ncomplaints: %q", condition, err, v.complaints)
	}
}

// changes checks that what an action does changes the value of an expression.
func (v *visit) changes(what, expression string, actions ...chromedp.Action) {
	v.t.Helper()
	before := eval[string](v, "String("+expression+")")
	v.run(actions...)
	quoted, _ := json.Marshal(before)
	if err := chromedp.Run(v.ctx, chromedp.Poll("String("+expression+") !== "+string(quoted), nil, chromedp.WithPollingTimeout(patience))); err != nil {
		v.t.Errorf("%s changed nothing of %s, which is still %.200q (%v)", what, expression, before, err)
	}
}

// leave checks that all went in silence: no complaint, no dialog, and no request
// but for the page itself.
func (v *visit) leave(file string) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		v.t.Errorf("the browser complains: %q", v.complaints)
	}
	if v.dialogs > 0 {
		v.t.Errorf("%d dialogs", v.dialogs)
	}
	for _, a := range v.asked {
		if u, err := url.Parse(a); err != nil || u.Scheme != "data" && !(u.Scheme == "file" && u.Path == filepath.ToSlash(file)) {
			v.t.Errorf("the page asked for %s", a)
		}
	}
	if len(v.asked) == 0 {
		v.t.Error("no request was seen, not even that of the page")
	}
}

func save(t *testing.T, m *jsmf.Model, opts ...report.Option) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, m, opts...); err != nil {
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
func planted(t *testing.T, n, k int) (m *jsmf.Model, opts []report.Option) {
	t.Helper()
	m, err := sample.Model(n, k, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	h, err := jsmf.New(k).Hierarchy(context.Background(), m, k/5, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := report.TSNE(context.Background(), m, 0, tsne.Settings{Iterations: 20})
	if err != nil {
		t.Fatal(err)
	}
	return m, []report.Option{
		report.Map(p),
		report.Title("A planted model"), report.About("Made for a test, of words that mean nothing."), report.Hierarchy(h),
		report.Documents(compositions(k, 8*k), func(d int) report.Document {
			return report.Document{Title: fmt.Sprintf("The title of document %d", d), Snippet: strings.Repeat("Some words of it, and so on. ", 12)}
		}),
	}
}

// quickstart runs the program quickstart, and returns its report.
func quickstart(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quickstart.html")
	out, err := exec.Command("go", "run", "github.com/jsmf-go/spectral/examples/quickstart", "-quiet", "-report", file).CombinedOutput()
	if err != nil {
		t.Fatalf("quickstart: %v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("%d bytes, more than %d", info.Size(), maxSize)
	}
	t.Logf("%d bytes", info.Size())
	return file
}

const (
	barWords   = `[...document.querySelectorAll("#bars li button")].map(b => b.textContent).join(" ")`
	listTopics = `[...document.querySelectorAll("#list li")].map(l => l.dataset.k).join(" ")`
	title      = `document.getElementById("detail-title").textContent`
	zoom       = `document.getElementById("plane").dataset.zoom`
	firstRow   = `document.querySelector("#bytopic tbody tr").dataset.row`
)

// set gives a field a value as a user does.
func set(selector, value string) chromedp.Action {
	return chromedp.Tasks{
		chromedp.Focus(selector, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).select?.()`, selector), nil),
		chromedp.SendKeys(selector, value, chromedp.ByQuery),
	}
}

func focus(selector string) chromedp.Action { return chromedp.Focus(selector, chromedp.ByQuery) }
func click(selector string) chromedp.Action { return chromedp.Click(selector, chromedp.ByQuery) }
func key(k string) chromedp.Action          { return chromedp.KeyEvent(k) }

// into scrolls an element into the middle of the window.
func into(selector string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center", behavior: "instant"})`, selector), nil)
}

// clickAt clicks into an element at a part of its width and height.
func clickAt(selector string, x, y float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var r struct{ X, Y, Width, Height float64 }
		if err := chromedp.Run(ctx, into(selector), chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().toJSON()`, selector), &r)); err != nil {
			return err
		}
		return chromedp.MouseClickXY(r.X+x*r.Width, r.Y+y*r.Height).Do(ctx)
	})
}

func press(keys ...string) chromedp.Tasks {
	var t chromedp.Tasks
	for _, k := range keys {
		t = append(t, key(k))
	}
	return t
}

// TestControls uses every control by mouse and by keyboard.
func TestControls(t *testing.T) {
	ctx := start(t)
	for _, c := range []struct {
		name string
		file func(*testing.T) string
	}{
		{"planted", func(t *testing.T) string {
			n, k := 20000, 100 // the size that must stay below maxSize
			if testing.Short() {
				n, k = 1500, 20
			}
			m, opts := planted(t, n, k)
			return save(t, m, opts...)
		}},
		{"quickstart", quickstart},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "quickstart" && testing.Short() {
				t.Skip("skipped: fits the Go standard library")
			}
			file := c.file(t)
			tab, end := chromedp.NewContext(ctx)
			defer end()
			v := open(t, tab, file, "light")
			controls(v)
			shoot(v, c.name)
			v.leave(file)
		})
	}
}

func controls(v *visit) {
	t := v.t
	t.Helper()

	// The slider changes the order, by both.
	v.changes("the slider by keyboard", barWords, focus("#lambda"), key(kb.Home))
	if l := eval[string](v, `document.getElementById("lambda").value`); l != "0" {
		t.Errorf("Home moves the slider to %s", l)
	}
	v.changes("the slider by mouse", barWords, clickAt("#lambda", .995, .5))
	v.changes("a step of the slider", `document.getElementById("lambda-out").textContent`, focus("#lambda"), key(kb.ArrowLeft))
	v.run(focus("#lambda"), key(kb.End))

	// Topics: by the list, the arrows, the buttons, the ribbon.
	v.changes("a topic by mouse", title, clickAt("#list li:nth-child(3)", .5, .5))
	v.changes("a topic by keyboard", title, focus("#list"), key(kb.ArrowDown))
	if id, sel := eval[string](v, `document.getElementById("list").getAttribute("aria-activedescendant")`), eval[string](v, `document.querySelector("#list [aria-selected=true]").id`); id != sel {
		t.Errorf("active is %s, selected %s", id, sel)
	}
	v.changes("the next topic", title, click("#next"))
	v.changes("the previous topic by keyboard", title, focus("#prev"), key(kb.Enter))
	v.changes("the ribbon", title, clickAt("#ribbon span:nth-child(2)", .5, .5))
	v.changes("a topic that goes with it", title, into("#with button"), click("#with button"))
	v.changes("a topic that goes with it, by keyboard", title, focus("#with button"), key(kb.Enter))

	// Sorting and filtering them.
	v.changes("sorting topics", listTopics, focus("#sort"), key("n"))
	first := eval[string](v, `document.querySelector("#bars li:nth-child(2) button").textContent.replace("◆ ", "")`)
	v.changes("the filter", listTopics, set("#filter", first))
	if n := eval[int](v, `document.querySelectorAll("#list li").length`); n == 0 {
		t.Errorf("no topic has %q", first)
	}
	v.run(set("#filter", "no such word of any"))
	v.wait(`!document.getElementById("list-none").hidden`)
	v.run(chromedp.Evaluate(`document.getElementById("filter").select()`, nil), key(kb.Backspace))
	v.wait(`document.getElementById("list-none").hidden`)

	// A word tells where it is, and is found on the map.
	v.changes("a word by mouse", `document.getElementById("word-info").textContent`, into("#bars"), click("#bars li:nth-child(2) button"))
	v.changes("a word by keyboard", `document.getElementById("word-info").textContent`, focus("#bars li:nth-child(3) button"), key(kb.Enter))

	// Tabs.
	shown := `[...document.querySelectorAll("[role=tabpanel]")].map(p => p.hidden).join()`
	v.changes("a tab by mouse", shown, into("#tab-matrix"), click("#tab-matrix"))
	v.changes("a tab by keyboard", shown, focus("#tab-matrix"), key(kb.ArrowRight))
	if on := eval[string](v, `document.activeElement.id`); on != "tab-pairs" {
		t.Errorf("the focus is on %q", on)
	}
	row := `document.querySelector("#pairs tbody tr").dataset.row`
	v.changes("sorting pairs by mouse", row, into("#pairs"), click("#pairs th:nth-child(3) button"))
	v.changes("sorting pairs by keyboard", row, focus("#pairs th:nth-child(3) button"), key(kb.Enter))
	v.changes("a topic of a pair", title, into("#pairs tbody tr:nth-child(4)"), click("#pairs tbody tr:nth-child(4) button"))
	v.run(focus("#tab-pairs"), key(kb.ArrowRight)) // and round
	if shown := eval[bool](v, `document.getElementById("panel-network").hidden`); shown {
		t.Error("the tabs do not go round")
	}

	// The network.
	v.changes("a node by mouse", title, into("#network"), chromedp.Evaluate(`document.querySelector("#network g:not(.on) circle").scrollIntoView({block: "center", behavior: "instant"})`, nil), click("#network g:not(.on) circle"))
	v.run(focus(`#network g[tabindex="0"]`))
	node := `document.activeElement.getAttribute("aria-label")`
	from := eval[string](v, node)
	for _, k := range []string{kb.ArrowLeft, kb.ArrowUp, kb.ArrowRight, kb.ArrowDown} { // one of them leads on
		if v.run(key(k)); eval[string](v, node) != from {
			break
		}
	}
	v.changes("arrows and Enter in the network", title, key(kb.Enter))

	// The matrix.
	v.run(click("#tab-matrix"))
	cell := `document.getElementById("heat-info").textContent`
	v.changes("a cell by keyboard", cell, focus("#heat"), key(kb.ArrowRight))
	v.changes("a cell by mouse", cell, clickAt("#heat", .6, .4))
	picture := `document.getElementById("heat").toDataURL().length`
	v.changes("another measure", picture, focus("#measure"), key("l"))
	v.changes("another order", picture, focus("#order"), key("n"))
	v.changes("a row's topic", title, focus("#heat"), press(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.Enter))

	// The map.
	v.changes("zoom by button", zoom, into("#plane"), click("#zoom-in"))
	v.changes("zoom out by keyboard", zoom, focus("#zoom-out"), key(kb.Enter))
	v.changes("zoom by key", zoom, focus("#plane"), key("+"))
	v.changes("moving by key", `document.getElementById("plane").dataset.x`, focus("#plane"), key(kb.ArrowLeft))
	v.changes("zoom by wheel", zoom, clickAt("#plane", .5, .5), chromedp.ActionFunc(func(ctx context.Context) error {
		return wheel(ctx, "#plane", -300)
	}))
	v.changes("all", zoom, click("#zoom-reset"))
	v.changes("moving by mouse", `document.getElementById("plane").dataset.x`, focus("#plane"), key("+"), into("#plane"), chromedp.ActionFunc(func(ctx context.Context) error {
		return drag(ctx, "#plane", 80, 30)
	}))
	v.run(focus("#plane"), key("0"))
	found := `document.getElementById("plane").dataset.found`
	v.changes("searching", found, set("#find", "no such word"))
	v.wait(`document.getElementById("map-info").textContent === "No such word on the map."`)
	v.changes("finding", found, set("#find", first))
	v.wait(`document.getElementById("map-info").textContent !== "No such word on the map."`)
	v.wait(`document.getElementById("map-info").textContent.length > 5`)

	if eval[bool](v, `!!document.getElementById("which")`) {
		v.changes("another map", `document.getElementById("map-about").textContent`, focus("#which"), key("p"))
	}

	// The table by topic.
	v.changes("sorting topics by mouse", firstRow, into("#bytopic"), click("#bytopic th:nth-child(1) button"))
	v.changes("sorting topics by keyboard", firstRow, focus("#bytopic th:nth-child(4) button"), press(kb.Enter, kb.Enter))
	if s := eval[string](v, `document.querySelector("#bytopic th:nth-child(4)").getAttribute("aria-sort")`); s != "ascending" {
		t.Errorf("aria-sort is %q", s)
	}
	v.changes("a topic of the table", title, into("#bytopic"), click("#bytopic tbody tr:nth-child(5) button"))

	// The tree.
	if eval[bool](v, `!!document.querySelector(".tree details")`) {
		v.changes("the tree by mouse", `document.querySelector(".tree details").open`, into(".tree summary"), click(".tree summary"))
		v.changes("the tree by keyboard", `document.querySelector(".tree details").open`, focus(".tree summary"), key(kb.Enter))
	}

	if eval[bool](v, `!!document.querySelector(".tree a")`) {
		v.run(chromedp.Evaluate(`document.querySelectorAll(".tree details").forEach(d => d.open = true)`, nil))
		v.changes("a topic of the tree", title, into(".tree a"), click(".tree a"))
		v.changes("a topic of the tree, by keyboard", title, focus(".tree li:nth-child(2) a"), key(kb.Enter))
	}

	// The sections.
	v.changes("a section by mouse", `location.hash`, click(`nav a[href="#quality"]`))
	v.changes("a section by keyboard", `location.hash`, focus(`nav a[href="#map"]`), key(kb.Enter))

	// The theme.
	theme := `getComputedStyle(document.body).backgroundColor`
	v.changes("the theme by mouse", theme, click("#theme"))
	v.changes("the theme by keyboard", theme, focus("#theme"), key(kb.Enter))

	// Everything that takes the focus shows it, and has a name.
	nameless := eval[[]string](v, `[...document.querySelectorAll("button, input, select, canvas, a[href], [tabindex='0']")].filter(e => e.getClientRects().length && !e.ariaHidden &&
		!(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML.slice(0, 120))`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
	if ids := eval[[]string](v, `[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(ids) > 0 {
		t.Errorf("ids that stand twice: %q", ids)
	}
	tabs := 0
	v.run(chromedp.Evaluate(`document.querySelector(".skip").focus()`, nil))
	reached := make(map[string]bool)
	for range 60 {
		v.run(key(kb.Tab))
		at := eval[struct {
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
	ctx := start(t)
	m, opts := planted(t, 1500, 20)
	file := save(t, m, opts...)
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			t.Run(fmt.Sprintf("%s/%d", scheme, size[0]), func(t *testing.T) {
				tab, end := chromedp.NewContext(ctx)
				defer end()
				v := open(t, tab, file, scheme)
				v.run(chromedp.EmulateViewport(size[0], size[1]))
				if got := eval[string](v, `document.documentElement.dataset.theme`); got != scheme {
					t.Errorf("the theme is %q", got)
				}
				if w := eval[int64](v, `document.documentElement.scrollWidth`); w > size[0] {
					t.Errorf("the page is %d wide", w)
				}
				for _, bad := range eval[[]string](v, contrast) {
					t.Errorf("contrast below 4.5: %s", bad)
				}
				v.leave(file)
			})
		}
	}
}

// contrast lists texts whose colour has less than 4.5:1 against their ground
// (WCAG 2.1). Grounds that are partly transparent are laid over what is below.
const contrast = `(() => {
	const rgba = (c) => { const m = c.match(/[\d.]+/g).map(Number); if (c.startsWith("color(srgb")) { m[0] *= 255; m[1] *= 255; m[2] *= 255; } return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const f = c.slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
	const ground = (e) => { if (!e) return [255, 255, 255, 1]; const c = rgba(getComputedStyle(e).backgroundColor); return c[3] === 1 ? c : over(c, ground(e.parentElement)); };
	const bad = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		const e = t.parentElement;
		if (!t.data.trim() || !e.getClientRects().length || ["SCRIPT", "STYLE", "TITLE"].includes(e.tagName.toUpperCase())) continue;
		const s = getComputedStyle(e), isSVG = e instanceof SVGElement;
		let below = ground(isSVG ? e.ownerSVGElement.parentElement : e);
		const disc = isSVG && e.classList.contains("no") && e.parentElement.querySelector("circle");
		if (disc) below = over(rgba(getComputedStyle(disc).fill), below);
		const ink = over(rgba(isSVG ? s.fill : s.color), below), a = light(ink), b = light(below);
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.set(e.tagName + "." + e.getAttribute("class") + " " + t.data.trim().slice(0, 30), ratio.toFixed(2));
	}
	return [...bad].slice(0, 8).map(([k, r]) => k + ": " + r);
})()`

// TestMarkup: a vocabulary, titles and snippets full of markup and script stay text.
func TestMarkup(t *testing.T) {
	ctx := start(t)
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
	h, err := jsmf.New(3).Hierarchy(context.Background(), m, 2)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(attacks, " ")
	c := compositions(6, 12)
	c.Labels = slices.Repeat([]string{attacks[1]}, 12)
	file := save(t, m, report.Title(attacks[2]+attacks[14]), report.About(all), report.Hierarchy(h), report.Time(attacks[1], time.Second),
		report.Documents(c, func(int) report.Document { return report.Document{Title: attacks[1], Snippet: all} }))
	tab, end := chromedp.NewContext(ctx)
	defer end()
	v := open(t, tab, file, "light")
	for k := range 6 {
		v.run(clickAt(fmt.Sprintf("#list li:nth-child(%d)", k+1), .5, .5), focus("#lambda"), key(kb.Home), key(kb.End))
		for i := range 6 {
			v.run(focus(fmt.Sprintf("#bars li:nth-child(%d) button", 1+3*i)), key(kb.Enter))
		}
	}
	for _, id := range []string{"tab-matrix", "tab-pairs"} {
		v.run(into("#"+id), click("#"+id))
	}
	if eval[bool](v, `"pwned" in window`) {
		t.Error("a script of the vocabulary has run")
	}
	if got := eval[[]string](v, `[...document.querySelectorAll("img, iframe, script, style, base, b, svg[onload], a")].filter(e =>
		!(e.tagName === "SCRIPT" && (e.id === "data" || e === document.scripts[1])) && !(e.tagName === "STYLE" && e === document.querySelector("style")) &&
		!(e.tagName === "A" && e.getAttribute("href").startsWith("#")) && !(e.tagName === "B" && (e.closest(".track, .key, #detail-anchor, #word-info, #map-info, #heat-info, figcaption")))).map(e => e.outerHTML.slice(0, 100))`); len(got) > 0 {
		t.Errorf("elements that the page does not have by itself: %q", got)
	}
	if n := eval[int](v, `document.scripts.length`); n != 2 {
		t.Errorf("%d scripts", n)
	}
	if got := eval[string](v, `document.title`); got != attacks[2]+attacks[14] {
		t.Errorf("the title is %q", got)
	}
	if got := eval[bool](v, `document.getElementById("detail").textContent.includes("window.pwned=1")`); !got {
		t.Error("the words are not there as text")
	}
	v.leave(file)
}

// TestWithoutScripts: the tables are there when scripts are forbidden.
func TestWithoutScripts(t *testing.T) {
	ctx := start(t)
	m, err := sample.Model(300, 6, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, m)
	tab, end := chromedp.NewContext(ctx)
	defer end()
	v := &visit{t: t, ctx: tab}
	v.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()))
	var text string
	v.run(chromedp.Text("body", &text, chromedp.ByQuery))
	for _, w := range append(m.AnchorWords(), "Without scripts") {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not there", w)
		}
	}
	if strings.Contains(text, "Relevance") {
		t.Error("controls without a function are shown")
	}
}

// shoot saves pictures for people to look at, where they are asked for.
func shoot(v *visit, name string) {
	dir := os.Getenv("REPORT_SHOTS")
	if dir == "" {
		return
	}
	v.run(chromedp.Evaluate(`document.getElementById("find").value = ""; document.getElementById("find").dispatchEvent(new Event("input"));
		document.querySelector("#list li").click(); document.getElementById("sort").value = "share"; document.getElementById("sort").dispatchEvent(new Event("change")); document.querySelector("#list li:nth-child(4)").click()`, nil))
	for _, dark := range []bool{false, true} {
		v.run(chromedp.Evaluate(fmt.Sprintf(`if ((document.documentElement.dataset.theme === "dark") !== %v) document.getElementById("theme").click()`, dark), nil))
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			v.run(chromedp.EmulateViewport(size[0], size[1]))
			for _, tab := range []string{"network", "matrix", "pairs"} {
				v.run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById("tab-%s").click(); document.activeElement.blur(); scrollTo(0, 0)`, tab), nil), chromedp.Sleep(400*time.Millisecond))
				for _, part := range []string{"overview", "topics", "correlations", "map", "hierarchy", "quality", "fit"} {
					if tab != "network" && part != "correlations" || !eval[bool](v, fmt.Sprintf(`!!document.getElementById(%q)`, part)) {
						continue
					}
					var b []byte
					v.run(chromedp.Screenshot("#"+part, &b, chromedp.ByQuery))
					file := fmt.Sprintf("%s-%d-%v-%s.png", name, size[0], map[bool]string{false: "light", true: "dark"}[dark], part)
					if part == "correlations" {
						file = strings.TrimSuffix(file, ".png") + "-" + tab + ".png"
					}
					if err := os.WriteFile(filepath.Join(dir, file), b, 0o666); err != nil {
						v.t.Fatal(err)
					}
				}
			}
		}
	}
	v.run(chromedp.EmulateViewport(1280, 900))
}
