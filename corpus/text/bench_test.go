package text

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkText measures what text costs, whole and by stage, on files of the Go
// distribution: Newton's Opticks, a book of prose with some Greek, by paragraphs; the same
// without the characters that are not ASCII; and the specification of Go, which is HTML.
func BenchmarkText(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("needs the go command: ", err)
	}
	read := func(elem ...string) string {
		data, err := os.ReadFile(filepath.Join(append([]string{strings.TrimSpace(string(root))}, elem...)...))
		if err != nil {
			b.Skip("needs the files of the Go distribution: ", err)
		}
		return string(data)
	}
	book, spec := read("src", "testdata", "Isaac.Newton-Opticks.txt"), read("doc", "go_spec.html")
	ascii := strings.Map(func(r rune) rune {
		if r > '~' {
			return -1
		}
		return r
	}, book)
	k := defaultTokenizer
	var dst []string
	whole := func(s string) { dst = k.Tokenize(dst[:0], s) }
	for _, x := range []struct {
		name, text string
		f          func(s string)
	}{
		{"file=opticks-ascii/stage=whole", ascii, whole},
		{"file=opticks-ascii/stage=clean", ascii, func(s string) { k.clean(s) }},
		{"file=opticks-ascii/stage=case", ascii, func(s string) { lowerASCII(s) }},
		{"file=opticks-ascii/stage=words", strings.ToLower(ascii), func(s string) {
			x := scan{t: k, dst: dst[:0]}
			x.text(s)
			dst = x.dst
		}},
		{"file=opticks-ascii/stage=slow-words", ascii, func(s string) {
			x := scan{t: k, dst: dst[:0]}
			x.slow(s)
			dst = x.dst
		}},
		{"file=opticks/stage=whole", book, whole},
		{"file=go_spec.html/stage=whole", spec, whole},
		{"file=go_spec.html/stage=markup", spec, func(s string) { dropMarkup(s) }},
		{"file=cyrillic/stage=whole", strings.Repeat("Все счастливые дома похожи, а несчастный спорит со всеми. ", 5000), whole},
		{"file=chinese/stage=whole", strings.Repeat("天下大势分久必合，合久必分。", 10000), whole},
	} {
		docs := strings.Split(x.text, "\n\n")
		b.Run(x.name, func(b *testing.B) {
			b.SetBytes(int64(len(x.text)))
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range docs {
					x.f(d)
				}
			}
		})
	}
}
