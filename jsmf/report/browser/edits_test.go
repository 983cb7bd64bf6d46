package browser

import (
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

// rename gives the chosen topic a name by keyboard.
func rename(v *visit.Visit, name string) {
	v.T.Helper()
	v.Run(visit.Focus("#rename"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "rename-name"`)
	v.Run(visit.Set("#rename-name", name), visit.Key(kb.Enter))
}

// TestEdits renames and merges topics in the page, saves that, and has the library read it
// back: the model then has what the page shows.
func TestEdits(t *testing.T) {
	ctx := visit.Start(t)
	m, o := planted(t, 1500, 20)
	file := save(t, m, o)
	tab, end := chromedp.NewContext(ctx)
	defer end()
	v := visit.Open(t, tab, address(file), "light")
	d := takeDownloads(v)
	choose := func(k int) {
		t.Helper()
		v.Run(chromedp.Evaluate(`document.querySelector('#list li[data-k="`+strconv.Itoa(k)+`"]').click()`, nil))
	}

	// A name, in every view.
	const called = `Courts & <b>judges</b>`
	choose(3)
	rename(v, called)
	v.Wait(`document.getElementById("detail-title").textContent === "Courts & <b>judges</b>"`)
	for _, where := range []string{`#list`, `#pairs`, `#bytopic`, `#ribbon-key`, `.tree`, `#topicmap-info`, `.static`} {
		if where == "#ribbon-key" { // names the largest only
			continue
		}
		if !visit.Eval[bool](v, `document.querySelector("`+where+`").textContent.includes("Courts & <b>judges</b>")`) {
			t.Errorf("%s does not have the new name", where)
		}
	}
	for _, where := range []string{"#network", "#topicmap-plane"} {
		if !visit.Eval[bool](v, `[...document.querySelectorAll("`+where+` title")].some(t => t.textContent.includes("Courts & <b>judges</b>"))`) {
			t.Errorf("%s does not have the new name", where)
		}
	}
	// No second topic of this name, and Escape gives up.
	choose(4)
	rename(v, called)
	v.Wait(`document.getElementById("rename-wrong").textContent === "Topic 3 has this name."`)
	v.Run(visit.Key(kb.Escape))
	v.Wait(`document.getElementById("rename-form").hidden && document.activeElement.id === "rename"`)

	// Three topics become one, in two steps.
	shares := m.TopicShares()
	merge := func(k, other int) {
		t.Helper()
		choose(k)
		v.Run(visit.Focus("#merge"), visit.Key(kb.Enter))
		v.Wait(`document.activeElement.id === "merge-with"`)
		v.Run(chromedp.Evaluate(`document.getElementById("merge-with").value = "`+strconv.Itoa(other)+`"`, nil), visit.Focus("#merge-form button[type=submit]"), visit.Key(kb.Enter))
	}
	merge(5, 6)
	v.Wait(`document.querySelectorAll("#list li").length === 19`)
	merge(3, 5)
	v.Wait(`document.querySelectorAll("#list li").length === 18`)
	merge(10, 12)
	v.Wait(`document.querySelectorAll("#list li").length === 17 && document.getElementById("edits-told").textContent === "3 edits"`)
	for where, n := range map[string]int{"#bytopic tbody tr": 17, "#network .disc": 17, "#topicmap-plane .disc": 17, "#ribbon g": 17, ".static tbody tr:not([hidden])": 17} {
		if got := visit.Eval[int](v, `document.querySelectorAll("`+where+`").length`); got != n {
			t.Errorf("%d × %s, want %d", got, where, n)
		}
	}

	// What is saved is what the library reads, and makes the same topics.
	var e jsmf.Edits
	if err := json.Unmarshal([]byte(d.press(v, "#edits-save")), &e); err != nil {
		t.Fatal(err)
	}
	if e.Names[3] != called || len(e.Names) != 1 || len(e.Merge) != 2 || !slices.Equal(e.Merge[0], []int{3, 5, 6}) || !slices.Equal(e.Merge[1], []int{10, 12}) {
		t.Fatalf("edits %+v", e)
	}
	edited, err := m.Edit(e)
	if err != nil {
		t.Fatal(err)
	}
	if edited.K() != 17 || edited.Name(3) != called {
		t.Fatalf("%d topics, topic 3 is %q", edited.K(), edited.Name(3))
	}
	choose(3)
	if got, want := visit.Eval[string](v, `document.getElementById("detail-eyebrow").textContent`), strconv.FormatFloat(100*(shares[3]+shares[5]+shares[6]), 'f', 1, 64)+" %"; !strings.Contains(got, want) {
		t.Errorf("%q, want a share of %s", got, want)
	}
	// The most probable words are those of the library's topic, nearly as probable: the page
	// knows what a word is in a topic where it is among the best, or at home.
	v.Run(visit.Focus("#lambda"), visit.Key(kb.End))
	words := strings.Fields(strings.ReplaceAll(visit.Eval[string](v, barWords), "◆ ", ""))
	for i, w := range edited.TopWords(3, 10) {
		if words[i] != w.Word {
			t.Errorf("word %d is %q, want %q", i, words[i], w.Word)
		}
	}
	// Correlations: the page has three digits of those that it adds up.
	for _, p := range edited.CorrelatedPairs(-1) {
		if p.K == 3 || p.L == 3 {
			other := p.K + p.L - 3
			for _, gone := range []int{5, 6} { // numbers close up
				if other >= gone {
					other++
				}
			}
			if other >= 12 {
				other++
			}
			rows := visit.Eval[[]string](v, `[...document.querySelectorAll("#pairs tbody tr")].filter(r => r.classList.contains("on")).map(r => [...r.cells].slice(0, 3).map(c => c.textContent).join("|"))`)
			for _, r := range rows {
				f := strings.Split(strings.ReplaceAll(r, "−", "-"), "|")
				if strings.HasPrefix(f[0]+" ", strconv.Itoa(other)+" ") || strings.HasPrefix(f[1], strconv.Itoa(other)+" ") {
					if got, err := strconv.ParseFloat(f[2], 64); err != nil || math.Abs(got-p.Correlation) > 0.012 {
						t.Errorf("correlation with %d is %q, want %.3f", other, f[2], p.Correlation)
					}
				}
			}
		}
	}

	// All of it can be undone.
	for range 4 {
		v.Run(visit.Focus("#undo"), visit.Key(kb.Enter))
	}
	v.Wait(`document.getElementById("edits").hidden && document.querySelectorAll("#list li").length === 20 && document.activeElement.id === "rename"`)
	if visit.Eval[bool](v, `document.body.innerText.includes("judges")`) {
		t.Error("the name is still there")
	}
	v.Leave(func(u *url.URL) bool { return u.Scheme == "blob" || only(file)(u) })
}
