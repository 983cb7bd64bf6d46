package browser

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// withEffects saves a report on 30 topics with effects of all kinds.
func withEffects(t *testing.T) string {
	t.Helper()
	m, err := sample.Model(1500, 30, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.With(jsmf.Additions{Uncertainty: sample.Uncertainty(m)}); err != nil {
		t.Fatal(err)
	}
	return save(t, m, report.Options{Effects: sample.Effects(m, 12), Sweep: madeUpSweep()})
}

// option chooses one of a select, wherever it is in the list.
func option(id string, value any) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, id, fmt.Sprint(value)), nil)
}

// TestEffectsControls uses every control of the effects by mouse and by keyboard.
func TestEffectsControls(t *testing.T) {
	file := withEffects(t)
	v := visit.Open(t, tab(t), address(file), "light")

	// Over time.
	names := `[...document.querySelectorAll("#times .name")].map(n => n.textContent).join()`
	if n := visit.Eval[int](v, `document.querySelectorAll("#times .panel").length`); n != 24 {
		t.Errorf("%d panels, want 24 of 33", n)
	}
	if first := visit.Eval[string](v, `document.querySelector("#times .name").textContent`); first != "both of the first" {
		t.Errorf("the first panel is %q, not what was asked for", first)
	}
	v.Changes("order by rise", names, visit.Into("#time-order"), visit.Focus("#time-order"), visit.Key("r"))
	rises := visit.Eval[[]float64](v, `[...document.querySelectorAll("#times .panel")].slice(3).map(g => { const m = /from ([−\d.]+) to ([−\d.]+)/.exec(g.getAttribute("aria-label")); return Number(m[2].replace("−", "-")) - Number(m[1].replace("−", "-")); })`)
	if !slices.IsSortedFunc(rises, func(a, b float64) int {
		if a < b-0.11 { // numbers shown have one decimal
			return 1
		}
		return 0
	}) {
		t.Errorf("rises are not in order: %v", rises)
	}
	v.Changes("order by fall", names, option("time-order", "fall"))
	v.Run(option("time-order", "share"))
	picture := `document.getElementById("times").innerHTML.length`
	v.Changes("one scale", picture, visit.Click("#time-same"))
	v.Changes("scales of their own by keyboard", picture, visit.Focus("#time-same"), visit.Key(" "))
	v.Changes("all panels", names, visit.Into("#time-more"), visit.Click("#time-more"))
	if n := visit.Eval[int](v, `document.querySelectorAll("#times .panel").length`); n != 32 {
		t.Errorf("%d panels, want all 32", n)
	}
	v.Changes("fewer panels", names, visit.Into("#time-more"), visit.Click("#time-more"))
	v.Changes("a topic by its panel", title, visit.ClickAt("#times .panel:nth-of-type(7) .ground", .5, .5))
	v.Changes("a topic by keyboard", title, visit.Focus(`#times .panel[tabindex="0"]`), visit.Key(kb.ArrowDown), visit.Key(kb.Enter))
	told := `document.getElementById("time-info").textContent`
	v.Run(visit.Press(slices.Repeat([]string{kb.ArrowLeft}, 23)...))
	v.Changes("a month by keyboard", told, visit.Key(kb.ArrowRight))
	v.Run(visit.Key(kb.ArrowLeft))
	if s := visit.Eval[string](v, told); !strings.HasPrefix(s, "2019-01, 90 documents, a month that the documents do not fill. Topic ") {
		t.Errorf("the first month is told as %q", s)
	}
	v.Changes("a month by mouse", told, visit.ClickAt("#times .panel:nth-of-type(7) .ground", .8, .5))
	// The second is a topic; its tenth month has no documents: the line has two parts, and
	// the two months that are not full are hollow.
	if got := visit.Eval[[]int](v, `[".area", ".line:not(.dashed)", ".line.dashed", ".pt.hollow"].map(c => document.querySelector("#times .panel:nth-of-type(5)").querySelectorAll(c).length)`); !slices.Equal(got, []int{2, 2, 2, 2}) {
		t.Errorf("areas, lines, dashed lines and hollow points: %v", got)
	}

	effectsByTerm(v)
	heatMap(v)
	doubt(v)
	v.Leave(only(file))
}

