package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// The page has a row for each word, and none of the section without them.
func TestWording(t *testing.T) {
	m := model(t, 300, 6)
	nan := math.NaN()
	w := &effects.Wording{Topics: m.Names(), Terms: []effects.TermWording{{
		Name: "party", Points: []effects.Point{{Label: "left"}, {Label: "<right>"}}, Topics: make([]effects.TopicWording, 6),
	}}}
	w.Terms[0].Topics[4] = effects.TopicWording{Judged: 9, Words: []effects.WordUse{
		{Word: "tax & spend", Point: 1, Ratio: jsmf.Interval{Value: 3.04, Low: 2, High: 4.44}, Uses: 120.2, Expected: 60},
		{Word: "duty", Ratio: jsmf.Interval{Value: 2, Low: nan, High: nan}},
	}}
	page := write(t, m, Options{Wording: w})
	for _, want := range []string{
		`>&lt;right&gt;</td><td dir="auto">tax &amp; spend</td><td class="num">3.0</td><td>2.0 to 4.4</td><td class="num">120</td><td class="num">60</td>`,
		`>duty</td><td class="num">2.0</td><td>none</td>`, "By party, there is too little to tell in 5 of 6 topics", `href="#wording"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(write(t, m, Options{}), `id="wording"`) {
		t.Error("a page without wording has its section")
	}
	w.Topics = w.Topics[1:]
	if err := Write(new(bytes.Buffer), m, Options{Wording: w}); err == nil || !strings.Contains(err.Error(), "wording: of 5 topics, but the model has 6") {
		t.Errorf("wording of another model: %v", err)
	}
}
