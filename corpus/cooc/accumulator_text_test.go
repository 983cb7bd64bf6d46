package cooc_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
)

// The text setting of an accumulator is in its snapshots and its file, is taken from the
// first source, and is not that of another source.
func TestAccumulatorText(t *testing.T) {
	ctx := context.Background()
	set := text.Setting{FoldAccents: true}
	c := func(s *text.Setting) corpus.Source {
		var b corpus.Builder
		if err := b.AddTokens("", "", []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		c, err := b.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		return c.WithText(s).Source()
	}
	var a cooc.Accumulator
	if _, err := a.AddSource(ctx, c(&set)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AddSource(ctx, c(&text.Setting{})); err == nil {
		t.Error("documents of another setting are taken")
	}
	given, err := cooc.NewAccumulator(cooc.AccumulatorOptions{Text: &set, MinDocs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := given.Merge(&a); err == nil { // MinDocs differs
		t.Error("merged")
	}
	if err := given.Add(corpus.Document{ID: "x", Tokens: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := given.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	var back cooc.Accumulator
	if _, err := back.ReadFrom(&file); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*cooc.Accumulator{"given": given, "read": &back} {
		s, err := x.Snapshot().Corpus()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Info().Text; got == nil || !got.Equal(set) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := a.Options().Text; got == nil || !got.Equal(set) {
		t.Errorf("taken: %v", got)
	}
	plain, err := cooc.NewAccumulator(cooc.AccumulatorOptions{MinDocs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := given.Merge(plain); err == nil {
		t.Error("accumulators of other settings are merged")
	}
	if _, err := cooc.NewAccumulator(cooc.AccumulatorOptions{Text: &text.Setting{MinLength: -1}}); err == nil {
		t.Error("a setting out of range is accepted")
	}
}