func effectsByTerm(v *visit.Visit) {
	t := v.T
	t.Helper()
	left, right := `document.querySelector("#effect-topics .drawing").textContent`, `document.querySelector("#effect-levels .drawing").textContent`
	if got := visit.Eval[string](v, `document.getElementById("effect-what").textContent`); !strings.Contains(got, "at each level of party") {
		t.Errorf("the effects are told as %q", got)
	}
	v.Changes("another level", left, visit.Into("#effect-point"), option("effect-point", 5))
	v.Changes("a level by its row", `document.getElementById("effect-point").value`, visit.ClickAt("#effect-levels .row:not(.on) .ground", .5, .5))
	v.Changes("a topic by its row", title, visit.ClickAt(`#effect-topics .row[aria-label^="Topic"]:not(.on) .ground`, .5, .5))
	v.Changes("a topic by keyboard", right, visit.Focus(`#effect-topics .row[tabindex="0"]`), visit.Key(kb.ArrowDown), visit.Key(kb.Enter))
	if s := visit.Eval[string](v, `document.activeElement.getAttribute("aria-pressed") + document.activeElement.classList.contains("on")`); s != "truetrue" {
		t.Errorf("after a choice the focus is elsewhere: %s", s)
	}
	// A quantity made of topics is no topic of the page.
	before := visit.Eval[string](v, title)
	v.Changes("a sum", right, option("effect-quantity", 30))
	if visit.Eval[string](v, title) != before {
		t.Error("a sum changes the topic")
	}
	// What may be zero is hollow and says so.
	if bad := visit.Eval[int](v, `[...document.querySelectorAll("#effects .row")].filter(g => { const faint = g.getAttribute("aria-label").includes("includes zero"); return faint !== g.classList.contains("faint") || faint !== !!g.querySelector(".hollow"); }).length`); bad > 0 {
		t.Errorf("%d rows do not show what they say of zero", bad)
	}
	values := visit.Eval[[]float64](v, `[...document.querySelectorAll("#effect-topics .row")].slice(2, 32).map(g => Number(g.querySelector(".value").textContent.split(" ")[0].replace("−", "-")))`)
	if !slices.IsSortedFunc(values, func(a, b float64) int { return int(1e4 * (b - a)) }) {
		t.Errorf("the effects are not in order: %v", values)
	}
	v.Changes("slopes", left, option("effect-term", 2))
	info := `document.getElementById("effect-info").textContent`
	v.Changes("along the curve by keyboard", info, visit.Focus("#effect-levels svg"), visit.Press(kb.ArrowRight, kb.ArrowRight))
	if s := visit.Eval[string](v, info); !strings.HasPrefix(s, "age 21: ") {
		t.Errorf("the second point is told as %q", s)
	}
	v.Changes("along the curve by mouse", info, visit.ClickAt("#effect-levels svg", .7, .5))
	v.Changes("pairs of categories", right, option("effect-term", 3))
	if s := visit.Eval[[]string](v, `[...document.querySelectorAll("#effect-levels .head")].map(h => h.textContent)`); len(s) != 3 {
		t.Errorf("the groups are %q", s)
	}
	v.Changes("pairs with time", right, option("effect-term", 4))
	if n := visit.Eval[int](v, `document.querySelectorAll("#effect-levels .name").length`); n != 3 {
		t.Errorf("%d panels, want 3", n)
	}
}

func heatMap(v *visit.Visit) {
	told, drawn := `document.getElementById("classes-info").textContent`, `document.getElementById("classes-cells").innerHTML`
	v.Run(visit.Into("#classes-cells"))
	v.Changes("a cell by keyboard", told, visit.Focus("#classes-cells"), visit.Key(kb.ArrowRight))
	v.Changes("a cell by mouse", told, visit.ClickAt("#classes-cells svg", .6, .6))
	v.Changes("a cell's topic", title, visit.Focus("#classes-cells"), visit.Press(kb.ArrowDown, kb.ArrowDown, kb.Enter))
	v.Changes("order by share", drawn, visit.Focus("#classes-order"), visit.Key("s"))
	v.Changes("another term", drawn, option("classes-term", 2))
	v.Changes("the dark theme", drawn, visit.Click("#theme"))
	v.Run(visit.Click("#theme"))
}

