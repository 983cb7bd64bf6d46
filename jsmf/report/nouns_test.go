package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestNouns: a page of artists and listeners says nothing of words and documents, and its
// nouns stay text.
func TestNouns(t *testing.T) {
	m := model(t, 300, 6)
	for _, c := range []struct{ nouns, said string }{
		{"artist artists listener listeners", "A topic is a distribution over artists."},
		{"<b>item</b> <b>items</b> {word} {words}", "A topic is a distribution over &lt;b&gt;items&lt;/b&gt;."},
	} {
		f := strings.Fields(c.nouns)
		page := write(t, m, Options{Nouns: Nouns{f[0], f[1], f[2], f[3]}, Documents: compositions(6, 30), Hierarchy: hierarchy(t, m, 2)})
		if !strings.Contains(page, c.said) {
			t.Errorf("the page does not say %q", c.said)
		}
		if strings.Contains(page, "<b>item") {
			t.Error("a noun is markup")
		}
		body, _, _ := strings.Cut(page, "<noscript>")
		_, body, _ = strings.Cut(body, "<body>")
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))
		for _, bad := range []string{" words", " word ", " documents", " document ", "Words", "Documents"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the page says %q", c.nouns, bad)
			}
		}
	}
	for _, c := range [][2]string{{"item", "an item"}, {"basket", "a basket"}, {"Öl", "a Öl"}} {
		if got := speech(Nouns{Word: c[0], Words: c[0] + "s"}.phrases()).Replace("{a word}"); got != c[1] {
			t.Errorf("%q, want %q", got, c[1])
		}
	}
	if got := speech(Nouns{}.phrases()).Replace("{Reading words} of {a document}: {words}"); got != "Reading words of a document: words" {
		t.Errorf("without nouns: %q", got)
	}
	for want, n := range map[string]Nouns{
		`Word is "item" but Words is ""`:          {Word: "item"},
		`Document is "" but Documents is "sets"`:  {Documents: "sets"},
		`Words is " items"; want at most 40`:      {Word: "item", Words: " items"},
		`Documents is "` + strings.Repeat("x", 9): {Document: "x", Documents: strings.Repeat("x", 41)},
	} {
		if err := Write(new(bytes.Buffer), m, Options{Nouns: n}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nouns %+v: %v, want %q", n, err, want)
		}
	}
}
