package report_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// marked is a Stemmer whose stems no text has.
type marked struct{}

func (marked) Name() string            { return "marked" }
func (marked) Stem(word string) string { return "zzz" + strings.TrimSuffix(word, "s") }

// The page shows the most frequent forms of merged words, no stems, and the setting of the
// text with the name of the stemmer.
func TestShowsFullForms(t *testing.T) {
	tok, err := text.Setting{Stemmer: "marked"}.Tokenizer(marked{})
	if err != nil {
		t.Fatal(err)
	}
	b := corpus.Builder{Tokenizer: tok}
	for i := range 60 {
		if err := b.AddText("", "", []string{"sails winds sails sail wind winds rope", "ovens soups oven ovens soups soup flour"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.New(2).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Write(&page, m, report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"sails", "winds", "ovens", "soups", "marked"} {
		if !strings.Contains(page.String(), w) {
			t.Errorf("%q is not on the page", w)
		}
	}
	if strings.Contains(page.String(), "zzz") {
		t.Error("a stem is on the page")
	}
}
