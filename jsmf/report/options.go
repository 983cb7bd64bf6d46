package report

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/metrics"
)

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

	// Hierarchy holds the levels above the topics of the model, of which it was made.
	Hierarchy *jsmf.Hierarchy

	// Documents are the topic proportions of documents (Model.Transform). The page
	// shows for each topic those with the largest share, and all on a map: of more
	// than 100,000 a sample of that size, drawn by their ids. Labels and columns of
	// Documents.Metadata, except those of more than 1000 levels, colour the map and
	// choose documents. Documents without a known word are left out.
	Documents *jsmf.Compositions

	// Describe returns what to show of document m, a row of Documents.W. It is called
	// more than once for some documents. nil: their ids.
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
	if h := o.Hierarchy; h != nil && (h.K(0) != m.K() || h.Model(0).N() != m.N()) {
		bad("hierarchy: of %d topics over %d words, but the model has %d over %d", h.K(0), h.Model(0).N(), m.K(), m.N())
	}
	for _, t := range o.Times {
		if t.Duration < 0 {
			bad("time of %s: %v", t.Stage, t.Duration)
		}
	}
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
