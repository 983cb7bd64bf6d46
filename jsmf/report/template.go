package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"strings"
	"sync"
)

//go:embed assets/report.html
var pageHTML string

//go:embed assets/report.css
var pageCSS string

// The parts of the script, in their order. They are the body of one function.
var (
	//go:embed assets/base.js
	baseJS string
	//go:embed assets/topics.js
	topicsJS string
	//go:embed assets/correlations.js
	correlationsJS string
	//go:embed assets/map.js
	mapJS string
	//go:embed assets/fit.js
	fitJS string
)

// pageTemplate returns the template of the page, which escapes what it shows.
var pageTemplate = sync.OnceValue(func() *template.Template {
	// Browsers read line breaks as \n, also for the digests of the policy; a
	// checkout may have others.
	unix := strings.NewReplacer("\r\n", "\n").Replace
	css := unix(pageCSS)
	js := unix("\"use strict\";\n(() => {\n" + baseJS + topicsJS + correlationsJS + mapJS + fitJS + "})();\n")
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
	}).Parse(pageHTML))
})

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