// doubt looks at the matrix of correlations, the list of pairs and the scores by number of
// topics.
func doubt(v *visit.Visit) {
	t := v.T
	t.Helper()
	cell := `document.getElementById("heat-info").textContent`
	v.Run(visit.Into("#tab-matrix"), visit.Click("#tab-matrix"))
	v.Changes("a cell of the matrix", cell, visit.Focus("#heat"), visit.Key(kb.ArrowRight))
	if s := visit.Eval[string](v, cell); !regexp.MustCompile(`correlation [+−]\d\.\d\d \([+−]\d\.\d\d to [+−]\d\.\d\d\)`).MatchString(s) {
		t.Errorf("the cell is told as %q", s)
	}
	// What may be zero is a small square and leaves the ground bare; only correlations are
	// in doubt.
	bare := `(() => { const c = document.getElementById("heat"), g = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
		g.drawImage(c, 0, 0);
		const a = g.getImageData(0, 0, c.width, c.height).data, card = getComputedStyle(document.documentElement).getPropertyValue("--card").match(/[0-9a-f]{2}/g).map((s) => parseInt(s, 16));
		let n = 0;
		for (let i = 0; i < a.length; i += 4) n += card.every((x, j) => a[i + j] === x);
		return n; })()`
	corr := visit.Eval[int](v, bare)
	v.Run(option("measure", "lift"))
	if lift := visit.Eval[int](v, bare); corr < 2*lift || corr == 0 {
		t.Errorf("the correlations leave %d pixels bare, and the lifts, none of which is in doubt, %d", corr, lift)
	}
	v.Run(option("measure", "corr"), visit.Click("#tab-pairs"))
	if s := visit.Eval[string](v, `document.querySelector("#pairs tbody td:nth-child(3)").textContent`); !strings.Contains(s, " to ") {
		t.Errorf("the first pair has the correlation %q", s)
	}
	info := `document.querySelector("#heldout .info").textContent`
	v.Changes("a score by keyboard", info, visit.Into("#heldout"), visit.Focus("#heldout svg"), visit.Key(kb.ArrowRight))
	if s := visit.Eval[string](v, info); !strings.HasPrefix(s, "K = 28: 0.0038 ± 0.0014 behind the best; 76 % of topics come back; this is 28") {
		t.Errorf("the score is told as %q", s)
	}
	v.Changes("a score by mouse", info, visit.ClickAt("#heldout svg", .1, .5))
	if s := visit.Eval[string](v, `document.getElementById("heldout").textContent`); !strings.Contains(s, "28 recommended") || !strings.Contains(s, "20 to 57 cannot be told apart") {
		t.Errorf("the picture of the scores says %q", s)
	}
}

