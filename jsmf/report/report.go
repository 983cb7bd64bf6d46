package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/metrics"
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
	"alike",
	"time",
	"effects",
	"classes",
	"wording",
	"correlations",
	"documents",
	"documentsplane", // a part of documents
	"documentspane",  // another
	"unexplained",
	"hierarchy",
	"quality",
	"sweep",
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

// Options say what a report shows besides the model. The zero value is a report on
// the model alone.
type Options struct {
	// Title is the title of the page; "": "Topics". About is a sentence or a
	// paragraph of plain text below it, such as what the documents are.
	Title, About string

	// TopWords is how many words of a topic are shown, at most 100; 0: 20.
	TopWords int

	// Metrics are the measures of the model by Pipeline.Evaluate.
	Metrics *metrics.Report

	// Curation is what corpus.Curate did to the vocabulary and the documents.
	Curation *corpus.CurationReport

	// Sweep is what jsmf.Grid.Run found for other numbers of topics. The model is
	// normally one of its models.
	Sweep *jsmf.Sweep

	// Effects are what a Study found about the topics of the model.
	Effects *effects.Effects

	// Wording is what a Study found about the words of groups in the topics of the model.
	Wording *effects.Wording

	// Hierarchy holds the levels above the topics of the model, of which it was made.
	Hierarchy *jsmf.Hierarchy

	// Documents are the topic proportions of documents (Model.Transform). The page
	// shows for each topic those with the largest share, and all on a map: of more
	// than 100,000 a sample of that size, drawn by their ids. Labels and columns of
	// Documents.Metadata, except those of more than 1000 levels, colour the map and
	// choose documents. Documents that no topic explains (Compositions.Explained) are left out, and
	// the first 200 of them are listed, with why.
	Documents *jsmf.Compositions

	// Describe returns what to show of document m, a row of Documents.W. It is called
	// once for each document that is shown. nil: their ids.
	Describe func(m int) Document

	// TopDocuments is how many documents a topic shows, at most 100; 0: 5.
	TopDocuments int

	// Nouns are what to call words and documents.
	Nouns Nouns

	// Times are times of stages of the caller's own, such as reading, shown next to those of
	// the fit, which a model read from a file does not have.
	Times []Time
}

// Document is what is shown of a document: plain text, of which the first 160
// characters of the title, 320 of the snippet and 1500 of the text are kept. If Title
// is empty it is the document's id.
//
// Text, or else Snippet, is shown with the map. The documents take at most 3 MB of the page,
// or 105 bytes each where that is more; where their texts do not fit, those of each topic's
// best documents come first, and the others have a title only.
type Document struct{ Title, Snippet, Text string }

// Time is how long a stage took.
type Time struct {
	Stage    string
	Duration time.Duration
}

// check reports everything that is wrong with the options, and fills in defaults.
func (o *Options) check(m *jsmf.Model) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	size := func(what string, n *int, usual, most int) {
		if *n < 0 || *n > most {
			bad("%s: %d is not in [0, %d]", what, *n, most)
		}
		*n = cmp.Or(*n, usual)
	}
	o.Title = cmp.Or(o.Title, "Topics")
	size("top words", &o.TopWords, 20, 100)
	size("documents of a topic", &o.TopDocuments, 5, 100)
	errs = append(errs, o.Nouns.check())
	if o.Metrics != nil {
		for _, t := range topicMetrics(o.Metrics) {
			if t.Values != nil && len(t.Values) != m.K() {
				bad("metrics: %s of %d topics, but the model has %d", t.Name, len(t.Values), m.K())
			}
		}
		for k, v := range o.Metrics.Verdicts {
			if v.Quality == metrics.Twin && (v.Twin < 0 || v.Twin >= m.K()) {
				bad("metrics: topic %d is the twin of topic %d, which is not in [0, %d)", k, v.Twin, m.K())
			}
		}
	}
	if err := o.Documents.Validate(m.K()); err != nil {
		bad("documents: %w", err)
	}
	errs = append(errs, checkEffects(o.Effects, m.K()))
	if w := o.Wording; w != nil {
		if errs = append(errs, w.Validate()); len(w.Topics) != m.K() {
			bad("wording: of %d topics, but the model has %d", len(w.Topics), m.K())
		}
	}
	if h := o.Hierarchy; h != nil && (h.K(0) != m.K() || h.Model(0).N() != m.N()) {
		bad("hierarchy: of %d topics over %d words, but the model has %d over %d", h.K(0), h.Model(0).N(), m.K(), m.N())
	}
	for _, t := range o.Times {
		if t.Duration < 0 {
			bad("time of %s: %v", t.Stage, t.Duration)
		}
	}
	o.Describe = describer(o)
	return errors.Join(errs...)
}

// Nouns are what the data are made of, in the singular and the plural: artist, artists,
// listener and listeners for what people listen to. The page speaks of them instead of words
// and documents. The zero value is words and documents.
type Nouns struct{ Word, Words, Document, Documents string }

// nounLength is how many characters a noun may have.
const nounLength = 40

func (n Nouns) check() error {
	var errs []error
	for _, p := range [][4]string{{"Word", n.Word, "Words", n.Words}, {"Document", n.Document, "Documents", n.Documents}} {
		if (p[1] == "") != (p[3] == "") {
			errs = append(errs, fmt.Errorf("nouns: %s is %q but %s is %q; want both or none", p[0], p[1], p[2], p[3]))
		}
		for i := 1; i < 4; i += 2 {
			if s := p[i]; utf8.RuneCountInString(s) > nounLength || strings.TrimSpace(s) != s {
				errs = append(errs, fmt.Errorf("nouns: %s is %.100q; want at most %d characters without space around them", p[i-1], s, nounLength))
			}
		}
	}
	return errors.Join(errs...)
}

// phrases are what the texts of the page may have in braces.
func (n Nouns) phrases() map[string]string {
	out := map[string]string{"reading words": "reading words"}
	if n.Word != "" {
		out["reading words"] = "typical " + n.Words
	}
	out["word"], out["words"] = cmp.Or(n.Word, "word"), cmp.Or(n.Words, "words")
	out["document"], out["documents"] = cmp.Or(n.Document, "document"), cmp.Or(n.Documents, "documents")
	for _, key := range []string{"word", "document"} {
		article := "a "
		if strings.ContainsAny(strings.ToLower(out[key][:1]), "aeiou") {
			article = "an "
		}
		out["a "+key] = article + out[key]
	}
	for key, s := range out {
		first, size := utf8.DecodeRuneInString(s)
		out[strings.ToUpper(key[:1])+key[1:]] = strings.ToUpper(string(first)) + s[size:]
	}
	return out
}

// speech puts the nouns into texts.
func speech(phrases map[string]string) *strings.Replacer {
	var pairs []string
	for key, s := range phrases {
		pairs = append(pairs, "{"+key+"}", s)
	}
	return strings.NewReplacer(pairs...)
}
