package jsmf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// TestFitInspects fits documents of which a tenth come twice: the fit says so, once, in its
// statistics and to a Recorder.
func TestFitInspects(t *testing.T) {
	var b corpus.Builder
	for d := range 110 {
		var tokens []string
		for i := range 30 {
			tokens = append(tokens, fmt.Sprintf("word%d.%d", d%100%3, (d%100*7+i*i*(1+d%100%5))%40))
		}
		if err := b.AddTokens("", "", tokens); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := corpus.Inspect(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Duplicates) < 10 || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0], "repeat an earlier one") {
		t.Fatalf("%d duplicates, warnings %q", len(seen.Duplicates), seen.Warnings)
	}
	var told []string
	m, err := jsmf.New(3).Record(func(e jsmf.Event) {
		if e.Kind == jsmf.EventWarning {
			told = append(told, e.Message)
		}
	}).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	count := func(list []string) (n int) {
		for _, s := range list {
			if s == seen.Warnings[0] {
				n++
			}
		}
		return n
	}
	if count(m.Stats().Warnings) != 1 || count(told) != 1 || !slices.Equal(told, m.Stats().Warnings) {
		t.Errorf("statistics %q, recorded %q", m.Stats().Warnings, told)
	}
}
