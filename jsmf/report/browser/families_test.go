package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// TestTreeOfTopics opens a page of a thousand topics, and goes through its tree.
func TestTreeOfTopics(t *testing.T) {
	m, err := sample.Split(3000, sample.Words, 20, 200, 1000)
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, m, report.Options{Title: "A thousand topics"})
	v := visit.Open(t, tab(t), address(file), "light")
	// What is not asked for is not made.
	if n := visit.Eval[int](v, `document.querySelectorAll("main .live *, main svg *").length`); n > 30000 {
		t.Errorf("%d elements", n)
	}
	const list = `document.querySelectorAll("#families-list > li").length`
	count := func(expression string, want int) {
		t.Helper()
		if n := visit.Eval[int](v, expression); n != want {
			t.Errorf("%s is %d, want %d", expression, n, want)
		}
	}
	count(list, 20)
	count(`document.querySelectorAll("#families-list li li").length`, 0)
	// A group, one of its groups, and a topic in that.
	v.Run(visit.Into("#families-list summary"), visit.Click("#families-list summary"))
	v.Wait(`document.querySelectorAll("#families-list > li:first-child > details > ul > li").length === 10`)
	v.Run(visit.Into("#families-list li li summary"), visit.Click("#families-list li li summary"))
	v.Wait(`document.querySelectorAll("#families-list li li li .leaf").length === 5`)
	v.Changes("a topic of the tree", title, visit.Into("#families-list .leaf .link"), visit.Click("#families-list .leaf .link"))
	// Every level is a list of all.
	level := func(value string, want int) {
		t.Helper()
		v.Run(chromedp.SetValue("#families-level", value, chromedp.ByQuery), chromedp.Evaluate(`document.getElementById("families-level").dispatchEvent(new Event("change"))`, nil))
		count(list, want)
	}
	level("2", 1000)
	level("1", 200)
	word := visit.Eval[string](v, `document.querySelector("#families-list .called").textContent.split(" · ")[0]`)
	v.Changes("the filter of the tree", list, visit.Set("#families-filter", word))
	// The path of a topic leads to its group, and so do the drawings.
	v.Run(visit.Into("#detail-path"), visit.Click("#detail-path button"))
	count(list, 20)
	count(`document.querySelectorAll("#families-list > li > details[open]").length`, 1)
	for _, disc := range []string{"#network g.disc", "#topicmap-plane g.disc"} {
		count(`document.querySelectorAll("`+disc+`").length`, 200)
	}
	v.Run(visit.Into("#tab-network"), visit.Click("#tab-network"), visit.Into("#network"), visit.Click("#network g.disc:not([style*=none]) circle"))
	count(list, 200)
	count(`document.querySelectorAll("#families-list > li > details[open]").length`, 1)
	// What has been renamed and made one.
	v.Run(visit.Into("#rename"), visit.Click("#rename"), visit.Set("#rename-name", "renamed"), visit.Click("#rename-form button"))
	v.Run(visit.Into("#merge"), visit.Click("#merge"), visit.Click("#merge-form button"))
	level("2", 999)
	// Nothing is wider than a phone.
	v.Run(chromedp.EmulateViewport(390, 844))
	count(`document.documentElement.scrollWidth`, 390)
	shoot(v, "thousand")
	v.Leave(only(file))
}
