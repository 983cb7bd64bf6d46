package browser

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/metrics"
)

// doubtful gives a model made-up uncertainty of its topics, and makes up verdicts.
func doubtful(t *testing.T, m *jsmf.Model) (*jsmf.Model, *metrics.Report) {
	t.Helper()
	u, r := &jsmf.Uncertainty{Warm: 100, Cold: 20, Level: .95}, new(metrics.Report)
	for k, s := range m.TopicShares() {
		wide := s * (.05 + .04*float64(k%5))
		u.Topics = append(u.Topics, jsmf.TopicUncertainty{
			Share: jsmf.Interval{Value: s, Low: s - wide, High: s + wide}, Stability: 1 - float64(k%6)/10, Kept: 1,
			Split: float64(k%3) / 10, Merges: []jsmf.Merge{{Topic: (k + 1) % m.K(), Share: .1}},
		})
		r.Verdicts = append(r.Verdicts, metrics.Verdict{NPMI: .2, Exclusivity: .5, Documents: 100, Share: s, Twin: -1})
	}
	unknown := jsmf.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	for k := range m.K() {
		for l := k + 1; l < m.K(); l++ {
			u.Pairs = append(u.Pairs, jsmf.PairUncertainty{K: k, L: l, Correlation: unknown})
		}
	}
	m, err := m.With(jsmf.Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// TestTopicMap uses the map of topics by mouse and keyboard, and reads what it says of
// doubt. The first topic shown is the largest sound one.
func TestTopicMap(t *testing.T) {
	m, o := planted(t, 1500, 20)
	m, o.Metrics = doubtful(t, m)
	largest, second := -1, -1
	for k, s := range m.TopicShares() {
		switch {
		case largest < 0 || s > m.TopicShares()[largest]:
			largest, second = k, largest
		case second < 0 || s > m.TopicShares()[second]:
			second = k
		}
	}
	o.Metrics.Verdicts[largest] = metrics.Verdict{Quality: metrics.Twin, Twin: second, Cosine: .95}
	o.About, o.Describe = "", nil // whose texts are not the page’s
	o.Nouns = report.Nouns{Word: "artist", Words: "artists", Document: "listener", Documents: "listeners"}
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")

	if got := visit.Eval[string](v, `document.querySelector("#list [aria-selected=true]").dataset.k + " " + document.getElementById("detail-eyebrow").textContent`); got[:len(got)-len("sound")] == got || got[0] == ' ' {
		t.Errorf("the page begins with %q", got)
	}
	if got := visit.Eval[int](v, `Number(document.querySelector("#list [aria-selected=true]").dataset.k)`); got != second {
		t.Errorf("the page begins with topic %d, want %d", got, second)
	}
	// Each topic has a disc of the area of its share, a ring, and hardly overlaps others.
	if n := visit.Eval[int](v, `document.querySelectorAll("#topicmap-plane .disc .ring").length`); n != 20 {
		t.Errorf("%d rings", n)
	}
	if got := visit.Eval[[]string](v, `(() => {
		const c = [...document.querySelectorAll("#topicmap-plane .disc > circle:first-child")].map(c => [c.cx, c.cy, c.r].map(v => v.baseVal.value)), out = [];
		c.forEach((a, i) => c.slice(0, i).forEach((b, j) => { if (Math.hypot(a[0] - b[0], a[1] - b[1]) < a[2] + b[2] - 3) out.push(i + " and " + j); }));
		return out;
	})()`); len(got) > 0 {
		t.Errorf("discs overlap: %q", got)
	}

	v.Changes("a disc by mouse", title, visit.Into("#topicmap-plane .disc:not(.on) circle"), visit.Click("#topicmap-plane .disc:not(.on) circle"))
	v.Run(visit.Focus(`#topicmap-plane .disc[tabindex="0"]`))
	node := `document.activeElement.querySelector("title").textContent`
	from := visit.Eval[string](v, node)
	for _, k := range []string{kb.ArrowLeft, kb.ArrowUp, kb.ArrowRight, kb.ArrowDown} { // one of them leads on
		if v.Run(visit.Key(k)); visit.Eval[string](v, node) != from {
			break
		}
	}
	v.Changes("arrows and Enter", title, visit.Key(kb.Enter))
	v.Changes("the line below", title+` + document.activeElement.id`, visit.Focus("#topicmap-info button"), visit.Key(kb.Enter))

	// What is known of doubt, in the topic's facts, by names.
	v.Run(chromedp.Evaluate(`document.querySelector('#list li[data-k="4"]').click()`, nil))
	share, sure := m.TopicShares()[4], m.Additions().Uncertainty.Topics[4]
	facts := visit.Eval[string](v, `document.getElementById("facts").textContent`)
	for _, want := range []string{"Verdictsound", fmt.Sprintf("Share%.1f %% (%.1f %% to %.1f %%)", 100*share, 100*sure.Share.Low, 100*sure.Share.High), "Comes backin 12 of 20 fits", "Falls into twoin 10 %", "Is one with" + m.Name(5) + " in 10 %"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the facts %q lack %q", facts, want)
		}
	}
	v.Run(visit.Focus("#sort")) // the words of the data are those of its nouns
	text := visit.Eval[string](v, `[...document.querySelectorAll("main > section:not(#fit)")].map(s => s.innerText).join(" ")`)
	for _, bad := range []string{" words", " documents", "Words", "Documents"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("a page of artists and listeners says %q", text[max(0, i-60):i+len(bad)])
		}
	}
	v.Leave(only(file))
}
