package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf/find"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// TestFindLike finds texts like a text: of the topics that the model finds in it, and the documents first that
// jsmf/find has first, or most of these: the page keeps eight topics of a document. The address says what was searched for.
func TestFindLike(t *testing.T) {
	m, err := sample.Model(900, 12, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	o := many(t, m, 300)
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	v.Wait(allTexts)
	docs, err := find.NewDocuments(m, o.Documents)
	if err != nil {
		t.Fatal(err)
	}
	inf, err := m.Inferer(t.Context(), nil, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	paste := func(text string) {
		visit.Eval[bool](v, fmt.Sprintf(`(() => { const e = document.getElementById("documents-like"); e.value = %q; return e.dispatchEvent(new Event("input")); })()`, text))
	}
	const first = `Array.from(document.querySelectorAll("#documents-list button")).slice(0, 10).map((b) => "id-" + b.dataset.doc)`
	same := 0
	const texts = 3
	for k := range texts {
		var words []int32
		var text []string
		for _, w := range append(m.TopWords(k, 6), m.TopWords((k+5)%m.K(), 3)...) {
			words, text = append(words, int32(w.Index)), append(text, w.Word)
		}
		shares, counts := make([]float64, m.K()), make([]int32, len(words))
		for i := range counts {
			counts[i] = 1
		}
		if _, err := inf.InferTo(shares, words, counts); err != nil {
			t.Fatal(err)
		}
		want, err := docs.SimilarTo(shares, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		paste(strings.ToUpper(strings.Join(text, ", ")))
		v.Wait(fmt.Sprintf(`document.getElementById("documents-liked").textContent.endsWith("knows %d of %[1]d.")`, len(words)))
		got := strings.Join(visit.Eval[[]string](v, first), " ") + " "
		for _, x := range want {
			if strings.Contains(got, x.Name+" ") {
				same++
			}
		}
	}
	if all := 10 * texts; same < all/2 {
		t.Errorf("%d of the %d documents that the model has first are first on the page", same, all)
	}
	v.Wait(`location.hash.includes("&like=")`)
	paste("qqq")
	v.Wait(`document.getElementById("documents-liked").textContent === "This page knows no word of the text."`)
	v.Run(visit.Click("#documents-clear"))
	v.Wait(`document.getElementById("documents-liked").textContent === "" && !location.hash.includes("&like=")`)
	v.Leave(only(file))
}
