package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"strings"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
)

// wrap puts "report: " in front of an error, once.
func wrap(err error) error { return errs.Wrap("report", err) }

//go:embed assets/report.html
var pageHTML string

//go:embed assets/report.css
var cssFile string

//go:embed assets/report.js
var jsFile string

// Browsers read line breaks as \n, also when they compare with the digests of the
// policy; a checkout may have others.
var (
	pageCSS = strings.ReplaceAll(cssFile, "\r\n", "\n")
	pageJS  = strings.ReplaceAll(jsFile, "\r\n", "\n")
)

// Write writes a report on m to w: one HTML file that needs no other. See the
// package documentation for what it shows.
//
// For a hundred topics over twenty thousand words the page has about half a
// megabyte, and about one with documents. The cost is O(N·K²) for the map,
// O(N·K·(log N + n)) for the words, with n shown of a topic, O(M·K·log M) for M
// documents, and O(K³) for the order of the matrix, of at most 250 topics. Write is
// safe for concurrent use.
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
	if err := pageTemplate.Execute(&out, p); err != nil {
		return wrap(err)
	}
	_, err = w.Write(out.Bytes())
	return wrap(err)
}

// pageTemplate escapes whatever it is given.
var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(pageCSS) },
	"js":  func() template.JS { return template.JS(pageJS) },
	"count": func(n any) string {
		if i, ok := n.(int); ok {
			return count(int64(i))
		}
		return count(n.(int64))
	},
	// The policy allows the page's own style and script, and nothing else: no
	// other script, no request.
	"policy": func() string {
		return "default-src 'none'; style-src '" + digest(pageCSS) + "'; script-src '" + digest(pageJS) +
			"'; img-src data:; base-uri 'none'; form-action 'none'"
	},
}).Parse(pageHTML))

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// embedded returns v as JSON that may stand within <script>: encoding/json writes
// <, > and & as \u003c and so on.
func embedded(v any) (template.JS, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return template.JS(b), nil
}
