package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// Sizes that an option can change.
const (
	DefaultTopWords  = 20   // words of a topic
	DefaultMapWords  = 2000 // words of the map
	DefaultDocuments = 5    // documents of a topic
)

// maxMatrix is the most topics that the matrix of correlations and the network
// show; of more those with the largest shares.
const maxMatrix = 250

// Option adds to a report or changes it. The last of two that say the same holds.
type Option func(*settings)

type settings struct {
	title, about string
	topWords     int
	mapWords     int
	perTopic     int
	pictures     []*Picture
	measured     *metrics.Report
	curation     *corpus.CurationReport
	docs         *jsmf.Compositions
	describe     func(m int) Document
	hierarchy    *jsmf.Hierarchy
	sweep        *jsmf.Sweep
	times        []timing
}

type timing struct {
	Name     string
	Duration time.Duration
}

// Title sets the title, "Topics" by default.
func Title(s string) Option { return func(o *settings) { o.title = s } }

// About adds a sentence or a paragraph of plain text below the title, such as what
// the documents are.
func About(s string) Option { return func(o *settings) { o.about = s } }

// TopWords sets how many words of a topic are shown, 1 to 100; 0 means
// DefaultTopWords.
func TopWords(n int) Option { return func(o *settings) { o.topWords = n } }

// MapWords sets how many words the map shows; 0 means DefaultMapWords. They are the
// anchors, the first ten words of each topic, even if these are more, and the most
// frequent ones. Where a Picture has Words, these are shown, all of them.
func MapWords(n int) Option { return func(o *settings) { o.mapWords = n } }

// Map adds a picture of the words, such as that of TSNE. The page shows the first
// one that was added, and has PCA's and all others to choose from.
func Map(p *Picture) Option { return func(o *settings) { o.pictures = append(o.pictures, p) } }

// Metrics adds the measures that Pipeline.Evaluate made of the model.
func Metrics(r *metrics.Report) Option { return func(o *settings) { o.measured = r } }

// Curation adds what corpus.Curate did to the vocabulary and the documents.
func Curation(r *corpus.CurationReport) Option { return func(o *settings) { o.curation = r } }

// Document is what is shown of a document beside its topics: plain text, of which
// the first 160 and 320 characters are kept.
type Document struct{ Title, Snippet string }

// Documents adds the most representative documents of each topic: those with the
// largest shares of it in c, as Model.Transform made it, documents without a known
// word aside. describe tells what to show of document m, the row of c.W, and is
// called for these only; nil, and an empty Title, mean its id.
func Documents(c *jsmf.Compositions, describe func(m int) Document) Option {
	return func(o *settings) { o.docs, o.describe = c, describe }
}

// DocumentsPerTopic sets how many documents a topic shows, 1 to 100; 0 means
// DefaultDocuments.
func DocumentsPerTopic(n int) Option { return func(o *settings) { o.perTopic = n } }

// Hierarchy adds the levels above the model's topics, of which h was made.
func Hierarchy(h *jsmf.Hierarchy) Option { return func(o *settings) { o.hierarchy = h } }

// Sweep adds what Pipeline.Sweep found of other numbers of topics: its suggestions,
// and the measures against K. The model is normally one of its models.
func Sweep(s *jsmf.Sweep) Option { return func(o *settings) { o.sweep = s } }

// Time adds the time of a stage of the caller's own, such as reading or evaluating.
// The stages of the fit are there without; those of a model that was read from a
// file are not known.
func Time(stage string, d time.Duration) Option {
	return func(o *settings) { o.times = append(o.times, timing{stage, d}) }
}

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
// For a hundred topics over twenty thousand words the page has half a megabyte, and
// one with documents, and is made in a second or two. The time is O(N·K²) for the
// map, O(N·K·(log N + n)) for the words, with n shown of a topic, O(M·K·log M) for M
// documents, and O(K³) for the order of the matrix, of at most 250 topics. Safe for
// concurrent use.
//
// Errors: an option out of range or that does not fit the model, and those of w.
func Write(w io.Writer, m *jsmf.Model, opts ...Option) error {
	if m == nil {
		return errors.New("report: no model")
	}
	s := &settings{title: "Topics"}
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	if err := s.check(m); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p, err := newPage(m, s)
	if err != nil {
		return err // says report already
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// check reports all that is wrong with the settings, and fills in defaults.
func (s *settings) check(m *jsmf.Model) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	size := func(what string, n *int, usual, most int) {
		if *n < 0 || *n > most {
			bad("%s: %d is not in [0, %d]", what, *n, most)
		}
		if *n == 0 {
			*n = usual
		}
	}
	size("top words", &s.topWords, DefaultTopWords, 100)
	size("words of the map", &s.mapWords, DefaultMapWords, math.MaxInt32)
	size("documents of a topic", &s.perTopic, DefaultDocuments, 100)
	for _, p := range s.pictures {
		if err := p.check(m); err != nil {
			errs = append(errs, err)
		}
	}
	if s.measured != nil {
		for _, t := range topicMetrics(s.measured) {
			if t.Values != nil && len(t.Values) != m.K() {
				bad("metrics: %s of %d topics, but the model has %d", t.Name, len(t.Values), m.K())
			}
		}
	}
	if c := s.docs; c != nil {
		rows, cols := 0, m.K()
		if c.W != nil && !c.W.IsEmpty() {
			rows, cols = c.W.Dims()
		}
		if cols != m.K() {
			bad("documents: compositions of %d topics, but the model has %d", cols, m.K())
		}
		if len(c.Docs) != rows || len(c.IDs) != rows || c.Labels != nil && len(c.Labels) != rows {
			bad("documents: %d compositions, %d ids, %d labels, %d results", rows, len(c.IDs), len(c.Labels), len(c.Docs))
		} else {
			for i := range rows {
				for k, v := range c.W.RawRowView(i) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						bad("documents: topic %d of document %d has the share %v", k, i, v)
					}
				}
			}
		}
	}
	if h := s.hierarchy; h != nil && (h.K(0) != m.K() || h.Model(0).N() != m.N()) {
		bad("hierarchy: of %d topics over %d words, but the model has %d over %d", h.K(0), h.Model(0).N(), m.K(), m.N())
	}
	for _, t := range s.times {
		if t.Duration < 0 {
			bad("time of %s: %v", t.Name, t.Duration)
		}
	}
	return errors.Join(errs...)
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
		return "", fmt.Errorf("report: %w", err)
	}
	return template.JS(b), nil
}

// number is a float64 that takes few digits in JSON, and null where it is not
// finite.
type number float64

// MarshalJSON writes six digits.
func (x number) MarshalJSON() ([]byte, error) { return digits(float64(x), 6), nil }

// rough is a number with three digits, for what is only drawn.
type rough float64

// MarshalJSON writes three digits.
func (x rough) MarshalJSON() ([]byte, error) { return digits(float64(x), 3), nil }
