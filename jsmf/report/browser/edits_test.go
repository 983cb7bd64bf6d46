package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

// chooseTopic shows topic k.
func chooseTopic(v *visit.Visit, k int) {
	v.T.Helper()
	v.Run(chromedp.Evaluate(fmt.Sprintf(`document.querySelector('#list li[data-k="%d"]').click()`, k), nil))
}

// rename gives the chosen topic a name by keyboard.
func rename(v *visit.Visit, name string) {
	v.T.Helper()
	v.Run(visit.Focus("#rename"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "rename-name"`)
	v.Run(visit.Set("#rename-name", name), visit.Key(kb.Enter))
}

// merge makes topic other a part of topic k, and waits until the number of topics is left.
func merge(v *visit.Visit, k, other, left int) {
	v.T.Helper()
	chooseTopic(v, k)
	v.Run(visit.Focus("#merge"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "merge-with"`)
	v.Run(chromedp.Evaluate(fmt.Sprintf(`document.getElementById("merge-with").value = "%d"`, other), nil), visit.Focus("#merge-form button[type=submit]"), visit.Key(kb.Enter))
	v.Wait(fmt.Sprintf(`document.querySelectorAll("#list li").length === %d`, left))
}

// TestEdits renames and merges topics in the page, saves that, and has the library read it
// back: the model then has what the page shows. In the end all is undone.
func TestEdits(t *testing.T) {
	m, o := planted(t, 1500, 20)
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	d := takeDownloads(v)

	const called = `Courts & <b>judges</b>`
	checkRename(v, called)
	merge(v, 5, 6, 19)
	merge(v, 3, 5, 18)
	merge(v, 10, 12, 17)
	v.Wait(`document.getElementById("edits-told").textContent === "3 edits"`)
	for _, where := range []string{"#bytopic tbody tr", "#network .disc", "#topicmap-plane .disc", ".static tbody tr:not([hidden])"} {
		if got := visit.Eval[int](v, `document.querySelectorAll("`+where+`").length`); got != 17 {
			t.Errorf("%d × %s, want 17", got, where)
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
	checkMerged(v, edited, []int{5, 6, 12})

	// What the page only marks is saved, too: words, and topics that are split or dropped.
	planned, seeds := checkPlans(v, m, called)
	e = jsmf.Edits{}
	if err := json.Unmarshal([]byte(d.press(v, "#edits-save")), &e); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(e.Hide, planned.Hide) || !reflect.DeepEqual(e.Exclude, planned.Exclude) || !reflect.DeepEqual(e.Stop, planned.Stop) ||
		!reflect.DeepEqual(e.Split, planned.Split) || !reflect.DeepEqual(e.Drop, planned.Drop) || len(e.Merge) != 2 {
		t.Fatalf("edits %+v, want also %+v", e, planned)
	}
	if got := d.press(v, "#seeds-save"); got != seeds {
		t.Errorf("seeds %q, want %q", got, seeds)
	}
	e.Split, e.Drop = nil, nil // these need documents
	if edited, err = m.Edit(e); err != nil {
		t.Fatal(err)
	}
	if w, _ := m.Index(planned.Stop[0]); edited.Topics().At(w, 8) != 0 {
		t.Errorf("%q is no stop word", planned.Stop[0])
	}

	// They are kept for the next visit, and undone together there.
	v.Run(chromedp.Reload())
	v.Wait(`document.documentElement.dataset.ready === "true" && document.querySelectorAll("#list li").length === 17`)
	if told := visit.Eval[string](v, `document.getElementById("edits-told").textContent`); told != "10 edits" {
		t.Errorf("after a reload: %s", told)
	}
	v.Run(visit.Focus("#undo"), visit.Key(kb.Enter))
	v.Wait(`document.getElementById("edits").hidden && document.querySelectorAll("#list li").length === 20 && document.activeElement.id === "rename"`)
	if visit.Eval[bool](v, `document.body.innerText.includes("judges")`) {
		t.Error("the name is still there")
	}
	v.Leave(func(u *url.URL) bool { return u.Scheme == "blob" || only(file)(u) })
}

// checkPlans splits and drops topics, says what is to become of three words of another, and makes words seeds of topic 3,
// which has this name, and of one without.
func checkPlans(v *visit.Visit, m *jsmf.Model, called string) (_ jsmf.Edits, seeds string) {
	t := v.T
	t.Helper()
	chooseTopic(v, 9)
	v.Run(visit.Focus("#split"), visit.Key(kb.Enter))
	v.Wait(`document.activeElement.id === "split-parts"`)
	v.Run(visit.Set("#split-parts", "3"), visit.Key(kb.Enter))
	v.Wait(`document.querySelector('#list li[data-k="9"]').textContent.includes("to be split into 3") && document.getElementById("merge").disabled`)
	chooseTopic(v, 11)
	v.Changes("dropping a topic", `document.querySelector('#list li[data-k="11"]').textContent`, visit.Focus("#drop"), visit.Key(kb.Enter))
	chooseTopic(v, 3)
	if !visit.Eval[bool](v, `document.getElementById("split").disabled && document.getElementById("drop").disabled`) {
		t.Error("a topic made of others can be split or dropped")
	}
	chooseTopic(v, 8)
	words := m.TopWords(8, 3)
	for i, what := range []string{"exclude", "hide", "stop"} {
		struck := fmt.Sprintf(`document.querySelectorAll("#bars .struck").length === %d`, i+1)
		v.Run(visit.Focus(fmt.Sprintf("#bars li:nth-child(%d) button", i+1)), visit.Key(kb.Enter), visit.Focus("#word-stop"), visit.Key(kb.Enter)) // another choice takes its place
		v.Wait(struck)
		v.Run(visit.Focus("#word-"+what), visit.Key(kb.Enter))
		v.Wait(fmt.Sprintf(`document.activeElement.id === "word-%s"`, what))
		if what == "stop" { // pressed twice
			v.Wait(fmt.Sprintf(`document.querySelectorAll("#bars .struck").length === %d`, i))
			v.Run(visit.Key(kb.Enter))
		}
		v.Wait(struck)
	}
	var made []string
	for _, x := range []struct{ topic, word int }{{13, 1}, {13, 2}, {3, 1}} {
		chooseTopic(v, x.topic)
		bar := fmt.Sprintf("#bars li:nth-child(%d)", x.word)
		made = append(made, visit.Eval[string](v, fmt.Sprintf(`document.querySelector("%s button").title`, bar)))
		v.Run(visit.Focus(bar+" button"), visit.Key(kb.Enter), visit.Focus("#word-seed"), visit.Key(kb.Enter))
		v.Wait(fmt.Sprintf(`document.querySelector("%s").classList.contains("seed")`, bar))
	}
	return jsmf.Edits{Split: map[int]int{9: 3}, Drop: []int{11}, Exclude: map[int][]string{8: {words[0].Word}}, Hide: []string{words[1].Word}, Stop: []string{words[2].Word}}, fmt.Sprintf("%s: %s\n: %s %s\n", called, made[2], made[0], made[1])
}

// checkRename names topic 3, and looks for the name in every view. No second topic can have
// it, and Escape gives up.
func checkRename(v *visit.Visit, called string) {
	t := v.T
	t.Helper()
	chooseTopic(v, 3)
	rename(v, called)
	v.Wait(fmt.Sprintf(`document.getElementById("detail-title").textContent === %q`, called))
	for _, where := range []string{`#list`, `#pairs`, `#bytopic`, `.tree`, `#topicmap-info`, `.static`, `#network`, `#topicmap-plane`, `#largest`} {
		if !visit.Eval[bool](v, fmt.Sprintf(`document.querySelector(%q).textContent.includes(%q)`, where, called)) {
			t.Errorf("%s does not have the new name", where)
		}
	}
	chooseTopic(v, 4)
	rename(v, called)
	v.Wait(`document.getElementById("rename-wrong").textContent === "Topic 3 has this name."`)
	v.Run(visit.Key(kb.Escape))
	v.Wait(`document.getElementById("rename-form").hidden && document.activeElement.id === "rename"`)
}

// checkMerged compares topic 3 on the page with that of the library, whose numbers have
// closed up over those that are gone.
func checkMerged(v *visit.Visit, edited *jsmf.Model, gone []int) {
	t := v.T
	t.Helper()
	chooseTopic(v, 3)
	if got, want := visit.Eval[string](v, `document.getElementById("detail-eyebrow").textContent`), fmt.Sprintf("%.1f %%", 100*edited.TopicShares()[3]); !strings.Contains(got, want) {
		t.Errorf("%q, want a share of %s", got, want)
	}
	// The page knows what a word is in a topic where it is among the best, or at home, so
	// that the most probable words are right.
	v.Run(visit.Focus("#lambda"), visit.Key(kb.End))
	words := strings.Fields(strings.ReplaceAll(visit.Eval[string](v, barWords), "◆ ", ""))
	for i, w := range edited.TopWords(3, 10) {
		if words[i] != w.Word {
			t.Errorf("word %d is %q, want %q", i, words[i], w.Word)
		}
	}
	var number []int // on the page, of the topics of the library
	for k := range edited.K() + len(gone) {
		if !slices.Contains(gone, k) {
			number = append(number, k)
		}
	}
	// The page adds up correlations of three digits.
	compared := 0
	for _, p := range edited.CorrelatedPairs(-1) {
		if p.K != 3 && p.L != 3 {
			continue
		}
		other := number[p.K+p.L-3]
		got := visit.Eval[string](v, fmt.Sprintf(`[...document.querySelectorAll("#pairs tbody tr.on")].filter(r => [...r.cells].slice(0, 2).some(c => c.textContent.startsWith("%d "))).map(r => r.cells[2].textContent).join()`, other))
		if got == "" {
			continue // the table shows those that correlate most and least
		}
		compared++
		if x, err := strconv.ParseFloat(strings.ReplaceAll(got, "−", "-"), 64); err != nil || math.Abs(x-p.Correlation) > 0.012 {
			t.Errorf("correlation with %d is %q, want %.3f", other, got, p.Correlation)
		}
	}
	if compared < 5 {
		t.Errorf("%d correlations were compared", compared)
	}
}
