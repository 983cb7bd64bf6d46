package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

// TestAlike cuts the tree of topics that are alike: every cut is a list of all topics, its link
// leads back to it, and topics that are made one are one leaf.
func TestAlike(t *testing.T) {
	m, o := planted(t, 1500, 20)
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	check := func(groups, topics int) {
		t.Helper()
		got := visit.Eval[[]int](v, `[...document.querySelectorAll("#alike-list > li")].map((g) => g.querySelectorAll("li").length)`)
		sum := 0
		for _, n := range got {
			sum += n
		}
		leaves := visit.Eval[int](v, `document.querySelectorAll("#alike-tree text").length`)
		if joins := visit.Eval[int](v, `document.querySelectorAll("#alike-tree path").length`); len(got) != groups || sum != topics || leaves != topics || joins != topics-1 {
			t.Errorf("groups of %v topics, %d leaves, %d joins; want %d groups of %d topics", got, leaves, joins, groups, topics)
		}
	}
	check(4, 20)
	v.Changes("a finer cut by keyboard", `document.getElementById("alike-told").textContent`, visit.Into("#alike-cut"), visit.Focus("#alike-cut"), visit.Key(kb.ArrowRight))
	check(5, 20)
	v.Wait(`location.hash.includes("groups=5")`)
	v.Run(visit.Key(kb.End))
	check(20, 20)
	v.Run(visit.Key(kb.Home))
	check(1, 20)
	v.Run(chromedp.Evaluate(`location.hash = "#topic-1&groups=7"`, nil))
	v.Wait(`document.getElementById("alike-told").textContent === "7 groups"`)
	check(7, 20)
	v.Changes("a topic of a group", title, visit.Into("#alike-list li:last-child li button"), visit.Click("#alike-list li:last-child li button"))
	merge(v, 3, 5, 19)
	check(7, 19)
	texts := strings.Join(wellFormed(t, takeDownloads(v).press(v, saveButton("topics alike in words.svg"))), "\n")
	if !strings.Contains(texts, m.Name(3)) {
		t.Errorf("the picture lacks a topic: %s", texts)
	}
	v.Run(chromedp.EmulateViewport(390, 844))
	if w := visit.Eval[int](v, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("%d pixels in a window of 390", w)
	}
	v.Leave(func(u *url.URL) bool { return u.Scheme == "blob" || only(file)(u) })
}
