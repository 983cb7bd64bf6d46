package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
)

// wrap puts "report: " in front of an error, once.
func wrap(err error) error { return errs.Wrap("report", err) }

// Write writes a report on m to w: one HTML file that needs no other. See the
// package documentation for what it shows.
//
// For a hundred topics over twenty thousand words the page has about half a megabyte, with
// documents up to three more, and at most twelve with 100,000 documents; these take some three
// seconds. A thousand topics take three megabytes. The cost is O(N·K·(log N + n)) for n words of
// a topic, O(K² log K) for correlations, O(M·(K + log M)) for M documents, and O(N·D² + D³) for
// maps, places and groups of the D topics, or groups of topics, that are drawn, at most 250. Write
// is safe for concurrent use.
//
// Errors: options out of range or that do not fit the model, and those of w.
func Write(w io.Writer, m *jsmf.Model, o Options) error {
	if m == nil {
		return errors.New("report: no model")
	}
	if err := o.check(m); err != nil {
		return wrap(err)
	}
	p, err := newPage(m, &o)
	if err != nil {
		return wrap(err)
	}
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return wrap(err)
	}
	_, err = w.Write(out.Bytes())
	return wrap(err)
}

//go:embed assets
var assets embed.FS

// sections are those of the page in their order. Each has files of its own among the
// assets: NAME.html, which defines the template NAME that report.html calls, and, where it
// needs them, NAME.css and NAME.js.
var sections = []string{
	"overview",
	"topics",
	"families",
	"topicmap",
	"time",
	"effects",
	"classes",
	"correlations",
	"documents",
	"documentsplane", // a part of documents
	"documentspane",  // another
	"hierarchy",
	"quality",
	"sweep",
	"map",
	"fit",
}

// asset returns a file as browsers read it, or nothing if there is none. They read line
// breaks as \n, also for the digests of the policy; a checkout may have others.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err) // it is part of the program
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// pageTemplate returns the template of the page, which escapes what it shows.
var pageTemplate = sync.OnceValue(func() *template.Template {
	page, css := asset("report.html"), asset("report.css")
	// The parts of the script are the body of one function.
	js := []string{"\"use strict\";\n(() => {\n" + asset("base.js"), asset("parts.js"), asset("export.js"), asset("edits.js"), asset("plot.js"), asset("dots.js")}
	for _, name := range sections {
		page += asset(name + ".html")
		css += asset(name + ".css")
		if s := asset(name + ".js"); s != "" {
			js = append(js, s)
		}
	}
	return compile(page, css, strings.Join(append(js, asset("begin.js")), "\n")+"})();\n")
})

// compile returns the template of a page with a style and a script.
func compile(page, css, js string) *template.Template {
	// The policy allows the page's own style and script, and nothing else: no
	// other script, no request.
	policy := "default-src 'none'; style-src '" + digest(css) + "'; script-src '" + digest(js) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"css":    func() template.CSS { return template.CSS(css) },
		"js":     func() template.JS { return template.JS(js) },
		"policy": func() string { return policy },
		"count": func(n any) string {
			if i, ok := n.(int); ok {
				return count(int64(i))
			}
			return count(n.(int64))
		},
	}).Parse(page))
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// embedded returns v as JSON that may stand within <script>: encoding/json escapes
// <, > and &.
func embedded(v any) (template.JS, error) {
	b, err := json.Marshal(v)
	return template.JS(b), err
}
