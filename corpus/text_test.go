package corpus_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
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
		"weighted": weighted.Info(), "built": built.Info(),
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
	bad := corpus.FromSeq(c.Source().Docs(ctx), corpus.Description{Vocabulary: c.Vocabulary(), Text: &text.Setting{MinLength: -1}})
	if _, err := corpus.Encode(ctx, bad); err == nil {
		t.Error("a setting out of range is encoded")
	}
}

// endless is a file of one line of a gigabyte after a beginning.
type endless struct {
	begin string
	read  int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read >= 1<<30 {
		return 0, io.EOF
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error { return nil }

// A line of a gigabyte is an error as soon as the limit is reached, so that no more than
// that is held.
func TestEndlessLine(t *testing.T) {
	for name, x := range map[string]struct {
		begin string
		limit int // 0: the default, 64 MiB
		src   func(f corpus.File) corpus.Source
	}{
		"JSONL":                {"{\"text\": \"", 0, func(f corpus.File) corpus.Source { return corpus.JSONL{In: f} }},
		"CSV":                  {"text\n", 1 << 20, func(f corpus.File) corpus.Source { return corpus.CSV{In: f, Text: "text"} }},
		"CSV, open quote":      {"text\n\"a\n", 1 << 20, func(f corpus.File) corpus.Source { return corpus.CSV{In: f, Text: "text"} }},
		"CSV without quotes":   {"text\n", 1 << 20, func(f corpus.File) corpus.Source { return corpus.CSV{In: f, Text: "text", NoQuotes: true} }},
		"JSONL with its limit": {"{\"text\": \"", 1000, func(f corpus.File) corpus.Source { return corpus.JSONL{In: f} }},
	} {
		if x.limit == 0 && testutil.Race {
			continue // 64 MiB, byte by byte
		}
		e := &endless{begin: x.begin}
		file := corpus.File{Name: "x", Open: func() (io.ReadCloser, error) { return e, nil }, MaxLine: x.limit}
		_, err := corpus.Read(context.Background(), x.src(file))
		if !errors.Is(err, corpus.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
		limit := x.limit
		if limit == 0 {
			limit = 64 << 20
		}
		if most := int64(limit) + 1<<18; e.read > most { // and some buffers
			t.Errorf("%s: %d bytes were read, of which %d are allowed", name, e.read, most)
		}
	}
}
