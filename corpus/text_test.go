package corpus_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// What is known of the text goes wherever the documents go.
func TestTextSettingTravels(t *testing.T) {
	ctx := context.Background()
	set := text.Setting{Name: "mine", FoldAccents: true, Numbers: text.KeepNumbers}
	tok, err := set.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.JSONL{In: str("{\"text\": \"Café wolf Ärger\"}\n{\"text\": \"cafe arger dog\"}\n{\"text\": \"dog dog 12\"}\n"), Tokenizer: tok}
	c, err := corpus.Read(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := corpus.Encode(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "docs")
	if _, err := corpus.EncodeFile(ctx, c.Source(), path); err != nil {
		t.Fatal(err)
	}
	file, err := corpus.OpenEncoded(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	back, err := corpus.Read(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	curated, _, err := corpus.Curate(c, corpus.Curation{KeepVocabulary: true, MinDistinct: 1})
	if err != nil {
		t.Fatal(err)
	}
	train, held, err := c.Split(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen, hidden, err := c.SplitTokens(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := c.Reindex([]string{"dog", "cafe"})
	if err != nil {
		t.Fatal(err)
	}
	weighted, err := c.WithWeights([]float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	b := corpus.Builder{Tokenizer: tok}
	if err := b.AddText("", "", "one two"); err != nil {
		t.Fatal(err)
	}
	built, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for name, info := range map[string]corpus.Info{
		"read": c.Info(), "encoded": memory.Info(), "file": file.Info(), "read from the file": back.Info(), "unused words dropped": file.DropUnused().Info(),
		"curated": curated.Info(), "train": train.Info(), "held": held.Info(), "seen": seen.Info(), "hidden": hidden.Info(), "other": other.Info(),
		"weighted": weighted.Info(), "bootstrap": c.Bootstrap(1).Info(), "built": built.Info(),
	} {
		if info.Text == nil || !info.Text.Equal(set) || info.Text.Name != "mine" {
			t.Errorf("%s: %v", name, info.Text)
		}
	}
	if err := b.AddTokens("", "", []string{"x"}); err != nil {
		t.Fatal(err)
	}
	tokens, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if s := tokens.Info().Text; s != nil {
		t.Errorf("tokens: %v", s)
	}
	if s := c.WithText(nil).Info().Text; s != nil {
		t.Errorf("without: %v", s)
	}
	bad := c.WithText(&text.Setting{MinLength: -1})
	if _, err := corpus.Encode(ctx, bad.Source()); err == nil {
		t.Error("a setting out of range is encoded")
	}
}