// TestEffectsEdited: a topic with another name is called so among its effects. Of topics
// made one the numbers add and have no interval, also among the correlations.
func TestEffectsEdited(t *testing.T) {
	file := withEffects(t)
	v := visit.Open(t, tab(t), address(file), "light")
	v.Run(chromedp.Evaluate(`document.querySelector("#list li[data-k='3']").click()`, nil))
	rename(v, "the third of all")
	for _, where := range []string{"#effect-topics .drawing", "#classes-cells", "#effect-quantity"} {
		if s := visit.Eval[string](v, fmt.Sprintf(`document.querySelector(%q).textContent`, where)); !strings.Contains(s, "the third of all") {
			t.Errorf("%s does not have the new name", where)
		}
	}
	value := func(k int) float64 {
		return visit.Eval[float64](v, fmt.Sprintf(`(() => { const g = [...document.querySelectorAll("#effect-topics .row")].find(g => g.getAttribute("aria-label").startsWith("Topic %d,")); return Number(g.querySelector(".value").textContent.split(" ")[0].replace("−", "-")); })()`, k))
	}
	want := value(3) + value(7)
	v.Run(visit.Focus("#merge"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "merge-with"`)
	v.Run(option("merge-with", 7), visit.Focus("#merge-form button[type=submit]"), visit.Key(kb.Enter))
	row := `[...document.querySelectorAll("#effect-topics .row")].find(g => g.classList.contains("on"))`
	v.Wait(row + `.getAttribute("aria-label").includes("too little is known for an interval")`)
	merged := visit.Eval[int](v, `Number(/\d+/.exec(`+row+`.getAttribute("aria-label"))[0])`)
	if got := value(merged); math.Abs(got-want) > 0.11 { // three numbers of one decimal
		t.Errorf("the two topics differ by %v from the average, want %v", got, want)
	}
	if n := visit.Eval[int](v, `document.querySelectorAll("#effect-topics .row").length`); n != 29+2 {
		t.Errorf("%d rows, want those of 29 topics and 2 sums", n)
	}
	v.Run(visit.Into("#tab-pairs"), visit.Click("#tab-pairs"))
	bad := visit.Eval[[]string](v, fmt.Sprintf(`[...document.querySelectorAll("#pairs tbody tr")].filter(tr => tr.cells[2].textContent.includes(" to ") === (tr.cells[0].textContent.startsWith("%[1]d ") || tr.cells[1].textContent.startsWith("%[1]d "))).map(tr => tr.textContent)`, merged))
	if len(bad) > 0 {
		t.Errorf("pairs with an interval of a topic that is made of two, or without one: %q", bad)
	}
	v.Leave(only(file))
}

// TestEffectsSaved: the pictures and tables of effects can be saved.
func TestEffectsSaved(t *testing.T) {
	file := withEffects(t)
	v := visit.Open(t, tab(t), address(file), "light")
	d := takeDownloads(v)
	for _, name := range []string{"topics over time", "effects on topics", "effects on one topic", "topics by class", "scores of documents held out"} {
		if texts := wellFormed(t, d.press(v, saveButton(name+".svg"))); len(texts) < 10 {
			t.Errorf("%s has the texts %q", name, texts)
		}
		if b := d.press(v, saveButton(name+".png")); !strings.HasPrefix(b, "\x89PNG") {
			t.Errorf("%s is no PNG", name)
		}
	}
	v.Run(chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
	lines := strings.Split(d.press(v, saveButton("effects of age.csv")), "\n")
	if want := 1 + 2*25*32 + 32 + 1; len(lines) != want || lines[0] != "term,adjusted,point,quantity,measure,value,low,high,withheld,documents,few,incomplete" || !strings.HasPrefix(lines[1], "age,false,18,") {
		t.Errorf("%d lines, want %d: %q", len(lines), want, lines[:2])
	}
	v.Leave(only(file))
}

// TestEffectsLooks: texts can be read, and the page is no wider than a phone, whatever term
// is shown.
func TestEffectsLooks(t *testing.T) {
	file := withEffects(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			t.Run(fmt.Sprintf("%s/%d", scheme, size[0]), func(t *testing.T) {
				v := visit.Open(t, tab(t), address(file), scheme)
				v.Run(chromedp.EmulateViewport(size[0], size[1]), chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
				for term := range 6 {
					v.Run(option("effect-term", term), option("classes-term", term))
					if w := visit.Eval[int64](v, `document.documentElement.scrollWidth`); w > size[0] {
						t.Errorf("term %d: the page is %d wide", term, w)
					}
					if term%5 > 0 {
						continue // in the same colours
					}
					for _, bad := range visit.Eval[[]string](v, visit.Contrast) {
						t.Errorf("term %d: contrast below 4.5: %s", term, bad)
					}
				}
				v.Leave(only(file))
			})
		}
	}
}

// TestEffectsWithoutScripts: the numbers are in tables.
func TestEffectsWithoutScripts(t *testing.T) {
	file := withEffects(t)
	v := &visit.Visit{T: t, Ctx: tab(t)}
	v.Run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(address(file)))
	var text string
	v.Run(visit.Click("#effects summary"), chromedp.Text("#effects", &text, chromedp.ByQuery))
	if !strings.Contains(text, "the first and the third, both of which") || !strings.Contains(text, "at each level of party") {
		t.Errorf("the table is not there: %.300q", text)
	}
}

// TestEffectsMarkup: names and labels that hold markup and script stay text.
func TestEffectsMarkup(t *testing.T) {
	m, err := sample.Model(300, 6, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	const attack = `</script><img src=x onerror="window.pwned=1"><i class=evil>`
	e := sample.Effects(m, 4)
	e.Quantities[6].Name += attack
	for i := range e.Terms {
		x := &e.Terms[i]
		x.Name, x.Unit, x.Columns = x.Name+attack, x.Unit+attack, []string{attack, attack}
		for j := range x.Points {
			x.Points[j].Label = attack + x.Points[j].Label
			for l := range x.Points[j].Labels {
				x.Points[j].Labels[l] += attack
			}
		}
	}
	file := save(t, m, report.Options{Effects: e})
	v := visit.Open(t, tab(t), address(file), "light")
	for term := range e.Terms {
		v.Run(option("effect-term", term), option("classes-term", term), visit.Focus("#classes-cells"), visit.Key(kb.ArrowRight), visit.Focus("#times .panel"), visit.Key(kb.ArrowRight))
	}
	if visit.Eval[bool](v, `"pwned" in window || !!document.querySelector("main img, .evil")`) {
		t.Error("a name has become markup")
	}
	if s := visit.Eval[string](v, `document.getElementById("effects").textContent`); !strings.Contains(s, attack) {
		t.Error("the names are not there as text")
	}
	v.Leave(only(file))
}

// madeUpSweep returns what a sweep to choose among 5 to 80 topics might find: 28 is recommended, and 20 to
// 57 cannot be told apart. There is no model.
func madeUpSweep() *jsmf.Sweep {
	s := &jsmf.Sweep{K: 28, Low: 20, High: 57, Documents: 700, Words: 9000, Why: "A made-up reason."}
	for _, k := range []int{5, 7, 10, 14, 20, 28, 40, 57, 80} {
		x := jsmf.SweepPoint{K: k, Behind: 0.03 * math.Pow(math.Log(float64(k)/40), 2), Back: float64(k) * math.Exp(-float64(k)/100), NPMI: 0.2, Why: fmt.Sprintf("this is %d", k)}
		x.PerWord, x.Error = -7.1-x.Behind, 0.004*math.Abs(math.Log(float64(k)/40))
		s.Points = append(s.Points, x)
	}
	return s
}
