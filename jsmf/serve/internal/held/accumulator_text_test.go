package held_test

import (
	"bytes"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

// The text setting of an accumulator is in its snapshots and its file.
func TestAccumulatorText(t *testing.T) {
	set := text.Setting{FoldAccents: true}
	given, err := held.New(held.Options{Text: &set, MinDocs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := given.Add(corpus.Document{ID: "x", Tokens: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := given.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	var back held.Accumulator
	if _, err := back.ReadFrom(&file); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*held.Accumulator{"given": given, "read": &back} {
		s, err := x.Snapshot().Corpus()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Info().Text; got == nil || !got.Equal(set) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := held.New(held.Options{Text: &text.Setting{MinLength: -1}}); err == nil {
		t.Error("a setting out of range is accepted")
	}
}
